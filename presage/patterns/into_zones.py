"""Premise patterns read into the form with one zone of all their times.

Of what is counted, the stretch in which it counts is read off the bounds of its own time: where there are several, each
is the closest in some cases, and each case is a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from presage.model.terms import Number, number, term_variables
from presage.patterns.edges import parts_of
from presage.patterns.finish import MOST_PATTERNS, TOO_MANY, NoPatterns
from presage.patterns.premises import START as NO_VARIABLE
from presage.patterns.premises import Pattern, PatternCondition, Premise, Tally, Time
from presage.patterns.zoned import (
    OWN,
    Counted,
    Moment,
    Need,
    RangePattern,
    at_most,
    difference,
    factors,
    same,
)
from presage.time.zones import ANSWER, START, Constraint, Zone, ZoneBound


def range_patterns(found: Iterable[Pattern], whole: bool) -> list[RangePattern]:
    """Patterns in this form, with their factors; raises `NoPatterns`."""
    made: list[RangePattern] = []
    for read in in_zones(found, whole):
        made += factors(read)
        if len(made) > MOST_PATTERNS:
            raise NoPatterns(TOO_MANY, read.rules)
    return made


def in_zones(found: Iterable[Pattern], whole: bool) -> Iterator[RangePattern]:
    """Patterns in this form; raises `NoPatterns`."""
    return (read for pattern in found for read in _Reader(pattern, whole).read())


class _Reader:
    def __init__(self, pattern: Pattern, whole: bool) -> None:
        self.pattern, self.whole = pattern, whole
        own = {each for tally in pattern.tallies for each in tally.times}
        others = [each for each in range(len(pattern.time_names)) if each != pattern.when.base and each not in own]
        self.places = {each: 2 + place for place, each in enumerate(others)}
        self.size = 2 + len(self.places)
        self.ahead: dict[int, Number] = {}
        """How far after a time of the rules the one lies that stands for it: that of a premise, as it is told."""
        for premise in sorted(pattern.premises, key=lambda each: each.held is not None):
            if premise.when.base in self.places:
                self.ahead.setdefault(premise.when.base, premise.when.offset)
        self.places.update({each: self.size + place for place, each in enumerate(sorted(own))})

    def read(self) -> Iterator[RangePattern]:
        pattern = self.pattern
        kept: list[PatternCondition] = []
        constraints = list(self.bounds())
        for condition in pattern.conditions:
            found = self.compared(condition)
            if found is None:
                kept.append(condition)
            else:
                constraints += found
        terms: dict[str, int | Moment] = {
            name: self.moment(at) if isinstance(at, Time) else at for name, at in pattern.terms.items()
        }
        tallies = [Tallied(self, each, terms) for each in pattern.tallies]
        own = {each.own.base: each.own.offset for each in tallies if each.is_own}
        read = RangePattern(
            pattern.arguments,
            tuple(map(self.literal, pattern.premises)),
            tuple(map(self.literal, pattern.absences)),
            Zone.of(self.size, self.whole, constraints),
            pattern.lookups,
            tuple(kept),
            {name: at if isinstance(at, int) or at.base < self.size
             else Moment(OWN, number(at.offset - own.get(at.base, 0))) for name, at in terms.items()},
            pattern.names,
            pattern.rules,
            shape=pattern.shape,
        )  # fmt: skip
        for chosen in product(*(each.cases() for each in tallies)):
            zone = read.zone.within(constraint for _, case in chosen for constraint in case)
            if not zone.empty:
                counted = tuple(each for each, _ in chosen)
                check_together(read, counted)
                yield replace(read, zone=zone, counted=counted)

    def moment(self, when: Time) -> Moment:
        if when.base == NO_VARIABLE:
            return Moment(START, when.offset)
        if when.base == self.pattern.when.base:
            return Moment(ANSWER, number(when.offset - self.pattern.when.offset))
        return Moment(self.places[when.base], number(when.offset - self.ahead.get(when.base, 0)))

    def literal(self, premise: Premise) -> Need:
        low, held = self.moment(premise.when), premise.held
        if held is None:
            return Need(
                premise.predicate,
                premise.arguments,
                low,
                low,
                positive=premise.positive,
                outside=premise.outside or not premise.positive,
            )
        high = self.moment(held.until)
        if not self.whole and min(low.base, high.base) > ANSWER:
            raise NoPatterns(
                "`historically`, `always` or `all` below `once`, `eventually` or `some` has no premise patterns on "
                "dense time: each moment could do better than any other before it",
                self.pattern.rules,
            )
        return Need(
            premise.predicate,
            premise.arguments,
            low,
            high,
            held.closed_low,
            held.closed_high,
            premise.positive,
            premise.outside or not premise.positive,
            True,
        )

    def bounds(self) -> Iterator[Constraint]:
        yield START, ANSWER, (0, 0)
        if self.pattern.when.base == NO_VARIABLE:
            yield from same(Moment(ANSWER, 0), Moment(START, self.pattern.when.offset))
        for (x, y), most in self.pattern.upper.items():
            limit, side = parts_of(most)
            yield at_most(self.moment(Time(x, 0)), self.moment(Time(y, 0)), (limit, side))

    def compared(self, condition: PatternCondition) -> list[Constraint] | None:
        """What a comparison of times says about their distance; `None` if it says something else."""
        if not condition.times or condition.slots:
            return None
        places = {name: at for name, at in self.pattern.terms.items() if isinstance(at, Time)}
        moments = {name: self.moment(at) for name, at in places.items()}
        return difference(condition, moments.__getitem__)


class Tallied:
    """How many there are of what, with the ends of the stretch in which they count."""

    def __init__(self, reader: _Reader, tally: Tally, terms: dict[str, int | Moment]) -> None:
        self.reader, self.tally, self.terms = reader, tally, terms
        self.own = reader.moment(tally.premise.when)
        constraints: list[Constraint] = []
        for x, y, low, high in tally.reaches:
            first, second = reader.moment(x), reader.moment(y)
            if high is not None:
                constraints.append(at_most(first, second, parts_of(high)))
            if low is not None:
                limit, side = parts_of(low)
                constraints.append(at_most(second, first, (number(-limit), -1 if side else 0)))
        self.conditions: list[PatternCondition] = []
        for condition in tally.conditions:
            said = None if condition.slots else difference(condition, self.named)
            if said is None:
                self.conditions.append(condition)
            else:
                constraints += said
        self.zone = Zone.of(2 + len(reader.places), reader.whole, constraints)
        self.check_times()
        self.lows, self.highs = list(self.ends(False)), list(self.ends(True))
        if not self.highs:
            raise NoPatterns("nothing bounds how late what is counted may be", reader.pattern.rules)

    def named(self, name: str) -> Any:
        return self.terms.get(name)

    @property
    def is_own(self) -> bool:
        """Whether what is counted has times of its own."""
        return self.own.base >= self.reader.size

    def check_times(self) -> None:
        """Whether terms and comparisons speak of no open time but the one at which something is counted."""
        sides = [side for each in self.conditions for side in (each.left, each.right)]
        for side in (*self.tally.terms, *sides):
            for variable in term_variables(side):
                at = self.terms.get(variable.name)
                if isinstance(at, Moment) and at.base not in (START, self.own.base if self.is_own else START):
                    raise NoPatterns("an aggregate speaks of several times that are open", self.reader.pattern.rules)

    def ends(self, latest: bool) -> Iterator[tuple[Moment, bool]]:
        """The times that what is counted is not before, or not after, and whether they count."""
        if not self.is_own:
            yield self.own, True
            return
        if self.zone.empty:
            # Nothing can count: a stretch without times.
            yield Moment(ANSWER, 0 if latest else 1), True
            return
        for other in range(self.reader.size):
            bound = self.zone.bound(self.own.base, other) if latest else self.zone.bound(other, self.own.base)
            if bound is None:
                continue
            away = number(self.own.offset + (bound[0] if latest else -bound[0]))
            if latest or other != START or away > 0:
                yield Moment(other, away), not bound[1]

    def cases(self) -> Iterator[tuple[Counted, list[Constraint]]]:
        """The stretch in which something counts, by cases: which of several bounds is the closest."""
        lows = self.lows or [(Moment(START, 0), True)]
        for low, high in product(range(len(lows)), range(len(self.highs))):
            constraints = [
                *(
                    at_most(lows[each][0], lows[low][0], _closer(lows, each, low))
                    for each in range(len(lows))
                    if each != low
                ),
                *(
                    at_most(self.highs[high][0], self.highs[each][0], _closer(self.highs, each, high))
                    for each in range(len(self.highs))
                    if each != high
                ),
            ]
            yield self.counted(lows[low], self.highs[high]), constraints

    def counted(self, low: tuple[Moment, bool], high: tuple[Moment, bool]) -> Counted:
        tally, premise = self.tally, self.tally.premise
        positive = tally.operator in (">", ">=")
        return Counted(
            tally.function,
            tally.operator,
            tally.bound,
            tally.terms,
            Need(premise.predicate, premise.arguments, low[0], high[0], low[1], high[1], positive, True, True),
            tally.lookups,
            tuple(self.conditions),
            tally.locals,
            tally.some,
        )


def _closer(ends: list[tuple[Moment, bool]], other: int, chosen: int) -> ZoneBound:
    """How much closer another end may be than the one chosen: not at all, nor as close if it comes first or excludes
    what the other includes."""
    (_, includes), (_, own) = ends[other], ends[chosen]
    return (0, -1) if (own and not includes) or (own == includes and other < chosen) else (0, 0)


def check_together(pattern: RangePattern, counted: tuple[Counted, ...]) -> None:
    """Whether what is counted can be judged apart from everything else that is asked for."""
    for place, one in enumerate(counted):
        name = one.need.predicate
        if any(each.predicate == name for each in pattern.absences):
            raise NoPatterns(f"`{name}` is counted and must be absent", pattern.rules)
        for other in counted[:place]:
            if other.need.predicate == name and not (one.is_positive and other.is_positive):
                raise NoPatterns(f"`{name}` is counted twice, and more of it can be too much", pattern.rules)
