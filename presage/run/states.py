"""What goes on is told once: confirmed answers as stretches of time, two lines each.

The first line of a stretch that goes on has the status `holds`. When a time after it is settled as one at which it is
not so, or the run ends, one `confirmed` line has the whole of it. A stretch that is whole when it becomes known is one
`confirmed` line; what turns out later to touch a told stretch at its beginning is a stretch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from presage.answers import Answer
from presage.model.terms import Number
from presage.time.stretches import ENDLESS, Cut, Stretch, TimeLine

HOLDS = "holds"


@dataclass(slots=True)
class _Lasting:
    """A stretch that is not over as far as is known."""

    first: Cut
    last: Cut
    told: bool = False


@dataclass(slots=True)
class _Followed:
    """The stretches of one predicate and its arguments."""

    like: Answer
    """What else their lines say."""
    stretches: list[_Lasting] = field(default_factory=list)


class States:
    def __init__(self, whole: bool, lag: Callable[[str], Number]) -> None:
        """`lag`: how long after its time an answer of a predicate is settled."""
        self.line, self.lag = TimeLine(whole), lag
        self.followed: dict[tuple[str, tuple[Any, ...]], _Followed] = {}
        self.packed: dict[Any, Any] | None = None
        """What goes on as arrays, while whole passages of time are taken (`state_passages.py`)."""
        self.unpacking: Callable[[dict[Any, Any]], None] = lambda _: None
        self.ending: Callable[[dict[Any, Any], Number], Sequence[Answer]] = lambda packed, now: []

    def unpack(self) -> None:
        """Follows stretches one by one again."""
        if self.packed is not None:
            packed, self.packed = self.packed, None
            self.unpacking(packed)

    def go_on(self, answer: Answer, told: bool) -> None:
        """Takes over a stretch."""
        times = self._times(answer)
        like = self._line(answer, "confirmed", times, answer.now)
        known = self.followed.setdefault(_about(answer), _Followed(like))
        known.stretches = sorted([*known.stretches, _Lasting(*times, told)], key=lambda each: each.first)

    def take(self, answers: Iterable[Answer], now: Number) -> list[Answer]:
        """Confirmed answers as stretches, and the stretches that are over by now."""
        self.unpack()
        found: list[Answer] = []
        for answer in answers:
            if answer.status != "confirmed":
                found.append(answer)
                continue
            followed = self.followed.setdefault(_about(answer), _Followed(answer))
            for part in self._added(followed, self._times(answer)):
                found.append(self._line(followed.like, "confirmed", part, now))
        for key in list(self.followed):
            found += self._looked_at(key, now)
        return sorted(found, key=lambda each: (each.predicate, each.key, each.status))

    def _times(self, answer: Answer) -> Stretch:
        if answer.time is not None:
            return self.line.point(answer.time)
        return self.line.stretch(answer.start, answer.bounds[:1] == "[", answer.end, answer.bounds[1:] == "]")

    def _added(self, followed: _Followed, times: Stretch) -> Iterator[Stretch]:
        """Adds a stretch to those it touches; what lies before one that was told is over with it."""
        first, last = times
        kept: list[_Lasting] = []
        told = False
        for each in followed.stretches:
            if each.last < first or last < each.first:
                kept.append(each)
            elif each.told:
                if first < each.first:
                    yield Stretch(first, each.first)
                first, last, told = each.first, max(last, each.last), True
            else:
                first, last = min(first, each.first), max(last, each.last)
        followed.stretches = sorted([*kept, _Lasting(first, last, told)], key=lambda each: each.first)

    def _looked_at(self, key: tuple[str, tuple[Any, ...]], now: Number) -> Iterator[Answer]:
        followed = self.followed[key]
        settled = self.line.after(now - self.lag(key[0]))
        kept = []
        for each in followed.stretches:
            if each.last < settled:
                yield self._line(followed.like, "confirmed", Stretch(each.first, each.last), now)
                continue
            if not each.told and each.first[0] <= now:
                each.told = True
                yield self._line(followed.like, HOLDS, Stretch(each.first, ENDLESS), now)
            kept.append(each)
        followed.stretches = kept
        if not kept:
            del self.followed[key]

    def end(self, now: Number) -> Sequence[Answer]:
        """The stretches as far as the run went."""
        if self.packed is not None:
            packed, self.packed = self.packed, None
            return self.ending(packed, now)
        found = self.so_far(now)
        self.followed.clear()
        return found

    def so_far(self, now: Number) -> list[Answer]:
        """The same of a run that goes on."""
        self.unpack()
        found = []
        over = self.line.after(now)
        for followed in self.followed.values():
            for each in followed.stretches:
                if each.first < over:
                    times = Stretch(each.first, min(each.last, over))
                    found.append(self._line(followed.like, "confirmed", times, now))
        return sorted(found, key=lambda each: (each.predicate, each.key))

    def next_turn(self, now: Number) -> Number | None:
        """The next time at which a stretch is over, or begins."""
        self.unpack()
        turns: list[Number] = []
        for (name, _), followed in self.followed.items():
            for each in followed.stretches:
                if not each.told:
                    turns.append(each.first[0])  # type: ignore[arg-type]
                if each.last != ENDLESS:
                    turns.append(each.last[0] + self.lag(name))  # type: ignore[arg-type]
        return min((each for each in turns if each > now), default=None)

    def _line(self, like: Answer, status: str, times: Stretch, now: Number) -> Answer:
        interval = self.line.interval(times)
        # What a piece rests on is not what the whole does.
        answer = Answer(now, status, like.predicate, like.arguments, like.bindings, unless=like.unless, more=like.more)
        if interval.is_point:
            answer.time = interval.low
        else:
            answer.start, answer.end, answer.bounds = interval.low, interval.high, interval.bounds
        return answer

    # -- memory -----------------------------------------------------------------------------------

    def saved(self, write: Callable[[Answer], Any]) -> list[Any]:
        """As plain values; `write` makes some of an answer."""
        self.unpack()
        return [
            [write(each.like), [[_plain(one.first), _plain(one.last), one.told] for one in each.stretches]]
            for each in self.followed.values()
        ]

    def load(self, saved: Iterable[Any], read: Callable[[dict[str, Any]], Answer]) -> None:
        for like, stretches in saved:
            answer = read(like)
            lasting = [_Lasting(_cut(first), _cut(last), told) for first, last, told in stretches]
            self.followed[_about(answer)] = _Followed(answer, lasting)


def _about(answer: Answer) -> tuple[str, tuple[Any, ...]]:
    """Pieces of one thing; an answer that keeps a variable is one with the values that it is not about."""
    return answer.predicate, (answer.arguments, answer.unless)


def _plain(cut: Cut) -> list[Any]:
    return ["inf" if cut == ENDLESS else str(cut[0]), cut[1]]


def _cut(plain: list[Any]) -> Cut:
    from fractions import Fraction

    from presage.model.terms import number

    return ENDLESS if plain[0] == "inf" else (number(Fraction(plain[0])), plain[1])
