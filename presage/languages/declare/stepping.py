"""Constraints at work: a verdict for each constraint and case, told when it or what is missing changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import Answer, show_answer_atom
from presage.io.facts import Fact, FactError
from presage.io.reading_back import read, written
from presage.languages.declare.reading import Written
from presage.languages.declare.templates import Together, watch_of
from presage.languages.declare.watching import ActivityEvent, Verdict, Watch
from presage.languages.steps import Agenda, OwnSteps, event_in, event_out
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
        self._due: Agenda[Value] = Agenda()
        """Cases, by when something may change though nothing comes."""
        self._early: Agenda[Fact] = Agenda()
        """Facts that came before their time."""

    def next_decision(self) -> Number | None:
        return min((each.first for each in (self._due, self._early) if each.first is not None), default=None)

    def _at(self, facts: list[Fact], now: Number) -> list[Answer]:
        for fact in facts:
            if fact.low != fact.high or fact.low is None:
                raise FactError(f"`{fact.predicate}`: what happens in a case happens at a time, not over an interval")
            self._early.put(fact.low, fact)
        found: list[Answer] = []
        while True:
            # What was known before its time is taken at its time; deadlines in between are looked at in order.
            due = self.next_decision()
            if due is None or due > now:
                break
            found += self._moment(due, now)
        return found

    def _moment(self, time: Number, now: Number) -> Iterator[Answer]:
        taken = list(self._early.taken(time))
        changed = {case: False for case in self._due.taken(time) if case in self.cases}
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
                self._due.put(due, case)

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
            "late": [event_out(each) for each in self.late],
            "early": [event_out(each) for _, each in self._early],
            "completed": [written(each) for each in self.completed],
            "due": [[written(time), written(case)] for time, case in self._due],
            "cases": [
                [written(case), written(known.begin), known.events, [_watch_out(each) for each in known.watches]]
                for case, known in self.cases.items()
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        self.now = read(memory["now"])
        self.late = [event_in(each) for each in memory["late"]]
        for fact in map(event_in, memory["early"]):
            self._early.put(fact.low or 0, fact)
        self.completed = {read(each) for each in memory["completed"]}
        for time, case in memory["due"]:
            self._due.put(read(time), read(case))
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
