"""The engine of programs with one model that holds at every time: what is entailed, and what may come true.

Entailed facts are the interval engine's; what may come true is the hypothetical ones'. Each is made when it is needed:
where hypothetical answers come by columns, confirmed ones among them, the interval engine is not made before somebody
asks for what is in memory, and is then fed what it would still remember something of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from presage.analysis.timeline import longest_time
from presage.answers import Answer, Answers, shown_name
from presage.checking import Report
from presage.engine.looking_back import reach_of_memory, replay
from presage.engine.runtime import IntervalEngine
from presage.engine.state import fill_engine, save_engine
from presage.engine.waking import next_wake
from presage.hypothesis.bulk.engine import Bulk
from presage.io.facts import Checker, Fact, FactError
from presage.io.tables import Columns
from presage.io.tuples import TupleReader
from presage.model.printer import show_number
from presage.model.terms import Number, number
from presage.plan.aftermath import aftermath, last_fixed
from presage.plan.subformulas import Unsupported
from presage.run.choice import ALL, Choice
from presage.run.confirmed import Confirming
from presage.run.no_hypotheses import NoHypotheses
from presage.run.possible import suppose
from presage.sealed import Arrays
from presage.time.cells import Grid


class StratifiedEngine:
    """Facts into the interval engine and the hypothetical ones, what changes out as answers."""

    reads_now = False
    may_repeat = False

    def __init__(
        self, report: Report, emit: str | None = None, choice: Choice = ALL, chase_limit: int | None = None
    ) -> None:
        """With `emit="confirmed"` only what is entailed is worked out; so it is anyway for programs without
        hypothetical answers, which `emit="changes"` refuses. Raises `Unsupported` for what no engine here runs."""
        assert report.findings is not None
        self.findings = report.findings
        self.subject = self.findings.watched
        self.checker = Checker(self.subject.program, self.subject.predicates, self.subject.discrete)
        self.tuples = TupleReader(self.checker)
        hopeless = {each.query for each in self.findings.queries if not each.hypothetical.possible}
        possible = not hopeless
        narrowed = self.subject
        self._beside: frozenset[str] = frozenset()
        """Predicates of queries without hypothetical answers, whose confirmed ones are told beside the others'."""
        if hopeless and emit is None:
            narrowed = self.subject.narrowed(tuple(each for each in self.subject.queries if each not in hopeless))
            possible = bool(narrowed.queries)
            told = {each.atom.predicate for each in narrowed.queries}
            self._beside = frozenset(each.atom.predicate for each in hopeless) - told
        self._only_confirmed = emit == "confirmed" or (emit is None and not possible)
        by_rules = not possible or (self.subject.discrete and not self.subject.leaves_open)
        needed = bool(self._beside) or (self._only_confirmed and by_rules)
        self._confirming = self._make_confirming(needed, chase_limit)
        supposes = not self._only_confirmed or self._confirming is None or (possible and self.subject.waits_by_instance)
        try:
            self.supposing = suppose(narrowed, self.findings.unfolded, choice) if supposes else None
        except NoHypotheses:
            if not self._only_confirmed or self._confirming is None:
                raise
            self.supposing = None  # Absence is settled for all facts of a predicate together.
        self._behind = False
        """Whether the engine was not fed: answers come by columns, and nobody has asked it anything yet."""
        if self._confirming is not None and self.supposing is not None and self.supposing.columns is not None:
            self.supposing.columns.remember = reach_of_memory(self._confirming.plan, self._confirming.lags)
            self._behind = self.supposing.columns.remember is not None and not self._beside
        self.now: Number | None = None
        self.late: list[Fact] = []
        self.farthest = longest_time(self.subject.program)

    @property
    def told_as(self) -> str | None:
        """What says that an engine like this one is to be made."""
        if self.supposing is None or self._only_confirmed:
            return "confirmed"
        return None if self._beside else "changes"

    def _make_confirming(self, needed: bool, chase_limit: int | None) -> Confirming | None:
        """The engine of entailed facts; with hypothetical answers a program can do without."""
        try:
            return Confirming(self.subject, chase_limit)
        except Unsupported:
            if needed:
                raise
            return None

    @property
    def confirming(self) -> Confirming:
        """What is entailed, up to the last step."""
        if self._confirming is None:
            return Confirming(self.subject)  # says what it does not run
        if self._behind:
            self._catch_up()
        return self._confirming

    @property
    def interval_engine(self) -> IntervalEngine:
        return self.confirming.engine

    def _catch_up(self, columns: Bulk | None = None) -> None:
        """Feeds the engine the facts that it would still remember something of; from now on it is fed as they come."""
        assert self._confirming is not None
        engine = self._confirming.engine
        bulk = self.supposing.columns if columns is None and self.supposing is not None else columns
        assert bulk is not None
        self._behind, bulk.remember = False, None
        replay(engine, bulk.recent, bulk.symbols.values)
        if self.now is not None and engine.now != self.now:
            engine.advance(self.now, {})

    def add_static(self, fact: Fact) -> None:
        self.add_statics([fact])

    def add_statics(self, facts: Sequence[Fact]) -> None:
        """The same for many, by the column."""
        if self.supposing is not None:
            for fact in facts:
                self.supposing.engine.statics.add(fact.predicate, fact.arguments)
        if facts and self._confirming is not None:
            self.confirming.add_static(facts)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """Takes what arrives at `now`; gives the answers that change by it."""
        if self.supposing is None or self.supposing.columns is not None:
            columns, facts = self.tuples.sort(facts)
            tables = [*tables, *columns]
        late = [replace(fact, arrives=now) for fact in facts if self.checker.is_late(fact, now)]
        taken = [fact for fact in facts if not self.checker.is_late(fact, now)] if late else facts
        self.refine_for(taken, tables, now)
        if self._behind and any(fact.low != fact.high or not isinstance(fact.low, int) for fact in taken):
            # What columns keep of a fact is its points at whole numbers up to now.
            self._catch_up()
        in_time = []
        for table in tables:
            too_late = table.late(self.subject.predicates[table.predicate], now)
            if too_late is not None:
                late.extend(replace(fact, arrives=now) for fact in table.chosen(too_late).facts())
                table = table.chosen(~too_late)
            if len(table):
                in_time.append(table)
        supposed = None if self.supposing is None else self.supposing.step(taken, now, in_time)
        if supposed is not None and self._only_confirmed:
            kept = [answer for answer in supposed if answer.status == "confirmed"]
            supposed = _made(kept)
        if self._confirming is not None and not self._behind:
            new = self._confirming.step(taken, now, in_time)
            if supposed is None:
                supposed = self._confirming.answers(new, now)
            elif self._beside:
                beside = {shown_name(each) for each in self._beside}
                known = [each for each in self._confirming.answers(new, now) if each.predicate in beside]
                supposed = _made([*supposed, *known])
        self.late.extend(late)
        self.now = now
        assert supposed is not None
        return supposed

    def lag(self, predicate: str) -> Number:
        """How long after its time an answer of a predicate is settled."""
        if self._confirming is not None:
            lag = self._confirming.lags.lag.get(predicate)
            if lag is not None and not isinstance(lag, float):
                return max(0, lag)
        return self.longest_lag

    def refine_for(self, facts: Sequence[Fact], tables: Sequence[Columns], now: Number) -> None:
        """Makes the grid finer where the data needs it; what is remembered moves with it. Refuses times that
        are too large, or too fine for how large others are, before anything changes."""
        times = [time for fact in facts for time in (fact.low, fact.high) if time is not None]
        finer = Grid(self.subject.discrete) if self._confirming is None else self._confirming.finer(times)
        farthest = max([self.farthest, now, *times, *(int(table.times.max()) for table in tables if len(table))])
        if not finer.holds(farthest):
            raise FactError(
                f"times up to {show_number(farthest)} in steps of 1/{finer.per_unit} are more than the engine can "
                "count: choose a coarser unit, or a later `start`"
            )
        self.farthest = farthest
        if self._confirming is not None:
            self._confirming.refine(finer)

    def refine(self, parts: int) -> None:
        """Makes the dense timeline's grid at least so fine, whatever arrives: a shard steps as finely as all do."""
        if self._confirming is not None and not self.subject.discrete:
            finer = self.confirming.finer([Fraction(1, parts)])
            if finer.holds(self.farthest):
                self.confirming.refine(finer)

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table: its columns, and `from`, `to`, `bounds`."""
        return self.confirming.holds(name)

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        extra: dict[str, Any] = {"farthest": str(self.farthest)}
        arrays: dict[str, Any] = {}
        if self.supposing is not None:
            extra["supposing"], arrays = self.supposing.saved()
        header: dict[str, Any] = {"extra": extra}
        if self._confirming is not None and not self._behind:
            header |= save_engine(self._confirming.engine, arrays)
        return header, arrays

    def load(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Takes over what was saved."""
        self._check_recent(arrays)
        if self._confirming is not None and "relations" in header:
            fill_engine(self._confirming.engine, header, arrays)
            self.now, self._behind = self._confirming.engine.now, False
        if self.supposing is not None:
            bulk = self.supposing.load(header["extra"]["supposing"], dict(arrays))
            self.now = self.supposing.now
            if bulk is not None and self._confirming is not None and not self._behind:
                self._catch_up(bulk)
        self.farthest = number(Fraction(header["extra"]["farthest"]))

    def _check_recent(self, arrays: Arrays) -> None:
        """Facts that the engine has not been fed yet are of inputs, and have as many arguments."""
        for title in arrays:
            if title.startswith("recent "):
                known = self.subject.predicates[title.removeprefix("recent ")]
                arrays.rows(title, np.int64, 2 + max(1, known.arity))

    def standing(self, told: Answers) -> Sequence[Answer]:
        """What stands now: what is possible, and what was confirmed at the last step, which told so much."""
        if self.supposing is None or self.now is None or self._only_confirmed:
            return told
        return self.supposing.stands(told, self.now)

    def confirmed(self, told: Answers) -> Sequence[Answer]:
        """What the last step, which told so much, confirmed."""
        if self.supposing is None or self.now is None or self._only_confirmed:
            return told
        return self.supposing.confirmed(told, self.now)

    @property
    def first_decision(self) -> Number | None:
        """The first step, though nothing has arrived yet: steps are counted from 0, or with timestamps from the first
        arrival."""
        return 0 if self.subject.discrete and self.checker.units.tick is None else None

    @property
    def looks_ahead(self) -> bool:
        """Whether answers about times after the last step belong to a run."""
        return self.supposing is not None

    def next_decision(self) -> Number | None:
        """The earliest time after now at which something may be decided though nothing arrives."""
        wake = next_wake(self.interval_engine) if self.supposing is None else self.supposing.next_wake()
        if self.supposing is not None and self._beside:
            other = next_wake(self.interval_engine)
            wake = other if wake is None else wake if other is None else min(wake, other)
        if wake is None or self.now is None:
            return wake
        wake = max(wake, self.now)
        if self.subject.discrete:
            wake = math.ceil(wake)
        if wake <= self.now:
            if not self.subject.discrete:
                assert self._confirming is not None
                return number(self.now + Fraction(1, self._confirming.engine.grid.per_unit))
            wake = self.now + 1
        return wake

    @property
    def longest_lag(self) -> Number:
        """How long after the last arrival everything is decided: the greatest delay and how far the queries look
        ahead."""
        delays = [each.delay or 0 for each in self.subject.predicates.values() if each.is_input]
        wait = max([0, *delays]) + max(0, self.findings.query_delay or 0)
        if self.supposing is None or self.findings.query_delay is None:
            # The engine of entailed facts waits for whole relations, which may be longer.
            lags = () if self._confirming is None else self._confirming.lags.lag.values()
            wait = max([wait, *(lag for lag in lags if not isinstance(lag, float))])
        return wait

    def end_after(self, last: Number) -> Number:
        """The last step of a run that nobody ends, whose facts speak of times up to `last`."""
        return number(max(last, last_fixed(self.subject)) + aftermath(self.subject) + self.longest_lag)

    @property
    def remembered(self) -> int:
        """How many intervals of facts are in memory; by columns, and where nothing but a hypothetical engine runs, how
        many facts and answers."""
        by_columns = self._behind and self.supposing is not None and self.supposing.columns is not None
        if self.supposing is not None and (by_columns or self._confirming is None):
            return self.supposing.remembered
        return self.interval_engine.remembered


def _made(answers: list[Answer]) -> Answers:
    return Answers(len(answers), lambda: answers)
