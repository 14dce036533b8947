"""The order of names, as numbers that kernels compare.

Where several facts are evidence alike, the least of them is told: by time, then by what it says. So it can matter which
of two names comes first. Few programs get there; those that do give each name a number, in the order of names, with
room between for names to come.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from presage.kernels import courses as kernel

ROOM = 1 << 24
"""Between one name and the next."""
MANY = 64
"""So many new names at once, and all are put in their order anew."""


class NameOrder:
    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = sorted(set(names))
        self.numbers: dict[str, int] = {}
        self._number_all()

    def add(self, names: Iterable[str]) -> bool:
        """Whether all have got other numbers than before."""
        new = {each for each in names if each not in self.numbers}
        if len(new) > MANY:
            self.names = sorted([*self.names, *new])
            self._number_all()
            return True
        return sum(map(self._insert, new)) > 0

    def _insert(self, name: str) -> bool:
        place = bisect_left(self.names, name)
        self.names.insert(place, name)
        below = self.numbers[self.names[place - 1]] if place else kernel.LEAST_NAME - 2 * ROOM
        above = self.numbers[self.names[place + 1]] if place + 1 < len(self.names) else below + 2 * ROOM
        self.numbers[name] = (below + above) // 2
        if below < self.numbers[name] < above and kernel.LEAST_NAME <= self.numbers[name] < kernel.NAMES_END:
            return False
        self._number_all()
        return True

    def _number_all(self) -> None:
        self.numbers = {name: kernel.LEAST_NAME + place * ROOM for place, name in enumerate(self.names)}
