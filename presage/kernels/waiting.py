"""Rows that wait: which of them are due, and which bucket of time each belongs to."""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import FAR


@kernel
def split_at(rows, low, high, limit):  # type: ignore[no-untyped-def]
    """Rows with intervals, cut after a cell: what lies up to it, and what lies after it."""
    width, total = rows.shape[1], len(low)
    due, later = 0, 0
    for index in range(total):
        due += low[index] <= limit
        later += high[index] > limit
    due_rows, later_rows = np.empty((due, width), np.int32), np.empty((later, width), np.int32)
    due_low, due_high = np.empty(due, np.int64), np.empty(due, np.int64)
    later_low, later_high = np.empty(later, np.int64), np.empty(later, np.int64)
    # Nothing begins just after what is infinitely early.
    first = limit + 1 if limit > -FAR else limit
    due, later = 0, 0
    for index in range(total):
        if low[index] <= limit:
            for column in range(width):
                due_rows[due, column] = rows[index, column]
            due_low[due], due_high[due] = low[index], min(high[index], limit)
            due += 1
        if high[index] > limit:
            for column in range(width):
                later_rows[later, column] = rows[index, column]
            later_low[later], later_high[later] = max(low[index], first), high[index]
            later += 1
    return (due_rows, due_low, due_high), (later_rows, later_low, later_high)


@kernel
def bucket_numbers(low, bucket):  # type: ignore[no-untyped-def]
    """Which bucket each row belongs to, and the least and the greatest of these."""
    numbers = np.empty(len(low), np.int64)
    least, most = np.int64(2 * FAR), np.int64(-2 * FAR)
    for index in range(len(low)):
        number = min(max(low[index], -FAR), FAR)
        if bucket > 1:
            number //= bucket
        least, most = min(least, number), max(most, number)
        numbers[index] = number
    return numbers, least, most


@kernel
def by_bucket(rows, low, high, numbers, first, count):  # type: ignore[no-untyped-def]
    """Rows in the order of their buckets, `count` of them from `first` on; gives also where each bucket begins."""
    width = rows.shape[1]
    begins = np.zeros(count + 1, np.int64)
    for index in range(len(low)):
        begins[numbers[index] - first + 1] += 1
    for bucket in range(count):
        begins[bucket + 1] += begins[bucket]
    place = begins.copy()
    out_rows, out_low, out_high = np.empty_like(rows), np.empty_like(low), np.empty_like(high)
    for index in range(len(low)):
        at = place[numbers[index] - first]
        place[numbers[index] - first] += 1
        for column in range(width):
            out_rows[at, column] = rows[index, column]
        out_low[at], out_high[at] = low[index], high[index]
    return out_rows, out_low, out_high, begins
