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
from presage.spark.handing_over import GENERATION, at_work, batch_number, forget, hand_over, hands_over, taken_over
from presage.spark.heirs import restored
from presage.spark.history import left
from presage.spark.idle import clock_of
from presage.spark.job import FrameSource, Job
from presage.spark.packs import NO_SOURCE, PACK, Delivery, clock_packer, packer, time_of
from presage.spark.rows import packed, spark_schema, unpacked
from presage.spark.shard_reasoner import Live, drop, keep, kept
from presage.spark.shown import clock_row, told, told_schema
from presage.spark.tables import beside_tables, held_over

FORMAT = 3
BEFORE = 2
"""The format of version 0.1, which knew no seals. Such a checkpoint goes on, and gets seals as it is written."""
CHUNK = 1 << 20
LEAST_LOG = 1 << 20
"""Bytes of log below which no snapshot is worth its writing."""
PULSE = "open bigint, state bigint, seconds double, clock string, ticks double, aside bigint"
"""How a shard fares: its open answers, the bytes it remembers, how long it worked, its clock, facts left aside."""
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
    parts = [
        frame.mapInArrow(packer(job, index, source, at_work), PACK) for index, (source, frame) in enumerate(frames)
    ]
    if clock is not None:
        place = len(parts) if job.clock_place is None else job.clock_place
        parts.insert(place, clock.mapInArrow(clock_packer(job, at_work), PACK))
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
    fares.append(F.sum("aside").alias("aside"))
    observed = found.observe(OBSERVED, *fares, F.max_by("clock", "ticks").alias("clock"))
    payloads = observed.where("payload is not null").select("payload")
    if job.tells_clock:
        payloads = observed.select("payload", "clock")
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
            for payload in batch.column(0).drop_null():
                for table in told(job, unpacked(job, payload.as_buffer())):
                    yield from table.to_batches()
            clocks = batch.column(1).drop_null().to_pylist() if job.tells_clock else []
            if clocks:
                yield from clock_row(job, max(map(time_of, clocks))).to_batches()
        after_a_task()

    return run


