"""Joins that need more than the kernels do: computed values, comparisons of exact numbers, absence.

The kernels find the bindings of its literals (`engine/compiling.py`); here they become tuples of the head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from presage.engine import compare
from presage.engine.relation import Store
from presage.engine.symbols import Symbols
from presage.kernels.absence import still, without
from presage.kernels.arrays import Flags, Ints, Ints32
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.terms import Constant, Variable, term_variables
from presage.plan.nodes import ColumnTerm, Join, Literal
from presage.time.bounds import FAR
from presage.time.cells import ENDLESS


@dataclass(slots=True)
class BindingRows:
    """Bindings with intervals of the rule's time."""

    bindings: Ints32
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.low)

    def picked(self, mask: Flags) -> BindingRows:
        return self if mask.all() else self.at(mask)

    def at(self, places: Any) -> BindingRows:
        return BindingRows(self.bindings[places], self.low[places], self.high[places])


def joined(parts: Sequence[BindingRows]) -> BindingRows:
    """One after the other."""
    bindings, low, high = zip(*((each.bindings, each.low, each.high) for each in parts), strict=True)
    return BindingRows(np.concatenate(bindings), np.concatenate(low), np.concatenate(high))


AtomColumns = list[tuple[bool, int]]
"""For each column of an atom whether it is a constant, and its symbol or the place of its variable."""


@dataclass(slots=True)
class Awaited:
    """A literal to look at once it is final: its table, its columns, how far after the rule's time, or which cell."""

    literal: Literal
    number: int
    columns: AtomColumns
    shift: int
    fixed: int


@dataclass(slots=True)
class OutsideJoin:
    node: Join
    variables: dict[str, int]
    comparisons: list[Comparison]
    assignments: list[tuple[str, Comparison]]
    checks: list[Comparison]
    """Comparisons of computed values, made after they are computed."""
    awaited: list[Awaited]
    """What it negates, and what can be taken back."""
    head: AtomColumns
    symbols: Symbols
    store: Store

    def final_by(self, final: dict[str, int]) -> int:
        """Up to which cell of the rule's time all that it negates is final; each relation is so up to a cell."""
        limit = ENDLESS
        for absent in self.awaited:
            own = final[absent.literal.relation]
            if absent.literal.at is not None:
                limit = min(limit, ENDLESS if own >= absent.fixed else -ENDLESS)
            elif own < FAR:
                limit = min(limit, own - absent.shift if own > -FAR else own)
        return limit

    @property
    def width(self) -> int:
        return max(1, len(self.variables))

    def finish(self, rows: BindingRows) -> BindingRows:
        """Bindings of the literals for which the comparisons are true, computed values included."""
        rows = self._compared(rows, self.comparisons)
        for name, comparison in self.assignments:
            if not len(rows):
                break
            term = comparison.right
            if not (isinstance(comparison.left, Variable) and comparison.left.name == name):
                term = comparison.left
            values, known = compare.computed(term, rows.bindings, self.variables, self.symbols)
            rows.bindings[:, self.variables[name]] = values
            rows = rows.picked(known)
        return self._compared(rows, self.checks)

    def _compared(self, rows: BindingRows, comparisons: list[Comparison]) -> BindingRows:
        for comparison in comparisons:
            if len(rows):
                rows = rows.picked(compare.holds(comparison, rows.bindings, self.variables, self.symbols))
        return rows

    def still_there(self, rows: BindingRows) -> BindingRows:
        """Rows that have waited, as far as what they were found by has not been taken back."""
        for found in self.awaited:
            if found.literal.still and len(rows):
                atoms = tuples(found.columns, rows.bindings)
                table = self.store.relation(found.number).address
                high = still(table, atoms, rows.low, rows.high, found.shift, found.fixed)
                rows = BindingRows(rows.bindings, rows.low, high).picked(high >= rows.low)
        return rows

    def without_negated(self, rows: BindingRows) -> BindingRows:
        for absent in self.awaited:
            if absent.literal.still:
                continue
            if not len(rows):
                break
            atoms = tuples(absent.columns, rows.bindings)
            source, low, high = without(
                self.store.relation(absent.number).address, atoms, rows.low, rows.high, absent.shift, absent.fixed
            )
            rows = BindingRows(rows.bindings[source], low, high)
        return rows

    def heads(self, rows: BindingRows) -> Ints32:
        return tuples(self.head, rows.bindings)

    def concluded(self, rows: BindingRows) -> BindingRows:
        """The same with their times."""
        return BindingRows(self.heads(rows), rows.low, rows.high)


def tuples(columns: AtomColumns, bindings: Ints32) -> Ints32:
    """The tuples of an atom under bindings."""
    found = np.zeros((len(bindings), max(1, len(columns))), bindings.dtype)
    for place, (is_constant, value) in enumerate(columns):
        found[:, place] = value if is_constant else bindings[:, value]
    return found


def columns_of(
    arguments: tuple[ColumnTerm, ...], variables: dict[str, int], symbol: Callable[[Constant], int]
) -> AtomColumns:
    return [(True, symbol(each)) if isinstance(each, Constant) else (False, variables[each.name]) for each in arguments]


def assignments(
    node: Join, names: dict[str, int]
) -> tuple[list[Comparison], list[tuple[str, Comparison]], list[Comparison]]:
    """Comparisons of bound variables; equations that give a variable its value, in an order in which that
    is possible; and comparisons that need such a value. Numbers the variables that get one."""
    rest = list(node.comparisons)
    found: list[tuple[str, Comparison]] = []
    changed = True
    while changed:
        changed = False
        for comparison in rest:
            if comparison.operator != "=":
                continue
            for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
                if (
                    isinstance(side, Variable)
                    and side.name not in names
                    and all(variable.name in names for variable in term_variables(other))
                ):
                    names[side.name] = len(names)
                    found.append((side.name, comparison))
                    rest.remove(comparison)
                    changed = True
                    break
            if changed:
                break
    late = {name for name, _ in found}
    early = [each for each in rest if not {variable.name for variable in variables_of(each)} & late]
    return early, found, [each for each in rest if each not in early]


def by_point(rows: BindingRows) -> BindingRows:
    """A row for each time point."""
    lengths = rows.high - rows.low + 1
    if not len(rows) or lengths.max() == 1:
        return rows
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    times = np.repeat(rows.low, lengths) + np.arange(len(before)) - before
    return BindingRows(np.repeat(rows.bindings, lengths, axis=0), times, times)
