"""What groups of tuples are worth at the cells at which facts ask for them, by the column.

It answers what `tallying.Tallies` would tell, where each who asks is a point: a passage of many steps is one call of a
kernel, which goes along what enters, leaves and asks in the order of time (`kernels/asked_for.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from presage.engine.asked_joins import AskedJoin, Questions
from presage.engine.joining import BindingRows
from presage.engine.millionths import MOST, ORDERS, Millionths, NotByColumn
from presage.engine.points_in_windows import slid
from presage.engine.relation import Delta, Relation
from presage.engine.symbols import Symbols
from presage.kernels import asked_for as kernel
from presage.kernels import numbering, tallies
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.fields import FAR
from presage.kernels.hashing import EMPTY
from presage.plan.nodes import Collect
from presage.time.cells import ENDLESS

FEW = 64


class AskedForStretches(Exception):
    """Somebody asks for longer than a point."""


class ComingColumns:
    """What is to happen, by the column, in the order of cells, which are the first column."""

    def __init__(self, width: int) -> None:
        self.columns: list[Ints] = [np.zeros(FEW, np.int64) for _ in range(width)]
        self.begin = self.end = 0

    def put(self, new: Sequence[Ints]) -> None:
        cells = new[0]
        if not len(cells):
            return
        if (cells[1:] < cells[:-1]).any():
            order = np.argsort(cells, kind="stable")
            new = [each[order] for each in new]
            cells = new[0]
        known = self.columns[0][self.begin : self.end]
        if len(known) and cells[0] < known[-1]:
            at = self.begin + int(np.searchsorted(known, cells[0], "right"))
            new = [np.concatenate([own[at : self.end], each]) for own, each in zip(self.columns, new, strict=True)]
            order = np.argsort(new[0], kind="stable")
            new, self.end = [each[order] for each in new], at
        self._make_room(len(new[0]))
        for own, each in zip(self.columns, new, strict=True):
            own[self.end : self.end + len(each)] = each
        self.end += len(new[0])

    def _make_room(self, more: int) -> None:
        if self.end + more <= len(self.columns[0]):
            return
        size = self.end - self.begin
        for place, own in enumerate(self.columns):
            larger = own if 2 * (size + more) <= len(own) else np.empty(2 * (size + more), np.int64)
            larger[:size] = own[self.begin : self.end].copy() if larger is own else own[self.begin : self.end]
            self.columns[place] = larger
        self.begin, self.end = 0, size

    def due(self, upto: int) -> list[Ints]:
        """What happens up to a cell, and is no more to happen then: valid until something is put in."""
        begin = self.begin
        self.begin += int(np.searchsorted(self.columns[0][begin : self.end], upto, "right"))
        return [each[begin : self.begin] for each in self.columns]

    def column(self, place: int) -> Ints:
        """A column of what is to happen."""
        return self.columns[place][self.begin : self.end]


class AskedTallies:
    """What the groups of one relation are worth where joins ask, up to where it is final."""

    def __init__(self, node: Collect, source: Relation, symbols: Symbols, joins: list[AskedJoin]) -> None:
        self.node, self.source, self.symbols, self.joins = node, source, symbols, joins
        self.sums = node.functions[0] not in ORDERS
        self.is_timed = node.functions[0] in ("first", "last")
        self.millionths = Millionths(symbols)
        self.clear()

    def clear(self) -> None:
        self.upto = -ENDLESS
        self.coming, self.leaving = ComingColumns(3 if self.sums else 5), ComingColumns(3)
        # Groups have the places in which their keys stand.
        self.count = 0
        self.keys = np.zeros((FEW, self.node.groups), np.int32)
        self.slots = np.full(4 * FEW, EMPTY, np.int32)
        fields = kernel.GROUP_FIELDS if self.sums else tallies.PLACE_FIELDS
        self.groups = _no_groups(FEW, fields, self.sums)
        self.nodes = np.zeros((0, tallies.NODE_FIELDS), np.int64)
        self.free_node, self.spare_nodes = -1, 0
        self.latest = [np.full(FEW, -ENDLESS) for _ in self.joins]
        """For each join when a group was asked for last."""

    def take(self, news: Delta | None) -> None:
        """Notes when new pieces enter and leave. Raises `NotByColumn`."""
        if news is None:
            return
        tuples, low, high, times = news.tuples, news.low, news.high, news.low
        if self.node.slides is not None:
            points, there = slid(BindingRows(tuples, low, high), self.node.slides, self.node.hop)
            tuples, low, high, times = there.bindings, there.low, there.high, points.low
        late = high <= self.upto
        if late.any():
            tuples, low, high, times = tuples[~late], low[~late], high[~late], times[~late]
        if not len(low):
            return
        count, function = self.node.groups, self.node.functions[0]
        if self.node.functions == ("count",):
            worth = np.zeros(len(low), np.int64)
        elif self.is_timed and self.node.slides is not None and tuples.shape[1] == count + 1:
            worth = times
        else:
            worth = self.millionths.of(tuples[:, count + self.is_timed])
        cells, groups = np.maximum(low, self.upto + 1), self._groups_of(tuples[:, :count])
        if self.sums:
            self.coming.put([cells, groups, worth])
            leaves = high < FAR
            if leaves.all():
                self.leaving.put([high + 1, groups, worth])
            elif leaves.any():
                self.leaving.put([high[leaves] + 1, groups[leaves], worth[leaves]])
        else:
            constants = tuples[:, count].astype(np.int64) if self.is_timed else np.full(len(low), -1, np.int64)
            self.coming.put([cells, groups, ORDERS[function] * worth, high, constants])

    def _groups_of(self, keys: Ints32) -> Ints:
        """The groups of keys; new ones get a place."""
        if self.count + len(keys) >= len(self.keys):
            self._make_room(len(keys))
        found = np.empty(len(keys), np.int64)
        self.count = numbering.enter(self.slots, self.keys, self.count, np.ascontiguousarray(keys), found)
        return found

    def _make_room(self, more: int) -> None:
        """Forgets the groups of which nothing is left, and makes room for more."""
        if not self.sums:
            self._step_off()
        stays = self._alive()
        stays[self.coming.column(1)] = True
        kept, moved = np.flatnonzero(stays), np.cumsum(stays) - 1
        for agenda in (self.coming, self.leaving):
            agenda.column(1)[:] = moved[agenda.column(1)]
        size = 2 * (len(kept) + more) + FEW
        keys, groups = self.keys[kept], self.groups[kept]
        self.keys = np.zeros((size, self.node.groups), np.int32)
        self.groups = _no_groups(size, groups.shape[1], self.sums)
        self.keys[: len(kept)], self.groups[: len(kept)] = keys, groups
        self.count = len(kept)
        for place, before in enumerate(self.latest):
            self.latest[place] = np.full(size, -ENDLESS)
            self.latest[place][: len(kept)] = before[kept]
        self.slots = np.full(1 << (2 * size).bit_length(), EMPTY, np.int32)
        numbering.spread(self.slots, self.keys, self.count)

    def _step_off(self) -> None:
        """Leaves the steps of staircases that are over, and counts those that are free."""
        self.free_node, used = kernel.leave(self.groups[: self.count], self.nodes, self.free_node, self.upto + 1)
        self.spare_nodes = len(self.nodes) - used

    def _make_nodes(self, count: int) -> None:
        """Room for so many more steps of staircases."""
        if self.spare_nodes < count:
            self._step_off()
        if self.spare_nodes < count:
            size = len(self.nodes)
            more = max(size, count, FEW)
            added = np.zeros((more, tallies.NODE_FIELDS), np.int64)
            added[:, tallies.NEXT] = np.arange(size + 1, size + more + 1)
            added[-1, tallies.NEXT] = self.free_node
            self.nodes = np.concatenate([self.nodes, added])
            self.free_node, self.spare_nodes = size, self.spare_nodes + more
        self.spare_nodes -= count

    def answer(self, upto: int, reached: int) -> list[tuple[Questions, Ints, Ints, Ints]]:
        """For each join who has asked about cells up to one, about points that are not empty, with how many tuples
        there are, what they come to, and which constant is looked for. Afterwards it stands at the cell that was
        `reached`. Raises `NotByColumn` and `AskedForStretches`; nobody has been answered then."""
        asked = [each.due(upto) for each in self.joins]
        if any((each.low != each.high).any() for each in asked):
            raise AskedForStretches
        ordered = [_by_cell(each) for each in asked]
        cells = np.concatenate([each.low for each in ordered])
        keys = [each.tuples[:, own.groups] for each, own in zip(ordered, self.joins, strict=True)]
        groups = self._groups_of(np.concatenate(keys))
        order = None
        if len(ordered) > 1 and (cells[1:] < cells[:-1]).any():
            order = np.argsort(cells, kind="stable")
            cells, groups = cells[order], groups[order]
        found = self._summed(reached, cells, groups) if self.sums else self._greatest(reached, cells, groups)
        if order is not None:
            back = np.empty(len(order), np.int64)
            back[order] = np.arange(len(order))
            found, groups = [each[back] for each in found], groups[back]
        self.upto = reached
        begin, parts = 0, []
        for place, (join, questions) in enumerate(zip(self.joins, ordered, strict=True)):
            span = slice(begin, begin + len(questions))
            begin += len(questions)
            own, wanted = [each[span] for each in found], found[0][span] > 0
            if join.once_for_all:
                is_first = np.empty(len(questions), np.bool_)
                kernel.first_asked(questions.low, groups[span], self.latest[place], is_first)
                wanted &= is_first
            if not wanted.all():
                questions, own = questions.at(wanted), [each[wanted] for each in own]
            parts.append((questions, own[0], own[1], own[2]))
        return parts

    def _summed(self, reached: int, cells: Ints, groups: Ints) -> list[Ints]:
        found = np.empty((len(cells), kernel.GROUP_FIELDS), np.int64)
        fits = kernel.sums(
            *self.coming.due(reached), *self.leaving.due(reached), cells, groups, self.groups, MOST << 10, found
        )
        if not fits:
            raise NotByColumn
        return [found[:, kernel.MEMBERS], found[:, kernel.COMES_TO], np.full(len(cells), -1, np.int64)]

    def _greatest(self, reached: int, cells: Ints, groups: Ints) -> list[Ints]:
        coming = self.coming.due(reached)
        self._make_nodes(len(coming[0]))
        keys, constants = np.empty(len(cells), np.int64), np.empty(len(cells), np.int64)
        self.free_node, tied = kernel.ends(
            *coming, cells, groups, self.groups, self.nodes, self.free_node, self.symbols.floats, keys, constants
        )
        if tied:
            raise NotByColumn
        return [(constants != kernel.EMPTY_GROUP).astype(np.int64), keys, constants]

    def rebuild(self, upto: int) -> None:
        """Goes on from what the source holds after a cell."""
        self.clear()
        self.upto = upto
        self.take(self.source.contents())

    def used(self) -> Ints32:
        """The constants that are referred to: those of groups that have gone may be others' by now."""
        alive = self._alive()
        alive[self.coming.column(1)] = True
        found: Ints32 = self.keys[: self.count][alive].ravel()
        return found

    def _alive(self) -> Any:
        """Which groups have members."""
        field, least = (kernel.MEMBERS, 1) if self.sums else (tallies.TOP, 0)
        return self.groups[: self.count, field] >= least


def _no_groups(size: int, fields: int, sums: bool) -> Ints:
    found = np.zeros((size, fields), np.int64)
    if not sums:
        found[:, [tallies.TOP, tallies.LAST]] = -1
    return found


def _by_cell(asked: Questions) -> Questions:
    in_order = len(asked) < 2 or (asked.low[1:] >= asked.low[:-1]).all()
    return asked if in_order else asked.at(np.argsort(asked.low, kind="stable"))
