"""Pieces at single times: what is missing in them as literals with their times, and open values put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor

from presage.hypothesis.ranges.families import AtomFamily, substituted
from presage.hypothesis.ranges.pieces import ZonePiece, extent
from presage.hypothesis.together import Premises
from presage.hypothesis.words import Comparisons
from presage.model.delays import Excluded
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Number, Value, Variable, term_variables
from presage.patterns.literals import Argument, Lit, Open
from presage.patterns.zoned import Moment, Need
from presage.time.sameness import distinct


def time_of(piece: ZonePiece, moment: Moment) -> Number | Open:
    """The time of a moment, or the variable that stands for it."""
    low, high = extent(piece.zone, moment)
    return low if low is not None and low == high else Open(f"@{moment.base}", moment.offset)


def premises(piece: ZonePiece) -> Premises:
    """What is missing in a piece; what lies throughout a stretch that is known, at each of its times."""
    found: set[Lit] = set()
    for each in piece.needs:
        low, high = time_of(piece, each.low), time_of(piece, each.high)
        if each.amount is not None:
            found.add(Lit(each.positive, each.predicate, each.arguments, Open("@")))
        elif each.throughout and not isinstance(low, Open) and not isinstance(high, Open):
            times = range(ceil(low), floor(high) + 1)
            found |= {Lit(each.positive, each.predicate, each.arguments, at) for at in times}
        else:
            found.add(Lit(each.positive, each.predicate, each.arguments, low))
    return frozenset(found)


def matched(have: Sequence[Argument], want: Sequence[Argument]) -> dict[str, Value] | None:
    """The values of open variables with which arguments are others; nothing if they cannot be."""
    values: dict[str, Value] = {}
    for one, other in zip(have, want, strict=True):
        if isinstance(other, Open):
            continue
        if isinstance(one, Open):
            if values.setdefault(one.name, other) != other:
                return None
        elif one != other:
            return None
    return values


def put_in(arguments: tuple[Argument, ...], values: dict[str, Value]) -> tuple[Argument, ...]:
    return tuple(values.get(each.name, each) if isinstance(each, Open) else each for each in arguments)


def with_values(piece: ZonePiece, values: dict[str, Value]) -> ZonePiece | None:
    """A piece with values for open variables; nothing if they must not have them."""

    def put(literals: tuple[Need, ...]) -> tuple[Need, ...]:
        return tuple(distinct(replace(each, arguments=put_in(each.arguments, values)) for each in literals))

    limits = substituted(piece.limits, values)
    if limits is None:
        return None
    return replace(piece, needs=put(piece.needs), whole=put(piece.whole), settled=put(piece.settled), limits=limits)


def excluded_values(piece: ZonePiece, need: Need) -> list[Excluded]:
    """The values that a premise's open arguments do not have together."""
    places = {each.name: place for place, each in enumerate(need.arguments) if isinstance(each, Open)}
    found = []
    for clause in piece.limits:
        pairs = [
            (places[each.left.name], each.right.value)
            for each in clause
            if each.operator == "="
            and isinstance(each.left, Variable)
            and each.left.name in places
            and isinstance(each.right, Constant)
        ]
        if len(pairs) == len(clause):
            found.append(frozenset(pairs))
    return found


def equal_to(values: dict[str, Value]) -> Comparisons:
    return tuple(Comparison("=", Variable(name), Constant(value)) for name, value in values.items())


def apart_from(each: AtomFamily, family: AtomFamily) -> Comparisons:
    return equal_to(
        {
            have.name: value
            for have, value in zip(family.arguments, each.arguments, strict=True)
            if isinstance(have, Open) and not isinstance(value, Open)
        }
    )


def is_within(each: AtomFamily, family: AtomFamily) -> bool:
    return all(
        isinstance(have, Open) or have == value for have, value in zip(family.arguments, each.arguments, strict=True)
    )


def names_in(clause: Comparisons) -> set[str]:
    return {each.name for one in clause for side in (one.left, one.right) for each in term_variables(side)}
