"""A formula at work: its satisfying values at the time points of a log.

Time points are counted as they come; several may have one timestamp. Each node of the formula has its relation at a
point as soon as that is decided: what looks back at once, what looks ahead when its interval has gone by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import Answer
from presage.io.facts import Fact, FactError
from presage.io.reading_back import read, written
from presage.languages.mfotl.compiling import (
    EMPTY,
    Derived,
    FactsNode,
    FixedNode,
    LogRelation,
    NeighbourNode,
    RelationNode,
    Through,
    compiled,
    reordered,
)
from presage.languages.mfotl.formulas import LogFormula, free
from presage.languages.mfotl.lasting import SinceRows, UntilRows
from presage.languages.steps import Agenda, OwnSteps, event_in, event_out
from presage.model.terms import Number, Values

SATISFIED, TIME_POINT = "satisfied", "time_point"
BUILT_IN = {"tp": 1, "ts": 1, "tpts": 2}
"""Predicates that a log has by itself: the number of a time point, its timestamp, and both."""


@dataclass(frozen=True, slots=True)
class MfotlMeaning:
    formula: LogFormula

    engine = "mfotl"
    reason = "its operators go from one time point of the log to another, whatever time lies between"
    fields = ("time_point",)
    possible = False
    lasts = False
    key = None

    @property
    def delay(self) -> Number | None:
        top = compiled(self.formula, {})
        return None if _is_open_ended(top) else look_ahead(top)

    def steps(self, subject: Subject, emit: str | None) -> MfotlSteps:
        return MfotlSteps(subject, emit, self.formula)


@dataclass(slots=True)
class Point:
    number: int
    time: Number
    facts: dict[str, set[Values]]


class _Log:
    """The time points that are still asked about, and the relations that are known at them."""

    def __init__(self, top: RelationNode) -> None:
        self.nodes: list[RelationNode] = []
        self._collect(top)
        self.points: dict[int, Point] = {}
        self.next = 0
        """The next point, counted from 0."""
        self.first = 0
        """The first point that is remembered."""
        self.now: Number = 0
        self.known: dict[int, dict[int, LogRelation]] = {at: {} for at in range(len(self.nodes))}
        self.done: dict[int, int] = dict.fromkeys(range(len(self.nodes)), 0)
        """For each node, the first point at which its relation is not known yet."""
        through = [(at, node) for at, node in enumerate(self.nodes) if isinstance(node, Through)]
        self.since = {at: SinceRows(node) for at, node in through if not node.ahead}
        self.until = {at: UntilRows(node, 0) for at, node in through if node.ahead}
        self.place = {id(node): at for at, node in enumerate(self.nodes)}

    def _collect(self, node: RelationNode) -> None:
        """All nodes, each after those below it."""
        if any(each is node for each in self.nodes):
            return
        for each in below(node):
            self._collect(each)
        self.nodes.append(node)

    def add(self, point: Point) -> None:
        self.points[self.next] = point
        self.next += 1

    def work(self) -> Iterator[tuple[Point, LogRelation]]:
        """What is newly known of the formula."""
        top = len(self.nodes) - 1
        before = self.done[top]
        for at, node in enumerate(self.nodes):
            while self.done[at] < self.next:
                found = self._relation(at, node, self.done[at])
                if found is None:
                    break
                self.known[at][self.done[at]] = found
                self.done[at] += 1
        for place in range(before, self.done[top]):
            yield self.points[place], self.known[top][place]
        self._forget()

    def _of(self, node: RelationNode, place: int) -> LogRelation | None:
        return self.known[self.place[id(node)]].get(place)

    def _relation(self, at: int, node: RelationNode, place: int) -> LogRelation | None:
        point = self.points[place]
        if isinstance(node, FactsNode):
            return node.matched(point.facts.get(node.predicate) or _built_in(node, point))
        if isinstance(node, FixedNode):
            return node.relation
        if isinstance(node, Derived):
            below = [self._of(each, place) for each in node.below]
            return None if any(each is None for each in below) else node.work(*below)
        if isinstance(node, NeighbourNode):
            return self._beside(node, place)
        assert isinstance(node, Through)
        if node.ahead:
            return self._until(at, node, place)
        sides = self._sides(node, place)
        return None if sides is None else self.since[at].at(place, point.time, *sides)

    def _sides(self, node: Through, place: int) -> tuple[list[LogRelation], LogRelation] | None:
        right = self._of(node.right, place)
        lefts = [self._of(each.node, place) for each in node.lefts]
        if right is None or any(each is None for each in lefts):
            return None
        return [each for each in lefts if each is not None], right

    def _until(self, at: int, node: Through, place: int) -> LogRelation | None:
        """Known when nothing that may still come lies within the interval."""
        high = node.reach.high
        assert high is not None
        return self.until[at].at(
            place,
            self.next,
            lambda each: self.points[each].time,
            lambda each: self._sides(node, each),
            lambda begin: self.now >= begin + high,
        )

    def _beside(self, node: NeighbourNode, place: int) -> LogRelation | None:
        other = place + 1 if node.ahead else place - 1
        if other < 0:
            return EMPTY
        if other >= self.next:
            gone = node.reach.is_past(self.now - self.points[place].time) or (
                node.reach.high is not None and self.now >= self.points[place].time + node.reach.high
            )
            return EMPTY if gone else None
        one, two = self.points[place].time, self.points[other].time
        distance = two - one if node.ahead else one - two
        if not node.reach.has(distance):
            return EMPTY
        return self._of(node.inner, other)

    def _forget(self) -> None:
        """Points before the earliest at which something is not known are asked about once more, by `PREVIOUS`."""
        first = min([*self.done.values(), self.next]) - 1
        while self.first < first:
            self.points.pop(self.first, None)
            for relations in self.known.values():
                relations.pop(self.first, None)
            self.first += 1


def below(node: RelationNode) -> tuple[RelationNode, ...]:
    if isinstance(node, Derived):
        return node.below
    if isinstance(node, NeighbourNode):
        return (node.inner,)
    if isinstance(node, Through):
        return (*(each.node for each in node.lefts), node.right)
    return ()


def _built_in(node: FactsNode, point: Point) -> Iterable[Values]:
    if len(node.pattern) != BUILT_IN.get(node.predicate):
        return ()
    return [{"tp": (point.number,), "ts": (point.time,), "tpts": (point.number, point.time)}[node.predicate]]


class MfotlSteps(OwnSteps):
    repeats = True

    def __init__(self, subject: Subject, emit: str | None, formula: LogFormula) -> None:
        super().__init__(subject, emit)
        self.names = tuple(free(formula))
        self.log = _Log(reordered(compiled(formula, {}), self.names))
        self.longest_lag = look_ahead(self.log.nodes[-1])
        self._early: Agenda[Fact] = Agenda()
        self._counted = 0

    def next_decision(self) -> Number | None:
        coming = [] if self._early.first is None else [self._early.first]
        ends = [
            self.log.points[self.log.done[at]].time + high
            for at, node in enumerate(self.log.nodes)
            if isinstance(node, (Through, NeighbourNode)) and node.ahead and self.log.done[at] < self.log.next
            if (high := node.reach.high) is not None
        ]
        coming += [each for each in ends if self.now is None or each > self.now]
        return min(coming, default=None)

    def _at(self, facts: list[Fact], now: Number) -> list[Answer]:
        for fact in facts:
            if fact.low is None or fact.low != fact.high:
                raise FactError(f"`{fact.predicate}`: what a log says it says at a time, not over an interval")
            self._early.put(fact.low, fact)
        while (time := self._early.first) is not None and time <= now:
            self._take(time)
        self.log.now = now
        return [answer for point, rows in self.log.work() for answer in self._answers(point, rows, now)]

    def _take(self, time: Number) -> None:
        """The time points of a timestamp: `time_point` begins one; without any, all its facts are one."""
        point: Point | None = None
        for fact in self._early.taken(time):
            if fact.predicate == TIME_POINT or point is None:
                if point is not None:
                    self.log.add(point)
                number = fact.arguments[0] if fact.predicate == TIME_POINT else self._counted
                point = Point(number if isinstance(number, int) else self._counted, time, {})
                self._counted = point.number + 1
            if fact.predicate != TIME_POINT:
                point.facts.setdefault(fact.predicate, set()).add(fact.arguments)
        if point is not None:
            self.log.add(point)

    def _answers(self, point: Point, rows: LogRelation, now: Number) -> Iterator[Answer]:
        found = []
        for row in rows:
            bindings = dict(zip(self.names, row, strict=True))
            answer = Answer(now, "confirmed", SATISFIED, row, bindings, time=point.time)
            answer.more = ((TIME_POINT, point.number),)
            found.append(answer)
        yield from sorted(found, key=lambda answer: answer.answer)

    def memory(self) -> dict[str, Any]:
        log = self.log
        return {
            "now": written(self.now),
            "emit": self.emit,
            "late": [event_out(each) for each in self.late],
            "early": [event_out(each) for _, each in self._early],
            "counted": self._counted,
            "next": log.next,
            "first": log.first,
            "clock": written(log.now),
            "done": [log.done[at] for at in range(len(log.nodes))],
            "points": [
                [
                    place,
                    point.number,
                    written(point.time),
                    {name: _rows_out(rows) for name, rows in point.facts.items()},
                ]
                for place, point in log.points.items()
            ],
            "known": [[[place, _rows_out(rows)] for place, rows in log.known[at].items()] for at in log.known],
            "alive": [
                [at, [[written(time), _rows_out(rows)] for time, rows in since.beginnings()]]
                for at, since in log.since.items()
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        log = self.log
        self.now, log.now = read(memory["now"]), read(memory["clock"])
        self.late = [event_in(each) for each in memory["late"]]
        for fact in map(event_in, memory["early"]):
            self._early.put(fact.low or 0, fact)
        self._counted, log.next, log.first = memory["counted"], memory["next"], memory["first"]
        log.done = dict(enumerate(memory["done"]))
        for place, number, time, facts in memory["points"]:
            kept = {name: set(_rows_in(rows)) for name, rows in facts.items()}
            log.points[place] = Point(number, read(time), kept)
        for at, relations in enumerate(memory["known"]):
            log.known[at] = {place: frozenset(_rows_in(rows)) for place, rows in relations}
        for at, alive in memory["alive"]:
            done = log.points.get(log.done[at] - 1)
            begun = [(read(time), list(_rows_in(rows))) for time, rows in alive]
            log.since[at].fill(begun, 0 if done is None else done.time)
        for at, until in log.until.items():
            log.until[at] = UntilRows(until.node, log.done[at])


def look_ahead(node: RelationNode) -> Number:
    """How far a formula looks ahead, as far as that is bounded."""
    here: Number = 0
    if isinstance(node, (Through, NeighbourNode)) and node.ahead and node.reach.high is not None:
        here = node.reach.high
    return here + max((look_ahead(each) for each in below(node)), default=0)


def _is_open_ended(node: RelationNode) -> bool:
    here = isinstance(node, (Through, NeighbourNode)) and node.ahead and node.reach.high is None
    return here or any(map(_is_open_ended, below(node)))


def _rows_out(rows: Any) -> list[list[Any]]:
    return [[written(each) for each in row] for row in rows]


def _rows_in(rows: list[list[Any]]) -> Iterator[Values]:
    return (tuple(map(read, row)) for row in rows)
