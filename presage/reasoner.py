"""The reasoner: a program at work, from Python.

reasoner = presage.Reasoner(presage.load("turbines.psg"))
for answer in reasoner.push([("temp", ("wt25", "high"), 0)], now=0):
    print(answer)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from presage.answers import NONE, Answer, Answers, Value, json_value
from presage.checking import Report, check_text
from presage.engine.build import make_engine
from presage.engine.grid import ENDLESS, Grid
from presage.engine.relation import Delta
from presage.engine.state import fill_engine, read_state, save_engine
from presage.errors import PresageError
from presage.io.facts import Checker, Fact, FactError
from presage.io.tables import Columns, Listed, TableReader, Texts
from presage.io.tuples import Given, TupleReader
from presage.kernels.layout import FAR
from presage.kernels.texts import span
from presage.model.printer import show_number
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Constant, Number, Variable, number


class Reasoner:
    """Feeds facts to a program and gives what is confirmed. Steps must go forward in time."""

    def __init__(
        self,
        program: Program,
        static: Mapping[str, Iterable[Sequence[Any]]] | None = None,
        *,
        report: Report | None = None,
    ) -> None:
        """`report` is the program's check report, for who has it already."""
        source = program.source
        if report is None:
            report = check_text(source.text or str(program), source.name)
        report.or_raise()
        assert report.findings is not None
        self.program = program
        self.subject = report.findings.subject
        if report.findings.route.engine != "interval":
            raise PresageError(f"{source.name}: this program needs answer streams: {report.findings.route.reason}")
        self.checker = Checker(self.subject.program, self.subject.predicates, self.subject.discrete)
        self.tables, self.tuples = TableReader(self.checker), TupleReader(self.checker)
        self.engine = make_engine(self.subject)
        self.now: Number | None = None
        self.late: list[Fact] = []
        self.farthest: Number = 0
        self._standing = NONE
        for name, rows in (static or {}).items():
            for index, row in enumerate(rows):
                entry = {"pred": name, "args": list(row)}
                self.add_static(self.checker.fact(entry, f"static {name}, row {index + 1}"))

    def add_static(self, fact: Fact) -> None:
        if self.now is not None:
            raise PresageError("static facts are known before the stream: give them before the first step")
        row = (
            self.engine.symbols.number_all(fact.arguments).reshape(1, -1)
            if fact.arguments
            else np.zeros((1, 1), np.int32)
        )
        everywhere = np.array([ENDLESS], np.int64)
        self.engine.insert(fact.predicate, row, -everywhere, everywhere)

    def push(self, facts: Iterable[Given] | Mapping[str, Any], now: Any) -> Answers:
        """Takes what arrives at `now`, as tuples or as a table for each predicate; gives the answers that are
        confirmed by it. A fact that is wrong raises `FactError` and leaves the reasoner as it was."""
        moment = self.checker.time(now, "now")
        if not isinstance(facts, Mapping):
            columns, others = self.tuples.read(facts)
            return self.step(others, moment, columns)
        checked: list[Fact] = []
        tables: list[Columns] = []
        for name, table in facts.items():
            read = self.tables.read(name, table)
            if isinstance(read, Columns):
                if len(read):
                    tables.append(read)
            else:
                checked.extend(read)
        return self.step(checked, moment, tables)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The same for facts that are checked already."""
        if self.now is not None and now <= self.now:
            raise PresageError(f"time goes forward: the last step was at {self.now}, this one is at {now}")
        if self.subject.discrete and not isinstance(now, int):
            raise PresageError(f"{now} is not a whole number, as times of the discrete timeline are")
        columns_of_facts, facts = self.tuples.sort(facts)
        tables = [*tables, *columns_of_facts]
        late = [fact for fact in facts if self.checker.is_late(fact, now)]
        taken = [fact for fact in facts if not self.checker.is_late(fact, now)] if late else facts
        measured = [(table, self._number(table), *self._measure(table, now)) for table in tables]
        self._refine(taken, now, max((most for _, _, most, _ in measured), default=0))
        self.late.extend(late)
        self.now = now
        columns = self._columns(taken)
        for table, rows, _, too_late in measured:
            self._add_table(columns, table, rows, too_late, now)
        new = self.engine.advance(now, columns)
        self._standing = self._answers(new, now)
        return self._standing

    def _refine(self, facts: Sequence[Fact], now: Number, most: int) -> None:
        """Makes the grid finer where the data needs it; what is remembered moves with it. Refuses times that
        are too large, or too fine for how large others are, before anything changes."""
        times = [time for fact in facts for time in (fact.low, fact.high) if time is not None]
        finer = self.engine.grid if self.subject.discrete else self.engine.grid.refined(times)
        farthest = max([self.farthest, now, most, *times])
        if not finer.holds(farthest):
            raise FactError(
                f"times up to {show_number(farthest)} in steps of 1/{finer.per_unit} are more than the engine can "
                "count: choose a coarser unit, or a later `start`"
            )
        self.farthest = farthest
        if finer != self.engine.grid:
            self.engine.rescale(finer)

    def _columns(self, facts: Sequence[Fact]) -> dict[str, Any]:
        by_name: dict[str, list[Fact]] = {}
        for fact in facts:
            if self.engine.is_read(fact.predicate):
                by_name.setdefault(fact.predicate, []).append(fact)
        grid, symbols = self.engine.grid, self.engine.symbols
        columns = {}
        for name, group in by_name.items():
            width = max(1, self.subject.predicates[name].arity)
            rows = np.zeros((len(group), width), np.int32)
            cells = np.empty((len(group), 2), np.int64)
            for index, fact in enumerate(group):
                for place, value in enumerate(fact.arguments):
                    rows[index, place] = symbols.number(value)
                assert fact.low is not None
                cells[index] = grid.cells(fact.low, fact.high, fact.closed_low, fact.closed_high)
            columns[name] = (rows, cells[:, 0].copy(), cells[:, 1].copy())
        return columns

    def _number(self, table: Columns) -> Any:
        """The constants of a table's rows as numbers; `None` where nothing reads them."""
        symbols, is_read = self.engine.symbols, self.engine.is_read(table.predicate)
        numbers = []
        for column in table.columns:
            try:
                if not is_read:
                    if isinstance(column, Texts) and not column.is_readable():
                        raise ValueError
                elif isinstance(column, Texts):
                    numbers.append(symbols.number_texts(len(column), column.places, column.data))
                elif isinstance(column, Listed):
                    numbers.append(symbols.number_all(column.values))
                else:
                    numbers.append(symbols.number_all(column.distinct)[column.places])
            except ValueError:
                where = f"table {table.predicate}: the column `{column.name}`"
                raise FactError(f"{where} has text that is not UTF-8") from None
        if not is_read:
            return None
        if len(numbers) == 1:
            return numbers[0].reshape(-1, 1)
        return np.column_stack(numbers) if numbers else np.zeros((len(table), 1), np.int32)

    def _measure(self, table: Columns, now: Number) -> tuple[int, int]:
        """How far a table's times go, and how many of its rows are too late."""
        least, most, late = span(table.times, self._limit(table, now))
        if least < 0:
            table.refuse_times_before_start()
        return most, late

    def _limit(self, table: Columns, now: Number) -> int:
        """The first time at which a row may still come; `now` may turn out too large only later."""
        return min(math.ceil(now - (self.subject.predicates[table.predicate].delay or 0)), FAR)

    def _add_table(self, columns: dict[str, Any], table: Columns, rows: Any, late: int, now: Number) -> None:
        times = table.times
        if late:
            too_late = times < self._limit(table, now)
            self.late.extend(self._late_rows(table, too_late))
            times = times[~too_late]
            rows = rows if rows is None else rows[~too_late]
        if rows is None:
            return
        scale = self.engine.grid.per_unit * self.engine.grid.step
        cells = times * scale if scale > 1 else times
        before = columns.get(table.predicate)
        if before is not None:
            rows, low, high = (np.concatenate(pair) for pair in zip(before, (rows, cells, cells), strict=True))
            columns[table.predicate] = (rows, low, high)
        else:
            columns[table.predicate] = (rows, cells, cells)

    def _late_rows(self, table: Columns, late: Any) -> Iterator[Fact]:
        for index in np.flatnonzero(late):
            time = int(table.times[index])
            yield Fact(table.predicate, tuple(column.value(int(index)) for column in table.columns), time, time)

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
        held = relation.contents()
        rows, low, high = held.tuples, held.low, held.high
        columns: dict[str, list[Any]] = {}
        for place in range(known.arity):
            title = known.columns[place].name if place < len(known.columns) else str(place + 1)
            columns[title] = [json_value(self.engine.symbols.value(int(each))) for each in rows[:, place]]
        spans = [self.engine.grid.span(int(start), int(end)) for start, end in zip(low, high, strict=True)]
        columns["from"] = [None if span.low is None else show_number(span.low) for span in spans]
        columns["to"] = [None if span.high is None else show_number(span.high) for span in spans]
        columns["bounds"] = [("[" if s.closed_low else "(") + ("]" if s.closed_high else ")") for s in spans]
        return pa.table({title: _arrow_column(values) for title, values in columns.items()})

    def _answers(self, new: dict[str, Delta], now: Number) -> Answers:
        """The answers of a step: counted now, made when they are looked at."""
        found = [
            (query, *part)
            for query in self.subject.queries
            if query.atom.predicate in new and (part := self._asked(query, new[query.atom.predicate])) is not None
        ]
        if not found:
            return NONE
        # Constants may get other numbers later, in another list.
        values, grid = self.engine.symbols.values, self.engine.grid

        def make() -> list[Answer]:
            answers = []
            for query, rows, low, high in found:
                names = places_of(query)
                for row, start, end in zip(rows.tolist(), low.tolist(), high.tolist(), strict=True):
                    arguments = tuple([values[each] for each in row])
                    bindings = {name: arguments[place] for name, place in names}
                    answers.append(_answer(query.atom.predicate, arguments, bindings, grid, start, end, now))
            return sorted(answers, key=_text)

        return Answers(sum(len(low) for _, _, low, _ in found), make)

    def _asked(self, query: Query, delta: Delta) -> tuple[Any, Any, Any] | None:
        """The new pieces that a query asks for, joined where they touch."""
        rows, low, high = delta.tuples[:, : len(query.atom.arguments)], delta.low, delta.high
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
        row = delta.row[wanted]
        order = np.argsort(row, kind="stable")
        ordered = row[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return rows, low, high
        order = np.lexsort((low, row))
        row, rows, low, high = row[order], rows[order], low[order], high[order]
        # A piece goes on where the one before it, of the same tuple, ends.
        apart = np.ones(len(low), bool)
        apart[1:] = (row[1:] != row[:-1]) | (low[1:] > high[:-1] + 1)
        starts = np.flatnonzero(apart)
        return rows[starts], low[starts], np.maximum.reduceat(high, starts)

    def save(self) -> bytes:
        """The reasoner's memory, for `restore`."""
        return save_engine(self.engine, self.fingerprint, {"farthest": str(self.farthest)})

    @classmethod
    def restore(cls, program: Program, blob: bytes) -> Reasoner:
        """A reasoner that goes on where the saved one was. The program must be the one it was saved with."""
        reasoner = cls(program)
        header, arrays = read_state(blob, reasoner.fingerprint)
        fill_engine(reasoner.engine, header, arrays)
        reasoner.now = reasoner.engine.now
        reasoner.farthest = number(Fraction(header["extra"]["farthest"]))
        return reasoner

    @property
    def fingerprint(self) -> str:
        """Tells programs apart by what they say, not by how they are laid out."""
        return hashlib.sha256(str(self.program).encode()).hexdigest()

    def answers(self) -> Answers:
        """What was confirmed at the last step."""
        return self._standing

    def next_decision(self) -> Number | None:
        """The earliest time after now at which something may be decided though nothing arrives."""
        wake = self.engine.next_wake()
        if wake is None or self.now is None:
            return wake
        wake = max(wake, self.now)
        if self.subject.discrete:
            wake = math.ceil(wake)
        if wake <= self.now:
            wake = self.now + 1 if self.subject.discrete else number(self.now + Fraction(1, self.engine.grid.per_unit))
        return wake

    @property
    def remembered(self) -> int:
        """How many intervals of facts are in memory."""
        return self.engine.remembered


def _arrow_column(values: list[Any]) -> Any:
    """A column of one type: numbers where all are whole numbers, otherwise text."""
    import pyarrow as pa

    if values and all(isinstance(value, int) for value in values):
        return pa.array(values, pa.int64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def places_of(query: Query) -> list[tuple[str, int]]:
    """The query's variables, and at which argument each stands."""
    return [
        (asked.name, place)
        for place, asked in enumerate(query.atom.arguments)
        if isinstance(asked, Variable) and not asked.is_anonymous
    ]


def _text(answer: Answer) -> str:
    return answer.answer


def _answer(
    name: str, arguments: Any, bindings: dict[str, Value], grid: Grid, low: int, high: int, now: Number
) -> Answer:
    if low == high and (time := grid.point(low)) is not None:
        return Answer(now, "confirmed", name, arguments, bindings, time)
    span = grid.span(low, high)
    bounds = ("[" if span.closed_low else "(") + ("]" if span.closed_high else ")")
    return Answer(now, "confirmed", name, arguments, bindings, start=span.low, end=span.high, bounds=bounds)
