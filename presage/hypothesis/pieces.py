"""Pieces: a record, or a pattern nothing has met yet, with its negated literals judged.

A negated literal with open variables is judged differently for different values of them: absent for
most, present for some, undecided for others. So one record falls into pieces, each with a binding, a
set of value combinations it does not stand for (`without`), and for each negated literal whether it
is settled (evidence) or not (a premise). Families are the answers of the negated predicate, with open
variables and exclusions of their own; a piece can be met with a family, or taken away from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from presage.hypothesis.records import Matcher, Slots, SlotTimes
from presage.hypothesis.words import (
    Comparisons,
    condition_clause,
    exclusion_clause,
    range_clauses,
    show_clause,
    without_the_obvious,
)
from presage.model.delays import Excluded
from presage.model.terms import Number, Value
from presage.patterns.literals import Argument, Lit, Open
from presage.patterns.premises import Fixed, Premise


class Same(NamedTuple):
    """The value of another slot."""

    slot: int


Exclusion = tuple[tuple[int, Value | Same], ...]
"""Values that slots do not have together."""


@dataclass(frozen=True, slots=True)
class Family:
    """Answers p(args) at one time, for all values of the open variables but those excluded."""

    arguments: tuple[Argument, ...]
    without: frozenset[tuple[tuple[str, Value], ...]] = frozenset()

    @property
    def is_single(self) -> bool:
        """Whether it is one answer."""
        return not any(isinstance(each, Open) for each in self.arguments)


@dataclass(frozen=True, slots=True)
class Piece:
    matcher: Matcher
    slots: Slots
    times: SlotTimes
    met: int
    without: frozenset[Exclusion] = frozenset()
    sure: int = 0
    """The negated literals that are settled, as bits."""
    open: int = 0
    """Those that are not."""

    @property
    def is_certain(self) -> bool:
        return not self.open and self.met == self.matcher.all_met

    @property
    def has_evidence(self) -> bool:
        return bool(self.sure) or any(
            self.met >> index & 1 and not self.is_void(premise)
            for index, premise in enumerate(self.matcher.pattern.premises)
        )

    def is_void(self, premise: Premise) -> bool:
        """Whether a literal lies before the stream, where it does not count."""
        at = self.matcher.time(premise.when, self.times)
        return premise.outside and at is not None and at < 0

    @property
    def answer(self) -> tuple[tuple[Argument, ...], Number | Open]:
        pattern = self.matcher.pattern
        goal = self.matcher.lit(Premise("", pattern.arguments, pattern.when), self.slots, self.times)
        return goal.arguments, goal.time

    def because(self) -> frozenset[Lit]:
        return frozenset(self._lits(self.met, self.sure))

    def needs(self) -> frozenset[Lit]:
        return frozenset(self._lits(self.matcher.all_met & ~self.met, self.open))

    def _lits(self, premises: int, absences: int) -> Iterator[Lit]:
        pattern = self.matcher.pattern
        for literals, chosen in ((pattern.premises, premises), (pattern.absences, absences)):
            for index, premise in enumerate(literals):
                if chosen >> index & 1 and not self.is_void(premise):
                    yield self.matcher.lit(premise, self.slots, self.times)

    def bound(self, values: dict[int, Value | Same]) -> Piece | None:
        """The part of the piece in which slots have these values; `None` if there is none."""
        slots = list(self.slots)
        for slot, value in values.items():
            if not isinstance(value, Same):
                if slots[slot] is not None and slots[slot] != value:
                    return None
                slots[slot] = value
        for slot, value in values.items():
            if isinstance(value, Same):
                first, second = slots[slot], slots[value.slot]
                if first is not None and second is not None and first != second:
                    return None
                if first is None and second is None:
                    continue
                slots[slot] = slots[value.slot] = first if first is not None else second
        matcher = self.matcher
        if any(matcher.judge(each, slots, self.times) is False for each in matcher.pattern.conditions):
            return None
        if not matcher.static_allows(slots):
            return None
        if None not in slots and not (kinds := _kinds(self.without))[1]:
            # All values are known: one look for each kind of exclusion, however many there are.
            if any(tuple((slot, slots[slot]) for slot in kind) in self.without for kind in kinds[0]):
                return None
            return replace(self, slots=tuple(slots), without=frozenset())
        without = set()
        for exclusion in self.without:
            rest = _remaining(exclusion, slots)
            if rest is None:
                continue
            if not rest:
                return None
            without.add(rest)
        return replace(self, slots=tuple(slots), without=frozenset(without))

    def aliased(self, values: dict[int, Value | Same]) -> Piece | None:
        """The piece with open slots that are to be the same shown as one variable, the answer's if it is one; `None` if
        they must not be the same."""
        slots: list[Any] = list(self.slots)
        without = self.without
        pattern = self.matcher.pattern
        for slot, value in values.items():
            if isinstance(value, Same) and slots[slot] is None and slots[value.slot] is None:
                one, other = (value.slot, slot) if slot in pattern.arguments else (slot, value.slot)
                slots[one] = Open(pattern.names[other])
                renamed = (_renamed(each, one, other) for each in without)
                without = frozenset(each for each in renamed if each is not None)
        found = replace(self, slots=tuple(slots), without=without)
        return None if () in found.limits() else found

    def excluding(self, *values: dict[int, Value | Same]) -> Piece:
        return replace(self, without=self.without.union(map(_exclusion, values))) if values else self

    def arguments(self, premise: Premise) -> list[Value | Same]:
        """The arguments of a literal: values, and open slots."""
        found: list[Value | Same] = []
        for argument in premise.arguments:
            if isinstance(argument, Fixed):
                found.append(argument.value)
            else:
                value = self.slots[argument]
                found.append(Same(argument) if value is None else value)
        return found

    def excluded(self, premise: Premise) -> list[Excluded]:
        """The values a literal's open arguments do not have together."""
        places = {slot: place for place, slot in enumerate(premise.arguments) if not isinstance(slot, Fixed)}
        return [
            frozenset((places[slot], value) for slot, value in exclusion)
            for exclusion in self.without
            if all(slot in places and not isinstance(value, Same) for slot, value in exclusion)
        ]

    def limits(self) -> list[Comparisons]:
        """What the open variables must not be or satisfy."""
        names = self.matcher.pattern.names
        found = {exclusion_clause(exclusion, names) for exclusion in self.without}
        for condition in self.matcher.pattern.conditions:
            if self.matcher.judge(condition, self.slots, self.times) is None:
                found.add(condition_clause(condition, self.matcher, self.slots, self.times))
        found.update(range_clauses(self.matcher, self.times))
        told = {less for each in found if (less := without_the_obvious(each)) is not None}
        return sorted(told, key=show_clause)

    @property
    def first(self) -> Number:
        """The earliest time of its answers."""
        when = self.matcher.pattern.when
        at = self.matcher.time(when, self.times)
        low = self.matcher.pattern.bounds(when.base, self.times)[0] if at is None else None
        return at if at is not None else 0 if low is None else max(0, low + when.offset)


