"""Joining rows of bindings with a table.

A row of bindings has a value for each variable of a rule, and the interval of the rule's time for
which it stands. Joining with an atom looks up the rows that agree on what is bound, and intersects.

What a column of the atom does is given by `kinds` and `values`: it binds a variable, must equal a
variable, or must equal a constant.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.tables import EMPTY, _grown, find_row, mix

BIND, SAME, CONSTANT = 0, 1, 2

FAR = 1 << 61


@njit(cache=True)
def start_rows(columns, piece_row, piece_low, piece_high, kinds, values, variables, shift):  # type: ignore[no-untyped-def]
    """Bindings from the rows of a table: the beginning of a join."""
    capacity = len(piece_row)
    bindings = np.empty((capacity, variables), np.int64)
    low = np.empty(capacity, np.int64)
    high = np.empty(capacity, np.int64)
    count = 0
    for index in range(capacity):
        row = piece_row[index]
        fits = True
        for column in range(len(kinds)):
            value = columns[row, column]
            if kinds[column] == BIND:
                bindings[count, values[column]] = value
            elif kinds[column] == SAME:
                if bindings[count, values[column]] != value:
                    fits = False
                    break
            elif values[column] != value:
                fits = False
                break
        if fits:
            low[count] = piece_low[index] if piece_low[index] <= -FAR else piece_low[index] - shift
            high[count] = piece_high[index] if piece_high[index] >= FAR else piece_high[index] - shift
            count += 1
    return bindings[:count], low[:count], high[:count]


@njit(cache=True)
def join(  # type: ignore[no-untyped-def]
    bindings, low, high, columns, first, pool_low, pool_high, after,
    heads, following, key, kinds, values, shift, fixed, rows,
):  # fmt: skip
    """Extends bindings by an atom.

    With an index, `heads` and `following` lead to the rows of a group; without (`key` empty), all of
    `rows` are tried. `fixed` is a cell at which the atom must hold whatever the rule's time, or FAR."""
    variables = bindings.shape[1]
    capacity = max(64, 2 * len(bindings))
    out = np.empty((capacity, variables), np.int64)
    out_low = np.empty(capacity, np.int64)
    out_high = np.empty(capacity, np.int64)
    # Where the join is: binding, row of the group or scan, interval.
    place = np.array([0, -2, -1, 0], np.int64)
    while True:
        _join_some(
            bindings, low, high, columns, first, pool_low, pool_high, after,
            heads, following, key, kinds, values, shift, fixed, rows, out, out_low, out_high, place,
        )  # fmt: skip
        count = place[3]
        if place[0] >= len(bindings):
            return out[:count], out_low[:count], out_high[:count]
        capacity *= 2
        larger = np.empty((capacity, variables), np.int64)
        larger[:count] = out[:count]
        out = larger
        out_low = _grown(out_low, capacity)
        out_high = _grown(out_high, capacity)


@njit(cache=True)
def _find_group(bindings, index, columns, heads, key, kinds, values):  # type: ignore[no-untyped-def]
    mask = len(heads) - 1
    code = np.uint64(1469598103934665603)
    for position in range(len(key)):
        column = key[position]
        value = values[column] if kinds[column] == CONSTANT else bindings[index, values[column]]
        code = mix(code ^ np.uint64(value))
    at = np.int64(code & np.uint64(mask))
    while True:
        held = heads[at]
        if held == EMPTY:
            return np.int64(-1)
        if held >= 0:
            same = True
            for position in range(len(key)):
                column = key[position]
                value = values[column] if kinds[column] == CONSTANT else bindings[index, values[column]]
                if columns[held, column] != value:
                    same = False
                    break
            if same:
                return held
        at = (at + 1) & mask


