"""Rows of DataFrames on their way to the shards, as Arrow tables.

A row is *marked* where it is read: its times are checked and made exact, and the values of its key say which shard
it belongs to. Values, not columns, are hashed: 1, 1.0 and the decimal 1 are one constant, in whichever type they come.
A marked table has its arguments in columns `0`, `1`, …, then `low`, and `high`, `bounds`, `arrives` where the source
has them. Times are whole numbers on the discrete timeline, exact text otherwise.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from presage.answers import Value
from presage.io.facts import Checker, Fact, FactError, exact
from presage.io.tables import Coded, Columns, Ints, cells_of
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.spark.job import Job, Source

FEW = 256
"""So many facts of a step are handed over one by one: numbering a table's constants would cost more."""


@dataclass(slots=True)
class Marked:
    """A marked table; per row its shard, its arrival and, on the dense timeline, how fine its times are."""

    table: Any
    shards: Ints
    arrivals: list[Number] | Ints
    parts: list[int] | None


def mark(batch: Any, source: Source, job: Job) -> Marked:
    """Checks the times of rows as they were read, and gives each its shard."""
    checker, table = job.checker, pa.table(batch)
    known = checker.predicates[source.predicate]
    arguments = [table.column(place) for place in range(source.arguments)]
    columns: dict[str, Any] = {str(place): column for place, column in enumerate(arguments)}
    when = [table.column(source.arguments + index) for index in range(len(source.when))]
    shards = np.zeros(table.num_rows, np.uint64)
    for place in source.key:
        distinct, places = _values(arguments[place], source, place, checker)
        hashes = np.array([_hash(value) for value in distinct], np.uint64)
        shards = shards * np.uint64(1_000_003) + hashes[places]
    numbered = (shards % np.uint64(job.shards)).astype(np.int64)
    if checker.discrete and not source.spans and all(pa.types.is_integer(column.type) for column in when):
        low, *rest = [_whole(column, source, checker) for column in when]
        columns["low"] = pa.array(low)
        if rest:
            columns["arrives"] = pa.array(rest[0])
        return Marked(pa.table(columns), numbered, rest[0] if rest else low, None)
    cells = [
        cells_of(column, f"`{source.predicate}`, the column of its `{name}`")
        for column, name in zip(when, source.when, strict=True)
    ]
    read: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    times = []
    for row in zip(*cells, strict=True):
        if row not in read:
            said = {name: cell for name, cell in zip(source.when, row, strict=True) if cell is not None}
            read[row] = checker.when(said, known, _place(source, said))
        times.append(read[row])
    kind = pa.int64() if checker.discrete else pa.string()
    columns["low"] = _times([time[0] for time in times], kind)
    if source.spans:
        columns["high"] = _times([time[1] for time in times], kind)
        columns["bounds"] = pa.array([("[" if time[2] else "(") + ("]" if time[3] else ")") for time in times])
    arrivals = [time[0] if time[4] is None else time[4] for time in times]
    if source.arrives:
        columns["arrives"] = _times(arrivals, kind)
    parts = None if checker.discrete else [_parts(time[0], time[1]) for time in times]
    return Marked(pa.table(columns), numbered, arrivals, parts)


def _parts(*times: Number | None) -> int:
    return math.lcm(*(Fraction(time).denominator for time in times if time is not None))


def _place(source: Source, said: dict[str, Any]) -> str:
    return f"`{source.predicate}`, a row with {', '.join(f'{k} = {v}' for k, v in said.items()) or 'no time'}"


def _whole(column: Any, source: Source, checker: Checker) -> Ints:
    """A column of times that are whole numbers already."""
    if column.null_count:
        raise FactError(f"`{source.predicate}`: {column.null_count} rows have no time (null)")
    times: Ints = column.to_numpy().astype(np.int64)
    if len(times) and times.min() < 0:
        raise FactError(f"`{source.predicate}`: {times.min()} lies before time 0, the start of the stream")
    return times


def _times(times: list[Number | None], kind: Any) -> Any:
    whole = pa.types.is_integer(kind)
    try:
        return pa.array([None if time is None else (time if whole else show_number(time)) for time in times], kind)
    except OverflowError:
        most = max(time for time in times if time is not None)
        raise FactError(f"times up to {most} are more than can be counted: choose a coarser unit") from None


def _values(column: Any, source: Source, place: int, checker: Checker) -> tuple[list[Value], Ints]:
    """The distinct values of an argument, checked, and for each row which it has."""
    known = checker.predicates[source.predicate]
    name = known.columns[place].name if place < len(known.columns) else str(place + 1)
    where = f"`{source.predicate}`, the column `{name}`"
    chunk = column.combine_chunks()
    encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    if encoded.null_count:
        raise FactError(f"{where}: {encoded.null_count} rows have no value (null)")
    cells = cells_of(encoded.dictionary, where)
    return [checker.value(cell, known, place, where) for cell in cells], encoded.indices.to_numpy().astype(np.int64)


def _hash(value: Value) -> int:
    """The same on every machine, for equal values and only by chance for others."""
    return zlib.crc32((f"t{value}" if isinstance(value, str) else f"n{value}").encode("utf-8", "surrogatepass"))


class Block:
    """The facts of a marked table, to be taken out by ranges of rows."""

    def __init__(self, table: Any, source: Source, job: Job) -> None:
        self.source, self.checker = source, job.checker
        self.values, self.places = [], []
        for place in range(source.arguments):
            values, places = _values(table.column(str(place)), source, place, self.checker)
            self.values.append(values)
            self.places.append(places)
        self.discrete = self.checker.discrete
        self.low = self._read(table.column("low"))
        self.high = self._read(table.column("high")) if source.spans else self.low
        self.bounds = table.column("bounds").to_pylist() if source.spans else None
        self.arrivals = self._read(table.column("arrives")) if source.arrives else self.low
        refined = len(self.checker.predicates[source.predicate].inputs) > 1
        self.as_columns = self.discrete and not source.spans and not refined and job.emit == "confirmed"

    def _read(self, column: Any) -> list[Any]:
        if self.discrete:
            return list(column.to_pylist())
        encoded = column.combine_chunks().dictionary_encode()
        known = [exact(text) for text in encoded.dictionary.to_pylist()]
        return [None if index is None else known[index] for index in encoded.indices.to_pylist()]

    def __len__(self) -> int:
        return len(self.low)

    def take(self, rows: Any) -> Columns | list[Fact]:
        """The facts of some rows (their numbers): as columns where the engine takes them so and they are many."""
        if self.as_columns and len(rows) > FEW:
            times = np.array(self.low, np.int64)[rows]
            arguments = [Coded(values, places[rows]) for values, places in zip(self.values, self.places, strict=True)]
            return Columns(self.source.predicate, list(arguments), times)
        return list(self._facts(rows))

    def _facts(self, rows: Any) -> Iterator[Fact]:
        name = self.source.predicate
        columns = [
            [values[index] for index in places[rows].tolist()]
            for values, places in zip(self.values, self.places, strict=True)
        ]
        chosen = rows.tolist()
        tuples = zip(*columns, strict=True) if columns else iter([()] * len(chosen))
        for row, arguments in zip(chosen, tuples, strict=True):
            bounds = self.bounds[row] if self.bounds else "[]"
            arrival = self.arrivals[row] if self.source.arrives else None
            yield Fact(name, arguments, self.low[row], self.high[row], bounds[0] == "[", bounds[1] == "]", arrival)
