"""What an aggregate is worth where columns of numbers do not have its values: tuples one by one, with exact values of
Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from presage.engine.joining import BindingRows
from presage.engine.points_in_windows import stamped
from presage.engine.relation import Delta, Relation
from presage.engine.symbols import Symbols
from presage.engine.worth import WORTH, Count
from presage.kernels.arrays import Ints32
from presage.kernels.fields import FAR
from presage.plan.nodes import Collect
from presage.time.cells import ENDLESS

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
