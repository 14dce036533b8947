"""A shard that has taken over from shards that a stream had before it was divided otherwise.

What a reasoner remembers is about many keys, and no engine takes it apart. It need not: facts with different keys never
meet. So a new shard goes on with the reasoners of those that had keys of its own, whole. Each takes the facts, and
tells the answers, of the keys that are this shard's and were its own. What it remembers of other keys gets no facts any
more, another shard tells it, and it is forgotten in time like everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np
import pyarrow as pa

from presage.answers import Answer, Answers, shown_name
from presage.checking import Report
from presage.io.facts import Fact
from presage.model.terms import Number
from presage.run.packed import PackedAnswers
from presage.spark.facts import KEY_STEP, ArrivedTogether, key_hashes, value_hash
from presage.spark.job import Job
from presage.spark.packs import Delivery, from_bytes, kept_as, taken_from, to_bytes
from presage.spark.rows import ToldSteps
from presage.spark.shard_reasoner import Live

Share = tuple[int, int]
"""A number of shards, and one of these: the keys that it has among so many."""


@dataclass(slots=True)
class Inheritance:
    """A reasoner of before, and the keys that it still has: those of all these shares."""

    live: Live
    shares: tuple[Share, ...]

    @property
    def has_strangers(self) -> bool:
        """Whether it remembers keys that it has no longer: its first share is what it began with."""
        return any(self.shares[0][0] % number for number, _ in self.shares[1:])

    def has(self, hashes: Any) -> Any:
        """Which keys are its own, by their hashes."""
        own = np.ones(len(hashes), bool)
        for number, shard in self.shares:
            own &= hashes % np.uint64(number) == np.uint64(shard)
        return own

    def own_facts(self, given: Delivery) -> Delivery:
        """Its part of a delivery."""
        payloads = []
        for source, payload in given.payloads:
            table = self._own_rows(source, from_bytes(payload))
            if table.num_rows:
                payloads.append((source, to_bytes(table)))
        return Delivery(given.before, given.clock, given.first, tuple(payloads), given.token)

    def _own_rows(self, source: int, table: Any) -> Any:
        job = self.live.job
        return table.filter(pa.array(self.has(key_hashes(table, job.sources[source], job.checker))))

    def own_waiting(self) -> None:
        """Forgets the facts of others that wait for the clock, so that nobody is told twice that they are late."""
        waiting = self.live.waiting
        for time, parts in list(waiting.items()):
            waiting[time] = [self._own_part(part) for part in parts]

    def _own_part(self, part: ArrivedTogether) -> ArrivedTogether:
        if not isinstance(part, list):
            return part[0], self._own_rows(*part)
        job = self.live.job
        sources = {source.predicate: source for source in job.sources}
        hashes = [hash_of(tuple(fact.arguments[place] for place in sources[fact.predicate].key)) for fact in part]
        return [fact for fact, own in zip(part, self.has(np.array(hashes, np.uint64)), strict=True) if own]

    def own_answers(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        places = key_places(self.live.job.report)
        if isinstance(answers, Answers) and isinstance(answers.columns, PackedAnswers):
            packed, parts = answers.columns, []
            for rows in packed.parts:
                key = rows.keys[:, list(places[rows.shape.name])]
                distinct, which = np.unique(key, axis=0, return_inverse=True)
                hashes = [hash_of(tuple(packed.values[each] for each in row)) for row in distinct.tolist()]
                parts.append(rows.chosen(self.has(np.array(hashes, np.uint64))[which.reshape(-1)]))
            own = PackedAnswers(packed.teller, parts, packed.values)
            return Answers(sum(map(len, parts)), own.answers, own)
        everywhere = self.live.job.everywhere
        hashes = [
            0 if each.predicate in everywhere else hash_of(tuple(each.arguments[at] for at in places[each.predicate]))
            for each in answers
        ]
        own_keys = self.has(np.array(hashes, np.uint64))
        return [each for each, own in zip(answers, own_keys, strict=True) if own or each.predicate in everywhere]


class Heir(Live):
    """A shard whose keys were those of others."""

    def __init__(self, job: Job, shard: int, parts: list[Inheritance]) -> None:
        self.job, self.shard, self.parts, self.token = job, shard, parts, ""
        for part in parts:
            part.live.job, part.live.shard = job, shard

    @classmethod
    def taking_over(cls, job: Job, shard: int, lives: Iterable[tuple[int, Live]], before: int) -> Heir:
        """The shard of now that takes over from some of those of `before`."""
        parts: list[Inheritance] = []
        for number, live in lives:
            own = live.parts if isinstance(live, Heir) else [Inheritance(live, ((before, number),))]
            parts += [Inheritance(part.live, (*part.shares, (job.shards, shard))) for part in own]
        found = cls(job, shard, [part for part in parts if _may_have_keys(part.shares)])
        for part in found.parts:
            if part.has_strangers:
                part.own_waiting()
        return found

    @property
    def open_count(self) -> int:
        return sum(part.live.open_count for part in self.parts)

    @property
    def now(self) -> Number | None:
        return self.parts[0].live.now

    def steps(self, delivery: Delivery, chosen: Callable[[Fact], bool] | None = None) -> ToldSteps:
        for place, part in enumerate(self.parts):
            own = part.own_facts(delivery) if len(self.parts) > 1 else delivery
            for answers, late in part.live.steps(own, chosen):
                yield self._told(place, part, answers), late
            self.aside, part.live.aside = self.aside + part.live.aside, 0
        self.token = delivery.token

    def _told(self, place: int, part: Inheritance, answers: Sequence[Answer]) -> Sequence[Answer]:
        if not answers:
            return answers
        if part.has_strangers:
            answers = part.own_answers(answers)
        if place and self.job.everywhere:
            return [each for each in answers if each.predicate not in self.job.everywhere]
        return answers

    def become(self, job: Job, history: Iterable[tuple[Job, Delivery]]) -> Sequence[Answer]:
        past = list(history)
        found: list[Answer] = []
        for place, part in enumerate(self.parts):
            own = []
            for then, delivery in past:
                part.live.job, now = then, part.live.job
                own.append((then, part.own_facts(delivery)))
                part.live.job = now
            closing = part.live.become(job, own)
            found += self._told(place, part, closing)
        self.job = job
        return found

    def save(self) -> bytes:
        bodies = [part.live.save() for part in self.parts]
        sizes = [[list(map(list, part.shares)), len(body)] for part, body in zip(self.parts, bodies, strict=True)]
        return kept_as("shard", {"token": self.token, "parts": sizes}, b"".join(bodies))


def restored(job: Job, shard: int, blob: bytes, unsealed: bool = False) -> Live:
    """A shard as it was saved."""
    header, body = taken_from("shard", blob, f"what shard {shard} remembers", unsealed)
    if "parts" not in header:
        return Live.again(job, shard, header, body)
    parts: list[Inheritance] = []
    at = 0
    for shares, size in header["parts"]:
        live = restored(job, shard, bytes(body[at : at + size]))
        parts.append(Inheritance(live, tuple((int(number), int(share)) for number, share in shares)))
        at += size
    found = Heir(job, shard, parts)
    found.token = header["token"]
    return found


def cannot_be_divided(report: Report) -> list[str]:
    """The queries whose answers do not say whose key they are about, so that no shard could tell its own only."""
    assert report.findings is not None
    known = key_places(report).keys() | report.findings.partition.everywhere
    return sorted(
        {
            shown_name(query.atom.predicate)
            for query in report.findings.watched.queries
            if query.atom.predicate not in known
        }
    )


def key_places(report: Report) -> dict[str, tuple[int, ...]]:
    """Which arguments of a predicate are the key that its facts are divided by."""
    assert report.findings is not None
    return dict(report.findings.partition.places)


def _may_have_keys(shares: tuple[Share, ...]) -> bool:
    return all((one - other) % gcd(number, among) == 0 for number, one in shares for among, other in shares)


@lru_cache(maxsize=1 << 16)
def hash_of(key: tuple[Any, ...]) -> int:
    """As the key's row is hashed where it is read."""
    found = np.zeros(1, np.uint64)
    for value in key:
        found = found * KEY_STEP + value_hash(value)
    return int(found[0])
