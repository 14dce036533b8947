"""Joins: from each new piece of a table through the other literals of the rules it is part of.

A rule's body, begun at one of its literals, is a path of steps; the paths of all rules with the same head that begin
at the same table form a tree, in which common beginnings are walked once. Many pieces walk together: what has come
through a step is an array of *entries*, each with the time that is left and what it has bound, and the next step goes
over that array. So what a step is has to be looked up once for many pieces, and one piece need not wait for the
memory that another asks for. A step that finds more than fits stops, lets the steps below it go on with what there
is, and is taken up again.

Times are relative to the first literal: every other step has its distance from it as its `SHIFT`.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.entries import CONSTANT, ENTRY_HIGH, ENTRY_LOW, SPEC_BYTES, VALUES, emit, fits, passes
from presage.kernels.fields import (
    BY_NUMBER,
    COLUMNS,
    EARLIER,
    ENTRIES,
    ENTRY_BYTES,
    FAR,
    FOLLOWING,
    FROM,
    INDEX_BYTES,
    INDEXES,
    LATEST,
    LOG_HIGH,
    LOG_LOW,
    LOG_ROW,
    MOST_ENTRIES,
    NODES,
    PAIRS,
    RECORD_BYTES,
    RECORDS,
    ROWS,
    SLOT_MASK,
    SLOTS,
    SPECS,
    STACK,
    STEPS,
    TABLE_BYTES,
    TABLES,
    TO,
    WANTED,
    WIDTH,
    get,
    get32,
    put,
    put32,
)
from presage.kernels.finding import FREE, find_row
from presage.kernels.groups import find_group
from presage.kernels.hashing import EMPTY
from presage.kernels.tables import earlier_record

# A step: how its rows are found (by an index, all of them, by the whole tuple, or it is the row of an earlier step),
# which columns bind or are compared, which comparisons follow, where to go on, and what has been found then. Where to
# go on is said twice: at all, and for the pieces at hand. `BOUND` says how much of an entry has its value before the
# step, `RECORD_AT` where in it the step notes the interval it met.
(
    TABLE, HOW, WHERE, SHIFT, FIXED, KEY_AT, KEY_COUNT, REST_AT, REST_COUNT, CHECK_AT, CHECK_COUNT,
    CHILD, SIBLING, FOUND, LIVE_CHILD, LIVE_SIBLING, BOUND, RECORD_AT, STEP_FIELDS,
) = range(19)  # fmt: skip
GROUP, ALL, WHOLE, AGAIN = range(4)

# A level of the stack: its step, how many entries came through it, and how far it is in those of the level above: pairs
# of an entry and the row, or the address of the interval, to look at next. Of steps with several rows the first pair is
# at work, at the interval `AT_RECORD` of its row, or at the row's own where that is 0.
AT_STEP, CAME, AT_PAIR, PAIRS_LEFT, AT_RECORD, STACK_FIELDS = range(6)

# Sizes of all these.
STEP_BYTES, FRAME_BYTES, PAIR_BYTES = 8 * STEP_FIELDS, 8 * STACK_FIELDS, 8 * 2


@kernel
def _next_used(table, row):  # type: ignore[no-untyped-def]
    records = get(table, RECORDS)
    while row < get(table, ROWS):
        if get32(records + row * RECORD_BYTES, EARLIER) != FREE:
            return row
        row += 1
    return np.int64(-1)


@kernel
def _pair(work, step, table, entry, came, pairs):  # type: ignore[no-untyped-def]
    """Pairs entries with what a step has to look at first; gives how many have anything. What happens for each entry is
    decided by arithmetic where it can be: no one can guess what entries will meet."""
    how, size, spec = get(step, HOW), get(work, ENTRY_BYTES), get(work, SPECS) + get(step, KEY_AT) * SPEC_BYTES
    latest = np.int64(2 * FAR) if get(step, FIXED) != FAR else get(table, LATEST) - get(step, SHIFT)
    records, found = get(table, RECORDS), np.int64(0)
    if how == AGAIN:
        place = VALUES + get(step, WHERE)
        for _ in range(came):
            put(pairs, 0, entry)
            put(pairs, 1, get(entry, place))
            pairs += PAIR_BYTES * np.int64(get(entry, ENTRY_LOW) <= latest)
            found += np.int64(get(entry, ENTRY_LOW) <= latest)
            entry += size
        return found
    keys, wanted, columns = get(step, KEY_COUNT), get(work, WANTED), get(table, COLUMNS)
    if how == WHOLE and keys == 1 and get(spec, 1) != CONSTANT:
        place, mask, slots = VALUES + get(spec, 2), get(table, SLOT_MASK), get(table, SLOTS)
        by_number, rows = get(table, BY_NUMBER), get(table, ROWS)
        for _ in range(came):
            value = get(entry, place)
            if by_number:
                row = value if value < rows else np.int64(0)
                if get32(records + row * RECORD_BYTES, EARLIER) == FREE or row != value:
                    row = np.int64(-1)
            else:
                row = np.int64(get32(slots, value & mask))
                # Most often the first place has what is looked for.
                if row != EMPTY and (row < 0 or get32(columns, row) != value):
                    put32(wanted, 0, value)
                    row = find_row(table, wanted)
            put(pairs, 0, entry)
            put(pairs, 1, records + row * RECORD_BYTES)
            is_there = np.int64(row >= 0) & np.int64(get(entry, ENTRY_LOW) <= latest)
            pairs += PAIR_BYTES * is_there
            found += is_there
            entry += size
        return found
    index = get(work, INDEXES) + get(step, WHERE) * INDEX_BYTES
    first = _next_used(table, np.int64(0)) if how == ALL else np.int64(-1)
    for _ in range(came):
        row = first
        if how != ALL:
            for place in range(keys):
                value = get(spec, 3 * place + 2)
                if get(spec, 3 * place + 1) != CONSTANT:
                    value = get(entry, VALUES + value)
                put32(wanted, place, value)
            row = find_row(table, wanted) if how == WHOLE else find_group(index, columns, get(table, WIDTH), wanted)
        if row >= 0 and get(entry, ENTRY_LOW) <= latest:
            put(pairs, 0, entry)
            put(pairs, 1, records + row * RECORD_BYTES if how == WHOLE else row)
            pairs += PAIR_BYTES
            found += 1
        entry += size
    return found


@kernel
def _next_row(work, step, table, row):  # type: ignore[no-untyped-def]
    if get(step, HOW) == GROUP:
        return get32(get(get(work, INDEXES) + get(step, WHERE) * INDEX_BYTES, FOLLOWING), row)
    if get(step, HOW) == ALL:
        return _next_used(table, row + 1)
    return np.int64(-1)


@kernel
def _prune(work, root, log_low, begin, end):  # type: ignore[no-untyped-def]
    """Leaves out, for some pieces, second steps to tables in which nothing has held as late as they ask, and first
    steps from which nothing is left; gives the first root. All other steps stay as they are."""
    earliest = get(log_low, begin)
    for piece in range(begin + 1, end):
        earliest = min(earliest, get(log_low, piece))
    steps, tables = get(work, STEPS), get(work, TABLES)
    first, before = np.int64(-1), np.int64(-1)
    while root >= 0:
        step = steps + root * STEP_BYTES
        live, last = np.int64(-1), np.int64(-1)
        child = get(step, CHILD)
        while child >= 0:
            inner = steps + child * STEP_BYTES
            latest = get(tables + get(inner, TABLE) * TABLE_BYTES, LATEST)
            if get(step, FIXED) != FAR or get(inner, FIXED) != FAR or latest - get(inner, SHIFT) >= earliest:
                if live < 0:
                    live = child
                else:
                    put(steps + last * STEP_BYTES, LIVE_SIBLING, child)
                put(inner, LIVE_SIBLING, -1)
                last = child
            child = get(inner, SIBLING)
        put(step, LIVE_CHILD, live)
        if live >= 0 or get(step, FOUND) >= 0:
            if first < 0:
                first = root
            else:
                put(steps + before * STEP_BYTES, LIVE_SIBLING, root)
            put(step, LIVE_SIBLING, -1)
            before = root
        root = get(step, SIBLING)
    return first


@kernel
def match(work, source, root, begin, end):  # type: ignore[no-untyped-def]
    """Walks from the pieces `begin` to `end` of a table's log. Gives up to which piece all was found, and how much."""
    root = _prune(work, root, get(source, LOG_LOW), begin, end)
    if root < 0:
        return end, np.int64(0)
    count, most = np.int64(0), get(work, MOST_ENTRIES)
    while begin < end:
        last, complete, following = min(end, begin + most), count, root
        while following >= 0 and count >= 0:
            step = get(work, STEPS) + following * STEP_BYTES
            following = get(step, LIVE_SIBLING)
            came = _enter(work, step, source, begin, last)
            if came and get(step, FOUND) >= 0:
                count = emit(work, get(step, FOUND), get(work, ENTRIES), came, count)
            if came and count >= 0 and get(step, LIVE_CHILD) >= 0:
                put(get(work, STACK), CAME, came)
                count = _walk(work, get(step, LIVE_CHILD), count)
        if count >= 0:
            begin = last
        elif complete or most == 1:
            return begin, complete
        else:
            # Fewer pieces may find no more than there is room for.
            count, most = complete, max(most // 8, 1)
    return end, count


@kernel
def _enter(work, step, source, begin, end):  # type: ignore[no-untyped-def]
    """Entries for the pieces that a first step lets through; gives how many."""
    columns, width, size = get(source, COLUMNS), get(source, WIDTH), get(work, ENTRY_BYTES)
    log_row, log_low, log_high = get(source, LOG_ROW), get(source, LOG_LOW), get(source, LOG_HIGH)
    fixed, record_at, records = get(step, FIXED), VALUES + get(step, RECORD_AT), get(source, RECORDS)
    rest_at, rest, check_at, checks = (
        get(step, REST_AT),
        get(step, REST_COUNT),
        get(step, CHECK_AT),
        get(step, CHECK_COUNT),
    )
    entry, came = get(work, ENTRIES), np.int64(0)
    for piece in range(begin, end):
        row, low, high = get32(log_row, piece), get(log_low, piece), get(log_high, piece)
        if fixed != FAR:
            if fixed < low or fixed > high:
                continue
            low, high = np.int64(-2 * FAR), np.int64(2 * FAR)
        if fits(work, rest_at, rest, columns + 4 * row * width, entry) and (
            checks == 0 or passes(work, check_at, checks, entry)
        ):
            put(entry, ENTRY_LOW, low)
            put(entry, ENTRY_HIGH, high)
            put(entry, record_at, records + row * RECORD_BYTES)
            entry += size
            came += 1
    return came


@kernel
def _through_one(work, frame, step, pairs, out):  # type: ignore[no-untyped-def]
    """Takes pairs of entries and intervals through a step, until none is left or there is no more room. Each goes on to
    the entries at `out` if the times meet, and comes again with the interval before if that may meet it too."""
    table = get(work, TABLES) + get(step, TABLE) * TABLE_BYTES
    size, most, nodes = get(work, ENTRY_BYTES), get(work, MOST_ENTRIES), get(table, NODES)
    shift, fixed, record_at = get(step, SHIFT), get(step, FIXED), VALUES + get(step, RECORD_AT)
    last = VALUES + get(step, BOUND)
    left, passed = get(frame, PAIRS_LEFT), np.int64(0)
    while left and passed < most:
        some, kept, pair = min(left, most - passed), pairs, pairs
        for _ in range(some):
            entry, record = get(pair, 0), get(pair, 1)
            pair += PAIR_BYTES
            low, high = get(entry, ENTRY_LOW), get(entry, ENTRY_HIGH)
            own_low, own_high, node = get(record, FROM), get(record, TO), get32(record, EARLIER)
            for place in range(VALUES, last):
                put(out, place, get(entry, place))
            put(out, record_at, record)
            if fixed == FAR:
                own_low -= shift
                own_high -= shift
                put(out, ENTRY_LOW, max(own_low, low))
                put(out, ENTRY_HIGH, min(own_high, high))
                meets = np.int64(own_low <= high) & np.int64(own_high >= low)
                goes_on = np.int64(own_low > low) & np.int64(node >= 0)
            else:
                put(out, ENTRY_LOW, low)
                put(out, ENTRY_HIGH, high)
                meets = np.int64(own_low <= fixed) & np.int64(own_high >= fixed)
                goes_on = np.int64(own_low > fixed) & np.int64(node >= 0)
            out += size * meets
            passed += meets
            put(kept, 0, entry)
            put(kept, 1, nodes + node * RECORD_BYTES)
            kept += PAIR_BYTES * goes_on
        for _ in range(left - some):
            put(kept, 0, get(pair, 0))
            put(kept, 1, get(pair, 1))
            kept += PAIR_BYTES
            pair += PAIR_BYTES
        left = (kept - pairs) // PAIR_BYTES
    put(frame, PAIRS_LEFT, left)
    put(frame, CAME, passed)


@kernel
def _through_several(work, frame, step, pairs, out):  # type: ignore[no-untyped-def]
    """The same for a step in which an entry may meet several rows: pairs of entries and rows."""
    table = get(work, TABLES) + get(step, TABLE) * TABLE_BYTES
    size, most, width, columns = get(work, ENTRY_BYTES), get(work, MOST_ENTRIES), get(table, WIDTH), get(table, COLUMNS)
    records, nodes = get(table, RECORDS), get(table, NODES)
    shift, fixed, record_at = get(step, SHIFT), get(step, FIXED), VALUES + get(step, RECORD_AT)
    rest, checks, last = get(step, REST_COUNT), get(step, CHECK_COUNT), VALUES + get(step, BOUND)
    passed, record = np.int64(0), get(frame, AT_RECORD)
    left, at = get(frame, PAIRS_LEFT), get(frame, AT_PAIR)
    while left:
        pair = pairs + at * PAIR_BYTES
        entry, row = get(pair, 0), get(pair, 1)
        low, high = get(entry, ENTRY_LOW), get(entry, ENTRY_HIGH)
        while row >= 0:
            if record == 0:
                record = records + row * RECORD_BYTES
            while record:
                if passed == most:
                    put(pair, 1, row)
                    put(frame, AT_RECORD, record)
                    put(frame, AT_PAIR, at)
                    put(frame, PAIRS_LEFT, left)
                    put(frame, CAME, passed)
                    return
                met, own_low, own_high = record, get(record, FROM), get(record, TO)
                record = earlier_record(nodes, record)
                if fixed != FAR:
                    if fixed < own_low or fixed > own_high:
                        continue
                    own_low, own_high, record = low, high, np.int64(0)
                else:
                    own_low -= shift
                    own_high -= shift
                    if own_high < low:
                        record = np.int64(0)
                        break
                    if own_low > high:
                        continue
                for place in range(VALUES, last):
                    put(out, place, get(entry, place))
                if (rest and not fits(work, get(step, REST_AT), rest, columns + 4 * row * width, out)) or (
                    checks and not passes(work, get(step, CHECK_AT), checks, out)
                ):
                    record = np.int64(0)
                    break
                put(out, ENTRY_LOW, max(own_low, low))
                put(out, ENTRY_HIGH, min(own_high, high))
                put(out, record_at, met)
                out += size
                passed += 1
            row = _next_row(work, step, table, row)
        at += 1
        left -= 1
    put(frame, PAIRS_LEFT, 0)
    put(frame, CAME, passed)


@kernel
def _walk(work, first, count):  # type: ignore[no-untyped-def]
    """From the entries of the first level through a tree of steps; gives the new count, or -1 where there is no
    room."""
    steps, tables, most = get(work, STEPS), get(work, TABLES), get(work, MOST_ENTRIES)
    bottom, level = get(work, STACK), most * get(work, ENTRY_BYTES)
    frame, above, pairs = bottom + FRAME_BYTES, get(work, ENTRIES), get(work, PAIRS) + PAIR_BYTES * (most + 1)
    step, begins = steps + first * STEP_BYTES, True
    while True:
        if begins:
            table = tables + get(step, TABLE) * TABLE_BYTES
            put(frame, AT_STEP, step)
            put(frame, AT_PAIR, 0)
            put(frame, AT_RECORD, 0)
            put(frame, PAIRS_LEFT, _pair(work, step, table, above, get(frame - FRAME_BYTES, CAME), pairs))
        if get(step, HOW) >= WHOLE:
            _through_one(work, frame, step, pairs, above + level)
        else:
            _through_several(work, frame, step, pairs, above + level)
        passed = get(frame, CAME)
        if passed and get(step, FOUND) >= 0:
            count = emit(work, get(step, FOUND), above + level, passed, count)
            if count < 0:
                return count
        if passed and get(step, CHILD) >= 0:
            step, begins = steps + get(step, CHILD) * STEP_BYTES, True
            frame += FRAME_BYTES
            above += level
            pairs += PAIR_BYTES * (most + 1)
            continue
        # Nothing more below: the rest of the entries, the next branch, or back.
        while get(frame, PAIRS_LEFT) == 0 and get(step, LIVE_SIBLING) < 0:
            frame -= FRAME_BYTES
            above -= level
            pairs -= PAIR_BYTES * (most + 1)
            if frame == bottom:
                return count
            step = get(frame, AT_STEP)
        begins = get(frame, PAIRS_LEFT) == 0
        if begins:
            step = steps + get(step, LIVE_SIBLING) * STEP_BYTES
