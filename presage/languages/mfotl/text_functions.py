"""What MonPoly's formulas do with texts: conversions, dates, regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from presage.languages.scanner import Unreadable
from presage.model.functions import pattern as expression
from presage.model.terms import Value, number

LATEST = 4_102_444_800
"""MonPoly's dates end with the year 2100."""


def _whole(value: Value) -> Value | None:
    """What is no whole number counts as 0."""
    if not isinstance(value, str):
        return None
    return int(value) if re.fullmatch(r"[+-]?[0-9]+", value) else 0


def _number(value: Value) -> Value | None:
    if not isinstance(value, str):
        return None
    written = re.fullmatch(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", value)
    return number(Fraction(Decimal(value.strip()))) if written else 0


def _as_float(value: Value) -> Value | None:
    """As a number that always shows that it is not a whole one."""
    if isinstance(value, str):
        return None
    shown = f"{float(value):.12g}"
    return shown if re.search(r"[.e]", shown) else f"{shown}."


def _date(value: Value) -> datetime | None:
    if isinstance(value, str):
        return None
    return datetime.fromtimestamp(min(float(value), LATEST), UTC)


def _of_date(part: Callable[[datetime], Value]) -> Callable[[Value], Value | None]:
    def found(value: Value) -> Value | None:
        date = _date(value)
        return None if date is None else part(date)

    return found


CONVERSIONS: dict[str, Callable[[Value], Value | None]] = {
    "i2s": lambda value: str(value) if isinstance(value, int) else None,
    "s2i": _whole,
    "f2s": _as_float,
    "s2f": _number,
    "YEAR": _of_date(lambda date: date.year),
    "MONTH": _of_date(lambda date: date.month),
    "DAY_OF_MONTH": _of_date(lambda date: date.day),
    "FORMAT_DATE": _of_date(lambda date: date.strftime("%Y-%m-%d")),
}
FLOATS = ("i2f", "s2f")
"""What gives a number that may not be whole."""


@lru_cache(maxsize=256)
def expression_of(pattern: str) -> Any:
    r"""A regular expression as OCaml writes it: `\(`, `\)` and `\|` are operators, `(`, `)`, `|`, `{` and `}` signs."""
    found: list[str] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\" and at + 1 < len(pattern):
            at += 1
            following = pattern[at]
            found.append(following if following in "()|" else r"\b" if following == "b" else re.escape(following))
        elif sign == "[":
            end = pattern.find("]", at + 3 if pattern[at + 1 : at + 2] == "^" else at + 2)
            end = len(pattern) - 1 if end < 0 else end
            found.append(pattern[at : end + 1].replace("\\", "\\\\"))
            at = end
        else:
            found.append(rf"\{sign}" if sign in "(){}|" else sign)
        at += 1
    return expression("".join(found))


def check_expression(pattern: str, span: Any) -> None:
    try:
        expression_of(pattern)
    except Exception as wrong:  # whatever the library says of it
        raise Unreadable("P206", f"this is no regular expression: {wrong}", span) from None
