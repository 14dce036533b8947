"""Time as finitely many cells, and the metric operators on sets of cells ([MTL] Table 1).

Discrete time: cell i is time point i. Dense time: with all times that can arise multiples of 1/k,
cell 2i is the time point i/k and cell 2i+1 the open gap between i/k and (i+1)/k, on which nothing
changes. In both, a cell stands at `cell / scale`, with scale 1 or 2k: a gap is met at its middle,
and every other time of the gap would do as well, because the ends of intervals never lie in a gap.

Metric operators look past the stream on both sides. `first` and `last` lie so far outside
[0, end] that every formula keeps its truth value beyond them; a time beyond is taken for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from presage.model import Interval, Number


@dataclass(frozen=True)
class Line:
    dense: bool
    scale: int
    end: int
    first: int
    last: int

    @staticmethod
    def of(dense: bool, fineness: int, end: Number, margin: int) -> Line:
        """Times up to `end`, in steps of 1/`fineness` if dense, with a margin on both sides."""
        scale = 2 * fineness if dense else 1
        return Line(dense, scale, int(end * scale), -margin * scale, int((end + margin) * scale))

    @property
    def timeline(self) -> range:
        """The cells of the stream."""
        return range(self.end + 1)

    @property
    def everything(self) -> frozenset[int]:
        return frozenset(range(self.first, self.last + 1))

    def is_gap(self, cell: int) -> bool:
        return self.dense and cell % 2 == 1

    def is_on_grid(self, value: Number) -> bool:
        """Whether a number is none that a gap hides."""
        return not self.dense or (value * self.scale) % 2 == 0

    def value(self, cell: int) -> Number:
        time = Fraction(cell, self.scale)
        return time.numerator if time.denominator == 1 else time

    def cell(self, value: Number) -> int | None:
        """The cell of a time; none if there is no such time point."""
        cell = Fraction(value) * self.scale
        if cell.denominator == 1:
            return cell.numerator
        if self.dense:
            raise NotImplementedError(f"{value} is not on the grid of the oracle's dense timeline")
        return None

    def over(self, interval: Interval) -> set[int]:
        """The cells of the stream inside an interval of times."""
        return {cell for cell in self.timeline if self.meets(cell, self.is_gap(cell), interval)}

    def reach(self, interval: Interval, from_gap: bool) -> tuple[int, ...]:
        """The offsets of all cells with some time whose distance, from a time point or from a time
        in a gap, lies in the interval. Since bounds are no negative numbers, offsets are none."""
        return _reach(self, interval, from_gap)

    def meets(self, distance: int, gap: bool, interval: Interval) -> bool:
        """Whether the distance, or some of the distances less than one cell from it, is in the interval."""
        low = interval.low * self.scale
        high = math.inf if interval.high is None else interval.high * self.scale
        if gap:
            return distance - 1 < high and distance + 1 > low
        above = distance >= low if interval.closed_low else distance > low
        below = distance <= high if interval.closed_high else distance < high
        return above and below

    def clamp(self, cell: int) -> int:
        return min(max(cell, self.first), self.last)

    def between(self, cell: int, offset: int) -> Iterator[int]:
        """Offsets of the cells with a time strictly between one of the cell and another one of the
        cell at the offset: those in between, and the two themselves where they are gaps."""
        for step in range(offset + 1):
            if 0 < step < offset or self.is_gap(cell + step):
                yield step


@cache
def _reach(line: Line, interval: Interval, from_gap: bool) -> tuple[int, ...]:
    far = interval.low * line.scale + line.last - line.first if interval.high is None else interval.high * line.scale
    offsets = range(math.ceil(far) + 2)
    return tuple(each for each in offsets if line.meets(each, line.dense and from_gap ^ (each % 2 == 1), interval))


@lru_cache(maxsize=10_000)
def metric(line: Line, operator: str, interval: Interval, inner: frozenset[int]) -> frozenset[int]:
    """Where `once`, `historically`, `eventually` or `always` hold, given where the operand does."""
    sign = -1 if operator in ("once", "historically") else 1
    quantifier = any if operator in ("once", "eventually") else all
    return frozenset(
        cell
        for cell in line.everything
        if quantifier(line.clamp(cell + sign * offset) in inner for offset in line.reach(interval, line.is_gap(cell)))
    )


@lru_cache(maxsize=10_000)
def binary(
    line: Line, operator: str, interval: Interval, left: frozenset[int], right: frozenset[int]
) -> frozenset[int]:
    """Where `since` or `until` hold, given where the operands do."""
    sign = -1 if operator == "since" else 1

    def holds_at(cell: int) -> bool:
        if line.meets(0, False, interval) and cell in right:  # t' = t: nothing lies between
            return True
        for offset in line.reach(interval, line.is_gap(cell)):
            if offset == 0 and (not line.is_gap(cell) or interval.high == 0):
                continue  # no t' other than t itself
            if line.clamp(cell + sign * offset) in right:
                if all(line.clamp(cell + sign * step) in left for step in line.between(cell, offset)):
                    return True
        return False

    return frozenset(cell for cell in line.everything if holds_at(cell))
