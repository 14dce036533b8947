"""The engine at work: facts in, what follows from them out, step by step.

Everything new in a relation goes to its log, and what reads it looks there (`kernels/driver.py`). Components of
relations are worked off in order, each to its fixpoint. Absence is concluded only where a relation is final: rows
that wait for that lie in the join's queue, ordered by time, and so do facts beyond the horizon of relations that
derive themselves ever later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from presage.analysis.differences import INF
from presage.engine.boundaries import Boundaries
from presage.engine.collecting import Collecting
from presage.engine.compiling import Outside, PlanCompiler, distances
from presage.engine.counting import RowWindows
from presage.engine.enough import Enough
from presage.engine.finality import final_together, in_one_go, settling
from presage.engine.inventing import Invention, Inventor
from presage.engine.joining import BindingRows, OutsideJoin
from presage.engine.paths import only_passed_on
from presage.engine.relation import Delta, Relation, Store, finer_ends
from presage.engine.stamping import Stamping, stampings
from presage.engine.sweeping import Sweeps
from presage.engine.symbols import Symbols
from presage.engine.waiting import WaitingRows
from presage.kernels import driver, fields
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.forgetting import forget, forget_news
from presage.kernels.operators import dilate_all
from presage.kernels.waiting import split_at
from presage.model.terms import Bound, Number
from presage.plan.lags import NEVER, Lags, offsets
from presage.plan.nodes import Join, KnownFact, LastRows, Plan, reads
from presage.time.cells import ENDLESS, Grid

FEW_SYMBOLS = 10_000  # below so many constants it is not worth looking which are still used
SOME = 8192  # findings that are worked on at a time

NewFacts = dict[str, tuple[Ints32, Ints, Ints]]


class IntervalEngine:
    def __init__(
        self,
        plan: Plan,
        lags: Lags,
        symbols: Symbols,
        grid: Grid,
        horizon: Number,
        watched: Iterable[str] = (),
        chase_limit: int | None = None,
    ) -> None:
        """Of `watched` relations each step gives what is new. No step may invent more values than `chase_limit`."""
        self.plan, self.lags, self.symbols, self.grid = plan, lags, symbols, grid
        self.horizon = horizon
        self.now: Number | None = None
        self.store = Store(
            {name: source.arity for name, source in plan.sources.items()}, lambda: len(self.symbols.values)
        )
        self.relations = self.store.relations
        self.ahead: dict[str, WaitingRows] = {name: WaitingRows() for name in lags.clipped}
        self.final = {name: self._final_at_start(name) for name in plan.sources}
        self.watched = set(watched)
        self.most_symbols = FEW_SYMBOLS
        # Joins that conclude from absence have rows that wait, in the order of the plan.
        self.negating = [node for node in plan.nodes if isinstance(node, Join) and node.negated]
        self.waiting = {id(node): WaitingRows() for node in self.negating}
        for name, relation in self.relations.items():
            relation.table[fields.FROM_ZERO] = plan.sources[name].kind in ("input", "derived")
            if lags.keep[name] != INF and plan.sources[name].kind != "static":
                relation.forgets(self._bucket(lags.keep[name]))
        self.read = {name for node in plan.nodes for name, _ in reads(node)}
        for name in only_passed_on(plan) - self.watched:
            self.store.pass_on(name)
        self.members: dict[int, list[str]] = {}
        for name, number in lags.component.items():
            self.members.setdefault(number, []).append(name)
        self.settled = settling(plan, lags)
        self.inventor = Inventor(plan, symbols, chase_limit)
        self.collecting = Collecting(plan, lags, self.relations, symbols)
        self.stampings = stampings(plan)
        self.boundaries = None if plan.discrete or not self.negating else Boundaries(plan, lags)
        rows = [node for node in plan.nodes if isinstance(node, LastRows)]
        self.counting = RowWindows(rows, self.relations, symbols)
        self.counted = {name for node in rows for name in node.counted}
        self.sweeps = Sweeps(plan, lags, self.store, self.waiting)
        self._compile()
        self.start()

    def _compile(self) -> None:
        """Makes the plan ready for the grid."""
        outside: dict[int, Outside] = {**self.inventor.inventions, **self.stampings, **self.collecting.enough}
        answered = self.collecting.answered
        compiler = PlanCompiler(self.plan, self.lags, self.store, self.symbols, self.grid, outside, answered)
        self.code = compiler.compile()
        for asked in answered.values():
            asked.join, asked.wanted = compiler.answered_join(asked.reader, asked.beside)
        self.joins: dict[int, OutsideJoin] = compiler.joins
        self.constants = compiler.constants
        # Where triggers note how much they have seen, how many there are, and how far apart.
        triggers = self.code.triggers
        self.seen = triggers.ctypes.data + 8 * driver.SEEN, len(triggers), driver.TRIGGER_BYTES
        self._make_output(SOME)
        self.keeps = np.array([self._kept_cells(name) for name in self.relations], np.int64)
        # Components that conclude from absence are worked off one by one, those between them in one go.
        special = {self.lags.component[node.head] for node in self.negating}
        special |= {self.lags.component[name] for name in (*self.counting.followers, *self.collecting.reached())}
        self.stretches = in_one_go(len(self.code.starts) - 1, special)
        self.special = special

    def _make_output(self, size: int) -> None:
        """Room for what is found."""
        width = max(
            [relation.width for relation in self.relations.values()] + [join.width for join in self.code.joins.values()]
        )
        self.output = np.empty(size * width, np.int32), np.empty(size, np.int64), np.empty(size, np.int64)
        code = self.code
        arrays: dict[int, Any] = {
            fields.TABLES: self.store.tables, fields.TRIGGERS: code.triggers, fields.STARTS: code.starts,
            fields.STEPS: code.steps, fields.SPECS: code.specs, fields.CHECKS: code.checks,
            fields.FOUND_TUPLES: code.found, fields.STACK: code.stack, fields.ENTRIES: code.entries,
            fields.PAIRS: code.pairs, fields.WANTED: code.wanted, fields.TUPLES: self.output[0],
            fields.LOWS: self.output[1], fields.HIGHS: self.output[2],
        }  # fmt: skip
        self.work = np.zeros(fields.WORK_FIELDS, np.int64)
        for field, array in arrays.items():
            self.work[field] = array.ctypes.data
        self.work[fields.ENTRY_BYTES] = code.entries.strides[1]
        self.work[fields.MOST_ENTRIES] = code.entries.shape[1]
        self.work[fields.ROOM] = size
        self.address: int = self.work.ctypes.data

    def _kept_cells(self, name: str) -> int:
        """How long what has ended is kept, rounded up to the grid."""
        keep = self.lags.keep[name]
        if keep in (INF, NEVER):
            return 0
        return math.ceil(Fraction(keep) * self.grid.per_unit) * self.grid.step

    def _cutoff(self, name: str) -> int:
        """What has ended before this cell is forgotten at the end of the step."""
        return self.cells(self.now or 0) - int(self.keeps[self.relations[name].number])

    def _bucket(self, keep: Bound) -> int:
        if keep in (INF, NEVER):
            return self.grid.step * 64
        return max(self.grid.step * 4, 2 * int(self.cells(max(keep, 0))))

    def cells(self, length: Bound) -> int:
        """A length of time as cells, infinite ones included; rounded down to the grid."""
        if length == INF:
            return ENDLESS
        if length == NEVER:
            return -ENDLESS
        if isinstance(length, int):
            return length * self.grid.per_unit * self.grid.step
        return math.floor(Fraction(length) * self.grid.per_unit) * self.grid.step

    # One step of the stream.

    def start(self) -> None:
        """Nothing is derived ahead before the first step."""
        self._hold_back(-1)

    def begin(self, known: list[KnownFact]) -> None:
        """Puts in the program's own facts."""
        for fact in known:
            row = np.array([[self.symbols.number(each.value) for each in fact.arguments] or [0]], np.int32)
            low = -ENDLESS if fact.low is None else self.grid.cells(fact.low, None, fact.closed_low)[0]
            high = ENDLESS
            if fact.high is not None:
                high = self.grid.cells(fact.high, fact.high)[1] - (0 if fact.closed_high else 1)
            self.insert(fact.relation, row, np.array([low], np.int64), np.array([high], np.int64))

    def advance(self, now: Number, facts: NewFacts) -> dict[str, Delta]:
        """Takes in what arrives at `now`; gives what is new in the watched relations."""
        self.now = now
        self.inventor.in_step = 0
        self.make_ready([rows for rows, _, _ in facts.values()])
        if self.ahead:
            limit = self.cells(Fraction(now) + self.horizon)
            self._hold_back(limit)
            for name, waiting in self.ahead.items():
                due = waiting.take(limit)
                if due is not None:
                    self.insert(name, *due)
        for name, (rows, low, high) in facts.items():
            self.insert(name, rows, low, high)
            if self.boundaries is not None:
                self.boundaries.note(low, high)
        for name in self.settled:
            self.final[name] = self.final_cap(name)
        if self.counting:
            self.counting.count(min(map(self.final_cap, self.counted)))
        for first, last in self.stretches:
            if first in self.special:
                self._work(first)
            else:
                self._settle(first, last)
        new = {name: found for name in self.watched if (found := self.collecting.news(name)) is not None}
        self.collect()
        self.forget_news()
        if self.counting:
            self.counting.forget(min(map(self.final_cap, [*self.counted, *self.counting.followers])))
        forget(self.store.address, self.store.indexes_address, self.cells(now) - self.keeps)
        if self.collecting.enough:
            self.collecting.forget(dict(zip(self.relations, (self.cells(now) - self.keeps).tolist(), strict=True)))
        self.swept()
        return new

    def swept(self) -> None:
        """Looks now and then through what no length of time says how long it is needed."""
        self.sweeps.run(self._surely_final, self.cells, self.now or 0)

    def forget_news(self) -> None:
        """All has been seen by all."""
        number = forget_news(self.store.address, len(self.store.tables), *self.seen)
        if number >= 0:
            self.store.relation(number).shorten_log()

    def _final_at_start(self, name: str) -> int:
        """Predicates are final before time 0, where nothing holds."""
        return -1 if self.plan.sources[name].kind in ("input", "derived") else -ENDLESS

    def final_cap(self, name: str) -> int:
        """The last cell up to which a relation is final at this step."""
        lag, opening = self.lags.moving[name], self.lags.opening[name]
        if lag == INF or opening > (NEVER if self.now is None else self.now):
            return self._final_at_start(name)
        if lag == NEVER:
            return ENDLESS
        if self.now is None:
            return self._final_at_start(name)
        return max(self.cells(self.now - lag), self._final_at_start(name))

    def _surely_final(self, name: str) -> int:
        """The last cell up to which a relation is final, at the end of a step."""
        inner = self.lags.component[name] in self.lags.internal_negation
        return min(self.final[name], self.final_cap(name)) if inner else self.final_cap(name)

    def is_read(self, name: str) -> bool:
        """Whether anything depends on a relation; the others need not be remembered."""
        return name in self.read or name in self.watched

    def insert(self, name: str, rows: Ints32, low: Ints, high: Ints) -> None:
        self.gaining(name).insert(rows, low, high)

    def gaining(self, name: str) -> Relation:
        """The relation that facts of a predicate are put into."""
        return self.relations[self.code.stands_in.get(name, name)]

    def _hold_back(self, cell: int) -> None:
        """Relations that derive themselves ever later are derived up to a cell; what lies after it waits."""
        self.collect()
        for name in self.ahead:
            self.relations[name].hold_back(cell)

    def collect(self) -> None:
        """Takes what relations have put aside to where it waits."""
        for name, waiting in self.ahead.items():
            waiting.put(*self.relations[name].put_aside())

    # Components.

    def _work(self, number: int) -> None:
        negating = [self.joins[id(node)] for node in self.negating if self.lags.component[node.head] == number]
        if number in self.lags.internal_negation:
            self._work_through_time(number, negating)
            return
        for name in self.members[number]:
            if name in self.counting.followers:
                self.counting.follow(name, self.final_cap(name))
            elif name in self.collecting.collectors:
                told = self.collecting.collect(name, self.final_cap(name), self._cutoff(name))
                self.insert(name, told.bindings, told.low, told.high)
            elif name in self.collecting.answering:
                for join, rows in self.collecting.answer(name, self.final_cap(name), self._cutoff):
                    self._insert_heads(join, rows)
        for join in negating:
            self._release(join, join.final_by(self.final))
        self._settle(number, number + 1)

    def _settle(self, first: int, last: int) -> None:
        """Works off components until nothing in them is new."""
        while True:
            end, first, number, more = driver.run(self.work_at(), first, last)
            if end == driver.DONE:
                return
            self.make_way(end, number, more)

    def make_way(self, end: int, number: int, more: int) -> None:
        """Does what kernels stopped for: makes room, or what they cannot do themselves."""
        if end == driver.TABLE_FULL:
            self.store.relation(number).make_room(more)
        elif end == driver.OUTPUT_FULL:
            self._make_output(4 * len(self.output[1]))
        else:
            self._work_outside(number)

    def work_at(self) -> int:
        """The address of what the kernels work with. Constants and indexes may have moved."""
        self.work[fields.INDEXES] = self.store.indexes_address
        self.work[fields.FLOATS] = self.symbols.floats_address
        return self.address

    def _work_outside(self, number: int) -> None:
        """Takes what a trigger finds to where more than the kernels is needed."""
        code = self.code
        trigger, join = code.triggers[number], code.joins[number]
        seen, count = driver.evaluate(self.work_at(), trigger.ctypes.data)
        if seen == trigger[driver.SEEN]:
            self._make_output(4 * len(self.output[1]))
            return
        trigger[driver.SEEN] = seen
        tuples, low, high = self.output
        # These are the kernels' own: whatever is kept of them is copied on the way.
        found = BindingRows(tuples[: count * join.width].reshape(-1, join.width), low[:count], high[:count])
        if isinstance(join, (Invention, Enough)):
            copied = BindingRows(found.bindings.copy(), found.low.copy(), found.high.copy())
            rows = join.apply(copied) if isinstance(join, Enough) else self.inventor.apply(join, copied)
            self.insert(join.node.head, rows.bindings, rows.low, rows.high)
        elif isinstance(join, Stamping):
            rows = join.apply(found, self.grid, self.symbols)
            self.insert(join.node.head, np.ascontiguousarray(rows.bindings), rows.low, rows.high)
        else:
            self._conclude(join, join.finish(found))

    def _work_through_time(self, number: int, joins: list[OutsideJoin]) -> None:
        """A component that depends on its own absence: worked off along time, as far as each part of it
        becomes final by what is final before it."""
        names = self.members[number]
        caps = {name: self.final_cap(name) for name in names}
        edges = [
            (node.head, source, high, absent)
            for node in self.plan.nodes
            if self.lags.component[node.head] == number
            for source, _, high, absent in offsets(node, self.plan.discrete)
            if high != INF or source in caps  # The caps know when what others say at fixed times is final.
        ]
        self._settle(number, number + 1)
        while True:
            for join in joins:
                self._release(join, join.final_by(self.final))
            self._settle(number, number + 1)
            able = {**self.final, **caps}
            if not any(self.waiting[id(join.node)].has(join.final_by(able)) for join in joins):
                self.final.update(caps)
                # What became final last may let the rest through.
                for join in joins:
                    self._release(join, join.final_by(self.final))
                self._settle(number, number + 1)
                return
            reached = final_together(self.final, caps, edges, self.cells)
            moved = [name for name in names if reached[name] > self.final[name]]
            if not moved:
                return
            self.final.update({name: reached[name] for name in moved})

    # Joins with absence, comparisons or computed values.

    def _conclude(self, join: OutsideJoin, rows: BindingRows) -> None:
        if join.awaited:
            due, later = split_at(rows.bindings, rows.low, rows.high, join.final_by(self.final))
            self.waiting[id(join.node)].put(*later)
            rows = join.without_negated(BindingRows(*due))
        self._insert_heads(join, rows)

    def _release(self, join: OutsideJoin, limit: int) -> None:
        waiting = self.waiting[id(join.node)]
        due = waiting.take(limit)
        if due is None:
            return
        rows = join.still_there(BindingRows(*due))
        now, later = split_at(rows.bindings, rows.low, rows.high, limit)
        waiting.put(*later)
        self._insert_heads(join, join.without_negated(BindingRows(*now)))

    def _insert_heads(self, join: OutsideJoin, rows: BindingRows) -> None:
        if not len(rows):
            return
        node = join.node
        low, high = rows.low, rows.high
        if node.head_at is not None:
            low = high = np.full(len(rows), self.grid.cell(node.head_at), np.int64)
        elif not node.head_reach.is_nothing:
            reach = node.head_reach
            low, high = dilate_all(low, high, *distances(reach, self.grid), reach.open_near, reach.open_far)
        self.insert(node.head, join.heads(rows), low, high)

    # Finer time.

    def rescale(self, grid: Grid) -> None:
        """Moves everything to a finer grid."""
        factor = grid.per_unit // self.grid.per_unit
        self.collect()
        self.grid = grid
        for relation in self.relations.values():
            relation.rescale(factor)
        for waiting in (*self.waiting.values(), *self.ahead.values()):
            waiting.rescale(factor)
        if self.boundaries is not None:
            self.boundaries.rescale(factor)
        self.final = finer_ends(self.final, factor)
        # Where a step lay between two points of the coarser grid, aggregates went up to the one before it only.
        reached = finer_ends(self.collecting.reached(), factor)
        self._go_on(reached.__getitem__)

    def regrid(self, grid: Grid) -> None:
        """Makes the plan ready for a grid; what is remembered must be on it already, as the last step left it."""
        self.grid = grid
        self._go_on(self.final_cap)

    def _go_on(self, reached: Callable[[str], int]) -> None:
        """Goes on with another grid; up to a cell of it each aggregate has told what it is worth."""
        for name, relation in self.relations.items():
            if relation.table[fields.FORGETS]:
                relation.forgets(self._bucket(self.lags.keep[name]))
        self.collecting.rebuild(reached)
        self._compile()

    # Forgetting.

    def make_ready(self, coming: list[Ints32]) -> None:
        """Gives back the numbers of constants that nothing refers to any more, nor what is coming."""
        if len(self.symbols) <= self.most_symbols:
            return
        used = [relation.contents().tuples.ravel() for relation in self.relations.values()]
        used += [rows.ravel() for rows in (*coming, *self.symbols.held())]
        for waiting in (*self.ahead.values(), *self.waiting.values()):
            used += [rows.ravel() for rows, _, _ in waiting.everything()]
        used += [np.array(self.constants, np.int32), *self.counting.used(), *self.collecting.used()]
        flags = np.zeros(len(self.symbols.values), bool)
        flags[np.concatenate(used)] = True
        self.inventor.forget(flags)
        self.symbols.keep_only(np.flatnonzero(flags))
        self.most_symbols = 2 * len(self.symbols) + FEW_SYMBOLS

    @property
    def remembered(self) -> int:
        """How many tuple intervals are in memory."""
        return sum(relation.intervals for relation in self.relations.values())
