"""Event patterns: what a rule of ETALIS is made of, and how two intervals may lie to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Union

from presage.model.formulas import Atom, Comparison
from presage.model.placed import Placed
from presage.model.terms import Number, Variable

EventInterval = tuple[Number, Number]


def _hull(one: EventInterval, other: EventInterval) -> EventInterval:
    return min(one[0], other[0]), max(one[1], other[1])


def _second(one: EventInterval, other: EventInterval) -> EventInterval:
    return other


@dataclass(frozen=True, slots=True)
class IntervalRelation:
    """When p1 on an interval and p2 on another make an event, and over which interval that is."""

    holds: Callable[[EventInterval, EventInterval], bool]
    gives: Callable[[EventInterval, EventInterval], EventInterval]


RELATIONS: dict[str, IntervalRelation] = {
    "seq": IntervalRelation(lambda p, q: p[1] < q[0], _hull),
    "meets": IntervalRelation(lambda p, q: p[1] == q[0], _hull),
    "overlaps": IntervalRelation(lambda p, q: p[0] < q[0] < p[1] < q[1], _hull),
    "and": IntervalRelation(lambda p, q: True, _hull),
    "par": IntervalRelation(lambda p, q: max(p[0], q[0]) < min(p[1], q[1]), _hull),
    "during": IntervalRelation(lambda p, q: q[0] < p[0] and p[1] < q[1], _second),
    "starts": IntervalRelation(lambda p, q: p[0] == q[0] and p[1] < q[1], _second),
    "finishes": IntervalRelation(lambda p, q: p[1] == q[1] and q[0] < p[0], _second),
    "equals": IntervalRelation(lambda p, q: p == q, _second),
}
SWAPPED = {
    "after": "seq",
    "met_by": "meets",
    "overlapped_by": "overlaps",
    "contains": "during",
    "started_by": "starts",
    "finished_by": "finishes",
}


@dataclass(frozen=True, slots=True)
class Event(Placed):
    atom: Atom


@dataclass(frozen=True, slots=True)
class Related(Placed):
    """Two patterns whose intervals lie to each other as a relation says."""

    relation: str
    left: EventPattern
    right: EventPattern


@dataclass(frozen=True, slots=True)
class Alternative(Placed):
    left: EventPattern
    right: EventPattern


@dataclass(frozen=True, slots=True)
class Without(Placed):
    """`first` SEQ `last` without the intervals of `first` SEQ `between` SEQ `last`."""

    between: EventPattern
    first: EventPattern
    last: EventPattern


@dataclass(frozen=True, slots=True)
class WithinLength(Placed):
    pattern: EventPattern
    length: Number


@dataclass(frozen=True, slots=True)
class Where(Placed):
    pattern: EventPattern
    conditions: tuple[Comparison, ...]


EventPattern = Union[Event, Related, Alternative, Without, WithinLength, Where]


@dataclass(frozen=True, slots=True)
class EventRule(Placed):
    head: Atom
    pattern: EventPattern


def parts(pattern: EventPattern) -> tuple[EventPattern, ...]:
    match pattern:
        case Event():
            return ()
        case Related(left=left, right=right) | Alternative(left=left, right=right):
            return left, right
        case Without(between=between, first=first, last=last):
            return first, between, last
        case _:
            return (pattern.pattern,)


def names(atom: Atom) -> list[str]:
    """The variables of an atom, each once; each `_` is one of its own and has no name."""
    found = (each.name for each in atom.arguments if isinstance(each, Variable) and not each.is_anonymous)
    return list(dict.fromkeys(found))


def variables(pattern: EventPattern) -> set[str]:
    return {name for event in events(pattern) for name in names(event.atom)}


def alternatives(pattern: EventPattern) -> list[EventPattern]:
    """The patterns that are matched together where the pattern is. Sides of an `OR` with the same variables stay
    together; others may each share a variable with what is around them, and are patterns of their own."""
    match pattern:
        case Alternative(left=left, right=right):
            sides = [*alternatives(left), *alternatives(right)]
            return [pattern] if len(sides) == 2 and variables(left) == variables(right) else sides
        case Related(left=left, right=right):
            return [
                replace(pattern, left=one, right=other) for one in alternatives(left) for other in alternatives(right)
            ]
        case WithinLength() | Where():
            return [replace(pattern, pattern=each) for each in alternatives(pattern.pattern)]
        case _:
            return [pattern]


def events(pattern: EventPattern) -> list[Event]:
    if isinstance(pattern, Event):
        return [pattern]
    return [event for part in parts(pattern) for event in events(part)]
