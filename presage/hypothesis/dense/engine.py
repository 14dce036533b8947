"""Hypothetical answers on dense time: facts in, what changed about which answers at which times out.

An answer's arguments are looked at for all times at once. What was told is kept by stretches of time, and what is
known now is held against it: a change is a stretch over which something else holds than was told of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from presage.analysis.subject import Subject
from presage.hypothesis.delays import Delays
from presage.hypothesis.dense.memory import Memory, Values
from presage.hypothesis.dense.patterns import DensePattern, Moment
from presage.hypothesis.dense.pieces import Matching, Piece, is_open
from presage.hypothesis.dense.stretches import Stretch, cells, common, minus, union
from presage.hypothesis.dense.ways import Outcome, at, outcome
from presage.hypothesis.dense.zones import START, Zone
from presage.hypothesis.literals import Argument
from presage.hypothesis.statics import StaticRows
from presage.model.terms import Number

Key = tuple[str, tuple[Argument, ...]]
"""A query's predicate and the arguments of its answers."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of the answers at the times of a stretch."""

    times: Stretch
    status: str
    ways: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    query: str
    arguments: tuple[Argument, ...]
    told: Told


class DenseHypotheses:
    """The hypothetical answers of a program's queries on dense time as facts arrive."""

    def __init__(self, subject: Subject, patterns: dict[str, list[DensePattern]], delays: Delays) -> None:
        self.subject, self.delays, self.patterns = subject, delays, patterns
        self.statics = StaticRows()
        self.statics.add_facts_of(subject)
        self.memory = Memory(patterns, delays, self.statics.rows)
        self.now: Number | None = None
        self.told: dict[Key, list[Told]] = {}
        self.due: list[tuple[Number, str, Key]] = []
        """When something about an answer may change by time alone, soonest first; the text is for the order."""
        self.wakes: dict[Key, Number] = {}
        """When the next of an answer's ways is gone."""

    # -- a step -----------------------------------------------------------------------------------

    def step(self, facts: Iterable[tuple[str, Values, Stretch]], now: Number) -> list[Change]:
        """Takes the facts that arrive at `now` and gives what changed."""
        touched: dict[Key, None] = {}
        begins = self.now is None
        if begins:
            touched.update(dict.fromkeys(self.memory.begin()))
        self.now = now
        touched.update(dict.fromkeys(self.memory.take(facts)))
        for name, arguments in list(touched):
            # What may be so for anybody may be so for those of whom something was told.
            if is_open(arguments):
                touched.update(dict.fromkeys(key for key in self.told if key[0] == name and not is_open(key[1])))
        while self.due and self.due[0][0] <= now:
            touched[heapq.heappop(self.due)[2]] = None
        since = 0 if begins else now
        changes = [change for key in sorted(touched, key=repr) for change in self._look(key, now, since)]
        self._forget(now)
        return changes

    def _look(self, key: Key, now: Number, since: Number) -> Iterator[Change]:
        pieces = self._pieces(key, now, since)
        found = outcome(pieces)
        before = self.told.get(key, [])
        after = list(self._told(key, found, before))
        confirmed = [each for each in before if each.status == "confirmed"]
        remembered = confirmed + [each for each in after if each.status != "refuted"]
        if remembered:
            self.told[key] = sorted(remembered, key=lambda each: each.times)
        else:
            self.told.pop(key, None)
        self._watch(key, pieces, now)
        for told in _changed(before, after):
            if not is_open(key[1]) or told.status in ("confirmed", "possible"):
                yield Change(*key, told)

    def _pieces(self, key: Key, now: Number, since: Number) -> list[Piece]:
        """What speaks for an answer at all times that were not decided at a time before."""
        undecided = minus(
            [self.memory.undecided(key[0], since)],
            (each.times for each in self.told.get(key, ()) if each.status == "confirmed"),
        )
        pieces: list[Piece] = []
        for binding in self.memory.bindings(*key):
            matching = Matching(binding.pattern, self.memory.facts, now)
            pieces.extend(
                binding.limited(piece) for piece in matching.pieces(binding.arguments, binding.delays, undecided)
            )
        return pieces

    def _told(self, key: Key, found: Outcome, before: list[Told]) -> Iterator[Told]:
        for times, ways in found.confirmed:
            yield Told(times, "confirmed", ways)
        for times, ways in found.possible:
            yield Told(times, "possible", ways)
        was_open = [each.times for each in before if each.status in ("possible", "unsupported")]
        rest = minus(was_open, (times for times, _ in (*found.confirmed, *found.possible)))
        for times in common(rest, found.open):
            yield Told(times, "unsupported")
        for times in minus(rest, found.open):
            yield Told(times, "refuted")

    # -- time -------------------------------------------------------------------------------------

    def _watch(self, key: Key, pieces: Iterable[Piece], now: Number) -> None:
        """When to look again though nothing arrives: as soon as a choice of times is gone, and when all that make up a
        way are."""
        self.wakes.pop(key, None)
        still_open = [each.times for each in self.told.get(key, ()) if each.status in ("possible", "unsupported")]
        if not still_open:
            return
        changes: list[Number] = []
        gone: list[Number] = []
        for piece in pieces:
            if not common([piece.times], still_open):
                continue  # nothing was told of those times
            for need in piece.needs:
                delay = self.delays.of(need.predicate, need.arguments)
                low, high = _extent(piece.zone, need.low)
                changes.append(max(low + delay, now))
                if high is not None:
                    gone.append(high + delay)
        if changes:
            heapq.heappush(self.due, (min(changes), repr(key), key))
        if gone:
            self.wakes[key] = min(gone)

    def next_wake(self) -> Number | None:
        """The next time at which a way that was told of is gone though nothing arrives."""
        return min(self.wakes.values(), default=None)

    def _forget(self, now: Number) -> None:
        for key in list(self.told):
            undecided = self.memory.undecided(key[0], now)
            kept = [
                Told(part, each.status, each.ways)
                for each in self.told[key]
                for part in common([each.times], [undecided])
            ]
            if kept:
                self.told[key] = kept
            else:
                del self.told[key]
                self.wakes.pop(key, None)
        self.memory.forget(now)

    # -- what stands ------------------------------------------------------------------------------

    def standing(self) -> Iterator[Change]:
        """The answers that are possible now."""
        for key, told in self.told.items():
            for each in told:
                if each.status == "possible":
                    yield Change(*key, each)

    def restore(
        self, now: Number | None, facts: Iterable[tuple[str, Values, Stretch]], told: dict[Key, list[Told]]
    ) -> None:
        """Puts a saved memory into a new engine. Why answers were possible follows from the facts."""
        self.now = now
        if now is None:
            return
        list(self.memory.begin())
        self.memory.take(facts)
        self.told = told
        for key in list(told):
            pieces = self._pieces(key, now, now)
            again = [Told(times, "possible", ways) for times, ways in outcome(pieces).possible]
            rest = [each for each in told[key] if each.status != "possible"]
            self.told[key] = sorted(rest + again, key=lambda each: each.times)
            self._watch(key, pieces, now)


def _extent(zone: Zone, moment: Moment) -> tuple[Number, Number | None]:
    """Between which times a moment lies."""
    if moment.base == START:
        return moment.offset, moment.offset
    times = zone.range(moment.base)
    low = 0 if times.low is None else times.low
    return low + moment.offset, None if times.high is None else times.high + moment.offset


def _changed(before: list[Told], after: list[Told]) -> Iterator[Told]:
    """What is told now and was not told before, in as few stretches as there can be."""
    for now in after:
        parts = []
        for cell in cells([now.times, *(each for old in before if (each := old.times.meet(now.times)) is not None)]):
            old = next((each for each in before if each.times.meet(cell) is not None), None)
            if old is None or old.status != now.status or at(old.ways, cell) != at(now.ways, cell):
                parts.append(cell)
        for times in union(parts):
            yield Told(times, now.status, now.ways)
