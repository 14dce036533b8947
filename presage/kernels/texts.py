"""Texts of a column found by their bytes, without a Python object for each.

Arrays of an index of texts: `slots`, an open-addressing hash of entries; `codes`, the entries' hashes; `begins`,
where an entry's bytes begin in `arena`, with one more for the end of the last. Columns come as Arrow keeps
them: all bytes together, and where each text begins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.tables import EMPTY, mix


@njit(cache=True)
def refill(slots, codes, count):  # type: ignore[no-untyped-def]
    """Fills `slots` from the entries' hashes."""
    mask = len(slots) - 1
    slots[:] = EMPTY
    for entry in range(count):
        at = codes[entry] & mask
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = entry


@njit(cache=True)
def intern(slots, codes, begins, arena, count, offsets, data):  # type: ignore[no-untyped-def]
    """The entries of a column's texts, and the rows whose texts became new entries, in their order. There must be
    room for all texts to be new."""
    mask = len(slots) - 1
    size = len(offsets) - 1
    found = np.empty(size, np.int64)
    fresh = np.empty(size, np.int64)
    made = 0
    for row in range(size):
        begin, end = offsets[row], offsets[row + 1]
        length = end - begin
        code = np.uint64(length)
        place = begin
        while place < end:
            word = np.uint64(0)
            last = min(place + 8, end)
            for byte in range(place, last):
                word = word << np.uint64(8) | np.uint64(data[byte])
            code = mix(code ^ word)
            place = last
        tag = np.int64(code & np.uint64(0x7FFFFFFFFFFFFFFF))
        at = tag & mask
        entry = np.int64(-1)
        while slots[at] != EMPTY:
            held = slots[at]
            if codes[held] == tag and begins[held + 1] - begins[held] == length:
                same = True
                for byte in range(length):
                    if arena[begins[held] + byte] != data[begin + byte]:
                        same = False
                        break
                if same:
                    entry = np.int64(held)
                    break
            at = (at + 1) & mask
        if entry < 0:
            entry = count + made
            slots[at] = entry
            codes[entry] = tag
            for byte in range(length):
                arena[begins[entry] + byte] = data[begin + byte]
            begins[entry + 1] = begins[entry] + length
            fresh[made] = row
            made += 1
        found[row] = entry
    return found, fresh[:made]


@njit(cache=True)
def hashes(offsets, data, seed):  # type: ignore[no-untyped-def]
    """A hash of each text, the same on every machine."""
    size = len(offsets) - 1
    found = np.empty(size, np.uint64)
    for row in range(size):
        code = mix(np.uint64(offsets[row + 1] - offsets[row]) ^ np.uint64(seed))
        for byte in range(offsets[row], offsets[row + 1]):
            code = (code ^ np.uint64(data[byte])) * np.uint64(1099511628211)
        found[row] = mix(code)
    return found