class Shard(StatefulProcessor):
    """What Spark calls for each shard and micro-batch."""

    def __init__(self, job: Job, live: type[Live] = Live) -> None:
        self.given, self.job, self.live = job, job, live
        self.generation = 0
        """Which of the divisions into shards the shard at work is of, counted from the first."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.meta = handle.getValueState("meta", "json string")
        self.log = handle.getMapState("log", "version bigint", "delivery binary")
        self.snapshot = handle.getMapState("snapshot", "part int", "bytes binary")

    def close(self) -> None:
        """Nothing is open."""

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        self.generation, shard = divmod(int(key[0]), GENERATION)
        self.job = self.given.divided(self.generation)
        meta = self._meta()
        place = self._rules_of_batch()
        before = None if meta["clock"] is None else time_of(meta["clock"])
        live = None
        begins, ends = self.generation and not meta["version"], hands_over(self.job, self.generation)
        if begins:
            before, rules, live = taken_over(self.job, self.generation, shard)
            meta |= {"rules": rules, "of": self.job.as_of(rules).fingerprints}
        elif self.job.state is not None and not meta["version"]:
            before, live = left(self.job, shard)
        if self.generation and shard == 0 and meta["version"] == 1:
            forget(self.job, self.generation - 1)  # All shards have written what they have taken over.
        packs = list(rows)
        found = clock_of(self.job, meta, before, packs)
        if found is None and not (begins or ends):
            return
        clock, heard = found or (0, False)
        payloads = tuple(
            sorted((pack["source"], bytes(pack["payload"])) for pack in packs if pack["payload"] is not None)
        )
        firsts = [time_of(pack["first"]) for pack in packs if self.job.idle is None or pack["source"] != NO_SOURCE]
        first = min(firsts, default=clock)
        if self.job.changing:
            payloads += tuple(held_over(self.job, packs[0]["tables"], first if before is None else before, clock))
        if before is not None and clock <= before:
            clock = before
            if not (payloads or begins or ends):
                if meta["clock"] is not None:
                    if heard:
                        self.meta.update((_signed(meta),))
                    yield self._pulse(meta, 0.0)
                return
        begin = perf_counter()
        live = live or self._live(shard, meta)
        live.aside = 0
        drop(live)
        changes = meta["rules"] < place
        while meta["rules"] < place:
            for payload in self._change_rules(live, meta):
                yield _row(payload=payload)
        delivery = Delivery(before, clock, first, self._numbered_for(live.job, payloads), uuid.uuid4().hex)
        for payload in live.take(delivery):
            yield _row(payload=payload)
        meta["open"] = live.open_count
        if ends:
            hand_over(self.job, self.generation, shard, clock, meta["rules"], live)
            meta["clock"] = show_number(clock)
            for state in (self.meta, self.log, self.snapshot):
                state.clear()
        else:
            self._write(meta, live, delivery, anew=bool(changes or begins))
            keep(live)
        after_a_task()
        yield self._pulse(meta, perf_counter() - begin, live.aside)

    def _pulse(self, meta: dict[str, Any], seconds: float, aside: int = 0) -> Row:
        clock, remembered = meta["clock"], meta["log"] + meta["size"]
        ticks = float(time_of(clock))
        return _row(open=meta["open"], state=remembered, seconds=seconds, clock=clock, ticks=ticks, aside=aside)

    def _meta(self) -> dict[str, Any]:
        if not self.meta.exists():
            place = self._rules_of_batch()
            empty = {"version": 0, "clock": None, "since": 0, "log": 0, "size": 0, "parts": 0, "token": "", "open": 0}
            return {"format": FORMAT, "of": self.job.as_of(place).fingerprints, "rules": place, **empty}
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
        # A checkpoint whose rules were never changed says nothing about which they are.
        if (place := meta.setdefault("rules", 0)) < len(self.job.earlier):
            with _damage_told():
                if self.job.as_of(place).fingerprints != meta["of"]:
                    raise ValueError("it was kept under other rules than the checkpoint says")
        else:
            self.job.must_be_same(meta["of"], "the checkpoint")
        return meta

    # -- rules that change ------------------------------------------------------------------------

    def _rules_of_batch(self) -> int:
        """Which rules this micro-batch is under. One that was begun under the rules of before, and may have been told
        to some sinks, comes again under them."""
        if not self.job.earlier:
            return 0
        begins = [*(each.begin for each in self.job.earlier), self.job.begin]
        return max(place for place, begin in enumerate(begins) if begin <= batch_number())

    def _numbered_for(self, job: Job, payloads: tuple[tuple[int, bytes], ...]) -> tuple[tuple[int, bytes], ...]:
        """Payloads with the numbers that their sources have under the rules of a job."""
        if job.sources == self.job.sources:
            return payloads
        numbers = {source.predicate: number for number, source in enumerate(job.sources)}
        names = [source.predicate for source in self.job.sources]
        return tuple((numbers[names[source]], data) for source, data in payloads if names[source] in numbers)

    def _change_rules(self, live: Live, meta: dict[str, Any]) -> Iterator[bytes]:
        """Goes on with the rules that came next; what is told of that."""
        place = meta["rules"] + 1
        job = self.job.as_of(place)
        answers = live.become(job, self._history(meta) if job.backfill else ())
        now = live.now
        meta |= {"rules": place, "of": job.fingerprints}
        meta["turns"] = [*meta.get("turns", []), [place, meta["version"]]]
        if now is not None and answers:
            yield from packed(job, live.shard, [(answers, [])])

    def _history(self, meta: dict[str, Any]) -> Iterator[tuple[Job, Delivery]]:
        """The deliveries that are kept, each with the job that it was made for."""
        turns = meta.get("turns", [])
        for version in range(_first_kept(meta), meta["version"] + 1):
            place = max((rules for rules, last in turns if last < version), default=0)
            with _damage_told():
                yield self.job.as_of(place), Delivery.from_bytes(_only(self.log.getValue((version,))))

    def _live(self, shard: int, meta: dict[str, Any]) -> Live:
        """The shard's reasoner after the last delivery."""
        versions = range(meta["since"] + 1, meta["version"] + 1)
        job = self.job.as_of(meta["rules"])
        live = kept(job, shard)
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
                live = restored(job, shard, b"".join(parts), unsealed)
            else:
                live = self.live(job, shard)
            for delivery in log:
                live.catch_up(delivery)
        return live

    def _write(self, meta: dict[str, Any], live: Live, delivery: Delivery, anew: bool = False) -> None:
        """Writes down what is remembered; `anew`: as a snapshot, whatever it costs."""
        data = delivery.to_bytes()
        meta |= {"version": meta["version"] + 1, "clock": show_number(delivery.clock), "token": delivery.token}
        meta["log"] += len(data)
        # What history left is part of the first snapshot: from then on the checkpoint has everything.
        continues = self.job.state is not None and meta["version"] == 1
        keeps = self.job.history > 0
        is_due = anew or continues or meta["log"] > max(LEAST_LOG, 2 * meta["size"])
        if keeps or not is_due:
            self.log.updateValue((meta["version"],), (data,))
        if is_due:
            blob = live.save()
            parts = [blob[at : at + CHUNK] for at in range(0, len(blob), CHUNK)]
            for part in range(len(parts), meta["parts"]):
                self.snapshot.removeKey((part,))
            for part, piece in enumerate(parts):
                self.snapshot.updateValue((part,), (piece,))
            self._forget(meta)
            meta |= {"since": meta["version"], "log": 0, "size": len(blob), "parts": len(parts), "unsealed": False}
        self.meta.update((_signed(meta),))

    def _forget(self, meta: dict[str, Any]) -> None:
        """Removes the deliveries that the snapshot makes superfluous, but for those that are history: the logs between
        earlier snapshots, each as its first version, the last and its bytes."""
        past = [*meta.get("past", []), [meta["since"] + 1, meta["version"], meta["log"]]]
        # Without a seal, as version 0.1 wrote it, nothing is kept.
        most = 0 if meta.get("unsealed") else self.job.history
        while past and sum(size for _, _, size in past) > most:
            first, last, _ = past.pop(0)
            for version in range(first, last + 1):
                if self.log.containsKey((version,)):
                    self.log.removeKey((version,))
        meta["past"] = past


def _first_kept(meta: dict[str, Any]) -> int:
    """The oldest version whose delivery is there."""
    return int(meta["past"][0][0] if meta.get("past") else meta["since"] + 1)


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
    nothing = dict.fromkeys(("payload", "open", "state", "seconds", "clock", "ticks", "aside"))
    return Row(**{**nothing, **given})


def _only(value: tuple[Any, ...] | None) -> Any:
    """A field of state that the rest of the state says is there."""
    if value is None:
        raise PresageError("the checkpoint lacks a part of what was remembered: it is damaged; start with a new one")
    return bytes(value[0]) if isinstance(value[0], bytearray) else value[0]
