"""Numbers of whole numbers: an open-addressing hash, in which a slot has a value and its number."""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel

EMPTY = -1
VALUE, NUMBER, FIELDS = range(3)
GOLDEN = 0x9E3779B97F4A7C15
"""Values that lie at equal distances are spread evenly by it."""


@inlined
def _slot(slots, shift, value):  # type: ignore[no-untyped-def]
    """Where a value is, or would be."""
    at = np.int64((np.uint64(value) * np.uint64(GOLDEN)) >> np.uint64(shift))
    while slots[at, NUMBER] != EMPTY and slots[at, VALUE] != value:
        at = (at + 1) & (len(slots) - 1)
    return at


@kernel
def find(slots, shift, column, found, unused, begin, fresh):  # type: ignore[no-untyped-def]
    """The numbers of a column's values. New ones get `unused` numbers, and then those from `begin` on. Gives how many
    were `fresh`, in the order in which they come; there must be room for all."""
    made = 0
    for row in range(len(column)):
        value = column[row]
        at = _slot(slots, shift, value)
        if slots[at, NUMBER] == EMPTY:
            slots[at, VALUE] = fresh[made] = value
            slots[at, NUMBER] = unused[made] if made < len(unused) else begin + made - len(unused)
            made += 1
        found[row] = slots[at, NUMBER]
    return made


@kernel
def enter(slots, shift, values, numbers):  # type: ignore[no-untyped-def]
    """Enters values that are not there yet."""
    for row in range(len(values)):
        at = _slot(slots, shift, values[row])
        slots[at, VALUE], slots[at, NUMBER] = values[row], numbers[row]
