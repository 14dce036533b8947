"""Conditions on times and values as the kernels check them, without those that follow from others."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import Any

from presage.hypothesis.courses.symbolic import DIFFERS, LESS, SymbolCondition, Untraceable

PARTS = 1_000_000
"""Values are compared in millionths."""
MOST = 1 << 61
"""What constants must be below: sums in comparisons have 64 bits."""


def compiled(conditions: Iterable[SymbolCondition], values: frozenset[int], per_unit: int) -> list[int]:
    """How many there are; of each whether something must differ, the constant, and the terms."""
    found: list[list[int]] = []
    bounds: list[tuple[int, int, int]] = []
    apart: list[tuple[int, int, int]] = []
    for condition in conditions:
        about = [index in values for index, _ in condition.terms]
        if any(about) and not all(about):
            raise Untraceable("times and values in one comparison")
        scaled = Fraction(condition.constant) * (PARTS if all(about) else per_unit)
        if scaled.denominator != 1 or abs(scaled) >= MOST:
            raise Untraceable("a number of too many places")
        constant = scaled.numerator + (condition.kind == LESS)
        difference = _difference(condition)
        if difference is None or any(about):
            found.append([condition.kind == DIFFERS, constant, *_terms(condition)])
        elif condition.kind == DIFFERS:
            apart.append((*difference, constant))
        else:
            bounds.append((*difference, constant))
    return _flat([*found, *_tight(bounds, apart)])


def _terms(condition: SymbolCondition) -> list[int]:
    return [len(condition.terms), *(part for index, factor in condition.terms for part in (factor, index))]


def _difference(condition: SymbolCondition) -> tuple[int, int] | None:
    """x and y where the sum is x − y; −1 is the start of the stream."""
    x = y = -1
    for index, factor in condition.terms:
        if factor == 1 and x < 0:
            x = index
        elif factor == -1 and y < 0:
            y = index
        else:
            return None
    return x, y


def _tight(bounds: list[tuple[int, int, int]], apart: list[tuple[int, int, int]]) -> list[list[int]]:
    """Of bounds x − y + c ≤ 0 those that do not follow from the others, and what is not apart anyway."""
    nodes = sorted({-1, *(each for bound in (*bounds, *apart) for each in bound[:2])})
    place = {node: index for index, node in enumerate(nodes)}
    size = len(nodes)
    most: list[list[Any]] = [[0 if x == y else inf for y in range(size)] for x in range(size)]
    for x, y, constant in bounds:
        here = most[place[x]]
        here[place[y]] = min(here[place[y]], -constant)
    for middle in range(size):
        through = most[middle]
        for row in most:
            away = row[middle]
            if away != inf:
                for y in range(size):
                    if away + through[y] < row[y]:
                        row[y] = away + through[y]
    kept: dict[tuple[int, int], int] = {}
    for x, y, constant in bounds:
        if most[place[x]][place[y]] == -constant:
            kept[x, y] = constant
    # One after the other goes, if it follows from those that are left.
    for pair in sorted(kept, key=lambda each: (-1 in each, each)):
        rest = {other: constant for other, constant in kept.items() if other != pair}
        if _follows(rest, *pair, -kept[pair]):
            kept = rest
    found = [[0, constant, *_written(x, y)] for (x, y), constant in kept.items()]
    for x, y, constant in apart:
        if most[place[x]][place[y]] < -constant or most[place[y]][place[x]] < constant:
            continue
        found.append([1, constant, *_written(x, y)])
    return found


def _follows(bounds: dict[tuple[int, int], int], x: int, y: int, most: int) -> bool:
    """Whether x − y is at most so much by some bounds: a shortest way."""
    away: dict[int, Any] = {x: 0}
    for _ in range(len(bounds) + 1):
        again = False
        for (first, second), constant in bounds.items():
            known = away.get(first)
            if known is not None and known - constant < away.get(second, inf):
                away[second] = known - constant
                again = True
        if not again:
            break
    return bool(away.get(y, inf) <= most)


def _written(x: int, y: int) -> list[int]:
    terms = [part for factor, index in ((1, x), (-1, y)) if index >= 0 for part in (factor, index)]
    return [len(terms) // 2, *terms]


def _flat(found: list[list[int]]) -> list[int]:
    return [len(found), *(int(part) for each in found for part in each)]
