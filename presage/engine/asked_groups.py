"""The groups of an aggregate that somebody asks for.

Where every rule that reads what an aggregate is worth has an input atom beside it, at the same time and with the same
group (`total(K, S) :- e(K, V), S = sum {…}`), what other groups are worth at that time is of no use to anybody. Then
only groups are told of which there is such a fact, and a step costs what enters, leaves and asks, however many groups
there are. All facts that ask for a time must be there once the aggregate is final for it, or a step later where each is
answered by itself (`asked_joins.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from presage.engine.relation import Delta, Relation
from presage.kernels.arrays import Ints32
from presage.model.terms import Variable
from presage.plan.lags import Lags
from presage.plan.nodes import Collect, Join, Literal, Plan, reads

CellsByGroup = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Asking:
    """An input whose facts ask for a group, which of its columns say for which, and the join that they do it for."""

    relation: str
    columns: tuple[int, ...]
    reader: Join
    may_be_next: bool
    """Whether a fact may come when the aggregate has been final at its time for a step, as in `T < now`."""


def asking(plan: Plan, lags: Lags, node: Collect) -> list[Asking]:
    """What asks for the groups of an aggregate, for each join that reads it; nothing where somebody may ask for all."""
    if not node.groups or plan.sources[node.head].kind != "made":
        return []
    found: list[Asking] = []
    for reader in plan.nodes:
        if node.head not in {name for name, _ in reads(reader)}:
            continue
        own = [each for each in reader.literals if each.relation == node.head] if isinstance(reader, Join) else []
        if not isinstance(reader, Join) or len(own) != 1 or node.head in {each.relation for each in reader.negated}:
            return []
        beside = [_beside(plan, lags, node, own[0], each, reader) for each in reader.literals]
        first = next((each for each in beside if each is not None), None)
        if first is None:
            return []
        found.append(first)
    return found


def _beside(plan: Plan, lags: Lags, node: Collect, asked: Literal, literal: Literal, reader: Join) -> Asking | None:
    name = literal.relation
    if plan.sources[name].kind != "input" or asked.at is not None or literal.at is not None:
        return None
    if literal.offset != asked.offset:
        return None
    after = lags.moving[name] - lags.moving[node.head]
    if after > (1 if plan.discrete else 0) or lags.opening[name] > lags.opening[node.head]:
        return None
    keys = asked.arguments[: node.groups]
    if not all(isinstance(key, Variable) and key in literal.arguments for key in keys):
        return None
    return Asking(name, tuple(map(literal.arguments.index, keys)), reader, after > 0)


class AskedGroups:
    """Which groups are asked for, at cells up to which the aggregate has not been told yet."""

    def __init__(self, asked_by: list[Asking], relations: Mapping[str, Relation]) -> None:
        wanted = dict.fromkeys((each.relation, each.columns) for each in asked_by)
        self.sources = [(relations[name], list(columns)) for name, columns in wanted]
        self.clear()

    def clear(self) -> None:
        self.keys: Ints32 = np.zeros((0, len(self.sources[0][1])), np.int32)
        self.low: CellsByGroup = np.zeros(0, np.int64)
        self.high: CellsByGroup = np.zeros(0, np.int64)

    def take_news(self, upto: int) -> None:
        """Takes what is new at this step."""
        for relation, columns in self.sources:
            self._take(relation.news(), columns, upto)

    def rebuild(self, upto: int) -> None:
        """Goes on from what there is; up to a cell all has been told."""
        self.clear()
        for relation, columns in self.sources:
            self._take(relation.contents(), columns, upto)

    def _take(self, found: Delta | None, columns: list[int], upto: int) -> None:
        if found is None:
            return
        keys, low, high = found.tuples[:, columns], found.low, found.high
        ahead = high > upto
        if not ahead.all():
            keys, low, high = keys[ahead], low[ahead], high[ahead]
        self.keys = np.concatenate([self.keys, keys])
        self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])

    def due(self, upto: int) -> Ints32:
        """The groups that are asked for at cells up to one, perhaps several times; those that are asked for at later
        ones too stay."""
        is_due = self.low <= upto
        keys = self.keys[is_due]
        stays = self.high > upto
        self.keys, self.low, self.high = self.keys[stays], self.low[stays], self.high[stays]
        return keys

    def next_cell(self, upto: int) -> int | None:
        """The first cell after one at which a group is asked for."""
        return max(int(self.low.min()), upto + 1) if len(self.low) else None
