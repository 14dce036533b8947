"""Facts by the table: Arrow, pandas or Polars, columns named as declared.

Each distinct value of a column is checked once. Whole-number times stay columns all the way into the
engine; other times are made exact one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.analysis.predicates import Predicate, delay_of
from presage.answers import Value
from presage.io.facts import Checker, Fact, FactError, exact
from presage.io.rows import Rows, check_header, column_names, when_names
from presage.model.terms import Number

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Columns:
    """Point facts of one predicate at whole-number times: per argument, distinct values and their places."""

    predicate: str
    values: list[list[Value]]
    places: list[Ints]
    times: Ints

    def __len__(self) -> int:
        return len(self.times)

    def facts(self) -> Iterator[Fact]:
        for index in range(len(self)):
            arguments = tuple(values[places[index]] for values, places in zip(self.values, self.places, strict=True))
            time = int(self.times[index])
            yield Fact(self.predicate, arguments, time, time)

    def in_time(self, known: Predicate, now: Number) -> npt.NDArray[np.bool_]:
        """For each fact whether it is not late: of the declarations that match it, the last says how late it may be."""
        least = np.full(len(self), math.ceil(now), np.int64)
        names = [column.name for column in known.columns]
        for declared in known.inputs:
            fits = np.ones(len(self), bool)
            for each in declared.where:
                place = names.index(each.column)
                same = np.array([value == each.value.value for value in self.values[place]], bool)
                fits &= same[self.places[place]]
            least[fits] = math.ceil(now - delay_of(declared))
        return self.times >= least

    def chosen(self, wanted: npt.NDArray[np.bool_]) -> Columns:
        return Columns(self.predicate, self.values, [places[wanted] for places in self.places], self.times[wanted])


def pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise FactError("tables are read with pyarrow: pip install pyarrow") from None
    return pa


def as_arrow(table: Any, where: str) -> Any:
    """An Arrow table from whatever table a user has."""
    pa = pyarrow()
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    if hasattr(table, "__dataframe__") or hasattr(table, "iloc"):
        return pa.Table.from_pandas(table, preserve_index=False)
    raise FactError(f"{where}: a {type(table).__name__} is not a table (Arrow, pandas and Polars are)")


def read_table(name: str, table: Any, checker: Checker) -> Columns | list[Fact]:
    """The facts of a table; as columns where their times are whole numbers, otherwise one by one."""
    where = f"table {name}"
    known = checker.known(name, where)
    arrow = as_arrow(table, where)
    names = column_names(known)
    check_header(known, arrow.column_names, where)
    if "time" in when_names(known) and "time" in arrow.column_names:
        plain = not {"from", "arrives"}.intersection(arrow.column_names)
        if plain and pyarrow().types.is_integer(arrow.column("time").type):
            return _columns(name, known, arrow, names, checker, where)
    header = [*names, *(column for column in when_names(known) if column in arrow.column_names)]
    columns = [cells_of(arrow.column(column), f"{where}: the column `{column}`") for column in header]
    rows = Rows(known, header, checker, lambda row: f"{where}, row {row}")
    if not columns:
        return [rows.fact((), row + 1) for row in range(arrow.num_rows)]
    return [rows.fact(cells, row) for row, cells in enumerate(zip(*columns, strict=True), 1)]


def _columns(name: str, known: Predicate, arrow: Any, names: list[str], checker: Checker, where: str) -> Columns:
    times = arrow.column("time")
    if times.null_count:
        raise FactError(f"{where}: {times.null_count} rows have no time")
    moments = times.to_numpy().astype(np.int64)
    if len(moments) and moments.min() < 0:
        row = int(np.argmin(moments))
        raise FactError(f"{where}, row {row + 1}: {moments[row]} lies before time 0, the start of the stream")
    values, places = [], []
    for place, column in enumerate(names):
        encoded = arrow.column(column).combine_chunks().dictionary_encode()
        if encoded.null_count:
            raise FactError(f"{where}: the column `{column}` has {encoded.null_count} rows without a value")
        distinct = cells_of(encoded.dictionary, f"{where}: the column `{column}`")
        kind = known.columns[place].type if place < len(known.columns) else "any"
        if kind in ("any", "text") and is_text(encoded.dictionary.type):
            values.append(distinct)
        else:
            values.append([checker.value(each, known, place, where) for each in distinct])
        places.append(encoded.indices.to_numpy().astype(np.int64))
    return Columns(name, values, places, moments)


def is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def cells_of(column: Any, where: str) -> list[Any]:
    """The cells of an Arrow column as values that can be checked: times without a zone are UTC."""
    pa = pyarrow()
    kind = column.type
    try:
        if pa.types.is_float16(kind) or pa.types.is_float32(kind):
            # A short float stands for a shorter decimal than the double of the same value.
            short = np.float16 if pa.types.is_float16(kind) else np.float32
            return [None if cell is None else exact(str(short(cell))) or cell for cell in column.to_pylist()]
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            if kind == pa.timestamp("ns", getattr(kind, "tz", None)):
                import pyarrow.compute as compute

                column = compute.floor_temporal(column, unit="microsecond")
            column = column.cast(pa.timestamp("us"))
        return list(column.to_pylist())
    except UnicodeDecodeError:
        raise FactError(f"{where} has text that is not UTF-8") from None
    except (ValueError, OverflowError, pa.ArrowException):
        raise FactError(f"{where} has times that no calendar has") from None
