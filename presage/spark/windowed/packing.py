"""Facts of one input on their way to those who count them: for each shard the tuples that belong there, as numbers.

A pack has the groups of its tuples once, as text, and a row of numbers for each tuple: its group's place, its time, and
what else it says. Constants are written as they are for joins (`relational/values.py`), so that equal ones are equal
in whichever type they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from presage.io.tables import Columns, Texts, ValueColumn, Wholes
from presage.kernels.arrays import Ints
from presage.kernels.numbering import distinct
from presage.kernels.texts import hashes
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.terms import Constant, Variable
from presage.model.values import is_true, value_of
from presage.plan.windowed_set import WindowedSet
from presage.spark.facts import KEY_STEP, columns_of, mark, units_of
from presage.spark.garbage import after_a_task
from presage.spark.job import FrameSource, Job
from presage.spark.packs import framed, from_bytes, in_portions, unframed
from presage.spark.relational.values import written, written_column

PACK = "shard int, payload binary"
_SCHEMA = pa.schema([("shard", pa.int32()), ("payload", pa.binary())])
ROWS_IN_A_PACK = 262_144


def packer(
    job: Job, source: FrameSource, about: WindowedSet, wholes: Sequence[bool], end: int
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """`wholes` says of each column after those of the group whether it has whole numbers."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for table in in_portions(batches, ROWS_IN_A_PACK):
            yield _packs(job, source, about, wholes, end, table)
        after_a_task()

    return run


