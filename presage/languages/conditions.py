"""Comparisons over the values of events, for the languages whose meaning rules do not carry.

The order is the canonical one, numbers before texts; what has no value (a sum with a text, a division by 0) makes a
comparison false.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from presage.model.formulas import Comparison
from presage.model.terms import Arithmetic, Constant, Negative, Term, Value, Variable, number


def satisfied(condition: Comparison, known: dict[str, Value]) -> bool:
    """Whether a comparison holds. A `=` whose one side is a variable without a value gives it one."""
    if condition.operator == "=":
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(side, Variable) and side.name not in known:
                value = value_of(other, known)
                if value is None:
                    return False
                known[side.name] = value
                return True
    left, right = value_of(condition.left, known), value_of(condition.right, known)
    return left is not None and right is not None and compared(condition.operator, left, right)


def compared(operator: str, left: Value, right: Value) -> bool:
    one, two = rank(left), rank(right)
    match operator:
        case "=":
            return one == two
        case "!=":
            return one != two
        case "<":
            return one < two
        case "<=":
            return one <= two
        case ">":
            return one > two
        case _:
            return one >= two


def rank(value: Value) -> tuple[int, Any]:
    return (1, value) if isinstance(value, str) else (0, value)


def value_of(term: Term, known: dict[str, Value]) -> Value | None:
    match term:
        case Constant(value=constant):
            return constant
        case Variable(name=name):
            return known.get(name)
        case Negative(term=inner):
            found = value_of(inner, known)
            return None if found is None or isinstance(found, str) else -found
        case Arithmetic(operator=operator, left=left, right=right):
            one, two = value_of(left, known), value_of(right, known)
            if one is None or two is None or isinstance(one, str) or isinstance(two, str):
                return None
            match operator:
                case "+":
                    return number(one + two)
                case "-":
                    return number(one - two)
                case "*":
                    return number(one * two)
                case _:
                    return None if two == 0 else number(Fraction(one) / two)
    return None
