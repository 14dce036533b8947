"""Event rules at work: an event is one answer, told when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from presage.analysis.predicates import Predicate
from presage.analysis.subject import Subject
from presage.answers import Answer, bindings_of, show_answer_atom
from presage.io.facts import Checker, Fact, FactError
from presage.io.reading_back import read, written
from presage.languages.etalis.event_patterns import EventRule
from presage.languages.etalis.matching import EventMatcher, Happening
from presage.languages.steps import Agenda, OwnSteps
from presage.model.printer import show_number
from presage.model.terms import Number


@dataclass(frozen=True, slots=True)
class EtalisMeaning:
    rules: tuple[EventRule, ...]

    engine = "etalis"
    reason = "its events are intervals of their own, which facts that hold over time are not"
    fields = ()
    possible = False
    delay = 0
    lasts = False
    key = None

    def steps(self, subject: Subject, emit: str | None) -> EtalisSteps:
        return EtalisSteps(subject, emit, self.rules)


class _Events(Checker):
    """What is given over an interval is one event, which is known when it ends."""

    def when(
        self, entry: dict[str, Any], known: Predicate, where: str
    ) -> tuple[Number | None, Number | None, bool, bool, Number | None]:
        low, high, closed_low, closed_high, arrives = super().when(entry, known, where)
        if low is not None and (high is None or not (closed_low and closed_high)):
            raise FactError(f"{where}: an event has a beginning and an end: give `from` and `to`, which belong to it")
        if high is not None and low != high and (arrives is None or arrives < high):
            arrives = high
        return low, high, closed_low, closed_high, arrives

    def is_late(self, fact: Fact, now: Number) -> bool:
        return fact.high is not None and now > fact.high


class EtalisSteps(OwnSteps):
    def __init__(self, subject: Subject, emit: str | None, rules: Sequence[EventRule]) -> None:
        super().__init__(subject, emit)
        self.checker = _Events(subject.program, subject.predicates, subject.discrete)
        self.matcher = EventMatcher(rules)
        self.asked = {query.atom.predicate: query for query in subject.queries}
        self._waiting: Agenda[Happening] = Agenda()
        """Events that end later, by when they do."""

    def next_decision(self) -> Number | None:
        return self._waiting.first

    def _at(self, facts: list[Fact], now: Number) -> list[Answer]:
        for fact in facts:
            if fact.low is None or fact.high is None or not (fact.closed_low and fact.closed_high):
                raise FactError(f"`{fact.predicate}`: an event has a beginning and an end, which belong to it")
            interval = (fact.low, fact.high)
            told = f"{show_answer_atom(fact.predicate, fact.arguments)}@{_shown(interval)}"
            event = Happening(fact.predicate, fact.arguments, interval, (told,))
            self._waiting.put(fact.high, event)
        found: list[Answer] = []
        while (end := self._waiting.first) is not None and end <= now:
            ending = list(self._waiting.taken(end))
            found += [self._answer(each, now) for each in self.matcher.at(ending, end) if each.predicate in self.asked]
        return sorted(found, key=lambda answer: (answer.end or answer.time or 0, answer.answer))

    def _answer(self, event: Happening, now: Number) -> Answer:
        low, high = event.interval
        bindings = bindings_of(self.asked[event.predicate], event.arguments)
        answer = Answer(now, "confirmed", event.predicate, event.arguments, bindings, because=event.because)
        answer = replace(answer, time=high) if low == high else replace(answer, start=low, end=high, bounds="[]")
        # Events that begin together are told apart by when they end.
        answer.more = (("key", answer.answer),)
        return answer

    def memory(self) -> dict[str, Any]:
        return {
            "now": written(self.now),
            "emit": self.emit,
            "late": [
                [each.predicate, [written(value) for value in each.arguments], written(each.low), written(each.high)]
                for each in self.late
            ],
            "waiting": [
                [
                    each.predicate,
                    [written(value) for value in each.arguments],
                    [written(time) for time in each.interval],
                    list(each.because),
                ]
                for _, each in self._waiting
            ],
            "matches": self.matcher.memory(),
        }

    def remember(self, memory: dict[str, Any]) -> None:
        self.now = read(memory["now"])
        self.late = [
            Fact(name, tuple(map(read, arguments)), read(low), read(high))
            for name, arguments, low, high in memory["late"]
        ]
        for name, arguments, (low, high), because in memory["waiting"]:
            event = Happening(name, tuple(map(read, arguments)), (read(low), read(high)), tuple(because))
            self._waiting.put(event.interval[1], event)
        self.matcher.remember(memory["matches"])


def _shown(interval: tuple[Number, Number]) -> str:
    low, high = interval
    return show_number(low) if low == high else f"[{show_number(low)},{show_number(high)}]"
