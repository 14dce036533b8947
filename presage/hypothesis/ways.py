"""The ways of an answer: pieces with their times chosen, the minimal ones kept ([HA] Definitions 5, 6, 19, 20).

A way is a set of premises with a set of evidence. One whose premises contain those of another way of
the same answer is dropped, and so is one whose premises alone, without its evidence, would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from presage.hypothesis.pieces import Piece
from presage.hypothesis.words import Clause, show_clause
from presage.model.terms import Number
from presage.model.values import Value, is_true, value_of
from presage.patterns.literals import Lit, Open


@dataclass(frozen=True, slots=True)
class Way:
    needs: frozenset[Lit]
    because: frozenset[Lit]
    unless: tuple[str, ...] = ()
    """What its open variables must not be or satisfy, in words."""
    limits: tuple[Clause, ...] = field(default=(), compare=False)
    """The same, to compute with."""

    @property
    def order(self) -> tuple[int, list[tuple[bool, Number, str]], list[tuple[bool, Number, str]], tuple[str, ...]]:
        """Fewest open premises first."""
        return len(self.needs), ordered(self.needs), ordered(self.because), self.unless


def ordered(lits: Iterable[Lit]) -> list[tuple[bool, Number, str]]:
    return sorted(lit.order for lit in lits)


def texts(lits: Iterable[Lit]) -> tuple[str, ...]:
    """By time, then text."""
    return tuple(str(lit) for lit in sorted(lits, key=lambda lit: lit.order))


def as_way(piece: Piece) -> Way:
    limits = piece.limits()
    return Way(piece.needs(), piece.because(), tuple(map(show_clause, limits)), tuple(limits))


def minimal_ways(ways: Iterable[Way], answered: Iterable[Open] = ()) -> list[Way]:
    """The ways with evidence that no other way makes superfluous, fewest premises first. Open variables that are the
    answer's stand for the same in all of them."""
    fixed: dict[Open, object] = {each: each for each in answered}
    found = sorted(set(ways), key=lambda way: way.order)
    shapes = [frozenset(map(_shape, way.needs)) for way in found]
    sought = [(way, shape, *_parts(way.needs)) for way, shape in zip(found, shapes, strict=True)]
    kept: list[Way] = []
    for way, own in zip(found, shapes, strict=True):
        if not way.because:
            continue
        others = [
            (other, part)
            for other, shape, ground, wanted in sought
            if other is not way and shape <= own and ground <= way.needs
            for part in _instances(other, ground, wanted, way, fixed)
        ]
        if any(part < way.needs or not other.because or other.because < way.because for other, part in others):
            continue
        if any(other in kept for other, _ in others):
            continue
        kept.append(way)
    return kept


def _shape(lit: Lit) -> tuple[object, ...]:
    """What a premise has in common with each that its open variables may make of it."""
    return lit.positive, lit.predicate, lit.time


def _told(lit: Lit) -> tuple[bool, Number, str]:
    return lit.order


def _parts(needs: frozenset[Lit]) -> tuple[frozenset[Lit], list[Lit]]:
    """The premises that are as they are, and those with open variables, in order."""
    opened = [lit for lit in needs if any(isinstance(each, Open) for each in lit.arguments)]
    return needs.difference(opened), sorted(opened, key=_told)


def _instances(
    other: Way, ground: frozenset[Lit], wanted: list[Lit], way: Way, fixed: dict[Open, object]
) -> Iterator[frozenset[Lit]]:
    """The subsets of a way's premises that are another way's premises, its open variables chosen: `wanted` are those
    that have some, and the others are there."""
    if not wanted:
        if stands_for(other, way, {}):
            yield other.needs
        return
    offered = list(way.needs)

    def place(index: int, values: dict[Open, object], used: frozenset[Lit]) -> Iterator[frozenset[Lit]]:
        if index == len(wanted):
            if stands_for(other, way, values):
                yield used
            return
        lit = wanted[index]
        for have in offered:
            if _shape(have) != _shape(lit):
                continue
            bound = dict(values)
            if all(
                bound.setdefault(want, given) == given if isinstance(want, Open) else want == given
                for want, given in zip(lit.arguments, have.arguments, strict=True)
            ):
                yield from place(index + 1, bound, used | {have})

    yield from place(0, fixed, ground)


class Limited(Protocol):
    """What stands for all values of its open variables but some."""

    @property
    def limits(self) -> tuple[Clause, ...]: ...

    @property
    def unless(self) -> tuple[str, ...]: ...


def stands_for(other: Limited, way: Limited, values: dict[Open, object]) -> bool:
    """Whether a way with these values for its variables stands for all that another does."""

    def known(name: str) -> Value | None:
        value = values.get(Open(name))
        return None if isinstance(value, Open) else value  # type: ignore[return-value]

    same = all(variable == value for variable, value in values.items())
    for clause, text in zip(other.limits, other.unless, strict=True):
        sides = [(each.operator, value_of(each.left, known), value_of(each.right, known)) for each in clause]
        if any(
            left is not None and right is not None and not is_true(sign, left, right) for sign, left, right in sides
        ):
            continue  # it does not apply to these values
        if not same or text not in way.unless:
            return False
    return True
