"""Partial matches: for each key the set of conditions met so far, as bits.

Arrays of a table of matches:

* `rows[row]`: the key, whose last column is a time, and behind it what is known of it, at the places below: the bits
  met, those last reported, when time alone may change something, what it is, the last step that looked at it
* `slots`: open-addressing hash of keys, holding rows and their codes, or `EMPTY`; what is removed leaves no trace
* `free`: a stack of rows that can be reused; `touched`: the rows of this step
* `counts`: see the constants below

Everything about a row lies side by side, and so do the slots of one key at neighbouring times: a fact that meets
several conditions looks at few places of memory.

A *way* is a group of conditions that suffices; its conditions, checks and delays are flat arrays with the
places where each begins.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.hashing import EMPTY, scatter

# What a row is, and what is reported of it.
FREE, NEW, POSSIBLE, UNSUPPORTED, CONFIRMED, REFUTED = range(6)
# Positions in `counts`.
ROWS, ROWS_FREE, TOUCHED, LIVE = range(4)
# Places of a row behind its key.
MET, SHOWN, WAKE, STATUS, MARK = range(5)
BEHIND = 5

_CODE = np.uint64(0x7FFFFFFF)
_ROW = 0xFFFFFFFF


@inlined
def _code(rows, row, width):  # type: ignore[no-untyped-def]
    """31 bits that tell where a key belongs: times in groups of eight, side by side."""
    code = np.uint64(1469598103934665603)
    for column in range(width - 1):
        code = scatter(code ^ np.uint64(rows[row, column]))
    time = rows[row, width - 1]
    code = scatter(code ^ np.uint64(time >> 3))
    return np.int64((code + np.uint64(time & 7)) & _CODE)


@kernel
def rebuild(rows, slots, counts, width):  # type: ignore[no-untyped-def]
    """Fills `slots` from the rows in use."""
    mask = len(slots) - 1
    slots[:] = EMPTY
    for row in range(counts[ROWS]):
        if rows[row, width + STATUS] == FREE:
            continue
        code = _code(rows, row, width)
        at = code & mask
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = code << 32 | row


@inlined
def _remove(rows, slots, free, counts, row, width):  # type: ignore[no-untyped-def]
    mask = len(slots) - 1
    code = _code(rows, row, width)
    hole = code & mask
    wanted = code << 32 | row
    while slots[hole] != wanted:
        hole = (hole + 1) & mask
    # What lies behind moves up, unless it would come to lie before its own place.
    at = (hole + 1) & mask
    while slots[at] != EMPTY:
        home = slots[at] >> 32
        if ((at - home) & mask) >= ((at - hole) & mask):
            slots[hole] = slots[at]
            hole = at
        at = (at + 1) & mask
    slots[hole] = EMPTY
    rows[row, width + STATUS] = FREE
    free[counts[ROWS_FREE]] = row
    counts[ROWS_FREE] += 1
    counts[LIVE] -= 1


@kernel
def meet(  # type: ignore[no-untyped-def]
    rows, slots, free, touched, counts,
    given, times, begin, sources, constants, checks, bit, offset, low, high, last_chance, now, stamp,
):  # fmt: skip
    """Lets tuples with times meet one condition, from the tuple `begin` on. Gives where it stopped for want of room.

    A key's columns are those of the tuple that `sources` names, or constants where that is negative; its time is
    the tuple's less `offset`. `checks` are rows (place, other place or -1, value). A key whose time plus
    `last_chance` is past cannot gain what else it needs, and does not begin."""
    width = len(sources) + 1
    mask = len(slots) - 1
    key = np.empty((1, width), np.int64)
    for index in range(begin, len(times)):
        time = times[index] - offset
        if time < low or time > high:
            continue
        fits = True
        for check in range(len(checks)):
            value = given[index, checks[check, 0]]
            other = checks[check, 1]
            if value != (given[index, other] if other >= 0 else checks[check, 2]):
                fits = False
                break
        if not fits:
            continue
        for column in range(width - 1):
            source = sources[column]
            key[0, column] = given[index, source] if source >= 0 else constants[column]
        key[0, width - 1] = time
        code = _code(key, 0, width)
        at = code & mask
        row = np.int64(-1)
        while slots[at] != EMPTY:
            if slots[at] >> 32 == code:
                row = slots[at] & _ROW
                for column in range(width):
                    if rows[row, column] != key[0, column]:
                        row = np.int64(-1)
                        break
                if row >= 0:
                    break
            at = (at + 1) & mask
        if row < 0:
            if time + last_chance < now:
                continue
            if counts[ROWS_FREE] > 0:
                counts[ROWS_FREE] -= 1
                row = np.int64(free[counts[ROWS_FREE]])
            elif counts[ROWS] < len(rows):
                row = counts[ROWS]
                counts[ROWS] += 1
            else:
                return index
            counts[LIVE] += 1
            slots[at] = code << 32 | row
            for column in range(width):
                rows[row, column] = key[0, column]
            rows[row, width + MET] = 0
            rows[row, width + SHOWN] = 0
            rows[row, width + WAKE] = -1
            rows[row, width + STATUS] = NEW
            rows[row, width + MARK] = -1
        if rows[row, width + MET] & bit or rows[row, width + STATUS] == CONFIRMED:
            continue
        rows[row, width + MET] |= bit
        if rows[row, width + MARK] != stamp:
            rows[row, width + MARK] = stamp
            touched[counts[TOUCHED]] = row
            counts[TOUCHED] += 1
    return len(times)


@kernel
def due(rows, touched, counts, waiting, now, stamp, width):  # type: ignore[no-untyped-def]
    """Adds rows whose time has come to those of this step."""
    for index in range(len(waiting)):
        row = waiting[index]
        if rows[row, width + STATUS] != FREE and rows[row, width + MARK] != stamp and rows[row, width + WAKE] <= now:
            rows[row, width + MARK] = stamp
            touched[counts[TOUCHED]] = row
            counts[TOUCHED] += 1


@inlined
def _applies(rows, row, checks, begin, end):  # type: ignore[no-untyped-def]
    for check in range(begin, end):
        value = rows[row, checks[check, 0]]
        other = checks[check, 1]
        if value != (rows[row, other] if other >= 0 else checks[check, 2]):
            return False
    return True


@kernel
def settle(  # type: ignore[no-untyped-def]
    rows, slots, free, touched, counts, width,
    now, kept, ways, way_checks, offsets, options, option_checks,
):  # fmt: skip
    """Decides what the rows of this step are now.

    `ways` has rows (first condition, end, first check, end, least time, greatest time); condition c is bit c, due
    at the key's time plus `offsets[c, 0]` plus a delay: that of the first of the options from `offsets[c, 1]` to
    `offsets[c, 2]` whose checks hold. `options` has rows (delay, first check, end). Gives what changed (status,
    bits, keys, and whether nothing was said of it before), and which rows are to be woken when."""
    size = counts[TOUCHED]
    out_status = np.empty(size, np.int8)
    out_bits = np.empty(size, np.int64)
    out_keys = np.empty((size, width), np.int64)
    out_fresh = np.empty(size, np.bool_)
    woken = np.empty(size, np.int64)
    woken_at = np.empty(size, np.int64)
    changed = 0
    waking = 0
    for index in range(size):
        row = touched[index]
        time = rows[row, width - 1]
        before = rows[row, width + STATUS]
        met = rows[row, width + MET]
        if time + kept < now:
            _remove(rows, slots, free, counts, row, width)
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
                if met & bit:
                    has |= bit
                    continue
                whole = False
                until = time + offsets[condition, 0]
                for option in range(offsets[condition, 1], offsets[condition, 2]):
                    if _applies(rows, row, option_checks, options[option, 1], options[option, 2]):
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
                or not _applies(rows, row, way_checks, ways[way, 2], ways[way, 3])
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
            _remove(rows, slots, free, counts, row, width)
            continue
        else:
            after, bits = (UNSUPPORTED if is_open else REFUTED), np.int64(0)
        if after != before or bits != rows[row, width + SHOWN]:
            out_status[changed] = after
            out_fresh[changed] = before == NEW
            out_bits[changed] = bits
            for column in range(width):
                out_keys[changed, column] = rows[row, column]
            changed += 1
        if after == REFUTED:
            _remove(rows, slots, free, counts, row, width)
            continue
        rows[row, width + STATUS] = after
        rows[row, width + SHOWN] = bits
        if following != rows[row, width + WAKE]:
            rows[row, width + WAKE] = following
            woken[waking] = row
            woken_at[waking] = following
            waking += 1
    counts[TOUCHED] = 0
    told = out_status[:changed], out_bits[:changed], out_keys[:changed], out_fresh[:changed]
    return told, woken[:waking], woken_at[:waking]
