"""The clock of this machine in a program's units of time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

from presage.errors import PresageError
from presage.model.terms import Number
from presage.rewrite.units import EPOCH, Units, milliseconds_between


class WallClock:
    """Ticks since a program's `start`. `seconds` gives the seconds since 1970."""

    def __init__(self, units: Units, where: str, seconds: Callable[[], float] = time.time) -> None:
        if units.tick is None:
            raise PresageError(f"{where}: the program does not say how long a unit of time is: add `tick 1s.`")
        self._tick, self._start = units.tick, milliseconds_between(EPOCH, units.start)
        self._seconds = seconds

    @property
    def tick_seconds(self) -> Fraction:
        return self._tick / 1000

    def _ticks(self) -> Fraction:
        return (Fraction(self._seconds()) * 1000 - self._start) / self._tick

    def now(self) -> int:
        """The tick that it is; those before are over."""
        return math.floor(self._ticks())

    def until_next(self) -> float:
        """Seconds until this tick is over."""
        ticks = self._ticks()
        return float((math.floor(ticks) + 1 - ticks) * self._tick / 1000)

    def behind(self, clock: Number | None) -> list[str]:
        """What is wrong where a clock that never goes back is ahead of this one: it had been set too far."""
        ahead = 0 if clock is None else clock - self.now() - 1
        if ahead <= 0:
            return []
        seconds = float(ahead * self._tick / 1000)
        return [f"time is {seconds:,.0f} s ahead of this machine's clock, which was set back: facts are late so long"]
