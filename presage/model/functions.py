"""What functions of values are worth: numbers, texts, moments of the calendar.

A function that is given something it is not for has no value (`None`). Numbers are exact where the result is
rational; otherwise the result is the nearest decimal of 15 significant digits, so that it is the same everywhere.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, Overflow
from fractions import Fraction
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from presage.errors import PresageError, PresageWarning
from presage.model.numerals import exact
from presage.model.terms import Clock, Number, Value, number

SIGNIFICANT = 15
MOST_DIGITS = 1_000
_TOO_MANY = 10**MOST_DIGITS
# Powers of e beyond this have more digits than that.
MOST_POWER = 2_400
MOST_REMARKS = 1_000


_said: set[str] = set()


def remark(text: str) -> None:
    """Says something about the data, once."""
    if text not in _said and len(_said) < MOST_REMARKS:
        _said.add(text)
        warnings.warn(text, PresageWarning, stacklevel=2)


# -- numbers -----------------------------------------------------------------------------------------------------


def _bounded(value: Fraction | int | None) -> Number | None:
    if value is None:
        return None
    found = number(Fraction(value)) if isinstance(value, Fraction) else value
    return found if abs(found.numerator) < _TOO_MANY and found.denominator < _TOO_MANY else None


def _decimal(value: Number, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(*values: Number) -> Context:
    digits = max(max(value.numerator.bit_length(), value.denominator.bit_length()) for value in values)
    return Context(prec=60 + digits // 3, Emax=999_999, Emin=-999_999)


def _nearest(value: Decimal) -> Number | None:
    """The nearest decimal of 15 significant digits."""
    if not value.is_finite():
        return None
    rounded = Context(prec=SIGNIFICANT, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999).plus(value)
    return _bounded(Fraction(rounded))


def _root(value: int, degree: int) -> int | None:
    """The whole number whose power is a whole number that is not negative, if there is one."""
    if degree == 2:
        found = math.isqrt(value)
        return found if found * found == value else None
    if value < 2:
        return value
    if degree >= value.bit_length():
        return None
    low, high = 1, 1 << -(-value.bit_length() // degree)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low if low**degree == value else None


def _sqrt(x: Number) -> Number | None:
    return _pow(x, Fraction(1, 2))


def _exp(x: Number) -> Number | None:
    if x == 0:
        return 1
    return None if not -MOST_POWER < x < MOST_POWER else _nearest(_context(x).exp(_decimal(x, _context(x))))


def _ln(x: Number) -> Number | None:
    if x <= 0:
        return None
    return 0 if x == 1 else _nearest(_context(x).ln(_decimal(x, _context(x))))


def _log10(x: Number) -> Number | None:
    if x <= 0:
        return None
    power = len(str(x.numerator)) - len(str(x.denominator))
    if Fraction(x) == Fraction(10) ** power:
        return power
    return _nearest(_context(x).log10(_decimal(x, _context(x))))


def _pow(x: Number, y: Number) -> Number | None:
    if x == 0:
        return None if y < 0 else 1 if y == 0 else 0
    if x in (1, -1) and y.denominator == 1:
        return 1 if x == 1 or y.numerator % 2 == 0 else -1
    size = max(abs(x.numerator).bit_length(), x.denominator.bit_length()) - 1
    if y.denominator == 1:
        if size * abs(y.numerator) > 4 * MOST_DIGITS:
            return None
        return _bounded(Fraction(x) ** y.numerator)
    if x < 0 or y.denominator > 4 * MOST_DIGITS:
        return None if x < 0 else _irrational_power(x, y)
    above, below = _root(x.numerator, y.denominator), _root(x.denominator, y.denominator)
    if above is not None and below is not None:
        return _pow(number(Fraction(above, below)), y.numerator)
    return _irrational_power(x, y)


def _irrational_power(x: Number, y: Number) -> Number | None:
    context = _context(x, y)
    power = context.multiply(_decimal(y, context), context.ln(_decimal(x, context)))
    if abs(power) > MOST_POWER:
        return None
    return _nearest(context.exp(power))


def _round(x: Number, digits: Number = 0) -> Number | None:
    if digits.denominator != 1 or not -MOST_DIGITS <= digits <= MOST_DIGITS:
        return None
    scale = Fraction(10) ** int(digits)
    scaled = abs(Fraction(x)) * scale
    whole = math.floor(scaled + Fraction(1, 2))
    return _bounded((whole if x >= 0 else -whole) / scale)


def _mod(x: Number, y: Number) -> Number | None:
    return None if y == 0 else number(Fraction(x) - Fraction(y) * math.floor(Fraction(x) / Fraction(y)))


# -- texts -------------------------------------------------------------------------------------------------------


def written_number(text: str) -> Number | None:
    """The number that a text writes, as a cell of a CSV file may; `None` if it writes none."""
    try:
        return exact(text.strip())
    except ValueError:
        return None


def _substring(text: str, start: Number, length: Number | None = None) -> str | None:
    if start.denominator != 1 or start < 1 or (length is not None and (length.denominator != 1 or length < 0)):
        return None
    first = start.numerator - 1
    return text[first:] if length is None else text[first : first + length.numerator]


def _text(value: Value) -> str:
    from presage.model.printer import show_number

    return value if isinstance(value, str) else show_number(value)


def _number(value: Value) -> Number | None:
    return written_number(value) if isinstance(value, str) else value


def _truth(true: bool) -> str:
    return "true" if true else "false"


@lru_cache(maxsize=256)
def pattern(written: str) -> Any:
    """A regular expression that is looked for in time linear in the text; raises `ValueError` with what is wrong."""
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        raise PresageError("`matches` needs the package google-re2: pip install google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(written, options)
    except re2.error as found:
        said = found.args[0] if found.args else found
        raise ValueError(said.decode() if isinstance(said, bytes) else str(said)) from None


def _matches(text: str, written: str) -> str | None:
    try:
        return _truth(pattern(written).search(text) is not None)
    except ValueError:
        return None


# -- moments -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def zone(name: str) -> tzinfo | None:
    """A zone of the calendar; `None` if there is none of that name."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def moment(time: Number, clock: Clock) -> datetime | None:
    """The moment of a time, rounded down; `None` outside of the calendar."""
    try:
        return clock.start + timedelta(microseconds=math.floor(Fraction(time) * clock.tick * 1000))
    except OverflowError:
        return None


