"""Where enough pieces of a group lie: as a stream comes, each piece begins and ends after those before it.

A group is found by its key. Its pieces are a chain, by where they end, from the last back. The newest piece lies with
enough others up to where the earliest of those ends that are needed beside it.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, uncounted
from presage.kernels.hashing import EMPTY, scatter

SIZE, GROUPS, FOUND, AT_WORK = range(4)
"""What is counted: pieces, groups, stretches found, and the group that a call stopped at."""
BEGIN, END, NOTED, TOLD_FIELDS = range(4)
"""Of the stretch that a group was last told to have enough in: its ends, and where it was noted."""


@inlined
def _place_of(keys, row):  # type: ignore[no-untyped-def]
    code = np.uint64(1469598103934665603)
    for column in range(keys.shape[1]):
        code = scatter(code ^ np.uint64(keys[row, column]))
    return np.int64(code & np.uint64(0x7FFFFFFF))


@uncounted
def enter_groups(slots, group_keys, groups):  # type: ignore[no-untyped-def]
    """Fills the hash of keys, which is empty."""
    mask = len(slots) - 1
    for group in range(groups):
        at = _place_of(group_keys, group) & mask
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = group


@uncounted
def add_pieces(  # type: ignore[no-untyped-def]
    keys, low, high, first, least, slots, group_keys, last, in_order, told, lows, highs, before, groups, counts,
    of_group, begins, ends,
):  # fmt: skip
    """Adds pieces from the first on, for which there is room, and notes for groups the stretches where at least so many
    lie, if that is not in the one that was `told` of the group last. Gives the first that does not come after those
    before it, or how many there are."""
    mask = len(slots) - 1
    width = keys.shape[1]
    for place in range(first, len(keys)):
        at = _place_of(keys, place) & mask
        group = np.int64(-1)
        while slots[at] != EMPTY:
            held = slots[at]
            same = True
            for column in range(width):
                if group_keys[held, column] != keys[place, column]:
                    same = False
                    break
            if same:
                group = held
                break
            at = (at + 1) & mask
        if group < 0:
            group = counts[GROUPS]
            counts[GROUPS] = group + 1
            slots[at] = group
            for column in range(width):
                group_keys[group, column] = keys[place, column]
            last[group] = -1
            in_order[group] = True
            told[group, BEGIN], told[group, END], told[group, NOTED] = 0, -1, 0
        until = high[place]
        if least > 1:
            tail = last[group]
            if tail >= 0 and not (in_order[group] and highs[tail] <= high[place] and lows[tail] <= low[place]):
                counts[AT_WORK] = group
                return place
            needed = tail
            for _ in range(least - 2):
                if needed < 0:
                    break
                needed = before[needed]
            until = highs[needed] if needed >= 0 else low[place] - 1
            size = counts[SIZE]
            lows[size], highs[size], before[size], groups[size] = low[place], high[place], tail, group
            last[group] = size
            counts[SIZE] = size + 1
        _note(group, low[place], until, told, counts, of_group, begins, ends)
    return len(keys)


@inlined
def _note(group, begin, end, told, counts, of_group, begins, ends):  # type: ignore[no-untyped-def]
    if told[group, BEGIN] <= begin <= told[group, END] + 1:
        begin = told[group, END] + 1
        if begin <= end:
            told[group, END] = end
            noted = told[group, NOTED]
            if noted < counts[FOUND] and of_group[noted] == group and ends[noted] == begin - 1:
                ends[noted] = end
                begin = end + 1
    elif begin <= end:
        told[group, BEGIN], told[group, END] = begin, end
    if begin <= end:
        found = counts[FOUND]
        of_group[found], begins[found], ends[found] = group, begin, end
        told[group, NOTED] = found
        counts[FOUND] = found + 1
