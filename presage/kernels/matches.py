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

Steps are taken many at a time: whatever arrives in order, and at the times that rows wait for (`wakes.py`). Where room
runs out, the caller makes some, and the work goes on where it stood.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.fields import get, get32
from presage.kernels.hashing import EMPTY, scatter
from presage.kernels.wakes import NONE, WAITING_TIMES, give_back, has_room, take_earliest, wait

# What a row is, and what is reported of it.
FREE, NEW, POSSIBLE, UNSUPPORTED, CONFIRMED, REFUTED = range(6)
# Positions in `counts`.
ROWS, ROWS_FREE, TOUCHED, LIVE = range(4)
# Places of a row behind its key.
MET, SHOWN, WAKE, STATUS, MARK = range(5)
BEHIND = 5
# Where a stretch of steps stands: which arrival is next, what is being done, for which premise and row, at which time,
# whether something arrives then, the mark of that step, and how many changes were told.
ARRIVAL, PHASE, PREMISE, INDEX, NOW, ARRIVES, STAMP, TOLD, PLACES = range(9)
LOOKING, MEETING, SETTLING = range(3)
# A premise that facts may meet: addresses and width of the facts, its bit, its distance from the answer's time, between
# which times the answer lies, how long after it something else may still come, and its checks.
GIVEN, WIDTH, TIMES, BIT, OFFSET, LEAST, GREATEST, LAST_CHANCE, CHECKS, CHECKS_END, PREMISE_FIELDS = range(11)
# How a stretch ends: done, or for want of room for rows, for what is told, or for rows that wait.
DONE, ROWS_FULL, TOLD_FULL, WAITING_FULL = range(4)
NEVER = 1 << 62

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
def _meet(  # type: ignore[no-untyped-def]
    rows, slots, free, touched, counts, premises, number, sources, constants, checks, begin, end, now, stamp
):
    """Lets tuples with times meet one premise, from `begin` on. Gives where it stopped for want of room.

    A key's columns are those of the tuple that `sources` names, or constants where that is negative; its time is
    the tuple's less the premise's offset. `checks` are rows (place, other place or -1, value). A key whose time plus
    the last chance is past cannot gain what else it needs, and does not begin."""
    given, times, across = premises[number, GIVEN], premises[number, TIMES], premises[number, WIDTH]
    bit, offset = premises[number, BIT], premises[number, OFFSET]
    low, high, last_chance = premises[number, LEAST], premises[number, GREATEST], premises[number, LAST_CHANCE]
    first_check, last_check = premises[number, CHECKS], premises[number, CHECKS_END]
    width = sources.shape[1] + 1
    mask = len(slots) - 1
    key = np.empty((1, width), np.int64)
    for index in range(begin, end):
        time = get(times, index) - offset
        if time < low or time > high:
            continue
        own = given + 4 * index * across
        fits = True
        for check in range(first_check, last_check):
            value = get32(own, checks[check, 0])
            other = checks[check, 1]
            if value != (get32(own, other) if other >= 0 else checks[check, 2]):
                fits = False
                break
        if not fits:
            continue
        for column in range(width - 1):
            source = sources[number, column]
            key[0, column] = get32(own, source) if source >= 0 else constants[number, column]
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
    return end


@kernel
def _wake(rows, touched, counts, times, heads, heap, links, waiting, now, stamp, width):  # type: ignore[no-untyped-def]
    """Adds rows whose time has come to those of this step."""
    while waiting[WAITING_TIMES] > 0 and heap[0] <= now:
        link = take_earliest(times, heads, heap, waiting)
        while link != NONE:
            row = np.int64(links[link, 0])
            link = give_back(links, waiting, link)
            if (
                rows[row, width + STATUS] != FREE
                and rows[row, width + MARK] != stamp
                and rows[row, width + WAKE] <= now
            ):
                rows[row, width + MARK] = stamp
                touched[counts[TOUCHED]] = row
                counts[TOUCHED] += 1


@kernel
def wait_again(rows, counts, width, now, times, heads, heap, links, waiting):  # type: ignore[no-untyped-def]
    """Lets all rows wait for what they wait for after now; gives whether there was room."""
    for row in range(counts[ROWS]):
        if rows[row, width + STATUS] != FREE and rows[row, width + WAKE] > now:
            if not has_room(heap, links, waiting):
                return False
            wait(times, heads, heap, links, waiting, row, rows[row, width + WAKE])
    return True


@inlined
def _applies(rows, row, checks, begin, end):  # type: ignore[no-untyped-def]
    for check in range(begin, end):
        value = rows[row, checks[check, 0]]
        other = checks[check, 1]
        if value != (rows[row, other] if other >= 0 else checks[check, 2]):
            return False
    return True


