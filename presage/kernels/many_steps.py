"""Many steps in one call: what arrives at each of them is inserted, worked off, told and forgotten, without leaving.

A step of few facts costs little here and much in the calls around it. The arrays of a stretch:

* `cells`: the time of each step, as a cell
* `parts`: what arrives, for each table that gains: its number, the addresses of its tuples and of their cells
* `begins[part, step]`: where the facts of each step begin, with one more for the end of the last
* `told`: for each relation that somebody watches its number, how much room there is, how much is used, and the
  addresses of step, row, tuple, beginning and end of what was new
* `at`: where the stretch stands, so that it goes on after room was made, or something was done outside
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel
from presage.kernels.driver import DONE, TABLE_FULL, run
from presage.kernels.fields import (
    COLUMNS,
    INDEXES,
    LOG,
    LOG_HIGH,
    LOG_LOW,
    LOG_ROW,
    TABLE_BYTES,
    TABLES,
    WIDTH,
    get,
    get32,
    put,
    put32,
)
from presage.kernels.forgetting import forget, forget_news
from presage.kernels.tables import insert

# Where a stretch stands. `LONG` is a table whose log is longer than it need be, or -1.
STEP, PHASE, PART, TAKEN, COMPONENT, LONG, PLACES = range(7)
INSERTING, WORKING, TELLING = range(3)
# What arrives in a table.
NUMBER, TUPLES_AT, CELLS_AT, PART_FIELDS = range(4)
# What is told of a table.
WATCHED, ROOM, USED, STEPS_AT, ROWS_AT, TOLD_AT, LOWS_AT, HIGHS_AT, TOLD_FIELDS = range(9)

TOLD_FULL = 4
"""How a run may end beside the ways of the driver: there is no room for what is told."""


@kernel
def take_steps(work, at, cells, parts, begins, told, keeps, components, seen, triggers, apart):  # type: ignore[no-untyped-def]
    """Takes the steps from where the stretch stands. Gives how it ended, and then which table, trigger or relation
    it is about, and for how many more there must be room."""
    tables = get(work, TABLES)
    cutoffs = np.empty_like(keeps)
    while at[STEP] < len(cells):
        step = at[STEP]
        if at[PHASE] == INSERTING:
            while at[PART] < len(parts):
                part = at[PART]
                begin, end = max(at[TAKEN], begins[part, step]), begins[part, step + 1]
                if begin < end:
                    number, given = parts[part, NUMBER], parts[part, CELLS_AT]
                    table = tables + number * TABLE_BYTES
                    done = insert(table, get(work, INDEXES), parts[part, TUPLES_AT], given, given, begin, end)
                    at[TAKEN] = done
                    if done < end:
                        return TABLE_FULL, number, end - done
                at[PART] += 1
                at[TAKEN] = 0
            at[PHASE] = WORKING
            at[COMPONENT] = 0
        if at[PHASE] == WORKING:
            ended, component, number, more = run(work, at[COMPONENT], components)
            at[COMPONENT] = component
            if ended != DONE:
                return ended, number, more
            at[PHASE] = TELLING
            at[PART] = 0
        while at[PART] < len(told):
            part = at[PART]
            table = tables + told[part, WATCHED] * TABLE_BYTES
            count, used = get(table, LOG), told[part, USED]
            if used + count > told[part, ROOM]:
                return TOLD_FULL, part, count
            _tell(table, told, part, step, used, count)
            told[part, USED] = used + count
            at[PART] += 1
        longest = forget_news(tables, len(keeps), seen, triggers, apart)
        if longest >= 0:
            at[LONG] = longest
        for number in range(len(keeps)):
            cutoffs[number] = cells[step] - keeps[number]
        forget(tables, get(work, INDEXES), cutoffs)
        at[STEP] += 1
        at[PHASE] = INSERTING
        at[PART] = 0
    return DONE, 0, 0


@kernel
def _tell(table, told, part, step, used, count):  # type: ignore[no-untyped-def]
    """Copies what is new in a table."""
    columns, width = get(table, COLUMNS), get(table, WIDTH)
    log_row, log_low, log_high = get(table, LOG_ROW), get(table, LOG_LOW), get(table, LOG_HIGH)
    steps, rows, tuples = told[part, STEPS_AT], told[part, ROWS_AT], told[part, TOLD_AT]
    lows, highs = told[part, LOWS_AT], told[part, HIGHS_AT]
    for index in range(count):
        row = get32(log_row, index)
        place = used + index
        put32(steps, place, step)
        put32(rows, place, row)
        for column in range(width):
            put32(tuples, place * width + column, get32(columns, row * width + column))
        put(lows, place, get(log_low, index))
        put(highs, place, get(log_high, index))
