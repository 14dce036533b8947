"""What terms are worth and when comparisons are true, exactly: one arithmetic for every engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from presage.model.terms import Arithmetic, Constant, Negative, Now, Number, Term, Variable, number

Value = str | Number
NOW = "now"


def value_of(term: Term, known: Callable[[str], Value | None]) -> Value | None:
    """The exact value of a term; `None` where there is none: an open variable, a sum of texts, a division by 0."""
    match term:
        case Constant(value=written):
            return written
        case Variable(name=name):
            return known(name)
        case Now():
            return known(NOW)
        case Negative(term=inner):
            below = value_of(inner, known)
            return None if below is None or isinstance(below, str) else number(-below)
        case Arithmetic(operator=operator, left=left, right=right):
            first, second = value_of(left, known), value_of(right, known)
            if first is None or second is None or isinstance(first, str) or isinstance(second, str):
                return None
            match operator:
                case "+":
                    return number(first + second)
                case "-":
                    return number(first - second)
                case "*":
                    return number(first * second)
                case _:
                    return None if second == 0 else number(Fraction(first) / Fraction(second))
        case _:
            return None


def is_true(operator: str, left: Value | None, right: Value | None) -> bool:
    """A text and a number are different, and neither is smaller; what has no value compares with nothing."""
    if left is None or right is None:
        return False
    if operator == "=":
        return left == right
    if operator == "!=":
        return left != right
    if isinstance(left, str) != isinstance(right, str):
        return False
    match operator:
        case "<":
            return left < right  # type: ignore[operator]
        case "<=":
            return left <= right  # type: ignore[operator]
        case ">":
            return left > right  # type: ignore[operator]
        case _:
            return left >= right  # type: ignore[operator]
