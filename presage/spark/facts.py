"""Rows of DataFrames on their way to the shards, as Arrow tables.

A row is *marked* where it is read: its times are checked and made exact, and the values of its key say which shard
it belongs to. Values, not columns, are hashed: 1, 1.0 and the decimal 1 are one constant, in whichever type they come.
A marked table has its arguments in columns `0`, `1`, …, then `low`, and `high`, `bounds`, `arrives` where the source
has them. Times are whole numbers on the discrete timeline, exact text otherwise. Facts at whole-number time points stay
tables all the way into the reasoner.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from presage.analysis.predicates import Predicate
from presage.io.alike import takes_wholes
from presage.io.arriving import ArrivingColumns, in_order
from presage.io.facts import Checker, Fact, FactError, exact
from presage.io.tables import Coded, Columns, Texts, ValueColumn, Wholes, cells_of, in_one_piece, is_text
from presage.kernels.arrays import Ints
from presage.kernels.texts import hashes
from presage.model.printer import show_number
from presage.model.terms import Number, Value
from presage.rewrite.units import EPOCH, milliseconds_between
from presage.run.schedule import Arrival
from presage.spark.job import FrameSource, Job

TEXT, NUMBER = 1, 2
"""Seeds of hashes: the text 1 is not the number 1."""
KEY_STEP = np.uint64(1_000_003)
"""What tells the columns of a key apart."""
MIXED = ("text", "number")
"""The fields of a column of texts and numbers, of which each row has one."""
ArrivedTogether = tuple[int, Any] | list[Fact]
"""Facts that arrive together: a marked table with the number of its source, or one by one."""


@dataclass(slots=True)
class Marked:
    """A marked table; per row its shard, its arrival and, on the dense timeline, how fine its times are."""

    table: Any
    shards: Ints
    arrivals: list[Number] | Ints
    parts: list[int] | None
    lasts: list[Number] | Ints
    """How far a run goes for each row: to its arrival, or to the end of its interval if that is later."""


def mark(batch: Any, source: FrameSource, job: Job) -> Marked:
    """Checks the times of rows as they were read, and gives each its shard."""
    checker, table = job.checker, pa.table(batch)
    known = checker.predicates[source.predicate]
    arguments = [table.column(place) for place in range(source.arguments)]
    no_nulls(arguments, source, known)
    columns: dict[str, Any] = {str(place): column for place, column in enumerate(arguments)}
    when = [table.column(source.arguments + index) for index in range(len(source.when))]
    numbered = shards_of(table, source, job)
    counted = [_whole(column, source, checker) for column in when] if source.stays_table(job) else [None]
    if all(times is not None for times in counted):
        low, *rest = [times for times in counted if times is not None]
        columns["low"] = pa.array(low)
        if rest:
            columns["arrives"] = pa.array(rest[0])
        lasts = np.maximum(low, rest[0]) if rest else low
        return Marked(pa.table(columns), numbered, rest[0] if rest else low, None, lasts)
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
    ends = [at if time[1] is None else max(at, time[1]) for at, time in zip(arrivals, times, strict=True)]
    return Marked(pa.table(columns), numbered, arrivals, parts, ends)


def mixed_cells(column: Any, where: str) -> list[Any]:
    """The cells of a column; where it has texts and numbers, what one of its two fields has."""
    if not pa.types.is_struct(column.type):
        return cells_of(column, where)
    array = in_one_piece(column)
    texts, others = (array.field(name).to_pylist() for name in MIXED)
    found = [other if text is None else text for text, other in zip(texts, others, strict=True)]
    if None in found:
        raise FactError(f"{where}: {found.count(None)} rows have neither a text nor a number")
    return found


def no_nulls(arguments: Sequence[Any], source: FrameSource, known: Predicate) -> None:
    for place, column in enumerate(arguments):
        if column.null_count:
            raise FactError(f"{_column(source, place, known)}: {column.null_count} rows have no value (null)")


def shards_of(table: Any, source: FrameSource, job: Job) -> Ints:
    """The shard of each row of a table that has the arguments first."""
    found: Ints = (key_hashes(table, source, job.checker) % np.uint64(job.shards)).astype(np.int64)
    return found


def key_hashes(table: Any, source: FrameSource, checker: Checker) -> Any:
    """What says of each row which shard it belongs to, however many there are."""
    found = np.zeros(table.num_rows, np.uint64)
    for place in source.key:
        found = found * KEY_STEP + _hashes(table.column(place), source, place, checker)
    return found


def value_hash(value: Value) -> Any:
    """What a value adds to the hash of its key."""
    return _text_hashes(pa.array([str(value)], pa.string()), TEXT if isinstance(value, str) else NUMBER)


def units_of(arrivals: list[Number] | Ints) -> Ints:
    """The units of time in which facts arrive."""
    if isinstance(arrivals, np.ndarray):
        return arrivals
    return np.array([math.floor(each) for each in arrivals], np.int64)


def _parts(*times: Number | None) -> int:
    return math.lcm(*(Fraction(time).denominator for time in times if time is not None))


def _place(source: FrameSource, said: dict[str, Any]) -> str:
    return f"`{source.predicate}`, a row with {', '.join(f'{k} = {v}' for k, v in said.items()) or 'no time'}"


def _whole(column: Any, source: FrameSource, checker: Checker) -> Ints | None:
    """A column of times as whole numbers: it has such, or timestamps. `None` where each cell must be looked at."""
    if pa.types.is_timestamp(column.type):
        return _ticks(column, checker)
    if not pa.types.is_integer(column.type):
        return None
    if column.null_count:
        raise FactError(f"`{source.predicate}`: {column.null_count} rows have no time (null)")
    times: Ints = column.to_numpy().astype(np.int64)
    if len(times) and times.min() < 0:
        raise FactError(f"`{source.predicate}`: {times.min()} lies before time 0, the start of the stream")
    return times


def _ticks(column: Any, checker: Checker) -> Ints | None:
    """Timestamps as numbers of ticks since the start; `None` if some need a closer look, or a message."""
    tick = None if checker.units.tick is None else checker.units.tick * 1000
    if tick is None or tick.denominator != 1 or column.null_count:
        return None
    begin = int(milliseconds_between(EPOCH, checker.units.start) * 1000)
    moments = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64()).to_numpy()
    found: Ints = (moments - begin) // int(tick)
    return found if not len(found) or found.min() >= 0 else None


def _times(times: list[Number | None], kind: Any) -> Any:
    whole = pa.types.is_integer(kind)
    try:
        return pa.array([None if time is None else (time if whole else show_number(time)) for time in times], kind)
    except OverflowError:
        most = max(time for time in times if time is not None)
        raise FactError(f"times up to {most} are more than can be counted: choose a coarser unit") from None


def _column(source: FrameSource, place: int, known: Predicate) -> str:
    name = known.columns[place].name if place < len(known.columns) else str(place + 1)
    return f"`{source.predicate}`, the column `{name}`"


def values_of(column: Any, source: FrameSource, place: int, checker: Checker) -> tuple[list[Value], Ints]:
    """The distinct values of an argument, checked, and for each row which it has."""
    known = checker.predicates[source.predicate]
    where = _column(source, place, known)
    if pa.types.is_struct(column.type):
        numbers: dict[Value, int] = {}
        values = [checker.value(cell, known, place, where) for cell in mixed_cells(column, where)]
        places = [numbers.setdefault(value, len(numbers)) for value in values]
        return list(numbers), np.array(places, np.int64)
    chunk = column.combine_chunks()
    encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    cells = cells_of(encoded.dictionary, where)
    return [checker.value(cell, known, place, where) for cell in cells], encoded.indices.to_numpy().astype(np.int64)


def _hashes(column: Any, source: FrameSource, place: int, checker: Checker) -> Any:
    """The same on every machine for equal values, and only by chance for others."""
    if _is_plain_text(column, checker.predicates[source.predicate], place):
        return _text_hashes(in_one_piece(column), TEXT)
    distinct, places = values_of(column, source, place, checker)
    texts = pa.array([str(value) for value in distinct], pa.string())
    is_text = np.array([isinstance(value, str) for value in distinct], bool)
    return np.where(is_text, _text_hashes(texts, TEXT), _text_hashes(texts, NUMBER))[places]


def _text_hashes(array: Any, seed: int) -> Any:
    texts = Texts(array)
    return hashes(texts.places, texts.data, len(texts), seed)


def by_arrival(job: Job, tables: Sequence[tuple[int, Any]], least: Number) -> Iterator[tuple[Number, ArrivedTogether]]:
    """Marked tables, each with the number of its source, cut by when their facts arrive: `least` at the earliest."""
    for index, source in enumerate(job.sources):
        own = [table for given, table in tables if given == index]
        if not own:
            continue
        table = own[0] if len(own) == 1 else pa.concat_tables(own)
        if not source.stays_table(job):
            times: dict[Number, list[Fact]] = {}
            for fact in facts_of(table, source, job):
                times.setdefault(max(fact.arrival, least), []).append(fact)
            yield from times.items()
            continue
        arrivals = np.maximum(table.column("arrives" if source.arrives else "low").to_numpy(), int(least))
        if (np.diff(arrivals) < 0).any():
            order = np.argsort(arrivals, kind="stable")
            arrivals, table = arrivals[order], table.take(pa.array(order))
        table = table.combine_chunks()
        edges = [0, *(np.flatnonzero(np.diff(arrivals)) + 1).tolist(), len(arrivals)]
        for start, stop in pairwise(edges):
            yield int(arrivals[start]), (index, table.slice(start, stop - start))


def arriving_by_column(job: Job, source: FrameSource, tables: Sequence[Any]) -> ArrivingColumns:
    """Marked tables of a source, whose facts come by the column."""
    table = (tables[0] if len(tables) == 1 else pa.concat_tables(tables)).combine_chunks()
    arrivals = table.column("arrives" if source.arrives else "low").to_numpy()
    return in_order(columns_of(table, source, job.checker), arrivals)


def arrival_of(job: Job, time: Number, parts: Iterable[ArrivedTogether]) -> Arrival:
    """What arrives at one time."""
    facts: list[Fact] = []
    tables: list[Columns] = []
    for part in parts:
        if isinstance(part, list):
            facts.extend(part)
        else:
            tables.append(columns_of(part[1], job.sources[part[0]], job.checker))
    return Arrival(time, facts, tables)


def columns_of(table: Any, source: FrameSource, checker: Checker) -> Columns:
    known = checker.predicates[source.predicate]
    arguments: list[ValueColumn] = []
    for place in range(source.arguments):
        column = table.column(place)
        if _is_plain_text(column, known, place):
            arguments.append(Texts(in_one_piece(column)))
        elif (numbers := _plain_wholes(column)) is not None and takes_wholes(known, place, numbers):
            arguments.append(Wholes(numbers))
        else:
            arguments.append(Coded(*values_of(column, source, place, checker)))
    return Columns(source.predicate, arguments, table.column("low").to_numpy())


def _is_plain_text(column: Any, known: Predicate, place: int) -> bool:
    """Whether a column's texts are values as they are."""
    kind = known.columns[place].type if place < len(known.columns) else "any"
    return kind in ("any", "text") and is_text(column.type)


