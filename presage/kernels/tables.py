"""A table of tuples, each with its intervals.

The arrays of a table:

* `COLUMNS`: the tuples, one after the other
* `LOW`, `HIGH`: of each row its latest interval, in place; `AFTER`: where in the pool the one before it lies, `LAST` if
  there is none, `FREE` for a row not in use (these are chained through `LOW`)
* `POOL_LOW`, `POOL_HIGH`, `POOL_AFTER`: the pool of earlier intervals, chained from later to earlier: a stream adds and
  looks up at its end. Intervals of a row neither overlap nor touch
* `SLOTS`: open-addressing hash of tuples, holding rows; `EMPTY` or `GONE` otherwise
* `WHEEL`, `LINKED`: rows chained by when they can be forgotten; a row is in one chain, or `UNLINKED`
* `AHEAD_COLUMNS`, `AHEAD_LOW`, `AHEAD_HIGH`: what lies later than `BEYOND`, put aside for whoever empties them
* `PASSES`: whether the table only passes on what comes and is emptied with its log; its tuples need not differ
* `LOG_ROW`, `LOG_LOW`, `LOG_HIGH`: what was added since the log was last emptied, piece by piece

A table is given by the address of its description (`layout.py`). Inserting is idempotent: where room runs out, the
caller makes some and inserts all over again.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from presage.kernels.groups import add_to_indexes, indexes_have_room
from presage.kernels.hashing import EMPTY, GONE, first_place, hash_tuple, stride
from presage.kernels.layout import (
    AFTER,
    AHEAD,
    AHEAD_CAPACITY,
    AHEAD_COLUMNS,
    AHEAD_HIGH,
    AHEAD_LOW,
    BEYOND,
    BUCKET,
    CAPACITY,
    COLUMNS,
    CUTOFF,
    FAR,
    FORGETS,
    FROM_ZERO,
    GRAVES,
    HIGH,
    INDEXED,
    LATEST,
    LINKED,
    LIVE,
    LOG,
    LOG_CAPACITY,
    LOG_HIGH,
    LOG_LOW,
    LOG_ROW,
    LOW,
    PASSES,
    POOL,
    POOL_AFTER,
    POOL_CAPACITY,
    POOL_FREE,
    POOL_HIGH,
    POOL_LIVE,
    POOL_LOW,
    ROW_FREE,
    ROWS,
    SLOT_MASK,
    SLOTS,
    WHEEL,
    WHEEL_AT,
    WHEEL_SIZE,
    WIDTH,
    get,
    get32,
    put,
    put32,
)

LAST, FREE = -1, -2
UNLINKED = -2


@njit(cache=True)
def find_row(table, wanted):  # type: ignore[no-untyped-def]
    """The row of the tuple at an address, or -1."""
    columns, slots, width, mask = get(table, COLUMNS), get(table, SLOTS), get(table, WIDTH), get(table, SLOT_MASK)
    code = hash_tuple(wanted, width)
    at = first_place(code, mask)
    step = np.int64(0)
    while True:
        held = get32(slots, at)
        if held == EMPTY:
            return np.int64(-1)
        if held >= 0:
            same = True
            for column in range(width):
                if get32(columns, held * width + column) != get32(wanted, column):
                    same = False
                    break
            if same:
                return held
        if step == 0:
            step = stride(code)
        at = (at + step) & mask


@njit(cache=True)
def rehash(table):  # type: ignore[no-untyped-def]
    """Fills empty slots from the rows in use."""
    columns, slots, after = get(table, COLUMNS), get(table, SLOTS), get(table, AFTER)
    width, mask = get(table, WIDTH), get(table, SLOT_MASK)
    for row in range(get(table, ROWS)):
        if get32(after, row) == FREE:
            continue
        code = hash_tuple(columns + 4 * row * width, width)
        at = first_place(code, mask)
        if get32(slots, at) != EMPTY:
            step = stride(code)
            while get32(slots, at) != EMPTY:
                at = (at + step) & mask
        put32(slots, at, row)
    put(table, GRAVES, 0)


@njit(cache=True)
def link(table, row, end):  # type: ignore[no-untyped-def]
    """Notes when a row can be forgotten: when the interval that ends at `end` can."""
    wheel, first = get(table, WHEEL), get(table, WHEEL_AT)
    bucket = min(max(end >> get(table, BUCKET), first), first + WHEEL_SIZE - 1) & (WHEEL_SIZE - 1)
    put32(get(table, LINKED), row, get32(wheel, bucket))
    put32(wheel, bucket, row)


@njit(cache=True)
def _append(table, tuples, starts, ends, begin, count):  # type: ignore[no-untyped-def]
    """The same for a table that only passes on what comes: nothing is looked up, and row and place in the log agree."""
    columns, width, low, high = get(table, COLUMNS), get(table, WIDTH), get(table, LOW), get(table, HIGH)
    log_row, log_low, log_high = get(table, LOG_ROW), get(table, LOG_LOW), get(table, LOG_HIGH)
    row, latest = get(table, ROWS), get(table, LATEST)
    room = min(get(table, CAPACITY), get(table, LOG_CAPACITY))
    index = begin
    while index < count and row < room:
        start, end = max(get(starts, index), 0), get(ends, index)
        if start <= end:
            for column in range(width):
                put32(columns, row * width + column, get32(tuples, index * width + column))
            put(low, row, start)
            put(high, row, end)
            put32(get(table, AFTER), row, LAST)
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


@njit(cache=True)
def insert(table, indexes, tuples, starts, ends, begin, count):  # type: ignore[no-untyped-def]
    """Adds intervals to tuples, from `begin` to `count`; what is new goes to the log. Gives how far it came."""
    if get(table, PASSES):
        return _append(table, tuples, starts, ends, begin, count)
    columns, slots, linked = get(table, COLUMNS), get(table, SLOTS), get(table, LINKED)
    low, high, after = get(table, LOW), get(table, HIGH), get(table, AFTER)
    pool_low, pool_high, pool_after = get(table, POOL_LOW), get(table, POOL_HIGH), get(table, POOL_AFTER)
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
    beyond = get(table, BEYOND)
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
        wanted = tuples + 4 * index * width
        code = hash_tuple(wanted, width)
        at = first_place(code, mask)
        grave, row, step = np.int64(-1), np.int64(-1), np.int64(0)
        while True:
            held = get32(slots, at)
            if held == EMPTY:
                break
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
                    row = held
                    break
            if step == 0:
                step = stride(code)
            at = (at + step) & mask
        if row < 0:
            used = get(table, LIVE) + get(table, GRAVES)
            if used >= most_used or (indexed >= 0 and not indexes_have_room(indexes, indexed)):
                break
            row = get(table, ROW_FREE)
            if row >= 0:
                put(table, ROW_FREE, get(low, row))
            else:
                row = get(table, ROWS)
                if row == capacity:
                    break
                put(table, ROWS, row + 1)
            for column in range(width):
                put32(columns, row * width + column, get32(wanted, column))
            if grave >= 0:
                at = grave
                put(table, GRAVES, get(table, GRAVES) - 1)
            put32(slots, at, row)
            put(table, LIVE, get(table, LIVE) + 1)
            put(low, row, start)
            put(high, row, end)
            put32(after, row, LAST)
            if indexed >= 0:
                add_to_indexes(indexes, indexed, columns, width, row)
            if forgets:
                put32(linked, row, UNLINKED)
        else:
            own_low, own_high = get(low, row), get(high, row)
            if start > own_high + 1:
                following = get32(after, row)
                if own_high < cutoff:
                    # What was there can be forgotten.
                    if following >= 0:
                        drop_nodes(table, following)
                        put32(after, row, LAST)
                else:
                    node = _new_node(table)
                    if node < 0:
                        break
                    put(pool_low, node, own_low)
                    put(pool_high, node, own_high)
                    put32(pool_after, node, following)
                    put32(after, row, node)
                put(low, row, start)
                put(high, row, end)
            elif start >= own_low:
                if end <= own_high:
                    index += 1
                    continue
                start = own_high + 1
                put(high, row, end)
            else:
                pieces = _insert_before(table, row, start, end, log)
                if pieces < 0:
                    break
                if pieces:
                    log += pieces
                    latest = max(latest, end)
                    if forgets and end < FAR and get32(linked, row) == UNLINKED:
                        link(table, row, end)
                index += 1
                continue
        put32(log_row, log, row)
        put(log_low, log, start)
        put(log_high, log, end)
        log += 1
        latest = max(latest, end)
        if forgets and end < FAR and get32(linked, row) == UNLINKED:
            link(table, row, end)
        index += 1
    put(table, LOG, log)
    put(table, LATEST, latest)
    return index


@njit(cache=True)
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


@njit(cache=True)
def _new_node(table):  # type: ignore[no-untyped-def]
    node = get(table, POOL_FREE)
    if node >= 0:
        put(table, POOL_FREE, get32(get(table, POOL_AFTER), node))
    else:
        node = get(table, POOL)
        if node == get(table, POOL_CAPACITY):
            return np.int64(-1)
        put(table, POOL, node + 1)
    put(table, POOL_LIVE, get(table, POOL_LIVE) + 1)
    return node


@njit(cache=True)
def _note(table, place, row, start, end):  # type: ignore[no-untyped-def]
    put32(get(table, LOG_ROW), place, row)
    put(get(table, LOG_LOW), place, start)
    put(get(table, LOG_HIGH), place, end)


@njit(cache=True)
def _insert_before(table, row, start, end, log):  # type: ignore[no-untyped-def]
    """Adds an interval that starts before a row's latest one; gives the number of pieces, or -1 for want of room."""
    low, high, after = get(table, LOW), get(table, HIGH), get(table, AFTER)
    pool_low, pool_high, pool_after = get(table, POOL_LOW), get(table, POOL_HIGH), get(table, POOL_AFTER)
    # The intervals that overlap or touch the new one, if any, follow `before`; -1 stands for the row's own place.
    before, own = np.int64(-2), np.int64(-1)
    own_low, own_high, following = get(low, row), get(high, row), get32(after, row)
    while own_low > end + 1:
        before = own
        if following < 0:
            own = np.int64(-2)
            break
        own = following
        own_low, own_high, following = get(pool_low, own), get(pool_high, own), get32(pool_after, own)
    if own == -2 or own_high < start - 1:
        # It touches nothing, and is not the latest.
        node = _new_node(table)
        if node < 0:
            return np.int64(-1)
        put(pool_low, node, start)
        put(pool_high, node, end)
        put32(pool_after, node, LAST if own == -2 else own)
        if before == -1:
            put32(after, row, node)
        else:
            put32(pool_after, before, node)
        _note(table, log, row, start, end)
        return np.int64(1)
    if own_low <= start and own_high >= end:
        return np.int64(0)
    # Looking first: between the intervals that are swallowed there are as many gaps, and one more.
    swallowed, node = 1, following
    while node >= 0 and get(pool_high, node) >= start - 1:
        swallowed += 1
        node = get32(pool_after, node)
    if log + swallowed + 1 > get(table, LOG_CAPACITY):
        return np.int64(-1)
    pieces, cursor = np.int64(0), end
    merged_low, merged_high = start, end
    for turn in range(swallowed):
        if turn > 0:
            node = following
            own_low, own_high, following = get(pool_low, node), get(pool_high, node), get32(pool_after, node)
            put32(pool_after, node, get(table, POOL_FREE))
            put(table, POOL_FREE, node)
            put(table, POOL_LIVE, get(table, POOL_LIVE) - 1)
        if own_high < cursor:
            _note(table, log + pieces, row, max(own_high + 1, start), cursor)
            pieces += 1
        cursor = min(cursor, own_low - 1)
        merged_low, merged_high = min(merged_low, own_low), max(merged_high, own_high)
    if cursor >= start:
        _note(table, log + pieces, row, start, cursor)
        pieces += 1
    if own == -1:
        put(low, row, merged_low)
        put(high, row, merged_high)
        put32(after, row, following)
    else:
        put(pool_low, own, merged_low)
        put(pool_high, own, merged_high)
        put32(pool_after, own, following)
    return pieces


