"""A stream that the tests of killing start as a process of its own: one input, two sinks, each with its checkpoint.

    python -m tests.killed_stream FOLDER [MASTER]

The folder has the input; it gets the answers as Parquet files and, by `foreachBatch`, in a table of SQLite with a row
for each answer, in which a later line takes the place of an earlier one.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import presage
from tests.test_spark_shards import TURBINES

TEMP = "device string, level string, time long, arrives long"
SHARDS = 3
UPSERT = """
insert into answers values (?, ?, ?) on conflict (answer) do update
set status = excluded.status, now = excluded.now where excluded.now >= answers.now
"""


def upsert(path: Path) -> Any:
    def write(frame: Any, batch: int) -> None:
        rows = [(row.answer, row.status, row.now) for row in frame.select("answer", "status", "now").collect()]
        with sqlite3.connect(path, timeout=60) as table:
            table.execute("create table if not exists answers (answer text primary key, status text, now integer)")
            table.executemany(UPSERT, rows)

    return write


def main(folder: Path, master: str = "") -> None:
    more = {"spark_master": master} if master else {}
    # A task whose worker dies is run again, as it is on a cluster.
    spark = presage.spark.local_session("2,4", 2, folder / "home", **more)
    stream = spark.readStream.schema(TEMP).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    answers = presage.spark.answers(presage.parse(TURBINES), {"temp": stream}, arrives="arrives", shards=SHARDS)
    files = (
        answers.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    table = answers.writeStream.foreachBatch(upsert(folder / "answers.sqlite")).option(
        "checkpointLocation", str(folder / "checkpoint-table")
    )
    for query in [writer.trigger(availableNow=True).start() for writer in (files, table)]:
        query.awaitTermination()
    (folder / "finished").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
