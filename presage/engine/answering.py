"""An aggregate that is no relation: each fact that asks is told what follows from what its group is worth.

Where values are no numbers, or somebody asks for longer than a point, groups are told as they are elsewhere, and met
with who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from presage.engine.asked_groups import AskedGroups, Asking
from presage.engine.asked_joins import AskedJoin, Questions
from presage.engine.asked_tallies import AskedForStretches, AskedTallies
from presage.engine.joining import BindingRows, OutsideJoin, joined
from presage.engine.millionths import ORDERS, SCALE, NotByColumn, worth
from presage.engine.one_by_one import Collector
from presage.engine.relation import Relation
from presage.engine.surely_false import about, is_false
from presage.engine.symbols import Symbols
from presage.engine.tallying import Tallies
from presage.kernels.arrays import Flags, Ints, Ints32
from presage.kernels.fields import FAR
from presage.plan.nodes import Collect, Plan
from presage.time.cells import ENDLESS

Concluded = tuple[OutsideJoin, BindingRows, BindingRows]
"""What a join concludes: bindings that are to be remembered, and heads that need only be told."""


class Answering:
    """One such aggregate, and the joins that read it."""

    def __init__(
        self, plan: Plan, node: Collect, asked_by: list[Asking], relations: dict[str, Relation], symbols: Symbols
    ) -> None:
        self.node, self.asked_by, self.relations, self.symbols = node, asked_by, relations, symbols
        self.source = relations[node.source]
        self.joins = [AskedJoin(plan, node, each, relations[each.relation]) for each in asked_by]
        self.collector: AskedTallies | Tallies | Collector = AskedTallies(node, self.source, symbols, self.joins)

        self.behind = int(any(each.may_be_next for each in asked_by))
        """How many cells it stays behind what is final, for who may ask yet."""
        self.final = -ENDLESS
        """Up to which cell all who have come have been answered."""
        self.kept = self._nothing()
        """What was told of the last cell, one by one or by stretches, for who may ask yet."""

    def _nothing(self) -> BindingRows:
        empty = np.zeros(0, np.int64)
        return BindingRows(np.zeros((0, self.node.groups + len(self.node.functions)), np.int32), empty, empty)

    def answer(self, upto: int, cutoff: Callable[[str], int], as_they_are: dict[str, int]) -> Iterator[Concluded]:
        """What joins conclude where the aggregate's source is final up to a cell. Of the relations `as_they_are` what
        lies after a cell, and before their cutoff, need only be told, also with numbers for which there are no
        constants."""
        for join in self.joins:
            join.take_news()
        # Where somebody may ask about the last final cell yet, it goes on from there the next time.
        reached = max(self.collector.upto, upto - self.behind, *(join.latest_due(upto) for join in self.joins))
        self.final = upto
        before = self.collector.upto
        try:
            self.collector.take(self.source.news())
            if isinstance(self.collector, AskedTallies):
                found = self.collector.answer(upto, reached)
                for join, (asked, *sizes) in zip(self.joins, found, strict=True):
                    join.settle(upto)
                    if len(asked):
                        name = join.reader.head
                        yield self._concluded(join, asked, sizes, as_they_are.get(name, FAR), cutoff(name))
                return
            told = self.collector.advance(reached)
        except (NotByColumn, AskedForStretches) as reason:
            told = self._changed(reason, before - self.behind, reached)
        nothing = told.at(slice(0, 0))
        known = joined([self.kept, told])
        for join in self.joins:
            rows = join.among(known, upto)
            join.settle(upto)
            assert join.join is not None
            yield join.join, rows, nothing
        self.kept = known.at((known.high == reached) if self.behind else slice(0, 0))

    def _concluded(self, join: AskedJoin, asked: Questions, sizes: list[Ints], after: int, cutoff: int) -> Concluded:
        assert join.join is not None
        is_over = (asked.low > after) & (asked.high < cutoff) & join.told_once
        over = join.join.concluded(self._met(join, asked, sizes, is_over, join.takes_all))
        return join.join, self._met(join, asked, sizes, ~is_over, False), over

    def _met(self, join: AskedJoin, asked: Questions, sizes: list[Ints], wanted: Flags, as_is: bool) -> BindingRows:
        if not wanted.all():
            asked, sizes = asked.at(wanted), [each[wanted] for each in sizes]
        if not join.takes_all and len(asked):
            hopeful = self._may_hold(join, asked, sizes)
            if not hopeful.all():
                asked, sizes = asked.at(hopeful), [each[hopeful] for each in sizes]
        size, total, constant = sizes
        functions = self.node.functions
        values = [worth(function, size, total, constant, self.symbols, as_is) for function in functions]
        return join.met(asked, values, as_is)

    def _may_hold(self, join: AskedJoin, asked: Questions, sizes: list[Ints]) -> Flags:
        """Whose comparisons are not false for certain: for those no constants are needed."""
        assert join.join is not None
        size, total, constant = sizes
        floats = self.symbols.floats
        values = {name: about(floats[asked.tuples[:, place]]) for name, place in join.places.items()}
        for name, function in zip(join.value_names, self.node.functions, strict=True):
            if function in ("first", "last"):
                values[name] = about(floats[constant])
            else:
                worth = size if function == "count" else total * ORDERS.get(function, 1) / SCALE
                values[name] = about(worth / size if function == "avg" else worth.astype(np.float64))
        found = np.ones(len(asked), np.bool_)
        with np.errstate(all="ignore"):
            for comparison in join.join.comparisons:
                wrong = is_false(comparison, values)
                if wrong is not None:
                    found &= ~wrong
        return found

    def _changed(self, reason: Exception, before: int, reached: int) -> BindingRows:
        """Another collector in place of one that could not go on, and what it tells."""
        if isinstance(reason, AskedForStretches):
            try:
                self.collector = Tallies(
                    self.node, self.source, self.symbols, AskedGroups(self.asked_by, self.relations)
                )
                self.collector.rebuild(before)
                return self.collector.advance(reached)
            except NotByColumn:
                pass
        self.collector = Collector(self.node, self.source, self.symbols)
        self.collector.rebuild(before)
        return self.collector.advance(reached)

    def next_cell(self) -> int | None:
        """The next cell at which there is something to tell once it is final."""
        return min((cell for each in self.joins if (cell := each.next_cell(self.final)) is not None), default=None)

    def rebuild(self, upto: int) -> None:
        """Goes on from what relations hold after a cell."""
        for join in self.joins:
            join.rebuild(upto)
        self.final, self.kept = upto, self._nothing()
        stands = upto - self.behind if upto > -FAR else upto
        try:
            self.collector.rebuild(stands)
        except NotByColumn:
            self.collector = Collector(self.node, self.source, self.symbols)
            self.collector.rebuild(stands)

    def used(self) -> list[Ints32]:
        """The constants that are referred to."""
        return [self.collector.used(), *(join.waiting.tuples.ravel() for join in self.joins)]
