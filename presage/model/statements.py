"""Statements: the declarations and rules a program is a list of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

from presage.model.formulas import Atom, Formula, variables
from presage.model.placed import Placed
from presage.model.terms import Constant, Number, Variable
from presage.model.time import Duration, Pin, Quantity, Timestamp

ParameterValue = Constant | Duration | Timestamp


@dataclass(frozen=True, slots=True)
class Param(Placed):
    """`param limit = 30.`: a named constant. `value` is what is in force; it may have been set from outside."""

    name: str
    value: ParameterValue


@dataclass(frozen=True, slots=True)
class Include(Placed):
    """`include "limits.psg".`: reading a program with its files puts their statements in its place."""

    path: str


@dataclass(frozen=True, slots=True)
class Timeline(Placed):
    kind: str


@dataclass(frozen=True, slots=True)
class Tick(Placed):
    length: Duration


@dataclass(frozen=True, slots=True)
class Start(Placed):
    moment: Timestamp


@dataclass(frozen=True, slots=True)
class Reading(Placed):
    kind: str


@dataclass(frozen=True, slots=True)
class Chase(Placed):
    """How values are invented: always (`skolem`), or only where none that is there would do (`restricted`)."""

    kind: str


@dataclass(frozen=True, slots=True)
class Horizon(Placed):
    length: Quantity


@dataclass(frozen=True, slots=True)
class ColumnBound(Placed):
    """`>= 0` after a number type: other values are wrong input."""

    operator: str
    value: Constant


@dataclass(frozen=True, slots=True)
class Column(Placed):
    name: str
    type: str = "any"
    bound: ColumnBound | None = None


@dataclass(frozen=True, slots=True)
class Condition(Placed):
    """`device = wt25` in the `where` of an input."""

    column: str
    value: Constant


@dataclass(frozen=True, slots=True)
class Distribution(Placed):
    """Probabilities of delays; what is missing to 1 is loss."""

    parts: tuple[tuple[Quantity, Number], ...]


@dataclass(frozen=True, slots=True)
class Input(Placed):
    predicate: str
    columns: tuple[Column, ...] = ()
    where: tuple[Condition, ...] = ()
    delay: Quantity | Distribution | None = None
    loss: Number | None = None
    rate: Number | None = None
    learned: tuple[str, ...] = ()
    """What is left to the stream: the distribution of `delay` below its bound, the `rate`, or both."""


@dataclass(frozen=True, slots=True)
class Static(Placed):
    predicate: str
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Query(Placed):
    atom: Atom
    pin: Pin | None = None
    tone: str | None = None
    """`good` or `bad`: what it means to whoever looks on that the query comes true; answers are the same."""


@dataclass(frozen=True, slots=True)
class Head(Placed):
    """What a rule derives: all of `atoms`, or with `choice` at least one of them."""

    atoms: tuple[Formula, ...]
    choice: bool = False
    exists: tuple[Variable, ...] = ()
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Rule(Placed):
    """A rule; a fact has no body, a constraint no head. `origin` is the rule it was rewritten from."""

    head: Head | None
    body: tuple[Formula, ...] = ()
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
