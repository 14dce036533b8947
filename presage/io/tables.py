"""Facts by the table: Arrow, pandas or Polars, columns named as declared.

Each distinct value of a column is checked once. Whole-number times stay columns all the way into the
engine; other times are made exact one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.analysis.predicates import Predicate
from presage.io.alike import columns_alike, takes_wholes
from presage.io.facts import Checker, Fact, FactError, exact
from presage.io.rows import TableRows, check_header, column_names, when_names
from presage.kernels.arrays import Flags, Ints
from presage.model.delays import delay_of
from presage.model.terms import Number, Value

RowNumbers = npt.NDArray[np.integer[Any]]
MOST = 1 << 62
"""The greatest time of a column."""


class Texts:
    """A column of texts as Arrow holds them: their bytes at the address `data`, and at the address `places` where each
    begins and where the last one ends."""

    __slots__ = ("array", "data", "places")

    def __init__(self, array: Any) -> None:
        self.array = array if array.type == _string() else array.cast(_string())
        _, places, data = self.array.buffers()
        self.places: int = 0 if places is None else places.address + 4 * self.array.offset
        self.data: int = 0 if data is None else data.address

    def __len__(self) -> int:
        return len(self.array)

    def encoded(self) -> tuple[list[Value], Ints]:
        return _encoded(self.array, "")

    def chosen(self, wanted: Flags) -> Texts:
        return Texts(self.array.filter(pyarrow().array(wanted)))

    def taken(self, rows: Ints) -> Texts:
        return Texts(self.array.take(pyarrow().array(rows)))

    def between(self, begin: int, end: int) -> Texts:
        return Texts(self.array.slice(begin, end - begin))

    def some(self, rows: Ints) -> list[str]:
        found: list[str] = self.array.take(pyarrow().array(rows)).to_numpy(zero_copy_only=False).tolist()
        return found


@dataclass(slots=True)
class Wholes:
    """A column of whole numbers as they are."""

    numbers: Ints

    def encoded(self) -> tuple[Sequence[Value], Ints]:
        values, first, places = np.unique(self.numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)  # values in the order in which they come
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return values[order].tolist(), rank[places]

    def chosen(self, wanted: Flags) -> Wholes:
        return Wholes(self.numbers[wanted])

    def taken(self, rows: Ints) -> Wholes:
        return Wholes(self.numbers[rows])

    def between(self, begin: int, end: int) -> Wholes:
        return Wholes(self.numbers[begin:end])


@dataclass(slots=True)
class Coded:
    """A column as distinct values, and the place of each row's value among them."""

    values: Sequence[Value]
    places: RowNumbers

    def encoded(self) -> tuple[Sequence[Value], RowNumbers]:
        return self.values, self.places

    def chosen(self, wanted: Flags) -> Coded:
        return Coded(self.values, self.places[wanted])

    def taken(self, rows: Ints) -> Coded:
        return Coded(self.values, self.places[rows])

    def between(self, begin: int, end: int) -> Coded:
        return Coded(self.values, self.places[begin:end])


@dataclass(slots=True)
class Listed:
    """A column as a value for each row."""

    values: Sequence[Value]

    def encoded(self) -> tuple[Sequence[Value], Ints]:
        return self.values, np.arange(len(self.values))

    def chosen(self, wanted: Flags) -> Listed:
        return Listed([self.values[row] for row in np.flatnonzero(wanted).tolist()])

    def taken(self, rows: Ints) -> Listed:
        return Listed([self.values[row] for row in rows.tolist()])

    def between(self, begin: int, end: int) -> Listed:
        return Listed(self.values[begin:end])


ValueColumn = Texts | Wholes | Coded | Listed


