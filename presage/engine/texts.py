"""Numbers of texts by the column: what `Symbols` knows of texts, where compiled code can look them up.

It may forget everything at any time: what it does not know is asked of `Symbols` and entered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from presage.kernels import texts
from presage.kernels.arrays import Ints32

ENTRY = np.dtype([("code", np.int64), ("begin", np.int64), ("length", np.int32), ("number", np.int32)])
"""As the kernels see it: `texts.CODE`, `BEGIN`, `LENGTH` and `NUMBER`."""
# Texts of more bytes than this are not worth keeping twice.
MOST_BYTES = 1 << 26


class TextColumn(Protocol):
    """Texts one after the other in memory: at the address `places` stands where each begins after the address `data`,
    and where the last one ends."""

    @property
    def places(self) -> int: ...
    @property
    def data(self) -> int: ...
    def __len__(self) -> int: ...
    def some(self, rows: Any) -> Sequence[str]:
        """The texts at some rows."""
        ...


class TextSymbols:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.count = self.used = 0
        self.slots = np.full(64, texts.EMPTY, np.int32)
        self.entries = np.empty(32, ENTRY)
        self.bytes = np.empty(1024, np.uint8)
        self.table = np.zeros(texts.FIELDS, np.int64)
        self.address: int = self.table.ctypes.data
        self._locate()

    def _locate(self) -> None:
        arrays: tuple[Any, ...] = self.slots, self.bytes, self.entries
        for field, array in zip((texts.SLOTS, texts.BYTES, texts.ENTRIES), arrays, strict=True):
            self.table[field] = array.ctypes.data
        self.table[texts.MASK] = len(self.slots) - 1

    def find(self, column: TextColumn, number_all: Callable[[Sequence[str]], Ints32]) -> Ints32:
        """The numbers of a column's texts; `number_all` gives those of texts that are new here."""
        found = np.empty(len(column), np.int32)
        unknown, length = texts.find(self.address, column.places, column.data, found)
        if unknown:
            if self.used + length > MOST_BYTES:
                # Also what was found goes: there is one way to learn.
                self.clear()
                unknown, length = texts.find(self.address, column.places, column.data, found)
            self._make_room(self.count + unknown, self.used + length)
            fresh = texts.enter(self.address, column.places, column.data, found, self.count, self.used)
            last = self.count + len(fresh)
            self.entries["number"][self.count : last] = number_all(column.some(fresh))
            self.count, self.used = last, int(self.entries["begin"][last - 1] + self.entries["length"][last - 1])
            texts.take_numbers(self.address, found)
        return found

    def _make_room(self, count: int, used: int) -> None:
        if used > len(self.bytes):
            self.bytes = _larger(self.bytes, used)
        if count > len(self.entries):
            self.entries = _larger(self.entries, count)
            self.slots = np.full(2 * len(self.entries), texts.EMPTY, np.int32)
            texts.spread(self.slots, self.entries["code"][: self.count].copy())
        self._locate()


def _larger(array: Any, least: int) -> Any:
    larger = np.empty(1 << (least - 1).bit_length(), array.dtype)
    larger[: len(array)] = array
    return larger
