"""Segments of the time line in which a literal is judged the same, and how a stretch lies among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from presage.hypothesis.ranges.pieces import extent
from presage.patterns.zoned import Moment, Need, at_most
from presage.time.stretches import BEGINNING, ENDLESS, Stretch, TimeLine
from presage.time.zones import START, Constraint, Zone


class Segment(NamedTuple):
    times: Stretch
    kind: str
    """`there`: evidence; `open`: it may still come; `before`: before the start, where it does not count."""
    region: Stretch
    """The same as long as nothing arrives."""


def cells(
    zone: Zone, free: Zone, literal: Need, segments: list[Segment]
) -> Iterator[tuple[Zone, Zone, list[tuple[int, Segment]], int, int]]:
    """The parts of a zone in each of which the ends of a stretch lie in the same segments; with the segments, which
    touch each other, that it goes through."""
    if literal.throughout:
        nothing = without_times(literal)
        left = zone.within(nothing)
        if not left.empty:
            yield left, free.within(nothing), [], 0, 0
        strict = -1 if literal.closed_low and literal.closed_high else 0
        some = [at_most(literal.low, literal.high, (0, -1 - strict))]
        zone, free = zone.within(some), free.within(some)
        if zone.empty:
            return
    for first, begin in enumerate(segments):
        into = _begins(literal, begin.times)
        part = zone.within(into)
        if part.empty:
            continue
        for last in range(first, len(segments)):
            if last > first and segments[last].times.first != segments[last - 1].times.last:
                break
            cell = part.within(_ends(literal, segments[last].times))
            if cell.empty:
                continue
            loose = free.within(_begins(literal, begin.region)).within(_ends(literal, segments[last].region))
            yield cell, loose, list(enumerate(segments))[first : last + 1], first, last


def without_times(literal: Need) -> list[Constraint]:
    """That a stretch has none."""
    return [at_most(literal.high, literal.low, (0, -1 if literal.closed_low and literal.closed_high else 0))]


def _begins(literal: Need, times: Stretch) -> list[Constraint]:
    """That a stretch begins inside of another."""
    if literal.closed_low:
        return times.within(literal.low.base, literal.low.offset)
    found = []
    if times.first != BEGINNING:
        found.append(at_most(Moment(START, times.first[0]), literal.low))  # type: ignore[arg-type]
    if times.last != ENDLESS:
        found.append(at_most(literal.low, Moment(START, times.last[0]), (0, -1)))  # type: ignore[arg-type]
    return found


def _ends(literal: Need, times: Stretch) -> list[Constraint]:
    if literal.closed_high:
        return times.within(literal.high.base, literal.high.offset)
    found = []
    if times.first != BEGINNING:
        found.append(at_most(Moment(START, times.first[0]), literal.high, (0, -1)))  # type: ignore[arg-type]
    if times.last != ENDLESS:
        found.append(at_most(literal.high, Moment(START, times.last[0])))  # type: ignore[arg-type]
    return found


def part_of(line: TimeLine, literal: Need, times: Stretch, is_first: bool, is_last: bool) -> Need:
    """The part of a literal's stretch that lies in a segment."""
    low, closed_low, high, closed_high = literal.low, literal.closed_low, literal.high, literal.closed_high
    if not is_first:
        low, closed_low = Moment(START, times.first[0]), times.first[1] == 0  # type: ignore[arg-type]
    if not is_last:
        if line.whole:
            high, closed_high = Moment(START, times.last[0] - 1), True  # type: ignore[arg-type]
        else:
            high, closed_high = Moment(START, times.last[0]), times.last[1] == 1  # type: ignore[arg-type]
    return replace(literal, low=low, high=high, closed_low=closed_low, closed_high=closed_high, throughout=low != high)


def reach_of(line: TimeLine, zone: Zone, literal: Need) -> Stretch:
    """All times that a literal may be about."""
    low, high = extent(zone, literal.low)[0], extent(zone, literal.high)[1]
    first = True if literal.low.base == 0 else zone.range(literal.low.base).closed_low
    last = True if literal.high.base == 0 else zone.range(literal.high.base).closed_high
    return line.stretch(low, first and literal.closed_low, high, last and literal.closed_high)
