"""The sets that aggregates speak of: what of them is there, and what can still come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from presage.hypothesis.ranges.memory import near
from presage.hypothesis.ranges.world import World
from presage.model.terms import Number, Term, Value, Values, number, term_variables
from presage.model.values import is_true, value_of
from presage.patterns.premises import Fixed, with_values
from presage.patterns.zoned import OWN, Counted, Moment, RangePattern
from presage.time.stretches import Stretch
from presage.time.zones import START, Constraint, Zone

MOST_POINTS = 10_000
"""Of a fact that lasts longer, no more time points are counted one by one."""
MOST_CHOICES = 2_000
"""Of more combinations of static facts nobody asks how many are left."""

KnownValue = Callable[[str], Any]


class Found(NamedTuple):
    """Something that counts, by one of the facts that make it count."""

    values: tuple[Value, ...]
    row: Values
    fact: Stretch
    """The fact's own times."""
    times: Stretch
    """Those at which it counts."""


class ZonePart(NamedTuple):
    """A part of a zone in which the same things count."""

    zone: Zone
    free: Zone
    found: tuple[Found, ...]


class Choices(NamedTuple):
    """What can still come at one time."""

    values: tuple[tuple[Value, ...], ...] | None
    """`None`: more than anybody can count."""
    free: bool
    """Whether the amounts are free."""


class CountedSets:
    """The sets of one pattern's aggregates."""

    def __init__(self, pattern: RangePattern, world: World) -> None:
        self.pattern, self.world, self.line = pattern, world, world.line

    def given(self, counted: Counted, slots: Sequence[Any]) -> list[Value | None]:
        return [
            each.value if isinstance(each, Fixed) else None if each in counted.locals else slots[each]
            for each in counted.need.arguments
        ]

    def bare(self, counted: Counted, slots: Sequence[Any]) -> list[Any]:
        return [None if each in counted.locals else value for each, value in enumerate(slots)]

    def known(self, slots: Sequence[Any], at: Number | None) -> KnownValue:
        terms = self.pattern.terms

        def value(name: str) -> Any:
            place = terms.get(name)
            if place is None or isinstance(place, int):
                return None if place is None else slots[place]
            if place.base == START:
                return place.offset
            return None if at is None or place.base != OWN else number(at + place.offset)

        return value

    def speaks_of_time(self, counted: Counted) -> bool:
        sides = [side for each in counted.conditions for side in (each.left, each.right)]
        return any(map(self.is_timed, (*counted.terms, *sides)))

    def is_picky(self, counted: Counted) -> bool:
        """Whether comparisons exclude some times and not others."""
        return self.line.whole and any(
            not each.slots and (self.is_timed(each.left) or self.is_timed(each.right)) for each in counted.conditions
        )

    def is_timed(self, term: Term) -> bool:
        return any(
            isinstance(place := self.pattern.terms.get(each.name), Moment) and place.base == OWN
            for each in term_variables(term)
        )

    def found(self, counted: Counted, slots: Sequence[Any], reach: Stretch) -> dict[tuple[Value, ...], list[Found]]:
        """What is there, by what tells it apart."""
        need, memory = counted.need, self.world.memory
        bare = self.bare(counted, slots)
        timed = self.speaks_of_time(counted)
        things: dict[tuple[Value, ...], list[Found]] = {}
        for row in memory.rows(need.predicate, self.given(counted, slots)):
            times = near(memory.times(need.predicate, row), reach)
            filled = with_values(bare, need.arguments, row) if times else None
            if filled is None:
                continue
            for values in self.looked_up(counted, filled):
                for fact in times:
                    for part in self.points(fact, reach) if timed else (fact,):
                        known = self.known(values, part.first[0] if timed else None)  # type: ignore[arg-type]
                        if not self.holds(counted, known):
                            continue
                        key = tuple(value_of(term, known) for term in counted.terms)
                        if None not in key and (counted.function == "count" or not isinstance(key[0], str)):
                            things.setdefault(key, []).append(Found(key, row, fact, part))  # type: ignore[arg-type]
        return things

    def points(self, fact: Stretch, reach: Stretch) -> Iterator[Stretch]:
        if not self.line.whole or self.line.is_point(fact):
            yield fact
            return
        both = fact.meet(reach)
        if both is not None:
            last = min(both.last[0], both.first[0] + MOST_POINTS)
            for at in range(int(both.first[0]), int(last)):
                yield self.line.point(at)

    def holds(self, counted: Counted, known: KnownValue) -> bool:
        return all(
            is_true(each.operator, value_of(each.left, known), value_of(each.right, known)) == each.wanted
            for each in counted.conditions
        )

    def looked_up(self, counted: Counted, slots: list[Any]) -> Iterator[list[Any]]:
        """The values that static facts give."""
        states = [slots]
        for lookup in counted.lookups:
            following = []
            for each in states:
                given = [part.value if isinstance(part, Fixed) else each[part] for part in lookup.arguments]
                rows = self.world.statics(lookup.predicate, given)
                if lookup.positive:
                    filled = (with_values(each, lookup.arguments, row) for row in rows)
                    following += [found for found in filled if found is not None]
                elif not any(True for _ in rows):
                    following.append(each)
            states = following
        yield from states

    def choices(self, counted: Counted, slots: Sequence[Any]) -> Choices:
        """What can come at one time: more than anybody can count, unless everything that tells it apart is known or
        among static facts."""
        bare = self.bare(counted, slots)
        used = {
            place
            for term in counted.terms
            for each in term_variables(term)
            if isinstance(place := self.pattern.terms.get(each.name), int) and place in counted.locals
        }
        amounts = {
            place
            for each in term_variables(counted.terms[0])
            if isinstance(place := self.pattern.terms.get(each.name), int)
        }
        found: dict[tuple[Value, ...], None] = {}
        for values in self.looked_up(counted, bare):
            if any(values[each] is None for each in used):
                is_free = counted.function == "count" or any(values[each] is None for each in amounts)
                return Choices(None, is_free)
            known = self.known(values, None)
            if not self.may_hold(counted, known):
                continue
            found[tuple("" if (value := value_of(term, known)) is None else value for term in counted.terms)] = None
            if len(found) > MOST_CHOICES:
                return Choices(None, True)
        return Choices(tuple(found), False)

    def may_hold(self, counted: Counted, known: KnownValue) -> bool:
        for each in counted.conditions:
            left, right = value_of(each.left, known), value_of(each.right, known)
            if left is not None and right is not None and is_true(each.operator, left, right) != each.wanted:
                return False
        return True


def outside(cell: ZonePart, constraints: Sequence[Constraint]) -> Iterator[ZonePart]:
    """The parts of a cell in which some constraint is not met."""
    zone, free = cell.zone, cell.free
    for x, y, bound in constraints:
        other = [(y, x, zone.opposite(bound))]
        left = zone.within(other)
        if not left.empty:
            yield ZonePart(left, free.within(other), cell.found)
        zone, free = zone.within([(x, y, bound)]), free.within([(x, y, bound)])
        if zone.empty:
            return
