"""The stretch of time a drawing shows, and where on it a time lies: for drawings in text and in SVG alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from presage.explanations.outline import Outline, walk
from presage.model.terms import Number, number
from presage.model.time import TimeSpan

FAR, LITTLE = 3, 12
"""Now is long after what is spoken of when that would have less than a quarter of the axis, and more than a little lies
between."""


@dataclass(frozen=True, slots=True)
class Axis:
    first: Number
    last: Number

    @staticmethod
    def around(outline: Outline, now: Number) -> Axis:
        """From the first to the last time that an outline speaks of; now among them, if it is not long after."""
        times: list[Number] = []
        for _, each in walk(outline):
            ends = () if each.when is None else (each.when.low, each.when.high)
            times += [time for time in (*ends, each.until) if time is not None]
        if not times or now - max(times) <= max(FAR * (max(times) - min(times)), LITTLE):
            times.append(now)
        return Axis(min(times), max(times))

    @property
    def length(self) -> Number:
        return self.last - self.first

    def share(self, time: Number) -> float:
        """Where a time lies between the ends, from 0 to 1; in the middle if there is but one."""
        return float(Fraction(time - self.first) / Fraction(self.length)) if self.length else 0.5

    def shares(self, span: TimeSpan) -> tuple[float, float]:
        """Where a span begins and ends; what is without end goes to the edge."""
        return (
            0.0 if span.low is None else self.share(span.low),
            1.0 if span.high is None else self.share(span.high),
        )

    def ticks(self, most: int) -> list[Number]:
        """Round times to write on the axis, so many at most."""
        if not self.length:
            return [self.first]
        step = _round_step(Fraction(self.length) / max(1, most - 1))
        if isinstance(self.first, int) and isinstance(self.last, int):
            step = max(step, Fraction(1))
        start = math.ceil(Fraction(self.first) / step)
        return [number(step * place) for place in range(start, math.floor(Fraction(self.last) / step) + 1)]


def _round_step(least: Fraction) -> Fraction:
    """The smallest of 1, 2, 5, 10, … and their tenths that is not less."""
    step = Fraction(10) ** math.floor(math.log10(least))
    for factor in (1, 2, 5, 10, 20):
        if step * factor >= least:
            return step * factor
    return step * 50


def widest(times: Iterable[Number], label: Callable[[Number], str]) -> int:
    return max((len(label(time)) for time in times), default=1)
