"""Pieces of time, each with the step at which it became known: of whole columns, tuple by tuple.

Rows come in groups, one for each tuple, ordered by where they begin. What holds at a cell is known from the least step
that any row says, so that a group is a function from cells to steps, written as pieces that do not overlap.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.fields import FAR
from presage.kernels.operators import plus


@kernel
def _sift_up(heap, keys, at):  # type: ignore[no-untyped-def]
    while at > 0:
        above = (at - 1) // 2
        if keys[heap[above]] <= keys[heap[at]]:
            return
        heap[above], heap[at] = heap[at], heap[above]
        at = above


@kernel
def _drop_top(heap, keys, size):  # type: ignore[no-untyped-def]
    """Takes the least row off a heap of so many; gives how many are left."""
    size -= 1
    heap[0] = heap[size]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and keys[heap[below + 1]] < keys[heap[below]]:
            below += 1
        if keys[heap[at]] <= keys[heap[below]]:
            break
        heap[at], heap[below] = heap[below], heap[at]
        at = below
    return size


@kernel
def earliest(starts, low, high, step, known):  # type: ignore[no-untyped-def]
    """The pieces of each group, each with the least step; touching ones of the same step are one. `starts` says where
    groups begin, and where the last one ends. Gives for each piece its group, its ends, its step, and whether it is
    news: not `known` already, or known from a later step only."""
    most = 2 * len(low)
    group, out_low, out_high = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    out_step, news = np.empty(most, np.int64), np.empty(most, np.bool_)
    # What is known comes before news of the same step.
    keys = np.where(known, 2 * step, 2 * step + 1)
    heap = np.empty(len(low), np.int64)
    count = 0
    for number in range(len(starts) - 1):
        row, end = starts[number], starts[number + 1]
        size, first, cell = 0, count, np.int64(0)
        while row < end or size:
            if not size:
                cell = low[row]
            while row < end and low[row] <= cell:
                if high[row] >= cell:
                    heap[size] = row
                    _sift_up(heap, keys, size)
                    size += 1
                row += 1
            while size and high[heap[0]] < cell:
                size = _drop_top(heap, keys, size)
            if not size:
                continue
            best = heap[0]
            stop = high[best] if row == end else min(high[best], low[row] - 1)
            is_news = not known[best]
            joins = count > first and out_high[count - 1] == cell - 1
            if joins and out_step[count - 1] == step[best] and news[count - 1] == is_news:
                out_high[count - 1] = stop
            else:
                group[count], out_low[count], out_high[count] = number, cell, stop
                out_step[count], news[count] = step[best], is_news
                count += 1
            cell = stop + 1
    return group[:count], out_low[:count], out_high[:count], out_step[:count], news[:count]


@kernel
def held_throughout(starts, low, high, step, near, far, clips):  # type: ignore[no-untyped-def]
    """Where the pieces of a group hold all the time from `far` to `near` before, each with the step from which that is
    known: the greatest of that time. Pieces do not overlap. With `clips` what began with the stream had always been."""
    most = 2 * len(low) + 1
    group, out_low, out_high = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    out_step = np.empty(most, np.int64)
    queue = np.empty(len(low), np.int64)
    count = 0
    for number in range(len(starts) - 1):
        begin = starts[number]
        while begin < starts[number + 1]:
            last = begin
            while last + 1 < starts[number + 1] and low[last + 1] == high[last] + 1:
                last += 1
            since = np.int64(-2 * FAR) if clips and low[begin] <= 0 else low[begin]
            if far >= FAR and since > -FAR:
                cell = np.int64(2 * FAR)
            else:
                cell = np.int64(-2 * FAR) if since <= -FAR else plus(since, far)
            if near <= -FAR and high[last] < FAR:
                stop = np.int64(-2 * FAR)
            else:
                stop = np.int64(2 * FAR) if high[last] >= FAR else plus(high[last], near)
            if clips:
                cell = max(cell, near)
            # A queue of pieces in the window, each with a greater step than all after it.
            head, tail, coming = 0, 0, begin
            while cell <= stop:
                while coming <= last and plus(low[coming], near) <= cell:
                    while tail > head and step[queue[tail - 1]] <= step[coming]:
                        tail -= 1
                    queue[tail] = coming
                    tail += 1
                    coming += 1
                while plus(high[queue[head]], far) < cell:
                    head += 1
                until = min(stop, plus(high[queue[head]], far))
                if coming <= last:
                    until = min(until, plus(low[coming], near) - 1)
                group[count], out_low[count], out_high[count] = number, cell, until
                out_step[count] = step[queue[head]]
                count += 1
                cell = until + 1
            begin = last + 1
    return group[:count], out_low[:count], out_high[:count], out_step[:count]


@kernel
def meeting(starts, low, high, first):  # type: ignore[no-untyped-def]
    """Pairs of rows of a group that hold at some time together, one of the `first` kind and one of the other."""
    pairs = np.empty((2, max(16, len(low))), np.int64)
    running = np.empty((2, len(low)), np.int64)
    count = 0
    for number in range(len(starts) - 1):
        sizes = np.zeros(2, np.int64)
        for row in range(starts[number], starts[number + 1]):
            own = 0 if first[row] else 1
            other, kept = 1 - own, 0
            for place in range(sizes[other]):
                partner = running[other, place]
                if high[partner] < low[row]:
                    continue
                running[other, kept] = partner
                kept += 1
                if count == pairs.shape[1]:
                    more = np.empty((2, 2 * count), np.int64)
                    more[:, :count] = pairs
                    pairs = more
                pairs[own, count], pairs[other, count] = row, partner
                count += 1
            sizes[other] = kept
            running[own, sizes[own]] = row
            sizes[own] += 1
    return pairs[0, :count], pairs[1, :count]


@kernel
def _of_other_kind(begin, end, first, others):  # type: ignore[no-untyped-def]
    """Puts the rows of a group that are not of the `first` kind into `others`; gives how many there are."""
    size = 0
    for row in range(begin, end):
        if not first[row]:
            others[size] = row
            size += 1
    return size


@kernel
def outside(starts, low, high, first):  # type: ignore[no-untyped-def]
    """The parts of rows of the `first` kind in which no row of the other kind of their group holds; those do not
    overlap. Gives for each part its row and its ends."""
    most = 16 + 2 * len(low)
    source, out_low, out_high = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    others = np.empty(len(low), np.int64)
    count = 0
    for number in range(len(starts) - 1):
        size, begin = _of_other_kind(starts[number], starts[number + 1], first, others), 0
        for row in range(starts[number], starts[number + 1]):
            if not first[row]:
                continue
            while begin < size and high[others[begin]] < low[row]:
                begin += 1
            cell, place = low[row], begin
            while cell <= high[row]:
                hole = place < size and low[others[place]] <= high[row]
                stop = low[others[place]] - 1 if hole else high[row]
                if cell <= stop:
                    if count == len(source):
                        source = np.concatenate((source, np.empty(count, np.int64)))
                        out_low = np.concatenate((out_low, np.empty(count, np.int64)))
                        out_high = np.concatenate((out_high, np.empty(count, np.int64)))
                    source[count], out_low[count], out_high[count] = row, cell, stop
                    count += 1
                cell = high[others[place]] + 1 if hole else high[row] + 1
                place += 1
    return source[:count], out_low[:count], out_high[:count]


@kernel
def lasting(starts, low, high, step, first, following, near, far):  # type: ignore[no-untyped-def]
    """Where a row of the `first` kind held from `far` to `near` before, and at all cells between those of the other
    kind of its group, which do not overlap. `following` is the next row with the same values, or below 0. Gives for
    each piece its row, its ends, and the step from which it is known. What a later time of the same values gives as
    early is left to that."""
    source, out_low, out_high = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    out_step, others = np.empty(16, np.int64), np.empty(len(low), np.int64)
    count, least = 0, max(near, 2)
    for number in range(len(starts) - 1):
        size, begin = _of_other_kind(starts[number], starts[number + 1], first, others), 0
        for row in range(starts[number], starts[number + 1]):
            if not first[row]:
                continue
            while begin < size and high[others[begin]] <= low[row]:
                begin += 1
            place, next_row = begin, following[row]
            # With nothing between the two times, nothing else is asked.
            if near <= 1:
                source, out_low, out_high, out_step = _room(count, source, out_low, out_high, out_step)
                source[count], out_low[count] = row, plus(low[row], near)
                out_high[count], out_step[count] = plus(high[row], min(far, 1)), step[row]
                count += 1
            while far >= 2 and place < size and low[others[place]] <= plus(high[row], 1):
                left = others[place]
                since, until = max(low[row], plus(low[left], -1)), min(high[row], plus(high[left], -1))
                end = plus(until, far)
                if place + 1 < size and low[others[place + 1]] == high[left] + 1 and high[left] + 1 <= high[row] + 1:
                    end = min(end, high[left] + least - 1)
                known, at = max(step[row], step[left]), place
                while True:
                    left = others[at]
                    known = max(known, step[left])
                    if next_row >= 0 and step[next_row] <= known:
                        end = min(end, plus(low[next_row], least - 1))
                    from_cell, to_cell = max(plus(low[left], 1), plus(since, least)), min(plus(high[left], 1), end)
                    if from_cell <= to_cell:
                        source, out_low, out_high, out_step = _room(count, source, out_low, out_high, out_step)
                        source[count], out_low[count], out_high[count] = row, from_cell, to_cell
                        out_step[count] = known
                        count += 1
                    at += 1
                    if end <= plus(high[left], 1) or at == size or low[others[at]] != high[left] + 1:
                        break
                place += 1
    return source[:count], out_low[:count], out_high[:count], out_step[:count]


@kernel
def _room(count, source, low, high, step):  # type: ignore[no-untyped-def]
    """Columns with room for one more row."""
    if count < len(source):
        return source, low, high, step
    more = np.empty(count, np.int64)
    return (
        np.concatenate((source, more)), np.concatenate((low, more)),
        np.concatenate((high, more)), np.concatenate((step, more)),
    )  # fmt: skip
