"""Pieces with their open choices made: bounded times picked, premises that can be one fact made one.

A premise under `once` can be met at any time of a range, and each is a way of its own; two premises
that differ in open variables only may be met by a single fact, which is a way with fewer premises.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import ceil, floor

from presage.hypothesis.pieces import Piece, Same, equated
from presage.model.terms import Number, Value
from presage.patterns.of_queries import MOST_CHOICES


def by_delay(piece: Piece) -> Iterator[Piece]:
    """The piece apart for values whose facts have a delay of their own."""
    matcher = piece.matcher
    for place, premise in enumerate(matcher.pattern.premises):
        if piece.met >> place & 1 or premise.predicate in matcher.delays.plain:
            continue
        excluded = piece.excluded(premise)
        for refinement in matcher.delays.refinements(premise.predicate):
            given = piece.arguments(premise)
            values: dict[int, Value | Same] = {}
            still_open, differs = set(), False
            for index, value in refinement:
                have = given[index]
                if isinstance(have, Same):
                    values[have.slot] = value
                    still_open.add((index, value))
                else:
                    differs = differs or have != value
            if not values or differs or any(each <= still_open for each in excluded):
                continue
            part = piece.bound(values)
            if part is not None:
                yield from by_delay(part)
            yield from by_delay(piece.excluding(values))
            return
    yield piece


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
            arguments = [matcher.value(each, piece.slots) for each in premise.arguments]
            delay = matcher.delays.of(premise.predicate, arguments, piece.excluded(premise))
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


def collapsed(piece: Piece, seen: set[Piece] | None = None) -> Iterator[Piece]:
    """The piece, and what it becomes where one fact meets two of its premises."""
    seen = set() if seen is None else seen
    if piece in seen:
        return
    seen.add(piece)
    yield piece
    if all(slot is not None for slot in piece.slots):
        return
    waiting = [each for place, each in enumerate(piece.matcher.pattern.premises) if not piece.met >> place & 1]
    for first, second in combinations(waiting, 2):
        if first.predicate != second.predicate:
            continue
        lits = [piece.matcher.lit(each, piece.slots, piece.times) for each in (first, second)]
        values = equated(piece, first, second) if lits[0].time == lits[1].time else None
        if values:
            part = piece.bound(values)
            alike = None if part is None else part.aliased(values)
            if alike is not None:
                yield from collapsed(alike, seen)
