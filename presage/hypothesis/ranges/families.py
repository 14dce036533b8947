"""Families: the answers of a negated atom at one time, for all values of its open variables but some.

A negated literal with open variables is judged differently for different values of them: absent for most, present for
some, undecided for others. So a partial match falls apart: it can be met with a family, or taken away from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from presage.hypothesis.ranges.partial import Partial
from presage.hypothesis.words import Comparisons
from presage.model.formulas import MIRRORED, OPPOSITES, Comparison
from presage.model.terms import Constant, Term, Value, Variable, map_term, term_variables
from presage.model.values import is_true, value_of
from presage.patterns.literals import Argument, Open
from presage.patterns.premises import Fixed
from presage.patterns.zoned import Need

FollowValues = Callable[[Partial], Iterator[Partial]]
"""What follows from the values that a partial match has been given."""


@dataclass(frozen=True, slots=True)
class AtomFamily:
    """Answers p(args) at one time, for all values of the open variables but those that meet a limit."""

    arguments: tuple[Argument, ...]
    limits: tuple[Comparisons, ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether it is one answer."""
        return not any(isinstance(each, Open) for each in self.arguments)

    def has(self, arguments: Sequence[object]) -> bool:
        """Whether an answer is one of them; a value nothing is known of is like no other."""
        values: dict[str, Any] = {}
        for wanted, have in zip(self.arguments, arguments, strict=True):
            if (values.setdefault(wanted.name, have) if isinstance(wanted, Open) else wanted) != have:
                return False
        return substituted(self.limits, values) is not None


class AtomField(NamedTuple):
    """All answers of an atom at a time: those that are certain, and those that are open."""

    certain: list[AtomFamily]
    possible: list[AtomFamily]


