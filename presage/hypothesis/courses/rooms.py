"""Room in which compiled code takes steps, and for what it tells."""

from __future__ import annotations

from typing import Any

import numpy as np

from presage.hypothesis.courses.individuals import Individuals
from presage.kernels import course_arrays as arrays

LONGEST = 1024
"""Of a transition: a shape, and some arrivals with their values."""


class Rooms:
    def __init__(self, people: Individuals) -> None:
        self.people = people
        self.arrivals = 1
        """So many arrivals of one individual there is room for, beside its static facts."""
        self.step = self._step(64, 1)
        self.told = self._told(64)

    def _step(self, size: int, given: int) -> arrays.Room:
        """For so many individuals, and facts with so many values."""
        people = self.people
        most = self.arrivals + people.static_kinds.shape[1]
        wide, values = self._widths(given)
        rows, begins, ends, found = (np.zeros(size, np.int64) for _ in range(4))
        arriving = size * (1 + people.static_kinds.shape[1]) + most
        return arrays.Room(
            rows, begins, ends, found, np.zeros((size, wide), np.int64), np.zeros((size, values), np.int32),
            np.zeros(arriving, np.int64), np.zeros(arriving, np.int64),
            np.zeros((arriving, given), np.int32), np.zeros((arriving, given), np.int64), np.zeros(LONGEST, np.int64),
        )  # fmt: skip

    def _widths(self, given: int) -> tuple[int, int]:
        """How many numbers, and how many values, there are of one individual at most."""
        people = self.people
        most = self.arrivals + people.static_kinds.shape[1]
        times, values = people.times.shape[1], people.values.shape[1]
        return times + values + 2 + most * (1 + given), values + most * given

    def _told(self, size: int) -> arrays.Telling:
        _, wide = self.step.vectors.shape
        return arrays.Telling(
            np.zeros(size, np.int64), np.zeros((size, wide), np.int64),
            np.zeros((size, self.step.brought.shape[1]), np.int32),
            np.zeros((size, self.people.keys.shape[1]), np.int32), np.zeros(size, np.int64),
        )  # fmt: skip

    def fit(self, given: int) -> None:
        """Sees to it that facts with so many values, and individuals as they are now, fit."""
        given = max(given, self.people.static_values.shape[2])
        if self.step.given.shape[1] < given or self._widths(self.step.given.shape[1]) != (
            self.step.vectors.shape[1],
            self.step.brought.shape[1],
        ):
            self.step = self._step(len(self.step.rows), max(given, self.step.given.shape[1]))
        if self.told.vectors.shape[1] < self.step.vectors.shape[1]:
            self.tell_more(len(self.told.outcomes) // 2)

    def step_more(self, needed: int) -> None:
        """Makes room for so many in a step; for none: for more arrivals of each."""
        if not needed:
            self.arrivals *= 2
        self.step = self._step(max(2 * needed, len(self.step.rows)), self.step.given.shape[1])

    def tell_more(self, needed: int) -> None:
        """Makes room for so many to be told."""
        before: Any = self.told
        self.told = self._told(max(64, 2 * needed))
        for old, new in zip(before, self.told, strict=True):
            if old.ndim == 1:
                new[: len(old)] = old
            else:
                new[: len(old), : old.shape[1]] = old
