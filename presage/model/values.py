"""What terms are worth and when comparisons are true, exactly: one arithmetic for every engine."""

from __future__ import annotations

import operator as compare
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from presage.model.formulas import And, Comparison, Formula, Not, Or
from presage.model.functions import MOST_DIGITS, apply, remark
from presage.model.terms import (
    Arithmetic,
    Case,
    Constant,
    Function,
    Negative,
    Now,
    Number,
    Term,
    Value,
    Variable,
    number,
)

V = TypeVar("V")
NOW = "now"
"""What the time at which a rule is looked at is called; no variable has this name."""
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": compare.lt,
    "<=": compare.le,
    ">": compare.gt,
    ">=": compare.ge,
}


def value_of(term: Term, known: Callable[[str], V | None]) -> Value | V | None:
    """The exact value of a term; `None` where there is none: an open variable, a sum of texts, a division by 0.
    Where variables may stand for other things than texts and numbers, such as invented values, so may the result."""
    match term:
        case Constant(value=written):
            return written
        case Variable(name=name):
            return known(name)
        case Now():
            return known(NOW)
        case Negative(term=inner):
            below = value_of(inner, known)
            return number(-below) if isinstance(below, (int, Fraction)) else None
        case Arithmetic(operator=operator, left=left, right=right):
            first, second = value_of(left, known), value_of(right, known)
            if not isinstance(first, (int, Fraction)) or not isinstance(second, (int, Fraction)):
                return None
            match operator:
                case "+":
                    return _bounded(number(first + second))
                case "-":
                    return _bounded(number(first - second))
                case "*":
                    return _bounded(number(first * second))
                case "%":  # nobody writes it: hopping windows ask for it
                    return None if second == 0 else number(first % second)
                case _:
                    return None if second == 0 else _bounded(number(Fraction(first) / Fraction(second)))
        case Function(name=name, arguments=arguments, clock=clock):
            values = [value_of(each, known) for each in arguments]
            if None in values:
                return None
            result = apply(name, values, clock)
            if result is None:
                remark(_not_for(name, values))
            return result
        case Case(condition=condition, then=then, otherwise=otherwise):
            return value_of(then if condition_holds(condition, known) else otherwise, known)
        case _:
            return None


def _bounded(found: Number) -> Number | None:
    """A result, unless it has more digits than numbers may have: a few squarings would fill any memory."""
    if found.numerator.bit_length() <= _MOST_BITS and found.denominator.bit_length() <= _MOST_BITS:
        return found
    remark(f"a result had more than {MOST_DIGITS:,} digits, and so no value: what compares it is false")
    return None


_MOST_BITS = (10**MOST_DIGITS).bit_length()


def _not_for(name: str, values: Sequence[object]) -> str:
    """What is said of a function that has no value; once for each kind of thing it was given."""
    kinds = " and ".join("a text" if isinstance(each, str) else "a number" for each in values)
    return f"`{name}` of {kinds} had no value: what compares it is false"


def condition_holds(condition: Formula, known: Callable[[str], Any]) -> bool:
    """Whether the condition of a `case` is true: comparisons, with `and`, `or` and `not`."""

    def compared(part: Comparison) -> bool:
        return is_true(part.operator, value_of(part.left, known), value_of(part.right, known))

    return decided(condition, compared, all, any, compare.not_)


def decided(
    condition: Formula,
    compared: Callable[[Comparison], V],
    every: Callable[[Iterable[V]], V],
    some: Callable[[Iterable[V]], V],
    opposite: Callable[[V], V],
) -> V:
    """What is said of a condition, put together from what is said of its comparisons."""

    def of(part: Formula) -> V:
        match part:
            case Comparison():
                return compared(part)
            case And(parts=parts):
                return every(map(of, parts))
            case Or(parts=parts):
                return some(map(of, parts))
            case Not(formula=inner):
                return opposite(of(inner))
            case _:
                raise TypeError(f"{part} is no condition")

    return of(condition)


def has_no_value(term: Term, known: Callable[[str], object]) -> bool:
    """Whether a term has no value whatever its open variables stand for: it calculates with a text, or divides by 0."""
    match term:
        case Negative(term=inner):
            parts = [inner]
        case Arithmetic(left=left, right=right):
            parts = [left, right]
        case _:
            return False
    if any(has_no_value(each, known) or isinstance(value_of(each, known), str) for each in parts):
        return True
    return isinstance(term, Arithmetic) and term.operator == "/" and value_of(term.right, known) == 0


def is_hopeless(operator: str, left: Term, right: Term, known: Callable[[str], object]) -> bool:
    """Whether a comparison is false whatever its open variables stand for: a side has no value, or what is calculated
    would have to be, or to be ordered with, a text."""
    if has_no_value(left, known) or has_no_value(right, known):
        return True
    return operator != "!=" and any(
        isinstance(one, (Negative, Arithmetic)) and isinstance(value_of(other, known), str)
        for one, other in ((left, right), (right, left))
    )


def is_true(operator: str, left: Any, right: Any) -> bool:
    """A text and a number are different, and neither is smaller; what has no value compares with nothing."""
    if left is None or right is None:
        return False
    if operator == "=":
        return bool(left == right)
    if operator == "!=":
        return bool(left != right)
    texts = isinstance(left, str) and isinstance(right, str)
    numbers = isinstance(left, (int, Fraction)) and isinstance(right, (int, Fraction))
    return (texts or numbers) and bool(ORDER[operator](left, right))
