"""Rates and delays that a program leaves to the stream: `delay 30s learned rate learned`.

A rate is the share of time points at which a given fact held, a Beta estimate: of the predicate over all facts of it
that were seen, and, where one fact has been watched long enough, its own, which starts from the predicate's. Only times
that are settled count: for later ones a fact may be on its way. Delays are an empirical distribution below the declared
bound, which starts out even. What is long past counts less and less, so that a stream that changes is followed; where a
memory of the last time points contradicts what was learned, beyond chance, what was before them is forgotten at once.

None of it decides what is true: only how likely what is open is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

from presage.hypothesis.delays import Delays
from presage.model.terms import Number

HALF_LIFE = 500
"""Time points after which what was seen counts half."""
BRIEFLY = 20
"""Time points after which what was seen lately counts half."""
SURPRISE = 10.0
"""What was seen lately is no chance where, by Chernoff's bound, it is rarer than one in e to this."""
PRIOR = 2.0
"""What nothing seen yet weighs, in time points."""
OWN_PRIOR = 20.0
"""What the predicate's rate weighs against that of one fact, in time points."""
STEPS = 16
"""Into how many parts the declared bound is divided."""
DELAYS_PRIOR = 4.0
"""What the even distribution weighs, in facts."""
MANY, FORGOTTEN = 10_000, 1e-3


_KEPT = float(2.0 ** (-1 / HALF_LIFE))
_KEPT_BRIEFLY = float(2.0 ** (-1 / BRIEFLY))


_AS_MANY = (1 + _KEPT_BRIEFLY) / (1 - _KEPT_BRIEFLY)
"""Of how many independent time points an average spreads as widely as that of a memory which fades so fast."""


def _divergence(found: float, expected: float) -> float:
    """How far a share of time points is from the one that was to be expected, in nats for each of them."""
    pairs = ((found, expected), (1 - found, 1 - expected))
    return sum(own * log(own / other) for own, other in pairs if own > 0)


def _points(count: int, kept: float = _KEPT) -> float:
    """What so many time points up to now weigh."""
    return (1 - kept ** max(0, count)) / (1 - kept)


@dataclass
class FadingCount:
    """How often something was seen, and over how many time points, both fading; as of a time."""

    seen: float = 0.0
    points: float = 0.0
    at: int = 0

    def move(self, to: int, watched: int = 1) -> None:
        """Lets time points pass, at which so many facts are watched."""
        passed = to - self.at
        if passed > 0:
            fades = _KEPT**passed
            self.seen, self.points = self.seen * fades, self.points * fades + watched * _points(passed)
            self.at = to


@dataclass
class OwnCount(FadingCount):
    """The same of one fact, with a memory of the last time points beside it."""

    lately: float = 0.0
    """How often it was seen lately."""
    begun: int = 0
    """The time before the first that is remembered."""

    def move(self, to: int, watched: int = 1) -> None:
        self.lately *= _KEPT_BRIEFLY ** max(0, to - self.at)
        super().move(to, watched)

    def take(self) -> None:
        """It is seen at the time reached."""
        self.seen += 1.0
        self.lately += 1.0

    def contradicted(self) -> tuple[float, float] | None:
        """What is to be forgotten of sightings and of time points, where what was seen lately is not what all that is
        remembered lets expect; then only that is kept."""
        points = _points(self.at - self.begun, _KEPT_BRIEFLY)
        if self.at - self.begun < 2 * BRIEFLY or not self.points:
            return None
        expected = (self.seen + PRIOR / 2) / (self.points + PRIOR)
        if _AS_MANY * _divergence(self.lately / points, expected) <= SURPRISE:
            return None
        gone = self.seen - self.lately, self.points - points
        self.seen, self.points = self.lately, points
        return gone


