"""Numbers of whole numbers: an open-addressing hash. A slot has a number, and `floats` the value of each."""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.hashing import EMPTY

GOLDEN = 0x9E3779B97F4A7C15
"""Values that lie at equal distances are spread evenly by it."""


@inlined
def _slot(slots, shift, floats, value):  # type: ignore[no-untyped-def]
    """Where a value is, or would be."""
    at = np.int64((np.uint64(value) * np.uint64(GOLDEN)) >> np.uint64(shift))
    while slots[at] != EMPTY and floats[slots[at]] != value:
        at = (at + 1) & (len(slots) - 1)
    return at


@kernel
def find(slots, shift, floats, column, found, unused, begin, fresh):  # type: ignore[no-untyped-def]
    """The numbers of a column's values. New ones get `unused` numbers, and then those from `begin` on. Gives how many
    were `fresh`, in the order in which they come; there must be room for all."""
    made = 0
    for row in range(len(column)):
        value = column[row]
        at = _slot(slots, shift, floats, value)
        if slots[at] == EMPTY:
            number = unused[made] if made < len(unused) else begin + made - len(unused)
            slots[at], floats[number], fresh[made] = number, value, value
            made += 1
        found[row] = slots[at]
    return made


@kernel
def enter(slots, shift, floats, numbers):  # type: ignore[no-untyped-def]
    """Enters numbers that are not there yet."""
    for number in numbers:
        slots[_slot(slots, shift, floats, np.int64(floats[number]))] = number
