"""Which relations may hold before the start of the stream: what an operator or a window asks for there is made of
tables, of what always is, and of what looks ahead."""

from __future__ import annotations

from presage.plan.nodes import Join, Plan, PlanNode, reads


def is_predicate(plan: Plan, name: str) -> bool:
    """Whether a relation is one of the program's own, of which nothing holds before time 0."""
    return plan.sources[name].kind in ("input", "derived")


def early_relations(plan: Plan) -> frozenset[str]:
    """The relations that may hold before time 0."""
    found = {name for name, source in plan.sources.items() if source.kind == "static"}
    found |= {
        fact.relation
        for fact in plan.known
        if not is_predicate(plan, fact.relation) and (fact.low is None or fact.low < 0)
    }
    while True:
        more = {
            node.head
            for node in plan.nodes
            if not is_predicate(plan, node.head)
            and (is_early(node, found) if isinstance(node, Join) else _moves_back(node, found))
        }
        if more <= found:
            return frozenset(found)
        found |= more


def is_early(node: Join, early: frozenset[str] | set[str]) -> bool:
    """Whether a body may hold at a time before 0."""
    if node.least is not None and node.least >= 0:
        return False
    return all(each.at is not None or each.relation in early or each.offset > 0 for each in node.literals)


def _moves_back(node: PlanNode, early: set[str]) -> bool:
    reach = getattr(node, "reach", None)
    back = reach is not None and (reach.near is None or reach.near < 0)
    return any(name in early or back for name, _ in reads(node))
