"""Which programs have individuals: values that are in every literal at the same places, and in the answer.

Then what is told of one choice of these values, the *key*, hangs on the facts that have them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from presage.hypothesis.ranges.engine import Ranges
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term, Value, Variable
from presage.patterns.premises import Fixed
from presage.patterns.zoned import OWN, Counted, Moment, Need, RangePattern

KeyPlaces = dict[str, int]
"""At which place of each predicate, and of the answers of each query, a part of the key stands."""


@dataclass(frozen=True, slots=True)
class Grouping:
    columns: tuple[KeyPlaces, ...]
    """One for each part of the key."""
    constants: tuple[Value, ...]
    """All values that the patterns name."""
    literals: dict[str, tuple[Need, ...]]
    """The literals that ask for facts, by their input."""
    tables: bool
    """Whether static facts are asked for."""
    factors: int
    """The most that the factors of the values in a comparison come to."""

    def places(self, predicate: str) -> tuple[int, ...]:
        return tuple(each[predicate] for each in self.columns)


def grouping(engine: Ranges) -> Grouping | None:
    """`None` where there are no individuals, or where more is asked of their values than symbols can answer."""
    patterns = engine.patterns
    if engine.everybody or not all(_is_plain(each, engine) for found in patterns.values() for each in found):
        return None
    columns: list[KeyPlaces] = []
    first = next((found[0] for name in engine.asked for found in [patterns[name]] if found), None)
    if first is None or not first.literals:
        return None
    for slot in sorted(_in_all(first)):
        places = _assigned(engine, first, slot)
        if places is not None and places not in columns:
            columns.append(places)
    if not columns or not all(_comes_of_facts(name, each, columns) for name in engine.asked for each in patterns[name]):
        return None
    constants: dict[Value, None] = {}
    literals: dict[str, list[Need]] = {}
    for found in patterns.values():
        for pattern in found:
            facts = [each.arguments for each in pattern.literals]
            for given in (pattern.arguments, *facts, *(each.arguments for each in pattern.lookups)):
                constants.update((each.value, None) for each in given if isinstance(each, Fixed))
            for literal in pattern.literals:
                if literal.positive or literal.predicate not in patterns:
                    literals.setdefault(literal.predicate, []).append(literal)
    asked = {name: tuple(each) for name, each in literals.items()}
    tables = any(pattern.lookups for found in patterns.values() for pattern in found)
    return Grouping(tuple(columns), tuple(constants), asked, tables, greatest_factors(engine))


def _is_plain(pattern: RangePattern, engine: Ranges) -> bool:
    if not pattern.literals or not all(_counts_facts(each, pattern) for each in pattern.counted):
        return False
    if pattern.counted and not engine.line.whole:
        return False
    if any(each.times or _factors(each.left, each.right) > MOST_FACTORS for each in pattern.conditions):
        return False
    return all(
        each.predicate in engine.delays.plain or (not each.positive and each.predicate in engine.matchings)
        for each in pattern.literals
    )


def _counts_facts(counted: Counted, pattern: RangePattern) -> bool:
    """Whether each fact at each of its times is something that counts, whatever else there is, and more never make it
    false."""
    places = {pattern.terms.get(each.name) for each in counted.terms if isinstance(each, Variable)}
    return (
        counted.is_positive
        and counted.function == "count"
        and isinstance(counted.bound, Constant)
        and not counted.lookups
        and not counted.conditions
        and counted.locals <= places
        and any(isinstance(each, Moment) and each.base == OWN for each in places)
    )


MOST_FACTORS = 1_000
"""The factors of the values in a comparison, taken together: with more, sums of values would not fit into 64 bits."""


def _factors(*terms: Term) -> float:
    """Of the variables of some terms together; without end where they are no sums of whole multiples."""
    return sum(map(_factor, terms))


def _factor(term: Term) -> float:
    match term:
        case Variable():
            return 1
        case Constant():
            return 0
        case Negative(term=inner):
            return _factor(inner)
        case Arithmetic(operator="+" | "-", left=left, right=right):
            return _factors(left, right)
        case Arithmetic(operator="*", left=Constant(value=int(times)), right=inner):
            return abs(times) * _factor(inner) if times else inf
        case Arithmetic(operator="*", left=inner, right=Constant(value=int(times))):
            return abs(times) * _factor(inner) if times else inf
        case _:
            return inf


def _comes_of_facts(name: str, pattern: RangePattern, columns: Sequence[KeyPlaces]) -> bool:
    """Whether no answer comes of static facts and of what does not arrive alone: some of the key is known by facts."""
    if not pattern.absences:
        return True
    static = _slots(each for lookup in pattern.lookups if lookup.positive for each in lookup.arguments)
    key = _slots(pattern.arguments[places[name]] for places in columns)
    return not static or bool(key - static)


def greatest_factors(engine: Ranges) -> int:
    """The most that the factors of the values in a comparison come to."""
    conditions = (each for found in engine.patterns.values() for pattern in found for each in pattern.conditions)
    return int(max((_factors(each.left, each.right) for each in conditions), default=0))


def _slots(arguments: Iterable[Any]) -> set[int]:
    return {each for each in arguments if not isinstance(each, Fixed)}


def _in_all(pattern: RangePattern) -> set[int]:
    """The slots that are in the answer and in every literal, and that no comparison speaks of."""
    found = _slots(pattern.arguments)
    for literal in pattern.literals:
        found &= _slots(literal.arguments)
    return found - {slot for each in pattern.conditions for slot in each.slots}


def _assigned(engine: Ranges, first: RangePattern, slot: int) -> KeyPlaces | None:
    """The places of a part of the key, if it is that slot of one pattern."""
    rest = [(name, each) for name, found in engine.patterns.items() for each in found]
    places: KeyPlaces = {}
    owner = next(name for name, each in rest if each is first)
    for choice in _choices(owner, first, slot, places):
        found = _completed([each for each in rest if each[1] is not first], choice)
        if found is not None:
            return found
    return None


def _completed(rest: list[tuple[str, RangePattern]], places: KeyPlaces) -> KeyPlaces | None:
    if not rest:
        return places
    # Those first of which most is known.
    name, pattern = max(rest, key=lambda each: _known(each[0], each[1], places))
    left = [each for each in rest if each[1] is not pattern]
    for slot in sorted(_in_all(pattern)):
        for choice in _choices(name, pattern, slot, places):
            found = _completed(left, choice)
            if found is not None:
                return found
    return None


def _known(name: str, pattern: RangePattern, places: KeyPlaces) -> int:
    return (name in places) + sum(each.predicate in places for each in pattern.literals)


def _choices(name: str, pattern: RangePattern, slot: int, places: KeyPlaces) -> Iterator[KeyPlaces]:
    """The ways to have a slot at the same place of each predicate."""
    found = dict(places)
    atoms = [(each.predicate, each.arguments) for each in pattern.literals]
    atoms.append((name, pattern.arguments))
    for predicate, arguments in atoms:
        at = [place for place, each in enumerate(arguments) if each == slot and not isinstance(each, Fixed)]
        if predicate in found:
            if found[predicate] not in at:
                return
        elif at:
            found[predicate] = at[0]
        else:
            return
    yield found


def distances(engine: Ranges) -> Iterator[Number]:
    """The distances of time that patterns and delays speak of."""
    for found in engine.patterns.values():
        for pattern in found:
            yield from (bound[0] for _, _, bound in pattern.zone.constraints())
            yield from (side.offset for each in pattern.literals for side in (each.low, each.high))
    yield from (known.delay or 0 for known in engine.delays.predicates.values() if known.is_input)
