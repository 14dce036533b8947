"""How far relations that hang on one another, through absence too, are final."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from presage.analysis.differences import INF
from presage.kernels.fields import FAR
from presage.model.terms import Bound
from presage.plan.lags import Lags, offsets
from presage.plan.nodes import Join, Plan
from presage.time.cells import ENDLESS

DerivedFrom = tuple[str, str, Bound, bool]
"""A relation, one that it is derived from, how far that lies after it, and whether it is its absence that counts."""


def final_together(
    final: Mapping[str, int], caps: Mapping[str, int], edges: list[DerivedFrom], cells: Callable[[Bound], int]
) -> dict[str, int]:
    """Up to which cells the relations of `caps` are final, now that all that can be concluded is; none beyond its cap.

    What derives one another without waiting becomes final together: nothing waits for itself. Absence has let through
    only as far as it was final before."""
    reached = dict(caps)

    def lowers(head: str, own: int, high: Bound) -> bool:
        """Whether a relation that is final up to a cell holds another back."""
        limit = own
        if own < FAR:
            limit = own - cells(high) if own > -FAR and high != INF else -ENDLESS
        limit = max(limit, final[head])
        holds_back = limit < reached[head]
        reached[head] = min(reached[head], limit)
        return holds_back

    for head, source, high, absent in edges:
        if absent or source not in caps:
            lowers(head, final[source], high)
    inner = [(head, source, high) for head, source, high, absent in edges if not absent and source in caps]
    for _ in range(len(caps) + 1):
        held = [edge for edge in inner if lowers(edge[0], reached[edge[1]], edge[2])]
        if not held:
            return reached
    # What hangs on its own future is never final.
    return dict.fromkeys(caps, -ENDLESS)


def settling(plan: Plan, lags: Lags) -> list[str]:
    """Relations that are asked for absence, or by which others become final, and settle with their lag. Components
    that conclude from them come later."""
    inner = lags.internal_negation
    asked = {literal.relation for node in plan.nodes if isinstance(node, Join) for literal in node.negated}
    for node in plan.nodes:
        if lags.component[node.head] in inner:
            asked |= {source for source, _, _, _ in offsets(node, plan.discrete)}
    return [name for name in plan.sources if name in asked and lags.component[name] not in inner]


def in_one_go(count: int, special: set[int]) -> list[tuple[int, int]]:
    """Components that can be worked off together, from the first to before the last; `special` ones by themselves."""
    found: list[tuple[int, int]] = []
    for number in range(count):
        if found and number not in special and found[-1][0] not in special:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found
