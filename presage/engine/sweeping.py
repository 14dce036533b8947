"""Forgetting what no length of time says: the right sides of `since[a,inf)`, and values that absence is asked for.

`p(X) since[0,inf) q(X)` needs an old `q(a)` only while `p(a)` has held ever since. The left side of
`not p(X) since[0,5] q(X)` is worked out for the values that `q` has, and only while `q` remembers them. Both are looked
through when there are twice as many as were left the last time: that costs each of them little, however many stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from presage.analysis.differences import INF
from presage.engine.relation import Relation, Store
from presage.engine.waiting import WaitingRows
from presage.kernels.arrays import Ints
from presage.kernels.forgetting import forget_rows, held_rows
from presage.model.terms import Bound, Variable
from presage.plan.lags import NEVER, Lags
from presage.plan.nodes import Dilate, Join, Plan, SinceNode
from presage.time.cells import ENDLESS

# Below so many it is not worth looking.
FEW_ROWS = 1000


@dataclass(slots=True)
class _Right:
    """The right side of some `since` without end: its left sides, and where their columns are among its own."""

    name: str
    lefts: list[tuple[str, Ints]]
    nearest: Bound
    most: int = field(default_factory=lambda: FEW_ROWS)


@dataclass(slots=True)
class _Domain:
    """Values that absence is asked for: of which columns of which relation, and where they wait."""

    values: Relation
    source: Relation
    columns: list[int]
    waiting: list[WaitingRows]
    most: int = field(default_factory=lambda: FEW_ROWS)


class Sweeps:
    def __init__(self, plan: Plan, lags: Lags, store: Store, waiting: dict[int, WaitingRows]) -> None:
        self.lags, self.store = lags, store
        self.rights: dict[str, _Right] = {}
        for node in plan.nodes:
            if isinstance(node, SinceNode) and lags.is_held(node):
                places = np.array(node.columns or (-1,), np.int64)
                right = self.rights.setdefault(node.right, _Right(node.right, [], 0))
                right.lefts.append((node.left, places))
                right.nearest = max(right.nearest, INF if node.reach.near is None else node.reach.near)
        self.domains = list(_domains(plan, store, waiting))

    def run(self, final: Callable[[str], int], cells: Callable[[Bound], int], now: Bound) -> None:
        """Forgets, at the end of a step; `final` says up to which cell a relation is final."""
        for right in self.rights.values():
            table = self.store.relations[right.name]
            if table.intervals > right.most:
                self._forget_unheld(right, table, final, cells, now)
                right.most = 2 * table.intervals + FEW_ROWS
        for domain in self.domains:
            if len(domain.values) > domain.most:
                _forget_values(domain, self.store)
                domain.most = 2 * len(domain.values) + FEW_ROWS

    def _forget_unheld(
        self, right: _Right, table: Relation, final: Callable[[str], int], cells: Callable[[Bound], int], now: Bound
    ) -> None:
        keep = self.lags.besides[right.name]
        # Nothing else asks for what ended before this.
        cutoff = cells(now) if keep == NEVER else cells(now - keep)
        kept, earliest = np.zeros(len(table.arrays["records"]), np.bool_), cutoff
        for name, places in right.lefts:
            limit = final(name)
            held_rows(table.address, self.store.relations[name].address, places, limit, kept)
            earliest = min(earliest, limit - cells(right.nearest))
        forget_rows(table.address, self.store.indexes_address, kept, cutoff, earliest)


def _domains(plan: Plan, store: Store, waiting: dict[int, WaitingRows]) -> list[_Domain]:
    found = []
    joins = [node for node in plan.nodes if isinstance(node, Join)]
    for node in plan.nodes:
        if (
            not isinstance(node, Dilate)
            or plan.sources[node.head].kind != "domain"
            or not plan.sources[node.head].arity
        ):
            continue
        source, columns = node.source, list(range(plan.sources[node.head].arity))
        for seen in (join for join in joins if join.head == node.source):
            (literal,) = seen.literals
            source = literal.relation
            columns = [literal.arguments.index(each) for each in seen.arguments if isinstance(each, Variable)]
        queues = [
            waiting[id(join)]
            for join in joins
            if id(join) in waiting and [each.relation for each in join.literals] == [node.head]
        ]
        found.append(_Domain(store.relations[node.head], store.relations[source], columns, queues))
    return found


def _forget_values(domain: _Domain, store: Store) -> None:
    """Forgets values that their relation has forgotten."""
    live = set(map(tuple, domain.source.contents().tuples[:, domain.columns].tolist()))
    table = domain.values
    rows = table.contents()
    kept = np.zeros(len(table.arrays["records"]), np.bool_)
    kept[rows.row] = [tuple(each) in live for each in rows.tuples.tolist()]
    forget_rows(table.address, store.indexes_address, kept, ENDLESS + 1, -ENDLESS)
    for waiting in domain.waiting:
        waiting.keep_only(live)
