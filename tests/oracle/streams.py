"""Streams and the windows over them ([LARS] Definitions 1 and 3 to 6, as docs/reference/language.md reads them)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Union

from presage.model import Atom, Constant, OnlyWindow, RowsWindow, TimeWindow, Variable, Window

Value = Union[str, int, Fraction, tuple]
"""A constant, or the tuple that names an invented value."""
Ground = tuple[str, tuple[Value, ...]]
Facts = Mapping[Ground, frozenset[int]]
"""At which cells each ground atom holds."""


@dataclass(frozen=True)
class Stream:
    """A timeline and what holds on it. The facts the stream brought (`rows`) are kept apart from
    the derived ones, since they alone are counted. Of those there are two sets: an atom below an
    odd number of negations reads `opposite` (see `evaluator.least_model`)."""

    low: int
    high: int
    rows: Facts
    facts: Facts
    opposite: Facts

    def cells(self, ground: Ground, positive: bool = True) -> frozenset[int]:
        derived = self.facts if positive else self.opposite
        return self.rows.get(ground, frozenset()) | derived.get(ground, frozenset())

    def each(self, change: Callable[[Facts], Facts]) -> Stream:
        return replace(self, rows=change(self.rows), facts=change(self.facts), opposite=change(self.opposite))

    def between(self, low: int, high: int) -> Stream:
        inside = frozenset(range(low, high + 1))
        return replace(self, low=low, high=high).each(
            lambda facts: {ground: cells & inside for ground, cells in facts.items()}
        )


def match_atom(atom: Atom, ground: Ground, binding: Mapping[str, Value]) -> dict[str, Value] | None:
    """The binding extended such that the atom becomes the ground atom."""
    predicate, values = ground
    if atom.predicate != predicate or len(atom.arguments) != len(values):
        return None
    found = dict(binding)
    for argument, value in zip(atom.arguments, values, strict=True):
        if isinstance(argument, Constant):
            if argument.value != value:
                return None
        elif isinstance(argument, Variable) and not argument.is_anonymous:
            if found.setdefault(argument.name, value) != value:
                return None
    return found


def canonical(ground: Ground) -> tuple[object, ...]:
    """By predicate, then arguments, numbers by value before strings by code point."""
    predicate, values = ground
    return (predicate, tuple((isinstance(value, str), value) for value in values))


def select(window: Window, stream: Stream, whole: Stream, at: int) -> Stream:
    """The window of a stream at a time; both times and cells are whole numbers here."""
    if isinstance(window, OnlyWindow):
        patterns = window.patterns
        return stream.each(lambda facts: {g: cells for g, cells in facts.items() if _pattern(patterns, g) is not None})
    if whole.low <= at <= whole.high and not stream.low <= at <= stream.high:
        return stream
    if isinstance(window, TimeWindow):
        pivot = at if window.hop is None else at // window.hop * window.hop
        low = stream.low if window.back is None else pivot - window.back
        high = stream.high if window.ahead is None else pivot + window.ahead
        rows = stream.rows
    else:
        low, high, rows = _rows(window, stream, at)
    low, high = max(low, stream.low), min(high, stream.high)
    if low > high:  # the window lies outside the stream: it has no facts
        return Stream(at, at, {}, {}, {})
    return replace(stream, rows=rows).between(low, high)


def _pattern(patterns: Iterable[Atom], ground: Ground) -> dict[str, Value] | None:
    """What the first pattern that matches binds."""
    found = (match_atom(pattern, ground, {}) for pattern in patterns)
    return next((each for each in found if each is not None), None)


Row = tuple[int, Ground]


def _rows(window: RowsWindow, stream: Stream, at: int) -> tuple[int, int, Facts]:
    rows = [(cell, ground) for ground, cells in stream.rows.items() for cell in cells]
    rows.sort(key=lambda row: (row[0], canonical(row[1])))
    if window.by:
        partitions: dict[frozenset[tuple[str, Value]], list[Row]] = {}
        for row in rows:
            key = _pattern(window.by, row[1])
            if key is not None:
                partitions.setdefault(frozenset(key.items()), []).append(row)
        chosen = [each for each in partitions.values() if window.ahead or each[0][0] <= at]
        parts = [_count(window, stream, each, at) for each in chosen]
        parts.append((at, at, []))  # [LARS] Example 6: of all that matches no pattern, no row
    else:
        parts = [_count(window, stream, rows, at)]
    kept: dict[Ground, frozenset[int]] = {}
    for cell, ground in (row for _, _, part in parts for row in part):
        kept[ground] = kept.get(ground, frozenset()) | {cell}
    return min(low for low, _, _ in parts), max(high for _, high, _ in parts), kept


def _count(window: RowsWindow, stream: Stream, rows: list[Row], at: int) -> tuple[int, int, list[Row]]:
    """The tuple-based window of Definition 4 over ordered rows: its ends, and the rows in it."""
    past = [row for row in rows if row[0] <= at]
    low, kept = at, []
    if window.rows:
        low = past[-window.rows][0] if len(past) >= window.rows else stream.low
        kept = past[-window.rows :]
    future = [row for row in rows if row[0] > at]
    high, coming = at, []
    if window.ahead:
        high = future[window.ahead - 1][0] if len(future) >= window.ahead else stream.high
        before = [row for row in future if row[0] < high]
        last = [row for row in future if row[0] == high]
        coming = before + last[-(window.ahead - len(before)) :]
    return low, high, kept + coming