def _there(time: Number, where: str, clock: Clock) -> datetime | None:
    there, at = zone(where), moment(time, clock)
    try:
        return None if there is None or at is None else at.astimezone(there)
    except (OverflowError, ValueError):
        return None


def _timestamp(at: datetime) -> str:
    text = at.replace(tzinfo=None).isoformat(timespec="seconds")
    if at.microsecond:
        text += f".{at.microsecond:06d}".rstrip("0")
    offset = at.utcoffset() or timedelta(0)
    if at.tzinfo is UTC:
        return text + "Z"
    minutes = int(offset.total_seconds()) // 60
    return f"{text}{'+' if minutes >= 0 else '-'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


_FIELDS: dict[str, Callable[[datetime], Value]] = {
    "year": lambda at: at.year,
    "month": lambda at: at.month,
    "day": lambda at: at.day,
    "weekday": lambda at: at.isoweekday(),
    "hour": lambda at: at.hour,
    "minute": lambda at: at.minute,
    "second": lambda at: at.second,
    "timestamp": _timestamp,
}

# -- the table ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: `n` numbers, `s` texts, `v` either, `t` a time; `?` after what may be left out, `*` after
    what may be repeated."""

    takes: str
    compute: Callable[..., Any]

    @property
    def kinds(self) -> list[str]:
        return [each for each in self.takes if each not in "?*"]

    @property
    def least(self) -> int:
        return len(self.kinds) - self.takes.count("?")

    @property
    def most(self) -> int | None:
        return None if "*" in self.takes else len(self.kinds)


FUNCTIONS: dict[str, Signature] = {
    "abs": Signature("n", abs),
    "floor": Signature("n", math.floor),
    "ceil": Signature("n", math.ceil),
    "round": Signature("nn?", _round),
    "min": Signature("nn", min),
    "max": Signature("nn", max),
    "mod": Signature("nn", _mod),
    "sqrt": Signature("n", lambda x: None if x < 0 else _sqrt(x)),
    "exp": Signature("n", _exp),
    "ln": Signature("n", _ln),
    "log10": Signature("n", _log10),
    "pow": Signature("nn", _pow),
    "lower": Signature("s", str.lower),
    "upper": Signature("s", str.upper),
    "length": Signature("s", len),
    "concat": Signature("ss*", lambda *parts: "".join(parts)),
    "substring": Signature("snn?", _substring),
    "replace": Signature("sss", lambda text, old, new: text.replace(old, new) if old else text),
    "number": Signature("v", _number),
    "text": Signature("v", _text),
    "starts_with": Signature("ss", lambda text, part: _truth(text.startswith(part))),
    "ends_with": Signature("ss", lambda text, part: _truth(text.endswith(part))),
    "contains": Signature("ss", lambda text, part: _truth(part in text)),
    "matches": Signature("ss", _matches),
    **{name: Signature("ts?", field) for name, field in _FIELDS.items()},
}
OF_TIME = frozenset(_FIELDS)


def apply(name: str, values: Sequence[object], clock: Clock | None = None) -> Value | None:
    """What a function is worth; none for something it is not for."""
    signature = FUNCTIONS[name]
    kinds = signature.kinds
    for place, value in enumerate(values):
        kind = kinds[min(place, len(kinds) - 1)]
        if kind == "s":
            fits = isinstance(value, str)
        elif kind == "v":
            fits = isinstance(value, (str, int, Fraction))
        else:
            fits = isinstance(value, (int, Fraction))
        if not fits:
            return None
    if name in OF_TIME:
        assert clock is not None, "functions of time are given their clock by rewriting"
        at = _there(values[0], values[1] if len(values) > 1 else "UTC", clock)  # type: ignore[arg-type]
        return None if at is None else _FIELDS[name](at)
    try:
        found = signature.compute(*values)
    except (InvalidOperation, Overflow, OverflowError):
        return None
    return number(found) if isinstance(found, Fraction) else found
