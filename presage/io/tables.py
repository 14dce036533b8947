"""Facts by the table: Arrow, pandas or Polars, columns named as declared.

Each distinct value of a column is checked once. Whole-number times stay columns all the way into the
engine; other times are made exact one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.analysis.predicates import Predicate
from presage.answers import Value
from presage.io.facts import Checker, Fact, FactError

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


def as_arrow(table: Any, where: str) -> Any:
    """An Arrow table from whatever table a user has."""
    try:
        import pyarrow as pa
    except ImportError:
        raise FactError("tables are read with pyarrow: pip install pyarrow") from None
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
    names = [column.name for column in known.columns] or [str(place + 1) for place in range(known.arity)]
    for needed in names:
        if needed not in arrow.column_names:
            raise FactError(f"{where}: the column `{needed}` is missing (it has {', '.join(arrow.column_names)})")
    if known.is_static:
        return [
            checker.fact({"pred": name, "args": list(row)}, f"{where}, row {index + 1}")
            for index, row in enumerate(_rows(arrow, names))
        ]
    if "time" in arrow.column_names and "from" not in arrow.column_names:
        import pyarrow as pa

        times = arrow.column("time")
        plain = len(known.inputs) <= 1 and "arrives" not in arrow.column_names
        if plain and pa.types.is_integer(times.type):
            return _columns(name, known, arrow, names, checker, where)
    return list(_one_by_one(name, arrow, names, checker, where))


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
        distinct = encoded.dictionary.to_pylist()
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


def _rows(arrow: Any, names: list[str]) -> Iterator[tuple[Any, ...]]:
    columns = [arrow.column(name).to_pylist() for name in names]
    return zip(*columns, strict=True) if columns else iter([()] * arrow.num_rows)


def _one_by_one(name: str, arrow: Any, names: list[str], checker: Checker, where: str) -> Iterator[Fact]:
    when = [column for column in ("time", "from", "to", "bounds", "arrives") if column in arrow.column_names]
    times = {column: arrow.column(column).to_pylist() for column in when}
    for index, row in enumerate(_rows(arrow, names)):
        entry: dict[str, Any] = {"pred": name, "args": list(row)}
        for column in when:
            if times[column][index] is not None:
                entry[column] = times[column][index]
        yield checker.fact(entry, f"{where}, row {index + 1}")