def _exclusion(values: dict[int, Value | Same]) -> Exclusion:
    return tuple(sorted(values.items(), key=lambda pair: pair[0]))


def _renamed(exclusion: Exclusion, old: int, new: int) -> Exclusion | None:
    """An exclusion with one slot in place of another; `None` if it speaks of different values for it."""
    values: dict[int, Value | Same] = {}
    for slot, value in exclusion:
        here = new if slot == old else slot
        there = Same(new) if isinstance(value, Same) and value.slot == old else value
        if there != Same(here) and values.setdefault(here, there) != there:
            return None
    return _exclusion(values)


@lru_cache(maxsize=256)
def _kinds(without: frozenset[Exclusion]) -> tuple[set[tuple[int, ...]], bool]:
    """The combinations of slots that exclusions speak of, and whether some compare two slots."""
    kinds = {tuple(slot for slot, _ in exclusion) for exclusion in without}
    return kinds, any(isinstance(value, Same) for exclusion in without for _, value in exclusion)


def _remaining(exclusion: Exclusion, slots: list[Value | None]) -> Exclusion | None:
    """What is left of an exclusion once some slots are bound; `None` if it cannot apply any more."""
    rest: list[tuple[int, Value | Same]] = []
    for slot, value in exclusion:
        wanted = slots[value.slot] if isinstance(value, Same) else value
        have = slots[slot]
        if have is None and wanted is None:
            rest.append((slot, value))
        elif have is None:
            assert wanted is not None
            rest.append((slot, wanted))
        elif wanted is None:
            assert isinstance(value, Same)
            assert have is not None
            rest.append((value.slot, have))
        elif have != wanted:
            return None
    return tuple(rest)


