"""Windows of rows: which facts are among the last so many, and until when.

Rows can be counted only up to where all inputs are final: a fact that still arrives could push others out. What is
counted so far is shown without end, and taken back when so many rows have come after it; who has concluded something
from it for times that are not final yet looks again (`runtime.py`). A step therefore costs what arrives and what goes,
not what is in the windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from presage.engine.grid import ENDLESS
from presage.engine.joining import Rows, by_point
from presage.engine.ordering import canonical_order
from presage.engine.partitions import Partitions
from presage.engine.relation import Delta, Ints, Relation, Symbols32
from presage.engine.symbols import Symbols
from presage.engine.waiting import Waiting
from presage.kernels import counting
from presage.kernels.layout import CAPACITY
from presage.kernels.waiting import split_at
from presage.model.windows import RowsWindow
from presage.plan.nodes import LastRows, Shows

_FEW = 16
_MOST_ROWS = 1 << 61
"""More rows than anyone counts; greater numbers do not fit the kernels."""
_NOWHERE = -1


def due(waiting: Waiting, upto: int) -> Rows | None:
    """What waits and starts at or before a cell, as far as it lies up to there; the rest waits on."""
    taken = waiting.take(upto)
    if taken is None:
        return None
    now, later = split_at(*taken, upto)
    waiting.put(*later)
    return Rows(*now)


class Entries:
    """A pool of entries: until when each is in a window, and where it stands in what windows show."""

    def __init__(self, views: int) -> None:
        self.ends = np.full(_FEW, ENDLESS, np.int64)
        self.following = np.full(_FEW, _NOWHERE, np.int32)
        self.rows = np.full((views, _FEW), _NOWHERE, np.int32)
        self.free = np.arange(_FEW, dtype=np.int32)
        self.left = _FEW

    def new(self, count: int) -> Symbols32:
        size = len(self.ends)
        if count > self.left:
            more = max(size, count)
            self.ends = np.concatenate([self.ends, np.zeros(more, np.int64)])
            self.following = np.concatenate([self.following, np.zeros(more, np.int32)])
            self.rows = np.concatenate([self.rows, np.zeros((len(self.rows), more), np.int32)], axis=1)
            free = np.arange(size, size + more, dtype=np.int32)
            self.free = np.concatenate([self.free[: self.left], free, np.zeros(size, np.int32)])
            self.left += more
        self.left -= count
        found = self.free[self.left : self.left + count].copy()
        self.ends[found], self.rows[:, found] = ENDLESS, _NOWHERE
        return found

    def give_back(self, gone: Symbols32) -> None:
        self.free[self.left : self.left + len(gone)] = gone
        self.left += len(gone)


class View:
    """What a window shows of one relation: a table that entries are put into and taken out of."""

    def __init__(self, node: LastRows, relation: Relation, number: int) -> None:
        self.node, self.relation, self.number = node, relation, number
        self.latest = np.zeros(0, np.int32)
        relation.rows_stay = True

    def show(self, entries: Entries, own: Symbols32, tuples: Symbols32, starts: Ints) -> None:
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

    def hide(self, entries: Entries, gone: Symbols32) -> None:
        if self.node.shows is not Shows.AT_ONCE:
            counting.hide(self.relation.address, gone, entries.ends, entries.rows[self.number], self.latest)


def with_times(view: View, tuples: Symbols32, times: Ints, symbols: Symbols) -> Symbols32:
    """The tuples as a view shows them."""
    if view.node.shows is not Shows.WITH_TIME:
        return tuples
    known, places = np.unique(times, return_inverse=True)
    moments = symbols.number_all(known.tolist())[places].reshape(-1, 1)
    arity = view.relation.arity - 1
    return np.concatenate([tuples[:, :arity], moments], axis=1)


class Counter:
    """The rows that one window counts: the last ones of each partition."""

    def __init__(self, window: RowsWindow, arities: dict[str, int], symbols: Symbols) -> None:
        self.window, self.arities, self.symbols = window, arities, symbols
        self.waiting = {name: Waiting() for name in sorted(arities)}
        self.partitions = Partitions(window, symbols)
        self.counts = np.zeros(0, np.int64)
        self.oldest, self.newest = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self.views: list[View] = []
        self.entries = Entries(0)
        self.is_followed = False
        # For what follows, facts that are no rows: how many rows there were up to which time.
        self.times, self.totals = np.array([-1]), np.array([0])

    def add_view(self, node: LastRows, relation: Relation) -> None:
        self.views.append(View(node, relation, len(self.views)))
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
        if self.is_followed:
            self._note(times)

    def _count(self, where: Ints, times: Ints, entries: Symbols32) -> Symbols32:
        """Counts rows, in their order; gives those that are gone."""
        self._make_room()
        gone = np.empty(len(times), np.int32)
        lost = counting.count(
            where, times, min(self.window.rows, _MOST_ROWS), self.counts, self.oldest, self.newest,
            self.entries.following, self.entries.ends, entries, gone,
        )  # fmt: skip
        return gone[:lost]

    def _show(self, found: dict[str, Rows], entries: Symbols32) -> None:
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

    def _order(self, found: dict[str, Rows], times: Ints, where: Ints) -> Any:
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

    def _note(self, times: Ints) -> None:
        known, counts = np.unique(times, return_counts=True)
        self.totals = np.concatenate([self.totals, self.totals[-1] + np.cumsum(counts)])
        self.times = np.concatenate([self.times, known])

    def count_at(self, times: Ints) -> Ints:
        """How many rows there were up to and at each of some times that are not forgotten."""
        found: Ints = self.totals[np.searchsorted(self.times, times, side="right") - 1]
        return found

    def time_of(self, counts: Ints) -> Ints:
        """The times at which there were so many rows for the first time."""
        found: Ints = self.times[np.searchsorted(self.totals, counts)]
        return found

    def forget_times(self, upto: int) -> None:
        """What lies before a time is not asked for any more; the last of it says how many rows there were."""
        first = max(0, int(np.searchsorted(self.times, upto, side="right")) - 1)
        self.times, self.totals = self.times[first:], self.totals[first:]


class Follower:
    """What a window of rows shows of facts that are not counted: they go when all rows up to their time have gone."""

    def __init__(self, node: LastRows, relation: Relation, counter: Counter) -> None:
        self.node, self.counter = node, counter
        counter.is_followed = True
        self.view = View(node, relation, 0)
        self.waiting = Waiting()
        self.entries = Entries(1)
        self.queue = np.zeros(0, np.int32)
        """Entries in the order in which they go."""
        self.counts = np.zeros(0, np.int64)
        """For each of them how many rows there were up to its time."""

    def advance(self, upto: int) -> None:
        rows = due(self.waiting, upto)
        if rows is not None:
            if self.node.shows is Shows.WITH_TIME:
                rows = by_point(rows)
            rows = rows.at(np.argsort(rows.high, kind="stable"))
            own = self.entries.new(len(rows))
            self.queue = np.concatenate([self.queue, own])
            self.counts = np.concatenate([self.counts, self.counter.count_at(rows.high)])
        most = min(self.node.window.rows, _MOST_ROWS)
        lost = int(np.searchsorted(self.counts, self.counter.count_at(np.array([upto]))[0] - most, side="right"))
        gone = self.queue[:lost]
        self.entries.ends[gone] = self.counter.time_of(self.counts[:lost] + most) - 1
        if rows is not None:
            shown = with_times(self.view, rows.bindings, rows.high, self.counter.symbols)
            self.view.show(self.entries, own, shown, rows.low)
        self.view.hide(self.entries, gone)
        self.entries.give_back(gone)
        self.queue, self.counts = self.queue[lost:], self.counts[lost:]


class Counting:
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
                self.followers[node.head] = Follower(node, relations[node.head], counter)

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
            counter.forget_times(upto)

    def waiting(self) -> Iterator[tuple[tuple[str, ...], Waiting]]:
        """What waits to be counted or shown, and until which relations are final, always in the same order."""
        for counter in self.counters.values():
            for waiting in counter.waiting.values():
                yield tuple(counter.arities), waiting
        for head, follower in self.followers.items():
            yield (head,), follower.waiting

    def state(self) -> dict[str, Any]:
        """All that is in memory besides the relations, as arrays."""
        found: dict[str, Any] = {}
        for index, counter in enumerate(self.counters.values()):
            size = counter.partitions.count or 1
            found |= {
                f"c{index}-partitions": counter.partitions.known, f"c{index}-counts": counter.counts[:size],
                f"c{index}-oldest": counter.oldest[:size], f"c{index}-newest": counter.newest[:size],
                f"c{index}-times": counter.times, f"c{index}-totals": counter.totals,
            }  # fmt: skip
            found |= _entries_state(f"c{index}", counter.entries, counter.views)
        for index, follower in enumerate(self.followers.values()):
            found |= {f"f{index}-queue": follower.queue, f"f{index}-counts": follower.counts}
            found |= _entries_state(f"f{index}", follower.entries, [follower.view])
        return found

    def fill(self, state: Mapping[str, Any]) -> None:
        """Goes on from what was in memory; the relations have been filled."""
        for index, counter in enumerate(self.counters.values()):
            counter.partitions.fill(state[f"c{index}-partitions"])
            counter.counts, counter.times = state[f"c{index}-counts"], state[f"c{index}-times"]
            counter.oldest, counter.newest = state[f"c{index}-oldest"], state[f"c{index}-newest"]
            counter.totals = state[f"c{index}-totals"]
            _fill_entries(f"c{index}", counter.entries, counter.views, state)
        for index, follower in enumerate(self.followers.values()):
            follower.queue, follower.counts = state[f"f{index}-queue"], state[f"f{index}-counts"]
            _fill_entries(f"f{index}", follower.entries, [follower.view], state)

    def used(self) -> list[Symbols32]:
        """The constants that are referred to."""
        held = [rows.ravel() for _, waiting in self.waiting() for rows, _, _ in waiting.everything()]
        return held + [each for counter in self.counters.values() for each in counter.partitions.used()]


def _entries_state(name: str, entries: Entries, views: list[View]) -> dict[str, Any]:
    rows = entries.rows.copy()
    found: dict[str, Any] = {}
    for view in views:
        order = view.order()
        rows[view.number] = np.searchsorted(order, rows[view.number])
        rows[view.number][entries.rows[view.number] == _NOWHERE] = _NOWHERE
        found[f"{name}-latest{view.number}"] = view.latest[order[order < len(view.latest)]]
    fields = {"ends": entries.ends, "following": entries.following, "rows": rows, "free": entries.free[: entries.left]}
    return found | {f"{name}-{field}": array for field, array in fields.items()}


def _fill_entries(name: str, entries: Entries, views: list[View], state: Mapping[str, Any]) -> None:
    entries.ends, entries.following = state[f"{name}-ends"], state[f"{name}-following"]
    entries.rows, free = state[f"{name}-rows"], state[f"{name}-free"]
    entries.free = np.concatenate([free, np.zeros(len(entries.ends) - len(free), np.int32)])
    entries.left = len(free)
    for view in views:
        view.latest = state[f"{name}-latest{view.number}"]


def _wait(waiting: Waiting, news: Delta | None) -> None:
    if news is not None:
        waiting.put(news.tuples, news.low, news.high)


def _repeated(numbers: Ints) -> Any:
    """Which numbers occur more than once."""
    if len(numbers) and int(numbers.max()) < 8 * len(numbers):
        return np.bincount(numbers)[numbers] > 1
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return counts[places] > 1
