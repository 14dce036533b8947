"""Who takes a step, and which was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from presage.hypothesis.courses.describing import Arriving
from presage.hypothesis.courses.individuals import Individuals
from presage.kernels import courses as kernel

Ints = Any


@dataclass(slots=True)
class Touched:
    """Individuals to whom something happens, with where their arrivals begin and end."""

    rows: Ints
    begins: Ints
    ends: Ints

    @classmethod
    def by_time(cls, rows: Ints) -> Self:
        """For whom nothing arrives."""
        nothing = np.zeros(len(rows), np.int64)
        return cls(rows, nothing, nothing)

    @classmethod
    def together(cls, parts: Sequence[Touched]) -> Self:
        if not parts:
            return cls.by_time(np.zeros(0, np.int64))
        return cls(*(np.concatenate([getattr(each, name) for each in parts]) for name in ("rows", "begins", "ends")))

    def chosen(self, some: Any) -> Touched:
        return Touched(self.rows[some], self.begins[some], self.ends[some])

    def with_more(self, rows: Ints) -> Touched:
        """And others for whom nothing arrives."""
        return self if not len(rows) else Touched.together([self, Touched.by_time(rows)])

    def range(self, place: int) -> range:
        return range(int(self.begins[place]), int(self.ends[place]))


def with_static_facts(touched: Touched, arriving: Arriving, people: Individuals) -> tuple[Touched, Arriving]:
    """To each individual its static facts arrive first."""
    kinds = people.static_kinds[touched.rows]
    if not kinds.shape[1] or not len(touched.rows):
        return touched, arriving
    is_there = kinds >= 0
    own, static = touched.ends - touched.begins, is_there.sum(axis=1)
    ends = np.cumsum(own + static)
    begins = ends - own - static
    wide = max(arriving.given.shape[1], people.static_values.shape[2])
    found = Arriving(
        np.repeat(touched.rows, own + static), np.zeros(ends[-1], np.int64), np.zeros(ends[-1], np.int64),
        np.zeros((ends[-1], wide), np.int32),
    )  # fmt: skip
    at = (begins[:, None] + np.arange(kinds.shape[1]))[is_there]
    found.kinds[at] = kinds[is_there]
    found.given[at, : people.static_values.shape[2]] = people.static_values[touched.rows][is_there]
    steps = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
    source, at = np.repeat(touched.begins, own) + steps, np.repeat(begins + static, own) + steps
    found.kinds[at], found.times[at] = arriving.kinds[source], arriving.times[source]
    found.given[at, : arriving.given.shape[1]] = arriving.given[source]
    return Touched(touched.rows, begins, ends), found


@dataclass(slots=True)
class Taken:
    """Steps that were taken: by whom, which outcomes they had, and the numbers and values that they were made of."""

    rows: Ints
    outcomes: Ints
    vectors: Ints
    brought: Ints
    keys: Ints
    table: Ints
    """The outcomes as the kernels have them."""

    def chosen(self, some: Any) -> Taken:
        return Taken(
            self.rows[some], self.outcomes[some], self.vectors[some], self.brought[some], self.keys[some], self.table
        )

    def told(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Of those that say something: outcomes, vectors, values and keys."""
        said = self.table[self.outcomes, kernel.TELLS] > 0
        if said.all():
            return self.outcomes, self.vectors, self.brought, self.keys
        return self.outcomes[said], self.vectors[said], self.brought[said], self.keys[said]