@njit(cache=True)
def _join_some(  # type: ignore[no-untyped-def]
    bindings, low, high, columns, first, pool_low, pool_high, after,
    heads, following, key, kinds, values, shift, fixed, rows, out, out_low, out_high, place,
):  # fmt: skip
    """Goes on with a join until it is done or the output is full. The arrays are never replaced in here,
    which keeps the compiled loop free of bookkeeping."""
    variables = bindings.shape[1]
    capacity = len(out_low)
    indexed = len(key) > 0
    index, row, scan, count = place[0], place[1], place[2], place[3]
    while index < len(bindings):
        if row == -2:
            scan = 0
            if indexed:
                row = _find_group(bindings, index, columns, heads, key, kinds, values)
            else:
                row = rows[0] if len(rows) > 0 else np.int64(-1)
        while row >= 0:
            # One row gives at most as many results as it has intervals: look whether they fit.
            node = first[row]
            wanted = 0
            while node >= 0:
                wanted += 1
                node = after[node]
            if count + wanted >= capacity:
                place[0], place[1], place[2], place[3] = index, row, scan, count
                return
            for variable in range(variables):
                out[count, variable] = bindings[index, variable]
            fits = True
            for column in range(len(kinds)):
                value = columns[row, column]
                if kinds[column] == BIND:
                    out[count, values[column]] = value
                elif kinds[column] == SAME:
                    if out[count, values[column]] != value:
                        fits = False
                        break
                elif values[column] != value:
                    fits = False
                    break
            if fits:
                template = count
                node = first[row]
                while node >= 0:
                    if fixed != FAR:
                        if pool_low[node] <= fixed and fixed <= pool_high[node]:
                            out_low[count] = low[index]
                            out_high[count] = high[index]
                            count += 1
                            break
                    else:
                        start = pool_low[node] if pool_low[node] <= -FAR else pool_low[node] - shift
                        end = pool_high[node] if pool_high[node] >= FAR else pool_high[node] - shift
                        if end < low[index]:
                            break
                        start = max(start, low[index])
                        end = min(end, high[index])
                        if start <= end:
                            if count > template:
                                for variable in range(variables):
                                    out[count, variable] = out[template, variable]
                            out_low[count] = start
                            out_high[count] = end
                            count += 1
                    node = after[node]
            if indexed:
                row = following[row]
            else:
                scan += 1
                row = rows[scan] if scan < len(rows) else np.int64(-1)
        row = np.int64(-2)
        index += 1
    place[0], place[1], place[2], place[3] = index, row, scan, count


@njit(cache=True)
def without(bindings, low, high, atoms, columns, first, pool_low, pool_high, after, slots, shift, fixed, width):  # type: ignore[no-untyped-def]
    """Bindings where a negated atom does not hold. `atoms[i]` is the atom's tuple under bindings[i]."""
    found = np.empty(len(bindings), np.int64)
    total = len(bindings)
    for index in range(len(bindings)):
        row = find_row(columns, slots, atoms, index, width)
        found[index] = row
        node = first[row] if row >= 0 else np.int64(-1)
        while node >= 0:
            total += 1
            node = after[node]
    source = np.empty(total, np.int64)
    out_low = np.empty(total, np.int64)
    out_high = np.empty(total, np.int64)
    count = 0
    for index in range(len(bindings)):
        row = found[index]
        node = first[row] if row >= 0 else np.int64(-1)
        begin = low[index]
        cursor = high[index]
        while node >= 0 and cursor >= begin:
            start = pool_low[node] if pool_low[node] <= -FAR else pool_low[node] - shift
            stop = pool_high[node] if pool_high[node] >= FAR else pool_high[node] - shift
            if fixed != FAR:
                if pool_low[node] <= fixed and fixed <= pool_high[node]:
                    cursor = begin - 1
                    break
            elif start <= cursor:
                if stop < begin:
                    break
                if stop < cursor:
                    source[count] = index
                    out_low[count] = stop + 1
                    out_high[count] = cursor
                    count += 1
                cursor = min(cursor, start - 1)
            node = after[node]
        if cursor >= begin:
            source[count] = index
            out_low[count] = begin
            out_high[count] = cursor
            count += 1
    picked = np.empty((count, bindings.shape[1]), np.int64)
    for index in range(count):
        for variable in range(bindings.shape[1]):
            picked[index, variable] = bindings[source[index], variable]
    return picked, out_low[:count], out_high[:count]


@njit(cache=True)
def project(bindings, kinds, values):  # type: ignore[no-untyped-def]
    """Tuples of an atom under bindings: variables looked up, constants as they are."""
    width = max(1, len(kinds))
    out = np.zeros((len(bindings), width), np.int64)
    for index in range(len(bindings)):
        for column in range(len(kinds)):
            out[index, column] = values[column] if kinds[column] == CONSTANT else bindings[index, values[column]]
    return out
