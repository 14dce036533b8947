"""Where a negated atom does not hold, and until when one that was found holds still."""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import FAR, FROM, NODES, RECORD_BYTES, RECORDS, TO, WIDTH, get
from presage.kernels.finding import find_row
from presage.kernels.tables import earlier_record


@kernel
def without(table, atoms, low, high, shift, fixed):  # type: ignore[no-untyped-def]
    """The parts of intervals in which an atom of a table does not hold; `atoms` has its tuple for each interval.
    Gives for each part which interval it is of, its start and its end."""
    width = get(table, WIDTH)
    records, nodes = get(table, RECORDS), get(table, NODES)
    firsts = np.empty(len(low), np.int64)
    total = len(low)
    for index in range(len(low)):
        row = find_row(table, atoms.ctypes.data + 4 * index * width)
        record = firsts[index] = records + row * RECORD_BYTES if row >= 0 else 0
        while record:
            total += 1
            record = earlier_record(nodes, record)
    source, out_low, out_high = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    count = 0
    for index in range(len(low)):
        record = firsts[index]
        begin, cursor = low[index], high[index]
        while record and cursor >= begin:
            start, stop = get(record, FROM), get(record, TO)
            record = earlier_record(nodes, record)
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


@kernel
def still(table, atoms, low, high, shift, fixed):  # type: ignore[no-untyped-def]
    """Until when intervals last if an atom of a table must hold from their start on, or at a fixed cell. What does not
    hold at all ends before it starts."""
    width = get(table, WIDTH)
    records, nodes = get(table, RECORDS), get(table, NODES)
    found = np.empty(len(low), np.int64)
    for index in range(len(low)):
        found[index] = low[index] - 1
        row = find_row(table, atoms.ctypes.data + 4 * index * width)
        wanted = low[index] + shift if fixed == FAR else fixed
        record = records + row * RECORD_BYTES if row >= 0 else np.int64(0)
        while record and get(record, FROM) > wanted:
            record = earlier_record(nodes, record)
        if record and wanted <= get(record, TO):
            stop = get(record, TO)
            if fixed != FAR:
                stop = high[index]
            elif stop < FAR:
                stop -= shift
            found[index] = min(high[index], stop)
    return found
