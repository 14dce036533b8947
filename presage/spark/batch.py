"""A program over DataFrames that are whole: exactly the lines of the embedded run, in no particular order.

Rows are marked with shard and arrival where they are read, and packed by shard and stretch of time; packs are brought
together by shard, in the order of their stretches, and fed to one reasoner for each shard, a stretch at a time. Memory
holds one stretch and what the reasoner remembers.

The clock is everybody's. A first pass over the times finds the first and the last arrival anywhere, and how to cut
time into stretches of about as many facts. On the discrete timeline a shard steps at its own arrivals and when its
reasoner wants to be woken: a step at another time would change nothing there. On the dense timeline every shard steps
at every arrival, on a grid as fine as all facts so far need, because how open stretches are cut into lines depends
on both; the first pass collects those times.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from presage.io.arriving import ArrivingColumns
from presage.io.facts import FactError
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.run.schedule import Arrival, strides, through_stretches, told_late
from presage.spark.facts import ArrivedTogether, arrival_of, arriving_by_column, by_arrival, mark, units_of
from presage.spark.history import leave
from presage.spark.job import FrameSource, Job
from presage.spark.packs import NO_SOURCE, ROWS_IN_A_PACK, Delivery, from_bytes, in_portions, time_of, to_bytes
from presage.spark.rows import gathered, row_schema, spark_schema, tables_of
from presage.spark.shard_reasoner import Live
from presage.spark.shown import told, told_schema
from presage.spark.troubles import told_plainly

TIMES = "predicate string, unit bigint, last bigint, arrival string, parts bigint, dense_last string"
PACK = "shard int, stretch int, source int, payload binary"
_SCHEMA = pa.schema([("shard", pa.int32()), ("stretch", pa.int32()), ("source", pa.int32()), ("payload", pa.binary())])
ROWS_AT_ONCE = 100_000
ROWS_IN_A_STRETCH = 1_000_000
MOST_STRETCHES = 256


@dataclass(frozen=True)
class BatchClock:
    first: Number
    end: Number
    moments: tuple[tuple[Number, int], ...] = ()
    """On the dense timeline all arrivals, each with how fine the facts are that arrive then."""
    edges: tuple[int, ...] = ()
    """The times at which stretches begin, but for the first."""
    facts: int = 0


def batch_rows(job: Job, frames: list[tuple[FrameSource, DataFrame]], until: Number | None) -> DataFrame:
    """Rows of answers and of late facts."""
    with told_plainly():
        clock = clock_of(job, frames, until)
    packs = [frame.mapInArrow(packer(job, index, source, clock), PACK) for index, (source, frame) in enumerate(frames)]
    spark = frames[0][1].sparkSession
    # All shards run where each is to leave its state; otherwise the first does, for what is not about facts.
    alone = spark.range(1 if job.state is None else job.shards).selectExpr(
        "cast(id as int) shard", "cast(-1 as int) stretch", f"{NO_SOURCE} source", "cast(null as binary) payload"
    )
    whole = reduce(DataFrame.union, packs, alone)
    ordered = whole.repartitionById(job.shards, F.col("shard")).sortWithinPartitions("shard", "stretch", "source")
    return ordered.mapInArrow(_runner(job, clock), spark_schema(told_schema(job)))


def packer(job: Job, index: int, source: FrameSource, clock: BatchClock) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for table in in_portions(batches, ROWS_IN_A_PACK):
            yield _packs(job, index, source, clock, table)

    return run


def _packs(job: Job, index: int, source: FrameSource, clock: BatchClock, given: Any) -> Any:
    marked = mark(given, source, job)
    units = units_of(marked.arrivals)
    stretches = np.searchsorted(np.array(clock.edges, np.int64), units, side="right")
    order = np.lexsort((units, stretches, marked.shards))
    table = marked.table.take(pa.array(order)).combine_chunks()
    shards, stretches = marked.shards[order], stretches[order]
    cuts = (np.flatnonzero((np.diff(shards) != 0) | (np.diff(stretches) != 0)) + 1).tolist()
    starts, stops = [0, *cuts], [*cuts, len(order)]
    columns = [
        pa.array(shards[starts], pa.int32()),
        pa.array(stretches[starts], pa.int32()),
        pa.array(np.full(len(starts), index, np.int32)),
        pa.array([to_bytes(table.slice(a, b - a)) for a, b in zip(starts, stops, strict=True)], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


# The first pass


def clock_of(
    job: Job, frames: list[tuple[FrameSource, DataFrame]], until: Number | None, in_stretches: bool = True
) -> BatchClock:
    """`in_stretches`: whether time is to be cut into stretches of about as many facts."""
    times = reduce(DataFrame.union, [_times(job, source, frame) for source, frame in frames])

    def end_after(last: Number) -> Number:
        return until if until is not None else job.reasoner().end_after(last) if job.state is None else last

    names = {source.predicate: F.col("predicate") == source.predicate for source, _ in frames}
    found = times.agg(
        F.min("unit").alias("first"),
        F.max("unit" if job.state is not None else "last").alias("last"),
        F.count("unit").alias("size"),
        *(F.count_if(F.col("unit").isNull() & own).alias(f"without {name}") for name, own in names.items()),
        *(F.min(F.when(own, F.col("unit"))).alias(f"first {name}") for name, own in names.items()),
    ).first()
    assert found is not None
    arriving = {source.predicate for source, _ in frames if source.arrives}
    for name in names:
        if found[f"without {name}"]:
            what = "time of arrival" if name in arriving else "time"
            raise FactError(f"`{name}`: {found[f'without {name}']} rows have no {what} (null)")
        if (found[f"first {name}"] or 0) < 0:
            raise FactError(f"`{name}`: {found[f'first {name}']} lies before time 0, the start of the stream")
    stretches = 1 + found["size"] // (job.shards * ROWS_IN_A_STRETCH) if in_stretches else 1
    edges = _edges(times, min(MOST_STRETCHES, stretches))
    if job.discrete:
        end = end_after(found["last"] or 0)
        first = end if found["first"] is None else found["first"]
        return BatchClock(first, end, edges=edges, facts=found["size"])
    lasts = F.collect_set("dense_last").alias("lasts")
    exactly = times.groupBy("arrival").agg(F.collect_set("parts").alias("parts"), lasts).toArrow()
    moments = sorted(
        (time_of(text), math.lcm(*parts))
        for text, parts in zip(exactly.column("arrival").to_pylist(), exactly.column("parts").to_pylist(), strict=True)
    )
    lasts = [] if job.state is not None else exactly.column("lasts").to_pylist()
    ends = [time_of(text) for each in lasts for text in each]
    last = max([*ends, *(moment for moment, _ in moments[-1:])], default=0)
    end = end_after(last)
    return BatchClock(moments[0][0] if moments else end, end, tuple(moments), edges)


def _edges(times: DataFrame, stretches: int) -> tuple[int, ...]:
    """The times at which so many stretches begin, but for the first. To ask costs more than all else that a first pass
    looks for."""
    if stretches < 2:
        return ()
    shares = [place / stretches for place in range(1, stretches)]
    found = times.agg(F.percentile_approx("unit", shares, 1000).alias("edges")).first()
    assert found is not None
    return tuple(sorted(set(found["edges"] or [])))


def _times(job: Job, source: FrameSource, frame: DataFrame) -> DataFrame:
    """When the rows of a DataFrame arrive; where that is a number already, no worker need look at it."""
    when = frame.columns[source.arguments :]
    if source.stays_table(job) and all(isinstance(frame.schema[name].dataType, T.IntegralType) for name in when):
        units = [F.col(name).cast("bigint") for name in when]
        return frame.select(
            F.lit(source.predicate).alias("predicate"),
            units[-1].alias("unit"),
            (F.greatest(*units) if len(units) > 1 else units[0]).alias("last"),
            F.lit(None).cast("string").alias("arrival"),
            F.lit(None).cast("bigint").alias("parts"),
            F.lit(None).cast("string").alias("dense_last"),
        )

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                marked = mark(batch, source, job)
                dense, size = marked.parts is not None, batch.num_rows
                columns = [
                    pa.array([source.predicate] * size),
                    pa.array(units_of(marked.arrivals)),
                    pa.array(units_of(marked.lasts)),
                    pa.array([show_number(each) for each in marked.arrivals] if dense else [None] * size, pa.string()),
                    pa.array(marked.parts if dense else [None] * size, pa.int64()),
                    pa.array([show_number(each) for each in marked.lasts] if dense else [None] * size, pa.string()),
                ]
                names = ["predicate", "unit", "last", "arrival", "parts", "dense_last"]
                yield pa.RecordBatch.from_arrays(columns, names)

    return frame.mapInArrow(run, TIMES)


# The run of a shard


def _runner(job: Job, clock: BatchClock) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        packs = (pack for batch in batches for pack in _rows(batch))
        for shard, own in groupby(packs, key=lambda pack: pack[0]):
            if job.state is None:
                found = _run_shard(job, clock, shard, own)
            else:
                found = _run_history(job, clock, shard, own)
            for table in told(job, gathered(found, ROWS_AT_ONCE)):
                yield from table.to_batches()

    return run


def _rows(batch: Any) -> Iterator[tuple[int, int, int, Any]]:
    shards, stretches, sources = (batch.column(place).to_pylist() for place in range(3))
    for row, (shard, stretch, source) in enumerate(zip(shards, stretches, sources, strict=True)):
        yield shard, stretch, source, batch.column(3)[row]


def _stretches(job: Job, packs: Iterator[tuple[int, int, int, Any]]) -> Iterator[list[ArrivingColumns]]:
    """What arrives at a shard, by the column."""
    for _, group in groupby(packs, key=lambda pack: pack[1]):
        tables: dict[int, list[Any]] = {}
        for _, _, source, payload in group:
            if source != NO_SOURCE:
                tables.setdefault(source, []).append(from_bytes(payload.as_buffer()))
        if tables:
            yield [arriving_by_column(job, job.sources[source], own) for source, own in tables.items()]


def _arrivals(job: Job, packs: Iterator[tuple[int, int, int, Any]]) -> Iterator[Arrival]:
    """What arrives at a shard, stretch by stretch."""
    for _, group in groupby(packs, key=lambda pack: pack[1]):
        tables = [(source, from_bytes(payload.as_buffer())) for _, _, source, payload in group if source != NO_SOURCE]
        by_time: dict[Number, list[ArrivedTogether]] = {}
        for time, part in by_arrival(job, tables, 0):
            by_time.setdefault(time, []).append(part)
        for time in sorted(by_time):
            yield arrival_of(job, time, by_time[time])


def _run_shard(job: Job, clock: BatchClock, shard: int, packs: Iterator[tuple[int, int, int, Any]]) -> Iterator[Any]:
    reasoner, schema = job.reasoner(), row_schema(job)
    if all(source.stays_table(job) for source in job.sources):
        told = through_stretches(reasoner, _stretches(job, packs), int(clock.first), int(clock.end))
    else:
        moments = iter(clock.moments or [(clock.first, 1)])
        told = strides(reasoner, _with_clock(_arrivals(job, packs), moments), clock.end)
    for answers in told:
        late = told_late(reasoner)
        if answers or late:
            yield from tables_of(job.told(shard, answers), late, schema, in_order=False)
    if going_on := reasoner.end():
        yield from tables_of(job.told(shard, going_on), [], schema)


def _run_history(job: Job, clock: BatchClock, shard: int, packs: Iterator[tuple[int, int, int, Any]]) -> Iterator[Any]:
    """A run that a stream goes on from: stretches are its deliveries, and steps lie before its last time."""
    live, schema = Live(job, shard), row_schema(job)
    before: Number | None = None

    def take(until: Number, payloads: tuple[tuple[int, bytes], ...]) -> Iterator[Any]:
        for answers, late in live.steps(Delivery(before, until, clock.first, payloads, uuid.uuid4().hex)):
            if answers or late:
                yield from tables_of(job.told(shard, answers), late, schema)

    for stretch, group in groupby(packs, key=lambda pack: pack[1]):
        payloads = tuple((source, payload.as_py()) for _, _, source, payload in group if source != NO_SOURCE)
        if payloads:
            until = clock.end if stretch >= len(clock.edges) else min(clock.edges[stretch], clock.end)
            yield from take(until, payloads)
            before = until
    if before is None or before < clock.end:
        yield from take(clock.end, ())
    leave(job, shard, clock.end, live)


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
