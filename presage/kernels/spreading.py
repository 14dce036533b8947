"""`historically`, `since` and their mirror images, from each new piece of a table.

What these give for a piece depends on the whole interval it is part of. Of that only what needs the piece is new; the
rest has been said, and may be forgotten.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.entries import SPEC_BYTES
from presage.kernels.fields import (
    COLUMNS,
    EARLIER,
    FAR,
    FOLLOWING,
    FROM,
    HIGHS,
    INDEX_BYTES,
    INDEXES,
    LOG_HIGH,
    LOG_LOW,
    LOG_ROW,
    LOWS,
    NODES,
    RECORD_BYTES,
    RECORDS,
    ROOM,
    ROWS,
    SPECS,
    TO,
    TUPLES,
    WANTED,
    WIDTH,
    get,
    get32,
    put,
    put32,
)
from presage.kernels.finding import FREE, find_row
from presage.kernels.groups import find_group
from presage.kernels.operators import dilate, erode, reach
from presage.kernels.tables import earlier_record

# The other side of `since` is found by the whole tuple, by an index, or is all rows.
BY_TUPLE, EVERY = -1, -2


@kernel
def _whole(table, row, low):  # type: ignore[no-untyped-def]
    """The interval of a row that contains a cell."""
    record = get(table, RECORDS) + row * RECORD_BYTES
    while get(record, FROM) > low:
        record = earlier_record(get(table, NODES), record)
    return get(record, FROM), get(record, TO)


@kernel
def _emit(work, table, row, low, high, count):  # type: ignore[no-untyped-def]
    """Notes an interval of a row's tuple, unless it is empty; gives the new count, or -1 where there is no room."""
    if low > high:
        return count
    if count == get(work, ROOM):
        return np.int64(-1)
    width, columns = get(table, WIDTH), get(table, COLUMNS)
    for column in range(width):
        put32(get(work, TUPLES), count * width + column, get32(columns, row * width + column))
    put(get(work, LOWS), count, low)
    put(get(work, HIGHS), count, high)
    return count + 1


@kernel
def shrink(work, source, begin, end, near, far, open_near, open_far, clips):  # type: ignore[no-untyped-def]
    """Where something holds all the time from `far` to `near` before, or, if that is cut off at the start of the
    stream, all the time that is left of it, if any is."""
    log_row, log_low, log_high = get(source, LOG_ROW), get(source, LOG_LOW), get(source, LOG_HIGH)
    count = np.int64(0)
    for piece in range(begin, end):
        complete = count
        row, piece_low, piece_high = get32(log_row, piece), get(log_low, piece), get(log_high, piece)
        whole = _whole(source, row, piece_low)
        since = np.int64(-2 * FAR) if clips and whole[0] <= 0 else whole[0]
        low, high = erode(since, whole[1], near, far, open_near, open_far)
        about = dilate(piece_low, piece_high, near, far, False, False)
        if clips:
            low = max(low, near)
        count = _emit(work, source, row, max(low, about[0]), min(high, about[1]), count)
        if count < 0:
            return piece, complete
    return end, count


