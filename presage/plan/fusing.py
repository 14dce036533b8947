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
from presage.plan.nodes import Join, Node, Plan, reads


def fuse(plan: Plan) -> None:
    """Leaves out relations that one rule reads, and does no more than that."""
    readers = Counter(name for node in plan.nodes for name, _ in reads(node))
    heads = {
        node.literals[0].relation: node.head
        for node in plan.nodes
        if isinstance(node, Join) and _copies(node, plan) and readers[node.literals[0].relation] == 1
    }
    if not heads:
        return

    def made_for(name: str) -> str:
        while name in heads:
            name = heads[name]
        return name

    kept: list[Node] = [
        node for node in plan.nodes if not (isinstance(node, Join) and node.literals[0].relation in heads)
    ]
    plan.nodes = [replace(node, head=made_for(node.head)) for node in kept]
    for name in heads:
        del plan.sources[name]


def _copies(node: Join, plan: Plan) -> bool:
    """Whether a rule's head is what its only literal is, and that is no predicate of the program."""
    if len(node.literals) != 1 or node.negated or node.comparisons:
        return False
    # Predicates hold from the start of the stream on, whatever is made for them.
    least = 0 if plan.sources[node.head].kind == "derived" else -INF
    if node.least is not None and node.least > least:
        return False
    (literal,) = node.literals
    variables = {each for each in literal.arguments if isinstance(each, Variable)}
    return (
        plan.sources[literal.relation].kind == "made"
        and literal.relation != node.head
        and literal.offset == 0
        and literal.at is None
        and node.head_reach == HERE
        and node.head_at is None
        and node.arguments == literal.arguments
        and len(variables) == len(literal.arguments)
    )
