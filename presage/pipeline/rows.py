"""The rows of foreign files, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from presage.io.facts import FactError
from presage.pipeline.reading import Part

ROWS_AT_ONCE = 10_000


def csv_rows(path: Path, separator: str = ",") -> Iterator[tuple[Any, str]]:
    import csv

    with path.open(encoding="utf-8-sig", newline="") as text:
        try:
            lines = csv.DictReader(text, delimiter=separator, strict=True)
            for row in lines:
                yield row, f"{path}:{lines.line_num}"
        except csv.Error as found:
            raise FactError(f"{path}: this is not CSV ({found})") from None
        except UnicodeDecodeError:
            raise FactError(f"{path}: the file is not UTF-8 text") from None


def rows_of(path: Path, part: Part) -> Iterator[tuple[Any, str]] | None:
    """The rows of a file as a pipeline says it is; nothing where it is not whole."""
    if part.format == "csv":
        options = part.table("options")
        return csv_rows(path, options.get("sep") or options.get("delimiter") or ",")
    return parquet_rows(path)


def parquet_rows(path: Path) -> Iterator[tuple[Any, str]] | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError):
        return None

    def rows() -> Iterator[tuple[Any, str]]:
        from presage.io.tables import cells_of

        at = 0
        with file:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                columns = [cells_of(column, str(path)) for column in batch.columns]
                for cells in zip(*columns, strict=True):
                    at += 1
                    yield dict(zip(batch.schema.names, cells, strict=True)), f"{path}:{at}"

    return rows()