def _packs(job: Job, source: FrameSource, about: WindowedSet, wholes: Sequence[bool], end: int, given: Any) -> Any:
    marked = mark(given, source, job)
    facts = columns_of(marked.table, source, job.checker)
    wanted = _wanted(job, source, about, facts, units_of(marked.arrivals), end)
    if wanted is not None:
        facts = facts.chosen(wanted)
    columns = [facts.arguments[place] for place in about.places]
    groups, places = _groups(columns[: about.groups], len(facts))
    shards = _shards(groups, job.shards)
    # Groups by shard, so that each shard has a stretch of them.
    order = np.argsort(shards, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    of_row = shards.astype(np.uint8 if job.shards <= 256 else np.int64)[places]
    rows = np.argsort(of_row, kind="stable")
    groups = groups.take(pa.array(order))
    first_group = np.searchsorted(shards[order], np.arange(job.shards + 1))
    first_row = np.searchsorted(of_row[rows], np.arange(job.shards + 1))
    ranked, times = rank[places[rows]], _narrow(facts.times)[rows]
    rest = [_numbered(column, is_whole, rows) for column, is_whole in zip(columns[about.groups :], wholes, strict=True)]
    found: dict[int, bytes] = {}
    for shard in range(job.shards):
        begin, stop = int(first_row[shard]), int(first_row[shard + 1])
        if begin == stop:
            continue
        own = slice(begin, stop)
        numbers = {"group": ranked[own] - rank.dtype.type(first_group[shard]), "time": times[own]}
        numbers |= {f"c{place}": column[own] for place, (column, _) in enumerate(rest)}
        named = [pa.table({f"c{place}": texts}) for place, (_, texts) in enumerate(rest) if texts is not None]
        start = int(first_group[shard])
        tables = [groups.slice(start, int(first_group[shard + 1]) - start), pa.table(numbers), *named]
        parts = [_bytes(each) for each in tables]
        found[shard] = framed({"sizes": [len(each) for each in parts]}, b"".join(parts))
    columns_out = [pa.array(list(found), pa.int32()), pa.array(list(found.values()), pa.binary())]
    return pa.RecordBatch.from_arrays(columns_out, schema=_SCHEMA)


def _wanted(job: Job, source: FrameSource, about: WindowedSet, facts: Columns, arrivals: Ints, end: int) -> Any:
    """Which facts came in time, and are asked for; nothing, where all are."""
    wanted = np.ones(len(facts), bool)
    if source.arrives:
        wanted &= arrivals <= end
        # Whether a fact is late depends on how far its arrival lies after its time.
        ago = Columns(facts.predicate, facts.arguments, facts.times - arrivals)
        late = ago.late(job.checker.predicates[source.predicate], 0)
        if late is not None:
            wanted &= ~late
    elif len(facts) and facts.times.max() > end:
        wanted &= facts.times <= end
    names: dict[str, ValueColumn] = {}
    for term, column in zip(about.literal.arguments, facts.arguments, strict=True):
        if isinstance(term, Constant):
            values, places = column.encoded()
            wanted &= np.array([value == term.value for value in values], bool)[places]
        elif isinstance(term, Variable):
            names[term.name] = column
    for test in about.tests:
        wanted &= _true_of(test, names, len(facts))
    return None if wanted.all() else wanted


def _true_of(test: Comparison, names: dict[str, ValueColumn], size: int) -> Any:
    """Of which rows a comparison is true: it is looked at once for all that say the same."""
    used = sorted({each.name for each in variables_of(test)})
    if not used:
        known: dict[str, Any] = {}
        always = is_true(test.operator, value_of(test.left, known.get), value_of(test.right, known.get))
        return np.full(size, always, bool)
    coded = [names[name].encoded() for name in used]
    rows, places = _together([np.asarray(each, np.int64) for _, each in coded])
    judged = []
    for row in rows.T.tolist():
        known = {name: values[at] for name, (values, _), at in zip(used, coded, row, strict=True)}
        judged.append(is_true(test.operator, value_of(test.left, known.get), value_of(test.right, known.get)))
    return np.array(judged, bool)[places]


def _together(columns: list[Ints]) -> tuple[Any, Ints]:
    """The different rows of some columns, by the column, and which each is."""
    if len(columns) == 1:
        used, places = distinct(columns[0])
        return used.reshape(1, -1), places
    rows, places = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return rows, places.reshape(-1)


def _groups(columns: list[ValueColumn], size: int) -> tuple[Any, Ints]:
    """The different groups as written, and which is that of each row."""
    if not columns:
        return pa.table({"none": [""] if size else pa.array([], pa.string())}), np.zeros(size, np.int64)
    coded = [_written(each) for each in columns]
    if len(coded) == 1:
        return pa.table({"g0": coded[0][0]}), coded[0][1]
    rows, places = _together([each for _, each in coded])
    return (
        pa.table({f"g{place}": texts.take(pa.array(rows[place])) for place, (texts, _) in enumerate(coded)}),
        places,
    )


def _written(column: ValueColumn) -> tuple[Any, Ints]:
    """The different values of a column as written, and which is that of each row."""
    if isinstance(column, Texts):
        encoded = column.array.dictionary_encode()
        texts = written_column(Texts(encoded.dictionary.cast(pa.string())))
        return texts, encoded.indices.to_numpy()
    if isinstance(column, Wholes):
        numbers, inverse = np.unique(column.numbers, return_inverse=True)
        return pa.array([f"n{each}" for each in numbers.tolist()], pa.string()), inverse.astype(np.int64)
    values, places = column.encoded()
    return pa.array([written(value) for value in values], pa.string()), np.asarray(places, np.int64)


def _numbered(column: ValueColumn, is_whole: bool, rows: Ints) -> tuple[Any, Any]:
    """A column as numbers, and what they stand for; nothing, where they stand for themselves."""
    if isinstance(column, Wholes):
        return _narrow(column.numbers)[rows], None
    if is_whole:
        values, places = column.encoded()
        return np.array(values, np.int64)[places][rows], None
    texts, places = _written(column)
    return places[rows], texts


def _narrow(numbers: Ints) -> Any:
    """Numbers in half the bytes, where they fit."""
    fits = len(numbers) and int(numbers.min()) >= -(1 << 31) and int(numbers.max()) < 1 << 31
    return numbers.astype(np.int32) if fits else numbers


def _shards(groups: Any, shards: int) -> Ints:
    found = np.zeros(len(groups), np.uint64)
    for name in groups.column_names:
        texts = Texts(groups.column(name).combine_chunks())
        found = found * KEY_STEP + hashes(texts.places, texts.data, len(texts), 1)
    return (found % np.uint64(shards)).astype(np.int64)


def _bytes(table: Any) -> Any:
    """Spark compresses what it sends."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()


# What a shard gets


@dataclass(frozen=True, slots=True)
class ShardTuples:
    """All tuples of a shard: their groups as written, and for each tuple its group, its time and the rest."""

    groups: Any
    group: Ints
    time: Ints
    rest: list[Ints]


def gathered_tuples(payloads: list[Any], about: WindowedSet) -> ShardTuples:
    """Packs put together: constants of all of them have the same numbers."""
    packs = [_opened(each) for each in payloads]
    groups = pa.concat_tables([pack[0] for pack in packs]).combine_chunks()
    numbers = [_texts_numbered(groups.column(name)) for name in groups.column_names]
    rows, places = _together(numbers)
    first = np.zeros(rows.shape[1], np.int64)
    first[places[::-1]] = np.arange(len(places))[::-1]
    places = places.astype(np.int32)
    begin = np.cumsum([0, *(len(pack[0]) for pack in packs)])
    group = np.concatenate([places[begin[at] + pack[1].column("group").to_numpy()] for at, pack in enumerate(packs)])
    time = np.concatenate([pack[1].column("time").to_numpy() for pack in packs])
    rest = [_same_numbers(packs, place) for place in range(len(about.columns) - about.groups)]
    return ShardTuples(groups.take(pa.array(first)), group, time, rest)


def _opened(payload: Any) -> list[Any]:
    header, body = unframed(payload)
    tables, begin = [], 0
    for size in header["sizes"]:
        tables.append(from_bytes(body[begin : begin + size]))
        begin += size
    return tables


def _texts_numbered(column: Any) -> Ints:
    encoded = column.combine_chunks().dictionary_encode()
    found: Ints = encoded.indices.to_numpy().astype(np.int64)
    return found


def _same_numbers(packs: list[list[Any]], place: int) -> Ints:
    """A column of all packs; where its numbers stand for constants, for the same ones everywhere."""
    name = f"c{place}"
    own = [pack[1].column(name).to_numpy() for pack in packs]
    tables = [table for pack in packs for table in pack[2:] if table.column_names == [name]]
    if not tables:
        return np.concatenate(own)
    numbers = _texts_numbered(pa.concat_tables(tables).column(name))
    begin = np.cumsum([0, *map(len, tables)])
    return np.concatenate([numbers[begin[at] + each] for at, each in enumerate(own)])
