"""What says the same whenever it is looked at, taken out of the operators it stands under.

`once[0,5] (a(X)@T and c(X))` asks for `a` at one time, wherever the operator looks: it is `a(X)@T, once[0,5] c(X)`. The
same is true of comparisons of the rule's times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from presage.core.formulas import (
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Lasts,
    Not,
    Shift,
    Some,
    both,
    children,
    conjuncts,
    uses_now,
    variables,
)
from presage.model.formulas import Comparison
from presage.model.terms import Now


def hoisted(formula: CoreFormula, times: set[str]) -> Iterator[CoreFormula]:
    """The conjuncts of a formula, in a rule with these time variables."""
    for part in conjuncts(formula):
        match part:
            case Some(clip=False, part=inner) | Every(clip=False, part=inner) | Shift(part=inner) | Lasts(right=inner):
                yield from _split(part, inner, times)
            case _:
                yield part


def _split(formula: Some | Every | Shift | Lasts, inner: CoreFormula, times: set[str]) -> Iterator[CoreFormula]:
    parts = list(hoisted(inner, times))
    rigid = [part for part in parts if _is_rigid(part, times)]
    if not rigid:
        yield formula
        return
    yield from rigid
    rest = tuple(part for part in parts if part not in rigid)
    if isinstance(formula, Lasts):
        yield replace(formula, right=both(rest))
    elif rest:
        yield replace(formula, part=both(rest))


def _is_rigid(formula: CoreFormula, times: set[str]) -> bool:
    match formula:
        case At(base=base):
            return not isinstance(base, Now)
        case Comparison():
            return uses_now(formula) or any(each.name in times for each in variables(formula))
        case Not() | All() | Any():
            return all(_is_rigid(part, times) for part in children(formula))
        case _:
            return False
