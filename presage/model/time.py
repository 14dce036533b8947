"""Time as it is written: durations, timestamps, intervals, pins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Union

from presage.model.placed import Placed
from presage.model.terms import Now, Number, Parameter, Variable
from presage.syntax import UNITS


@dataclass(frozen=True, slots=True)
class Duration(Placed):
    """A length of real time such as `90s`; the `tick` declaration turns it into a number."""

    amount: Number
    unit: str

    @property
    def milliseconds(self) -> Fraction:
        return Fraction(self.amount) * UNITS[self.unit]


@dataclass(frozen=True, slots=True)
class Timestamp(Placed):
    """A moment of real time, in UTC; `start` and `tick` turn it into a number."""

    moment: datetime


Quantity = Union[Number, Duration, Parameter]
"""A length of time as written: a plain number of time units, a duration, or a parameter that is one."""

TimeLiteral = Union[Number, Duration, Timestamp, Parameter]
"""A point of time as written."""


@dataclass(frozen=True, slots=True)
class Interval(Placed):
    """An interval as written; `high is None` is infinity."""

    low: TimeLiteral
    high: TimeLiteral | None
    closed_low: bool = True
    closed_high: bool = True


@dataclass(frozen=True, slots=True)
class Pin(Placed):
    """Where `@` points: a time variable or `now` with an offset, or (no base) a fixed time."""

    base: Variable | Now | None
    offset: TimeLiteral = 0


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Time as it passes: a point (`low == high`) or an interval of time; `None` is without end on that side."""

    low: Number | None
    high: Number | None
    closed_low: bool = True
    closed_high: bool = True

    @property
    def is_point(self) -> bool:
        return self.low is not None and self.low == self.high
