"""Formulas of metric first-order temporal logic, as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from presage.model.placed import Placed
from presage.model.terms import Number, Value


@dataclass(frozen=True, slots=True)
class LogVariable(Placed):
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class LogConstant(Placed):
    value: Value


@dataclass(frozen=True, slots=True)
class Apply(Placed):
    """An operator or function over terms."""

    operator: str
    terms: tuple[LogTerm, ...]


LogTerm = Union[LogVariable, LogConstant, Apply]


@dataclass(frozen=True, slots=True)
class LogInterval:
    low: Number = 0
    high: Number | None = None
    closed_low: bool = True
    closed_high: bool = True

    def has(self, distance: Number) -> bool:
        return self.is_reached(distance) and not self.is_past(distance)

    def is_reached(self, distance: Number) -> bool:
        """Whether this distance is as great as the lower bound asks for."""
        return distance > self.low or (self.closed_low and distance == self.low)

    def is_past(self, distance: Number) -> bool:
        """Whether this distance, and all greater ones, lie beyond."""
        if self.high is None:
            return False
        return distance > self.high or (distance == self.high and not self.closed_high)


@dataclass(frozen=True, slots=True)
class LogAtom(Placed):
    predicate: str
    terms: tuple[LogTerm, ...]


@dataclass(frozen=True, slots=True)
class TruthConstant(Placed):
    value: bool


@dataclass(frozen=True, slots=True)
class Compare(Placed):
    operator: str
    left: LogTerm
    right: LogTerm


@dataclass(frozen=True, slots=True)
class Matches(Placed):
    """Whether a text has a part that a regular expression describes; what its groups take are values too."""

    text: LogTerm
    pattern: str
    groups: tuple[LogTerm | None, ...]


@dataclass(frozen=True, slots=True)
class Negation(Placed):
    inner: LogFormula


@dataclass(frozen=True, slots=True)
class Conjunction(Placed):
    left: LogFormula
    right: LogFormula


@dataclass(frozen=True, slots=True)
class Disjunction(Placed):
    left: LogFormula
    right: LogFormula


@dataclass(frozen=True, slots=True)
class Exists(Placed):
    names: tuple[str, ...]
    inner: LogFormula


@dataclass(frozen=True, slots=True)
class Aggregation(Placed):
    result: str
    function: str
    over: str
    groups: tuple[str, ...]
    inner: LogFormula
    nothing: Value | None = None
    """What it is worth of nothing at all, where there are no groups."""


@dataclass(frozen=True, slots=True)
class Let(Placed):
    predicate: str
    names: tuple[str, ...]
    defined: LogFormula
    inner: LogFormula


@dataclass(frozen=True, slots=True)
class Neighbour(Placed):
    """`PREVIOUS` or, with `ahead`, `NEXT`."""

    ahead: bool
    reach: LogInterval
    inner: LogFormula


@dataclass(frozen=True, slots=True)
class SinceUntil(Placed):
    """`SINCE` or, with `ahead`, `UNTIL`; `ONCE` and `EVENTUALLY` have `TRUE` on the left."""

    ahead: bool
    reach: LogInterval
    left: LogFormula
    right: LogFormula


LogFormula = Union[
    LogAtom,
    TruthConstant,
    Compare,
    Matches,
    Negation,
    Conjunction,
    Disjunction,
    Exists,
    Aggregation,
    Let,
    Neighbour,
    SinceUntil,
]

TRUE = TruthConstant(True)


def term_names(term: LogTerm) -> Iterator[str]:
    if isinstance(term, LogVariable):
        yield term.name
    elif isinstance(term, Apply):
        for each in term.terms:
            yield from term_names(each)


def free(formula: LogFormula) -> list[str]:
    """The free variables in the order in which they occur, each once."""
    return list(dict.fromkeys(_free(formula)))


def _free(formula: LogFormula) -> Iterator[str]:
    match formula:
        case LogAtom(terms=terms):
            for term in terms:
                yield from term_names(term)
        case TruthConstant():
            return
        case Compare(left=left, right=right):
            yield from term_names(left)
            yield from term_names(right)
        case Matches(text=text, groups=groups):
            yield from term_names(text)
            for group in groups:
                yield from () if group is None else term_names(group)
        case Exists(names=names, inner=inner):
            yield from (name for name in _free(inner) if name not in names)
        case Aggregation(result=result, groups=groups):
            yield result
            yield from groups
        case Let(inner=inner):
            yield from _free(inner)
        case Negation(inner=inner) | Neighbour(inner=inner):
            yield from _free(inner)
        case (
            Conjunction(left=left, right=right)
            | Disjunction(left=left, right=right)
            | SinceUntil(left=left, right=right)
        ):
            yield from _free(left)
            yield from _free(right)


def negated(formula: LogFormula) -> LogFormula:
    """The negation, pushed down as far as that helps."""
    match formula:
        case Negation(inner=inner):
            return inner
        case Conjunction(left=left, right=right, span=span):
            return Disjunction(negated(left), negated(right), span=span)
        case Disjunction(left=left, right=right, span=span):
            return Conjunction(negated(left), negated(right), span=span)
        case TruthConstant(value=value, span=span):
            return TruthConstant(not value, span=span)
        case _:
            return Negation(formula, span=formula.span)
