"""Premise patterns with open times: literals at times or throughout stretches, and one zone of all their times.

Variable 1 of the zone is the answer's time, whatever it was called; those from 2 on are times that are open, such as
those `once` brings along. A pattern comes with its *factors*: the patterns in which one fact meets two premises, which
need less and so are ways of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from presage.analysis.differences import linear
from presage.model.formulas import OPPOSITES
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Term, Variable, number, term_variables
from presage.patterns.finish import NoPatterns
from presage.patterns.premises import AnswerShape, Fixed, Lookup, PatternCondition, SlotOrConstant
from presage.patterns.ranking import ranks
from presage.time.zones import ANSWER, START, Constraint, Zone, ZoneBound

MOST_FACTORS = 64
OWN = -1
"""In place of a variable of the zone: the time of what is counted."""


class Moment(NamedTuple):
    """A variable of a zone and a distance from it."""

    base: int
    offset: Number

    def later(self, distance: Number) -> Moment:
        return Moment(self.base, number(self.offset + distance))


@dataclass(frozen=True, slots=True)
class Amount:
    """How many, or how much, of a literal: at a time within its stretch, which is a choice."""

    words: str
    """What stands before the number: nothing, `at most`, `exactly`, `sum`, `sum under`, …"""
    value: Number
    differ: tuple[Term, ...] = ()
    """What must differ, where that is not all that is open; the time of a choice is called `OWN_TIME`."""
    limits: tuple[tuple[Any, ...], ...] = ()
    """What a choice must not be or satisfy."""
    since: Number | None = None
    """Choices up to this time can no longer come, or have come."""
    points: int | None = 1
    """So many times are needed at least; `None` for as many as there are numbers between two."""
    choices: int | None = None
    """How many there can be at one time, where that is known."""


OWN_TIME = "@"
"""The name of the time of what is counted."""


@dataclass(frozen=True, slots=True)
class Need:
    """A literal: at a time, or throughout a stretch."""

    predicate: str
    arguments: tuple[Any, ...]
    """Of a pattern, slots and constants; of a way, values and open variables."""
    low: Moment
    high: Moment
    closed_low: bool = True
    closed_high: bool = True
    positive: bool = True
    outside: bool = False
    """Whether it is met before the start of the stream."""
    throughout: bool = False
    """Whether it asks for a stretch, which may be a single time or none."""
    amount: Amount | None = None
    """Set where it asks for so many, or so much, within a stretch."""

    def between(self, low: Moment, high: Moment) -> Need:
        """The same from one moment to another."""
        if low is self.low and high is self.high:
            return self
        return Need(
            self.predicate, self.arguments, low, high, self.closed_low, self.closed_high,
            self.positive, self.outside, self.throughout, self.amount,
        )  # fmt: skip

    @property
    def order(self) -> tuple[Any, ...]:
        return (
            self.low.base > ANSWER,
            not self.positive,
            self.predicate,
            ranks(self.arguments),
            self.low,
            self.high,
            self.closed_low,
            () if self.amount is None else (self.amount.words, self.amount.value),
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """How many there are, or how much, of what one input atom asks for within a stretch, compared with a bound."""

    function: str
    operator: str
    bound: Term
    terms: tuple[Term, ...]
    need: Need
    lookups: tuple[Lookup, ...]
    conditions: tuple[PatternCondition, ...]
    locals: frozenset[int]
    """The slots that only it fills."""
    some: bool
    """Whether it is false where there is nothing."""

    @property
    def is_positive(self) -> bool:
        """Whether more can never make it false."""
        return self.operator in (">", ">=")


@dataclass(frozen=True, eq=False)
class RangePattern:
    arguments: tuple[SlotOrConstant, ...]
    """Of the answer."""
    premises: tuple[Need, ...]
    absences: tuple[Need, ...]
    zone: Zone
    lookups: tuple[Lookup, ...]
    conditions: tuple[PatternCondition, ...]
    """Comparisons of values, and of times where more than their distance counts."""
    terms: dict[str, int | Moment]
    """What the names in conditions stand for."""
    names: tuple[str, ...]
    """Of the slots, as in the rules."""
    rules: tuple[Rule, ...]
    counted: tuple[Counted, ...] = ()
    shape: AnswerShape = ()
    """Which arguments of the answer are invented, and what they depend on."""

    @property
    def literals(self) -> tuple[Need, ...]:
        return (*self.premises, *self.absences, *(each.need for each in self.counted))

    @property
    def compared(self) -> set[int | Moment]:
        """The slots and times that comparisons and what is counted speak of."""
        terms = [side for each in self.conditions for side in (each.left, each.right)]
        for counted in self.counted:
            terms += [counted.bound, *counted.terms]
            terms += [side for each in counted.conditions for side in (each.left, each.right)]
        names = {each.name for term in terms for each in term_variables(term)}
        return {self.terms[name] for name in names if name in self.terms}


def at_most(first: Moment, second: Moment, bound: ZoneBound = (0, 0)) -> Constraint:
    """first − second is within the bound."""
    return first.base, second.base, (number(bound[0] + second.offset - first.offset), bound[1])


def same(first: Moment, second: Moment) -> list[Constraint]:
    return [at_most(first, second), at_most(second, first)]


def inside(moment: Moment, stretch: Need) -> list[Constraint]:
    return [
        at_most(stretch.low, moment, (0, 0 if stretch.closed_low else -1)),
        at_most(moment, stretch.high, (0, 0 if stretch.closed_high else -1)),
    ]


def difference(condition: PatternCondition, moment: Any) -> list[Constraint] | None:
    """A comparison of two times, or of one and a number, as constraints; `None` if it is none. `moment` gives the time,
    or the number, that a name stands for."""
    operator = condition.operator
    if not condition.wanted:
        operator = OPPOSITES[operator]
    left, right = linear(condition.left), linear(condition.right)
    if left is None or right is None or operator == "!=":
        return None
    shares: dict[int, Fraction] = {}
    rest = left[1] - right[1]
    for sign, side in ((1, left[0]), (-1, right[0])):
        for name, share in side.items():
            at = moment(name)
            if at is None or isinstance(at, str):
                return None
            if not isinstance(at, Moment):
                rest += sign * share * at
                continue
            rest += sign * share * at.offset
            if at.base != START:
                shares[at.base] = shares.get(at.base, Fraction(0)) + sign * share
    terms = {base: share for base, share in shares.items() if share}
    if len(terms) > 2 or (len(terms) == 2 and sum(terms.values()) != 0):
        return None
    bases = sorted(terms, key=lambda base: terms[base], reverse=True) or [START]
    scale = abs(terms.get(bases[0], Fraction(1)))
    if terms and terms[bases[0]] < 0:
        # One time with a negative share: the start is at least so far behind it.
        first, second = Moment(START, 0), Moment(bases[0], 0)
    else:
        first, second = Moment(bases[0], 0), Moment(bases[1] if len(bases) > 1 else START, 0)
    limit = number(-rest / scale)
    strict = -1 if operator in "<>" else 0
    found: list[Constraint] = []
    if operator in ("<", "<=", "="):
        found.append(at_most(first, second, (limit, strict)))
    if operator in (">", ">=", "="):
        found.append(at_most(second, first, (number(-limit), strict)))
    return found


def begins_within(need: Need, have: Need) -> Constraint:
    """A stretch does not begin before another premise."""
    return at_most(have.low, need.low, (0, -1 if need.closed_low and not have.closed_low else 0))


def ends_within(need: Need, have: Need) -> Constraint:
    """A stretch does not end after another premise."""
    return at_most(need.high, have.high, (0, -1 if need.closed_high and not have.closed_high else 0))


def factors(pattern: RangePattern) -> list[RangePattern]:
    """A pattern, and what it becomes where premises are met by one fact."""
    found: list[RangePattern] = []
    todo = [] if pattern.zone.empty else [pattern]
    seen: set[object] = set()
    while todo:
        each = todo.pop()
        form = (
            each.arguments,
            frozenset(each.premises),
            frozenset(each.absences),
            each.zone,
            each.conditions,
            each.counted,
        )
        if form in seen:
            continue
        seen.add(form)
        # One more than are kept, if there are: a hundred premises alike have thousands, each with all their premises.
        made = list(islice(_factored(each), MOST_FACTORS + 1))
        if not any(is_always for _, is_always in made):
            found.append(each)
        todo += [factor for factor, _ in made]
        if len(found) + len(todo) > MOST_FACTORS:
            raise NoPatterns("one fact can meet too many of the premises", pattern.rules)
    return found


def _factored(pattern: RangePattern) -> Iterator[tuple[RangePattern, bool]]:
    """What a pattern becomes where one fact meets two premises, or one absence does, and whether it does wherever the
    pattern is met: then the one asks for nothing that the other does not."""
    for literals in (pattern.premises, pattern.absences):
        yield from _among(pattern, literals)


def _among(pattern: RangePattern, literals: tuple[Need, ...]) -> Iterator[tuple[RangePattern, bool]]:
    for place, premise in enumerate(literals):
        for other_place, other in enumerate(literals):
            if other.predicate != premise.predicate or place == other_place:
                continue
            values = unified(premise.arguments, other.arguments)
            if values is None:
                continue
            if premise.throughout:
                # What is about the same is brought together when it is told.
                if not other.throughout or not values:
                    continue
                within = [begins_within(premise, other), ends_within(premise, other)]
            elif other.throughout:
                within = inside(premise.low, other)
            elif other_place > place:
                continue
            else:
                within = list(same(premise.low, other.low))
            zone = pattern.zone.within(within)
            if zone.empty or (premise.throughout and other_place > place and zone == pattern.zone):
                continue
            factor = _without(replace(pattern, zone=zone), premise, place, values)
            if not any(_is_hopeless(each, factor.terms) for each in factor.conditions):
                yield (
                    factor,
                    not premise.throughout
                    and (_is_implied(pattern, premise, other, zone) or _is_implied(pattern, other, premise, zone)),
                )


def _is_implied(pattern: RangePattern, premise: Need, other: Need, zone: Zone) -> bool:
    """Whether a premise is met by whatever meets another, `zone` being the times at which they are one: nothing else
    asks for its values, or hangs on its time."""
    values = unified(premise.arguments, other.arguments)
    if values is None or premise.throughout:
        return False
    literals = [each for each in pattern.literals if each is not premise]
    lookups = [*pattern.lookups, *(each for counted in pattern.counted for each in counted.lookups)]
    asked: set[Any] = set(pattern.arguments)
    asked.update(each for literal in literals for each in literal.arguments)
    asked.update(each for lookup in lookups for each in lookup.arguments)
    asked.update(pattern.compared)
    if any(slot in asked or slot not in premise.arguments for slot in values):
        return False
    base = premise.low.base
    bases = {at.base for each in literals for at in (each.low, each.high)}
    bases.update(at.base for at in pattern.compared if isinstance(at, Moment))
    if base > ANSWER and base not in bases:
        return zone.forgetting([base]) == pattern.zone.forgetting([base])
    return zone == pattern.zone


def _is_hopeless(condition: PatternCondition, terms: dict[str, int | Moment]) -> bool:
    """Whether a comparison of a value with itself cannot come out as it should."""
    left, right = condition.left, condition.right
    if not (isinstance(left, Variable) and isinstance(right, Variable)):
        return False
    one, other = terms.get(left.name), terms.get(right.name)
    return isinstance(one, int) and one == other and (condition.operator in ("=", "<=", ">=")) != condition.wanted


def unified(first: Iterable[SlotOrConstant], second: Iterable[SlotOrConstant]) -> dict[int, SlotOrConstant] | None:
    """What slots become that makes arguments the same."""
    values: dict[int, SlotOrConstant] = {}

    def known(argument: SlotOrConstant) -> SlotOrConstant:
        while not isinstance(argument, Fixed) and argument in values:
            argument = values[argument]
        return argument

    for one, other in zip(first, second, strict=True):
        a, b = known(one), known(other)
        if a == b:
            continue
        if not isinstance(a, Fixed):
            values[a] = b
        elif not isinstance(b, Fixed):
            values[b] = a
        else:
            return None
    return {slot: known(slot) for slot in values}


def _without(pattern: RangePattern, literal: Need, at: int, values: dict[int, SlotOrConstant]) -> RangePattern:
    """The pattern without a literal, which is the one at a place of its kind, and with values for slots."""

    def put(arguments: tuple[SlotOrConstant, ...]) -> tuple[SlotOrConstant, ...]:
        return tuple(each if isinstance(each, Fixed) else values.get(each, each) for each in arguments)

    def placed(literals: Iterable[Need]) -> tuple[Need, ...]:
        return tuple(dict.fromkeys(replace(each, arguments=put(each.arguments)) for each in literals))

    def slot(old: int) -> int:
        new = values.get(old, old)
        return old if isinstance(new, Fixed) else new

    names = list(pattern.names)
    for old in reversed(pattern.arguments):
        # What is answered keeps its name: all patterns of a query speak of the same answers.
        if not isinstance(old, Fixed) and slot(old) != old:
            names[old], names[slot(old)] = names[slot(old)], names[old]
    conditions = [replace(each, slots=frozenset(map(slot, each.slots))) for each in pattern.conditions]
    terms = {name: slot(at) if isinstance(at, int) else at for name, at in pattern.terms.items()}
    for old, new in values.items():
        if isinstance(new, Fixed):
            terms[f"#{old}"] = old
            known = Constant(new.value)
            conditions.append(PatternCondition("=", Variable(f"#{old}"), known, True, frozenset({old}), frozenset()))
    return RangePattern(
        put(pattern.arguments),
        placed(each for index, each in enumerate(pattern.premises) if index != at or not literal.positive),
        placed(each for index, each in enumerate(pattern.absences) if index != at or literal.positive),
        pattern.zone,
        tuple(replace(each, arguments=put(each.arguments)) for each in pattern.lookups),
        tuple(conditions),
        terms,
        tuple(names),
        pattern.rules,
        tuple(
            replace(
                each,
                need=replace(each.need, arguments=put(each.need.arguments)),
                lookups=tuple(replace(lookup, arguments=put(lookup.arguments)) for lookup in each.lookups),
                conditions=tuple(replace(known, slots=frozenset(map(slot, known.slots))) for known in each.conditions),
            )
            for each in pattern.counted
        ),
        pattern.shape,
    )
