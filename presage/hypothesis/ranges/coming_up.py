"""Which answers are in sight though nothing has arrived for them, where each time is judged by itself.

An absence is evidence by itself, so answers that hang on absences come up as time passes; and some atoms can never be
true, so that answers at every time, without end, have evidence from the start. Each is looked at when its time has
come: not before an absence below it can have been settled by time alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor

from presage.hypothesis.delays import Delays
from presage.hypothesis.ranges.lifetimes import distance
from presage.model.terms import Number
from presage.patterns.zoned import RangePattern
from presage.time.zones import ANSWER

TURNS = 4
"""Through how many negations one looks at least where they go in a circle; where they do not, through all."""


class ComingUp:
    def __init__(self, patterns: Mapping[str, Sequence[RangePattern]], delays: Delays, whole: bool) -> None:
        self.patterns, self.delays, self.whole = patterns, delays, whole
        self.rounds = max(TURNS, len(patterns))
        self.earliest = self._earliest()

    def lead(self, patterns: Iterable[RangePattern]) -> Number | None:
        """How far ahead of now an absence may be evidence for answers by some patterns; `None` if it never is alone."""
        leads = [lead for pattern in patterns if (lead := self._alone(pattern)) is not None]
        return max(leads, default=None)

    def _alone(self, pattern: RangePattern) -> Number | None:
        if not self.whole or pattern.zone.range(ANSWER).high is not None:
            return None
        if not pattern.literals:
            return 0
        if not pattern.absences:
            return None
        known = [each for each in pattern.absences if each.low.base == ANSWER]
        earliest = [self._first(each.predicate) + each.low.offset for each in known]
        if not earliest:
            # Absences at fixed times speak for answers at every time.
            return None if pattern.premises else 0
        chances = [
            most + self.delays.of(premise.predicate, [None] * len(premise.arguments))
            for premise in pattern.premises
            if (most := distance(pattern.zone, premise.low, latest=True)) is not None
        ]
        if chances and min(chances) <= min(earliest):
            return None
        return -min(earliest)

    def _first(self, name: str) -> Number:
        return self.earliest[name] if name in self.earliest else self.delays.least(name)

    def _earliest(self) -> dict[str, Number]:
        """For each predicate a distance from an atom's time before which time alone cannot have made it false: some
        premise of some pattern, or of an atom negated there, can no longer arrive."""
        arrive: dict[str, list[Number]] = {}
        below: dict[str, list[tuple[str, Number]]] = {}
        for name, patterns in self.patterns.items():
            arrive[name], below[name] = [], []
            for pattern in patterns:
                for premise in pattern.literals:
                    away = distance(pattern.zone, premise.low, latest=False)
                    if away is None:
                        continue
                    if premise.positive or premise.predicate not in self.patterns:
                        arrive[name].append(away + self.delays.least(premise.predicate))
                    else:
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

    def fixed(self, patterns: Iterable[RangePattern]) -> list[int]:
        """Times of answers by some patterns, finitely many, that are looked at from the start."""
        found: set[int] = set()
        for pattern in patterns:
            if pattern.absences or not pattern.premises:
                known = pattern.zone.range(ANSWER)
                if known.low is not None and known.high is not None:
                    found.update(range(ceil(known.low), floor(known.high) + 1))
                else:
                    found.update(self._never_below(pattern))
        return sorted(found)

    def _never_below(self, pattern: RangePattern) -> range:
        """The times of answers whose negated atoms, so soon after the start, no rule can derive."""
        until = 0
        for absence in pattern.absences:
            below = self.patterns.get(absence.predicate)
            if below is None or absence.low.base != ANSWER:
                continue
            lows = [each.zone.range(ANSWER).low for each in below]
            if all(low is not None for low in lows):
                first = min((low for low in lows if low is not None), default=0)
                until = max(until, ceil(first - absence.low.offset))
        return range(until)
