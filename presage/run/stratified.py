"""The reasoner: a program at work, from Python.

reasoner = presage.Reasoner(presage.load("turbines.psg"))
for answer in reasoner.push([("temp", ("wt25", "high"), 0)], now=0):
    print(answer)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np

from presage.analysis.timeline import longest_time
from presage.answers import NONE, Answer, Answers, LateFact, shown_name
from presage.checking import Report, check_program
from presage.engine.replay import reach_of_memory, replay
from presage.engine.runtime import Engine
from presage.engine.state import fill_engine, save_engine
from presage.engine.waking import first_step, next_wake
from presage.errors import PresageError
from presage.hypothesis.bulk.engine import Bulk
from presage.io.facts import Checker, Fact, FactError
from presage.io.tables import Columns, TableReader
from presage.io.told import again, saved, static_saved
from presage.io.tuples import Given, TupleReader
from presage.model.formulas import Atom
from presage.model.printer import show_atom, show_number
from presage.model.program import Program
from presage.model.terms import Constant, Number, number
from presage.plan.parts import Unsupported
from presage.run.choice import ALL, Choice
from presage.run.confirmed import Confirming
from presage.run.open_times import suppose
from presage.run.saving import WHAT, fingerprint_of, packed, unpacked
from presage.run.states import States
from presage.sealed import Arrays, reading
from presage.showing import html_of
from presage.time.cells import Grid


def as_pushed(fact: Fact) -> LateFact:
    """A fact as one would push it."""
    if fact.low is not None and fact.low == fact.high:
        return fact.predicate, fact.arguments, fact.low
    bounds = ("[" if fact.closed_low else "(") + ("]" if fact.closed_high else ")")
    return fact.predicate, fact.arguments, (fact.low, fact.high, bounds)


class Reasoner:
    """Feeds facts to a program and gives the changes of its answers. Steps must go forward in time."""

    _warned = False
    """Whether it was said that facts are late."""
    may_repeat = False
    """Whether there may be another step at the time of the last one: for what is only supposed."""

    def __init__(
        self,
        program: Program,
        static: Mapping[str, Any] | None = None,
        *,
        emit: str | None = None,
        choice: Choice = ALL,
        report: Report | None = None,
        chase_limit: int | None = None,
    ) -> None:
        """With `emit="confirmed"` only what is entailed is worked out, which is faster; so it is anyway for programs
        without hypothetical answers, which `emit="changes"` refuses. `choice` says which open answers are told;
        `report` is the program's check report, for who has it already. With `chase_limit` rules may invent values
        without end: a step that invents more than so many raises `PresageError` and leaves the reasoner as it was."""
        if emit not in (None, "changes", "confirmed", "states"):
            raise PresageError(f'emit is "changes", "confirmed" or "states", not {emit!r}')
        source = program.source
        if report is None:
            report = check_program(program, chase_limit=chase_limit)
        report.or_raise()
        assert report.findings is not None
        self.program = program
        self.subject = report.findings.watched
        if report.findings.route.engine != "interval":
            raise PresageError(f"{source.name}: this program needs answer streams: {report.findings.route.reason}")
        if self.subject.reading == "now":
            raise PresageError(f"{source.name}: `reading now` looks at the whole program anew at each step")
        self.checker = Checker(self.subject.program, self.subject.predicates, self.subject.discrete)
        self.tables, self.tuples = TableReader(self.checker), TupleReader(self.checker)
        self.findings = report.findings
        hopeless = {each.query for each in report.findings.queries if not each.hypothetical.possible}
        possible = not hopeless
        narrowed = self.subject
        self._beside: frozenset[str] = frozenset()
        """Predicates of queries without hypothetical answers, whose confirmed ones are told beside the others'."""
        if hopeless and emit is None:
            narrowed = self.subject.narrowed(tuple(each for each in self.subject.queries if each not in hopeless))
            possible = bool(narrowed.queries)
            told = {each.atom.predicate for each in narrowed.queries}
            self._beside = frozenset(each.atom.predicate for each in hopeless) - told
        self._states = States(self.subject.discrete, self._lag) if emit == "states" else None
        self._only_confirmed = emit in ("confirmed", "states") or (emit is None and not possible)
        self.chase_limit = chase_limit
        needed = bool(self._beside) or (self._only_confirmed and (self.subject.discrete or not possible))
        self._confirming = self._make_confirming(needed)
        supposes = not self._only_confirmed or self._confirming is None or (possible and self.subject.waits_by_instance)
        self.supposing = suppose(narrowed, choice) if supposes else None
        self._behind = False
        """Whether the engine was not fed: answers come by columns, and nobody has asked it anything yet."""
        if self._confirming is not None and self.supposing is not None and self.supposing.columns is not None:
            self.supposing.columns.remember = reach_of_memory(self._confirming.engine)
            self._behind = self.supposing.columns.remember is not None and not self._beside
        self.now: Number | None = None
        self.late: list[Fact] = []
        self.farthest = longest_time(self.subject.program)
        self._standing = NONE
        self._restored: list[Answer] = []
        """What had been confirmed by the last step before the reasoner was saved, until there is another."""
        self._statics: list[Fact] = []
        """What is known before the stream, for rules that come later."""
        self._add_statics(static or {})

    def _make_confirming(self, needed: bool) -> Confirming | None:
        """The engine of entailed facts; with hypothetical answers a program can do without."""
        try:
            return Confirming(self.subject, self.chase_limit)
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
    def engine(self) -> Engine:
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

    def _add_statics(self, static: Mapping[str, Any]) -> None:
        for fact in self.tables.statics(static):
            self.add_static(fact)

    def add_static(self, fact: Fact) -> None:
        if self.now is not None:
            raise PresageError("static facts are known before the stream: give them before the first step")
        self._statics.append(fact)
        if self.supposing is not None:
            self.supposing.engine.statics.add(fact.predicate, fact.arguments)
        if self._confirming is not None:
            self.confirming.add_static(fact)

    def push(self, facts: Iterable[Given] | Mapping[str, Any], now: Any) -> Answers:
        """Takes what arrives at `now`, as tuples or as a table for each predicate; gives the answers that change by it,
        and by the time that has passed since the last step. A fact that is wrong raises `FactError` and leaves the
        reasoner as it was."""
        moment = self.checker.time(now, "now")
        tables, checked = self._read(facts)
        self._check_now(moment)
        before = len(self.late)
        changes = self.advance(checked, moment, tables)
        late = self.late[before:]
        if not late:
            return changes
        if not self._warned:
            self._warned = True
            atom = show_atom(Atom(late[0].predicate, tuple(map(Constant, late[0].arguments))))
            warnings.warn(f"{atom} arrived too late and was left out; what push returns has a `late`", stacklevel=2)
        return changes.with_late(tuple(map(as_pushed, late)))

    def _read(self, facts: Iterable[Given] | Mapping[str, Any]) -> tuple[list[Columns], list[Fact]]:
        """Facts as people give them, checked: by the column where that is possible."""
        checked: list[Fact] = []
        tables: list[Columns] = []
        if not isinstance(facts, Mapping):
            if not isinstance(facts, Iterable):
                raise FactError('facts are tuples such as ("temp", ("wt25", "high"), 0), or a table for each predicate')
            tables, checked = self.tuples.read(facts)
        else:
            for name, table in facts.items():
                if name in self.subject.predicates and self.subject.predicates[name].is_static:
                    raise FactError(f"table {name}: `{name}` is static: its facts are given before the stream")
                read = self.tables.read(name, table)
                if isinstance(read, Columns):
                    if len(read):
                        tables.append(read)
                else:
                    checked.extend(read)
        return tables, checked

    def advance(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The same for facts that are checked already."""
        return (self._through_time if self.skips_nothing else self.step)(facts, now, tables)

    def _check_now(self, now: Number) -> None:
        if self.now is not None and (now < self.now or (now == self.now and not self.may_repeat)):
            raise PresageError(f"time goes forward: the last step was at {self.now}, this one is at {now}")
        if self.subject.discrete and not isinstance(now, int):
            raise PresageError(f"{now} is not a whole number, as times of the discrete timeline are")

    @property
    def skips_nothing(self) -> bool:
        """Whether there must be a step at each time at which something is decided."""
        return self.supposing is not None

    def _through_time(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns]) -> Answers:
        """A step at each time at which something is decided, though nothing arrives, up to now."""
        parts: list[Answers] = []
        while True:
            due = first_step(self.first_decision, now) if self.now is None else self.next_decision()
            if due is None or due >= now:
                break
            if not parts:
                self._refine(facts, tables, now)
            parts.append(self.step([], due))
        parts.append(self.step(facts, now, tables))
        if len(parts) == 1:
            return parts[0]
        return Answers(sum(map(len, parts)), lambda: [answer for part in parts for answer in part])

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The same for facts that are checked already."""
        self._check_now(now)
        if self.supposing is None or self.supposing.columns is not None:
            columns, facts = self.tuples.sort(facts)
            tables = [*tables, *columns]
        late = [fact for fact in facts if self.checker.is_late(fact, now)]
        taken = [fact for fact in facts if not self.checker.is_late(fact, now)] if late else facts
        self._refine(taken, tables, now)
        if self._behind and any(fact.low != fact.high for fact in taken):
            # What columns keep of a fact is its points up to now.
            self._catch_up()
        in_time = []
        for table in tables:
            too_late = table.late(self.subject.predicates[table.predicate], now)
            if too_late is not None:
                late.extend(table.chosen(too_late).facts())
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
        supposed = supposed if self._states is None else _made(self._states.take(supposed, now))
        self._standing, self._restored = supposed, []
        return supposed

    def _lag(self, predicate: str) -> Number:
        """How long after its time an answer of a predicate is settled."""
        if self._confirming is not None:
            lag = self._confirming.engine.lags.lag.get(predicate)
            if lag is not None and not isinstance(lag, float):
                return max(0, lag)
        return self.longest_lag

    def end(self) -> Answers:
        """What goes on, as far as the run went: with `emit="states"` its last lines. A stream that goes on from a saved
        state has no end."""
        if self._states is None or self.now is None:
            return NONE
        return _made(self._states.end(self.now))

    def _refine(self, facts: Sequence[Fact], tables: Sequence[Columns], now: Number) -> None:
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
        if self._confirming is not None:
            finer = self.confirming.finer([Fraction(1, parts)])
            if finer.holds(self.farthest):
                self.confirming.refine(finer)

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table: its columns, and `from`, `to`, `bounds`."""
        if name not in self.subject.predicates:
            raise PresageError(f"the program has no predicate `{name}`")
        return self.confirming.holds(name)

    def save(self, standing: bool = True) -> bytes:
        """The reasoner's memory, for `restore`; what the last step confirmed belongs to it, unless nobody asks."""
        extra: dict[str, Any] = {"farthest": str(self.farthest)}
        if standing:
            extra["standing"] = [saved(answer) for answer in self._last_confirmed()]
            extra["static"] = [static_saved(fact) for fact in self._statics]
        arrays: dict[str, Any] = {}
        if self.supposing is not None:
            extra["supposing"], arrays = self.supposing.saved()
            extra["emit"] = "confirmed" if self._only_confirmed else None if self._beside else "changes"
        if self._states is not None:
            extra["emit"], extra["states"] = "states", self._states.saved(saved)
        header: dict[str, Any] = {"extra": extra}
        if self._confirming is not None and not self._behind:
            header |= save_engine(self._confirming.engine, arrays)
        return packed(self.program, header, arrays)

    @classmethod
    def restore(cls, program: Program, blob: bytes, choice: Choice = ALL) -> Self:
        """A reasoner that goes on where the saved one was. The program must be the one it was saved with."""
        header, arrays = unpacked(program, blob)
        with reading(WHAT):
            emit = header.get("extra", {}).get("emit", "confirmed")
            reasoner = cls(program, emit=emit, choice=choice)
            reasoner._remember(header, arrays)
        return reasoner

    def _remember(self, header: dict[str, Any], arrays: Arrays) -> None:
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
        if self._states is not None:
            self._states.load(header["extra"]["states"], again)
        self._restored = [again(each) for each in header["extra"].get("standing", ())]

    def _check_recent(self, arrays: Arrays) -> None:
        """Facts that the engine has not been fed yet are of inputs, and have as many arguments."""
        for title in arrays:
            if title.startswith("recent "):
                known = self.subject.predicates[title.removeprefix("recent ")]
                arrays.rows(title, np.int64, 2 + max(1, known.arity))

    @property
    def fingerprint(self) -> str:
        """Tells programs apart by what they say, not by how they are laid out."""
        return fingerprint_of(self.program)

    def answers(self) -> Answers:
        """What stands now: what is possible, and what was confirmed at the last step."""
        stands = self._standing
        if self.supposing is not None and self.now is not None and not self._only_confirmed:
            stands = self.supposing.stands(self._standing, self.now)
        if not self._restored:
            return stands
        return _made([*self._restored, *stands])

    def _last_confirmed(self) -> Sequence[Answer]:
        if self._restored or self.supposing is None or self.now is None or self._only_confirmed:
            return self._restored or self._standing
        return self.supposing.confirmed(self._standing, self.now)

    def _repr_html_(self) -> str:
        return html_of(self)

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
        wake = next_wake(self.engine) if self.supposing is None else self.supposing.next_wake()
        if self._states is not None and self.now is not None:
            turn = self._states.next_turn(self.now)
            wake = turn if wake is None else wake if turn is None else min(wake, turn)
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
            lags = () if self._confirming is None else self._confirming.engine.lags.lag.values()
            wait = max([wait, *(lag for lag in lags if not isinstance(lag, float))])
        return wait

    @property
    def remembered(self) -> int:
        """How many intervals of facts are in memory; by columns, how many facts and answers."""
        if self._behind and self.supposing is not None and self.supposing.columns is not None:
            return (self.supposing.grid or self.supposing.columns).remembered
        return self.engine.remembered


def _made(answers: list[Answer]) -> Answers:
    return Answers(len(answers), lambda: answers)
