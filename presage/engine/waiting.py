"""Rows that wait for their time: for a relation to become final, or for the clock to come near.

Rows lie in buckets by the start of their interval, so that taking what is due costs what is due. Buckets grow where
starts lie far apart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from presage.engine.relation import finer
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.waiting import bucket_numbers, by_bucket

# More buckets than this are not worth their room.
MOST_BUCKETS = 256


class WaitingRows:
    __slots__ = ("bucket", "buckets", "size")

    def __init__(self) -> None:
        self.bucket = 1
        self.buckets: dict[int, list[tuple[Ints32, Ints, Ints]]] = {}
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def put(self, rows: Ints32, low: Ints, high: Ints) -> None:
        if not len(low):
            return
        numbers, least, most = bucket_numbers(low, self.bucket)
        if least == most:
            self.size += len(low)
            self.buckets.setdefault(least, []).append((rows, low, high))
            return
        if most - least < MOST_BUCKETS:
            self.size += len(low)
            *columns, begins = by_bucket(rows, low, high, numbers, least, most - least + 1)
            edges = begins.tolist()
            for number, (begin, end) in enumerate(pairwise(edges), least):
                if begin < end:
                    # Not a view: what is taken early must not stay for what is taken late.
                    some_rows, some_low, some_high = (each[begin:end].copy() for each in columns)
                    self.buckets.setdefault(number, []).append((some_rows, some_low, some_high))
            return
        if len(np.unique(numbers)) > MOST_BUCKETS:
            self._widen()
            self.put(rows, low, high)
            return
        self.size += len(low)
        order = np.argsort(numbers, kind="stable")
        for chosen in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1):
            self.buckets.setdefault(int(numbers[chosen[0]]), []).append((rows[chosen], low[chosen], high[chosen]))

    def take(self, upto: int) -> tuple[Ints32, Ints, Ints] | None:
        """The rows that start at or before a cell, the earliest buckets first."""
        due = sorted(number for number in self.buckets if number * self.bucket <= upto)
        if not due:
            return None
        parts = [part for number in due for part in self.buckets.pop(number)]
        rows, low, high = parts[0] if len(parts) == 1 else (np.concatenate(each) for each in zip(*parts, strict=True))
        self.size -= len(low)
        if due[-1] * self.bucket + self.bucket - 1 > upto:
            ready = low <= upto
            if not ready.all():
                self.put(rows[~ready], low[~ready], high[~ready])
                rows, low, high = rows[ready], low[ready], high[ready]
        return (rows, low, high) if len(low) else None

    def first(self) -> int | None:
        """Where the earliest waiting row starts."""
        if not self.buckets:
            return None
        return min(int(low.min()) for _, low, _ in self.buckets[min(self.buckets)])

    def has(self, upto: int) -> bool:
        return any(
            number * self.bucket <= upto and any((low <= upto).any() for _, low, _ in parts)
            for number, parts in self.buckets.items()
        )

    def keep_only(self, live: set[tuple[int, ...]]) -> None:
        """Drops the rows whose tuple is not among these."""
        parts = self.everything()
        self.buckets, self.size = {}, 0
        for rows, low, high in parts:
            wanted = np.array([tuple(row) in live for row in rows.tolist()], bool)
            self.put(rows[wanted], low[wanted], high[wanted])

    def _widen(self) -> None:
        parts = self.everything()
        self.buckets, self.size, self.bucket = {}, 0, 4 * self.bucket
        for part in parts:
            self.put(*part)

    def rescale(self, factor: int) -> None:
        parts = self.everything()
        self.buckets, self.size, self.bucket = {}, 0, self.bucket * factor
        for rows, low, high in parts:
            self.put(rows, finer(low, factor, False), finer(high, factor, True))

    def everything(self) -> list[tuple[Ints32, Ints, Ints]]:
        return [part for parts in self.buckets.values() for part in parts]
