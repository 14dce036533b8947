"""Which plans can be worked out as tables joined as wholes, as Spark does, with the lines a run step by step gives.

Each fact then carries the step at which the run would have known it: what follows from several facts is known with the
last of them, and what rests on absence when that is final. That is so as long as the engine wakes exactly when
something becomes final. It wakes later in corners before the start of the stream; those are refused here, with what
goes along time by its nature.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.analysis.differences import INF
from presage.analysis.subject import Subject
from presage.model.statements import Rule
from presage.plan.before_start import early_relations, is_early, is_predicate
from presage.plan.builder import plan_of
from presage.plan.lags import NEVER, Lags, horizon_of, lags_of
from presage.plan.nodes import (
    AtLeast,
    Collect,
    Invent,
    Join,
    LastRows,
    Literal,
    Plan,
    PlanNode,
    Stamp,
    WithinNode,
    needed_by,
)
from presage.plan.subformulas import Unsupported


def obstacles(subject: Subject) -> list[str]:
    """What prevents it, with the lines of the rules; nothing, if it can be done."""
    if not subject.discrete:
        return ["the timeline is dense"]
    try:
        plan = plan_of(subject)
    except Unsupported as refused:
        return [str(refused)]
    lags = lags_of(subject, plan, horizon_of(subject, plan))

    def told(rule: Rule | None, reason: str) -> str:
        return reason if rule is None else f"{subject.place(rule)}: {reason}"

    early = early_relations(plan)
    found = (told(node.rule, reason) for node in needed(plan, subject) for reason in _reasons(node, plan, lags, early))
    return list(dict.fromkeys(found))


def needed(plan: Plan, subject: Subject) -> list[PlanNode]:
    """The nodes that some query hangs on."""
    wanted = {id(node) for query in subject.queries for node in needed_by(plan, query.atom.predicate)}
    return [node for node in plan.nodes if id(node) in wanted]


def wait(lags: Lags, literal: Literal) -> float:
    """How long after a rule's time the absence of a literal is final; minus infinity where it always is."""
    lag = lags.lag[literal.relation]
    if lag == NEVER:
        return -INF
    return lag + (literal.offset if literal.at is None else literal.at)  # type: ignore[return-value]


def _reasons(node: PlanNode, plan: Plan, lags: Lags, early: frozenset[str]) -> Iterator[str]:
    match node:
        case Invent():
            yield "it invents values"
        case Stamp() | WithinNode():
            yield "it has times as values"
        case AtLeast() | Collect():
            yield "it counts along time"
        case LastRows():
            yield "which rows are the last ones is counted along time"
        case Join(negated=negated) if negated:
            yield from _about_absence(node, plan, lags, early)


def _about_absence(node: Join, plan: Plan, lags: Lags, early: frozenset[str]) -> Iterator[str]:
    waits = {literal: wait(lags, literal) for literal in node.negated}
    for literal in node.negated:
        if lags.component[literal.relation] == lags.component[node.head]:
            yield f"`{_shown(literal)}` depends on its own absence, which is worked off along time"
        elif waits[literal] == INF:
            yield f"the absence of `{_shown(literal)}` is never final"
        elif waits[literal] == -INF or literal.at is not None:
            continue
        elif is_predicate(plan, literal.relation):
            reaches_back = literal.offset < 0 and (node.least is None or node.least + literal.offset < 0)
            others = [other for other, value in waits.items() if other != literal and value != -INF]
            if reaches_back and any(other.at is not None or waits[other] < waits[literal] for other in others):
                yield "of two absences, one is about times before the start"
        if waits[literal] != -INF and is_early(node, early):
            if not is_predicate(plan, literal.relation) or literal.offset > 0:
                yield f"the absence of `{_shown(literal)}` is asked for before the start"


def _shown(literal: Literal) -> str:
    return "what is negated" if literal.relation.startswith("#") else literal.relation