@dataclass
class Watched:
    """What is known of one predicate's facts."""

    bound: float
    all: FadingCount = field(default_factory=FadingCount)
    """Facts of any arguments together."""
    own: dict[tuple[Any, ...], OwnCount] = field(default_factory=dict)
    waits: list[float] = field(default_factory=lambda: [0.0] * (STEPS + 1))
    waiting: deque[tuple[int, tuple[Any, ...]]] = field(default_factory=deque)
    """Facts whose times are not settled yet."""
    settled: int | None = None
    most: int = 10_000
    """Facts that are watched before those that come no more are looked for."""

    def arrived(self, arguments: tuple[Any, ...], time: int, now: Number) -> None:
        self.waiting.append((time, arguments))
        wait = min(max(float(now - time), 0.0), self.bound)
        share = 1.0 if not self.bound else wait / self.bound
        place = 0 if not wait else 1 + min(STEPS - 1, int(share * STEPS - 1e-9))
        self.waits = [each * _KEPT for each in self.waits]
        self.waits[place] += 1.0

    def settle(self, upto: int) -> None:
        """Takes in what is settled up to a time."""
        if self.settled is None:
            self.settled = min((time for time, _ in self.waiting), default=upto + 1) - 1
        if upto <= self.settled:
            return
        due = sorted({each for each in self.waiting if each[0] <= upto}, key=lambda each: each[0])
        self.waiting = deque(each for each in self.waiting if each[0] > upto)
        self.all.at = self.settled
        self.all.move(upto, len(self.own))
        for time, row in due:
            if row not in self.own:
                self.own[row] = OwnCount(at=time - 1, begun=time - 1)
                self.all.points += _points(upto - time + 1)
            self.own[row].move(time)
            self.own[row].take()
            self.all.seen += _KEPT ** (upto - time)
        self.settled = upto
        if len(self.own) > self.most:
            self._forget()

    def _forget(self) -> None:
        """Leaves out facts that have not come for very long."""
        assert self.settled is not None
        for each in self.own.values():
            each.move(self.settled)
        self.own = {row: each for row, each in self.own.items() if each.seen > FORGOTTEN}
        self.most = max(MANY, 2 * len(self.own))
        self.all = self._together()

    def _together(self) -> FadingCount:
        known = self.own.values()
        return FadingCount(sum(each.seen for each in known), sum(each.points for each in known), self.settled or 0)

    def rate(self, arguments: tuple[Any, ...]) -> float:
        """How likely a fact is to hold at a time."""
        own = self.own.get(arguments)
        if own is not None and self.settled is not None:
            own.move(self.settled)
            if (gone := own.contradicted()) is not None:
                self.all.seen, self.all.points = self.all.seen - gone[0], self.all.points - gone[1]
        common = (self.all.seen + PRIOR / 2) / (self.all.points + PRIOR)
        if own is None:
            return common
        return (own.seen + OWN_PRIOR * common) / (own.points + OWN_PRIOR)

    def by(self, waited: float) -> float:
        """How likely a fact that arrives at all has done so after waiting so long."""
        if waited < 0:
            return 0.0
        if waited >= self.bound:
            return 1.0
        total = sum(self.waits) + DELAYS_PRIOR
        even = DELAYS_PRIOR / (STEPS + 1)
        whole = waited / self.bound * STEPS
        full = int(whole)
        found = self.waits[0] + even + sum(each + even for each in self.waits[1 : 1 + full])
        if full < STEPS:
            found += (self.waits[1 + full] + even) * (whole - full)
        return min(1.0, found / total)


def _lately(at: int, lately: float = 0.0, begun: int | None = None) -> tuple[float, int]:
    """What was seen lately, and since when; states of before do not say, and it begins with them."""
    return float(lately), at if begun is None else int(begun)


class Learned:
    """The estimates of all inputs that leave something to the stream."""

    def __init__(self, delays: Delays) -> None:
        self.delays = delays
        self.watched = {
            name: Watched(float(known.delay or 0))
            for name, known in delays.predicates.items()
            if any(each.learned for each in known.inputs)
        }

    def __bool__(self) -> bool:
        return bool(self.watched)

    def take(self, facts: Iterable[Any], now: Number) -> None:
        """What arrives at a time, as `Fact`s; those that hold over an interval say nothing about single times."""
        if not self.watched:
            return
        for fact in facts:
            if fact.predicate in self.watched and fact.low == fact.high:
                self.watched[fact.predicate].arrived(fact.arguments, int(fact.low), now)
        for each in self.watched.values():
            each.settle(int(now - int(each.bound)))

    def rate(self, name: str, arguments: Sequence[Any]) -> float:
        return self.watched[name].rate(tuple(arguments))

    def by(self, name: str, waited: Number) -> float:
        return self.watched[name].by(float(waited))

    # -- memory -----------------------------------------------------------------------------------

    def saved(self, write: Any) -> dict[str, Any]:
        """All of it as plain JSON values; `write` writes a value."""
        return {
            name: {
                "own": [
                    [[write(v) for v in row], each.seen, each.points, each.at, each.lately, each.begun]
                    for row, each in known.own.items()
                ],
                "waits": known.waits,
                "waiting": [[time, [write(value) for value in row]] for time, row in known.waiting],
                "settled": known.settled,
            }
            for name, known in self.watched.items()
        }

    def load(self, saved: dict[str, Any], read: Any) -> None:
        for name, known in self.watched.items():
            if name not in saved:
                continue
            given = saved[name]
            known.own = {
                tuple(map(read, row)): OwnCount(float(seen), float(points), int(at), *_lately(int(at), *lately))
                for row, seen, points, at, *lately in given["own"]
            }
            waits = [float(each) for each in given["waits"]]
            known.waits = waits if len(waits) == STEPS + 1 else known.waits
            known.waiting = deque((int(time), tuple(map(read, row))) for time, row in given["waiting"])
            known.settled = None if given["settled"] is None else int(given["settled"])
            for each in known.own.values():
                each.move(known.settled or 0)
            known.all = known._together()
