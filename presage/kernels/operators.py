"""Interval operators: what `once`, `historically`, `since` and their mirror images do to intervals.

Cells are integers. On the discrete timeline a cell is a time point. On the dense one even cells are
points and odd cells the open gaps between them, so that whether a bound is attained is the cell's
parity; `grid` is 1 or 2 accordingly. Distances are given in cells too (even numbers on the dense
timeline), with flags for bounds that are excluded, which the discrete timeline never needs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.joins import FAR


@njit(cache=True, inline="always")
def plus(cell, distance):  # type: ignore[no-untyped-def]
    """A cell moved by a distance, where both may be infinite."""
    if cell >= FAR or distance >= FAR:
        return np.int64(2 * FAR)
    if cell <= -FAR or distance <= -FAR:
        return np.int64(-2 * FAR)
    return np.int64(cell + distance)


@njit(cache=True)
def dilate(low, high, near, far, open_near, open_far):  # type: ignore[no-untyped-def]
    """Where something holds `near` to `far` before: [low + near, high + far]."""
    out_low = np.empty(len(low), np.int64)
    out_high = np.empty(len(low), np.int64)
    for index in range(len(low)):
        start = plus(low[index], near)
        end = plus(high[index], far)
        if open_near and -FAR < start < FAR and start % 2 == 0:
            start += 1
        if open_far and -FAR < end < FAR and end % 2 == 0:
            end -= 1
        out_low[index] = start
        out_high[index] = end
    return out_low, out_high


@njit(cache=True)
def erode(low, high, near, far, open_near, open_far):  # type: ignore[no-untyped-def]
    """Where something holds all the time from `far` to `near` before: [low + far, high + near]."""
    out_low = np.empty(len(low), np.int64)
    out_high = np.empty(len(low), np.int64)
    for index in range(len(low)):
        if far >= FAR and low[index] > -FAR:
            start = np.int64(2 * FAR)
        else:
            start = np.int64(-2 * FAR) if low[index] <= -FAR else plus(low[index], far)
        if near <= -FAR and high[index] < FAR:
            end = np.int64(-2 * FAR)
        else:
            end = np.int64(2 * FAR) if high[index] >= FAR else plus(high[index], near)
        if open_far and -FAR < start < FAR and start % 2 != 0:
            start -= 1
        if open_near and -FAR < end < FAR and end % 2 != 0:
            end += 1
        out_low[index] = start
        out_high[index] = end
    return out_low, out_high


@njit(cache=True)
def reach(low, high, left_low, left_high, near, far, open_near, open_far, grid, ahead):  # type: ignore[no-untyped-def]
    """`left since right`: for intervals of the right side, each with one coalesced interval of the left.

    Between the two times the left side must hold at every time strictly between, so its own ends count
    with their closure. With `ahead`, the mirror image `until`."""
    out_low = np.empty(len(low), np.int64)
    out_high = np.empty(len(low), np.int64)
    for index in range(len(low)):
        begin, stop = left_low[index], left_high[index]
        if grid == 1:
            begin = begin if begin <= -FAR else begin - 1
            stop = stop if stop >= FAR else stop + 1
        else:
            begin = begin - 1 if begin > -FAR and begin % 2 != 0 else begin
            stop = stop + 1 if stop < FAR and stop % 2 != 0 else stop
        start = max(low[index], begin)
        end = min(high[index], stop)
        if start > end:
            out_low[index], out_high[index] = 1, 0
            continue
        if not ahead:
            moved_low = plus(start, near)
            moved_high = plus(end, far)
            if open_near and -FAR < moved_low < FAR and moved_low % 2 == 0:
                moved_low += 1
            if open_far and -FAR < moved_high < FAR and moved_high % 2 == 0:
                moved_high -= 1
            out_low[index] = moved_low
            out_high[index] = min(moved_high, stop)
        else:
            moved_low = plus(start, -far)
            moved_high = plus(end, -near)
            if open_far and -FAR < moved_low < FAR and moved_low % 2 == 0:
                moved_low += 1
            if open_near and -FAR < moved_high < FAR and moved_high % 2 == 0:
                moved_high -= 1
            out_low[index] = max(moved_low, begin)
            out_high[index] = moved_high
    return out_low, out_high
