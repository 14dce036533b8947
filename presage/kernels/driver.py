"""The work of a step: every new piece goes to what reads it, until nothing is new.

A trigger is a table whose new pieces give something for another: through the tree of some joins, or by an operator. It
remembers how much of its log it has seen. The triggers of a component take turns until all have seen everything.
"""

from __future__ import annotations

from presage.kernels.compiling import kernel
from presage.kernels.fields import (
    COLUMNS,
    HIGHS,
    INDEXES,
    LOG,
    LOG_HIGH,
    LOG_LOW,
    LOWS,
    STARTS,
    TABLE_BYTES,
    TABLES,
    TRIGGERS,
    TUPLES,
    get,
    put,
)
from presage.kernels.joins import match
from presage.kernels.spreading import hop, shrink, since_left, since_right
from presage.kernels.tables import insert

# A trigger. `HEAD` is the table that gains, or `ELSEWHERE` where what is found is worked on outside.
(
    KIND, SOURCE, HEAD, SEEN, ROOT, OTHER, INDEX, SPEC, NEAR, FAR_OFF, OPEN_NEAR, OPEN_FAR, GRID, AHEAD,
    CLIPS, TRIGGER_FIELDS,
) = range(16)  # fmt: skip
JOIN, SHRINK, SINCE_LEFT, SINCE_RIGHT, COPY, HOP = range(6)
# A join that gives to its head just what a table passes on to it is a COPY.
ELSEWHERE = -1
TRIGGER_BYTES = 8 * TRIGGER_FIELDS

# How a run ends.
DONE, TABLE_FULL, OUTPUT_FULL, OUTSIDE = range(4)


@kernel
def evaluate(work, trigger):  # type: ignore[no-untyped-def]
    """What the pieces that a trigger has not seen give, as far as there is room. Gives how far, and how much."""
    kind, begin = get(trigger, KIND), get(trigger, SEEN)
    source = get(work, TABLES) + get(trigger, SOURCE) * TABLE_BYTES
    end = get(source, LOG)
    if kind == JOIN:
        return match(work, source, get(trigger, ROOT), begin, end)
    near, far = get(trigger, NEAR), get(trigger, FAR_OFF)
    open_near, open_far = get(trigger, OPEN_NEAR) != 0, get(trigger, OPEN_FAR) != 0
    if kind == SHRINK:
        return shrink(work, source, begin, end, near, far, open_near, open_far, get(trigger, CLIPS) != 0)
    if kind == HOP:
        return hop(work, source, begin, end, far)
    other, spec = get(work, TABLES) + get(trigger, OTHER) * TABLE_BYTES, get(trigger, SPEC)
    grid, ahead = get(trigger, GRID), get(trigger, AHEAD) != 0
    if kind == SINCE_RIGHT:
        return since_right(work, source, other, spec, begin, end, near, far, open_near, open_far, grid, ahead)
    index = get(trigger, INDEX)
    return since_left(work, source, other, index, spec, begin, end, near, far, open_near, open_far, grid, ahead)


@kernel
def run(work, first, last):  # type: ignore[no-untyped-def]
    """Works off the components from `first` up to `last`. Gives how it ended, at which component, and there at which
    trigger or table; of a table also for how many more rows room is needed."""
    tables, starts = get(work, TABLES), get(work, STARTS)
    for component in range(first, last):
        begin, end = get(starts, component), get(starts, component + 1)
        busy = True
        while busy:
            busy = False
            outside = -1
            for number in range(begin, end):
                trigger = get(work, TRIGGERS) + number * TRIGGER_BYTES
                source = tables + get(trigger, SOURCE) * TABLE_BYTES
                if get(trigger, SEEN) == get(source, LOG):
                    continue
                if get(trigger, HEAD) == ELSEWHERE:
                    outside = number
                    continue
                busy = True
                head = tables + get(trigger, HEAD) * TABLE_BYTES
                if get(trigger, KIND) == COPY:
                    count = get(source, LOG)
                    done = insert(
                        head, get(work, INDEXES), get(source, COLUMNS), get(source, LOG_LOW), get(source, LOG_HIGH),
                        get(trigger, SEEN), count,
                    )  # fmt: skip
                    put(trigger, SEEN, done)
                    if done < count:
                        return TABLE_FULL, component, get(trigger, HEAD), count - done
                while get(trigger, SEEN) < get(source, LOG):
                    seen, count = evaluate(work, trigger)
                    if seen == get(trigger, SEEN):
                        return OUTPUT_FULL, component, number, 0
                    done = insert(
                        head, get(work, INDEXES), get(work, TUPLES), get(work, LOWS), get(work, HIGHS), 0, count
                    )
                    if done < count:
                        return TABLE_FULL, component, get(trigger, HEAD), count - done
                    put(trigger, SEEN, seen)
            if not busy and outside >= 0:
                return OUTSIDE, component, outside, 0
    return DONE, last, 0, 0
