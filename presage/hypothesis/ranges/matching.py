"""Pieces: all that the facts say about an answer with given values, at all its times at once.

Each literal of a pattern is met where facts that arrived hold (of a negated one, where they can no longer come), and
open where facts may still arrive; so the pattern's zone falls apart into zones in each of which the same facts are
evidence and the same premises are missing. Where several facts lead to the same, one of them does: what is no longer
spoken of is forgotten after each literal, so that the cost follows what is told and not the combinations of evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from presage.hypothesis.ranges.absences import MOST_TIMES, Absences
from presage.hypothesis.ranges.comparing import Comparing
from presage.hypothesis.ranges.counts import Counts
from presage.hypothesis.ranges.memory import near
from presage.hypothesis.ranges.merging import Merging
from presage.hypothesis.ranges.partial import Partial, bits, given_of, ordered, slots_with
from presage.hypothesis.ranges.pieces import ZonePiece, apart, canonical, equations, overlap
from presage.hypothesis.ranges.segments import Segment, cells, part_of, reach_of, without_times
from presage.hypothesis.ranges.world import World
from presage.model.terms import Number, Value, number
from presage.model.values import is_true, value_of
from presage.patterns.literals import Argument, Open
from presage.patterns.premises import Fixed, with_values
from presage.patterns.zoned import Counted, Moment, Need, RangePattern, at_most
from presage.time.sameness import distinct, first_of, last_of, mapping, precedes
from presage.time.stretches import BEGINNING, ENDLESS, EVER, Cut, Stretch
from presage.time.zones import ANSWER, START, Constraint


class Matching:
    """Falls one pattern apart, for answers with given values."""

    def __init__(self, pattern: RangePattern, world: World) -> None:
        self.pattern, self.world, self.line = pattern, world, world.line
        self.comparing, self.absences = Comparing(pattern), Absences(pattern, world)
        self.counts = Counts(pattern, world)
        self.order = ordered(pattern)
        self.lookups = [each for each in pattern.lookups if each.positive]
        self.now: Number = 0
        self.answered = {each for each in pattern.arguments if not isinstance(each, Fixed)}
        self.merging = Merging(pattern, self.order, self.lookups, self.answered)
        self.may_begin = all(self._may_be_none(each) for each in pattern.premises)
        """Whether there may be answers for which no fact speaks: no premise, or stretches without times alone."""
        self.left_out: list[Stretch] = []
        """Times of answers, without end, that the last pieces say nothing of: only single ones can be judged."""
        self.apart: list[tuple[Argument, ...]] = []
        """The arguments of answers about somebody that have fallen apart from the last pieces."""

    def pieces(self, arguments: Sequence[Argument], now: Number, times: Stretch = EVER) -> Iterator[ZonePiece]:
        """The pieces that lead to these arguments; a variable stands for any value that nothing gives."""
        self.left_out.clear()
        self.apart.clear()
        start = self._bound(arguments, times)
        if start is not None:
            for each in self._states(*start, now):
                yield from self._piece(each)

    def found(
        self, given: Sequence[Value | None], now: Number, times: Stretch
    ) -> Iterator[tuple[tuple[Argument, ...], ZonePiece]]:
        """The pieces that lead to any answers with the values given, each with its arguments."""
        zone = self.pattern.zone.within(times.within(ANSWER))
        slots = None if zone.empty else slots_with(self.pattern, given)
        if slots is not None:
            for each in self._states(Partial(slots, zone, self.pattern.zone), frozenset(), now):
                for piece in self._piece(each):
                    yield self._answer(each.slots), piece

    def _states(self, state: Partial, barred: frozenset[int], now: Number) -> Iterator[Partial]:
        """What facts make of a partial match, its negated literals judged."""
        self.now = now
        states = list(self._settled(state, barred))
        for place, premise in enumerate(self.order):
            meet = self._throughout if premise.throughout else self._at_a_time
            states = self.merging.merged((found for each in states for found in meet(each, premise, barred)), place)
            if not states:
                return
        states = [found for each in states for found in self._looked_up(each, barred)]
        for counted in self.pattern.counted:
            states = [found for each in states for found in self._counted(each, counted, barred)]
        for absence in self.pattern.absences:
            states = [found for each in states for found in self._absent(each, absence, barred)]
        for each in states:
            yield from self._timed(each)

    def _counted(self, state: Partial, counted: Counted, barred: frozenset[int]) -> Iterator[Partial]:
        return self.counts.judged(state, counted, self.now, barred, lambda bound: self._follow(bound, barred))

    def _follow(self, bound: Partial, barred: frozenset[int]) -> Iterator[Partial]:
        """What follows from values that were given to a partial match."""
        for each in self._settled(bound, barred):
            yield from self._looked_up(each, barred)

    def _absent(self, state: Partial, absence: Need, barred: frozenset[int]) -> Iterator[Partial]:
        for each in self.absences.judged(state, absence, self.now, lambda bound: self._follow(bound, frozenset())):
            if any(each.slots[slot] is not None for slot in barred):
                self.apart.append(self._answer(each.slots))
            else:
                yield each

    def touched(
        self, literal: Need, row: Sequence[Value | None], times: Stretch, now: Number
    ) -> Iterator[tuple[Argument, ...]]:
        """The arguments of the answers that a fact concerns, as that premise or absence."""
        slots = with_values([None] * len(self.pattern.names), literal.arguments, row)  # type: ignore[arg-type]
        if slots is None:
            return
        counted = next((each for each in self.pattern.counted if each.need is literal), None)
        if counted is None:
            yield from self._answered(literal, slots, times, now)
            return
        answers: dict[tuple[Argument, ...], None] = {}
        for filled in self.counts.sets.looked_up(counted, slots):
            bare = [None if slot in counted.locals else value for slot, value in enumerate(filled)]
            answers.update(dict.fromkeys(self._answered(literal, bare, times, now)))
        yield from answers

    def _answered(self, literal: Need, slots: list[Any], times: Stretch, now: Number) -> Iterator[tuple[Argument, ...]]:
        """The arguments of the answers that some values lead to."""
        if all(slots[each] is not None for each in self.answered):
            yield self._answer(slots)
            return
        self.now = now
        zone = self.pattern.zone
        if not literal.throughout:
            zone = zone.within(times.within(literal.low.base, literal.low.offset))
        states = [] if zone.empty else list(self._settled(Partial(slots, zone, zone), frozenset()))
        for place, premise in enumerate(self.order):
            if premise is literal:
                continue
            meet = self._throughout if premise.throughout else self._at_a_time
            states = self.merging.merged(
                (found for each in states for found in meet(each, premise, frozenset())), place
            )
        found: dict[tuple[Argument, ...], None] = {}
        for state in states:
            for each in self._looked_up(state, frozenset()):
                found[self._answer(each.slots)] = None
        yield from found

    def _may_be_none(self, premise: Need) -> bool:
        return premise.throughout and not self.pattern.zone.within(without_times(premise)).empty

    def begin(self) -> Iterator[tuple[Argument, ...]]:
        """The arguments of the answers for which no fact has to speak."""
        zone = self.pattern.zone
        for state in self._settled(Partial([None] * len(self.pattern.names), zone, zone), frozenset()):
            for each in self._looked_up(state, frozenset()):
                yield self._answer(each.slots)

    def _answer(self, slots: Sequence[Any]) -> tuple[Argument, ...]:
        return tuple(self._value(each, slots) for each in self.pattern.arguments)

    def _value(self, argument: Any, slots: Sequence[Any]) -> Any:
        if isinstance(argument, Fixed):
            return argument.value
        value = slots[argument]
        return Open(self.pattern.names[argument]) if value is None else value

    def _bound(self, arguments: Sequence[Argument], times: Stretch) -> tuple[Partial, frozenset[int]] | None:
        slots: list[Any] = [None] * len(self.pattern.names)
        barred: dict[int, str] = {}
        for asked, given in zip(self.pattern.arguments, arguments, strict=True):
            if isinstance(given, Open):
                if isinstance(asked, Fixed) or barred.setdefault(asked, given.name) != given.name:
                    return None
            elif isinstance(asked, Fixed):
                if asked.value != given:
                    return None
            elif slots[asked] is None:
                slots[asked] = given
            elif slots[asked] != given:
                return None
        if any(slots[each] is not None for each in barred) or len(set(barred.values())) < len(barred):
            return None
        zone = self.pattern.zone.within(times.within(ANSWER))
        # What is decided is looked at no more, which is nothing that was told.
        return None if zone.empty else (Partial(slots, zone, self.pattern.zone), frozenset(barred))

    def _settled(self, state: Partial, barred: frozenset[int]) -> Iterator[Partial]:
        """The state with all that follows from the values bound so far: by comparisons, and by static facts."""
        found = self._compared(state, barred)
        if found is None:
            return
        for index, lookup in enumerate(self.lookups):
            bit = 1 << (len(self.pattern.conditions) + index)
            given = [each.value if isinstance(each, Fixed) else found.slots[each] for each in lookup.arguments]
            if found.done & bit or all(each is None for each in given):
                continue
            for row in self.world.statics(lookup.predicate, given):
                slots = with_values(found.slots, lookup.arguments, row)
                if slots is None or any(slots[each] is not None for each in barred):
                    continue
                grounded = found.grounded | bits(lookup.arguments)
                yield from self._settled(found.but(slots=slots, done=found.done | bit, grounded=grounded), barred)
            return
        yield found

    def _looked_up(self, state: Partial, barred: frozenset[int]) -> Iterator[Partial]:
        """The state with the static facts that nothing has chosen yet."""
        for index, lookup in enumerate(self.lookups):
            bit = 1 << (len(self.pattern.conditions) + index)
            if state.done & bit:
                continue
            given = [each.value if isinstance(each, Fixed) else state.slots[each] for each in lookup.arguments]
            for row in self.world.statics(lookup.predicate, given):
                slots = with_values(state.slots, lookup.arguments, row)
                if slots is None or any(slots[each] is not None for each in barred):
                    continue
                chosen = state.but(slots=slots, done=state.done | bit, grounded=state.grounded | bits(lookup.arguments))
                for more in self._settled(chosen, barred):
                    yield from self._looked_up(more, barred)
            return
        yield state

    def _compared(self, state: Partial, barred: frozenset[int]) -> Partial | None:
        slots, zone, free, done, grounded = state.slots, state.zone, state.free, state.done, state.grounded
        again = True
        while again:
            again = False
            for index, condition in enumerate(self.pattern.conditions):
                bit = 1 << index
                if done & bit:
                    continue
                missing = [each for each in condition.slots if slots[each] is None]
                if missing:
                    if len(missing) == 1 and condition.operator == "=" and condition.wanted:
                        value = self.comparing.solution(condition, slots, zone, missing[0])
                        if value is not None:
                            if missing[0] in barred:
                                return None
                            slots = list(slots)
                            slots[missing[0]] = value
                            done |= bit
                            again = True
                            # What is worked out from given values is given.
                            if all(grounded >> each & 1 for each in condition.slots if each != missing[0]):
                                grounded |= 1 << missing[0]
                            continue
                    if condition.wanted and self.comparing.is_hopeless(condition, slots, zone):
                        return None
                    continue
                if condition.times:
                    said = self.comparing.said(condition, slots, zone)
                    if said is None:
                        continue
                    if said is not True:
                        if said is False:
                            return None
                        zone, free = zone.within(said), free.within(said)
                        if zone.empty:
                            return None
                else:
                    known = self.comparing.known(slots, zone)
                    left, right = value_of(condition.left, known), value_of(condition.right, known)
                    if is_true(condition.operator, left, right) != condition.wanted:
                        return None
                done |= bit
                again = True
        if zone is state.zone and slots is state.slots and done == state.done:
            return state
        return state.but(slots=slots, zone=zone, free=free, done=done, grounded=grounded)

    def _at_a_time(self, state: Partial, premise: Need, barred: frozenset[int]) -> Iterator[Partial]:
        given = given_of(premise, state.slots)
        reach = reach_of(self.line, state.zone, premise)
        memory, when = self.world.memory, premise.low
        for row in memory.rows(premise.predicate, given):
            times = near(memory.times(premise.predicate, row), reach)
            if not times:
                continue
            slots = with_values(state.slots, premise.arguments, row)
            if slots is None or (barred and any(slots[each] is not None for each in barred)):
                continue
            grounded = state.grounded | bits(premise.arguments)
            for fact in times:
                there = fact.within(when.base, when.offset)
                zone = state.zone.within(there)
                if zone.empty:
                    continue
                because = state.because | {(premise.predicate, row, fact)}
                met = state.but(
                    slots=slots, zone=zone, free=state.free.within(there), because=because, grounded=grounded
                )
                yield from self._settled(met, barred)
        if premise.outside:
            before = [at_most(when, Moment(START, 0), (0, -1))]
            zone = state.zone.within(before)
            if not zone.empty:
                yield state.but(zone=zone, free=state.free.within(before))
        zone = state.zone.within([self._in_time(premise, given)])
        if not zone.empty:
            yield state.but(zone=zone, needs=(*state.needs, premise), whole=(*state.whole, premise))

    def _in_time(self, premise: Need, given: Sequence[Any]) -> Constraint:
        """A fact that begins then can still arrive: later than now minus its delay."""
        delay = self.world.delays.of(premise.predicate, given)
        return at_most(Moment(START, number(self.now - delay)), premise.low, (0, -1))

    def _throughout(self, state: Partial, premise: Need, barred: frozenset[int]) -> Iterator[Partial]:
        given = given_of(premise, state.slots)
        reach = reach_of(self.line, state.zone, premise)
        memory = self.world.memory
        settled = number(self.now - self.world.delays.of(premise.predicate, given))
        if None not in given:
            known = memory.times(premise.predicate, tuple(given))  # type: ignore[arg-type]
            yield from self._covered(state, premise, near(known, reach), settled)
            return
        for row in memory.rows(premise.predicate, given):
            times = near(memory.times(premise.predicate, row), reach)
            slots = with_values(state.slots, premise.arguments, row) if times else None
            if slots is None or any(slots[each] is not None for each in barred):
                continue
            bound = state.but(slots=slots, grounded=state.grounded | bits(premise.arguments))
            own = number(self.now - self.world.delays.of(premise.predicate, row))
            for each in self._settled(bound, barred):
                yield from self._covered(each, premise, times, own, is_met=True)
        yield from self._covered(state, premise, [], settled)

    def _covered(
        self, state: Partial, premise: Need, facts: list[Stretch], settled: Number, is_met: bool = False
    ) -> Iterator[Partial]:
        """A stretch, as far as facts cover it; up to a time, what has not come no longer does. With `is_met` only where
        they cover some of it, whether they are evidence for something else already or not."""
        cut = self.line.after(settled)
        there: list[Stretch] = []
        source = mapping()
        for fact in facts:
            # What one before it has covered already is none of its own.
            own = fact if not there else Stretch(last_of(fact.first, there[-1].last), fact.last)
            there.append(own)
            source[own] = fact
        segments: list[Segment] = []
        start: Cut = (0, 0)
        edges = [*(each.first for each in there), ENDLESS]
        before: Cut = BEGINNING
        for place, edge in enumerate(edges):
            gap = Stretch(before, edge)
            if premise.outside and precedes(gap.first, start):
                segments.append(Segment(Stretch(gap.first, first_of(start, edge)), "before", Stretch(gap.first, start)))
                gap = Stretch(first_of(start, edge), edge)
            later = Stretch(last_of(gap.first, cut), edge)
            if precedes(later.first, later.last):
                segments.append(Segment(later, "open", gap))
            if edge != ENDLESS:
                segments.append(Segment(there[place], "there", there[place]))
                before = there[place].last
        values = tuple(given_of(premise, state.slots))
        for zone, free, run, first, last in cells(state.zone, state.free, premise, segments):
            needs = [
                part_of(self.line, premise, each.times, at == first, at == last)
                for at, each in run
                if each.kind == "open"
            ]
            whole = [
                part_of(self.line, premise, each.region, at == first, at == last)
                for at, each in run
                if each.kind == "open"
            ]
            # Finitely many facts cover a stretch that is missing only if it begins when they still may, open or not.
            zone = zone.within(at_most(Moment(START, settled), each.low, (0, -1)) for each in needs)
            if zone.empty:
                continue
            because = {(premise.predicate, values, source[each.times]) for _, each in run if each.kind == "there"}
            if is_met and not because:
                continue
            yield state.but(
                zone=zone,
                free=free,
                needs=(*state.needs, *needs),
                whole=(*state.whole, *whole),
                because=state.because | because,
                grounded=state.grounded | bits(premise.arguments) if because else state.grounded,
            )

    def _timed(self, state: Partial) -> Iterator[Partial]:
        """Comparisons that only single times can be judged by, at each of them."""
        for index, condition in enumerate(self.pattern.conditions):
            if state.done >> index & 1 or any(state.slots[each] is None for each in condition.slots):
                continue
            bases = [each for each in self.comparing.times(condition) if state.zone.distance(each, START) is None]
            if not bases:
                found = self._compared(state, frozenset())
                if found is not None:
                    yield from self._timed(found)
                return
            known = state.zone.range(bases[0])
            if not self.line.whole or known.low is None or known.high is None or known.high - known.low > MOST_TIMES:
                self.left_out.append(self.line.of_range(state.zone.range(ANSWER)))
                return
            for step in range(int(known.high - known.low) + 1):
                fixed = self.line.point(known.low + step).within(bases[0])
                zone = state.zone.within(fixed)
                if not zone.empty:
                    yield from self._timed(state.but(zone=zone, free=state.free.within(fixed)))
            return
        yield state

    def _piece(self, state: Partial) -> Iterator[ZonePiece]:
        def put(need: Need) -> Need:
            return replace(need, arguments=tuple(self._value(each, state.slots) for each in need.arguments))

        limits = self.comparing.limits(state, self.world.statics)
        if limits is None:
            return
        needs = tuple(distinct(map(put, state.needs)))
        whole = tuple(distinct(map(put, state.whole)))
        settled = tuple(distinct(map(put, state.settled)))
        given = self.comparing.given(state.grounded)
        grounded = all(given >> each & 1 for each in self.answered if state.slots[each] is not None)
        # Values that were not known when a premise was met may have a delay of their own.
        timely = state.zone.within(
            self._in_time(each, each.arguments)
            for each in needs
            if each.positive and each.amount is None and each.predicate not in self.world.delays.plain
        )
        if timely.empty:
            return
        parts = [(timely, limits)]
        # What is counted is asked for together with nothing that must be absent.
        for present in (each for each in needs if each.positive and each.amount is None):
            for absent in (each for each in (*needs, *settled) if not each.positive and each.amount is None):
                same = equations(present, absent)
                if same is not None:
                    parts = [
                        part
                        for zone, known in parts
                        for part in apart(zone, known, overlap(zone, present, absent), same)
                    ]
        for zone, known in parts:
            yield canonical(
                ZonePiece(zone, state.free, needs, whole, state.because, settled, known, grounded, state.loose)
            )
