"""A program over DataFrames that are whole: exactly the lines of the embedded run, in no particular order.

Rows are marked with shard and arrival, brought together by shard, sorted by arrival there, and fed to one reasoner for
each shard, a stretch at a time: memory holds one stretch and what the reasoner remembers.

The clock is everybody's. A first pass over the times finds the first and the last arrival anywhere. On the discrete
timeline a shard steps at its own arrivals and when its reasoner wants to be woken: a step at another time would change
nothing there. On the dense timeline every shard steps at every arrival, on a grid as fine as all facts so far need,
because how open stretches are cut into lines depends on both; the first pass collects those times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from presage.io.facts import Fact, exact
from presage.io.tables import Columns
from presage.model.printer import show_number
from presage.model.terms import Number, number
from presage.spark.facts import Block, mark
from presage.spark.job import Job, Source
from presage.spark.messages import told_plainly
from presage.spark.rows import batch_of, row_schema, rows_of, spark_schema
from presage.stepping import Arrival, walk

MARKS = "shard int, unit bigint, arrival string, parts bigint, source int"
NO_SOURCE = -1
"""The row that makes the first shard run though no fact is its own."""
ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Clock:
    first: Number
    end: Number
    moments: tuple[tuple[Number, int], ...] = ()
    """On the dense timeline all arrivals, each with how fine the facts are that arrive then."""


def batch_rows(job: Job, frames: list[tuple[Source, DataFrame]], until: Number | None) -> DataFrame:
    """Rows of answers and of late facts."""
    events = reduce(
        lambda left, right: left.unionByName(right, allowMissingColumns=True),
        [_marked(job, index, source, frame) for index, (source, frame) in enumerate(frames)],
    )
    with told_plainly():
        clock = _clock(job, events, until)
    alone = events.sparkSession.range(1).selectExpr(
        "cast(0 as int) shard", "cast(-1 as bigint) unit", "'0' arrival", "1L parts", f"{NO_SOURCE} source"
    )
    whole = events.unionByName(alone, allowMissingColumns=True)
    ordered = whole.repartitionById(job.shards, F.col("shard")).sortWithinPartitions("shard", "unit")
    return ordered.mapInArrow(_runner(job, clock), spark_schema(row_schema(job.discrete)))


def _marked(job: Job, index: int, source: Source, frame: DataFrame) -> DataFrame:
    """The rows of one DataFrame with their marks, its columns named apart from those of the others."""
    time = "bigint" if job.discrete else "string"
    kinds = [field.dataType.simpleString() for field in frame.schema][: source.arguments]
    columns = [(f"{index}_{place}", kind) for place, kind in enumerate(kinds)]
    columns.append((f"{index}_low", time))
    if source.spans:
        columns += [(f"{index}_high", time), (f"{index}_bounds", "string")]
    if source.arrives:
        columns.append((f"{index}_arrives", time))
    schema = f"{MARKS}, " + ", ".join(f"`{name}` {kind}" for name, kind in columns)
    return frame.mapInArrow(_marker(job, index, source), schema)


def _marker(job: Job, index: int, source: Source) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if not batch.num_rows:
                continue
            marked = mark(batch, source, job)
            size = batch.num_rows
            if isinstance(marked.arrivals, np.ndarray):
                units, arrivals = pa.array(marked.arrivals), pa.nulls(size, pa.string())
            else:
                units = pa.array([math.floor(each) for each in marked.arrivals], pa.int64())
                arrivals = pa.array([show_number(each) for each in marked.arrivals])
            columns = {
                "shard": pa.array(marked.shards, pa.int32()),
                "unit": units,
                "arrival": arrivals,
                "parts": pa.nulls(size, pa.int64()) if marked.parts is None else pa.array(marked.parts, pa.int64()),
                "source": pa.array(np.full(size, index, np.int32)),
            }
            columns |= {f"{index}_{name}": marked.table.column(name) for name in marked.table.column_names}
            yield from pa.table(columns).to_batches()

    return run


def _clock(job: Job, events: DataFrame, until: Number | None) -> Clock:
    settling = job.reasoner().longest_lag
    if job.discrete:
        row = events.agg(F.min("unit").alias("first"), F.max("unit").alias("last")).first()
        first, last = (row["first"], row["last"]) if row is not None else (None, None)
        end = until if until is not None else (last or 0) + settling
        return Clock(end if first is None else first, end)
    found = events.groupBy("arrival").agg(F.collect_set("parts").alias("parts")).toArrow()
    moments = sorted(
        (_exact(text), math.lcm(*parts))
        for text, parts in zip(found.column("arrival").to_pylist(), found.column("parts").to_pylist(), strict=True)
    )
    end = until if until is not None else number((moments[-1][0] if moments else 0) + settling)
    return Clock(moments[0][0] if moments else end, end, tuple(moments))


def _exact(text: str) -> Number:
    found = exact(text)
    assert found is not None
    return found


def _runner(job: Job, clock: Clock) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        schema = row_schema(job.discrete)
        rows: list[dict[str, Any]] = []
        for shard, arrivals in _by_shard(_stretches(job, batches)):
            for found in _run_shard(job, clock, shard, arrivals, schema):
                rows.extend(found)
                if len(rows) >= ROWS_AT_ONCE:
                    yield batch_of(rows, schema)
                    rows = []
        if rows:
            yield batch_of(rows, schema)

    return run


def _run_shard(
    job: Job, clock: Clock, shard: int, arrivals: Iterator[Arrival], schema: Any
) -> Iterator[list[dict[str, Any]]]:
    reasoner = job.reasoner()
    moments = iter(clock.moments or [(clock.first, 1)])
    for answers in walk(reasoner, _with_clock(arrivals, moments), clock.end):
        late = [(fact, reasoner.now) for fact in reasoner.late if reasoner.now is not None]
        reasoner.late.clear()
        if answers or late:
            yield rows_of(job.told(shard, answers), late, schema)


def _with_clock(arrivals: Iterator[Arrival], moments: Iterator[tuple[Number, int]]) -> Iterator[Arrival]:
    """The arrivals of a shard and, in between, the times at which something arrives elsewhere."""
    own, other = next(arrivals, None), next(moments, None)
    while own is not None or other is not None:
        if other is not None and (own is None or other[0] <= own.time):
            time, parts = other
            if own is None or own.time > time:
                due = Arrival(time, parts=parts)
            else:
                due, own = replace(own, parts=parts), next(arrivals, None)
            other = next(moments, None)
        else:
            assert own is not None
            due, own = own, next(arrivals, None)
        yield due


def _by_shard(arrivals: Iterator[tuple[int, Arrival | None]]) -> Iterator[tuple[int, Iterator[Arrival]]]:
    """Splits what is sorted by shard; each part is to be used up before the next is asked for."""
    coming = next(arrivals, None)

    def of(shard: int) -> Iterator[Arrival]:
        nonlocal coming
        while coming is not None and coming[0] == shard:
            if coming[1] is not None:
                yield coming[1]
            coming = next(arrivals, None)

    while coming is not None:
        shard = coming[0]
        part = of(shard)
        yield shard, part
        for _ in part:  # The run ends before the last facts: they are left out.
            pass


def _stretches(job: Job, batches: Iterator[Any]) -> Iterator[tuple[int, Arrival | None]]:
    """What arrives, shard by shard and time by time. Facts of one unit of time may lie in several batches."""
    held: list[tuple[Block, Any]] = []
    at: tuple[int, int] | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        table = pa.Table.from_batches([batch])
        shards, units = table.column("shard").to_numpy(), table.column("unit").to_numpy()
        sources = table.column("source").to_numpy()
        blocks = {index: _block(job, table, index, sources) for index in np.unique(sources) if index != NO_SOURCE}
        ranks = np.zeros(len(units), np.int64)
        for index in blocks:
            chosen = sources == index
            ranks[chosen] = np.arange(int(chosen.sum()))
        edges = np.flatnonzero((np.diff(units) != 0) | (np.diff(shards) != 0)) + 1
        for start, stop in zip([0, *edges.tolist()], [*edges.tolist(), len(units)], strict=True):
            here = (int(shards[start]), int(units[start]))
            if here != at:
                yield from _arrivals(at, held)
                at, held = here, []
            for index, block in blocks.items():
                rows = ranks[start:stop][sources[start:stop] == index]
                if len(rows):
                    held.append((block, rows))
    yield from _arrivals(at, held)


def _block(job: Job, table: Any, index: int, sources: Any) -> Block:
    prefix = f"{index}_"
    names = [name for name in table.column_names if name.startswith(prefix)]
    own = table.select(names).rename_columns([name[len(prefix) :] for name in names])
    return Block(own.filter(pa.array(sources == index)), job.sources[index], job)


def _arrivals(at: tuple[int, int] | None, held: list[tuple[Block, Any]]) -> Iterator[tuple[int, Arrival | None]]:
    """The facts of one unit of time by their exact arrival."""
    if at is None:
        return
    if not held:
        yield at[0], None
        return
    by_time: dict[Number, list[tuple[Block, Any]]] = {}
    for block, rows in held:
        if block.discrete:
            by_time.setdefault(at[1], []).append((block, rows))
            continue
        exactly: dict[Number, list[int]] = {}
        for row in rows.tolist():
            exactly.setdefault(block.arrivals[row], []).append(row)
        for time, chosen in exactly.items():
            by_time.setdefault(time, []).append((block, np.array(chosen)))
    for time in sorted(by_time):
        facts: list[Fact] = []
        tables: list[Columns] = []
        for block, rows in by_time[time]:
            taken = block.take(rows)
            if isinstance(taken, Columns):
                tables.append(taken)
            else:
                facts.extend(taken)
        yield at[0], Arrival(time, facts, tables)