class FallingApart:
    """The parts of partial matches of one pattern that are inside or outside of families."""

    def __init__(self, names: Sequence[str], settle: FollowValues) -> None:
        self.names, self.settle = names, settle
        self.places = {name: slot for slot, name in enumerate(names)}

    def judged(self, state: Partial, literal: Need, field: AtomField) -> Iterator[tuple[Partial, bool]]:
        """The parts for which an absence is open, and those for which it is settled."""
        parts = [state]
        for family in field.certain:
            parts = [part for each in parts for part in self.outside(each, literal, family)]
        for family in field.possible:
            for each in parts:
                for part in self.inside(each, literal, family):
                    yield part, True
            parts = [part for each in parts for part in self.outside(each, literal, family)]
        yield from ((part, False) for part in parts)

    def inside(self, state: Partial, literal: Need, family: AtomFamily) -> Iterator[Partial]:
        met = self._meet(state, literal, family)
        if met is None:
            return
        values, _, stands = met
        limits = [clause for each in family.limits if (clause := self._of_state(each, stands)) is not None]
        yield from self._bound(state, values, limits)

    def outside(self, state: Partial, literal: Need, family: AtomFamily) -> Iterator[Partial]:
        met = self._meet(state, literal, family)
        if met is None:
            yield state
            return
        values, same, stands = met
        if values or same:
            clause = [Comparison("=", Variable(self.names[slot]), Constant(value)) for slot, value in values.items()]
            clause += [Comparison("=", Variable(self.names[one]), Variable(self.names[two])) for one, two in same]
            yield from self._bound(state, {}, [tuple(clause)])
        for each in family.limits:
            clause_there = self._of_state(each, stands)
            if clause_there is None:
                continue
            # The part for which all of it is so.
            more = dict(values)
            rest = []
            for comparison in clause_there:
                slot = self._slot(comparison.left)
                if comparison.operator == "=" and slot is not None and isinstance(comparison.right, Constant):
                    if more.setdefault(slot, comparison.right.value) != comparison.right.value:
                        break
                else:
                    operator = OPPOSITES[comparison.operator]
                    rest.append((Comparison(operator, comparison.left, comparison.right),))
            else:
                yield from self._bound(state, more, rest)

    def _slot(self, term: Term) -> int | None:
        return self.places.get(term.name) if isinstance(term, Variable) else None

    def _meet(
        self, state: Partial, literal: Need, family: AtomFamily
    ) -> tuple[dict[int, Value], list[tuple[int, int]], dict[str, Any]] | None:
        """How a literal becomes one of a family: values for slots, slots that must be the same, and what the family's
        variables stand for, slots as `OpenSlot`; nothing if never."""
        values: dict[int, Value] = {}
        same: list[tuple[int, int]] = []
        stands: dict[str, Any] = {}

        def known(argument: Any) -> Any:
            if isinstance(argument, Fixed):
                return argument.value
            value = state.slots[argument]
            return values.get(argument, OpenSlot(argument)) if value is None else value

        for argument, wanted in zip(literal.arguments, family.arguments, strict=True):
            have = known(argument)
            if isinstance(wanted, Open):
                want = stands.setdefault(wanted.name, have)
                if isinstance(want, OpenSlot):
                    want = values.get(want.number, want)
            else:
                want = wanted
            if have == want:
                continue
            if isinstance(have, OpenSlot) and isinstance(want, OpenSlot):
                same.append((have.number, want.number))
            elif isinstance(have, OpenSlot):
                values[have.number] = want
            elif isinstance(want, OpenSlot):
                values[want.number] = have
            else:
                return None
        return (
            values,
            same,
            {
                name: values.get(each.number, each) if isinstance(each, OpenSlot) else each
                for name, each in stands.items()
            },
        )

    def _of_state(self, clause: Comparisons, stands: dict[str, Any]) -> Comparisons | None:
        """What a limit of a family says of a partial match; nothing if it speaks of what the family does not show."""

        def put(term: Term) -> Term:
            if not isinstance(term, Variable):
                return term
            known = stands[term.name]
            return Variable(self.names[known.number]) if isinstance(known, OpenSlot) else Constant(known)

        sides = [side for each in clause for side in (each.left, each.right)]
        if any(each.name not in stands for side in sides for each in term_variables(side)):
            return None
        return tuple(Comparison(each.operator, map_term(each.left, put), map_term(each.right, put)) for each in clause)

    def _bound(self, state: Partial, values: dict[int, Value], excluded: Iterable[Comparisons]) -> Iterator[Partial]:
        """The part in which slots have these values, without what must not be."""
        slots = list(state.slots)
        for slot, value in values.items():
            slots[slot] = value
        for part in self.settle(state.but(slots=slots)) if values else [state]:
            left = reduced([*part.excluded, *excluded], self.names, part.slots)
            if left is not None:
                yield part.but(excluded=left)


class OpenSlot(NamedTuple):
    """The value of a slot that is open."""

    number: int


def reduced(
    clauses: Iterable[Comparisons], names: Sequence[str], slots: Sequence[Any]
) -> tuple[Comparisons, ...] | None:
    """What is left of what must not be, once some values are known; nothing if it is so."""
    values = {name: value for name, value in zip(names, slots, strict=True) if value is not None}
    return substituted(clauses, values)


def substituted(clauses: Iterable[Comparisons], values: dict[str, Any]) -> tuple[Comparisons, ...] | None:
    """The same with values put in for variables."""

    def put(term: Term) -> Term:
        return Constant(values[term.name]) if isinstance(term, Variable) and term.name in values else term

    found: dict[Comparisons, None] = {}
    for clause in clauses:
        rest = []
        for each in clause:
            left, right = map_term(each.left, put), map_term(each.right, put)
            one, other = value_of(left, _nothing), value_of(right, _nothing)
            if one is None or other is None:
                if left == right and each.operator in ("=", "<=", ">="):
                    continue
                if isinstance(left, Constant):
                    left, right, operator = right, left, MIRRORED[each.operator]
                    rest.append(Comparison(operator, left, right))
                else:
                    rest.append(Comparison(each.operator, left, right))
            elif not is_true(each.operator, one, other):
                break
        else:
            if not rest:
                return None
            found[tuple(rest)] = None
    return tuple(found)


def _nothing(name: str) -> None:
    return None
