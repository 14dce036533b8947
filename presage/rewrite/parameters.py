"""Parameters become what they stand for: after this pass no `$limit` is left.

What is written stays in the program, so that `fmt` and explanations show `$limit`; the rules that are run have the
value. A parameter may stand in many kinds of places, and programs grow new constructs, so this pass walks the fields of
whatever the model has rather than naming its nodes; only what a place takes is said here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from presage.errors import Diagnostic, Note, Span, nearest
from presage.model.formulas import Atom, Over
from presage.model.printer import show_term
from presage.model.program import Program
from presage.model.statements import (
    ColumnBound,
    Condition,
    Distribution,
    Horizon,
    Input,
    Param,
    ParameterValue,
    Rule,
    Start,
    Statement,
    Tick,
)
from presage.model.terms import Arithmetic, Constant, Negative, Parameter, number
from presage.model.time import Duration, Interval, Pin, Timestamp
from presage.model.windows import RowsWindow, TimeWindow

Taker = Callable[[ParameterValue, Parameter], Any]


class _Wrong(Exception):
    """A value that does not fit where its parameter stands: what would."""


def resolve_parameters(program: Program) -> tuple[Program, list[Diagnostic]]:
    if program.source.text and "$" not in program.source.text:
        return program, _declared(program)[1]
    values, problems = _declared(program)
    resolver = _Resolver({name: param.value for name, param in values.items()}, problems)
    return replace(program, statements=tuple(map(resolver.statement, program.statements))), problems


def _declared(program: Program) -> tuple[dict[str, Param], list[Diagnostic]]:
    found: dict[str, Param] = {}
    problems: list[Diagnostic] = []
    for param in program.each(Param):
        first = found.setdefault(param.name, param)
        if first is not param:
            other = Note("the first declaration", first.span)
            message = f"the parameter `{param.name}` is declared twice"
            problems.append(Diagnostic("D101", message, param.span, "keep one of them", (other,)))
    return found, problems


def kind_of(value: ParameterValue) -> str:
    """What a value is, as messages name it."""
    if isinstance(value, Duration):
        return "a duration"
    if isinstance(value, Timestamp):
        return "a timestamp"
    return "a text" if isinstance(value.value, str) else "a number"


# What the places of the model take: lengths of time, points of time, and so on.


def _length(value: ParameterValue, _: Parameter) -> Any:
    if isinstance(value, Duration):
        return value
    if isinstance(value, Constant) and not isinstance(value.value, str) and value.value >= 0:
        return value.value
    raise _Wrong("a length of time: a number that is not negative, or a duration")


def _bound(value: ParameterValue, parameter: Parameter) -> Any:
    return value if isinstance(value, Timestamp) else _length(value, parameter)


def _offset(value: ParameterValue, parameter: Parameter) -> Any:
    if isinstance(value, Timestamp) or (isinstance(value, Constant) and isinstance(value.value, str)):
        raise _Wrong("the offset of a pin: a number or a duration")
    amount = value.amount if isinstance(value, Duration) else value.value
    assert not isinstance(amount, str)
    signed = number(-amount) if parameter.negative else amount
    return replace(value, amount=signed) if isinstance(value, Duration) else signed


def _count(value: ParameterValue, _: Parameter) -> Any:
    if isinstance(value, Constant) and isinstance(value.value, int) and value.value >= 0:
        return value.value
    raise _Wrong("a number of rows: a whole number that is not negative")


def _probability(value: ParameterValue, _: Parameter) -> Any:
    if isinstance(value, Constant) and not isinstance(value.value, str) and 0 <= value.value <= 1:
        return value.value
    raise _Wrong("a probability: a number between 0 and 1")


def _constant(value: ParameterValue, parameter: Parameter) -> Any:
    if not isinstance(value, Constant):
        raise _Wrong("a constant: a number or a text")
    return _term(value, parameter)


def _number(value: ParameterValue, parameter: Parameter) -> Any:
    if not isinstance(value, Constant) or isinstance(value.value, str):
        raise _Wrong("a number")
    return _term(value, parameter)


def _term(value: ParameterValue, parameter: Parameter) -> Any:
    if not parameter.negative:
        return replace(value, span=parameter.span)
    if isinstance(value, Constant) and not isinstance(value.value, str):
        return Constant(number(-value.value), span=parameter.span)
    raise _Wrong("a number after the minus sign")


def _tick(value: ParameterValue, _: Parameter) -> Any:
    if isinstance(value, Duration) and value.amount > 0:
        return value
    raise _Wrong("the length of a time unit: a duration of more than 0")


def _moment(value: ParameterValue, _: Parameter) -> Any:
    if isinstance(value, Timestamp):
        return value
    raise _Wrong("a timestamp")


_TAKERS: dict[tuple[type, str], Taker] = {
    (Interval, "low"): _length,
    (Interval, "high"): _length,
    (TimeWindow, "back"): _length,
    (TimeWindow, "ahead"): _length,
    (TimeWindow, "hop"): _length,
    (RowsWindow, "rows"): _count,
    (RowsWindow, "ahead"): _count,
    (Pin, "offset"): _offset,
    (Input, "delay"): _length,
    (Input, "loss"): _probability,
    (Input, "rate"): _probability,
    (Horizon, "length"): _length,
    (Condition, "value"): _constant,
    (ColumnBound, "value"): _number,
    (Atom, "arguments"): _constant,
    (Tick, "length"): _tick,
    (Start, "moment"): _moment,
}


class _Resolver:
    def __init__(self, values: dict[str, ParameterValue], problems: list[Diagnostic]) -> None:
        self.values, self.problems = values, problems

    def statement(self, statement: Statement) -> Statement:
        new: Statement = self._node(statement)
        if isinstance(new, Rule) and new is not statement:
            assert isinstance(statement, Rule)
            return replace(new, origin=statement)
        return new

    def _node(self, node: Any, point: bool = False) -> Any:
        """The node with values in place of its parameters; itself if it has none."""
        if isinstance(node, Distribution):
            return self._distribution(node)
        changed: dict[str, Any] = {}
        for field in fields(node):
            if field.name in ("span", "origin"):
                continue
            old = getattr(node, field.name)
            taker = _TAKERS.get((type(node), field.name), _term)
            if (point and taker is _length) or (isinstance(node, Pin) and node.base is None):
                taker = _bound
            new = self._field(old, taker, isinstance(node, Over))
            if new is not old:
                changed[field.name] = new
        return self._folded(replace(node, **changed)) if changed else node

    def _field(self, value: Any, taker: Taker, point: bool) -> Any:
        if isinstance(value, Parameter):
            return self._value(value, taker)
        if isinstance(value, tuple):
            parts = tuple(self._field(part, taker, point) for part in value)
            return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
        if is_dataclass(value) and not isinstance(value, type):
            return self._node(value, point)
        return value

    def _value(self, parameter: Parameter, taker: Taker) -> Any:
        value = self.values.get(parameter.name)
        if value is None:
            near = nearest(parameter.name, self.values)
            hint = f"did you mean `${near}`?" if near else f"declare it, `param {parameter.name} = 30.`"
            self._wrong(f"the parameter `{parameter.name}` is not declared", parameter.span, hint, "D109")
            return _stand_in(taker)
        try:
            return taker(value, parameter)
        except _Wrong as wanted:
            message = f"`${parameter.name}` is {show_term(value)}, {kind_of(value)}; here stands {wanted}"
            self._wrong(message, parameter.span, "give it another value, or write another parameter here", "D110")
            return _stand_in(taker)

    def _distribution(self, node: Distribution) -> Distribution:
        if not any(isinstance(each, Parameter) for part in node.parts for each in part):
            return node
        parts = tuple(
            (self._field(wait, _length, False), self._field(share, _probability, False)) for wait, share in node.parts
        )
        if sum((Fraction(share) for _, share in parts), Fraction(0)) > 1:
            hint = "make them add up to 1, or less for loss"
            self._wrong("the probabilities add up to more than 1", node.span, hint, "D104")
        return replace(node, parts=parts)

    def _folded(self, node: Any) -> Any:
        """What reading does with numbers as they are written is done with those that parameters are."""
        if isinstance(node, Negative) and isinstance(node.term, Constant):
            if isinstance(node.term.value, str):
                return node
            return Constant(number(-node.term.value), span=node.span)
        if isinstance(node, Arithmetic) and node.operator == "/" and node.right == Constant(0):
            self._wrong("division by zero", node.right.span, "nothing can be divided by 0", "P105")
            return replace(node, right=Constant(1))
        if isinstance(node, TimeWindow) and (
            node.hop == 0 or (isinstance(node.hop, Duration) and node.hop.amount == 0)
        ):
            hint = "leave `hop` out for a sliding window"
            self._wrong("a window cannot hop by 0", node.span, hint, "P209")
            return replace(node, hop=None)
        return node

    def _wrong(self, message: str, span: Span, hint: str, code: str) -> None:
        found = Diagnostic(code, message, span, hint)
        if found not in self.problems:
            self.problems.append(found)


def _stand_in(taker: Taker) -> Any:
    """A value that fits, where the parameter has none that does: analyses go on and look for other mistakes."""
    return taker(_STAND_INS.get(taker, Constant(1)), Parameter(""))


_STAND_INS: dict[Taker, ParameterValue] = {
    _tick: Duration(1, "s"),
    _moment: Timestamp(datetime(1970, 1, 1, tzinfo=UTC)),
}
