"""Forgetting: rows leave a table when all their intervals have ended early enough.

Rows lie in buckets by when they can be forgotten, `WHEEL_SIZE` of them and then round again. A row is where the
earliest of its intervals ends, or before: it is looked at when its bucket is due, loses what has ended, and goes to the
bucket of what is left. So the cost follows what is forgotten, not what is remembered.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import (
    BUCKET,
    BY_NUMBER,
    COLUMNS,
    CUTOFF,
    EARLIER,
    FAR,
    FORGETS,
    FROM,
    GRAVES,
    GROUP_GRAVES,
    GROUPS,
    HEAD_MASK,
    HEADS,
    INDEX_BYTES,
    INDEXED,
    LATEST,
    LINK,
    LIVE,
    LOG,
    LOG_CAPACITY,
    LONG_LOG,
    NEXT_INDEX,
    NODES,
    PASSES,
    POOL,
    POOL_FREE,
    POOL_LIVE,
    RECORD_BYTES,
    RECORDS,
    ROW_FREE,
    ROWS,
    SLOT_MASK,
    SLOTS,
    TABLE_BYTES,
    TO,
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
from presage.kernels.finding import FREE, find_row
from presage.kernels.groups import remove_from_indexes
from presage.kernels.hashing import EMPTY, GONE, first_place, hash_tuple, stride
from presage.kernels.tables import LAST, UNLINKED, drop_nodes, earlier_record, link


@kernel
def forget_news(tables, count, seen, triggers, apart):  # type: ignore[no-untyped-def]
    """Empties the logs, and tables that only pass on: all has been seen by all triggers. Gives a table whose log
    is much longer than it needs to be, or -1."""
    longest = np.int64(-1)
    for number in range(count):
        table = tables + number * TABLE_BYTES
        capacity = get(table, LOG_CAPACITY)
        if capacity > LONG_LOG and get(table, LOG) * 16 < capacity:
            longest = np.int64(number)
        put(table, LOG, 0)
        if get(table, PASSES):
            put(table, ROWS, 0)
            put(table, LIVE, 0)
    for number in range(triggers):
        put(seen + number * apart, 0, 0)
    return longest


@kernel
def forget(tables, indexes, cutoffs):  # type: ignore[no-untyped-def]
    """Drops from each table what ended before its cutoff."""
    for number in range(len(cutoffs)):
        table, cutoff = tables + number * TABLE_BYTES, cutoffs[number]
        if get(table, FORGETS):
            put(table, CUTOFF, cutoff)
            begin, end = get(table, WHEEL_AT), cutoff >> get(table, BUCKET)
            size = get(table, ROWS) if get(table, BY_NUMBER) else get(table, SLOT_MASK)
            if get(table, LATEST) < cutoff and get(table, LIVE) * 8 > size:
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


@kernel
def _forget_all(table, indexes):  # type: ignore[no-untyped-def]
    """Empties a table that is not nearly empty: that is less work than to remove its rows."""
    for field in (LIVE, POOL, POOL_LIVE, POOL_FREE):
        put(table, field, 0)
    fill32(get(table, WHEEL), WHEEL_SIZE, LAST)
    if get(table, BY_NUMBER):
        records = get(table, RECORDS)
        for row in range(get(table, ROWS)):
            put32(records + row * RECORD_BYTES, EARLIER, FREE)
        return
    put(table, ROWS, 0)
    put(table, GRAVES, 0)
    put(table, ROW_FREE, -1)
    fill32(get(table, SLOTS), get(table, SLOT_MASK) + 1, EMPTY)
    number = get(table, INDEXED)
    while number >= 0:
        index = indexes + number * INDEX_BYTES
        fill32(get(index, HEADS), get(index, HEAD_MASK) + 1, EMPTY)
        put(index, GROUPS, 0)
        put(index, GROUP_GRAVES, 0)
        number = get(index, NEXT_INDEX)


@kernel
def _forget_chain(table, indexes, row, cutoff):  # type: ignore[no-untyped-def]
    records, nodes = get(table, RECORDS), get(table, NODES)
    while row >= 0:
        record = records + row * RECORD_BYTES
        following = get32(record, LINK)
        put32(record, LINK, UNLINKED)
        end = get(record, TO)
        if end < cutoff:
            _free_row(table, indexes, row)
        else:
            # The first that ended too early, and all before it, go; the row is looked at again when the next can.
            last = record
            node = get32(last, EARLIER)
            while node >= 0 and get(nodes + node * RECORD_BYTES, TO) >= cutoff:
                last = nodes + node * RECORD_BYTES
                node = get32(last, EARLIER)
            if node >= 0:
                drop_nodes(table, node)
                put32(last, EARLIER, LAST)
            end = get(last, TO)
            if end < FAR:
                link(table, row, end)
        row = following


@kernel
def _free_row(table, indexes, row):  # type: ignore[no-untyped-def]
    record = get(table, RECORDS) + row * RECORD_BYTES
    drop_nodes(table, get32(record, EARLIER))
    put32(record, EARLIER, FREE)
    put(table, LIVE, get(table, LIVE) - 1)
    if not get(table, BY_NUMBER):
        _remove_row(table, indexes, row)
        put(record, FROM, get(table, ROW_FREE))
        put(table, ROW_FREE, row)


@kernel
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
    if get(table, INDEXED) >= 0:
        remove_from_indexes(indexes, get(table, INDEXED), columns, width, row)


@kernel
def link_all(table):  # type: ignore[no-untyped-def]
    """Chains all rows anew, after the buckets have changed."""
    records, nodes = get(table, RECORDS), get(table, NODES)
    for row in range(get(table, ROWS)):
        record = records + row * RECORD_BYTES
        put32(record, LINK, UNLINKED)
        node = get32(record, EARLIER)
        if node != FREE:
            end = get(record, TO)
            while node >= 0:
                end = get(nodes + node * RECORD_BYTES, TO)
                node = get32(nodes + node * RECORD_BYTES, EARLIER)
            if end < FAR:
                link(table, row, end)


@kernel
def held_rows(table, left, places, limit, kept):  # type: ignore[no-untyped-def]
    """Marks the rows whose latest interval has not ended before `limit`, or since whose end a row of another table,
    found by the columns at `places`, has held up to there. An earlier interval is never held when the latest is not."""
    columns, width, records = get(table, COLUMNS), get(table, WIDTH), get(table, RECORDS)
    wanted = np.zeros(len(places), np.int32)
    for row in range(get(table, ROWS)):
        record = records + row * RECORD_BYTES
        if get32(record, EARLIER) == FREE or kept[row]:
            continue
        end = get(record, TO)
        if end >= limit:
            kept[row] = True
            continue
        for place in range(len(places)):
            wanted[place] = get32(columns, row * width + places[place]) if places[place] >= 0 else 0
        partner = find_row(left, wanted.ctypes.data)
        other = get(left, RECORDS) + partner * RECORD_BYTES if partner >= 0 else np.int64(0)
        while other and get(other, FROM) > end + 1:
            other = earlier_record(get(left, NODES), other)
        kept[row] = other != 0 and get(other, TO) >= limit


@kernel
def forget_rows(table, indexes, kept, cutoff, earliest):  # type: ignore[no-untyped-def]
    """Drops the rows that are not marked and ended before a cutoff. Of the others' intervals that ended before
    `earliest` the last stays: it says what those before it say."""
    records, nodes = get(table, RECORDS), get(table, NODES)
    for row in range(get(table, ROWS)):
        record = records + row * RECORD_BYTES
        if get32(record, EARLIER) == FREE:
            continue
        if not kept[row]:
            if get(record, TO) < cutoff:
                _free_row(table, indexes, row)
            continue
        while record and get(record, TO) >= earliest:
            record = earlier_record(nodes, record)
        if record:
            drop_nodes(table, get32(record, EARLIER))
            put32(record, EARLIER, LAST)
