"""Numbers of texts by the column: what `Symbols` knows of texts, where compiled code can look them up.

It may forget everything at any time: what it does not know is asked of `Symbols` and entered.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.kernels import texts

Ints = npt.NDArray[np.int32]
# Texts of more bytes than this are not worth keeping twice.
MOST_BYTES = 1 << 26


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

    def find(self, count: int, places: int, data: int, number: Callable[[str], int]) -> Ints:
        """The numbers of a column of so many texts. At the address `places` stands where each begins after the address
        `data`, and where the last one ends. Raises `UnicodeDecodeError` for what is no text."""
        found = np.empty(count, np.int32)
        if texts.find(self.address, places, data, found):
            self._learn(places, data, number, found)
        return found

    def _learn(self, places: int, data: int, number: Callable[[str], int], found: Ints) -> None:
        learnt: dict[bytes, int] = {}
        ends = np.ctypeslib.as_array((ctypes.c_int32 * (len(found) + 1)).from_address(places)).tolist()
        for index in np.flatnonzero(found < 0).tolist():
            begin, end = ends[index], ends[index + 1]
            raw = ctypes.string_at(data + begin, end - begin)
            known = learnt.get(raw)
            if known is None:
                known = learnt[raw] = number(raw.decode("utf-8"))
                self._enter(data + begin, end - begin, known)
            found[index] = known

    def _enter(self, place: int, length: int, number: int) -> None:
        if self.used + length > len(self.bytes):
            if self.used + length > MOST_BYTES:
                return
            self.bytes = _larger(self.bytes, self.used + length)
            self._locate()
        if self.count == len(self.begins):
            self.begins, self.codes = _larger(self.begins, 0), _larger(self.codes, 0)
            self.lengths, self.numbers = _larger(self.lengths, 0), _larger(self.numbers, 0)
            self.slots = np.full(4 * self.count, texts.EMPTY, np.int32)
            texts.spread(self.slots, self.codes, self.count)
            self._locate()
        texts.add(
            self.slots, self.begins, self.lengths, self.codes, self.numbers, self.bytes,
            self.count, self.used, place, length, number,
        )  # fmt: skip
        self.count += 1
        self.used += length


def _larger(array: Any, least: int) -> Any:
    larger = np.empty(max(2 * len(array), least), array.dtype)
    larger[: len(array)] = array
    return larger
