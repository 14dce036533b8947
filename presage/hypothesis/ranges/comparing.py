"""Comparisons of a pattern: what they say about values and times once some of them are known, and in words before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from presage.analysis.differences import linear
from presage.hypothesis.ranges.partial import Partial, given_of
from presage.hypothesis.ranges.world import RowsOf
from presage.hypothesis.words import Comparisons, opposite
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Term, Value, Variable, number, term_variables
from presage.model.values import is_hopeless, is_true, value_of
from presage.patterns.premises import Fixed, PatternCondition
from presage.patterns.zoned import Moment, RangePattern, difference
from presage.time.sameness import distinct
from presage.time.zones import START, Constraint, Zone


class Comparing:
    def __init__(self, pattern: RangePattern) -> None:
        self.pattern = pattern

    def said(self, condition: PatternCondition, slots: Sequence[Any], zone: Zone) -> list[Constraint] | bool | None:
        """What a comparison that speaks of times says about them; `None` while that cannot be told."""
        terms = self.pattern.terms

        def moment(name: str) -> Any:
            place = terms.get(name)
            return slots[place] if isinstance(place, int) else place

        found = difference(condition, moment)
        if found is not None:
            return found
        if not all(zone.distance(each, START) is not None for each in self.times(condition)):
            return None
        known = self.known(slots, zone)
        left, right = value_of(condition.left, known), value_of(condition.right, known)
        return is_true(condition.operator, left, right) == condition.wanted

    def given(self, slots: int) -> int:
        """The slots that have a value once some have, as bits: equations give one by the others."""
        again = True
        while again:
            again = False
            for condition in self.pattern.conditions:
                rest = [each for each in condition.slots if not slots >> each & 1]
                if len(rest) == 1 and condition.operator == "=" and condition.wanted:
                    slots |= 1 << rest[0]
                    again = True
        return slots

    def is_hopeless(self, condition: PatternCondition, slots: Sequence[Any], zone: Zone) -> bool:
        """Whether a comparison can never be met, whatever its open values are."""
        return is_hopeless(condition.operator, condition.left, condition.right, self.known(slots, zone))

    def times(self, condition: PatternCondition) -> set[int]:
        """The variables of the zone that a comparison speaks of."""
        return {
            place.base
            for side in (condition.left, condition.right)
            for name in _names_in(side)
            if isinstance(place := self.pattern.terms.get(name), Moment) and place.base != START
        }

    def known(self, slots: Sequence[Any], zone: Zone) -> Callable[[str], Value | None]:
        terms = self.pattern.terms

        def value(name: str) -> Value | None:
            place = terms.get(name)
            if place is None:
                return None
            if isinstance(place, int):
                return slots[place]  # type: ignore[no-any-return]
            at = 0 if place.base == START else zone.distance(place.base, START)
            return None if at is None else number(at + place.offset)

        return value

    def solution(self, condition: PatternCondition, slots: Sequence[Any], zone: Zone, slot: int) -> Value | None:
        """The value that an equation gives a slot."""
        known = self.known(slots, zone)
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(one, Variable) and self.pattern.terms.get(one.name) == slot:
                return value_of(other, known)
        sides = linear(condition.left), linear(condition.right)
        if sides[0] is None or sides[1] is None:
            return None
        share, rest = sides[0][1] * 0, sides[0][1] - sides[1][1]
        for sign, (shares, _) in ((1, sides[0]), (-1, sides[1])):
            for name, factor in shares.items():
                if self.pattern.terms.get(name) == slot:
                    share += sign * factor
                    continue
                value = known(name)
                if value is None or isinstance(value, str):
                    return None
                rest += sign * factor * value
        return None if share == 0 else number(-rest / share)

    def clause(self, condition: PatternCondition, slots: Sequence[Any], zone: Zone) -> Comparisons:
        """The opposite of a condition that is still open, with what is known put in."""
        known = self.known(slots, zone)

        def shown(term: Term) -> Term:
            if not isinstance(term, Variable):
                return term
            value, place = known(term.name), self.pattern.terms.get(term.name)
            if value is not None:
                return Constant(value)
            return Variable(self.pattern.names[place]) if isinstance(place, int) else term

        return opposite(condition, shown)

    def limits(self, state: Partial, statics: RowsOf) -> tuple[Comparisons, ...] | None:
        """What open values must not be or satisfy; nothing if they cannot be."""
        found: list[Comparisons] = list(state.excluded)
        for index, condition in enumerate(self.pattern.conditions):
            if not state.done >> index & 1:
                found.append(self.clause(condition, state.slots, state.zone))
        for lookup in self.pattern.lookups:
            if lookup.positive:
                continue
            given = given_of(lookup, state.slots)
            for row in statics(lookup.predicate, given):
                excluded = tuple(
                    Comparison("=", Variable(self.pattern.names[slot]), Constant(value))
                    for slot, value, have in zip(lookup.arguments, row, given, strict=True)
                    if have is None and not isinstance(slot, Fixed)
                )
                if not excluded:
                    return None
                found.append(excluded)
        return tuple(distinct(found))


def _names_in(term: Term) -> Iterator[str]:
    for each in term_variables(term):
        yield each.name
