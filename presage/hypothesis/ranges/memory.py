"""What has arrived: facts by predicate and values, each with the stretches of time over which it holds.

Facts are found by whichever of their values are known. They are forgotten when no answer that is still open can hang
on them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence

from presage.model.terms import Number, Value, Values
from presage.time.sameness import is_traced, ordered, precedes
from presage.time.stretches import Stretch

InOrder = list[Stretch]
"""In order, none inside another."""

NO_TIMES: InOrder = []


class Memory:
    def __init__(self, needed: dict[str, Number | None]) -> None:
        """`needed`: for how long after its end a fact of a predicate may matter; `None` is for ever."""
        self.needed = needed
        self.facts: dict[str, dict[Values, InOrder]] = {name: {} for name in needed}
        self.indexes: dict[str, dict[tuple[int, ...], dict[Values, dict[Values, None]]]] = {name: {} for name in needed}
        self.swept = self.left = 0

    def take(self, name: str, row: Values, times: Stretch) -> bool:
        """Whether it says something new."""
        rows = self.facts.get(name)
        if rows is None:
            return False
        known = rows.get(row)
        if known is None:
            rows[row] = [times]
            for places, index in self.indexes[name].items():
                index.setdefault(tuple(row[place] for place in places), {})[row] = None
            return True
        if any(each.covers(times) for each in near(known, times)):
            return False
        known[:] = [each for each in known if not times.covers(each)]
        if is_traced():
            known[:] = ordered([*known, times], lambda each: each.first)
        else:
            insort(known, times)
        return True

    def times(self, name: str, row: Values) -> InOrder:
        if is_traced():
            return next((known for each, known in self.facts[name].items() if each == row), NO_TIMES)
        return self.facts[name].get(row, NO_TIMES)

    def rows(self, name: str, given: Sequence[Value | None]) -> Iterable[Values]:
        """The rows that agree with the values known."""
        rows = self.facts[name]
        places = tuple(place for place, value in enumerate(given) if value is not None)
        if is_traced():
            # A hash would not note that values differ.
            return [row for row in rows if all(row[place] == given[place] for place in places)]
        if len(places) == len(given):
            row = tuple(given)
            return (row,) if row in rows else ()  # type: ignore[return-value]
        if not places:
            return rows
        index = self.indexes[name].get(places)
        if index is None:
            index = {}
            for row in rows:
                index.setdefault(tuple(row[place] for place in places), {})[row] = None
            self.indexes[name][places] = index
        return index.get(tuple(given[place] for place in places), ())  # type: ignore[misc]

    def everything(self) -> Iterator[tuple[str, Values, Stretch]]:
        for name, rows in self.facts.items():
            for row, known in rows.items():
                for times in known:
                    yield name, row, times

    def forget(self, now: Number) -> None:
        """Looks through what is known when there may be twice as much as is needed."""
        size = sum(map(len, self.facts.values()))
        self.swept += 1
        if self.swept >= 16 or size >= max(64, 2 * self.left):
            self.sweep(now)

    def sweep(self, now: Number) -> None:
        """Forgets what is not needed any more."""
        self.swept = 0
        for name, rows in self.facts.items():
            needed = self.needed[name]
            if needed is None:
                continue
            for row in list(rows):
                kept = [each for each in rows[row] if each.last[0] + needed >= now]
                if len(kept) == len(rows[row]):
                    continue
                self._keep(name, row, kept)
        self.left = sum(map(len, self.facts.values()))

    def drop(self, name: str, row: Values) -> InOrder:
        """Forgets a row; when it held."""
        known = self.facts[name][row]
        self._keep(name, row, [])
        return known

    def keep(self, name: str, wanted: Callable[[Values, Stretch], bool]) -> None:
        """Forgets the facts of a predicate that nobody wants."""
        for row, known in list(self.facts[name].items()):
            self._keep(name, row, [each for each in known if wanted(row, each)])

    def _keep(self, name: str, row: Values, kept: InOrder) -> None:
        rows = self.facts[name]
        rows[row] = kept
        if not kept:
            del rows[row]
            for places, index in self.indexes[name].items():
                values = tuple(row[place] for place in places)
                group = index[values]
                del group[row]
                if not group:
                    del index[values]


def near(known: InOrder, reach: Stretch) -> InOrder:
    """Of stretches in order, those that meet another."""
    if len(known) < 4 or is_traced():
        return [each for each in known if precedes(each.first, reach.last) and precedes(reach.first, each.last)]
    first = bisect_right(known, reach.first, key=lambda each: each.last)
    last = bisect_left(known, reach.last, lo=first, key=lambda each: each.first)
    return known[first:last]