def meet(
    piece: Piece, premise: Premise, family: Family
) -> tuple[dict[int, Value | Same], dict[str, Value | Same]] | None:
    """How a literal of the piece becomes one of the family: values for the piece's slots, and for the family's
    variables; `None` if never."""
    slots: dict[int, Value | Same] = {}
    names: dict[str, Value | Same] = {}
    for have, wanted in zip(piece.arguments(premise), family.arguments, strict=True):
        want = names.setdefault(wanted.name, _known(have, slots)) if isinstance(wanted, Open) else wanted
        if not _agree(have, want, slots):
            return None
    for name, value in names.items():
        if isinstance(value, Same) and value.slot in slots:
            names[name] = slots[value.slot]
    return slots, names


def _excluded(family: Family, names: dict[str, Value | Same]) -> Iterator[dict[int, Value | Same]]:
    """The family's exclusions as values of the piece's slots; empty where they surely apply."""
    for exclusion in family.without:
        values: dict[int, Value | Same] = {}
        for name, value in exclusion:
            have = names.get(name)
            if isinstance(have, Same):
                if values.get(have.slot, value) != value:
                    break
                values[have.slot] = value
            elif have != value:
                break
        else:
            yield values


def inside(piece: Piece, premise: Premise, family: Family) -> Piece | None:
    """The part of the piece whose literal is in the family."""
    found = meet(piece, premise, family)
    if found is None:
        return None
    part = piece.bound(found[0])
    excluded = list(_excluded(family, found[1]))
    return None if part is None or not all(excluded) else part.excluding(*excluded)


def outside(piece: Piece, premise: Premise, family: Family) -> list[Piece]:
    """The parts of the piece whose literal is not in the family."""
    found = meet(piece, premise, family)
    if found is None:
        return [piece]
    slots, names = found
    parts = [piece.excluding(slots)] if slots else []
    for values in _excluded(family, names):
        part = piece.bound({**slots, **values})
        if part is not None:
            parts.append(part)
    return parts


def singled_out(
    piece: Piece, premise: Premise, singles: Mapping[tuple[Argument, ...], Family]
) -> tuple[list[Piece], list[Piece]]:
    """The parts of a piece whose literal is one of many single answers, given by their arguments, and what is left: the
    same as `inside` and `outside` with one after the other, but each value is looked up or excluded once."""
    arguments = piece.arguments(premise)
    if not any(isinstance(each, Same) for each in arguments):
        return ([piece], []) if tuple(arguments) in singles else ([], [piece])
    values: dict[Exclusion, dict[int, Value | Same]] = {}
    for family in singles.values():
        found = meet(piece, premise, family)
        if found is not None:
            values.setdefault(_exclusion(found[0]), found[0])
    parts = [part for each in values.values() if (part := piece.bound(each)) is not None]
    return parts, [piece.excluding(*values.values())]


def equated(piece: Piece, first: Premise, second: Premise) -> dict[int, Value | Same] | None:
    """The values for the piece's slots that make two of its literals the same; `None` if none do."""
    values: dict[int, Value | Same] = {}
    for one, other in zip(piece.arguments(first), piece.arguments(second), strict=True):
        if not _agree(one, other, values):
            return None
    return values


def _known(value: Value | Same, slots: dict[int, Value | Same]) -> Value | Same:
    return slots.get(value.slot, value) if isinstance(value, Same) else value


def _agree(one: Value | Same, other: Value | Same, slots: dict[int, Value | Same]) -> bool:
    """Makes two arguments the same by what open slots are; false if nothing does."""
    one, other = _known(one, slots), _known(other, slots)
    if isinstance(one, Same):
        if one != other:
            slots[one.slot] = other
    elif isinstance(other, Same):
        slots[other.slot] = one
    else:
        return one == other
    return True
