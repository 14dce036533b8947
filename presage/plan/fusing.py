"""Fewer relations: what a rule passes on as it is need not be a relation of its own.

`b(X) :- once[0,10] a(X).` makes a relation for `once[0,10] a(X)`, and the rule copies it to `b`. Where nothing else
reads it, what makes that relation makes `b` at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from presage.analysis.differences import INF
from presage.core.reach import HERE
from presage.model.terms import Variable
from presage.plan.before_start import early_relations
from presage.plan.nodes import AtLeast, Collect, Dilate, Hop, Join, Plan, PlanNode, Stamp, reads


def fuse(plan: Plan, given: frozenset[str]) -> None:
    """Leaves out relations that need not be there. Of some that rules derive, facts may be `given` as well."""
    _leave_out_copies(plan, given)
    if plan.discrete:
        _let_sets_slide(plan)


def _let_sets_slide(plan: Plan) -> None:
    """Of a set of tuples with their times, in a window, nothing is a relation of its own but what the window looks at:
    what is worth counting takes each time point as it comes, and knows when it goes."""
    made_by: dict[str, list[PlanNode]] = {}
    for node in plan.nodes:
        made_by.setdefault(node.head, []).append(node)
    readers: dict[str, list[PlanNode]] = {}
    for node in plan.nodes:
        for name, _ in reads(node):
            readers.setdefault(name, []).append(node)
    for dilate in [node for node in plan.nodes if isinstance(node, Dilate)]:
        shown: list[Dilate | Hop] = [dilate]
        hop: int | None = None
        match readers.get(dilate.head):
            case [Hop(period=period) as hops]:
                shown.append(hops)
                hop = period
        gathered = [node for node in readers.get(shown[-1].head, ()) if isinstance(node, (AtLeast, Collect))]
        stamps = [node for node in made_by.get(dilate.source, ()) if isinstance(node, Stamp)]
        if (
            any(made_by[node.head] != [node] for node in shown)
            or made_by.get(dilate.source) != stamps
            or len(stamps) != 1
            or readers[dilate.source] != [dilate]
            or not gathered
            or gathered != readers[shown[-1].head]
            or any(fact.relation in (dilate.source, *(node.head for node in shown)) for fact in plan.known)
        ):
            continue
        (stamp,) = stamps
        for node in gathered:
            sliding = replace(node, source=stamp.source, slides=dilate.reach, hop=hop)
            plan.nodes[plan.nodes.index(node)] = sliding
        gone = {id(stamp), *map(id, shown)}
        plan.nodes = [node for node in plan.nodes if id(node) not in gone]
        for name in (dilate.source, *(node.head for node in shown)):
            del plan.sources[name]


def _leave_out_copies(plan: Plan, given: frozenset[str]) -> None:
    """Relations that one rule reads, which does no more than that."""
    readers = Counter(name for node in plan.nodes for name, _ in reads(node))
    early = early_relations(plan)
    heads = {
        node.literals[0].relation: node.head
        for node in plan.nodes
        if isinstance(node, Join)
        and _copies(node, plan, early)
        and plan.sources[node.literals[0].relation].kind == "made"
        and readers[node.literals[0].relation] == 1
    }
    heads.update(_of_collected(plan, readers, given, early))
    if not heads:
        return

    def made_for(name: str) -> str:
        while name in heads:
            name = heads[name]
        return name

    kept: list[PlanNode] = [
        node for node in plan.nodes if not (isinstance(node, Join) and node.literals[0].relation in heads)
    ]
    plan.nodes = [replace(node, head=made_for(node.head)) for node in kept]
    for name in heads:
        del plan.sources[name]


def _of_collected(plan: Plan, readers: Counter[str], given: frozenset[str], early: frozenset[str]) -> dict[str, str]:
    """What is collected for one rule that passes it on, and is all there is of its head."""
    makers = Counter(node.head for node in plan.nodes)
    known = given.union(fact.relation for fact in plan.known)
    collected = {node.head for node in plan.nodes if isinstance(node, Collect)}
    return {
        source: node.head
        for node in plan.nodes
        if isinstance(node, Join)
        and len(node.literals) == 1
        and (source := node.literals[0].relation) in collected
        and _copies(node, plan, early)
        and readers[source] == 1
        and makers[node.head] == makers[source] == 1
        and node.head not in known
        and plan.sources[node.head].kind == "derived"
    }


def _copies(node: Join, plan: Plan, early: frozenset[str]) -> bool:
    """Whether a rule's head is what its only literal is."""
    if len(node.literals) != 1 or node.negated or node.comparisons:
        return False
    (literal,) = node.literals
    # Predicates hold from the start of the stream on, whatever is made for them.
    is_from_start = plan.sources[node.head].kind == "derived" or literal.relation not in early
    if node.least is not None and node.least > (0 if is_from_start else -INF):
        return False
    variables = {each for each in literal.arguments if isinstance(each, Variable)}
    return (
        literal.relation != node.head
        and literal.offset == 0
        and literal.at is None
        and node.head_reach == HERE
        and node.head_at is None
        and node.arguments == literal.arguments
        and len(variables) == len(literal.arguments)
    )
