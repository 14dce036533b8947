"""Invented values that keep their identity: a table from a rule and the values of its frontier to an entry.

`keys` has an entry's rule and frontier, as wide as the widest; `slots` is an open-addressing hash of entries. Entries
stand in the order in which they were made, so that what an entry is made from always lies before it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.hashing import EMPTY, scatter


@njit(cache=True)
def _code(keys, entry):  # type: ignore[no-untyped-def]
    code = np.uint64(0)
    for column in range(keys.shape[1]):
        code = scatter(code + np.uint64(keys[entry, column]) + np.uint64(0x9E3779B97F4A7C15))
    return code


@njit(cache=True)
def spread(slots, keys, count):  # type: ignore[no-untyped-def]
    """Fills empty slots with the entries."""
    mask = len(slots) - 1
    for entry in range(count):
        at = np.int64(_code(keys, entry) & np.uint64(mask))
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = entry


@njit(cache=True)
def enter(slots, keys, count, wanted, found):  # type: ignore[no-untyped-def]
    """The entries of keys; those that are new are added, and their count given. There must be room for all."""
    mask = len(slots) - 1
    for row in range(len(wanted)):
        # The next free entry holds the key while it is looked for.
        for column in range(keys.shape[1]):
            keys[count, column] = wanted[row, column]
        at = np.int64(_code(keys, count) & np.uint64(mask))
        while True:
            held = slots[at]
            if held == EMPTY:
                slots[at] = found[row] = count
                count += 1
                break
            same = True
            for column in range(keys.shape[1]):
                if keys[held, column] != wanted[row, column]:
                    same = False
                    break
            if same:
                found[row] = held
                break
            at = (at + 1) & mask
    return count


@njit(cache=True)
def sweep(keys, values, count, widths, counts, used):  # type: ignore[no-untyped-def]
    """Keeps the entries of which some value is used, in their order, and marks what they are made from as used. A
    rule has `widths` values in its frontier and `counts` new ones. Gives how many entries are left."""
    keep = np.zeros(count, np.bool_)
    for entry in range(count - 1, -1, -1):
        rule = keys[entry, 0]
        for place in range(counts[rule]):
            if used[values[entry, place]]:
                keep[entry] = True
        if keep[entry]:
            for place in range(counts[rule]):
                used[values[entry, place]] = True
            for place in range(widths[rule]):
                used[keys[entry, 1 + place]] = True
    left = 0
    for entry in range(count):
        if keep[entry]:
            keys[left] = keys[entry]
            values[left] = values[entry]
            left += 1
    return left
