"""Individuals go through many steps: what arrives for each, who has to be looked at, what comes of it.

A step is worked out first and taken then: where something is not known yet, or there is no room, nothing of it has
happened, and the walk goes on from there once that is mended. What is given is made of the tuples of
`presage.kernels.course_arrays`.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import uncounted
from presage.kernels.course_arrays import (
    BEFORE,
    BITS,
    FREE,
    LINES,
    MARK,
    NEEDED,
    NO_VARIANT,
    NOW,
    PLACE,
    STEP,
    TAKEN,
    THEN,
    TOLD,
    begin_answer,
    clear,
    end_answer,
    has_room_for,
    let_go,
    next_wake,
    variant_of,
    will_wait,
)
from presage.kernels.courses import (
    ALONE,
    ANCHORS,
    BEGINS,
    FORGET,
    NEVER,
    RUNS,
    SHAPE,
    TELLS,
    TIMES,
    VALUES,
    WAKE,
    moment,
    outcome_of,
)
from presage.kernels.wakes import NONE, WAITING_TIMES, first_link, give_back, take_earliest, wait

# Why a walk stops.
DONE, UNKNOWN, MANY, HIDDEN, BESIDE, ROWS_FULL, TOLD_FULL, CHAINS_FULL, ROOM_FULL = range(9)


@uncounted
def walk(coming, people, known, wakes, forgets, room, told, stands, until, by_itself, beside, always, most, splits):  # type: ignore[no-untyped-def]
    """Takes the steps at which something arrives and, where `by_itself`, those at which somebody has to be looked at,
    up to a time. It stops after each step at the time `beside`, at which facts come for those who go by themselves,
    or `always`."""
    while True:
        step = stands[STEP]
        now = coming.steps[step] if step < len(coming.steps) else NEVER
        if by_itself:
            now = min(now, beside, next_wake(people.wakes, wakes))
        if now > until:
            return DONE
        stands[NOW] = now
        arrives = step < len(coming.steps) and coming.steps[step] == now
        first = coming.begins[step] if arrives else 0
        last = coming.begins[step + 1] if arrives else 0
        _forget_over(people, forgets, stands, now)
        if not _are_together(people.wakes, wakes, now):
            stands[NEEDED] = 1
            return CHAINS_FULL
        code, count, has_direct = _gather(coming, people, known, wakes, room, stands, first, last, now, most)
        if code == DONE:
            code = _look(people, known, room, stands, count, now, splits)
        if code == DONE:
            code = _find_room(known, wakes, forgets, room, told, stands, count)
        if code != DONE:
            return code
        _end_waiting(wakes, now)
        _take(people, known, wakes, forgets, room, told, stands, count)
        stands[TAKEN] += count
        stands[BEFORE], stands[THEN] = stands[THEN], now
        if arrives:
            stands[STEP] = step + 1
        if has_direct or always or now >= beside:
            return BESIDE


@uncounted
def _end_waiting(chains, now):  # type: ignore[no-untyped-def]
    if chains.waiting[WAITING_TIMES] > 0 and chains.heap[0] == now:
        let_go(chains)


@uncounted
def _are_together(when, chains, now):  # type: ignore[no-untyped-def]
    """Who had to be looked at before is looked at now; whether there was room for that."""
    while chains.waiting[WAITING_TIMES] > 0 and chains.heap[0] < now:
        if not has_room_for(chains, 1):
            return False
        time = chains.heap[0]
        link = take_earliest(chains.times, chains.heads, chains.heap, chains.waiting)
        while link != NONE:
            row = chains.links[link, 0]
            after = give_back(chains.links, chains.waiting, link)
            if when[row] == time:
                when[row] = now
                wait(chains.times, chains.heads, chains.heap, chains.links, chains.waiting, row, now)
            link = after
    return True


@uncounted
def _forget_over(people, chains, stands, now):  # type: ignore[no-untyped-def]
    """Forgets those that are over by now."""
    while chains.waiting[WAITING_TIMES] > 0 and chains.heap[0] <= now:
        time = chains.heap[0]
        link = first_link(chains.times, chains.heads, time)
        while link != NONE:
            row = chains.links[link, 0]
            if people.forgets[row] == time:
                people.shapes[row] = 0
                people.forgets[row] = NEVER
                if people.owner[row] >= 0:
                    stands[FREE] = end_answer(people, row, stands[FREE])
            link = chains.links[link, 1]
        let_go(chains)


@uncounted
def _gather(coming, people, known, wakes, room, stands, first, last, now, most):  # type: ignore[no-untyped-def]
    """Whoever something happens to, and what arrives for each: facts in an order, then the static facts it has."""
    stands[MARK] += 1
    mark = stands[MARK]
    count = 0
    has_direct = False
    width = people.static_kinds.shape[1]
    if last - first > len(room.rows):
        stands[NEEDED] = last - first
        return ROOM_FULL, 0, False
    for fact in range(first, last):
        row = coming.rows[fact]
        if people.is_direct[row]:
            has_direct = True
        elif people.marks[row] == mark:
            room.ends[people.places[row]] += 1
        else:
            people.marks[row] = mark
            people.places[row] = count
            room.rows[count] = row
            room.ends[count] = 1
            count += 1
    used = 0
    for place in range(count):
        size = room.ends[place]
        if size > most:
            stands[PLACE] = place
            return MANY, 0, False
        if used + size + width > len(room.kinds):
            stands[NEEDED] = used + size + width
            return ROOM_FULL, 0, False
        room.begins[place] = room.ends[place] = used
        used += size + width
    for fact in range(first, last):
        row = coming.rows[fact]
        if not people.is_direct[row]:
            place = people.places[row]
            _insert(coming, room, room.begins[place], room.ends[place], fact)
            room.ends[place] += 1
    if width:
        for place in range(count):
            room.ends[place] = _add_static(people, room, room.rows[place], room.ends[place])
    keys = count
    for place in range(keys):
        row = people.first[room.rows[place]]
        if row >= 0:
            arrived = np.int64(0)
            for index in range(room.begins[place], room.ends[place]):
                arrived |= np.int64(1) << np.int64(min(room.kinds[index], 62))
            while row >= 0:
                if known.hears[people.shapes[row]] & arrived:
                    if count == len(room.rows):
                        stands[NEEDED] = count + 1
                        return ROOM_FULL, 0, False
                    people.marks[row] = mark
                    room.rows[count] = row
                    room.begins[count], room.ends[count] = room.begins[place], room.ends[place]
                    count += 1
                row = people.next[row]
    if wakes.waiting[WAITING_TIMES] > 0 and wakes.heap[0] == now:
        link = first_link(wakes.times, wakes.heads, now)
        while link != NONE:
            row = wakes.links[link, 0]
            if people.wakes[row] == now and people.marks[row] != mark and people.shapes[row] != 0:
                if count == len(room.rows) or used + width > len(room.kinds):
                    stands[NEEDED] = max(count + 1, used + width)
                    return ROOM_FULL, 0, False
                people.marks[row] = mark
                room.rows[count] = row
                room.begins[count] = used
                used = _add_static(people, room, row, used)
                room.ends[count] = used
                count += 1
            link = wakes.links[link, 1]
    return DONE, count, has_direct


@uncounted
def _add_static(people, room, row, used):  # type: ignore[no-untyped-def]
    """The static facts of somebody arrive; how many arrivals there are then."""
    for place in range(people.static_kinds.shape[1]):
        if people.static_kinds[row, place] >= 0:
            room.kinds[used] = people.static_kinds[row, place]
            room.times[used] = 0
            for column in range(people.static_values.shape[2]):
                room.given[used, column] = people.static_values[row, place, column]
                room.numbers[used, column] = people.static_numbers[row, place, column]
            used += 1
    return used


@uncounted
def _insert(coming, room, begin, end, fact):  # type: ignore[no-untyped-def]
    """Puts a fact among those that arrive with it for somebody: by kind, time and values, numbers in their order."""
    kind, time = coming.kinds[fact], coming.times[fact]
    width = coming.given.shape[1]
    at = end
    while at > begin:
        comes_before = kind < room.kinds[at - 1]
        if kind == room.kinds[at - 1]:
            comes_before = time < room.times[at - 1]
            if time == room.times[at - 1]:
                for column in range(width):
                    if coming.numbers[fact, column] != room.numbers[at - 1, column]:
                        comes_before = coming.numbers[fact, column] < room.numbers[at - 1, column]
                        break
                    if coming.given[fact, column] != room.given[at - 1, column]:
                        comes_before = coming.given[fact, column] < room.given[at - 1, column]
                        break
        if not comes_before:
            break
        room.kinds[at], room.times[at] = room.kinds[at - 1], room.times[at - 1]
        for column in range(width):
            room.given[at, column] = room.given[at - 1, column]
            room.numbers[at, column] = room.numbers[at - 1, column]
        at -= 1
    room.kinds[at], room.times[at] = kind, time
    for column in range(width):
        room.given[at, column] = coming.given[fact, column]
        room.numbers[at, column] = coming.numbers[fact, column]


@uncounted
def _look(people, known, room, stands, count, now, splits):  # type: ignore[no-untyped-def]
    """Which outcome everybody's step has."""
    then = stands[THEN]
    for place in range(count):
        row, begin, end = room.rows[place], room.begins[place], room.ends[place]
        shape = people.shapes[row]
        own, width = known.shape_values[shape], room.given.shape[1]
        wide = known.shape_times[shape] + own + 2 + (end - begin) * (1 + width)
        if wide > room.vectors.shape[1] or own + (end - begin) * width > room.brought.shape[1]:
            stands[NEEDED] = 0
            return ROOM_FULL
        outcome = outcome_of(
            row, room.kinds, room.times, room.given, room.numbers, begin, end,
            known.payloads, people.shapes, people.times, people.values, people.numbers, people.keys,
            known.shape_times, known.shape_values, known.slots, known.transitions, known.sequences,
            known.outcomes, known.programs, then, now, room.vectors[place], room.brought[place], room.sequence,
        )  # fmt: skip
        if outcome < 0:
            stands[PLACE] = place
            return UNKNOWN
        if splits and people.first[row] >= 0:
            bits = _hidden(people, known, room, row, outcome, place)
            if bits:
                variant = variant_of(known.variants, outcome, bits)
                if variant == NO_VARIANT:
                    stands[PLACE], stands[BITS] = outcome, bits
                    return HIDDEN
                outcome = variant
        room.found[place] = outcome
    return DONE


