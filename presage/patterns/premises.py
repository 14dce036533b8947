"""Premise patterns ([HA] Definition 10) in the form the online part works with.

A pattern is a conjunction of literals over input predicates and negated atoms. Its data variables
are numbered slots, its times numbered time variables plus offsets; the first time variable, if the
answer's time is open, is the answer's. What the times have to do with each other is a closed table
of bounds, so that a choice for some of them that respects the table extends to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from presage.model.statements import Rule
from presage.model.terms import Number, Term, Value
from presage.patterns.edges import Edge

START = -1
"""The number of the start of the stream among the times of a pattern."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant among the arguments."""

    value: Value


SlotOrConstant = int | Fixed
"""A slot, or a constant."""


@dataclass(frozen=True, slots=True)
class InventedArgument:
    """An argument that a rule invents. The values that it depends on stand among the arguments, in its place."""

    rule: int
    name: str
    values: tuple[InventedArgument | None, ...]
    """Which of the values that it depends on are invented themselves."""
    times: tuple[tuple[bool, Number] | None, ...]
    """How far after the answer's time, or after the start, the times lie that it depends on; `None` is a time of its
    own."""

    @property
    def is_fixed(self) -> bool:
        """Whether it depends on no time of its own."""
        return None not in self.times and all(each is None or each.is_fixed for each in self.values)


AnswerShape = tuple[InventedArgument | None, ...]
"""Which arguments of an answer are invented; without any there are none."""


@dataclass(frozen=True, slots=True)
class Time:
    """A time variable, or `START`, and a distance from it."""

    base: int
    offset: Number


@dataclass(frozen=True, slots=True)
class HeldStretch:
    """Until when a premise must hold, on dense time, and whether the ends of that stretch count."""

    until: Time
    closed_low: bool
    closed_high: bool


@dataclass(frozen=True, slots=True)
class Premise:
    predicate: str
    arguments: tuple[SlotOrConstant, ...]
    when: Time
    positive: bool = True
    outside: bool = False
    """Whether it counts as met at a time before the stream."""
    held: HeldStretch | None = None
    """Set where it must hold throughout a stretch of dense time, from `when` on."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """An atom over static facts, or a negated one."""

    predicate: str
    arguments: tuple[SlotOrConstant, ...]
    positive: bool = True


@dataclass(frozen=True, slots=True)
class PatternCondition:
    """A comparison that must come out as `wanted`; names are those of slots and times."""

    operator: str
    left: Term
    right: Term
    wanted: bool
    slots: frozenset[int]
    times: frozenset[int]


@dataclass(frozen=True, slots=True)
class Tally:
    """A comparison of how many there are, or how much, of what one input atom asks for."""

    function: str
    """`count` or `sum`."""
    operator: str
    bound: Term
    terms: tuple[Term, ...]
    """What is told apart, and of sums first what is added up."""
    premise: Premise
    lookups: tuple[Lookup, ...]
    conditions: tuple[PatternCondition, ...]
    reaches: tuple[tuple[Time, Time, Number | Edge | None, Number | Edge | None], ...]
    """Between which distances its times lie from others."""
    locals: frozenset[int]
    """The slots that only it fills."""
    times: frozenset[int]
    """The time variables that only it has."""
    some: bool
    """Whether it is false where there is nothing."""


@dataclass(frozen=True, eq=False)
class Pattern:
    arguments: tuple[SlotOrConstant, ...]
    when: Time
    premises: tuple[Premise, ...]
    absences: tuple[Premise, ...]
    """The negated literals."""
    lookups: tuple[Lookup, ...]
    conditions: tuple[PatternCondition, ...]
    names: tuple[str, ...]
    """Of the slots, as in the rules."""
    time_names: tuple[str, ...]
    upper: dict[tuple[int, int], Number]
    """(x, y): the most x − y can be, on dense time also an `Edge`. Closed under transitivity."""
    rules: tuple[Rule, ...] = ()
    """The rules it was unfolded through, outermost first."""
    terms: dict[str, int | Time] = field(default_factory=dict)
    """What the names in conditions stand for: slots, and times."""
    tallies: tuple[Tally, ...] = ()
    shape: AnswerShape = ()

    @property
    def literals(self) -> tuple[Premise, ...]:
        return self.premises + self.absences

    def bounds(self, x: int, times: Sequence[Number | None]) -> tuple[Number | None, Number | None]:
        """The least and the greatest a time variable can be, given some of the others."""
        low = high = None
        for y in range(START, len(times)):
            at = 0 if y == START else times[y]
            if y == x or at is None:
                continue
            most, least = self.upper.get((x, y)), self.upper.get((y, x))
            if most is not None and (high is None or at + most < high):
                high = at + most
            if least is not None and (low is None or at - least > low):
                low = at - least
        return low, high

    def fits(self, times: Sequence[Number | None]) -> bool:
        """Whether the chosen times respect the bounds."""
        for (x, y), most in self.upper.items():
            first = 0 if x == START else times[x]
            second = 0 if y == START else times[y]
            if first is not None and second is not None and first - second > most:
                return False
        return True


def fill(slots: list[Value | None], arguments: Sequence[SlotOrConstant], values: Sequence[Value]) -> bool:
    """Gives the slots among some arguments their values; false if a value does not fit."""
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(argument, Fixed):
            if argument.value != value:
                return False
        elif slots[argument] is None:
            slots[argument] = value
        elif slots[argument] != value:
            return False
    return True


def with_values(slots: Sequence[Any], arguments: Sequence[SlotOrConstant], values: Sequence[Value]) -> list[Any] | None:
    """The slots with the values of some arguments, if these fit."""
    found = list(slots)
    return found if fill(found, arguments, values) else None
