"""Time as integers: cells.

On the discrete timeline a cell is a time point. On the dense one, with all times multiples of 1/k, the
point t is the cell 2·t·k and the open gap after it the next cell: intervals with open or closed ends
become plain ranges of integers, and truth over dense time is exact integer arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from presage.model.terms import Number, number
from presage.model.time import TimeSpan
from presage.time.bounds import COUNTABLE, FAR

ENDLESS = 2 * FAR


@dataclass(frozen=True, slots=True)
class Grid:
    discrete: bool
    per_unit: int = 1

    @property
    def step(self) -> int:
        """Cells per multiple of 1/k."""
        return 1 if self.discrete else 2

    def fits(self, time: Number) -> bool:
        return (time * self.per_unit if isinstance(time, int) else Fraction(time) * self.per_unit).denominator == 1

    def cell(self, time: Number) -> int:
        """The cell of a time point; also, of a length of time, how many cells it spans."""
        scaled = time * self.per_unit
        if not isinstance(scaled, int):
            if scaled.denominator != 1:
                raise ValueError(f"{time} is not on the grid")
            scaled = scaled.numerator
        return scaled * self.step

    def around(self, time: Number) -> int:
        """The cell in which a time lies: of one between two points, as arrivals may be, the gap."""
        if self.fits(time):
            return self.cell(time)
        return math.floor(Fraction(time) * self.per_unit) * self.step + self.step - 1

    def cells(
        self, low: Number, high: Number | None, closed_low: bool = True, closed_high: bool = True
    ) -> tuple[int, int]:
        """The range of cells of an interval."""
        start = self.cell(low) + (0 if closed_low else 1)
        if high is None:
            return start, ENDLESS
        return start, self.cell(high) - (0 if closed_high else 1)

    def time(self, cell: int) -> Number:
        """The time of a point, or the lower end of a gap."""
        whole, part = divmod(cell // self.step, self.per_unit)
        return whole if not part else number(Fraction(cell // self.step, self.per_unit))

    def point(self, cell: int) -> Number | None:
        """The time of a cell, or `None` if it is a gap or infinite."""
        if (cell % 2 and not self.discrete) or not -FAR < cell < FAR:
            return None
        return self.time(cell)

    def span(self, low: int, high: int) -> TimeSpan:
        """A range of cells as an interval."""
        start = None if low <= -FAR else self.time(low)
        end = None if high >= FAR else self.time(high + 1 if not self.discrete and high % 2 else high)
        even_low, even_high = self.discrete or low % 2 == 0, self.discrete or high % 2 == 0
        return TimeSpan(start, end, even_low and start is not None, even_high and end is not None)

    def holds(self, time: Number) -> bool:
        """Whether a time, and what operators add to it, stays within the integers of the engine."""
        return time * self.per_unit * self.step < COUNTABLE

    def refined(self, times: Iterable[Number]) -> Grid:
        """A grid that also has the given times; the same if it has them already."""
        per_unit = self.per_unit
        for time in times:
            if not isinstance(time, int):
                per_unit = math.lcm(per_unit, time.denominator)
        return self if per_unit == self.per_unit else Grid(self.discrete, per_unit)
