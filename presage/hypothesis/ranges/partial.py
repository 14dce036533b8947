"""A partial match: a pattern with values for some slots, some literals judged, and what that makes of its zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from presage.hypothesis.ranges.pieces import Evidence
from presage.hypothesis.words import Comparisons
from presage.model.terms import Value
from presage.patterns.literals import Argument, Open
from presage.patterns.premises import Fixed, Lookup, with_values
from presage.patterns.zoned import Need, RangePattern
from presage.time.zones import ANSWER, Zone, joined


class Partial:
    __slots__ = (
        "because",
        "done",
        "excluded",
        "free",
        "grounded",
        "loose",
        "needs",
        "settled",
        "slots",
        "whole",
        "zone",
    )

    def __init__(
        self,
        slots: list[Any],
        zone: Zone,
        free: Zone,
        needs: tuple[Need, ...] = (),
        whole: tuple[Need, ...] = (),
        because: frozenset[Evidence] = frozenset(),
        settled: tuple[Need, ...] = (),
        done: int = 0,
        grounded: int = 0,
        excluded: tuple[Comparisons, ...] = (),
        loose: bool = False,
    ) -> None:
        self.slots, self.zone, self.free = slots, zone, free
        self.needs, self.whole, self.because, self.settled = needs, whole, because, settled
        self.done, self.grounded, self.excluded, self.loose = done, grounded, excluded, loose

    def but(self, **fields: Any) -> Partial:
        found = Partial(
            self.slots,
            self.zone,
            self.free,
            self.needs,
            self.whole,
            self.because,
            self.settled,
            self.done,
            self.grounded,
            self.excluded,
            self.loose,
        )
        for name, value in fields.items():
            setattr(found, name, value)
        return found


def bits(arguments: Iterable[Any]) -> int:
    found = 0
    for each in arguments:
        if not isinstance(each, Fixed):
            found |= 1 << each
    return found


def slots_of(literals: Iterable[Need]) -> frozenset[int]:
    return frozenset(each for literal in literals for each in literal.arguments if not isinstance(each, Fixed))


def slots_of_lookups(lookups: Iterable[Lookup]) -> frozenset[int]:
    return frozenset(each for lookup in lookups for each in lookup.arguments if not isinstance(each, Fixed))


def times_of(literals: Iterable[Need]) -> frozenset[int]:
    return frozenset(side.base for literal in literals for side in (literal.low, literal.high))


def ordered(pattern: RangePattern) -> list[Need]:
    """The premises, those first of which most is known when it is their turn."""
    rest = list(pattern.premises)
    known = {each for each in pattern.arguments if not isinstance(each, Fixed)}
    found: list[Need] = []
    while rest:
        best = min(
            rest,
            key=lambda each: (
                each.throughout,
                sum(1 for slot in slots_of([each]) if slot not in known),
                each.low.base > ANSWER,
                rest.index(each),
            ),
        )
        rest.remove(best)
        found.append(best)
        known |= slots_of([best])
    return found


def given_of(literal: Need | Lookup, slots: Sequence[Any]) -> list[Value | None]:
    """The arguments of a literal as far as they are known."""
    return [each.value if isinstance(each, Fixed) else slots[each] for each in literal.arguments]


def known_values(literal: Need, row: Sequence[Argument]) -> list[Any]:
    """What is known of the arguments of an atom, as a literal asks for them."""
    return [
        (asked.value if isinstance(asked, Fixed) else None) if isinstance(value, Open) else value
        for asked, value in zip(literal.arguments, row, strict=True)
    ]


def slots_with(pattern: RangePattern, given: Sequence[Value | None]) -> list[Any] | None:
    """The slots with the values that an answer has, if it can have them."""
    slots: list[Any] = [None] * len(pattern.names)
    known = [
        asked.value if value is None and isinstance(asked, Fixed) else value
        for asked, value in zip(pattern.arguments, given, strict=True)
    ]
    return with_values(slots, pattern.arguments, known)  # type: ignore[arg-type]


def together(states: Iterable[Partial]) -> list[Partial]:
    """As few as there can be: those that differ in facts alone that count for nothing more beside other premises are
    one."""
    found: list[Partial] = []
    for each in states:
        for place, other in enumerate(found):
            if (each.needs, each.whole, each.because) != (other.needs, other.whole, other.because):
                continue
            zones, free = joined([other.zone, each.zone]), joined([other.free, each.free])
            if len(zones) == len(free) == 1:
                found[place] = other.but(zone=zones[0], free=free[0])
                break
        else:
            found.append(each)
    return found
