"""When an engine has something to do though nothing arrives."""

from __future__ import annotations

from collections.abc import Iterator

from presage.analysis.differences import INF
from presage.engine.collecting import time_of
from presage.engine.runtime import IntervalEngine
from presage.kernels.fields import FAR
from presage.model.terms import Number
from presage.plan.nodes import Join

MOST_EMPTY = 1_000_000
"""Steps before the first arrival that are gone through."""


def first_step(begin: Number | None, arrival: Number | None) -> Number | None:
    """Where steps begin before the first arrival, if they do. Who counts time from elsewhere, as from 1970, does not
    wait for what was decided since."""
    return None if begin is None or (arrival is not None and arrival - begin > MOST_EMPTY) else begin


def next_wake(engine: IntervalEngine) -> Number | None:
    """The earliest time at which something may be decided though nothing arrives."""
    times = [time for node in engine.negating if (time := _absence_settled(engine, node)) is not None]
    if times and engine.boundaries is not None and engine.now is not None:
        cell = engine.boundaries.next_after(engine.now, engine.grid)
        if cell is not None:
            times = [] if cell >= FAR else [max(min(times), engine.grid.time(cell))]
    for waiting in engine.ahead.values():
        start = waiting.first()
        if start is not None and start < FAR:
            times.append(engine.grid.time(start) - engine.horizon)
    return min([*times, *_rows_counted(engine), *_collected(engine)], default=None)


def _absence_settled(engine: IntervalEngine, node: Join) -> Number | None:
    """When the earliest row that waits in a join can go on."""
    start = engine.waiting[id(node)].first()
    if start is None or start >= FAR:
        return None
    wake: Number | None = None
    for awaited in engine.joins[id(node)].awaited:
        literal = awaited.literal
        lag, opening = engine.lags.moving[literal.relation], engine.lags.opening[literal.relation]
        if INF in (lag, opening):
            return None
        if not isinstance(opening, float):
            wake = opening if wake is None else max(wake, opening)
        if isinstance(lag, float):
            continue
        cell = awaited.fixed if literal.at is not None else max(start, 0) + awaited.shift
        if not engine.grid.discrete and cell % 2:
            cell += 1
        time = engine.grid.time(cell) + lag
        wake = time if wake is None else max(wake, time)
    return wake


def _collected(engine: IntervalEngine) -> Iterator[Number]:
    """When there is more to tell of what aggregates are worth."""
    for name, cell in engine.collecting.waiting(engine.grid.discrete):
        lag, opening = engine.lags.moving[name], engine.lags.opening[name]
        if cell < FAR and not isinstance(lag, float) and opening != INF:
            time = time_of(engine.grid, cell) + lag
            yield time if isinstance(opening, float) else max(time, opening)


def _rows_counted(engine: IntervalEngine) -> Iterator[Number]:
    """When rows that wait can be counted, and what follows them shown."""
    for names, waiting in engine.counting.waiting():
        start, lag = waiting.first(), max(engine.lags.lag[name] for name in names)
        if start is not None and start < FAR and not isinstance(lag, float):
            yield engine.grid.time(start) + lag
