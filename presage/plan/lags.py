"""When a relation is final, and how long it is needed.

With the clock at τ, a relation with *lag* L is final up to τ − L: nothing that still arrives can add to
it there. An input's lag is its delay; a node passes on the lags of what it reads, moved by how far it
looks ahead or back. Absence may be concluded only where a relation is final. A literal at a fixed time lies ever
farther back: it holds everything up until that time is final, and nothing from then on.

A relation's *keep* K says that what ended before τ − K cannot matter any more: no node can combine it
with anything that still arrives. Both are plain sums and maxima over the plan, solved as longest
paths; a cycle that grows for ever has no end, and is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from presage.analysis.differences import INF
from presage.analysis.graph import component_of
from presage.analysis.subject import Subject
from presage.core.reach import EVERYWHERE, HERE, Reach
from presage.model.statements import Horizon
from presage.model.terms import Bound, Number
from presage.plan.nodes import (
    AtLeast,
    Collect,
    Dilate,
    Erode,
    Hop,
    Invent,
    Join,
    LastRows,
    Literal,
    Plan,
    PlanNode,
    SinceNode,
    Stamp,
    WithinNode,
    reads,
)

NEVER = -INF


@dataclass(frozen=True, slots=True)
class Lags:
    lag: dict[str, Bound]
    keep: dict[str, Bound]
    component: dict[str, int]
    """Relations that depend on one another have the same number; lower numbers come first."""
    clipped: frozenset[str]
    """Relations that derive themselves ever later, or values for each time: only as far ahead as the horizon."""
    internal_negation: frozenset[int]
    """Components in which something depends on the absence of something of the same component."""
    besides: dict[str, Bound]
    """How long relations are needed, but for what `since` without end needs of its right side while its left holds."""
    moving: dict[str, Bound]
    """The lags once fixed times are past."""
    opening: dict[str, Bound]
    """When the fixed times that relations hang on are past: before that, nothing of them is final."""

    def is_held(self, node: SinceNode) -> bool:
        """Whether what a node needs for ever of its right side is needed by nothing else that long, and only while the
        left side holds."""
        return node.reach.far is None and not node.ahead and self.besides[node.right] != INF


def far_ahead(reach: Reach) -> Bound:
    """The latest a source can lie after what is derived from it at these distances."""
    return INF if reach.near is None else -reach.near


def far_back(reach: Reach) -> Bound:
    """The earliest, as a (mostly negative) distance."""
    return -INF if reach.far is None else -reach.far


def offsets(node: PlanNode, discrete: bool) -> list[tuple[str, Bound, Bound, bool]]:
    """For each relation a node reads: from where to where it lies after the head, and whether negated."""
    match node:
        case Dilate(source=source, reach=reach) if reach == EVERYWHERE:
            # A domain: it has a new value when the source has, and is asked about the recent past only.
            return [(source, 0, 0, False)]
        case Collect(source=source) | AtLeast(source=source):
            reach = node.shown or HERE
            return [(source, far_back(reach), far_ahead(reach), isinstance(node, Collect))]
        case Invent(source=source) | Stamp(source=source):
            return [(source, 0, 0, False)]
        case Dilate() | Erode() | WithinNode():
            return [(node.source, far_back(node.reach), far_ahead(node.reach), False)]
        case Hop(source=source, period=period):
            return [(source, 1 - period, 0, False)]
        case LastRows(source=source, counted=counted):
            return [(source, 0, 0, False), *((name, 0, 0, True) for name in counted)]
        case SinceNode(left=left, right=right, reach=reach, ahead=ahead):
            near: Bound = 0 if reach.near is None else reach.near
            far: Bound = INF if reach.far is None else reach.far
            # The left side is asked for strictly between the two times, if there is anything between.
            gap = 1 if discrete else 0
            between: list[tuple[str, Bound, Bound, bool]] = []
            if far > gap:
                between = [(left, gap, far - gap, False) if ahead else (left, gap - far, -gap, False)]
            return [*between, (right, near, far, False) if ahead else (right, -far, -near, False)]
        case Join(literals=literals, negated=negated, head_reach=reach, head_at=at):
            found: list[tuple[str, Bound, Bound, bool]] = []
            for literal, absent in [*((each, False) for each in literals), *((each, True) for each in negated)]:
                if literal.at is not None or at is not None:
                    found.append((literal.relation, -INF, INF, absent))
                else:
                    low = far_back(reach) + literal.offset
                    found.append((literal.relation, low, far_ahead(reach) + literal.offset, absent))
            return found


def lags_of(subject: Subject, plan: Plan, horizon: Number) -> Lags:
    delays = {
        name: each.delay or 0 for name, each in subject.predicates.items() if each.is_input and not each.is_static
    }
    return compute(plan, delays, horizon)


def horizon_of(subject: Subject, plan: Plan) -> Number:
    """How far past now to derive: as declared, or as far as the queries look ahead."""
    declared = subject.program.setting(Horizon)
    if declared is not None:
        return declared.length  # type: ignore[return-value]
    ahead: dict[str, Bound] = {query.atom.predicate: 0 for query in subject.queries}
    for _ in range(len(plan.sources)):
        changed = False
        for node in plan.nodes:
            if node.head not in ahead:
                continue
            for source, _low, high, _ in offsets(node, plan.discrete):
                later = ahead[node.head] + high if high != INF else ahead[node.head]
                if later > ahead.get(source, -INF):
                    ahead[source] = later
                    changed = True
        if not changed:
            break
    finite = [value for value in ahead.values() if not isinstance(value, float)]
    return max(0, *finite) if finite else 0


def compute(plan: Plan, delays: dict[str, Number], horizon: Bound) -> Lags:
    """`horizon` is how far past now relations that derive themselves ever later are derived."""
    successors: dict[str, list[str]] = {name: [] for name in plan.sources}
    for node in plan.nodes:
        for name, _ in reads(node):
            successors[node.head].append(name)
    component = component_of(sorted(successors), successors)
    # Values that differ from time to time are made as time goes on, and so are times as values.
    clipped = _ever_later(plan, component) | {name for node in plan.nodes for name in _told_apart_by_time(node)}
    lag = _lags(plan, delays, clipped, horizon)
    negation = frozenset(
        component[node.head]
        for node in plan.nodes
        for name, absent in reads(node)
        if absent and component[name] == component[node.head]
    )
    moving = _lags(plan, delays, clipped, horizon, fixed=False)
    besides = _keeps(plan, lag, held=False)
    return Lags(lag, _keeps(plan, lag), component, clipped, negation, besides, moving, _opening(plan, moving))


def _told_apart_by_time(node: PlanNode) -> tuple[str, ...]:
    """What a node takes time point by time point."""
    match node:
        case Stamp(source=source) | Invent(source=source, timed=True):
            return (source,)
        case AtLeast(source=source, slides=Reach()) | Collect(source=source, slides=Reach()):
            return (source,)
        case _:
            return ()


def _ever_later(plan: Plan, component: dict[str, int]) -> frozenset[str]:
    """Relations on a cycle along which time can only grow without end."""
    edges: dict[int, list[tuple[str, str, Bound]]] = {}
    for node in plan.nodes:
        for source, low, _, absent in offsets(node, plan.discrete):
            if component[source] == component[node.head] and not absent:
                edges.setdefault(component[node.head], []).append((node.head, source, -low))
    found: set[str] = set()
    for number, inner in edges.items():
        names = {name for name, own in component.items() if own == number}
        distance: dict[str, Bound] = dict.fromkeys(names, 0)
        for _ in range(len(names) + 1):
            changed = False
            for head, source, later in inner:
                if later == INF or distance[source] + later > distance[head]:
                    distance[head] = INF if later == INF else distance[source] + later
                    changed = True
            if not changed:
                break
            if any(value == INF for value in distance.values()):
                break
        else:
            changed = True
        if changed:
            found |= names
    return frozenset(found)


def _without_fixed(node: PlanNode) -> PlanNode:
    """A node without what it reads at fixed times."""
    if not isinstance(node, Join):
        return node
    literals = tuple(each for each in node.literals if each.at is None)
    return replace(node, literals=literals, negated=tuple(each for each in node.negated if each.at is None))


def _opening(plan: Plan, moving: dict[str, Bound]) -> dict[str, Bound]:
    found: dict[str, Bound] = dict.fromkeys(plan.sources, NEVER)
    for _ in found:
        before = dict(found)
        for node in plan.nodes:
            times = [found[name] for name, _ in reads(node)]
            if isinstance(node, Join):
                fixed = ((each.at, moving[each.relation]) for each in (*node.literals, *node.negated))
                times += [at + lag for at, lag in fixed if at is not None]
            found[node.head] = max([found[node.head], *times])
        if found == before:
            break
    return found


def _lags(
    plan: Plan, delays: dict[str, Number], clipped: frozenset[str], horizon: Bound, fixed: bool = True
) -> dict[str, Bound]:
    lag: dict[str, Bound] = dict.fromkeys(plan.sources, NEVER)
    lag.update(delays)
    for name in clipped:
        lag[name] = max(lag[name], -horizon)
    nodes = plan.nodes if fixed else map(_without_fixed, plan.nodes)
    edges = [(node.head, source, high) for node in nodes for source, _, high, _ in offsets(node, plan.discrete)]
    for _ in range(len(lag) + 1):
        changed = False
        for head, source, high in edges:
            if lag[source] == NEVER:
                continue
            new = lag[source] + high
            if new > lag[head]:
                lag[head] = new
                changed = True
        if not changed:
            return lag
    # What still grows grows for ever: it is never final.
    growing = True
    while growing:
        growing = False
        for head, source, high in edges:
            if lag[source] != NEVER and lag[source] + high > lag[head]:
                lag[head] = INF
                growing = True
    return lag


def literal_lag(lag: dict[str, Bound], literal: Literal) -> Bound:
    """Until when, after the rule's time, a literal can still gain facts."""
    if lag[literal.relation] == NEVER:
        return NEVER
    return INF if literal.at is not None else lag[literal.relation] + literal.offset


