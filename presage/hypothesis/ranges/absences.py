"""Negated literals: hopeless where a fact has come, evidence where none can come any more, open elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from presage.hypothesis.ranges.families import FallingApart, FollowValues
from presage.hypothesis.ranges.memory import near
from presage.hypothesis.ranges.partial import Partial, given_of
from presage.hypothesis.ranges.pieces import apart, extent, overlap
from presage.hypothesis.ranges.segments import Segment, cells, part_of, reach_of
from presage.hypothesis.ranges.world import World
from presage.hypothesis.words import Comparisons
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Number, Value, Variable, number
from presage.patterns.zoned import Moment, Need, RangePattern, at_most
from presage.time.sameness import ordered
from presage.time.stretches import BEGINNING, EVER, Cut, Stretch, minus, union
from presage.time.zones import START, Zone

MOST_TIMES = 2_000
"""So many times are tried where only a single time can be judged."""


class Absences:
    """The negated literals of one pattern."""

    def __init__(self, pattern: RangePattern, world: World) -> None:
        self.pattern, self.world, self.line = pattern, world, world.line
        self.now: Number = 0

    def judged(self, state: Partial, absence: Need, now: Number, settle: FollowValues) -> Iterator[Partial]:
        """`settle` gives what follows from values."""
        self.now = now
        given = given_of(absence, state.slots)
        if None in given and self.world.field is not None:
            reach = reach_of(self.line, state.zone, absence)
            if self.line.is_point(reach) and reach.first >= (0, 0):
                field = self.world.field(absence.predicate, given, reach.first[0])  # type: ignore[arg-type]
                for part, is_open in FallingApart(self.pattern.names, settle).judged(state, absence, field):
                    if is_open:
                        yield part.but(needs=(*part.needs, absence), whole=(*part.whole, absence))
                    else:
                        yield part.but(settled=(*part.settled, absence))
                return
        if None in given:
            for zone, excluded in self._but_known(state, absence, given):
                open_to = state.but(zone=zone, excluded=excluded)
                yield from self._missing(open_to, absence, [EVER], [], self._cut_of(absence, given))
            return
        if absence.predicate in self.world.derived:
            reach = reach_of(self.line, state.zone, absence)
            judged = self.world.judge(absence.predicate, tuple(given), reach)  # type: ignore[arg-type]
            yield from self._missing(state, absence, minus([EVER], judged.true), judged.never, None)
            return
        arrived = union(
            near(self.world.memory.times(absence.predicate, tuple(given)), reach_of(self.line, state.zone, absence))  # type: ignore[arg-type]
        )
        yield from self._missing(state, absence, minus([EVER], arrived), [], self._cut_of(absence, given))

    def _but_known(
        self, state: Partial, absence: Need, given: Sequence[Value | None]
    ) -> list[tuple[Zone, tuple[Comparisons, ...]]]:
        """It is not about those of whom the opposite is known, at the times of which it is."""
        found = [(state.zone, tuple(state.excluded))]
        if absence.predicate in self.world.derived:
            return found
        memory, names = self.world.memory, self.pattern.names
        reach = reach_of(self.line, state.zone, absence)
        for row in memory.rows(absence.predicate, given):
            same = tuple(
                Comparison("=", Variable(names[slot]), Constant(value))
                for slot, value, have in zip(absence.arguments, row, given, strict=True)
                if have is None
            )
            for times in near(memory.times(absence.predicate, row), reach):
                known = self._at(absence, times)
                found = [
                    part
                    for zone, excluded in found
                    for part in apart(zone, excluded, overlap(zone, absence, known), same)
                ]
        return found

    def _at(self, absence: Need, times: Stretch) -> Need:
        """A literal about the same, at known times."""
        known = self.line.interval(times)
        assert known.high is not None
        return replace(
            absence,
            low=Moment(START, known.low),
            high=Moment(START, known.high),
            closed_low=known.closed_low,
            closed_high=known.closed_high,
            throughout=True,
        )

    def _cut_of(self, absence: Need, given: Sequence[Value | None]) -> Cut:
        if absence.predicate in self.world.derived:
            return BEGINNING
        return self.line.after(number(self.now - self.world.delays.of(absence.predicate, given)))

    def _missing(
        self, state: Partial, absence: Need, regions: list[Stretch], never: list[Stretch], cut: Cut | None
    ) -> Iterator[Partial]:
        """Where nothing has come: settled before a cut, or where it never can, and open elsewhere."""
        for region in regions:
            sure = [region.meet(Stretch(BEGINNING, cut))] if cut is not None else [region.meet(each) for each in never]
            before = region.meet(Stretch(BEGINNING, (0, 0)))
            gone = [] if before is None else [before]
            settled = minus((each for each in sure if each is not None), gone)
            rest = minus([region], [*gone, *settled])
            segments = ordered(
                [
                    *(Segment(each, "before", region) for each in gone),
                    *(Segment(each, "there", region) for each in settled),
                    *(Segment(each, "open", region) for each in rest),
                ],
                lambda each: each.times.first,
            )
            for zone, free, run, first, last in cells(state.zone, state.free, absence, segments):
                if not run:
                    yield state.but(zone=zone, free=free)
                    continue
                needs = [
                    part_of(self.line, absence, each.times, at == first, at == last)
                    for at, each in run
                    if each.kind == "open"
                ]
                there = [
                    part_of(self.line, absence, each.times, at == first, at == last)
                    for at, each in run
                    if each.kind == "there"
                ]
                whole = (absence,) if needs else ()
                found = state.but(
                    zone=zone,
                    free=free,
                    needs=(*state.needs, *needs),
                    whole=(*state.whole, *whole),
                    settled=(*state.settled, *there),
                )
                if absence.throughout or needs:
                    yield found
                else:
                    yield from self._chosen(found, absence)

    def _chosen(self, state: Partial, absence: Need) -> Iterator[Partial]:
        """An absence that is settled at a time which is still open: each time is an evidence of its own."""
        when = absence.low
        if when.base == START or not self.line.whole or state.zone.distance(when.base, START) is not None:
            yield state
            return
        low, high = extent(state.zone, when)
        if low is None or high is None or high - low > MOST_TIMES:
            yield state
            return
        if low < 0:
            before = [at_most(when, Moment(START, 0), (0, -1))]
            yield state.but(zone=state.zone.within(before), free=state.free.within(before))
        first = max(0, ceil(low))
        for step in range(int(high - first) + 1):
            fixed = self.line.point(first + step).within(when.base, when.offset)
            zone = state.zone.within(fixed)
            if not zone.empty:
                yield state.but(zone=zone, free=state.free.within(fixed))