def _plain_wholes(column: Any) -> Ints | None:
    """A column's whole numbers, if it has them in each row and none is too large."""
    if not pa.types.is_integer(column.type) or pa.types.is_uint64(column.type) or column.null_count:
        return None
    found: Ints = column.to_numpy().astype(np.int64, copy=False)
    return found


def facts_of(table: Any, source: FrameSource, job: Job) -> Iterator[Fact]:
    columns = []
    for place in range(source.arguments):
        values, places = values_of(table.column(str(place)), source, place, job.checker)
        columns.append([values[index] for index in places.tolist()])
    low = _read(table.column("low"), job.discrete)
    high = _read(table.column("high"), job.discrete) if source.spans else low
    bounds = table.column("bounds").to_pylist() if source.spans else ["[]"] * len(low)
    arrives = _read(table.column("arrives"), job.discrete) if source.arrives else [None] * len(low)
    tuples = zip(*columns, strict=True) if columns else iter([()] * len(low))
    for arguments, start, end, sides, arrival in zip(tuples, low, high, bounds, arrives, strict=True):
        yield Fact(source.predicate, arguments, start, end, sides[0] == "[", sides[1] == "]", arrival)


def _read(column: Any, discrete: bool) -> list[Any]:
    if discrete:
        return list(column.to_pylist())
    encoded = in_one_piece(column).dictionary_encode()
    known = [exact(text) for text in encoded.dictionary.to_pylist()]
    return [None if index is None else known[index] for index in encoded.indices.to_pylist()]
