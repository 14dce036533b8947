"""A program over DataFrames that stream: one stateful operator, which holds a reasoner for each shard.

State of a shard is a log: each micro-batch appends its delivery (the Arrow bytes that came), so that what is written
is as much as what arrived. When the log outgrows the last snapshot of the reasoner, a new snapshot takes its place.
A worker that has no reasoner of the shard, or an older one, makes it from snapshot and log.
"""

from __future__ import annotations

import json
import struct
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from time import perf_counter
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from presage.errors import PresageError
from presage.model.printer import show_number
from presage.sealed import StateError
from presage.spark.garbage import after_a_task
from presage.spark.history import left
from presage.spark.job import FrameSource, Job
from presage.spark.packs import PACK, Delivery, clock_packer, packer, time_of
from presage.spark.rows import spark_schema, unpacked
from presage.spark.shard_reasoner import Live, drop, keep, kept
from presage.spark.shown import told, told_schema
from presage.spark.tables import beside_tables, held_over

FORMAT = 3
BEFORE = 2
"""The format of version 0.1, which knew no seals. Such a checkpoint goes on, and gets seals as it is written."""
CHUNK = 1 << 20
LEAST_LOG = 1 << 20
"""Bytes of log below which no snapshot is worth its writing."""
PULSE = "open bigint, state bigint, seconds double, clock string, ticks double"
"""How a shard fares: its open answers, the bytes it remembers, how long it worked, its clock."""
OBSERVED = "presage_shards"
"""The name under which Spark's progress tells how the shards fare."""
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def stream_rows(
    job: Job,
    frames: list[tuple[FrameSource, DataFrame]],
    clock: DataFrame | None = None,
    tables: list[tuple[int, FrameSource, DataFrame]] | None = None,
    live: type[Live] = Live,
) -> DataFrame:
    """Rows of answers and of late facts. `clock` has times that move the clock, and no facts; `tables` change while the
    stream runs. `live` is what each shard has at work."""
    spark = frames[0][1].sparkSession
    _prepare(spark, job.shards)
    parts = [frame.mapInArrow(packer(job, index, source), PACK) for index, (source, frame) in enumerate(frames)]
    if clock is not None:
        parts.append(clock.mapInArrow(clock_packer(job), PACK))
    packs = reduce(DataFrame.union, parts)
    if tables:
        packs = beside_tables(job, packs, tables)
    found = packs.groupBy("shard").transformWithState(
        statefulProcessor=Shard(job, live),
        outputStructType=f"payload binary, {PULSE}",
        outputMode="Append",
        timeMode="None",
    )
    fares = [F.sum("open").alias("open"), F.sum("state").alias("state"), F.max("seconds").alias("seconds")]
    observed = found.observe(OBSERVED, *fares, F.max_by("clock", "ticks").alias("clock"))
    payloads = observed.where("payload is not null").select("payload")
    return payloads.mapInArrow(_unpack(job), spark_schema(told_schema(job)))


def _prepare(spark: Any, shards: int) -> None:
    if not str(spark.conf.get(PROVIDER, "")).endswith("RocksDBStateStoreProvider"):
        spark.conf.set(PROVIDER, ROCKS)  # The operator runs with no other.
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions", "200"))
    if partitions > 4 * shards:
        warnings.warn(
            f"spark.sql.shuffle.partitions is {partitions}, and the stream has {shards} shards: most tasks of a "
            f"micro-batch will have nothing to do. Set it to about {shards} before the stream first starts.",
            stacklevel=4,
        )


def _unpack(job: Job) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for payload in batch.column(0):
                for table in told(job, unpacked(job, payload.as_buffer())):
                    yield from table.to_batches()
        after_a_task()

    return run


