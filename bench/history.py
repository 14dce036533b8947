"""A long history as a batch: what a table of facts costs on Spark, beside a stream of the same facts in the same run.

Turbines with possible answers, divided by their proved key. Memory is what all processes hold at most: a run over more
facts may take longer, not hold more.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import presage
from bench.common import Row
from bench.spark import CORES, ROWS, SCHEMA, SHARDS, TURBINES, cpu_seconds, descendants, ours, run, write_readings

STREAMED = 5
"""Micro-batches of the stream beside."""


class Memory:
    """The most that a kind of process below this one holds, looked at while something runs."""

    def __init__(self) -> None:
        self.java = self.workers = self.worker = 0
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Memory:
        self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._over.wait(0.5):
            java, workers = 0, [0]
            for pid in descendants():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    name = Path(f"/proc/{pid}/comm").read_text().strip()
                    # Of memory that forked processes share, each has its part.
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                    size = int(rollup.partition("\nPss:")[2].split()[0]) * 1024
                    if "java" in name:
                        java += size
                    else:
                        workers.append(size)
            self.java, self.workers = max(self.java, java), max(self.workers, sum(workers))
            self.worker = max(self.worker, *workers)


def measure(facts: int) -> Iterator[Row]:
    folder = Path(tempfile.mkdtemp(prefix="presage-bench-", dir=os.environ.get("TMPDIR")))
    spark = presage.spark.local_session(CORES, SHARDS, folder / "home")
    try:
        write_readings(folder / "many", ROWS, STREAMED)
        stream = run(ours(spark, folder / "many"), folder / "stream")
        write_readings(folder / "history", ROWS, max(1, facts // ROWS), files=1)
        facts = max(1, facts // ROWS) * ROWS
        frame = spark.read.schema(SCHEMA).parquet(str(folder / "history"))
        before, begin = cpu_seconds(), time.monotonic()
        with Memory() as memory:
            answers = presage.spark.answers(presage.parse(TURBINES), {"temp": frame}, shards=SHARDS)
            answers.write.format("noop").mode("overwrite").save()
        cpu, wall = cpu_seconds() - before, time.monotonic() - begin
        share = facts / cpu * CORES
        note = f"share of {CORES} cores: {share:,.0f} facts/s beside {stream.share:,.0f}; ratio of CPU"
        yield Row(
            f"a table of {facts:,} facts", f"{facts / wall:,.0f} facts/s", f"as a stream {stream.rate:,.0f} facts/s",
            share / stream.share, note,
        )  # fmt: skip
        yield Row(
            "its memory at most", f"workers {memory.workers >> 20:,} MB", f"Java {memory.java >> 20:,} MB", None,
            f"the largest worker {memory.worker >> 20:,} MB",
        )  # fmt: skip
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
