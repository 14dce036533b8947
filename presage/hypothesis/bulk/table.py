"""The answers of one query that something is known of: a row each, found by key, woken by the clock.

The arrays belong to `presage.kernels.matches`, which takes the steps; this class gives them room, and translates a
query's shape for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.engine.compare import holds
from presage.engine.many_steps import Coming
from presage.engine.symbols import Symbols
from presage.hypothesis.bulk.fitting import FAR, Check, PatternShape, PremisePart, QueryShape
from presage.kernels import matches, wakes
from presage.kernels.arrays import Ints
from presage.kernels.hashing import EMPTY
from presage.patterns.premises import Fixed

STATUS = {
    matches.POSSIBLE: "possible",
    matches.UNSUPPORTED: "unsupported",
    matches.CONFIRMED: "confirmed",
    matches.REFUTED: "refuted",
}
ROOM = 64
"""Rows of a table at first; the hash has twice as many places."""


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Answers by the column: what they are, the bits of the premises met, and their arguments and times."""

    shape: QueryShape
    status: npt.NDArray[np.int8]
    bits: Ints
    keys: Ints
    fresh: npt.NDArray[np.bool_]
    """For each whether nothing was said of it before."""
    now: Ints
    """The step at which each was told."""

    def __len__(self) -> int:
        return len(self.bits)

    def chosen(self, wanted: npt.NDArray[np.bool_]) -> AnswerRows:
        if wanted.all():
            return self
        return self.at(wanted)

    def at(self, places: Any) -> AnswerRows:
        parts = (self.status, self.bits, self.keys, self.fresh, self.now)
        return AnswerRows(self.shape, *(part[places] for part in parts))

    def told_at(self, now: int) -> AnswerRows:
        """The same, as of a time."""
        return AnswerRows(self.shape, self.status, self.bits, self.keys, self.fresh, np.full(len(self), now, np.int64))

    def confirmed(self) -> AnswerRows:
        return self.chosen(self.status == matches.CONFIRMED)


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A premise that facts may meet."""

    part: PremisePart
    way: PatternShape
    number: int


class MatchTable:
    def __init__(self, shape: QueryShape, symbols: Symbols) -> None:
        self.shape, self.symbols = shape, symbols
        self.width = shape.arity + 1
        self.rows = np.zeros((ROOM, self.width + matches.BEHIND), np.int64)
        self.free, self.touched = (np.zeros(ROOM, np.int32) for _ in range(2))
        self.slots = np.full(2 * ROOM, EMPTY, np.int64)
        self.counts = np.zeros(4, np.int64)
        self.stands = np.zeros(matches.PLACES, np.int64)
        self._new_waiting(ROOM)
        self._translate()

    def _translate(self) -> None:
        """The shape as arrays."""
        self.meetings: dict[str, list[_Meeting]] = {}
        premises: list[Any] = []
        sources: list[Any] = []
        constants: list[Any] = []
        checks: list[Any] = []
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
                self.meetings.setdefault(part.premise.predicate, []).append(_Meeting(part, way, number))
                fixed = [each.value if isinstance(each, Fixed) else None for each in part.sources]
                sources.append([-1 if isinstance(each, Fixed) else each for each in part.sources])
                constants.append([0 if each is None else self.symbols.number(each) for each in fixed])
                start = len(checks)
                checks += self._checks(part.checks)
                limits = way.low, way.high, min(others, default=FAR), start, len(checks)
                premises.append((0, 1, 0, 1 << number, part.offset, *limits))
                number += 1
        self.premises, self.checks = _array(premises, matches.PREMISE_FIELDS), _array(checks, 3)
        self.sources = np.array(sources, np.int64).reshape(number, self.shape.arity)
        self.fixed = np.array(constants, np.int64).reshape(number, self.shape.arity)
        self.ways, self.offsets = _array(ways, 6), _array(offsets, 3)
        self.way_checks, self.option_checks = _array(way_checks, 3), _array(option_checks, 3)
        self.options = _array(options, 3)

    def _checks(self, checks: tuple[Check, ...]) -> list[tuple[int, int, int]]:
        return [
            (each.place, -1, self.symbols.number(each.value)) if each.value is not None
            else (each.place, -1 if each.other is None else each.other, 0)
            for each in checks
        ]  # fmt: skip

    @property
    def constants(self) -> Ints:
        """The numbers of the program's own constants."""
        compared = (self.way_checks, self.option_checks, self.checks)
        return np.concatenate([self.fixed.ravel(), *(each[:, 2] for each in compared)])

    def __len__(self) -> int:
        return int(self.counts[matches.LIVE])

    # -- steps ------------------------------------------------------------------------------------

    def take(self, arrivals: Ints, coming: Mapping[str, Coming], until: int, by_itself: bool = True) -> AnswerRows:
        """What changes by the facts that arrive at each of some times and, with `by_itself`, by the time alone, up to
        `until`."""
        begins = np.zeros((len(self.premises), len(arrivals) + 1), np.int64)
        held: list[Any] = []  # kept alive: kernels know addresses only
        for name, facts in coming.items():
            for meeting in self.meetings.get(name, ()):
                given = self._compared(meeting, facts)
                rows, times = np.ascontiguousarray(given.rows), np.ascontiguousarray(given.times)
                held += [rows, times]
                self.premises[meeting.number, : matches.BIT] = rows.ctypes.data, rows.shape[1], times.ctypes.data
                begins[meeting.number] = given.begins
        self.stands[[matches.ARRIVAL, matches.PHASE, matches.TOLD]] = 0
        told = _Room(self.width, max([ROOM, *(len(each.times) for each in coming.values())]))
        while True:
            ended = matches.take_steps(
                self.rows, self.slots, self.free, self.touched, self.counts,
                self.times, self.heads, self.heap, self.links, self.waiting,
                self.stands, arrivals, begins, until, by_itself,
                self.premises, self.sources, self.fixed, self.checks,
                self.shape.kept, self.ways, self.way_checks, self.offsets, self.options, self.option_checks,
                told.now, told.status, told.bits, told.keys, told.fresh,
            )  # fmt: skip
            if ended == matches.DONE:
                return told.rows(self.shape, int(self.stands[matches.TOLD]))
            if ended == matches.ROWS_FULL:
                self._grow()
            elif ended == matches.TOLD_FULL:
                told = _Room(self.width, 2 * len(told.now), told)
            else:
                self._new_waiting(2 * len(self))

    def _compared(self, meeting: _Meeting, facts: Coming) -> Coming:
        """The facts for which the pattern's comparisons come out as it asks."""
        if not meeting.way.comparisons or not len(facts.times):
            return facts
        places = {place: source for place, source in enumerate(meeting.part.sources) if not isinstance(source, Fixed)}
        variables = {name: places[place] for name, place in meeting.way.variables.items()}
        keep = np.ones(len(facts.times), bool)
        for comparison, wanted in meeting.way.comparisons:
            keep &= holds(comparison, facts.rows, variables, self.symbols) == wanted
        before = np.concatenate([[0], np.cumsum(keep)])
        return Coming(facts.rows[keep], facts.times[keep], before[facts.begins])

    def _grow(self) -> None:
        size = 2 * len(self.rows)
        for name in ("rows", "free", "touched"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self.slots = np.empty(2 * size, np.int64)
        matches.rebuild(self.rows, self.slots, self.counts, self.width)

    def _new_waiting(self, size: int) -> None:
        """Room for so many rows to wait in, and for as many times."""
        while True:
            size = 1 << max(4, (size - 1).bit_length())
            self.times = np.full(4 * size, wakes.NO_TIME, np.int64)
            self.heads = np.zeros(4 * size, np.int32)
            self.heap = np.zeros(2 * size, np.int64)
            self.links = np.zeros((2 * size, 2), np.int32)
            self.waiting = np.zeros(wakes.WAITING_FIELDS, np.int64)
            self.waiting[wakes.WAITING_FREE] = wakes.NONE
            if self._wait_again() and self.waiting[wakes.WAITING_LINKS] <= size:
                return
            size *= 2

    def _wait_again(self) -> bool:
        now = int(self.stands[matches.NOW])
        return bool(
            matches.wait_again(
                self.rows, self.counts, self.width, now, self.times, self.heads, self.heap, self.links, self.waiting
            )
        )  # fmt: skip

    def next_wake(self) -> int | None:
        return int(self.heap[0]) if self.waiting[wakes.WAITING_TIMES] else None

    # -- memory -----------------------------------------------------------------------------------

    def _behind(self, place: int) -> Ints:
        return self.rows[: int(self.counts[matches.ROWS]), self.width + place]

    def _picked(self, rows: Ints, bits: int) -> AnswerRows:
        part = self.rows[rows]
        status = part[:, self.width + matches.STATUS].astype(np.int8)
        now = np.full(len(part), self.stands[matches.NOW])
        never = np.zeros(len(part), bool)
        return AnswerRows(self.shape, status, part[:, self.width + bits], part[:, : self.width], never, now)

    def told(self) -> AnswerRows:
        """Every row, with the bits that were reported of it."""
        return self._picked(np.flatnonzero(self._behind(matches.STATUS)), matches.SHOWN)

    def met(self) -> AnswerRows:
        """Every row, with the bits that are met."""
        return self._picked(np.flatnonzero(self._behind(matches.STATUS)), matches.MET)

    def possible(self) -> AnswerRows:
        """What is possible now."""
        return self._picked(np.flatnonzero(self._behind(matches.STATUS) == matches.POSSIBLE), matches.SHOWN)

    def contents(self) -> Ints:
        """All rows, for `fill`."""
        return self.rows[np.flatnonzero(self._behind(matches.STATUS))]

    def fill(self, rows: Ints, now: int | None) -> None:
        """Puts rows into an empty table, as they were at a time."""
        self.stands[matches.NOW] = -1 if now is None else now
        while len(self.rows) < len(rows):
            self._grow()
        self.rows[: len(rows)] = rows
        self.counts[matches.ROWS] = self.counts[matches.LIVE] = len(rows)
        self._behind(matches.MARK)[:] = -1
        matches.rebuild(self.rows, self.slots, self.counts, self.width)
        self._new_waiting(2 * len(rows))


class _Room:
    """Room for what is told, with what was told before there was more of it."""

    def __init__(self, width: int, size: int, before: _Room | None = None) -> None:
        self.now, self.bits = np.empty(size, np.int64), np.empty(size, np.int64)
        self.status, self.fresh = np.empty(size, np.int8), np.empty(size, np.bool_)
        self.keys = np.empty((size, width), np.int64)
        if before is not None:
            for name in ("now", "bits", "status", "fresh", "keys"):
                held = getattr(before, name)
                getattr(self, name)[: len(held)] = held

    def rows(self, shape: QueryShape, used: int) -> AnswerRows:
        return AnswerRows(
            shape, self.status[:used], self.bits[:used], self.keys[:used], self.fresh[:used], self.now[:used]
        )  # fmt: skip


def _array(rows: list[Any], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, width)
