"""From a checked program to an engine ready to take facts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from presage.analysis.differences import INF, Bound
from presage.analysis.subject import Subject
from presage.engine.grid import Grid
from presage.engine.runtime import Engine
from presage.engine.symbols import Symbols
from presage.model.statements import Horizon
from presage.model.terms import Number
from presage.plan.builder import plan_of
from presage.plan.lags import Lags, compute, offsets
from presage.plan.nodes import Hop, Invent, Join, LastRows, Plan


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


def numbers_of(plan: Plan) -> Iterator[Number]:
    """Every time the plan mentions."""
    for node in plan.nodes:
        if isinstance(node, (Hop, Invent, LastRows)):
            yield node.period if isinstance(node, Hop) else 0
            continue
        reach = node.head_reach if isinstance(node, Join) else node.reach
        yield from (bound for bound in (reach.near, reach.far) if bound is not None)
        if isinstance(node, Join):
            yield from (bound for bound in (node.head_at, node.least) if bound is not None)
            for literal in (*node.literals, *node.negated):
                yield literal.offset
                if literal.at is not None:
                    yield literal.at
    for fact in plan.known:
        yield from (bound for bound in (fact.low, fact.high) if bound is not None)


def make_engine(
    subject: Subject, *, per_unit: int = 1, symbols: Symbols | None = None, chase_limit: int | None = None
) -> Engine:
    """An engine on a grid of 1/`per_unit`, or finer where the program needs it."""
    plan = plan_of(subject)
    horizon = horizon_of(subject, plan)
    lags = lags_of(subject, plan, horizon)
    grid = Grid(True)
    if not subject.discrete:
        for time in numbers_of(plan):
            per_unit = math.lcm(per_unit, Fraction(time).denominator)
        grid = Grid(False, per_unit)
    watched = {query.atom.predicate for query in subject.queries}
    engine = Engine(plan, lags, symbols or Symbols(), grid, horizon, watched, chase_limit)
    engine.begin(plan.known)
    return engine
