"""Parameters set from outside: `--set limit=40`, `load(…, params={"limit": 40})`, `[params]` of a pipeline.

The default says what a parameter is, and what is given is read as that. The value takes the default's place in the
program, so that nothing later needs to know where it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from presage.errors import NOWHERE, Source, WrongParameter, nearest
from presage.model.printer import show_term
from presage.model.program import Program
from presage.model.statements import Param, ParameterValue
from presage.model.terms import Constant, number
from presage.model.time import Duration, Timestamp
from presage.parser.cursor import Cursor, Failure
from presage.parser.declarations import param_value
from presage.parser.lexer import tokenize
from presage.syntax import UNITS


def with_params(program: Program, params: Mapping[str, Any]) -> Program:
    """The program with other values for its parameters."""
    if not params:
        return program
    declared = {param.name: param for param in program.each(Param)}
    for name in params:
        if name not in declared:
            near = nearest(str(name), declared)
            hint = f"did you mean `{near}`?" if near else _which(declared)
            raise WrongParameter(name, f"{program.source.name} has no parameter `{name}`; {hint}")
    values = {name: _value(program, declared[name], given) for name, given in params.items()}
    return replace(
        program,
        statements=tuple(
            replace(each, value=values[each.name]) if isinstance(each, Param) and each.name in values else each
            for each in program.statements
        ),
    )


def _which(names: Iterable[str]) -> str:
    known = ", ".join(sorted(names))
    return f"it has {known}" if known else "it declares none (`param limit = 30.`)"


def _value(program: Program, param: Param, given: Any) -> ParameterValue:
    default = param.value
    kind, example = _KINDS[type(default)] if not isinstance(default, Constant) else _constant_kind(default)
    found = _of_kind(given, default)
    if found is None:
        shown = given if isinstance(given, str) else repr(given)
        raise WrongParameter(
            param.name,
            f"{program.source.name}: the parameter `{param.name}` is {kind}, such as {example} or its default "
            f"{show_term(default)}; {shown} is not",
        )
    return found


_KINDS = {Duration: ("a duration", "5m"), Timestamp: ("a timestamp", "2026-01-31T23:59:00Z")}


def _constant_kind(default: Constant) -> tuple[str, str]:
    return ("a text", "high") if isinstance(default.value, str) else ("a number", "40")


def _of_kind(given: Any, default: ParameterValue) -> ParameterValue | None:
    if isinstance(default, Constant) and isinstance(default.value, str):
        if isinstance(given, bool):
            return Constant("true" if given else "false")
        return Constant(given) if isinstance(given, str) else None
    if isinstance(given, str):
        found = _read(given)
        alike = type(found) is type(default) and not (isinstance(found, Constant) and isinstance(found.value, str))
        return found if alike else None
    if isinstance(default, Duration):
        return _duration(given) if isinstance(given, timedelta) else None
    if isinstance(default, Timestamp):
        if not isinstance(given, datetime):
            return None
        return Timestamp((given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC))
    if isinstance(given, bool) or not isinstance(given, (int, float, Fraction, Decimal)):
        return None
    try:
        return Constant(number(Fraction(str(given))))
    except ValueError:
        return None


def _duration(given: timedelta) -> Duration:
    milliseconds = Fraction(given // timedelta(microseconds=1), 1000)
    unit = next((each for each in reversed(UNITS) if milliseconds % UNITS[each] == 0), "ms")
    return Duration(number(milliseconds / UNITS[unit]), unit)


def _read(text: str) -> ParameterValue | None:
    """What a text writes, as it would be written after `param limit =`; it has no place in the program."""
    tokens = tokenize(Source.of(text.strip(), "<value>"))
    if tokens.hopeless or tokens.problems:
        return None
    c = Cursor(tokens)
    try:
        found = param_value(c)
    except Failure:
        return None
    return None if c.kind != "end" else replace(found, span=NOWHERE)
