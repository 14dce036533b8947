"""A stream that the tests of killing start as a process of its own: one input, two sinks, each with its checkpoint.

    python -m tests.killed_stream FOLDER MASTER [PORT]

The folder has the input; it gets the answers as Parquet files. Where there is a PostgreSQL at the port, its table of
the folder's name gets a row for each answer, by `foreachBatch` and what pipelines write with.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import presage
from tests.postgres import Database
from tests.spark.test_spark_shards import TURBINES

TEMP = "device string, level string, time long, arrives long"
SHARDS = 3


def into_table(port: int, name: str) -> Any:
    from presage.pipeline.postgres import upsert
    from presage.spark.pipeline.sinks import lines_of

    sink = Database(port).part("sinks", table=name)

    def write(frame: Any, batch: int) -> None:
        upsert(sink, lines_of(frame), True)

    return write


def main(folder: Path, master: str, port: int | None = None) -> None:
    spark = presage.spark.local_session(2, 2, folder / "home", spark_master=master)
    stream = spark.readStream.schema(TEMP).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    answers = presage.spark.answers(presage.parse(TURBINES), {"temp": stream}, arrives="arrives", shards=SHARDS)
    files = answers.writeStream.format("parquet").option("path", str(folder / "out"))
    writers = [files.option("checkpointLocation", str(folder / "checkpoint"))]
    if port is not None:
        table = answers.writeStream.foreachBatch(into_table(port, folder.name))
        writers.append(table.option("checkpointLocation", str(folder / "checkpoint-table")))
    for query in [writer.trigger(availableNow=True).start() for writer in writers]:
        query.awaitTermination()
    (folder / "finished").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
