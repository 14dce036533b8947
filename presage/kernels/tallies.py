"""What groups of tuples are worth, along the times at which tuples enter and leave.

Sums are kept as they are. Of the least and the greatest, and of the first and the last, a group keeps a staircase: the
tuples that no other beats for as long as they are there, the best first, each next one worse and longer there. What
comes in the order of a stream goes to its end, so that a tuple costs little however many there are.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, uncounted

# What there is of a group: how many tuples, their sum, since when it is as it is, and the ends of its staircase.
SIZE, TOTAL, SINCE, TOP, LAST, TOUCHED, PLACE_FIELDS = range(7)
# A step of a staircase: how good it is, the last cell at which it is there, its constant, and its neighbours. Those
# that are free are chained by what comes next.
KEY, END, CONSTANT, NEXT, BEFORE, NODE_FIELDS = range(6)
# What happens: when, to which group, whether a tuple enters (1) or leaves (-1), its worth, until when, its constant.
CELL, PLACE, SIGN, WORTH, UNTIL, SYMBOL, EVENT_FIELDS = range(7)
# What is found: a group, from when until when, and its size, sum or best until then.
OF, LOW, HIGH, FOUND_SIZE, FOUND_TOTAL, FOUND_CONSTANT, FOUND_FIELDS = range(7)

SUMMED, STAIRS = range(2)
WORSE, SAME, BETTER, UNKNOWN = range(4)


@uncounted
def tally(kind, events, places, nodes, free, found, touched, floats):  # type: ignore[no-untyped-def]
    """Takes events in the order of their cells. `free` is the first free node, `floats` are the constants as numbers.
    Gives how many stretches were found, the first free node then, and whether of two constants nobody here knows which
    is better."""
    count, tied = 0, False
    at = 0
    while at < len(events):
        cell = events[at, CELL]
        some = 0
        while at < len(events) and events[at, CELL] == cell:
            place = events[at, PLACE]
            if places[place, TOUCHED] != cell:
                places[place, TOUCHED] = cell
                touched[some, OF] = place
                touched[some, FOUND_SIZE] = places[place, SIZE]
                touched[some, FOUND_TOTAL] = places[place, TOTAL]
                touched[some, FOUND_CONSTANT] = -1
                if kind == STAIRS and places[place, TOP] >= 0:
                    touched[some, FOUND_TOTAL] = nodes[places[place, TOP], KEY]
                    touched[some, FOUND_CONSTANT] = nodes[places[place, TOP], CONSTANT]
                some += 1
            sign = events[at, SIGN]
            places[place, SIZE] += sign
            if kind == SUMMED:
                places[place, TOTAL] += sign * events[at, WORTH]
            elif sign > 0:
                free, same = climb(
                    places, nodes, free, place, events[at, WORTH], events[at, UNTIL], events[at, SYMBOL], floats
                )
                tied = tied or same
            at += 1
        for each in range(some):
            place = touched[each, OF]
            worth, constant = places[place, TOTAL], np.int64(-1)
            if kind == STAIRS:
                free = step_off(places, nodes, free, place, cell)
                worth = np.int64(0)
                if places[place, TOP] >= 0:
                    worth, constant = nodes[places[place, TOP], KEY], nodes[places[place, TOP], CONSTANT]
            before, since = touched[each, FOUND_SIZE], places[place, SINCE]
            goes_on = before > 0 and places[place, SIZE] > 0 and worth == touched[each, FOUND_TOTAL]
            if kind == SUMMED:
                goes_on = goes_on and before == places[place, SIZE]
            else:
                goes_on = goes_on and constant == touched[each, FOUND_CONSTANT]
            if goes_on:
                continue
            if before > 0 and since < cell:
                found[count, OF], found[count, LOW], found[count, HIGH] = place, since, cell - 1
                found[count, FOUND_SIZE], found[count, FOUND_TOTAL] = before, touched[each, FOUND_TOTAL]
                found[count, FOUND_CONSTANT] = touched[each, FOUND_CONSTANT]
                count += 1
            places[place, SINCE] = cell
    return count, free, tied


@inlined
def _compared(key, constant, other_key, other, floats):  # type: ignore[no-untyped-def]
    """How good one is beside another: of two that are as good, the lesser number is better."""
    if key != other_key:
        return BETTER if key > other_key else WORSE
    if constant == other:
        return SAME
    if np.isnan(floats[constant]) or np.isnan(floats[other]):
        return UNKNOWN
    return BETTER if floats[constant] < floats[other] else WORSE


@uncounted
def climb(places, nodes, free, place, key, end, constant, floats):  # type: ignore[no-untyped-def]
    """Puts a tuple where it belongs; gives the first free node, and whether it is unknown if another is better."""
    after, here = np.int64(-1), places[place, LAST]
    while here >= 0 and nodes[here, END] > end:
        after, here = here, nodes[here, BEFORE]
    if after >= 0:
        compared = _compared(key, constant, nodes[after, KEY], nodes[after, CONSTANT], floats)
        if compared != BETTER:
            return free, compared == UNKNOWN
    while here >= 0:
        compared = _compared(key, constant, nodes[here, KEY], nodes[here, CONSTANT], floats)
        if compared == UNKNOWN:
            return free, True
        if compared == WORSE:
            break
        gone, here = here, nodes[here, BEFORE]
        nodes[gone, NEXT] = free
        free = gone
    if here >= 0 and nodes[here, END] >= end:
        # What is better is there as long: the tuple never counts, and what it would have beaten is gone as well.
        if after >= 0:
            nodes[after, BEFORE] = here
        else:
            places[place, LAST] = here
        nodes[here, NEXT] = after
        return free, False
    new = free
    free = nodes[new, NEXT]
    nodes[new, KEY], nodes[new, END], nodes[new, CONSTANT] = key, end, constant
    nodes[new, NEXT], nodes[new, BEFORE] = after, here
    if after >= 0:
        nodes[after, BEFORE] = new
    else:
        places[place, LAST] = new
    if here >= 0:
        nodes[here, NEXT] = new
    else:
        places[place, TOP] = new
    return free, False


@uncounted
def step_off(places, nodes, free, place, cell):  # type: ignore[no-untyped-def]
    """Leaves the steps that ended before a cell; gives the first free node."""
    top = places[place, TOP]
    while top >= 0 and nodes[top, END] < cell:
        following = nodes[top, NEXT]
        nodes[top, NEXT] = free
        free = top
        top = following
        if top >= 0:
            nodes[top, BEFORE] = -1
    places[place, TOP] = top
    if top < 0:
        places[place, LAST] = -1
    return free
