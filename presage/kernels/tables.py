"""A table of tuples, each with its intervals.

Arrays of a table, passed to every function in this order:

* `columns[row, column]`: the tuples; `first[row]`: its latest interval, `-1` for a free row
* `low[i]`, `high[i]`, `after[i]`: the pool of intervals, linked from the latest to the earliest: a stream
  adds and looks up at its end
* `slots`: open-addressing hash of tuples, holding rows; `EMPTY` or `GONE` otherwise
* `rows_free`, `pool_free`: stacks of what can be reused
* `counts`: see the constants below
"""

from __future__ import annotations

import numpy as np
from numba import njit

EMPTY, GONE = -1, -2

# Positions in `counts`.
ROWS, ROWS_FREE, POOL, POOL_FREE, LIVE, TOMBS = range(6)


@njit(cache=True, inline="always")
def mix(value):  # type: ignore[no-untyped-def]
    value = np.uint64(value)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    value ^= value >> np.uint64(33)
    return value


@njit(cache=True, inline="always")
def hash_row(rows, row, width):  # type: ignore[no-untyped-def]
    code = np.uint64(1469598103934665603)
    for column in range(width):
        code = mix(code ^ np.uint64(rows[row, column]))
    return code


@njit(cache=True)
def find_row(columns, slots, rows, row, width):  # type: ignore[no-untyped-def]
    """The table's row that equals `rows[row]`, or -1."""
    mask = len(slots) - 1
    at = np.int64(hash_row(rows, row, width) & np.uint64(mask))
    while True:
        held = slots[at]
        if held == EMPTY:
            return -1
        if held >= 0:
            same = True
            for column in range(width):
                if columns[held, column] != rows[row, column]:
                    same = False
                    break
            if same:
                return held
        at = (at + 1) & mask


@njit(cache=True)
def rehash(columns, first, slots, counts, width):  # type: ignore[no-untyped-def]
    """Fills an empty `slots` from the rows in use."""
    mask = len(slots) - 1
    slots[:] = EMPTY
    for row in range(counts[ROWS]):
        if first[row] < 0:
            continue
        at = np.int64(hash_row(columns, row, width) & np.uint64(mask))
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = row
    counts[TOMBS] = 0


@njit(cache=True)
def _new_interval(low, high, after, pool_free, counts, start, end, following):  # type: ignore[no-untyped-def]
    if counts[POOL_FREE] > 0:
        counts[POOL_FREE] -= 1
        node = pool_free[counts[POOL_FREE]]
    else:
        node = counts[POOL]
        counts[POOL] += 1
    low[node] = start
    high[node] = end
    after[node] = following
    return node


@njit(cache=True)
def insert(columns, first, low, high, after, slots, rows_free, pool_free, counts, rows, starts, ends, width):  # type: ignore[no-untyped-def]
    """Adds intervals to tuples.

    Gives what is new as pieces (row, start, end), for each piece the coalesced interval it became part
    of, and the rows that were not in the table before."""
    # Each gap between intervals that are swallowed becomes a piece: there cannot be more.
    capacity = 2 * len(rows) + counts[POOL] - counts[POOL_FREE] + 16
    piece_row = np.empty(capacity, np.int64)
    piece_low = np.empty(capacity, np.int64)
    piece_high = np.empty(capacity, np.int64)
    whole_low = np.empty(capacity, np.int64)
    whole_high = np.empty(capacity, np.int64)
    fresh = np.empty(len(rows), np.int64)
    pieces = 0
    fresh_count = 0
    mask = len(slots) - 1
    for index in range(len(rows)):
        start, end = starts[index], ends[index]
        if start > end:
            continue
        # Find the row, or make it.
        at = np.int64(hash_row(rows, index, width) & np.uint64(mask))
        grave = np.int64(-1)
        row = np.int64(-1)
        while True:
            held = slots[at]
            if held == EMPTY:
                break
            if held == GONE:
                if grave < 0:
                    grave = at
            else:
                same = True
                for column in range(width):
                    if columns[held, column] != rows[index, column]:
                        same = False
                        break
                if same:
                    row = held
                    break
            at = (at + 1) & mask
        if row < 0:
            if counts[ROWS_FREE] > 0:
                counts[ROWS_FREE] -= 1
                row = rows_free[counts[ROWS_FREE]]
            else:
                row = counts[ROWS]
                counts[ROWS] += 1
            for column in range(width):
                columns[row, column] = rows[index, column]
            first[row] = _new_interval(low, high, after, pool_free, counts, start, end, -1)
            if grave >= 0:
                slots[grave] = row
                counts[TOMBS] -= 1
            else:
                slots[at] = row
            counts[LIVE] += 1
            fresh[fresh_count] = row
            fresh_count += 1
            piece_row[pieces] = row
            piece_low[pieces] = whole_low[pieces] = start
            piece_high[pieces] = whole_high[pieces] = end
            pieces += 1
            continue
        # Skip what starts after the new interval, not even adjacent to it.
        before = np.int64(-1)
        node = first[row]
        while node >= 0 and low[node] > end + 1:
            before = node
            node = after[node]
        if node >= 0 and low[node] <= start and high[node] >= end:
            continue
        # Swallow everything that overlaps or touches, noting the gaps in between as new.
        begin = pieces
        merged_low, merged_high = start, end
        cursor = end
        while node >= 0 and high[node] >= start - 1:
            if high[node] < cursor:
                piece_row[pieces] = row
                piece_low[pieces] = max(high[node] + 1, start)
                piece_high[pieces] = cursor
                pieces += 1
            cursor = min(cursor, low[node] - 1)
            merged_low = min(merged_low, low[node])
            merged_high = max(merged_high, high[node])
            following = after[node]
            pool_free[counts[POOL_FREE]] = node
            counts[POOL_FREE] += 1
            node = following
        if cursor >= start:
            piece_row[pieces] = row
            piece_low[pieces] = start
            piece_high[pieces] = cursor
            pieces += 1
        merged = _new_interval(low, high, after, pool_free, counts, merged_low, merged_high, node)
        if before < 0:
            first[row] = merged
        else:
            after[before] = merged
        for piece in range(begin, pieces):
            whole_low[piece] = merged_low
            whole_high[piece] = merged_high
    return (
        piece_row[:pieces],
        piece_low[:pieces],
        piece_high[:pieces],
        whole_low[:pieces],
        whole_high[:pieces],
        fresh[:fresh_count],
    )


