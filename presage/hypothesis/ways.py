"""The ways of an answer: pieces with their times chosen, the minimal ones kept ([HA] Definitions 5, 6, 19, 20).

A way is a set of premises with a set of evidence. One whose premises contain those of another way of
the same answer is dropped, and so is one whose premises alone, without its evidence, would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from presage.hypothesis.likeness import Binding, is_among
from presage.hypothesis.pieces import Piece
from presage.hypothesis.words import Comparisons, show_clause
from presage.model.terms import Number
from presage.patterns.literals import Lit, Open

NONE: frozenset[Lit] = frozenset()


@dataclass(frozen=True, slots=True)
class Way:
    needs: frozenset[Lit]
    because: frozenset[Lit]
    unless: tuple[str, ...] = ()
    """What its open variables must not be or satisfy, in words."""
    limits: tuple[Comparisons, ...] = field(default=(), compare=False)
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
    answer's stand for the same in all of them. What is superfluous for some values only is not told for these."""
    fixed = Binding({each: each for each in answered}, {})
    found = sorted(set(ways), key=lambda way: way.order)
    shapes = [frozenset(map(_shape, way.needs)) for way in found]
    sought = [(way, shape, *_parts(way.needs)) for way, shape in zip(found, shapes, strict=True)]
    kept: list[Way] = []
    taken: set[Way] = set()
    for way, own, _, opened in sought:
        if not way.because:
            continue
        others = [
            (other, *part)
            for other, shape, ground, wanted in sought
            if other is not way and shape <= own and (opened or ground <= way.needs)
            for part in (
                _instances(other, NONE, sorted(other.needs, key=_told), way, fixed)
                if opened
                else _instances(other, ground, wanted, way, fixed)
            )
        ]
        whole = [(other, part) for other, part, binding in others if not binding.same]
        if any(part < way.needs or not other.because or other.because < way.because for other, part in whole):
            continue
        if any(other in taken for other, _ in whole):
            continue
        taken.add(way)
        kept.append(_without(way, [each for each in others if each[2].same]))
    return kept


def _without(way: Way, others: Iterable[tuple[Way, frozenset[Lit], Binding]]) -> Way:
    """A way without the values for which others need less, or do without evidence."""
    limits = dict(zip(way.unless, way.limits, strict=True))
    for other, part, binding in others:
        if not other.because or {*_bound(part, binding)} < {*_bound(way.needs, binding)}:
            clause = tuple(binding.clause())
            limits.setdefault(show_clause(clause), clause)
    return way if len(limits) == len(way.limits) else replace(way, unless=tuple(limits), limits=tuple(limits.values()))


def _bound(lits: Iterable[Lit], binding: Binding) -> Iterator[object]:
    return ((lit.positive, lit.predicate, lit.time, tuple(map(binding.of, lit.arguments))) for lit in lits)


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
    other: Way, ground: frozenset[Lit], wanted: list[Lit], way: Way, fixed: Binding
) -> Iterator[tuple[frozenset[Lit], Binding]]:
    """The subsets of a way's premises that are another way's premises, its open variables chosen, and the way's:
    `wanted` are those to look for, and the others are there."""
    if not wanted:
        if is_among(other.limits, way.limits, fixed):
            yield other.needs, fixed
        return
    offered = list(way.needs)

    def place(index: int, binding: Binding, used: frozenset[Lit]) -> Iterator[tuple[frozenset[Lit], Binding]]:
        if index == len(wanted):
            if is_among(other.limits, way.limits, binding):
                yield used, binding
            return
        lit = wanted[index]
        for have in offered:
            if _shape(have) != _shape(lit):
                continue
            bound = binding.with_values(lit.arguments, have.arguments)
            if bound is not None:
                yield from place(index + 1, bound, used | {have})

    yield from place(0, fixed, ground)
