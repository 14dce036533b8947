"""What arrives for an individual, as what happens to all that are like it: a sequence that names the transition.

Values that the individual has already, or that are its key, are told apart from fresh ones: with them the same facts
are another transition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from presage.hypothesis.courses.conditions import PARTS
from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.kinds import Kinds
from presage.hypothesis.courses.shapes import KEY, VALUE, ArrivingFact, CourseShape, Ref
from presage.kernels import courses as kernel
from presage.kernels.arrays import Ints
from presage.model.terms import Number, number


@dataclass(slots=True)
class Arriving:
    """Facts by columns: of which kind, of when, and with which values, also as numbers."""

    kinds: Ints
    times: Ints
    given: Ints
    numbers: Ints


@dataclass(slots=True)
class Described:
    sequence: tuple[int, ...]
    arrivals: list[ArrivingFact]
    kinds: list[bool]
    """Of all values, those it had and the fresh ones: whether they are numbers."""
    known: list[Number]
    fresh: list[Number]
    """What they are as numbers."""
    brought: list[int] = field(default_factory=list)
    """The fresh values."""
    is_fine: bool = field(default=True)
    """Whether all numbers are such that they can be counted in parts."""


def described(
    people: Individuals,
    kinds: Kinds,
    row: int,
    shape: CourseShape,
    arriving: Arriving,
    places: Iterable[int],
) -> Described:
    key = people.keys[row].tolist()
    values = people.values[row, : len(shape.values)].tolist()
    sequence = [int(people.shapes[row])]
    fresh: list[int] = []
    found = Described(
        (), [], list(shape.values), [in_units(each) for each in people.numbers[row, : len(values)].tolist()], []
    )
    for place in places:
        number_of_kind = int(arriving.kinds[place])
        kind = kinds.all[number_of_kind]
        sequence.append(number_of_kind)
        refs = []
        for index in range(len(kind.payload)):
            value, as_number = int(arriving.given[place, index]), int(arriving.numbers[place, index])
            if value in key:
                at = len(key) - 1 - key[::-1].index(value)
                refs.append(Ref(KEY, at))
                sequence.append(kernel.FRESH_KEY + at)
            elif value in values:
                refs.append(Ref(VALUE, values.index(value)))
                sequence.append(values.index(value))
            else:
                is_number = as_number != kernel.NEVER and as_number >= kernel.NAMES_END
                sequence.append(-(2 * len(values) + is_number) - 2)
                refs.append(Ref(VALUE, len(values)))
                values.append(value)
                found.brought.append(value)
                fresh.append(as_number)
                found.kinds.append(is_number)
        row_refs = tuple(refs[each.what] if each.kind == VALUE else each for each in kind.row)
        found.arrivals.append(ArrivingFact(kind.predicate, row_refs, kinds.is_static(number_of_kind)))
    found.sequence = tuple(sequence)
    found.fresh = [in_units(each) for each in fresh]
    found.is_fine = kernel.NEVER - 2 not in fresh
    return found


def in_units(parts: int) -> Number:
    """A value as a number; 0 where it is none."""
    return 0 if parts >= kernel.NEVER - 2 else number(Fraction(parts, PARTS))
