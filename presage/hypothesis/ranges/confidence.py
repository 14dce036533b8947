"""How likely a way with open times is to come true: some choice of each open time comes, and of a stretch of absence
nothing does. Facts are independent, and what is known of single ones is in `hypothesis/confidence.py`."""

from __future__ import annotations

from typing import Any

from presage.hypothesis.confidence import Confidence, NoProbability
from presage.hypothesis.literals import Open
from presage.hypothesis.ranges.counted_confidence import CountedChances
from presage.hypothesis.ranges.patterns import Need
from presage.hypothesis.ranges.pieces import ZonePiece, extent
from presage.model.statements import Distribution
from presage.model.terms import Number
from presage.time.zones import ANSWER, START


def confidence_of(piece: ZonePiece, engine: Any, chances: Confidence, now: Number) -> float | None:
    """`None` on dense time, and where values are open or no rates are given."""
    if not chances.given or not engine.line.whole:
        return None
    try:
        return _of(piece, engine, chances, now)
    except NoProbability:
        return None


def _of(piece: ZonePiece, engine: Any, chances: Confidence, now: Number) -> float:
    total = 1.0
    seen: set[int] = set()
    needs, together = _apart(piece)
    if together:
        total *= CountedChances(piece, chances, now).of(together)
    for need in needs:
        if any(isinstance(each, Open) for each in need.arguments):
            raise NoProbability
        if not need.positive and need.predicate in engine.matchings:
            raise NoProbability
        free = {side.base for side in (need.low, need.high) if side.base != START}
        free = {each for each in free if piece.zone.distance(each, START) is None}
        if free & seen or (free and (need.throughout or _is_tied(piece, free))):
            # Choices that hang together have no simple probability.
            raise NoProbability
        seen |= free
        total *= _chance(need, piece, chances, now, bool(free))
    return total


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
    from presage.hypothesis.ranges.patterns import Moment

    return Moment(base, 0)


def _chance(need: Need, piece: ZonePiece, chances: Confidence, now: Number, is_open: bool) -> float:
    low, high = extent(piece.zone, need.low)[0], extent(piece.zone, need.high)[1]
    if low is None or high is None:
        if is_open and low is not None:
            return _some(need, chances, now, int(low), None)
        raise NoProbability
    if not is_open and not need.throughout:
        single = chances.chance((need.predicate, need.arguments, low), now)
        return single if need.positive else 1 - single
    none = 1 - _some(need, chances, now, int(low), int(high))
    if not need.positive:
        return none
    if is_open:
        return 1 - none
    return _all(need, chances, now, int(low), int(high))


def _some(need: Need, chances: Confidence, now: Number, low: int, high: int | None) -> float:
    """That a fact comes at some time of a range. Far enough ahead all times are alike."""
    declared = chances.delays.declaration(need.predicate, need.arguments)
    if declared is None or (declared.rate is None and "rate" not in declared.learned):
        raise NoProbability
    waits = [int(wait) for wait, _ in declared.delay.parts] if isinstance(declared.delay, Distribution) else [0]  # type: ignore[arg-type]
    alike = max(low, int(now) + 1)
    none = 1.0
    for at in range(low, min(alike, alike if high is None else high + 1)):
        if int(now) - at <= max(waits) or not isinstance(declared.delay, Distribution):
            none *= 1 - chances.chance((need.predicate, need.arguments, at), now)
    if high is None:
        return 1.0 if chances.chance((need.predicate, need.arguments, alike), now) else 1 - none
    if high >= alike:
        none *= (1 - chances.chance((need.predicate, need.arguments, alike), now)) ** (high - alike + 1)
    return 1 - none


def _all(need: Need, chances: Confidence, now: Number, low: int, high: int) -> float:
    total = 1.0
    alike = max(low, int(now) + 1)
    for at in range(low, min(alike, high + 1)):
        total *= chances.chance((need.predicate, need.arguments, at), now)
    if high >= alike:
        total *= chances.chance((need.predicate, need.arguments, alike), now) ** (high - alike + 1)
    return total
