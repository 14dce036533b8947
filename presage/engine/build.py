"""From a checked program to an engine ready to take facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from presage.analysis.subject import Subject
from presage.core.reach import Reach
from presage.engine.runtime import IntervalEngine
from presage.engine.symbols import Symbols
from presage.model.statements import Query
from presage.model.terms import Number
from presage.plan.builder import plan_of
from presage.plan.lags import Lags, horizon_of, lags_of
from presage.plan.nodes import AtLeast, Collect, Hop, Invent, Join, LastRows, Plan, Stamp, WithinNode
from presage.time.cells import Grid


def numbers_of(plan: Plan) -> Iterator[Number]:
    """Every time the plan mentions."""
    for node in plan.nodes:
        if isinstance(node, (Hop, Invent, LastRows, Stamp, AtLeast, Collect)):
            yield node.period if isinstance(node, Hop) else 0
            continue
        reaches: list[Reach] = [node.head_reach if isinstance(node, Join) else node.reach]
        if isinstance(node, WithinNode):
            reaches += [reach for _, reach in node.bounds]
        yield from (bound for reach in reaches for bound in (reach.near, reach.far) if bound is not None)
        if isinstance(node, Join):
            yield from (bound for bound in (node.head_at, node.least) if bound is not None)
            for literal in (*node.literals, *node.negated):
                yield literal.offset
                if literal.at is not None:
                    yield literal.at
    for fact in plan.known:
        yield from (bound for bound in (fact.low, fact.high) if bound is not None)


def fixed_time(query: Query) -> Number | None:
    """The one time that a query asks about, if it does."""
    if query.pin is None or query.pin.base is not None:
        return None
    assert isinstance(query.pin.offset, (int, Fraction))
    return query.pin.offset


@dataclass(frozen=True, slots=True)
class Planned:
    """A program's plan, when its relations are final and how long they are needed: all but the engine itself."""

    plan: Plan
    horizon: Number
    lags: Lags


def planned(subject: Subject) -> Planned:
    """Raises `Unsupported` for what the engine does not run."""
    plan = plan_of(subject)
    horizon = horizon_of(subject, plan)
    return Planned(plan, horizon, lags_of(subject, plan, horizon))


def make_engine(
    subject: Subject,
    prepared: Planned | None = None,
    *,
    chase_limit: int | None = None,
    besides: Iterable[str] = (),
) -> IntervalEngine:
    """An engine on a grid that is as fine as the program needs. Steps say what is new of the queries, and of relations
    `besides`."""
    prepared = prepared or planned(subject)
    plan, horizon, lags = prepared.plan, prepared.horizon, prepared.lags
    grid, per_unit = Grid(True), 1
    if not subject.discrete:
        asked = (at for query in subject.queries if (at := fixed_time(query)) is not None)
        # What is settled a delay ago is settled up to a point, wherever facts lie.
        delays = (each.delay for each in subject.predicates.values() if each.delay is not None)
        for time in (*numbers_of(plan), *asked, *delays):
            per_unit = math.lcm(per_unit, Fraction(time).denominator)
        grid = Grid(False, per_unit)
    watched = {*besides, *(query.atom.predicate for query in subject.queries)}
    engine = IntervalEngine(plan, lags, Symbols(), grid, horizon, watched, chase_limit)
    engine.begin(plan.known)
    return engine
