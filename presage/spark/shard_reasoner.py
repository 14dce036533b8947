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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from presage.analysis.predicates import Predicate
from presage.answers import Answer
from presage.io.facts import Fact
from presage.io.reading_back import fact_again, fact_saved
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.run.hot_keys import KeyBudget, key_places
from presage.run.layers import Layer
from presage.run.reasoner import Reasoner
from presage.run.saving import fingerprint_of
from presage.run.schedule import Arrival, strides, told_late
from presage.spark.facts import ArrivedTogether, arrival_of, by_arrival
from presage.spark.job import Job
from presage.spark.packs import Delivery, from_bytes, kept_as, taken_from, time_of, to_bytes
from presage.spark.rows import ToldSteps, packed

MOST_KEPT = 64


class Live:
    """A reasoner, the facts that wait for the clock to pass them, and the delivery it has taken last."""

    aside = 0
    """How many facts of hot keys were left aside since somebody looked."""

    def __init__(self, job: Job, shard: int) -> None:
        self.job, self.shard = job, shard
        self.reasoner = job.reasoner()
        self.waiting: dict[Number, list[ArrivedTogether]] = {}
        self.token = ""

    @property
    def open_count(self) -> int:
        """How many answers are open."""
        return self.reasoner.open_count

    @property
    def now(self) -> Number | None:
        """The time of the last step."""
        return self.reasoner.now

    def take(self, delivery: Delivery) -> Iterator[bytes]:
        """The answers that change by a delivery, and the facts that came too late, for `unpacked`. To be used up."""
        return packed(self.job, self.shard, self.steps(delivery))

    def catch_up(self, delivery: Delivery) -> None:
        """Takes a delivery whose answers were told already."""
        for _ in self.steps(delivery):
            pass

    def steps(self, delivery: Delivery, chosen: Callable[[Fact], bool] | None = None) -> ToldSteps:
        """For each step its answers, and the facts that came too late. To be used up. If facts are `chosen`, others are
        passed over."""
        job, reasoner = self.job, self.reasoner
        tables = [(source, from_bytes(payload)) for source, payload in delivery.payloads]
        for time, part in by_arrival(job, tables, delivery.before if delivery.before is not None else 0):
            if chosen is not None:
                part = [fact for fact in _one_by_one(job, time, [part]) if chosen(fact)]
            self.waiting.setdefault(time, []).append(part)
        times = {time for time in self.waiting if time < delivery.clock}
        if delivery.before is None and delivery.first < delivery.clock:
            times.add(delivery.first)
        arrivals = (arrival_of(job, time, self.waiting.pop(time, ())) for time in sorted(times))
        if job.most_per_key is not None:
            budget = KeyBudget(job.most_per_key, key_places(job.report))
            arrivals = (self._within(budget, arrival) for arrival in arrivals)
        for answers in strides(reasoner, arrivals, delivery.clock, closed=False):
            yield answers, told_late(reasoner)
        self.token = delivery.token

    def _within(self, budget: KeyBudget, arrival: Arrival) -> Arrival:
        found = budget.within(arrival)
        self.aside += len(budget.taken_aside())
        return found

    def become(self, job: Job, history: Iterable[tuple[Job, Delivery]]) -> Sequence[Answer]:
        """Goes on with the rules of another job; gives the last lines of what is gone, and what new queries say of
        history: deliveries, each with the job of then."""
        known = job.checker.predicates

        def fed(layer: Layer, now: Number | None) -> Iterator[Answer]:
            def wanted(fact: Fact) -> bool:
                return fact.predicate in layer.reads and _fits(fact, known)

            past = Live.__new__(Live)
            past.job, past.shard, past.reasoner, past.waiting, past.token = job, self.shard, layer.reasoner, {}, ""
            for then, delivery in history:
                layer.begin = None
                past.job = then
                for answers, _ in past.steps(delivery, wanted):
                    yield from layer.told(answers)

        static: dict[str, list[tuple[Any, ...]]] = {}
        for predicate, arguments in job.static:
            static.setdefault(predicate, []).append(arguments)
        if fingerprint_of(self.reasoner.program) == fingerprint_of(job.report.program):
            answers: Sequence[Answer] = []
        else:
            answers = self.reasoner.become(job.report.program, static, fed)
        # Sources may have other columns now.
        self.waiting = {
            time: [[fact for fact in _one_by_one(self.job, time, parts) if _fits(fact, known)]]
            for time, parts in self.waiting.items()
        }
        self.job = job
        return answers

    def save(self) -> bytes:
        facts: list[Any] = []
        tables: list[list[Any]] = []
        bodies: list[bytes] = []
        for time in sorted(self.waiting):
            for part in self.waiting[time]:
                if isinstance(part, list):
                    facts.append([show_number(time), [fact_saved(fact) for fact in part]])
                else:
                    bodies.append(to_bytes(part[1]))
                    tables.append([show_number(time), part[0], len(bodies[-1])])
        header = {"token": self.token, "facts": facts, "tables": tables}
        return kept_as("shard", header, b"".join([*bodies, self.reasoner.save(standing=False)]))

    @classmethod
    def restore(cls, job: Job, shard: int, blob: bytes, unsealed: bool = False) -> Live:
        return cls.again(job, shard, *taken_from("shard", blob, f"what shard {shard} remembers", unsealed))

    @classmethod
    def again(cls, job: Job, shard: int, header: dict[str, Any], body: Any) -> Live:
        """What was saved, out of its seal."""
        live = cls.__new__(cls)
        live.job, live.shard, live.token = job, shard, header["token"]
        live.waiting = {}
        for time, facts in header["facts"]:
            live.waiting.setdefault(time_of(time), []).append([fact_again(fact) for fact in facts])
        at = 0
        for time, source, size in header["tables"]:
            live.waiting.setdefault(time_of(time), []).append((source, from_bytes(body[at : at + size])))
            at += size
        live.reasoner = Reasoner.restore(job.report.program, body[at:], job.choice)
        return live


def _one_by_one(job: Job, time: Number, parts: Sequence[ArrivedTogether]) -> Iterator[Fact]:
    arrival = arrival_of(job, time, parts)
    yield from arrival.facts
    for table in arrival.tables:
        yield from table.facts()


def _fits(fact: Fact, known: Mapping[str, Predicate]) -> bool:
    """Whether it is a fact of an input of these predicates."""
    return fact.predicate in known and known[fact.predicate].takes(len(fact.arguments))


_kept: OrderedDict[tuple[Any, ...], Live] = OrderedDict()


def kept(job: Job, shard: int) -> Live | None:
    """The reasoner this worker has of a shard, if it has one."""
    found = _kept.get(_key(job, shard))
    if found is not None:
        found.job = job  # What is told, and how, may differ between runs that go on from one another.
    return found


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
