"""Rows that windows count: the last so many of each partition, and until when each is in.

Every row is an entry of a pool: `following` is the next one of its partition, `ends` the last time at which it is in
the window, without end as long as it is. What a window shows of the rows is a table; `rows` says where in it an entry
stands, `latest` which entry is the last that stands in a row: a tuple is shown as long as that one is in.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import FAR, FORGETS, LINK, LOG, LOG_ROW, RECORD_BYTES, RECORDS, TO, WIDTH, get, get32, put
from presage.kernels.finding import find_row
from presage.kernels.tables import UNLINKED, insert, link


@kernel
def count(partitions, times, most, counts, oldest, newest, following, ends, entries, gone, filled):  # type: ignore[no-untyped-def]
    """Counts rows, in their order, as entries that are in without end; a partition with more than `most` loses its
    oldest one. Gives how many are `gone`; `filled` becomes how many rows each one's partition has with it, with the one
    that goes."""
    lost = 0
    for index in range(len(times)):
        partition, entry = partitions[index], entries[index]
        following[entry] = -1
        if counts[partition]:
            following[newest[partition]] = entry
        else:
            oldest[partition] = entry
        newest[partition] = entry
        if counts[partition] < most:
            counts[partition] += 1
            filled[index] = counts[partition]
        else:
            filled[index] = most + 1
            first = oldest[partition]
            oldest[partition] = following[first]
            ends[first] = times[index] - 1
            gone[lost] = first
            lost += 1
    return lost


@kernel
def edges(times, filled, gone, most, alive, counts, noted, at, found):  # type: ignore[no-untyped-def]
    """The left edges of a window at the times of rows, which are as for `count`; `gone` are the starts of those that
    go. `alive` are times with rows, in their order, and `counts` how many are in: both have room for more. `noted` is
    how many such times there are, how many of them come before the first with rows that are in, how many have none
    left, and how many partitions are short of rows. Gives how many edges are `found`, `at` which times."""
    size, first, empty, short = noted
    index = lost = many = 0
    while index < len(times):
        time = times[index]
        alive[size], counts[size] = time, 0
        while index < len(times) and times[index] == time:
            counts[size] += 1
            if filled[index] > most:
                place = np.searchsorted(alive[: size + 1], gone[lost])
                counts[place] -= 1
                empty += place < size and not counts[place]
                lost += 1
            elif filled[index] == most:
                short -= most > 1
            elif filled[index] == 1:
                short += 1
            index += 1
        size += 1
        while first < size - 1 and not counts[first]:
            first += 1
        at[many], found[many] = time, 0 if short else alive[first]
        many += 1
    if 2 * empty > size:
        left = 0
        for place in range(first, size):
            if counts[place]:
                alive[left], counts[left] = alive[place], counts[place]
                left += 1
        size, first, empty = left, 0, 0
    noted[:] = size, first, empty, short
    return many


@kernel
def show(table, indexes, tuples, starts, stops, entries, ends, rows, latest, begin):  # type: ignore[no-untyped-def]
    """Shows entries from `begin` on, each with its tuple, from its start to its stop. Gives how far there was room."""
    width = get(table, WIDTH)
    for index in range(begin, len(entries)):
        start, entry = starts[index], entries[index]
        if stops[index] < start:
            continue
        wanted = tuples.ctypes.data + 4 * index * width
        row = find_row(table, wanted)
        if row >= 0 and get(get(table, RECORDS) + row * RECORD_BYTES, TO) >= FAR:
            before = ends[latest[row]]
            if before + 1 >= start:
                # It goes on, as if nothing had happened.
                rows[entry], latest[row] = row, entry
                continue
            _end(table, row, before)
        logged = get(table, LOG)
        done = insert(table, indexes, tuples.ctypes.data, starts.ctypes.data, stops.ctypes.data, index, index + 1)
        if done == index:
            return index
        row = get32(get(table, LOG_ROW), logged) if get(table, LOG) > logged else find_row(table, wanted)
        rows[entry], latest[row] = row, entry
    return len(entries)


@kernel
def hide(table, gone, ends, rows, latest):  # type: ignore[no-untyped-def]
    """Ends what is shown of entries that are gone."""
    for entry in gone:
        row = rows[entry]
        if row >= 0 and latest[row] == entry and get(get(table, RECORDS) + row * RECORD_BYTES, TO) >= FAR:
            _end(table, row, ends[entry])


@kernel
def _end(table, row, end):  # type: ignore[no-untyped-def]
    """Takes back what the latest interval of a row says of times after `end`."""
    record = get(table, RECORDS) + row * RECORD_BYTES
    put(record, TO, end)
    if get(table, FORGETS) and get32(record, LINK) == UNLINKED:
        link(table, row, end)
