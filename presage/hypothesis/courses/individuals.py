"""Individuals as rows of arrays: their keys, shapes, times and values, and when something happens to them by itself.

The individual of a key is found by it. It may own others, each of which is one answer: those are a list. The arrays
belong to `presage.kernels.course_steps`, which takes the steps; this class gives them room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from presage.kernels import course_arrays as arrays
from presage.kernels import courses as kernel
from presage.kernels import wakes
from presage.kernels.arrays import Flags, Ints, Ints32


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
        self.places = np.zeros(capacity, np.int32)
        self.is_direct = np.zeros(capacity, bool)
        """Who goes by itself."""
        self.owner = np.full(capacity, -1, np.int32)
        """Of who is one answer: the individual of the key."""
        self.first = np.full(capacity, -1, np.int32)
        self.next = np.full(capacity, -1, np.int32)
        self.before = np.full(capacity, -1, np.int32)
        self.anchors = np.zeros(capacity, np.int64)
        self.asked = np.zeros(capacity, np.int32)
        """The time of the answer, and the number of its query."""
        self.static_kinds = np.zeros((capacity, 0), np.int32)
        self.static_values = np.zeros((capacity, 0, 1), np.int32)
        self.static_numbers = np.zeros((capacity, 0, 1), np.int64)
        """The static facts that it can make use of, −1 where there are no more; their values, also as numbers."""
        self.free = np.zeros(capacity, np.int32)
        self.free_count = 0
        """Rows that are nobody's."""
        self.size = 0
        self.slots = np.full(256, -1, np.int32)
        self.keys_known = 0
        """How many keys there are in the hash."""
        self.waking, self.forgetting = _chains(16, 16), _chains(16, 16)
        """Who waits for which time."""

    def arrays(self) -> arrays.People:
        return arrays.People(*(getattr(self, name) for name in arrays.People._fields))

    def rows_of(self, keys: Ints32, welcome: Callable[[Ints], None]) -> Ints:
        """Their rows; those that are new are welcomed."""
        found = np.empty(len(keys), np.int64)
        kernel.find_rows(self.slots, self.keys, keys, found)
        missing = int((found < 0).sum())
        if missing > self.free_count:
            self.make_room(missing, found[found >= 0])
        if missing:
            if 2 * (self.keys_known + missing) > len(self.slots):
                self._hash_keys(self.keys_known + missing)
            rows = self.free[self.free_count - missing : self.free_count][::-1].astype(np.int64)
            given = kernel.add_rows(self.slots, self.keys, keys, found, rows)
            self.free_count -= given
            self.keys_known += given
            taken = rows[:given]
            self._clear(taken)
            welcome(taken)
        return found

    def _clear(self, rows: Ints | slice) -> None:
        self.shapes[rows] = 0
        self.wakes[rows] = self.forgets[rows] = kernel.NEVER
        self.first[rows] = self.next[rows] = self.before[rows] = self.owner[rows] = -1
        self.is_direct[rows] = False

    def begin(self, owner: int, anchor: int, asked: int) -> int:
        """A row for an answer of somebody."""
        if not self.free_count:
            self.make_room(1, np.array([owner]))
        self.free_count -= 1
        row = int(self.free[self.free_count])
        self._clear(np.array([row]))
        self.anchors[row], self.asked[row] = anchor, asked
        arrays.begin_answer(self.arrays(), row, owner)
        return row

    def end(self, rows: Sequence[int]) -> None:
        """Forgets answers."""
        people = self.arrays()
        for row in rows:
            self.free_count = arrays.end_answer(people, row, self.free_count)

    def owned(self, owner: int) -> list[int]:
        found = []
        row = int(self.first[owner])
        while row >= 0:
            found.append(row)
            row = int(self.next[row])
        return found

    @property
    def of_keys(self) -> Flags:
        """Who is the individual of a key."""
        found: Flags = self.owner[: self.size] < 0
        found[self.free[: self.free_count]] = False
        return found

    @property
    def _idle(self) -> Flags:
        """Of whom nothing is known."""
        some = slice(self.size)
        idle: Flags = (self.shapes[some] == 0) & ~self.is_direct[some] & (self.first[some] < 0) & (self.owner[some] < 0)
        return idle

    def make_room(self, more: int, but: Ints) -> None:
        """Whoever is idle makes room for so many, but for some who are wanted."""
        is_idle = self._idle
        is_idle[but] = False
        idle = np.flatnonzero(is_idle)
        if len(idle) <= max(more, self.size // 2):
            capacity = len(self.shapes)
            while capacity < self.size + more:
                capacity *= 2
            if capacity > len(self.shapes):
                self._grow(capacity)
            idle = np.concatenate([np.arange(self.size, capacity)[::-1], idle])
            self.size = capacity
        else:
            idle = idle[::-1]
        self._are_free(idle)

    def _are_free(self, rows: Ints) -> None:
        self.free[: len(rows)] = rows
        self.free_count = len(rows)
        self._hash_keys(0)

    def _hash_keys(self, more: int) -> None:
        """The hash of the keys, with room for so many more."""
        of_keys = self.of_keys
        self.keys_known = int(of_keys.sum())
        slots = 256
        while slots < 2 * (self.keys_known + more):
            slots *= 2
        self.slots = np.full(slots, -1, np.int32)
        kernel.rehash(self.slots, self.keys, of_keys, self.size)

    def _grow(self, capacity: int) -> None:
        before = len(self.shapes)
        for name in arrays.People._fields:
            old = getattr(self, name)
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

    def give_static(self, row: int, kinds: Sequence[int], values: Sequence[Ints32], numbers: Sequence[Ints]) -> None:
        """The static facts of one of them, with their values."""
        most, wide = self.static_values.shape[1:]
        more, wider = max(0, len(kinds) - most), max(0, max(map(len, values), default=0) - wide)
        if more or wider:
            self.static_kinds = np.pad(self.static_kinds, ((0, 0), (0, more)), constant_values=-1)
            room = ((0, 0), (0, more), (0, wider))
            self.static_values, self.static_numbers = (
                np.pad(self.static_values, room),
                np.pad(self.static_numbers, room),
            )
        self.static_kinds[row] = -1
        self.static_kinds[row, : len(kinds)] = kinds
        for place, (each, own) in enumerate(zip(values, numbers, strict=True)):
            self.static_values[row, place, : len(each)] = each
            self.static_numbers[row, place, : len(own)] = own

    def wait_too(self, row: int) -> None:
        """Sees to it that somebody is looked at, or forgotten, in time."""
        self.make_waiting_room(1)
        for name, when in self._waiting:
            arrays.wait_for(getattr(self, name), np.array([row]), when)

    def make_waiting_room(self, more: int) -> None:
        """Sees to it that so many more can wait."""
        for name, when in self._waiting:
            if not arrays.has_room_for(getattr(self, name), more):
                self._wait_again(name, when, more)

    @property
    def _waiting(self) -> tuple[tuple[str, Ints], ...]:
        return ("waking", self.wakes), ("forgetting", self.forgets)

    def _wait_again(self, name: str, when: Ints, more: int) -> None:
        rows = np.flatnonzero(when != kernel.NEVER)
        chains = _chains(2 * (len(rows) + more), 2 * (len(np.unique(when[rows])) + more))
        arrays.wait_for(chains, rows, when)
        setattr(self, name, chains)

    def forget_idle(self) -> None:
        """Takes those of whom nothing is known out of the hash: their keys may become others'."""
        self._are_free(np.flatnonzero(self._idle)[::-1])

    def next_wake(self) -> int | None:
        """The next time at which somebody has to be looked at."""
        found = arrays.next_wake(self.wakes, self.waking)
        return None if found == kernel.NEVER else int(found)

    def rescale(self, factor: int) -> None:
        """Counts time in finer parts."""
        self.times *= factor
        self.anchors *= factor
        for name, when in self._waiting:
            when[when != kernel.NEVER] *= factor
            self._wait_again(name, when, 0)


def _chains(rows: int, times: int) -> arrays.Chains:
    """Room for so many rows to wait, for so many times."""
    rows, times = (1 << max(4, (size - 1).bit_length()) for size in (rows, times))
    waiting = np.zeros(wakes.WAITING_FIELDS, np.int64)
    waiting[wakes.WAITING_FREE] = wakes.NONE
    return arrays.Chains(
        np.full(2 * times, wakes.NO_TIME, np.int64), np.zeros(2 * times, np.int32), np.zeros(times, np.int64),
        np.zeros((rows, 2), np.int32), waiting,
    )  # fmt: skip
