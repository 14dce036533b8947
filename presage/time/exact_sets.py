"""Sets of times as the prover computes with them: exact, over all rationals or all whole numbers.

A set is a sorted tuple of pieces between two *cuts*. A cut lies just before (`(t, 0)`) or just after
(`(t, 1)`) a time, so that open and closed ends need no cases: [a, b) lies between (a, 0) and (b, 0), the point
t between (t, 0) and (t, 1). Over the whole numbers every cut is written as one before a number, which makes
neighbours touch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from presage.model.terms import Bound, Number, number
from presage.model.time import Interval, TimeSpan
from presage.time.stretches import Cut

ExactPiece = tuple[Cut, Cut]
ExactTimes = tuple[ExactPiece, ...]

FIRST: Cut = (-math.inf, 0)
LAST: Cut = (math.inf, 0)
ALWAYS: ExactTimes = ((FIRST, LAST),)
NEVER: ExactTimes = ()


def union(parts: Iterable[ExactTimes]) -> ExactTimes:
    found: list[ExactPiece] = []
    for low, high in sorted(piece for times in parts for piece in times):
        if found and low <= found[-1][1]:
            if high > found[-1][1]:
                found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return tuple(found)


def meet(first: ExactTimes, second: ExactTimes) -> ExactTimes:
    found: list[ExactPiece] = []
    left = right = 0
    while left < len(first) and right < len(second):
        low = max(first[left][0], second[right][0])
        high = min(first[left][1], second[right][1])
        if low < high:
            found.append((low, high))
        if first[left][1] < second[right][1]:
            left += 1
        else:
            right += 1
    return tuple(found)


def complement(times: ExactTimes) -> ExactTimes:
    found: list[ExactPiece] = []
    start = FIRST
    for low, high in times:
        if start < low:
            found.append((start, low))
        start = high
    if start < LAST:
        found.append((start, LAST))
    return tuple(found)


def without(first: ExactTimes, second: ExactTimes) -> ExactTimes:
    return meet(first, complement(second))


def hull(times: ExactTimes) -> ExactTimes:
    return ((times[0][0], times[-1][1]),) if times else NEVER


@dataclass(frozen=True, slots=True)
class PieceArithmetic:
    """The arithmetic of one timeline."""

    discrete: bool

    def piece(self, low: Bound, high: Bound, closed_low: bool = True, closed_high: bool = True) -> ExactTimes:
        """An interval; nothing if there is no time in it."""
        start, end = self._cut(low, 0 if closed_low else 1), self._cut(high, 1 if closed_high else 0)
        return ((start, end),) if start < end else NEVER

    def point(self, time: Number) -> ExactTimes:
        return self.piece(time, time)

    def span(self, span: TimeSpan) -> ExactTimes:
        low = -math.inf if span.low is None else span.low
        high = math.inf if span.high is None else span.high
        return self.piece(low, high, span.closed_low, span.closed_high)

    def interval(self, interval: Interval) -> ExactTimes:
        """The distances of an operator, or the times of a fact."""
        high = math.inf if interval.high is None else interval.high
        return self.piece(interval.low, high, interval.closed_low, interval.closed_high)  # type: ignore[arg-type]

    def _cut(self, value: Bound, side: int) -> Cut:
        if math.isinf(value):
            return (value, 0)
        return (value + side, 0) if self.discrete else (value, side)

    def ends(self, piece: ExactPiece) -> tuple[Bound, bool, Bound, bool]:
        """First and last time of a piece, each with whether it belongs to it."""
        (low, low_side), (high, high_side) = piece
        if self.discrete:
            return low, not math.isinf(low), high - 1, not math.isinf(high)
        return low, low_side == 0 and not math.isinf(low), high, high_side == 1

    def as_span(self, piece: ExactPiece) -> TimeSpan:
        low, closed_low, high, closed_high = self.ends(piece)
        return TimeSpan(_finite(low), _finite(high), closed_low, closed_high)

    def later(self, times: ExactTimes, by: ExactTimes) -> ExactTimes:
        """All t + d, for t in the set and distances d of an interval."""
        return self._moved(times, *self.ends(by[0])) if by else NEVER

    def earlier(self, times: ExactTimes, by: ExactTimes) -> ExactTimes:
        """All t − d."""
        if not by:
            return NEVER
        near, near_closed, far, far_closed = self.ends(by[0])
        return self._moved(times, -far, far_closed, -near, near_closed)

    def _moved(self, times: ExactTimes, least: Bound, least_closed: bool, most: Bound, most_closed: bool) -> ExactTimes:
        found = []
        for each in times:
            low, closed_low, high, closed_high = self.ends(each)
            found.append(self.piece(low + least, high + most, closed_low and least_closed, closed_high and most_closed))
        return union(found)

    def shifted(self, times: ExactTimes, by: Bound) -> ExactTimes:
        return tuple(((low[0] + by, low[1]), (high[0] + by, high[1])) for low, high in times)

    def closure(self, piece: ExactPiece) -> ExactTimes:
        """The times t such that everything strictly between t and some time of the piece is in the piece."""
        low, _, high, _ = self.ends(piece)
        margin = 1 if self.discrete else 0
        return self.piece(low - margin, high + margin)

    def between(self, low: Bound, high: Bound) -> ExactTimes:
        return self.piece(low, high, False, False)

    def some_point(self, piece: ExactPiece, latest: bool = True) -> ExactTimes:
        """One time of a piece, to stand for all of them: an end of it where it has one."""
        low, closed_low, high, closed_high = self.ends(piece)
        ends = [(high, closed_high), (low, closed_low)]
        for end, closed in ends if latest else reversed(ends):
            if closed and not math.isinf(end):
                return self.piece(end, end)
        if math.isinf(low):
            middle = high - 1 if not math.isinf(high) else 0
        else:
            middle = low + 1 if math.isinf(high) else number((Fraction(low) + Fraction(high)) / 2)
        return self.piece(middle, middle)


def _finite(bound: Bound) -> Number | None:
    if isinstance(bound, float):
        return None
    return number(bound)


def is_point(line: PieceArithmetic, times: ExactTimes) -> bool:
    return len(times) == 1 and line.as_span(times[0]).is_point
