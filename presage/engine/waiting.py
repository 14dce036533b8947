"""Rows that wait for their time: for a relation to become final, or for the clock to come near.

Rows lie in buckets by the start of their interval, so that taking what is due costs what is due."""

from __future__ import annotations

import numpy as np

from presage.engine.relation import Ints, Symbols32, finer
from presage.kernels.layout import FAR


class Waiting:
    __slots__ = ("bucket", "buckets", "size")

    def __init__(self, bucket: int = 64) -> None:
        self.bucket = bucket
        self.buckets: dict[int, list[tuple[Symbols32, Ints, Ints]]] = {}
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def put(self, rows: Symbols32, low: Ints, high: Ints) -> None:
        if not len(low):
            return
        self.size += len(low)
        numbers = np.maximum(low, -FAR) // self.bucket
        least, most = int(numbers.min()), int(numbers.max())
        if least == most:
            self.buckets.setdefault(least, []).append((rows, low, high))
            return
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        edges = np.flatnonzero(np.diff(ordered)) + 1
        for part in np.split(order, edges):
            self.buckets.setdefault(int(numbers[part[0]]), []).append((rows[part], low[part], high[part]))

    def take(self, upto: int) -> list[tuple[Symbols32, Ints, Ints]]:
        """The rows that start at or before a cell."""
        due = [number for number in self.buckets if number * self.bucket <= upto]
        found = []
        for number in sorted(due):
            for rows, low, high in self.buckets.pop(number):
                self.size -= len(low)
                ready = low <= upto
                if ready.all():
                    found.append((rows, low, high))
                else:
                    self.put(rows[~ready], low[~ready], high[~ready])
                    if ready.any():
                        found.append((rows[ready], low[ready], high[ready]))
        return found

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

    def rescale(self, factor: int) -> None:
        parts = self.everything()
        self.buckets, self.size, self.bucket = {}, 0, self.bucket * factor
        for rows, low, high in parts:
            self.put(rows, finer(low, factor, False), finer(high, factor, True))

    def everything(self) -> list[tuple[Symbols32, Ints, Ints]]:
        return [part for parts in self.buckets.values() for part in parts]
