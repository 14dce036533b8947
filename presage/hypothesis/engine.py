"""Hypothetical answers online: facts in, the changes of all answers out.

A step takes the facts that arrived, lets records grow and die, and then looks again at exactly those
answers that something happened to: their records changed, a negated atom below them did, or a time has
come at which one of their premises can no longer arrive. What an answer's state then is follows from
the records alone, never from the order in which things happened.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from math import ceil, floor

from presage.analysis.subject import Subject
from presage.hypothesis.choices import collapsed
from presage.hypothesis.delays import Delays
from presage.hypothesis.judge import Asker, Covered, Judge
from presage.hypothesis.lifetimes import Spans
from presage.hypothesis.pieces import Piece
from presage.hypothesis.records import PartialMatch
from presage.hypothesis.sight import Sight
from presage.hypothesis.standing import StandingRecords
from presage.hypothesis.statics import StaticRows
from presage.hypothesis.ways import Way, as_way, minimal_ways
from presage.model.formulas import Atom
from presage.model.terms import Number, Values
from presage.patterns.finite import all_patterns
from presage.patterns.literals import Argument, Open
from presage.patterns.unfold import Unfolder

Answered = tuple[tuple[Argument, ...], Number | Open]


@dataclass(frozen=True, slots=True)
class AnswerState:
    """What is known of an answer: its status, and its ways or, once it is confirmed, one evidence."""

    status: str
    ways: tuple[Way, ...] = ()


@dataclass(slots=True)
class AnswerChange:
    query: str
    answer: Answered
    state: AnswerState


NOTHING = AnswerState("nothing")


@dataclass(slots=True)
class _Shown:
    """What was reported of a query's answers."""

    ground: dict[Number, dict[Values, AnswerState]] = field(default_factory=dict)
    open: dict[Number, dict[tuple[Argument, ...], AnswerState]] = field(default_factory=dict)


