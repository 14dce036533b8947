"""Properties at work: what each says at each position, from what is left of it.

Positions of which the same is left are looked at together: a property that is to hold always leaves the same of
nearly all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import Answer
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.languages.ltl.formulas import LtlFormula, SignedAtom, facts_of, negated, show_fact
from presage.languages.ltl.progression import (
    DONE,
    HOPELESS,
    Continuations,
    Left,
    Progressed,
    TooMuch,
    TracePosition,
    next_memory,
    remembered,
)
from presage.languages.ltl.reading import Property
from presage.languages.ltl.saving import given_in, given_out, left_in, left_out
from presage.languages.ltl.words import look_ahead, signature, ways_of
from presage.languages.steps import OwnSteps
from presage.model.terms import Number

MOST_WAYS = 20
MOST_EMPTY = 1_000_000
CONFIRMED, POSSIBLE, REFUTED = "confirmed", "possible", "refuted"

Remains = tuple[Left, Left]
"""What is left of a property at a position, and of its negation."""
Chain = tuple[Any, str] | None
"""Evidence, the latest first: positions share what they have in common."""


@dataclass(frozen=True, slots=True)
class LtlMeaning:
    properties: tuple[Property, ...]

    engine = "ltl"
    reason = "what holds in all infinite continuations is no matter of rules"
    fields = ("property",)
    possible = True
    delay = None
    lasts = True
    key = None

    def steps(self, subject: Subject, emit: str | None) -> LtlSteps:
        return LtlSteps(subject, emit, self.properties)


@dataclass(slots=True)
class _Watched:
    """A property, and what is left of it at the positions that are still open."""

    property: Property
    facts: frozenset[SignedAtom]
    below: tuple[LtlFormula, ...]
    continuations: Continuations
    opposite: LtlFormula
    memory: Progressed | None = None
    past: Chain = None
    """Facts that what is remembered hangs on."""
    open: dict[Remains, list[tuple[int, Chain]]] = field(default_factory=dict)


def _watched(each: Property) -> _Watched:
    opposite = negated(each.formula)
    facts, below = facts_of(each.formula), remembered((each.formula, opposite))
    return _Watched(each, frozenset(facts), below, Continuations(facts, below), opposite)


class LtlSteps(OwnSteps):
    def __init__(self, subject: Subject, emit: str | None, properties: Sequence[Property]) -> None:
        super().__init__(subject, emit)
        self.watched = [_watched(each) for each in properties]
        self.longest_lag = max((look_ahead(each.formula) for each in properties), default=0)
        self._coming: list[Fact] = []
        """Facts that are known before their time, or hold on."""
        self._position = 0

    def next_decision(self) -> Number | None:
        return None if self.now is None else self.now + 1

    def _at(self, facts: list[Fact], now: Number) -> list[Answer]:
        assert isinstance(now, int)
        if now - self._position > MOST_EMPTY:
            raise PresageError(
                f"every time from 0 on is a position, and the first fact comes at {now}: count time from nearer"
            )
        self._coming += facts
        found: list[Answer] = []
        try:
            if self._position > now and facts:
                return list(self._known_better(now))
            while self._position <= now:
                found.extend(self._pass(self._position))
                self._position += 1
        except TooMuch:
            raise PresageError("a property leaves more alternatives than can be looked at: say it in parts") from None
        return found

    def _known_better(self, now: int) -> Iterator[Answer]:
        """What facts that come before their time decide, when the position of now has been passed already."""
        for watched in self.watched:
            coming, lasting = self._known_ahead(watched, now)
            for left, positions in list(watched.open.items()):
                status = _verdict(watched.continuations, left, watched.memory or {}, coming, lasting)
                if status != POSSIBLE:
                    del watched.open[left]
                    for at, chain in positions:
                        yield self._answer(watched, at, now, status, left[0], chain)

    def _pass(self, now: int) -> Iterator[Answer]:
        holding = {
            SignedAtom(each.predicate, each.arguments)
            for each in self._coming
            if each.low is not None and each.low <= now and (each.high is None or now <= each.high)
        }
        self._coming = [each for each in self._coming if each.high is None or each.high > now]
        for watched in self.watched:
            yield from self._told(watched, frozenset(holding) & watched.facts, now)

    def _told(self, watched: _Watched, holds: frozenset[SignedAtom], now: int) -> Iterator[Answer]:
        position = TracePosition(holds, watched.memory)
        without = [(fact, TracePosition(holds - {fact}, watched.memory)) for fact in sorted(holds, key=repr)]
        memory = next_memory(position, watched.below)
        coming, lasting = self._known_ahead(watched, now)
        following: dict[Remains, list[tuple[int, Chain]]] = {}
        verdicts: dict[Remains, str] = {}

        def verdict(left: Remains) -> str:
            if left not in verdicts:
                verdicts[left] = _verdict(watched.continuations, left, memory, coming, lasting)
            return verdicts[left]

        before = [(left, positions, signature(left[0], now)) for left, positions in watched.open.items()]
        for left, positions, told in before:
            after = (position.left(left[0]), position.left(left[1]))
            relevant = [fact for fact, other in without if other.left(left[0]) != after[0]]
            if relevant:
                positions = [(at, _chained(chain, relevant, now)) for at, chain in positions]
            status = verdict(after)
            if status == POSSIBLE:
                following.setdefault(after, []).extend(positions)
                if signature(after[0], now + 1) == told:
                    continue
            for at, chain in positions:
                yield self._answer(watched, at, now, status, after[0], chain)
        first = watched.property.formula
        after = (position.after(first), position.after(watched.opposite))
        relevant = [fact for fact, other in without if other.after(first) != after[0]]
        chain = _chained(watched.past, relevant, now)
        status = verdict(after)
        if status == POSSIBLE:
            following.setdefault(after, []).append((now, chain))
        yield self._answer(watched, now, now, status, after[0], chain)
        if watched.below:
            changing = [fact for fact, other in without if next_memory(other, watched.below) != memory]
            watched.past = _chained(watched.past, changing, now)
        watched.memory, watched.open = memory, following

    def _known_ahead(
        self, watched: _Watched, now: int
    ) -> tuple[tuple[frozenset[SignedAtom], ...], frozenset[SignedAtom]]:
        """What is known of the positions after now, and what holds at all of them."""
        if not self._coming:
            return (), frozenset()
        known = [(SignedAtom(each.predicate, each.arguments), each) for each in self._coming]
        known = [(fact, each) for fact, each in known if fact in watched.facts]
        ends = [each.low if each.high is None else each.high for _, each in known]
        last = max((int(end) for end in ends if end is not None), default=now)
        coming = tuple(
            frozenset(
                fact
                for fact, each in known
                if each.low is not None and each.low <= time and (each.high is None or time <= each.high)
            )
            for time in range(now + 1, last + 1)
        )
        return coming, frozenset(fact for fact, each in known if each.high is None and each.low <= last)  # type: ignore[operator]

    def _answer(self, watched: _Watched, at: int, now: int, status: str, left: Left, chain: Chain) -> Answer:
        answer = Answer(now, status, watched.property.name, (), {}, time=at, because=_unchained(chain))
        answer.more = (("property", watched.property.text),)
        if status == POSSIBLE:
            ways = ways_of(left, now, answer.because)
            answer.needs, answer.unless = ways[0]["needs"], ways[0]["unless"]
            answer.decided_by = ways[0]["decided_by"]
            answer.ways = tuple(ways[:MOST_WAYS]) if len(ways) > 1 else ()
        return answer

    def standing(self, told: Sequence[Answer]) -> list[Answer]:
        confirmed = super().standing(told)
        if self.emit == CONFIRMED or self.now is None:
            return confirmed
        now = self._position - 1
        return confirmed + [
            self._answer(watched, at, now, POSSIBLE, left[0], chain)
            for watched in self.watched
            for left, positions in watched.open.items()
            for at, chain in positions
        ]

    def memory(self) -> dict[str, Any]:
        return {
            "now": self.now,
            "emit": self.emit,
            "late": [given_out(each) for each in self.late],
            "position": self._position,
            "coming": [given_out(each) for each in self._coming],
            "watched": [
                {
                    "memory": None
                    if each.memory is None
                    else [left_out(each.memory[formula]) for formula in each.below],
                    "past": list(_unchained(each.past)),
                    "open": [
                        [left_out(left[0]), left_out(left[1]), [[at, list(_unchained(chain))] for at, chain in those]]
                        for left, those in each.open.items()
                    ],
                }
                for each in self.watched
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        self.now, self._position = memory["now"], memory["position"]
        self.late = [given_in(each) for each in memory["late"]]
        self._coming = [given_in(each) for each in memory["coming"]]
        for each, kept in zip(self.watched, memory["watched"], strict=True):
            if kept["memory"] is not None:
                each.memory = {formula: left_in(left) for formula, left in zip(each.below, kept["memory"], strict=True)}
            each.past = _rechained(kept["past"])
            each.open = {
                (left_in(mine), left_in(other)): [(at, _rechained(texts)) for at, texts in those]
                for mine, other, those in kept["open"]
            }


def _verdict(
    continuations: Continuations,
    left: Remains,
    memory: Progressed,
    coming: tuple[frozenset[SignedAtom], ...],
    lasting: frozenset[SignedAtom],
) -> str:
    if left[0] == DONE or left[1] == HOPELESS:
        return CONFIRMED
    if left[0] == HOPELESS or left[1] == DONE:
        return REFUTED
    try:
        if not continuations.exists(left[1], memory, coming, lasting):
            return CONFIRMED
        if not continuations.exists(left[0], memory, coming, lasting):
            return REFUTED
    except TooMuch:
        pass  # nothing is claimed that was not found out
    return POSSIBLE


def _chained(chain: Chain, facts: Iterable[SignedAtom], now: int) -> Chain:
    for fact in facts:
        chain = (chain, f"{show_fact(fact)}@{now}")
    return chain


def _unchained(chain: Chain) -> tuple[str, ...]:
    found = []
    while chain is not None:
        chain, text = chain
        found.append(text)
    return tuple(reversed(found))


def _rechained(texts: Iterable[str]) -> Chain:
    chain: Chain = None
    for text in texts:
        chain = (chain, text)
    return chain
