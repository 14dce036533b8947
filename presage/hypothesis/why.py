"""Why an answer is not confirmed at a time: what it waits for, or what failed.

The facts are taken again in the order in which they arrived, and after each step that something happened to
the answer its ways are looked at. The last look says what is open. If there is nothing left, the step at
which the last way died says what failed (`failing.py`). Nothing is forgotten on the way, since one answer
is asked for and not all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from presage.analysis.subject import Subject
from presage.errors import PresageError
from presage.hypothesis.confidence import Confidence
from presage.hypothesis.engine import Hypotheses
from presage.hypothesis.failing import FailedPremise, Failing
from presage.hypothesis.judge import Asker
from presage.hypothesis.settle import Settle
from presage.hypothesis.ways import Way, as_way, minimal_ways
from presage.model.formulas import Atom
from presage.model.statements import Rule
from presage.model.terms import Number, Values, Variable
from presage.patterns.finish import NoPatterns
from presage.patterns.finite import uses_stretches
from presage.patterns.literals import Argument, Lit, Open
from presage.patterns.unfold import Unfolder

MOST_POINTS = 1_000_000


class ArrivedFact(NamedTuple):
    """A fact and when it arrived."""

    when: Number
    predicate: str
    arguments: Values
    time: Number
    length: Number | None = 0
    """How long it holds from its time on; `None` is without end."""


@dataclass(frozen=True, slots=True)
class OpenPremise:
    """A premise that is not there, and until when it may come or has to stay away."""

    premise: Lit
    until: Number | None


@dataclass(frozen=True, slots=True)
class OpenWay:
    way: Way
    waiting: tuple[OpenPremise, ...]
    decided_by: Number | None
    confidence: float | None
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class AnswerCourse:
    """Of an answer, ground or with open variables, at a time."""

    answer: Lit
    at: Number
    status: str
    """`confirmed`, `possible`, `unsupported`, `refuted` or `impossible`."""
    history: tuple[tuple[Number, str], ...] = ()
    """The times at which its status became another, up to `at`."""
    ways: tuple[OpenWay, ...] = ()
    failed: FailedPremise | None = None
    instances: tuple[AnswerCourse, ...] = ()
    """For an answer with open variables: what can be said of others at that time that are like it."""


class _Look(NamedTuple):
    now: Number
    status: str
    ways: dict[Way, tuple[Rule, ...]]


class Why:
    """Explains answers over one record of arrivals; raises `NoPatterns` where the answer's predicate has none."""

    def __init__(
        self,
        subject: Subject,
        statics: Iterable[tuple[str, Values]],
        arrivals: Iterable[ArrivedFact],
        start: Number | None = 0,
    ) -> None:
        self.subject, self.statics = subject, list(statics)
        self.unfolder = Unfolder(subject)
        self.arrivals: dict[Number, list[ArrivedFact]] = {}
        for each in arrivals:
            self.arrivals.setdefault(each.when, []).append(each)
        self.start = min(self.arrivals, default=0) if start is None else start
        self.found_true: dict[tuple[str, Values, Number], tuple[Number, Way, tuple[Rule, ...]] | None] = {}

    def of(self, name: str, arguments: tuple[Argument, ...], time: Number, at: Number) -> AnswerCourse:
        if any(isinstance(each, Open) for each in arguments):
            return self._schematic(name, arguments, time, at)
        replay = _Replay(self, name, arguments, time, at)  # type: ignore[arg-type]
        looks = list(replay.looks())
        last = looks[-1]
        was_possible = any(each.status == "possible" for each in looks)
        status = last.status
        if status == "open":
            status = "unsupported"
        elif status == "impossible" and was_possible:
            status = "refuted"
        history = _history(looks, status)
        answer = Lit(True, name, arguments, time)
        if status in ("refuted", "impossible"):
            if not was_possible:
                replay.go_on()
            failing = Failing(replay.engine, self._true_since)
            failed = failing.of(name, arguments, time, replay.before if was_possible else None)  # type: ignore[arg-type]
            return AnswerCourse(answer, at, status, history, failed=failed)
        kept = minimal_ways(last.ways) if status == "possible" else list(last.ways)
        if status == "unsupported":
            kept = _smallest(kept)
        ways = tuple(_open_way(replay.engine, way, last.ways[way], at) for way in kept)
        return AnswerCourse(answer, at, status, history, ways)

    def _true_since(
        self, name: str, arguments: Values, time: Number, at: Number
    ) -> tuple[Number, Way, tuple[Rule, ...]] | None:
        """Since when a true atom is known to be, by which facts and rules."""
        key = (name, arguments, time)
        if key not in self.found_true:
            *_, last = _Replay(self, name, arguments, time, at).looks()
            way = next(iter(last.ways)) if last.status == "confirmed" else None
            self.found_true[key] = None if way is None else (last.now, way, last.ways[way])
        return self.found_true[key]

    def _schematic(self, name: str, arguments: tuple[Argument, ...], time: Number, at: Number) -> AnswerCourse:
        """The answers at a time that agree with one with open variables."""
        replay = _Replay(self, name, None, time, at)
        kept = replay.engine.spans.kept(name)
        replay.at = at if kept is None else min(at, time + kept)
        replay.go_on()
        engine = replay.engine
        engine.judge.begin(replay.now)
        known = engine.standings[name].live.get(time, {})
        engine.dirty = dict.fromkeys(Asker(name, time, each, True) for each in (None, *known))
        changes = [change for change in engine._changes() if _agrees(arguments, change.answer[0])]
        general = list(engine.open_ways(engine.judge.general(engine.standings[name], time)))
        rules = {way: piece.matcher.pattern.rules for way, piece in general}
        found = []
        for change in changes:
            answer = Lit(True, name, *change.answer)
            if any(isinstance(each, Open) for each in change.answer[0]):
                by = [(way, _rules_of(way, rules)) for way in change.state.ways]
                ways = tuple(_open_way(engine, way, through, at) for way, through in by)
                found.append(AnswerCourse(answer, at, change.state.status, ways=ways))
            else:
                found.append(self.of(*answer.atom, at))  # type: ignore[arg-type]
        others = _smallest([way for way in rules if not way.because]) if replay.at == at else []
        unmet = tuple(_open_way(engine, way, rules[way], at) for way in others)
        return _combined(Lit(True, name, arguments, time), at, found, unmet)


