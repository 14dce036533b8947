"""Comparisons that are false for certain, by floats with how far off they may be.

What an average is worth is mostly no whole number: to compare it exactly costs a fraction of Python for each row. Where
two sides lie farther apart than rounding may have moved them, floats say so; whatever they leave open is compared
exactly afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from presage.kernels.arrays import Flags, Floats
from presage.model.formulas import Comparison
from presage.model.terms import Arithmetic, Constant, Negative, Term, Variable

FAR = 1 << 60
ROUNDING = 2.0**-50
"""More than an operation, or a number that was no float, is off in proportion."""

About = tuple[Floats, Floats]
"""Numbers, and how far off each may be. What is no number is not known."""


def about(values: Floats) -> About:
    return values, np.abs(values) * ROUNDING


def is_false(comparison: Comparison, variables: Mapping[str, About]) -> Flags | None:
    """The rows of which a comparison is false for certain; nothing where none can be told."""
    left, right = _about(comparison.left, variables), _about(comparison.right, variables)
    if left is None or right is None or comparison.operator == "!=":
        return None
    beyond, error = left[0] - right[0], left[1] + right[1]
    error = error + np.abs(beyond) * ROUNDING
    match comparison.operator:
        case ">" | ">=":
            return -beyond > error
        case "<" | "<=":
            return beyond > error
        case _:
            return np.abs(beyond) > error


def _about(term: Term, variables: Mapping[str, About]) -> About | None:
    match term:
        case Constant(value=int() | Fraction() as value):
            return about(np.array([float(value)])) if -FAR < value < FAR else None
        case Variable(name=name):
            return variables.get(name)
        case Negative(term=inner):
            below = _about(inner, variables)
            return None if below is None else (-below[0], below[1])
        case Arithmetic(operator="+" | "-" | "*" as operator, left=left, right=right):
            one, other = _about(left, variables), _about(right, variables)
            if one is None or other is None:
                return None
            if operator == "*":
                found = one[0] * other[0]
                error = np.abs(one[0]) * other[1] + np.abs(other[0]) * one[1] + one[1] * other[1]
            else:
                found = one[0] + other[0] if operator == "+" else one[0] - other[0]
                error = one[1] + other[1]
            # The error is rounded, too.
            return found, (error + np.abs(found) * ROUNDING) * (1 + ROUNDING)
    return None
