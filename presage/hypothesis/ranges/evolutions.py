"""Negation judged evolution by evolution, one time of an answer after the other.

Where some fact matters both to a negated atom and to what stands beside it, what each can be by itself says too little:
premises must be able to hold together in one continuation of the stream. That is a question about single times. So the
answers of such a program are looked at at each of their times by itself: those for which facts speak, those of which
something was told and, where absences speak by themselves, those that time has reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING

from presage.hypothesis.ranges.at_times import equal_to, matched, put_in
from presage.hypothesis.ranges.coming_up import ComingUp
from presage.hypothesis.ranges.families import substituted
from presage.hypothesis.ranges.lifetimes import circles
from presage.hypothesis.ranges.matching import Matching
from presage.hypothesis.ranges.pieces import ZonePiece
from presage.hypothesis.ranges.single_times import AtPoints, FieldAt
from presage.hypothesis.ranges.told import inside, is_open
from presage.hypothesis.words import Comparisons
from presage.model.terms import Constant, Number, Value, Variable, number
from presage.patterns.literals import Argument, Open
from presage.patterns.zoned import Need
from presage.time.sameness import distinct
from presage.time.stretches import BEGINNING, ENDLESS, EVER, Stretch
from presage.time.zones import ANSWER

if TYPE_CHECKING:
    from presage.hypothesis.ranges.engine import AnswersKey, Ranges

MOST_POINTS = 100_000
"""So many times of an answer that facts speak for are looked at one by one."""


class Evolutions(AtPoints):
    """Judges negated atoms, and what stands beside them, by what can hold together."""

    def __init__(self, engine: Ranges) -> None:
        super().__init__(engine)
        self.singled: dict[AnswersKey, dict[Number, None]] = {}
        """Answers about somebody that have fallen apart from those about everybody, at times at which they are not
        decided."""
        self.fallen: dict[AnswersKey, None] = {}
        """Those that did so at this step."""
        self.pending: dict[tuple[str, Number], None] = {}
        """Answers of which some may do so."""
        self.circular = circles(engine.patterns)
        """The derived predicates that hang on their own absence: what became of them is remembered."""
        self.endless = sorted(name for name in self.circular if self._goes_on(name))
        """Those that hang on it without end, whatever comes."""
        self.unsettled: dict[FieldAt, None] = {}
        """Atoms of circles that are not decided."""
        self.reached = -1
        """Up to when what goes on without end was looked at."""
        self.seeds: dict[AnswersKey, tuple[list[int], Number | None]] = {}
        """For answers that absences alone may speak for, at which times, and how far ahead of now."""
        self.coming_up: ComingUp
        self.by_facts: dict[str, list[Matching]]
        """The patterns without what must be absent: at which times facts speak for answers."""

    def attach(self, world: object) -> None:
        """Once the engine has its patterns."""
        patterns = self.engine.patterns
        self.coming_up = ComingUp(patterns, self.engine.delays, self.engine.line.whole)
        self.by_facts = {
            name: [Matching(replace(each, absences=()), world) for each in patterns[name]]  # type: ignore[arg-type]
            for name in self.engine.asked
        }

    def begin(self) -> None:
        super().begin()
        self.fallen.clear()

    # -- answers ----------------------------------------------------------------------------------

    def pieces(self, key: AnswersKey, times: Stretch) -> list[ZonePiece]:
        found: list[ZonePiece] = []
        name, arguments = key
        told = self.engine.told.get(key)
        self.goes_on = False
        points: dict[Number, None] = {}
        spoken: dict[Number, None] = {}
        for matching, by_facts in zip(self.engine.matchings[name], self.by_facts[name], strict=True):
            wide: list[Stretch] = []
            for piece in by_facts.pieces(arguments, self.now, times):
                if not piece.because:
                    continue
                known = piece.zone.range(ANSWER)
                if known.is_point:
                    assert known.low is not None
                    points[known.low] = None
                    if piece.grounded:
                        spoken[known.low] = None
                elif self.engine.line.whole and known.high is not None and known.high - known.low <= MOST_POINTS:  # type: ignore[operator]
                    several = range(int(known.low), int(known.high) + 1)  # type: ignore[arg-type]
                    points.update(dict.fromkeys(several))
                    if piece.grounded:
                        spoken.update(dict.fromkeys(several))
                else:
                    wide.append(self.engine.line.of_range(known))
            if wide:
                found += [
                    each for each in matching.pieces(arguments, self.now, times) if each.because and not each.is_fixed
                ]
        for at in (*(() if told is None else told.at), *self.singled.get(key, ())):
            points[at] = spoken[at] = None
        if key in self.engine.seeds:
            here = self._come_into_sight(key, times)
            points.update(dict.fromkeys(here))
            spoken.update(dict.fromkeys(here))
        for at in points:
            point = self.engine.line.point(at)
            if times.meet(point) is None:
                continue
            parts = self._answers_at(key, at)
            if not any(each.needs for each in parts):
                self._is_decided(key, at)
            if at in spoken or is_open(arguments) or any(each.grounded and each.because for each in parts):
                found += [each if each.grounded else replace(each, grounded=True) for each in parts]
        return found

    def _come_into_sight(self, key: AnswersKey, times: Stretch) -> list[Number]:
        """The times of answers that nothing but time brings into sight."""
        known = self.seeds.get(key)
        if known is None:
            patterns = [each.pattern for each in self.engine.matchings[key[0]] if key[1] in each.begin()]
            known = self.seeds[key] = self.coming_up.fixed(patterns), self.coming_up.lead(patterns)
        fixed, lead = known
        first = 0 if times.first == BEGINNING else max(0, ceil(times.first[0]))
        found: list[Number] = [at for at in fixed if at >= first]
        if lead is not None:
            self.goes_on = True
            found += range(first, floor(self.now + lead) + 1)
        return found

    def _answers_at(self, key: AnswersKey, at: Number) -> list[ZonePiece]:
        """What speaks for an answer at a time, as far as its premises can hold together."""
        name, arguments = key
        point = self.engine.line.point(at)
        found: list[ZonePiece] = []
        somebody: dict[tuple[Argument, ...], None] = {}
        for matching in self.engine.matchings[name]:
            for piece in matching.pieces(arguments, self.now, point):
                for other, part in self._by_delay(arguments, piece):
                    if other != arguments:
                        somebody[other] = None
                        continue
                    for each in inside(part, point):
                        self._wakes(each)
                        found += self._possible(each)
                        if not each.needs:
                            somebody.update(dict.fromkeys(_but_some(arguments, each)))
            somebody.update(dict.fromkeys(matching.apart))
        sure = [each.limits for each in found if not each.needs]
        certain: list[Comparisons] = []
        for other in somebody:
            values = matched(arguments, other)
            if values is None or any(substituted(limits, values) is not None for limits in sure):
                continue
            self._single_out((name, other), at)
            if not is_open(other) and any(not each.needs for each in self.at(name, other, at)):
                certain.append(equal_to(values))
        # Who is certain is nobody of whom more has to come.
        return [
            replace(each, limits=tuple(distinct((*each.limits, *certain)))) if each.needs and certain else each
            for each in found
        ]

    def _is_decided(self, key: AnswersKey, at: Number) -> None:
        times = self.singled.get(key)
        if times is not None and times.pop(at, 0) is None and not times:
            del self.singled[key]

    def _single_out(self, key: AnswersKey, at: Number) -> None:
        if not is_open(key[1]):
            times = self.singled.setdefault(key, {})
            if at not in times:
                times[at] = self.fallen[key] = None

    def in_order(self, touched: dict[AnswersKey, None]) -> Iterator[AnswersKey]:
        """What is to be looked at: first what is about everybody, from which answers about somebody fall apart."""
        self.follow_circles()
        touched.update(self.fall_apart())
        for key in [each for each in touched if is_open(each[1])]:
            yield key
            touched.update(self.fallen)
        yield from [each for each in touched if not is_open(each[1])]
        self.forget()

    # -- circles ----------------------------------------------------------------------------------

    def _goes_on(self, name: str) -> bool:
        """Whether an atom hangs on earlier ones of its circle though nothing has come."""
        return any(
            not any(each.low.base == ANSWER for each in pattern.premises)
            and any(each.predicate in self.circular[name] for each in pattern.absences)
            for pattern in self.engine.patterns[name]
        )

    def note(self, owner: str, arguments: Sequence[Argument], literal: Need, times: Stretch) -> None:
        """A fact matters to an atom of a circle: it is looked at until it is decided, before the fact is forgotten."""
        if owner in self.circular:
            given = tuple(None if isinstance(each, Open) else each for each in arguments)
            for at in self.points(moved(literal, times)):
                self.unsettled[owner, given, at] = None

    def denies(self, owner: str, literal: Need, times: Stretch) -> None:
        """A fact matters to what answers deny: some may fall apart from those about everybody at those times."""
        if not literal.positive:
            span = self.engine.spans[owner]
            for at in self.points(moved(literal, times)):
                if at >= 0 and (span is None or at + span >= self.now):
                    self.pending[owner, at] = None

    def fall_apart(self) -> dict[AnswersKey, None]:
        """The answers about somebody that facts below a negation have singled out."""
        for owner, at in self.pending:
            schemes = {each: None for matching in self.engine.matchings[owner] for each in matching.begin()}
            for arguments in filter(is_open, schemes):
                self._answers_at((owner, arguments), at)
        self.pending.clear()
        return self.fallen

    def points(self, times: Stretch) -> Iterable[Number]:
        """The single times of a stretch, as far as they can be told one by one."""
        if self.engine.line.is_point(times):
            return (times.first[0],)  # type: ignore[return-value]
        if (
            not self.engine.line.whole
            or times.last == ENDLESS
            or times.first == BEGINNING
            or times.last[0] - times.first[0] > MOST_POINTS
        ):
            return ()
        return range(int(times.first[0]), int(times.last[0]))

    def follow_circles(self) -> None:
        """Decides what can be decided of atoms in circles, the earliest first."""
        if self.endless and self.engine.line.whole:
            for moment in range(self.reached + 1, floor(self.now) + 1):
                for name in self.endless:
                    arity = len(self.engine.patterns[name][0].arguments)
                    self.unsettled[name, (None,) * arity, moment] = None
            self.reached = max(self.reached, floor(self.now))
        for key in sorted(self.unsettled, key=lambda each: each[2]):
            if key[2] < 0 or not self._is_open(*key):
                del self.unsettled[key]

    def _is_open(self, name: str, given: tuple[Value | None, ...], at: Number) -> bool:
        if None in given:
            return bool(self.field(name, given, at).possible)
        return self.ask(name, given, at) is None  # type: ignore[arg-type]

    # -- memory -----------------------------------------------------------------------------------

    def forget(self) -> None:
        """Forgets what was decided of times that nothing still open hangs on."""
        for answer, times in list(self.singled.items()):
            span = self.engine.spans[answer[0]]
            for at in [each for each in times if span is not None and each + span < self.now]:
                self._is_decided(answer, at)
        for name, at in list(self.decided):
            kept = self.engine.kept.get(name)
            if kept is not None and at + kept < self.now:
                del self.decided[name, at]
        for key in list(self.settled):
            kept = self.engine.kept.get(key[0])
            if kept is not None and key[2] + kept < self.now:
                del self.settled[key]


def moved(literal: Need, times: Stretch) -> Stretch:
    """The times of answers that a literal at some times is about."""
    if literal.low.base != ANSWER:
        return EVER
    away = literal.low.offset
    first = times.first if times.first == BEGINNING else (number(times.first[0] - away), times.first[1])  # type: ignore[arg-type]
    last = times.last if times.last == ENDLESS else (number(times.last[0] - away), times.last[1])  # type: ignore[arg-type]
    return Stretch(first, last)


def _but_some(arguments: tuple[Argument, ...], piece: ZonePiece) -> Iterator[tuple[Argument, ...]]:
    """Those for whom what is confirmed of everybody is not."""
    for clause in piece.limits:
        known: dict[str, Value] = {
            each.left.name: each.right.value
            for each in clause
            if each.operator == "=" and isinstance(each.left, Variable) and isinstance(each.right, Constant)
        }
        yield put_in(arguments, known)
