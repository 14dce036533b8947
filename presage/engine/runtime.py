"""The engine at work: facts in, what follows from them out, step by step.

Everything new in a relation (a delta) goes to the inboxes of the nodes that read it. Components of
relations are worked off in order, each to its fixpoint. Absence is concluded only where a relation is
final: rows that wait for that lie in the node's queue, ordered by time, and so do facts beyond the
horizon of relations that derive themselves ever later.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from presage.analysis.differences import INF, Bound
from presage.engine.grid import ENDLESS, Grid
from presage.engine.joining import CompiledJoin, Rows, compile_join
from presage.engine.relation import Delta, Ints, Relation
from presage.engine.since import run_since
from presage.engine.symbols import Symbols
from presage.engine.waiting import Waiting
from presage.kernels import operators
from presage.kernels.joins import FAR
from presage.model.terms import Number
from presage.plan.lags import NEVER, Lags, offsets
from presage.plan.nodes import Dilate, Erode, Join, Known, Node, Plan, Reach, Since, reads

# Below so many constants it is not worth looking which are still used.
FEW_SYMBOLS = 10_000


@dataclass(slots=True)
class Worker:
    """A node with what it has to do."""

    node: Node
    component: int
    join: CompiledJoin | None = None
    inbox: list[tuple[int, Delta]] = field(default_factory=list)
    waiting: Waiting = field(default_factory=Waiting)


class Engine:
    def __init__(self, plan: Plan, lags: Lags, symbols: Symbols, grid: Grid, horizon: Number) -> None:
        self.plan, self.lags, self.symbols, self.grid = plan, lags, symbols, grid
        self.horizon = horizon
        self.now: Number | None = None
        self.relations = {name: Relation(source.arity) for name, source in plan.sources.items()}
        for name, relation in self.relations.items():
            relation.bucket = self._bucket(lags.keep[name])
        self.ahead: dict[str, Waiting] = {name: Waiting() for name in lags.clipped}
        self.final = {name: self._final_at_start(name) for name in plan.sources}
        self.new: dict[str, list[Delta]] = {}
        self.watched: set[str] = set()
        self.most_symbols = FEW_SYMBOLS
        self.workers: list[Worker] = []
        self.readers: dict[str, list[tuple[Worker, int]]] = {name: [] for name in plan.sources}
        self.active: dict[int, deque[Worker]] = {}
        for node in plan.nodes:
            self._add(node)
        self.components = sorted(set(lags.component.values()))
        self.negating: dict[int, list[Worker]] = {}
        for worker in self.workers:
            if isinstance(worker.node, Join) and worker.node.negated:
                self.negating.setdefault(worker.component, []).append(worker)

    def _bucket(self, keep: Bound) -> int:
        if keep in (INF, NEVER):
            return self.grid.step * 64
        return max(self.grid.step, int(self._cells(max(keep, 0)) // 4))

    def _cells(self, length: Bound) -> int:
        """A length of time as cells, infinite ones included; rounded down to the grid."""
        if length == INF:
            return ENDLESS
        if length == NEVER:
            return -ENDLESS
        return math.floor(Fraction(length) * self.grid.per_unit) * self.grid.step

    def _add(self, node: Node) -> None:
        worker = Worker(node, self.lags.component[node.head])
        if isinstance(node, Join):
            worker.join = compile_join(node, self.relations, self.symbols, self.grid)
        elif isinstance(node, Since):
            self.relations[node.right].add_index(node.columns)
        self.workers.append(worker)
        for slot, (name, absent) in enumerate(reads(node)):
            if not absent:
                self.readers[name].append((worker, slot))

    # One step of the stream.

    def begin(self, known: list[Known]) -> None:
        """Puts in the program's own facts."""
        for fact in known:
            row = np.array([[self.symbols.number(each.value) for each in fact.arguments] or [0]], np.int64)
            low = -ENDLESS if fact.low is None else self.grid.cells(fact.low, None, fact.closed_low)[0]
            high = ENDLESS
            if fact.high is not None:
                high = self.grid.cells(fact.high, fact.high)[1] - (0 if fact.closed_high else 1)
            self.insert(fact.relation, row, np.array([low], np.int64), np.array([high], np.int64))

    def advance(self, now: Number, facts: dict[str, tuple[Ints, Ints, Ints]]) -> dict[str, list[Delta]]:
        """Takes in what arrives at `now`; gives what is new in the watched relations."""
        self.now = now
        if len(self.symbols) > self.most_symbols:
            self._free_symbols(facts)
        for name, waiting in self.ahead.items():
            for rows, low, high in waiting.take(self._ahead_cell()):
                self.insert(name, rows, low, high)
        for name, (rows, low, high) in facts.items():
            self.insert(name, rows, low, high)
        for number in self.components:
            self._work(number)
        new, self.new = self.new, {}
        self._forget()
        return new

    def _ahead_cell(self) -> int:
        assert self.now is not None
        return self._cells(Fraction(self.now) + self.horizon)

    def _final_at_start(self, name: str) -> int:
        """Predicates are final before time 0, where nothing holds."""
        return -1 if self.plan.sources[name].kind in ("input", "derived") else -ENDLESS

    def final_cap(self, name: str) -> int:
        """The last cell up to which a relation is final at this step."""
        lag = self.lags.lag[name]
        if lag == NEVER:
            return ENDLESS
        if lag == INF or self.now is None:
            return self._final_at_start(name)
        return max(self._cells(self.now - lag), self._final_at_start(name))

    def insert(self, name: str, rows: Ints, low: Ints, high: Ints) -> None:
        if not len(low):
            return
        kind = self.plan.sources[name].kind
        if kind in ("input", "derived"):
            low = np.maximum(low, 0)
            keep = low <= high
            if not keep.all():
                rows, low, high = rows[keep], low[keep], high[keep]
        if name in self.ahead:
            limit = self._ahead_cell() if self.now is not None else -1
            later = high > limit
            if later.any():
                self.ahead[name].put(rows[later], np.maximum(low[later], limit + 1), high[later])
                high = np.minimum(high, limit)
                keep = low <= high
                rows, low, high = rows[keep], low[keep], high[keep]
        if not len(low):
            return
        delta = self.relations[name].insert(rows, low, high)
        if not len(delta):
            return
        if name in self.watched:
            self.new.setdefault(name, []).append(delta)
        for worker, slot in self.readers[name]:
            if not worker.inbox:
                self.active.setdefault(worker.component, deque()).append(worker)
            worker.inbox.append((slot, delta))

    def next_wake(self) -> Number | None:
        """The earliest time at which something may be decided though nothing arrives."""
        times = [time for worker in self.workers if (time := self._wakes(worker)) is not None]
        for waiting in self.ahead.values():
            start = waiting.first()
            if start is not None and start < FAR:
                times.append(self.grid.time(start) - self.horizon)
        return min(times, default=None)

    def _wakes(self, worker: Worker) -> Number | None:
        if worker.join is None or not worker.join.negated:
            return None
        start = worker.waiting.first()
        if start is None or start >= FAR:
            return None
        wake: Number | None = None
        for literal, _, _, shift, fixed in worker.join.negated:
            lag = self.lags.lag[literal.relation]
            if lag == INF:
                return None
            if isinstance(lag, float):
                continue
            cell = fixed if literal.at is not None else max(start, 0) + shift
            if not self.grid.discrete and cell % 2:
                cell += 1
            time = self.grid.time(cell) + lag
            wake = time if wake is None else max(wake, time)
        return wake

    # Components.

    def _work(self, number: int) -> None:
        if number in self.lags.internal_negation:
            self._work_through_time(number)
            return
        for worker in self.negating.get(number, ()):
            self._release(worker, self._final_for(worker, self.final))
        self._settle(number)
        for name, own in self.lags.component.items():
            if own == number:
                self.final[name] = self.final_cap(name)

    def _settle(self, number: int) -> None:
        queue = self.active.get(number)
        while queue:
            worker = queue.popleft()
            inbox, worker.inbox = worker.inbox, []
            for slot, delta in inbox:
                self._run(worker, slot, delta)

    def _final_for(self, worker: Worker, final: dict[str, int]) -> int:
        """Up to which cell of the rule's time all that it negates is final."""
        assert worker.join is not None
        limit = ENDLESS
        for literal, _, _, shift, _ in worker.join.negated:
            own = final[literal.relation]
            if literal.at is not None:
                limit = min(limit, ENDLESS if own >= self.grid.cell(literal.at) else -ENDLESS)
            elif own < FAR:
                limit = min(limit, own - shift if own > -FAR else own)
        return limit

    def _work_through_time(self, number: int) -> None:
        """A component that depends on its own absence: worked off along time, as far as each part of it
        becomes final by what is final before it."""
        names = [name for name, own in self.lags.component.items() if own == number]
        caps = {name: self.final_cap(name) for name in names}
        edges: dict[str, list[tuple[str, Bound]]] = {name: [] for name in names}
        for worker in self.workers:
            if worker.component == number:
                for source, _, high, _ in offsets(worker.node, self.plan.discrete):
                    edges[worker.node.head].append((source, high))
        workers = self.negating[number]
        self._settle(number)
        while True:
            for worker in workers:
                self._release(worker, self._final_for(worker, self.final))
            self._settle(number)
            if not any(worker.waiting.has(self._final_for(worker, {**self.final, **caps})) for worker in workers):
                self.final.update(caps)
                # What became final last may let the rest through.
                for worker in workers:
                    self._release(worker, self._final_for(worker, self.final))
                self._settle(number)
                return
            moved = False
            for name in names:
                limit = caps[name]
                for source, high in edges[name]:
                    own = self.final[source]
                    if own < FAR:
                        limit = min(limit, own - self._cells(high) if own > -FAR and high != INF else -ENDLESS)
                if limit > self.final[name]:
                    self.final[name] = limit
                    moved = True
            if not moved:
                return

    # Nodes.

    def _run(self, worker: Worker, slot: int, delta: Delta) -> None:
        node = worker.node
        if isinstance(node, Join):
            assert worker.join is not None
            rows = worker.join.run(slot, delta)
            if len(rows):
                self._conclude(worker, rows)
        elif isinstance(node, Dilate):
            rows_of = self.relations[node.source].columns[delta.row]
            self.insert_moved(node.head, rows_of, *operators.dilate(delta.low, delta.high, *self.distances(node.reach)))
        elif isinstance(node, Erode):
            rows_of = self.relations[node.source].columns[delta.row]
            distances = self.distances(node.reach)
            low, high = operators.erode(delta.whole_low, delta.whole_high, *distances)
            # Only what needs the new piece is new; the rest has been said, and may be forgotten.
            about = operators.dilate(delta.low, delta.high, distances[0], distances[1], False, False)
            self.insert_moved(node.head, rows_of, np.maximum(low, about[0]), np.minimum(high, about[1]))
        else:
            run_since(self, node, slot, delta)

    def distances(self, reach: Reach) -> tuple[int, int, bool, bool]:
        near = -ENDLESS if reach.near is None else self.grid.cell(reach.near)
        far = ENDLESS if reach.far is None else self.grid.cell(reach.far)
        return near, far, reach.open_near, reach.open_far

    def insert_moved(self, name: str, rows: Ints, low: Ints, high: Ints) -> None:
        keep = low <= high
        if keep.all():
            self.insert(name, rows, low, high)
        elif keep.any():
            self.insert(name, rows[keep], low[keep], high[keep])

    def _conclude(self, worker: Worker, rows: Rows) -> None:
        assert worker.join is not None
        if worker.join.negated:
            limit = self._final_for(worker, self.final)
            later = rows.high > limit
            if later.any():
                low = np.maximum(rows.low[later], limit + 1) if limit > -FAR else rows.low[later]
                worker.waiting.put(rows.bindings[later], low, rows.high[later])
                rows = Rows(rows.bindings, rows.low, np.minimum(rows.high, limit))
                rows = rows.picked(rows.low <= rows.high)
            rows = worker.join.without_negated(rows)
        self._insert_heads(worker, rows)

    def _release(self, worker: Worker, limit: int) -> None:
        assert worker.join is not None
        for bindings, low, high in worker.waiting.take(limit):
            later = high > limit
            if later.any() and limit < FAR:
                worker.waiting.put(bindings[later], np.full(int(later.sum()), limit + 1, np.int64), high[later])
            rows = worker.join.without_negated(Rows(bindings, low, np.minimum(high, limit)))
            self._insert_heads(worker, rows)

    def _insert_heads(self, worker: Worker, rows: Rows) -> None:
        if not len(rows):
            return
        assert worker.join is not None
        node = worker.join.node
        low, high = rows.low, rows.high
        if node.head_at is not None:
            low = high = np.full(len(rows), self.grid.cell(node.head_at), np.int64)
        elif not node.head_reach.is_nothing:
            low, high = operators.dilate(low, high, *self.distances(node.head_reach))
        self.insert_moved(node.head, worker.join.heads(rows), low, high)

    # Finer time.

    def rescale(self, grid: Grid) -> None:
        """Moves everything to a finer grid."""
        factor = grid.per_unit // self.grid.per_unit
        for relation in self.relations.values():
            relation.rescale(factor)
        for worker in self.workers:
            worker.waiting.rescale(factor)
        for waiting in self.ahead.values():
            waiting.rescale(factor)
        self.final = {name: _finer(cell, factor, True) for name, cell in self.final.items()}
        self.regrid(grid)

    def regrid(self, grid: Grid) -> None:
        """Makes the nodes ready for a grid; what is remembered must be on it already."""
        self.grid = grid
        for worker in self.workers:
            if isinstance(worker.node, Join):
                worker.join = compile_join(worker.node, self.relations, self.symbols, grid)

    # Forgetting.

    def _forget(self) -> None:
        assert self.now is not None
        for name, relation in self.relations.items():
            keep = self.lags.keep[name]
            if keep != INF and self.plan.sources[name].kind != "static":
                since = -ENDLESS if keep == NEVER else self._cells(self.now - keep)
                relation.forget(self._cells(self.now) if keep == NEVER else since)

    def _free_symbols(self, facts: dict[str, tuple[Ints, Ints, Ints]]) -> None:
        """Gives back the numbers of constants that nothing refers to any more."""
        used = [relation.columns[relation.rows()].ravel() for relation in self.relations.values()]
        used += [rows.ravel() for rows, _, _ in facts.values()]
        for waiting in (*self.ahead.values(), *(worker.waiting for worker in self.workers)):
            used += [rows.ravel() for rows, _, _ in waiting.everything()]
        for worker in self.workers:
            if worker.join is not None:
                used.append(np.array(worker.join.constants, np.int64))
        numbers = np.concatenate(used)
        # Bindings of variables that are computed later are not set yet.
        self.symbols.keep_only(numbers[(numbers >= 0) & (numbers < len(self.symbols.values))])
        self.most_symbols = 2 * len(self.symbols) + FEW_SYMBOLS

    @property
    def remembered(self) -> int:
        """How many tuple intervals are in memory."""
        return sum(relation.intervals for relation in self.relations.values())


def _finer(cell: int, factor: int, is_end: bool) -> int:
    """A cell on a grid that is finer by a factor; a gap becomes its first or last cell."""
    if abs(cell) >= FAR or cell % 2 == 0:
        return cell if abs(cell) >= FAR else cell * factor
    return (cell + 1) * factor - 1 if is_end else (cell - 1) * factor + 1
