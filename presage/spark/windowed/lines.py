"""Lines about stretches: workers say what is different in them, and Spark writes the rest.

A line is ten times as large as what it says, and most of its columns have nothing: that is not sent from process to
process, but made where rows are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from presage.answers import binding_places, shown_name
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.printer import show_number, show_term
from presage.model.statements import Query
from presage.model.terms import Constant, Value, Variable
from presage.model.values import is_true, value_of
from presage.plan.nodes import ColumnTerm
from presage.plan.windowed_set import WindowedSet
from presage.spark.job import Job
from presage.spark.relational.values import read
from presage.spark.rows import spark_schema
from presage.spark.shown import told_schema
from presage.spark.windowed.packing import ShardTuples
from presage.spark.windowed.sets import Stretches, Worth, joined


def said_schema(query: Query) -> Any:
    """What workers say of a stretch: its arguments in text, those that are bound, from when to when."""
    bound = [(f"b{number}", pa.string()) for number in range(len(binding_places(query)))]
    return pa.schema([("arguments", pa.string()), *bound, ("low", pa.int64()), ("high", pa.int64())])


def said(found: Stretches, tuples: ShardTuples, about: WindowedSet) -> Any:
    """The stretches of groups that are asked for, as a table."""
    of_groups = [[read(each) for each in texts.to_pylist()] for texts in tuples.groups.columns[: about.groups]]
    for comparison in about.after:
        found = found.at(_true_of(comparison, found, _columns(found, of_groups, about)))
    for term, wanted in zip(about.head, about.query.atom.arguments, strict=True):
        if isinstance(wanted, Constant):
            column = _cells(term, found, _columns(found, of_groups, about))
            found = found.at(_is(column, wanted.value))
    # What is no longer spoken of tells stretches apart no longer.
    spoken = {each.name for each in about.head if isinstance(each, Variable)}
    values = zip(about.names[about.groups :], found.worth, strict=True)
    names = [name for name in about.names[about.groups :] if name in spoken]
    found = joined(Stretches(found.group, [each for name, each in values if name in spoken], found.low, found.high))
    columns = dict(zip([*about.names[: about.groups], *names], _of(found, of_groups), strict=True))
    cells = [_cells(term, found, columns) for term in about.head]
    shown = [_texts(each, lambda value: show_term(Constant(value))) for each in cells]
    bound = [_texts(cells[place], _plain) for _, place in binding_places(about.query)]
    text = pc.binary_join_element_wise(*shown, ", ") if shown else pa.array([""] * len(found), pa.string())
    return pa.Table.from_arrays(
        [text, *bound, pa.array(found.low), pa.array(found.high)], schema=said_schema(about.query)
    )


def _of(found: Stretches, of_groups: list[list[Value]]) -> list[Worth]:
    return [*(Worth(found.group, values) for values in of_groups), *found.worth]


def _columns(found: Stretches, of_groups: list[list[Value]], about: WindowedSet) -> dict[str, Worth]:
    return dict(zip(about.names, _of(found, of_groups), strict=True))


def _cells(term: ColumnTerm, found: Stretches, columns: dict[str, Worth]) -> Worth:
    if isinstance(term, Constant):
        return Worth(np.zeros(len(found), np.int64), [term.value])
    return columns[term.name]


def _is(column: Worth, value: Value) -> Any:
    if column.values is not None:
        return np.array([each == value for each in column.values], bool)[column.numbers]
    return column.numbers == value if isinstance(value, int) else np.zeros(len(column.numbers), bool)


def _true_of(comparison: Comparison, found: Stretches, columns: dict[str, Worth]) -> Any:
    """Of which stretches a comparison is true: it is looked at once for all that are worth the same."""
    used = sorted({each.name for each in variables_of(comparison)})
    rows = np.stack([columns[name].numbers for name in used]) if used else np.zeros((1, len(found)), np.int64)
    different, places = np.unique(rows, axis=1, return_inverse=True)
    judged = []
    for row in different.T.tolist():
        known: dict[str, Any] = {}
        for name, number in zip(used, row, strict=False):
            values = columns[name].values
            known[name] = number if values is None else values[number]
        left, right = value_of(comparison.left, known.get), value_of(comparison.right, known.get)
        judged.append(is_true(comparison.operator, left, right))
    return np.array(judged, bool)[places.reshape(-1)]


def _texts(column: Worth, show: Any) -> Any:
    if column.values is None:
        return pc.cast(pa.array(column.numbers), pa.string())
    return pa.array([show(value) for value in column.values], pa.string()).take(pa.array(column.numbers))


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else show_number(value)


# What Spark makes of it


def told_lines(job: Job, about: WindowedSet, stretches: DataFrame, end: int) -> DataFrame:
    """The rows of a run: with `states` two for each stretch, when it is known to begin and when it is over; otherwise
    one for each time point."""
    name = shown_name(about.query.atom.predicate)
    atom = F.concat(F.lit(f"{name}("), "arguments", F.lit(")@")) if about.head else F.lit(f"{name}@")
    frame = stretches.withColumn("atom", atom)
    said = _of_stretches(frame, about, end) if job.emit == "states" else _of_times(frame, about)
    titles = [title for title, _ in binding_places(about.query)]
    if titles:
        pairs = [each for number, title in enumerate(titles) for each in (F.lit(title), F.col(f"b{number}"))]
        said = said.withColumn("bindings", F.create_map(*pairs))
    kinds = spark_schema(told_schema(job))
    columns = []
    for field in kinds:
        if field.name in said.columns:
            columns.append(F.col(f"`{field.name}`"))
        elif isinstance(field.dataType, T.ArrayType):
            columns.append(F.array().cast(field.dataType).alias(field.name))
        elif isinstance(field.dataType, T.MapType):
            columns.append(F.create_map().cast(field.dataType).alias(field.name))
        else:
            columns.append(F.lit(None).cast(field.dataType).alias(field.name))
    return said.select(*columns)


def _of_times(frame: DataFrame, about: WindowedSet) -> DataFrame:
    times = frame.select("*", F.explode(F.sequence("low", "high")).alias("time"))
    text = F.concat("atom", F.col("time").cast("string"))
    now = F.col("time") + F.lit(about.lag).cast("bigint")
    times = times.select("*", now.alias("now"), F.lit("confirmed").alias("status"), text.alias("answer"))
    return times.withColumn("key", F.col("answer"))


def _of_stretches(frame: DataFrame, about: WindowedSet, end: int) -> DataFrame:
    """A stretch is over when the time after it is settled, or the run ends."""
    twice = frame.select("*", F.explode(F.array(F.lit(True), F.lit(False))).alias("begins"))
    begins, low, high = F.col("begins"), F.col("low"), F.col("high")
    lag = F.lit(about.lag).cast("bigint")
    known = low if about.least is not None else low + lag
    over = F.least(high + 1 + lag, F.lit(end).cast("bigint"))
    is_point = ~begins & (low == high)
    last = low.cast("string")
    whole = F.concat("atom", F.lit("["), last, F.lit(","), high.cast("string"), F.lit("]"))
    key = F.concat("atom", last)
    return twice.select(
        "*",
        F.when(begins, known).otherwise(over).alias("now"),
        F.when(begins, F.lit("holds")).otherwise(F.lit("confirmed")).alias("status"),
        F.when(begins | is_point, key).otherwise(whole).alias("answer"),
        key.alias("key"),
        F.when(is_point, low).alias("time"),
        F.when(~is_point, low).alias("from"),
        F.when(~begins & ~is_point, high).alias("to"),
        F.when(begins, F.lit("[)")).when(~is_point, F.lit("[]")).alias("bounds"),
    )
