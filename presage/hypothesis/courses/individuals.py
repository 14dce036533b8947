"""Individuals as rows of arrays: their keys, shapes, times and values, and when something happens to them by itself.

The individual of a key is found by it. It may own others, each of which is one answer: those are a list.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from presage.kernels import courses as kernel

Ints = Any


class Individuals:
    def __init__(self, width: int) -> None:
        """`width`: of their keys."""
        capacity = 64
        self.shapes = np.zeros(capacity, np.int64)
        self.times = np.zeros((capacity, 4), np.int64)
        self.values = np.zeros((capacity, 1), np.int32)
        self.numbers = np.zeros((capacity, 1), np.int64)
        self.wakes = np.full(capacity, kernel.NEVER, np.int64)
        self.forgets = np.full(capacity, kernel.NEVER, np.int64)
        self.keys = np.zeros((capacity, width), np.int32)
        self.marks = np.zeros(capacity, np.int64)
        self.is_direct = np.zeros(capacity, bool)
        """Who goes by itself."""
        self.owner = np.full(capacity, -1, np.int64)
        """Of who is one answer: the individual of the key."""
        self.first = np.full(capacity, -1, np.int64)
        self.next = np.full(capacity, -1, np.int64)
        self.before = np.full(capacity, -1, np.int64)
        self.anchors = np.zeros(capacity, np.int64)
        self.asked = np.zeros(capacity, np.int64)
        """The time of the answer, and the number of its query."""
        self.static_kinds = np.zeros((capacity, 0), np.int64)
        self.static_values = np.zeros((capacity, 0, 1), np.int32)
        """The static facts that it can make use of, −1 where there are no more."""
        self.size = 0
        self.free: list[int] = []
        self.slots = np.full(256, -1, np.int64)
        self.due: dict[int, list[Ints]] = {}
        self.soonest: list[int] = []

    def rows_of(self, keys: Ints, welcome: Callable[[Ints], None]) -> Ints:
        """Their rows; those that are new are welcomed."""
        found = np.empty(len(keys), np.int64)
        kernel.find_rows(self.slots, self.keys, keys, found)
        missing = int((found < 0).sum())
        if missing > len(self.free):
            self._make_room(missing)
            kernel.find_rows(self.slots, self.keys, keys, found)  # whoever was idle is not known any more
            missing = int((found < 0).sum())
        if missing:
            rows = np.array(self.free[-missing:][::-1], np.int64)
            given = kernel.add_rows(self.slots, self.keys, keys, found, rows)
            del self.free[len(self.free) - given :]
            taken = rows[:given]
            self._clear(taken)
            welcome(taken)
        return found

    def _clear(self, rows: Ints) -> None:
        self.shapes[rows] = 0
        self.wakes[rows] = self.forgets[rows] = kernel.NEVER
        self.first[rows] = self.next[rows] = self.before[rows] = self.owner[rows] = -1
        self.is_direct[rows] = False

    def reserve(self, more: int, owners: Ints) -> None:
        """Makes room for answers of some owners, who stay."""
        if more > len(self.free):
            self._make_room(more, owners)

    def begin(self, owners: Ints, anchors: Ints, asked: int) -> Ints:
        """Rows for answers of some owners, for which there is room."""
        rows = np.array(self.free[len(self.free) - len(owners) :][::-1], np.int64)
        del self.free[len(self.free) - len(owners) :]
        self._clear(rows)
        self.keys[rows] = self.keys[owners]
        self.owner[rows], self.anchors[rows], self.asked[rows] = owners, anchors, asked
        self.static_kinds[rows], self.static_values[rows] = self.static_kinds[owners], self.static_values[owners]
        kernel.link(rows, owners, self.first, self.next, self.before)
        return rows

    def end(self, rows: Ints) -> None:
        """Forgets answers."""
        kernel.unlink(rows, self.owner, self.first, self.next, self.before)
        self._clear(rows)
        self.free += rows.tolist()

    def owned(self, owner: int) -> list[int]:
        found = []
        row = int(self.first[owner])
        while row >= 0:
            found.append(row)
            row = int(self.next[row])
        return found

    @property
    def _idle(self) -> Ints:
        """Of whom nothing is known."""
        some = slice(self.size)
        return (self.shapes[some] == 0) & ~self.is_direct[some] & (self.first[some] < 0) & (self.owner[some] < 0)

    def _make_room(self, more: int, but: Ints | None = None) -> None:
        """Whoever is idle makes room, but for some."""
        is_idle = self._idle
        if but is not None:
            is_idle[but] = False
        idle = np.flatnonzero(is_idle).tolist()
        if len(idle) > max(more, self.size // 2):
            self.free = idle[::-1]
        else:
            capacity = len(self.shapes)
            while capacity < self.size + more:
                capacity *= 2
            if capacity > len(self.shapes):
                self._grow(capacity)
            self.free = [*range(capacity - 1, self.size - 1, -1), *idle]
            self.size = capacity
        self._rehash()

    def _rehash(self) -> None:
        used = self.owner[: self.size] < 0
        used[self.free] = False
        slots = 256
        while slots < 3 * self.size:
            slots *= 2
        self.slots = np.full(slots, -1, np.int64)
        kernel.rehash(self.slots, self.keys, used, self.size)

    def _grow(self, capacity: int) -> None:
        before = len(self.shapes)
        for name, old in list(vars(self).items()):
            if isinstance(old, np.ndarray) and len(old) == before and name != "slots":
                new = np.zeros((capacity, *old.shape[1:]), old.dtype)
                new[:before] = old
                setattr(self, name, new)
        self._clear(slice(before, None))

    def widen(self, times: int, values: int) -> None:
        """Makes room for so many times and values of each."""
        if times > self.times.shape[1]:
            self.times = np.pad(self.times, ((0, 0), (0, times - self.times.shape[1])))
        if values > self.values.shape[1]:
            more = ((0, 0), (0, values - self.values.shape[1]))
            self.values, self.numbers = np.pad(self.values, more), np.pad(self.numbers, more)

    def give_static(self, row: int, kinds: Sequence[int], values: Sequence[Sequence[int]]) -> None:
        """The static facts of one of them, with their values."""
        most, wide = self.static_values.shape[1:]
        more, wider = max(0, len(kinds) - most), max(0, max(map(len, values), default=0) - wide)
        if more or wider:
            self.static_kinds = np.pad(self.static_kinds, ((0, 0), (0, more)), constant_values=-1)
            self.static_values = np.pad(self.static_values, ((0, 0), (0, more), (0, wider)))
        self.static_kinds[row] = -1
        self.static_kinds[row, : len(kinds)] = kinds
        for place, each in enumerate(values):
            self.static_values[row, place, : len(each)] = each

    def due_by(self, now: int) -> Ints:
        """Those that have to be looked at though nothing arrives; those that are over are forgotten."""
        found = []
        while self.soonest and self.soonest[0] <= now:
            time = heapq.heappop(self.soonest)
            for rows in self.due.pop(time, ()):
                found.append(rows[self.wakes[rows] == time])
                over = rows[self.forgets[rows] == time]
                self.shapes[over] = 0
                self.forgets[over] = kernel.NEVER
                if (self.owner[over] >= 0).any():
                    self.end(np.unique(over[self.owner[over] >= 0]))
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def wake_later(self, rows: Ints) -> None:
        """Sees to it that they are looked at, or forgotten, in time."""
        for times in (self.wakes[rows], self.forgets[rows]):
            some = times != kernel.NEVER
            if not some.any():
                continue
            when, who = times[some], rows[some]
            if (when == when[0]).all():
                self._wake_at(int(when[0]), who)
                continue
            order = np.argsort(when, kind="stable")
            when, who = when[order], who[order]
            edges = np.flatnonzero(np.diff(when)) + 1
            for time, part in zip(when[np.append(0, edges)].tolist(), np.split(who, edges), strict=True):
                self._wake_at(time, part)

    def _wake_at(self, time: int, rows: Ints) -> None:
        known = self.due.get(time)
        if known is None:
            self.due[time] = [rows]
            heapq.heappush(self.soonest, time)
        else:
            known.append(rows)

    def forget_idle(self) -> None:
        """Takes those of whom nothing is known out of the hash: their keys may become others'."""
        self.free = np.flatnonzero(self._idle)[::-1].tolist()
        self._rehash()

    def next_wake(self) -> int | None:
        """The next time at which somebody has to be looked at."""
        while self.soonest:
            time = self.soonest[0]
            if self._wakes_somebody(time):
                return time
            if not any((self.forgets[rows] == time).any() for rows in self.due[time]):
                heapq.heappop(self.soonest)
                del self.due[time]
                continue
            # Somebody is forgotten then, which nobody has to be woken for.
            return next((each for each in sorted(self.soonest)[1:] if self._wakes_somebody(each)), None)
        return None

    def _wakes_somebody(self, time: int) -> bool:
        return any((self.wakes[rows] == time).any() for rows in self.due[time])

    def rescale(self, factor: int) -> None:
        """Counts time in finer parts."""
        self.times *= factor
        self.anchors *= factor
        for each in (self.wakes, self.forgets):
            each[each != kernel.NEVER] *= factor
        self.due = {time * factor: rows for time, rows in self.due.items()}
        self.soonest = [each * factor for each in self.soonest]
