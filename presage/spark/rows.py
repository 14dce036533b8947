"""What comes out of a run on Spark: answers, and facts that came too late, as typed rows of one schema.

Both leave the same operator, told apart by which part of the row is there; `answers` and `late` are views of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types

from presage.answers import Answer, Answers, json_value
from presage.answers.schema import answer_schema
from presage.io.facts import Fact
from presage.io.lines import table_of
from presage.model.formulas import Atom
from presage.model.printer import show_atom, show_number
from presage.model.terms import Constant, Number
from presage.run.confirmed_rows import ConfirmedRows
from presage.run.packed import Packed, PackedAnswers, pack
from presage.spark.job import Job
from presage.spark.packs import framed, from_bytes, to_bytes, unframed

ROWS_AT_ONCE = 200_000
"""So many answers leave together."""


def late_fields(whole_times: bool, moments: bool = False) -> list[tuple[str, Any]]:
    time = pa.string() if not whole_times else pa.timestamp("us", "UTC") if moments else pa.int64()
    return [
        ("now", time),
        ("pred", pa.string()),
        ("args", pa.list_(pa.string())),
        ("fact", pa.string()),
        ("time", time),
        ("from", time),
        ("to", time),
        ("bounds", pa.string()),
    ]


def row_schema(job: Job) -> Any:
    """The fields of an answer line, and `late`, where that is asked for: a fact that was left out."""
    answers = answer_schema(job.discrete)
    for name in () if job.program.meaning is None else job.program.meaning.fields:
        answers = answers.append(pa.field(name, pa.string()))
    return answers.append(pa.field("late", pa.struct(late_fields(job.discrete)))) if job.late else answers


def spark_type(kind: Any) -> types.DataType:
    """An Arrow type as one of Spark's; where there is always a value, Spark does not look whether there is."""
    if pa.types.is_list(kind):
        return types.ArrayType(spark_type(kind.value_type), containsNull=kind.value_field.nullable)
    if pa.types.is_map(kind):
        key, item = spark_type(kind.key_type), spark_type(kind.item_type)
        return types.MapType(key, item, valueContainsNull=kind.item_field.nullable)
    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(field.name, spark_type(field.type)) for field in kind])
    return _SPARK_TYPES[str(kind)]()


_SPARK_TYPES: dict[str, type[types.DataType]] = {
    "int64": types.LongType,
    "int32": types.IntegerType,
    "double": types.DoubleType,
    "string": types.StringType,
    "binary": types.BinaryType,
    "timestamp[us, tz=UTC]": types.TimestampType,
}


def spark_schema(schema: Any) -> types.StructType:
    return types.StructType([types.StructField(field.name, spark_type(field.type)) for field in schema])


def tables_of(
    answers: Sequence[Answer], late: Sequence[tuple[Fact, Number]], schema: Any, in_order: bool = True
) -> list[Any]:
    """Tables of the schema: answers, then late facts, each with the time at which it arrived."""
    whole = pa.types.is_integer(schema.field("now").type)
    told = answers.columns if isinstance(answers, Answers) else None
    if isinstance(told, ConfirmedRows) and not in_order:
        found = [_filled(told.table(in_order=False), schema)]
    else:
        found = [_filled(each, schema) for each in table_of(answers, whole)]
    if late and "late" in schema.names:
        kind = schema.field("late").type
        columns = [pa.nulls(len(late), field.type) for field in schema][:-1]
        columns.append(pa.array([_late(fact, now, whole) for fact, now in late], kind))
        found.append(pa.Table.from_arrays(columns, schema=schema))
    return found


def _filled(answers: Any, schema: Any) -> Any:
    """A table of answers with all columns of the schema."""
    if "late" not in schema.names:
        return answers
    field = schema.field("late")
    return answers.append_column(field, pa.nulls(len(answers), field.type))


ToldSteps = Iterable[tuple[Sequence[Answer], list[tuple[Fact, Number]]]]
"""For each step its answers, and the facts that came too late with the time at which they did."""


def packed(job: Job, shard: int, steps: ToldSteps) -> Iterator[bytes]:
    """What steps tell, in pieces that can be sent; `unpacked` makes rows of them."""
    schema = row_schema(job)
    told: list[PackedAnswers] = []
    tables: list[Any] = []
    size = 0
    for given, late in steps:
        answers = job.told(shard, given)
        columns = answers.columns if isinstance(answers, Answers) else None
        if isinstance(columns, PackedAnswers):
            told.append(columns)
            answers = []
        if answers or late:
            tables.extend(tables_of(answers, late, schema))
        size += len(given) + len(late)
        if size >= ROWS_AT_ONCE:
            yield from _pieces(told, tables, job.each_step)
            told, tables, size = [], [], 0
    yield from _pieces(told, tables, job.each_step)


def _pieces(told: list[PackedAnswers], tables: list[Any], each_step: bool) -> Iterator[bytes]:
    if tables:
        yield framed({}, to_bytes(pa.concat_tables(tables)))
    for each in pack(told, each_step):
        values = to_bytes(each.values)
        yield framed({"query": each.query, "values": len(values)}, values + to_bytes(each.rows))


def unpacked(job: Job, piece: Any) -> Iterator[Any]:
    """The rows of a piece, as tables."""
    header, body = unframed(piece)
    if "query" not in header:
        yield from_bytes(body)
        return
    schema = row_schema(job)
    values, rows = from_bytes(body[: header["values"]]), from_bytes(body[header["values"] :])
    for table in job.teller().unpack(Packed(header["query"], rows, values)):
        yield _filled(table, schema)


def gathered(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """Small tables joined to larger ones."""
    held: list[Any] = []
    size = 0
    for table in tables:
        held.append(table)
        size += len(table)
        if size >= rows:
            yield pa.concat_tables(held).combine_chunks()
            held, size = [], 0
    if held:
        yield pa.concat_tables(held).combine_chunks()


def _late(fact: Fact, now: Number, whole: bool) -> dict[str, Any]:
    def time(given: Number | None) -> int | str | None:
        return None if given is None else (int(given) if whole else show_number(given))

    atom = show_atom(Atom(fact.predicate, tuple(Constant(value) for value in fact.arguments)))
    row: dict[str, Any] = {"now": time(now), "pred": fact.predicate}
    row["args"] = [str(json_value(value)) for value in fact.arguments]
    if fact.low == fact.high and fact.low is not None:
        row |= {"fact": f"{atom}@{show_number(fact.low)}", "time": time(fact.low)}
        return row | {"from": None, "to": None, "bounds": None}
    bounds = ("[" if fact.closed_low else "(") + ("]" if fact.closed_high else ")")
    assert fact.low is not None
    high = "inf" if fact.high is None else show_number(fact.high)
    row |= {"fact": f"{atom}@{bounds[0]}{show_number(fact.low)},{high}{bounds[1]}", "time": None}
    return row | {"from": time(fact.low), "to": time(fact.high), "bounds": bounds}
