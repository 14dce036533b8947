"""Comparisons of aggregates over a stream: the tuples of each set with the times at which they are in it.

Time is cut where one of the sets changes; between two cuts a comparison is worked out once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from presage.analysis.aggregates import direction
from presage.answer_streams.ordering import Ordering, unknown_of
from presage.answer_streams.streams import FiniteStream
from presage.answer_streams.values import Assignment, ValueOrInvented, compares, solved, value_of
from presage.core.formulas import All, CoreFormula, Gathered, Measured, walk
from presage.model.aggregating import worth
from presage.model.formulas import Comparison
from presage.model.values import NOW
from presage.time.points import NEVER, Times

Solved = tuple[dict[str, ValueOrInvented], Times]
Solve = Callable[[CoreFormula, Assignment, FiniteStream, Times], list[Solved]]
Tuples = dict[tuple[Any, ...], Times]
"""The tuples of an aggregate's set, and when each is in it."""


class AggregateCompiler:
    def __init__(self, solve: Solve, ordering: Ordering) -> None:
        """`solve` finds with which values, and when, a formula holds in a part of the stream."""
        self.solve, self.ordering = solve, ordering
        # Formulas are known by identity, so those that were asked about must stay alive.
        self._bodies: dict[int, tuple[CoreFormula, Gathered]] = {}

    def compared(self, measured: Measured, binding: Assignment, stream: FiniteStream, when: Times) -> Iterator[Solved]:
        """With which values, and when, a comparison with aggregates is true."""
        for found, sets in self._grouped(list(measured.sets), dict(binding), stream, when):
            missing = set(self.ordering.names(measured)) - found.keys()
            unknown = unknown_of(measured, set(found)) if missing else None
            if missing and unknown is None:
                continue  # the ordering has seen to it that there is a value to look for
            merged: dict[ValueOrInvented | None, Times] = {}
            for piece in _pieces(when, [times for each in sets.values() for times in each.values()]):
                value = _at(measured, sets, found, unknown, piece.first)
                if value is not False:
                    key = None if value is True else value
                    merged[key] = merged.get(key, NEVER) | piece
            for key, times in merged.items():
                yield (found if unknown is None or key is None else {**found, unknown: key}), times

    def _body(self, gathered: Gathered) -> CoreFormula:
        known = self._bodies.get(id(gathered))
        if known is None:
            known = self._bodies[id(gathered)] = (All(gathered.body), gathered)
        return known[0]

    def _grouped(
        self, rest: list[Gathered], binding: dict[str, ValueOrInvented], stream: FiniteStream, when: Times
    ) -> Iterator[tuple[dict[str, ValueOrInvented], dict[str, Tuples]]]:
        """Each choice of the variables that aggregates range over, with the tuples of each aggregate."""
        if not rest:
            yield binding, {}
            return
        aggregate, *others = rest
        shared = aggregate.shared
        if any(each not in binding for each in shared if each not in aggregate.binds):
            return
        known = {each: binding[each] for each in (*shared, NOW) if each in binding}
        groups: dict[tuple[ValueOrInvented, ...], Tuples] = {}
        over = [each for each in aggregate.binds if each not in binding]
        for found, times in self.solve(self._body(aggregate), known, stream, when):
            values = tuple(value_of(term, found) for term in aggregate.terms)
            if None not in values:
                tuples = groups.setdefault(tuple(found[each] for each in over), {})
                tuples[values] = tuples.get(values, NEVER) | (times & when)
        if not over and not groups:
            groups[()] = {}
        for key, tuples in groups.items():
            chosen = {**binding, **dict(zip(over, key, strict=True))}
            for full, sets in self._grouped(others, chosen, stream, when):
                yield full, {aggregate.name: tuples, **sets}


def _at(
    measured: Measured,
    sets: dict[str, Tuples],
    binding: dict[str, ValueOrInvented],
    unknown: str | None,
    at: int,
) -> ValueOrInvented | bool:
    """Whether a comparison is true at a time, or the value it gives to what is unknown."""
    values: dict[str, ValueOrInvented] = {}
    plain = measured.comparison
    for aggregate in measured.sets:
        name = aggregate.name
        tuples = [each for each, times in sets[name].items() if at in times]
        if not tuples and aggregate.binds:
            return False
        if aggregate.function in ("min", "max") and unknown is None and only_grows(measured):
            # True as soon as one value is.
            return any(compares(plain, {**binding, name: each[0]}) for each in tuples)
        value = worth(aggregate.function, tuples)
        if value is None:
            return False
        values[name] = value
    full = {**binding, **values}
    if unknown is None:
        return compares(plain, full)
    found = solved(plain, unknown, full)
    return False if found is None else found


def only_grows(measured: Measured) -> bool:
    """Whether more facts can never make it false."""
    return isinstance(measured.written, Comparison) and direction(measured.written) == 1


def not_between_bounds(formula: CoreFormula) -> Iterator[Measured]:
    """The comparisons in a formula that what holds at least and at most says nothing of."""
    return (node for node in walk(formula) if isinstance(node, Measured) and not only_grows(node))


def _pieces(when: Times, changing: list[Times]) -> Iterator[Times]:
    """`when`, cut where something changes."""
    cuts = sorted({edge for times in changing for low, high in times.spans for edge in (low, high + 1)})
    for low, high in when.spans:
        start = low
        for cut in cuts[bisect_right(cuts, low) :]:
            if cut > high:
                break
            yield Times.between(start, cut - 1)
            start = cut
        yield Times.between(start, high)
