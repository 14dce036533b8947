"""Values, and terms computed from them: exact, and without an answer where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Union

from presage.analysis import differences
from presage.model import values
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Number, Term, Variable, map_term, number


@dataclass(frozen=True, slots=True)
class Invented:
    """A value that a rule with `exists` made: one for each rule, variable and values of the frontier."""

    rule: int
    variable: str
    frontier: tuple[ValueOrInvented, ...]


ValueOrInvented = Union[str, int, Fraction, Invented]
Assignment = Mapping[str, ValueOrInvented]
Arguments = tuple[ValueOrInvented, ...]
Ground = tuple[str, Arguments]
"""A ground atom: predicate and arguments."""


def value_of(term: Term, binding: Assignment) -> ValueOrInvented | None:
    """The value of a term; none if a variable is open, or where arithmetic has no result."""
    return values.value_of(term, binding.get)


def compares(comparison: Comparison, binding: Assignment) -> bool:
    """Whether a comparison is true."""
    return values.is_true(comparison.operator, value_of(comparison.left, binding), value_of(comparison.right, binding))


def linear(term: Term, unknown: str, binding: Assignment) -> tuple[Number, Number] | None:
    """The term as a · unknown + b, if it has that form and the rest is known numbers."""

    def known(part: Term) -> Term:
        value = None if part == Variable(unknown) else value_of(part, binding)
        return Constant(value) if isinstance(value, (int, Fraction)) else part

    found = differences.linear(map_term(term, known))
    if found is None or found[0].keys() - {unknown}:
        return None
    shares, constant = found
    return number(shares.get(unknown, Fraction(0))), number(constant)


def solved(comparison: Comparison, unknown: str, binding: Assignment) -> ValueOrInvented | None:
    """The value that an equation gives to its one open variable."""
    for one, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(one, Variable) and one.name == unknown:
            value = value_of(other, binding)
            if value is not None:
                return value
    left, right = linear(comparison.left, unknown, binding), linear(comparison.right, unknown, binding)
    if left is None or right is None or left[0] == right[0]:
        return None
    return number(Fraction(right[1] - left[1]) / (left[0] - right[0]))


def canonical(ground: Ground) -> tuple[object, ...]:
    """The order of facts: by predicate, then arguments, numbers by value before texts by code point."""
    predicate, arguments = ground
    return predicate, tuple(_rank(value) for value in arguments)


def _rank(value: ValueOrInvented) -> tuple[int, object]:
    if isinstance(value, Invented):
        return 2, (value.rule, value.variable, tuple(_rank(each) for each in value.frontier))
    return (1, value) if isinstance(value, str) else (0, value)
