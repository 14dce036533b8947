"""What a query finds as lines: for each tuple and step one for each stretch of time that became known then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from presage.answers import Answer, binding_places, shown_name
from presage.model.statements import Query
from presage.model.terms import Constant, Variable
from presage.run.schedule import clip
from presage.spark.job import Job
from presage.spark.relational.frame_relations import ENDLESS, SettledRelation, in_order, pieces_of, places, whole_tuples
from presage.spark.relational.values import read, written
from presage.spark.rows import row_schema, spark_schema, tables_of
from presage.spark.shown import told as shown
from presage.spark.shown import told_schema


def told(job: Job, query: Query, held: SettledRelation, end: int) -> DataFrame:
    """The lines of a query's answers."""
    frame = held.frame
    found: dict[str, str] = {}
    for column, term in zip(places(held.arity), query.atom.arguments, strict=False):
        if isinstance(term, Constant):
            frame = frame.where(F.col(column) == F.lit(written(term.value)))
        elif isinstance(term, Variable) and not term.is_anonymous:
            frame = frame.where(F.col(column) == F.col(found.setdefault(term.name, column)))
    if query.pin is not None and query.pin.base is None:
        at = F.lit(query.pin.offset).cast("bigint")
        frame = frame.where((F.col("low") <= at) & (F.col("high") >= at)).withColumns({"low": at, "high": at})
    return in_order(frame, held.arity).mapInArrow(_teller(job, query, held.arity, end), spark_schema(told_schema(job)))


def _teller(job: Job, query: Query, arity: int, end: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    name, bound = shown_name(query.atom.predicate), binding_places(query)

    def answer(row: dict[str, Any]) -> Answer | None:
        arguments = tuple(read(row[column]) for column in places(arity))[: len(query.atom.arguments)]
        bindings = {title: arguments[place] for title, place in bound}
        low = None if row["low"] <= -ENDLESS else row["low"]
        high = None if row["high"] >= ENDLESS else row["high"]
        if low is not None and low == high:
            return clip(Answer(row["now"], "confirmed", name, arguments, bindings, low), end)
        bounds = ("(" if low is None else "[") + (")" if high is None else "]")
        whole = Answer(row["now"], "confirmed", name, arguments, bindings, start=low, end=high, bounds=bounds)
        return clip(whole, end)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        schema = row_schema(job)
        for table in whole_tuples(batches, arity):
            for part in pieces_of(table, arity).to_batches(max_chunksize=100_000):
                answers = [each for row in part.to_pylist() if (each := answer(row)) is not None]
                for made in shown(job, tables_of(answers, [], schema)):
                    yield from made.to_batches()

    return run
