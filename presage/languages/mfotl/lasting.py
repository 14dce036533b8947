"""`SINCE` and `UNTIL` along the time points of a log.

Both remember what they would otherwise look up again at each point: `SINCE`, for each row, since when it has been kept
alive; `UNTIL`, from which point on the left side has held. A point then costs what comes and goes there, and the
relation that is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from presage.languages.mfotl.compiling import EMPTY, LeftSide, LogRelation, Through
from presage.model.terms import Number, Values

Lefts = list[LogRelation]
"""What the conditions of the left side are at a point."""


class SinceRows:
    """The rows of the right side that have been kept alive, by the point at which each began."""

    def __init__(self, node: Through) -> None:
        self.node = node
        self.since: dict[Values, int] = {}
        """The rows that are alive, and from which of its beginnings on each is."""
        self.last: dict[Values, int] = {}
        """The last beginning of each."""
        self.waiting: deque[tuple[int, Number, Iterable[Values]]] = deque()
        """Beginnings that are too near for the interval."""
        self.inside: deque[tuple[int, Number, Iterable[Values]]] = deque()
        self.latest: dict[Values, int] = {}
        """The rows that began within the interval, each with the last such point."""
        self.told: LogRelation | None = EMPTY

    def at(self, place: int, time: Number, lefts: Lefts, right: LogRelation) -> LogRelation:
        for condition, left in zip(self.node.lefts, lefts, strict=True):
            self._keep(condition, left)
        if right:
            for row in right:
                self.since.setdefault(row, place)
                self.last[row] = place
            self.waiting.append((place, time, right))
        reach = self.node.reach
        while self.waiting and reach.is_reached(time - self.waiting[0][1]):
            begun = self.waiting.popleft()
            self.inside.append(begun)
            for row in begun[2]:
                if self.since.get(row, place + 1) <= begun[0]:
                    if row not in self.latest:
                        self.told = None
                    self.latest[row] = begun[0]
        while self.inside and reach.is_past(time - self.inside[0][1]):
            begun_at, _, rows = self.inside.popleft()
            for row in rows:
                if self.latest.get(row) == begun_at:
                    del self.latest[row]
                    self.told = None
                if self.last.get(row) == begun_at:
                    del self.last[row]
                    self.since.pop(row, None)
        if self.told is None:
            self.told = frozenset(self.latest)
        return self.told

    def _keep(self, condition: LeftSide, left: LogRelation) -> None:
        """Drops the rows of which the left side does not hold."""
        if not self.since:
            return
        if condition.absent and not left:
            return
        if condition.whole:
            gone = left & self.since.keys() if condition.absent else self.since.keys() - left
        else:
            key, absent = condition.key, condition.absent
            gone = {row for row in self.since if (key(row) in left) == absent}
        for row in gone:
            del self.since[row], self.last[row]
            if self.latest.pop(row, None) is not None:
                self.told = None

    # What is saved are the rows that are alive, by when they began; of points only the order counts.

    def beginnings(self) -> list[tuple[Number, list[Values]]]:
        return [
            (time, [row for row in rows if self.since.get(row, place + 1) <= place])
            for place, time, rows in (*self.inside, *self.waiting)
        ]

    def fill(self, kept: list[tuple[Number, list[Values]]], now: Number) -> None:
        reach = self.node.reach
        for place, (time, rows) in enumerate(kept, -len(kept)):
            for row in rows:
                self.since.setdefault(row, place)
                self.last[row] = place
            if reach.is_reached(now - time):
                self.inside.append((place, time, rows))
                self.latest.update(dict.fromkeys(rows, place))
            else:
                self.waiting.append((place, time, rows))
        self.told = None


class UntilRows:
    """For each point that is not known yet, the rows that are found so far; each later point is looked at once."""

    def __init__(self, node: Through, first: int) -> None:
        self.node = node
        self.next = self.start = first
        """The next point to look at, and the first that rows may still be found for."""
        self.found: dict[int, set[Values]] = {}
        self.broken: list[dict[Values, int]] = [{} for _ in node.lefts]
        """For each condition on the left: after which point its absence has held; or since which it has held."""
        self.inside: deque[tuple[int, Number, LogRelation]] = deque()
        self.count: dict[Values, int] = {}
        self.told: LogRelation | None = EMPTY

    def at(
        self,
        place: int,
        ends: int,
        time_of: Callable[[int], Number],
        of: Callable[[int], tuple[Lefts, LogRelation] | None],
        over: Callable[[Number], bool],
    ) -> LogRelation | None:
        """The relation at a point, if it is known; `of` gives both sides at a point, as far as they are known, and
        `over` says whether nothing can come any more at a time."""
        begin, reach = time_of(place), self.node.reach
        while self.next < ends and not reach.is_past(time_of(self.next) - begin):
            sides = of(self.next)
            if sides is None:
                return None
            if self.node.lefts:
                self._look(time_of(self.next), time_of, *sides)
            else:
                self._enter(time_of(self.next), sides[1])
            self.next += 1
        if self.next >= ends and not over(begin):
            return None
        self.start = place + 1
        if self.node.lefts:
            if place % 1000 == 0:
                self._forget(place)
            return frozenset(self.found.pop(place, EMPTY))
        return self._inside(place, begin)

    # EVENTUALLY: nothing to keep in mind on the left, so it is a window over the rows to come.

    def _enter(self, time: Number, right: LogRelation) -> None:
        self.inside.append((self.next, time, right))
        for row in right:
            self.count[row] = there = self.count.get(row, 0) + 1
            if there == 1:
                self.told = None

    def _inside(self, place: int, begin: Number) -> LogRelation:
        reach = self.node.reach
        while self.inside and (self.inside[0][0] < place or not reach.is_reached(self.inside[0][1] - begin)):
            for row in self.inside.popleft()[2]:
                self.count[row] -= 1
                if not self.count[row]:
                    del self.count[row]
                    self.told = None
        if self.told is None:
            self.told = frozenset(self.count)
        return self.told

    # UNTIL

    def _look(self, time: Number, time_of: Callable[[int], Number], lefts: Lefts, right: LogRelation) -> None:
        reach, here = self.node.reach, self.next
        if right:
            last = here
            while last >= self.start and not reach.is_reached(time - time_of(last)):
                last -= 1
            first = last
            while first > self.start and not reach.is_past(time - time_of(first - 1)):
                first -= 1
            if first <= last and first >= self.start and not reach.is_past(time - time_of(first)):
                for row in right:
                    begin = max([first, *self._held_from(row, here)])
                    for place in range(begin, last + 1):
                        self.found.setdefault(place, set()).add(row)
        for condition, broken, left in zip(self.node.lefts, self.broken, lefts, strict=True):
            if condition.absent:
                for row in left:
                    broken[row] = here + 1
            else:
                held = {row: broken.get(row, here) for row in left}
                broken.clear()
                broken.update(held)

    def _held_from(self, row: Values, here: int) -> Iterable[int]:
        """From which point up to before this one each condition of the left side has held."""
        for condition, broken in zip(self.node.lefts, self.broken, strict=True):
            yield broken.get(condition.key(row), 0 if condition.absent else here)

    def _forget(self, place: int) -> None:
        for condition, broken in zip(self.node.lefts, self.broken, strict=True):
            if condition.absent:
                for row in [row for row, since in broken.items() if since <= place]:
                    del broken[row]
