"""Times as foreign rows write them: numbers since 1970, or texts of a form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from presage.io.facts import FactError, exact

_SECONDS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""How many of a unit a second has."""
_FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
HINT = 'write "s", "ms", "us" or "ns" for numbers since 1970, or such as "%d.%m.%Y %H:%M"'


def time_format(given: str) -> Callable[[Any, str], Any] | None:
    """What reads times that are written so; `None` if nothing is written so."""
    if given in _SECONDS:
        return _Since(_SECONDS[given])
    try:
        datetime.strptime(datetime(2026, 1, 31, 13, 59, tzinfo=UTC).strftime(given), given)
    except ValueError:
        return None
    return _Written(given) if "%" in given else None


@dataclass(frozen=True, slots=True)
class _Since:
    """Times as numbers since 1970."""

    per_second: int

    def __call__(self, given: Any, where: str) -> Any:
        written = exact(given.strip()) if isinstance(given, str) else given
        if isinstance(written, bool) or not isinstance(written, (int, float, Fraction)):
            raise FactError(f"{where}: {given!r} is not a number, as its `time_format` says of a time")
        try:
            return _FIRST_MOMENT + timedelta(microseconds=math.floor(Fraction(written) * 1_000_000 / self.per_second))
        except (OverflowError, ValueError):
            raise FactError(f"{where}: {given} is a time that no calendar has") from None


@dataclass(frozen=True, slots=True)
class _Written:
    """Times as texts of a form."""

    form: str

    def __call__(self, given: Any, where: str) -> Any:
        try:
            return datetime.strptime(str(given).strip(), self.form)
        except ValueError:
            raise FactError(f"{where}: {given!r} is not a time as in {self.form!r}") from None
