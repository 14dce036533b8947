"""Spark: what a stream costs end to end, beside the same pipeline without an engine and beside state per device.

Turbines with possible answers. The pass-through packs, shuffles, writes state and gives a row for each fact, as the
run does, but does not reason; a second one gives two rows for each, about as many as there are changes of answers.
State per device is what one would write first: `transformWithStateInPandas`, keyed by device, with the last readings as
state. A tumbling count per key is told beside Spark's own `groupBy(window)`, as a stream and in batch.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import presage
from bench.common import ROOT, Row

TURBINES = (ROOT / "examples/turbines/turbines.psg").read_text(encoding="utf-8")
SCHEMA = "device string, level string, time long"
DEVICES, SHARDS, CORES = 20_000, 8, 2
ROWS, BATCHES = 1_000_000, 8
FILES = 2
"""In a micro-batch: a task reads one."""
FEW, MANY_BATCHES = 1_000, 24
SOME = 20_000
WARM = 2
"""Micro-batches that are not counted."""
COUNTED = "input e(k, v: int).\nq(K, N) :- N = count { V, T : window(60, hop 60) e(K, V)@T }."
"""Tumbling as [LARS] has it: what lies on the boundary of two windows is in both."""
IN_BATCH = (
    ("a tumbling count", COUNTED, "count(*)", "60 seconds"),
    ("a tumbling sum", COUNTED.replace("count", "sum"), "sum(v)", "60 seconds"),
    ("a sliding count", COUNTED.replace(", hop 60", ", hop 20"), "count(*)", "20 seconds"),
)
"""A program, what Spark is asked for instead, and how far windows of a minute lie apart."""
KEYS, PER_TIME = 10_000, 1_000


def write_readings(folder: Path, rows: int, batches: int, files: int = FILES, devices: int = DEVICES) -> None:
    """Readings of all devices at each time, most of them high; those of neighbouring times out of order."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(1)
    names = pa.array([f"wt{index}" for index in range(devices)])
    levels = pa.array(["low", "high"])
    for batch in range(batches):
        numbers = np.arange(batch * rows, (batch + 1) * rows)
        if rows >= devices:
            # Some are a time late, within the delay.
            numbers = numbers[np.argsort(numbers + (chance.random(rows) < 0.1) * devices, kind="stable")]
        for file, part in enumerate(np.array_split(numbers, files)):
            table = pa.table(
                {
                    "device": names.take(pa.array(part % devices)),
                    "level": levels.take(pa.array((chance.random(len(part)) < 0.7).astype(np.int8))),
                    "time": pa.array(part // devices),
                }
            )
            parquet.write_table(table, folder / f"{batch:06d}-{file}.parquet")


def stream(spark: Any, folder: Path, files: int = FILES) -> Any:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files).parquet(str(folder))


@dataclass(frozen=True, slots=True)
class Measured:
    """What a stream took once it was warm."""

    facts: int
    wall: float
    cpu: float
    """Of the driver, its Java and all workers."""
    triggers: list[int]
    """Milliseconds of each micro-batch."""
    written: list[int]
    """Bytes of the checkpoint's changes of state, of each micro-batch."""

    @property
    def rate(self) -> float:
        return self.facts / self.wall

    @property
    def share(self) -> float:
        """Facts in a second if both cores were ours alone."""
        return self.facts / self.cpu * CORES


def run(frame: Any, folder: Path, sink: str = "noop", warm: int = WARM) -> Measured:
    writer = frame.writeStream.format(sink).option("checkpointLocation", str(folder / "checkpoint"))
    if sink == "parquet":
        writer = writer.option("path", str(folder / "out"))
    query = writer.outputMode("append").trigger(availableNow=True).start()
    while len(query.recentProgress) < warm and query.isActive:
        time.sleep(0.02)
    before, begin, counted = cpu_seconds(), time.monotonic(), len(query.recentProgress)
    query.awaitTermination()
    cpu, wall = cpu_seconds() - before, time.monotonic() - begin
    progress = [each for each in query.recentProgress if each["numInputRows"]]
    triggers = [each["durationMs"]["triggerExecution"] for each in progress]
    return Measured(
        sum(each["numInputRows"] for each in progress[counted:]), wall, cpu, triggers, changelogs(folder / "checkpoint")
    )


def cpu_seconds() -> float:
    """Of this process and all that descend from it, living or gone."""
    total = 0.0
    for pid in [os.getpid(), *descendants()]:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def descendants() -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                parents.setdefault(int(words[1]), []).append(int(entry.name))
    found = list(parents.get(os.getpid(), []))
    for pid in found:
        found.extend(parents.get(pid, []))
    return found


def changelogs(checkpoint: Path) -> list[int]:
    """The bytes that each micro-batch wrote to the state store."""
    sizes: dict[int, int] = {}
    for path in checkpoint.glob("state/0/*/**/*.changelog"):
        version = int(path.name.split(".")[0].split("_")[0])
        sizes[version] = sizes.get(version, 0) + path.stat().st_size
    return [sizes[version] for version in sorted(sizes)]


