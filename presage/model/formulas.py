"""Formulas: atoms, comparisons, and everything that can be built over them.

Nodes are frozen and compare by structure; where a node stood in the text (`span`) does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Union

from presage.errors import NOWHERE, Span
from presage.model.placed import Placed
from presage.model.terms import Aggregate, Constant, Function, Term, Variable, aggregates_in, map_term, term_variables
from presage.model.time import Interval, Pin
from presage.model.windows import Window
from presage.syntax import ASKING, NEIGHBOURS


@dataclass(frozen=True, slots=True)
class Atom(Placed):
    predicate: str
    arguments: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Top(Placed):
    """`true`, which holds at every time."""


OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""What a comparison that is not so is."""
MIRRORED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The same comparison with its sides exchanged."""


@dataclass(frozen=True, slots=True)
class Comparison(Placed):
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Pinned(Placed):
    """`φ@T+1`: φ at that time."""

    formula: Formula
    pin: Pin


@dataclass(frozen=True, slots=True)
class Over(Placed):
    """`p(a)@[1,5)`: the time of a fact that holds over an interval. Facts only."""

    formula: Formula
    interval: Interval


@dataclass(frozen=True, slots=True)
class Metric(Placed):
    """`once`, `historically`, `eventually` or `always` over an interval."""

    operator: str
    interval: Interval
    formula: Formula


@dataclass(frozen=True, slots=True)
class BinaryMetric(Placed):
    """`left since[…] right` or `left until[…] right`."""

    operator: str
    interval: Interval
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Windowed(Placed):
    window: Window
    formula: Formula


@dataclass(frozen=True, slots=True)
class Beside(Placed):
    """`yesterday φ` or `tomorrow φ`: φ one unit of time before, or after."""

    operator: str
    formula: Formula


@dataclass(frozen=True, slots=True)
class Modal(Placed):
    """`some φ` or `all φ`: at some or every time point of the current window."""

    operator: str
    formula: Formula


@dataclass(frozen=True, slots=True)
class Reset(Placed):
    """`reset φ`: φ on the whole stream again."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class Not(Placed):
    formula: Formula


@dataclass(frozen=True, slots=True)
class And(Placed):
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(Placed):
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies(Placed):
    left: Formula
    right: Formula


Formula = Union[
    Atom, Top, Comparison, Pinned, Over, Metric, BinaryMetric, Beside, Windowed, Modal, Reset, Not, And, Or, Implies
]


def aggregates(comparison: Comparison) -> tuple[Aggregate, ...]:
    """The aggregates of a comparison, from left to right."""
    return (*aggregates_in(comparison.left), *aggregates_in(comparison.right))


def asks(comparison: Comparison) -> Function | None:
    """The function that asks (`contains(S, "x")`), where the comparison is no more than that it says `true`."""
    left, right = comparison.left, comparison.right
    if comparison.operator == "=" and isinstance(left, Function) and left.name in ASKING and right == Constant("true"):
        return left
    return None


def map_comparisons(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with the sides of its comparisons changed; those in bodies of aggregates too."""

    def node(part: Formula) -> Formula:
        if isinstance(part, Comparison):
            return replace(part, left=change(part.left), right=change(part.right))
        return part

    return transform(formula, node)


def map_terms(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with every term passed through `change`, from the leaves up: arguments, sides of comparisons, what
    stands in the braces of aggregates, and variables that are times."""

    def node(part: Formula) -> Formula:
        match part:
            case Atom(arguments=arguments) if arguments:
                return replace(part, arguments=tuple(map_term(each, change) for each in arguments))
            case Comparison(left=left, right=right):
                return replace(part, left=map_term(left, change), right=map_term(right, change))
            case Pinned(pin=Pin(base=Variable() as base) as pin):
                time = change(base)
                assert isinstance(time, Variable), "a time that varies stays a variable"
                return replace(part, pin=replace(pin, base=time))
            case _:
                return part

    return transform(formula, node)


def prefixed(word: str, formula: Formula, span: Span = NOWHERE) -> Formula:
    """What one of the `PREFIXES` before a formula makes of it."""
    if word == "not":
        return Not(formula, span=span)
    if word == "reset":
        return Reset(formula, span=span)
    if word in NEIGHBOURS:
        return Beside(word, formula, span=span)
    return Modal(word, formula, span=span)


def prefix_of(formula: Formula) -> str | None:
    """The word that makes such a formula of another; `None` for formulas of all other kinds."""
    match formula:
        case Not():
            return "not"
        case Reset():
            return "reset"
        case Modal(operator=word) | Beside(operator=word):
            return word
        case _:
            return None


def operator_of(formula: Formula) -> str:
    """The word of an operator over times; of a window that of what stands below it."""
    match formula:
        case Windowed(formula=inner):
            return operator_of(inner)
        case Metric(operator=word) | BinaryMetric(operator=word) | Modal(operator=word):
            return word
        case _:
            raise TypeError(f"{formula} has no operator")


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas, from left to right; of a comparison, the literals in the bodies of its aggregates."""
    match formula:
        case Comparison():
            return tuple(literal for each in aggregates(formula) for literal in each.body)
        case Atom() | Top():
            return ()
        case And(parts=parts) | Or(parts=parts):
            return parts
        case BinaryMetric(left=left, right=right) | Implies(left=left, right=right):
            return (left, right)
        case _:
            return (formula.formula,)


def with_children(formula: Formula, parts: tuple[Formula, ...]) -> Formula:
    """The same node over other subformulas."""
    match formula:
        case Comparison(left=left, right=right):
            rest = iter(parts)

            def filled(term: Term) -> Term:
                if not isinstance(term, Aggregate):
                    return term
                return replace(term, body=tuple(next(rest) for _ in term.body))

            # From left to right, as `children` has them.
            left = map_term(left, filled)
            return replace(formula, left=left, right=map_term(right, filled))
        case Atom() | Top():
            return formula
        case And() | Or():
            return replace(formula, parts=parts)
        case BinaryMetric() | Implies():
            return replace(formula, left=parts[0], right=parts[1])
        case _:
            return replace(formula, formula=parts[0])


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and all its subformulas, outermost first."""
    yield formula
    for part in children(formula):
        yield from walk(part)


def walk_outside(formula: Formula) -> Iterator[Formula]:
    """The formula and all its subformulas, but for those in the braces of aggregates."""
    yield formula
    for part in () if isinstance(formula, Comparison) else children(formula):
        yield from walk_outside(part)


def atoms(formula: Formula) -> Iterator[Atom]:
    """The atoms of a formula; the patterns of its windows are not among them."""
    return (node for node in walk(formula) if isinstance(node, Atom))


def variables(formula: Formula) -> Iterator[Variable]:
    """The variables of a formula, in the order of the text, with repetitions. The variables of a
    window's patterns are local to the window and not among them."""
    match formula:
        case Atom(arguments=arguments):
            for argument in arguments:
                yield from term_variables(argument)
        case Comparison(left=left, right=right):
            yield from term_variables(left)
            yield from term_variables(right)
        case _:
            for part in children(formula):
                yield from variables(part)
            if isinstance(formula, Pinned) and isinstance(formula.pin.base, Variable):
                yield formula.pin.base


def transform(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """Rebuilds a formula from the leaves up, each node passed through `change`."""
    parts = children(formula)
    if parts:
        changed = tuple(transform(part, change) for part in parts)
        if changed != parts:
            formula = with_children(formula, changed)
    return change(formula)
