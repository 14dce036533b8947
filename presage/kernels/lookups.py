"""Finding tuples, and counting their intervals, for whole columns at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.tables import find_row


@njit(cache=True)
def find_all(columns, slots, tuples, width):  # type: ignore[no-untyped-def]
    """For each tuple its row, or -1."""
    found = np.empty(len(tuples), np.int64)
    for index in range(len(tuples)):
        found[index] = find_row(columns, slots, tuples, index, width)
    return found


@njit(cache=True)
def count_intervals(first, after, rows):  # type: ignore[no-untyped-def]
    counts = np.zeros(len(rows), np.int64)
    for index in range(len(rows)):
        node = first[rows[index]]
        while node >= 0:
            counts[index] += 1
            node = after[node]
    return counts
