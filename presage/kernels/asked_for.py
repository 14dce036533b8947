"""What groups of tuples are worth where somebody asks: tuples enter and leave, and each question looks at its group.

Nothing is told of a group that nobody asks for, so that a tuple costs no more than its coming and its going. All is
taken in the order of cells; what is asked at a cell knows what has entered and left there.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import uncounted
from presage.kernels.tallies import CONSTANT, KEY, NEXT, TOP, climb, step_off

MEMBERS, COMES_TO, GROUP_FIELDS = range(3)
"""What there is of a group: how many tuples, and their sum."""
EMPTY_GROUP = -2
"""In place of the constant of a group that has no tuples."""


@uncounted
def sums(  # type: ignore[no-untyped-def]
    coming_cells, coming_groups, coming_worths, leaving_cells, leaving_groups, leaving_worths,
    asking_cells, asking_groups, groups, most, found,
):  # fmt: skip
    """Gives whether all sums stayed below `most`; `found` are members and sum of each group that is asked for."""
    entered, left = 0, 0
    fits = True
    for ask in range(len(asking_cells) + 1):
        # After the last question comes what nobody has asked for yet.
        is_last = ask == len(asking_cells)
        cell = np.int64(0) if is_last else asking_cells[ask]
        while entered < len(coming_cells) and (is_last or coming_cells[entered] <= cell):
            group = coming_groups[entered]
            total = groups[group, COMES_TO] + coming_worths[entered]
            fits = fits and -most < total < most
            groups[group, COMES_TO] = total
            groups[group, MEMBERS] += 1
            entered += 1
        while left < len(leaving_cells) and (is_last or leaving_cells[left] <= cell):
            group = leaving_groups[left]
            total = groups[group, COMES_TO] - leaving_worths[left]
            fits = fits and -most < total < most
            groups[group, COMES_TO] = total
            groups[group, MEMBERS] -= 1
            left += 1
        if not is_last:
            group = asking_groups[ask]
            found[ask, MEMBERS], found[ask, COMES_TO] = groups[group, MEMBERS], groups[group, COMES_TO]
    return fits


@uncounted
def ends(  # type: ignore[no-untyped-def]
    coming_cells, coming_groups, coming_keys, coming_ends, coming_constants, asking_cells, asking_groups,
    places, nodes, free, floats, found_keys, found_constants,
):  # fmt: skip
    """The same for staircases. Gives the first free node, and whether of two constants nobody here knows which is
    better."""
    entered, tied = 0, False
    for ask in range(len(asking_cells) + 1):
        is_last = ask == len(asking_cells)
        cell = np.int64(0) if is_last else asking_cells[ask]
        while entered < len(coming_cells) and (is_last or coming_cells[entered] <= cell):
            group = coming_groups[entered]
            free = step_off(places, nodes, free, group, coming_cells[entered])
            free, same = climb(
                places, nodes, free, group, coming_keys[entered], coming_ends[entered], coming_constants[entered],
                floats,
            )  # fmt: skip
            tied = tied or same
            entered += 1
        if not is_last:
            group = asking_groups[ask]
            free = step_off(places, nodes, free, group, cell)
            top = places[group, TOP]
            found_keys[ask], found_constants[ask] = 0, EMPTY_GROUP
            if top >= 0:
                found_keys[ask], found_constants[ask] = nodes[top, KEY], nodes[top, CONSTANT]
    return free, tied


@uncounted
def leave(places, nodes, free, cell):  # type: ignore[no-untyped-def]
    """Leaves the steps of all staircases that ended before a cell; gives the first free node, and how many are not."""
    used = 0
    for place in range(len(places)):
        free = step_off(places, nodes, free, place, cell)
        node = places[place, TOP]
        while node >= 0:
            used += 1
            node = nodes[node, NEXT]
    return free, used


@uncounted
def first_asked(cells, groups, latest, found):  # type: ignore[no-untyped-def]
    """Which questions, in the order of their cells, are the first about their group there; `latest` is the cell of each
    group's last one."""
    for ask in range(len(cells)):
        group = groups[ask]
        found[ask] = latest[group] != cells[ask]
        latest[group] = cells[ask]