@dataclass(slots=True)
class Columns:
    """Point facts of one predicate at whole-number times, by their arguments."""

    predicate: str
    arguments: list[ValueColumn]
    times: Ints

    def __len__(self) -> int:
        return len(self.times)

    def facts(self) -> Iterator[Fact]:
        return self.arriving(self.times)

    def arriving(self, arrivals: Ints) -> Iterator[Fact]:
        """The facts one by one, with their arrivals."""
        columns = [each.encoded() for each in self.arguments]
        for index, (time, arrival) in enumerate(zip(self.times.tolist(), arrivals.tolist(), strict=True)):
            arguments = tuple([values[places[index]] for values, places in columns])
            yield Fact(self.predicate, arguments, time, time, arrives=None if arrival == time else arrival)

    def late(self, known: Predicate, now: Number | Ints) -> Flags | None:
        """For each fact whether it is late, `None` if none is: of the declarations that match a fact, the last says how
        late it may be. `now` is the step of all, or that of each."""
        found: Flags
        if len(known.inputs) <= 1:
            found = self.times < _before(now, known.delay or 0)
        else:
            found = self.times < self._limits(known, now)
        return found if found.any() else None

    def _limits(self, known: Predicate, now: Number | Ints) -> Ints:
        """For each fact the first time at which it would not be late."""
        limits = np.full(len(self), _before(now, 0), np.int64)
        names = [column.name for column in known.columns]
        for declared in known.inputs:
            fits = np.ones(len(self), bool)
            for each in declared.where:
                values, places = self.arguments[names.index(each.column)].encoded()
                same = np.array([value == each.value.value for value in values], bool)
                fits &= same[places]
            allowed = _before(now, delay_of(declared))
            limits[fits] = allowed if isinstance(allowed, int) else allowed[fits]
        return limits

    def chosen(self, wanted: Flags) -> Columns:
        return Columns(self.predicate, [each.chosen(wanted) for each in self.arguments], self.times[wanted])

    def taken(self, rows: Ints) -> Columns:
        return Columns(self.predicate, [each.taken(rows) for each in self.arguments], self.times[rows])

    def between(self, begin: int, end: int) -> Columns:
        return Columns(self.predicate, [each.between(begin, end) for each in self.arguments], self.times[begin:end])

    def by(self, keys: Ints) -> Iterator[tuple[int, Columns]]:
        """The facts of each key, in the order of keys."""
        if len(keys) and keys[0] == keys[-1] and (keys == keys[0]).all():
            yield int(keys[0]), self
            return
        order = np.argsort(keys, kind="stable")
        sorted_keys, columns = keys[order], self.taken(order)
        begins = np.flatnonzero(np.diff(sorted_keys, prepend=sorted_keys[:1] - 1))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(keys)], strict=True):
            yield int(sorted_keys[begin]), columns.between(begin, end)


def together(tables: Sequence[Columns]) -> Columns:
    """The facts of several tables of one predicate, one after the other."""
    if len(tables) == 1:
        return tables[0]
    arguments = [_joined([table.arguments[place] for table in tables]) for place in range(len(tables[0].arguments))]
    return Columns(tables[0].predicate, arguments, np.concatenate([table.times for table in tables]))


def _joined(columns: Sequence[ValueColumn]) -> ValueColumn:
    if all(isinstance(each, Texts) for each in columns):
        return Texts(pyarrow().concat_arrays([each.array for each in columns if isinstance(each, Texts)]))
    if all(isinstance(each, Wholes) for each in columns):
        return Wholes(np.concatenate([each.numbers for each in columns if isinstance(each, Wholes)]))
    values: list[Value] = []
    for each in columns:
        distinct, places = each.encoded()
        values += distinct if isinstance(each, Listed) else [distinct[place] for place in places.tolist()]
    return Listed(values)


def integers(array: Any) -> Any:
    """The numbers of an Arrow column of integers without gaps, where they lie: Arrow itself would load pandas first."""
    kind = np.dtype(str(array.type))
    found = np.frombuffer(array.buffers()[1] or b"", kind, array.offset + len(array))
    return found[array.offset :]


def _before(now: Number | Ints, delay: Number) -> int | Ints:
    """The first whole time that is not more than a delay before now, or before each of several."""
    if isinstance(now, np.ndarray):
        found: Ints = now + math.ceil(-delay)
        return found
    return math.ceil(now - delay)


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


def is_table(given: Any) -> bool:
    """Whether something is a table rather than rows: going through one by one would give its columns."""
    return any(hasattr(given, each) for each in ("schema", "columns", "to_arrow"))


