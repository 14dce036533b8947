"""A shard's reasoner at work in a stream, and how it is found again.

It takes deliveries, one for each micro-batch. A fact arrives at its own time, or at the clock's time before the
delivery if that was later; so arrival, and with it lateness, is judged per fact. Steps lie before the clock: at the
clock's own time more may still come, in the next micro-batch, and a step cannot be taken back. Hence the same facts
give the same confirmed answers however the stream is cut.

Rebuilding a reasoner at every micro-batch would cost more than reasoning, so workers keep theirs, each with the token
of its last delivery. Spark may give a shard to any worker, and may run a task again; the tokens in the state say how
far a kept reasoner is, and whether it is one at all.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from presage.answers import Answer
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.reasoner import Reasoner
from presage.spark.facts import Block
from presage.spark.job import Job, read, written
from presage.spark.packs import Delivery, framed, from_bytes, time_of, unframed
from presage.stepping import Arrival, walk

MOST_KEPT = 64


class Live:
    """A reasoner, the facts that wait for the clock to pass them, and the delivery it has taken last."""

    def __init__(self, job: Job, shard: int) -> None:
        self.job, self.shard = job, shard
        self.reasoner = job.reasoner()
        self.waiting: dict[Number, list[Fact]] = {}
        self.tables: dict[Number, list[Columns]] = {}
        """The same, for facts that came by the table."""
        self.token = ""

    def take(self, delivery: Delivery) -> tuple[list[Answer], list[tuple[Fact, Number]]]:
        """The answers that change by a delivery, and the facts that came too late."""
        for source, payload in delivery.payloads:
            self._take(Block(from_bytes(payload), self.job.sources[source], self.job), delivery.before)
        times = {time for time in (*self.waiting, *self.tables) if time < delivery.clock}
        if delivery.before is None and delivery.first < delivery.clock:
            times.add(delivery.first)
        arrivals = [Arrival(time, self.waiting.pop(time, ()), self.tables.pop(time, ())) for time in sorted(times)]
        found: list[Answer] = []
        late: list[tuple[Fact, Number]] = []
        for answers in walk(self.reasoner, arrivals, delivery.clock, closed=False):
            found.extend(self.job.told(self.shard, answers))
            assert self.reasoner.now is not None
            late.extend((fact, self.reasoner.now) for fact in self.reasoner.late)
            self.reasoner.late.clear()
        self.token = delivery.token
        return found, late

    def _take(self, block: Block, before: Number | None) -> None:
        """Sorts the facts of a block by when they arrive."""
        least = before if before is not None else 0
        by_time: dict[Number, Any] = {}
        if block.discrete:
            arrivals = np.maximum(np.array(block.arrivals, np.int64), int(least))
            order = np.argsort(arrivals, kind="stable")
            edges = np.flatnonzero(np.diff(arrivals[order])) + 1
            by_time = {int(arrivals[rows[0]]): rows for rows in np.split(order, edges) if len(rows)}
        else:
            for row, arrival in enumerate(block.arrivals):
                by_time.setdefault(max(arrival, least), []).append(row)
            by_time = {time: np.array(rows) for time, rows in by_time.items()}
        for time, rows in by_time.items():
            taken = block.take(rows)
            if isinstance(taken, Columns):
                self.tables.setdefault(time, []).append(taken)
            else:
                self.waiting.setdefault(time, []).extend(taken)

    def save(self) -> bytes:
        held = {time: list(facts) for time, facts in self.waiting.items()}
        for time, tables in self.tables.items():
            held.setdefault(time, []).extend(fact for table in tables for fact in table.facts())
        waiting = [[show_number(time), [_written(fact) for fact in held[time]]] for time in sorted(held)]
        return framed({"token": self.token, "waiting": waiting}, self.reasoner.save())

    @staticmethod
    def restore(job: Job, shard: int, blob: bytes) -> Live:
        header, body = unframed(blob)
        live = Live.__new__(Live)
        live.job, live.shard, live.token = job, shard, header["token"]
        live.reasoner = Reasoner.restore(job.report.program, body, job.choice)
        live.tables = {}
        live.waiting = {time_of(time): [_read(fact) for fact in facts] for time, facts in header["waiting"]}
        return live


def _written(fact: Fact) -> list[Any]:
    times = [None if time is None else show_number(time) for time in (fact.low, fact.high, fact.arrives)]
    return [fact.predicate, [written(value) for value in fact.arguments], times, fact.closed_low, fact.closed_high]


def _read(saved: list[Any]) -> Fact:
    name, arguments, times, closed_low, closed_high = saved
    low, high, arrives = (None if time is None else time_of(time) for time in times)
    return Fact(name, tuple(map(read, arguments)), low, high, closed_low, closed_high, arrives)


_kept: OrderedDict[tuple[Any, ...], Live] = OrderedDict()


def kept(job: Job, shard: int) -> Live | None:
    """The reasoner this worker has of a shard, if it has one."""
    return _kept.get(_key(job, shard))


def keep(live: Live) -> None:
    key = _key(live.job, live.shard)
    _kept[key] = live
    _kept.move_to_end(key)
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)


def drop(live: Live) -> None:
    """Forgets a reasoner while it takes a delivery: should that fail, it is in no known state."""
    _kept.pop(_key(live.job, live.shard), None)


def _key(job: Job, shard: int) -> tuple[Any, ...]:
    return *job.fingerprints.values(), shard