@uncounted
def _hidden(people, known, room, owner, outcome, place):  # type: ignore[no-untyped-def]
    """Which of the answers that somebody's outcome speaks of go on by themselves, as bits: they know better."""
    position = known.outcomes[outcome, ANCHORS]
    count = known.programs[position]
    position += 1
    bits = np.int64(0)
    for index in range(count):
        at_time = moment(known.programs, position + 1, room.vectors[place])
        row = people.first[owner]
        while row >= 0:
            if people.anchors[row] == at_time and people.asked[row] == known.programs[position]:
                bits |= np.int64(1) << np.int64(index)
                break
            row = people.next[row]
        position += 4
    return bits


@uncounted
def _find_room(known, wakes, forgets, room, told, stands, count):  # type: ignore[no-untyped-def]
    """Whether there is room for what comes of a step."""
    tells = 0
    begins = 0
    for place in range(count):
        outcome = room.found[place]
        tells += known.outcomes[outcome, TELLS] > 0
        begins += known.programs[known.outcomes[outcome, BEGINS]]
    if stands[TOLD] + tells > len(told.outcomes):
        stands[NEEDED] = stands[TOLD] + tells
        return TOLD_FULL
    if begins > stands[FREE]:
        stands[NEEDED] = begins
        return ROWS_FULL
    if not has_room_for(wakes, count + begins) or not has_room_for(forgets, count + begins):
        stands[NEEDED] = count + begins
        return CHAINS_FULL
    return DONE