class Shard(StatefulProcessor):
    """What Spark calls for each shard and micro-batch."""

    def __init__(self, job: Job, live: type[Live] = Live) -> None:
        self.job, self.live = job, live

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.meta = handle.getValueState("meta", "json string")
        self.log = handle.getMapState("log", "version bigint", "delivery binary")
        self.snapshot = handle.getMapState("snapshot", "part int", "bytes binary")

    def close(self) -> None:
        """Nothing is open."""

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        shard = int(key[0])
        meta = self._meta()
        before = None if meta["clock"] is None else time_of(meta["clock"])
        live = None
        if self.job.state is not None and not meta["version"]:
            before, live = left(self.job, shard)
        packs = list(rows)
        clock = max(time_of(pack["last"]) for pack in packs)
        payloads = tuple(
            sorted((pack["source"], bytes(pack["payload"])) for pack in packs if pack["payload"] is not None)
        )
        first = min(time_of(pack["first"]) for pack in packs)
        if self.job.changing:
            payloads += tuple(held_over(self.job, packs[0]["tables"], first if before is None else before, clock))
        if before is not None and clock <= before:
            clock = before
            if not payloads:
                if meta["clock"] is not None:
                    yield self._pulse(meta, 0.0)
                return
        begin = perf_counter()
        live = live or self._live(shard, meta)
        drop(live)
        delivery = Delivery(before, clock, first, payloads, uuid.uuid4().hex)
        for payload in live.take(delivery):
            yield _row(payload=payload)
        supposing = live.reasoner.supposing
        meta["open"] = 0 if supposing is None else supposing.open_count
        self._write(meta, live, delivery)
        keep(live)
        after_a_task()
        yield self._pulse(meta, perf_counter() - begin)

    def _pulse(self, meta: dict[str, Any], seconds: float) -> Row:
        clock, remembered = meta["clock"], meta["log"] + meta["size"]
        return _row(open=meta["open"], state=remembered, seconds=seconds, clock=clock, ticks=float(time_of(clock)))

    def _meta(self) -> dict[str, Any]:
        now = self.job.fingerprints
        if not self.meta.exists():
            empty = {"version": 0, "clock": None, "since": 0, "log": 0, "size": 0, "parts": 0, "token": "", "open": 0}
            return {"format": FORMAT, "of": now, **empty}
        with _damage_told():
            meta = _unsigned(_only(self.meta.get()))
            format = meta["format"]
        if format not in (BEFORE, FORMAT):
            raise PresageError(
                f"the checkpoint was written by another version of Presage (format {format}; this one reads {BEFORE} "
                f"and {FORMAT}): go on with that version, or start with a new checkpoint"
            )
        if format == BEFORE:
            meta |= {"format": FORMAT, "unsealed": True}
        self.job.must_be_same(meta["of"], "the checkpoint")
        return meta

    def _live(self, shard: int, meta: dict[str, Any]) -> Live:
        """The shard's reasoner after the last delivery."""
        versions = range(meta["since"] + 1, meta["version"] + 1)
        live = kept(self.job, shard)
        if live is not None and live.token == meta["token"] and meta["version"]:
            return live
        with _damage_told():
            unsealed = bool(meta.get("unsealed"))
            log = [Delivery.from_bytes(_only(self.log.getValue((version,))), unsealed) for version in versions]
            tokens = [delivery.token for delivery in log]
            if live is not None and live.token in tokens:
                log = log[tokens.index(live.token) + 1 :]
                drop(live)
            elif meta["parts"]:
                parts = [_only(self.snapshot.getValue((part,))) for part in range(meta["parts"])]
                live = Live.restore(self.job, shard, b"".join(parts), unsealed)
            else:
                live = self.live(self.job, shard)
            for delivery in log:
                live.catch_up(delivery)
        return live

    def _write(self, meta: dict[str, Any], live: Live, delivery: Delivery) -> None:
        data = delivery.to_bytes()
        meta |= {"version": meta["version"] + 1, "clock": show_number(delivery.clock), "token": delivery.token}
        meta["log"] += len(data)
        # What history left is part of the first snapshot: from then on the checkpoint has everything.
        continues = self.job.state is not None and meta["version"] == 1
        if continues or meta["log"] > max(LEAST_LOG, 2 * meta["size"]):
            blob = live.save()
            parts = [blob[at : at + CHUNK] for at in range(0, len(blob), CHUNK)]
            for part in range(len(parts), meta["parts"]):
                self.snapshot.removeKey((part,))
            for part, piece in enumerate(parts):
                self.snapshot.updateValue((part,), (piece,))
            for version in range(meta["since"] + 1, meta["version"]):
                self.log.removeKey((version,))
            meta |= {"since": meta["version"], "log": 0, "size": len(blob), "parts": len(parts), "unsealed": False}
        else:
            self.log.updateValue((meta["version"],), (data,))
        self.meta.update((_signed(meta),))


def _signed(meta: dict[str, Any]) -> str:
    """Plain values as text, with a checksum after it."""
    text = json.dumps(meta)
    return f"{text} {zlib.crc32(text.encode()):08x}"


def _unsigned(given: str) -> dict[str, Any]:
    text, checksum = given[:-9], given[-9:]
    if given.endswith("}"):  # as version 0.1 wrote it
        text = given
    elif checksum != f" {zlib.crc32(text.encode()):08x}":
        raise ValueError("its checksum does not fit")
    found: dict[str, Any] = json.loads(text)
    return found


@contextmanager
def _damage_told() -> Iterator[None]:
    """State that cannot be read, in words."""
    try:
        yield
    except StateError as found:
        raise PresageError(f"the checkpoint is damaged: {found}") from None
    except PresageError:
        raise
    except (ValueError, KeyError, TypeError, struct.error, zlib.error, EOFError, OSError, AssertionError) as found:
        raise PresageError(
            f"the checkpoint is damaged: what was remembered cannot be read ({type(found).__name__}: {found}). Restore "
            "it from a copy, or start with a new one"
        ) from None


def _row(**given: Any) -> Row:
    """What leaves for the next operator: a payload, or how the shard fares."""
    nothing = dict.fromkeys(("payload", "open", "state", "seconds", "clock", "ticks"))
    return Row(**{**nothing, **given})


def _only(value: tuple[Any, ...] | None) -> Any:
    """A field of state that the rest of the state says is there."""
    if value is None:
        raise PresageError("the checkpoint lacks a part of what was remembered: it is damaged; start with a new one")
    return bytes(value[0]) if isinstance(value[0], bytearray) else value[0]
