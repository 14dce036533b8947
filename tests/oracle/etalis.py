"""ETALIS as its papers define it: whether a pattern matches over an interval under a valuation, asked one by one.

Patterns are tuples; a `Name` stands for a variable, anything else in a term's place is a value:

    ("event", name, terms)  (relation, p, q)  ("or", p, q)  ("not", between, first, last)
    ("within", p, length)  ("where", p, conditions)

A condition is (sign, term, term), and so may terms of conditions be.

Nothing matches over an interval but by parts that lie within it; so intervals are gone through from those that end
early, and among these from those that begin late, and what rules derive is known where it is asked for.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

Pattern = tuple[Any, ...]
Interval = tuple[Any, Any]
Event = tuple[str, tuple[Any, ...], Interval]
Known = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Rule:
    head: str
    terms: tuple[Any, ...]
    pattern: Pattern


ALLEN = {
    "seq": lambda p, q: p[1] < q[0],
    "meets": lambda p, q: p[1] == q[0],
    "overlaps": lambda p, q: p[0] < q[0] < p[1] < q[1],
    "during": lambda p, q: q[0] < p[0] and p[1] < q[1],
    "starts": lambda p, q: p[0] == q[0] and p[1] < q[1],
    "finishes": lambda p, q: p[1] == q[1] and q[0] < p[0],
    "equals": lambda p, q: p == q,
    "and": lambda p, q: True,
    "par": lambda p, q: max(p[0], q[0]) < min(p[1], q[1]),
}
SWAPPED = {
    "after": "seq", "met_by": "meets", "overlapped_by": "overlaps", "contains": "during", "started_by": "starts",
    "finished_by": "finishes",
}  # fmt: skip


def names_in(term: Any) -> set[str]:
    if isinstance(term, Name):
        return {term.name}
    return set().union(*map(names_in, term)) if isinstance(term, tuple) else set()


def worth(term: Any, known: Known) -> Any:
    """`None`: it has no value."""
    if isinstance(term, Name):
        return known.get(term.name)
    if not isinstance(term, tuple):
        return term
    left, right = worth(term[1], known), worth(term[2], known)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    return {"+": left + right, "-": left - right, "*": left * right}[term[0]]


class Judge:
    def __init__(self, rules: list[Rule], given: set[Event], values: list[Any]) -> None:
        self.rules, self.values = rules, values
        self.events = set(given)
        self.times = sorted({time for _, _, when in given for time in when})
        intervals = [(low, high) for high in self.times for low in reversed(self.times) if low <= high]
        self._kept: dict[Any, bool] = {}
        """What is known of intervals before the one that is looked at."""
        self._named: dict[int, tuple[Pattern, tuple[str, ...]]] = {}
        for interval in intervals:
            self._now = interval
            while found := {event for event in self._derived(interval) if event not in self.events}:
                self.events |= found
        self.events -= given

    def _derived(self, interval: Interval) -> list[Event]:
        found = []
        for rule in self.rules:
            names = sorted(_of_events(rule.pattern))
            for row in itertools.product(self.values, repeat=len(names)):
                known = dict(zip(names, row, strict=True))
                _assign(rule.pattern, known)
                if self.matches(rule.pattern, known, interval):
                    found.append((rule.head, tuple(worth(term, known) for term in rule.terms), interval))
        return found

    def _within(self, interval: Interval) -> list[Interval]:
        low, high = interval
        return [(a, b) for a in self.times if a >= low for b in self.times if a <= b <= high]

    def matches(self, pattern: Pattern, known: Known, interval: Interval) -> bool:
        if interval == self._now:
            return self._matches(pattern, known, interval)
        key = (id(pattern), interval, tuple(known.get(name) for name in self._names(pattern)))
        if key not in self._kept:
            self._kept[key] = self._matches(pattern, known, interval)
        return self._kept[key]

    def _names(self, pattern: Pattern) -> tuple[str, ...]:
        if id(pattern) not in self._named:
            self._named[id(pattern)] = (pattern, tuple(sorted(names_in(pattern))))
        return self._named[id(pattern)][1]

    def _matches(self, pattern: Pattern, known: Known, interval: Interval) -> bool:
        match pattern:
            case ("event", name, terms):
                return (name, tuple(worth(term, known) for term in terms), interval) in self.events
            case ("or", left, right):
                return self.matches(left, known, interval) or self.matches(right, known, interval)
            case ("within", inner, length):
                return interval[1] - interval[0] <= length and self.matches(inner, known, interval)
            case ("where", inner, conditions):
                return all(_holds(each, known) for each in conditions) and self.matches(inner, known, interval)
            case ("not", between, first, last):
                pair = ("seq", first, last)
                return self._matches(pair, known, interval) and not self._spoiled(between, first, last, known, interval)
            case (relation, left, right) if relation in SWAPPED:
                return self._matches((SWAPPED[relation], right, left), known, interval)
            case (relation, left, right):
                second = relation in ("during", "starts", "finishes", "equals")
                near = self._within(interval)
                lefts = [each for each in near if self.matches(left, known, each)]
                if not lefts:
                    return False
                others = [interval] if second else near
                rights = [each for each in others if self.matches(right, known, each)]
                return any(
                    ALLEN[relation](p, q) and (q if second else (min(p[0], q[0]), max(p[1], q[1]))) == interval
                    for p in lefts
                    for q in rights
                )
        raise AssertionError(pattern)

    def _spoiled(self, between: Pattern, first: Pattern, last: Pattern, known: Known, interval: Interval) -> bool:
        """Whether `first` SEQ `between` SEQ `last` is over the interval, with any values of what only `between` has."""
        own = sorted(_of_events(between) - _of_events(first) - _of_events(last))
        low, high = interval
        near = self._within(interval)
        begins = [end for begin, end in near if begin == low and self.matches(first, known, (begin, end))]
        ends = [begin for begin, end in near if end == high and self.matches(last, known, (begin, end))]
        inside = [each for each in near if any(b < each[0] for b in begins) and any(each[1] < e for e in ends)]
        for row in itertools.product(self.values, repeat=len(own)):
            some = {**known, **dict(zip(own, row, strict=True))}
            _assign(between, some)
            if any(
                b < q[0] and q[1] < e and self.matches(between, some, q) for q in inside for b in begins for e in ends
            ):
                return True
        return False


def _of_events(pattern: Pattern) -> set[str]:
    """The variables of a pattern that events give a value."""
    match pattern:
        case ("event", _, terms):
            return names_in(terms)
        case ("within" | "where", inner, _):
            return _of_events(inner)
        case (_, *below):
            return set().union(*map(_of_events, below))
    raise AssertionError(pattern)


def _assign(pattern: Pattern, known: Known) -> None:
    """Gives a value to what only a condition does, `Z = X + 1`, from the inside to the outside."""
    for part in pattern[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str) and pattern[0] != "event":
            _assign(part, known)
    if pattern[0] == "where":
        given = _of_events(pattern)
        for sign, left, right in pattern[2]:
            if sign == "=" and isinstance(left, Name) and left.name not in given:
                known[left.name] = worth(right, known)


def _holds(condition: Any, known: Known) -> bool:
    sign, left, right = condition
    one, other = worth(left, known), worth(right, known)
    if one is None or other is None:
        return False
    if sign == "=":
        return bool(one == other)
    if sign == "\\=":
        return bool(one != other)
    # Numbers come before texts.
    first, second = (isinstance(one, str), one), (isinstance(other, str), other)
    return {"<": first < second, "=<": first <= second, ">": first > second, ">=": first >= second}[sign]
