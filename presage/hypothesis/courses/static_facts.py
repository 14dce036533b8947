"""The static facts that an individual can make use of: those its key leads to, and of tables that it does not lead to
all. They are given to it at each of its steps, as if they arrived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from presage.hypothesis.courses.fitting import Grouping
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.statics import StaticRows
from presage.model.terms import Value, Values
from presage.patterns.premises import Fixed, Lookup
from presage.patterns.zoned import RangePattern

MOST_STATIC = 8
"""Who has more of them is like nobody else."""
StaticFact = tuple[str, Values]
BoundSlots = dict[int, Value]


class StaticFacts:
    def __init__(self, engine: Ranges, grouping: Grouping) -> None:
        self.statics: StaticRows = engine.statics
        self.patterns = [
            (_key_slots(pattern, grouping), _in_turn(pattern, _key_slots(pattern, grouping)))
            for found in engine.patterns.values()
            for pattern in found
            if pattern.lookups
        ]

    def of(self, key: Sequence[Value]) -> list[StaticFact] | None:
        """In an order that is the same for all that are alike; `None` if there are too many."""
        found: dict[StaticFact, None] = {}
        for slots, lookups in self.patterns:
            bound: list[BoundSlots] = [dict(zip(slots, key, strict=True))]
            for lookup in lookups:
                more = []
                for known in bound:
                    for row in self._rows(lookup, known):
                        found[lookup.predicate, row] = None
                        if len(found) > MOST_STATIC:
                            return None
                        more.append(known | _values(lookup, row))
                if lookup.positive:
                    bound = more
        return list(found)

    def _rows(self, lookup: Lookup, known: BoundSlots) -> Iterator[Values]:
        given = [each.value if isinstance(each, Fixed) else known.get(each) for each in lookup.arguments]
        yield from self.statics.rows(lookup.predicate, given)


def _values(lookup: Lookup, row: Values) -> BoundSlots:
    return {each: value for each, value in zip(lookup.arguments, row, strict=True) if not isinstance(each, Fixed)}


def _key_slots(pattern: RangePattern, grouping: Grouping) -> tuple[int, ...]:
    literal = pattern.literals[0]
    found: list[Any] = [literal.arguments[place] for place in grouping.places(literal.predicate)]
    return tuple(found)


def _in_turn(pattern: RangePattern, slots: Sequence[int]) -> list[Lookup]:
    """Static atoms, those first to which what is known leads; negated ones last."""
    rest = [each for each in pattern.lookups if each.positive]
    known = set(slots)
    found: list[Lookup] = []
    while rest:
        best = max(rest, key=lambda each: sum(isinstance(one, Fixed) or one in known for one in each.arguments))
        rest.remove(best)
        found.append(best)
        known |= {each for each in best.arguments if not isinstance(each, Fixed)}
    return [*found, *(each for each in pattern.lookups if not each.positive)]
