"""Joins of stretches of time: rows with the same values that hold at some time together, or at no time.

Spark would compare every two rows with the same values. Here they come to a worker ordered by time, and a kernel goes
along it once, so that the work is what is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from presage.core.reach import Reach
from presage.kernels.fields import FAR
from presage.kernels.time_pieces import lasting, meeting, outside
from presage.spark.relational.frame_relations import TIMES, starts_of, times_of, whole_tuples


def overlapping(left: DataFrame, right: DataFrame, shared: list[str]) -> DataFrame:
    """Pairs of rows that agree in the shared columns and hold together, for as long as they do."""
    own = [name for name in left.columns if name not in (*shared, *TIMES)]
    more = [name for name in right.columns if name not in (*shared, *TIMES)]

    def work(table: Any) -> Any:
        low, high, now = times_of(table)
        one, other = meeting(starts_of(table, len(shared)), low, high, _first(table))
        first, second = table.take(pa.array(one)), table.take(pa.array(other))
        return pa.table(
            {
                **{name: first.column(name) for name in (*shared, *own)},
                **{name: second.column(name) for name in more},
                "low": np.maximum(low[one], low[other]),
                "high": np.minimum(high[one], high[other]),
                "now": np.maximum(now[one], now[other]),
            }
        )

    return _side_by_side(left, right, shared).mapInArrow(_by_values(shared, work), _schema([*shared, *own, *more]))


def uncovered(left: DataFrame, right: DataFrame, shared: list[str]) -> DataFrame:
    """The parts of rows on the left in which none on the right that agrees in the shared columns holds; those with the
    same values do not overlap."""
    own = [name for name in left.columns if name not in (*shared, *TIMES)]

    def work(table: Any) -> Any:
        low, high, now = times_of(table)
        rows, begin, end = outside(starts_of(table, len(shared)), low, high, _first(table))
        kept = table.take(pa.array(rows))
        return pa.table(
            {**{name: kept.column(name) for name in (*shared, *own)}, "low": begin, "high": end, "now": now[rows]}
        )

    found = _side_by_side(left, right.select(*shared, *TIMES), shared)
    return found.mapInArrow(_by_values(shared, work), _schema([*shared, *own]))


def lasted(left: DataFrame, right: DataFrame, shared: list[str], reach: Reach, ahead: bool) -> DataFrame:
    """Where rows on the right hold at some time of a reach before, and those on the left that agree in the shared
    columns ever since; or with `ahead` after, and until then. Both sides are settled."""
    own = [name for name in right.columns if name not in (*shared, *TIMES)]
    near, far = int(reach.near or 0), 2 * FAR if reach.far is None else int(reach.far)

    def work(table: Any) -> Any:
        low, high, now = times_of(table)
        if ahead:
            low, high = -high, -low
        starts = starts_of(table, len(shared))
        groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((low, groups))
        is_right = _first(table)[order]
        following = _following(table.take(pa.array(order)), own, groups, is_right)
        rows, begin, end, known = lasting(starts, low[order], high[order], now[order], is_right, following, near, far)
        if ahead:
            begin, end = -end, -begin
        kept = table.take(pa.array(order[rows]))
        return pa.table(
            {**{name: kept.column(name) for name in (*shared, *own)}, "low": begin, "high": end, "now": known}
        )

    found = _side_by_side(right, left.select(*shared, *TIMES), shared)
    return found.mapInArrow(_by_values(shared, work), _schema([*shared, *own]))


def _following(table: Any, own: list[str], groups: Any, is_right: Any) -> Any:
    """For each row on the right the next one of its group with the same values of its own; otherwise below 0."""
    rows = np.flatnonzero(is_right)
    codes = [table.column(name).combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy() for name in own]
    keys = [code[rows] for code in codes] + [groups[rows]]
    order = np.lexsort((rows, *keys))
    same = np.ones(max(0, len(rows) - 1), bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    found = np.full(len(groups), -1, np.int64)
    found[rows[order][:-1][same]] = rows[order][1:][same]
    return found


def _side_by_side(left: DataFrame, right: DataFrame, shared: list[str]) -> DataFrame:
    """The rows of both, those with the same shared values together, ordered by time."""
    both = left.withColumn("first", F.lit(True)).unionByName(
        right.withColumn("first", F.lit(False)), allowMissingColumns=True
    )
    rest = [name for name in both.columns if name not in shared]
    chosen = both.select(*shared, *rest)
    parted = chosen.repartition(*shared) if shared else chosen.repartition(1)
    return parted.sortWithinPartitions(*shared, "low")


def _by_values(shared: list[str], work: Callable[[Any], Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for table in whole_tuples(batches, len(shared)):
            yield from work(table).to_batches()

    return run


def _first(table: Any) -> Any:
    return table.column("first").to_numpy()


def _schema(values: list[str]) -> str:
    return ", ".join([*(f"{name} string" for name in values), *(f"{name} bigint" for name in TIMES)])
