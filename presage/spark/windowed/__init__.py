"""Batch runs of programs that say how many, or how much, there is in a window: all windows worked out at once.

Where a program says no more than what the facts of one input come to in a window (`plan/windowed_set.py`), nobody need
reason step by step. Facts are packed as numbers by their groups (`packing.py`), so that no partition key is needed but
what they are grouped by; each shard works out what its groups are worth along time (`sets.py`); and Spark
makes lines of that (`lines.py`). They are the lines of the run step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from presage.model.terms import Number
from presage.plan.windowed_set import WindowedSet, windowed_set
from presage.spark.batch import clock_of
from presage.spark.job import FrameSource, Job
from presage.spark.rows import spark_schema
from presage.spark.troubles import told_plainly
from presage.spark.windowed.lines import said, said_schema, told_lines
from presage.spark.windowed.packing import PACK, gathered_tuples, packer
from presage.spark.windowed.sets import stretches

MOST_FACTS = 16_000_000
"""In a shard, which has all of its facts at once."""


def set_of(job: Job, given: Sequence[tuple[FrameSource, DataFrame]]) -> WindowedSet | None:
    """What a batch run is about, where it can be worked out so; `given` are the inputs that have facts."""
    if job.emit not in ("confirmed", "states") or job.state is not None or job.zone is not None:
        return None
    if job.program.meaning is not None or len(given) != 1:
        return None
    reasoner = job.reasoner()
    if reasoner.runs_as_a_whole or reasoner.supposing is not None:
        return None
    about = windowed_set(reasoner.subject)
    ((source, frame),) = given
    if about is None or about.literal.relation != source.predicate or not source.stays_table(job):
        return None
    if source.arrives and (job.late or about.least is not None):
        return None  # when there are enough hangs on which come first
    if about.least is not None and job.emit == "confirmed":
        return None
    if about.numbers and not all(_wholes(frame, about)[:1]):
        return None
    return about


def _wholes(frame: DataFrame, about: WindowedSet) -> list[bool]:
    """Of each column after those of the group, whether it has whole numbers."""
    kinds = [frame.schema.fields[place].dataType for place in about.places[about.groups :]]
    return [isinstance(each, T.IntegralType) for each in kinds]


def windowed_rows(job: Job, given: Sequence[tuple[FrameSource, DataFrame]], until: Number | None) -> DataFrame | None:
    """The rows of a run of so many shards; nothing where it cannot be worked out so, or where a shard would have more
    facts than it can hold at once."""
    about = set_of(job, given)
    if about is None:
        return None
    ((source, frame),) = given
    source = replace(source, key=())
    job = replace(job, sources=(source,), everywhere=frozenset())
    with told_plainly():
        clock = clock_of(job, [(source, frame)], until, in_stretches=False)
    if clock.facts > MOST_FACTS * (job.shards if about.groups else 1):
        return None
    end = int(clock.end)
    settled = end if about.least is not None else end - about.lag
    packs = frame.mapInArrow(packer(job, source, about, _wholes(frame, about), end), PACK)
    whole = packs.repartitionById(job.shards, F.col("shard"))
    found = whole.mapInArrow(_runner(about, settled), spark_schema(said_schema(about.query)))
    return told_lines(job, about, found, end)


def _runner(about: WindowedSet, settled: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        payloads: dict[int, list[Any]] = {}
        for batch in batches:
            for row, shard in enumerate(batch.column(0).to_pylist()):
                payloads.setdefault(shard, []).append(batch.column(1)[row].as_buffer())
        for own in payloads.values():
            tuples = gathered_tuples(own, about)
            table = said(stretches(tuples, about, settled), tuples, about)
            yield from table.to_batches(max_chunksize=100_000)

    return run
