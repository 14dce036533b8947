"""Pieces: all that one binding of a pattern's data variables says about an answer at all its times at once.

Each premise is met where a fact that arrived holds, and open where one still may arrive; so the pattern's zone falls
apart into zones in each of which the same facts are evidence and the same premises are missing. A premise that must
hold throughout a stretch may be met in part: then the facts that cover it are evidence, and the rest of it is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from presage.hypothesis.dense.patterns import ANSWER, DensePattern, Moment, Need, at_most
from presage.hypothesis.dense.stretches import ENDLESS, Cut, Stretch, of_range
from presage.hypothesis.dense.zones import START, Constraint, Range, Zone
from presage.hypothesis.literals import Argument, Open
from presage.hypothesis.texts import Clause
from presage.model.terms import Number, number

Fact = tuple[str, tuple[Argument, ...], Stretch]


@dataclass(frozen=True, slots=True)
class Piece:
    """At each choice of times in a zone: evidence, and what is missing."""

    zone: Zone
    needs: tuple[Need, ...]
    because: frozenset[Fact]
    limits: tuple[Clause, ...] = ()
    """What open data variables must not be or satisfy."""
    unless: tuple[str, ...] = ()
    """The same in words."""

    @property
    def times(self) -> Stretch:
        """The times of the answers."""
        return of_range(self.zone.range(ANSWER))

    def at(self, times: Stretch) -> Piece | None:
        """The part with the answer's time in a stretch."""
        zone = self.zone.within(times.within(ANSWER))
        return None if zone.empty else canonical(replace(self, zone=zone))


class Matching:
    """Falls a pattern apart for one binding."""

    def __init__(self, pattern: DensePattern, known: dict[str, dict[Any, list[Stretch]]], now: Number) -> None:
        self.pattern, self.known, self.now = pattern, known, now

    def pieces(
        self, arguments: Sequence[tuple[Argument, ...]], delays: Sequence[Number], undecided: Iterable[Stretch]
    ) -> Iterator[Piece]:
        """Given each premise's arguments and delay, and the times of answers that are not decided yet."""
        found = [
            Piece(zone, (), frozenset())
            for times in undecided
            if not (zone := self.pattern.zone.within(times.within(ANSWER))).empty
        ]
        todo = sorted(
            zip(self.pattern.premises, arguments, delays, strict=True), key=lambda each: each[0].low.base > ANSWER
        )
        for premise, values, delay in todo:
            facts = self.known.get(premise.predicate, {}).get(values, [])
            judged = self.at_a_time if premise.is_point else self.throughout
            found = [part for each in found for part in judged(each, premise, values, facts, delay)]
        for each in map(canonical, found):
            yield each
            yield from self.with_less(each, arguments, delays)

    def with_less(
        self, piece: Piece, arguments: Sequence[tuple[Argument, ...]], delays: Sequence[Number]
    ) -> Iterator[Piece]:
        """The same premises with less evidence, where one fact does for two premises that each found one of its own."""
        by_atom: dict[tuple[str, tuple[Argument, ...]], int] = {}
        for name, values, _ in piece.because:
            by_atom[name, values] = by_atom.get((name, values), 0) + 1
        for dropped in piece.because:
            if by_atom[dropped[:2]] < 2:
                continue
            known: dict[str, dict[Any, list[Stretch]]] = {}
            for name, values, times in sorted(piece.because - {dropped}, key=lambda each: each[2]):
                known.setdefault(name, {}).setdefault(values, []).append(times)
            fewer = Matching(self.pattern, known, self.now)
            for other in fewer.pieces(arguments, delays, [piece.times]):
                if other.needs == piece.needs and not (zone := other.zone.meet(piece.zone)).empty:
                    yield canonical(replace(other, zone=zone))

    def at_a_time(
        self, piece: Piece, premise: Need, values: tuple[Argument, ...], facts: list[Stretch], delay: Number
    ) -> Iterator[Piece]:
        when = premise.low
        reach = piece.zone.range(when.base) if when.base != START else Range(0, True, 0, True)
        rest = [piece.zone]
        for fact in _near(facts, reach, when.offset):
            there = fact.within(when.base, when.offset)
            for zone in rest:
                met = zone.within(there)
                if not met.empty:
                    yield replace(piece, zone=met, because=piece.because | {(premise.predicate, values, fact)})
            covered = Zone.of(piece.zone.size, there)
            rest = [part for zone in rest for part in zone.without(covered)]
        need = Need(premise.predicate, values, when, when)
        for zone in rest:
            still = zone.within([self.in_time(when, delay)])
            if not still.empty:
                yield replace(piece, zone=still, needs=(*piece.needs, need))

    def in_time(self, when: Moment, delay: Number) -> Constraint:
        """A fact that begins then can still arrive: later than `now` minus its delay."""
        return at_most(Moment(START, self.now - delay), when, (0, -1))

    def throughout(
        self, piece: Piece, premise: Need, values: tuple[Argument, ...], facts: list[Stretch], delay: Number
    ) -> Iterator[Piece]:
        for zone in _ordered(piece.zone, premise, facts):
            because, gaps = _covered(premise, facts, _sample(zone.range(ANSWER)))
            still = zone.within(self.in_time(low, delay) for low, _, _, _ in gaps)
            if not still.empty:
                yield replace(
                    piece,
                    zone=still,
                    needs=(*piece.needs, *(Need(premise.predicate, values, *gap) for gap in gaps)),
                    because=piece.because | {(premise.predicate, values, fact) for fact in because},
                )


