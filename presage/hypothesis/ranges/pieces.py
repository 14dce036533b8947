"""Pieces: at each choice of times in a zone, the same facts are evidence and the same premises are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from presage.hypothesis.words import Comparisons
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Number, Variable
from presage.patterns.literals import Argument, Open
from presage.patterns.zoned import Moment, Need, at_most, inside
from presage.time.sameness import distinct, mapping
from presage.time.stretches import Stretch
from presage.time.zones import ANSWER, START, Zone

Evidence = tuple[str, tuple[Argument, ...], Stretch]


@dataclass(frozen=True, slots=True)
class ZonePiece:
    """At each choice of times in a zone: evidence, and what is missing."""

    zone: Zone
    free: Zone
    """The same as long as nothing arrives: without what time alone takes away."""
    needs: tuple[Need, ...]
    whole: tuple[Need, ...]
    """The same as long as nothing arrives: with the parts of absences that are settled."""
    because: frozenset[Evidence]
    settled: tuple[Need, ...] = ()
    """Absences, or parts of them, that are evidence."""
    limits: tuple[Comparisons, ...] = ()
    """What open values must not be or satisfy."""
    grounded: bool = True
    """Whether evidence and static facts give all the values that the answer has."""
    loose: bool = False
    """Whether the answer's time is open though there is one alone at which so much counts."""
    cut_by: tuple[tuple[Zone, tuple[Need, ...], tuple[Comparisons, ...]], ...] = ()
    """What took a part of it away: what does so anew is a change of it."""

    @property
    def has_evidence(self) -> bool:
        return bool(self.because) or any(self.is_in_stream(each) for each in self.settled)

    def is_in_stream(self, need: Need) -> bool:
        """Whether an absence says anything: before the start nothing holds."""
        high = extent(self.zone, need.high)[1]
        return high is None or high > 0 or (high == 0 and need.closed_high)

    @property
    def is_fixed(self) -> bool:
        """Whether evidence fixes the answer's time; where nothing but absence speaks for it, time does."""
        return not self.loose and (self.free if self.because else self.zone).range(ANSWER).is_point

    @property
    def is_endless(self) -> bool:
        return self.zone.range(ANSWER).high is None

    @property
    def told(self) -> tuple[object, ...]:
        """What is told of it."""
        return self.zone, self.needs, self.because, self.settled, self.limits

    def form(self, times: Stretch) -> tuple[object, ...]:
        """The same as long as nothing arrives; of answers at other times nothing is said."""
        return *at_times(self.free, self.whole, times), self.because, self.limits


def extent(zone: Zone, moment: Moment) -> tuple[Number | None, Number | None]:
    """Between which times a moment lies."""
    if moment.base == START:
        return moment.offset, moment.offset
    low, high = zone.upper[moment.base], zone.upper[moment.base * zone.size]
    return None if low is None else moment.offset - low[0], None if high is None else moment.offset + high[0]


def canonical(piece: ZonePiece) -> ZonePiece:
    """The same with as few time variables as there can be: those at a fixed distance from others go, and so do those
    that nothing missing hangs on; where a stretch overlaps another premise, both are one."""
    needs = piece.needs if len(piece.needs) < 2 else merged(piece.zone, piece.needs)
    zone, needs, settled = _renamed(piece.zone, needs, piece.settled)
    free, whole, _ = _renamed(piece.free, piece.whole, ())
    return replace(piece, zone=zone, free=free, needs=needs, whole=whole, settled=settled)


def at_times(free: Zone, whole: tuple[Need, ...], times: Stretch) -> tuple[Zone, tuple[Need, ...]]:
    """What is missing at a choice of times, of answers at some times alone."""
    there = free.within(times.within(ANSWER))
    return (there, whole) if there is free or there.empty else _renamed(there, whole, ())[:2]


