"""Batch runs as DataFrames: for programs that cannot be sharded, the plan itself is what Spark works off.

Where no partition key divides the facts among reasoners, one reasoner would have to take all of them. Instead the rules
become joins of DataFrames, which Spark divides by the values that meet (`joins.py`), recursion goes in rounds
(`rounds.py`), and every row carries the step at which a run would have known it, so that the lines are those of that
run (`columns.py`, `telling.py`). `plan/relational.py` says for which programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame

from presage.engine.waking import first_step
from presage.model.terms import Number
from presage.plan.relational import needed
from presage.spark.batch import clock_of
from presage.spark.job import FrameSource, Job
from presage.spark.relational.arrived import input_rows, late_rows, static_rows
from presage.spark.relational.joins import Joins
from presage.spark.relational.rounds import Rounds
from presage.spark.relational.telling import told
from presage.spark.troubles import told_plainly


def relational_rows(
    job: Job, frames: list[tuple[FrameSource, DataFrame]], static: Mapping[str, DataFrame], until: Number | None
) -> DataFrame:
    """Rows of answers and of late facts, as a batch run with one shard gives them."""
    spark = frames[0][1].sparkSession
    reasoner = job.reasoner()
    engine, subject = reasoner.interval_engine, reasoner.subject
    with told_plainly():
        clock = clock_of(job, frames, until)
        end = int(clock.end)
        begin = first_step(reasoner.first_decision, clock.first)
        first = int(min(clock.first, end) if begin is None else begin)
        nodes = needed(engine.plan, subject)
        joins = Joins(engine.plan, engine.lags, int(engine.horizon), end)
        given: dict[str, list[DataFrame]] = {}
        late: list[DataFrame] = []
        for source, frame in frames:
            rows = joins.finished(input_rows(job, source, frame), source.predicate)
            given.setdefault(source.predicate, []).append(rows)
            if source.arrives and job.late:
                late.append(late_rows(job, source, frame, end))
        for name, frame in static.items():
            given.setdefault(name, []).append(static_rows(job, name, frame, first))
        spanning = {source.predicate for source, _ in frames if source.spans}
        rounds = Rounds(spark, engine.plan, nodes, engine.lags, joins, given, spanning, first)
        held = rounds.run({query.atom.predicate for query in subject.queries})
    lines = [told(job, query, held[query.atom.predicate], end) for query in subject.queries]
    return reduce(DataFrame.unionByName, [*lines, *late])
