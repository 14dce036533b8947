"""Tables that are read anew each time they are worked out, as a stream does at each micro-batch.

Of a folder of files Spark keeps the list that it found first, and a table fetched by Python is a copy. Here a worker
reads, whenever Spark asks for the rows. Which columns there are, and of which types, is settled when the stream starts:
what Spark was told cannot change. So a table that no longer fits is told of, by its name, and does not become another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from presage.errors import PresageError, brief

_FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "json"}


def reread(spark: Any, path: str | Path) -> DataFrame:
    """A DataFrame of a Parquet, CSV or JSON lines file, or of a folder of Parquet files, that is read anew each time it
    is worked out. Spark's own keeps the list of files that it has found first."""
    where, kind = str(path), _FORMATS.get(Path(path).suffix, "parquet")
    files = where if "://" in where else str(Path(path).absolute())
    return anew(spark, where, lambda schema: read_files(files, kind, schema))


def anew(spark: Any, where: str, read: Callable[[Any], list[Any]], kinds: Any = None) -> DataFrame:
    """A DataFrame of what `read` gives, Arrow tables, each time it is worked out. `read` is told their schema; at first
    nothing, if it is not known: then the columns are what it finds now."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    if kinds is None:
        kinds = from_arrow_schema(_columns(_read(where, read, None)))
    schema = to_arrow_schema(kinds, timezone="UTC")

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for _ in batches:
            for table in _read(where, read, schema):
                yield from _fitted(table, schema, where).to_batches()

    rows: DataFrame = spark.range(0, 1, 1, 1).mapInArrow(run, kinds)
    return rows


def _read(where: str, read: Callable[[Any], list[Any]], schema: Any) -> list[Any]:
    try:
        return read(schema)
    except (OSError, pa.ArrowException) as found:
        raise PresageError(f"{where}: the table cannot be read ({brief(' '.join(str(found).split()))})") from None


def _columns(tables: list[Any]) -> Any:
    """The columns that tables have together; one without any value may get texts."""
    found = pa.unify_schemas([table.schema for table in tables])
    return pa.schema([(each.name, pa.string() if pa.types.is_null(each.type) else each.type) for each in found])


def _fitted(table: Any, schema: Any, where: str) -> Any:
    """A table with the columns of a schema, in its order and of its types."""
    columns = []
    for field in schema:
        if table.column_names.count(field.name) != 1:
            has = ", ".join(f"`{each}`" for each in table.column_names) or "none"
            raise PresageError(f"{where}: the column `{field.name}` is not there once; the columns are {has}")
        column = table.column(field.name)
        try:
            columns.append(column.cast(field.type))
        except pa.ArrowException:
            said = f"the column `{field.name}` has {column.type}, which cannot be read as {field.type}"
            raise PresageError(f"{where}: {said}") from None
    return pa.Table.from_arrays(columns, names=schema.names)


def read_files(path: str, kind: str, schema: Any) -> list[Any]:
    """A file, or all files of a folder but those that are hidden, as tables; a schema says the types of texts."""
    from pyarrow import csv, json, parquet

    found = []
    for system, each in _files(path):
        if kind == "parquet":
            with system.open_input_file(each) as file:
                found.append(parquet.ParquetFile(file).read())
            continue
        with system.open_input_stream(each, compression="detect") as file:
            data = file.read()
        if not data.strip():
            continue  # A file without a line has no rows.
        if kind == "csv":
            # As Spark reads it: where nothing stands there is no value, also of texts.
            cells = csv.ConvertOptions(null_values=[""], strings_can_be_null=True, column_types=schema)
            found.append(csv.read_csv(pa.BufferReader(data), convert_options=cells))
        else:
            if _NO_ROW.search(data):
                # Arrow's reader ends the process where a block of a file begins with it.
                raise pa.ArrowInvalid("a line is `null`, which is no row")
            others = "infer" if schema is None else "ignore"
            lines = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
            found.append(json.read_json(pa.BufferReader(data), parse_options=lines))
    if not found and schema is None:
        raise OSError("no file says which columns there are")
    return found


_NO_ROW = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t\r]*null", re.MULTILINE)


def _files(path: str) -> Iterator[tuple[Any, str]]:
    """The files that a path means, each with the file system that it is in."""
    from pyarrow import fs

    if "://" in path:
        system, inner = fs.FileSystem.from_uri(path)
        roots = [inner]
    else:
        system, roots = fs.LocalFileSystem(), sorted(glob(path))  # noqa: PTH207
    if not roots:
        raise OSError(f"there is no file or folder {path}")
    for info in system.get_file_info(roots):
        if info.type == fs.FileType.NotFound:
            raise OSError(f"there is no file or folder {info.path}")
        if info.type == fs.FileType.File:
            yield system, info.path
            continue
        inside = system.get_file_info(fs.FileSelector(info.path, recursive=True))
        for each in sorted(inside, key=lambda each: each.path):
            names = Path(each.path).relative_to(info.path).parts
            if each.type == fs.FileType.File and not any(name.startswith((".", "_")) for name in names):
                yield system, each.path
