"""Who takes a step, and which was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

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
    others: Any = True
    """Whose steps were not taken back."""

    def chosen(self, some: Any) -> Taken:
        return Taken(
            self.rows[some], self.outcomes[some], self.vectors[some], self.brought[some], self.keys[some], self.table
        )

    def of_others(self) -> Taken:
        return self if self.others is True else self.chosen(self.others)

    def told(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Of those that say something: outcomes, vectors, values and keys."""
        said = self.table[self.outcomes, kernel.TELLS] > 0
        return self.outcomes[said], self.vectors[said], self.brought[said], self.keys[said]
