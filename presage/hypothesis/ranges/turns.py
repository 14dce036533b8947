"""When something about a piece changes by time alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from presage.hypothesis.delays import Delays
from presage.hypothesis.ranges.pieces import ZonePiece, extent
from presage.model.terms import Number
from presage.patterns.zoned import Amount, Need, at_most
from presage.time.stretches import TimeLine


def turns(piece: ZonePiece, delays: Delays, derived: Collection[str], now: Number, line: TimeLine) -> Iterator[Number]:
    """The times at which something about a piece changes by time alone; `derived` are the predicates that are judged
    by patterns of their own."""
    for need in piece.needs:
        hidden = not need.positive and need.predicate in derived
        delay = 0 if hidden else delays.of(need.predicate, need.arguments)
        low, high = extent(piece.zone, need.low)
        if need.amount is not None:
            yield from _of_amount(need, need.amount, piece, delay, now, line)
            continue
        if need.positive:
            if high is not None:
                yield high + delay
            continue
        for end in extent(piece.zone, need.high):
            if end is not None:
                yield end + delay
        if not piece.has_evidence and low is not None and _may_speak(piece, need, delay, delays):
            yield max(low, 0) + delay


def ends(piece: ZonePiece, delays: Delays, derived: Collection[str]) -> Iterator[Number]:
    """The times at which what is missing in a piece begins or ceases to be settled."""
    for need in piece.needs:
        hidden = not need.positive and need.predicate in derived
        delay = 0 if hidden else delays.of(need.predicate, need.arguments)
        for end in (need.low, need.high):
            yield from (at + delay for at in extent(piece.zone, end) if at is not None)


def flows(piece: ZonePiece) -> bool:
    """Whether time settles an absence of a piece for one time of the answer after the other."""
    absences = (each for each in piece.needs if not each.positive)
    return any(first != last for each in absences for first, last in [extent(piece.zone, each.high)])


def _may_speak(piece: ZonePiece, absence: Need, delay: Number, delays: Delays) -> bool:
    """Whether an absence can begin to be evidence while all that has to come still may."""
    zone = piece.zone.within(
        at_most(absence.low.later(delay - delays.of(need.predicate, need.arguments)), need.low, (0, -1))
        for need in piece.needs
        if need.positive and need.amount is None
    )
    return not zone.empty


def _of_amount(
    need: Need, amount: Amount, piece: ZonePiece, delay: Number, now: Number, line: TimeLine
) -> Iterator[Number]:
    """The times at which fewer choices may be left than are needed, or at which none is."""
    for end in extent(piece.zone, need.high)[1 if need.positive else 0 :]:
        if end is None:
            continue
        last = end + delay
        yield last
        if line.whole and amount.points is not None and amount.points > 1:
            # As time passes, choices that have come stand in the way no more: it is looked at again and again.
            yield max(last - amount.points + 1, now + 1)