def _renamed(
    zone: Zone, needs: tuple[Need, ...], others: tuple[Need, ...]
) -> tuple[Zone, tuple[Need, ...], tuple[Need, ...]]:
    moved: list[Moment] = [Moment(START, 0)]
    for each in range(1, zone.size):
        found = next(
            (
                Moment(other, away)
                for other in range(each)
                if moved[other].base == other and (away := zone.distance(each, other)) is not None
            ),
            Moment(each, 0),
        )
        moved.append(found)

    def later(moment: Moment) -> Moment:
        base = moved[moment.base]
        return moment if base.base == moment.base else base.later(moment.offset)

    def put(need: Need) -> Need:
        return need.between(later(need.low), later(need.high))

    shown, beside = [put(each) for each in needs], [put(each) for each in others]
    used = sorted({side.base for each in (*shown, *beside) for side in (each.low, each.high) if side.base > ANSWER})
    if used != list(range(2, zone.size)):
        zone = zone.kept([ANSWER, *used])
        places = {START: START, ANSWER: ANSWER, **{old: 2 + new for new, old in enumerate(used)}}

        def place(need: Need) -> Need:
            low, high = need.low, need.high
            return need.between(Moment(places[low.base], low.offset), Moment(places[high.base], high.offset))

        shown, beside = [place(each) for each in shown], [place(each) for each in beside]
    order = sorted(distinct(shown), key=lambda each: each.order)
    return zone, tuple(order), tuple(distinct(beside))


def equations(first: Need, second: Need) -> Comparisons | None:
    """What makes the atoms of two literals the same; `None` if nothing does."""
    if first.predicate != second.predicate:
        return None
    found = []
    for one, other in zip(first.arguments, second.arguments, strict=True):
        if one == other:
            continue
        if isinstance(other, Open):
            one, other = other, one
        if not isinstance(one, Open):
            return None
        term = Variable(other.name) if isinstance(other, Open) else Constant(other)
        found.append(Comparison("=", Variable(one.name), term))
    return tuple(found)


def apart(
    zone: Zone, limits: tuple[Comparisons, ...], overlap: Zone, same: Comparisons
) -> Iterator[tuple[Zone, tuple[Comparisons, ...]]]:
    """A zone without what would have a fact there and absent: those times, or for those times some values."""
    for part in zone.without(overlap):
        yield part, limits
    both = zone.meet(overlap)
    if same and not both.empty:
        yield both, tuple(distinct((*limits, same)))


def overlap(zone: Zone, first: Need, second: Need) -> Zone:
    """Where two literals speak of one time."""
    if not first.throughout:
        return Zone.of(zone.size, zone.whole, inside(first.low, second))
    touching = 0 if first.closed_high and second.closed_low else -1
    other = 0 if second.closed_high and first.closed_low else -1
    return Zone.of(
        zone.size,
        zone.whole,
        [at_most(second.low, first.high, (0, touching)), at_most(first.low, second.high, (0, other))],
    )


def merged(zone: Zone, needs: tuple[Need, ...], touching: bool = False) -> tuple[Need, ...]:
    """The premises with a stretch and others about the same atom that overlap it as one; or all that touch."""
    groups = mapping()
    for each in needs:
        groups.setdefault((each.predicate, each.positive, each.arguments), []).append(each)
    if len(groups) == len(needs):
        return needs
    found: list[Need] = []
    for group in groups.values():
        rest = list(group)
        while rest:
            first = rest.pop()
            again = True
            while again:
                again = False
                for other in rest:
                    both = _together(zone, first, other, touching)
                    if both is not None:
                        rest.remove(other)
                        first, again = both, True
                        break
            found.append(first)
    return tuple(found)


def _together(zone: Zone, one: Need, other: Need, touching: bool) -> Need | None:
    """Two premises about one atom as one, where it is clear that their times overlap, or touch."""
    if one.amount is not None or other.amount is not None:
        return None
    if not touching and not (one.throughout or other.throughout):
        return None
    for first, second in ((one, other), (other, one)):
        starts, gap = _lag(zone, first.low, second.low), _lag(zone, first.high, second.low)
        ends = _lag(zone, first.high, second.high)
        if starts is None or gap is None or ends is None or starts < 0:
            continue
        if starts == 0 and second.closed_low and not first.closed_low:
            continue
        shares = gap < 0 or (gap == 0 and first.closed_high and second.closed_low)
        touches = (gap == 0 and (first.closed_high or second.closed_low)) or (zone.whole and gap == 1)
        if not shares and not (touching and touches):
            continue
        high, closed = (second.high, second.closed_high) if ends > 0 else (first.high, first.closed_high)
        if ends == 0:
            closed = first.closed_high or second.closed_high
        return replace(first, high=high, closed_high=closed, throughout=first.low != high)
    return None


def _lag(zone: Zone, first: Moment, second: Moment) -> Any:
    """How much later one moment is than another, if that is fixed."""
    away = zone.distance(second.base, first.base)
    return None if away is None else away + second.offset - first.offset
