"""What is on its way through a join: entries, and what is compared, bound and found with them.

An entry has the time that is left to it and the values it has bound; an array of them is what has come through a step
(`matching.py`). Here are the parts of a step that look at one entry, and what is noted in the end.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import (
    CHECKS,
    ENTRY_BYTES,
    FAR,
    FLOATS,
    FOUND_TUPLES,
    HIGHS,
    LOWS,
    ROOM,
    SPECS,
    TUPLES,
    get,
    get32,
    get_float,
    put,
    put32,
)
from presage.kernels.operators import dilate

# What a column does: it binds a variable, must equal a variable, or must equal a constant.
BIND, SAME, CONSTANT = 0, 1, 2

# What has been found: the head's columns, how its time lies to that of the first literal, and its fixed time, if any.
TUPLE_AT, TUPLE_WIDTH, NEAR, FAR_OFF, OPEN_NEAR, OPEN_FAR, AT, LEAST, NEXT_FOUND, FOUND_FIELDS = range(10)

# A comparison: an operator and two sides, each a kind and a value.
EQUAL, UNEQUAL, LESS, AT_MOST = range(4)

# An entry: the time that is left, and values: variables and addresses of intervals, in the order in which a path comes
# to them.
ENTRY_LOW, ENTRY_HIGH, VALUES = range(3)

# Sizes of all these.
FOUND_BYTES, SPEC_BYTES, CHECK_BYTES = 8 * FOUND_FIELDS, 8 * 3, 8 * 5


@kernel
def passes(work, begin, count, entry):  # type: ignore[no-untyped-def]
    """Whether comparisons are true, or cannot be decided here: a value without an exact float."""
    values = get(work, FLOATS)
    for number in range(begin, begin + count):
        check = get(work, CHECKS) + number * CHECK_BYTES
        left, right = get(check, 2), get(check, 4)
        if get(check, 1) != CONSTANT:
            left = get(entry, VALUES + left)
        if get(check, 3) != CONSTANT:
            right = get(entry, VALUES + right)
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


@kernel
def fits(work, begin, count, tuple_, entry):  # type: ignore[no-untyped-def]
    """Binds and compares columns of a tuple."""
    for number in range(begin, begin + count):
        spec = get(work, SPECS) + number * SPEC_BYTES
        held, kind, value = get32(tuple_, get(spec, 0)), get(spec, 1), get(spec, 2)
        if kind == BIND:
            put(entry, VALUES + value, held)
        elif held != (get(entry, VALUES + value) if kind == SAME else value):
            return False
    return True


@kernel
def emit(work, number, entry, came, count):  # type: ignore[no-untyped-def]
    """Notes what entries have found; gives the new count, or -1 where there is no room."""
    size, room, lows, highs = get(work, ENTRY_BYTES), get(work, ROOM), get(work, LOWS), get(work, HIGHS)
    past = entry + came * size
    while number >= 0:
        one = get(work, FOUND_TUPLES) + number * FOUND_BYTES
        width, spec = get(one, TUPLE_WIDTH), get(work, SPECS) + get(one, TUPLE_AT) * SPEC_BYTES
        least, at, near, far = get(one, LEAST), get(one, AT), get(one, NEAR), get(one, FAR_OFF)
        open_near, open_far = get(one, OPEN_NEAR) != 0, get(one, OPEN_FAR) != 0
        tuples = get(work, TUPLES) + 4 * count * width
        each = entry
        while each < past:
            start, end = max(get(each, ENTRY_LOW), least), get(each, ENTRY_HIGH)
            if start <= end:
                if at != FAR:
                    start = end = at
                else:
                    start, end = dilate(start, end, near, far, open_near, open_far)
            if start <= end:
                if count == room:
                    return np.int64(-1)
                for column in range(width):
                    value = get(spec, 3 * column + 2)
                    if get(spec, 3 * column + 1) != CONSTANT:
                        value = get(each, VALUES + value)
                    put32(tuples, column, value)
                tuples += 4 * width
                put(lows, count, start)
                put(highs, count, end)
                count += 1
            each += size
        number = get(one, NEXT_FOUND)
    return count
