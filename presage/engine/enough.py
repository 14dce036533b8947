"""Where a group has at least so many tuples, piece by piece: more of them can only make it true.

Pieces that come in order are taken by a kernel; one that comes late is looked at among all pieces of its group.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from presage.engine.joining import BindingRows
from presage.engine.points_in_windows import slid
from presage.engine.relation import Relation
from presage.kernels import overlaps as kernel
from presage.kernels.arrays import Ints32
from presage.kernels.hashing import EMPTY
from presage.plan.nodes import AtLeast
from presage.time.cells import ENDLESS

PieceEnds = tuple[int, int]
"""Of a piece: where it ends, and where it begins."""
FEW = 64


class Enough:
    def __init__(self, node: AtLeast, arity: int) -> None:
        self.node, self.arity = node, arity
        self.cutoff = -ENDLESS
        self.counts = np.zeros(4, np.int64)
        self._fill(self._keys(np.zeros((0, max(1, arity)), np.int32)), np.zeros(0, np.int64), np.zeros(0, np.int64))

    @property
    def width(self) -> int:
        return max(1, self.arity)

    def _keys(self, tuples: Ints32) -> Ints32:
        """The columns of the groups."""
        count = self.node.groups
        return np.ascontiguousarray(tuples[:, :count]) if count else np.zeros((len(tuples), 1), np.int32)

    def apply(self, rows: BindingRows) -> BindingRows:
        if self.node.slides is not None:
            rows = slid(rows, self.node.slides, self.node.hop)[1]
        keys, least = self._keys(rows.bindings), self.node.least
        low, high = np.ascontiguousarray(rows.low), np.ascontiguousarray(rows.high)
        self._make_room(len(rows))
        found = [np.empty(len(rows), np.int64) for _ in range(3)]
        late: list[tuple[int, int, int]] = []
        self.counts[kernel.FOUND] = 0
        at = 0
        while True:
            at = kernel.add_pieces(
                keys, low, high, at, least, self.slots, self.group_keys, self.last, self.in_order, self.told,
                self.lows, self.highs, self.before, self.groups, self.counts, *found,
            )  # fmt: skip
            if at == len(rows):
                break
            group = int(self.counts[kernel.AT_WORK])
            late += [(group, *span) for span in self._among(group, int(low[at]), int(high[at]), len(rows))]
            at += 1
        size = int(self.counts[kernel.FOUND])
        groups, begins, ends = (each[:size] for each in found)
        if late:
            more = np.array(late, np.int64).T
            groups, begins, ends = (np.concatenate(each) for each in zip((groups, begins, ends), more, strict=True))
        return BindingRows(self.group_keys[groups], begins, ends)

    def _among(self, group: int, low: int, high: int, coming: int) -> list[PieceEnds]:
        """Adds a piece to a group, in its place; gives the stretches of it where enough lie. Then there is room for as
        many pieces as are coming."""
        spans: list[PieceEnds] = []
        piece = int(self.last[group])
        while piece >= 0:
            if self.highs[piece] >= self.cutoff:
                spans.append((int(self.highs[piece]), int(self.lows[piece])))
            self.groups[piece] = -1
            piece = int(self.before[piece])
        spans.reverse()
        found = list(covered(spans, low, high, self.node.least))
        insort(spans, (high, low))
        if int(self.counts[kernel.SIZE]) + len(spans) + coming > len(self.lows):
            self._grow_pieces(len(spans) + coming)
        self.last[group] = -1
        for end, begin in spans:
            size = int(self.counts[kernel.SIZE])
            self.lows[size], self.highs[size] = begin, end
            self.before[size], self.groups[size] = self.last[group], group
            self.last[group] = size
            self.counts[kernel.SIZE] = size + 1
        self.in_order[group] = all(one[1] <= other[1] for one, other in pairwise(spans))
        return found

    # -- memory -----------------------------------------------------------------------------------

    def forget(self, cutoff: int) -> None:
        """Pieces that ended before a cell meet nothing that still comes. The cell is one of the source's."""
        shown = self.node.shown
        if shown is not None:
            cutoff = -ENDLESS if shown.far is None else cutoff + int(shown.far)
        self.cutoff = cutoff

    def rebuild(self, source: Relation) -> None:
        held = source.contents()
        rows = BindingRows(held.tuples, held.low, held.high)
        if self.node.slides is not None:
            rows = slid(rows, self.node.slides, self.node.hop)[1]
        self._fill(self._keys(rows.bindings), rows.low, rows.high)

    def _make_room(self, more: int) -> None:
        """Forgets what is over where there is no room for more, and makes room."""
        if self.node.least > 1 and int(self.counts[kernel.SIZE]) + more > len(self.lows):
            self._forget_pieces()
            size = int(self.counts[kernel.SIZE])
            if 2 * (size + more) > len(self.lows):
                self._grow_pieces(size + 2 * more)
        if int(self.counts[kernel.GROUPS]) + more > len(self.last):
            self._forget_groups(more)

    def _forget_pieces(self) -> None:
        """Those of a group that are over come before those that are not."""
        size = int(self.counts[kernel.SIZE])
        kept = (self.groups[:size] >= 0) & (self.highs[:size] >= self.cutoff)
        places = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        left = int(np.count_nonzero(kept))
        self.before[:left] = places[self.before[:size][kept]]
        for each in (self.lows, self.highs, self.groups):
            each[:left] = each[:size][kept]
        self.last[:] = places[self.last]
        self.counts[kernel.SIZE] = left

    def _grow_pieces(self, more: int) -> None:
        """Room for more pieces, those that are there stay where they are."""
        for name in ("lows", "highs", "before", "groups"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.empty(len(old) + more, np.int64)]))

    def _forget_groups(self, more: int) -> None:
        """Those of which nothing is left, with room for more."""
        count, size = int(self.counts[kernel.GROUPS]), int(self.counts[kernel.SIZE])
        kept = np.flatnonzero((self.last[:count] >= 0) | (self.told[:count, kernel.END] >= self.cutoff))
        places = np.full(count, -1, np.int64)
        places[kept] = np.arange(len(kept))
        of_group = self.groups[:size]
        of_group[of_group >= 0] = places[of_group[of_group >= 0]]
        last, in_order, told, keys = self.last, self.in_order, self.told, self.group_keys
        self._make_groups(len(kept), more, keys.shape[1])
        for new, old in ((self.last, last), (self.in_order, in_order), (self.told, told), (self.group_keys, keys)):
            new[: len(kept)] = old[kept]
        kernel.enter_groups(self.slots, self.group_keys, len(kept))
        self.counts[kernel.GROUPS] = len(kept)

    def _make_groups(self, count: int, more: int, width: int) -> None:
        """Room for so many groups, and more."""
        places = 2 * count + 2 * more + FEW
        self.group_keys = np.zeros((places, width), np.int32)
        self.last = np.full(places, -1, np.int64)
        self.in_order = np.ones(places, bool)
        self.told = np.zeros((places, kernel.TOLD_FIELDS), np.int64)
        self.told[:, kernel.END] = -ENDLESS
        slots = 256
        while slots < 3 * places:
            slots *= 2
        self.slots = np.full(slots, EMPTY, np.int32)

    def _fill(self, keys: Ints32, low: Any, high: Any) -> None:
        """Begins with pieces and the keys of their groups."""
        order = np.lexsort((low, high, *keys.T[::-1]))
        keys, low, high = keys[order], low[order], high[order]
        size = len(low)
        is_first = np.ones(size, bool)
        is_first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        of_group = np.cumsum(is_first) - 1
        count = int(is_first.sum())
        self.lows, self.highs, self.before, self.groups = (np.empty(2 * size + FEW, np.int64) for _ in range(4))
        self.lows[:size], self.highs[:size], self.groups[:size] = low, high, of_group
        self.before[:size] = np.where(is_first, -1, np.arange(size) - 1)
        self._make_groups(count, 0, keys.shape[1])
        self.group_keys[:count] = keys[is_first]
        self.last[of_group] = np.arange(size)
        self.in_order[of_group[1:][~is_first[1:] & (low[1:] < low[:-1])]] = False
        kernel.enter_groups(self.slots, self.group_keys, count)
        self.counts[kernel.SIZE], self.counts[kernel.GROUPS] = size, count


def covered(spans: list[PieceEnds], low: int, high: int, least: int) -> Iterator[PieceEnds]:
    """The stretches of a new piece where, with it, at least so many lie: begins and ends."""
    inner = [span for span in spans[bisect_left(spans, (low, -ENDLESS)) :] if span[1] <= high]
    # The number of pieces changes where one begins, or after one ends.
    changes: dict[int, int] = {low: 1}
    for end, begin in inner:
        changes[max(begin, low)] = changes.get(max(begin, low), 0) + 1
        if end < high:
            changes[end + 1] = changes.get(end + 1, 0) - 1
    count, true_from = 0, None
    for cut in sorted(changes):
        count += changes[cut]
        if count >= least and true_from is None:
            true_from = cut
        elif count < least and true_from is not None:
            yield true_from, cut - 1
            true_from = None
    if true_from is not None:
        yield true_from, high
