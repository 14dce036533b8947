"""Packs: what crosses the shuffle of a stream. Many rows of one source for one shard, as one piece of Arrow bytes.

Every pack also says up to which time its task has seen facts, of any shard, and a shard for which a task has no facts
gets a pack without any. So each shard learns the greatest time seen anywhere within the same micro-batch: that is
the clock.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa

from presage.io.facts import exact
from presage.io.tables import cells_of
from presage.kernels.arrays import Ints
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.rewrite.units import EPOCH, milliseconds_between
from presage.sealed import is_sealed, opened, sealed
from presage.spark.facts import Marked, mark, units_of
from presage.spark.garbage import after_a_task
from presage.spark.job import FrameSource, Job

PACK = "shard int, source int, first string, last string, payload binary"
_SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("source", pa.int32()),
        ("first", pa.string()),
        ("last", pa.string()),
        ("payload", pa.binary()),
    ]
)
ROWS_IN_A_PACK = 262_144
FAR = 1 << 62
NO_SOURCE = -1
"""A pack that has no facts, of any source."""


InCharge = Callable[[Job], tuple[Job, int]]
"""Gives the job with the shards that take the micro-batch at work, and what the first of these is called in packs."""


def unchanged(job: Job) -> tuple[Job, int]:
    """A job whose shards never were others."""
    return job, 0


def packer(
    job: Job, index: int, source: FrameSource, in_charge: InCharge = unchanged
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        at_work, called = in_charge(job)
        for table in in_portions(batches, ROWS_IN_A_PACK):
            yield _packs(at_work, index, source, table, called)
        after_a_task()

    return run


def in_portions(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Batches joined to tables of at least so many rows, but for the last."""
    gathered: list[Any] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            gathered.append(batch)
            size += batch.num_rows
        if size >= rows:
            yield pa.Table.from_batches(gathered)
            gathered, size = [], 0
    if gathered:
        yield pa.Table.from_batches(gathered)


def _packs(job: Job, index: int, source: FrameSource, table: Any, called: int) -> Any:
    marked = mark(table, source, job)
    first, last = (show_number(each) for each in _ends(marked.arrivals))
    # By arrival within a shard, so that there is less to do where everybody waits for the shard.
    order = _by_shard_and_arrival(marked)
    ordered = marked.table.take(pa.array(order)).combine_chunks()
    edges = np.searchsorted(marked.shards[order], np.arange(job.shards + 1))
    payloads = [
        to_bytes(ordered.slice(start, stop - start)) if stop > start else None
        for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return _to_all(job, index, first, last, payloads, called)


def _by_shard_and_arrival(marked: Marked) -> Ints:
    arrivals, shards = units_of(marked.arrivals), marked.shards
    first, last = (int(arrivals.min()), int(arrivals.max())) if len(arrivals) else (0, 0)
    if (last - first + 1) * (int(shards.max(initial=0)) + 1) > FAR:
        return np.lexsort((arrivals, shards))
    order: Ints = np.argsort(shards.astype(np.int64) * (last - first + 1) + (arrivals - first), kind="stable")
    return order


def clock_packer(job: Job, in_charge: InCharge = unchanged) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The same for a column of times without facts."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        at_work, called = in_charge(job)
        for batch in batches:
            cells = [cell for cell in cells_of(batch.column(0), "the clock") if cell is not None]
            if cells:
                first, last = (_clock_time(job, cell) for cell in (min(cells), max(cells)))
                nothing: list[bytes | None] = [None] * at_work.shards
                yield _to_all(at_work, NO_SOURCE, show_number(first), show_number(last), nothing, called)

    return run


def _clock_time(job: Job, cell: Any) -> Number:
    """A time of the clock's stream: of the program, or where it only says how long it is silent, in milliseconds."""
    if job.idle is not None:
        return math.floor(milliseconds_between(EPOCH, cell if cell.tzinfo else cell.replace(tzinfo=UTC)))
    return _on_timeline(job, cell)


def _on_timeline(job: Job, cell: Any) -> Number:
    time = max(0, job.checker.time(cell, "the clock"))
    return math.floor(time) if job.discrete else time


def _to_all(job: Job, index: int, first: str, last: str, payloads: list[bytes | None], called: int) -> Any:
    size = job.shards
    columns = [
        pa.array(np.arange(called, called + size, dtype=np.int32)),
        pa.array(np.full(size, index, np.int32)),
        pa.array([first] * size),
        pa.array([last] * size),
        pa.array(payloads, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _ends(arrivals: list[Number] | Ints) -> tuple[Number, Number]:
    if isinstance(arrivals, np.ndarray):
        return int(arrivals.min()), int(arrivals.max())
    return min(arrivals), max(arrivals)


def to_bytes(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    # A task has one core: more threads would only wait for each other.
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def from_bytes(payload: bytes) -> Any:
    with pa.ipc.open_stream(payload, options=pa.ipc.IpcReadOptions(use_threads=False)) as reader:
        return reader.read_all()


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one micro-batch brings to a shard. The same delivery moves a reasoner in the same way, so that a list of
    deliveries is a log to rebuild it from."""

    before: Number | None
    """The clock before it."""
    clock: Number
    first: Number
    payloads: tuple[tuple[int, bytes], ...]
    """Marked tables, each with the number of its source."""
    token: str
    """Tells deliveries apart: a reasoner that has taken one that was never committed must not go on."""

    def to_bytes(self) -> bytes:
        header = {
            "before": None if self.before is None else show_number(self.before),
            "clock": show_number(self.clock),
            "first": show_number(self.first),
            "token": self.token,
            "sources": [[source, len(payload)] for source, payload in self.payloads],
        }
        return kept_as("delivery", header, b"".join(payload for _, payload in self.payloads))

    @staticmethod
    def from_bytes(data: bytes, unsealed: bool = False) -> Delivery:
        header, body = taken_from("delivery", data, "a delivery in the checkpoint", unsealed)
        payloads, at = [], 0
        for source, size in header["sources"]:
            payloads.append((source, body[at : at + size]))
            at += size
        before = None if header["before"] is None else time_of(header["before"])
        clock, first = time_of(header["clock"]), time_of(header["first"])
        return Delivery(before, clock, first, tuple(payloads), header["token"])


KEPT = 1
"""The version of what is kept in state and files."""


def kept_as(kind: str, header: dict[str, Any], body: bytes) -> bytes:
    """What outlives a micro-batch: under a seal."""
    return sealed(kind, KEPT, framed(header, body))


def taken_from(kind: str, data: bytes, what: str, unsealed: bool = False) -> tuple[dict[str, Any], Any]:
    """The header and the body again. What version 0.1 kept has no seal."""
    if unsealed and not is_sealed(data):
        return unframed(data)
    return unframed(opened(kind, range(1, KEPT + 1), data, what)[1])


def framed(header: dict[str, Any], body: bytes) -> bytes:
    head = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<I", len(head)) + head + body


def unframed(data: Any) -> tuple[dict[str, Any], Any]:
    (size,) = struct.unpack_from("<I", data)
    return json.loads(bytes(data[4 : 4 + size])), data[4 + size :]


def time_of(text: str) -> Number:
    found = exact(text)
    assert found is not None
    return found
