"""Numbers, and what lies just above or below them: bounds that are not attained.

On dense time `x < 5` is not `x ≤ 4`. Written as x ≤ 5⁻, with 5⁻ a little less than 5, a strict bound adds and
compares as any other, so whatever closes bounds under transitivity need not know of it.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Any

from presage.model.terms import Number, number


@total_ordering
class Edge:
    """What lies just below (`side` −1) or just above (1) a number; how far does not matter, only that it does."""

    __slots__ = ("side", "value")

    def __init__(self, value: Number, side: int) -> None:
        self.value, self.side = number(value), side

    def __add__(self, other: Any) -> Any:
        if isinstance(other, float):
            return other
        value, side = parts_of(other)
        # Bounds that are added are bounds of the same kind: a little less, twice, is a little less.
        return Edge(self.value + value, self.side or side)

    __radd__ = __add__

    def __neg__(self) -> Edge:
        return Edge(-self.value, -self.side)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edge) and (self.value, self.side) == (other.value, other.side)

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, float):
            return other > 0
        return (self.value, self.side) < parts_of(other)

    def __hash__(self) -> int:
        return hash((self.value, self.side))

    def __repr__(self) -> str:
        return f"{self.value}{'-' if self.side < 0 else '+'}"


def parts_of(bound: Any) -> tuple[Number, int]:
    """A bound as a number, and on which side of it."""
    return (bound.value, bound.side) if isinstance(bound, Edge) else (number(bound), 0)