@uncounted
def _take(people, known, wakes, forgets, room, told, stands, count):  # type: ignore[no-untyped-def]
    """Takes a step."""
    programs = known.programs
    for place in range(count):
        row, outcome = room.rows[place], room.found[place]
        vector, brought = room.vectors[place], room.brought[place]
        shape = people.shapes[row]
        size, own = known.shape_times[shape], known.shape_values[shape]
        fresh = size + own + 2 + room.ends[place] - room.begins[place]
        position = known.outcomes[outcome, TIMES]
        for column in range(programs[position]):
            people.times[row, column] = vector[programs[position + 1]] + programs[position + 2]
            position += 2
        position = known.outcomes[outcome, VALUES]
        for column in range(programs[position]):
            which = programs[position + 1 + column]
            people.values[row, column] = brought[which]
            people.numbers[row, column] = vector[size + which] if which < own else vector[fresh + which - own]
        people.shapes[row] = known.outcomes[outcome, SHAPE]
        will_wait(people.wakes, wakes, row, moment(programs, known.outcomes[outcome, WAKE], vector), stands[NOW])
        will_wait(people.forgets, forgets, row, moment(programs, known.outcomes[outcome, FORGET], vector), stands[NOW])
        tells = known.outcomes[outcome, TELLS]
        if tells:
            at = stands[TOLD]
            told.outcomes[at], told.now[at] = outcome, stands[NOW]
            for column in range(min(told.vectors.shape[1], len(vector))):
                told.vectors[at, column] = vector[column]
            for column in range(min(told.brought.shape[1], len(brought))):
                told.brought[at, column] = brought[column]
            for column in range(people.keys.shape[1]):
                told.keys[at, column] = people.keys[row, column]
            stands[TOLD] = at + 1
            stands[LINES] += _lines_of(known, outcome, vector)
        if people.owner[row] < 0:
            _begin(people, known, wakes, forgets, stands, row, known.outcomes[outcome, BEGINS], vector, brought)
    for place in range(count):
        row = room.rows[place]
        if people.owner[row] >= 0 and people.shapes[row] == 0:
            stands[FREE] = end_answer(people, row, stands[FREE])