@kernel
def take_steps(  # type: ignore[no-untyped-def]
    rows, slots, free, touched, counts,
    times, heads, heap, links, waiting,
    at, arrivals, begins, until, by_itself,
    premises, sources, constants, checks,
    kept, ways, way_checks, offsets, options, option_checks,
    told_now, told_status, told_bits, told_keys, told_fresh,
):  # fmt: skip
    """Takes steps at `arrivals` and, with `by_itself`, at the times rows wait for, not beyond `until`, from where the
    stretch stands. What arrives for premise p at arrival a lies between `begins[p, a]` and `begins[p, a + 1]`. Gives
    how it ended."""
    width = sources.shape[1] + 1
    while True:
        if at[PHASE] == LOOKING:
            arrival = arrivals[at[ARRIVAL]] if at[ARRIVAL] < len(arrivals) else np.int64(NEVER)
            now = arrival
            if by_itself and waiting[WAITING_TIMES] > 0 and heap[0] < now:
                now = heap[0]
            if now > until or now == NEVER:
                return DONE
            at[NOW] = now
            at[ARRIVES] = now == arrival
            at[STAMP] += 1
            at[PREMISE] = 0
            at[INDEX] = 0
            at[PHASE] = MEETING
        now, stamp = at[NOW], at[STAMP]
        if at[PHASE] == MEETING:
            if at[ARRIVES]:
                while at[PREMISE] < len(premises):
                    number = at[PREMISE]
                    begin, end = max(at[INDEX], begins[number, at[ARRIVAL]]), begins[number, at[ARRIVAL] + 1]
                    if begin < end:
                        done = _meet(
                            rows, slots, free, touched, counts, premises, number, sources, constants, checks,
                            begin, end, now, stamp,
                        )  # fmt: skip
                        at[INDEX] = done
                        if done < end:
                            return ROWS_FULL
                    at[PREMISE] += 1
                    at[INDEX] = 0
            _wake(rows, touched, counts, times, heads, heap, links, waiting, now, stamp, width)
            at[INDEX] = 0
            at[PHASE] = SETTLING
        ended = _settle(
            rows, slots, free, touched, counts, width, times, heads, heap, links, waiting, at,
            kept, ways, way_checks, offsets, options, option_checks,
            told_now, told_status, told_bits, told_keys, told_fresh,
        )  # fmt: skip
        if ended != DONE:
            return ended
        counts[TOUCHED] = 0
        at[ARRIVAL] += at[ARRIVES]
        at[PHASE] = LOOKING


@kernel
def _settle(  # type: ignore[no-untyped-def]
    rows, slots, free, touched, counts, width, times, heads, heap, links, waiting, at,
    kept, ways, way_checks, offsets, options, option_checks,
    told_now, told_status, told_bits, told_keys, told_fresh,
):  # fmt: skip
    """Decides what the rows of this step are now, and tells what changed: status, bits, keys, and whether nothing was
    said of it before.

    `ways` has rows (first condition, end, first check, end, least time, greatest time); condition c is bit c, due
    at the key's time plus `offsets[c, 0]` plus a delay: that of the first of the options from `offsets[c, 1]` to
    `offsets[c, 2]` whose checks hold. `options` has rows (delay, first check, end)."""
    now, used = at[NOW], at[TOLD]
    for index in range(at[INDEX], counts[TOUCHED]):
        if used == len(told_now) or not has_room(heap, links, waiting):
            at[INDEX], at[TOLD] = index, used
            return TOLD_FULL if used == len(told_now) else WAITING_FULL
        row = np.int64(touched[index])
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
                limit = time + offsets[condition, 0]
                for option in range(offsets[condition, 1], offsets[condition, 2]):
                    if _applies(rows, row, option_checks, options[option, 1], options[option, 2]):
                        limit += options[option, 0]
                        break
                if limit <= now:
                    alive = False
                    break
                if first_chance < 0 or limit < first_chance:
                    first_chance = limit
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
            told_now[used] = now
            told_status[used] = after
            told_fresh[used] = before == NEW
            told_bits[used] = bits
            for column in range(width):
                told_keys[used, column] = rows[row, column]
            used += 1
        if after == REFUTED:
            _remove(rows, slots, free, counts, row, width)
            continue
        rows[row, width + STATUS] = after
        rows[row, width + SHOWN] = bits
        if following != rows[row, width + WAKE]:
            rows[row, width + WAKE] = following
            if following >= 0:
                wait(times, heads, heap, links, waiting, row, following)
    at[TOLD] = used
    return DONE
