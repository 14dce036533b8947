"""Relations of which each time point is known just when it is final, and not before.

What an aggregate is worth, and what is concluded from absence, is told at each time as soon as nothing can come any
more that would change it; so is what follows from it and from what was known by then. Where a query is of that kind,
its lag alone says when each of its answers is told, however many steps are taken at once. That is worth it where there
are no more of them than facts: what goes on would be told again at each time between two facts.
"""

from __future__ import annotations

from presage.analysis.differences import INF
from presage.core.reach import HERE
from presage.plan.lags import NEVER, Lags
from presage.plan.nodes import Collect, Join, Plan, PlanNode


def known_when_final(plan: Plan, lags: Lags, given: frozenset[str]) -> frozenset[str]:
    """Some of the relations of that kind, on the discrete timeline, that hold where there are facts of inputs; of none
    of these facts are `given`."""
    if not plan.discrete:
        return frozenset()
    made_by: dict[str, list[PlanNode]] = {}
    for node in plan.nodes:
        made_by.setdefault(node.head, []).append(node)
    for name in given.union(fact.relation for fact in plan.known):
        made_by.pop(name, None)
    late: set[str] = set()
    at_facts = {name for name, source in plan.sources.items() if source.kind == "input"}
    while True:
        more_late = {
            name
            for name, makers in made_by.items()
            if lags.lag[name] == lags.moving[name] not in (INF, NEVER)
            and lags.opening[name] == NEVER
            and all(_waits(node, lags, late) for node in makers)
        }
        more_at_facts = {
            name for name, makers in made_by.items() if all(_is_at_facts(node, at_facts) for node in makers)
        }
        if more_late <= late and more_at_facts <= at_facts:
            return frozenset(late & at_facts)
        late |= more_late
        at_facts |= more_at_facts


def _is_at_facts(node: PlanNode, known: set[str]) -> bool:
    """Whether what a node concludes holds only where something does that is itself so."""
    if not isinstance(node, Join) or node.head_reach != HERE or node.head_at is not None:
        return False
    return any(each.relation in known and each.at is None and each.offset == 0 for each in node.literals)


def _waits(node: PlanNode, lags: Lags, known: set[str]) -> bool:
    """Whether something that is itself known no sooner is the last that a node waits for."""
    if isinstance(node, Collect):
        return True
    if not isinstance(node, Join) or node.head_reach != HERE or node.head_at is not None:
        return False
    if any(each.at is not None or each.still for each in (*node.literals, *node.negated)):
        return False
    late = [*node.negated, *(each for each in node.literals if each.relation in known)]
    return any(lags.lag[each.relation] + each.offset == lags.lag[node.head] for each in late)
