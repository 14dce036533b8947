"""Many steps of the engine in one call, for plans that conclude nothing from absence.

What such a plan derives at a step hangs on the facts alone, and nothing wakes it but they: so compiled code takes the
steps itself (`kernels/many_steps.py`), and comes back only where room must be made or more than the kernels is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from presage.engine.relation import Delta, Relation
from presage.engine.runtime import IntervalEngine
from presage.kernels import driver, many_steps
from presage.kernels.arrays import Ints, Ints32
from presage.model.terms import Number

SOME = 4096


@dataclass(frozen=True, slots=True)
class Coming:
    """The facts of one predicate in the order of their steps: tuples, times, and where those of each step begin."""

    rows: Ints32
    times: Ints
    """As cells, where the engine's time is finer than whole numbers."""
    begins: Ints


@dataclass(frozen=True, slots=True)
class Additions:
    """What was new in a relation, and at which of the steps."""

    step: Ints32
    delta: Delta
    apart: bool = False
    """Whether no two pieces that are new at one step touch."""


@dataclass(slots=True)
class _Told:
    """Room for what is new in a relation that somebody watches."""

    relation: Relation
    entry: Ints
    arrays: dict[int, Any] = field(default_factory=dict)

    def make_room(self, more: int) -> None:
        used = int(self.entry[many_steps.USED])
        size = max(2 * used, used + more, SOME)
        kinds: list[tuple[int, Any, int]] = [
            (many_steps.STEPS_AT, np.int32, 1),
            (many_steps.ROWS_AT, np.int32, 1),
            (many_steps.TOLD_AT, np.int32, self.relation.width),
            (many_steps.LOWS_AT, np.int64, 1),
            (many_steps.HIGHS_AT, np.int64, 1),
        ]
        for place, kind, width in kinds:
            larger = np.empty(size * width, kind)
            if used:
                larger[: used * width] = self.arrays[place][: used * width]
            self.arrays[place] = larger
            self.entry[place] = larger.ctypes.data
        self.entry[many_steps.ROOM] = size

    def news(self) -> Additions | None:
        used = int(self.entry[many_steps.USED])
        if not used:
            return None
        width = self.relation.width
        rows, low, high = (
            self.arrays[place][:used] for place in (many_steps.ROWS_AT, many_steps.LOWS_AT, many_steps.HIGHS_AT)
        )
        tuples = self.arrays[many_steps.TOLD_AT][: used * width].reshape(-1, width)
        return Additions(self.arrays[many_steps.STEPS_AT][:used], Delta(rows, tuples, low, high))


def takes_many_steps(engine: IntervalEngine) -> bool:
    """Whether nothing but facts makes the engine conclude something: no absence, nothing that is put off or counted up
    to where it is final, and nothing invented, of which a step may have too much."""
    aggregates = engine.collecting.reached()
    return not (engine.negating or engine.ahead or engine.counting or aggregates or engine.inventor.is_needed)


def advance_through(engine: IntervalEngine, times: list[Number], facts: Mapping[str, Coming]) -> dict[str, Additions]:
    """Takes in what arrives at each of some times, which go forward; gives what is new in the watched relations."""
    if not times:
        return {}
    engine.make_ready([each.rows for each in facts.values()])
    engine.now = times[-1]
    cells = np.array([engine.cells(time) for time in times], np.int64)
    taken = [(engine.gaining(name), coming) for name, coming in facts.items() if len(coming.times)]
    parts = np.zeros((len(taken), many_steps.PART_FIELDS), np.int64)
    begins = np.zeros((len(taken), len(times) + 1), np.int64)
    held: list[Any] = []  # kept alive: kernels know addresses only
    for place, (relation, coming) in enumerate(taken):
        rows, at = np.ascontiguousarray(coming.rows, np.int32), np.ascontiguousarray(coming.times, np.int64)
        held += [rows, at]
        parts[place] = relation.number, rows.ctypes.data, at.ctypes.data
        begins[place] = coming.begins
    watched = list(engine.watched)
    told = np.zeros((len(watched), many_steps.TOLD_FIELDS), np.int64)
    rooms = [_Told(engine.relations[name], told[place]) for place, name in enumerate(watched)]
    for place, room in enumerate(rooms):
        told[place, many_steps.WATCHED] = room.relation.number
        room.make_room(0)
    at = np.zeros(many_steps.PLACES, np.int64)
    at[many_steps.LONG] = -1
    while True:
        ended, number, more = many_steps.take_steps(
            engine.work_at(), at, cells, parts, begins, told, engine.keeps, len(engine.code.starts) - 1, *engine.seen
        )
        if ended == driver.DONE:
            break
        if ended == many_steps.TOLD_FULL:
            rooms[number].make_room(more)
        else:
            engine.make_way(ended, number, more)
    if at[many_steps.LONG] >= 0:
        engine.store.relation(int(at[many_steps.LONG])).shorten_log()
    engine.swept()
    return {name: news for name, room in zip(watched, rooms, strict=True) if (news := room.news()) is not None}
