"""The canonical order of facts: by predicate, then arguments, numbers by value before texts by code point."""

from __future__ import annotations

from typing import Any

import numpy as np

from presage.engine.symbols import Symbols
from presage.kernels.arrays import Ints, Ints32
from presage.model.aggregating import rank


def canonical_order(tuples: Ints32, arity: int, symbols: Symbols) -> Any:
    """The places of a predicate's tuples in their order."""
    if not arity:
        return np.arange(len(tuples))
    return np.lexsort([_ranks(tuples[:, column], symbols) for column in reversed(range(arity))])


def _ranks(numbers: Ints32, symbols: Symbols) -> Ints:
    """For each constant its place among those that occur."""
    known, places = np.unique(numbers, return_inverse=True)
    floats = symbols.floats[known]
    exact = ~np.isnan(floats)
    others = [symbols.value(number) for number in known[~exact].tolist()]
    ranks = np.empty(len(known), np.int64)
    if all(isinstance(each, str) for each in others):
        ranks[exact] = _places(np.argsort(floats[exact], kind="stable"))
        ranks[~exact] = np.count_nonzero(exact) + _places(sorted(range(len(others)), key=others.__getitem__))
    else:
        values = [symbols.value(number) for number in known.tolist()]
        ranks[:] = _places(sorted(range(len(values)), key=lambda place: rank(values[place])))
    return ranks[places]


def _places(order: Any) -> Ints:
    """Where each element stands in an order."""
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order))
    return found
