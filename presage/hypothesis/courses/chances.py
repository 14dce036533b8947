"""How likely ways are to come true, for all individuals that are alike: it hangs on how far ahead or ago the premises
are, not on whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from presage.hypothesis.confidence import Confidence, NoProbability
from presage.hypothesis.courses.symbolic import Sum, total_of
from presage.hypothesis.ranges.confidence import Factor, likely


class Chance(NamedTuple):
    """The factors of a way; first and last times are sums."""

    factors: tuple[Factor, ...]

    @classmethod
    def of(cls, factors: Sequence[Factor]) -> Chance:
        return cls(
            tuple(each._replace(arguments=(), first=total_of(each.first), last=total_of(each.last)) for each in factors)
        )

    @property
    def times(self) -> list[Sum]:
        return [time for each in self.factors for time in (each.first, each.last) if time is not None]


class Chances:
    def __init__(self, confidence: Confidence) -> None:
        self.confidence = confidence
        self.known: dict[tuple[Chance, tuple[int, ...]], float | None] = {}

    def at(self, chance: Chance, away: Sequence[int]) -> float | None:
        """`away`: how long after now each of its times is."""
        key = chance, tuple(away)
        if key not in self.known:
            times = iter(away)
            factors = [
                each._replace(first=next(times), last=None if each.last is None else next(times))
                for each in chance.factors
            ]
            try:
                self.known[key] = likely(factors, self.confidence, 0)
            except NoProbability:
                self.known[key] = None
        return self.known[key]

    def column(self, chance: Chance, away: Sequence[Any]) -> list[float | None]:
        """The same for many: `away` has a column for each time."""
        rows, places = np.unique(np.column_stack(away), axis=0, return_inverse=True)
        found = [self.at(chance, row) for row in rows.tolist()]
        return [found[place] for place in places.ravel().tolist()]