@uncounted
def _lines_of(known, outcome, vector):  # type: ignore[no-untyped-def]
    """How many lines an outcome has: some have one for each time between two."""
    lines = known.outcomes[outcome, ALONE]
    position = known.outcomes[outcome, RUNS]
    count = known.programs[position]
    position += 1
    for _ in range(count):
        lines += moment(known.programs, position + 3, vector) - moment(known.programs, position, vector)
        position += 6
    return lines


@uncounted
def _begin(people, known, wakes, forgets, stands, owner, position, vector, brought):  # type: ignore[no-untyped-def]
    """Answers of somebody begin to go on by themselves."""
    programs = known.programs
    count = programs[position]
    position += 1
    for _ in range(count):
        stands[FREE] -= 1
        row = people.free[stands[FREE]]
        clear(people, row)
        people.shapes[row], people.asked[row] = programs[position], programs[position + 1]
        people.anchors[row] = moment(programs, position + 2, vector)
        wake = moment(programs, position + 5, vector)
        forget = moment(programs, position + 8, vector)
        position += 11
        size = programs[position]
        position += 1
        for column in range(size):
            people.times[row, column] = vector[programs[position]] + programs[position + 1]
            position += 2
        size = programs[position]
        position += 1
        for column in range(size):
            people.values[row, column] = brought[programs[position]]
            people.numbers[row, column] = vector[programs[position + 1]]
            position += 2
        begin_answer(people, row, owner)
        will_wait(people.wakes, wakes, row, wake, stands[NOW])
        will_wait(people.forgets, forgets, row, forget, stands[NOW])
