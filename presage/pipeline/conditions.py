"""Conditions on rows without a database: comparisons of columns with constants, joined by `and`, as SQL means them.

A comparison with a value that is not there is not true, and neither is one of a number with what writes none.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from presage.io.facts import exact
from presage.model.terms import Number

SIMPLE = "compare columns with constants, with `and` between: kind = 'temp' and level is not null"
RowTest = Callable[[Mapping[str, Any]], bool]

_COLUMN = r"(?P<column>[A-Za-z_][\w.]*|`[^`]+`)"
_VALUE = r"'(?:[^']|'')*'|[+-]?\d+(?:\.\d+)?|true|false"
_COMPARED = re.compile(rf"\s*{_COLUMN}\s*(?P<sign><>|!=|<=|>=|=|<|>)\s*(?P<value>{_VALUE})\s*", re.IGNORECASE)
_THERE = re.compile(rf"\s*{_COLUMN}\s+is\s+(?P<not>not\s+)?null\s*", re.IGNORECASE)
_AND = re.compile(r"and\b", re.IGNORECASE)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def condition_in(text: str) -> RowTest | None:
    """The condition that a text is; `None` if it is more than that."""
    found: list[RowTest] = []
    at = 0
    while True:
        part = _THERE.match(text, at) or _COMPARED.match(text, at)
        if part is None:
            return None
        found.append(_single(part))
        at = part.end()
        if at == len(text):
            return lambda row: all(each(row) for each in found)
        joined = _AND.match(text, at)
        if joined is None:
            return None
        at = joined.end()


def _single(part: re.Match[str]) -> RowTest:
    column = part["column"].strip("`")
    if "sign" not in part.groupdict():
        wanted = part["not"] is not None
        return lambda row: (value_at(row, column) not in (None, "")) is wanted
    compare, text = _SIGNS[part["sign"]], part["value"]
    written = None if text[0] == "'" else exact(text.removeprefix("+"))
    if written is None:
        constant = text[1:-1].replace("''", "'") if text[0] == "'" else text.lower()
        return lambda row: (given := _text(value_at(row, column))) is not None and compare(given, constant)
    return lambda row: (given := _number(value_at(row, column))) is not None and compare(given, written)


def _text(given: Any) -> str | None:
    if given is None or given == "":
        return None
    return str(given).lower() if isinstance(given, bool) else str(given)


def _number(given: Any) -> Number | None:
    if given is None or isinstance(given, bool):
        return None
    try:
        return exact(str(given).strip())
    except ValueError:
        return None


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column or, of nested objects, at a path such as `machine.id`."""
    if column in row or "." not in column:
        return row.get(column)
    first, _, rest = column.partition(".")
    inner = row.get(first)
    return value_at(inner, rest) if isinstance(inner, Mapping) else None
