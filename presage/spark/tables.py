"""Tables that change while a stream runs: read again at each micro-batch, and true as long as they say so.

What is declared `static` holds at every time, so another static table makes another program, and a stream that has
state cannot go on with it. A table that changes is an input: each of its rows holds from the clock before the
micro-batch in which it is first there up to the clock of the last one in which it is. A micro-batch thus brings, beside
its facts, the rows of the table as facts over the time that it adds. They are part of its delivery, so that state is
made from them again exactly; and they never reach beyond the clock, so that nothing rests on rows that may be gone by
then.

Spark itself works out the table anew for each micro-batch, since it is joined to the packs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from presage.model.printer import show_number
from presage.model.terms import Number
from presage.spark.facts import no_nulls, shards_of
from presage.spark.handing_over import at_work
from presage.spark.job import FrameSource, Job
from presage.spark.packs import from_bytes, to_bytes

OVER_TIME = ("from", "to", "bounds")
_ROWS = "shard int, source int, payload binary"


def beside_tables(job: Job, packs: DataFrame, tables: list[tuple[int, FrameSource, DataFrame]]) -> DataFrame:
    """Packs, each with what its shard has to know of the tables, in the column `tables`."""
    rows = [frame.coalesce(1).mapInArrow(_table_packer(job, index, source), _ROWS) for index, source, frame in tables]
    of_shard = reduce(DataFrame.union, rows).groupBy("shard").agg(
        F.collect_list(F.struct("source", "payload")).alias("tables")
    )  # fmt: skip
    return packs.join(F.broadcast(of_shard), "shard", "left")


def _table_packer(job: Job, index: int, source: FrameSource) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        present, called = at_work(job)
        for batch in batches:
            if not batch.num_rows:
                continue
            table = pa.table(batch).rename_columns([str(place) for place in range(batch.num_columns)])
            no_nulls(table.columns[: source.arguments], source, job.checker.predicates[source.predicate])
            shards = shards_of(table, source, present)
            for shard in np.unique(shards).tolist():
                payload = to_bytes(table.filter(pa.array(shards == shard)))
                yield pa.RecordBatch.from_pylist(
                    [{"shard": called + shard, "source": index, "payload": payload}],
                    pa.schema([("shard", pa.int32()), ("source", pa.int32()), ("payload", pa.binary())]),
                )

    return run


def held_over(job: Job, tables: Any, start: Number, clock: Number) -> list[tuple[int, bytes]]:
    """The rows of tables as facts from a time up to the clock, as marked tables."""
    if not tables or start >= clock:
        return []
    found = []
    for each in tables:
        table = from_bytes(bytes(each["payload"]))
        size = table.num_rows
        # Facts are marked as `mark` does it: on the discrete timeline by their last time point.
        times: tuple[Any, Any] = (
            (int(start), int(clock) - 1) if job.discrete else (show_number(start), show_number(clock))
        )
        kind, bounds = (pa.int64(), "[]") if job.discrete else (pa.string(), "[)")
        for name, time in zip(("low", "high"), times, strict=True):
            table = table.append_column(name, pa.array([time] * size, kind))
        found.append((int(each["source"]), to_bytes(table.append_column("bounds", pa.array([bounds] * size)))))
    return found