class Hypotheses:
    """The hypothetical answers of a program's queries as facts arrive."""

    def __init__(self, subject: Subject, atoms: Sequence[Atom], unfolder: Unfolder | None = None) -> None:
        self.subject = subject
        self.discrete = subject.discrete
        self.delays = Delays(subject.predicates)
        self.queries = {atom.predicate for atom in atoms}
        self.patterns = all_patterns(self.queries, unfolder or Unfolder(subject), asked=atoms)
        self.spans = Spans(self.patterns, self.delays)
        self.statics = StaticRows()
        self.standings = {
            name: StandingRecords(name, patterns, self.delays, self.statics.rows, self.discrete)
            for name, patterns in self.patterns.items()
        }
        self.listeners: dict[str, list[tuple[StandingRecords, int, int]]] = {}
        for standing in self.standings.values():
            for number_of, matcher in enumerate(standing.matchers):
                for index, premise in enumerate(matcher.pattern.premises):
                    self.listeners.setdefault(premise.predicate, []).append((standing, number_of, index))
        self.statics.add_facts_of(subject)
        self.owners = {matcher: each for each in self.standings.values() for matcher in each.matchers}
        self.now: Number | None = None
        self.facts: dict[str, dict[Number, set[Values]]] = {}
        self.alarms: list[tuple[Number, int, Asker | PartialMatch]] = []
        self.set_alarms: set[tuple[Number, Asker]] = set()
        self.ticket = count()
        self.judge = Judge(self.standings, self.has_arrived, self._wake, self.discrete)
        self.shown = {name: _Shown() for name in self.queries}
        self.dirty: dict[Asker, None] = {}
        self.sight = Sight(self.patterns, self.queries, self.spans, self.delays, self.discrete)
        self.above = self.sight.above()
        self.leads = {name: self.sight.lead(name) for name in self.queries}
        self.reached: dict[str, Number] = {}

    @cached_property
    def look_ahead(self) -> Number:
        """How far past now a fact can matter already."""
        spans = [
            latest - earliest
            for patterns in self.patterns.values()
            for pattern in patterns
            for first in pattern.literals
            for second in pattern.literals
            if (latest := self.spans.distance(pattern, first, latest=True)) is not None
            and (earliest := self.spans.distance(pattern, second, latest=False)) is not None
        ]
        return max(spans, default=0)

    # -- a step -----------------------------------------------------------------------------------

    def step(self, facts: Iterable[tuple[str, Values, Number]], now: Number) -> list[AnswerChange]:
        """Takes the facts that arrive at `now` and gives what changed."""
        self._take(facts, now)
        self.judge.begin(now)
        self._look_ahead(now)
        changes = list(self._changes())
        self._forget(now)
        return changes

    def remember(self, facts: Iterable[tuple[str, Values, Number]], now: Number) -> None:
        """Takes facts that arrived before, without telling what follows."""
        self._take(facts, now)

    def _take(self, facts: Iterable[tuple[str, Values, Number]], now: Number) -> None:
        self.now = now
        touched: dict[PartialMatch, StandingRecords] = {}
        for name, arguments, time in facts:
            known = self.facts.setdefault(name, {}).setdefault(time, set())
            if arguments in known:
                continue
            known.add(arguments)
            for standing, number_of, index in self.listeners.get(name, ()):
                for record in standing.matchers[number_of].arrive(index, arguments, time):
                    touched[record] = standing
        for record, standing in touched.items():
            self._grown(record, standing)
        self._deadlines(now)

    def has_arrived(self, name: str, arguments: tuple[object, ...], time: Number) -> bool:
        return arguments in self.facts.get(name, {}).get(time, ())

    def _grown(self, record: PartialMatch, standing: StandingRecords) -> None:
        matcher = record.matcher
        if not record.watched:
            record.watched = True
            standing.put(record)
        record.deadline = matcher.deadline(record.met, record.slots, record.times)
        if record.deadline is not None:
            heapq.heappush(self.alarms, (record.deadline, next(self.ticket), record))
        self._changed(standing, record)

    def _changed(self, standing: StandingRecords, record: PartialMatch) -> None:
        """Whoever looks at a record's answer has to look again."""
        time, arguments = standing.place(record)
        if time is None:
            for at in list(standing.watchers):
                self._notify(standing, at, None)
            if standing.name in self.queries:
                self.dirty[Asker(standing.name, ANY_TIME, None, True)] = None
            return
        self._notify(standing, time, arguments)
        if standing.name in self.queries:
            self.dirty[Asker(standing.name, time, arguments, True)] = None
        for name, distance in self.above.get(standing.name, ()):
            # A fact may settle a negated atom before the answers it matters to have come into sight.
            if time - distance > self.reached.get(name, -1):
                self.dirty[Asker(name, time - distance, None, True)] = None

    def _notify(self, standing: StandingRecords, time: Number, arguments: Values | None) -> None:
        watching = standing.watchers.get(time)
        if not watching:
            return
        keys = list(watching) if arguments is None else [arguments, None]
        for key in keys:
            for asker in watching.pop(key, ()):
                self._tell(asker)

    def _tell(self, asker: Asker) -> None:
        if asker.shown:
            self.dirty[asker] = None
        else:
            self._notify(self.standings[asker.name], asker.time, asker.arguments)

    def _wake(self, time: Number, asker: Asker | None) -> None:
        """Someone has to look again at a time; one that looks because of another is told through it."""
        if asker is not None and (time, asker) not in self.set_alarms:
            self.set_alarms.add((time, asker))
            heapq.heappush(self.alarms, (time, next(self.ticket), asker))

    def _deadlines(self, now: Number) -> None:
        while self.alarms and self.alarms[0][0] <= now:
            time, _, due = heapq.heappop(self.alarms)
            if isinstance(due, Asker):
                self.set_alarms.discard((time, due))
                self._tell(due)
            elif due.alive and due.deadline is not None and due.deadline <= now:
                self._kill(due)

    def _kill(self, record: PartialMatch) -> None:
        standing = self.owners[record.matcher]
        standing.drop(record)
        record.matcher.remove(record)
        self._changed(standing, record)

    # -- answers nothing has met ------------------------------------------------------------------

    def _look_ahead(self, now: Number) -> None:
        """Answers that only absences speak for, or nothing has to, come into sight as time passes."""
        if not self.reached and self.discrete:
            for name in self.queries:
                for pattern in self.patterns[name]:
                    if pattern.absences or not pattern.premises:
                        for time in self.sight.times_of(pattern) or self.sight.never_below(pattern):
                            self.dirty[Asker(name, time, None, True)] = None
            self.reached[""] = 0
        for name, lead in self.leads.items():
            if lead is None:
                continue
            last = floor(now + lead)
            for time in range(ceil(self.reached.get(name, -1)) + 1, last + 1):
                self.dirty[Asker(name, time, None, True)] = None
            self.reached[name] = max(self.reached.get(name, -1), last)

    # -- what changed -----------------------------------------------------------------------------

    def _changes(self) -> Iterator[AnswerChange]:
        looked: set[Asker] = set()
        while self.dirty:
            pending = sorted(self.dirty, key=_order)
            self.dirty.clear()
            for asker in pending:
                if asker in looked or self._is_past(asker):
                    continue
                looked.add(asker)
                if asker.arguments is None:
                    yield from self._open_answers(asker)
                else:
                    change = self._ground_answer(asker)
                    if change is not None:
                        yield change

    def _is_past(self, asker: Asker) -> bool:
        """Whether everything was said about the answers at a time."""
        kept = self.spans.kept(asker.name)
        return kept is not None and self.now is not None and asker.time != ANY_TIME and asker.time + kept < self.now

    def _ground_answer(self, asker: Asker) -> AnswerChange | None:
        name, time, arguments = asker.name, asker.time, asker.arguments
        assert arguments is not None
        shown = self.shown[name].ground.setdefault(time, {})
        before = shown.get(arguments, NOTHING)
        if before.status in ("confirmed", "refuted"):
            return None
        with self.judge.asking(asker):
            state = self._state(self.standings[name], arguments, time)
        if state.status == "open":
            state = AnswerState("unsupported") if before is not NOTHING else NOTHING
        elif state.status == "impossible":
            state = AnswerState("refuted") if before is not NOTHING else NOTHING
        if state == before:
            return None
        if state is NOTHING:
            shown.pop(arguments, None)
            return None
        shown[arguments] = state
        if state.status == "confirmed":
            for record in list(self.standings[name].records(time, arguments)):
                self.standings[name].drop(record)
                record.matcher.remove(record)
        return AnswerChange(name, (arguments, time), state)

    def _state(self, standing: StandingRecords, arguments: Values, time: Number) -> AnswerState:
        self.judge.watch(standing, time, arguments)
        pieces = list(self.judge.ways(standing, arguments, time))
        certain = [piece for piece in pieces if piece.is_certain]
        if certain:
            standing.decide(time, arguments, True)
            way = min((as_way(piece) for piece in certain), key=lambda each: (len(each.because), each.order))
            return AnswerState("confirmed", (way,))
        ways = [way for way, _ in self.open_ways(pieces)]
        kept = minimal_ways(ways)
        if kept:
            return AnswerState("possible", tuple(kept))
        return AnswerState("open" if ways else "impossible")

    def open_ways(self, pieces: Iterable[Piece]) -> Iterator[tuple[Way, Piece]]:
        """Every way in which pieces can come true, with and without evidence."""
        for piece in pieces:
            part = self.judge.possible(piece)
            if part is not None:
                yield from ((as_way(each), piece) for each in self._parts(part))

    def _parts(self, piece: Piece) -> Iterator[Piece]:
        for part in collapsed(piece):
            if part is piece or self.judge.can_be(part):
                yield part

    def _open_answers(self, asker: Asker) -> Iterator[AnswerChange]:
        """The answers with open variables at one time; some fall apart into ground ones."""
        standing = self.standings[asker.name]
        with self.judge.asking(asker):
            self.judge.watch(standing, asker.time, None)
            pieces = list(self._general(standing, asker.time))
            certain: list[Piece] = []
            covered = Covered()
            found = (each for each in pieces if each.is_certain)
            for piece in sorted(found, key=lambda each: (each.first, len(each.without))):
                for part in covered.beyond(piece):
                    certain.append(part)
                    covered.add(part)
            rest: list[Piece] = []
            for piece in pieces:
                possible = None if piece.is_certain else self.judge.possible(piece)
                if possible is not None:
                    rest.extend(covered.beyond(possible))
        groups: dict[tuple[Argument, ...], list[Piece]] = {}
        # What has no evidence is no way, and yet others may be superfluous beside it.
        for piece in sorted((*certain, *rest), key=lambda each: not each.has_evidence):
            arguments, time = piece.answer
            if not piece.has_evidence and not piece.is_certain and arguments not in groups:
                continue
            if isinstance(time, Open) or any(isinstance(each, Open) for each in arguments):
                groups.setdefault(arguments, []).append(piece)
            else:
                self.dirty[Asker(standing.name, asker.time, arguments, True)] = None  # type: ignore[arg-type]
        for arguments in self.shown[standing.name].ground.get(asker.time, ()):
            self.dirty[Asker(standing.name, asker.time, arguments, True)] = None
        yield from self._open_changes(asker, groups)

    def _general(self, standing: StandingRecords, time: Number) -> Iterator[Piece]:
        if time != ANY_TIME:
            yield from self.judge.general(standing, time)
            return
        for record in list(standing.loose.get(None, ())):
            yield from self.judge.of_record(record)

    def _open_changes(self, asker: Asker, groups: dict[tuple[Argument, ...], list[Piece]]) -> Iterator[AnswerChange]:
        shown = self.shown[asker.name].open.setdefault(asker.time, {})
        for arguments in [each for each in shown if each not in groups]:
            del shown[arguments]
        for arguments, pieces in groups.items():
            certain = [(piece.first, as_way(piece)) for piece in pieces if piece.is_certain]
            if certain:
                best = min(certain, key=lambda pair: (pair[0], len(pair[1].unless), pair[1].order))
                state = AnswerState("confirmed", (best[1],))
            else:
                with self.judge.asking(asker):
                    found = [part for piece in pieces for part in self._parts(piece)]
                parts = [part for part in found if part.answer[0] == arguments]
                # Where one fact meets two premises and is about somebody, so is the answer, which is another.
                for known in {part.answer[0] for part in found if part not in parts}:
                    if not any(isinstance(each, Open) for each in known):
                        self.dirty[Asker(asker.name, asker.time, known, True)] = None  # type: ignore[arg-type]
                answered = [each for each in arguments if isinstance(each, Open)]
                kept = minimal_ways(map(as_way, parts), answered)
                if not kept:
                    continue
                state = AnswerState("possible", tuple(kept))
            if shown.get(arguments) != state:
                shown[arguments] = state
                yield AnswerChange(asker.name, (arguments, pieces[0].answer[1]), state)

    # -- memory -----------------------------------------------------------------------------------

    def _forget(self, now: Number) -> None:
        for name, standing in self.standings.items():
            kept = self.spans.kept(name)
            if kept is None:
                continue
            for table in (standing.decided, standing.watchers):
                for time in [each for each in table if each + kept < now]:
                    del table[time]
            for time in [each for each in standing.live if each + kept < now]:
                for records in list(standing.live[time].values()):
                    for record in list(records):
                        standing.drop(record)
                        record.matcher.remove(record)
            if name in self.shown:
                for shown in (self.shown[name].ground, self.shown[name].open):
                    for time in [each for each in shown if each != ANY_TIME and each + kept < now]:
                        del shown[time]
        for key in [
            key for key in self.judge.settled if (kept := self.spans.kept(key[0])) is not None and key[1] + kept < now
        ]:
            del self.judge.settled[key]
        for name, by_time in self.facts.items():
            kept = self.spans.asked.get(name, 0)
            delay = self.delays.of(name, [None] * self.subject.predicates[name].arity)
            if kept is not None:
                for time in [each for each in by_time if each + max(kept, delay) < now]:
                    del by_time[time]

    def shed(self, change: AnswerChange) -> None:
        """Forgets an open answer and the records that lead to it."""
        arguments, time = change.answer
        shown = self.shown[change.query]
        at = ANY_TIME if isinstance(time, Open) else time
        standing = self.standings[change.query]
        if shown.ground.get(at, {}).pop(arguments, None) is not None:  # type: ignore[arg-type]
            for record in list(standing.records(at, arguments)):  # type: ignore[arg-type]
                standing.drop(record)
                record.matcher.remove(record)
        else:
            shown.open.get(at, {}).pop(arguments, None)

    def next_wake(self) -> Number | None:
        """The next time at which something may change though nothing arrives."""
        # Of what was restored, when to look again comes out by looking.
        times = [each[0] for each in self.alarms[:1]] + ([self.now] if self.dirty and self.now is not None else [])
        for name, lead in self.leads.items():
            if lead is not None:
                times.append(self.reached.get(name, -1) + 1 - lead)
        return min(times, default=None)

    def standing_answers(self, statuses: Sequence[str] = ("possible",)) -> Iterator[AnswerChange]:
        """The answers that have one of some states now."""
        for name, shown in self.shown.items():
            for table in (shown.ground, shown.open):
                for time, states in table.items():
                    for arguments, state in states.items():
                        if state.status in statuses:
                            at = self._open_time(name, arguments) if time == ANY_TIME else time
                            yield AnswerChange(name, (arguments, at), state)

    def _open_time(self, name: str, arguments: tuple[Argument, ...]) -> Open:
        """The time, not bound yet, of answers with these arguments."""
        known = [self.standings[name].answer(record) for record in self.standings[name].loose.get(None, ())]
        times = [time for given, time in known if given == arguments and isinstance(time, Open)]
        return times[0] if times else Open("T")

    def is_shown(self, name: str, answer: Answered) -> bool:
        """Whether something that was told of an answer is remembered."""
        arguments, time = answer
        at = ANY_TIME if isinstance(time, Open) else time
        shown = self.shown[name]
        return arguments in shown.ground.get(at, ()) or arguments in shown.open.get(at, ())


ANY_TIME = -1
"""Stands for the answers whose time is open."""


def _order(asker: Asker) -> tuple[str, Number, bool, str]:
    return asker.name, asker.time, asker.arguments is not None, repr(asker.arguments)
