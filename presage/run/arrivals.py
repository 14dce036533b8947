"""A run whose facts come while it goes: from a pipe, over a network.

Nobody sorts them. A fact arrives at its time, or at the clock if that is later. The clock is the latest time heard of,
and the step of a time is taken when that time is over: a later fact has come, somebody says that the time is complete,
or a clock on the wall has passed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from presage.answers import Answer
from presage.engine.waking import first_step
from presage.io.facts import Fact, FactError
from presage.io.tables import Columns
from presage.model.terms import Number, number
from presage.run.hot_keys import KeyBudget
from presage.run.reasoner import Reasoner
from presage.run.schedule import Arrival, Pulled, walk
from presage.time.cells import Grid


def can_be_counted(discrete: bool, farthest: Number, parts: int = 1) -> bool:
    """Whether engines count times up to one, in so many parts of a unit."""
    return Grid(discrete, parts).holds(farthest)


class Incoming:
    """Takes facts one by one, and gives the answers of the steps that are due by them."""

    def __init__(
        self, reasoner: Reasoner, until: Number | None = None, every: bool = False, pull: Number | None = None
    ) -> None:
        """`until`, `every` and `pull` are as for the steps of a run over files."""
        self.reasoner, self.until, self.every = reasoner, until, every
        self.pulled = None if pull is None else Pulled(reasoner, pull, every)
        self.clock: Number | None = None
        self.complete = False
        """Whether the clock's own time is over: what comes now arrives after it."""
        self.last: Number = 0
        """The latest time at which a fact arrives, or its interval ends."""
        self.waiting: dict[Number, tuple[list[Fact], list[Columns]]] = {}
        """What has come and whose step has not, by the time at which it arrives."""
        self.uncounted: list[Fact] | None = None
        """If facts whose times are too fine for what came before are to be left aside, these; otherwise they end the
        run."""
        self.budget: KeyBudget | None = None
        """How many facts of one key may arrive at one time, where somebody says so."""

    @property
    def over(self) -> bool:
        """Whether the run is at its end, whatever still comes."""
        return self.until is not None and self.clock is not None and self.clock > self.until

    def arrival_of(self, fact: Fact) -> Number:
        """When a fact that comes now arrives."""
        return self._arriving(fact.arrival)

    def _arriving(self, time: Number) -> Number:
        """When something arrives that should at a time: then, or when the clock allows it."""
        if self.clock is None or time > self.clock or (time == self.clock and not self.complete):
            return time
        earliest = self._earliest()
        assert earliest is not None
        return earliest

    def _earliest(self) -> Number | None:
        """The first time at which something that comes now may arrive."""
        return self._after(self.clock) if self.clock is not None and self.complete else self.clock

    def _after(self, time: Number) -> Number:
        """The next time after one; on the dense timeline the next that the engine tells apart from it."""
        if self.reasoner.subject.discrete:
            return time + 1
        return number(time + Fraction(1, self.reasoner.interval_engine.grid.per_unit))

    def take(self, fact: Fact, *, is_heard: bool = True) -> Iterator[Sequence[Answer]]:
        """Takes a fact; the clock moves to its arrival, unless somebody else moves it. To be used up."""
        time = self.arrival_of(fact)
        if is_heard and (self.clock is None or time > self.clock):
            yield from self.advance(time)
        if self.until is None or time <= self.until:
            self.last = max(self.last, time, fact.last)
            self._at(time)[0].append(fact)

    def take_together(
        self, facts: Sequence[Fact], tables: Sequence[Columns], *, is_heard: bool = True
    ) -> Iterator[Sequence[Answer]]:
        """The same for facts that come at once: none of them is late for another of them. To be used up."""
        earliest = self._earliest()
        heard = earliest if earliest is not None else 0
        for fact in facts:
            time = self._arriving(fact.arrival)
            self._at(time)[0].append(fact)
            heard = max(heard, time)
        for table in tables:
            keys = table.times if earliest is None else np.maximum(table.times, math.floor(earliest))
            for own, part in table.by(keys):
                time = own if earliest is None else max(own, earliest)
                self._at(time)[1].append(part)
                heard = max(heard, time)
        self.last = max([self.last, heard, *(fact.last for fact in facts)])
        if is_heard and (facts or tables):
            yield from self.advance(heard)

    def _at(self, time: Number) -> tuple[list[Fact], list[Columns]]:
        return self.waiting.setdefault(time, ([], []))

    def advance(self, time: Number) -> Iterator[Sequence[Answer]]:
        """Moves the clock: what was before that time is over. To be used up."""
        if self.clock is not None and time <= self.clock:
            return
        if self._has_begun(time):
            yield from self._walk(time, through=False)
        self.clock, self.complete = time, False

    def completed(self, time: Number) -> Iterator[Sequence[Answer]]:
        """A time is over, with all that came for it. To be used up."""
        if self.clock is not None and (time < self.clock or (time == self.clock and self.complete)):
            return
        if self._has_begun(time):
            yield from self._walk(time, through=True)
        self.clock, self.complete = time, True

    def _has_begun(self, time: Number) -> bool:
        """Whether there are steps up to a time: before the first fact nobody goes through what is far away."""
        if self.reasoner.now is not None or self.waiting:
            return True
        return first_step(self.reasoner.first_decision, time) is not None

    def end(self, at: Number | None = None) -> Iterator[Sequence[Answer]]:
        """Nothing more comes: everything is settled, or the run ends at a time. To be used up."""
        last = at if at is not None else self.until
        if last is None:
            last = max(self.reasoner.end_after(self.last), self.clock or 0)
        elif at is not None and self.until is not None:
            last = min(at, self.until)
        yield from self._steps(last, closed=True, through=True)
        if self.pulled is not None:
            yield from self.pulled.end()

    def _walk(self, time: Number, through: bool) -> Iterator[Sequence[Answer]]:
        if self.until is not None and time > self.until:
            time, through = self.until, True
        return self._steps(time, closed=False, through=through)

    def _countable(self, arrival: Arrival) -> Arrival:
        """What arrives without what the engine cannot count, and within the budget."""
        reasoner = self.reasoner
        if self.budget is not None:
            arrival = self.budget.within(arrival)
        if self.uncounted is None or reasoner.subject.discrete:
            return arrival
        try:
            reasoner.check_times(arrival.facts, arrival.tables, arrival.time)
        except FactError:
            kept = []
            for fact in arrival.facts:
                try:
                    reasoner.check_times([fact], [], arrival.time)
                    kept.append(fact)
                except FactError:
                    self.uncounted.append(fact)
            return replace(arrival, facts=kept)
        return arrival

    def _steps(self, end: Number, closed: bool, through: bool) -> Iterator[Sequence[Answer]]:
        due = sorted(time for time in self.waiting if time < end or (through and time == end))
        arrivals = (self._countable(Arrival(time, *self.waiting.pop(time))) for time in due)
        if self.pulled is None:
            return walk(self.reasoner, arrivals, end, closed=closed, through=through, every=self.every)
        pull = self.pulled.pull
        return self.pulled.take(walk(self.reasoner, arrivals, end, closed=closed, through=through, pull=pull))
