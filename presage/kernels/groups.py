"""Indexes: the rows of a table grouped by some of their columns.

`HEADS` is an open-addressing hash of groups, holding the first row of each; `FOLLOWING` and `PRECEDING` chain the rows
of a group. A new row goes first, so that who walks along a group while rows are added meets each row once.

An index is given by the address of its description, and so are those of a table together, with the number of the first.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import (
    EARLIER,
    FOLLOWING,
    GROUP_GRAVES,
    GROUPS,
    HEAD_MASK,
    HEADS,
    INDEX_BYTES,
    KEY,
    KEYS,
    NEXT_INDEX,
    PRECEDING,
    RECORD_BYTES,
    get,
    get32,
    put,
    put32,
)
from presage.kernels.hashing import EMPTY, GONE, first_place, hash_columns, hash_tuple, stride


@kernel
def indexes_have_room(indexes, number):  # type: ignore[no-untyped-def]
    while number >= 0:
        index = indexes + number * INDEX_BYTES
        if (get(index, GROUPS) + get(index, GROUP_GRAVES)) * 5 >= (get(index, HEAD_MASK) + 1) * 3:
            return False
        number = get(index, NEXT_INDEX)
    return True


@kernel
def find_group(index, columns, width, wanted):  # type: ignore[no-untyped-def]
    """The first row of the group with the wanted key, or -1."""
    heads, key, keys, mask = get(index, HEADS), get(index, KEY), get(index, KEYS), get(index, HEAD_MASK)
    code = hash_tuple(wanted, keys)
    at = first_place(code, mask)
    step = np.int64(0)
    while True:
        held = get32(heads, at)
        if held == EMPTY:
            return np.int64(-1)
        if held >= 0:
            same = True
            for place in range(keys):
                if get32(columns, held * width + get(key, place)) != get32(wanted, place):
                    same = False
                    break
            if same:
                return held
        if step == 0:
            step = stride(code)
        at = (at + step) & mask


@kernel
def add_to_index(index, columns, width, row):  # type: ignore[no-untyped-def]
    heads, following, preceding = get(index, HEADS), get(index, FOLLOWING), get(index, PRECEDING)
    key, keys, mask = get(index, KEY), get(index, KEYS), get(index, HEAD_MASK)
    code = hash_columns(columns + 4 * row * width, key, keys)
    at = first_place(code, mask)
    grave, step = np.int64(-1), np.int64(0)
    put32(preceding, row, -1)
    while True:
        held = get32(heads, at)
        if held == EMPTY:
            put32(following, row, -1)
            if grave >= 0:
                at = grave
                put(index, GROUP_GRAVES, get(index, GROUP_GRAVES) - 1)
            put32(heads, at, row)
            put(index, GROUPS, get(index, GROUPS) + 1)
            return
        if held == GONE:
            if grave < 0:
                grave = at
        else:
            same = True
            for place in range(keys):
                column = get(key, place)
                if get32(columns, held * width + column) != get32(columns, row * width + column):
                    same = False
                    break
            if same:
                put32(following, row, held)
                put32(preceding, held, row)
                put32(heads, at, row)
                return
        if step == 0:
            step = stride(code)
        at = (at + step) & mask


@kernel
def add_to_indexes(indexes, number, columns, width, row):  # type: ignore[no-untyped-def]
    while number >= 0:
        index = indexes + number * INDEX_BYTES
        add_to_index(index, columns, width, row)
        number = get(index, NEXT_INDEX)


@kernel
def remove_from_indexes(indexes, number, columns, width, row):  # type: ignore[no-untyped-def]
    while number >= 0:
        index = indexes + number * INDEX_BYTES
        _remove(index, columns, width, row)
        number = get(index, NEXT_INDEX)


@kernel
def _remove(index, columns, width, row):  # type: ignore[no-untyped-def]
    heads, following, preceding = get(index, HEADS), get(index, FOLLOWING), get(index, PRECEDING)
    later, earlier = get32(following, row), get32(preceding, row)
    if later >= 0:
        put32(preceding, later, earlier)
    if earlier >= 0:
        put32(following, earlier, later)
        return
    mask = get(index, HEAD_MASK)
    code = hash_columns(columns + 4 * row * width, get(index, KEY), get(index, KEYS))
    at = first_place(code, mask)
    if get32(heads, at) != row:
        step = stride(code)
        while get32(heads, at) != row:
            at = (at + step) & mask
    if later >= 0:
        put32(heads, at, later)
    else:
        put32(heads, at, GONE)
        put(index, GROUP_GRAVES, get(index, GROUP_GRAVES) + 1)
        put(index, GROUPS, get(index, GROUPS) - 1)


@kernel
def fill_index(index, columns, width, records, rows):  # type: ignore[no-untyped-def]
    """Enters all rows in use; `EARLIER` of the others is less than -1."""
    for row in range(rows):
        if get32(records + row * RECORD_BYTES, EARLIER) >= -1:
            add_to_index(index, columns, width, row)
