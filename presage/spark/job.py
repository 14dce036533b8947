"""What every worker of a run on Spark must know, small enough to be sent to it: the program, its emission, its shards.

A job holds the program itself and plain values, since a worker is another process, on another machine perhaps. What is
costly to make of them (the check of a program) is made once in a worker and kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from presage.answers import Answer
from presage.checking import Report, check_program
from presage.errors import PresageError, Source
from presage.io.facts import Checker, Fact
from presage.model.program import Program
from presage.model.terms import Value
from presage.run.choice import ALL, Choice
from presage.run.packed import Teller
from presage.run.reasoner import Reasoner
from presage.run.saving import fingerprint_of


@dataclass(frozen=True, slots=True)
class FrameSource:
    """Which columns one DataFrame has, in the order in which they are selected from it."""

    predicate: str
    arguments: int
    when: tuple[str, ...]
    """`time`, or `from`, `to`, `bounds`; and `arrives`: the columns after those of the arguments."""
    key: tuple[int, ...]
    """The positions of the arguments the stream is sharded on."""

    @property
    def spans(self) -> bool:
        return "from" in self.when

    @property
    def arrives(self) -> bool:
        return "arrives" in self.when

    def stays_table(self, job: Job) -> bool:
        """Whether its facts are at whole-number time points, and so go to the reasoner by columns."""
        return job.discrete and not self.spans


@dataclass(frozen=True)
class EarlierRules:
    """The rules that a stream had from one of its micro-batches on, before it got others."""

    program: Program
    sources: tuple[FrameSource, ...]
    everywhere: frozenset[str]
    of: tuple[tuple[str, str], ...]
    """What state was kept under: the fingerprints of then."""
    begin: int
    """The first micro-batch under these rules."""
    backfill: bool
    """Whether queries that were new then were given history."""


@dataclass(frozen=True)
class Job:
    program: Program
    emit: str
    choice: Choice = ALL
    shards: int = 1
    sources: tuple[FrameSource, ...] = ()
    static: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    everywhere: frozenset[str] = field(default=frozenset())
    """The predicates that all shards derive; the first tells their answers."""
    each_step: bool = True
    """Whether every change is told, or for each micro-batch the last of each answer."""
    late: bool = True
    """Whether facts that came too late leave the run beside the answers."""
    state: str | None = None
    """Where a run over history leaves what a stream goes on from."""
    changing: bool = False
    """Whether tables are read again at each micro-batch."""
    zone: str | None = None
    """The zone of the moments that times are shown as; none where they are shown as numbers."""
    earlier: tuple[EarlierRules, ...] = ()
    """The rules before these, where a stream goes on with other rules."""
    begin: int = 0
    """The first micro-batch under these rules."""
    backfill: bool = False
    """Whether queries that are new are given the history that is kept."""
    history: int = 0
    """Bytes of deliveries that a shard keeps, though it needs them no longer to go on."""
    most_per_key: int | None = None
    """How many facts of one key that arrive at one time are taken at most."""
    idle: int | None = None
    """The milliseconds without any fact after which time goes by; none where it is the clock's times that do."""
    tells_clock: bool = False
    """Whether rows say, beside answers, how far the clock is after each micro-batch."""
    clock_place: int | None = None
    """How many sources come before the stream of the clock; all, unless others were added later."""
    divisions: tuple[int, ...] = ()
    """How many shards there were before, where a stream goes on with others; one number for each time."""
    turns: tuple[int, ...] = ()
    """For each of these the micro-batch from which on its shards hand over."""
    checkpoint: str = ""
    """The address of the checkpoint, where shards hand over."""

    @property
    def report(self) -> Report:
        return _report(self.program.source, self.program)

    @property
    def checker(self) -> Checker:
        return _checker(self.program.source, self.program)

    @property
    def discrete(self) -> bool:
        return self.checker.discrete

    def reasoner(self) -> Reasoner:
        made = Reasoner(self.report.program, emit=self.emit, choice=self.choice, report=self.report)
        made.add_statics([Fact(predicate, arguments, None, None) for predicate, arguments in self.static])
        return made

    def teller(self) -> Teller:
        """What makes lines of rows, where the job's answers are found by columns."""
        return _teller(self)

    def told(self, shard: int, answers: Sequence[Answer]) -> Sequence[Answer]:
        """The answers that are this shard's to tell."""
        if shard == 0 or not self.everywhere:
            return answers
        return [answer for answer in answers if answer.predicate not in self.everywhere]

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """What must not change while a stream has state, each with a name for messages."""
        static = sorted(repr(row) for row in self.static)
        keys = sorted((source.predicate, source.key) for source in self.sources)
        return {
            "program": fingerprint_of(self.report.program),
            "emit": self.emit,
            "shards": f"{self.shards} on {keys}",
            "static facts": hashlib.sha256(json.dumps(static).encode()).hexdigest(),
        }

    def as_of(self, place: int) -> Job:
        """The job under the rules of before, counted from the first."""
        if place >= len(self.earlier):
            return self
        then = self.earlier[place]
        return replace(
            self, program=then.program, sources=then.sources, everywhere=then.everywhere, begin=then.begin,
            backfill=then.backfill, earlier=self.earlier[:place],
            static=tuple(row for row in self.static if row[0] in static_predicates(then.program)),
        )  # fmt: skip

    def divided(self, generation: int) -> Job:
        """The job with the shards of before, counted from the first."""
        return self if generation >= len(self.divisions) else replace(self, shards=self.divisions[generation])

    def must_be_same(self, of: dict[str, str], what: str) -> None:
        """Refuses state of a run that would give other answers."""
        changed = [name for name, value in self.fingerprints.items() if of.get(name) != value]
        if changed:
            hint = ""
            if changed == ["static facts"]:
                hint = ". A table that changes while a stream runs is declared `input`, and given with `tables`"
            raise PresageError(
                f"{what} belongs to another run: {' and '.join(changed)} changed since it was written. What "
                f"is remembered there would give wrong answers: go on as before, or start with a new one{hint}"
            )


def static_predicates(program: Program) -> frozenset[str]:
    """What a program has rows of that are always so."""
    known = _checker(program.source, program).predicates
    return frozenset(name for name, each in known.items() if each.is_static)


@lru_cache(maxsize=16)
def _teller(job: Job) -> Teller:
    supposing = job.reasoner().supposing
    assert supposing is not None and supposing.teller is not None
    return supposing.teller


@lru_cache(maxsize=16)
def _report(source: Source, program: Program) -> Report:
    """By the text too, which equal programs need not share."""
    return check_program(program).or_raise()


@lru_cache(maxsize=16)
def _checker(source: Source, program: Program) -> Checker:
    findings = _report(source, program).findings
    assert findings is not None
    subject = findings.subject
    return Checker(subject.program, subject.predicates, subject.discrete)
