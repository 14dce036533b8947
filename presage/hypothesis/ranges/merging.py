"""One state of all those that the rest of a pattern cannot tell apart.

What is no longer spoken of is forgotten after each literal, so that the cost follows what is told and not the
combinations of evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from presage.hypothesis.ranges.comparing import Comparing
from presage.hypothesis.ranges.partial import Partial, slots_of, slots_of_lookups, times_of
from presage.hypothesis.ranges.pieces import Evidence
from presage.model.terms import term_variables
from presage.patterns.premises import Fixed, Lookup
from presage.patterns.ranking import evidence_ranks
from presage.patterns.zoned import Counted, Need, RangePattern
from presage.time.sameness import mapping
from presage.time.zones import ANSWER

GONE = "\0"
"""In place of a value that nothing speaks of any more."""


class Merging:
    """Merges the partial matches of one pattern, whose premises are met in an order."""

    def __init__(
        self, pattern: RangePattern, order: Sequence[Need], lookups: Sequence[Lookup], answered: Set[int]
    ) -> None:
        self.pattern, self.order, self.lookups, self.answered = pattern, order, lookups, answered
        self.comparing = Comparing(pattern)
        every = [*(each for each in self.order), *pattern.absences, *(each.need for each in pattern.counted)]
        counted = frozenset().union(*(self._asked(each) for each in pattern.counted))
        self.later = [slots_of(every[place + 1 :]) | counted for place in range(len(self.order))]
        self.later_times = [times_of(every[place + 1 :]) for place in range(len(self.order))]

    def merged(self, states: Iterable[Partial], place: int) -> list[Partial]:
        """One state of all those that the rest cannot tell apart, that with least evidence."""
        best = mapping()
        later, times = self.later[place], self.later_times[place]
        pattern = self.pattern
        for state in states:
            live = set(later)
            live_times = {ANSWER, *times}
            for need in state.needs:
                live.update(each for each in need.arguments if not isinstance(each, Fixed))
                live_times.update((need.low.base, need.high.base))
            for need in state.whole:
                live_times.update((need.low.base, need.high.base))
            for index, condition in enumerate(pattern.conditions):
                if not state.done >> index & 1:
                    live |= condition.slots
                    live_times |= self.comparing.times(condition)
            for index, lookup in enumerate(self.lookups):
                if not state.done >> (len(pattern.conditions) + index) & 1:
                    live.update(each for each in lookup.arguments if not isinstance(each, Fixed))
            for lookup in pattern.lookups:
                if not lookup.positive:
                    live.update(each for each in lookup.arguments if not isinstance(each, Fixed))
            slots = [
                GONE if value is not None and slot not in live and slot not in self.answered else value
                for slot, value in enumerate(state.slots)
            ]
            gone = [each for each in range(1, state.zone.size) if each not in live_times]
            zone, free = state.zone.forgetting(gone), state.free.forgetting(gone)
            key = (state.needs, state.whole, state.done, state.grounded, tuple(slots), zone, free)
            known = best.get(key)
            if known is None or _is_better(state.because, known.because):
                best[key] = state.but(slots=slots, zone=zone, free=free)
        return list(best.values())

    def _asked(self, counted: Counted) -> frozenset[int]:
        """The slots that must be known for something to be counted."""
        named = {self.pattern.terms.get(each.name) for each in term_variables(counted.bound)}
        slots = {slot for each in counted.conditions for slot in each.slots} | slots_of_lookups(counted.lookups)
        return frozenset(each for each in (*named, *slots) if isinstance(each, int))


def _is_better(one: frozenset[Evidence], other: frozenset[Evidence]) -> bool:
    """Whether evidence is less, or the same and first in order: whichever facts came first, the same is told."""
    if len(one) != len(other):
        return len(one) < len(other)
    return evidence_ranks(one - other) < evidence_ranks(other - one)
