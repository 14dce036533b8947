"""Where the row of a tuple is.

Mostly a hash says so. A table of single constants that has a good part of all constants is kept by their numbers
instead: the row of a constant is its number, and who walks along a stream walks along the table.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.fields import (
    BY_NUMBER,
    COLUMNS,
    EARLIER,
    GRAVES,
    RECORD_BYTES,
    RECORDS,
    ROWS,
    SLOT_MASK,
    SLOTS,
    WIDTH,
    get,
    get32,
    put,
    put32,
)
from presage.kernels.hashing import EMPTY, GONE, first_place, hash_tuple, stride

# What `EARLIER` says of a row not in use.
FREE = -2


@inlined
def find_place(columns, slots, width, mask, wanted):  # type: ignore[no-untyped-def]
    """The row of the tuple at an address, or -1, and the slot that has it or can have it."""
    code = hash_tuple(wanted, width)
    at = first_place(code, mask)
    grave, step = np.int64(-1), np.int64(0)
    while True:
        held = np.int64(get32(slots, at))
        if held == EMPTY:
            return np.int64(-1), at if grave < 0 else grave
        if held == GONE:
            if grave < 0:
                grave = at
        else:
            same = True
            for column in range(width):
                if get32(columns, held * width + column) != get32(wanted, column):
                    same = False
                    break
            if same:
                return held, at
        if step == 0:
            step = stride(code)
        at = (at + step) & mask


@kernel
def find_row(table, wanted):  # type: ignore[no-untyped-def]
    """The row of the tuple at an address, or -1."""
    if get(table, BY_NUMBER):
        row = np.int64(get32(wanted, 0))
        if row < get(table, ROWS) and get32(get(table, RECORDS) + row * RECORD_BYTES, EARLIER) != FREE:
            return row
        return np.int64(-1)
    return find_place(get(table, COLUMNS), get(table, SLOTS), get(table, WIDTH), get(table, SLOT_MASK), wanted)[0]


@kernel
def rehash(table):  # type: ignore[no-untyped-def]
    """Fills empty slots from the rows in use."""
    columns, slots, records = get(table, COLUMNS), get(table, SLOTS), get(table, RECORDS)
    width, mask = get(table, WIDTH), get(table, SLOT_MASK)
    for row in range(get(table, ROWS)):
        if get32(records + row * RECORD_BYTES, EARLIER) == FREE:
            continue
        code = hash_tuple(columns + 4 * row * width, width)
        at = first_place(code, mask)
        if get32(slots, at) != EMPTY:
            step = stride(code)
            while get32(slots, at) != EMPTY:
                at = (at + step) & mask
        put32(slots, at, row)
    put(table, GRAVES, 0)
