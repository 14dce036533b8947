"""How far back an engine's memory goes, so that one that was not fed can be fed later.

Where answers are found without the interval engine, feeding it at every step would be work for nobody. The
facts it would still remember something of are kept instead, and given to it when someone asks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from presage.analysis.differences import INF
from presage.engine.runtime import IntervalEngine
from presage.model.terms import Bound
from presage.plan.lags import NEVER, Lags, offsets
from presage.plan.nodes import AtLeast, Collect, Invent, Join, LastRows, Plan, Stamp, WithinNode


def reach_of_memory(plan: Plan, lags: Lags) -> int | None:
    """How long after its time a fact may have left something in the engine's memory. `None` if that has no end, or
    if what is in memory may hang on more than on the facts that left something there."""
    if any(isinstance(node, Join) and node.negated for node in plan.nodes) or lags.clipped:
        return None
    if any(isinstance(node, (Invent, LastRows, Stamp, WithinNode, AtLeast, Collect)) for node in plan.nodes):
        return None
    if any(source.kind == "static" for source in plan.sources.values()):
        return None
    reach: dict[str, Bound] = {name: 0 if keep == NEVER else max(keep, 0) for name, keep in lags.keep.items()}
    for _ in range(len(reach) + 1):
        changed = False
        for node in plan.nodes:
            for source, low, _, _ in offsets(node, plan.discrete):
                later = reach[node.head] - low
                if later > reach[source]:
                    reach[source] = later
                    changed = True
        if INF in reach.values():
            return None
        if not changed:
            return int(max(reach.values(), default=0))
    return None


def replay(engine: IntervalEngine, recent: deque[Any], values: Sequence[Any]) -> None:
    """Feeds an engine what arrived before: times with tables of numbers for `values`."""
    cells = engine.grid.per_unit * engine.grid.step
    while recent:
        now, arrivals = recent.popleft()
        facts = {}
        for name, parts in arrivals.items():
            given, times = (np.concatenate(each) for each in zip(*parts, strict=True))
            rows = np.zeros(given.shape, np.int32)
            if engine.plan.sources[name].arity:
                used, places = np.unique(given, return_inverse=True)
                rows = engine.symbols.number_all([values[each] for each in used])[places].reshape(given.shape)
            facts[name] = (rows, times * cells, times * cells)
        engine.advance(now, facts)
