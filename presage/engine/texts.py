"""Numbers of texts by the column: what `Symbols` knows of texts, where compiled code can look them up.

It may forget everything at any time: what it does not know is asked of `Symbols` and entered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from presage.kernels import texts

Ints = npt.NDArray[np.int32]
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


class Texts:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.count = self.used = 0
        self.slots = np.full(64, texts.EMPTY, np.int32)
        self.begins, self.codes = np.empty(32, np.int64), np.empty(32, np.int64)
        self.lengths, self.numbers = np.empty(32, np.int32), np.empty(32, np.int32)
        self.bytes = np.empty(1024, np.uint8)
        self.table = np.zeros(texts.FIELDS, np.int64)
        self.address: int = self.table.ctypes.data
        self._locate()

    def _locate(self) -> None:
        arrays: tuple[Any, ...] = self.slots, self.bytes, self.begins, self.codes, self.lengths, self.numbers
        fields = texts.SLOTS, texts.BYTES, texts.BEGINS, texts.CODES, texts.LENGTHS, texts.NUMBERS
        for field, array in zip(fields, arrays, strict=True):
            self.table[field] = array.ctypes.data
        self.table[texts.MASK] = len(self.slots) - 1

    def find(self, column: TextColumn, number_all: Callable[[Sequence[str]], Ints]) -> Ints:
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
            self.numbers[self.count : last] = number_all(column.some(fresh))
            self.count, self.used = last, int(self.begins[last - 1] + self.lengths[last - 1])
            texts.take_numbers(self.numbers, found)
        return found

    def _make_room(self, count: int, used: int) -> None:
        if used > len(self.bytes):
            self.bytes = _larger(self.bytes, used)
        if count > len(self.begins):
            self.begins, self.codes = _larger(self.begins, count), _larger(self.codes, count)
            self.lengths, self.numbers = _larger(self.lengths, count), _larger(self.numbers, count)
            self.slots = np.full(2 * len(self.begins), texts.EMPTY, np.int32)
            texts.spread(self.slots, self.codes, self.count)
        self._locate()


def _larger(array: Any, least: int) -> Any:
    larger = np.empty(1 << (least - 1).bit_length(), array.dtype)
    larger[: len(array)] = array
    return larger
