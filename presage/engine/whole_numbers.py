"""Numbers of whole numbers by the column: what `Symbols` knows of small ones, where each has a place of its own.

It may forget everything at any time: what it does not know is asked of `Symbols` and entered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
MOST = 1 << 22
"""Larger ones, and those below 0, have no place here."""


class WholeNumberSymbols:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.known = np.full(1024, -1, np.int32)

    def find(self, column: npt.NDArray[np.int64], number_all: Callable[[Sequence[int]], Ints]) -> Ints:
        """The numbers of a column's values; `number_all` gives those of values that are new here, each once and in the
        order in which they come."""
        if not len(column):
            return np.zeros(0, np.int32)
        greatest = int(column.max())
        if greatest >= MOST or column.min() < 0:
            values, first, places = np.unique(column, return_index=True, return_inverse=True)
            found, order = np.empty(len(values), np.int32), np.argsort(first)
            found[order] = number_all(values[order].tolist())
            return found[places]
        if greatest >= len(self.known):
            room = np.full(min(MOST, 2 * max(greatest, len(self.known))), -1, np.int32)
            room[: len(self.known)] = self.known
            self.known = room
        found = self.known[column]
        unknown = column[found < 0]
        if len(unknown):
            values, first = np.unique(unknown, return_index=True)
            values = values[np.argsort(first)]
            self.known[values] = number_all(values.tolist())
            found = self.known[column]
        return found
