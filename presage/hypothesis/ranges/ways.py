"""Which pieces of an answer are its ways, and at which times: minimal premises, with one minimal evidence.

Where the premises of one piece are among those of another, for the same time of the answer, the other is superfluous
there. Both hang on times that are open, so *there* is a zone: the choices of the larger one's times for which the
smaller one has a choice. It is taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from presage.hypothesis.likeness import Binding, beyond, can_all_be, is_among
from presage.hypothesis.ranges.covering import arranged, equal, is_kin, placed, with_values
from presage.hypothesis.ranges.pieces import ZonePiece, apart, canonical, merged
from presage.hypothesis.words import Comparisons
from presage.patterns.literals import Open
from presage.patterns.ranking import evidence_ranks
from presage.patterns.zoned import Need
from presage.time.sameness import distinct, mapping
from presage.time.stretches import Stretch, TimeLine, minus, union
from presage.time.zones import ANSWER, Zone, joined


class Outcome(NamedTuple):
    """What is known of the answers with some arguments, by their times."""

    confirmed: list[ZonePiece]
    ways: list[ZonePiece]
    """Minimal, with evidence."""
    open: list[Stretch]
    """Where they may still come true, with evidence or without."""


def outcome(
    pieces: Iterable[ZonePiece], line: TimeLine, arguments: Iterable[object] = (), with_limits: bool = False
) -> Outcome:
    """`arguments` are the answer's: its open variables stand for the same in all pieces. What lacks nothing is
    confirmed, `with_limits` also for all but some."""
    answered = frozenset(each for each in arguments if isinstance(each, Open))
    found = distinct(pieces)
    sure = [each for each in found if not each.needs and (with_limits or not each.limits)]
    confirmed = union(line.of_range(each.zone.range(ANSWER)) for each in sure)
    rest = [each for each in found if each.needs or (each.limits and not with_limits)]
    still = minus((line.of_range(each.zone.range(ANSWER)) for each in rest), confirmed)
    if confirmed:
        rest = list(_beyond(rest, confirmed))
    if len(rest) == 1 and not _may_beat_itself(rest[0]):
        kept = rest if rest[0].has_evidence else []
    else:
        kept = _minimal(rest, answered)
    return Outcome(sure, kept, still)


def _beyond(pieces: Iterable[ZonePiece], confirmed: list[Stretch]) -> Iterator[ZonePiece]:
    """Pieces at times that are not confirmed."""
    for piece in pieces:
        zones = [piece.zone]
        for times in confirmed:
            taken = Zone.of(piece.zone.size, piece.zone.whole, times.within(ANSWER))
            zones = [part for zone in zones for part in zone.without(taken)]
        for zone in zones:
            yield piece if zone is piece.zone else canonical(replace(piece, zone=zone))


def _may_beat_itself(piece: ZonePiece) -> bool:
    """Whether one choice of times or values may need less than another."""
    return any(
        each.throughout and max(each.low.base, each.high.base) > ANSWER and each.amount is None for each in piece.needs
    ) or any(
        place != other_place and is_kin(each, other) and any(isinstance(value, Open) for value in each.arguments)
        for place, each in enumerate(piece.needs)
        for other_place, other in enumerate(piece.needs)
    )


def _minimal(pieces: list[ZonePiece], answered: frozenset[Open]) -> list[ZonePiece]:
    """The pieces that are told, without what others make superfluous. Of several evidences for the same premises one
    stays, the smallest."""
    ranked = sorted(
        pieces,
        key=lambda each: (
            each.has_evidence,
            len(each.because) + len(each.settled),
            not each.grounded,
            len(each.needs),
            evidence_ranks(each.because),
            [need.order for need in each.settled],
        ),
    )
    ranked = _by_choices(ranked)
    found = mapping()
    forms = mapping()
    whole = [
        replace(each, needs=merged(each.zone, each.needs, touching=True)) if len(each.needs) > 1 else each
        for each in ranked
    ]
    kinship = _Kinship(whole, answered)
    beaten: set[int] = set()
    # Whatever a piece that is beaten everywhere would beat, others do: those that need least are looked at first.
    by_needs = sorted(range(len(ranked)), key=lambda each: len(ranked[each].needs))
    for place in by_needs:
        piece = ranked[place]
        if not piece.has_evidence:
            continue
        zones = [(piece.zone, piece.limits)]
        cut_by: list[Any] = []
        partly: list[_Partly] = []
        for other_place in by_needs:
            other = ranked[other_place]
            if not zones:
                break
            if (
                other_place in beaten
                or not kinship.may_be_among(other_place, place)
                or (place == other_place and not _may_beat_itself(piece))
            ):
                continue
            for region, same, beside in _beaten(whole[place], whole[other_place], other_place < place, kinship):
                if beside:
                    if not same:
                        partly.append(_Partly(region, beside, (other.free, other.whole, other.limits)))
                    continue
                left = [part for zone, limits in zones for part in apart(zone, limits, region, same)]
                if left != zones:
                    cut_by.append((other.free, other.whole, other.limits))
                zones = left
        if partly:
            zones = [(part, limits) for zone, limits in zones for part in _beyond_all(zone, limits, partly, cut_by)]
        if not zones:
            beaten.add(place)
        for zone, limits in zones:
            part = piece
            if cut_by:
                part = canonical(replace(piece, zone=zone, limits=limits, cut_by=tuple(cut_by)))
            key = (part.needs, part.because, part.settled, part.limits, part.zone.size, part.free, part.whole)
            forms.setdefault(key, part)
            found.setdefault(key, []).append(part.zone)
    return [
        forms[key] if zone is forms[key].zone else canonical(replace(forms[key], zone=zone))
        for key, zones in found.items()
        for zone in joined(zones)
    ]


def _by_choices(ranked: list[ZonePiece]) -> list[ZonePiece]:
    """Of pieces that need the same, those first that stand for all times and values that others do, and for more; of
    those that stand for the same the one with the earliest evidence, which was told already. In one order for all: what
    is taken away by some that come before is never what takes these away."""
    found: list[ZonePiece] = []
    for piece in ranked:
        place = len(found)
        if piece.has_evidence:
            place = next((at for at, other in enumerate(found) if _comes_first(piece, other)), place)
        found.insert(place, piece)
    return found


def _comes_first(piece: ZonePiece, other: ZonePiece) -> bool:
    """Whether a piece stands for what another does, and for more, or has the earlier evidence."""
    if not other.has_evidence or len(piece.needs) != len(other.needs) or piece.zone.size != other.zone.size:
        return False
    if other.grounded and not piece.grounded:
        return False  # it says nothing of who the answer is about
    if any(_asked(one) != _asked(two) for one, two in zip(piece.needs, other.needs, strict=True)):
        return False
    if not piece.zone.covers(other.zone) or not is_among(piece.limits, other.limits, NO_BINDING):
        return False
    if not other.zone.covers(piece.zone) or not is_among(other.limits, piece.limits, NO_BINDING):
        return True
    same = (len(piece.because), len(piece.settled)) == (len(other.because), len(other.settled))
    return same and piece.grounded == other.grounded


def _asked(need: Need) -> tuple[object, ...]:
    return need.predicate, need.positive, need.arguments


NO_BINDING = Binding({}, {})


class _Kinship:
    """Which premises of some pieces may be among which, whatever their times: most pieces are told apart by that."""

    def __init__(self, pieces: Sequence[ZonePiece], answered: frozenset[Open]) -> None:
        self.binding = Binding({each: each for each in answered}, {})
        self._places = mapping()
        of_forms: list[Need] = []
        for piece in pieces:
            for need in piece.needs:
                if self._places.setdefault(self._form(need), len(of_forms)) == len(of_forms):
                    of_forms.append(need)
        self._kin = [
            sum(1 << place for place, have in enumerate(of_forms) if self._may_be(need, have)) for need in of_forms
        ]
        """For each form of a premise those that it may be among, as bits."""
        self._has = [sum(1 << place for place in {self._of(need) for need in piece.needs}) for piece in pieces]
        self._wants = [{self._kin[self._of(need)] for need in piece.needs} for piece in pieces]

    @staticmethod
    def _form(need: Need) -> tuple[object, ...]:
        return need.predicate, need.positive, need.arguments, need.amount

    def _of(self, need: Need) -> int:
        place: int = self._places[self._form(need)]
        return place

    def _may_be(self, need: Need, have: Need) -> bool:
        return is_kin(need, have) and with_values(self.binding, need, have) is not None

    def may_be_among(self, one: int, other: int) -> bool:
        """Whether each premise of one piece has kin in another."""
        has = self._has[other]
        return all(wanted & has for wanted in self._wants[one])

    def of(self, need: Need, haves: Iterable[Need]) -> list[Need]:
        """Those that a premise may be among."""
        kin = self._kin[self._of(need)]
        return [have for have in haves if kin >> self._of(have) & 1]


MOST_CELLS = 64
"""So finely a zone is looked at for what several pieces together need less for."""


class _Partly(NamedTuple):
    """Where another piece needs less, but not for some values."""

    region: Zone
    beside: list[Comparisons]
    by: Any
    """What that piece is."""


def _beyond_all(zone: Zone, limits: tuple[Comparisons, ...], partly: list[_Partly], cut_by: list[Any]) -> list[Zone]:
    """What is left where pieces that need less for some values each do so for all together."""
    cells: list[tuple[Zone, list[_Partly]]] = [(zone, [])]
    for each in partly:
        if len(cells) > MOST_CELLS:
            break
        cells = [
            found
            for cell, known in cells
            for found in [
                (cell.meet(each.region), [*known, each]),
                *((out, known) for out in cell.without(each.region)),
            ]
            if not found[0].empty
        ]
    gone = [(cell, known) for cell, known in cells if known and not can_all_be([each.beside for each in known], limits)]
    rest = [zone]
    for cell, known in gone:
        rest = [part for each in rest for part in each.without(cell)]
        cut_by += [each.by for each in known]
    return rest


def _beaten(
    piece: ZonePiece, other: ZonePiece, is_preferred: bool, kinship: _Kinship
) -> Iterator[tuple[Zone, Comparisons, list[Comparisons]]]:
    """Where another piece needs less, or the same and is preferred; for which values of the open variables, and for
    which not."""
    size = piece.zone.size
    places = [ANSWER, *range(size, size + other.zone.size - 2)]
    both = piece.zone.extended(size + other.zone.size - 2).within(other.zone.placed(places))
    if both.empty:
        return
    needs = [placed(each, places) for each in other.needs]
    kin = [kinship.of(need, piece.needs) for need in other.needs]
    for part, pairs, binding in arranged(both, needs, kin, kinship.binding):
        assert binding is not None
        beside = list(beyond(other.limits, piece.limits, binding))
        rest = [part]
        # For single values, whose evidence is told does not matter.
        if not is_preferred or (binding.same and other.has_evidence):
            # Where it needs the same, it is none the better.
            for same in equal(part, piece.needs, pairs, binding):
                rest = [left for each in rest for left in each.without(same)]
        for each in rest:
            yield each.kept(range(1, size)), tuple(binding.clause()), beside
