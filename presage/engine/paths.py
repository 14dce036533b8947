"""In which order a join looks at its literals, and which relations no join ever looks up."""

from __future__ import annotations

from presage.core.reach import HERE
from presage.model.terms import Constant, Variable
from presage.plan.nodes import Dilate, Invent, Join, Literal, Plan, Stamp, WithinNode, needed_by, reads


def path_from(literals: tuple[Literal, ...], start: int) -> list[Literal]:
    """A path from one literal through the others."""
    path = [literals[start]]
    rest = [literal for index, literal in enumerate(literals) if index != start]
    known = {each.name for each in path[0].arguments if isinstance(each, Variable)}
    while rest:
        best = max(rest, key=lambda literal, known=known: _promise(literal, known))  # type: ignore[misc]
        rest.remove(best)
        path.append(best)
        known |= {each.name for each in best.arguments if isinstance(each, Variable)}
    return path


def _promise(literal: Literal, known: set[str]) -> tuple[float, int, float]:
    fixed = sum(isinstance(each, Constant) or each.name in known for each in literal.arguments)
    share = fixed / len(literal.arguments) if literal.arguments else 1.0
    return share, fixed, float(literal.offset)


def only_passed_on(plan: Plan) -> set[str]:
    """Inputs, invented values and what joins make of all they have met, that rules have as their only literal, or
    dilate: nothing ever looks them up."""
    asked: set[str] = {node.head for node in plan.nodes if not isinstance(node, Invent)}
    asked -= _joined_once(plan)
    for node in plan.nodes:
        if isinstance(node, Join):
            asked |= {literal.relation for literal in node.negated}
            if len(node.literals) > 1:
                asked |= {literal.relation for literal in node.literals}
        elif not isinstance(node, (Dilate, Stamp, WithinNode)):
            asked |= {name for name, _ in reads(node)}
    kinds = ("input", "invented", "made")
    return {name for name, source in plan.sources.items() if source.kind in kinds and name not in asked}


def _joined_once(plan: Plan) -> set[str]:
    """Relations that one join of several literals makes, with a column for each of its variables: hardly anything comes
    twice. What hangs on itself must know what is new."""
    heads = [node.head for node in plan.nodes]
    found = set()
    for node in plan.nodes:
        if not isinstance(node, Join) or node.negated or len(node.literals) < 2 or heads.count(node.head) > 1:
            continue
        if plan.sources[node.head].kind != "made" or node.head_reach != HERE or node.head_at is not None:
            continue
        met = {each for literal in node.literals for each in literal.arguments if isinstance(each, Variable)}
        if met <= set(node.arguments) and all(
            node.head != name for each in needed_by(plan, node.head) for name, _ in reads(each)
        ):
            found.add(node.head)
    return found
