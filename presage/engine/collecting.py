"""Aggregates at work: where there are enough tuples of a group, and what they are worth together.

`AtLeast` works on single new pieces, as joins do (`enough.py`). `Collect` waits until its source
is final, and then goes along the times at which tuples enter and leave: by the column (`tallying.py`), or one by one
where values are texts, or numbers that are too fine. What it remembers is what its source holds from there on, so a
saved engine needs nothing more than its relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from presage.engine.answering import Answering
from presage.engine.asked_groups import AskedGroups, asking
from presage.engine.asked_joins import AskedJoin, answers_all
from presage.engine.enough import Enough
from presage.engine.joining import BindingRows, OutsideJoin, joined
from presage.engine.millionths import NotByColumn
from presage.engine.one_by_one import Collector
from presage.engine.relation import Delta, Relation
from presage.engine.symbols import Symbols
from presage.engine.tallying import Tallies
from presage.kernels.arrays import Ints32
from presage.model.terms import Number
from presage.plan.lags import Lags
from presage.plan.nodes import AtLeast, Collect, Plan, reads
from presage.time.cells import Grid


class Collecting:
    """All aggregates of an engine."""

    def __init__(self, plan: Plan, lags: Lags, relations: dict[str, Relation], symbols: Symbols) -> None:
        self.relations, self.symbols = relations, symbols
        self.enough: dict[int, Enough] = {}
        self.collectors: dict[str, Collector | Tallies] = {}
        self.answering: dict[str, Answering] = {}
        self.as_they_are: dict[str, int] = {}
        """Relations of which whole numbers may be told that are no constants (`kernels.lines.AS_IS`), and each time
        point by itself, if it lies after a cell."""
        for node in plan.nodes:
            if isinstance(node, AtLeast):
                self.enough[id(node)] = Enough(node, relations[node.source].arity)
            elif isinstance(node, Collect):
                asked_by = asking(plan, lags, node)
                if answers_all(node, asked_by):
                    self.answering[node.head] = Answering(plan, node, asked_by, relations, symbols)
                    continue
                in_time = bool(asked_by) and not any(each.may_be_next for each in asked_by)
                asked = AskedGroups(asked_by, relations) if in_time else None
                self.collectors[node.head] = Tallies(node, relations[node.source], symbols, asked)
        read = {name for node in plan.nodes for name, _ in reads(node)}
        self.unread = self.collectors.keys() - read
        """Nothing else is in these relations, and nobody looks anything up there."""
        self.over: dict[str, tuple[BindingRows, int]] = {}
        """What a step told of them and they need not remember, and how many of the first pieces lie apart."""

    def collect(self, head: str, upto: int, cutoff: int) -> BindingRows:
        """What is new of an aggregate, whose source is final up to a cell, and is to be remembered: what has ended
        before the cutoff need not be, where nobody looks it up."""
        collector = self.collectors[head]
        before = collector.upto
        try:
            collector.take(collector.source.news())
            rows = collector.advance(upto)
        except NotByColumn:
            rows = self._one_by_one(head, before).advance(upto)
        if head in self.unread:
            is_over = rows.high < cutoff
            if is_over.any():
                apart = is_over & (rows.low > before + 1) & self.collectors[head].tells_changes
                over = [rows.at(apart), rows.at(is_over & ~apart)]
                self.over[head] = joined(over), len(over[0])
                rows = rows.at(~is_over)
        return rows

    @property
    def answered(self) -> dict[int, AskedJoin]:
        """The joins that are answered as facts ask, by the identity of their nodes."""
        return {id(join.reader): join for each in self.answering.values() for join in each.joins}

    def answer(self, head: str, upto: int, cutoff: Callable[[str], int]) -> Iterator[tuple[OutsideJoin, BindingRows]]:
        """What joins conclude and is to be remembered, the source of their aggregate being final up to a cell."""
        for join, rows, over in self.answering[head].answer(upto, cutoff, self.as_they_are):
            if len(over):
                self.over[join.node.head] = over, 0
            yield join, rows

    def news(self, name: str) -> Delta | None:
        """What a step added to a relation, and to what it need not remember. Asked once."""
        found, over = self.relations[name].news(), self.over.pop(name, None)
        if over is None:
            return found
        told, apart = over
        # No rows of its own have these numbers.
        row = np.arange(len(told), dtype=np.int32) + len(self.relations[name].arrays["records"])
        if found is not None:
            row = np.concatenate([row, found.row])
            told = joined([told, BindingRows(found.tuples, found.low, found.high)])
        return Delta(row, told.bindings, told.low, told.high, apart)

    def _one_by_one(self, head: str, upto: int) -> Collector:
        """Goes on with values that columns of numbers do not have."""
        old = self.collectors[head]
        self.collectors[head] = made = Collector(old.node, old.source, old.symbols)
        made.rebuild(upto)
        return made

    def forget(self, cutoffs: dict[str, int]) -> None:
        for each in self.enough.values():
            each.forget(cutoffs[each.node.source])

    def rebuild(self, reached: Callable[[str], int]) -> None:
        """Goes on from what relations hold; up to a cell each aggregate has told what it is worth."""
        for enough in self.enough.values():
            enough.rebuild(self.relations[enough.node.source])
        for head, collector in list(self.collectors.items()):
            upto = reached(head)
            try:
                collector.rebuild(upto)
            except NotByColumn:
                self._one_by_one(head, upto)
        for head, each in self.answering.items():
            each.rebuild(reached(head))

    def reached(self) -> dict[str, int]:
        """Up to which cell each aggregate has told what it is worth."""
        told = {head: each.upto for head, each in self.collectors.items()}
        return told | {head: each.final for head, each in self.answering.items()}

    def used(self) -> list[Ints32]:
        found = [collector.used() for collector in self.collectors.values()]
        return found + [part for each in self.answering.values() for part in each.used()]

    def waiting(self, discrete: bool) -> Iterable[tuple[str, int]]:
        """The relations whose sets are waited for, and up to which cell."""
        for collector in self.collectors.values():
            cell = collector.next_cell(discrete)
            if cell is not None:
                yield collector.node.head, cell
        for head, each in self.answering.items():
            cell = each.next_cell()
            if cell is not None:
                yield head, cell


def time_of(grid: Grid, cell: int) -> Number:
    """The first time at which a cell is past or there."""
    return grid.time(cell + 1 if not grid.discrete and cell % 2 else cell)
