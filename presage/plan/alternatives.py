"""Alternatives that only compare, such as `(V > 30 or D = x)`.

A comparison gives its variables no values, so there is no relation of such a formula; a join is made for each
alternative instead, of everything around it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from presage.core.formulas import All, Any, CoreFormula, Not, children
from presage.model.formulas import Comparison


def alternatives(parts: Iterable[CoreFormula]) -> list[tuple[CoreFormula, ...]]:
    """Conjunctions that together say what the conjunction of the parts says."""
    return [tuple(each for way in chosen for each in way) for chosen in product(*(_ways(part) for part in parts))]


def _ways(formula: CoreFormula) -> list[tuple[CoreFormula, ...]]:
    match formula:
        case All(parts=parts):
            return alternatives(parts)
        case Any(parts=parts) if any(_only_compares(each) for each in parts):
            return [way for each in parts for way in _ways(each)]
        case _:
            return [(formula,)]


def _only_compares(formula: CoreFormula) -> bool:
    if isinstance(formula, (All, Any, Not)):
        return all(_only_compares(each) for each in children(formula))
    return isinstance(formula, Comparison)