def _keeps(plan: Plan, lag: dict[str, Bound], held: bool = True) -> dict[str, Bound]:
    # What is derived again must be recognised as known, as long as it can be derived at all.
    keep: dict[str, Bound] = dict(lag)

    def need(name: str, value: Bound) -> None:
        keep[name] = max(keep[name], value)

    for node in plan.nodes:
        match node:
            case Erode(source=source, reach=reach, clipped=clipped):
                length = INF if reach.far is None or reach.near is None else reach.far - reach.near
                if clipped and reach.far is None and reach.near is not None:
                    # What began with the stream goes on, or is not worth keeping.
                    length = 1 - reach.near
                if lag[source] != NEVER:
                    need(source, lag[source] + length)
            case SinceNode(left=left, right=right, reach=reach, ahead=False) if reach.far is None:
                # A left side that has ended, and can be joined by nothing that is late, has nothing after it.
                latest = max(lag[left], lag[right])
                if latest != NEVER:
                    need(left, latest)
                    need(right, INF if held else latest)
            case SinceNode(left=left, right=right, reach=reach, ahead=ahead):
                far: Bound = INF if reach.far is None else reach.far
                if lag[left] != NEVER:
                    need(left, lag[left] + far)
                    need(right, lag[left] + far)
                if lag[right] != NEVER:
                    need(left, lag[right] + (far if ahead else 0))
                    need(right, lag[right] + far)
            case AtLeast(source=source, slides=Reach()) | Collect(source=source, slides=Reach()):
                # Until the last of its times leaves: what is remembered of sets is made of the source's memory.
                reach = node.shown or HERE
                if lag[source] != NEVER and reach.near is not None:
                    need(source, INF if reach.far is None else lag[source] + reach.far - reach.near)
            case Join(literals=literals, negated=negated):
                _keep_for_join(plan, lag, literals, negated, need)
    for node in plan.nodes:
        # A new value of a domain asks for absence as far back as the answer can matter.
        if isinstance(node, Join) and any(plan.sources[each.relation].kind == "domain" for each in node.literals):
            for literal in node.negated:
                need(literal.relation, keep[node.head])
    return keep


def _asked_late(plan: Plan, lag: dict[str, Bound], literal: Literal) -> Bound:
    """The same, for how long after the rule's time others are joined with it."""
    found = literal_lag(lag, literal)
    return found if found == NEVER else found + plan.looks_back.get(literal.relation, 0)


def _keep_for_join(
    plan: Plan,
    lag: dict[str, Bound],
    literals: tuple[Literal, ...],
    negated: tuple[Literal, ...],
    need: Callable[[str, Bound], None],
) -> None:
    waits = [_asked_late(plan, lag, literal) for literal in literals]
    # The values a negation is asked for may be old, but only their recent past is looked at.
    asked = [
        wait if plan.sources[each.relation].kind != "domain" or each.relation in plan.looks_back else NEVER
        for wait, each in zip(waits, literals, strict=True)
    ]
    absent = max((literal_lag(lag, literal) for literal in negated), default=NEVER)
    for index, literal in enumerate(literals):
        others = max([*waits[:index], *waits[index + 1 :], NEVER])
        if others != NEVER:
            need(literal.relation, INF if literal.at is not None else others - literal.offset)
    for literal in negated:
        wait = max([*asked, absent])
        if wait != NEVER:
            need(literal.relation, INF if literal.at is not None else wait - literal.offset)
