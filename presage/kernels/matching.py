"""Joins: from each new piece of a table through the other literals of the rules it is part of.

A rule's body, begun at one of its literals, is a path of steps; the paths of all rules with the same head that begin
at the same table form a tree, in which common beginnings are walked once. The walk goes in depth: variables have their
value in `bound`, and each level of the stack knows its row, its next interval, and the time that is left.

Times are relative to the first literal: every other step has its distance from it as its `SHIFT`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.groups import find_group
from presage.kernels.layout import (
    AFTER,
    BOUND,
    CHECKS,
    COLUMNS,
    FAR,
    FLOATS,
    FOLLOWING,
    FOUND_TUPLES,
    HIGH,
    HIGHS,
    INDEX_BYTES,
    INDEXES,
    LATEST,
    LOG_HIGH,
    LOG_LOW,
    LOG_ROW,
    LOW,
    LOWS,
    POOL_AFTER,
    POOL_HIGH,
    POOL_LOW,
    ROOM,
    ROWS,
    SPECS,
    STACK,
    STEPS,
    TABLE_BYTES,
    TABLES,
    TUPLES,
    WANTED,
    WIDTH,
    get,
    get32,
    get_float,
    put,
    put32,
)
from presage.kernels.operators import dilate
from presage.kernels.tables import FREE, find_row

# What a column does: it binds a variable, must equal a variable, or must equal a constant.
BIND, SAME, CONSTANT = 0, 1, 2

# A step: how its rows are found (by the whole tuple, by an index, all of them, or it is the row of an earlier step),
# which columns bind or are compared, which comparisons follow, where to go on, and what has been found then. Where to
# go on is said twice: at all, and for the pieces at hand.
(
    TABLE, HOW, WHERE, SHIFT, FIXED, KEY_AT, KEY_COUNT, REST_AT, REST_COUNT, CHECK_AT, CHECK_COUNT,
    CHILD, SIBLING, FOUND, LIVE_CHILD, LIVE_SIBLING, STEP_FIELDS,
) = range(17)  # fmt: skip
WHOLE, GROUP, ALL, AGAIN = range(4)

# What has been found: the head's columns, how its time lies to that of the first literal, and its fixed time, if any.
TUPLE_AT, TUPLE_WIDTH, NEAR, FAR_OFF, OPEN_NEAR, OPEN_FAR, AT, LEAST, NEXT_FOUND, FOUND_FIELDS = range(10)

# A comparison: an operator and two sides, each a kind and a value.
EQUAL, UNEQUAL, LESS, AT_MOST = range(4)

# The stack: step, row, next interval (`START` for the row's own), the time that is left.
START = -3
AT_STEP, AT_ROW, AT_NODE, AT_LOW, AT_HIGH, STACK_FIELDS = range(6)

# So many pieces are looked through before they are walked from.
AT_ONCE = 8192

# Sizes of all these.
STEP_BYTES, FOUND_BYTES, FRAME_BYTES = 8 * STEP_FIELDS, 8 * FOUND_FIELDS, 8 * STACK_FIELDS
SPEC_BYTES, CHECK_BYTES = 8 * 3, 8 * 5


@njit(cache=True)
def _passes(work, begin, count):  # type: ignore[no-untyped-def]
    """Whether comparisons are true, or cannot be decided here: a value without an exact float."""
    bound, values = get(work, BOUND), get(work, FLOATS)
    for number in range(begin, begin + count):
        check = get(work, CHECKS) + number * CHECK_BYTES
        left, right = get(check, 2), get(check, 4)
        if get(check, 1) != CONSTANT:
            left = get32(bound, left)
        if get(check, 3) != CONSTANT:
            right = get32(bound, right)
        operator = get(check, 0)
        if operator == EQUAL:
            if left != right:
                return False
        elif operator == UNEQUAL:
            if left == right:
                return False
        elif operator == LESS:
            if get_float(values, left) >= get_float(values, right):
                return False
        elif get_float(values, left) > get_float(values, right):
            return False
    return True


@njit(cache=True)
def _emit(work, number, low, high, count):  # type: ignore[no-untyped-def]
    """Notes what has been found; gives the new count, or -1 where there is no room."""
    bound = get(work, BOUND)
    while number >= 0:
        one = get(work, FOUND_TUPLES) + number * FOUND_BYTES
        start = max(low, get(one, LEAST))
        if start <= high:
            end = get(one, AT)
            if end != FAR:
                start = end
            else:
                start, end = dilate(
                    start, high, get(one, NEAR), get(one, FAR_OFF), get(one, OPEN_NEAR) != 0, get(one, OPEN_FAR) != 0
                )
            if start <= end:
                if count == get(work, ROOM):
                    return np.int64(-1)
                width = get(one, TUPLE_WIDTH)
                tuples, spec = get(work, TUPLES) + 4 * count * width, get(work, SPECS) + get(one, TUPLE_AT) * SPEC_BYTES
                for column in range(width):
                    value = get(spec, 3 * column + 2)
                    if get(spec, 3 * column + 1) != CONSTANT:
                        value = get32(bound, value)
                    put32(tuples, column, value)
                put(get(work, LOWS), count, start)
                put(get(work, HIGHS), count, end)
                count += 1
        number = get(one, NEXT_FOUND)
    return count


@njit(cache=True)
def _fits(work, begin, count, tuple_):  # type: ignore[no-untyped-def]
    """Binds and compares columns of a tuple."""
    bound = get(work, BOUND)
    for number in range(begin, begin + count):
        spec = get(work, SPECS) + number * SPEC_BYTES
        held, kind, value = get32(tuple_, get(spec, 0)), get(spec, 1), get(spec, 2)
        if kind == BIND:
            put32(bound, value, held)
        elif held != (get32(bound, value) if kind == SAME else value):
            return False
    return True


@njit(cache=True)
def _first_row(work, step, table):  # type: ignore[no-untyped-def]
    """The first row that a step may go to, or -1."""
    how = get(step, HOW)
    if how == AGAIN:
        return get(get(work, STACK) + get(step, WHERE) * FRAME_BYTES, AT_ROW)
    if how == ALL:
        return _next_used(table, np.int64(0))
    bound, wanted = get(work, BOUND), get(work, WANTED)
    spec = get(work, SPECS) + get(step, KEY_AT) * SPEC_BYTES
    for place in range(get(step, KEY_COUNT)):
        value = get(spec, 3 * place + 2)
        if get(spec, 3 * place + 1) != CONSTANT:
            value = get32(bound, value)
        put32(wanted, place, value)
    if how == WHOLE:
        return find_row(table, wanted)
    index = get(work, INDEXES) + get(step, WHERE) * INDEX_BYTES
    return find_group(index, get(table, COLUMNS), get(table, WIDTH), wanted)


@njit(cache=True)
def _next_used(table, row):  # type: ignore[no-untyped-def]
    after = get(table, AFTER)
    while row < get(table, ROWS):
        if get32(after, row) != FREE:
            return row
        row += 1
    return np.int64(-1)


@njit(cache=True)
def _next_row(work, step, table, row):  # type: ignore[no-untyped-def]
    if get(step, HOW) == GROUP:
        return get32(get(get(work, INDEXES) + get(step, WHERE) * INDEX_BYTES, FOLLOWING), row)
    if get(step, HOW) == ALL:
        return _next_used(table, row + 1)
    return np.int64(-1)


@njit(cache=True)
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


@njit(cache=True)
def match(work, source, root, begin, end):  # type: ignore[no-untyped-def]
    """Walks from the pieces `begin` to `end` of a table's log. Gives up to which piece all was found, and how much."""
    columns, width = get(source, COLUMNS), get(source, WIDTH)
    log_row, log_low, log_high = get(source, LOG_ROW), get(source, LOG_LOW), get(source, LOG_HIGH)
    count = np.int64(0)
    end = min(end, begin + AT_ONCE)
    root = _prune(work, root, log_low, begin, end)
    if root < 0:
        return end, count
    for piece in range(begin, end):
        row, complete = get32(log_row, piece), count
        put(get(work, STACK), AT_ROW, row)
        following = root
        while following >= 0:
            step = get(work, STEPS) + following * STEP_BYTES
            following = get(step, LIVE_SIBLING)
            low, high, fixed = get(log_low, piece), get(log_high, piece), get(step, FIXED)
            if fixed != FAR:
                if fixed < low or fixed > high:
                    continue
                low, high = np.int64(-2 * FAR), np.int64(2 * FAR)
            if not _fits(work, get(step, REST_AT), get(step, REST_COUNT), columns + 4 * row * width):
                continue
            if get(step, CHECK_COUNT) and not _passes(work, get(step, CHECK_AT), get(step, CHECK_COUNT)):
                continue
            if get(step, FOUND) >= 0:
                count = _emit(work, get(step, FOUND), low, high, count)
            if count >= 0 and get(step, LIVE_CHILD) >= 0:
                count = _walk(work, get(step, LIVE_CHILD), low, high, count)
            if count < 0:
                return piece, complete
    return end, count


