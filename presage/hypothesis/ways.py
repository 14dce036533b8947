"""The ways of an answer: pieces with their times chosen, the minimal ones kept ([HA] Definitions 5, 6, 19, 20).

A way is a set of premises with a set of evidence. One whose premises contain those of another way of
the same answer is dropped, and so is one whose premises alone, without its evidence, would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, floor

from presage.hypothesis.literals import Lit, Open
from presage.hypothesis.pieces import Piece
from presage.model.terms import Number

MOST_CHOICES = 1_000


@dataclass(frozen=True, slots=True)
class Way:
    needs: frozenset[Lit]
    because: frozenset[Lit]
    unless: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, list[tuple[bool, Number, str]], list[tuple[bool, Number, str]], tuple[str, ...]]:
        """Fewest open premises first."""
        return len(self.needs), ordered(self.needs), ordered(self.because), self.unless


def ordered(lits: Iterable[Lit]) -> list[tuple[bool, Number, str]]:
    return sorted(lit.order for lit in lits)


def texts(lits: Iterable[Lit]) -> tuple[str, ...]:
    """By time, then text."""
    return tuple(str(lit) for lit in sorted(lits, key=lambda lit: lit.order))


def chosen(piece: Piece, now: Number, discrete: bool) -> Iterator[Piece]:
    """The piece with every bounded open time chosen: one for each time at which its premises may still arrive."""
    matcher, pattern = piece.matcher, piece.matcher.pattern
    ranges: list[tuple[int, range]] = []
    size = 1
    for index, at in enumerate(piece.times):
        if at is not None or not discrete:
            continue
        low, high = pattern.bounds(index, piece.times)
        waiting = [
            premise
            for place, premise in enumerate(pattern.premises)
            if premise.when.base == index and not piece.met >> place & 1
        ]
        if low is None or high is None or not waiting:
            continue
        for premise in waiting:
            delay = matcher.delays.of(premise.predicate, [matcher.value(each, piece.slots) for each in premise.arguments])
            low = max(low, floor(now - premise.when.offset - delay) + 1)
        ranges.append((index, range(ceil(low), floor(high) + 1)))
        size *= len(ranges[-1][1])
    if not ranges or size > MOST_CHOICES:
        yield piece
        return
    for picked in product(*(options for _, options in ranges)):
        times = list(piece.times)
        for (index, _), at in zip(ranges, picked, strict=True):
            times[index] = at
        if pattern.fits(times):
            part = replace(piece, times=tuple(times))
            if all(matcher.judge(each, part.slots, part.times) is not False for each in pattern.conditions):
                yield part


def as_way(piece: Piece) -> Way:
    return Way(piece.needs(), piece.because(), tuple(piece.unless()))


def minimal_ways(ways: Iterable[Way]) -> list[Way]:
    """The ways with evidence that no other way makes superfluous, fewest premises first."""
    found = sorted(set(ways), key=lambda way: way.order)
    kept: list[Way] = []
    for way in found:
        if any(_makes_superfluous(other, way) for other in found if other is not way):
            continue
        if any(other.needs == way.needs and other.unless == way.unless for other in kept):
            continue
        kept.append(way)
    return [way for way in kept if way.because]


def _makes_superfluous(other: Way, way: Way) -> bool:
    """Whether wherever the way applies, the other does with fewer premises, or with the same and no evidence."""
    if not set(other.unless) <= set(way.unless):
        return False
    if other.needs < way.needs:
        return True
    if other.needs == way.needs:
        return not other.because and bool(way.because) or other.because < way.because
    return len(other.needs) <= len(way.needs) and _instance(other, way)


def _instance(other: Way, way: Way) -> bool:
    """Whether the way's premises contain an instance of the other's, which has open variables of its own."""
    names = {each for lit in other.needs for each in (*lit.arguments, lit.time) if isinstance(each, Open)}
    if not names:
        return False
    wanted, offered = sorted(other.needs, key=lambda lit: lit.order), list(way.needs)

    def place(index: int, values: dict[Open, object], used: frozenset[Lit]) -> bool:
        if index == len(wanted):
            return used < way.needs or (used == way.needs and way.needs != other.needs)
        lit = wanted[index]
        for have in offered:
            if (have.positive, have.predicate) != (lit.positive, lit.predicate):
                continue
            bound = dict(values)
            pairs = ((lit.time, have.time), *zip(lit.arguments, have.arguments, strict=True))
            if all(
                bound.setdefault(want, given) == given if isinstance(want, Open) else want == given
                for want, given in pairs
            ) and place(index + 1, bound, used | {have}):
                return True
        return False

    return place(0, {}, frozenset())
