"""What was told of answers, and what changes about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from presage.hypothesis.literals import Argument, Open
from presage.hypothesis.ranges.pieces import ZonePiece, canonical
from presage.model.terms import Number
from presage.time.sameness import mapping
from presage.time.stretches import Stretch
from presage.time.zones import ANSWER, Zone

Arguments = tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What was told of one answer."""

    status: str
    forms: Any = frozenset()
    ways: tuple[ZonePiece, ...] = ()


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
    arguments: Arguments
    status: str
    times: Stretch | None
    """`None` is an open time."""
    ways: tuple[ZonePiece, ...] = ()


def inside(piece: ZonePiece, times: Stretch) -> Iterator[ZonePiece]:
    zone = piece.zone.within(times.within(ANSWER))
    if not zone.empty:
        yield piece if zone is piece.zone else canonical(replace(piece, zone=zone))


def beyond(piece: ZonePiece, taken: Iterable[Stretch]) -> Iterator[ZonePiece]:
    zones = [piece.zone]
    for times in taken:
        inside = Zone.of(piece.zone.size, piece.zone.whole, times.within(ANSWER))
        zones = [part for zone in zones for part in zone.without(inside)]
    for zone in zones:
        yield piece if zone is piece.zone else canonical(replace(piece, zone=zone))


def is_open(arguments: Iterable[Argument]) -> bool:
    return any(isinstance(each, Open) for each in arguments)


def is_instance(known: Arguments, general: Arguments) -> bool:
    """Whether arguments are among those with open variables."""
    values: dict[Open, Argument] = {}
    for have, want in zip(known, general, strict=True):
        if isinstance(want, Open):
            if values.setdefault(want, have) != have:
                return False
        elif have != want:
            return False
    return True
