"""Aggregates at work: where there are enough tuples of a group, and what they are worth together.

`AtLeast` works on single new pieces, as joins do (`enough.py`). `Collect` waits until its source
is final, and then goes along the times at which tuples enter and leave: by the column (`tallying.py`), or one by one
where values are texts, or numbers that are too fine. What it remembers is what its source holds from there on, so a
saved engine needs nothing more than its relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from presage.engine.asked_groups import AskedGroups, asking
from presage.engine.enough import Enough
from presage.engine.joining import BindingRows, joined
from presage.engine.points_in_windows import stamped
from presage.engine.relation import Delta, Relation
from presage.engine.symbols import Symbols
from presage.engine.tallying import NotByColumn, Tallies
from presage.engine.worth import WORTH, Count
from presage.kernels.arrays import Ints32
from presage.kernels.fields import FAR
from presage.model.terms import Number
from presage.plan.lags import Lags
from presage.plan.nodes import AtLeast, Collect, Plan, reads
from presage.time.cells import ENDLESS, Grid

GroupKey = tuple[int, ...]
FEW = 64


@dataclass(slots=True)
class StandingGroup:
    """A group that is not empty: what it is worth, and its row among those that stand."""

    worth: list[Count]
    """One for each function."""
    row: int


class Collector:
    """What one aggregate is worth, group by group, up to where its source is final."""

    tells_changes = False

    def __init__(self, node: Collect, source: Relation, symbols: Symbols) -> None:
        self.node, self.source, self.symbols = node, source, symbols
        self.clear()

    def clear(self) -> None:
        self.upto = -ENDLESS
        self.groups: dict[GroupKey, StandingGroup] = {}
        self.events: dict[int, list[tuple[GroupKey, GroupKey, int]]] = {}
        self.cells: list[int] = []
        # For each group its columns and the values, since which cell, and whether it has all.
        self.rows = np.zeros((FEW, self.node.groups + len(self.node.functions)), np.int32)
        self.since = np.zeros(FEW, np.int64)
        self.told = np.zeros(FEW, bool)
        self.free = list(range(FEW))

    def take(self, news: Delta | None) -> None:
        """Notes when new pieces enter and leave."""
        if news is None:
            return
        count, slides = self.node.groups, self.node.slides
        rows = BindingRows(news.tuples, news.low, news.high)
        if slides is not None:
            rows = stamped(news, slides, self.node.hop, self.symbols)
        for values, low, high in zip(rows.bindings.tolist(), rows.low.tolist(), rows.high.tolist(), strict=True):
            key, rest = tuple(values[:count]), tuple(values[count:])
            if high > self.upto:
                self._at(max(low, self.upto + 1), (key, rest, 1))
                if high < FAR:
                    self._at(high + 1, (key, rest, -1))

    def _at(self, cell: int, event: tuple[GroupKey, GroupKey, int]) -> None:
        there = self.events.get(cell)
        if there is None:
            self.events[cell] = [event]
            heappush(self.cells, cell)
        else:
            there.append(event)

    def _new_row(self, key: GroupKey) -> int:
        if not self.free:
            size = len(self.since)
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            self.since = np.concatenate([self.since, np.zeros_like(self.since)])
            self.told = np.concatenate([self.told, np.zeros_like(self.told)])
            self.free = list(range(size, 2 * size))
        row = self.free.pop()
        self.rows[row, : self.node.groups] = key
        return row

    def advance(self, upto: int) -> BindingRows:
        """What the groups are worth at the cells up to one, after those told before."""
        found: list[tuple[Ints32, int, int]] = []
        value = self.symbols.value_or_null
        while self.cells and self.cells[0] <= upto:
            cell = heappop(self.cells)
            touched: set[GroupKey] = set()
            # What enters comes first: a tuple that goes on leaves and enters at one cell.
            for key, rest, sign in sorted(self.events.pop(cell), key=_entering):
                group = self.groups.get(key)
                if group is None:
                    group = self.groups[key] = StandingGroup(
                        [WORTH[each]() for each in self.node.functions], self._new_row(key)
                    )
                elif key not in touched:
                    since = int(self.since[group.row])
                    if since < cell and self.told[group.row]:
                        found.append((self.rows[group.row].copy(), since, cell - 1))
                touched.add(key)
                values = tuple(map(value, rest))
                for worth in group.worth:
                    worth.add(values, sign)
            for key in touched:
                self._look_again(key, cell)
        told = np.flatnonzero(self.told & (self.since <= upto))
        rows, low = self.rows[told], self.since[told]
        self.since[told] = upto + 1
        self.upto = max(self.upto, upto)
        high = np.full(len(told), upto, np.int64)
        if found:
            rows = np.concatenate([np.array([row for row, _, _ in found], np.int32), rows])
            low = np.concatenate([np.array([since for _, since, _ in found], np.int64), low])
            high = np.concatenate([np.array([last for _, _, last in found], np.int64), high])
        return BindingRows(rows, low, high)

    def _look_again(self, key: GroupKey, cell: int) -> None:
        """What a group is worth from a cell on."""
        group = self.groups[key]
        size = group.worth[0].size
        values = [value for each in group.worth if size and (value := each.value()) is not None]
        is_told = len(values) == len(group.worth)
        self.told[group.row], self.since[group.row] = is_told, cell
        if is_told:
            self.rows[group.row, self.node.groups :] = self.symbols.number_all(values)
        if not size:
            del self.groups[key]
            self.free.append(group.row)

    def next_cell(self, discrete: bool) -> int | None:
        """The next cell at which there is something to tell once it is final: on the discrete timeline each time point
        of what goes on, on the dense one what begins or ends."""
        if discrete and self.told.any():
            return self.upto + 1
        return self.cells[0] if self.cells else None

    def rebuild(self, upto: int) -> None:
        """Goes on from what the source holds after a cell."""
        self.clear()
        self.upto = upto
        self.take(self.source.contents())

    def used(self) -> Ints32:
        """The constants that are referred to."""
        return self.rows[self.told].ravel()


def _entering(event: tuple[GroupKey, GroupKey, int]) -> int:
    return -event[2]


class Collecting:
    """All aggregates of an engine."""

    def __init__(self, plan: Plan, lags: Lags, relations: dict[str, Relation], symbols: Symbols) -> None:
        self.relations, self.symbols = relations, symbols
        self.enough: dict[int, Enough] = {}
        self.collectors: dict[str, Collector | Tallies] = {}
        for node in plan.nodes:
            if isinstance(node, AtLeast):
                self.enough[id(node)] = Enough(node, relations[node.source].arity)
            elif isinstance(node, Collect):
                asked_by = asking(plan, lags, node)
                asked = AskedGroups(asked_by, relations) if asked_by else None
                self.collectors[node.head] = Tallies(node, relations[node.source], symbols, asked)
        read = {name for node in plan.nodes for name, _ in reads(node)}
        self.unread = self.collectors.keys() - read
        """Nothing else is in these relations, and nobody looks anything up there."""
        self.over: dict[str, tuple[BindingRows, int]] = {}
        """What a step told of them and they need not remember, and how many of the first pieces lie apart."""

    def collect(self, head: str, upto: int, cutoff: int) -> BindingRows | None:
        """What is new of an aggregate, whose source is final up to a cell, and is to be remembered: what has ended
        before the cutoff need not be, where nobody looks it up."""
        collector = self.collectors[head]
        before = collector.upto
        try:
            collector.take(collector.source.news())
            rows = collector.advance(upto)
        except NotByColumn:
            rows = self._one_by_one(head, before).advance(upto)
        if head in self.unread:
            is_over = rows.high < cutoff
            if is_over.any():
                apart = is_over & (rows.low > before + 1) & self.collectors[head].tells_changes
                over = [rows.at(apart), rows.at(is_over & ~apart)]
                self.over[head] = joined(over), len(over[0])
                rows = rows.at(~is_over)
        return rows if len(rows) else None

    def news(self, name: str) -> Delta | None:
        """What a step added to a relation, and to what it need not remember. Asked once."""
        found, over = self.relations[name].news(), self.over.pop(name, None)
        if over is None:
            return found
        told, apart = over
        # No rows of its own have these numbers.
        row = np.arange(len(told), dtype=np.int32) + len(self.relations[name].arrays["records"])
        if found is not None:
            row = np.concatenate([row, found.row])
            told = joined([told, BindingRows(found.tuples, found.low, found.high)])
        return Delta(row, told.bindings, told.low, told.high, apart)

    def _one_by_one(self, head: str, upto: int) -> Collector:
        """Goes on with values that columns of numbers do not have."""
        old = self.collectors[head]
        self.collectors[head] = made = Collector(old.node, old.source, old.symbols)
        made.rebuild(upto)
        return made

    def forget(self, cutoffs: dict[str, int]) -> None:
        for each in self.enough.values():
            each.forget(cutoffs[each.node.source])

    def rebuild(self, reached: Callable[[str], int]) -> None:
        """Goes on from what relations hold; up to a cell each aggregate has told what it is worth."""
        for each in self.enough.values():
            each.rebuild(self.relations[each.node.source])
        for head, collector in list(self.collectors.items()):
            upto = reached(head)
            try:
                collector.rebuild(upto)
            except NotByColumn:
                self._one_by_one(head, upto)

    def used(self) -> list[Ints32]:
        return [collector.used() for collector in self.collectors.values()]

    def waiting(self, discrete: bool) -> Iterable[tuple[str, int]]:
        """The relations whose sets are waited for, and up to which cell."""
        for collector in self.collectors.values():
            cell = collector.next_cell(discrete)
            if cell is not None:
                yield collector.node.head, cell


def time_of(grid: Grid, cell: int) -> Number:
    """The first time at which a cell is past or there."""
    return grid.time(cell + 1 if not grid.discrete and cell % 2 else cell)
