"""Numbers of whole numbers: `Symbols` has no dictionary of them, since values of a stream are often all different."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from presage.kernels import wholes as kernel

Ints = npt.NDArray[np.int32]
Wholes = npt.NDArray[np.int64]
FEWEST = 64
AT_ONCE = 1 << 16
"""Values that room is made for as if all were new."""


class WholeNumberSymbols:
    def __init__(self) -> None:
        self.fill(np.zeros(0, np.int64), np.zeros(0, np.int32))

    def fill(self, values: Wholes, numbers: Ints) -> None:
        """Knows these and no others."""
        self.count = 0
        self._make(len(values))
        self.enter(values, numbers)

    def _make(self, size: int) -> None:
        slots = max(FEWEST, 1 << (4 * size).bit_length())
        self.slots = np.full((slots, kernel.FIELDS), kernel.EMPTY, np.int64)
        self.shift = 65 - slots.bit_length()

    def _make_room(self, more: int) -> None:
        if 2 * (self.count + more) > len(self.slots):
            old = self.slots[self.slots[:, kernel.NUMBER] != kernel.EMPTY]
            self._make(self.count + more)
            kernel.enter(self.slots, self.shift, old[:, kernel.VALUE].copy(), old[:, kernel.NUMBER].copy())

    def enter(self, values: Wholes, numbers: Ints) -> None:
        """Learns what it does not know yet."""
        self._make_room(len(values))
        kernel.enter(self.slots, self.shift, values, numbers)
        self.count += len(values)

    def find(self, column: Wholes, unused: list[int], begin: int) -> tuple[Ints, Wholes, list[int]]:
        """The numbers of a column's values, and those values that are new, in the order in which they come: they get
        numbers that were `unused`, from the last on, which are given too, and then those from `begin` on."""
        found, fresh = np.empty(len(column), np.int32), np.empty(len(column), np.int64)
        made, reused = 0, list[int]()
        for start in range(0, len(column), AT_ONCE):
            part = np.ascontiguousarray(column[start : start + AT_ONCE])
            self._make_room(len(part))
            again = unused[: -len(part) - 1 : -1]
            places = found[start : start + len(part)]
            new = kernel.find(self.slots, self.shift, part, places, np.array(again, np.int64), begin, fresh[made:])
            del again[new:]
            del unused[len(unused) - len(again) :]
            reused += again
            begin += new - len(again)
            made += new
            self.count += new
        return found, fresh[:made], reused

    def number(self, value: int) -> int:
        """The number of one value, -1 where it has none. In Python, since a single one is not worth a kernel."""
        slots, last = self.slots, len(self.slots) - 1
        at = (value * kernel.GOLDEN & 0xFFFFFFFFFFFFFFFF) >> self.shift
        while (number := slots.item(at, kernel.NUMBER)) != kernel.EMPTY and slots.item(at, kernel.VALUE) != value:
            at = (at + 1) & last
        return number
