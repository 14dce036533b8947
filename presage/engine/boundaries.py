"""When something begins or ends on the dense timeline, though nothing arrives.

Where absence is asked for, time alone decides: but between two times at which something may begin or end, all that it
decides is that what was so goes on. Whatever begins or ends does so at a fixed distance, a sum of lengths of the plan,
from where a fact began or ended. So a stretch in which nothing happened costs nothing, however fine the grid is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from presage.core.reach import Reach
from presage.kernels.arrays import Ints
from presage.kernels.fields import FAR
from presage.model.terms import Bound, Number
from presage.plan.lags import Lags
from presage.plan.nodes import Dilate, Erode, Join, Plan, PlanNode, SinceNode, reads
from presage.time.cells import ENDLESS, Grid

# Beyond so many distances, or pairs of them with beginnings and ends, every time of the grid is looked at.
MOST_DISTANCES, MOST_PAIRS = 300, 200_000


class Boundaries:
    """Where facts began and ended, and how long after that something else may."""

    def __init__(self, plan: Plan, lags: Lags) -> None:
        self.distances = _distances(plan, lags)
        fixed = [each.least for each in plan.nodes if isinstance(each, Join)]
        fixed += [each.head_at for each in plan.nodes if isinstance(each, Join)]
        fixed += [bound for known in plan.known for bound in (known.low, known.high)]
        self.fixed = [0, *(each for each in fixed if each is not None)]
        self.cells = np.empty(0, np.int64)
        self.begun = False

    def note(self, low: Ints, high: Ints) -> None:
        """Facts that arrived, as cells; an open end is where the next point is."""
        ends = np.concatenate([low, high + 1])
        ends = ends[(ends > -FAR) & (ends < FAR)]
        self.cells = np.unique(np.concatenate([self.cells, ends - ends % 2]))

    def rescale(self, factor: int) -> None:
        self.cells *= factor

    def next_after(self, now: Number, grid: Grid) -> int | None:
        """The next cell at which something may begin or end, or just after which it may; `ENDLESS` if there is none,
        `None` where that is not known."""
        if self.distances is None:
            return None
        if not self.begun:
            self.begun = True
            fixed = np.array([grid.cell(each) for each in self.fixed if grid.fits(each)], np.int64)
            # A reasoner that goes on from its memory does not know what came before.
            self.note(np.append(fixed, grid.around(now)), fixed)
        distances = np.array([grid.cell(each) for each in self.distances if grid.fits(each)], np.int64)
        here = grid.around(now)
        self.cells = self.cells[self.cells + (distances.max() if len(distances) else 0) + 2 * grid.step >= here]
        if len(distances) * len(self.cells) > MOST_PAIRS:
            return None
        found = np.add.outer(self.cells, distances).ravel()
        found = np.concatenate([found, found + grid.step])
        later = found[found > here]
        return int(later.min()) if len(later) else ENDLESS


def _distances(plan: Plan, lags: Lags) -> list[Number] | None:
    """How long after a fact begins or ends absence is concluded anew; `None` if there is no end of such distances."""
    found: dict[str, set[Number]] = {name: {0} for name in plan.sources}
    for number in sorted({*lags.component.values()}):
        nodes = [node for node in plan.nodes if lags.component[node.head] == number]
        if any(lags.component[source] == number for node in nodes for source, _ in reads(node)):
            return None
        for node in nodes:
            for source, length in _lengths(node):
                found[node.head] |= {each + length for each in found[source]}
            if len(found[node.head]) > MOST_DISTANCES:
                return None
    waits: set[Number] = set()
    for node in plan.nodes:
        if isinstance(node, Join) and node.negated:
            here = {
                each - literal.offset for literal in (*node.literals, *node.negated) for each in found[literal.relation]
            }
            for literal in node.negated:
                lag: Bound = lags.lag[literal.relation]
                if not isinstance(lag, float):
                    waits |= {each + literal.offset + lag for each in here}
    return sorted(waits) if len(waits) <= MOST_DISTANCES else None


def _lengths(node: PlanNode) -> Iterator[tuple[str, Number]]:
    """By how much a node moves what its sources have."""
    match node:
        case Join(literals=literals, negated=negated, head_reach=reach):
            for literal in (*literals, *negated):
                yield from ((literal.relation, end - literal.offset) for end in _ends(reach))
        case Dilate(source=source, reach=reach) | Erode(source=source, reach=reach):
            yield from ((source, end) for end in _ends(reach))
        case SinceNode(left=left, right=right, reach=reach, ahead=ahead):
            ends = [0, *(-end if ahead else end for end in _ends(reach))]
            yield from ((source, end) for source in (left, right) for end in ends)
        case _:
            yield from ((source, 0) for source, _ in reads(node))


def _ends(reach: Reach) -> list[Number]:
    return [end for end in (reach.near, reach.far) if end is not None]
