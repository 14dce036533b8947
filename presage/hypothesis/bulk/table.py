"""The answers of one query that something is known of: a row each, found by key, woken by the clock.

The arrays belong to `presage.kernels.matches`; this class gives them room, translates a query's shape for them,
and keeps the rows that wait for a time in buckets, so that a step costs what it concerns.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.engine.compare import holds
from presage.engine.relation import Symbols32
from presage.engine.symbols import Symbols
from presage.hypothesis.bulk.shapes import FAR, Check, Part, Shape, Way
from presage.hypothesis.patterns import Fixed
from presage.kernels import matches
from presage.kernels.hashing import EMPTY

Ints = npt.NDArray[np.int64]
STATUS = {
    matches.POSSIBLE: "possible",
    matches.UNSUPPORTED: "unsupported",
    matches.CONFIRMED: "confirmed",
    matches.REFUTED: "refuted",
}
ROOM = 64
"""Rows of a table at first; the hash has twice as many places."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Answers by the column: what they are, the bits of the premises met, and their arguments and times."""

    shape: Shape
    status: npt.NDArray[np.int8]
    bits: Ints
    keys: Ints
    fresh: npt.NDArray[np.bool_]
    """For each whether nothing was said of it before."""

    def __len__(self) -> int:
        return len(self.bits)

    def chosen(self, wanted: npt.NDArray[np.bool_]) -> Rows:
        if wanted.all():
            return self
        return Rows(self.shape, self.status[wanted], self.bits[wanted], self.keys[wanted], self.fresh[wanted])

    def confirmed(self) -> Rows:
        return self.chosen(self.status == matches.CONFIRMED)


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A premise with its constants as numbers."""

    part: Part
    way: Way
    bit: int
    sources: Ints
    constants: Ints
    checks: Ints
    last_chance: int


class Table:
    def __init__(self, shape: Shape, symbols: Symbols) -> None:
        self.shape, self.symbols = shape, symbols
        self.width = shape.arity + 1
        self.rows = np.zeros((ROOM, self.width + matches.BEHIND), np.int64)
        self.free, self.touched = (np.zeros(ROOM, np.int32) for _ in range(2))
        self.slots = np.full(2 * ROOM, EMPTY, np.int64)
        self.counts = np.zeros(4, np.int64)
        self.waiting: dict[int, list[Ints]] = {}
        self.times: list[int] = []
        self.stamp = 0
        self._translate()

    def _translate(self) -> None:
        """The shape as arrays."""
        self.meetings: dict[str, list[_Meeting]] = {}
        ways: list[Any] = []
        way_checks: list[Any] = []
        offsets: list[Any] = []
        options: list[Any] = []
        option_checks: list[Any] = []
        number = 0
        for way in self.shape.ways:
            begin = len(way_checks)
            way_checks += self._checks(way.checks)
            ways.append((number, number + len(way.parts), begin, len(way_checks), way.low, way.high))
            for part in way.parts:
                first = len(options)
                for option in part.options:
                    start = len(option_checks)
                    option_checks += [(place, -1, self.symbols.number(value)) for place, value in option.where]
                    options.append((option.delay, start, len(option_checks)))
                offsets.append((part.offset, first, len(options)))
                others = [other.span for other in way.parts if other is not part]
                self._listen(part, way, 1 << number, min(others, default=FAR))
                number += 1
        self.ways, self.offsets = _array(ways, 6), _array(offsets, 3)
        self.way_checks, self.option_checks = _array(way_checks, 3), _array(option_checks, 3)
        self.options = _array(options, 3)

    def _checks(self, checks: tuple[Check, ...]) -> list[tuple[int, int, int]]:
        return [
            (each.place, -1, self.symbols.number(each.value)) if each.value is not None
            else (each.place, -1 if each.other is None else each.other, 0)
            for each in checks
        ]  # fmt: skip

    def _listen(self, part: Part, way: Way, bit: int, last_chance: int) -> None:
        sources = np.array([-1 if isinstance(each, Fixed) else each for each in part.sources], np.int64)
        constants = np.array(
            [self.symbols.number(each.value) if isinstance(each, Fixed) else 0 for each in part.sources], np.int64
        )
        checks = _array(self._checks(part.checks), 3)
        meeting = _Meeting(part, way, bit, sources, constants, checks, last_chance)
        self.meetings.setdefault(part.premise.predicate, []).append(meeting)

    @property
    def constants(self) -> Ints:
        """The numbers of the program's own constants."""
        own = [meeting for group in self.meetings.values() for meeting in group]
        parts = [self.way_checks[:, 2], self.option_checks[:, 2]]
        return np.concatenate([*parts, *(each.constants for each in own), *(each.checks[:, 2] for each in own)])

    def __len__(self) -> int:
        return int(self.counts[matches.LIVE])

    # -- a step -----------------------------------------------------------------------------------

    def begin(self) -> None:
        self.stamp += 1

    def meet(self, name: str, rows: Symbols32, times: Ints, now: int) -> None:
        """Takes facts of one predicate."""
        for meeting in self.meetings.get(name, ()):
            given, at = self._compared(meeting, rows, times)
            done = 0
            while True:
                done = matches.meet(
                    self.rows, self.slots, self.free, self.touched, self.counts,
                    given, at, done, meeting.sources, meeting.constants, meeting.checks, meeting.bit,
                    meeting.part.offset, meeting.way.low, meeting.way.high, meeting.last_chance, now, self.stamp,
                )  # fmt: skip
                if done == len(at):
                    break
                self._grow()

    def _compared(self, meeting: _Meeting, rows: Symbols32, times: Ints) -> tuple[Symbols32, Ints]:
        """The facts for which the pattern's comparisons come out as it asks."""
        if not meeting.way.comparisons or not len(times):
            return rows, times
        places = {place: source for place, source in enumerate(meeting.part.sources) if not isinstance(source, Fixed)}
        variables = {name: places[place] for name, place in meeting.way.variables.items()}
        keep = np.ones(len(times), bool)
        for comparison, wanted in meeting.way.comparisons:
            keep &= holds(comparison, rows, variables, self.symbols) == wanted
        return rows[keep], times[keep]

    def _grow(self) -> None:
        size = 2 * len(self.rows)
        for name in ("rows", "free", "touched"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self.slots = np.empty(2 * size, np.int64)
        matches.rebuild(self.rows, self.slots, self.counts, self.width)

    def settle(self, now: int) -> Rows:
        """What changed, once the facts of a step are in."""
        while self.times and self.times[0] <= now:
            for rows in self.waiting.pop(heapq.heappop(self.times)):
                matches.due(self.rows, self.touched, self.counts, rows, now, self.stamp, self.width)
        told, woken, at = matches.settle(
            self.rows, self.slots, self.free, self.touched, self.counts, self.width, now, self.shape.kept,
            self.ways, self.way_checks, self.offsets, self.options, self.option_checks,
        )  # fmt: skip
        self._wait(woken, at)
        return Rows(self.shape, *told)

    def _wait(self, rows: Ints, at: Ints) -> None:
        if not len(rows):
            return
        order = np.argsort(at, kind="stable")
        ordered = at[order]
        for part in np.split(order, np.flatnonzero(np.diff(ordered)) + 1):
            time = int(at[part[0]])
            if time not in self.waiting:
                self.waiting[time] = []
                heapq.heappush(self.times, time)
            self.waiting[time].append(rows[part].astype(np.int32))

    def next_wake(self) -> int | None:
        return self.times[0] if self.times else None

    # -- memory -----------------------------------------------------------------------------------

    def _behind(self, place: int) -> Ints:
        return self.rows[: int(self.counts[matches.ROWS]), self.width + place]

    def _picked(self, rows: Ints, bits: int) -> Rows:
        part = self.rows[rows]
        status = part[:, self.width + matches.STATUS].astype(np.int8)
        return Rows(self.shape, status, part[:, self.width + bits], part[:, : self.width], np.zeros(len(part), bool))

    def told(self) -> Rows:
        """Every row, with the bits that were reported of it."""
        return self._picked(np.flatnonzero(self._behind(matches.STATUS)), matches.SHOWN)

    def met(self) -> Rows:
        """Every row, with the bits that are met."""
        return self._picked(np.flatnonzero(self._behind(matches.STATUS)), matches.MET)

    def possible(self) -> Rows:
        """What is possible now."""
        return self._picked(np.flatnonzero(self._behind(matches.STATUS) == matches.POSSIBLE), matches.SHOWN)

    def contents(self) -> Ints:
        """All rows, for `fill`."""
        return self.rows[np.flatnonzero(self._behind(matches.STATUS))]

    def fill(self, rows: Ints) -> None:
        """Puts rows into an empty table."""
        while len(self.rows) < len(rows):
            self._grow()
        self.rows[: len(rows)] = rows
        self.counts[matches.ROWS] = self.counts[matches.LIVE] = len(rows)
        self._behind(matches.MARK)[:] = -1
        matches.rebuild(self.rows, self.slots, self.counts, self.width)
        self._wait(np.arange(len(rows)), self._behind(matches.WAKE).copy())


def _array(rows: list[Any], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, width)
