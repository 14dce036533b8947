"""Partial matches: for each key the set of conditions met so far, as bits.

Arrays of a table of matches:

* `columns[row]`: the key, its last column a time; `met[row]`: the bits; `status[row]`: see below
* `shown[row]`: the bits of what was last reported; `wake[row]`: when time alone may change something
* `slots`: open-addressing hash of keys, holding rows or `EMPTY`; what is removed leaves no trace in it
* `free`: a stack of rows that can be reused; `mark[row]`: the last step that looked at a row; `touched`: the rows
  of this step
* `counts`: see the constants below

A *way* is a group of conditions that suffices; its conditions, checks and delays are flat arrays with the
places where each begins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.tables import EMPTY, hash_row

# What a row is, and what is reported of it.
FREE, NEW, POSSIBLE, UNSUPPORTED, CONFIRMED, REFUTED = range(6)
# Positions in `counts`.
ROWS, ROWS_FREE, TOUCHED, LIVE = range(4)


@njit(cache=True, inline="always")
def _slot(columns, slots, key, width):  # type: ignore[no-untyped-def]
    """Where a key is in the hash, or would be."""
    mask = len(slots) - 1
    at = np.int64(hash_row(key, 0, width) & np.uint64(mask))
    while True:
        row = slots[at]
        if row == EMPTY:
            return at
        same = True
        for column in range(width - 1, -1, -1):
            if columns[row, column] != key[0, column]:
                same = False
                break
        if same:
            return at
        at = (at + 1) & mask


@njit(cache=True)
def rebuild(columns, status, slots, counts):  # type: ignore[no-untyped-def]
    """Fills `slots` from the rows in use."""
    width = columns.shape[1]
    mask = len(slots) - 1
    slots[:] = EMPTY
    for row in range(counts[ROWS]):
        if status[row] == FREE:
            continue
        at = np.int64(hash_row(columns, row, width) & np.uint64(mask))
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = row


@njit(cache=True)
def _remove(columns, status, slots, free, counts, row):  # type: ignore[no-untyped-def]
    width = columns.shape[1]
    mask = len(slots) - 1
    hole = np.int64(hash_row(columns, row, width) & np.uint64(mask))
    while slots[hole] != row:
        hole = (hole + 1) & mask
    # What lies behind moves up, unless it would come to lie before its own place.
    at = (hole + 1) & mask
    while slots[at] != EMPTY:
        home = np.int64(hash_row(columns, slots[at], width) & np.uint64(mask))
        if ((at - home) & mask) >= ((at - hole) & mask):
            slots[hole] = slots[at]
            hole = at
        at = (at + 1) & mask
    slots[hole] = EMPTY
    status[row] = FREE
    free[counts[ROWS_FREE]] = row
    counts[ROWS_FREE] += 1
    counts[LIVE] -= 1


@njit(cache=True)
def meet(  # type: ignore[no-untyped-def]
    columns, met, status, shown, wake, mark, slots, free, touched, counts,
    rows, times, begin, sources, constants, checks, bit, offset, low, high, last_chance, now, stamp,
):  # fmt: skip
    """Lets tuples with times meet one condition, from the tuple `begin` on. Gives where it stopped for want of room.

    A key's columns are those of the tuple that `sources` names, or constants where that is negative; its time is
    the tuple's less `offset`. `checks` are rows (place, other place or -1, value). A key whose time plus
    `last_chance` is past cannot gain what else it needs, and does not begin."""
    width = columns.shape[1]
    key = np.empty((1, width), np.int64)
    for index in range(begin, len(times)):
        time = times[index] - offset
        if time < low or time > high:
            continue
        fits = True
        for check in range(len(checks)):
            value = rows[index, checks[check, 0]]
            other = checks[check, 1]
            if value != (rows[index, other] if other >= 0 else checks[check, 2]):
                fits = False
                break
        if not fits:
            continue
        for column in range(width - 1):
            source = sources[column]
            key[0, column] = rows[index, source] if source >= 0 else constants[column]
        key[0, width - 1] = time
        at = _slot(columns, slots, key, width)
        row = slots[at]
        if row == EMPTY:
            if time + last_chance < now:
                continue
            if counts[ROWS_FREE] > 0:
                counts[ROWS_FREE] -= 1
                row = free[counts[ROWS_FREE]]
            elif counts[ROWS] < len(met):
                row = counts[ROWS]
                counts[ROWS] += 1
            else:
                return index
            counts[LIVE] += 1
            slots[at] = row
            for column in range(width):
                columns[row, column] = key[0, column]
            met[row] = 0
            shown[row] = 0
            wake[row] = -1
            status[row] = NEW
            mark[row] = stamp - 1
        if met[row] & bit or status[row] == CONFIRMED:
            continue
        met[row] |= bit
        if mark[row] != stamp:
            mark[row] = stamp
            touched[counts[TOUCHED]] = row
            counts[TOUCHED] += 1
    return len(times)


@njit(cache=True)
def due(status, wake, mark, touched, counts, rows, now, stamp):  # type: ignore[no-untyped-def]
    """Adds rows whose time has come to those of this step."""
    for index in range(len(rows)):
        row = rows[index]
        if status[row] != FREE and mark[row] != stamp and wake[row] <= now:
            mark[row] = stamp
            touched[counts[TOUCHED]] = row
            counts[TOUCHED] += 1


@njit(cache=True, inline="always")
def _applies(columns, row, checks, begin, end):  # type: ignore[no-untyped-def]
    for check in range(begin, end):
        value = columns[row, checks[check, 0]]
        other = checks[check, 1]
        if value != (columns[row, other] if other >= 0 else checks[check, 2]):
            return False
    return True


@njit(cache=True)
def settle(  # type: ignore[no-untyped-def]
    columns, met, status, shown, wake, slots, free, touched, counts,
    now, kept, ways, way_checks, offsets, options, option_checks,
):  # fmt: skip
    """Decides what the rows of this step are now.

    `ways` has rows (first condition, end, first check, end, least time, greatest time); condition c is bit c, due
    at the key's time plus `offsets[c, 0]` plus a delay: that of the first of the options from `offsets[c, 1]` to
    `offsets[c, 2]` whose checks hold. `options` has rows (delay, first check, end). Gives what changed (status,
    bits, keys), and which rows are to be woken when."""
    width = columns.shape[1]
    size = counts[TOUCHED]
    out_status = np.empty(size, np.int8)
    out_bits = np.empty(size, np.int64)
    out_keys = np.empty((size, width), np.int64)
    woken = np.empty(size, np.int64)
    woken_at = np.empty(size, np.int64)
    changed = 0
    waking = 0
    for index in range(size):
        row = touched[index]
        time = columns[row, width - 1]
        before = status[row]
        if time + kept < now:
            _remove(columns, status, slots, free, counts, row)
            continue
        if before == CONFIRMED:
            continue
        complete = np.int64(0)
        supported = np.int64(0)
        is_open = False
        following = np.int64(-1)
        for way in range(len(ways)):
            has, whole = np.int64(0), True
            first_chance = np.int64(-1)
            alive = True
            for condition in range(ways[way, 0], ways[way, 1]):
                bit = np.int64(1) << condition
                if met[row] & bit:
                    has |= bit
                    continue
                whole = False
                until = time + offsets[condition, 0]
                for option in range(offsets[condition, 1], offsets[condition, 2]):
                    if _applies(columns, row, option_checks, options[option, 1], options[option, 2]):
                        until += options[option, 0]
                        break
                if until <= now:
                    alive = False
                    break
                if first_chance < 0 or until < first_chance:
                    first_chance = until
            if not alive:
                continue
            if whole:
                complete |= has
                continue
            if has == 0 and (
                time < ways[way, 4]
                or time > ways[way, 5]
                or not _applies(columns, row, way_checks, ways[way, 2], ways[way, 3])
            ):
                continue
            supported |= has
            is_open = is_open or has == 0
            if following < 0 or first_chance < following:
                following = first_chance
        if complete:
            after, bits = CONFIRMED, complete
            following = time + kept + 1
        elif supported:
            after, bits = POSSIBLE, supported
        elif before == NEW:
            _remove(columns, status, slots, free, counts, row)
            continue
        else:
            after, bits = (UNSUPPORTED if is_open else REFUTED), np.int64(0)
        if after != before or bits != shown[row]:
            out_status[changed] = after
            out_bits[changed] = bits
            for column in range(width):
                out_keys[changed, column] = columns[row, column]
            changed += 1
        if after == REFUTED:
            _remove(columns, status, slots, free, counts, row)
            continue
        status[row] = after
        shown[row] = bits
        if following != wake[row]:
            wake[row] = following
            woken[waking] = row
            woken_at[waking] = following
            waking += 1
    counts[TOUCHED] = 0
    return out_status[:changed], out_bits[:changed], out_keys[:changed], woken[:waking], woken_at[:waking]
