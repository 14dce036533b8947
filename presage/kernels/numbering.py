"""Numbers for what comes again.

For tuples, a table from keys to entries: `keys` has the entries' tuples, all of one width; `slots` is an
open-addressing hash of entries. Entries stand in the order in which they were made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.hashing import EMPTY, scatter


@kernel
def _code(keys, entry):  # type: ignore[no-untyped-def]
    code = np.uint64(0)
    for column in range(keys.shape[1]):
        code = scatter(code + np.uint64(keys[entry, column]) + np.uint64(0x9E3779B97F4A7C15))
    return code


@kernel
def spread(slots, keys, count):  # type: ignore[no-untyped-def]
    """Fills empty slots with the entries."""
    mask = len(slots) - 1
    for entry in range(count):
        at = np.int64(_code(keys, entry) & np.uint64(mask))
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = entry


@kernel
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


@kernel
def together(numbers, count):  # type: ignore[no-untyped-def]
    """An order in which rows of one number, out of so many, come together, otherwise in the order in which they are."""
    ends = np.zeros(count + 1, np.int64)
    for row in range(len(numbers)):
        ends[numbers[row] + 1] += 1
    for number in range(count):
        ends[number + 1] += ends[number]
    order = np.empty(len(numbers), np.int64)
    for row in range(len(numbers)):
        order[ends[numbers[row]]] = row
        ends[numbers[row]] += 1
    return order


def distinct(numbers: Any) -> tuple[Any, Any]:
    """The distinct ones of some numbers that are not negative, in order, and where each number stands among them. Where
    they are small they are marked, which is quicker than sorting them."""
    flat = numbers.reshape(-1)
    greatest = int(flat.max()) if len(flat) else 0
    if greatest > 4 * len(flat) + 1024:
        return np.unique(flat, return_inverse=True)
    seen = np.zeros(greatest + 1, np.bool_)
    seen[flat] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[flat]
