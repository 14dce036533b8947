"""Premise patterns on dense time: premises at times or throughout stretches, and one zone of all their times.

Variable 1 of the zone is the answer's time, whatever it was called; those from 2 on are times that are open, such as
those `once` brings along. A pattern comes with its *factors*: the patterns in which one fact meets two premises, which
need less and so are ways of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from presage.analysis.differences import linear
from presage.hypothesis.delays import Delays
from presage.hypothesis.dense.zones import START, Bound, Constraint, Zone
from presage.hypothesis.edges import parts_of
from presage.hypothesis.finish import NoPatterns
from presage.hypothesis.patterns import START as NO_VARIABLE
from presage.hypothesis.patterns import Argument, Condition, Fixed, Pattern, Premise, Time
from presage.model.formulas import Metric, Modal, Over, walk
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Variable, number

ANSWER = 1
"""The answer's time among the variables of a zone."""
MOST_FACTORS = 64


class Moment(NamedTuple):
    """A variable of a zone and a distance from it."""

    base: int
    offset: Number

    def later(self, distance: Number) -> Moment:
        return Moment(self.base, number(self.offset + distance))


@dataclass(frozen=True, slots=True)
class Need:
    """A premise: at a time, or throughout a stretch."""

    predicate: str
    arguments: tuple[Any, ...]
    """Of a pattern, slots and constants; of a way, values and open variables."""
    low: Moment
    high: Moment
    closed_low: bool = True
    closed_high: bool = True

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    @property
    def order(self) -> tuple[Any, ...]:
        return self.low.base > ANSWER, self.predicate, repr(self.arguments), self.low, self.high, self.closed_low


