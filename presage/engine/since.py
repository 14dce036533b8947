"""`since` and `until` at work: the right side's intervals reach as far as the left side holds.

A new piece of the right side meets every interval of its left side; a new piece of the left side meets every
interval of the right sides that go with it, and only what needs the new piece is derived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from presage.engine.grid import ENDLESS
from presage.engine.relation import Delta, Ints, Relation
from presage.kernels import joins, lookups, operators, tables
from presage.kernels.joins import BIND, FAR
from presage.plan.nodes import Since

if TYPE_CHECKING:
    from presage.engine.runtime import Engine

_NONE = np.empty(0, np.int64)


def run_since(engine: Engine, node: Since, slot: int, delta: Delta) -> None:
    left, right = engine.relations[node.left], engine.relations[node.right]
    near, far, open_near, open_far = engine.distances(node.reach)
    columns = np.array(node.columns, np.int64)
    width = right.width
    every = np.arange(width, dtype=np.int64)
    if slot == 1:
        tuples = right.columns[delta.row]
        _alone(engine, node, tuples, delta.low, delta.high)
        # Each piece meets every interval of its left side; the right side's variables are the bindings.
        found = _lookup(left, tuples, columns, delta.low, delta.high)
    else:
        index = right.indexes.get(node.columns)
        heads, following = (index.heads, index.following) if index else (_NONE, _NONE)
        scanned = _NONE if index else right.rows()
        bindings = np.zeros((len(delta), width), np.int64)
        for place, column in enumerate(node.columns):
            bindings[:, column] = left.columns[delta.row, place]
        kinds = np.full(width if right.arity else 0, BIND, np.int64)
        kinds[columns] = joins.SAME
        wide = np.full(len(delta), ENDLESS, np.int64)
        # The interval of the left side, and the new piece of it, travel as columns of the bindings.
        carried = np.column_stack([bindings, delta.whole_low, delta.whole_high, delta.low, delta.high])
        got, low, high = joins.join(
            carried, -wide, wide, right.columns, right.first, right.low, right.high, right.after,
            heads, following, columns, kinds, every[: len(kinds)], 0, FAR, scanned,
        )  # fmt: skip
        found = got[:, :width], low, high, got[:, width], got[:, width + 1]
        pieces = got[:, width + 2], got[:, width + 3]
    tuples, low, high, left_low, left_high = found
    if not len(low):
        return
    if slot == 0:
        # Only what needs the new piece of the left side is new: it lies between the two times.
        low, high = (np.maximum(low, pieces[0]), high) if node.ahead else (low, np.minimum(high, pieces[1]))
    low, high = operators.reach(
        low, high, left_low, left_high, near, far, open_near, open_far, engine.grid.step, node.ahead
    )
    if slot == 0:
        low, high = (low, np.minimum(high, pieces[1])) if node.ahead else (np.maximum(low, pieces[0]), high)
    engine.insert_moved(node.head, tuples, low, high)


def _alone(engine: Engine, node: Since, tuples: Ints, low: Ints, high: Ints) -> None:
    """What the right side gives without the left: at its own time, and at the next on discrete time."""
    near, far, open_near, open_far = engine.distances(node.reach)
    if engine.grid.discrete:
        far = min(far, 1)
    elif near == 0 and not open_near:
        far, open_far = 0, False
    else:
        return
    if near > far:
        return
    if node.ahead:
        near, far, open_near, open_far = -far, -near, open_far, open_near
    engine.insert_moved(node.head, tuples, *operators.dilate(low, high, near, far, open_near, open_far))


def _lookup(left: Relation, tuples: Ints, columns: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Each right piece with each interval of its left side."""
    width = tuples.shape[1]
    keys = tuples[:, columns] if len(columns) else np.zeros((len(tuples), 1), np.int64)
    rows = lookups.find_all(left.columns, left.slots, np.ascontiguousarray(keys), left.width)
    there = rows >= 0
    tuples, low, high, rows = tuples[there], low[there], high[there], rows[there]
    if not len(rows):
        return np.empty((0, width), np.int64), _NONE, _NONE, _NONE, _NONE
    counts = lookups.count_intervals(left.first, left.after, rows)
    repeat = np.repeat(np.arange(len(rows)), counts)
    _, left_low, left_high = tables.all_intervals(left.first, left.low, left.high, left.after, rows)
    return tuples[repeat], low[repeat], high[repeat], left_low, left_high
