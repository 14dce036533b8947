"""Which pieces of an answer are its ways, and at which times: minimal premises, with one minimal evidence.

Where the premises of one piece are among those of another, for the same time of the answer, the other is superfluous
there. Both hang on times that are open, so *there* is a zone: the choices of the larger one's times for which the
smaller one has a choice. It is taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from presage.hypothesis.dense.patterns import ANSWER, Moment, Need, at_most, inside, same
from presage.hypothesis.dense.pieces import Piece, canonical
from presage.hypothesis.dense.stretches import Stretch, cells, minus, union
from presage.hypothesis.dense.zones import Constraint, Zone, joined
from presage.hypothesis.literals import Open
from presage.hypothesis.ways import stands_for

Segment = tuple[Stretch, tuple[Piece, ...]]
"""The ways of all answers whose time lies in a stretch."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of an answer, by its time."""

    confirmed: tuple[Segment, ...]
    """Each with one evidence."""
    possible: tuple[Segment, ...]
    open: tuple[Stretch, ...]
    """Where it may still come true, with evidence or without."""


def outcome(pieces: Iterable[Piece]) -> Outcome:
    found = list(dict.fromkeys(pieces))
    kept = _minimal(found)
    confirmed = [each for each in kept if not each.needs]
    sure = union(each.times for each in confirmed)
    return Outcome(
        tuple(_segments(confirmed)),
        tuple(_segments([each for each in kept if each.needs])),
        # Where a piece is superfluous, so says what makes it so.
        tuple(minus((each.times for each in found if each.needs), sure)),
    )


def _minimal(pieces: list[Piece]) -> list[Piece]:
    """The pieces that are told, without what others make superfluous. Of several evidences for the same premises one
    stays, the smallest."""
    ranked = sorted(pieces, key=lambda each: (len(each.because), len(each.needs), sorted(map(str, each.because))))
    found: dict[tuple[object, ...], list[Zone]] = {}
    forms: dict[tuple[object, ...], Piece] = {}
    times = [each.times for each in ranked]
    for place, piece in enumerate(ranked):
        zones = [piece.zone]
        if piece.needs and not piece.because:
            continue
        for other_place, other in enumerate(ranked):
            if place != other_place and zones and times[place].meet(times[other_place]) is not None:
                superfluous = _beaten(piece, other, other_place < place)
                for region in superfluous:
                    zones = [part for zone in zones for part in zone.without(region)]
        for zone in zones:
            part = canonical(replace(piece, zone=zone))
            key = (part.needs, part.because, part.limits, part.zone.size)
            forms.setdefault(key, part)
            found.setdefault(key, []).append(part.zone)
    parts = [canonical(replace(forms[key], zone=zone)) for key, zones in found.items() for zone in joined(zones)]
    return _with_ends(parts)


def _with_ends(pieces: list[Piece]) -> list[Piece]:
    """Pieces at a single time that others go on to, as part of those: at the end of an interval a time that hangs on
    the answer's and a fixed one may be the same."""
    kept = [each for each in pieces if not each.times.is_point]
    for single in (each for each in pieces if each.times.is_point):
        for place, other in enumerate(kept):
            around = other.zone.hull(single.zone) if other.zone.size == single.zone.size else other.zone
            if around == other.zone or any(rest.without(single.zone) for rest in around.without(other.zone)):
                continue
            wider = replace(other, zone=around)
            if wider.at(single.times) == single:
                kept[place] = wider
                break
        else:
            kept.append(single)
    return kept


def _beaten(piece: Piece, other: Piece, is_preferred: bool) -> Iterator[Zone]:
    """Where another piece needs less, or the same and is preferred."""
    if not {each.predicate for each in other.needs} <= {each.predicate for each in piece.needs}:
        return
    size = piece.zone.size
    places = [ANSWER, *range(size, size + other.zone.size - 2)]
    whole = size + other.zone.size - 2
    both = Zone(whole, piece.zone.upper).within(other.zone.placed(places))
    if both.empty:
        return
    needs = [_placed(each, places) for each in other.needs]
    for chosen in product(*([each for each in piece.needs if each.predicate == need.predicate] for need in needs)):
        pairs = list(zip(needs, chosen, strict=True))
        if not _agree(piece, other, pairs):
            continue
        part = both.within(each for need, have in pairs for each in _among(need, have))
        if part.empty:
            continue
        region = part.kept(range(1, size))
        rest = [region]
        if not is_preferred:
            # Where it needs the same, it is none the better.
            for equal in _equal(part, piece, pairs):
                rest = [left for each in rest for left in each.without(equal.kept(range(1, size)))]
        yield from rest


def _equal(zone: Zone, piece: Piece, pairs: list[tuple[Need, Need]]) -> Iterator[Zone]:
    """Where premises that are all among a piece's are all of them: each of those is one of the others."""
    for chosen in product(*([need for need, have in pairs if _alike(need, have, each)] for each in piece.needs)):
        equal = zone.within(
            constraint
            for need, have in zip(chosen, piece.needs, strict=True)
            for constraint in (*same(need.low, have.low), *same(need.high, have.high))
        )
        if not equal.empty:
            yield equal


def _alike(need: Need, have: Need, wanted: Need) -> bool:
    """Whether a premise that is among another, the one wanted, may be the same."""
    return have == wanted and (need.is_point, need.closed_low, need.closed_high) == (
        have.is_point,
        have.closed_low,
        have.closed_high,
    )


def _placed(need: Need, places: list[int]) -> Need:
    def put(moment: Moment) -> Moment:
        return moment if moment.base == 0 else Moment(places[moment.base - 1], moment.offset)

    return replace(need, low=put(need.low), high=put(need.high))


def _among(need: Need, have: Need) -> Iterator[Constraint]:
    """What makes the times of one premise times of another."""
    if have.is_point:
        yield from (*same(need.low, have.low), *same(need.high, have.high))
    elif need.is_point:
        yield from inside(need.low, have)
    else:
        yield at_most(have.low, need.low, (0, -1 if need.closed_low and not have.closed_low else 0))
        yield at_most(need.high, have.high, (0, -1 if need.closed_high and not have.closed_high else 0))


def _agree(piece: Piece, other: Piece, pairs: list[tuple[Need, Need]]) -> bool:
    """Whether the open data variables of another piece can be what makes its premises premises of this one."""
    values: dict[Open, object] = {}
    for need, have in pairs:
        for want, given in zip(need.arguments, have.arguments, strict=True):
            if isinstance(want, Open):
                if values.setdefault(want, given) != given:
                    return False
            elif want != given:
                return False
    return stands_for(other, piece, values)


def _segments(pieces: list[Piece]) -> Iterator[Segment]:
    """The times of pieces, cut where other pieces apply; joined where the same do."""
    last: Segment | None = None
    for cell in cells(each.times for each in pieces):
        active = tuple(each for each in pieces if each.times.meet(cell) is not None)
        if not active:
            continue
        if not active[0].needs:
            active = active[:1]
        if last is not None and last[1] == active and last[0].last == cell.first:
            last = (Stretch(last[0].first, cell.last), active)
            continue
        if last is not None:
            yield last
        last = (cell, active)
    if last is not None:
        yield last


def at(ways: Iterable[Piece], times: Stretch) -> frozenset[Piece]:
    """Ways in a part of their times."""
    return frozenset(part for each in ways if (part := each.at(times)) is not None)
