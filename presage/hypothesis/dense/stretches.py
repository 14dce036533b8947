"""Stretches of dense time: points, intervals with or without their ends, and sets of them.

A stretch lies between two cuts of the time line. A cut is a number and whether it is made before it (0) or after it
(1); so `[1,5)` goes from (1, 0) to (5, 0), and the point 3 from (3, 0) to (3, 1). Cuts are ordered as tuples, and
what open and closed ends mean follows from that order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from presage.hypothesis.dense.zones import START, Constraint, Range
from presage.model.printer import show_number
from presage.model.terms import Number

Cut = tuple[Number | float, int]
ENDLESS: Cut = (float("inf"), 0)


class Stretch(NamedTuple):
    first: Cut
    last: Cut

    @property
    def is_point(self) -> bool:
        return self.first[0] == self.last[0]

    @property
    def low(self) -> Number:
        return self.first[0]  # type: ignore[return-value]

    @property
    def high(self) -> Number | None:
        """`None` is without end."""
        return None if self.last == ENDLESS else self.last[0]  # type: ignore[return-value]

    @property
    def bounds(self) -> str:
        return ("[" if self.first[1] == 0 else "(") + ("]" if self.last[1] == 1 else ")")

    def __str__(self) -> str:
        if self.is_point:
            return show_number(self.low)
        high = "inf" if self.high is None else show_number(self.high)
        return f"{self.bounds[0]}{show_number(self.low)},{high}{self.bounds[1]}"

    def covers(self, other: Stretch) -> bool:
        return self.first <= other.first and other.last <= self.last

    def meet(self, other: Stretch) -> Stretch | None:
        first, last = max(self.first, other.first), min(self.last, other.last)
        return Stretch(first, last) if first < last else None

    def within(self, x: int, offset: Number = 0) -> list[Constraint]:
        """The constraints that put variable x, so much later, inside."""
        found: list[Constraint] = [(START, x, (offset - self.low, -self.first[1]))]
        if self.high is not None:
            found.append((x, START, (self.high - offset, self.last[1] - 1)))
        return found


def stretch(low: Number, closed_low: bool, high: Number | None, closed_high: bool) -> Stretch:
    return Stretch((low, 0 if closed_low else 1), ENDLESS if high is None else (high, 1 if closed_high else 0))


def of_range(known: Range) -> Stretch:
    """What a variable can be, from the start of the stream on."""
    low = 0 if known.low is None else known.low
    return stretch(low, known.closed_low or known.low is None, known.high, known.closed_high)


def union(parts: Iterable[Stretch]) -> list[Stretch]:
    """The same times, in order and as few stretches as there can be."""
    found: list[Stretch] = []
    for each in sorted(parts):
        if found and each.first <= found[-1].last:
            found[-1] = Stretch(found[-1].first, max(found[-1].last, each.last))
        else:
            found.append(each)
    return found


def minus(parts: Iterable[Stretch], others: Iterable[Stretch]) -> list[Stretch]:
    """What is left of some stretches beyond others."""
    rest = union(parts)
    for other in others:
        left: list[Stretch] = []
        for each in rest:
            if each.meet(other) is None:
                left.append(each)
                continue
            if each.first < other.first:
                left.append(Stretch(each.first, other.first))
            if other.last < each.last:
                left.append(Stretch(other.last, each.last))
        rest = left
    return rest


def common(parts: Iterable[Stretch], others: Iterable[Stretch]) -> list[Stretch]:
    """The times in both."""
    second = list(others)
    return union(both for each in parts for other in second if (both := each.meet(other)) is not None)


def cells(parts: Iterable[Stretch]) -> list[Stretch]:
    """The line between the first cut and the last, cut wherever a stretch begins or ends."""
    cuts = sorted({cut for each in parts for cut in each})
    return [Stretch(first, last) for first, last in pairwise(cuts)]
