"""Choices in words: what must differ, and what a choice must not be or satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from presage.hypothesis.ranges.counted_sets import CountedSets, ZonePart
from presage.hypothesis.words import Comparisons
from presage.model.formulas import MIRRORED, OPPOSITES, Comparison
from presage.model.terms import Arithmetic, Constant, Number, Term, Variable, map_term, number, term_variables
from presage.patterns.premises import Fixed
from presage.patterns.ranking import ranks
from presage.patterns.zoned import OWN, OWN_TIME, Counted, Moment


class Wording:
    """Words for the choices of one pattern's aggregates."""

    def __init__(self, sets: CountedSets) -> None:
        self.sets, self.pattern = sets, sets.pattern

    def differ(self, counted: Counted, slots: Sequence[Any]) -> tuple[Term, ...]:
        """What must differ, if that is not all that is open."""
        need = counted.need
        named = {self.pattern.terms.get(each.name) for term in counted.terms for each in term_variables(term)}
        opened: set[Any] = {each for each in need.arguments if not isinstance(each, Fixed) and each in counted.locals}
        is_named = any(isinstance(each, Moment) and each.base == OWN for each in named)
        if opened <= named and (is_named or need.low == need.high):
            return ()
        return tuple(self.shown(each, slots, counted) for each in counted.terms)

    def shown(self, term: Term, slots: Sequence[Any], counted: Counted) -> Term:
        """A term with names that people know, and with what is known put in."""

        def put(part: Term) -> Term:
            if not isinstance(part, Variable):
                return part
            place = self.pattern.terms.get(part.name)
            if isinstance(place, int):
                known = place not in counted.locals and slots[place] is not None
                return Constant(slots[place]) if known else Variable(self.pattern.names[place])
            if place is None or place.base != OWN:
                return part if place is None else Constant(place.offset)
            moved = place.offset
            if not moved:
                return Variable(OWN_TIME)
            return Arithmetic("+" if moved > 0 else "-", Variable(OWN_TIME), Constant(max(moved, -moved)))

        return map_term(term, put)

    def limits(self, counted: Counted, slots: Sequence[Any]) -> Iterator[Comparisons]:
        """What the comparisons in the braces say that a choice must not satisfy."""
        bare = self.sets.bare(counted, slots)
        for each in counted.conditions:
            operator = OPPOSITES[each.operator] if each.wanted else each.operator
            left, right = (self.shown(side, bare, counted) for side in (each.left, each.right))
            if isinstance(left, Constant):
                left, right, operator = right, left, MIRRORED[operator]
            yield (Comparison(operator, left, right),)

    def taken(self, counted: Counted, cell: ZonePart, cut: Number) -> Iterator[Comparisons]:
        """What is there counts once."""
        bare: list[Any] = [None] * len(self.pattern.names)
        for each in sorted(cell.found, key=lambda each: (each.times, ranks(each.values))):
            clause: list[Comparison] = []
            for term, value in zip(counted.terms, each.values, strict=True):
                if not any(True for _ in term_variables(term)):
                    continue
                shown = self.shown(term, bare, counted)
                place = self.pattern.terms.get(term.name) if isinstance(term, Variable) else None
                if isinstance(place, Moment) and place.base == OWN:
                    shown, value = Variable(OWN_TIME), number(value - place.offset)  # type: ignore[operator]
                    if value <= cut:
                        clause = []
                        break
                places = [self.pattern.terms.get(variable.name) for variable in term_variables(term)]
                if any(isinstance(each, int) and each not in counted.locals for each in places):
                    continue
                clause.append(Comparison("=", shown, Constant(value)))
            if clause:
                yield tuple(clause)
