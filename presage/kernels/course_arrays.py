"""What individuals are made of, as tuples of arrays that kernels take; who waits for which time, and who is done.

`presage.kernels.course_steps` takes their steps; what an outcome asks and does is flat (`presage.kernels.courses`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from presage.kernels.compiling import uncounted
from presage.kernels.courses import NEVER
from presage.kernels.hashing import scatter
from presage.kernels.wakes import NONE, WAITING_LINKS, WAITING_TIMES, first_link, give_back, take_earliest, wait

# Where a walk stands: the next step of what comes, the last time at which a step was taken, the one before it and the
# one at which it stopped, how much is told, the mark of the step, how many rows are free, how many steps of individuals
# were taken, whose step it stopped at, what is hidden of it, how much room is needed, and the lines that are told.
STEP, THEN, BEFORE, NOW, TOLD, MARK, FREE, TAKEN, PLACE, BITS, NEEDED, LINES, STANDS = range(13)
NO_VARIANT = -1


class ComingFacts(NamedTuple):
    """Facts in the order of steps, with where those of each step begin: of whom, of which kind, of when, and their
    values, also as numbers."""

    steps: Any
    begins: Any
    rows: Any
    kinds: Any
    times: Any
    given: Any
    numbers: Any


class People(NamedTuple):
    """Individuals; `free` has rows that are nobody's, `places` is for a step's own use."""

    shapes: Any
    times: Any
    values: Any
    numbers: Any
    wakes: Any
    forgets: Any
    keys: Any
    marks: Any
    places: Any
    is_direct: Any
    owner: Any
    first: Any
    next: Any
    before: Any
    anchors: Any
    asked: Any
    static_kinds: Any
    static_values: Any
    static_numbers: Any
    free: Any


class KnownSteps(NamedTuple):
    """What is known of what happens to whom: see `presage.kernels.courses`."""

    payloads: Any
    shape_times: Any
    shape_values: Any
    hears: Any
    slots: Any
    transitions: Any
    sequences: Any
    outcomes: Any
    programs: Any
    variants: Any


class Chains(NamedTuple):
    """Rows that wait: see `presage.kernels.wakes`."""

    times: Any
    heads: Any
    heap: Any
    links: Any
    waiting: Any


class Room(NamedTuple):
    """Of one step: who is touched, with where the arrivals of each begin and end, which outcome it has and of what
    that was made; the arrivals, static facts among them; and a transition."""

    rows: Any
    begins: Any
    ends: Any
    found: Any
    vectors: Any
    brought: Any
    kinds: Any
    times: Any
    given: Any
    numbers: Any
    sequence: Any


class Telling(NamedTuple):
    """What is told: by which outcomes, of what it was made, about which keys, and when."""

    outcomes: Any
    vectors: Any
    brought: Any
    keys: Any
    now: Any


@uncounted
def next_wake(when, chains):  # type: ignore[no-untyped-def]
    """The next time at which somebody has to be looked at; times at which nobody has any more are forgotten."""
    while chains.waiting[WAITING_TIMES] > 0:
        time = chains.heap[0]
        link = first_link(chains.times, chains.heads, time)
        while link != NONE:
            if when[chains.links[link, 0]] == time:
                return time
            link = chains.links[link, 1]
        let_go(chains)
    return NEVER


@uncounted
def let_go(chains):  # type: ignore[no-untyped-def]
    """Forgets the earliest time, and that somebody waits for it."""
    link = take_earliest(chains.times, chains.heads, chains.heap, chains.waiting)
    while link != NONE:
        link = give_back(chains.links, chains.waiting, link)


@uncounted
def has_room_for(chains, count):  # type: ignore[no-untyped-def]
    """Whether so many more may wait."""
    more_times = chains.waiting[WAITING_TIMES] + count <= len(chains.heap)
    return more_times and chains.waiting[WAITING_LINKS] + count <= len(chains.links)


@uncounted
def wait_for(chains, rows, when):  # type: ignore[no-untyped-def]
    """Lets rows wait, each for its time; there must be room."""
    for place in range(len(rows)):
        if when[rows[place]] != NEVER:
            wait(chains.times, chains.heads, chains.heap, chains.links, chains.waiting, rows[place], when[rows[place]])


@uncounted
def will_wait(when, chains, row, time, now):  # type: ignore[no-untyped-def]
    if time != NEVER and (when[row] != time or time <= now):
        wait(chains.times, chains.heads, chains.heap, chains.links, chains.waiting, row, time)
    when[row] = time


@uncounted
def begin_answer(people, row, owner):  # type: ignore[no-untyped-def]
    """Gives an answer to its owner, whose key and static facts it has."""
    for column in range(people.keys.shape[1]):
        people.keys[row, column] = people.keys[owner, column]
    for place in range(people.static_kinds.shape[1]):
        people.static_kinds[row, place] = people.static_kinds[owner, place]
        for column in range(people.static_values.shape[2]):
            people.static_values[row, place, column] = people.static_values[owner, place, column]
            people.static_numbers[row, place, column] = people.static_numbers[owner, place, column]
    after = people.first[owner]
    people.owner[row], people.next[row], people.before[row] = owner, after, -1
    if after >= 0:
        people.before[after] = row
    people.first[owner] = row


@uncounted
def end_answer(people, row, free_count):  # type: ignore[no-untyped-def]
    """Forgets an answer; its row is nobody's then. How many such rows there are."""
    before, after = people.before[row], people.next[row]
    if before >= 0:
        people.next[before] = after
    else:
        people.first[people.owner[row]] = after
    if after >= 0:
        people.before[after] = before
    clear(people, row)
    people.free[free_count] = row
    return free_count + 1


@uncounted
def clear(people, row):  # type: ignore[no-untyped-def]
    people.shapes[row] = 0
    people.wakes[row] = people.forgets[row] = NEVER
    people.first[row] = people.next[row] = people.before[row] = people.owner[row] = -1
    people.is_direct[row] = False


@uncounted
def variant_of(variants, outcome, bits):  # type: ignore[no-untyped-def]
    """The outcome without some of its answers, if it is known."""
    mask = len(variants) - 1
    at = np.int64(scatter(np.uint64(outcome) ^ scatter(np.uint64(bits))) & np.uint64(mask))
    while variants[at, 0] >= 0:
        if variants[at, 0] == outcome and variants[at, 1] == bits:
            return variants[at, 2]
        at = (at + 1) & mask
    return np.int64(NO_VARIANT)


@uncounted
def add_variant(variants, outcome, bits, variant):  # type: ignore[no-untyped-def]
    mask = len(variants) - 1
    at = np.int64(scatter(np.uint64(outcome) ^ scatter(np.uint64(bits))) & np.uint64(mask))
    while variants[at, 0] >= 0:
        at = (at + 1) & mask
    variants[at, 0], variants[at, 1], variants[at, 2] = outcome, bits, variant
