"""All matches of event patterns, found as events end.

Each part of a pattern passes its matches on to the part around it, which keeps those that may still meet others. No
match ends before its parts do, and none begins after they do; so what ends at a time is found from the late beginnings
to the early ones, and what `NOT` asks about is known when it is asked: what would lie between ends before the last
part begins, and other last parts that would spoil an interval begin after it does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from presage.io.reading_back import read, written
from presage.languages.conditions import satisfied
from presage.languages.etalis.event_patterns import (
    RELATIONS,
    Alternative,
    Event,
    EventInterval,
    EventPattern,
    EventRule,
    Related,
    Where,
    WithinLength,
    Without,
    alternatives,
    names,
)
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Constant, Number, Value, Values, Variable, number


@dataclass(frozen=True, slots=True)
class Match:
    values: Values
    """Of the variables of the part that was matched, in its order."""
    interval: EventInterval
    because: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Happening:
    """An event, given or derived."""

    predicate: str
    arguments: Values
    interval: EventInterval
    because: tuple[str, ...] = field(default=(), compare=False)


class _Kept:
    """Matches by the values of some of their variables."""

    def __init__(self, places: tuple[int, ...]) -> None:
        self.places = places
        self.by: dict[Values, list[Match]] = {}
        self.size = 0

    def add(self, match: Match) -> None:
        self.by.setdefault(self.key(match.values), []).append(match)
        self.size += 1

    def key(self, values: Values) -> Values:
        return tuple(values[place] for place in self.places)

    def forget(self, before: Number) -> None:
        kept = {key: [each for each in those if each.interval[0] >= before] for key, those in self.by.items()}
        self.by = {key: those for key, those in kept.items() if those}
        self.size = sum(map(len, self.by.values()))

    def all(self) -> Iterator[Match]:
        return (match for those in self.by.values() for match in those)


class _Part:
    """A part of a pattern, and the part around it."""

    def __init__(self, variables: Iterable[str], keep: Number | None) -> None:
        self.variables = tuple(variables)
        self.keep = keep
        """How long a match of it can last; `None` if nothing bounds that."""
        self.above: list[tuple[_Part, int]] = []
        self.stores: list[_Kept] = []
        self.seen: set[Match] = set()
        """What was found that ends now."""

    def receive(self, side: int, match: Match) -> Iterator[Match]:
        raise NotImplementedError

    def _places(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.variables.index(name) for name in names)


class _Leaf(_Part):
    def __init__(self, atom: Atom, keep: Number | None) -> None:
        super().__init__(names(atom), keep)
        self.atom = atom

    def matched(self, event: Happening) -> Match | None:
        if len(event.arguments) != len(self.atom.arguments):
            return None
        found: dict[str, Value] = {}
        for term, value in zip(self.atom.arguments, event.arguments, strict=True):
            if isinstance(term, Variable):
                if not term.is_anonymous and found.setdefault(term.name, value) != value:
                    return None
            elif isinstance(term, Constant) and term.value != value:
                return None
        return Match(tuple(found[name] for name in self.variables), event.interval, event.because)


class _Related(_Part):
    def __init__(self, relation: str, left: _Part, right: _Part, keep: Number | None) -> None:
        super().__init__(dict.fromkeys((*left.variables, *right.variables)), keep)
        self.relation = RELATIONS[relation]
        shared = [name for name in left.variables if name in right.variables]
        self.stores = [_Kept(left._places(shared)), _Kept(right._places(shared))]
        self.own = right._places(name for name in right.variables if name not in left.variables)

    def receive(self, side: int, match: Match) -> Iterator[Match]:
        mine, others = self.stores[side], self.stores[1 - side]
        mine.add(match)
        for other in others.by.get(mine.key(match.values), ()):
            left, right = (match, other) if side == 0 else (other, match)
            if self.relation.holds(left.interval, right.interval):
                values = left.values + tuple(right.values[place] for place in self.own)
                because = tuple(dict.fromkeys((*left.because, *right.because)))
                yield Match(values, self.relation.gives(left.interval, right.interval), because)


class _Alternative(_Part):
    def __init__(self, left: _Part, right: _Part, keep: Number | None) -> None:
        super().__init__([name for name in left.variables if name in right.variables], keep)
        self.sides = [left._places(self.variables), right._places(self.variables)]

    def receive(self, side: int, match: Match) -> Iterator[Match]:
        yield Match(tuple(match.values[place] for place in self.sides[side]), match.interval, match.because)


class _Within(_Part):
    def __init__(self, inner: _Part, length: Number, keep: Number | None) -> None:
        super().__init__(inner.variables, keep)
        self.length = length

    def receive(self, side: int, match: Match) -> Iterator[Match]:
        if match.interval[1] - match.interval[0] <= self.length:
            yield match


class _Where(_Part):
    def __init__(self, inner: _Part, conditions: tuple[Comparison, ...], keep: Number | None) -> None:
        sides = (side for each in conditions for side in (each.left, each.right))
        new = [side.name for side in sides if isinstance(side, Variable) and side.name not in inner.variables]
        super().__init__(dict.fromkeys((*inner.variables, *new)), keep)
        self.inner, self.conditions = inner, conditions

    def receive(self, side: int, match: Match) -> Iterator[Match]:
        known = dict(zip(self.inner.variables, match.values, strict=True))
        if all(satisfied(each, known) for each in self.conditions):
            yield Match(tuple(known[name] for name in self.variables), match.interval, match.because)


class _Without(_Part):
    FIRST, BETWEEN, LAST = range(3)

    def __init__(self, first: _Part, between: _Part, last: _Part, keep: Number | None) -> None:
        super().__init__(dict.fromkeys((*first.variables, *last.variables)), keep)
        shared = [name for name in first.variables if name in last.variables]
        asked = [name for name in between.variables if name in self.variables]
        self.stores = [_Kept(first._places(shared)), _Kept(between._places(asked)), _Kept(last._places(shared))]
        self.own = last._places(name for name in last.variables if name not in first.variables)
        self.firsts, self.lasts, self.asked = (
            self._places(first.variables),
            self._places(last.variables),
            self._places(asked),
        )

    def receive(self, side: int, match: Match) -> Iterator[Match]:
        self.stores[side].add(match)
        if side != self.LAST:
            return
        for first in self.stores[self.FIRST].by.get(self.stores[self.LAST].key(match.values), ()):
            if first.interval[1] < match.interval[0]:
                values = first.values + tuple(match.values[place] for place in self.own)
                because = tuple(dict.fromkeys((*first.because, *match.because)))
                yield Match(values, (first.interval[0], match.interval[1]), because)

    def is_spoiled(self, match: Match) -> bool:
        """Whether something between makes the same interval."""
        first = tuple(match.values[place] for place in self.firsts)
        last = tuple(match.values[place] for place in self.lasts)
        asked = tuple(match.values[place] for place in self.asked)
        firsts, betweens, lasts = self.stores
        begins = [
            each.interval[1]
            for each in firsts.by.get(firsts.key(first), ())
            if each.values == first and each.interval[0] == match.interval[0]
        ]
        ends = [
            each.interval[0]
            for each in lasts.by.get(lasts.key(last), ())
            if each.values == last and each.interval[1] == match.interval[1]
        ]
        if not begins or not ends:
            return False
        earliest, latest = min(begins), max(ends)
        return any(earliest < each.interval[0] and each.interval[1] < latest for each in betweens.by.get(asked, ()))


class EventMatcher:
    """The rules at work: events that end at a time in, all events that end then out."""

    def __init__(self, rules: Iterable[EventRule]) -> None:
        self.leaves: dict[str, list[_Leaf]] = {}
        self.parts: list[_Part] = []
        self.heads: dict[int, list[Atom]] = {}
        for rule in rules:
            for pattern in alternatives(rule.pattern):
                top = self._part(pattern, None)
                self.heads.setdefault(id(top), []).append(rule.head)
        self._order = count()
        self._most = 1_000

    def _part(self, pattern: EventPattern, keep: Number | None) -> _Part:
        made: _Part
        below: tuple[_Part, ...] = ()
        match pattern:
            case Event(atom=atom):
                made = leaf = _Leaf(atom, keep)
                self.leaves.setdefault(atom.predicate, []).append(leaf)
            case Related(relation=relation, left=left, right=right):
                below = (self._part(left, keep), self._part(right, keep))
                made = _Related(relation, *below, keep)
            case Alternative(left=left, right=right):
                below = (self._part(left, keep), self._part(right, keep))
                made = _Alternative(*below, keep)
            case WithinLength(pattern=inner, length=length):
                shorter = length if keep is None else min(keep, length)
                below = (self._part(inner, shorter),)
                made = _Within(below[0], length, keep)
            case Where(pattern=inner, conditions=conditions):
                below = (self._part(inner, keep),)
                made = _Where(below[0], conditions, keep)
            case Without(between=between, first=first, last=last):
                below = (self._part(first, keep), self._part(between, keep), self._part(last, keep))
                made = _Without(*below, keep)
        for side, part in enumerate(below):
            part.above.append((made, side))
        self.parts.append(made)
        return made

    def at(self, events: Iterable[Happening], time: Number) -> list[Happening]:
        """All events that end at a time, those that are given among them."""
        found: dict[Happening, None] = {}
        waiting: list[tuple[Any, int, Any, Any]] = []

        def put(part: _Part | None, what: Match | Happening) -> None:
            heapq.heappush(waiting, (-what.interval[0], next(self._order), part, what))

        for event in events:
            put(None, event)
        while waiting:
            _, _, part, what = heapq.heappop(waiting)
            if part is None:
                if what in found:
                    continue
                found[what] = None
                for leaf in self.leaves.get(what.predicate, ()):
                    matched = leaf.matched(what)
                    if matched is not None:
                        put(leaf, matched)
                continue
            if what in part.seen or (isinstance(part, _Without) and part.is_spoiled(what)):
                continue
            part.seen.add(what)
            for above, side in part.above:
                for result in above.receive(side, what):
                    put(above, result)
            for head in self.heads.get(id(part), ()):
                put(None, _derived(head, part, what))
        self._forget(time)
        return list(found)

    def _forget(self, time: Number) -> None:
        for part in self.parts:
            part.seen.clear()
            if isinstance(part, _Without):
                last = part.stores[_Without.LAST]
                last.by, last.size = {}, 0
        if sum(store.size for part in self.parts for store in part.stores) > self._most:
            for part in self.parts:
                if part.keep is not None:
                    for store in part.stores:
                        store.forget(number(time - part.keep))
            self._most = 1_000 + 2 * sum(store.size for part in self.parts for store in part.stores)

    def memory(self) -> list[Any]:
        return [[[_match_out(each) for each in store.all()] for store in part.stores] for part in self.parts]

    def remember(self, memory: list[Any]) -> None:
        for part, stores in zip(self.parts, memory, strict=True):
            for store, kept in zip(part.stores, stores, strict=True):
                for each in kept:
                    values, low, high, because = each
                    interval = (read(low), read(high))
                    store.add(Match(tuple(map(read, values)), interval, tuple(because)))


def _match_out(match: Match) -> list[Any]:
    low, high = match.interval
    return [[written(each) for each in match.values], written(low), written(high), list(match.because)]


def _derived(head: Atom, part: _Part, match: Match) -> Happening:
    known = dict(zip(part.variables, match.values, strict=True))
    arguments = tuple(
        known[term.name] if isinstance(term, Variable) else term.value  # type: ignore[union-attr]
        for term in head.arguments
    )
    return Happening(head.predicate, arguments, match.interval, match.because)
