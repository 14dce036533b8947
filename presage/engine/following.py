"""What windows of rows show of facts that are no rows: derived ones, within the time that the rows span.

The left edge of a window is the time of its first row. It rises as rows come, and what lies before it goes. Where there
are partitions, the earliest of theirs counts; a new one that has fewer rows than wanted reaches to the start of the
stream, so that the edge drops, and all that had gone is back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from presage.engine.joining import BindingRows, by_point
from presage.engine.relation import Relation
from presage.engine.row_views import MOST_ROWS, Entries, WindowView, due, with_times
from presage.engine.symbols import Symbols
from presage.engine.waiting import WaitingRows
from presage.kernels import counting
from presage.kernels.arrays import Ints, Ints32
from presage.model.windows import RowsWindow
from presage.plan.nodes import LastRows, Shows
from presage.sealed import Arrays, need
from presage.time.cells import ENDLESS

_FEW = 16
_NO_TIMES = np.zeros(0, np.int64)


class Edges:
    """Where the left edge of a window has been, from when on; without partitions it starts at the start of the stream,
    and with them there is none before the first row: the window shows a single time then."""

    def __init__(self, window: RowsWindow) -> None:
        self.most = min(window.rows, MOST_ROWS)
        self.times: Ints = _NO_TIMES if window.by else np.array([-1])
        self.values: Ints = _NO_TIMES if window.by else np.array([0])
        self.alive, self.counts = np.zeros(_FEW, np.int64), np.zeros(_FEW, np.int64)
        """Times with rows, and how many of them are in the window."""
        self.noted = np.zeros(4, np.int64)
        """What the kernel goes on from."""

    def note(self, times: Ints, filled: Ints, gone: Ints) -> None:
        """Takes in rows in their order: how they fill their partitions, and the starts of those that go."""
        if int(self.noted[0]) + len(times) > len(self.alive):
            room = np.zeros(len(self.alive) + len(times), np.int64)
            self.alive, self.counts = np.concatenate([self.alive, room]), np.concatenate([self.counts, room])
        at, edges = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
        count = counting.edges(times, filled, gone, self.most, self.alive, self.counts, self.noted, at, edges)
        self.times = np.concatenate([self.times, at[:count]])
        self.values = np.concatenate([self.values, edges[:count]])

    @property
    def first(self) -> int:
        """From when on there is an edge; of what has been forgotten the last remains."""
        return int(self.times[0]) if len(self.times) else ENDLESS

    def rises(self, after: int, upto: int) -> Iterator[tuple[int, Ints, Ints]]:
        """The edge's moves between two times, cut where it drops: from when on, and the moves. All but the first begin
        with a drop."""
        chosen = slice(*np.searchsorted(self.times, [after, upto], side="right").tolist())
        times, values = self.times[chosen], self.values[chosen]
        before = int(self.values[chosen.start - 1]) if chosen.start else ENDLESS
        drops = np.flatnonzero(values < np.concatenate([[before], values[:-1]])).tolist()
        starts = [after + 1, *times[drops].tolist()]
        for start, (begin, end) in zip(starts, pairwise([0, *drops, len(times)]), strict=True):
            yield start, times[begin:end], values[begin:end]

    def forget(self, upto: int) -> None:
        """What the edge was before a time is not asked for any more."""
        first = max(0, int(np.searchsorted(self.times, upto, side="right")) - 1)
        self.times, self.values = self.times[first:], self.values[first:]

    def state(self) -> dict[str, Any]:
        size = int(self.noted[0])
        return {
            "times": self.times, "values": self.values, "noted": self.noted,
            "alive": self.alive[:size], "alive-counts": self.counts[:size],
        }  # fmt: skip

    def fill(self, state: Arrays) -> None:
        self.times = state.numbers("times", np.int64)
        self.values = state.numbers("values", np.int64, size=len(self.times))
        self.alive = state.numbers("alive", np.int64)
        size = len(self.alive)
        self.counts = state.numbers("alive-counts", np.int64, least=0, size=size)
        self.noted = state.numbers("noted", np.int64, least=0, size=4)
        need(int(self.noted[0]) == size and int(self.noted[1:3].max()) <= size, "an edge of times that are none")


class Follower:
    """What a window shows of one relation that is not counted. A fact over an interval goes with its end."""

    def __init__(self, node: LastRows, relation: Relation, edges: Edges, symbols: Symbols) -> None:
        self.node, self.edges, self.symbols = node, edges, symbols
        self.view = WindowView(node, relation, 0)
        self.waiting = WaitingRows()
        self.entries = Entries(1)
        self.returns = bool(node.window.by) and node.window.rows > 1
        """Whether what has gone may come back."""
        self.upto = -1
        self.queue = np.zeros(0, np.int32)
        """Entries in the order in which they go."""
        self.moments = _NO_TIMES
        """Until the edge is beyond which time each of them is shown."""
        self.shown, self.hidden = self._nothing(), self._nothing()
        """Where things may come back, what is in the queue, and what has gone."""

    def _nothing(self) -> BindingRows:
        arity = self.view.relation.arity - (self.node.shows is Shows.WITH_TIME)
        return BindingRows(np.zeros((0, max(1, arity)), np.int32), _NO_TIMES, _NO_TIMES)

    def advance(self, upto: int) -> None:
        """Shows what is new, up to a time."""
        rows = due(self.waiting, upto)
        if rows is None:
            rows = self._nothing()
        elif self.returns or self.node.shows is not Shows.WHILE_IN:
            rows = by_point(rows)
        rows = rows.at(np.argsort(rows.high, kind="stable"))
        rises = list(self.edges.rises(self.upto, upto))
        for number, (begin, times, edges) in enumerate(rises, 1):
            if number > 1 and self.returns:
                self._bring_back(begin)
            count = len(rows) if number == len(rises) else int(np.searchsorted(rows.high, rises[number][0]))
            self._rise(rows.at(slice(count)), times, edges)
            rows = rows.at(slice(count, None))
        self.upto = upto

    def _rise(self, rows: BindingRows, times: Ints, edges: Ints) -> None:
        """Shows facts, while the edge rises to where it is at some times."""
        own = self.entries.new(len(rows))
        moments = rows.high - (self.node.shows is Shows.AFTER_FIRST)
        before = int(np.searchsorted(rows.high, self.edges.first))
        # Before there is an edge, a window shows nothing but the time it stands at.
        self.entries.ends[own[:before]] = moments[:before]
        gone = [own[:before]]
        lost = 0
        self.queue = np.concatenate([self.queue, own[before:]])
        self.moments = np.concatenate([self.moments, moments[before:]])
        if len(edges):
            lost = int(np.searchsorted(self.moments, edges[-1]))
            gone.append(self.queue[:lost])
            self.entries.ends[gone[-1]] = times[np.searchsorted(edges, self.moments[:lost], side="right")] - 1
        self._show(rows, own, rows.low)
        for each in gone:
            self.view.hide(self.entries, each)
            self.entries.give_back(each)
        self.queue, self.moments = self.queue[lost:], self.moments[lost:]
        if self.returns:
            shown = _joined(self.shown, rows.at(slice(before, None)))
            self.hidden = _joined(self.hidden, rows.at(slice(before)), shown.at(slice(lost)))
            self.shown = shown.at(slice(lost, None))

    def _show(self, rows: BindingRows, own: Ints32, starts: Ints) -> None:
        if len(rows):
            self.view.show(self.entries, own, with_times(self.view, rows.bindings, rows.high, self.symbols), starts)

    def _bring_back(self, at: int) -> None:
        """Shows what had gone, from a time on. What is there is shown again with it: of facts that are the same, the
        one that goes last has to come last."""
        own = self.entries.new(len(self.hidden))
        shown, queue = _joined(self.hidden, self.shown), np.concatenate([own, self.queue])
        order = np.argsort(shown.high, kind="stable")
        self.shown, self.hidden, self.queue = shown.at(order), self._nothing(), queue[order]
        self.moments = self.shown.high - (self.node.shows is Shows.AFTER_FIRST)
        self._show(self.shown, self.queue, np.full(len(order), at))

    def state(self) -> dict[str, Any]:
        found = {"upto": np.array(self.upto), "queue": self.queue, "moments": self.moments}
        if self.returns:
            for name, rows in (("shown", self.shown), ("hidden", self.hidden)):
                found |= {name: rows.bindings, f"{name}-times": rows.high}
        return found | self.entries.state([self.view])

    def fill(self, state: Arrays, values: int) -> None:
        self.entries.fill([self.view], state)
        self.upto = int(state["upto"])
        self.queue = state.numbers("queue", np.int32, least=0, below=len(self.entries.ends))
        self.moments = state.numbers("moments", np.int64, size=len(self.queue))
        if self.returns:
            self.shown, self.hidden = (self._rows(state, name, values) for name in ("shown", "hidden"))

    def _rows(self, state: Arrays, name: str, values: int) -> BindingRows:
        width = self._nothing().bindings.shape[1]
        bindings = state.rows(name, np.int32, width, least=0, below=max(1, values))
        times = state.numbers(f"{name}-times", np.int64, size=len(bindings))
        return BindingRows(bindings, times, times)

    def used(self) -> list[Ints32]:
        """The constants that are referred to."""
        return [self.shown.bindings.ravel(), self.hidden.bindings.ravel()]


def _joined(*parts: BindingRows) -> BindingRows:
    return BindingRows(
        np.concatenate([part.bindings for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
    )