@njit(cache=True)
def _walk(work, first, low, high, count):  # type: ignore[no-untyped-def]
    """From one piece through a tree of steps. Level 0 of the stack is the piece itself."""
    steps, tables = get(work, STEPS), get(work, TABLES)
    frame = bottom = get(work, STACK)
    frame += FRAME_BYTES
    step, row, node = steps + first * STEP_BYTES, np.int64(-1), np.int64(START)
    table = tables + get(step, TABLE) * TABLE_BYTES
    entering = True
    while True:
        shift, fixed = get(step, SHIFT), get(step, FIXED)
        if entering:
            row, node = np.int64(-1), np.int64(START)
            if fixed != FAR or get(table, LATEST) - shift >= low:
                row = _first_row(work, step, table)
            entering = False
        # The next row that fits, and of it the next interval that meets the time that is left.
        hit = False
        start, end = low, high
        while row >= 0:
            if node == START and (
                (
                    get(step, REST_COUNT)
                    and not _fits(
                        work,
                        get(step, REST_AT),
                        get(step, REST_COUNT),
                        get(table, COLUMNS) + 4 * row * get(table, WIDTH),
                    )
                )
                or (get(step, CHECK_COUNT) and not _passes(work, get(step, CHECK_AT), get(step, CHECK_COUNT)))
            ):
                row = _next_row(work, step, table, row)
                continue
            while node != -1:
                if node == START:
                    own_low, own_high = get(get(table, LOW), row), get(get(table, HIGH), row)
                    node = get32(get(table, AFTER), row)
                else:
                    own_low, own_high = get(get(table, POOL_LOW), node), get(get(table, POOL_HIGH), node)
                    node = get32(get(table, POOL_AFTER), node)
                if fixed != FAR:
                    if own_low <= fixed <= own_high:
                        hit = True
                        node = np.int64(-1)
                    continue
                own_low = own_low if own_low <= -FAR else own_low - shift
                own_high = own_high if own_high >= FAR else own_high - shift
                if own_high < low:
                    node = np.int64(-1)
                elif own_low <= high:
                    start, end = max(own_low, low), min(own_high, high)
                    hit = True
                    break
            if hit:
                break
            row = _next_row(work, step, table, row)
            node = np.int64(START)
        if hit:
            if get(step, FOUND) >= 0:
                count = _emit(work, get(step, FOUND), start, end, count)
                if count < 0:
                    return count
            if get(step, CHILD) >= 0:
                put(frame, AT_STEP, step)
                put(frame, AT_ROW, row)
                put(frame, AT_NODE, node)
                put(frame, AT_LOW, low)
                put(frame, AT_HIGH, high)
                frame += FRAME_BYTES
                step, low, high = steps + get(step, CHILD) * STEP_BYTES, start, end
                table = tables + get(step, TABLE) * TABLE_BYTES
                entering = True
            elif node == -1:
                row = _next_row(work, step, table, row)
                node = np.int64(START)
            continue
        # Nothing more here: the next branch, or back.
        if get(step, LIVE_SIBLING) >= 0:
            step = steps + get(step, LIVE_SIBLING) * STEP_BYTES
            table = tables + get(step, TABLE) * TABLE_BYTES
            entering = True
            continue
        frame -= FRAME_BYTES
        if frame == bottom:
            return count
        step, row, node = get(frame, AT_STEP), get(frame, AT_ROW), get(frame, AT_NODE)
        low, high = get(frame, AT_LOW), get(frame, AT_HIGH)
        table = tables + get(step, TABLE) * TABLE_BYTES
        if node == -1:
            row = _next_row(work, step, table, row)
            node = np.int64(START)
