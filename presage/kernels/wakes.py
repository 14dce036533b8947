"""Rows that wait for a time: chains of them by time, and the times in a heap.

Arrays:

* `times`, `heads`: an open-addressing hash from times to the first link of their chain; `NO_TIME` where nothing is
* `heap`: the times that have a chain, the earliest first
* `links`: rows (row that waits, following link); those not in use are chained from `WAITING_FREE`
* `waiting`: see the constants below

A row may be in several chains. Who is woken looks whether that is still wanted.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, uncounted
from presage.kernels.hashing import scatter

WAITING_TIMES, WAITING_LINKS, WAITING_FREE, WAITING_FIELDS = range(4)
NO_TIME = -1
NONE = -1


@inlined
def _home(time, mask):  # type: ignore[no-untyped-def]
    return np.int64(scatter(np.uint64(time)) & np.uint64(mask))


@inlined
def has_room(heap, links, waiting):  # type: ignore[no-untyped-def]
    """Whether one more row can wait."""
    return waiting[WAITING_TIMES] < len(heap) and (waiting[WAITING_FREE] != NONE or waiting[WAITING_LINKS] < len(links))


@uncounted
def wait(times, heads, heap, links, waiting, row, time):  # type: ignore[no-untyped-def]
    """Lets a row wait for a time; there must be room."""
    mask = len(times) - 1
    at = _home(time, mask)
    while times[at] != NO_TIME and times[at] != time:
        at = (at + 1) & mask
    if times[at] == NO_TIME:
        times[at], heads[at] = time, NONE
        place = waiting[WAITING_TIMES]
        waiting[WAITING_TIMES] += 1
        while place > 0:
            above = (place - 1) >> 1
            if heap[above] <= time:
                break
            heap[place] = heap[above]
            place = above
        heap[place] = time
    link = waiting[WAITING_FREE]
    if link != NONE:
        waiting[WAITING_FREE] = links[link, 1]
    else:
        link = waiting[WAITING_LINKS]
        waiting[WAITING_LINKS] += 1
    links[link, 0], links[link, 1] = row, heads[at]
    heads[at] = link


@uncounted
def take_earliest(times, heads, heap, waiting):  # type: ignore[no-untyped-def]
    """Takes the earliest time out; gives the first link of its chain, which the caller gives back."""
    time = heap[0]
    waiting[WAITING_TIMES] -= 1
    count = waiting[WAITING_TIMES]
    last, place = heap[count], 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= last:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last
    mask = len(times) - 1
    hole = _home(time, mask)
    while times[hole] != time:
        hole = (hole + 1) & mask
    link = np.int64(heads[hole])
    # What lies behind moves up, unless it would come to lie before its own place.
    at = (hole + 1) & mask
    while times[at] != NO_TIME:
        if ((at - _home(times[at], mask)) & mask) >= ((at - hole) & mask):
            times[hole], heads[hole] = times[at], heads[at]
            hole = at
        at = (at + 1) & mask
    times[hole] = NO_TIME
    return link


@uncounted
def first_link(times, heads, time):  # type: ignore[no-untyped-def]
    """The first link of a time's chain, which stays; `NONE` where nobody waits for it."""
    mask = len(times) - 1
    at = _home(time, mask)
    while times[at] != time:
        if times[at] == NO_TIME:
            return np.int64(NONE)
        at = (at + 1) & mask
    return np.int64(heads[at])


@inlined
def give_back(links, waiting, link):  # type: ignore[no-untyped-def]
    """Gives back a link of a chain that was taken out; the one that follows."""
    after = np.int64(links[link, 1])
    links[link, 1] = waiting[WAITING_FREE]
    waiting[WAITING_FREE] = link
    return after
