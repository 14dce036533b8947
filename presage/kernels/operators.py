"""Interval operators: what `once`, `historically`, `since` and their mirror images do to an interval.

Cells are integers. On the discrete timeline a cell is a time point. On the dense one even cells are
points and odd cells the open gaps between them, so that whether a bound is attained is the cell's
parity; `grid` is 1 or 2 accordingly. Distances are given in cells too (even numbers on the dense
timeline), with flags for bounds that are excluded, which the discrete timeline never needs. An interval
whose end lies before its start is empty.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.fields import FAR


@inlined
def plus(cell, distance):  # type: ignore[no-untyped-def]
    """A cell moved by a distance, where both may be infinite."""
    if cell >= FAR or distance >= FAR:
        return np.int64(2 * FAR)
    if cell <= -FAR or distance <= -FAR:
        return np.int64(-2 * FAR)
    return np.int64(cell + distance)


@kernel
def dilate(low, high, near, far, open_near, open_far):  # type: ignore[no-untyped-def]
    """Where something holds `near` to `far` before: [low + near, high + far]."""
    start = plus(low, near)
    end = plus(high, far)
    if open_near and -FAR < start < FAR and start % 2 == 0:
        start += 1
    if open_far and -FAR < end < FAR and end % 2 == 0:
        end -= 1
    return start, end


@kernel
def dilate_all(low, high, near, far, open_near, open_far):  # type: ignore[no-untyped-def]
    """The same for whole columns."""
    out_low, out_high = np.empty(len(low), np.int64), np.empty(len(low), np.int64)
    for index in range(len(low)):
        out_low[index], out_high[index] = dilate(low[index], high[index], near, far, open_near, open_far)
    return out_low, out_high


@kernel
def erode(low, high, near, far, open_near, open_far):  # type: ignore[no-untyped-def]
    """Where something holds all the time from `far` to `near` before: [low + far, high + near]."""
    if far >= FAR and low > -FAR:
        start = np.int64(2 * FAR)
    else:
        start = np.int64(-2 * FAR) if low <= -FAR else plus(low, far)
    if near <= -FAR and high < FAR:
        end = np.int64(-2 * FAR)
    else:
        end = np.int64(2 * FAR) if high >= FAR else plus(high, near)
    if open_far and -FAR < start < FAR and start % 2 != 0:
        start -= 1
    if open_near and -FAR < end < FAR and end % 2 != 0:
        end += 1
    return start, end


@kernel
def reach(low, high, begin, stop, near, far, open_near, open_far, grid, ahead):  # type: ignore[no-untyped-def]
    """`left since right`: an interval of the right side with one coalesced interval [begin, stop] of the left.

    Between the two times the left side must hold at every time strictly between, so its own ends count
    with their closure. With `ahead`, the mirror image `until`."""
    if grid == 1:
        begin = begin if begin <= -FAR else begin - 1
        stop = stop if stop >= FAR else stop + 1
    else:
        begin = begin - 1 if begin > -FAR and begin % 2 != 0 else begin
        stop = stop + 1 if stop < FAR and stop % 2 != 0 else stop
    start = max(low, begin)
    end = min(high, stop)
    if start > end:
        return np.int64(1), np.int64(0)
    if ahead:
        moved = dilate(start, end, -far, -near, open_far, open_near)
        return max(moved[0], begin), moved[1]
    moved = dilate(start, end, near, far, open_near, open_far)
    return moved[0], min(moved[1], stop)
