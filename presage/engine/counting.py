"""Windows of rows: which facts are among the last so many, and until when.

Rows can be counted only up to where all inputs are final: a fact that still arrives could push others out. What is
counted so far is shown without end, and taken back when so many rows have come after it; who has concluded something
from it for times that are not final yet looks again (`runtime.py`). A step therefore costs what arrives and what goes,
not what is in the windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from presage.engine.canonical_order import canonical_order
from presage.engine.following import Edges, Follower
from presage.engine.joining import BindingRows, by_point
from presage.engine.partitions import Partitions
from presage.engine.relation import Delta, Relation
from presage.engine.row_views import MOST_ROWS, Entries, WindowView, due, with_times
from presage.engine.symbols import Symbols
from presage.engine.waiting import WaitingRows
from presage.kernels import counting
from presage.kernels.arrays import Ints, Ints32
from presage.model.windows import RowsWindow
from presage.plan.nodes import LastRows
from presage.sealed import Arrays


class Counter:
    """The rows that one window counts: the last ones of each partition."""

    def __init__(self, window: RowsWindow, arities: dict[str, int], symbols: Symbols) -> None:
        self.window, self.arities, self.symbols = window, arities, symbols
        self.waiting = {name: WaitingRows() for name in sorted(arities)}
        self.partitions = Partitions(window, symbols)
        self.counts = np.zeros(0, np.int64)
        self.oldest, self.newest = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self.views: list[WindowView] = []
        self.entries = Entries(0)
        self.edges: Edges | None = None
        """For what follows, facts that are no rows."""

    def add_view(self, node: LastRows, relation: Relation) -> None:
        self.views.append(WindowView(node, relation, len(self.views)))
        self.entries = Entries(len(self.views))

    def advance(self, upto: int) -> None:
        """Counts the rows up to a time."""
        found = {name: by_point(rows) for name, waiting in self.waiting.items() if (rows := due(waiting, upto))}
        if not found:
            return
        partitions = {name: self.partitions.of(name, rows.bindings) for name, rows in found.items()}
        for name, own in partitions.items():
            if (own < 0).any():
                found[name], partitions[name] = found[name].picked(own >= 0), own[own >= 0]
        times = np.concatenate([rows.low for rows in found.values()])
        where = np.concatenate(list(partitions.values()))
        order = self._order(found, times, where)
        entries = np.empty(len(times), np.int32)
        entries[order] = self.entries.new(len(times))
        gone = self._count(where[order], times[order], entries[order])
        self._show(found, entries)
        for view in self.views:
            view.hide(self.entries, gone)
        self.entries.give_back(gone)

    def _count(self, where: Ints, times: Ints, entries: Ints32) -> Ints32:
        """Counts rows, in their order; gives those that are gone."""
        self._make_room()
        gone, filled = np.empty(len(times), np.int32), np.empty(len(times), np.int64)
        self.entries.starts[entries] = times
        lost = counting.count(
            where, times, min(self.window.rows, MOST_ROWS), self.counts, self.oldest, self.newest,
            self.entries.following, self.entries.ends, entries, gone, filled,
        )  # fmt: skip
        if self.edges is not None:
            self.edges.note(times, filled, self.entries.starts[gone[:lost]])
        return gone[:lost]

    def _show(self, found: dict[str, BindingRows], entries: Ints32) -> None:
        begin = 0
        for name, rows in found.items():
            # By time, so that a fact that comes again goes on.
            order = np.argsort(rows.low, kind="stable")
            own, rows = entries[begin : begin + len(rows)][order], rows.at(order)
            begin += len(rows)
            for view in self.views:
                if view.node.source == name:
                    shown = with_times(view, rows.bindings, rows.low, self.symbols)
                    view.show(self.entries, own, shown, rows.low)

    def _order(self, found: dict[str, BindingRows], times: Ints, where: Ints) -> Any:
        """The rows by time; those of a partition at one time in canonical order, the others in any."""
        first = times.min() if len(times) else 0
        places = (times - first) * self.partitions.count if not self.partitions.is_one else times - first
        places = places + where
        several = _repeated(places)
        order = np.arange(len(times))
        if several.any():
            begin, parts = 0, []
            for name, rows in found.items():
                own = np.flatnonzero(several[begin : begin + len(rows)])
                sorting = canonical_order(rows.bindings[own], self.arities[name], self.symbols)
                parts.append(begin + own[sorting])
                begin += len(rows)
            order = np.concatenate([order[~several], *parts])
        return order[np.argsort(times[order], kind="stable")]

    def _make_room(self) -> None:
        """Room for the partitions there are."""
        size = max(1, self.partitions.count)
        if size > len(self.counts):
            more = max(size - len(self.counts), len(self.counts))
            self.counts = np.concatenate([self.counts, np.zeros(more, np.int64)])
            self.oldest = np.concatenate([self.oldest, np.zeros(more, np.int32)])
            self.newest = np.concatenate([self.newest, np.zeros(more, np.int32)])

    def state(self) -> dict[str, Any]:
        size = self.partitions.count or 1
        found = {
            "partitions": self.partitions.known, "counts": self.counts[:size],
            "oldest": self.oldest[:size], "newest": self.newest[:size],
        }  # fmt: skip
        if self.edges is not None:
            found |= {f"edge-{name}": array for name, array in self.edges.state().items()}
        return found | self.entries.state(self.views)

    def fill(self, state: Arrays, values: int) -> None:
        """Goes on from what was in memory; there are so many values."""
        self.partitions.fill(self.partitions.checked(state, values))
        self.entries.fill(self.views, state)
        size = len(self.entries.ends)
        self.counts = state.numbers("counts", np.int64, least=0, below=MOST_ROWS + 1)
        self.oldest, self.newest = (
            state.numbers(name, np.int32, least=-1, below=size, size=len(self.counts)) for name in ("oldest", "newest")
        )
        if self.edges is not None:
            self.edges.fill(state.part("edge-"))


class RowWindows:
    """All windows of rows of an engine."""

    def __init__(self, nodes: Iterable[LastRows], relations: dict[str, Relation], symbols: Symbols) -> None:
        self.relations = relations
        self.counters: dict[RowsWindow, Counter] = {}
        self.followers: dict[str, Follower] = {}
        for node in nodes:
            if node.window not in self.counters:
                arities = {name: relations[name].arity for name in node.counted}
                self.counters[node.window] = Counter(node.window, arities, symbols)
            counter = self.counters[node.window]
            if node.source in node.counted:
                counter.add_view(node, relations[node.head])
            else:
                counter.edges = counter.edges or Edges(node.window)
                self.followers[node.head] = Follower(node, relations[node.head], counter.edges, symbols)

    def __bool__(self) -> bool:
        return bool(self.counters)

    def count(self, upto: int) -> None:
        """Counts the rows up to a time; those that are new have just come into their relations."""
        for counter in self.counters.values():
            for name, waiting in counter.waiting.items():
                _wait(waiting, self.relations[name].news())
            counter.advance(upto)

    def follow(self, head: str, upto: int) -> None:
        """Shows what is new of a relation, up to a time."""
        follower = self.followers[head]
        _wait(follower.waiting, self.relations[follower.node.source].news())
        follower.advance(upto)

    def forget(self, upto: int) -> None:
        """What lies before a time is not asked for any more."""
        for counter in self.counters.values():
            if counter.edges is not None:
                counter.edges.forget(upto)

    def waiting(self) -> Iterator[tuple[tuple[str, ...], WaitingRows]]:
        """What waits to be counted or shown, and until which relations are final, always in the same order."""
        for counter in self.counters.values():
            for waiting in counter.waiting.values():
                yield tuple(counter.arities), waiting
        for head, follower in self.followers.items():
            yield (head,), follower.waiting

    def state(self) -> dict[str, Any]:
        """All that is in memory besides the relations, as arrays."""
        return {f"{name}-{field}": array for name, part in self._parts() for field, array in part.state().items()}

    def widths(self) -> Iterator[tuple[int, WaitingRows]]:
        """What waits, in the same order, and how wide its rows are."""
        for counter in self.counters.values():
            for name, waiting in counter.waiting.items():
                yield self.relations[name].width, waiting
        for follower in self.followers.values():
            yield self.relations[follower.node.source].width, follower.waiting

    def fill(self, state: Arrays, values: int) -> None:
        """Goes on from what was in memory; the relations have been filled, and there are so many values."""
        for name, part in self._parts():
            part.fill(state.part(f"{name}-"), values)

    def _parts(self) -> Iterator[tuple[str, Counter | Follower]]:
        yield from ((f"c{index}", counter) for index, counter in enumerate(self.counters.values()))
        yield from ((f"f{index}", follower) for index, follower in enumerate(self.followers.values()))

    def used(self) -> list[Ints32]:
        """The constants that are referred to."""
        held = [rows.ravel() for _, waiting in self.waiting() for rows, _, _ in waiting.everything()]
        held += [each for counter in self.counters.values() for each in counter.partitions.used()]
        return held + [each for follower in self.followers.values() for each in follower.used()]


def _wait(waiting: WaitingRows, news: Delta | None) -> None:
    if news is not None:
        waiting.put(news.tuples, news.low, news.high)


def _repeated(numbers: Ints) -> Any:
    """Which numbers occur more than once."""
    if len(numbers) and int(numbers.max()) < 8 * len(numbers):
        return np.bincount(numbers)[numbers] > 1
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return counts[places] > 1