@dataclass(frozen=True, eq=False)
class DensePattern:
    premises: tuple[Need, ...]
    zone: Zone
    data: Pattern
    """The same premises, all at one time: what the facts say besides when."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.data.rules

    @property
    def literals(self) -> tuple[Premise, ...]:
        return self.data.literals


def at_most(first: Moment, second: Moment, bound: Bound = (0, 0)) -> Constraint:
    """first − second is within the bound."""
    return first.base, second.base, (number(bound[0] + second.offset - first.offset), bound[1])


def same(first: Moment, second: Moment) -> list[Constraint]:
    return [at_most(first, second), at_most(second, first)]


def inside(moment: Moment, stretch: Need) -> list[Constraint]:
    return [
        at_most(stretch.low, moment, (0, 0 if stretch.closed_low else -1)),
        at_most(moment, stretch.high, (0, 0 if stretch.closed_high else -1)),
    ]


def uses_stretches(pattern: Pattern) -> bool:
    """Whether some rule of a pattern has an operator over more than one time."""
    return any(map(_uses_stretches, pattern.rules))


def _uses_stretches(rule: Rule) -> bool:
    formulas = [*rule.body, *(() if rule.head is None else rule.head.atoms)]
    return any(
        isinstance(part, Modal) or (isinstance(part, (Metric, Over)) and part.interval.low != part.interval.high)
        for formula in formulas
        for part in walk(formula)
    )


def dense_patterns(found: dict[str, list[Pattern]], delays: Delays) -> dict[str, list[DensePattern]]:
    """The patterns of queries in this form, with their factors; raises `NoPatterns` for what has none."""
    return {
        name: [factor for pattern in patterns for factor in _factors(_Reader(pattern, delays).read())]
        for name, patterns in found.items()
    }


class _Reader:
    def __init__(self, pattern: Pattern, delays: Delays) -> None:
        self.pattern, self.delays = pattern, delays
        others = [each for each in range(len(pattern.time_names)) if each != pattern.when.base]
        self.places = {each: 2 + place for place, each in enumerate(others)}

    def read(self) -> DensePattern:
        pattern = self.pattern
        if pattern.absences:
            raise self.refused("`not` together with operators over stretches of dense time has no premise patterns")
        for premise in pattern.premises:
            if premise.predicate not in self.delays.plain:
                raise self.refused(
                    f"a delay that depends on values (`{premise.predicate}`) has no premise patterns on dense time"
                )
        conditions = [each for each in pattern.conditions if not each.times]
        constraints = [*self.bounds(), *(part for each in pattern.conditions for part in self.compared(each))]
        data = replace(
            pattern,
            when=Time(NO_VARIABLE, 0),
            premises=tuple(replace(each, when=Time(NO_VARIABLE, 0), held=None) for each in pattern.premises),
            conditions=tuple(conditions),
            time_names=(),
            upper={},
        )
        premises = tuple(map(self.premise, pattern.premises))
        return DensePattern(premises, Zone.of(2 + len(self.places), constraints), data)

    def refused(self, reason: str) -> NoPatterns:
        return NoPatterns(reason, self.pattern.rules)

    def moment(self, when: Time) -> Moment:
        if when.base == NO_VARIABLE:
            return Moment(START, when.offset)
        if when.base == self.pattern.when.base:
            return Moment(ANSWER, number(when.offset - self.pattern.when.offset))
        return Moment(self.places[when.base], when.offset)

    def premise(self, premise: Premise) -> Need:
        low, held = self.moment(premise.when), premise.held
        if held is None:
            return Need(premise.predicate, premise.arguments, low, low)
        high = self.moment(held.until)
        if max(low.base, high.base) > ANSWER:
            raise self.refused(
                "`historically`, `always` or `all` below `once`, `eventually` or `some` has no premise patterns on "
                "dense time"
            )
        return Need(premise.predicate, premise.arguments, low, high, held.closed_low, held.closed_high)

    def bounds(self) -> Iterator[Constraint]:
        if self.pattern.when.base == NO_VARIABLE:
            yield from same(Moment(ANSWER, 0), Moment(START, self.pattern.when.offset))
        for (x, y), most in self.pattern.upper.items():
            limit, side = parts_of(most)
            yield at_most(self.moment(Time(x, 0)), self.moment(Time(y, 0)), (limit, side))

    def compared(self, condition: Condition) -> Iterator[Constraint]:
        """What a comparison of times says about their distance."""
        if not condition.times:
            return
        if condition.slots:
            raise self.refused("a comparison of a time with a value has no premise patterns on dense time")
        operator = condition.operator
        if not condition.wanted:
            operator = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}[operator]
        left, right = linear(condition.left), linear(condition.right)
        shares: dict[int, Fraction] = {}
        if left is None or right is None or operator == "!=":
            raise self.refused("a comparison of times other than their distance has no premise patterns on dense time")
        rest = left[1] - right[1]
        for sign, side in ((1, left[0]), (-1, right[0])):
            for name, share in side.items():
                place = self.pattern.terms[name]
                assert isinstance(place, Time)
                at = self.moment(place)
                rest += sign * share * at.offset
                if at.base != START:
                    shares[at.base] = shares.get(at.base, Fraction(0)) + sign * share
        terms = {base: share for base, share in shares.items() if share}
        if len(terms) > 2 or (len(terms) == 2 and sum(terms.values()) != 0):
            raise self.refused("a comparison of times other than their distance has no premise patterns on dense time")
        bases = sorted(terms, key=lambda base: terms[base], reverse=True) or [START]
        scale = terms.get(bases[0], Fraction(1))
        first, second = Moment(bases[0], 0), Moment(bases[1] if len(bases) > 1 else START, 0)
        limit = number(-rest / scale)
        if scale < 0:
            operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
        strict = -1 if operator in "<>" else 0
        if operator in ("<", "<=", "="):
            yield at_most(first, second, (limit, strict))
        if operator in (">", ">=", "="):
            yield at_most(second, first, (-limit, strict))


def _factors(pattern: DensePattern) -> list[DensePattern]:
    """A pattern, and what it becomes where premises are met by one fact."""
    found, todo = [], [] if pattern.zone.empty else [pattern]
    while todo:
        each = todo.pop()
        found.append(each)
        if len(found) + len(todo) > MOST_FACTORS:
            raise NoPatterns("one fact can meet too many of the premises on dense time", pattern.data.rules)
        todo.extend(_factored(each))
    return found


def _factored(pattern: DensePattern) -> Iterator[DensePattern]:
    for place, point in enumerate(pattern.premises):
        if not point.is_point:
            continue
        for other_place, other in enumerate(pattern.premises):
            if other.predicate != point.predicate or place == other_place or (other.is_point and other_place > place):
                continue
            values = _unified(point.arguments, other.arguments)
            zone = pattern.zone.within(same(point.low, other.low) if other.is_point else inside(point.low, other))
            if values is not None and not zone.empty:
                yield _without(replace(pattern, zone=zone), place, values)


def _unified(first: Iterable[Argument], second: Iterable[Argument]) -> dict[int, Argument] | None:
    """What slots become that makes arguments the same."""
    values: dict[int, Argument] = {}

    def known(argument: Argument) -> Argument:
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


def _without(pattern: DensePattern, place: int, values: dict[int, Argument]) -> DensePattern:
    """The pattern without a premise, and with values for slots."""

    def put(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(each if isinstance(each, Fixed) else values.get(each, each) for each in arguments)

    def slot(old: int) -> int:
        new = values.get(old, old)
        return old if isinstance(new, Fixed) else new

    data = pattern.data
    conditions = [replace(each, slots=frozenset(map(slot, each.slots))) for each in data.conditions]
    terms = {name: slot(at) if isinstance(at, int) else at for name, at in data.terms.items()}
    for old, new in values.items():
        if isinstance(new, Fixed):
            terms[f"#{old}"] = old
            known = Constant(new.value)
            conditions.append(Condition("=", Variable(f"#{old}"), known, True, frozenset({old}), frozenset()))
    kept = [each for index, each in enumerate(data.premises) if index != place]
    return DensePattern(
        tuple(
            replace(each, arguments=put(each.arguments))
            for index, each in enumerate(pattern.premises)
            if index != place
        ),
        pattern.zone,
        replace(
            data,
            arguments=put(data.arguments),
            premises=tuple(replace(each, arguments=put(each.arguments)) for each in kept),
            lookups=tuple(replace(each, arguments=put(each.arguments)) for each in data.lookups),
            conditions=tuple(conditions),
            terms=terms,
        ),
    )
