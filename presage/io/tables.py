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


class Texts:
    """A column of texts as Arrow keeps them; distinct values are looked for when someone asks."""

    def __init__(self, array: Any, where: str) -> None:
        self.array, self.where = array, where

    def encoded(self) -> tuple[list[Value], Ints]:
        return _encoded(self.array, self.where)

    def chosen(self, wanted: npt.NDArray[np.bool_]) -> Texts:
        return Texts(self.array.filter(pyarrow().array(wanted)), self.where)

    def some(self, rows: Ints) -> list[str]:
        return list(self.array.take(pyarrow().array(rows)).to_pylist())

    @property
    def offsets(self) -> Ints:
        """Where each text begins among the bytes, and where the last one ends."""
        pa = pyarrow()
        if not len(self.array):
            return np.zeros(1, np.int64)
        kind = np.int64 if pa.types.is_large_string(self.array.type) else np.int32
        begin, size = self.array.offset, len(self.array)
        return np.frombuffer(self.array.buffers()[1], kind)[begin : begin + size + 1].astype(np.int64)

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        buffer = self.array.buffers()[2]
        return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)


class Coded:
    """A column as distinct values and their places."""

    def __init__(self, values: list[Value], places: Ints) -> None:
        self.values, self.places = values, places

    def encoded(self) -> tuple[list[Value], Ints]:
        return self.values, self.places

    def chosen(self, wanted: npt.NDArray[np.bool_]) -> Coded:
        return Coded(self.values, self.places[wanted])


@dataclass(slots=True)
class Columns:
    """Point facts of one predicate at whole-number times, by their arguments."""

    predicate: str
    arguments: list[Texts | Coded]
    times: Ints

    def __len__(self) -> int:
        return len(self.times)

    def facts(self) -> Iterator[Fact]:
        columns = [each.encoded() for each in self.arguments]
        for index, time in enumerate(self.times.tolist()):
            arguments = tuple(values[places[index]] for values, places in columns)
            yield Fact(self.predicate, arguments, time, time)

    def in_time(self, known: Predicate, now: Number) -> npt.NDArray[np.bool_]:
        """For each fact whether it is not late: of the declarations that match it, the last says how late it may be."""
        least = np.full(len(self), math.ceil(now), np.int64)
        names = [column.name for column in known.columns]
        for declared in known.inputs:
            fits = np.ones(len(self), bool)
            for each in declared.where:
                values, places = self.arguments[names.index(each.column)].encoded()
                same = np.array([value == each.value.value for value in values], bool)
                fits &= same[places]
            least[fits] = math.ceil(now - delay_of(declared))
        return self.times >= least

    def chosen(self, wanted: npt.NDArray[np.bool_]) -> Columns:
        return Columns(self.predicate, [each.chosen(wanted) for each in self.arguments], self.times[wanted])


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
    arguments: list[Texts | Coded] = []
    for place, column in enumerate(names):
        array, title = arrow.column(column).combine_chunks(), f"{where}: the column `{column}`"
        if array.null_count:
            raise FactError(f"{title} has {array.null_count} rows without a value")
        kind = known.columns[place].type if place < len(known.columns) else "any"
        if kind in ("any", "text") and is_text(array.type):
            check_texts(array, title)
            arguments.append(Texts(array, title))
            continue
        values, places = _encoded(array, title)
        if not (kind in ("any", "text") and is_text(getattr(array.type, "value_type", None))):
            values = [checker.value(each, known, place, where) for each in values]
        arguments.append(Coded(values, places))
    return Columns(name, arguments, moments)


def _encoded(array: Any, where: str) -> tuple[list[Value], Ints]:
    """Distinct values of a column, and their places."""
    encoded = array.dictionary_encode()
    return cells_of(encoded.dictionary, where), encoded.indices.to_numpy().astype(np.int64)


def check_texts(array: Any, where: str) -> None:
    try:
        array.validate(full=True)
    except pyarrow().ArrowInvalid:
        raise FactError(f"{where} has text that is not UTF-8") from None


def is_text(kind: Any) -> bool:
    pa = pyarrow()
    return kind is not None and bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


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
