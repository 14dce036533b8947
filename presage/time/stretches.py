"""Stretches of time: points, intervals with or without their ends, and sets of them.

A stretch lies between two cuts of the time line. A cut is a number and whether it is made before it (0) or after it
(1); so `[1,5)` goes from (1, 0) to (5, 0), and on dense time the point 3 from (3, 0) to (3, 1). Where times are whole
numbers all cuts are made before one: the point 3 goes from (3, 0) to (4, 0), and touches the point 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from presage.model.printer import show_number
from presage.model.terms import Number
from presage.time.sameness import first_of, is_clearly, is_traced, last_of, ordered, precedes, upto
from presage.time.zones import START, Constraint, Range

Cut = tuple[Number | float, int]
ENDLESS: Cut = (float("inf"), 0)
BEGINNING: Cut = (float("-inf"), 0)


def _first(stretch: Stretch) -> Cut:
    return stretch.first


class Stretch(NamedTuple):
    first: Cut
    last: Cut

    def covers(self, other: Stretch) -> bool:
        return upto(self.first, other.first) and upto(other.last, self.last)

    def meet(self, other: Stretch) -> Stretch | None:
        first, last = last_of(self.first, other.first), first_of(self.last, other.last)
        return Stretch(first, last) if precedes(first, last) else None

    def within(self, x: int, offset: Number = 0) -> list[Constraint]:
        """The constraints that put variable x, so much later, inside."""
        found: list[Constraint] = []
        if self.first != BEGINNING:
            found.append((START, x, (offset - self.first[0], -self.first[1])))  # type: ignore[arg-type]
        if self.last != ENDLESS:
            found.append((x, START, (self.last[0] - offset, self.last[1] - 1)))  # type: ignore[arg-type]
        return found


EVER = Stretch(BEGINNING, ENDLESS)


class WrittenStretch(NamedTuple):
    """A stretch as people write it."""

    low: Number
    closed_low: bool
    high: Number | None
    closed_high: bool

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    @property
    def bounds(self) -> str:
        return ("[" if self.closed_low else "(") + ("]" if self.closed_high else ")")

    def __str__(self) -> str:
        if self.is_point:
            return show_number(self.low)
        high = "inf" if self.high is None else show_number(self.high)
        return f"{self.bounds[0]}{show_number(self.low)},{high}{self.bounds[1]}"


class TimeLine:
    """The time line: dense, or of whole numbers."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def before(self, at: Number) -> Cut:
        return at, 0

    def after(self, at: Number) -> Cut:
        return (at + 1, 0) if self.whole else (at, 1)

    def point(self, at: Number) -> Stretch:
        return Stretch((at, 0), self.after(at))

    def stretch(self, low: Number | None, closed_low: bool, high: Number | None, closed_high: bool) -> Stretch:
        first = BEGINNING if low is None else self.before(low) if closed_low else self.after(low)
        last = ENDLESS if high is None else self.after(high) if closed_high else self.before(high)
        return Stretch(first, last)

    def of_range(self, known: Range) -> Stretch:
        return self.stretch(known.low, known.closed_low, known.high, known.closed_high)

    def is_point(self, times: Stretch) -> bool:
        return times.first[0] + 1 == times.last[0] if self.whole else times.first[0] == times.last[0]

    def interval(self, times: Stretch) -> WrittenStretch:
        """With closed ends where times are whole numbers."""
        (low, after), (high, closed) = times
        if high == ENDLESS[0]:
            return WrittenStretch(low, not after, None, False)  # type: ignore[arg-type]
        if self.whole:
            return WrittenStretch(low, True, high - 1, True)  # type: ignore[arg-type]
        return WrittenStretch(low, not after, high, bool(closed))  # type: ignore[arg-type]


def union(parts: Iterable[Stretch]) -> list[Stretch]:
    """The same times, in order and as few stretches as there can be; with symbols, two that touch are one where they do
    so whatever these stand for."""
    found: list[Stretch] = []
    joins = _overlaps if is_traced() else upto
    for each in ordered(parts, _first):
        if found and joins(each.first, found[-1].last):
            if precedes(found[-1].last, each.last):
                found[-1] = Stretch(found[-1].first, each.last)
        else:
            found.append(each)
    return found


def _overlaps(first: Cut, last: Cut) -> bool:
    return is_clearly(first, last) or precedes(first, last)


def minus(parts: Iterable[Stretch], others: Iterable[Stretch]) -> list[Stretch]:
    """What is left of some stretches beyond others."""
    rest = union(parts)
    for other in others:
        left: list[Stretch] = []
        for each in rest:
            if each.meet(other) is None:
                left.append(each)
                continue
            if precedes(each.first, other.first):
                left.append(Stretch(each.first, other.first))
            if precedes(other.last, each.last):
                left.append(Stretch(other.last, each.last))
        rest = left
    return rest


def common(parts: Iterable[Stretch], others: Iterable[Stretch]) -> list[Stretch]:
    """The times in both."""
    second = list(others)
    return union(both for each in parts for other in second if (both := each.meet(other)) is not None)
