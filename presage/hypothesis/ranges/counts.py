"""How many there are of something, or how much, at all times of an answer at once.

Which facts count depends on where the stretch lies in which they do, and so on times that are open: the zone falls
apart into cells in each of which the same facts count. What is lacking in a cell is a premise as a whole, as long as
enough can still come; what must not come is one until the last of it is settled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, floor
from typing import Any

from presage.hypothesis.ranges.counted_sets import MOST_POINTS, Choices, CountedSets, Found, ZonePart, outside
from presage.hypothesis.ranges.memory import near
from presage.hypothesis.ranges.partial import Partial, bits, together
from presage.hypothesis.ranges.pieces import extent
from presage.hypothesis.ranges.premises_inside import PremisesInside
from presage.hypothesis.ranges.segments import reach_of
from presage.hypothesis.ranges.wording import Wording
from presage.hypothesis.ranges.world import World
from presage.hypothesis.words import Comparisons
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Number, Value, Variable, number
from presage.model.values import is_true, value_of
from presage.patterns.premises import Fixed, with_values
from presage.patterns.ranking import ranks
from presage.patterns.zoned import Amount, Counted, Moment, Need, RangePattern, at_most
from presage.time.stretches import Stretch
from presage.time.zones import ANSWER, START, Constraint, ZoneBound

MOST_SPLIT = 64
"""For so many times of an answer what is left is counted one by one."""

FEW = 8
"""So many, where there is no end to them."""

SettlePartial = Callable[[Partial], Iterator[Partial]]


class Counts:
    """What is counted in one pattern."""

    def __init__(self, pattern: RangePattern, world: World) -> None:
        self.pattern, self.world, self.line = pattern, world, world.line
        self.sets = CountedSets(pattern, world)
        self.wording, self.inside = Wording(self.sets), PremisesInside(self.sets)
        self.now: Number = 0

    def judged(
        self, state: Partial, counted: Counted, now: Number, barred: frozenset[int], settle: SettlePartial
    ) -> Iterator[Partial]:
        """What becomes of a state. `settle` gives what follows from values that are bound."""
        self.now = now
        if not state.free.range(ANSWER).is_point:
            state = state.but(loose=True)
        for each in self._by_statics(state, counted, barred, settle):
            yield from self._by_facts(each, counted, barred, settle)

    def _by_statics(
        self, state: Partial, counted: Counted, barred: frozenset[int], settle: SettlePartial
    ) -> Iterator[Partial]:
        """A state for each choice of the values that static facts in the braces share with what is outside."""
        used = {each for lookup in counted.lookups if lookup.positive for each in lookup.arguments}
        shared = [each for each in used - counted.locals if not isinstance(each, Fixed)]
        if shared:
            state = state.but(grounded=state.grounded | bits(shared))
        missing = [each for each in shared if state.slots[each] is None]
        if not missing:
            yield state
            return
        if any(each in barred for each in missing):
            return
        known = {
            tuple(filled[each] for each in missing): None
            for filled in self.sets.looked_up(counted, self.sets.bare(counted, state.slots))
        }
        for values in known:
            slots = list(state.slots)
            for each, value in zip(missing, values, strict=True):
                slots[each] = value
            yield from settle(state.but(slots=slots))

    def _by_facts(
        self, state: Partial, counted: Counted, barred: frozenset[int], settle: SettlePartial
    ) -> Iterator[Partial]:
        """A state for each choice of the values that what is counted shares with what is outside, and one that leaves
        them open."""
        need = counted.need
        shared = [each for each in need.arguments if not isinstance(each, Fixed) and each not in counted.locals]
        missing = [each for each in shared if state.slots[each] is None]
        if not missing:
            yield from self._within(state, counted)
            return
        known: dict[tuple[Value, ...], None] = {}
        memory, reach = self.world.memory, reach_of(self.line, state.zone, need)
        for row in memory.rows(need.predicate, self.sets.given(counted, state.slots)):
            filled = with_values(state.slots, need.arguments, row)
            if filled is not None and near(memory.times(need.predicate, row), reach):
                known[tuple(filled[each] for each in missing)] = None
        excluded: list[Comparisons] = []
        for values in known:
            pairs = list(zip(missing, values, strict=True))
            excluded.append(
                tuple(Comparison("=", Variable(self.pattern.names[each]), Constant(value)) for each, value in pairs)
            )
            if any(each in barred for each in missing):
                continue
            slots = list(state.slots)
            for each, value in pairs:
                slots[each] = value
            for bound in settle(state.but(slots=slots)):
                yield from self._within(bound, counted, is_there=True)
        open_to = state if counted.is_positive else state.but(excluded=(*state.excluded, *excluded))
        yield from self._within(open_to, counted, is_there=False)

    def _within(self, state: Partial, counted: Counted, is_there: bool | None = None) -> Iterator[Partial]:
        """Where a stretch has times, and where it has none. With `is_there`, something counts, or nothing."""
        need = counted.need
        bound = value_of(counted.bound, self.sets.known(state.slots, None))
        if bound is None or isinstance(bound, str):
            return
        strict = -1 if need.closed_low and need.closed_high else 0
        nothing = [at_most(need.high, need.low, (0, strict))]
        zone = state.zone.within(nothing)
        if not zone.empty and not is_there and not counted.some and is_true(counted.operator, 0, bound):
            yield state.but(zone=zone, free=state.free.within(nothing))
        some = [at_most(need.low, need.high, (0, -1 - strict))]
        zone = state.zone.within(some)
        if zone.empty:
            return
        things = {} if is_there is False else self.sets.found(counted, state.slots, reach_of(self.line, zone, need))
        found: list[Partial] = []
        for cell in self._cells(state.but(zone=zone, free=state.free.within(some)), counted, things, bound):
            if cell.found or not is_there:
                for part, coming in self.inside.cases(state, counted, cell):
                    found += self._judge(state, counted, part, bound, coming)
        adds = any(each.predicate == need.predicate and each.amount is None for each in state.needs)
        yield from together(found) if adds and counted.is_positive else found

    # -- what is there ----------------------------------------------------------------------------

    # -- where it counts --------------------------------------------------------------------------

    def _cells(
        self, state: Partial, counted: Counted, things: dict[tuple[Value, ...], list[Found]], bound: Number
    ) -> Iterator[ZonePart]:
        """The parts of a zone in which the same things count; where it is enough, whatever else does. What is evidence
        already comes first: it counts for nothing more. Then what is latest: it counts for the longest."""

        def is_new(found: Found) -> bool:
            return (counted.need.predicate, found.row, found.fact) not in state.because

        def rank(thing: tuple[tuple[Value, ...], list[Found]]) -> tuple[object, ...]:
            values, supports = thing
            most = -values[0] if counted.function == "sum" else 0  # type: ignore[operator]
            return all(map(is_new, supports)), most, min(map(_age, supports)), ranks(values)

        ranked = sorted(things.items(), key=rank)
        cells = [ZonePart(state.zone, state.free, ())]
        for _, supports in ranked:
            following: list[ZonePart] = []
            for cell in cells:
                if counted.is_positive and self._is_met(counted, cell.found, bound):
                    yield cell
                    continue
                rest = [cell]
                for support in sorted(supports, key=lambda each: (is_new(each), _age(each), ranks(each.row))):
                    inside = list(_meeting(self.line.whole, support.times, counted.need))
                    left: list[ZonePart] = []
                    for part in rest:
                        within = part.zone.within(inside)
                        if within.empty:
                            left.append(part)
                            continue
                        following.append(ZonePart(within, part.free.within(inside), (*part.found, support)))
                        left += outside(part, inside)
                    rest = left
                following += rest
            cells = following
        yield from cells

    def _is_met(self, counted: Counted, found: Sequence[Found], bound: Number) -> bool:
        return is_true(counted.operator, self._worth(counted, found), bound) and bool(found or not counted.some)

    def _worth(self, counted: Counted, found: Sequence[Found]) -> Number:
        if counted.function == "count":
            return len(found)
        return number(sum(each.values[0] for each in found))  # type: ignore[misc]

    # -- what that says ---------------------------------------------------------------------------

    def _judge(
        self, state: Partial, counted: Counted, cell: ZonePart, bound: Number, coming: tuple[tuple[Any, ...], ...] = ()
    ) -> Iterator[Partial]:
        """`coming` is what other premises add."""
        there = self._worth(counted, cell.found)
        more = len(coming) if counted.function == "count" else number(sum(each[0] for each in coming))
        need = counted.need
        delay = self.world.delays.of(need.predicate, self.sets.given(counted, state.slots))
        cut = number(self.now - delay)
        enough = self._enough(counted, cell.found, bound, more) if coming and counted.is_positive else cell.found
        evidence = {
            (need.predicate, each.row, each.fact)
            for each in enough
            if counted.function == "count" or each.values[0] != 0
        }
        if counted.is_positive or counted.operator == "=":
            grounded = state.grounded | bits(
                each for each in need.arguments if isinstance(each, Fixed) or each not in counted.locals
            )
            seen = state.but(
                zone=cell.zone,
                free=cell.free,
                because=state.because | evidence,
                grounded=grounded if evidence else state.grounded,
            )
        else:
            seen = state.but(zone=cell.zone, free=cell.free)
        if counted.is_positive:
            if self._is_met(counted, cell.found, bound) or (coming and is_true(counted.operator, there + more, bound)):
                yield seen
            else:
                yield from self._lacking(seen, counted, cell, _lacking(counted, bound, there), cut)
            return
        rest = _left(counted, bound, there)
        if rest is None or _left(counted, bound, number(there + more)) is None:
            return
        choices = self.sets.choices(counted, state.slots)
        if choices.values == () or self._is_full(counted, cell, choices):
            if counted.operator != "=" or rest == 0:
                yield seen
            return
        zone = seen.zone.within([at_most(need.high, Moment(START, cut))])
        words = _words(counted, bound)
        if not zone.empty and (counted.operator != "=" or rest == 0):
            settled = replace(need, amount=Amount(words, rest, limits=tuple(self.wording.limits(counted, state.slots))))
            yield seen.but(zone=zone, settled=(*seen.settled, settled))
        zone = seen.zone.within([at_most(Moment(START, cut), need.high, (0, -1))])
        if zone.empty:
            return
        if counted.operator == "=" and rest:
            yield from self._lacking(seen.but(zone=zone), counted, cell, rest, cut, choices)
            return
        yield self._needing(seen.but(zone=zone), counted, cell, Amount(words, rest), cut, choices)

    def _is_full(self, counted: Counted, cell: ZonePart, choices: Choices) -> bool:
        """Whether all that can count does: at each time of a stretch that is as long whenever it is."""
        low, high = counted.need.low, counted.need.high
        away = 0 if low.base == high.base else cell.zone.distance(high.base, low.base)
        if not self.line.whole or counted.function != "count" or choices.values is None or away is None:
            return False
        if not any(map(self.sets.is_timed, counted.terms)):
            return False
        return (away + high.offset - low.offset + 1) * len(choices.values) <= len(cell.found)

    def _enough(self, counted: Counted, found: Sequence[Found], bound: Number, more: Number) -> Sequence[Found]:
        """As much of what is there as is needed beside what other premises add: the first of it, which is the most."""
        for size in range(len(found) + 1):
            worth = number(self._worth(counted, found[:size]) + more)
            if is_true(counted.operator, worth, bound):
                return found[:size]
        return found

    def _lacking(
        self,
        state: Partial,
        counted: Counted,
        cell: ZonePart,
        lacking: Number,
        cut: Number,
        choices: Choices | None = None,
    ) -> Iterator[Partial]:
        """So much is still needed, where so much may still come."""
        need = counted.need
        choices = choices or self.sets.choices(counted, state.slots)
        timed = any(map(self.sets.is_timed, counted.terms))
        later = [each for each in cell.found if each.times.last[0] > cut + (1 if self.line.whole else 0)]
        points: int | None = 1
        if choices.values is not None:
            if not timed:
                left = set(choices.values) - {each.values for each in cell.found}
                if not self._is_enough(counted, left, lacking):
                    return
            elif self.line.whole:
                at_once = len(choices.values) if counted.function == "count" or choices.free else _total(choices.values)
                if not at_once:
                    return
                if choices.free:
                    points = 1
                elif counted.function == "sum":
                    taken = sum(each.values[0] for each in later)  # type: ignore[misc]
                    over = 1 if counted.operator == ">" else 0
                    points = max(
                        1, floor((lacking + taken) / at_once) + 1 if over else ceil((lacking + taken) / at_once)
                    )
                else:
                    points = max(1, ceil((lacking + len(later)) / at_once))
            elif lacking > len(choices.values):
                points = None
        # Nothing comes before the stream begins, however late it may be.
        high, low, begin = need.high, need.low, Moment(START, max(cut, -1) if self.line.whole else cut)
        if timed and points is not None and self.sets.is_picky(counted):
            yield from self._picky(
                state, counted, cell, Amount(_words(counted, lacking), lacking, points=points), cut, choices
            )
            return
        if points is None:
            begin = Moment(START, max(cut, 0))
            constraints = [at_most(begin, high, (0, -1)), at_most(low, high, (0, -1))]
        else:
            constraints = [
                at_most(begin, high, (number(-points), 0) if self.line.whole else (0, -1)),
                at_most(low, high, (1 - points, 0) if self.line.whole else (0, 0)),
            ]
        zone = state.zone.within(constraints)
        if zone.empty:
            return
        amount = Amount(_words(counted, lacking), lacking, points=points)
        yield self._needing(state.but(zone=zone), counted, cell, amount, cut, choices)

    def _picky(
        self, state: Partial, counted: Counted, cell: ZonePart, amount: Amount, cut: Number, choices: Choices
    ) -> Iterator[Partial]:
        """So much is still needed, at times some of which do not count: time by time of the answer, if these are few,
        and otherwise not before enough of them can have come."""
        need = counted.need
        for each in self._by_answer(state):
            first, last = extent(each.zone, need.low)[0], extent(each.zone, need.high)[1]
            begin = max(int(cut) + 1, 0, 0 if first is None else int(first))
            assert amount.points is not None
            points = amount.points
            if last is None or last - begin > MOST_POINTS:
                allowed = [begin + points - 1]
            else:
                there = {found.times.first[0] for found in cell.found} if choices.values is not None else set()
                taken = there if choices.values is not None and len(choices.values) == 1 else set()
                known_at = (
                    (at, self.sets.known(self.sets.bare(counted, each.slots), at)) for at in range(begin, int(last) + 1)
                )
                allowed = [at for at, values in known_at if at not in taken and self.sets.may_hold(counted, values)]
                few = amount.points if not taken else max(1, ceil(amount.value)) if counted.function == "count" else 1
                if len(allowed) < few:
                    continue
                # From the last time on at which enough of them are left.
                points = int(last) - allowed[-few] + 1
                allowed = [allowed[few - 1]]
            zone = each.zone.within([at_most(Moment(START, allowed[0]), need.high)])
            if not zone.empty:
                yield self._needing(each.but(zone=zone), counted, cell, replace(amount, points=points), cut, choices)

    def _by_answer(self, state: Partial) -> list[Partial]:
        """A state for each time of the answer; of those without end for the first few, and one for the rest."""
        known = state.zone.range(ANSWER)
        if known.low is None or (known.high is not None and not 0 < known.high - known.low <= MOST_SPLIT):
            return [state]
        first = int(known.low)
        last = first + FEW if known.high is None else int(known.high)
        zones = [state.zone.within(self.line.point(at).within(ANSWER)) for at in range(first, last + 1)]
        if known.high is None:
            zones.append(state.zone.within([at_most(Moment(START, last + 1), Moment(ANSWER, 0))]))
        return [state.but(zone=zone) for zone in zones if not zone.empty]

    def _needing(
        self, state: Partial, counted: Counted, cell: ZonePart, amount: Amount, cut: Number, choices: Choices
    ) -> Partial:
        need = counted.need
        limits = tuple(self.wording.limits(counted, state.slots))
        taken = tuple(self.wording.taken(counted, cell, cut))
        count = None if choices.values is None else len(choices.values)
        now = replace(
            amount,
            differ=self.wording.differ(counted, state.slots),
            limits=(*limits, *taken),
            since=cut,
            choices=count,
        )
        always = replace(amount, limits=limits, points=1)
        return state.but(
            needs=(*state.needs, replace(need, amount=now)), whole=(*state.whole, replace(need, amount=always))
        )

    # -- what may come ----------------------------------------------------------------------------

    def _is_enough(self, counted: Counted, left: set[tuple[Value, ...]], lacking: Number) -> bool:
        if counted.function == "count":
            return len(left) >= lacking
        total = _total(left)
        return total > lacking if counted.operator == ">" else total >= lacking


def _age(found: Found) -> tuple[Any, ...]:
    """The less, the longer it counts."""
    return tuple((-at, -after) for at, after in reversed(found.times))


def _total(values: Iterable[tuple[Value, ...]]) -> Number:
    return number(sum(each[0] for each in values if not isinstance(each[0], str)))


def _lacking(counted: Counted, bound: Number, there: Number) -> Number:
    """How much is missing; of a count, whole."""
    if counted.function == "sum":
        return number(bound - there)
    least = ceil(bound) if counted.operator == ">=" else floor(bound) + 1
    return max(least, 1 if counted.some else 0) - int(there)


def _left(counted: Counted, bound: Number, there: Number) -> Number | None:
    """How much more there may be; `None` if there is too much."""
    if counted.function == "sum":
        return number(bound - there) if is_true(counted.operator, there, bound) else None
    if counted.operator == "=" and bound != floor(bound):
        return None
    most = ceil(bound) - 1 if counted.operator == "<" else floor(bound)
    return most - int(there) if there <= most else None


def _words(counted: Counted, bound: Number) -> str:
    if counted.function == "sum":
        return {">=": "sum", ">": "sum over", "<": "sum under", "<=": "sum at most"}[counted.operator]
    if counted.is_positive:
        return ""
    return "exactly" if counted.operator == "=" and bound else "at most"


def _meeting(whole: bool, times: Stretch, need: Need) -> Iterator[Constraint]:
    """What makes the stretch of a literal meet some times."""
    (first, after), (last, closed) = times
    if last != float("inf"):
        # The stretch begins before these times end.
        strict = not closed or not need.closed_low
        yield at_most(need.low, Moment(START, last), _bound(whole, strict))  # type: ignore[arg-type]
    yield at_most(Moment(START, first), need.high, _bound(whole, bool(after) or not need.closed_high))  # type: ignore[arg-type]


def _bound(whole: bool, strict: bool) -> ZoneBound:
    return (0, 0) if not strict else (-1, 0) if whole else (0, -1)
