"""Partial matches of a pattern's premises with the facts that arrived ([HAD] Definition 6).

A record is a binding of slots and times that some of the premises, matched with facts, give; which
premises are met is a set of bits in it, so that facts in any order lead to the same record, and the
number of records follows what arrived, not the subsets of the pattern. A fact finds the records it
extends through indexes on what they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor

from presage.analysis.differences import linear
from presage.hypothesis.delays import Delays
from presage.model.delays import Excluded
from presage.model.terms import Number, Value, Variable, number
from presage.model.values import is_hopeless, is_true, value_of
from presage.patterns.literals import Lit, Open
from presage.patterns.premises import START, Fixed, Pattern, PatternCondition, Premise, SlotOrConstant, Time, fill

Slots = tuple[Value | None, ...]
SlotTimes = tuple[Number | None, ...]
Statics = Callable[[str, Sequence[Value | None]], Iterable[tuple[Value, ...]]]
"""The rows of a static predicate that agree with the values given."""


class PartialMatch:
    __slots__ = ("alive", "deadline", "matcher", "met", "slots", "times", "watched")

    def __init__(self, matcher: Matcher, slots: Slots, times: SlotTimes) -> None:
        self.matcher, self.slots, self.times = matcher, slots, times
        self.met = 0
        self.alive = True
        self.deadline: Number | None = None
        self.watched = False


class Matcher:
    """The records of one pattern."""

    def __init__(self, pattern: Pattern, delays: Delays, statics: Statics, discrete: bool) -> None:
        self.pattern, self.delays, self.statics, self.discrete = pattern, delays, statics, discrete
        self.all_met = (1 << len(pattern.premises)) - 1
        self.records: dict[tuple[Slots, SlotTimes], PartialMatch] = {}
        self.masks = [self._mask(each) for each in pattern.premises]
        # For each set of bound places: its records by what they bind of another set.
        self.indexes: dict[tuple[int, int], dict[tuple[object, ...], dict[PartialMatch, None]]] = {}
        self.sets: dict[int, dict[PartialMatch, None]] = {}

    def _mask(self, premise: Premise) -> int:
        mask = 0
        for argument in premise.arguments:
            if not isinstance(argument, Fixed):
                mask |= 1 << argument
        if premise.when.base != START:
            mask |= 1 << (len(self.pattern.names) + premise.when.base)
        return mask

    def arrive(self, index: int, arguments: tuple[Value, ...], time: Number) -> Iterator[PartialMatch]:
        """A fact meets a premise: yields the records that are new or stronger by it."""
        premise = self.pattern.premises[index]
        alone = self._match(premise, arguments, time)
        if alone is None:
            return
        mask, bit = self.masks[index], 1 << index
        found = [(alone, bit)]
        for bound in list(self.sets):
            shared = bound & mask
            for record in list(self._index(bound, shared).get(self._key(alone, shared), ())):
                if bound & mask == mask:
                    if not record.met & bit:
                        record.met |= bit
                        yield record
                elif not record.met & bit:
                    found.append((self._merged(record, alone), record.met | bit))
        for binding, met in found:
            for record in self.add(binding, met):
                yield record

    def _match(self, premise: Premise, arguments: tuple[Value, ...], time: Number) -> tuple[Slots, SlotTimes] | None:
        slots: list[Value | None] = [None] * len(self.pattern.names)
        if not fill(slots, premise.arguments, arguments):
            return None
        times: list[Number | None] = [None] * len(self.pattern.time_names)
        at = number(time - premise.when.offset)
        if premise.when.base == START:
            if at != 0:
                return None
        else:
            times[premise.when.base] = at
            if not self.pattern.fits(times):
                return None
        return tuple(slots), tuple(times)

    def _merged(self, record: PartialMatch, other: tuple[Slots, SlotTimes]) -> tuple[Slots, SlotTimes]:
        slots = tuple(a if a is not None else b for a, b in zip(record.slots, other[0], strict=True))
        times = tuple(a if a is not None else b for a, b in zip(record.times, other[1], strict=True))
        return slots, times

    def _key(self, binding: tuple[Slots, SlotTimes], places: int) -> tuple[object, ...]:
        both = (*binding[0], *binding[1])
        return tuple(each for place, each in enumerate(both) if places >> place & 1)

    def _index(self, bound: int, shared: int) -> dict[tuple[object, ...], dict[PartialMatch, None]]:
        if (bound, shared) not in self.indexes:
            index: dict[tuple[object, ...], dict[PartialMatch, None]] = {}
            for record in self.sets[bound]:
                index.setdefault(self._key((record.slots, record.times), shared), {})[record] = None
            self.indexes[bound, shared] = index
        return self.indexes[bound, shared]

    def add(self, binding: tuple[Slots, SlotTimes], met: int = 0) -> Iterator[PartialMatch]:
        """Puts a binding among the records, completed by static facts, equations and the answer's time."""
        for slots, times in self.completed(list(binding[0]), list(binding[1])):
            record = self.records.get((slots, times))
            if record is None:
                record = PartialMatch(self, slots, times)
                self.records[slots, times] = record
                record.met = met | self.outside(times)
                bound = self.bound(slots, times)
                self.sets.setdefault(bound, {})[record] = None
                for (other, shared), index in self.indexes.items():
                    if other == bound:
                        index.setdefault(self._key((slots, times), shared), {})[record] = None
                yield record
            elif met & ~record.met:
                record.met |= met
                yield record

    def outside(self, times: SlotTimes) -> int:
        """The premises that lie before the stream and do not count there."""
        met = 0
        for index, premise in enumerate(self.pattern.premises):
            if premise.outside:
                at = self.time(premise.when, times)
                if at is not None and at < 0:
                    met |= 1 << index
        return met

    def remove(self, record: PartialMatch) -> None:
        record.alive = False
        self.records.pop((record.slots, record.times), None)
        bound = self.bound(record.slots, record.times)
        self.sets[bound].pop(record, None)
        for (other, shared), index in self.indexes.items():
            if other == bound:
                key = self._key((record.slots, record.times), shared)
                group = index.get(key)
                if group is not None:
                    group.pop(record, None)
                    if not group:
                        del index[key]

    def bound(self, slots: Slots, times: SlotTimes) -> int:
        return sum(1 << place for place, each in enumerate((*slots, *times)) if each is not None)

    # -- completing a binding ---------------------------------------------------------------------

    def completed(self, slots: list[Value | None], times: list[Number | None]) -> Iterator[tuple[Slots, SlotTimes]]:
        if not self.solve(slots, times) or not self.pattern.fits(times) or not self.static_allows(slots):
            return
        for lookup in self.pattern.lookups:
            given = [self.value(each, slots) for each in lookup.arguments]
            if not lookup.positive or None not in given:
                continue
            for row in self.statics(lookup.predicate, given):
                more = list(slots)
                if fill(more, lookup.arguments, row):
                    yield from self.completed(more, list(times))
            return
        base = self.pattern.when.base
        if base != START and times[base] is None:
            low, high = self.pattern.bounds(base, times)
            if low is not None and high is not None and self.discrete:
                for at in range(ceil(low), floor(high) + 1):
                    more_times = list(times)
                    more_times[base] = at
                    yield from self.completed(list(slots), more_times)
                return
        if all(self.judge(each, slots, times) is not False for each in self.pattern.conditions):
            yield tuple(slots), tuple(times)

    def static_allows(self, slots: Sequence[Value | None]) -> bool:
        """Whether the static atoms whose variables are bound come out as the pattern asks."""
        for lookup in self.pattern.lookups:
            given = [self.value(each, slots) for each in lookup.arguments]
            if None not in given and any(True for _ in self.statics(lookup.predicate, given)) != lookup.positive:
                return False
        return True

    def value(self, argument: SlotOrConstant, slots: Sequence[Value | None]) -> Value | None:
        return argument.value if isinstance(argument, Fixed) else slots[argument]

    def time(self, when: Time, times: Sequence[Number | None]) -> Number | None:
        if when.base == START:
            return when.offset
        at = times[when.base]
        return None if at is None else number(at + when.offset)

    def known(self, slots: Sequence[Value | None], times: Sequence[Number | None]) -> Callable[[str], Value | None]:
        terms = self.pattern.terms

        def value(name: str) -> Value | None:
            place = terms.get(name)
            if place is None:
                return None
            return self.time(place, times) if isinstance(place, Time) else slots[place]

        return value

    def solve(self, slots: list[Value | None], times: list[Number | None]) -> bool:
        """Binds what bounds and equations determine; false if one cannot be met."""
        again = True
        while again:
            again = False
            for index, at in enumerate(times):
                if at is None:
                    low, high = self.pattern.bounds(index, times)
                    if low is not None and low == high:
                        times[index] = low
                        again = True
            for condition in self.pattern.conditions:
                if condition.operator != "=" or not condition.wanted:
                    continue
                open_slots = [each for each in condition.slots if slots[each] is None]
                open_times = [each for each in condition.times if times[each] is None]
                if len(open_slots) + len(open_times) != 1:
                    continue
                if open_slots:
                    solution = self._solution(condition, slots, times, open_slots[0], False)
                    if solution is not None:
                        slots[open_slots[0]] = solution
                        again = True
                else:
                    moment = self._solution(condition, slots, times, open_times[0], True)
                    if moment is not None:
                        if isinstance(moment, str) or (self.discrete and not isinstance(moment, int)):
                            return False
                        times[open_times[0]] = moment
                        again = True
        return True

    def _solution(
        self,
        condition: PatternCondition,
        slots: Sequence[Value | None],
        times: Sequence[Number | None],
        place: int,
        is_time: bool,
    ) -> Value | None:
        known = self.known(slots, times)
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(one, Variable):
                where = self.pattern.terms.get(one.name)
                value: Value | None = value_of(other, known)
                if where == place and not is_time:
                    return value
                if (
                    is_time
                    and isinstance(where, Time)
                    and where.base == place
                    and not isinstance(value, (str, type(None)))
                ):
                    return number(value - where.offset)
        sides = linear(condition.left), linear(condition.right)
        if sides[0] is None or sides[1] is None:
            return None
        share, rest = Fraction(0), sides[0][1] - sides[1][1]
        for sign, (shares, _) in ((1, sides[0]), (-1, sides[1])):
            for name, factor in shares.items():
                where = self.pattern.terms.get(name)
                unknown = where.base == place if is_time and isinstance(where, Time) else where == place and not is_time
                value = known(name)
                if unknown:
                    share += sign * factor
                    if isinstance(where, Time):
                        rest += sign * factor * where.offset
                elif value is None or isinstance(value, str):
                    return None
                else:
                    rest += sign * factor * value
        return None if share == 0 else number(-rest / share)

    def judge(
        self, condition: PatternCondition, slots: Sequence[Value | None], times: Sequence[Number | None]
    ) -> bool | None:
        """Whether a condition is met; `None` while it is open."""
        known = self.known(slots, times)
        if any(slots[each] is None or isinstance(slots[each], Open) for each in condition.slots) or any(
            times[each] is None for each in condition.times
        ):
            hopeless = is_hopeless(condition.operator, condition.left, condition.right, known)
            return not condition.wanted if hopeless else None
        left, right = value_of(condition.left, known), value_of(condition.right, known)
        return is_true(condition.operator, left, right) == condition.wanted

    # -- what a record still needs ----------------------------------------------------------------

    def lit(self, premise: Premise, slots: Sequence[Value | None], times: Sequence[Number | None]) -> Lit:
        arguments = []
        for argument in premise.arguments:
            if isinstance(argument, Fixed):
                arguments.append(argument.value)
            else:
                value = slots[argument]
                arguments.append(Open(self.pattern.names[argument]) if value is None else value)  # type: ignore[arg-type]
        at = self.time(premise.when, times)
        when = Open(self.pattern.time_names[premise.when.base], premise.when.offset) if at is None else at
        return Lit(premise.positive, premise.predicate, tuple(arguments), when)

    def last_chance(
        self,
        premise: Premise,
        slots: Sequence[Value | None],
        times: Sequence[Number | None],
        without: Iterable[Excluded] = (),
    ) -> Number | None:
        """The time from which the premise can no longer be met; `None` if never."""
        at = self.time(premise.when, times)
        if at is None:
            high = self.pattern.bounds(premise.when.base, times)[1]
            if high is None:
                return None
            at = high + premise.when.offset
        arguments = [self.value(each, slots) for each in premise.arguments]
        return at + self.delays.of(premise.predicate, arguments, without)

    def deadline(self, met: int, slots: Sequence[Value | None], times: Sequence[Number | None]) -> Number | None:
        """The first time at which a premise that is not met can no longer be."""
        chances = [
            chance
            for index, premise in enumerate(self.pattern.premises)
            if not met >> index & 1 and (chance := self.last_chance(premise, slots, times)) is not None
        ]
        return min(chances, default=None)