@dataclass(slots=True)
class _Shape:
    """What a predicate's table looks like: which columns say what, and which arguments are texts."""

    kind: Any
    schema: Any
    known: Predicate
    time: int
    kinds: list[str]
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
            plain = not {"from", "arrives"}.intersection(arrow.column_names)
            if plain and pyarrow().types.is_integer(arrow.column("time").type):
                places = [arrow.schema.get_field_index(column) for column in names]
                kinds = [each.type for each in known.columns] or ["any"] * known.arity
                columns = [
                    (place, column, kind in ("any", "text") and _is_of_texts(arrow.column(place).type))
                    for place, column, kind in zip(places, names, kinds, strict=True)
                ]
                time = arrow.schema.get_field_index("time")
                shape = self.shapes[name] = _Shape(type(arrow), arrow.schema, known, time, kinds, columns)
                return self._columns(name, arrow, shape)
        return self._facts(known, arrow, names, where)

    def statics(self, static: Mapping[str, Any]) -> Iterator[Fact]:
        """What is known before the stream: for each predicate a table, or rows."""
        for name, rows in static.items():
            if is_table(rows):
                yield from self.static(name, rows)
                continue
            rows = list(rows)
            known = self.checker.predicates.get(self.checker.timeless(name))
            if known is not None and known.is_static and columns_alike(known, rows) is not None:
                yield from (Fact(known.name, tuple(row), None, None) for row in rows)
                continue
            for number, row in enumerate(rows, 1):
                yield self.checker.fact({"pred": name, "args": list(row)}, f"static {name}, row {number}")

    def static(self, name: str, table: Any) -> list[Fact]:
        """The facts of a table that hold at every time."""
        where = f"static {name}"
        known = self.checker.known(self.checker.timeless(name), where)
        if not known.is_static:
            raise FactError(f"{where}: `{name}` is not static: push its facts, with their times")
        arrow = as_arrow(table, where)
        check_header(known, arrow.column_names, where)
        return self._facts(known, arrow, column_names(known), where)

    def _facts(self, known: Predicate, arrow: Any, names: list[str], where: str) -> list[Fact]:
        header = [*names, *(column for column in when_names(known) if column in arrow.column_names)]
        columns = [cells_of(arrow.column(column), f"{where}: the column `{column}`") for column in header]
        rows = TableRows(known, header, self.checker, lambda row: f"{where}, row {row}")
        if not columns:
            return [rows.fact((), row + 1) for row in range(arrow.num_rows)]
        return [rows.fact(cells, row) for row, cells in enumerate(zip(*columns, strict=True), 1)]

    def _columns(self, name: str, arrow: Any, shape: _Shape) -> Columns:
        times = in_one_piece(arrow.column(shape.time))
        if times.null_count:
            raise FactError(f"table {name}: {times.null_count} rows have no time")
        moments = integers(times)
        if moments.dtype != np.int64:
            moments = moments.astype(np.int64)
        if len(moments) and moments.min() < 0:
            row = int(np.argmin(moments))
            where = f"table {name}, row {row + 1}"
            raise FactError(f"{where}: {moments[row]} lies before time 0, the start of the stream")
        found: list[ValueColumn] = []
        for index, (place, column, texts) in enumerate(shape.columns):
            array, where = in_one_piece(arrow.column(place)), f"table {name}: the column `{column}`"
            if texts:
                _check_texts(array, where)
                array = array.dictionary_decode() if pyarrow().types.is_dictionary(array.type) else array
            if array.null_count:
                raise FactError(f"{where} has {array.null_count} rows without a value")
            if texts:
                found.append(Texts(array))
                continue
            if pyarrow().types.is_integer(array.type):
                whole = integers(array)
                if whole.dtype != np.uint64 and takes_wholes(shape.known, index, whole):
                    found.append(Wholes(whole.astype(np.int64, copy=False)))
                    continue
            values, places = _encoded(array, where)
            values = [self.checker.value(each, shape.known, index, f"table {name}") for each in values]
            found.append(Coded(values, places))
        return Columns(name, found, moments)


def _encoded(array: Any, where: str) -> tuple[list[Value], Ints]:
    """Distinct values of a column, and their places."""
    encoded = array.dictionary_encode()
    return cells_of(encoded.dictionary, where), integers(encoded.indices).astype(np.int64)


def _check_texts(array: Any, where: str) -> None:
    try:
        array.validate(full=True)
    except pyarrow().ArrowInvalid:
        raise FactError(f"{where} has text that is not UTF-8") from None


def in_one_piece(column: Any) -> Any:
    """A column in one piece."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@cache
def _string() -> Any:
    return pyarrow().string()


def is_text(kind: Any) -> bool:
    pa = pyarrow()
    return kind is not None and bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_of_texts(kind: Any) -> bool:
    """Whether Arrow holds texts, or the places of texts among distinct ones."""
    return is_text(kind.value_type if pyarrow().types.is_dictionary(kind) else kind)


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
