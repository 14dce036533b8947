"""Facts by the table: Arrow, pandas or Polars, columns named as declared.

Each distinct value of a column is checked once. Whole-number times stay columns all the way into the
engine; other times are made exact one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.analysis.predicates import Predicate
from presage.answers import Value
from presage.io.facts import Checker, Fact, FactError, exact
from presage.io.rows import Rows, check_header, column_names, when_names

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Texts:
    """A column of texts as Arrow holds them: their bytes at the address `data`, and at the address `places` where each
    begins and where the last one ends."""

    name: str
    places: int
    data: int
    array: Any
    """Keeps the bytes alive."""

    def __len__(self) -> int:
        return len(self.array)

    def is_readable(self) -> bool:
        try:
            self.array.validate(full=True)
        except pyarrow().ArrowInvalid:
            return False
        return True

    def value(self, row: int) -> Value:
        found: str = self.array[row].as_py()
        return found


@dataclass(slots=True)
class Values:
    """A column as distinct values, and the place of each row's value among them."""

    name: str
    distinct: list[Value]
    places: Ints

    def value(self, row: int) -> Value:
        return self.distinct[int(self.places[row])]


@dataclass(slots=True)
class Listed:
    """A column as a value for each row."""

    name: str
    values: Sequence[Value]

    def value(self, row: int) -> Value:
        return self.values[row]


@dataclass(slots=True)
class Columns:
    """Point facts of one predicate at whole-number times."""

    predicate: str
    columns: list[Texts | Values | Listed]
    times: Ints

    def __len__(self) -> int:
        return len(self.times)

    def refuse_times_before_start(self) -> None:
        row = int(np.argmin(self.times))
        if self.times[row] < 0:
            where = f"table {self.predicate}, row {row + 1}"
            raise FactError(f"{where}: {self.times[row]} lies before time 0, the start of the stream")


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


@dataclass(slots=True)
class _Shape:
    """What a predicate's table looks like: which columns say what, and which arguments are texts."""

    kind: Any
    schema: Any
    known: Predicate
    time: int
    columns: list[tuple[int, str, bool]]


class TableReader:
    """Reads tables for a program. What a predicate's table looked like is remembered: the next one mostly looks the
    same."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.shapes: dict[str, _Shape] = {}

    def read(self, name: str, table: Any) -> Columns | list[Fact]:
        """The facts of a table; as columns where their times are whole numbers, otherwise one by one."""
        shape = self.shapes.get(name)
        if shape is not None and type(table) is shape.kind and table.schema == shape.schema:
            return self._columns(name, table, shape)
        where = f"table {name}"
        known = self.checker.known(name, where)
        arrow = as_arrow(table, where)
        names = column_names(known)
        check_header(known, arrow.column_names, where)
        if "time" in when_names(known) and "time" in arrow.column_names:
            plain = len(known.inputs) <= 1 and not {"from", "arrives"}.intersection(arrow.column_names)
            if plain and pyarrow().types.is_integer(arrow.column("time").type):
                places = [arrow.schema.get_field_index(column) for column in names]
                kinds = [each.type for each in known.columns] or ["any"] * known.arity
                columns = [
                    (place, column, kind in ("any", "text") and is_text(arrow.column(place).type))
                    for place, column, kind in zip(places, names, kinds, strict=True)
                ]
                time = arrow.schema.get_field_index("time")
                shape = self.shapes[name] = _Shape(type(arrow), arrow.schema, known, time, columns)
                return self._columns(name, arrow, shape)
        return self._facts(known, arrow, names, where)

    def _facts(self, known: Predicate, arrow: Any, names: list[str], where: str) -> list[Fact]:
        header = [*names, *(column for column in when_names(known) if column in arrow.column_names)]
        columns = [cells_of(arrow.column(column), f"{where}: the column `{column}`") for column in header]
        rows = Rows(known, header, self.checker, lambda row: f"{where}, row {row}")
        if not columns:
            return [rows.fact((), row + 1) for row in range(arrow.num_rows)]
        return [rows.fact(cells, row) for row, cells in enumerate(zip(*columns, strict=True), 1)]

    def _columns(self, name: str, arrow: Any, shape: _Shape) -> Columns:
        times = _whole(arrow.column(shape.time))
        if times.null_count:
            raise FactError(f"table {name}: {times.null_count} rows have no time")
        moments = times.to_numpy(zero_copy_only=False)
        if moments.dtype != np.int64:
            moments = moments.astype(np.int64)
        found: list[Texts | Values | Listed] = []
        for index, (place, column, texts) in enumerate(shape.columns):
            array = _whole(arrow.column(place))
            if array.null_count:
                raise FactError(f"table {name}: the column `{column}` has {array.null_count} rows without a value")
            if texts and len(array):
                found.append(_texts(array, column))
            else:
                found.append(self._values(array, column, shape.known, index))
        return Columns(name, found, moments)

    def _values(self, array: Any, column: str, known: Predicate, index: int) -> Values:
        where = f"table {known.name}"
        encoded = array.dictionary_encode()
        distinct = cells_of(encoded.dictionary, f"{where}: the column `{column}`")
        values = [self.checker.value(each, known, index, where) for each in distinct]
        return Values(column, values, encoded.indices.to_numpy().astype(np.int64))


def _texts(array: Any, column: str) -> Texts:
    _, places, data = array.buffers()
    if array.type != _string():
        return _texts(array.cast(_string()), column)
    return Texts(column, places.address + 4 * array.offset, 0 if data is None else data.address, array)


def _whole(column: Any) -> Any:
    """A column in one piece."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@cache
def _string() -> Any:
    return pyarrow().string()


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
