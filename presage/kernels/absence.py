"""Where a negated atom does not hold, and until when one that was found holds still."""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.layout import AFTER, FAR, HIGH, LOW, POOL_AFTER, POOL_HIGH, POOL_LOW, WIDTH, get, get32
from presage.kernels.tables import find_row


@njit(cache=True)
def without(table, atoms, low, high, shift, fixed):  # type: ignore[no-untyped-def]
    """The parts of intervals in which an atom of a table does not hold; `atoms` has its tuple for each interval.
    Gives for each part which interval it is of, its start and its end."""
    width = get(table, WIDTH)
    lows, highs, after = get(table, LOW), get(table, HIGH), get(table, AFTER)
    pool_low, pool_high, pool_after = get(table, POOL_LOW), get(table, POOL_HIGH), get(table, POOL_AFTER)
    rows = np.empty(len(low), np.int64)
    total = len(low)
    for index in range(len(low)):
        row = find_row(table, atoms.ctypes.data + 4 * index * width)
        rows[index] = row
        if row >= 0:
            total += 1
            node = get32(after, row)
            while node >= 0:
                total += 1
                node = get32(pool_after, node)
    source, out_low, out_high = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    count = 0
    for index in range(len(low)):
        row = rows[index]
        begin, cursor = low[index], high[index]
        node = np.int64(-2) if row >= 0 else np.int64(-1)
        while node != -1 and cursor >= begin:
            if node == -2:
                start, stop, node = get(lows, row), get(highs, row), get32(after, row)
            else:
                start, stop, node = get(pool_low, node), get(pool_high, node), get32(pool_after, node)
            if fixed != FAR:
                if start <= fixed <= stop:
                    cursor = begin - 1
                continue
            start = start if start <= -FAR else start - shift
            stop = stop if stop >= FAR else stop - shift
            if start <= cursor:
                if stop < begin:
                    break
                if stop < cursor:
                    source[count], out_low[count], out_high[count] = index, stop + 1, cursor
                    count += 1
                cursor = min(cursor, start - 1)
        if cursor >= begin:
            source[count], out_low[count], out_high[count] = index, begin, cursor
            count += 1
    return source[:count], out_low[:count], out_high[:count]


@njit(cache=True)
def still(table, atoms, low, high, shift, fixed):  # type: ignore[no-untyped-def]
    """Until when intervals last if an atom of a table must hold from their start on, or at a fixed cell. What does not
    hold at all ends before it starts."""
    width = get(table, WIDTH)
    lows, highs, after = get(table, LOW), get(table, HIGH), get(table, AFTER)
    pool_low, pool_high, pool_after = get(table, POOL_LOW), get(table, POOL_HIGH), get(table, POOL_AFTER)
    found = np.empty(len(low), np.int64)
    for index in range(len(low)):
        found[index] = low[index] - 1
        row = find_row(table, atoms.ctypes.data + 4 * index * width)
        if row < 0:
            continue
        wanted = low[index] + shift if fixed == FAR else fixed
        start, stop, node = get(lows, row), get(highs, row), get32(after, row)
        while start > wanted and node >= 0:
            start, stop, node = get(pool_low, node), get(pool_high, node), get32(pool_after, node)
        if start <= wanted <= stop:
            last = stop if stop >= FAR or fixed != FAR else stop - shift
            found[index] = high[index] if fixed != FAR else min(high[index], last)
    return found
