"""What is known and told of one individual, without its times and values: its shape.

An individual is a shape, the times that its shape leaves open, and the values that its facts bring beside the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from presage.hypothesis.courses.symbolic import Sum

KEY, VALUE, CONSTANT, OPEN = "key", "value", "constant", "open"
"""Kinds of arguments: of the individual's key, one of its values, the same for all, not bound yet."""


class Ref(NamedTuple):
    """An argument."""

    kind: str
    what: Any


class ShapeCut(NamedTuple):
    """A cut of the time line at one of the individual's times, so much later; `slot` −1 is a fixed time."""

    slot: int
    offset: Any
    after: int


class Remembered(NamedTuple):
    """A fact."""

    predicate: str
    row: tuple[Ref, ...]
    first: ShapeCut
    last: ShapeCut


class ToldOf(NamedTuple):
    """What was told of the answers with some arguments."""

    asked: str
    arguments: tuple[Ref, ...]
    at: tuple[tuple[ShapeCut, str], ...]
    """Times, with what was told of them."""
    open: str | None
    confirmed: tuple[tuple[ShapeCut, ShapeCut], ...]


class Focus(NamedTuple):
    """The one time of answers of which something is known."""

    asked: str
    at: ShapeCut
    hears: tuple[str, ...]
    """The inputs whose facts may change something."""


@dataclass(frozen=True)
class CourseShape:
    facts: tuple[Remembered, ...]
    told: tuple[ToldOf, ...]
    times: int
    """How many times there are."""
    values: tuple[bool, ...]
    """Of each value whether it is a number."""
    focus: Focus | None = None
    """Where an individual is one answer at one time."""

    @property
    def open_answers(self) -> int:
        """How many answers are possible."""
        return sum(sum(status == "possible" for _, status in each.at) + (each.open == "possible") for each in self.told)


NOTHING = CourseShape((), (), 0, ())
"""Of whom nothing is known."""


class ArrivingFact(NamedTuple):
    """A fact that arrives, without its time and its values."""

    predicate: str
    row: tuple[Ref, ...]
    """Values that are new to the individual are numbered after those it has."""
    is_static: bool = False


@dataclass(slots=True)
class ToldRows:
    """What is told of individuals: by which outcome, of what it was made, their keys, and when."""

    steps: Sequence[Any]
    """The outcomes, by their numbers."""
    outcomes: Any
    vectors: Any
    values: Any
    keys: Any
    now: Any
    per_unit: int
    """Times are counted in so many parts of a unit."""
    size: int
    """How many lines there are."""

    def __len__(self) -> int:
        return self.size

    def chosen(self, some: Any) -> ToldRows:
        outcomes, vectors = self.outcomes[some], self.vectors[some]
        return ToldRows(
            self.steps, outcomes, vectors, self.values[some], self.keys[some], self.now[some],
            self.per_unit, count_lines(self.steps, outcomes, vectors),
        )  # fmt: skip

    def at(self, now: Any) -> ToldRows:
        """What is told at a time."""
        return self.chosen(self.now == now * self.per_unit)


def count_lines(steps: Sequence[Any], outcomes: Any, vectors: Any) -> int:
    often = np.bincount(outcomes)
    lines = 0
    for outcome in np.flatnonzero(often).tolist():
        runs = [each.each for each in steps[outcome].told if each.each is not None]
        lines += int(often[outcome]) * (len(steps[outcome].told) - len(runs))
        lines += sum(int(lengths(run, vectors[outcomes == outcome]).sum()) for run in runs)
    return lines


def lengths(run: tuple[Sum, Sum], vectors: Any) -> Any:
    """How many times there are from one on and before another, for individuals whose time is counted in whole units."""
    first, after = (sum(factor * vectors[:, place] for place, factor in end.terms) + end.constant for end in run)
    return np.broadcast_to(after - first, len(vectors))


def each_of(rows: ToldRows, run: tuple[Sum, Sum]) -> ToldRows:
    """Rows of one outcome, each as often as there are times in a run of it, with these after the other numbers."""
    many = lengths(run, rows.vectors)
    rows = rows.chosen(np.repeat(np.arange(len(many)), many))
    begins = np.repeat(np.cumsum(many) - many, many)
    first = sum(factor * rows.vectors[:, place] for place, factor in run[0].terms) + run[0].constant
    rows.vectors = np.column_stack([rows.vectors, first + np.arange(len(begins)) - begins])
    return rows


def together(
    steps: Sequence[Any], parts: Sequence[tuple[Any, Any, Any, Any]], width: int, now: int, per_unit: int
) -> ToldRows:
    """Outcomes, vectors, values and keys of several parts as one, told at one time."""
    parts = [part for part in parts if len(part[0])]
    if not parts:
        rows, column = np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
        return ToldRows(steps, column, rows, rows, np.zeros((0, width), np.int32), column, per_unit, 0)
    outcomes, vectors, values, keys = (_stacked([part[place] for part in parts]) for place in range(4))
    when = np.full(len(outcomes), now, np.int64)
    return ToldRows(steps, outcomes, vectors, values, keys, when, per_unit, count_lines(steps, outcomes, vectors))


def _stacked(arrays: Sequence[Any]) -> Any:
    """Arrays one upon the other, the narrower ones filled up."""
    if len(arrays) == 1:
        return arrays[0]
    if arrays[0].ndim == 1:
        return np.concatenate(arrays)
    found = np.zeros((sum(map(len, arrays)), max(each.shape[1] for each in arrays)), arrays[0].dtype)
    begin = 0
    for each in arrays:
        found[begin : begin + len(each), : each.shape[1]] = each
        begin += len(each)
    return found
