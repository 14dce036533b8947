"""Columns of texts as numbers of symbols: each text that was seen before is found without making it an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.engine.symbols import Ints, Symbols
from presage.kernels import texts
from presage.kernels.tables import EMPTY

ROOM = 64


class Texts:
    """The texts among the symbols, by their bytes."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.clear()

    def clear(self) -> None:
        """Forgets all texts: for when symbols have given back their numbers."""
        self.count = 0
        self.slots = np.full(2 * ROOM, EMPTY, np.int32)
        self.codes, self.numbers = (np.zeros(ROOM, np.int64) for _ in range(2))
        self.begins = np.zeros(ROOM + 1, np.int64)
        self.arena = np.zeros(8 * ROOM, np.uint8)

    def number_all(self, offsets: Ints, data: npt.NDArray[np.uint8], some: Callable[[Ints], Sequence[str]]) -> Ints:
        """The numbers of a column's texts; `some` gives those at some rows."""
        self._make_room(len(offsets) - 1, int(offsets[-1] - offsets[0]))
        entries, fresh = texts.intern(self.slots, self.codes, self.begins, self.arena, self.count, offsets, data)
        if len(fresh):
            self.numbers[self.count : self.count + len(fresh)] = self.symbols.number_all(some(fresh))
            self.count += len(fresh)
        found: Ints = self.numbers[entries]
        return found

    def _make_room(self, size: int, length: int) -> None:
        rows, used = self.count + size, int(self.begins[self.count]) + length
        if rows > len(self.codes):
            # A column seldom has so many new texts; but it may.
            room = 1 << (rows - 1).bit_length()
            self.codes, self.numbers = _grown(self.codes, room), _grown(self.numbers, room)
            self.begins = _grown(self.begins, room + 1)
            self.slots = np.empty(2 * room, np.int32)
            texts.refill(self.slots, self.codes, self.count)
        if used > len(self.arena):
            self.arena = _grown(self.arena, 1 << (used - 1).bit_length())


def _grown(array: Any, size: int) -> Any:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger
