"""Facts of DataFrames as rows of relations; those that came too late apart.

Times are read, checked and made cells where the rows are, by the same functions as for shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from presage.io.tables import Columns
from presage.spark.facts import Marked, columns_of, facts_of, mark, no_nulls, units_of
from presage.spark.job import FrameSource, Job
from presage.spark.relational.frame_relations import ENDLESS, places, schema_of
from presage.spark.relational.values import written_column
from presage.spark.rows import row_schema, spark_schema, tables_of
from presage.spark.shown import told, told_schema


def input_rows(job: Job, source: FrameSource, frame: DataFrame) -> DataFrame:
    """The facts of an input that came in time, each with its arrival as the step."""
    return frame.mapInArrow(_reader(job, source), schema_of(source.arguments))


def _reader(job: Job, source: FrameSource) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if not batch.num_rows:
                continue
            marked = mark(batch, source, job)
            in_time = pa.array(~_is_late(job, source, marked))
            table = marked.table.filter(in_time)
            low, high = _ends(table, source)
            arguments = map(written_column, columns_of(table, source, job.checker).arguments)
            times = {"low": low, "high": high, "now": pa.array(units_of(marked.arrivals)).filter(in_time)}
            yield from pa.table({**dict(zip(places(source.arguments), arguments, strict=True)), **times}).to_batches()

    return run


def _is_late(job: Job, source: FrameSource, marked: Marked) -> Any:
    columns = columns_of(marked.table, source, job.checker)
    # Whether a fact is late depends on how far its arrival lies after its time.
    ago = columns.times - units_of(marked.arrivals)
    late = Columns(columns.predicate, columns.arguments, ago).late(job.checker.predicates[source.predicate], 0)
    return np.zeros(len(ago), bool) if late is None else late


def _ends(table: Any, source: FrameSource) -> tuple[Any, Any]:
    """The first and the last cell of each fact."""
    low = table.column("low").to_numpy().astype(np.int64)
    if not source.spans:
        return low, low
    high = table.column("high").fill_null(ENDLESS).to_numpy().astype(np.int64)
    bounds = table.column("bounds").to_pylist()
    opens = np.array([each[0] == "(" for each in bounds], np.int64)
    closes = np.array([each[1] == ")" for each in bounds], np.int64)
    return low + opens, np.where(high >= ENDLESS, high, high - closes)


def static_rows(job: Job, name: str, frame: DataFrame, first: int) -> DataFrame:
    """The facts of a static table: they hold always, and are known from the first step on."""
    known = job.checker.predicates[name]
    source = FrameSource(name, known.arity, (), ())

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            size = batch.num_rows
            if size:
                given = pa.table(batch).append_column("low", pa.array(np.zeros(size, np.int64)))
                no_nulls(given.columns[: known.arity], source, known)
                columns = map(written_column, columns_of(given, source, job.checker).arguments)
                times = {"low": [-ENDLESS] * size, "high": [ENDLESS] * size, "now": [first] * size}
                yield from pa.table({**dict(zip(places(source.arguments), columns, strict=True)), **times}).to_batches()

    return frame.mapInArrow(run, schema_of(known.arity))


def late_rows(job: Job, source: FrameSource, frame: DataFrame, end: int) -> DataFrame:
    """The facts of an input that came too late, as rows of the run's output."""
    schema = row_schema(job)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                marked = mark(batch, source, job)
                wanted = _is_late(job, source, marked) & (units_of(marked.arrivals) <= end)
                late = [(fact, fact.arrival) for fact in facts_of(marked.table.filter(pa.array(wanted)), source, job)]
                for table in told(job, tables_of([], late, schema)):
                    yield from table.to_batches()

    return frame.mapInArrow(run, spark_schema(told_schema(job)))
