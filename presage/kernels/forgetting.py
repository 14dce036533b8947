"""Forgetting: rows leave a table when all their intervals have ended early enough.

Rows lie in buckets by when they can be forgotten, `WHEEL_SIZE` of them and then round again. A row is where the
earliest of its intervals ends, or before: it is looked at when its bucket is due, loses what has ended, and goes to the
bucket of what is left. So the cost follows what is forgotten, not what is remembered.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.groups import remove_from_indexes
from presage.kernels.hashing import EMPTY, GONE, first_place, hash_tuple, stride
from presage.kernels.layout import (
    AFTER,
    BUCKET,
    COLUMNS,
    CUTOFF,
    FAR,
    FORGETS,
    GRAVES,
    GROUP_GRAVES,
    GROUPS,
    HEAD_MASK,
    HEADS,
    HIGH,
    INDEX_BYTES,
    INDEXED,
    LATEST,
    LINKED,
    LIVE,
    LOW,
    NEXT_INDEX,
    POOL,
    POOL_AFTER,
    POOL_FREE,
    POOL_HIGH,
    POOL_LIVE,
    ROW_FREE,
    ROWS,
    SLOT_MASK,
    SLOTS,
    TABLE_BYTES,
    WHEEL,
    WHEEL_AT,
    WHEEL_SIZE,
    WIDTH,
    fill32,
    get,
    get32,
    put,
    put32,
)  # fmt: skip
from presage.kernels.tables import FREE, LAST, UNLINKED, drop_nodes, link


@njit(cache=True)
def forget(tables, indexes, cutoffs):  # type: ignore[no-untyped-def]
    """Drops from each table what ended before its cutoff."""
    for number in range(len(cutoffs)):
        table, cutoff = tables + number * TABLE_BYTES, cutoffs[number]
        if get(table, FORGETS):
            put(table, CUTOFF, cutoff)
            begin, end = get(table, WHEEL_AT), cutoff >> get(table, BUCKET)
            if get(table, LATEST) < cutoff and get(table, LIVE) * 8 > get(table, SLOT_MASK):
                _forget_all(table, indexes)
                put(table, WHEEL_AT, max(begin, end))
            elif end > begin:
                put(table, WHEEL_AT, end)
                wheel = get(table, WHEEL)
                for turn in range(min(end - begin, WHEEL_SIZE)):
                    bucket = (begin + turn) & (WHEEL_SIZE - 1)
                    row = get32(wheel, bucket)
                    put32(wheel, bucket, LAST)
                    if row >= 0:
                        _forget_chain(table, indexes, row, cutoff)


@njit(cache=True)
def _forget_all(table, indexes):  # type: ignore[no-untyped-def]
    """Empties a table that is not nearly empty: that is less work than to remove its rows."""
    for field in (ROWS, LIVE, POOL, POOL_LIVE, GRAVES):
        put(table, field, 0)
    put(table, ROW_FREE, -1)
    put(table, POOL_FREE, -1)
    fill32(get(table, SLOTS), get(table, SLOT_MASK) + 1, EMPTY)
    fill32(get(table, WHEEL), WHEEL_SIZE, LAST)
    number = get(table, INDEXED)
    while number >= 0:
        index = indexes + number * INDEX_BYTES
        fill32(get(index, HEADS), get(index, HEAD_MASK) + 1, EMPTY)
        put(index, GROUPS, 0)
        put(index, GROUP_GRAVES, 0)
        number = get(index, NEXT_INDEX)


@njit(cache=True)
def _forget_chain(table, indexes, row, cutoff):  # type: ignore[no-untyped-def]
    low, high, after, linked = get(table, LOW), get(table, HIGH), get(table, AFTER), get(table, LINKED)
    pool_high, pool_after = get(table, POOL_HIGH), get(table, POOL_AFTER)
    while row >= 0:
        following = get32(linked, row)
        put32(linked, row, UNLINKED)
        end, node = get(high, row), get32(after, row)
        if end < cutoff:
            drop_nodes(table, node)
            _remove_row(table, indexes, row)
            put(low, row, get(table, ROW_FREE))
            put(table, ROW_FREE, row)
        else:
            # The first that ended too early, and all before it, go; the row is looked at again when the next can.
            before = np.int64(-1)
            while node >= 0 and get(pool_high, node) >= cutoff:
                before, end = node, get(pool_high, node)
                node = get32(pool_after, node)
            if node >= 0:
                drop_nodes(table, node)
                if before < 0:
                    put32(after, row, LAST)
                else:
                    put32(pool_after, before, LAST)
            if end < FAR:
                link(table, row, end)
        row = following


@njit(cache=True)
def _remove_row(table, indexes, row):  # type: ignore[no-untyped-def]
    columns, slots = get(table, COLUMNS), get(table, SLOTS)
    width, mask = get(table, WIDTH), get(table, SLOT_MASK)
    code = hash_tuple(columns + 4 * row * width, width)
    at = first_place(code, mask)
    if get32(slots, at) != row:
        step = stride(code)
        while get32(slots, at) != row:
            at = (at + step) & mask
    put32(slots, at, GONE)
    put(table, GRAVES, get(table, GRAVES) + 1)
    put(table, LIVE, get(table, LIVE) - 1)
    put32(get(table, AFTER), row, FREE)
    if get(table, INDEXED) >= 0:
        remove_from_indexes(indexes, get(table, INDEXED), columns, width, row)


@njit(cache=True)
def link_all(table):  # type: ignore[no-untyped-def]
    """Chains all rows anew, after the buckets have changed."""
    high, after, linked = get(table, HIGH), get(table, AFTER), get(table, LINKED)
    pool_high, pool_after = get(table, POOL_HIGH), get(table, POOL_AFTER)
    for row in range(get(table, ROWS)):
        put32(linked, row, UNLINKED)
        node = get32(after, row)
        if node != FREE:
            end = get(high, row)
            while node >= 0:
                end = get(pool_high, node)
                node = get32(pool_after, node)
            if end < FAR:
                link(table, row, end)
