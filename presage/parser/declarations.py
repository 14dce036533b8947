"""Reading declarations: one function per statement, in a table by its first word."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from presage.model.statements import (
    Chase,
    Column,
    ColumnBound,
    Condition,
    Declaration,
    Distribution,
    Horizon,
    Include,
    Input,
    Param,
    Query,
    Reading,
    Start,
    Static,
    Tick,
    Timeline,
)
from presage.model.terms import Constant, Number, Parameter
from presage.model.time import Duration, Quantity, Timestamp
from presage.parser.cursor import Cursor
from presage.parser.terms import argument, plain_number, signed_number
from presage.parser.time import comparable, duration_of, parameter_as, quantity, read_pin, timestamp_of
from presage.parser.windows import pattern
from presage.syntax import COLUMN_TYPES, COMPARISONS, INCLUDE, KEYWORDS, PARAM, TONES, UNITS


def _timeline(c: Cursor) -> Declaration:
    word = c.take()
    return Timeline(_one_of(c, "discrete", "dense"), span=c.since(word.start))


def _reading(c: Cursor) -> Declaration:
    word = c.take()
    return Reading(_one_of(c, "every", "now"), span=c.since(word.start))


def _chase(c: Cursor) -> Declaration:
    word = c.take()
    kinds = ("skolem", "restricted")
    if c.kind != "name" or c.token.text not in kinds:
        raise c.unexpected(" or ".join(f"`{kind}`" for kind in kinds))
    return Chase(c.take().text, span=c.since(word.start))


def _one_of(c: Cursor, *words: str) -> str:
    if c.kind in words:
        return c.take().kind
    raise c.unexpected(" or ".join(f"`{word}`" for word in words))


def _tick(c: Cursor) -> Declaration:
    word = c.take()
    if c.kind == "parameter":
        return Tick(parameter_as(c), span=c.since(word.start))
    if c.kind != "duration":
        hint = f"write `tick 1s.`; units are {', '.join(UNITS)}"
        raise c.unexpected("the length of a time unit with its unit", hint)
    length = duration_of(c.take())
    if length.amount == 0:
        raise c.failure("D104", "a tick cannot have length 0", length.span, "write `tick 1s.`")
    return Tick(length, span=c.since(word.start))


def _start(c: Cursor) -> Declaration:
    word = c.take()
    return Start(parameter_as(c) if c.kind == "parameter" else timestamp_of(c), span=c.since(word.start))


def _horizon(c: Cursor) -> Declaration:
    word = c.take()
    return Horizon(quantity(c, "the horizon"), span=c.since(word.start))


def _static(c: Cursor) -> Declaration:
    word = c.take()
    predicate, columns = _signature(c)
    return Static(predicate, columns, span=c.since(word.start))


def _query(c: Cursor) -> Declaration:
    word = c.take()
    if c.kind == "not":
        hint = "name it with a rule, `calm(X) :- device(X), not alarm(X).`, and query that"
        raise c.failure("P201", "a query asks for an atom, not for its absence", c.token.span, hint)
    atom = pattern(c)
    sign = c.accept("@")
    pin = read_pin(c) if sign else None
    tone = c.take().text if c.kind == "name" and c.token.text in TONES else None
    return Query(atom, pin, tone, span=c.since(word.start))


def _param(c: Cursor) -> Declaration:
    word, name = c.take(), c.take()
    c.take()
    return Param(name.text, param_value(c), span=c.since(word.start))


def param_value(c: Cursor) -> Constant | Duration | Timestamp:
    token = c.token
    match token.kind:
        case "duration":
            return duration_of(c.take())
        case "timestamp":
            return timestamp_of(c)
        case "name" | "string":
            return Constant(c.take().text, span=token.span)
        case "number" | "-":
            return Constant(signed_number(c), span=c.since(token.start))
    hint = "write `param limit = 30.`, a text, a duration such as 5m or a timestamp"
    raise c.unexpected("the parameter's value", hint)


def _include(c: Cursor) -> Declaration:
    word, path = c.take(), c.take()
    return Include(path.text, span=c.since(word.start))


def known_by_place(c: Cursor) -> Callable[[Cursor], Declaration] | None:
    """The reader of a statement whose first word is a name elsewhere: what follows tells them apart."""
    if c.kind != "name":
        return None
    following = c.tokens[c.at + 1 : c.at + 3]
    if c.token.text == INCLUDE and following and following[0].kind == "string":
        return _include
    if c.token.text == PARAM and len(following) == 2 and following[1].kind == "=":
        return _param if following[0].text.isidentifier() else None
    return None


def _input(c: Cursor) -> Declaration:
    word = c.take()
    predicate, columns = _signature(c)
    where: list[Condition] = []
    delay: Quantity | Distribution | None = None
    loss: Number | None = None
    rate: Number | None = None
    learned: list[str] = []
    seen: set[str] = set()
    while c.kind in ("where", "delay", "loss", "rate"):
        option = c.take()
        if option.kind in seen:
            raise c.failure("P201", f"`{option.kind}` is given twice", option.span, "give it once")
        seen.add(option.kind)
        if option.kind == "where":
            where = c.separated(",", _condition)
        elif option.kind == "delay":
            delay = _distribution(c) if c.kind == "{" else quantity(c, "a delay")
            if _is_learned(c):
                word_learned = c.take()
                if isinstance(delay, Distribution):
                    hint = "write the bound alone, as in `delay 30s learned`, or the distribution alone"
                    c.report("D104", "a distribution that is given is not learned", word_learned.span, hint)
                learned.append("delay")
        elif option.kind == "loss":
            loss = _probability(c, "a loss")
        elif _is_learned(c):
            c.take()
            learned.append("rate")
        else:
            rate = _probability(c, "a rate")
    if loss is not None and isinstance(delay, Distribution):
        hint = "what the distribution's probabilities lack to 1 is the loss: leave `loss` out"
        c.report("D104", "a delay distribution and `loss` exclude each other", delay.span, hint)
    return Input(predicate, columns, tuple(where), delay, loss, rate, tuple(sorted(learned)), span=c.since(word.start))


def _is_learned(c: Cursor) -> bool:
    """Whether the word `learned` comes next, which is none elsewhere."""
    return c.kind == "name" and c.token.text == "learned"


def _signature(c: Cursor) -> tuple[str, tuple[Column, ...]]:
    token = c.token
    if token.kind not in ("name", "variable"):
        raise c.unexpected("a predicate")
    c.take()
    if c.kind != "(":
        return token.text, ()
    opening = c.take()
    if c.accept(")"):
        return token.text, ()
    columns = c.separated(",", _column)
    c.close(opening, ")", "`,` or `)` after the column")
    return token.text, tuple(columns)


def _column_name(c: Cursor) -> str:
    # Columns are named by the data, so a word of the language is a good name here.
    if c.kind in ("name", "variable", "string") or c.kind in KEYWORDS:
        return c.take().text
    raise c.unexpected("a column's name")


def _column(c: Cursor) -> Column:
    start = c.token.start
    name = _column_name(c)
    kind = "any"
    if c.accept(":"):
        token = c.token
        if token.text not in COLUMN_TYPES:
            raise c.unexpected(f"a type ({', '.join(COLUMN_TYPES)})", "leave the type out if any value may come")
        kind = c.take().text
    return Column(name, kind, _bound(c, kind), span=c.since(start))


def _bound(c: Cursor, kind: str) -> ColumnBound | None:
    if c.kind not in COMPARISONS:
        return None
    sign = c.token
    if kind not in ("int", "float"):
        hint = "write `amount: float >= 0`"
        raise c.failure("P201", "only a column of numbers has a bound, after its type", sign.span, hint)
    if sign.kind not in ("<", "<=", ">", ">="):
        hint = "write `amount: float >= 0`, or filter with `where`"
        raise c.failure("P201", "a bound says how great or small a number may be", sign.span, hint)
    c.take()
    at = c.token.start
    value = parameter_as(c) if c.kind == "parameter" else Constant(signed_number(c), span=c.since(at))
    return ColumnBound(sign.kind, value, span=c.since(sign.start))


def _condition(c: Cursor) -> Condition:
    start = c.token.start
    name = _column_name(c)
    c.expect("=", "`=` after the column", "write `where device = wt25`")
    if c.kind == "parameter":
        return Condition(name, parameter_as(c), span=c.since(start))
    value = argument(c)
    if not isinstance(value, Constant):
        raise c.failure("P201", "a column is compared with a constant", value.span, "write `where device = wt25`")
    return Condition(name, value, span=c.since(start))


def _probability(c: Cursor, what: str) -> Number:
    start = c.token.start
    if c.kind == "-":
        raise c.failure("D104", f"{what} lies between 0 and 1", c.token.span, "write it without the minus sign")
    if c.kind == "parameter":
        return parameter_as(c)  # type: ignore[no-any-return]
    value = plain_number(c)
    if not 0 <= value <= 1:
        hint = "write it as a probability, such as 0.05"
        c.report("D104", f"{what} lies between 0 and 1", c.since(start), hint)
    return value


def _distribution(c: Cursor) -> Distribution:
    opening = c.take()
    parts: list[tuple[Quantity, Number]] = []
    seen: set[tuple[bool, Fraction | None]] = set()
    while True:
        start = c.token.start
        delay = quantity(c, "a delay")
        c.expect(":", "`:` between a delay and its probability", "write `delay {0: 0.7, 1: 0.2}`")
        parts.append((delay, _probability(c, "a probability")))
        key = (isinstance(delay, Duration), comparable(delay))
        if key in seen and key[1] is not None:
            c.report("D104", "a delay is listed twice", c.since(start), "list each delay once")
        seen.add(key)
        if not c.accept(","):
            break
    c.close(opening, "}", "`,` or `}`")
    found = Distribution(tuple(parts), span=c.since(opening.start))
    if any(isinstance(each, Parameter) for part in parts for each in part):
        return found
    if sum((Fraction(share) for _, share in parts), Fraction(0)) > 1 and all(share <= 1 for _, share in parts):
        c.report(
            "D104", "the probabilities add up to more than 1", found.span, "make them add up to 1, or less for loss"
        )
    return found


READERS: dict[str, Callable[[Cursor], Declaration]] = {
    "timeline": _timeline,
    "tick": _tick,
    "start": _start,
    "reading": _reading,
    "chase": _chase,
    "input": _input,
    "static": _static,
    "horizon": _horizon,
    "query": _query,
}
