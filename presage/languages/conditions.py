"""Comparisons over the values of events, for the languages whose meaning rules do not carry.

The order is the canonical one, numbers before texts; what has no value (a sum with a text, a division by 0) makes a
comparison false.
"""

from __future__ import annotations

from presage.model.aggregating import rank
from presage.model.formulas import Comparison
from presage.model.terms import Value, Variable
from presage.model.values import ORDER, value_of


def satisfied(condition: Comparison, known: dict[str, Value]) -> bool:
    """Whether a comparison holds. A `=` whose one side is a variable without a value gives it one."""
    if condition.operator == "=":
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(side, Variable) and side.name not in known:
                value: Value | None = value_of(other, known.get)
                if value is None:
                    return False
                known[side.name] = value
                return True
    left: Value | None = value_of(condition.left, known.get)
    right: Value | None = value_of(condition.right, known.get)
    return left is not None and right is not None and compared(condition.operator, left, right)


def compared(operator: str, left: Value, right: Value) -> bool:
    if operator in ("=", "!="):
        return (left == right) == (operator == "=")
    return ORDER[operator](rank(left), rank(right))
