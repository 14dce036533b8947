"""How likely a way with open times is to come true: some choice of each open time comes, and of a stretch of absence
nothing does. Facts are independent, and what is known of single ones is in `hypothesis/confidence.py`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from presage.hypothesis.confidence import Confidence, NoProbability
from presage.hypothesis.ranges.at_times import premises
from presage.hypothesis.ranges.counted_confidence import CountedChances
from presage.hypothesis.ranges.pieces import ZonePiece, extent
from presage.model.statements import Distribution
from presage.model.terms import Number
from presage.patterns.literals import Open
from presage.patterns.zoned import Need
from presage.time.zones import ANSWER, START


class Factor(NamedTuple):
    """A premise as something that is likely or not: that a fact comes at a time, or at some, at every or at no time of
    a range; `last` is nothing where the range has no end."""

    predicate: str
    arguments: tuple[Any, ...]
    kind: str
    first: Any
    last: Any


AT, NOT_AT, SOME, ALL, NONE = "at", "not at", "some", "all", "none"


def confidence_of(piece: ZonePiece, engine: Any, chances: Confidence, now: Number) -> float | None:
    """`None` on dense time, and where values are open or no rates are given."""
    if not chances.given or not engine.line.whole:
        return None
    alone, together = _apart(piece)
    derived = [each for each in alone if not each.positive and each.predicate in engine.matchings]
    try:
        if derived and engine.evolutions is not None:
            return chances.of_any([premises(each) for each in engine.evolutions.choices(piece)], now)
        if derived:
            # No fact matters both to what is derived and to what stands beside it.
            rest = replace(piece, needs=tuple(each for each in piece.needs if each not in derived))
            beside = confidence_of(rest, engine, chances, now)
            stays_away = chances.of_any([premises(replace(piece, needs=tuple(derived)))], now)
            return None if beside is None else beside * stays_away
        factors = _factors(alone, piece, engine)
        counted = CountedChances(piece, chances, now).of(together) if together else 1.0
        return None if factors is None else counted * likely(factors, chances, now)
    except NoProbability:
        return None


def factors_of(piece: ZonePiece, engine: Any, chances: Confidence) -> tuple[Factor, ...] | None:
    """What must happen for a way without counted premises to come true, each independently of the others; `None` where
    there is no simple probability."""
    return _factors(piece.needs, piece, engine) if chances.given and engine.line.whole else None


def _factors(needs: Iterable[Need], piece: ZonePiece, engine: Any) -> tuple[Factor, ...] | None:
    found = []
    seen: set[int] = set()
    for need in needs:
        if any(isinstance(each, Open) for each in need.arguments):
            return None
        if not need.positive and need.predicate in engine.matchings:
            return None
        free = {side.base for side in (need.low, need.high) if side.base != START}
        free = {each for each in free if piece.zone.distance(each, START) is None}
        if free & seen or (free and (need.throughout or _is_tied(piece, free))):
            # Choices that hang together have no simple probability.
            return None
        seen |= free
        factor = _factor(need, piece, bool(free))
        if factor is None:
            return None
        found.append(factor)
    return tuple(found)


def _apart(piece: ZonePiece) -> tuple[list[Need], list[Need]]:
    """The premises that stand for themselves, and those that count something or hang together with such."""
    counted = [each for each in piece.needs if each.amount is not None]
    if not counted:
        return list(piece.needs), []
    hangs = piece.zone.distance(ANSWER, START) is None
    atoms = {(each.predicate, each.arguments) for each in counted}
    together = [
        each
        for each in piece.needs
        if each.amount is not None
        or (each.predicate, each.arguments) in atoms
        or (hangs and ANSWER in (each.low.base, each.high.base))
    ]
    return [each for each in piece.needs if each not in together], together


def _factor(need: Need, piece: ZonePiece, is_open: bool) -> Factor | None:
    low, high = extent(piece.zone, need.low)[0], extent(piece.zone, need.high)[1]
    if low is None or (high is None and not is_open):
        return None
    if high is None:
        kind = SOME
    elif not is_open and not need.throughout:
        kind = AT if need.positive else NOT_AT
    elif not need.positive:
        kind = NONE
    else:
        kind = SOME if is_open else ALL
    return Factor(need.predicate, need.arguments, kind, low, high)


def likely(factors: Sequence[Factor], chances: Confidence, now: Number) -> float:
    """Raises `NoProbability` where a rate is missing."""
    return math.prod((_chance(each, chances, now) for each in factors), start=1.0)


def _chance(factor: Factor, chances: Confidence, now: Number) -> float:
    match factor.kind:
        case "at":
            return chances.chance((factor.predicate, factor.arguments, factor.first), now)
        case "not at":
            return 1 - chances.chance((factor.predicate, factor.arguments, factor.first), now)
        case "some":
            return _some(factor, chances, now)
        case "none":
            return 1 - _some(factor, chances, now)
        case _:
            return _all(factor, chances, now)


def _is_tied(piece: ZonePiece, free: set[int]) -> bool:
    """Whether an open time is bounded by another one."""
    (one,) = free
    zone = piece.zone
    for other in range(1, zone.size):
        if other == one or zone.distance(other, START) is not None:
            continue
        (low, high), (first, last) = (extent(zone, _at(each)) for each in (one, other))
        most, least = zone.bound(one, other), zone.bound(other, one)
        if most is not None and (high is None or first is None or most[0] < high - first):
            return True
        if least is not None and (last is None or low is None or least[0] < last - low):
            return True
    return False


def _at(base: int) -> Any:
    from presage.patterns.zoned import Moment

    return Moment(base, 0)


def _some(factor: Factor, chances: Confidence, now: Number) -> float:
    """That a fact comes at some time of a range. Far enough ahead all times are alike."""
    name, arguments, low, high = factor.predicate, factor.arguments, int(factor.first), factor.last
    declared = chances.delays.declaration(name, arguments)
    if declared is None or (declared.rate is None and "rate" not in declared.learned):
        raise NoProbability
    waits = [int(wait) for wait, _ in declared.delay.parts] if isinstance(declared.delay, Distribution) else [0]  # type: ignore[arg-type]
    alike = max(low, int(now) + 1)
    none = 1.0
    for at in range(low, min(alike, alike if high is None else int(high) + 1)):
        if int(now) - at <= max(waits) or not isinstance(declared.delay, Distribution):
            none *= 1 - chances.chance((name, arguments, at), now)
    if high is None:
        return 1.0 if chances.chance((name, arguments, alike), now) else 1 - none
    if high >= alike:
        none *= (1 - chances.chance((name, arguments, alike), now)) ** (int(high) - alike + 1)
    return 1 - none


def _all(factor: Factor, chances: Confidence, now: Number) -> float:
    name, arguments, low, high = factor.predicate, factor.arguments, int(factor.first), int(factor.last)
    total = 1.0
    alike = max(low, int(now) + 1)
    for at in range(low, min(alike, high + 1)):
        total *= chances.chance((name, arguments, at), now)
    if high >= alike:
        total *= chances.chance((name, arguments, alike), now) ** (high - alike + 1)
    return total
