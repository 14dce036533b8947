"""Other premises that fall among what is counted: they count too, once they have come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from presage.hypothesis.ranges.counted_sets import CountedSets, ZonePart, outside
from presage.hypothesis.ranges.partial import Partial
from presage.hypothesis.ranges.pieces import extent
from presage.model.terms import Number, Variable, number
from presage.model.values import value_of
from presage.patterns.premises import Fixed
from presage.patterns.zoned import OWN, Counted, Moment, Need, same
from presage.patterns.zoned import inside as within
from presage.time.zones import START, Constraint, Zone

MOST_TIMES = 16
"""A stretch of more times is not taken apart to see which of them are counted."""

CellCase = tuple[ZonePart, tuple[tuple[Any, ...], ...]]
"""A cell, and what other premises add there."""


class PremisesInside:
    """What the other premises of one pattern add to what is counted."""

    def __init__(self, sets: CountedSets) -> None:
        self.sets, self.pattern = sets, sets.pattern

    def cases(self, state: Partial, counted: Counted, cell: ZonePart) -> Iterator[CellCase]:
        """A cell by which other premises fall inside, with what they add."""
        cases: list[CellCase] = [(cell, ())]
        for premise in state.needs:
            if premise.predicate == counted.need.predicate and premise.amount is None:
                cases = [
                    case
                    for part, coming in cases
                    for each, points in _single(premise, part)
                    for case in self._with(state, counted, points, (each, coming))
                ]
        yield from cases

    def _with(self, state: Partial, counted: Counted, premises: Iterable[Need], case: CellCase) -> list[CellCase]:
        """A case by which of some premises, each at one time, fall inside."""
        cases = [case]
        for premise in premises:
            inside = within(premise.low, counted.need)
            following: list[CellCase] = []
            for cell, coming in cases:
                for part in self._by_time(counted, premise, cell):
                    adds = self._added(state, counted, premise, part.zone)
                    if adds is None or adds in {each.values for each in part.found}:
                        following.append((part, coming))
                    else:
                        following += self._adding(part, coming, adds, inside)
            cases = following
        return cases

    def _adding(
        self, part: ZonePart, coming: tuple[tuple[Any, ...], ...], adds: tuple[Any, ...], inside: list[Constraint]
    ) -> Iterator[CellCase]:
        """A cell by whether a premise falls inside, and by whether what it adds is there already."""
        zone = part.zone.within(inside)
        if not zone.empty:
            new = [ZonePart(zone, part.free.within(inside), part.found)]
            for moment in _taken_times(adds, [*(each.values for each in part.found), *coming]):
                # At a time that is counted already it adds nothing.
                at = same(_moment_in(adds), moment)
                for each in new:
                    both = each.zone.within(at)
                    if not both.empty:
                        yield ZonePart(both, each.free.within(at), each.found), coming
                # Where it lies elsewhere and needs the same, both are told as one: that this time goes by is no news.
                new = [rest._replace(free=each.free) for each in new for rest in outside(each, at)]
            for each in new:
                yield each, coming if adds in coming else (*coming, adds)
        for each in outside(part, inside):
            yield each, coming

    def _by_time(self, counted: Counted, premise: Need, cell: ZonePart) -> Iterator[ZonePart]:
        """A cell by the time of a premise, where which times count hangs on more than where they lie."""
        first, last = extent(cell.zone, premise.low)
        if not self.sets.is_picky(counted) or first is None or last is None or not 0 < last - first < MOST_TIMES:
            yield cell
            return
        for at in range(int(first), int(last) + 1):
            fixed = list(same(premise.low, Moment(START, at)))
            zone = cell.zone.within(fixed)
            if not zone.empty:
                yield ZonePart(zone, cell.free.within(fixed), cell.found)

    def _added(self, state: Partial, counted: Counted, premise: Need, zone: Zone) -> tuple[Any, ...] | None:
        """What a premise adds if it falls inside, with a moment for its time; `None` if that is not known."""
        row = [each.value if isinstance(each, Fixed) else state.slots[each] for each in premise.arguments]
        filled = self.sets.bare(counted, state.slots)
        for argument, value in zip(counted.need.arguments, row, strict=True):
            asked = argument.value if isinstance(argument, Fixed) else filled[argument]
            if asked is not None and asked != value:
                return None
            if not isinstance(argument, Fixed):
                filled[argument] = value
        at = zone.distance(premise.low.base, START) if premise.low.base != START else 0
        for values in self.sets.looked_up(counted, filled):
            known = self.sets.known(values, None if at is None else number(at + premise.low.offset))
            if not self.sets.holds(counted, known):
                return None
            found: list[Any] = []
            for term in counted.terms:
                place = self.pattern.terms.get(term.name) if isinstance(term, Variable) else None
                if isinstance(place, Moment) and place.base == OWN:
                    found.append(premise.low.later(place.offset))
                else:
                    found.append(value_of(term, known))
            return None if None in found else tuple(found)
        return None


def _single(premise: Need, cell: ZonePart) -> Iterator[tuple[ZonePart, list[Need]]]:
    """A premise as one for each of its times, by how many these are."""
    if not premise.throughout:
        yield cell, [premise]
        return
    least, most = (_length(premise, cell.zone, longest) for longest in (False, True))
    if not cell.zone.whole or least is None or most is None or most >= MOST_TIMES:
        yield cell, []
        return
    for length in range(int(least), int(most) + 1):
        fixed = same(premise.low.later(length), premise.high)
        zone = cell.zone.within(fixed)
        if not zone.empty:
            times = (premise.low.later(step) for step in range(length + 1))
            points = [replace(premise, low=each, high=each, throughout=False) for each in times]
            yield ZonePart(zone, cell.free.within(fixed), cell.found), points


def _length(premise: Need, zone: Zone, longest: bool) -> Number | None:
    """How far the end of a stretch is from its beginning, at least or at most."""
    away = premise.high.offset - premise.low.offset
    if premise.low.base == premise.high.base:
        return away
    first, last = premise.low.base, premise.high.base
    bound = zone.bound(last, first) if longest else zone.bound(first, last)
    if bound is None:
        return None
    return number(away + bound[0] if longest else away - bound[0])


def _moment_in(adds: Sequence[Any]) -> Moment:
    return next(each for each in adds if isinstance(each, Moment))


def _taken_times(adds: Sequence[Any], counted: Iterable[Sequence[Any]]) -> Iterator[Moment]:
    """The times at which what a premise adds is counted already, as something that is there or by another premise."""
    for values in counted:
        pairs = list(zip(adds, values, strict=True))
        if all(isinstance(one, Moment) or one == value for one, value in pairs):
            for one, value in pairs:
                if isinstance(one, Moment) and one != value:
                    yield value if isinstance(value, Moment) else Moment(START, value)
                    break
