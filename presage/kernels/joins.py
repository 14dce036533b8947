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
    capacity = max(16, len(bindings))
    out = np.empty((capacity, variables), np.int64)
    out_low = np.empty(capacity, np.int64)
    out_high = np.empty(capacity, np.int64)
    count = 0
    mask = len(heads) - 1
    indexed = len(key) > 0
    for index in range(len(bindings)):
        scan = 0
        row = np.int64(-1)
        if indexed:
            code = np.uint64(1469598103934665603)
            for position in range(len(key)):
                column = key[position]
                value = values[column] if kinds[column] == CONSTANT else bindings[index, values[column]]
                code = mix(code ^ np.uint64(value))
            at = np.int64(code & np.uint64(mask))
            while True:
                held = heads[at]
                if held == EMPTY:
                    break
                if held >= 0:
                    same = True
                    for position in range(len(key)):
                        column = key[position]
                        value = values[column] if kinds[column] == CONSTANT else bindings[index, values[column]]
                        if columns[held, column] != value:
                            same = False
                            break
                    if same:
                        row = held
                        break
                at = (at + 1) & mask
        elif len(rows) > 0:
            row = rows[0]
        while row >= 0:
            if count + 1 > capacity:
                capacity *= 2
                larger = np.empty((capacity, variables), np.int64)
                larger[:count] = out[:count]
                out = larger
                out_low = _grown(out_low, capacity)
                out_high = _grown(out_high, capacity)
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
                node = first[row]
                if fixed != FAR:
                    while node >= 0:
                        if pool_low[node] <= fixed and fixed <= pool_high[node]:
                            out_low[count] = low[index]
                            out_high[count] = high[index]
                            count += 1
                            break
                        node = after[node]
                else:
                    template = count
                    written = False
                    while node >= 0:
                        start = pool_low[node] if pool_low[node] <= -FAR else pool_low[node] - shift
                        end = pool_high[node] if pool_high[node] >= FAR else pool_high[node] - shift
                        if start > high[index]:
                            break
                        start = max(start, low[index])
                        end = min(end, high[index])
                        if start <= end:
                            if count + 1 > capacity:
                                capacity *= 2
                                larger = np.empty((capacity, variables), np.int64)
                                larger[: count + 1 if not written else count] = out[
                                    : count + 1 if not written else count
                                ]
                                out = larger
                                out_low = _grown(out_low, capacity)
                                out_high = _grown(out_high, capacity)
                            if written:
                                for variable in range(variables):
                                    out[count, variable] = out[template, variable]
                            out_low[count] = start
                            out_high[count] = end
                            count += 1
                            written = True
                        node = after[node]
            if indexed:
                row = following[row]
            else:
                scan += 1
                row = rows[scan] if scan < len(rows) else np.int64(-1)
    return out[:count], out_low[:count], out_high[:count]


@njit(cache=True)
def without(bindings, low, high, atoms, columns, first, pool_low, pool_high, after, slots, shift, fixed, width):  # type: ignore[no-untyped-def]
    """Bindings where a negated atom does not hold. `atoms[i]` is the atom's tuple under bindings[i]."""
    capacity = max(16, len(bindings))
    source = np.empty(capacity, np.int64)
    out_low = np.empty(capacity, np.int64)
    out_high = np.empty(capacity, np.int64)
    count = 0
    for index in range(len(bindings)):
        row = find_row(columns, slots, atoms, index, width)
        node = first[row] if row >= 0 else np.int64(-1)
        cursor = low[index]
        end = high[index]
        while node >= 0 and cursor <= end:
            start = pool_low[node] if pool_low[node] <= -FAR else pool_low[node] - shift
            stop = pool_high[node] if pool_high[node] >= FAR else pool_high[node] - shift
            if fixed != FAR:
                if pool_low[node] <= fixed and fixed <= pool_high[node]:
                    cursor = end + 1
                    break
            elif stop >= cursor:
                if start > end:
                    break
                if start > cursor:
                    if count + 1 > capacity:
                        capacity *= 2
                        source = _grown(source, capacity)
                        out_low = _grown(out_low, capacity)
                        out_high = _grown(out_high, capacity)
                    source[count] = index
                    out_low[count] = cursor
                    out_high[count] = start - 1
                    count += 1
                cursor = max(cursor, stop + 1)
            node = after[node]
        if cursor <= end:
            if count + 1 > capacity:
                capacity *= 2
                source = _grown(source, capacity)
                out_low = _grown(out_low, capacity)
                out_high = _grown(out_high, capacity)
            source[count] = index
            out_low[count] = cursor
            out_high[count] = end
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
