"""Lines that differ in their time alone, one for each whole number of a run: as many as two times are apart.

What stands for each of these times is a symbol of its own. Whatever was asked of it must be so for all of them, which
is a condition on the first or the last: a sum that is at most 0 for the greatest is so for every one. Where it is not
so, the times are told one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from presage.hypothesis.courses.symbolic import AT_MOST, DIFFERS, Sum, SymbolCondition, Terms, Trace, Untraceable, total

EACH = -1
"""The place of the time of a line in the numbers it is made of: after all others."""


class Runs:
    """The runs of one step."""

    def __init__(self, trace: Trace, first: int, are_used: bool) -> None:
        """The symbols of runs are those from the first one on."""
        self.trace, self.first, self.are_used = trace, first, are_used
        self.ends: dict[int, tuple[Sum, Sum]] = {}
        """By symbol: the first time, and the first that is over."""

    def begin(self, first: Any, after: Any) -> Any:
        """What stands for each time of a run; `None` where it is known how many there are."""
        if not total(after - first).terms:
            return None
        symbol = self.first + len(self.ends)
        self.ends[symbol] = total(first), total(after)
        return self.trace.symbol(symbol, self.trace.value(*total(first)))

    def of(self, time: Any) -> tuple[Sum, Sum] | None:
        """The run that a time stands for."""
        terms = total(time).terms
        return self.ends[terms[0][0]] if len(terms) == 1 and terms[0][0] in self.ends else None

    def conditions(self) -> Iterator[SymbolCondition]:
        """What was asked, of no time of a run; raises `Untraceable`."""
        for condition in self.trace.conditions:
            if all(index < self.first for index, _ in condition.terms):
                yield condition
            else:
                found = self._of_all(*condition)
                if found.terms:
                    yield found

    def _of_all(self, terms: Terms, constant: Any, kind: str) -> SymbolCondition:
        if kind != DIFFERS:
            return self._met(*self._greatest(terms, constant), kind)
        most = self._greatest(terms, constant)
        if self.trace.value(*most) >= 0:
            most = self._greatest(tuple((index, -factor) for index, factor in terms), -constant)
        return self._met(most[0], most[1] + 1, AT_MOST)

    def _greatest(self, terms: Terms, constant: Any) -> tuple[Terms, Any]:
        """A sum as it is for those times for which it is greatest."""
        found: dict[int, int] = {}
        for index, factor in terms:
            if index < self.first:
                found[index] = found.get(index, 0) + factor
                continue
            first, after = self.ends[index]
            end, away = (after, -1) if factor > 0 else (first, 0)
            constant += factor * (end.constant + away)
            for each, times in end.terms:
                found[each] = found.get(each, 0) + factor * times
        return tuple(sorted((index, factor) for index, factor in found.items() if factor)), constant

    def _met(self, terms: Terms, constant: Any, kind: str) -> SymbolCondition:
        value = self.trace.value(terms, constant)
        if value > 0 or (value == 0 and kind != AT_MOST):
            raise Untraceable("the times of a run differ")
        return SymbolCondition(terms, constant, kind)
