"""Passages of time: several steps with what arrives at each, by columns.

An engine that takes a passage takes its steps itself, and gives its answers by columns. Who feeds a reasoner cuts what
arrives into passages of so many facts; how it is cut changes nothing but what is held in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from presage.answers import Answers
from presage.engine.many_steps import Coming
from presage.engine.symbols import Symbols
from presage.io.arriving import ArrivingColumns
from presage.io.tables import Coded, Columns, Texts, ValueColumn, Wholes
from presage.kernels.arrays import Ints
from presage.kernels.numbering import distinct
from presage.model.terms import Number

FACTS_AT_ONCE = 1 << 15
"""Of a passage: enough to make a call cheap, few enough for what they come to."""


def numbers_of(column: ValueColumn, symbols: Symbols) -> Any:
    """The constants of a column as numbers."""
    if isinstance(column, Texts):
        return symbols.number_texts(column)
    if isinstance(column, Wholes):
        return symbols.number_wholes(column.numbers)
    if isinstance(column, Coded):
        if len(column.values) <= 2 * len(column.places):
            return symbols.number_all(column.values)[column.places]
        # Of many values these are a few.
        used, places = distinct(column.places)
        return symbols.number_all([column.values[each] for each in used.tolist()])[places]
    return symbols.number_all(column.values)


def rows_of(table: Columns, symbols: Symbols) -> Any:
    """The arguments of facts as numbers, a row each; where there are none, a row has one number all the same."""
    numbers = [numbers_of(each, symbols) for each in table.arguments]
    if len(numbers) == 1:
        return numbers[0].reshape(-1, 1)
    return np.column_stack(numbers) if numbers else np.zeros((len(table), 1), np.int32)


@dataclass(frozen=True, slots=True)
class Passage:
    """What arrives at each of some steps, in order."""

    steps: Ints
    """Times at which something arrives, or is looked at though nothing does."""
    parts: list[tuple[Columns, Ints]]
    """Facts in the order of their steps, with where those of each step begin, and one more for the end of the last."""
    until: Number
    """Where the passage ends: what happens by itself up to then belongs to it."""

    def __len__(self) -> int:
        return sum(len(columns) for columns, _ in self.parts)

    def now(self, begins: Ints) -> Any:
        """The step of each fact of a part."""
        return np.repeat(self.steps, np.diff(begins))

    def coming(self, symbols: Symbols, scale: int = 1, wanted: Any = None) -> dict[str, Coming]:
        """The facts as numbers: those of predicates that are `wanted`, their times as so many cells for each unit."""
        found: dict[str, Coming] = {}
        for columns, begins in self.parts:
            if wanted is None or wanted(columns.predicate):
                times = columns.times * scale if scale > 1 else columns.times
                own = Coming(rows_of(columns, symbols), times, begins)
                before = found.get(columns.predicate)
                found[columns.predicate] = own if before is None else _merged(before, own)
        return found


def _merged(one: Coming, other: Coming) -> Coming:
    """Facts of one predicate from two places."""
    steps = [np.repeat(np.arange(len(each.begins) - 1), np.diff(each.begins)) for each in (one, other)]
    order = np.argsort(np.concatenate(steps), kind="stable")
    rows, times = np.concatenate([one.rows, other.rows]), np.concatenate([one.times, other.times])
    return Coming(rows[order], times[order], one.begins + other.begins)


@runtime_checkable
class PassageEngine(Protocol):
    """An engine that takes tables and gives columns."""

    @property
    def takes_passages(self) -> bool:
        """Whether it can, as it stands; otherwise it is given one step after the other."""

    def through(self, passage: Passage) -> Answers:
        """What changes at the steps of a passage, and at those times up to its end at which something changes by
        itself. The answers have `columns`: they are counted at once, and made objects when someone looks."""


@runtime_checkable
class StepColumns(Protocol):
    """Answers by columns that know which of them the last step told."""

    def of_last_step(self) -> Answers: ...


def cut(arriving: Sequence[ArrivingColumns], more: Sequence[int], until: Number) -> Iterator[Passage]:
    """What arrives up to a time, in passages of some facts each, with steps at `more` times too. The last ends there,
    each other one with its last step."""
    arrivals = [each.arrivals[: np.searchsorted(each.arrivals, math.floor(until), "right")] for each in arriving]
    together = arrivals[0] if len(arrivals) == 1 else np.sort(np.concatenate([np.zeros(0, np.int64), *arrivals]))
    ends = together[FACTS_AT_ONCE - 1 :: FACTS_AT_ONCE].tolist()
    last = together[-1:].tolist()
    before = -1
    for end in sorted({*ends, *last, *more[-1:]}):
        extra = [time for time in more if before < time <= end]
        spans = [np.searchsorted(each, [before, end], "right") for each in arrivals]
        own = [each[begin:stop] for each, (begin, stop) in zip(arrivals, spans, strict=True)]
        steps = np.unique(np.concatenate([np.array(extra, np.int64), *own]))
        parts = [
            (each.between(int(begin), int(stop)), np.searchsorted(times, np.append(steps, end + 1)))
            for each, times, (begin, stop) in zip(arriving, own, spans, strict=True)
            if stop > begin
        ]
        is_last = end >= max([*last, *more[-1:]])
        yield Passage(steps, parts, until if is_last else end)
        before = end
    if before < 0:
        yield Passage(np.zeros(0, np.int64), [], until)
