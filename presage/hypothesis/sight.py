"""Which answers are in sight though nothing has arrived for them.

An absence is evidence by itself, so answers that hang on absences come up as time passes; and some atoms
can never be true, so that answers at every time, without end, have evidence from the start. Each is
looked at when its time has come: not before an absence below it can have been settled by time alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from presage.hypothesis.delays import Delays
from presage.hypothesis.lifetimes import Spans
from presage.model.terms import Number, number
from presage.patterns.premises import START, Pattern

TURNS = 4
"""Through how many negations one looks at least where they go in a circle; where they do not, through all."""


class Sight:
    def __init__(
        self, patterns: dict[str, list[Pattern]], queries: set[str], spans: Spans, delays: Delays, discrete: bool
    ) -> None:
        self.patterns, self.queries, self.spans, self.delays, self.discrete = patterns, queries, spans, delays, discrete
        self.rounds = max(TURNS, len(patterns))
        self.earliest = self._earliest()

    def lead(self, name: str) -> Number | None:
        """How far ahead of now an absence may be evidence for an answer; `None` if it never is alone."""
        leads = [lead for pattern in self.patterns[name] if (lead := self._alone(pattern)) is not None]
        return max(leads, default=None)

    def _alone(self, pattern: Pattern) -> Number | None:
        if not self.discrete or self.times_of(pattern) is not None:
            return None
        if not pattern.literals:
            return 0
        if not pattern.absences:
            return None
        known = [each for each in pattern.absences if each.when.base == pattern.when.base]
        earliest = [self.earliest[each.predicate] + each.when.offset - pattern.when.offset for each in known]
        if not earliest:
            # Absences at fixed times speak for answers at every time.
            return None if pattern.premises else 0
        chances = [
            most + self.delays.of(premise.predicate, [None] * len(premise.arguments))
            for premise in pattern.premises
            if (most := self.spans.distance(pattern, premise, latest=True)) is not None
        ]
        if chances and min(chances) <= min(earliest):
            return None
        return -min(earliest)

    def _earliest(self) -> dict[str, Number]:
        """For each predicate a distance from an atom's time before which time alone cannot have made it false: some
        premise of some pattern, or of an atom negated there, can no longer arrive."""
        arrive: dict[str, list[Number]] = {}
        below: dict[str, list[tuple[str, Number]]] = {}
        for name, patterns in self.patterns.items():
            arrive[name], below[name] = [], []
            for pattern in patterns:
                for premise in pattern.literals:
                    away = self.spans.distance(pattern, premise, latest=False)
                    if away is not None and premise.positive:
                        arrive[name].append(away + self.delays.least(premise.predicate))
                    elif away is not None:
                        below[name].append((premise.predicate, away))
        found: dict[str, Number] = {name: min(times, default=0) for name, times in arrive.items()}
        for _ in range(self.rounds):
            before = found
            found = {
                name: min([*arrive[name], *(away + before[lower] for lower, away in below[name])], default=0)
                for name in arrive
            }
            if found == before:
                break
        return found

    def above(self) -> dict[str, list[tuple[str, Number]]]:
        """For each predicate the queries that negate it, directly or below another, and the distances of its time."""
        direct: dict[str, set[tuple[str, Number]]] = {}
        for name, patterns in self.patterns.items():
            for pattern in patterns:
                for each in pattern.absences:
                    if each.when.base == pattern.when.base:
                        direct.setdefault(each.predicate, set()).add((name, each.when.offset - pattern.when.offset))
        found: dict[str, list[tuple[str, Number]]] = {}
        for name in direct:
            reached: set[tuple[str, Number]] = {(name, Fraction(0))}
            seen: set[tuple[str, Number]] = set()
            for _ in range(self.rounds):
                reached = {
                    (above, distance + further) for at, distance in reached for above, further in direct.get(at, ())
                } - seen
                if not reached:
                    break
                seen |= reached
            found[name] = [(above, number(distance)) for above, distance in seen if above in self.queries]
        return found

    def times_of(self, pattern: Pattern) -> range | None:
        """The times of a pattern's answers, if they are finitely many."""
        if pattern.when.base == START:
            at = floor(pattern.when.offset)
            return range(at, at + 1)
        low, high = pattern.bounds(pattern.when.base, [None] * len(pattern.time_names))
        if low is None or high is None:
            return None
        return range(ceil(low + pattern.when.offset), floor(high + pattern.when.offset) + 1)

    def never_below(self, pattern: Pattern) -> range:
        """The times of answers whose negated atoms, so soon after the start, no rule can derive."""
        until = 0
        for absence in pattern.absences:
            lows = [
                0 if below.when.base == START else below.bounds(below.when.base, [None] * len(below.time_names))[0]
                for below in self.patterns[absence.predicate]
                if below.when.base != START or below.when.offset <= 0
            ]
            if absence.when.base == pattern.when.base and all(low is not None for low in lows):
                first = min((low for low in lows if low is not None), default=0)
                until = max(until, ceil(first - absence.when.offset + pattern.when.offset))
        return range(until)