class _Replay:
    """The facts once more, with an eye on one answer."""

    def __init__(self, why: Why, name: str, arguments: Values | None, time: Number, at: Number) -> None:
        names = tuple(Variable(each) for each in why.unfolder.argument_names(name))
        self.engine = Hypotheses(why.subject, [Atom(name, names)], why.unfolder)
        if not self.engine.discrete and any(uses_stretches(each, why.subject) for each in self.engine.patterns[name]):
            raise NoPatterns("on dense time, operators make premises of stretches of time")
        for static, row in why.statics:
            self.engine.statics.add(static, row)
        self.arrivals = why.arrivals
        self.times = sorted(why.arrivals, reverse=True)
        self.name, self.arguments, self.time, self.at = name, arguments, time, at
        self.start = min(why.start, at)
        self.asker = Asker(name, time, arguments, True)
        self.before: Number | None = None
        """The step before the last."""
        self.now: Number = self.start

    def steps(self) -> Iterator[Number]:
        """Takes what arrived, step by step: at each time at which something arrives or can no longer arrive."""
        while True:
            now = self.at if self.engine.now is not None or self.start == self.at else self.start
            if self.times:
                now = min(now, self.times[-1])
            if self.engine.alarms and self.engine.now is not None:
                now = min(now, max(self.engine.alarms[0][0], self.engine.now))
            if self.engine.now is not None and now <= self.engine.now:
                if self.engine.now >= self.at:
                    return
                now = self.engine.now
            self.before, self.now = self.engine.now, now
            due: list[ArrivedFact] = []
            while self.times and self.times[-1] <= now:
                due.extend(self.arrivals[self.times.pop()])
            self.engine.remember((point for each in due for point in self._points(each)), now)
            yield now

    def _points(self, fact: ArrivedFact) -> Iterator[tuple[str, Values, Number]]:
        """The time points of a fact, as far ahead as they can matter."""
        if fact.predicate not in self.engine.listeners:
            return
        ahead = max(self.at, self.time) + self.engine.look_ahead - fact.time
        length = ahead if fact.length is None else min(fact.length, max(ahead, 0))
        if length > MOST_POINTS:
            raise PresageError(f"`{fact.predicate}` holds over more than {MOST_POINTS} time points")
        for distance in range(int(length) + 1):
            yield fact.predicate, fact.arguments, fact.time + distance

    def looks(self) -> Iterator[_Look]:
        """What could be said of the answer, whenever that may have changed, up to the time of the look."""
        for now in self.steps():
            if self.engine.dirty.pop(self.asker, 0) is None or now in (self.start, self.at):
                self.engine.judge.begin(now)
                look = self._look(now)
                yield look
                if look.status in ("confirmed", "impossible"):
                    return
            self.engine.dirty.clear()

    def go_on(self) -> None:
        """Takes the rest of the facts up to the time of the look."""
        for now in self.steps():
            self.engine.judge.begin(now)
        self.engine.dirty.clear()

    def _look(self, now: Number) -> _Look:
        engine, judge = self.engine, self.engine.judge
        standing = engine.standings[self.name]
        assert self.arguments is not None
        with judge.asking(self.asker):
            judge.watch(standing, self.time, self.arguments)
            pieces = list(judge.ways(standing, self.arguments, self.time))
            certain = [piece for piece in pieces if piece.is_certain]
            if certain:
                best = min(certain, key=lambda each: (len(each.because()), as_way(each).order))
                return _Look(now, "confirmed", {as_way(best): best.matcher.pattern.rules})
            ways = {way: piece.matcher.pattern.rules for way, piece in engine.open_ways(pieces)}
        if minimal_ways(ways):
            return _Look(now, "possible", ways)
        return _Look(now, "open" if ways else "impossible", ways)