@njit(cache=True)
def _grown(array, capacity):  # type: ignore[no-untyped-def]
    larger = np.empty(capacity, array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def expire(columns, first, low, high, after, slots, rows_free, pool_free, counts, candidates, cutoff, width):  # type: ignore[no-untyped-def]
    """Drops intervals that end before `cutoff` from the candidate rows; gives the rows left empty.

    An empty row leaves the hash at once; it is handed back with `release` when no index holds it."""
    emptied = np.empty(len(candidates), np.int64)
    count = 0
    mask = len(slots) - 1
    for index in range(len(candidates)):
        row = candidates[index]
        node = first[row]
        if node < 0:
            continue
        before = np.int64(-1)
        while node >= 0 and high[node] >= cutoff:
            before = node
            node = after[node]
        if before >= 0:
            after[before] = -1
        while node >= 0:
            following = after[node]
            pool_free[counts[POOL_FREE]] = node
            counts[POOL_FREE] += 1
            node = following
        if before >= 0:
            continue
        at = np.int64(hash_row(columns, row, width) & np.uint64(mask))
        while slots[at] != row:
            at = (at + 1) & mask
        slots[at] = GONE
        counts[TOMBS] += 1
        counts[LIVE] -= 1
        first[row] = -1
        emptied[count] = row
        count += 1
    return emptied[:count]


@njit(cache=True)
def release(rows_free, counts, rows):  # type: ignore[no-untyped-def]
    for index in range(len(rows)):
        rows_free[counts[ROWS_FREE]] = rows[index]
        counts[ROWS_FREE] += 1


# An index groups rows by some of their columns: `heads` is an open-addressing hash of groups, holding
# the first row of each; `following` and `preceding` link the rows of a group.


@njit(cache=True, inline="always")
def hash_key(values, row, key):  # type: ignore[no-untyped-def]
    code = np.uint64(1469598103934665603)
    for position in range(len(key)):
        code = mix(code ^ np.uint64(values[row, key[position]]))
    return code


@njit(cache=True)
def index_add(columns, heads, following, preceding, state, key, rows):  # type: ignore[no-untyped-def]
    """Adds rows to an index. `state` counts groups and tombs."""
    mask = len(heads) - 1
    for index in range(len(rows)):
        row = rows[index]
        at = np.int64(hash_key(columns, row, key) & np.uint64(mask))
        grave = np.int64(-1)
        while True:
            held = heads[at]
            if held == EMPTY:
                following[row] = -1
                preceding[row] = -1
                if grave >= 0:
                    heads[grave] = row
                    state[1] -= 1
                else:
                    heads[at] = row
                state[0] += 1
                break
            if held == GONE:
                if grave < 0:
                    grave = at
            else:
                same = True
                for position in range(len(key)):
                    if columns[held, key[position]] != columns[row, key[position]]:
                        same = False
                        break
                if same:
                    following[row] = held
                    preceding[row] = -1
                    preceding[held] = row
                    heads[at] = row
                    break
            at = (at + 1) & mask


@njit(cache=True)
def index_remove(columns, heads, following, preceding, state, key, rows):  # type: ignore[no-untyped-def]
    mask = len(heads) - 1
    for index in range(len(rows)):
        row = rows[index]
        if preceding[row] >= 0:
            following[preceding[row]] = following[row]
            if following[row] >= 0:
                preceding[following[row]] = preceding[row]
            continue
        at = np.int64(hash_key(columns, row, key) & np.uint64(mask))
        while heads[at] != row:
            at = (at + 1) & mask
        if following[row] >= 0:
            heads[at] = following[row]
            preceding[following[row]] = -1
        else:
            heads[at] = GONE
            state[1] += 1
            state[0] -= 1


@njit(cache=True)
def live_rows(first, counts):  # type: ignore[no-untyped-def]
    found = np.empty(counts[LIVE], np.int64)
    count = 0
    for row in range(counts[ROWS]):
        if first[row] >= 0:
            found[count] = row
            count += 1
    return found[:count]


@njit(cache=True)
def all_intervals(first, low, high, after, rows):  # type: ignore[no-untyped-def]
    """Every interval of the given rows as (row, start, end)."""
    total = 0
    for index in range(len(rows)):
        node = first[rows[index]]
        while node >= 0:
            total += 1
            node = after[node]
    row_out = np.empty(total, np.int64)
    low_out = np.empty(total, np.int64)
    high_out = np.empty(total, np.int64)
    count = 0
    for index in range(len(rows)):
        node = first[rows[index]]
        while node >= 0:
            row_out[count] = rows[index]
            low_out[count] = low[node]
            high_out[count] = high[node]
            count += 1
            node = after[node]
    return row_out, low_out, high_out
