"""What says the same whenever it is looked at, taken out of the operators it stands under.

`once[0,5] (a(X)@T and c(X))` asks for `a` at one time, wherever the operator looks: it is `a(X)@T, once[0,5] c(X)`. The
same is true of comparisons of the rule's times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from presage.analysis.timeless import uses_now
from presage.model.formulas import (
    And,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Not,
    Or,
    Pinned,
    Top,
    children,
    variables,
)
from presage.model.terms import Now


def hoisted(formula: Formula, times: set[str]) -> Iterator[Formula]:
    """The conjuncts of a formula, in a rule with these time variables."""
    match formula:
        case And(parts=parts):
            for part in parts:
                yield from hoisted(part, times)
        case Metric(formula=inner):
            yield from _split(formula, inner, times)
        case BinaryMetric(right=right):
            yield from _split(formula, right, times)
        case _:
            yield formula


def _split(formula: Metric | BinaryMetric, inner: Formula, times: set[str]) -> Iterator[Formula]:
    parts = list(hoisted(inner, times))
    rigid = [part for part in parts if _is_rigid(part, times)]
    if not rigid:
        yield formula
        return
    yield from rigid
    rest = [part for part in parts if part not in rigid]
    left: Formula = And(tuple(rest)) if len(rest) > 1 else rest[0] if rest else Top()
    if isinstance(formula, BinaryMetric):
        yield replace(formula, right=left)
    elif rest:
        yield replace(formula, formula=left)


def _is_rigid(formula: Formula, times: set[str]) -> bool:
    match formula:
        case Pinned(pin=pin):
            return not isinstance(pin.base, Now)
        case Comparison():
            return uses_now(formula) or any(each.name in times for each in variables(formula))
        case Not() | And() | Or() | Implies():
            return all(_is_rigid(part, times) for part in children(formula))
        case _:
            return False