@kernel
def hop(work, source, begin, end, period):  # type: ignore[no-untyped-def]
    """From each multiple of a period up to the next, what holds at that multiple."""
    log_row, log_low, log_high = get(source, LOG_ROW), get(source, LOG_LOW), get(source, LOG_HIGH)
    count = np.int64(0)
    for piece in range(begin, end):
        complete = count
        low, high = get(log_low, piece), get(log_high, piece)
        if low > -FAR:
            low = -(-low // period) * period
        if high < FAR:
            high = high // period * period
            if low <= high:
                high += period - 1
        count = _emit(work, source, get32(log_row, piece), low, high, count)
        if count < 0:
            return piece, complete
    return end, count


@kernel
def since_right(work, source, left, spec, begin, end, near, far, open_near, open_far, grid, ahead):  # type: ignore[no-untyped-def]
    """New pieces of the right side: alone, and with every interval of the left side."""
    columns, width, wanted = get(source, COLUMNS), get(source, WIDTH), get(work, WANTED)
    log_row, log_low, log_high = get(source, LOG_ROW), get(source, LOG_LOW), get(source, LOG_HIGH)
    count = np.int64(0)
    # Alone it gives its own time, and on discrete time the next.
    alone_far, alone_open, alone = far, open_far, True
    if grid == 1:
        alone_far = min(far, np.int64(1))
    elif near == 0 and not open_near:
        alone_far, alone_open = np.int64(0), False
    else:
        alone = False
    alone = alone and near <= alone_far
    for piece in range(begin, end):
        complete = count
        row, piece_low, piece_high = get32(log_row, piece), get(log_low, piece), get(log_high, piece)
        if alone:
            if ahead:
                low, high = dilate(piece_low, piece_high, -alone_far, -near, alone_open, open_near)
            else:
                low, high = dilate(piece_low, piece_high, near, alone_far, open_near, alone_open)
            count = _emit(work, source, row, low, high, count)
        for place in range(get(left, WIDTH)):
            column = get(get(work, SPECS) + (spec + place) * SPEC_BYTES, 0)
            put32(wanted, place, get32(columns, row * width + column) if column >= 0 else 0)
        partner = find_row(left, wanted)
        record = get(left, RECORDS) + partner * RECORD_BYTES if partner >= 0 else np.int64(0)
        while count >= 0 and record:
            begins, stops = get(record, FROM), get(record, TO)
            record = earlier_record(get(left, NODES), record)
            low, high = reach(piece_low, piece_high, begins, stops, near, far, open_near, open_far, grid, ahead)
            count = _emit(work, source, row, low, high, count)
        if count < 0:
            return piece, complete
    return end, count


@kernel
def since_left(work, source, right, index, spec, begin, end, near, far, open_near, open_far, grid, ahead):  # type: ignore[no-untyped-def]
    """New pieces of the left side, with every interval of the right sides that go with it."""
    columns, width, wanted = get(source, COLUMNS), get(source, WIDTH), get(work, WANTED)
    records = get(right, RECORDS)
    log_row, log_low, log_high = get(source, LOG_ROW), get(source, LOG_LOW), get(source, LOG_HIGH)
    count = np.int64(0)
    for piece in range(begin, end):
        complete = count
        row, piece_low, piece_high = get32(log_row, piece), get(log_low, piece), get(log_high, piece)
        begins, stops = _whole(source, row, piece_low)
        for place in range(width):
            at = place
            if index == BY_TUPLE:
                at = max(get(get(work, SPECS) + (spec + place) * SPEC_BYTES, 0), 0)
            put32(wanted, at, get32(columns, row * width + place))
        partner = np.int64(0)
        if index == BY_TUPLE:
            partner = find_row(right, wanted)
        elif index != EVERY:
            group = get(work, INDEXES) + index * INDEX_BYTES
            partner = find_group(group, get(right, COLUMNS), get(right, WIDTH), wanted)
        while count >= 0 and partner >= 0:
            if index == EVERY:
                while partner < get(right, ROWS) and get32(records + partner * RECORD_BYTES, EARLIER) == FREE:
                    partner += 1
                if partner >= get(right, ROWS):
                    break
            record = records + partner * RECORD_BYTES
            while count >= 0 and record:
                low, high = get(record, FROM), get(record, TO)
                record = earlier_record(get(right, NODES), record)
                # Only what needs the new piece is new: it lies between the two times.
                if ahead:
                    low = max(low, piece_low)
                else:
                    high = min(high, piece_high)
                low, high = reach(low, high, begins, stops, near, far, open_near, open_far, grid, ahead)
                if ahead:
                    high = min(high, piece_high)
                else:
                    low = max(low, piece_low)
                count = _emit(work, right, partner, low, high, count)
            if index == EVERY:
                partner += 1
            elif index == BY_TUPLE:
                break
            else:
                partner = get32(get(get(work, INDEXES) + index * INDEX_BYTES, FOLLOWING), partner)
        if count < 0:
            return piece, complete
    return end, count
