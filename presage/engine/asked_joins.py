"""Joins of what an aggregate is worth with the input that asks for it: answered by who collects it.

`total(K, S) :- e(K, V), S = sum {…}` joins each fact with the one tuple of its group at its time. Where an aggregate is
read by nothing but such joins, what it is worth is no relation that is filled, looked up and forgotten: each fact is a
question, and comes back with its answer. What nothing else reads, and cannot come twice, goes to who is told at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from presage.core.reach import HERE
from presage.engine.asked_groups import Asking
from presage.engine.joining import AtomColumns, BindingRows, OutsideJoin
from presage.engine.relation import Delta, Relation
from presage.kernels.arrays import Ints, Ints32
from presage.model.formulas import variables as variables_of
from presage.model.terms import Variable
from presage.plan.nodes import Collect, ColumnTerm, Literal, Plan, reads
from presage.time.cells import ENDLESS


def answers_all(node: Collect, asked_by: list[Asking]) -> bool:
    """Whether all that reads an aggregate can be answered as facts ask."""
    return bool(asked_by) and all(_is_alone(node, each) for each in asked_by)


def _is_alone(node: Collect, asking: Asking) -> bool:
    """Whether a join has no more than the aggregate and who asks, now, and takes each value as it is."""
    reader = asking.reader
    if len(reader.literals) != 2 or reader.negated or reader.least not in (None, 0):
        return False
    own, beside = _literals(node, asking)
    values = own.arguments[node.groups :]
    return (
        own.offset == beside.offset == 0
        and len(set(values)) == len(values)
        and all(isinstance(each, Variable) and each not in beside.arguments for each in values)
    )


def _literals(node: Collect, asking: Asking) -> tuple[Literal, Literal]:
    """That of the aggregate, and that of who asks."""
    own, beside = asking.reader.literals
    return (own, beside) if own.relation == node.head else (beside, own)


def _is_told_once(plan: Plan, node: Collect, asking: Asking) -> bool:
    """Whether nobody reads what a join concludes, nobody else concludes it, and no two facts do at one time but for
    those that ask for one group alone."""
    reader = asking.reader
    own, beside = _literals(node, asking)
    groups = set(own.arguments[: node.groups])
    head, asks = _variables(reader.arguments), _variables(beside.arguments)
    compared = {each for comparison in reader.comparisons for each in variables_of(comparison)}
    return (
        [each for each in plan.nodes if each.head == reader.head] == [reader]
        and not any(name == reader.head for each in plan.nodes for name, _ in reads(each))
        and plan.sources[reader.head].kind == "derived"
        and not any(fact.relation == reader.head for fact in plan.known)
        and reader.head_reach == HERE
        and reader.head_at is None
        and groups <= head
        and (asks <= head or not (asks - groups) & (head | compared))
    )


def _variables(arguments: tuple[ColumnTerm, ...]) -> set[Variable]:
    return {each for each in arguments if isinstance(each, Variable)}


@dataclass(slots=True)
class Questions:
    """Facts that ask."""

    tuples: Ints32
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.low)

    def at(self, places: Any) -> Questions:
        return Questions(self.tuples[places], self.low[places], self.high[places])


class AskedJoin:
    """One such join, and who waits for an answer."""

    def __init__(self, plan: Plan, node: Collect, asking: Asking, relation: Relation) -> None:
        self.reader, self.relation = asking.reader, relation
        self.told_once = _is_told_once(plan, node, asking)
        self.groups = list(asking.columns)
        """The columns of a fact that say for which group it asks."""
        self.values, self.beside = _literals(node, asking)
        self.values_from = node.groups
        self.once_for_all = self.told_once and not _variables(self.beside.arguments) <= _variables(
            self.reader.arguments
        )
        """Whether all who ask for a group at one time are told the same."""
        self.places = {
            each.name: place for place, each in enumerate(self.beside.arguments) if isinstance(each, Variable)
        }
        """Where the variables of who asks stand in a fact."""
        self.value_names = [each.name for each in self.values.arguments[node.groups :] if isinstance(each, Variable)]
        self.takes_all = not asking.reader.comparisons
        """Whether nothing is compared or worked out."""
        self.join: OutsideJoin | None = None
        """What it comes to in numbers, as the engine has them."""
        self.wanted: AtomColumns = []
        self.clear()

    def clear(self) -> None:
        nothing = np.zeros(0, np.int64)
        self.waiting = Questions(np.zeros((0, self.relation.width), np.int32), nothing, nothing)

    def take_news(self) -> None:
        # Of what is new nobody has been answered yet.
        self._take(self.relation.news(), -ENDLESS)

    def rebuild(self, upto: int) -> None:
        """Goes on from what there is; up to a cell all who are there have been answered."""
        self.clear()
        self._take(self.relation.contents(), upto)

    def _take(self, found: Delta | None, upto: int) -> None:
        if found is None:
            return
        new, old = Questions(found.tuples, found.low, found.high), self.waiting
        is_wanted = new.high > upto
        first: dict[int, int] = {}
        for place, (is_constant, number) in enumerate(self.wanted):
            if is_constant:
                is_wanted &= new.tuples[:, place] == number
            elif (before := first.setdefault(number, place)) != place:
                is_wanted &= new.tuples[:, place] == new.tuples[:, before]
        if not is_wanted.all():
            new = new.at(is_wanted)
        if not len(old):
            self.waiting = new
        elif len(new):
            self.waiting = Questions(
                np.concatenate([old.tuples, new.tuples]),
                np.concatenate([old.low, new.low]),
                np.concatenate([old.high, new.high]),
            )

    def due(self, upto: int) -> Questions:
        """Who asks about cells up to one, until `settle` says that it was answered."""
        is_due = self.waiting.low <= upto
        return self.waiting if is_due.all() else self.waiting.at(is_due)

    def settle(self, upto: int) -> None:
        if len(self.waiting):
            self.waiting = self.waiting.at(self.waiting.high > upto)

    def next_cell(self, upto: int) -> int | None:
        """The first cell after one that somebody asks about."""
        return max(int(self.waiting.low.min()), upto + 1) if len(self.waiting) else None

    def latest_due(self, upto: int) -> int:
        """The last cell up to one that somebody asks about."""
        low = self.waiting.low[self.waiting.low <= upto]
        return min(int(self.waiting.high[self.waiting.low <= upto].max()), upto) if len(low) else -ENDLESS

    def met(self, asked: Questions, values: list[Any], as_is: bool = False) -> BindingRows:
        """What the join concludes where each who asks is answered with a value for each function, a constant if not
        `as_is`."""
        assert self.join is not None
        places = self.join.variables
        rows = np.zeros((len(asked), self.join.width), np.int64 if as_is else np.int32)
        for name, place in self.places.items():
            rows[:, places[name]] = asked.tuples[:, place]
        for name, value in zip(self.value_names, values, strict=True):
            rows[:, places[name]] = value
        return self.join.finish(BindingRows(rows, asked.low, asked.high))

    def among(self, told: BindingRows, upto: int) -> BindingRows:
        """The same where groups are told stretch by stretch, and who asks may do so for a while."""
        asked, count = self.due(upto), self.values_from
        keys = np.concatenate([told.bindings[:, :count], asked.tuples[:, self.groups]])
        _, numbers = np.unique(keys, axis=0, return_inverse=True)
        own, wanted = numbers.ravel()[: len(told)], numbers.ravel()[len(told) :]
        order = np.argsort(own, kind="stable")
        begins, ends = (np.searchsorted(own[order], wanted, side) for side in ("left", "right"))
        counts = ends - begins
        which = np.repeat(np.arange(len(asked)), counts)
        offsets = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        found = told.at(order[np.repeat(begins, counts) + offsets])
        low, high = np.maximum(found.low, asked.low[which]), np.minimum(found.high, asked.high[which])
        meets = low <= high
        pairs = Questions(asked.tuples[which[meets]], low[meets], high[meets])
        values = [found.bindings[meets, place] for place in range(count, found.bindings.shape[1])]
        return self.met(pairs, values)
