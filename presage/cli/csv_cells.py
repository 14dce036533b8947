"""How the cells of somebody's table are written: which are numbers, and which are times, written by people or not.

Nothing is guessed that the cells do not say: a column is numbers, or times, if every cell of it is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from presage.io.decimals import PLAIN, plain

_DATES = ("%d.%m.%Y", "%d.%m.%y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y")
_CLOCKS = (" %H:%M:%S", " %H:%M", " %H:%M:%S.%f", ", %H:%M", ", %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "")
_FORMS = tuple(date + clock for date, clock in itertools.product(_DATES, _CLOCKS))
_SECONDS_SINCE_1970, _MILLISECONDS_SINCE_1970 = 10**9, 10**12


def plain_column(cells: Sequence[str], decimal: str) -> tuple[str, ...]:
    """The same for a column, if it is one of numbers."""
    found = tuple(plain(cell, decimal) for cell in cells)
    return found if kind_of(found) != "text" else tuple(cells)


def kind_of(cells: Sequence[str]) -> str:
    """A column of numbers is one of which every cell is; `007` is a name, and so is what is not written in digits."""
    if not cells or not all(map(PLAIN.fullmatch, cells)):
        return "text"
    return "float" if any("." in cell for cell in cells) else "int"


@dataclass(frozen=True, slots=True)
class WrittenTimes:
    """What the cells of a column say of when."""

    times: tuple[int, ...] | tuple[datetime, ...]
    form: str = ""
    """How they are written, as `time_format` of a map says it; nothing where that need not be said."""
    otherwise: str = ""
    """The other way in which they may be meant."""

    @property
    def clock(self) -> str:
        return "timestamps" if self.times and isinstance(self.times[0], datetime) else "numbers"

    @property
    def has_hours(self) -> bool:
        return any(isinstance(each, datetime) and (each.hour or each.minute or each.second) for each in self.times)


def times_in(cells: Sequence[str], may_count: bool) -> WrittenTimes | None:
    """What a column says of when, if it does; `may_count`: whether whole numbers are times to it."""
    if not cells:
        return WrittenTimes(()) if may_count else None
    if may_count and (days := _written(cells, "%Y%m%d")) and all(len(cell) == 8 for cell in cells):
        return WrittenTimes(days, "%Y%m%d")
    if may_count and all(re.fullmatch(r"\d{1,15}", cell) for cell in cells):
        return _counted(tuple(map(int, cells)))
    stamps = _stamps(cells)
    return _in_a_form(cells) if stamps is None else WrittenTimes(stamps)


def _counted(times: tuple[int, ...]) -> WrittenTimes:
    """Numbers so large that they can only be what computers count from 1970 on are moments."""
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    if min(times) >= _MILLISECONDS_SINCE_1970:
        return WrittenTimes(tuple(begin + timedelta(milliseconds=time) for time in times), "ms")
    if min(times) >= _SECONDS_SINCE_1970 and max(times) < _MILLISECONDS_SINCE_1970:
        return WrittenTimes(tuple(begin + timedelta(seconds=time) for time in times), "s")
    return WrittenTimes(times)


def _stamps(cells: Sequence[str]) -> tuple[datetime, ...] | None:
    """Timestamps, those without a zone taken for UTC."""
    found = []
    for cell in cells:
        if not re.match(r"\d{4}-\d{2}-\d{2}", cell):
            return None
        try:
            moment = datetime.fromisoformat(cell)
        except ValueError:
            return None
        found.append(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC))
    return tuple(found)


def _in_a_form(cells: Sequence[str]) -> WrittenTimes | None:
    """Times as people write them. What may be day or month is read so that rows are in order, and close together."""
    found = [(form, times) for form in _FORMS if (times := _written(cells, form)) is not None]
    if not found:
        return None
    form, times = min(found, key=lambda each: (list(each[1]) != sorted(each[1]), max(each[1]) - min(each[1])))
    return WrittenTimes(times, form, next((each for each, other in found if other != times), ""))


def _written(cells: Sequence[str], form: str) -> tuple[datetime, ...] | None:
    try:
        return tuple(datetime.strptime(cell, form).replace(tzinfo=UTC) for cell in cells)
    except ValueError:
        return None