@njit(cache=True)
def drop_nodes(table, node):  # type: ignore[no-untyped-def]
    pool_after = get(table, POOL_AFTER)
    while node >= 0:
        following = get32(pool_after, node)
        put32(pool_after, node, get(table, POOL_FREE))
        put(table, POOL_FREE, node)
        put(table, POOL_LIVE, get(table, POOL_LIVE) - 1)
        node = following


@njit(cache=True)
def all_intervals(table):  # type: ignore[no-untyped-def]
    """Every interval as (row, start, end)."""
    low, high, after = get(table, LOW), get(table, HIGH), get(table, AFTER)
    pool_low, pool_high, pool_after = get(table, POOL_LOW), get(table, POOL_HIGH), get(table, POOL_AFTER)
    total = get(table, LIVE) + get(table, POOL_LIVE)
    rows, lows, highs = np.empty(total, np.int32), np.empty(total, np.int64), np.empty(total, np.int64)
    count = 0
    for row in range(get(table, ROWS)):
        node = get32(after, row)
        if node == FREE:
            continue
        rows[count], lows[count], highs[count] = row, get(low, row), get(high, row)
        count += 1
        while node >= 0:
            rows[count], lows[count], highs[count] = row, get(pool_low, node), get(pool_high, node)
            count += 1
            node = get32(pool_after, node)
    return rows, lows, highs


# Other kinds of numbers must not get here; arrays that are not ours may be read only.
_ROWS = types.Array(types.int32, 2, "C", readonly=True)
_CELLS = types.Array(types.int64, 1, "C", readonly=True)


@njit(types.int64(types.int64, types.int64, _ROWS, _CELLS, _CELLS, types.int64), cache=True)
def insert_all(table, indexes, tuples, starts, ends, begin):  # type: ignore[no-untyped-def]
    """The same for arrays."""
    return insert(table, indexes, tuples.ctypes.data, starts.ctypes.data, ends.ctypes.data, begin, len(starts))