def ours(spark: Any, folder: Path, shards: int = SHARDS) -> Any:
    return presage.spark.answers(presage.parse(TURBINES), {"temp": stream(spark, folder)}, shards=shards)


def turbines_passed_through(spark: Any, folder: Path, rows: int = 1) -> Any:
    return passed_through(spark, presage.parse(TURBINES, "turbines.psg"), {"temp": stream(spark, folder)}, rows)


def passed_through(spark: Any, program: Any, frames: dict[str, Any], rows: int = 1) -> Any:
    """So many rows for each fact, by the same way."""
    from presage.spark.job import FrameSource, Job
    from presage.spark.packs import Delivery, framed, from_bytes, to_bytes
    from presage.spark.rows import row_schema
    from presage.spark.shard_reasoner import Live
    from presage.spark.streaming import stream_rows

    class Nothing(Live):
        def take(self, delivery: Delivery) -> Iterator[bytes]:
            schema = row_schema(job)
            for _, payload in delivery.payloads:
                table = from_bytes(payload)
                known = {"now": table.column("low"), "time": table.column("low"), "answer": table.column("0")}
                known["status"] = table.column("1" if pa.types.is_string(table.schema.field(1).type) else "0")
                columns = [known.get(each.name, pa.nulls(len(table), each.type)) for each in schema]
                for _ in range(rows):
                    yield framed({}, to_bytes(pa.Table.from_arrays(columns, schema=schema)))
            self.token = delivery.token

        def catch_up(self, delivery: Delivery) -> None:
            self.token = delivery.token

    sources = [(FrameSource(name, len(frame.columns) - 1, ("time",), (0,)), frame) for name, frame in frames.items()]
    job = Job(program, "changes", shards=SHARDS, sources=tuple(source for source, _ in sources), late=False)
    given = [
        (source, frame.selectExpr(*(f"{name} as c{place}" for place, name in enumerate(frame.columns))))
        for source, frame in sources
    ]
    return stream_rows(job, given, live=Nothing)


