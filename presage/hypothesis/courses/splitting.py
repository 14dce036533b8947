"""Answers that go on by themselves: one individual for one time of an answer, where a fact fixes it.

Whoever has a hundred orders open is like nobody else; each of the orders is like many. So what is known of one answer
at one time, with all facts that speak for it, becomes an individual of its own, and the individual of the key, its
*owner*, forgets it. What arrives for the key is given to the owner, who knows of none of these answers, and to each of
them, which looks at its own time alone.

Nothing is lost by it. An answer that two facts lead to together is there, with the other one missing, when one of them
has come; so all facts that speak for an answer at a time are with it, or come later. A fact that also speaks for other
times, or may, stays with the owner too. What the owner finds out about an answer that is there already, because a fact
came twice or evidence came in another order, the answer knows itself, and better: the owner's word is not told.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

from presage.hypothesis.courses.superfluous import forget_superfluous, is_single
from presage.hypothesis.ranges.engine import AnswersKey, Ranges
from presage.hypothesis.ranges.pieces import Evidence
from presage.hypothesis.ranges.told import Standing, Told, beyond, inside
from presage.model.terms import number
from presage.patterns.zoned import Need, RangePattern
from presage.time.zones import ANSWER

FEW = 8
"""Within so many units of time there are few answers of one individual."""


def may_split(engine: Ranges, farthest: Any) -> bool:
    """Whether each answer is at a fixed distance from some fact, is all there is of its key at its time and has ways of
    one kind only, and answers of a key can be many: `farthest` is the longest distance that patterns speak of."""
    if engine.negates_derived or engine.everybody or farthest <= FEW:
        return False
    return all(
        len(engine.matchings[name]) == 1 and is_single(matching) and _is_fit(matching.pattern)
        for name in engine.asked
        for matching in engine.matchings[name]
    )


def _is_fit(pattern: RangePattern) -> bool:
    """Stretches that facts fill together are cut by all of them, whatever answer they speak for; and one fact that is
    two premises of an answer takes the place of two."""
    premises = pattern.premises
    return (
        any(each.low.base == ANSWER for each in premises)
        and not any(each.throughout for each in premises)
        and not any(_may_be_one(pattern, *both) for both in combinations(premises, 2))
    )


def _may_be_one(pattern: RangePattern, first: Need, second: Need) -> bool:
    """Whether one fact can be both of two premises of the same answer."""
    if first.predicate != second.predicate:
        return False
    apart = number(second.low.offset - first.low.offset)
    base, other = first.low.base, second.low.base
    return not pattern.zone.within([(base, other, (apart, 0)), (other, base, (-apart, 0))]).empty


def hears(engine: Ranges, key: AnswersKey) -> tuple[str, ...]:
    """The inputs whose facts may change something about an answer."""
    return tuple(sorted({need.predicate for piece in engine.pieces(key) for need in piece.needs}))


class Split(NamedTuple):
    answers: list[tuple[AnswersKey, Any, Ranges]]
    """Each with its time, and an engine that knows it alone."""
    repeated: list[Evidence]
    """Facts that the owner remembers as long as they may come again: until then the answers remember them too."""


def split(engine: Ranges, make: Callable[[], Ranges], now: Any) -> Split:
    """Takes the answers with a time of their own out of an engine, after a step; `make` makes engines."""
    found = Split([], [])
    facts = list(engine.memory.everything())
    for key, told in list(engine.told.items()):
        if not told.at or told.open is not None:
            # Answers at known times take something away from those whose time is open: they stay together.
            continue
        points = []
        for at, standing in told.at.items():
            own = make()
            own.only = own.line.point(at)
            points.append(own.only)
            known = Told()
            known.at[at] = Standing(standing.status)
            own.restore(now, now, facts, {key: known})
            outcome, own.looked_at[key] = own.outcome(key)
            own.ways[key] = outcome.ways
            forget_superfluous(own, now)
            found.answers.append((key, at, own))
        told.at.clear()
        found.repeated.extend(_forget_spoken_for(engine, key, points, now))
        if not told:
            del engine.told[key]
        engine.watch(key, told, engine.looked_at[key], ())
    return found


def _forget_spoken_for(engine: Ranges, key: AnswersKey, points: list[Any], now: Any) -> list[Evidence]:
    """Forgets the facts that speak for answers at some times, and for no others, unless their absence is asked for;
    gives those that may come again, and would seem to be missing."""
    negated = {each.predicate for found in engine.patterns.values() for pattern in found for each in pattern.absences}
    pieces = engine.looked_at[key]
    rest = engine.looked_at[key] = [part for piece in pieces for part in beyond(piece, points)]
    engine.ways[key] = [part for way in engine.ways[key] for part in beyond(way, points)]
    wanted = [fact for piece in rest for fact in piece.because]
    spoken_for = [
        fact
        for piece in pieces
        if any(True for point in points for _ in inside(piece, point))
        for fact in piece.because
        if fact[0] not in negated and fact not in wanted
    ]
    gone = [fact for fact in spoken_for if settled_at(engine, fact) <= now]
    for name in {fact[0] for fact in gone}:
        engine.memory.keep(name, lambda row, times, name=name: (name, row, times) not in gone)  # type: ignore[misc]
    return [fact for fact in spoken_for if fact not in gone]


def settled_at(engine: Ranges, fact: Evidence) -> Any:
    """When a fact can no longer come."""
    return fact[2].first[0] + engine.delays.plain[fact[0]]
