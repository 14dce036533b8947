"""Constraints at work: a verdict for each constraint and case, told when it or what is missing changes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import Answer, show_answer_atom
from presage.io.facts import Fact, FactError
from presage.io.reading_back import read, written
from presage.languages.declare.reading import Written
from presage.languages.declare.templates import Together, watch_of
from presage.languages.declare.watching import ActivityEvent, Verdict, Watch
from presage.languages.steps import OwnSteps
from presage.model.printer import show_number
from presage.model.terms import Number, Value

EVENT, COMPLETE, DATA = "event", "complete", "data"
WORDS = {
    (True, True): ("permanently satisfied", "confirmed"),
    (True, False): ("temporarily satisfied", "possible"),
    (False, False): ("temporarily violated", "possible"),
    (False, True): ("permanently violated", "refuted"),
}


@dataclass(frozen=True, slots=True)
class DeclareMeaning:
    constraints: tuple[Written, ...]

    engine = "declare"
    reason = "what all ways to go on come to is no matter of rules"
    fields = ("property", "verdict")
    possible = True
    delay = None
    lasts = False

    @property
    def key(self) -> dict[str, list[str]] | None:
        return {name: ["case"] for name in (EVENT, COMPLETE, DATA)}

    def steps(self, subject: Subject, emit: str | None) -> DeclareSteps:
        return DeclareSteps(subject, emit, self.constraints)


@dataclass(slots=True)
class _Case:
    begin: Number
    watches: list[Watch]
    events: int = 0
    told: list[Verdict | None] = field(default_factory=list)


class DeclareSteps(OwnSteps):
    repeats = True  # two events of a moment may have the same data; which events are the same is seen below

    def __init__(self, subject: Subject, emit: str | None, constraints: Sequence[Written]) -> None:
        super().__init__(subject, emit)
        self.constraints = constraints
        self.longest_lag = max((each.constraint.high or 0 for each in constraints), default=0)
        self.cases: dict[Value, _Case] = {}
        self.completed: set[Value] = set()
        self._due: list[tuple[Number, int, Value]] = []
        self._early: list[tuple[Number, int, Fact]] = []
        """Facts that came before their time."""
        self._order = count()

    def next_decision(self) -> Number | None:
        coming = [each[0][0] for each in (self._due, self._early) if each]
        return min(coming, default=None)

    def _at(self, facts: list[Fact], now: Number) -> list[Answer]:
        for fact in facts:
            if fact.low != fact.high or fact.low is None:
                raise FactError(f"`{fact.predicate}`: what happens in a case happens at a time, not over an interval")
            heapq.heappush(self._early, (fact.low, next(self._order), fact))
        found: list[Answer] = []
        while True:
            # What was known before its time is taken at its time; deadlines in between are looked at in order.
            due = self.next_decision()
            if due is None or due > now:
                break
            found += self._moment(due, now)
        return found

    def _moment(self, time: Number, now: Number) -> Iterator[Answer]:
        taken: list[Fact] = []
        while self._early and self._early[0][0] == time:
            taken.append(heapq.heappop(self._early)[2])
        changed: dict[Value, bool] = {}
        while self._due and self._due[0][0] <= time:
            case = heapq.heappop(self._due)[2]
            if case in self.cases:
                changed[case] = False
        for case, event in self._occurrences(taken, time):
            changed[case] = False
            known = self.cases.get(case)
            if known is None:
                watches = [watch_of(each.constraint) for each in self.constraints]
                known = self.cases[case] = _Case(time, watches, told=[None] * len(watches))
            event.place = known.events
            known.events += 1
            for watch in known.watches:
                watch.take(event)
        for fact in taken:
            case = fact.arguments[0]
            if fact.predicate == COMPLETE and case in self.cases:
                changed[case] = True
        for case, is_complete in changed.items():
            yield from self._told(case, time, now, is_complete)

    def _occurrences(self, facts: list[Fact], time: Number) -> list[tuple[Value, ActivityEvent]]:
        """The events of a moment in the order in which they came; data belong to the event before them or, where there
        is none, after them. An event that is said again is the same one, unless it has data that the other has not."""
        found: list[tuple[Value, ActivityEvent]] = []
        last: dict[Value, ActivityEvent] = {}
        early: dict[Value, dict[str, Value]] = {}
        for fact in facts:
            case = fact.arguments[0]
            if case in self.completed:
                continue
            if fact.predicate == EVENT:
                event = ActivityEvent(0, time, str(fact.arguments[1]), early.pop(case, {}))
                last[case] = event
                found.append((case, event))
            elif fact.predicate == DATA:
                data = last[case].data if case in last else early.setdefault(case, {})
                data[str(fact.arguments[1])] = fact.arguments[2]
        seen: dict[tuple[Value, str], list[ActivityEvent]] = {}
        distinct = []
        for case, event in found:
            alike = seen.setdefault((case, event.activity), [])
            if not any(event.data.items() <= each.data.items() for each in alike):
                alike.append(event)
                distinct.append((case, event))
        return distinct

    def _told(self, case: Value, time: Number, now: Number, is_complete: bool) -> Iterator[Answer]:
        known = self.cases[case]
        if is_complete:
            del self.cases[case]
            self.completed.add(case)
        for place, (constraint, watch) in enumerate(zip(self.constraints, known.watches, strict=True)):
            said = watch.verdict(time)
            if is_complete:
                said = Verdict(said.satisfied, True)
            before = known.told[place]
            if said != before and not (before is not None and before.permanent):
                known.told[place] = said
                yield _answer(constraint, case, known.begin, said, now)
        if not is_complete:
            deadlines = [watch.deadline(time) for watch in known.watches]
            due = min((each for each in deadlines if each is not None and each > time), default=None)
            if due is not None:
                heapq.heappush(self._due, (due, next(self._order), case))

    def standing(self, told: Sequence[Answer]) -> list[Answer]:
        confirmed = super().standing(told)
        if self.emit == "confirmed" or self.now is None:
            return confirmed
        return confirmed + [
            _answer(constraint, case, known.begin, said, self.now)
            for case, known in self.cases.items()
            for constraint, said in zip(self.constraints, known.told, strict=True)
            if said is not None and not said.permanent
        ]

    def memory(self) -> dict[str, Any]:
        return {
            "now": written(self.now),
            "emit": self.emit,
            "late": [_fact_out(each) for each in self.late],
            "early": [_fact_out(each) for _, _, each in sorted(self._early, key=lambda item: item[:2])],
            "completed": [written(each) for each in self.completed],
            "due": [[written(time), written(case)] for time, _, case in sorted(self._due, key=lambda item: item[:2])],
            "cases": [
                [written(case), written(known.begin), known.events, [_watch_out(each) for each in known.watches]]
                for case, known in self.cases.items()
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        self.now = read(memory["now"])
        self.late = [_fact_in(each) for each in memory["late"]]
        self._early = [(fact.low or 0, next(self._order), fact) for fact in map(_fact_in, memory["early"])]
        self.completed = {read(each) for each in memory["completed"]}
        self._due = [(read(time), next(self._order), read(case)) for time, case in memory["due"]]
        heapq.heapify(self._early)
        heapq.heapify(self._due)
        for case, begin, events, watches in memory["cases"]:
            made = [watch_of(each.constraint) for each in self.constraints]
            for watch, kept in zip(made, watches, strict=True):
                _watch_in(watch, kept)
            known = self.cases[read(case)] = _Case(read(begin), made, events)
            # What was said last follows from what is remembered: deadlines that have passed were looked at.
            known.told = [watch.verdict(self.now or 0) for watch in made]


def _answer(constraint: Written, case: Value, begin: Number, said: Verdict, now: Number) -> Answer:
    verdict, status = WORDS[said.satisfied, said.permanent]
    answer = Answer(now, status, constraint.name, (case,), {"CASE": case}, time=begin)
    answer.more = (("property", constraint.text), ("verdict", verdict))
    if not said.permanent:
        needs, unless, ends = [], [], []
        for place, missing in enumerate(said.missing, 1):
            variable = f"T{place}"
            needs.append(f"{show_answer_atom(EVENT, (case, missing.activity))}@{variable}")
            earliest = now + 1 if missing.earliest is None else max(missing.earliest, now + 1)
            unless.append(f"{variable} < {show_number(earliest)}")
            if missing.latest is not None:
                unless.append(f"{variable} > {show_number(missing.latest)}")
            ends.append(missing.latest)
        answer.needs, answer.unless = tuple(needs), tuple(unless)
        if ends and None not in ends:
            answer.decided_by = max(each for each in ends if each is not None)
        since = dict.fromkeys(missing.since for missing in said.missing if missing.since is not None)
        answer.because = tuple(
            f"{show_answer_atom(EVENT, (case, activity))}@{show_number(time)}" for activity, time in since
        )
    return answer


# As plain values


def _fact_out(fact: Fact) -> list[Any]:
    return [fact.predicate, [written(each) for each in fact.arguments], written(fact.low)]


def _fact_in(kept: list[Any]) -> Fact:
    name, arguments, time = kept
    return Fact(name, tuple(map(read, arguments)), read(time), read(time))


def _watch_out(watch: Watch) -> Any:
    if isinstance(watch, Together):
        return [_watch_out(part) for part in watch.parts]
    return {name: _out(value) for name, value in vars(watch).items() if name not in ("constraint",)}


def _watch_in(watch: Watch, kept: Any) -> None:
    if isinstance(watch, Together):
        for part, state in zip(watch.parts, kept, strict=True):
            _watch_in(part, state)
        return
    for name, value in kept.items():
        setattr(watch, name, _in(value))


def _out(value: Any) -> Any:
    if isinstance(value, ActivityEvent):
        data = {name: written(each) for name, each in value.data.items()}
        return {"event": [value.place, written(value.time), value.activity, data]}
    if isinstance(value, list):
        return [_out(each) for each in value]
    return written(value)


def _in(value: Any) -> Any:
    if isinstance(value, dict) and "event" in value:
        place, time, activity, data = value["event"]
        return ActivityEvent(place, read(time), activity, {name: read(each) for name, each in data.items()})
    if isinstance(value, list):
        return [_in(each) for each in value]
    return read(value)
