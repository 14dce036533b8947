"""Files as columns: facts that are alike are never objects between the file and the engine.

Each distinct cell of a column is read and checked once, by the very code that reads rows one by one. What is in any way
unusual is left to that code: a fact over an interval, a time that is no whole number, and everything wrong. So a
message says what it always said, and this module says nothing.
"""

from __future__ import annotations

import copy
import csv as plain_csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from presage.io.arriving import ArrivingColumns, GatheredFacts
from presage.io.distinct import ColumnCells, FileContents, Unusual
from presage.io.facts import Checker, Fact, FactError
from presage.io.files import ROWS_AT_ONCE, FactsFile, read_cell, read_facts
from presage.io.json_columns import read_json_columns
from presage.io.rows import TableRows, check_header, expected_columns
from presage.io.tables import pyarrow
from presage.kernels.arrays import Ints

SMALL = 1 << 14
"""Files of fewer bytes are read row by row: to ask Arrow would take longer."""


def gather(files: Iterable[FactsFile], checker: Checker, by_columns: bool = True) -> tuple[GatheredFacts, list[Fact]]:
    """The facts of files: those of the stream, and the static ones."""
    arriving: list[ArrivingColumns] = []
    streamed: list[Fact] = []
    known: list[Fact] = []
    for file in files:
        found = _by_columns(file, checker) if by_columns else None
        if found is not None:
            arriving += found[0]
        for fact in read_facts([file], checker) if found is None else found[1]:
            (known if fact.low is None else streamed).append(fact)
    return GatheredFacts(arriving, streamed), known


def _by_columns(file: FactsFile, checker: Checker) -> tuple[list[ArrivingColumns], list[Fact]] | None:
    """A file by the column, with the facts that are not; nothing where it must be read row by row."""
    reader = READERS.get(file.suffix.lower()) if isinstance(file, Path) else None
    if reader is None or not isinstance(file, Path):
        return None
    times, unknown = checker.times, copy.deepcopy(checker.unknown)
    try:
        if file.stat().st_size >= SMALL:
            found = reader(file, checker)
            found.note_times(times)
            return found.arriving(), found.others
    except (FactError, OSError, ValueError, KeyError, TypeError, ImportError, pyarrow().ArrowException):
        pass  # It is read again row by row, which says what is wrong and where.
    checker.times, checker.unknown = times, unknown
    return None


def _argument_cells(rows: TableRows, arity: int) -> list[ColumnCells]:
    return [ColumnCells(lambda cell, place=place: rows.value(cell, place, 0)) for place in range(arity)]  # type: ignore[misc]


def _rows_of(path: Path, header: list[str], checker: Checker, read: Any = None) -> TableRows:
    known = checker.known(path.stem, "")
    if known.is_static:
        raise Unusual("facts without times")
    kept = expected_columns(known, header, "", checker)
    check_header(known, kept, "")
    rows = TableRows(known, header, checker, str, read)
    said = {name for name, _ in rows.when}
    if not {"time"} <= said <= {"time", "arrives"}:
        raise Unusual("facts over intervals")
    return rows


# Parquet


def _read_parquet(path: Path, checker: Checker) -> FileContents:
    from pyarrow import parquet

    found = FileContents(checker)
    if checker.passes_over(path.stem, 0):
        raise Unusual("facts that are passed over")
    with path.open("rb") as raw, _lean_memory():
        plain = parquet.ParquetFile(raw)
        texts = [field.name for field in plain.schema_arrow if pyarrow().types.is_string(field.type)]
        header = [name for name in plain.schema_arrow.names if not name.startswith("__index_level_")]
        rows = _rows_of(path, header, checker)
        cells, times, arrivals = found.table(path.stem, lambda: _argument_cells(rows, len(rows.names)))
        when = [name for name, _ in rows.when]
        # Few texts that come again and again are numbers in the file already. Read ahead, and by several threads, they
        # would take several times the memory of the columns that come of it.
        file = parquet.ParquetFile(raw, read_dictionary=texts, pre_buffer=False)
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=[*rows.names, *when], use_threads=False):
            for name, column in zip(rows.names, cells, strict=True):
                column.add(batch.column(name))
            times.append(found.times.times(batch.column("time")))
            if "arrives" in when:
                arrivals.append(_arrivals(found, batch.column("arrives"), times[-1]))
    return found


@contextmanager
def _lean_memory() -> Iterator[None]:
    """Arrow takes memory from the system, and gives it back: its own pool keeps more than the columns need."""
    pa = pyarrow()
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def _arrivals(found: FileContents, column: Any, times: Ints) -> Ints:
    """When facts arrive: where nothing is said, at their times."""
    if not column.null_count:
        return found.times.times(column)
    said = column.is_valid().to_numpy(zero_copy_only=False)
    arrivals = times.copy()
    arrivals[said] = found.times.times(column.drop_null())
    return arrivals


# CSV


def _read_csv(path: Path, checker: Checker) -> FileContents:
    from pyarrow import csv

    pa = pyarrow()
    data = path.read_bytes()
    if not _are_plain_quotes(data) or b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        raise Unusual("signs for which each reader of CSV has rules of its own")
    if checker.passes_over(path.stem, 0):
        raise Unusual("facts that are passed over")
    first = data.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8-sig")
    if not first:
        raise Unusual("a line without cells before the header")
    header = next(plain_csv.reader([first], strict=True))
    rows = _rows_of(path, header, checker, read_cell)
    found = FileContents(checker)
    cells, times, arrivals = found.table(path.stem, lambda: _argument_cells(rows, len(rows.names)))
    when = [name for name, _ in rows.when]
    parsing = csv.ParseOptions(double_quote=False, newlines_in_values=b'"' in data)
    kinds = csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.dictionary(pa.int32(), pa.string())),
        strings_can_be_null=False,
        include_columns=[*rows.names, *when],
    )
    reading = csv.ReadOptions(use_threads=False, block_size=1 << 22)
    for batch in csv.open_csv(pa.BufferReader(data), reading, parsing, kinds):
        for name, column in zip(rows.names, cells, strict=True):
            column.add(batch.column(name))
        times.append(found.times.times(batch.column("time")))
        if "arrives" in when:
            arrivals.append(_texts_of_arrivals(found, batch.column("arrives"), times[-1]))
    return found


def _are_plain_quotes(data: bytes) -> bool:
    """Whether each quote begins a cell or ends one."""
    if b'"' not in data:
        return True
    opening = data.count(b',"') + data.count(b'\n"') + data.startswith((b'"', b'\xef\xbb\xbf"'))
    closing = data.count(b'",') + data.count(b'"\n') + data.count(b'"\r\n') + data.endswith(b'"')
    return opening == closing and opening + closing == data.count(b'"')


def _texts_of_arrivals(found: FileContents, column: Any, times: Ints) -> Ints:
    """The same for text, where an empty cell says nothing."""
    import pyarrow.compute as pc

    texts = column.dictionary_decode()
    return _arrivals(found, pc.if_else(pc.equal(texts, ""), None, texts), times)


READERS: dict[str, Callable[[Path, Checker], FileContents]] = {
    ".jsonl": read_json_columns,
    ".ndjson": read_json_columns,
    ".json": read_json_columns,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
