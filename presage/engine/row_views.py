"""The facts that a window of rows has in sight, and the tables in which it shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from presage.engine.joining import BindingRows
from presage.engine.relation import Relation
from presage.engine.symbols import Symbols
from presage.engine.waiting import WaitingRows
from presage.kernels import counting
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.fields import CAPACITY, ROWS
from presage.kernels.waiting import split_at
from presage.plan.nodes import LastRows, Shows
from presage.sealed import Arrays, need
from presage.time.cells import ENDLESS

_FEW = 16
MOST_ROWS = 1 << 61
"""More rows than anyone counts; greater numbers do not fit the kernels."""
_NOWHERE = -1


def due(waiting: WaitingRows, upto: int) -> BindingRows | None:
    """What waits and starts at or before a cell, as far as it lies up to there; the rest waits on."""
    taken = waiting.take(upto)
    if taken is None:
        return None
    now, later = split_at(*taken, upto)
    waiting.put(*later)
    return BindingRows(*now)


class Entries:
    """A pool of entries: until when each is in a window, and where it stands in what windows show."""

    def __init__(self, views: int) -> None:
        self.ends = np.full(_FEW, ENDLESS, np.int64)
        self.starts = np.zeros(_FEW, np.int64)
        self.following = np.full(_FEW, _NOWHERE, np.int32)
        self.rows = np.full((views, _FEW), _NOWHERE, np.int32)
        self.free = np.arange(_FEW, dtype=np.int32)
        self.left = _FEW

    def new(self, count: int) -> Ints32:
        size = len(self.ends)
        if count > self.left:
            more = max(size, count)
            self.ends = np.concatenate([self.ends, np.zeros(more, np.int64)])
            self.starts = np.concatenate([self.starts, np.zeros(more, np.int64)])
            self.following = np.concatenate([self.following, np.zeros(more, np.int32)])
            self.rows = np.concatenate([self.rows, np.zeros((len(self.rows), more), np.int32)], axis=1)
            free = np.arange(size, size + more, dtype=np.int32)
            self.free = np.concatenate([self.free[: self.left], free, np.zeros(size, np.int32)])
            self.left += more
        self.left -= count
        found = self.free[self.left : self.left + count].copy()
        self.ends[found], self.rows[:, found] = ENDLESS, _NOWHERE
        return found

    def give_back(self, gone: Ints32) -> None:
        self.free[self.left : self.left + len(gone)] = gone
        self.left += len(gone)

    def state(self, views: list[WindowView]) -> dict[str, Any]:
        """What is in memory, as arrays. The views' tables are filled anew: where entries stand in them then."""
        rows = self.rows.copy()
        found: dict[str, Any] = {}
        for view in views:
            order = view.order()
            rows[view.number] = np.searchsorted(order, rows[view.number])
            rows[view.number][self.rows[view.number] == _NOWHERE] = _NOWHERE
            found[f"latest{view.number}"] = view.latest[order[order < len(view.latest)]]
        return found | {
            "ends": self.ends, "starts": self.starts, "following": self.following, "rows": rows,
            "free": self.free[: self.left],
        }  # fmt: skip

    def fill(self, views: list[WindowView], state: Arrays) -> None:
        """Goes on from what was in memory."""
        self.ends = state.numbers("ends", np.int64)
        size = len(self.ends)
        need(size > 0, "no room for entries")
        self.starts = state.numbers("starts", np.int64, size=size)
        self.following = state.numbers("following", np.int32, least=_NOWHERE, below=size, size=size)
        self.rows = state.rows("rows", np.int32, size, least=_NOWHERE, count=len(self.rows))
        free = state.numbers("free", np.int32, least=0, below=size)
        need(len(np.unique(free)) == len(free), "an entry that is free twice")
        self.free = np.concatenate([free, np.zeros(size - len(free), np.int32)])
        self.left = len(free)
        # What a free entry stood for is left over.
        self.rows[:, free] = _NOWHERE
        for view in views:
            view.latest = state.numbers(f"latest{view.number}", np.int32, least=0, below=size)
            room = min(len(view.latest), int(view.relation.table[ROWS]))
            need(int(self.rows[view.number].max()) < room, "an entry that stands nowhere")


class WindowView:
    """What a window shows of one relation: a table that entries are put into and taken out of."""

    def __init__(self, node: LastRows, relation: Relation, number: int) -> None:
        self.node, self.relation, self.number = node, relation, number
        self.latest = np.zeros(0, np.int32)
        relation.rows_stay = True

    def show(self, entries: Entries, own: Ints32, tuples: Ints32, starts: Ints) -> None:
        """Shows entries from their starts to where they end, as far as that is known."""
        stops, done = entries.ends[own], 0
        if self.node.shows is Shows.AT_ONCE:
            seen = stops >= starts
            self.relation.insert(np.ascontiguousarray(tuples[seen]), starts[seen], starts[seen])
            return
        tuples, relation = np.ascontiguousarray(tuples), self.relation
        while True:
            capacity = int(relation.table[CAPACITY])
            if len(self.latest) < capacity:
                self.latest = np.concatenate([self.latest, np.zeros(capacity - len(self.latest), np.int32)])
            done = counting.show(
                relation.address, relation.store.indexes_address, tuples, starts, stops, own, entries.ends,
                entries.rows[self.number], self.latest, done,
            )  # fmt: skip
            if done == len(own):
                return
            relation.make_room(len(own) - done)

    def order(self) -> Any:
        """The rows of the table that are in use: where each of them stands when it is filled anew."""
        return np.unique(self.relation.contents().row)

    def hide(self, entries: Entries, gone: Ints32) -> None:
        if self.node.shows is not Shows.AT_ONCE:
            counting.hide(self.relation.address, gone, entries.ends, entries.rows[self.number], self.latest)


def with_times(view: WindowView, tuples: Ints32, times: Ints, symbols: Symbols) -> Ints32:
    """The tuples as a view shows them."""
    if view.node.shows is not Shows.WITH_TIME:
        return tuples
    known, places = np.unique(times, return_inverse=True)
    moments = symbols.number_all(known.tolist())[places].reshape(-1, 1)
    arity = view.relation.arity - 1
    return np.concatenate([tuples[:, :arity], moments], axis=1)
