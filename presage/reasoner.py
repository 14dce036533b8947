"""The reasoner: a program at work, from Python.

reasoner = presage.Reasoner(presage.load("turbines.psg"))
for answer in reasoner.push([("temp", ("wt25", "high"), 0)], now=0):
    print(answer)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from presage.answers import NONE, Answer, Answers, Value, bindings_of, json_value, shown_name
from presage.checking import Report, check_text
from presage.engine.build import make_engine
from presage.engine.grid import ENDLESS, Grid
from presage.engine.relation import Delta
from presage.engine.replay import reach_of_memory
from presage.engine.runtime import Engine
from presage.engine.state import fill_engine, read_state, save_engine
from presage.errors import PresageError
from presage.hypothesis.bulk.engine import Bulk
from presage.io.facts import Checker, Fact, FactError
from presage.io.tables import Columns, read_table
from presage.model.printer import show_number
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Constant, Number, Variable, number
from presage.plan.builder import Unsupported
from presage.supposing import ALL, Choice, Supposing

Given = tuple[Any, ...]
"""A fact as a tuple: (predicate, arguments, time), where time may be (1, 5, "[)")."""


class Reasoner:
    """Feeds facts to a program and gives the changes of its answers. Steps must go forward in time."""

    def __init__(
        self,
        program: Program,
        static: Mapping[str, Iterable[Sequence[Any]]] | None = None,
        *,
        emit: str | None = None,
        choice: Choice = ALL,
        report: Report | None = None,
    ) -> None:
        """With `emit="confirmed"` only what is entailed is worked out, which is faster; so it is anyway for programs
        without hypothetical answers, which `emit="changes"` refuses. `choice` says which open answers are told;
        `report` is the program's check report, for who has it already."""
        if emit not in (None, "changes", "confirmed"):
            raise PresageError(f'emit is "changes" or "confirmed", not {emit!r}')
        source = program.source
        if report is None:
            report = check_text(source.text or str(program), source.name)
        report.or_raise()
        assert report.findings is not None
        self.program = program
        self.subject = report.findings.watched
        if report.findings.route.engine != "interval":
            raise PresageError(f"{source.name}: this program needs answer streams: {report.findings.route.reason}")
        self.checker = Checker(self.subject.program, self.subject.predicates, self.subject.discrete)
        self.findings = report.findings
        possible = all(each.hypothetical.possible for each in report.findings.queries)
        self._only_confirmed = emit == "confirmed" or (emit is None and not (possible and self.subject.discrete))
        self._engine = self._make_engine(needed=self._only_confirmed and not possible)
        suppose = not self._only_confirmed or self._engine is None
        self.supposing = Supposing(self.subject, choice) if suppose else None
        self._behind = False
        """Whether the engine was not fed: answers come by columns, and nobody has asked it anything yet."""
        if self._engine is not None and self.supposing is not None and self.supposing.bulk is not None:
            self.supposing.bulk.remember = reach_of_memory(self._engine)
            self._behind = self.supposing.bulk.remember is not None
        self.now: Number | None = None
        self.late: list[Fact] = []
        self.farthest: Number = 0
        self._standing = NONE
        for name, rows in (static or {}).items():
            for index, row in enumerate(rows):
                entry = {"pred": name, "args": list(row)}
                self.add_static(self.checker.fact(entry, f"static {name}, row {index + 1}"))

    def _make_engine(self, needed: bool) -> Engine | None:
        """The engine of entailed facts; with hypothetical answers a program can do without."""
        try:
            return make_engine(self.subject)
        except Unsupported:
            if needed:
                raise
            return None

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            make_engine(self.subject)  # says what it does not run
        assert self._engine is not None
        if self._behind:
            self._catch_up()
        return self._engine

    def _catch_up(self, columns: Bulk | None = None) -> None:
        """Feeds the engine the facts that it would still remember something of; from now on it is fed as they come."""
        engine = self._engine
        bulk = self.supposing.bulk if columns is None and self.supposing is not None else columns
        assert engine is not None and bulk is not None
        self._behind, bulk.remember = False, None
        values: Any = bulk.symbols.values
        while bulk.recent:
            now, arrivals = bulk.recent.popleft()
            facts = {}
            for name, parts in arrivals.items():
                given, times = (np.concatenate(each) for each in zip(*parts, strict=True))
                rows = np.zeros(given.shape, np.int64)
                if self.subject.predicates[name].arity:
                    used, places = np.unique(given, return_inverse=True)
                    rows = engine.symbols.number_all(values[each] for each in used)[places].reshape(given.shape)
                facts[name] = (rows, times, times)
            engine.advance(now, facts)
        if self.now is not None and engine.now != self.now:
            engine.advance(self.now, {})

    def add_static(self, fact: Fact) -> None:
        if self.now is not None:
            raise PresageError("static facts are known before the stream: give them before the first step")
        if self.supposing is not None:
            self.supposing.engine.statics.add(fact.predicate, fact.arguments)
        if self._engine is None:
            return
        row = (
            self.engine.symbols.number_all(fact.arguments).reshape(1, -1)
            if fact.arguments
            else np.zeros((1, 1), np.int64)
        )
        everywhere = np.array([ENDLESS], np.int64)
        self.engine.insert(fact.predicate, row, -everywhere, everywhere)

    def push(self, facts: Iterable[Given] | Mapping[str, Any], now: Any) -> Answers:
        """Takes what arrives at `now`, as tuples or as a table for each predicate; gives the answers that are
        confirmed by it. A fact that is wrong raises `FactError` and leaves the reasoner as it was."""
        moment = self.checker.time(now, "now")
        if not isinstance(facts, Mapping):
            return self.step([self._given(given, index) for index, given in enumerate(facts)], moment)
        checked: list[Fact] = []
        tables: list[Columns] = []
        for name, table in facts.items():
            read = read_table(name, table, self.checker)
            if isinstance(read, Columns):
                tables.append(read)
            else:
                checked.extend(read)
        return self.step(checked, moment, tables)

    def _given(self, given: Given, index: int) -> Fact:
        where = f"fact {index + 1}"
        if not isinstance(given, tuple) or len(given) != 3:
            raise FactError(f'{where}: a fact is (predicate, arguments, time), such as ("temp", ("wt25", "high"), 0)')
        name, arguments, when = given
        entry: dict[str, Any] = {"pred": name, "args": list(arguments)}
        if isinstance(when, tuple):
            if len(when) != 3:
                raise FactError(f'{where}: an interval is (from, to, bounds), such as (1, 5, "[)")')
            entry.update({"from": when[0], "to": when[1], "bounds": when[2]})
        else:
            entry["time"] = when
        return self.checker.fact(entry, where)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The same for facts that are checked already."""
        if self.now is not None and now <= self.now:
            raise PresageError(f"time goes forward: the last step was at {self.now}, this one is at {now}")
        if self.subject.discrete and not isinstance(now, int):
            raise PresageError(f"{now} is not a whole number, as times of the discrete timeline are")
        late = [fact for fact in facts if self.checker.is_late(fact, now)]
        taken = [fact for fact in facts if not self.checker.is_late(fact, now)] if late else facts
        self._refine(taken, tables, now)
        if self._behind and any(fact.low != fact.high for fact in taken):
            # What columns keep of a fact is its points up to now.
            self._catch_up()
        for index, table in enumerate(tables):
            in_time = table.in_time(self.subject.predicates[table.predicate], now)
            if not in_time.all():
                late.extend(table.chosen(~in_time).facts())
                tables = [*tables[:index], table.chosen(in_time), *tables[index + 1 :]]
        supposed = None if self.supposing is None else self.supposing.step(taken, now, tables)
        if supposed is not None and self._only_confirmed:
            kept = [answer for answer in supposed if answer.status == "confirmed"]
            supposed = Answers(len(kept), lambda: kept)
        self.late.extend(late)
        self.now = now
        if self._engine is not None and not self._behind:
            columns = self._columns(taken)
            for table in tables:
                self._add_table(columns, table)
            new = self._engine.advance(now, columns)
            if supposed is None:
                supposed = self._answers(new, now)
        assert supposed is not None
        self._standing = supposed
        return supposed

    def _refine(self, facts: Sequence[Fact], tables: Sequence[Columns], now: Number) -> None:
        """Makes the grid finer where the data needs it; what is remembered moves with it. Refuses times that
        are too large, or too fine for how large others are, before anything changes."""
        times = [time for fact in facts for time in (fact.low, fact.high) if time is not None]
        grid = Grid(self.subject.discrete) if self._engine is None else self._engine.grid
        finer = grid if self.subject.discrete else grid.refined(times)
        farthest = max([self.farthest, now, *times, *(int(table.times.max()) for table in tables if len(table))])
        if not finer.holds(farthest):
            raise FactError(
                f"times up to {show_number(farthest)} in steps of 1/{finer.per_unit} are more than the engine can "
                "count: choose a coarser unit, or a later `start`"
            )
        self.farthest = farthest
        if self._engine is not None and finer != grid:
            self._engine.rescale(finer)

    def refine(self, parts: int) -> None:
        """Makes the dense timeline's grid at least so fine, whatever arrives: a shard steps as finely as all do."""
        if self._engine is None:
            return
        finer = self.engine.grid.refined([Fraction(1, parts)])
        if finer != self.engine.grid and finer.holds(self.farthest):
            self.engine.rescale(finer)

    def _columns(self, facts: Sequence[Fact]) -> dict[str, Any]:
        by_name: dict[str, list[Fact]] = {}
        for fact in facts:
            by_name.setdefault(fact.predicate, []).append(fact)
        grid, symbols = self.engine.grid, self.engine.symbols
        columns = {}
        for name, group in by_name.items():
            width = max(1, self.subject.predicates[name].arity)
            rows = np.zeros((len(group), width), np.int64)
            cells = np.empty((len(group), 2), np.int64)
            for index, fact in enumerate(group):
                for place, value in enumerate(fact.arguments):
                    rows[index, place] = symbols.number(value)
                assert fact.low is not None
                cells[index] = grid.cells(fact.low, fact.high, fact.closed_low, fact.closed_high)
            columns[name] = (rows, cells[:, 0].copy(), cells[:, 1].copy())
        return columns

    def _add_table(self, columns: dict[str, Any], table: Columns) -> None:
        rows = np.zeros((len(table), max(1, len(table.arguments))), np.int64)
        for place, column in enumerate(table.arguments):
            values, places = column.encoded()
            rows[:, place] = self.engine.symbols.number_all(values)[places]
        grid = self.engine.grid
        cells = table.times * (grid.per_unit * grid.step)
        before = columns.get(table.predicate)
        if before is not None:
            rows, cells_low, cells_high = (
                np.concatenate([before[0], rows]),
                np.concatenate([before[1], cells]),
                np.concatenate([before[2], cells]),
            )
            columns[table.predicate] = (rows, cells_low, cells_high)
        else:
            columns[table.predicate] = (rows, cells, cells)

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table: its columns, and `from`, `to`, `bounds`."""
        try:
            import pyarrow as pa
        except ImportError:
            raise PresageError("tables are made with pyarrow: pip install pyarrow") from None
        if name not in self.subject.predicates:
            raise PresageError(f"the program has no predicate `{name}`")
        known = self.subject.predicates[name]
        relation = self.engine.relations[name]
        rows, low, high = relation.contents()
        columns: dict[str, list[Any]] = {}
        for place in range(known.arity):
            title = known.columns[place].name if place < len(known.columns) else str(place + 1)
            columns[title] = [json_value(self.engine.symbols.value(int(each))) for each in rows[:, place]]
        spans = [self.engine.grid.span(int(start), int(end)) for start, end in zip(low, high, strict=True)]
        columns["from"] = [None if span.low is None else show_number(span.low) for span in spans]
        columns["to"] = [None if span.high is None else show_number(span.high) for span in spans]
        columns["bounds"] = [("[" if s.closed_low else "(") + ("]" if s.closed_high else ")") for s in spans]
        return pa.table({title: arrow_column(values) for title, values in columns.items()})

    def _answers(self, new: dict[str, list[Delta]], now: Number) -> Answers:
        """The answers of a step: counted now, made when they are looked at."""
        found = [
            (query, *part)
            for query in self.subject.queries
            if (part := self._asked(query, new.get(query.atom.predicate, []))) is not None
        ]
        if not found:
            return NONE
        # Constants may get other numbers later, in another list.
        values, grid = self.engine.symbols.values, self.engine.grid

        def make() -> list[Answer]:
            answers = []
            for query, rows, low, high in found:
                for row, start, end in zip(rows.tolist(), low.tolist(), high.tolist(), strict=True):
                    arguments = tuple(values[each] for each in row)
                    answers.append(self._answer(query, arguments, grid, start, end, now))
            return sorted(answers, key=lambda answer: answer.answer)

        return Answers(sum(len(low) for _, _, low, _ in found), make)

    def _asked(self, query: Query, deltas: list[Delta]) -> tuple[Any, Any, Any] | None:
        """The new pieces that a query asks for, joined where they touch."""
        if not deltas:
            return None
        relation = self.engine.relations[query.atom.predicate]
        rows = np.concatenate([relation.columns[delta.row, : relation.arity] for delta in deltas])
        low = np.concatenate([delta.low for delta in deltas])
        high = np.concatenate([delta.high for delta in deltas])
        wanted = np.ones(len(low), bool)
        places: dict[str, int] = {}
        for place, asked in enumerate(query.atom.arguments):
            if isinstance(asked, Constant):
                wanted &= rows[:, place] == self.engine.symbols.numbers.get(asked.value, -1)
            elif isinstance(asked, Variable) and not asked.is_anonymous:
                wanted &= rows[:, place] == rows[:, places.setdefault(asked.name, place)]
        rows, low, high = rows[wanted], low[wanted], high[wanted]
        if not len(low):
            return None
        order = np.lexsort((low, *rows.T[::-1]))
        rows, low, high = rows[order], low[order], high[order]
        # A piece goes on where the one before it, of the same tuple, ends.
        apart = np.ones(len(low), bool)
        apart[1:] = (rows[1:] != rows[:-1]).any(axis=1) | (low[1:] > high[:-1] + 1)
        starts = np.flatnonzero(apart)
        return rows[starts], low[starts], np.maximum.reduceat(high, starts)

    def _answer(
        self, query: Query, arguments: tuple[Value, ...], grid: Grid, low: int, high: int, now: Number
    ) -> Answer:
        span = grid.span(low, high)
        name, bindings = shown_name(query.atom.predicate), bindings_of(query, arguments)
        if span.low == span.high and span.closed_low and span.closed_high:
            return Answer(now, "confirmed", name, arguments, bindings, time=span.low)
        bounds = ("[" if span.closed_low else "(") + ("]" if span.closed_high else ")")
        return Answer(now, "confirmed", name, arguments, bindings, start=span.low, end=span.high, bounds=bounds)

    def save(self) -> bytes:
        """The reasoner's memory, for `restore`."""
        extra: dict[str, Any] = {"farthest": str(self.farthest)}
        arrays: dict[str, Any] = {}
        if self.supposing is not None:
            extra["supposing"], arrays = self.supposing.saved()
            extra["emit"] = "confirmed" if self._only_confirmed else "changes"
        return save_engine(None if self._behind else self._engine, self.fingerprint, extra, arrays)

    @classmethod
    def restore(cls, program: Program, blob: bytes, choice: Choice = ALL) -> Reasoner:
        """A reasoner that goes on where the saved one was. The program must be the one it was saved with."""
        fingerprint = fingerprint_of(program)
        header, arrays = read_state(blob, fingerprint)
        saved = header["extra"].get("supposing")
        reasoner = cls(program, emit=header["extra"].get("emit", "confirmed"), choice=choice)
        was_fed = "relations" in header
        if reasoner._engine is not None and was_fed:
            fill_engine(reasoner._engine, header, arrays)
            reasoner.now, reasoner._behind = reasoner._engine.now, False
        if reasoner.supposing is not None:
            bulk = reasoner.supposing.load(saved, arrays)
            reasoner.now = reasoner.supposing.now
            if bulk is not None and reasoner._engine is not None and not reasoner._behind:
                reasoner._catch_up(bulk)
        reasoner.farthest = number(Fraction(header["extra"]["farthest"]))
        return reasoner

    @property
    def fingerprint(self) -> str:
        """Tells programs apart by what they say, not by how they are laid out."""
        return fingerprint_of(self.program)

    def answers(self) -> Answers:
        """What stands now: what is possible, and what was confirmed at the last step."""
        if self.supposing is None or self.now is None or self._only_confirmed:
            return self._standing
        return self.supposing.stands(self._standing, self.now)

    @property
    def first_decision(self) -> Number | None:
        """When something is decided though nothing has arrived yet: hypothetical answers count from 0, or with
        timestamps from the first arrival."""
        return 0 if self.looks_ahead and self.subject.discrete and self.checker.units.tick is None else None

    @property
    def looks_ahead(self) -> bool:
        """Whether answers about times after the last step belong to a run."""
        return self.supposing is not None

    def next_decision(self) -> Number | None:
        """The earliest time after now at which something may be decided though nothing arrives."""
        wake = self.engine.next_wake() if self.supposing is None else self.supposing.next_wake()
        if wake is None or self.now is None:
            return wake
        wake = max(wake, self.now)
        if self.subject.discrete:
            wake = math.ceil(wake)
        if wake <= self.now:
            if not self.subject.discrete:
                assert self._engine is not None
                return number(self.now + Fraction(1, self._engine.grid.per_unit))
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
            lags = () if self._engine is None else self._engine.lags.lag.values()
            wait = max([wait, *(lag for lag in lags if not isinstance(lag, float))])
        return wait

    @property
    def remembered(self) -> int:
        """How many intervals of facts are in memory; by columns, how many facts and answers."""
        if self._behind and self.supposing is not None and self.supposing.bulk is not None:
            return self.supposing.bulk.remembered
        return self.engine.remembered


def fingerprint_of(program: Program) -> str:
    return hashlib.sha256(str(program).encode()).hexdigest()


def arrow_column(values: list[Any]) -> Any:
    """A column of one type: numbers where all are whole numbers, otherwise text."""
    import pyarrow as pa

    if values and all(isinstance(value, int) for value in values):
        return pa.array(values, pa.int64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
