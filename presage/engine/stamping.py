"""Times as values: the time of a fact as a column, and facts at a distance from the times in their columns.

Rules with several time variables are joins between ranges of time (`plan/times.py`). A time that a later part of the
rule asks for travels along as a value like others; where it is asked for, what has it is cut to the times that are
at the right distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from presage.core.reach import Reach
from presage.engine.joining import BindingRows, by_point
from presage.engine.symbols import Symbols
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.operators import dilate_all
from presage.model.terms import Number
from presage.plan.nodes import Plan, Stamp, WithinNode
from presage.time.cells import ENDLESS, Grid


@dataclass(slots=True)
class Stamping:
    """What one node makes of new rows of its source."""

    node: Stamp | WithinNode
    arity: int
    """Of the source."""

    @property
    def width(self) -> int:
        return max(1, self.arity)

    def apply(self, rows: BindingRows, grid: Grid, symbols: Symbols) -> BindingRows:
        if isinstance(self.node, WithinNode):
            return _within(self.node, rows, grid, symbols)
        rows = by_point(rows)
        numbers: Any
        if len(rows) and (rows.low == rows.low[0]).all():
            numbers = symbols.number(grid.time(int(rows.low[0])))
        else:
            stamps, places = np.unique(rows.low, return_inverse=True)
            numbers = symbols.number_all([grid.time(cell) for cell in stamps.tolist()])[places]
        bindings = np.empty((len(rows), self.arity + 1), np.int32)
        bindings[:, : self.arity], bindings[:, self.arity] = rows.bindings[:, : self.arity], numbers
        return BindingRows(bindings, rows.low, rows.high)


def stampings(plan: Plan) -> dict[int, Stamping]:
    nodes = [node for node in plan.nodes if isinstance(node, (Stamp, WithinNode))]
    return {id(node): Stamping(node, plan.sources[node.source].arity) for node in nodes}


def _within(node: WithinNode, rows: BindingRows, grid: Grid, symbols: Symbols) -> BindingRows:
    near, far = (
        -ENDLESS if node.reach.near is None else grid.cell(node.reach.near),
        ENDLESS if node.reach.far is None else grid.cell(node.reach.far),
    )
    low, high = dilate_all(rows.low, rows.high, near, far, node.reach.open_near, node.reach.open_far)
    for column, reach in node.bounds:
        first, last = _around(rows.bindings[:, column], reach, symbols)
        low, high = np.maximum(low, first), np.minimum(high, last)
    inside = low <= high
    bindings = rows.bindings[inside]
    if node.columns is not None:
        # A row without columns has one that says nothing.
        bindings = bindings[:, node.columns] if node.columns else np.zeros((len(bindings), 1), np.int32)
    return BindingRows(bindings, low[inside], high[inside])


def _around(numbers: Ints32, reach: Reach, symbols: Symbols) -> tuple[Ints, Ints]:
    """The first and the last whole time at some distances from values; none where a value is no number."""
    values = symbols.floats[numbers]
    if not (values == np.floor(values)).all():
        found = [_exactly_around(symbols.value_or_null(int(each)), reach) for each in numbers]
        return np.array([low for low, _ in found], np.int64), np.array([high for _, high in found], np.int64)
    whole = values.astype(np.int64)
    low = np.full(len(whole), -ENDLESS) if reach.near is None else whole + _first(reach.near, reach.open_near)
    high = np.full(len(whole), ENDLESS) if reach.far is None else whole - _first(-reach.far, reach.open_far)
    return low, high


def _first(distance: Number, is_open: bool) -> int:
    """The first whole number from another on, or after it."""
    return math.floor(distance) + 1 if is_open else math.ceil(distance)


def _exactly_around(value: object, reach: Reach) -> tuple[int, int]:
    if not isinstance(value, (int, Fraction)):
        return 1, 0
    low = -ENDLESS if reach.near is None else _first(value + reach.near, reach.open_near)
    return low, ENDLESS if reach.far is None else -_first(-value - reach.far, reach.open_far)
