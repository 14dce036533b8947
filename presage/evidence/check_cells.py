"""Time as the checker computes with it: whole numbers on a grid that all times of a proof lie on.

On the discrete timeline a cell is a time point. On the dense one, with all times multiples of 1/k, the point t
is the cell 2kt and the open gap after it the next one. A set is a sorted tuple of ranges `(first, last)`, both
included. Nothing here is shared with the prover, on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from presage.evidence.proof import Proof, Record, walk
from presage.model.formulas import BinaryMetric, Formula, Metric, Over, Pinned, Windowed
from presage.model.formulas import walk as subformulas
from presage.model.statements import Distribution
from presage.model.terms import Number
from presage.model.time import Interval, TimeSpan
from presage.model.windows import TimeWindow, Window

Cell = int | float
CellRange = tuple[Cell, Cell]
Cells = tuple[CellRange, ...]
NOWHERE: Cells = ()
EVERYWHERE: Cells = ((-math.inf, math.inf),)


def joined(ranges: Iterable[CellRange]) -> Cells:
    """Ranges in order, those that touch made one."""
    found: list[list[Cell]] = []
    for first, last in sorted(ranges):
        if first > last:
            continue
        if found and first <= found[-1][1] + 1:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return tuple((first, last) for first, last in found)


def both(left: Cells, right: Cells) -> Cells:
    return joined((max(a, c), min(b, d)) for a, b in left for c, d in right if max(a, c) <= min(b, d))


def others(cells: Cells) -> Cells:
    """Everything that is not in the set."""
    firsts = [-math.inf, *(last + 1 for _, last in cells)]
    lasts = [*(first - 1 for first, _ in cells), math.inf]
    if cells and cells[0][0] == -math.inf:
        firsts, lasts = firsts[1:], lasts[1:]
    if cells and cells[-1][1] == math.inf:
        firsts, lasts = firsts[:-1], lasts[:-1]
    return tuple(zip(firsts, lasts, strict=True))


def covers(outer: Cells, inner: Cells) -> bool:
    return not both(inner, others(outer))


@dataclass(frozen=True, slots=True)
class CheckedGrid:
    discrete: bool
    scale: int

    @staticmethod
    def of(record: Record, proof: Proof) -> CheckedGrid:
        if record.discrete:
            return CheckedGrid(True, 1)
        return CheckedGrid(False, 2 * math.lcm(*(Fraction(time).denominator for time in _times(record, proof))))

    def range(self, low: Number | None, high: Number | None, closed_low: bool, closed_high: bool) -> Cells:
        first = -math.inf if low is None else self._cell(low) + (not closed_low)
        last = math.inf if high is None else self._cell(high) - (not closed_high)
        return joined([(first, last)])

    def _cell(self, time: Number) -> int:
        cell = Fraction(time) * self.scale
        if cell.denominator != 1:
            raise ValueError(f"{time} is no time of this timeline")
        return cell.numerator

    def span(self, span: TimeSpan) -> Cells:
        return self.range(span.low, span.high, span.closed_low, span.closed_high)

    def interval(self, interval: Interval) -> Cells:
        return self.range(interval.low, interval.high, interval.closed_low, interval.closed_high)  # type: ignore[arg-type]

    def window(self, window: Window) -> Cells:
        """How far before now the times of a window of time lie."""
        if not isinstance(window, TimeWindow) or window.hop is not None:
            raise ValueError("not a window that moves with now")
        ahead = None if window.ahead is None else -Fraction(window.ahead)  # type: ignore[arg-type]
        return self.range(ahead, window.back, True, True)  # type: ignore[arg-type]

    def point(self, time: Number) -> Cells:
        return self.range(time, time, True, True)

    def since_start(self, start: Number = 0) -> Cells:
        return self.range(start, None, True, False)

    def _bounds(self, cells: CellRange) -> tuple[Cell, bool, Cell, bool]:
        """The ends of a range, and whether they are left out."""
        first, last = cells
        low_open = not self.discrete and not math.isinf(first) and first % 2 == 1
        high_open = not self.discrete and not math.isinf(last) and last % 2 == 1
        return first - low_open, low_open, last + high_open, high_open

    def plus(self, cells: Cells, distances: Cells) -> Cells:
        """Every time that lies one of the distances after one of the set."""
        found = []
        for each in cells:
            for distance in distances:
                low, low_open, high, high_open = self._bounds(each)
                near, near_open, far, far_open = self._bounds(distance)
                found.append((low + near + (low_open or near_open), high + far - (high_open or far_open)))
        return joined(found)

    def minus(self, cells: Cells, distances: Cells) -> Cells:
        """Every time that lies one of the distances before one of the set."""
        found = []
        for each in cells:
            for distance in distances:
                low, low_open, high, high_open = self._bounds(each)
                near, near_open, far, far_open = self._bounds(distance)
                found.append((low - far + (low_open or far_open), high - near - (high_open or near_open)))
        return joined(found)

    def moved(self, cells: Cells, by: Number) -> Cells:
        return tuple((first + self._cell(by), last + self._cell(by)) for first, last in cells)

    def hull_with_ends(self, cells: CellRange) -> Cells:
        """From the end before a range to the end after it: between any two of these times all is in the range."""
        low, _, high, _ = self._bounds(cells)
        return ((low - 1, high + 1),) if self.discrete else ((low, high),)

    def strictly_between(self, earlier: Cells, later: Cells) -> Cells:
        """All that lies between some time of the one and some time of the other set."""
        low, _, _, _ = self._bounds(earlier[0])
        _, _, high, _ = self._bounds(later[-1])
        return joined([(low + 1, high - 1)])


def _times(record: Record, proof: Proof) -> Iterator[Number]:
    yield record.at
    for fact in record.facts:
        yield from (time for time in (fact.span.low, fact.span.high) if time is not None)
    for declared in record.program.inputs:
        parts = declared.delay.parts if isinstance(declared.delay, Distribution) else [(declared.delay, 1)]
        yield from (wait for wait, _ in parts if isinstance(wait, (int, Fraction)))
    for rule in record.program.rules:
        for formula in rule.formulas():
            yield from _numbers(formula)
    for step in walk(proof):
        for span in (step.span, getattr(step, "when", step.span)):
            yield from (time for time in (span.low, span.high) if time is not None)


def _numbers(formula: Formula) -> Iterator[Number]:
    for node in subformulas(formula):
        if isinstance(node, (Metric, BinaryMetric, Over)):
            bounds: tuple[object, ...] = (node.interval.low, node.interval.high)
        elif isinstance(node, Pinned):
            bounds = (node.pin.offset,)
        elif isinstance(node, Windowed) and isinstance(node.window, TimeWindow):
            bounds = (node.window.back, node.window.ahead)
        else:
            continue
        yield from (bound for bound in bounds if isinstance(bound, (int, Fraction)))
