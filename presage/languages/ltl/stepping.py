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
from presage.io.facts import Fact as Given
from presage.io.told import read as unwritten
from presage.io.told import written
from presage.languages.ltl.formulas import (
    FALSE,
    TRUE,
    Before,
    Both,
    Either,
    Fact,
    Formula,
    Lasting,
    Next,
    Truth,
    facts_of,
    negated,
    show,
    show_fact,
)
from presage.languages.ltl.progress import (
    DONE,
    HOPELESS,
    Continuations,
    Duty,
    Left,
    Memory,
    Position,
    TooMuch,
    next_memory,
    remembered,
)
from presage.languages.ltl.reading import Property
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
    key = None

    def steps(self, subject: Subject, emit: str | None) -> LtlSteps:
        return LtlSteps(subject, emit, self.properties)


@dataclass(slots=True)
class _Watched:
    """A property, and what is left of it at the positions that are still open."""

    property: Property
    facts: frozenset[Fact]
    below: tuple[Formula, ...]
    continuations: Continuations
    opposite: Formula
    memory: Memory | None = None
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
        self.longest_lag = max((_look_ahead(each.formula) for each in properties), default=0)
        self._coming: list[Given] = []
        """Facts that are known before their time, or hold on."""
        self._position = 0

    def next_decision(self) -> Number | None:
        return None if self.now is None else self.now + 1

    def _at(self, facts: list[Given], now: Number) -> list[Answer]:
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
            Fact(each.predicate, each.arguments)
            for each in self._coming
            if each.low is not None and each.low <= now and (each.high is None or now <= each.high)
        }
        self._coming = [each for each in self._coming if each.high is None or each.high > now]
        for watched in self.watched:
            yield from self._told(watched, frozenset(holding) & watched.facts, now)

    def _told(self, watched: _Watched, holds: frozenset[Fact], now: int) -> Iterator[Answer]:
        position = Position(holds, watched.memory)
        without = [(fact, Position(holds - {fact}, watched.memory)) for fact in sorted(holds, key=repr)]
        memory = next_memory(position, watched.below)
        coming, lasting = self._known_ahead(watched, now)
        following: dict[Remains, list[tuple[int, Chain]]] = {}
        verdicts: dict[Remains, str] = {}

        def verdict(left: Remains) -> str:
            if left not in verdicts:
                verdicts[left] = _verdict(watched.continuations, left, memory, coming, lasting)
            return verdicts[left]

        before = [(left, positions, _signature(left[0], now)) for left, positions in watched.open.items()]
        for left, positions, told in before:
            after = (position.left(left[0]), position.left(left[1]))
            relevant = [fact for fact, other in without if other.left(left[0]) != after[0]]
            if relevant:
                positions = [(at, _chained(chain, relevant, now)) for at, chain in positions]
            status = verdict(after)
            if status == POSSIBLE:
                following.setdefault(after, []).extend(positions)
                if _signature(after[0], now + 1) == told:
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

    def _known_ahead(self, watched: _Watched, now: int) -> tuple[tuple[frozenset[Fact], ...], frozenset[Fact]]:
        """What is known of the positions after now, and what holds at all of them."""
        if not self._coming:
            return (), frozenset()
        known = [(Fact(each.predicate, each.arguments), each) for each in self._coming]
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
            ways = _ways(left, now, answer.because)
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
            "late": [_given_out(each) for each in self.late],
            "position": self._position,
            "coming": [_given_out(each) for each in self._coming],
            "watched": [
                {
                    "memory": None
                    if each.memory is None
                    else [_left_out(each.memory[formula]) for formula in each.below],
                    "past": list(_unchained(each.past)),
                    "open": [
                        [_left_out(left[0]), _left_out(left[1]), [[at, list(_unchained(chain))] for at, chain in those]]
                        for left, those in each.open.items()
                    ],
                }
                for each in self.watched
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        self.now, self._position = memory["now"], memory["position"]
        self.late = [_given_in(each) for each in memory["late"]]
        self._coming = [_given_in(each) for each in memory["coming"]]
        for each, kept in zip(self.watched, memory["watched"], strict=True):
            if kept["memory"] is not None:
                each.memory = {
                    formula: _left_in(left) for formula, left in zip(each.below, kept["memory"], strict=True)
                }
            each.past = _rechained(kept["past"])
            each.open = {
                (_left_in(mine), _left_in(other)): [(at, _rechained(texts)) for at, texts in those]
                for mine, other, those in kept["open"]
            }


def _verdict(
    continuations: Continuations,
    left: Remains,
    memory: Memory,
    coming: tuple[frozenset[Fact], ...],
    lasting: frozenset[Fact],
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


def _chained(chain: Chain, facts: Iterable[Fact], now: int) -> Chain:
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


# What is missing, in words


def _signature(left: Left, following: int) -> frozenset[frozenset[Any]]:
    """What is left, such that time alone does not change it: with the times by which something is owed."""
    return frozenset(frozenset(_told_once(duty, following) for duty in duties) for duties in left)


def _told_once(duty: Duty, following: int) -> Any:
    if isinstance(duty, Lasting) and not duty.past:
        begin = following + duty.low if duty.low else None
        end = None if duty.high is None else following + duty.high
        return (duty.dual, duty.left, duty.right, begin, end)
    return (duty, following)


def _ways(left: Left, now: int, because: tuple[str, ...]) -> list[dict[str, Any]]:
    ways = []
    for duties in left:
        needs: list[tuple[int, str]] = []
        unless: list[str] = []
        decided: list[int | None] = []
        number = 0
        for duty in sorted(duties, key=repr):
            assert isinstance(duty, (Fact, Truth, Both, Either, Next, Lasting, Before))
            text, begin, bounds, end = _premise(duty, now + 1, f"T{number + 1}")
            number += bool(bounds)
            needs.append((begin, text))
            unless += bounds
            decided.append(end)
        latest = None if None in decided else max((each for each in decided if each is not None), default=now)
        texts = tuple(text for _, text in sorted(needs))
        way = {"because": because, "needs": texts, "unless": tuple(unless), "decided_by": latest, "confidence": None}
        ways.append(way)
    return sorted(ways, key=lambda way: (len(way["needs"]), way["needs"]))


_FAR = 1 << 62


def _premise(duty: Formula, following: int, variable: str) -> tuple[str, int, list[str], int | None]:
    """Its text, where it is sorted, the bounds of its open time, and when it is decided."""
    ahead = _end(duty, following)
    if isinstance(duty, Fact):
        return f"{_literal(duty)}@{following}", following, [], ahead
    if isinstance(duty, Lasting) and not duty.past and isinstance(duty.right, Fact):
        begin = following + duty.low
        end = None if duty.high is None else following + duty.high
        if duty.dual and duty.left == FALSE:
            stretch = f"[{begin},inf)" if end is None else f"[{begin},{end}]" if end > begin else str(begin)
            return f"{_literal(duty.right)}@{stretch}", begin, [], ahead
        if not duty.dual and duty.left == TRUE:
            if end == begin:
                return f"{_literal(duty.right)}@{begin}", begin, [], ahead
            bounds = [f"{variable} < {begin}"] + ([] if end is None else [f"{variable} > {end}"])
            return f"{_literal(duty.right)}@{variable}", _FAR, bounds, ahead
    return f"({show(duty)})@{following}", following, [], ahead


def _literal(fact: Fact) -> str:
    return show_fact(fact) if fact.present else f"not {show_fact(negated(fact))}"  # type: ignore[arg-type]


def _end(formula: Formula, at: int) -> int | None:
    """When a formula at a position is decided whatever comes; `None` if never."""
    match formula:
        case Fact() | Truth():
            return at
        case Next(inner):
            return _end(inner, at + 1)
        case Before(inner, _):
            return _end(inner, at)
        case Both(left, right) | Either(left, right):
            ends = (_end(left, at), _end(right, at))
        case Lasting():
            if not formula.past and formula.high is None:
                return None
            last = at if formula.past else at + (formula.high or 0)
            ends = (_end(formula.left, last), _end(formula.right, last))
    first, second = ends
    return None if first is None or second is None else max(first, second)


def _look_ahead(formula: Formula) -> int:
    """How far a formula looks ahead, as far as that is bounded."""
    match formula:
        case Fact() | Truth():
            return 0
        case Next(inner):
            return 1 + _look_ahead(inner)
        case Before(inner, _):
            return _look_ahead(inner)
        case Both(left, right) | Either(left, right):
            return max(_look_ahead(left), _look_ahead(right))
        case Lasting():
            ahead = 0 if formula.past else formula.low if formula.high is None else formula.high
            return ahead + max(_look_ahead(formula.left), _look_ahead(formula.right))


# As plain values


def _given_out(fact: Given) -> list[Any]:
    arguments = [written(each) for each in fact.arguments]
    return [fact.predicate, arguments, fact.low, fact.high, fact.closed_low, fact.closed_high, fact.arrives]


def _given_in(kept: list[Any]) -> Given:
    name, arguments, *rest = kept
    return Given(name, tuple(map(unwritten, arguments)), *rest)


def _left_out(left: Left) -> list[Any]:
    return [[_formula_out(each) for each in duties] for duties in left]


def _left_in(kept: list[Any]) -> Left:
    return frozenset(frozenset(_formula_in(each) for each in duties) for duties in kept)


def _formula_out(formula: Duty) -> list[Any]:
    match formula:
        case Fact(predicate, arguments, present):
            return ["fact", predicate, [written(each) for each in arguments], present]
        case Truth(value):
            return ["truth", value]
        case Both(left, right):
            return ["both", _formula_out(left), _formula_out(right)]
        case Either(left, right):
            return ["either", _formula_out(left), _formula_out(right)]
        case Next(inner):
            return ["next", _formula_out(inner)]
        case Before(inner, at_start):
            return ["before", _formula_out(inner), at_start]
        case Lasting(past, dual, low, high, left, right):
            return ["lasting", past, dual, low, high, _formula_out(left), _formula_out(right)]
    raise AssertionError(formula)


def _formula_in(kept: list[Any]) -> Formula:
    match kept:
        case ["fact", predicate, arguments, present]:
            return Fact(predicate, tuple(map(unwritten, arguments)), present)
        case ["truth", value]:
            return Truth(value)
        case ["both", left, right]:
            return Both(_formula_in(left), _formula_in(right))
        case ["either", left, right]:
            return Either(_formula_in(left), _formula_in(right))
        case ["next", inner]:
            return Next(_formula_in(inner))
        case ["before", inner, at_start]:
            return Before(_formula_in(inner), at_start)
        case ["lasting", past, dual, low, high, left, right]:
            return Lasting(past, dual, low, high, _formula_in(left), _formula_in(right))
    raise PresageError("this is not the memory of a reasoner, or it is damaged")
