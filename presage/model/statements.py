"""Statements: the declarations and rules a program is a list of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

from presage.errors import NOWHERE, Span
from presage.model.formulas import Atom, Formula, variables
from presage.model.terms import Constant, Number, Variable
from presage.model.time import Duration, Pin, Quantity, Timestamp

ParameterValue = Constant | Duration | Timestamp


@dataclass(frozen=True, slots=True)
class Param:
    """`param limit = 30.`: a named constant. `value` is what is in force; it may have been set from outside."""

    name: str
    value: ParameterValue
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Include:
    """`include "limits.psg".`: reading a program with its files puts their statements in its place."""

    path: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Timeline:
    kind: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Tick:
    length: Duration
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Start:
    moment: Timestamp
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Reading:
    kind: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Chase:
    """How values are invented: always (`skolem`), or only where none that is there would do (`restricted`)."""

    kind: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Horizon:
    length: Quantity
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ColumnBound:
    """`>= 0` after a number type: other values are wrong input."""

    operator: str
    value: Constant
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str = "any"
    bound: ColumnBound | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Condition:
    """`device = wt25` in the `where` of an input."""

    column: str
    value: Constant
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Probabilities of delays; what is missing to 1 is loss."""

    parts: tuple[tuple[Quantity, Number], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Input:
    predicate: str
    columns: tuple[Column, ...] = ()
    where: tuple[Condition, ...] = ()
    delay: Quantity | Distribution | None = None
    loss: Number | None = None
    rate: Number | None = None
    learned: tuple[str, ...] = ()
    """What is left to the stream: the distribution of `delay` below its bound, the `rate`, or both."""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Static:
    predicate: str
    columns: tuple[Column, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Query:
    atom: Atom
    pin: Pin | None = None
    tone: str | None = None
    """`good` or `bad`: what it means to whoever looks on that the query comes true; answers are the same."""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Head:
    """What a rule derives: all of `atoms`, or with `choice` at least one of them."""

    atoms: tuple[Formula, ...]
    choice: bool = False
    exists: tuple[Variable, ...] = ()
    lasting: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; a fact has no body, a constraint no head. `origin` is the rule it was rewritten from."""

    head: Head | None
    body: tuple[Formula, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
    origin: Rule | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def is_fact(self) -> bool:
        return self.head is not None and not self.body

    @property
    def is_constraint(self) -> bool:
        return self.head is None

    @property
    def head_atoms(self) -> tuple[Formula, ...]:
        return self.head.atoms if self.head else ()

    def formulas(self) -> Iterator[Formula]:
        yield from self.head_atoms
        yield from self.body

    def variables(self) -> Iterator[Variable]:
        for formula in self.formulas():
            yield from variables(formula)


Declaration = Union[Param, Include, Timeline, Tick, Start, Reading, Chase, Horizon, Input, Static, Query]
Statement = Union[Declaration, Rule]


@dataclass(frozen=True, slots=True)
class Question:
    """What `presage ask` takes: a formula, with the variables whose values are not asked for."""

    formula: Formula
    exists: tuple[Variable, ...] = ()
