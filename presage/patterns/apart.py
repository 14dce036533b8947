"""Which literals can never be about one fact: what they ask of its values excludes each other.

`temp(X, V), V > 500` and `temp(X, V), V < 100` are about one input, and yet no reading matters to both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from presage.model.formulas import MIRRORED
from presage.model.terms import Constant, Term, Value, Variable
from presage.model.values import is_true
from presage.patterns.premises import Fixed
from presage.patterns.zoned import Need, RangePattern

AskedOfValue = tuple[tuple[str, Value], ...]
"""Comparisons with constants that a value has to meet."""


class FactKind(NamedTuple):
    """What a literal asks of a fact."""

    predicate: str
    values: tuple[AskedOfValue, ...]
    """Place by place."""

    @classmethod
    def of(cls, literal: Need, pattern: RangePattern) -> FactKind:
        asked: dict[int, list[tuple[str, Value]]] = {}
        for condition in pattern.conditions:
            if condition.wanted:
                sides = (condition.operator, condition.left, condition.right)
                mirrored = (MIRRORED[condition.operator], condition.right, condition.left)
                for slot, operator, value in (*_bounds(pattern, *sides), *_bounds(pattern, *mirrored)):
                    asked.setdefault(slot, []).append((operator, value))
        return cls(
            literal.predicate,
            tuple(
                (("=", each.value),) if isinstance(each, Fixed) else tuple(asked.get(each, ()))
                for each in literal.arguments
            ),
        )

    def may_meet(self, other: FactKind) -> bool:
        """Whether one fact may be both."""
        return self.predicate == other.predicate and all(
            _can_be((*one, *another)) for one, another in zip(self.values, other.values, strict=True)
        )


def _bounds(pattern: RangePattern, operator: str, left: Term, right: Term) -> Iterator[tuple[int, str, Value]]:
    if isinstance(left, Variable) and isinstance(right, Constant):
        slot = pattern.terms.get(left.name)
        if isinstance(slot, int):
            yield slot, operator, right.value


def _can_be(asked: AskedOfValue) -> bool:
    """Whether some value meets all of it, as far as pairs of comparisons tell."""
    return not any(_exclude(first, other) or _exclude(other, first) for first in asked for other in asked)


def _exclude(first: tuple[str, Value], other: tuple[str, Value]) -> bool:
    operator, value = first
    against, bound = other
    if operator == "=":
        return not is_true(against, value, bound)
    if operator in (">", ">=") and against in ("<", "<="):
        # A value above the one and below the other: there is none unless the one is below the other.
        between = "<=" if operator == ">=" and against == "<=" else "<"
        return not is_true(between, value, bound)
    return False
