"""Individuals take their steps: each finds the transition for what arrives, and of its outcomes the one whose
conditions it meets.

An individual is a row of `shapes`, `times`, `values`, `numbers` (what its values are as numbers), `wakes` and `keys`. A
transition is known by a sequence of small integers: the shape, and for each arrival its kind and which of the
individual's values it has. Its outcomes are a chain. What an outcome asks and does is flat: `programs`, with the places
where each part begins in `outcomes`.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel, uncounted
from presage.kernels.hashing import EMPTY, scatter

# What `found` says of an individual that took no step, because it needs one that is not known yet.
UNKNOWN_TRANSITION, NO_OUTCOME = -1, -2
# Columns of `outcomes`.
NEXT, SHAPE, CONDITIONS, TIMES, VALUES, WAKE, TELLS, ALONE, RUNS, FORGET, ANCHORS, BEGINS, HITS, COLUMNS = range(14)
NEVER = np.iinfo(np.int64).max
LEAST_NAME, NAMES_END = -(1 << 62), -(1 << 61)
"""Between them lie names as numbers, where their order matters; otherwise they are `NEVER`."""
FRESH_KEY = 1 << 20
"""Codes of values that are a part of the key begin here."""


@inlined
def _code_of(keys, row, width):  # type: ignore[no-untyped-def]
    code = np.uint64(1469598103934665603)
    for column in range(width):
        code = scatter(code ^ np.uint64(keys[row, column]))
    return np.int64(code & np.uint64(0x7FFFFFFF))


@kernel
def rehash(slots, keys, used, size):  # type: ignore[no-untyped-def]
    """Fills the hash of keys from the individuals in use."""
    slots[:] = EMPTY
    mask = len(slots) - 1
    for row in range(size):
        if used[row]:
            at = _code_of(keys, row, keys.shape[1]) & mask
            while slots[at] != EMPTY:
                at = (at + 1) & mask
            slots[at] = row


@kernel
def _slot_of(slots, keys, wanted, place):  # type: ignore[no-untyped-def]
    """The slot of the individual with a key, or the empty one that it would get."""
    mask = len(slots) - 1
    width = keys.shape[1]
    at = _code_of(wanted, place, width) & mask
    while slots[at] != EMPTY:
        row = slots[at]
        same = True
        for column in range(width):
            if keys[row, column] != wanted[place, column]:
                same = False
                break
        if same:
            break
        at = (at + 1) & mask
    return at


@kernel
def find_rows(slots, keys, wanted, found):  # type: ignore[no-untyped-def]
    """The individuals with the keys wanted; −1 where there is none."""
    for place in range(len(wanted)):
        found[place] = slots[_slot_of(slots, keys, wanted, place)]


@kernel
def add_rows(slots, keys, wanted, found, rows):  # type: ignore[no-untyped-def]
    """Gives those who are not known a row of `rows`; how many were given."""
    width = keys.shape[1]
    given = 0
    for place in range(len(wanted)):
        if found[place] >= 0:
            continue
        at = _slot_of(slots, keys, wanted, place)
        if slots[at] != EMPTY:
            found[place] = slots[at]
            continue
        row = rows[given]
        given += 1
        for column in range(width):
            keys[row, column] = wanted[place, column]
        slots[at] = row
        found[place] = row
    return given


@uncounted
def moment(programs, position, vector):  # type: ignore[no-untyped-def]
    """A moment of an outcome: never, fixed, or so much later than one of the numbers it was made of."""
    if programs[position] < 0:
        return NEVER
    if programs[position] == 0:
        return programs[position + 1]
    return programs[position + 1] + vector[programs[position + 2]]


@uncounted
def outcome_of(  # type: ignore[no-untyped-def]
    row,
    kinds,
    when,
    given,
    given_numbers,
    first,
    last,
    payloads,
    shapes,
    times,
    values,
    numbers,
    keys,
    shape_times,
    shape_values,
    slots,
    transitions,
    sequences,
    outcomes,
    programs,
    then,
    now,
    vector,
    had,
    sequence,
):
    """The outcome of an individual's step, with the arrivals between `first` and `last`, or why there is none; `vector`
    and `had` get the numbers and values that it is made of."""
    mask = len(slots) - 1
    shape = shapes[row]
    size, own = shape_times[shape], shape_values[shape]
    for column in range(size):
        vector[column] = times[row, column]
    for column in range(own):
        vector[size + column] = numbers[row, column]
        had[column] = values[row, column]
    vector[size + own] = then
    vector[size + own + 1] = now
    arrivals = size + own + 2
    fresh = arrivals + last - first
    known = own
    length = 1
    sequence[0] = shape
    for index in range(first, last):
        vector[arrivals + index - first] = when[index]
        kind = kinds[index]
        sequence[length] = kind
        length += 1
        for column in range(payloads[kind]):
            value = given[index, column]
            code = -1
            for key in range(keys.shape[1]):
                if keys[row, key] == value:
                    code = FRESH_KEY + key
            if code < 0:
                for other in range(known):
                    if had[other] == value:
                        code = other
                        break
            if code < 0:
                code = known
                had[known] = value
                vector[fresh + known - own] = given_numbers[index, column]
                known += 1
                # Of each new value it matters whether it is a number.
                as_number = given_numbers[index, column]
                code = code * 2 + (1 if as_number != NEVER and as_number >= NAMES_END else 0)
                code = -code - 2
            sequence[length] = code
            length += 1
    had[known:] = 0
    place_code = np.uint64(1469598103934665603)
    for index in range(length):
        place_code = scatter(place_code ^ np.uint64(sequence[index]))
    at = np.int64(place_code & np.uint64(0x7FFFFFFF)) & mask
    outcome = np.int64(UNKNOWN_TRANSITION)
    transition = np.int64(-1)
    while slots[at] != EMPTY:
        transition = slots[at]
        begin = transitions[transition, 0]
        if transitions[transition, 1] == length:
            same = True
            for index in range(length):
                if sequences[begin + index] != sequence[index]:
                    same = False
                    break
            if same:
                outcome = transitions[transition, 2]
                if outcome < 0:
                    outcome = np.int64(NO_OUTCOME)
                break
        at = (at + 1) & mask
    earlier = previous = np.int64(-1)
    while outcome >= 0:
        position = outcomes[outcome, CONDITIONS]
        count = programs[position]
        position += 1
        meets = True
        for _ in range(count):
            differs = programs[position]
            total = programs[position + 1]
            terms = programs[position + 2]
            position += 3
            for _term in range(terms):
                total += programs[position] * vector[programs[position + 1]]
                position += 2
            if total == 0 if differs else total > 0:
                meets = False
                break
        if meets:
            outcomes[outcome, HITS] += 1
            if previous >= 0 and outcomes[outcome, HITS] > outcomes[previous, HITS]:
                _swap(transitions, outcomes, transition, earlier, previous, outcome)
            break
        earlier, previous = previous, outcome
        outcome = outcomes[outcome, NEXT]
        if outcome < 0:
            outcome = np.int64(NO_OUTCOME)
    return outcome


@uncounted
def _swap(transitions, outcomes, transition, earlier, previous, outcome):  # type: ignore[no-untyped-def]
    """What is taken more often is asked first: two outcomes of a transition change places."""
    outcomes[previous, NEXT] = outcomes[outcome, NEXT]
    outcomes[outcome, NEXT] = previous
    if earlier >= 0:
        outcomes[earlier, NEXT] = outcome
    else:
        transitions[transition, 2] = outcome


@kernel
def place_of(sequence):  # type: ignore[no-untyped-def]
    """Where a transition belongs."""
    code = np.uint64(1469598103934665603)
    for index in range(len(sequence)):
        code = scatter(code ^ np.uint64(sequence[index]))
    return np.int64(code & np.uint64(0x7FFFFFFF))
