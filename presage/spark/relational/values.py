"""Constants in the columns of DataFrames, and what compares or computes them.

A constant is text of its own: `n` before a number in lowest terms, `t` before a text. So equal columns are equal
values, in whichever type they came, and Spark joins by them. Comparisons of magnitude and arithmetic are left to
workers, with the exact numbers of every other engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from presage.io.tables import Texts
from presage.io.tables import ValueColumn as Given
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.terms import Constant, Term, Value, Variable, number, term_variables
from presage.model.values import is_true, value_of
from presage.plan.nodes import Join


def written(value: Value) -> str:
    return f"t{value}" if isinstance(value, str) else f"n{value}"


@lru_cache(maxsize=100_000)
def read(text: str) -> Value:
    return text[1:] if text[0] == "t" else number(Fraction(text[1:]))


def written_column(column: Given) -> Any:
    if isinstance(column, Texts):
        return pc.binary_join_element_wise("t", column.array, "")
    values, places = column.encoded()
    return pa.array([written(value) for value in values], pa.string()).take(pa.array(places))


class Compared:
    """The comparisons of a join: those that Spark makes, and those for workers, in the order in which they can be."""

    def __init__(self, node: Join, bound: dict[str, str]) -> None:
        """`bound` has the column of each variable that literals bind; those that are computed are added."""
        self.plain: list[Comparison] = []
        self.steps: list[tuple[str | None, Comparison]] = []
        """For workers: a comparison, or the variable that it gives a value to."""
        rest = list(node.comparisons)
        names = dict(bound)
        while rest:
            ready = next((step for each in rest if (step := _ready(each, names)) is not None), None)
            assert ready is not None, "comparisons are safe"
            target, comparison = ready
            rest.remove(comparison)
            if target is not None:
                names[target] = f"v{len(names)}"
            if target is None and _is_plain(comparison) and _names(comparison) <= set(bound):
                self.plain.append(comparison)
            else:
                self.steps.append((target, comparison))
        self.columns = names

    def apply(self, frame: DataFrame) -> DataFrame:
        for comparison in self.plain:
            same = self._term(comparison.left) == self._term(comparison.right)
            frame = frame.where(same if comparison.operator == "=" else ~same)
        if not self.steps:
            return frame
        new = [self.columns[target] for target, _ in self.steps if target is not None]
        kept = [f"{field.name} {field.dataType.simpleString()}" for field in frame.schema]
        schema = ", ".join([*kept, *(f"{name} string" for name in new)])
        return frame.mapInArrow(_worker(self.steps, self.columns), schema)

    def _term(self, term: Term) -> Column:
        if isinstance(term, Constant):
            return F.lit(written(term.value))
        assert isinstance(term, Variable)
        return F.col(self.columns[term.name])


def _names(comparison: Comparison) -> set[str]:
    return {variable.name for variable in variables_of(comparison)}


def _is_plain(comparison: Comparison) -> bool:
    sides = (comparison.left, comparison.right)
    return comparison.operator in ("=", "!=") and all(isinstance(side, (Variable, Constant)) for side in sides)


def _ready(comparison: Comparison, names: dict[str, str]) -> tuple[str | None, Comparison] | None:
    """What can be made of a comparison when these variables have values; nothing, if others are missing."""
    missing = _names(comparison) - set(names)
    if not missing:
        return None, comparison
    if comparison.operator == "=" and len(missing) == 1:
        (name,) = missing
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if (
                isinstance(side, Variable)
                and side.name == name
                and all(each.name != name for each in term_variables(other))
            ):
                return name, comparison
    return None


def _worker(
    steps: list[tuple[str | None, Comparison]], columns: dict[str, str]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    used = sorted({name for _, comparison in steps for name in _names(comparison)} & set(columns))
    new = [target for target, _ in steps if target is not None]
    given = [name for name in used if name not in new]

    def judge(*texts: str) -> tuple[str, ...] | None:
        known: dict[str, Any] = {name: read(text) for name, text in zip(given, texts, strict=True)}
        for target, comparison in steps:
            if target is None:
                left, right = value_of(comparison.left, known.get), value_of(comparison.right, known.get)
                if not is_true(comparison.operator, left, right):
                    return None
                continue
            is_left = isinstance(comparison.left, Variable) and comparison.left.name == target
            value = value_of(comparison.right if is_left else comparison.left, known.get)
            if value is None:
                return None
            known[target] = value
        return tuple(written(known[target]) for target in new)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        judged = lru_cache(maxsize=200_000)(judge)
        for batch in batches:
            cells = [batch.column(columns[name]).to_pylist() for name in given]
            found = [judged(*row) for row in zip(*cells, strict=True)] if given else [judged()] * batch.num_rows
            kept = [row for row in found if row is not None]
            part = batch.filter(pa.array([row is not None for row in found]))
            more = [pa.array([row[place] for row in kept], pa.string()) for place in range(len(new))]
            names = [*batch.schema.names, *(columns[target] for target in new)]
            yield pa.RecordBatch.from_arrays([*part.columns, *more], names)

    return run
