"""A table of tuples, each with its intervals.

The arrays of a table:

* `COLUMNS`: the tuples, one after the other
* `RECORDS`: of each row its latest interval, `FROM` and `TO`; `EARLIER`: which of the nodes has the one before it,
  `LAST` if there is none, `FREE` for a row not in use (these are chained through `FROM`)
* `NODES`: a pool of the same records for earlier intervals, chained from later to earlier: a stream adds and looks up
  at its end. Intervals of a row neither overlap nor touch. `LINK` of the first of them is a stack of those not in use
* `SLOTS`: open-addressing hash of tuples, holding rows; `EMPTY` or `GONE` otherwise. `BY_NUMBER` says of tuples of one
  column that the row is the column, and nothing has to be searched for
* `WHEEL`: rows chained by when they can be forgotten, through `LINK`; a row is in one chain, or `UNLINKED`
* `AHEAD_COLUMNS`, `AHEAD_LOW`, `AHEAD_HIGH`: what lies later than `BEYOND`, put aside for whoever empties them
* `PASSES`: whether the table only passes on what comes and is emptied with its log; its tuples need not differ
* `LOG_ROW`, `LOG_LOW`, `LOG_HIGH`: what was added since the log was last emptied, piece by piece

A table is given by the address of its description (`layout.py`). Inserting is idempotent: where room runs out, the
caller makes some and inserts all over again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from presage.kernels.compiling import inlined, kernel, typed
from presage.kernels.fields import (
    AHEAD,
    AHEAD_CAPACITY,
    AHEAD_COLUMNS,
    AHEAD_HIGH,
    AHEAD_LOW,
    BEYOND,
    BUCKET,
    BY_NUMBER,
    CAPACITY,
    COLUMNS,
    CUTOFF,
    EARLIER,
    FAR,
    FORGETS,
    FROM,
    FROM_ZERO,
    GRAVES,
    INDEXED,
    LATEST,
    LINK,
    LIVE,
    LOG,
    LOG_CAPACITY,
    LOG_HIGH,
    LOG_LOW,
    LOG_ROW,
    NODES,
    PASSES,
    POOL,
    POOL_CAPACITY,
    POOL_FREE,
    POOL_LIVE,
    RECORD_BYTES,
    RECORDS,
    ROW_FREE,
    ROWS,
    SLOT_MASK,
    SLOTS,
    TO,
    WHEEL,
    WHEEL_AT,
    WHEEL_SIZE,
    WIDTH,
    get,
    get32,
    put,
    put32,
)
from presage.kernels.finding import FREE, find_place
from presage.kernels.groups import add_to_indexes, indexes_have_room
from presage.kernels.hashing import GONE

LAST = -1
UNLINKED = -2


@kernel
def link(table, row, end):  # type: ignore[no-untyped-def]
    """Notes when a row can be forgotten: when the interval that ends at `end` can."""
    wheel, first = get(table, WHEEL), get(table, WHEEL_AT)
    bucket = min(max(end >> get(table, BUCKET), first), first + WHEEL_SIZE - 1) & (WHEEL_SIZE - 1)
    put32(get(table, RECORDS) + row * RECORD_BYTES, LINK, get32(wheel, bucket))
    put32(wheel, bucket, row)


@kernel
def _append(table, tuples, starts, ends, begin, count):  # type: ignore[no-untyped-def]
    """The same for a table that only passes on what comes: nothing is looked up, and row and place in the log agree."""
    columns, width, records = get(table, COLUMNS), get(table, WIDTH), get(table, RECORDS)
    log_row, log_low, log_high = get(table, LOG_ROW), get(table, LOG_LOW), get(table, LOG_HIGH)
    row, latest = get(table, ROWS), get(table, LATEST)
    room = min(get(table, CAPACITY), get(table, LOG_CAPACITY))
    index = begin
    while index < count and row < room:
        start, end = max(get(starts, index), 0), get(ends, index)
        if start <= end:
            for column in range(width):
                put32(columns, row * width + column, get32(tuples, index * width + column))
            record = records + row * RECORD_BYTES
            put(record, FROM, start)
            put(record, TO, end)
            put32(record, EARLIER, LAST)
            put32(log_row, row, row)
            put(log_low, row, start)
            put(log_high, row, end)
            latest = max(latest, end)
            row += 1
        index += 1
    for field in (ROWS, LIVE, LOG):
        put(table, field, row)
    put(table, LATEST, latest)
    return index


@kernel
def insert(table, indexes, tuples, starts, ends, begin, count):  # type: ignore[no-untyped-def]
    """Adds intervals to tuples, from `begin` to `count`; what is new goes to the log. Gives how far it came."""
    if get(table, PASSES):
        return _append(table, tuples, starts, ends, begin, count)
    columns, slots, records, nodes = get(table, COLUMNS), get(table, SLOTS), get(table, RECORDS), get(table, NODES)
    log_row, log_low, log_high = get(table, LOG_ROW), get(table, LOG_LOW), get(table, LOG_HIGH)
    width, mask, capacity = get(table, WIDTH), get(table, SLOT_MASK), get(table, CAPACITY)
    most_used = (mask + 1) * 3 // 5
    log, log_capacity, latest, cutoff = (
        get(table, LOG),
        get(table, LOG_CAPACITY),
        get(table, LATEST),
        get(table, CUTOFF),
    )
    from_zero, forgets, indexed = get(table, FROM_ZERO), get(table, FORGETS), get(table, INDEXED)
    beyond, by_number = get(table, BEYOND), get(table, BY_NUMBER)
    index = begin
    while index < count:
        start, end = get(starts, index), get(ends, index)
        if from_zero and start < 0:
            start = np.int64(0)
        if end > beyond:
            if start <= end and not _put_aside(table, tuples + 4 * index * width, max(start, beyond + 1), end):
                break
            end = beyond
        if start > end:
            index += 1
            continue
        if log == log_capacity:
            break
        wanted, at = tuples + 4 * index * width, np.int64(0)
        if by_number:
            row = np.int64(get32(wanted, 0))
            if row >= capacity:
                break
            is_new = get32(records + row * RECORD_BYTES, EARLIER) == FREE
        else:
            row, at = find_place(columns, slots, width, mask, wanted)
            is_new = row < 0
        if is_new:
            if not by_number:
                used = get(table, LIVE) + get(table, GRAVES)
                if used >= most_used or (indexed >= 0 and not indexes_have_room(indexes, indexed)):
                    break
                row = get(table, ROW_FREE)
                if row >= 0:
                    put(table, ROW_FREE, get(records + row * RECORD_BYTES, FROM))
                else:
                    row = get(table, ROWS)
                    if row == capacity:
                        break
                    put(table, ROWS, row + 1)
                for column in range(width):
                    put32(columns, row * width + column, get32(wanted, column))
                if get32(slots, at) == GONE:
                    put(table, GRAVES, get(table, GRAVES) - 1)
                put32(slots, at, row)
            put(table, LIVE, get(table, LIVE) + 1)
            record = records + row * RECORD_BYTES
            put(record, FROM, start)
            put(record, TO, end)
            put32(record, EARLIER, LAST)
            put32(record, LINK, UNLINKED)
            if indexed >= 0:
                add_to_indexes(indexes, indexed, columns, width, row)
        else:
            record = records + row * RECORD_BYTES
            own_low, own_high = get(record, FROM), get(record, TO)
            if start > own_high + 1:
                earlier = get32(record, EARLIER)
                if own_high < cutoff:
                    # What was there can be forgotten.
                    if earlier >= 0:
                        drop_nodes(table, earlier)
                        put32(record, EARLIER, LAST)
                else:
                    node = _new_node(table)
                    if node < 0:
                        break
                    _write(nodes + node * RECORD_BYTES, own_low, own_high, earlier)
                    put32(record, EARLIER, node)
                put(record, FROM, start)
                put(record, TO, end)
            elif start >= own_low:
                if end <= own_high:
                    index += 1
                    continue
                start = own_high + 1
                put(record, TO, end)
            else:
                pieces = _insert_before(table, row, start, end, log)
                if pieces < 0:
                    break
                if pieces:
                    log += pieces
                    latest = max(latest, end)
                    if forgets and end < FAR and get32(record, LINK) == UNLINKED:
                        link(table, row, end)
                index += 1
                continue
        put32(log_row, log, row)
        put(log_low, log, start)
        put(log_high, log, end)
        log += 1
        latest = max(latest, end)
        if forgets and end < FAR and get32(record, LINK) == UNLINKED:
            link(table, row, end)
        index += 1
    put(table, LOG, log)
    put(table, LATEST, latest)
    return index


@kernel
def _put_aside(table, wanted, start, end):  # type: ignore[no-untyped-def]
    """Notes what lies too far ahead to be in the table yet; gives whether there was room."""
    count, width = get(table, AHEAD), get(table, WIDTH)
    if count == get(table, AHEAD_CAPACITY):
        return False
    for column in range(width):
        put32(get(table, AHEAD_COLUMNS), count * width + column, get32(wanted, column))
    put(get(table, AHEAD_LOW), count, start)
    put(get(table, AHEAD_HIGH), count, end)
    put(table, AHEAD, count + 1)
    return True


@kernel
def _new_node(table):  # type: ignore[no-untyped-def]
    free = get(table, POOL_FREE) - 1
    if free >= 0:
        node = np.int64(get32(get(table, NODES) + free * RECORD_BYTES, LINK))
        put(table, POOL_FREE, free)
    else:
        node = get(table, POOL)
        if node == get(table, POOL_CAPACITY):
            return np.int64(-1)
        put(table, POOL, node + 1)
    put(table, POOL_LIVE, get(table, POOL_LIVE) + 1)
    return node


@inlined
def _write(record, start, end, earlier):  # type: ignore[no-untyped-def]
    put(record, FROM, start)
    put(record, TO, end)
    put32(record, EARLIER, earlier)


@kernel
def _note(table, place, row, start, end):  # type: ignore[no-untyped-def]
    put32(get(table, LOG_ROW), place, row)
    put(get(table, LOG_LOW), place, start)
    put(get(table, LOG_HIGH), place, end)


@kernel
def _insert_before(table, row, start, end, log):  # type: ignore[no-untyped-def]
    """Adds an interval that starts before a row's latest one; gives the number of pieces, or -1 for want of room."""
    nodes = get(table, NODES)
    # The intervals that overlap or touch the new one, if any, are `own` and earlier ones; 0 stands for none.
    own, later = get(table, RECORDS) + row * RECORD_BYTES, np.int64(0)
    while own and get(own, FROM) > end + 1:
        later = own
        own = earlier_record(nodes, own)
    if own == 0 or get(own, TO) < start - 1:
        # It touches nothing, and is not the latest.
        node = _new_node(table)
        if node < 0:
            return np.int64(-1)
        _write(nodes + node * RECORD_BYTES, start, end, get32(later, EARLIER))
        put32(later, EARLIER, node)
        _note(table, log, row, start, end)
        return np.int64(1)
    own_low, own_high = get(own, FROM), get(own, TO)
    if own_low <= start and own_high >= end:
        return np.int64(0)
    # Looking first: between the intervals that are swallowed there are as many gaps, and one more.
    swallowed, other = 1, earlier_record(nodes, own)
    while other and get(other, TO) >= start - 1:
        swallowed += 1
        other = earlier_record(nodes, other)
    if log + swallowed + 1 > get(table, LOG_CAPACITY):
        return np.int64(-1)
    pieces, cursor = np.int64(0), end
    merged_low, merged_high, earlier = start, end, get32(own, EARLIER)
    for turn in range(swallowed):
        if turn > 0:
            other = nodes + earlier * RECORD_BYTES
            own_low, own_high, following = get(other, FROM), get(other, TO), get32(other, EARLIER)
            _drop_node(table, earlier)
            earlier = following
        if own_high < cursor:
            _note(table, log + pieces, row, max(own_high + 1, start), cursor)
            pieces += 1
        cursor = min(cursor, own_low - 1)
        merged_low, merged_high = min(merged_low, own_low), max(merged_high, own_high)
    if cursor >= start:
        _note(table, log + pieces, row, start, cursor)
        pieces += 1
    _write(own, merged_low, merged_high, earlier)
    return pieces


