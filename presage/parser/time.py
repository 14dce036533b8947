"""Reading time: numbers, durations, timestamps, intervals, pins."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from presage.errors import Span
from presage.model.formulas import Formula, Over, Pinned
from presage.model.terms import Now, Number, Parameter, Variable, number
from presage.model.time import Duration, Interval, Pin, Quantity, TimeLiteral, Timestamp
from presage.parser.cursor import Cursor
from presage.parser.lexer import Token
from presage.syntax import UNITS

BOUND = "the bound of an interval"


def exact(digits: str) -> Number:
    return number(Fraction(digits)) if "." in digits else int(digits)


def duration_of(token: Token) -> Duration:
    unit = token.text.lstrip("0123456789.")
    return Duration(exact(token.text[: -len(unit)]), unit, span=token.span)


def parameter_of(token: Token, minus: Token | None = None) -> Parameter:
    """`$limit`, or `-$limit`."""
    start = token.start if minus is None else minus.start
    return Parameter(token.text[1:], minus is not None, span=Span(start, token.end))


def parameter_as(c: Cursor) -> Any:
    """A parameter where a plain number or constant stands. It is typed as whatever is meant: the first rewriting pass
    puts that in its place, and nothing but the printer looks at it before."""
    return parameter_of(c.take())


def timestamp_of(c: Cursor) -> Timestamp:
    token = c.expect("timestamp", "a timestamp such as 2026-01-01T00:00:00Z")
    try:
        moment = datetime.fromisoformat(token.text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return Timestamp(moment.astimezone(UTC), span=token.span)
    except (ValueError, OverflowError):
        message = f"`{token.text}` is not a date and time of the calendar"
        raise c.failure("P105", message, token.span, "write it as 2026-01-31T23:59:00Z") from None


def quantity(c: Cursor, what: str) -> Quantity:
    """A length of time, not negative: a number of time units, or a duration."""
    from presage.parser.terms import plain_number

    if c.kind == "duration":
        return duration_of(c.take())
    if c.kind == "parameter":
        return parameter_of(c.take())
    if c.kind == "number":
        return plain_number(c)
    if c.kind == "-":
        message = f"{what} cannot be negative"
        if what == BOUND:
            raise c.failure("P207", message, c.token.span, "the operator itself says whether it looks back or ahead")
        raise c.failure("D104", message, c.token.span, "write it without the minus sign")
    raise c.unexpected(f"{what}: a number" + (f" or a duration ({', '.join(UNITS)})" if c.kind != "inf" else ""))


def time_literal(c: Cursor, what: str) -> TimeLiteral:
    return timestamp_of(c) if c.kind == "timestamp" else quantity(c, what)


def interval(c: Cursor, bound: Callable[[Cursor, str], TimeLiteral] = quantity) -> Interval:
    """`[a,b]`, `(a,b)`, `[a,b)`, `(a,b]`, `[a,inf)`, `[a]`. An operator's bounds are lengths of time, a
    fact's are points of time."""
    opening = c.take()
    low = bound(c, BOUND)
    if opening.kind == "[" and c.kind == "]":
        c.take()
        return Interval(low, low, span=c.since(opening.start))
    if c.kind != ",":
        raise c.unexpected("`,` between the bounds of the interval")
    c.take()
    high: TimeLiteral | None = None
    if c.kind == "inf":
        c.take()
        if c.kind == "]":
            hint = "infinity is never reached: write `inf)`"
            raise c.failure("P207", "an interval cannot be closed at infinity", c.token.span, hint)
    else:
        high = bound(c, BOUND)
    if c.kind not in ("]", ")"):
        if c.kind in (".", "end", ":-"):
            message, hint = "the interval is not closed", "close it with `]` (bound included) or `)` (excluded)"
            raise c.failure("P203", message, opening.span, hint)
        raise c.unexpected("`]` or `)` to close the interval")
    closing = c.take()
    found = Interval(low, high, opening.kind == "[", closing.kind == "]", span=c.since(opening.start))
    _refuse_empty(c, found)
    return found


def _refuse_empty(c: Cursor, found: Interval) -> None:
    if found.high is None:
        return
    low, high = comparable(found.low), comparable(found.high)
    if low is None or high is None or isinstance(found.low, Duration) != isinstance(found.high, Duration):
        return
    if low > high:
        hint = "the smaller bound comes first"
        raise c.failure("P207", "the interval is upside down", found.span, hint)
    if low == high and not (found.closed_low and found.closed_high):
        hint = "a single time point is written `[a]`"
        raise c.failure("P207", "the interval is empty", found.span, hint)


def comparable(bound: TimeLiteral) -> Fraction | None:
    """A bound as a number that can be compared with a bound of the same kind."""
    if isinstance(bound, Duration):
        return bound.milliseconds
    if isinstance(bound, (Timestamp, Parameter)):
        return None
    return Fraction(bound)


def pinned(c: Cursor, formula: Formula, start: int) -> Formula:
    """The `@…` after a formula."""
    c.expect("@", "`@`")
    if c.kind in ("[", "("):
        if c.kind == "(" and c.tokens[min(c.at + 1, len(c.tokens) - 1)].kind in ("variable", "now"):
            raise c.failure("P208", "a pin is written without parentheses", c.token.span, "write `@T+1`")
        return Over(formula, interval(c, time_literal), span=c.since(start))
    pin = read_pin(c)
    return Pinned(formula, pin, span=c.since(start))


def read_pin(c: Cursor) -> Pin:
    token = c.token
    if token.kind == "variable" or token.kind == "now":
        c.take()
        base: Variable | Now
        if token.kind == "now":
            base = Now(span=token.span)
        else:
            base = Variable(token.text, span=token.span)
            if base.is_anonymous:
                hint = "name it, or use `some` or `once[…]` where the time does not matter"
                raise c.failure("P208", "`_` cannot be a time", token.span, hint)
        return Pin(base, _offset(c), span=c.since(token.start))
    if token.kind in ("number", "duration", "timestamp", "parameter"):
        return Pin(None, time_literal(c, "a time"), span=c.since(token.start))
    if token.kind == "-":
        raise c.failure("P208", "a time cannot be negative", token.span, "the stream starts at time 0")
    if token.kind == "name":
        hint = f"time variables are upper case: `@{token.text[0].upper()}{token.text[1:]}`"
        raise c.failure("P208", f"`{token.text}` is not a time", token.span, hint)
    raise c.unexpected("a time after `@`: a variable, `now` or a number", "write `@T`, `@T+1`, `@now-1` or `@5`")


def _offset(c: Cursor) -> Quantity:
    if c.kind not in ("+", "-"):
        return 0
    sign = c.take()
    if c.kind == "parameter":
        return parameter_of(c.take(), sign if sign.kind == "-" else None)
    if c.kind not in ("number", "duration"):
        if c.kind == "variable":
            hint = f"bind another variable, `T2 = T {sign.text} {c.token.text}`, and pin to that"
            raise c.failure("P208", "a pin's offset is a constant", c.token.span, hint)
        raise c.unexpected("a number or a duration as the pin's offset")
    length = quantity(c, "an offset")
    if sign.kind == "+":
        return length
    assert not isinstance(length, Parameter)
    if isinstance(length, Duration):
        return Duration(number(-length.amount), length.unit, span=length.span)
    return number(-length)
