"""What was told of answers, and what changes about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from presage.hypothesis.ranges.lifetimes import distance
from presage.hypothesis.ranges.pieces import ZonePiece, at_times, canonical
from presage.model.terms import Number, number
from presage.patterns.literals import Argument, Open
from presage.patterns.zoned import RangePattern
from presage.time.sameness import as_set, each_between, mapping
from presage.time.stretches import ENDLESS, EVER, Stretch, TimeLine, minus
from presage.time.zones import ANSWER, Zone

OpenArguments = tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What was told of one answer."""

    status: str
    ways: tuple[ZonePiece, ...] = ()

    def says(self, other: Standing, times: Stretch) -> bool:
        """Whether somebody who was told this knows the other too: it is the same but for what time takes away. Answers
        at other times are decided: what stands in their way is nothing new, and neither is that it does no more."""
        if self.status != other.status:
            return False
        if not self.ways and not other.ways:
            return True
        if as_set(each.told for each in other.ways) == as_set(each.told for each in self.ways):
            return True
        if as_set(each.because for each in other.ways) != as_set(each.because for each in self.ways):
            return False
        known = mapping()
        for each in self.ways:
            known.setdefault(each.form(times), []).append(each)
        if as_set(each.form(times) for each in other.ways) != as_set(known):
            return False
        return all(_are_among(each, known[each.form(times)], times) for each in other.ways)


def _are_among(way: ZonePiece, known: list[ZonePiece], times: Stretch) -> bool:
    """Whether the choices of a way are among those of ways of its form. Time alone only takes choices away, unless it
    is time that speaks for them; and so do other ways that need less, but those are no matter of time."""
    cuts = _cuts(way, times)
    if cuts and not any(all(cut in others for cut in cuts) for others in (_cuts(each, times) for each in known)):
        return False
    if way.because:
        return True
    zones = [way.zone]
    for each in known:
        if each.zone.size == way.zone.size and each.needs == way.needs:
            zones = [part for zone in zones for part in zone.without(each.zone)]
    return not zones


def _cuts(way: ZonePiece, times: Stretch) -> list[Any]:
    """What took parts of a way away, of those for answers at some times."""
    found = [(*at_times(free, whole, times), limits) for free, whole, limits in way.cut_by]
    return [each for each in found if not each[0].empty]


@dataclass(slots=True)
class Told:
    """What was told of the answers with some arguments."""

    at: MutableMapping[Number, Standing] = field(default_factory=mapping)
    open: Standing | None = None
    confirmed: list[Stretch] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.at or self.open or self.confirmed)


@dataclass(frozen=True, slots=True)
class Change:
    asked: str
    arguments: OpenArguments
    status: str
    times: Stretch | None
    """`None` is an open time."""
    ways: tuple[ZonePiece, ...] = ()


def inside(piece: ZonePiece, times: Stretch) -> Iterator[ZonePiece]:
    """A piece at those times alone, as if it had been about no others."""
    there = times.within(ANSWER)
    zone, free = piece.zone.within(there), piece.free.within(there)
    if not zone.empty:
        is_there = zone is piece.zone and free is piece.free
        yield piece if is_there else canonical(replace(piece, zone=zone, free=free))


def beyond(piece: ZonePiece, taken: Iterable[Stretch]) -> Iterator[ZonePiece]:
    zones = [piece.zone]
    for times in taken:
        inside = Zone.of(piece.zone.size, piece.zone.whole, times.within(ANSWER))
        zones = [part for zone in zones for part in zone.without(inside)]
    for zone in zones:
        yield piece if zone is piece.zone else canonical(replace(piece, zone=zone))


def spoken_of(line: TimeLine, pieces: Iterable[ZonePiece], told: Told | None) -> Stretch | None:
    """All times between the first and the last answer for which there is evidence, or of which something was told;
    nothing if there are none, or no end of them."""
    found = [line.of_range(each.zone.range(ANSWER)) for each in pieces if each.has_evidence]
    found += [line.point(at) for at in told.at] if told is not None else []
    if not found or any(each.last == ENDLESS for each in found):
        return None
    return Stretch(min(each.first for each in found), max(each.last for each in found))


def so_far(
    line: TimeLine, patterns: Iterable[RangePattern], times: Stretch, now: Number, near: Stretch | None
) -> Stretch:
    """The times of answers of which something may be known by now, with those that are near."""
    ahead = (distance(pattern.zone, each.low, latest=False) for pattern in patterns for each in pattern.literals)
    last = line.after(now + max((-away for away in ahead if away is not None), default=0))
    first = max(times.first, (0, 0))
    return Stretch(first, last) if near is None else Stretch(min(near.first, first), max(near.last, last))


def to_come(line: TimeLine, span: Number | None, now: Number | None, told: Told) -> Stretch:
    """The times of answers from the first on that may not be decided, where it takes so long."""
    later = EVER if span is None or now is None else Stretch(line.after(number(now - span)), ENDLESS)
    rest = minus([later], told.confirmed)
    return Stretch(rest[0].first, ENDLESS) if rest else later


def points(line: TimeLine, times: Stretch) -> list[Stretch]:
    """Where times are whole numbers every one is an answer of its own."""
    if not line.whole:
        return [times]
    first, after = times.first[0], times.last[0]
    each = each_between(first, after)
    if each is not None:
        return [line.point(each)]
    return [line.point(first + step) for step in range(int(after - first))]  # type: ignore[arg-type]


def is_open(arguments: Iterable[Argument]) -> bool:
    return any(isinstance(each, Open) for each in arguments)


def is_instance(known: OpenArguments, general: OpenArguments) -> bool:
    """Whether arguments are among those with open variables."""
    values: dict[Open, Argument] = {}
    for have, want in zip(known, general, strict=True):
        if isinstance(want, Open):
            if values.setdefault(want, have) != have:
                return False
        elif have != want:
            return False
    return True
