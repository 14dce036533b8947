"""What takes the steps of a program whose language brings its own meaning: the face that runs, pages and shards see.

A meaning supplies what happens at a time (`_at`) and what it remembers; when steps are made, which facts come too
late, and what stands, is the same for all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Generic, TypeVar

from presage.analysis.subject import Subject
from presage.answers import Answer
from presage.errors import PresageError
from presage.io.facts import Checker, Fact
from presage.io.reading_back import read, written
from presage.io.tables import Columns
from presage.model.terms import Number

AgendaItem = TypeVar("AgendaItem")


class Agenda(Generic[AgendaItem]):
    """What waits for its time, such as facts that came before it. What waits for the same time comes in the order in
    which it was put there."""

    def __init__(self) -> None:
        self._heap: list[tuple[Number, int, AgendaItem]] = []
        self._order = count()

    def put(self, time: Number, what: AgendaItem) -> None:
        heapq.heappush(self._heap, (time, next(self._order), what))

    @property
    def first(self) -> Number | None:
        """The next time for which something waits."""
        return self._heap[0][0] if self._heap else None

    def taken(self, until: Number) -> Iterator[AgendaItem]:
        """What waits for times up to one, and no longer then."""
        while self._heap and self._heap[0][0] <= until:
            yield heapq.heappop(self._heap)[2]

    def __iter__(self) -> Iterator[tuple[Number, AgendaItem]]:
        return ((time, what) for time, _, what in sorted(self._heap, key=lambda item: item[:2]))


def event_out(fact: Fact) -> list[Any]:
    """A fact that is about one time, as plain values."""
    return [fact.predicate, [written(each) for each in fact.arguments], written(fact.low)]


def event_in(kept: Sequence[Any]) -> Fact:
    name, arguments, time = kept
    return Fact(name, tuple(map(read, arguments)), read(time), read(time))


class OwnSteps:
    """Feeds facts to a program and gives the changes of its answers. Steps go forward in time."""

    looks_ahead = True
    """Answers are told as they are, not cut off at the end of a run."""
    reads_now = False
    repeats = False
    """Whether a fact that comes twice counts twice."""
    may_repeat = False
    """Whether there may be another step at the time of the last one: for what is only supposed."""
    longest_lag: Number = 0

    def __init__(self, subject: Subject, emit: str | None) -> None:
        self.subject, self.emit = subject, emit
        self.checker = Checker(subject.program, subject.predicates, subject.discrete)
        self.now: Number | None = None
        self.late: list[Fact] = []

    @property
    def told_as(self) -> str | None:
        return self.emit

    @property
    def remembered(self) -> int:
        raise PresageError("what is in memory is not counted in facts here")

    def lag(self, predicate: str) -> Number:
        """How long after its time an answer is settled."""
        return self.longest_lag

    def end_after(self, last: Number) -> Number:
        """The last step of a run that nobody ends, whose facts speak of times up to `last`."""
        return last + self.longest_lag

    def holds(self, name: str) -> Any:
        raise PresageError(f"`{name}`: no rule derives it here, so that it is not kept as a table; see answers()")

    @property
    def first_decision(self) -> Number | None:
        """Ticks start at 0, unless times are real ones: then with the first arrival."""
        return 0 if self.subject.program.tick is None else None

    def next_decision(self) -> Number | None:
        """The earliest time after now at which something may be decided though nothing arrives."""
        return None

    def add_static(self, fact: Fact) -> None:
        raise PresageError(f"`{fact.predicate}`: this language knows no static facts")

    def is_late(self, fact: Fact, now: Number) -> bool:
        return self.checker.is_late(fact, now)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> list[Answer]:
        """Takes what arrives at a time; gives what changes by it."""
        facts = [*facts, *(fact for table in tables for fact in table.facts())]
        if self.now is not None and (now < self.now or (now == self.now and not self.may_repeat)):
            raise PresageError(f"time goes forward: the last step was at {self.now}, this one is at {now}")
        late = [fact for fact in facts if self.is_late(fact, now)]
        in_time = [fact for fact in facts if not self.is_late(fact, now)] if late else facts
        found = self._at(list(in_time if self.repeats else dict.fromkeys(in_time)), now)
        self.late.extend(late)
        self.now = now
        if self.emit == "confirmed":
            found = [each for each in found if each.status == "confirmed"]
        return found

    def _at(self, facts: list[Fact], now: Number) -> list[Answer]:
        raise NotImplementedError

    def standing(self, told: Sequence[Answer]) -> list[Answer]:
        """What is possible now, and what the last step, which told so much, confirmed."""
        return [each for each in told if each.status == "confirmed"]

    def confirmed(self, told: Sequence[Answer]) -> Sequence[Answer]:
        """What the last step, which told so much, confirmed."""
        return [each for each in told if each.status == "confirmed"]

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"steps": self.memory()}, {}

    def load(self, header: dict[str, Any], arrays: object) -> None:
        self.remember(header["steps"])

    def memory(self) -> dict[str, Any]:
        """All that a step depends on, as plain JSON values."""
        raise NotImplementedError

    def remember(self, memory: dict[str, Any]) -> None:
        """Goes on from what was in memory."""
        raise NotImplementedError
