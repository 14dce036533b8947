"""Other premises that fall among what is counted: they count too, once they have come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from presage.hypothesis.patterns import Fixed
from presage.hypothesis.ranges.counted_sets import CountedSets, Found, ZonePart, outside
from presage.hypothesis.ranges.partial import Partial
from presage.hypothesis.ranges.patterns import OWN, Counted, Moment, Need, same
from presage.hypothesis.ranges.patterns import inside as within
from presage.model.terms import Number, Variable, number
from presage.model.values import value_of
from presage.time.zones import START, Zone

MOST_TIMES = 16
"""A stretch of more times is not taken apart to see which of them are counted."""

Case = tuple[ZonePart, tuple[tuple[Any, ...], ...]]
"""A cell, and what other premises add there."""


class PremisesInside:
    """What the other premises of one pattern add to what is counted."""

    def __init__(self, sets: CountedSets) -> None:
        self.sets, self.pattern = sets, sets.pattern

    def cases(self, state: Partial, counted: Counted, cell: ZonePart) -> Iterator[Case]:
        """A cell by which other premises fall inside, with what they add."""
        cases: list[Case] = [(cell, ())]
        for premise in state.needs:
            if premise.predicate == counted.need.predicate and premise.amount is None:
                cases = [
                    case
                    for part, coming in cases
                    for each, points in _single(premise, part)
                    for case in self._with(state, counted, points, (each, coming))
                ]
        yield from cases

    def _with(self, state: Partial, counted: Counted, premises: Iterable[Need], case: Case) -> list[Case]:
        """A case by which of some premises, each at one time, fall inside."""
        cases = [case]
        for premise in premises:
            adds = self._added(state, counted, premise)
            if adds is None or adds in {each.values for each in case[0].found}:
                continue
            inside = within(premise.low, counted.need)
            following: list[Case] = []
            for part, coming in cases:
                zone = part.zone.within(inside)
                if not zone.empty:
                    new = [ZonePart(zone, part.free.within(inside), part.found)]
                    for moment in _taken_times(adds, part.found):
                        # At a time that is counted already it adds nothing.
                        at = same(_moment_in(adds), moment)
                        for each in new:
                            both = each.zone.within(at)
                            if not both.empty:
                                following.append((ZonePart(both, each.free.within(at), each.found), coming))
                        new = [rest for each in new for rest in outside(each, at)]
                    for each in new:
                        more = coming if self._is_among(adds, coming, each.zone) else (*coming, adds)
                        following.append((each, more))
                following += [(each, coming) for each in outside(part, inside)]
            cases = following
        return cases

    def _added(self, state: Partial, counted: Counted, premise: Need) -> tuple[Any, ...] | None:
        """What a premise adds if it falls inside, with a moment for its time; `None` if that is not known."""
        row = [each.value if isinstance(each, Fixed) else state.slots[each] for each in premise.arguments]
        filled = self.sets.bare(counted, state.slots)
        for argument, value in zip(counted.need.arguments, row, strict=True):
            asked = argument.value if isinstance(argument, Fixed) else filled[argument]
            if asked is not None and asked != value:
                return None
            if not isinstance(argument, Fixed):
                filled[argument] = value
        at = state.zone.distance(premise.low.base, START) if premise.low.base != START else 0
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

    def _is_among(self, adds: tuple[Any, ...], coming: Iterable[tuple[Any, ...]], zone: Zone) -> bool:
        """Whether it may be what another premise adds already."""
        for other in coming:
            pairs = list(zip(adds, other, strict=True))
            if all(
                one == two
                or (isinstance(one, Moment) and isinstance(two, Moment) and zone.distance(one.base, two.base) is None)
                for one, two in pairs
            ):
                return True
        return False


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


def _taken_times(adds: Sequence[Any], found: Iterable[Found]) -> Iterator[Moment]:
    """The times at which what a premise adds is there already."""
    for each in found:
        pairs = list(zip(adds, each.values, strict=True))
        if all(isinstance(one, Moment) or one == value for one, value in pairs):
            for one, value in pairs:
                if isinstance(one, Moment):
                    yield Moment(START, value)  # type: ignore[arg-type]
                    break