def _near(facts: list[Stretch], reach: Range, offset: Number) -> list[Stretch]:
    """The facts that a time, so much later than what has a range, can lie in."""
    low = None if reach.low is None else reach.low + offset
    high = None if reach.high is None else reach.high + offset
    return [
        fact
        for fact in facts
        if (low is None or fact.high is None or low <= fact.high) and (high is None or fact.low <= high)
    ]


def _ordered(zone: Zone, premise: Need, facts: list[Stretch]) -> Iterator[Zone]:
    """Parts of a zone in each of which the ends of a premise lie in one order with the ends of facts."""
    ends = {cut[0] for fact in facts for cut in fact if cut != ENDLESS}
    whole = of_range(zone.range(ANSWER))
    breaks = {end - side.offset for end in ends for side in (premise.low, premise.high) if side.base == ANSWER}
    cuts: set[Cut] = {cut for at in breaks for cut in ((at, 0), (at, 1)) if whole.first < cut < whole.last}
    for first, last in pairwise(sorted({whole.first, whole.last, *cuts})):
        part = zone.within(Stretch(first, last).within(ANSWER))
        if not part.empty:
            yield part


def _sample(times: Range) -> Number:
    """A time out of a range."""
    if times.low is None or times.low == times.high:
        return times.high or 0
    return times.low + 1 if times.high is None else number(Fraction(times.low + times.high) / 2)


Gap = tuple[Moment, Moment, bool, bool]


def _covered(premise: Need, facts: list[Stretch], at: Number) -> tuple[list[Stretch], list[Gap]]:
    """The fewest facts that cover all of a premise that is covered, at a sample time, and what they leave."""

    def moved(moment: Moment) -> Number:
        return moment.offset if moment.base == START else at + moment.offset

    end: Cut = (moved(premise.high), 1 if premise.closed_high else 0)
    position: Cut = (moved(premise.low), 0 if premise.closed_low else 1)
    begins: tuple[Moment, bool] = (premise.low, premise.closed_low)
    because: list[Stretch] = []
    gaps: list[Gap] = []
    while position < end:
        best = max(
            (fact for fact in facts if fact.first <= position < fact.last), key=lambda each: each.last, default=None
        )
        if best is not None:
            because.append(best)
            position = best.last
        else:
            following = min((fact.first for fact in facts if position < fact.first < end), default=None)
            high, closed = (premise.high, premise.closed_high) if following is None else _ending(following)
            gaps.append((begins[0], high, begins[1], closed))
            position = end if following is None else following
        begins = (Moment(START, position[0]), position[1] == 0)  # type: ignore[arg-type]
    return because, gaps


def _ending(cut: Cut) -> tuple[Moment, bool]:
    return Moment(START, cut[0]), cut[1] == 1  # type: ignore[arg-type]


def canonical(piece: Piece) -> Piece:
    """The same with as few time variables as there can be: those at a fixed distance from others go, and so do those
    that nothing missing hangs on."""
    zone = piece.zone
    moved: dict[int, Moment] = {START: Moment(START, 0)}
    for each in range(1, zone.size):
        fixed = ((other, zone.distance(each, other)) for other in range(each) if moved[other].base == other)
        found = next(((other, away) for other, away in fixed if away is not None), None)
        moved[each] = Moment(each, 0) if found is None else Moment(*found)

    def put(moment: Moment) -> Moment:
        return moved[moment.base].later(moment.offset)

    needs = _merged([replace(each, low=put(each.low), high=put(each.high)) for each in piece.needs], zone)
    used = sorted({side.base for each in needs for side in (each.low, each.high) if side.base > ANSWER})
    if used != list(range(2, zone.size)):
        zone = zone.kept([ANSWER, *used])
        places = {START: START, ANSWER: ANSWER, **{old: 2 + new for new, old in enumerate(used)}}
        needs = [
            replace(
                each,
                low=Moment(places[each.low.base], each.low.offset),
                high=Moment(places[each.high.base], each.high.offset),
            )
            for each in needs
        ]
    return replace(piece, zone=zone, needs=tuple(sorted(needs, key=lambda each: each.order)))


def _merged(needs: list[Need], zone: Zone) -> list[Need]:
    """Premises about one atom whose times overlap or touch, as one."""
    at = _sample(zone.range(ANSWER))

    def cuts(need: Need) -> tuple[Cut, Cut]:
        low, high = (side.offset if side.base == START else at + side.offset for side in (need.low, need.high))
        return (low, 0 if need.closed_low else 1), (high, 1 if need.closed_high else 0)

    free = [each for each in needs if each.low.base > ANSWER]
    groups: dict[tuple[object, ...], list[Need]] = {}
    for each in needs:
        if each.low.base <= ANSWER:
            groups.setdefault((each.predicate, each.arguments), []).append(each)
    merged: list[Need] = []
    for group in groups.values():
        for each in sorted(group, key=cuts):
            before = merged[-1] if merged and merged[-1].arguments == each.arguments else None
            if before is None or before.predicate != each.predicate or cuts(each)[0] > cuts(before)[1]:
                merged.append(each)
            elif cuts(each)[1] > cuts(before)[1]:
                merged[-1] = replace(before, high=each.high, closed_high=each.closed_high)
    return [*merged, *dict.fromkeys(free)]


def is_open(arguments: Iterable[Argument]) -> bool:
    return any(isinstance(each, Open) for each in arguments)
