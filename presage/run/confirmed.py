"""What is entailed, as users get it: facts into the interval engine, its findings out as `Answer`s and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from presage.analysis.subject import Subject
from presage.answers import NONE, Answers, arrow_column, json_value, null_name
from presage.engine.build import fixed_time, make_engine, planned
from presage.engine.inventing import ChaseLimit
from presage.engine.joining import BindingRows, by_point
from presage.engine.many_steps import Additions, advance_through, takes_many_steps
from presage.engine.relation import Delta
from presage.engine.runtime import IntervalEngine
from presage.engine.state import fill_engine, save_engine
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.kernels.numbering import distinct
from presage.model.printer import show_number
from presage.model.statements import Query
from presage.model.terms import Constant, Number, Value, Variable
from presage.plan.known_when_final import known_when_final
from presage.run.confirmed_rows import ConfirmedRows, Entailed
from presage.run.names import ConstantNames
from presage.run.passages import Passage, rows_of
from presage.sealed import Arrays
from presage.time.cells import ENDLESS, Grid


class Confirming:
    """The side of a reasoner that knows what is entailed."""

    def __init__(self, subject: Subject, chase_limit: int | None = None) -> None:
        """Raises `Unsupported` for what the engine does not run. With a limit of values that a step may invent, a
        step that goes beyond it leaves everything as it was."""
        self.subject = subject
        self.planned = planned(subject)
        self.plan, self.lags = self.planned.plan, self.planned.lags
        self._chase_limit = chase_limit
        self._names: ConstantNames | None = None
        self._naming: tuple[list[Any], Callable[[], ConstantNames]] | None = None

    @cached_property
    def engine(self) -> IntervalEngine:
        """Made when something is to be worked out."""
        return make_engine(self.subject, self.planned, chase_limit=self._chase_limit)

    def add_static(self, facts: Sequence[Fact]) -> None:
        by_name: dict[str, dict[tuple[Value, ...], None]] = {}
        for fact in facts:
            by_name.setdefault(fact.predicate, {})[fact.arguments] = None
        for name, group in by_name.items():
            columns = [self.engine.symbols.number_all(each) for each in zip(*group, strict=True)]
            rows = np.column_stack(columns) if columns else np.zeros((1, 1), np.int32)
            everywhere = np.full(len(rows), ENDLESS, np.int64)
            self.engine.insert(name, rows, -everywhere, everywhere)

    def finer(self, times: Sequence[Number]) -> Grid:
        """The grid that these times need."""
        return Grid(True) if self.subject.discrete else self.engine.grid.refined(times)

    def refine(self, grid: Grid) -> None:
        """Moves to a finer grid; what is remembered moves with it."""
        if not self.subject.discrete and grid != self.engine.grid:
            self.engine.rescale(grid)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns]) -> dict[str, Delta]:
        """Takes what arrives at `now`; gives what is new of what is asked for."""
        before = None if self.engine.inventor.limit is None else self._copied()
        columns = self._columns(facts)
        for table in tables:
            self._add_table(columns, table)
        if before is None:
            return self.engine.advance(now, columns)
        try:
            return self.engine.advance(now, columns)
        except ChaseLimit as reached:
            fill_engine(self.engine, *before)
            line = "" if reached.rule is None else f" {self.subject.place(reached.rule)}:"
            raise PresageError(f"{self.subject.program.source.name}:{line} {reached}") from None

    def _copied(self) -> tuple[dict[str, Any], Arrays]:
        """What is in memory, to go back to."""
        held: dict[str, Any] = {}
        header = save_engine(self.engine, held)
        return header, Arrays({name: np.array(each) for name, each in held.items()})

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

    def _add_table(self, columns: dict[str, Any], table: Columns) -> None:
        if not self.engine.is_read(table.predicate):
            return
        rows, scale = rows_of(table, self.engine.symbols), self._scale
        cells = table.times * scale if scale > 1 else table.times
        before = columns.get(table.predicate)
        if before is not None:
            rows, low, high = (np.concatenate(pair) for pair in zip(before, (rows, cells, cells), strict=True))
            columns[table.predicate] = (rows, low, high)
        else:
            columns[table.predicate] = (rows, cells, cells)

    @property
    def _scale(self) -> int:
        """Cells for each unit of time."""
        return self.engine.grid.per_unit * self.engine.grid.step

    @property
    def takes_passages(self) -> bool:
        """Whether many steps can be taken at once."""
        return takes_many_steps(self.engine) or self._is_known_when_final

    @cached_property
    def _is_known_when_final(self) -> bool:
        """Whether the time of an answer alone says at which step it is told."""
        given = frozenset(name for name, each in self.subject.predicates.items() if each.is_input)
        late = known_when_final(self.plan, self.lags, given)
        return (
            not self.engine.counting
            and not self.engine.inventor.is_needed
            and all(query.atom.predicate in late for query in self.subject.queries)
        )

    def through(self, passage: Passage, end: Number | None = None, as_they_are: bool = False) -> Answers:
        """What is new at the steps of a passage; of a run that ends there, up to its `end`. Where whole numbers may be
        told `as_they_are`, some are no constants."""
        steps: list[Number] = passage.steps.tolist()
        if takes_many_steps(self.engine):
            coming = passage.coming(self.engine.symbols, self._scale, self.engine.is_read)
            return self._answers(advance_through(self.engine, steps, coming), steps, end)
        return self._answers(*self._as_one_step(passage, as_they_are), end)

    def _as_one_step(self, passage: Passage, as_they_are: bool) -> tuple[dict[str, Additions], list[Number]]:
        """What each time tells once it is final, and at which steps."""
        columns: dict[str, Any] = {}
        for table, _ in passage.parts:
            self._add_table(columns, table)
        engine, lags = self.engine, {name: int(self.lags.lag[name]) for name in self._asked_for}
        # The first step tells of all that was before it, and joins what touches.
        begin = int(passage.steps[0]) if engine.now is None and len(passage.steps) else -ENDLESS
        if as_they_are:
            engine.collecting.as_they_are = {name: engine.cells(begin - lags[name]) for name in self._asked_plainly}
        try:
            new = engine.advance(passage.until, columns)
        finally:
            engine.collecting.as_they_are = {}
        told, points = {}, {}
        for name, delta in new.items():
            rows = by_point(BindingRows(delta.tuples, delta.low, delta.high))
            row = delta.row if len(rows) == len(delta) else np.repeat(delta.row, delta.high - delta.low + 1)
            points[name] = Delta(row, rows.bindings, rows.low, rows.high)
            told[name] = np.maximum(rows.low // self._scale + lags[name], begin)
        if not told:
            return {}, []
        times = np.concatenate(list(told.values()))
        first = int(times.min())
        steps, which = distinct(times - first)
        spans = np.split(which.astype(np.int32), np.cumsum([len(each) for each in told.values()])[:-1])
        found = {name: Additions(span, points[name], first > begin) for name, span in zip(told, spans, strict=True)}
        return found, (steps + first).tolist()

    @property
    def _asked_for(self) -> list[str]:
        return [query.atom.predicate for query in self.subject.queries]

    @cached_property
    def _asked_plainly(self) -> list[str]:
        """The predicates of which one query alone asks for all there is."""
        return [
            query.atom.predicate
            for query in self.subject.queries
            if self._asked_for.count(query.atom.predicate) == 1
            and all(isinstance(each, Variable) for each in query.atom.arguments)
            and len(set(query.atom.arguments)) == len(query.atom.arguments)
        ]

    @property
    def may_follow(self) -> bool:
        """Whether what is in memory does not hang on how a stream is cut into steps."""
        return not self.engine.inventor.is_needed

    def follow(self, passage: Passage) -> None:
        """Takes a passage of which nobody is told what is entailed, as one step."""
        columns: dict[str, Any] = {}
        for table, _ in passage.parts:
            self._add_table(columns, table)
        self.engine.advance(passage.until, columns)

    def answers(self, new: dict[str, Delta], now: Number) -> Answers:
        """The answers of a step: counted now, made when they are looked at."""
        at_once = {name: Additions(np.zeros(len(delta), np.int32), delta) for name, delta in new.items()}
        return self._answers(at_once, [now])

    def _answers(self, new: dict[str, Additions], steps: list[Number], end: Number | None = None) -> Answers:
        found = [
            part
            for query in self.subject.queries
            if query.atom.predicate in new and (part := self.asked(query, new[query.atom.predicate], end)) is not None
        ]
        if not found:
            return NONE
        invents = self.engine.inventor.is_needed
        # Constants may get other numbers later, in another list.
        values, rows = self.engine.symbols.values, self._named(found) if invents else found
        told = ConfirmedRows(rows, steps, self._naming_of(values), self.engine.grid)
        return Answers(len(told), told.answers, None if invents else told)

    def _naming_of(self, values: list[Any]) -> Callable[[], ConstantNames]:
        """The same for all steps whose constants have the same numbers."""
        if self._naming is None or self._naming[0] is not values:
            self._naming = values, lambda: self.names_of(values)
        return self._naming[1]

    def names_of(self, values: list[Any]) -> ConstantNames:
        if self._names is None or self._names.values is not values:
            if values is not self.engine.symbols.values:
                return ConstantNames(values)
            self._names = ConstantNames(values)
        return self._names

    def _named(self, found: list[Entailed]) -> list[Entailed]:
        """The rows with names for invented values: their numbers may belong to others when someone looks."""
        numbers = self.engine.symbols.shown_as(np.concatenate([each.rows.ravel() for each in found]))
        parts = np.split(numbers, np.cumsum([each.rows.size for each in found])[:-1])
        return [replace(each, rows=part.reshape(each.rows.shape)) for each, part in zip(found, parts, strict=True)]

    def asked(self, query: Query, new: Additions, end: Number | None) -> Entailed | None:
        """The new pieces that a query asks for, joined where they touch; those that are intervals up to the end."""
        delta = new.delta
        rows, low, high = delta.tuples[:, : len(query.atom.arguments)], delta.low, delta.high
        row, step = delta.row, new.step
        wanted: Any = None
        places: dict[str, int] = {}
        for place, asked in enumerate(query.atom.arguments):
            if isinstance(asked, Constant):
                fits = rows[:, place] == self.engine.symbols.find(asked.value)
            elif isinstance(asked, Variable) and not asked.is_anonymous and asked.name in places:
                fits = rows[:, place] == rows[:, places[asked.name]]
            else:
                if isinstance(asked, Variable):
                    places[asked.name] = place
                continue
            wanted = fits if wanted is None else wanted & fits
        at = fixed_time(query)
        if at is not None:
            cell = self.engine.grid.cell(at)
            fits = (low <= cell) & (cell <= high)
            wanted = fits if wanted is None else wanted & fits
        if wanted is not None:
            row, rows, low, high, step = row[wanted], rows[wanted], low[wanted], high[wanted], step[wanted]
        if at is not None:
            low = high = np.full(len(low), cell, np.int64)
        if not len(low):
            return None
        if not new.apart and len(new.step) and (new.step[-1] or _repeats(row)):
            order = np.lexsort((low, row, step))
            row, rows, low, high, step = row[order], rows[order], low[order], high[order], step[order]
            # A piece goes on where the one before it, of the same tuple, ends.
            apart = np.ones(len(low), bool)
            apart[1:] = (step[1:] != step[:-1]) | (row[1:] != row[:-1]) | (low[1:] > high[:-1] + 1)
            starts = np.flatnonzero(apart)
            rows, low, high, step = rows[starts], low[starts], np.maximum.reduceat(high, starts), step[starts]
        if end is not None:
            last = self.engine.cells(end)
            inside = self._are_points(low, high) | (low <= last)
            rows, low, high, step = rows[inside], low[inside], high[inside], step[inside]
            high = np.where(self._are_points(low, high), high, np.minimum(high, last))
        return Entailed(query, rows, low, high, step) if len(low) else None

    def _are_points(self, low: Any, high: Any) -> Any:
        return (low == high) if self.engine.grid.discrete else (low == high) & (low % 2 == 0)

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table: its columns, and `from`, `to`, `bounds`."""
        try:
            import pyarrow as pa
        except ImportError:
            raise PresageError("tables are made with pyarrow: pip install pyarrow") from None
        known = self.subject.predicates[name]
        held = self.engine.relations[name].contents()
        columns: dict[str, list[Any]] = {}
        values: Any = self.engine.symbols.values
        for place in range(known.arity):
            title = known.columns[place].name if place < len(known.columns) else str(place + 1)
            numbers = self.engine.symbols.shown_as(held.tuples[:, place]).tolist()
            columns[title] = [json_value(values[each]) if each >= 0 else null_name(-each) for each in numbers]
        spans = [self.engine.grid.span(int(start), int(end)) for start, end in zip(held.low, held.high, strict=True)]
        columns["from"] = [None if span.low is None else show_number(span.low) for span in spans]
        columns["to"] = [None if span.high is None else show_number(span.high) for span in spans]
        columns["bounds"] = [("[" if s.closed_low else "(") + ("]" if s.closed_high else ")") for s in spans]
        return pa.table({title: arrow_column(values) for title, values in columns.items()})


def _repeats(numbers: Any) -> bool:
    """Whether some number occurs twice. Where they lie close together, counting them is faster than sorting."""
    if int(numbers.max()) < 8 * len(numbers):
        return bool((np.bincount(numbers) > 1).any())
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())
