"""Individuals as rows of arrays: their keys, shapes, times and values, and when something happens to them by itself."""

from __future__ import annotations

import heapq
from collections.abc import Callable
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
        self.size = 0
        self.free: list[int] = []
        self.slots = np.full(256, -1, np.int64)
        self.due: dict[int, list[Ints]] = {}
        self.soonest: list[int] = []

    def rows_of(self, keys: Ints, is_odd: Callable[[Ints], Ints]) -> Ints:
        """Their rows; of those that are new, who is odd goes by itself."""
        found = np.empty(len(keys), np.int64)
        kernel.find_rows(self.slots, self.keys, keys, found)
        missing = int((found < 0).sum())
        if missing:
            self._make_room(missing)
            rows = np.array(self.free[-missing:][::-1], np.int64)
            given = kernel.add_rows(self.slots, self.keys, keys, found, rows)
            del self.free[len(self.free) - given :]
            taken = rows[:given]
            self.shapes[taken] = 0
            self.wakes[taken] = self.forgets[taken] = kernel.NEVER
            self.is_direct[taken] = is_odd(self.keys[taken])
        return found

    def _make_room(self, more: int) -> None:
        if len(self.free) >= more:
            return
        idle = [row for row in np.flatnonzero(self.shapes[: self.size] == 0).tolist() if not self.is_direct[row]]
        if len(idle) > max(more, self.size // 2):
            self.free = idle[::-1]
        else:
            known = set(self.free)
            capacity = len(self.shapes)
            while capacity < self.size + more:
                capacity *= 2
            if capacity > len(self.shapes):
                self._grow(capacity)
            self.free = [*range(capacity - 1, self.size - 1, -1), *(each for each in idle if each not in known)]
            self.size = capacity
        used = np.ones(self.size, bool)
        used[self.free] = False
        slots = 256
        while slots < 3 * self.size:
            slots *= 2
        self.slots = np.full(slots, -1, np.int64)
        kernel.rehash(self.slots, self.keys, used, self.size)

    def _grow(self, capacity: int) -> None:
        before = len(self.shapes)
        for name in ("shapes", "times", "values", "numbers", "wakes", "forgets", "keys", "marks", "is_direct"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), old.dtype)
            new[:before] = old
            setattr(self, name, new)
        self.wakes[before:] = self.forgets[before:] = kernel.NEVER

    def widen(self, times: int, values: int) -> None:
        """Makes room for so many times and values of each."""
        if times > self.times.shape[1]:
            self.times = np.pad(self.times, ((0, 0), (0, times - self.times.shape[1])))
        if values > self.values.shape[1]:
            more = ((0, 0), (0, values - self.values.shape[1]))
            self.values, self.numbers = np.pad(self.values, more), np.pad(self.numbers, more)

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
        idle = (self.shapes[: self.size] == 0) & ~self.is_direct[: self.size]
        self.free = np.flatnonzero(idle)[::-1].tolist()
        kernel.rehash(self.slots, self.keys, ~idle, self.size)

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
        for each in (self.wakes, self.forgets):
            each[each != kernel.NEVER] *= factor
        self.due = {time * factor: rows for time, rows in self.due.items()}
        self.soonest = [each * factor for each in self.soonest]
