"""What groups of tuples are worth, by the column: how many, how much, the least, the greatest, the first and the last.

Numbers are taken as so many millionths, so that sums of whole numbers and of decimals are exact. A step is one call of
a kernel, however many tuples enter and leave. What it tells is what `collecting.Collector` would. A collector goes on
in its place, from what the source holds, where something is no such number, also among values that are first or last at
once.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from presage.engine.asked_groups import AskedGroups
from presage.engine.joining import BindingRows
from presage.engine.millionths import MOST, ORDERS, SCALE, Millionths, NotByColumn, worth
from presage.engine.points_in_windows import slid
from presage.engine.relation import Delta, Relation
from presage.engine.symbols import Symbols
from presage.kernels import tallies
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.fields import FAR
from presage.kernels.numbering import distinct
from presage.plan.nodes import Collect
from presage.time.cells import ENDLESS

FEW = 64
UNTOUCHED = np.iinfo(np.int64).min


class Tallies:
    """What the groups of one relation are worth, up to where it is final."""

    def __init__(self, node: Collect, source: Relation, symbols: Symbols, asked: AskedGroups | None = None) -> None:
        """With `asked` only groups are told that are asked for, when they are."""
        self.node, self.source, self.symbols, self.asked = node, source, symbols, asked
        self.kind = tallies.STAIRS if node.functions[0] in ORDERS else tallies.SUMMED
        self.is_timed = node.functions[0] in ("first", "last")
        self.millionths = Millionths(symbols)
        self.tells_changes = "count" in node.functions or node.functions[0] in ("min", "max")
        """Whether what it tells of a group between two advances is never the same twice in a row."""
        self.clear()

    def clear(self) -> None:
        self.upto = -ENDLESS
        self.events: dict[int, list[Ints]] = {}
        """By cell, what enters and leaves there."""
        self.cells: list[int] = []
        # For each group its columns and its worth as a constant, what the kernel knows, and how much is to come.
        self.rows = np.zeros((FEW, self.node.groups + len(self.node.functions)), np.int32)
        self.places = self._empty_places(FEW)
        self.coming = np.zeros(FEW, np.int64)
        self.free = np.arange(FEW)
        self.place_of = np.full(FEW, -1, np.int64)
        """Of groups by one column, by its constant's number; those by several are in a dictionary."""
        self.by_name: dict[bytes, int] = {}
        self.nodes = np.zeros((0, tallies.NODE_FIELDS), np.int64)
        self.free_node, self.free_nodes = -1, 0

    def _empty_places(self, size: int) -> Ints:
        found = np.zeros((size, tallies.PLACE_FIELDS), np.int64)
        found[:, [tallies.TOP, tallies.LAST]] = -1
        found[:, tallies.TOUCHED] = UNTOUCHED
        return found

    def take(self, news: Delta | None) -> None:
        """Notes when new pieces enter and leave. Raises `NotByColumn`."""
        if self.asked is not None:
            self.asked.take_news(self.upto)
        if news is not None:
            self._take(news)

    def _take(self, news: Delta) -> None:
        tuples, low, high, times = news.tuples, news.low, news.high, news.low
        if self.node.slides is not None:
            points, there = slid(BindingRows(tuples, low, high), self.node.slides, self.node.hop)
            tuples, low, high, times = there.bindings, there.low, there.high, points.low
        late = high <= self.upto
        if late.any():
            tuples, low, high, times = tuples[~late], low[~late], high[~late], times[~late]
        if not len(low):
            return
        count = self.node.groups
        events = np.zeros((len(low), tallies.EVENT_FIELDS), np.int64)
        events[:, tallies.SYMBOL] = -1
        if self.node.functions != ("count",):
            # In a window that slides the time is no column, but comes after them.
            is_by_time = self.node.slides is not None and tuples.shape[1] == count + self.is_timed
            if not is_by_time:
                amounts = self.millionths.of(tuples[:, count + self.is_timed])
            elif self.is_timed:
                amounts = times
            elif int(np.abs(times).max()) < MOST // SCALE:
                amounts = times * SCALE
            else:
                raise NotByColumn
            events[:, tallies.WORTH] = (
                amounts if self.kind == tallies.SUMMED else ORDERS[self.node.functions[0]] * amounts
            )
            if self.is_timed:
                events[:, tallies.SYMBOL] = tuples[:, count]
        events[:, tallies.PLACE] = places = self._places(tuples[:, :count])
        events[:, tallies.SIGN], events[:, tallies.UNTIL] = 1, high
        events[:, tallies.CELL] = np.maximum(low, self.upto + 1)
        np.add.at(self.coming, places, 1)
        self._note(events)
        leaving = events[high < FAR]
        np.add.at(self.coming, leaving[:, tallies.PLACE], 1)
        leaving[:, tallies.CELL], leaving[:, tallies.SIGN] = leaving[:, tallies.UNTIL] + 1, -1
        self._note(leaving)

    def _note(self, events: Ints) -> None:
        if not len(events):
            return
        cells = events[:, tallies.CELL]
        if cells[0] == cells[-1] and (cells == cells[0]).all():
            self._at(int(cells[0]), events)
            return
        if (cells[1:] < cells[:-1]).any():
            events = events[np.argsort(cells, kind="stable")]
            cells = events[:, tallies.CELL]
        starts = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True):
            self._at(int(cells[start]), events[start:end])

    def _at(self, cell: int, events: Ints) -> None:
        there = self.events.get(cell)
        if there is None:
            self.events[cell] = [events]
            heappush(self.cells, cell)
        else:
            there.append(events)

    def _places(self, keys: Ints32) -> Ints:
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
            if b"" not in self.by_name:
                self.by_name[b""] = int(self._new_places(np.zeros((1, 0), np.int32))[0])
            return np.full(len(keys), self.by_name[b""], np.int64)
        groups, which = np.unique(keys, axis=0, return_inverse=True)
        names = [row.tobytes() for row in groups]
        new = np.array([place for place, name in enumerate(names) if name not in self.by_name], np.int64)
        if len(new):
            made = self._new_places(groups[new])
            self.by_name.update(zip((names[each] for each in new.tolist()), made.tolist(), strict=True))
        found = np.array([self.by_name[name] for name in names], np.int64)
        return found[which.ravel()]

    def _known_places(self, keys: Ints32) -> Ints:
        """Where those of some groups are that there are, each once."""
        if self.node.groups == 1:
            constants = keys[:, 0]
            found = self.place_of[constants[constants < len(self.place_of)]]
        else:
            names = [row.tobytes() for row in np.ascontiguousarray(keys)]
            found = np.array([self.by_name.get(name, -1) for name in names], np.int64)
        places: Ints = distinct(found[found >= 0])[0]
        return places

    def _new_places(self, keys: Ints32) -> Ints:
        while len(self.free) < len(keys):
            size = len(self.places)
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            self.places = np.concatenate([self.places, self._empty_places(size)])
            self.coming = np.concatenate([self.coming, np.zeros_like(self.coming)])
            self.free = np.concatenate([self.free, np.arange(size, 2 * size)])
        places, self.free = self.free[: len(keys)], self.free[len(keys) :]
        self.rows[places, : self.node.groups] = keys
        return places

    def _give_back(self, places: Ints) -> None:
        keys = self.rows[places, : self.node.groups]
        if self.node.groups == 1:
            self.place_of[keys[:, 0]] = -1
        else:
            for row in keys:
                del self.by_name[row.tobytes()]
        self.free = np.concatenate([self.free, places])

    def _make_nodes(self, count: int) -> None:
        """Room for so many more steps of staircases, whichever are free."""
        if self.free_nodes >= count:
            return
        size = len(self.nodes)
        more = max(size, count, FEW)
        added = np.zeros((more, tallies.NODE_FIELDS), np.int64)
        added[:, tallies.NEXT] = np.arange(size + 1, size + more + 1)
        added[-1, tallies.NEXT] = self.free_node
        self.nodes = np.concatenate([self.nodes, added])
        self.free_node, self.free_nodes = size, self.free_nodes + more

    def advance(self, upto: int) -> BindingRows:
        """What the groups are worth at the cells up to one, after those told before. Raises `NotByColumn`."""
        before = self.upto
        wanted = None if self.asked is None else self._known_places(self.asked.due(upto))
        chunks: list[Ints] = []
        while self.cells and self.cells[0] <= upto:
            chunks += self.events.pop(heappop(self.cells))
        parts: list[tuple[Ints32, Ints, Ints]] = []
        if chunks:
            told = self._happened(np.concatenate(chunks))
            if wanted is not None:
                told = told[told[:, tallies.HIGH] > before]
                told = told[self._among(wanted)[told[:, tallies.OF]]]
            parts.append(self._told_rows(told))
        going_on = (
            np.flatnonzero(self._stand(slice(None), upto)) if wanted is None else wanted[self._stand(wanted, upto)]
        )
        rows = self.rows[going_on]
        if wanted is None:
            since = self.places[going_on, tallies.SINCE]
            self.places[going_on, tallies.SINCE] = upto + 1
        else:
            self._put_worth(rows, np.arange(len(rows)), *self._worths(going_on))
            since = self.places[going_on, tallies.SINCE]
        parts.append((rows, since, np.full(len(going_on), upto, np.int64)))
        self.upto = max(before, upto)
        rows, low, high = (np.concatenate([part[place] for part in parts]) for place in range(3))
        return BindingRows(rows, np.maximum(low, before + 1), high)

    def _among(self, wanted: Ints) -> Any:
        found = np.zeros(len(self.places), bool)
        found[wanted] = True
        return found

    def _stand(self, places: Any, upto: int) -> Any:
        """Which groups are as they are now at a cell."""
        return (self.places[places, tallies.SIZE] > 0) & (self.places[places, tallies.SINCE] <= upto)

    def _worths(self, places: Ints) -> tuple[Ints, Ints, Ints]:
        """Of groups that stand how many tuples there are, what they come to, and as which constant."""
        size, total = self.places[places, tallies.SIZE], self.places[places, tallies.TOTAL]
        if self.kind == tallies.SUMMED:
            return size, total, np.full(len(places), -1, np.int64)
        top = self.places[places, tallies.TOP]
        return size, self.nodes[top, tallies.KEY], self.nodes[top, tallies.CONSTANT]

    def _told_rows(self, told: Ints) -> tuple[Ints32, Ints, Ints]:
        rows = self.rows[told[:, tallies.OF]]
        size, total, constants = (told[:, tallies.FOUND_SIZE + each] for each in range(3))
        self._put_worth(rows, np.arange(len(rows)), size, total, constants)
        return rows, told[:, tallies.LOW].copy(), told[:, tallies.HIGH].copy()

    def _happened(self, events: Ints) -> Ints:
        """What was over by what entered and left, as the kernel finds it."""
        if self.kind == tallies.STAIRS:
            self._make_nodes(int(np.count_nonzero(events[:, tallies.SIGN] > 0)))
        elif float(np.abs(events[:, tallies.WORTH]).sum(dtype=np.float64)) > MOST << 10:
            raise NotByColumn
        found = np.empty((len(events), tallies.FOUND_FIELDS), np.int64)
        touched = np.empty((len(events), tallies.FOUND_FIELDS), np.int64)
        count, self.free_node, tied = tallies.tally(
            self.kind, events, self.places, self.nodes, self.free_node, found, touched, self.symbols.floats
        )
        if tied:
            raise NotByColumn
        self.free_nodes = self._count_free() if self.kind == tallies.STAIRS else 0
        places = events[:, tallies.PLACE]
        np.subtract.at(self.coming, places, 1)
        there = distinct(places)[0]
        sizes = self.places[there, tallies.SIZE]
        alive = there[sizes > 0]
        if self.kind == tallies.SUMMED and len(alive):
            if int(np.abs(self.places[alive, tallies.TOTAL]).max()) > MOST << 10:
                raise NotByColumn
        if self.asked is None:
            self._put_worth(self.rows, alive, *self._worths(alive))
        gone = there[(sizes == 0) & (self.coming[there] == 0)]
        if len(gone):
            self._give_back(gone)
        return found[:count]

    def _count_free(self) -> int:
        """A staircase has no more steps than tuples that are there."""
        return len(self.nodes) - int(self.places[:, tallies.SIZE].sum())

    def _put_worth(self, rows: Ints32, places: Ints, size: Ints, total: Ints, constant: Ints) -> None:
        """Puts what groups are worth into rows."""
        for column, function in enumerate(self.node.functions, self.node.groups):
            rows[places, column] = worth(function, size, total, constant, self.symbols)

    def next_cell(self, discrete: bool) -> int | None:
        """The next cell at which there is something to tell once it is final."""
        if self.asked is not None:
            return self.asked.next_cell(self.upto)
        if discrete and bool((self.places[:, tallies.SIZE] > 0).any()):
            return self.upto + 1
        return self.cells[0] if self.cells else None

    def rebuild(self, upto: int) -> None:
        """Goes on from what the source holds after a cell."""
        self.clear()
        self.upto = upto
        if self.asked is not None:
            self.asked.rebuild(upto)
        self._take(self.source.contents())

    def used(self) -> Ints32:
        """The constants that are referred to."""
        # What groups are worth is among their columns only where all are told.
        columns = slice(None if self.asked is None else self.node.groups)
        rows = self.rows[self.places[:, tallies.SIZE] > 0, columns].ravel()
        if not self.is_timed:
            return rows
        held = [chunk[:, tallies.SYMBOL] for chunks in self.events.values() for chunk in chunks]
        return np.concatenate([rows, self.nodes[:, tallies.CONSTANT], *held]).astype(np.int32)
