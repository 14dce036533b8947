"""What an aggregate is worth: a function of a set of tuples, exactly."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Any

from presage.model.formulas import Comparison
from presage.model.functions import remark
from presage.model.terms import Aggregate, Term, Variable, map_term, number


def rank(value: Any) -> tuple[int, Any]:
    """The canonical order of values: numbers before texts by code point, then what rules invented."""
    if isinstance(value, str):
        return 1, value
    return (0, value) if isinstance(value, (int, Fraction)) else (2, repr(value))


def worth(function: str, tuples: Collection[tuple[Any, ...]]) -> Any:
    """The value of an aggregate over a set of tuples; `None` where it has none."""
    if function == "count":
        return len(tuples)
    if not tuples:
        return 0 if function == "sum" else None
    if function in ("min", "max"):
        firsts = (each[0] for each in tuples)
        return min(firsts, key=rank) if function == "min" else max(firsts, key=rank)
    if function in ("first", "last"):
        if not all(isinstance(each[1], (int, Fraction)) for each in tuples):
            remark(f"`{function}` over something that is not a time has no value: what compares it is false")
            return None
        ordered = (each[1] for each in tuples)
        when = min(ordered) if function == "first" else max(ordered)
        return min((each[0] for each in tuples if each[1] == when), key=rank)
    if not all(isinstance(each[0], (int, Fraction)) for each in tuples):
        remark(f"`{function}` over something that is not a number has no value: what compares it is false")
        return None
    total = number(Fraction(sum(Fraction(each[0]) for each in tuples)))
    return total if function == "sum" else number(Fraction(total, len(tuples)))


def apart(comparison: Comparison) -> tuple[Comparison, dict[str, Aggregate]]:
    """The comparison with a variable in the place of each aggregate."""
    found: dict[str, Aggregate] = {}

    def named(term: Term) -> Term:
        if not isinstance(term, Aggregate):
            return term
        name = f"#aggregate{len(found)}"
        found[name] = term
        return Variable(name, span=term.span)

    left = map_term(comparison.left, named)
    return replace(comparison, left=left, right=map_term(comparison.right, named)), found
