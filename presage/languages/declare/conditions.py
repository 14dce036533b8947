"""Conditions on the data of events: what is known of the activation (`A.`) and the target (`T.`), and what is open.

A condition is true, false, or open (`None`) as long as an event that has not come may still decide it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Union

from presage.languages.conditions import compared
from presage.languages.scanner import Grammar, Scanner, Unreadable, unquoted
from presage.model.terms import Value

GRAMMAR = Grammar(("<=", ">=", "!=", "<>", "==", "=", "<", ">", "(", ")", ",", "-", "/"), r"(?!)", r"[^\W\d][\w:.-]*")
EventData = dict[str, Value]
"""What an event says; `None` for one that has not come."""


@dataclass(frozen=True, slots=True)
class Attribute:
    of_target: bool
    name: str


@dataclass(frozen=True, slots=True)
class ComparedAttribute:
    operator: str
    left: Attribute | Value
    right: Attribute | Value


@dataclass(frozen=True, slots=True)
class AttributeAmong:
    attribute: Attribute
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class AttributeThere:
    attribute: Attribute


@dataclass(frozen=True, slots=True)
class EveryCondition:
    parts: tuple[DataCondition, ...]


@dataclass(frozen=True, slots=True)
class SomeCondition:
    parts: tuple[DataCondition, ...]


@dataclass(frozen=True, slots=True)
class Opposite:
    inner: DataCondition


DataCondition = Union[ComparedAttribute, AttributeAmong, AttributeThere, EveryCondition, SomeCondition, Opposite]
ALWAYS = EveryCondition(())


def holds(condition: DataCondition, activation: EventData | None, target: EventData | None) -> bool | None:
    match condition:
        case ComparedAttribute(operator, left, right):
            one, other = _value(left, activation, target), _value(right, activation, target)
            if one is _OPEN or other is _OPEN:
                # What is lacking in an event that has come cannot be made up for by one that has not.
                return False if one is None or other is None else None
            return one is not None and other is not None and compared(operator, one, other)  # type: ignore[arg-type]
        case AttributeAmong(attribute, values):
            found = _value(attribute, activation, target)
            return None if found is _OPEN else found in values
        case AttributeThere(attribute):
            found = _value(attribute, activation, target)
            return None if found is _OPEN else found is not None
        case EveryCondition(parts):
            said = [holds(each, activation, target) for each in parts]
            return False if False in said else None if None in said else True
        case SomeCondition(parts):
            said = [holds(each, activation, target) for each in parts]
            return True if True in said else None if None in said else False
        case Opposite(inner):
            found = holds(inner, activation, target)
            return None if found is None else not found


_OPEN = object()


def _value(of: Attribute | Value, activation: EventData | None, target: EventData | None) -> object:
    if not isinstance(of, Attribute):
        return of
    data = target if of.of_target else activation
    return _OPEN if data is None else data.get(of.name)


def read_condition(c: Scanner) -> DataCondition:
    """Reads all that the scanner has; nothing is no condition."""
    if c.token.kind == "end":
        return ALWAYS
    found = _either(c)
    if c.token.kind != "end":
        raise c.unexpected("`and`, `or` or the end of the condition")
    return found


def _either(c: Scanner) -> DataCondition:
    parts = c.separated("or", partial(_both, c))
    return parts[0] if len(parts) == 1 else SomeCondition(tuple(parts))


def _both(c: Scanner) -> DataCondition:
    parts = c.separated("and", partial(_single, c))
    return parts[0] if len(parts) == 1 else EveryCondition(tuple(parts))


def _single(c: Scanner) -> DataCondition:
    with c.nested():
        if c.accept("not"):
            return Opposite(_single(c))
        if c.accept("("):
            found = _either(c)
            c.expect(")", "`and`, `or` or `)`")
            return found
        if c.is_at("same", "different") and c.ahead().kind == "word":
            operator = "=" if c.take().text.lower() == "same" else "!="
            name = c.kind("word", "an attribute").text
            return ComparedAttribute(operator, Attribute(False, name), Attribute(True, name))
        if c.is_at("exist", "exists") and c.ahead().kind == "word":
            c.take()
            return AttributeThere(_attribute(c))
        return _comparison(c)


def _comparison(c: Scanner) -> DataCondition:
    first = c.token.span
    found = _compared(c)
    if isinstance(found, ComparedAttribute) and not any(
        isinstance(side, Attribute) for side in (found.left, found.right)
    ):
        hint = "A. is the activation, T. the target: write A.amount"
        raise Unreadable("P206", "a comparison is about an attribute of an event", first, hint)
    return found


def _compared(c: Scanner) -> DataCondition:
    left = _operand(c)
    if c.is_at("in") or (c.is_at("not") and c.ahead().text.lower() == "in"):
        denied = c.accept("not")
        c.expect("in")
        if not isinstance(left, Attribute):
            raise Unreadable("P206", "`in` is about an attribute, such as A.kind", c.before.span)
        c.expect("(", "`(` and values")
        values = c.separated(",", partial(_constant, c))
        c.expect(")", "`,` or `)` after a value")
        found: DataCondition = AttributeAmong(left, tuple(values))
        return Opposite(found) if denied else found
    if c.accept("is"):
        operator = "!=" if c.accept("not") else "="
        return ComparedAttribute(operator, left, _operand(c))
    sign = c.accept("<=", ">=", "!=", "<>", "==", "=", "<", ">")
    if sign is None:
        raise c.unexpected("a comparison: < <= > >= = != is, is not, in, not in")
    operator = {"<>": "!=", "==": "="}.get(sign.text, sign.text)
    return ComparedAttribute(operator, left, _operand(c))


def _attribute(c: Scanner) -> Attribute:
    word = c.kind("word", "an attribute, such as A.amount or T.amount")
    head, _, name = word.text.partition(".")
    if head not in ("A", "T") or not name:
        hint = "A. is the activation, T. the target"
        raise Unreadable("P206", f"`{word.text}` is no attribute of an event", word.span, hint)
    return Attribute(head == "T", name)


def _operand(c: Scanner) -> Attribute | Value:
    if c.token.kind == "word" and c.token.text.startswith(("A.", "T.")):
        return _attribute(c)
    return _constant(c)


def _constant(c: Scanner) -> Value:
    if c.token.kind == "string":
        return unquoted(c.take().text)
    if c.token.kind == "number" or c.is_at("-"):
        return c.number("a value")
    return c.kind("word", "a value or an attribute").text
