"""Formulas as the plan wants them: negation as far out as it goes."""

from __future__ import annotations

from dataclasses import replace

from presage.core.formulas import (
    FALSE,
    All,
    Any,
    CoreFormula,
    Every,
    Lasts,
    Not,
    Some,
    children,
    negated,
    with_children,
)
from presage.model.formulas import Atom, Comparison


def positive(formula: CoreFormula) -> CoreFormula:
    """An equivalent formula whose negations are as far out as they can be."""
    match formula:
        case Atom() | Comparison():
            return formula
        case Not(part=part):
            return negated(positive(part))
        case All(parts=parts):
            moved = tuple(map(positive, parts))
            return FALSE if FALSE in moved else replace(formula, parts=moved)
        case Any(parts=parts):
            moved = tuple(part for each in parts if (part := positive(each)) != FALSE)
            if len(moved) == 1:
                return moved[0]
            if any(isinstance(part, Not) for part in moved):
                return Not(All(tuple(map(negated, moved)), written=formula.written))
            return replace(formula, parts=moved)
        case Lasts(left=left, right=right):
            return replace(formula, left=positive(left), right=positive(right))
        case _ if len(children(formula)) == 1:
            inner = positive(children(formula)[0])
            if not isinstance(inner, Not):
                return with_children(formula, (inner,))
            if isinstance(formula, (Some, Every)):
                dual = Every if isinstance(formula, Some) else Some
                return Not(dual(formula.reach, inner.part, formula.clip, written=formula.written))
            return Not(with_children(formula, (inner.part,)))
        case _:
            return formula
