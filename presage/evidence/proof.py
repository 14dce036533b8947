"""The model of a proof: closed kinds of steps, from an answer down to input facts and absences.

Every step claims that a formula holds *throughout* a span of time, mostly a single point. The variables of
the formula have the values of the rule instance the step belongs to. A step names what it rests on, and
nothing it rests on rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Protocol, Union

from presage.model.formulas import Atom, Formula, variables
from presage.model.program import Program
from presage.model.terms import Number, Value
from presage.model.time import TimeSpan

Substitution = tuple[tuple[str, Value], ...]
"""Values of variables, sorted by name."""
NamedValues = dict[str, Value]
Asked = tuple[Value | None, ...]
"""Arguments; `None` where any value is asked for, or where it is open."""


class Arrived(Protocol):
    """A fact of a stream, as whoever read it has it."""

    @property
    def predicate(self) -> str: ...

    @property
    def arguments(self) -> tuple[Value, ...]: ...

    @property
    def low(self) -> Number | None: ...

    @property
    def high(self) -> Number | None: ...

    @property
    def closed_low(self) -> bool: ...

    @property
    def closed_high(self) -> bool: ...

    @property
    def arrival(self) -> Number: ...


@dataclass(frozen=True, slots=True)
class InputFact:
    """An input fact, as it came."""

    predicate: str
    arguments: tuple[Value, ...]
    span: TimeSpan
    arrives: Number

    @staticmethod
    def of(fact: Arrived) -> InputFact:
        span = TimeSpan(fact.low, fact.high, fact.closed_low, fact.closed_high)
        return InputFact(fact.predicate, fact.arguments, span, fact.arrival)


@dataclass(frozen=True, slots=True)
class Record:
    """What a proof is about: a normalised program, the facts of the stream, and the time of the look at it.
    Facts that arrive after that time, or too late, are no evidence."""

    program: Program
    discrete: bool
    facts: tuple[InputFact, ...]
    statics: tuple[tuple[str, tuple[Value, ...]], ...]
    at: Number


@dataclass(frozen=True, slots=True)
class Given:
    """An input fact that arrived."""

    formula: Atom
    span: TimeSpan
    substitution: Substitution
    fact: InputFact


@dataclass(frozen=True, slots=True)
class Known:
    """A static fact, or a fact of the program (`rule` is its place among the rules)."""

    formula: Atom
    span: TimeSpan
    substitution: Substitution
    rule: int | None


@dataclass(frozen=True, slots=True)
class ByRule:
    """A rule, by its place among the rules. Its body holds throughout `when`, with the values `instance`, one
    premise for each literal of the body; what its head says then covers `span`."""

    formula: Atom
    span: TimeSpan
    substitution: Substitution
    rule: int
    instance: Substitution
    when: TimeSpan
    premises: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Evident:
    """A comparison of values that holds, or `true`."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution


@dataclass(frozen=True, slots=True)
class AtPin:
    """`φ@T+1`: φ at the time the pin says."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    premise: Proof


@dataclass(frozen=True, slots=True)
class Witness:
    """`once` or `eventually`, or `some` in a window: a time, within reach of all of `span`, at which it was so."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    premise: Proof


@dataclass(frozen=True, slots=True)
class Throughout:
    """`historically` or `always`, or `all` in a window: it was so at all times within reach; no premise if there are
    none."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    premise: Proof | None


@dataclass(frozen=True, slots=True)
class Lasting:
    """`since` or `until`: the right side held at `witness`, the left side from there on; `between` is absent
    where nothing lies between the two."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    witness: Proof
    between: Proof | None


@dataclass(frozen=True, slots=True)
class AllOf:
    """A conjunction, each part proved."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    premises: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class OneSide:
    """A disjunction, or an implication as the disjunction of `not` its left side and its right side; `side`
    counts from 0."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    side: int
    premise: Proof


@dataclass(frozen=True, slots=True)
class Missing:
    """A rule that could have made an absent atom true at the times `when`, and the premise, counted from 0, up to
    which its body cannot hold any more."""

    rule: int
    instance: Substitution
    when: TimeSpan
    premise: int


@dataclass(frozen=True, slots=True)
class Absent:
    """`not φ`: nothing that arrived makes φ (the formula here is `not φ`) true, and nothing that may still
    arrive can. `near` are the rules that came closest."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    near: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class Pieces:
    """The span is covered piece by piece, for different reasons."""

    formula: Formula
    span: TimeSpan
    substitution: Substitution
    premises: tuple[Proof, ...]


Proof = Union[Given, Known, ByRule, Evident, AtPin, Witness, Throughout, Lasting, AllOf, OneSide, Absent, Pieces]


def premises(proof: Proof) -> Iterator[Proof]:
    """The steps a step rests on directly, in the order of the text."""
    for each in fields(proof):
        value = getattr(proof, each.name)
        if each.name in ("premise", "witness", "between") and value is not None:
            yield value
        elif each.name == "premises":
            yield from value


def walk(proof: Proof) -> Iterator[Proof]:
    """All steps of a proof, the conclusion first; a step that several others share comes once."""
    todo, seen = [proof], set[int]()
    while todo:
        step = todo.pop()
        if id(step) not in seen:
            seen.add(id(step))
            yield step
            todo.extend(reversed(list(premises(step))))


def evidence(proof: Proof) -> list[InputFact]:
    """The input facts a proof rests on, each once."""
    return list(dict.fromkeys(step.fact for step in walk(proof) if isinstance(step, Given)))


def rules(proof: Proof) -> list[int]:
    """The rules and facts of the program a proof goes through, by their places, each once."""
    steps = (step.rule for step in walk(proof) if isinstance(step, (ByRule, Known)))
    return list(dict.fromkeys(number for number in steps if number is not None))


def substitution(binding: dict[str, Value], formula: Formula) -> Substitution:
    """Of a binding, what the variables of a formula need."""
    names = {variable.name for variable in variables(formula)}
    return tuple(sorted((name, value) for name, value in binding.items() if name in names))