@inlined
def earlier_record(nodes, record):  # type: ignore[no-untyped-def]
    """The address of the record before one, or 0."""
    node = get32(record, EARLIER)
    return nodes + node * RECORD_BYTES if node >= 0 else np.int64(0)


@inlined
def _drop_node(table, node):  # type: ignore[no-untyped-def]
    free = get(table, POOL_FREE)
    put32(get(table, NODES) + free * RECORD_BYTES, LINK, node)
    put(table, POOL_FREE, free + 1)
    put(table, POOL_LIVE, get(table, POOL_LIVE) - 1)


@kernel
def drop_nodes(table, node):  # type: ignore[no-untyped-def]
    nodes = get(table, NODES)
    while node >= 0:
        following = get32(nodes + node * RECORD_BYTES, EARLIER)
        _drop_node(table, node)
        node = following


@kernel
def all_intervals(table):  # type: ignore[no-untyped-def]
    """Every interval as (row, start, end)."""
    records, nodes = get(table, RECORDS), get(table, NODES)
    total = get(table, LIVE) + get(table, POOL_LIVE)
    rows, lows, highs = np.empty(total, np.int32), np.empty(total, np.int64), np.empty(total, np.int64)
    count = 0
    for row in range(get(table, ROWS)):
        record = records + row * RECORD_BYTES
        if get32(record, EARLIER) == FREE:
            continue
        while record:
            rows[count], lows[count], highs[count] = row, get(record, FROM), get(record, TO)
            count += 1
            record = earlier_record(nodes, record)
    return rows, lows, highs


def _numbers_of_a_table() -> Any:
    """Other kinds of numbers must not get there; arrays that are not ours may be read only."""
    from numba import types

    rows, cells = types.Array(types.int32, 2, "C", readonly=True), types.Array(types.int64, 1, "C", readonly=True)
    return types.int64(types.int64, types.int64, rows, cells, cells, types.int64)


@typed(_numbers_of_a_table)
def insert_all(table, indexes, tuples, starts, ends, begin):  # type: ignore[no-untyped-def]
    """The same for arrays."""
    return insert(table, indexes, tuples.ctypes.data, starts.ctypes.data, ends.ctypes.data, begin, len(starts))
