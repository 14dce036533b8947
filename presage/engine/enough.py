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
from presage.engine.relation import Relation
from presage.kernels import overlaps as kernel
from presage.kernels.hashing import EMPTY
from presage.plan.nodes import AtLeast
from presage.time.cells import ENDLESS

Span = tuple[int, int]
"""Of a piece: where it ends, and where it begins."""
FEW = 64


class Enough:
    def __init__(self, node: AtLeast, arity: int) -> None:
        self.node, self.arity = node, arity
        self.cutoff = -ENDLESS
        self._fill(np.zeros((0, max(1, node.groups)), np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))

    @property
    def width(self) -> int:
        return max(1, self.arity)

    def apply(self, rows: BindingRows) -> BindingRows:
        count, least = self.node.groups, self.node.least
        keys = rows.bindings[:, :count] if count else np.zeros((len(rows), 1), np.int32)
        keys = np.ascontiguousarray(keys)
        if least == 1:
            return BindingRows(keys, rows.low, rows.high)
        low, high = np.ascontiguousarray(rows.low), np.ascontiguousarray(rows.high)
        self._make_room(len(rows))
        found = [np.empty(len(rows), np.int64) for _ in range(3)]
        late: list[tuple[int, int, int]] = []
        self.counts[kernel.FOUND] = 0
        at = 0
        while True:
            at = kernel.add_pieces(
                keys, low, high, at, least, self.slots, self.group_keys, self.last, self.in_order,
                self.lows, self.highs, self.before, self.groups, self.counts, *found,
            )  # fmt: skip
            if at == len(rows):
                break
            late += [(at, *span) for span in self._among(int(low[at]), int(high[at]), len(rows))]
            at += 1
        size = int(self.counts[kernel.FOUND])
        places, begins, ends = (each[:size] for each in found)
        if late:
            more = np.array(late, np.int64).T
            places, begins, ends = (np.concatenate(each) for each in zip((places, begins, ends), more, strict=True))
        return BindingRows(keys[places], begins, ends)

    def _among(self, low: int, high: int, coming: int) -> list[Span]:
        """Adds a piece to the group at work, in its place; gives the stretches of it where enough lie. Then there is
        room for as many pieces as are coming."""
        group = int(self.counts[kernel.AT_WORK])
        spans: list[Span] = []
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
            self._grow(len(spans) + coming)
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
        """Pieces that ended before a cell meet nothing that still comes."""
        self.cutoff = cutoff

    def rebuild(self, source: Relation) -> None:
        held, count = source.contents(), self.node.groups
        keys = held.tuples[:, :count] if count else np.zeros((len(held.low), 1), np.int32)
        self._fill(np.ascontiguousarray(keys), held.low, held.high)

    def _make_room(self, more: int) -> None:
        """Forgets what is over where there is no room for more, and makes room."""
        size, groups = int(self.counts[kernel.SIZE]), int(self.counts[kernel.GROUPS])
        if size + more <= len(self.lows) and groups + more <= len(self.last):
            return
        kept = np.flatnonzero((self.groups[:size] >= 0) & (self.highs[:size] >= self.cutoff))
        self._fill(self.group_keys[self.groups[kept]], self.lows[kept], self.highs[kept], more)

    def _grow(self, more: int) -> None:
        """Room for more pieces, those that are there stay where they are."""
        for name in ("lows", "highs", "before", "groups"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.empty(len(old) + more, np.int64)]))

    def _fill(self, keys: Any, low: Any, high: Any, more: int = 0) -> None:
        """Takes pieces with the keys of their groups, and has room for as many again and for more."""
        order = np.lexsort((low, high, *keys.T[::-1]))
        keys, low, high = keys[order], low[order], high[order]
        size = len(low)
        is_first = np.ones(size, bool)
        is_first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        of_group = np.cumsum(is_first) - 1
        count = int(is_first.sum())
        room, places = 2 * size + 2 * more + FEW, 2 * count + 2 * more + FEW
        self.lows, self.highs, self.before, self.groups = (np.empty(room, np.int64) for _ in range(4))
        self.lows[:size], self.highs[:size], self.groups[:size] = low, high, of_group
        self.before[:size] = np.where(is_first, -1, np.arange(size) - 1)
        self.group_keys = np.zeros((places, keys.shape[1]), np.int32)
        self.group_keys[:count] = keys[is_first]
        self.last = np.full(places, -1, np.int64)
        self.last[of_group] = np.arange(size)
        self.in_order = np.ones(places, bool)
        self.in_order[of_group[1:][~is_first[1:] & (low[1:] < low[:-1])]] = False
        slots = 256
        while slots < 3 * places:
            slots *= 2
        self.slots = np.full(slots, EMPTY, np.int32)
        kernel.enter_groups(self.slots, self.group_keys, count)
        self.counts = np.zeros(4, np.int64)
        self.counts[kernel.SIZE], self.counts[kernel.GROUPS] = size, count


def covered(spans: list[Span], low: int, high: int, least: int) -> Iterator[Span]:
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
