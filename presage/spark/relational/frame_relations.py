"""Relations as DataFrames: a row says that a tuple holds from `low` to `high`, and since which step that is known.

Times are cells of the discrete timeline, as in the engine; the same numbers stand for infinity. A relation is *settled*
when the rows of a tuple do not overlap and each has the least step. Tuples at single time points are settled by Spark's
own aggregation, longer pieces by a kernel that sees the rows of a tuple in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from presage.kernels.fields import FAR
from presage.kernels.time_pieces import earliest, held_throughout
from presage.model.terms import Number

ENDLESS = 2 * FAR
TIMES = ("low", "high", "now")


class TimeShape(Enum):
    """When the rows of a relation hold: at single time points, over stretches of time, or always."""

    POINTS = "points"
    SPANS = "spans"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class SettledRelation:
    """A settled relation."""

    frame: DataFrame
    arity: int
    shape: TimeShape


def places(arity: int) -> list[str]:
    """The columns of a tuple."""
    return [f"a{place}" for place in range(arity)]


def schema_of(arity: int, *more: str) -> str:
    return ", ".join([*(f"{name} string" for name in places(arity)), *(f"{name} bigint" for name in TIMES), *more])


def moved(cell: Column, distance: Number | None, otherwise: int) -> Column:
    """A cell moved by a distance, where both may be infinite."""
    if distance is None:
        return F.lit(otherwise).cast("bigint")
    if distance == 0:
        return cell
    infinite = (cell >= F.lit(FAR)) | (cell <= F.lit(-FAR))
    return F.when(infinite, cell).otherwise(cell + F.lit(int(distance)).cast("bigint"))


def settled(frame: DataFrame, arity: int, shape: TimeShape) -> DataFrame:
    """Each tuple and time once, with the least step."""
    if shape is TimeShape.POINTS:
        least = frame.groupBy(*places(arity), "low").agg(F.min("now").alias("now"))
        return least.select(*places(arity), "low", F.col("low").alias("high"), "now")

    def work(table: Any, starts: Any) -> Any:
        return pieces_of(table, arity, starts).drop_columns("news")

    return in_order(frame, arity).mapInArrow(_by_tuple(arity, work), schema_of(arity))


def absorbed(known: DataFrame, found: DataFrame, arity: int, shape: TimeShape) -> DataFrame:
    """What is known and found, settled; `news` marks what was not known, or from a later step only."""
    both = known.withColumn("known", F.lit(True)).unionByName(found.withColumn("known", F.lit(False)))
    if shape is TimeShape.POINTS:
        before = F.min(F.when(F.col("known"), F.col("now")))
        least = both.groupBy(*places(arity), "low").agg(F.min("now").alias("now"), before.alias("before"))
        news = F.col("before").isNull() | (F.col("now") < F.col("before"))
        return least.select(*places(arity), "low", F.col("low").alias("high"), "now", news.alias("news"))

    def work(table: Any, starts: Any) -> Any:
        return pieces_of(table, arity, starts)

    return in_order(both, arity).mapInArrow(_by_tuple(arity, work), schema_of(arity, "news boolean"))


def eroded(source: DataFrame, arity: int, near: Number | None, far: Number | None, clips: bool) -> DataFrame:
    """Where a settled relation holds all the time from `far` to `near` before."""
    nearest, farthest = -ENDLESS if near is None else int(near), ENDLESS if far is None else int(far)

    def work(table: Any, starts: Any) -> Any:
        low, high, now = times_of(table)
        found = held_throughout(starts, low, high, now, nearest, farthest, clips)
        return _rows(table, starts, arity, found[0], dict(zip(TIMES, found[1:], strict=True)))

    return in_order(source, arity).mapInArrow(_by_tuple(arity, work), schema_of(arity))


# Rows of a tuple in their order


def in_order(frame: DataFrame, arity: int) -> DataFrame:
    """The rows of each tuple together, ordered by time."""
    parted = frame.repartition(*places(arity)) if arity else frame.repartition(1)
    return parted.sortWithinPartitions(*places(arity), "low")


def _by_tuple(arity: int, work: Callable[[Any, Any], Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Gives `work` tables with all rows of their tuples, and the places where these begin (and the last one ends)."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for table in whole_tuples(batches, arity):
            yield from work(table, starts_of(table, arity)).to_batches()

    return run


def whole_tuples(batches: Iterator[Any], arity: int) -> Iterator[Any]:
    """Ordered rows cut between tuples only."""
    held: list[Any] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        if _tuple_at(held[0], 0, arity) == _tuple_at(batch, batch.num_rows - 1, arity):
            continue
        table = pa.Table.from_batches(held)
        cut = int(starts_of(table, arity)[-2])
        yield table.slice(0, cut)
        held = table.slice(cut).to_batches()
    if held:
        yield pa.Table.from_batches(held)


def _tuple_at(batch: Any, row: int, arity: int) -> list[Any]:
    return [batch.column(place)[row].as_py() for place in range(arity)]


def starts_of(table: Any, arity: int) -> Any:
    """Where tuples begin, and where the last one ends."""
    differs = np.zeros(max(0, table.num_rows - 1), bool)
    for place in range(arity):
        codes = table.column(place).combine_chunks().dictionary_encode().indices.to_numpy()
        differs |= codes[1:] != codes[:-1]
    return np.concatenate([[0], np.flatnonzero(differs) + 1, [table.num_rows]]).astype(np.int64)


def times_of(table: Any) -> list[Any]:
    return [table.column(name).to_numpy().astype(np.int64) for name in TIMES]


def _rows(table: Any, starts: Any, arity: int, group: Any, columns: dict[str, Any]) -> Any:
    """Found pieces with the tuples of their groups."""
    tuples = table.select(places(arity)).take(pa.array(starts[group]))
    return pa.table({**{name: tuples.column(name) for name in places(arity)}, **columns})


def pieces_of(table: Any, arity: int, starts: Any = None) -> Any:
    """The settled pieces of ordered rows, and whether they are `news`."""
    starts = starts_of(table, arity) if starts is None else starts
    known = np.zeros(table.num_rows, bool)
    if "known" in table.column_names:
        known = table.column("known").to_numpy(zero_copy_only=False)
    given_low, given_high, given_now = times_of(table)
    group, low, high, now, news = earliest(starts, given_low, given_high, given_now, known)
    return _rows(table, starts, arity, group, {"low": low, "high": high, "now": now, "news": news})
