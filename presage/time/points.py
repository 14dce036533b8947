"""Sets of whole time points, as sorted intervals: where a formula holds.

Intervals keep the cost at the number of changes, however long the timeline is, and may reach to infinity on
both sides, since metric operators look past the ends of the stream.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from presage.errors import PresageError

FAR = 1 << 62
"""Stands for infinity: no time of a stream comes near it."""
MOST_POINTS = 5_000_000

WholeStretch = tuple[int, int]


def _moved(time: int, by: int) -> int:
    if abs(time) >= FAR:
        return time
    if abs(by) >= FAR:
        return by
    return time + by


def _start(span: WholeStretch) -> int:
    return span[0]


def _end(span: WholeStretch) -> int:
    return span[1]


class Times:
    """A set of time points: disjoint intervals in order, none touching the next."""

    __slots__ = ("_hash", "spans")

    def __init__(self, spans: tuple[WholeStretch, ...]) -> None:
        """For intervals that are in order and apart already; `Times.of` takes any."""
        self.spans = spans
        self._hash: int | None = None

    @staticmethod
    def of(spans: Iterable[WholeStretch]) -> Times:
        joined: list[WholeStretch] = []
        for low, high in sorted(span for span in spans if span[0] <= span[1]):
            if joined and low <= joined[-1][1] + 1:
                if high > joined[-1][1]:
                    joined[-1] = (joined[-1][0], high)
            else:
                joined.append((low, high))
        return Times(tuple(joined))

    @staticmethod
    def at(time: int) -> Times:
        return Times(((time, time),))

    @staticmethod
    def between(low: int, high: int) -> Times:
        return Times(((low, high),)) if low <= high else NEVER

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Times) and self.spans == other.spans

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.spans)
        return self._hash

    def __repr__(self) -> str:
        return f"Times({self.spans})"

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __contains__(self, time: int) -> bool:
        place = bisect_right(self.spans, (time, FAR + 1)) - 1
        return place >= 0 and time <= self.spans[place][1]

    def __or__(self, other: Times) -> Times:
        if not self.spans or other is EVER:
            return other
        if not other.spans or self is EVER:
            return self
        few, many = (self, other) if len(self.spans) <= len(other.spans) else (other, self)
        return many._with(few.spans[0]) if len(few.spans) == 1 else Times.of((*self.spans, *other.spans))

    def _with(self, span: WholeStretch) -> Times:
        """One more interval, put where it belongs."""
        low, high = span
        start = bisect_left(self.spans, low - 1, key=_end)
        stop = bisect_right(self.spans, high + 1, key=_start)
        if start < stop:
            low, high = min(low, self.spans[start][0]), max(high, self.spans[stop - 1][1])
        return Times((*self.spans[:start], (low, high), *self.spans[stop:]))

    def within(self, low: int, high: int) -> Times:
        """What lies between two times."""
        start = bisect_left(self.spans, low, key=_end)
        stop = bisect_right(self.spans, high, key=_start)
        found = list(self.spans[start:stop])
        if found:
            found[0] = (max(low, found[0][0]), found[0][1])
            found[-1] = (found[-1][0], min(high, found[-1][1]))
        return Times(tuple(found))

    def __and__(self, other: Times) -> Times:
        if self.spans == _EVER_SPANS:
            return other
        if other.spans == _EVER_SPANS:
            return self
        if len(self.spans) == 1:
            return other.within(*self.spans[0])
        if len(other.spans) == 1:
            return self.within(*other.spans[0])
        found: list[WholeStretch] = []
        mine, theirs = self.spans, other.spans
        i = j = 0
        while i < len(mine) and j < len(theirs):
            low, high = max(mine[i][0], theirs[j][0]), min(mine[i][1], theirs[j][1])
            if low <= high:
                found.append((low, high))
            if mine[i][1] < theirs[j][1]:
                i += 1
            else:
                j += 1
        return Times(tuple(found))

    def __invert__(self) -> Times:
        found: list[WholeStretch] = []
        start = -FAR
        for low, high in self.spans:
            if start < low:
                found.append((start, low - 1))
            start = high + 1
        if start <= FAR:
            found.append((start, FAR))
        return Times(tuple(found))

    def __sub__(self, other: Times) -> Times:
        return self & ~other.within(self.first, self.last) if self.spans and other.spans else self

    def covers(self, other: Times) -> bool:
        return (self & other) == other

    def spread(self, low: int, high: int) -> Times:
        """All t + d with t in the set and d from `low` to `high`."""
        return Times.of((_moved(first, low), _moved(last, high)) for first, last in self.spans)

    def shrunk(self, low: int, high: int) -> Times:
        """The t such that all t - d, with d from `low` to `high`, are in the set."""
        return ~((~self).spread(low, high))

    def mirrored(self) -> Times:
        return Times(tuple((-high, -low) for low, high in reversed(self.spans)))

    @property
    def first(self) -> int:
        return self.spans[0][0]

    @property
    def last(self) -> int:
        return self.spans[-1][1]

    def points(self) -> Iterator[int]:
        """Each time point; sets that nobody would want written out are refused."""
        size = sum(high - low + 1 for low, high in self.spans)
        if size > MOST_POINTS:
            raise PresageError(
                f"{size} time points would have to be looked at one by one: bound the time by the data, "
                "choose a later `start` or a coarser `tick`, or give --timeline A..B"
            )
        for low, high in self.spans:
            yield from range(low, high + 1)


_EVER_SPANS = ((-FAR, FAR),)
NEVER = Times(())
EVER = Times(_EVER_SPANS)


def since(left: Times, right: Times, low: int, high: int) -> Times:
    """Where `left since right` holds over distances from `low` to `high` ([MTL] Table 1): `right` held at some
    time of that distance, and `left` at all times strictly between."""
    # Nothing lies between a time and itself or the next one.
    found = list(right.spread(low, min(high, 1)).spans) if low <= 1 else []
    for first, last in left.spans:
        starts = right & Times.between(first - 1, last - 1)
        if starts and high >= 2:
            found.extend((starts.spread(max(low, 2), high) & Times.between(-FAR, _moved(last, 1))).spans)
    return Times.of(found)


def until(left: Times, right: Times, low: int, high: int) -> Times:
    return since(left.mirrored(), right.mirrored(), low, high).mirrored()
