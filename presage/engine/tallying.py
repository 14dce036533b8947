"""How many tuples each group has, by the column.

`count` is what most aggregates ask for, and needs no more than numbers: so a step is a few operations on arrays,
however many tuples enter and leave. What it tells is what `collecting.Collector` would.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from presage.engine.joining import BindingRows
from presage.engine.relation import Delta, Relation, Symbols32
from presage.engine.symbols import Symbols
from presage.kernels.fields import FAR
from presage.plan.nodes import Collect

Places = npt.NDArray[np.int64]
FEW = 64


class GroupSizes:
    """The sizes of the groups of one relation, up to where it is final."""

    def __init__(self, node: Collect, source: Relation, symbols: Symbols) -> None:
        self.node, self.source, self.symbols = node, source, symbols
        self.clear()

    def clear(self) -> None:
        self.upto = -1
        self.events: dict[int, list[tuple[Places, int]]] = {}
        """By cell, the groups of tuples that enter (1) or leave (-1) there."""
        self.cells: list[int] = []
        # For each group its columns and its size as a constant, its size, since which cell, and what is still to come.
        self.rows = np.zeros((FEW, self.node.groups + 1), np.int32)
        self.size = np.zeros(FEW, np.int64)
        self.since = np.zeros(FEW, np.int64)
        self.coming = np.zeros(FEW, np.int64)
        self.free = np.arange(FEW)
        self.place_of = np.full(FEW, -1, np.int64)
        """Of groups by one column, by its constant's number; those by several are in a dictionary."""
        self.places: dict[bytes, int] = {}

    def take(self, news: Delta | None) -> None:
        """Notes when new pieces enter and leave."""
        if news is None:
            return
        late = news.high <= self.upto
        tuples, low, high = news.tuples, news.low, news.high
        if late.any():
            tuples, low, high = tuples[~late], low[~late], high[~late]
        if not len(low):
            return
        places = self._places(tuples[:, : self.node.groups])
        np.add.at(self.coming, places, 1)
        self._note(places, np.maximum(low, self.upto + 1), 1)
        ends = high < FAR
        np.add.at(self.coming, places[ends], 1)
        self._note(places[ends], high[ends] + 1, -1)

    def _note(self, places: Places, cells: Places, sign: int) -> None:
        if not len(cells):
            return
        if cells[0] == cells[-1] and (cells == cells[0]).all():
            self._at(int(cells[0]), places, sign)
            return
        order = np.argsort(cells, kind="stable")
        places, cells = places[order], cells[order]
        starts = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True):
            self._at(int(cells[start]), places[start:end], sign)

    def _at(self, cell: int, places: Places, sign: int) -> None:
        there = self.events.get(cell)
        if there is None:
            self.events[cell] = [(places, sign)]
            heappush(self.cells, cell)
        else:
            there.append((places, sign))

    def _places(self, keys: Symbols32) -> Places:
        """Where each group is; new ones get a place."""
        if self.node.groups == 1:
            constants = keys[:, 0]
            most = int(constants.max())
            if most >= len(self.place_of):
                more = np.full(max(most + 1 - len(self.place_of), len(self.place_of)), -1, np.int64)
                self.place_of = np.concatenate([self.place_of, more])
            new = np.unique(constants[self.place_of[constants] < 0])
            if len(new):
                self.place_of[new] = self._new_places(new.reshape(-1, 1))
            return self.place_of[constants]
        if not self.node.groups:
            if b"" not in self.places:
                self.places[b""] = int(self._new_places(np.zeros((1, 0), np.int32))[0])
            return np.full(len(keys), self.places[b""], np.int64)
        distinct, which = np.unique(keys, axis=0, return_inverse=True)
        names = [row.tobytes() for row in distinct]
        new = np.array([place for place, name in enumerate(names) if name not in self.places], np.int64)
        if len(new):
            made = self._new_places(distinct[new])
            self.places.update(zip((names[each] for each in new.tolist()), made.tolist(), strict=True))
        found = np.array([self.places[name] for name in names], np.int64)
        return found[which.ravel()]

    def _new_places(self, keys: Symbols32) -> Places:
        while len(self.free) < len(keys):
            size = len(self.size)
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            self.size, self.since, self.coming = (
                np.concatenate([each, np.zeros_like(each)]) for each in (self.size, self.since, self.coming)
            )
            self.free = np.concatenate([self.free, np.arange(size, 2 * size)])
        places, self.free = self.free[: len(keys)], self.free[len(keys) :]
        self.rows[places, :-1] = keys
        return places

    def _give_back(self, places: Places) -> None:
        keys = self.rows[places, :-1]
        if self.node.groups == 1:
            self.place_of[keys[:, 0]] = -1
        else:
            for row in keys:
                del self.places[row.tobytes()]
        self.free = np.concatenate([self.free, places])

    def advance(self, upto: int) -> BindingRows:
        """What the groups are worth at the cells up to one, after those told before."""
        parts: list[tuple[Symbols32, Places, Places]] = []
        while self.cells and self.cells[0] <= upto:
            cell = heappop(self.cells)
            chunks = self.events.pop(cell)
            places = np.concatenate([each for each, _ in chunks])
            changes = np.concatenate([np.full(len(each), sign, np.int64) for each, sign in chunks])
            touched = np.unique(places)
            told = touched[(self.size[touched] > 0) & (self.since[touched] < cell)]
            if len(told):
                parts.append((self.rows[told], self.since[told], np.full(len(told), cell - 1, np.int64)))
            np.add.at(self.size, places, changes)
            np.subtract.at(self.coming, places, 1)
            self.since[touched] = cell
            sizes = self.size[touched]
            there, which = np.unique(sizes, return_inverse=True)
            numbers = np.array([self.symbols.number(each) if each else 0 for each in there.tolist()], np.int32)
            self.rows[touched, -1] = numbers[which.ravel()]
            gone = touched[(sizes == 0) & (self.coming[touched] == 0)]
            if len(gone):
                self._give_back(gone)
        going_on = np.flatnonzero((self.size > 0) & (self.since <= upto))
        parts.append((self.rows[going_on], self.since[going_on], np.full(len(going_on), upto, np.int64)))
        self.since[going_on] = upto + 1
        self.upto = max(self.upto, upto)
        rows, low, high = (np.concatenate([part[place] for part in parts]) for place in range(3))
        return BindingRows(rows, low, high)

    def next_cell(self, discrete: bool) -> int | None:
        """The next cell at which there is something to tell once it is final."""
        if discrete and bool((self.size > 0).any()):
            return self.upto + 1
        return self.cells[0] if self.cells else None

    def rebuild(self, upto: int) -> None:
        """Goes on from what the source holds after a cell."""
        self.clear()
        self.upto = upto
        self.take(self.source.contents())

    def used(self) -> Symbols32:
        """The constants that are referred to."""
        return self.rows[self.size > 0].ravel()
