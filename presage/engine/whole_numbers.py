"""Numbers of whole numbers: `Symbols` has no dictionary of them, since values of a stream are often all different.

What they are worth `Symbols` says, by the column.
"""

from __future__ import annotations

import numpy as np

from presage.kernels import wholes as kernel
from presage.kernels.arrays import Floats, Ints, Ints32
from presage.kernels.hashing import EMPTY

FEWEST = 64
AT_ONCE = 1 << 16
"""Values of a column that are looked for at once."""


class WholeNumberSymbols:
    def __init__(self) -> None:
        self.count = 0
        self._make(0)

    def fill(self, numbers: Ints32, floats: Floats) -> None:
        """Knows these and no others."""
        self.count = 0
        self._make(len(numbers))
        self.enter(numbers, floats)

    def _make(self, size: int) -> None:
        slots = max(FEWEST, 1 << (2 * size).bit_length())
        self.slots = np.full(slots, EMPTY, np.int32)
        self.shift = 65 - slots.bit_length()

    def make_room(self, more: int, floats: Floats) -> None:
        if 2 * (self.count + more) > len(self.slots):
            numbers = self.slots[self.slots != EMPTY]
            self._make(self.count + more)
            kernel.enter(self.slots, self.shift, floats, numbers)

    def enter(self, numbers: Ints32, floats: Floats) -> None:
        """Learns numbers that it does not know yet."""
        self.make_room(len(numbers), floats)
        kernel.enter(self.slots, self.shift, floats, numbers)
        self.count += len(numbers)

    def find(self, column: Ints, floats: Floats, unused: list[int], begin: int) -> tuple[Ints32, Ints, list[int]]:
        """The numbers of a column's values, for all of which there must be room, and those values that are new, in the
        order in which they come: they get numbers that were `unused`, from the last on, which are given too, and then
        those from `begin` on."""
        found, fresh = np.empty(len(column), np.int32), np.empty(len(column), np.int64)
        again = unused[: -len(column) - 1 : -1]
        made = kernel.find(
            self.slots, self.shift, floats, np.ascontiguousarray(column), found, np.array(again, np.int64), begin, fresh
        )
        del again[made:]
        del unused[len(unused) - len(again) :]
        self.count += made
        return found, fresh[:made], again

    def number(self, value: int, floats: Floats) -> int:
        """The number of one value, -1 where it has none. In Python, since a single one is not worth a kernel."""
        slots, last = self.slots, len(self.slots) - 1
        at = (value * kernel.GOLDEN & 0xFFFFFFFFFFFFFFFF) >> self.shift
        while (number := slots.item(at)) != EMPTY and floats.item(number) != value:
            at = (at + 1) & last
        return number