def per_device(spark: Any, folder: Path) -> Any:
    """The same patterns by hand: state of each device is what is met of its three readings, by their first time."""
    import pandas as pd  # type: ignore[import-untyped]
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

    class Device(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            self.met = handle.getValueState("met", "json string")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            before = self.met.get() if self.met.exists() else None
            met = {} if before is None else json.loads(before[0])
            told = []
            for frame in rows:
                for level, at in zip(frame["level"], frame["time"], strict=True):
                    for first in [first for first in map(int, met) if first + 3 < at]:
                        if met.pop(str(first)) != 7:
                            told.append((at, "refuted", f"malf({key[0]})@{first}"))
                    for bit, first in ((1, at), (2, at - 1), (4, at - 2)) if level == "high" else ():
                        bits = met.get(str(first), 0) | bit
                        if first >= 0 and bits != met.get(str(first)):
                            met[str(first)] = bits
                            told.append((at, "confirmed" if bits == 7 else "possible", f"malf({key[0]})@{first}"))
            self.met.update((json.dumps(met),))
            yield pd.DataFrame(told, columns=["now", "status", "answer"])

        def close(self) -> None:
            """Nothing is open."""

    return (
        stream(spark, folder)
        .groupBy("device")
        .transformWithStateInPandas(Device(), "now long, status string, answer string", "Append", "None")
    )


def write_events(folder: Path, rows: int, batches: int) -> None:
    """Events of some keys, so many at each time."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(1)
    for batch in range(batches):
        numbers = np.arange(batch * rows, (batch + 1) * rows)
        for file, part in enumerate(np.array_split(numbers, FILES)):
            keys = pa.array([f"k{key}" for key in chance.integers(0, KEYS, len(part)).tolist()])
            values = chance.integers(0, 1_000_000, len(part))
            table = pa.table({"k": keys, "v": values, "time": part // PER_TIME})
            parquet.write_table(table, folder / f"{batch:06d}-{file}.parquet")


def counted(frame: Any, text: str = COUNTED) -> Any:
    return presage.spark.answers(presage.parse(text), {"e": frame}, emit="states", shards=SHARDS)


def counted_by_spark(frame: Any, worth: str = "count(*)", apart: str = "60 seconds") -> Any:
    """The same, but that a boundary is in the later window alone, and that facts that are repeated count again."""
    from pyspark.sql import functions as F

    timed = frame.withColumn("ts", F.timestamp_seconds("time"))
    if frame.isStreaming:
        timed = timed.withWatermark("ts", "1 second")
    return timed.groupBy(F.window("ts", "60 seconds", apart), "k").agg(F.expr(worth))


def measure() -> Iterator[Row]:
    folder = Path(tempfile.mkdtemp(prefix="presage-bench-"))
    spark = presage.spark.local_session(CORES, SHARDS, folder / "home")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from _streams(spark, folder)
            yield _state(spark, folder)
            yield from _counts(spark, folder)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _streams(spark: Any, folder: Path) -> Iterator[Row]:
    write_readings(folder / "many", ROWS, BATCHES)
    write_readings(folder / "few", FEW, MANY_BATCHES)
    # Java compiles what runs often while it runs: neither of the two is to pay for that.
    for name, make in (("ours", ours), ("through", turbines_passed_through)):
        run(make(spark, folder / "many"), folder / f"warm-{name}")
    fast = run(ours(spark, folder / "many"), folder / "ours")
    through, twice = (
        run(turbines_passed_through(spark, folder / "many", rows), folder / f"through{rows}") for rows in (1, 2)
    )
    write_readings(folder / "device-many", ROWS, 2)
    by_hand = run(per_device(spark, folder / "device-many"), folder / "device", warm=1)
    note = f"share of {CORES} cores: {fast.share:,.0f} facts/s beside"
    work = f"a stream, {ROWS:,} facts a micro-batch"
    peers = (
        (through, "pass-through, a row each"), (twice, "pass-through, two rows each"), (by_hand, "state per device"),
    )  # fmt: skip
    for each, name in peers:
        yield Row(
            work, f"{fast.rate:,.0f} facts/s", f"{name}, {each.rate:,.0f} facts/s", fast.rate / each.rate,
            f"{note} {each.share:,.0f}, {fast.share / each.share:.2f} times",
        )  # fmt: skip
    small, small_through = (
        statistics.median(run(make(spark, folder / "few"), folder / f"few-{name}", warm=WARM).triggers[WARM:])
        for name, make in (("ours", ours), ("through", turbines_passed_through))
    )
    yield Row(
        f"a micro-batch of {FEW:,} facts", f"{small:.0f} ms", f"pass-through {small_through:.0f} ms",
        small / small_through, "median trigger time",
    )  # fmt: skip


def _state(spark: Any, folder: Path) -> Row:
    """What the same facts write when little and when ten times as much is remembered."""
    text = TURBINES.replace("delay 1.", "delay 1000.")
    found = []
    for index, devices in enumerate((SOME, 10 * SOME)):
        inputs = folder / f"state{index}"
        inputs.mkdir()
        for batch, rows in enumerate([devices, *[SOME // 4] * MANY_BATCHES]):
            names = pa.array([f"wt{number}" for number in range(rows)])
            table = pa.table({"device": names, "level": ["high"] * rows, "time": pa.array(np.full(rows, batch))})
            parquet.write_table(table, inputs / f"{batch:06d}.parquet")
        frame = presage.spark.answers(presage.parse(text), {"temp": stream(spark, inputs, 1)}, shards=SHARDS)
        found.append(sum(run(frame, folder / f"out{index}").written[WARM:]) / MANY_BATCHES)
    few, many = found
    return Row(
        f"state written, {10 * SOME:,} devices remembered", f"{many / 1e3:,.0f} kB a micro-batch",
        f"{SOME:,} devices {few / 1e3:,.0f} kB", many / few, f"{SOME // 4:,} facts each",
    )  # fmt: skip


def _counts(spark: Any, folder: Path) -> Iterator[Row]:
    inputs = folder / "events"
    write_events(inputs, ROWS, BATCHES)
    schema = "k string, v long, time long"
    events = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES).parquet(str(inputs))
    for name, make in (("counted", counted), ("by-spark", counted_by_spark)):
        run(make(events), folder / f"warm-{name}")
    mine, theirs = run(counted(events), folder / "counted"), run(counted_by_spark(events), folder / "by-spark")
    yield Row(
        f"a tumbling count per key, a stream, {ROWS:,} facts a micro-batch", f"{mine.rate:,.0f} facts/s",
        f"groupBy(window), {theirs.rate:,.0f} facts/s", mine.share / theirs.share,
        f"share of {CORES} cores: {mine.share:,.0f} facts/s beside {theirs.share:,.0f}",
    )  # fmt: skip
    yield from _in_batch(spark.read.schema(schema).parquet(str(inputs)))


def _in_batch(table: Any) -> Iterator[Row]:
    """Each beside Spark's own; who is measured has run before."""
    for name, text, theirs, duration in IN_BATCH:
        shares = []
        for make in (partial(counted, table, text), partial(counted_by_spark, table, theirs, duration)):
            _to_nowhere(make())
            before = cpu_seconds()
            _to_nowhere(make())
            shares.append(ROWS * BATCHES / (cpu_seconds() - before) * CORES)
        yield Row(
            f"{name} per key, in batch, {ROWS * BATCHES:,} facts", f"{shares[0]:,.0f} facts/s",
            f"groupBy(window), {shares[1]:,.0f} facts/s", shares[0] / shares[1], f"shares of {CORES} cores",
        )  # fmt: skip


def _to_nowhere(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()