def _open_way(engine: Hypotheses, way: Way, rules: tuple[Rule, ...], at: Number) -> OpenWay:
    settle = Settle(engine.patterns, engine.spans, engine.delays)
    missing = tuple(OpenPremise(lit, settle.of(lit)) for lit in sorted(way.needs, key=lambda lit: lit.order))
    likely = Confidence(engine.delays, engine.judge.missing)
    chance = None if likely.learned else likely.of(way.needs, at)  # What a stream taught is not at hand here.
    return OpenWay(way, missing, settle.all_of(way.needs), chance, rules)


def _history(looks: Sequence[_Look], status: str) -> tuple[tuple[Number, str], ...]:
    """When the status changed. An answer without evidence is `unsupported` once it was possible, and `open` before."""
    found: list[tuple[Number, str]] = []
    possible = False
    for look in looks:
        possible = possible or look.status == "possible"
        shown = {"open": "unsupported" if possible else "open", "impossible": status}.get(look.status, look.status)
        if not found or found[-1][1] != shown:
            found.append((look.now, shown))
    return tuple(found)


def _smallest(ways: Sequence[Way]) -> list[Way]:
    """The ways whose premises contain no other's."""
    ordered = sorted(ways, key=lambda way: way.order)
    return [way for way in ordered if not any(other.needs < way.needs for other in ordered)]


def _agrees(asked: tuple[Argument, ...], given: tuple[Argument, ...]) -> bool:
    """Whether an answer, ground or not, has instances in common with the one asked for."""
    values: dict[str, Argument] = {}
    for want, have in zip(asked, given, strict=True):
        known = values.setdefault(want.name, have) if isinstance(want, Open) else want
        if known != have and not isinstance(have, Open) and not isinstance(known, Open):
            return False
    return True


def _rules_of(way: Way, rules: dict[Way, tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """The rules of a way from which some values may have been taken."""
    same = (other for other in rules if (other.needs, other.because) == (way.needs, way.because))
    return next((rules[other] for other in same), ())


def _combined(asked: Lit, at: Number, found: list[AnswerCourse], unmet: tuple[OpenWay, ...]) -> AnswerCourse:
    """The answer with open variables in front, its instances after it."""
    general = [each for each in found if any(isinstance(value, Open) for value in each.answer.arguments)]
    instances = tuple(sorted((each for each in found if each not in general), key=lambda each: each.answer.order))
    if general:
        first = max(general, key=lambda each: sum(isinstance(value, Open) for value in each.answer.arguments))
        others = tuple(each for each in general if each is not first)
        return AnswerCourse(first.answer, at, first.status, ways=first.ways, instances=others + instances)
    status = "unsupported" if unmet else "impossible"
    if instances:
        status = "possible" if any(each.status == "possible" for each in instances) else "confirmed"
    return AnswerCourse(asked, at, status, ways=unmet, instances=instances)
