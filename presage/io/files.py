"""Facts from files: JSON lines with any predicates, CSV and Parquet with one predicate each.

Whatever is wrong with a file ends in a message that names the file and, where there is one, the row.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from presage.errors import neighbour
from presage.io.facts import Checker, Fact, FactError, exact
from presage.io.monpoly import read_log
from presage.io.rdf import read_rdf
from presage.io.rows import TableRows, check_header, column_names, expected_columns, when_names
from presage.io.written import read_written
from presage.io.xes import read_xes
from presage.model.terms import Number

ROWS_AT_ONCE = 65_536


class Mapped(Protocol):
    """A file of foreign columns, with what says how its rows become facts."""

    @property
    def path(self) -> Path: ...
    def read(self, checker: Checker) -> Iterator[Fact]: ...


FactsFile = Path | Mapped


def read_facts(files: Iterable[FactsFile], checker: Checker) -> Iterator[Fact]:
    for file in files:
        path = file if isinstance(file, Path) else file.path
        reader = READERS.get(path.suffix.lower()) if isinstance(file, Path) else _read_mapped(file)
        if reader is None:
            kinds = ", ".join(sorted(READERS))
            raise FactError(f"{path}: there is no way to read facts from such a file ({kinds})")
        try:
            path.stat()  # a file that is not there is not asked what predicate its name means
            yield from reader(path, checker)
        except OSError as found:
            meant = neighbour(path) if isinstance(found, FileNotFoundError) else ""
            raise FactError(f"{path}: cannot be read ({found.strerror or found}){meant}") from None
        except UnicodeDecodeError:
            raise FactError(f"{path}:{_undecodable_line(path)}: the file is not UTF-8 text") from None


def _read_mapped(file: Mapped) -> Callable[[Path, Checker], Iterator[Fact]]:
    return lambda _, checker: file.read(checker)


def _undecodable_line(path: Path) -> int:
    """The first line that is not UTF-8: text is decoded in blocks, which say nothing of lines."""
    with path.open("rb") as lines:
        for index, line in enumerate(lines, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return index
    return 1


# JSON lines


def _read_jsonl(path: Path, checker: Checker) -> Iterator[Fact]:
    name = str(path)
    with path.open(encoding="utf-8-sig") as lines:
        for index, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{name}:{index}"
            fact = checker.fact_if_named(read_line(line, where), where)
            if fact is not None:
                yield fact


def read_line(line: str, where: str) -> Any:
    """What a line of JSON says, its numbers exact."""
    try:
        return _JSON.decode(line)
    except (json.JSONDecodeError, RecursionError) as found:
        raise FactError(f"{where}: this is not JSON ({found})") from None
    except ValueError as found:
        raise FactError(f"{where}: {found}") from None


def _decimal(text: str) -> Number:
    found = exact(text)
    if found is None:
        raise ValueError(f"{text} is more than a number can be")
    return found


def _no_number(text: str) -> Number:
    raise ValueError(f"{text} is not a number")


_JSON = json.JSONDecoder(parse_float=_decimal, parse_constant=_no_number)


# CSV


def _read_csv(path: Path, checker: Checker) -> Iterator[Fact]:
    if checker.passes_over(path.stem, 0):
        with path.open(encoding="utf-8-sig", newline="") as text:
            checker.passes_over(path.stem, max(0, sum(1 for cells in csv.reader(text) if cells) - 1))
        return
    known = checker.known(path.stem, f"{path}: the file's name names its predicate")
    with path.open(encoding="utf-8-sig", newline="") as text:
        lines = csv.reader(text, strict=True)
        try:
            header = next(lines, None)
            while header == []:
                header = next(lines, None)
            where = f"{path}:{max(1, lines.line_num)}"
            if header is None:
                expected = ",".join([*column_names(known), *when_names(known)[:1]])
                raise FactError(f"{where}: the file is empty; its first line names the columns: {expected}")
            _refuse_other_separators(header, where)
            expected_columns(known, header, where, checker)
            check_header(known, header, where)
            rows, width = TableRows(known, header, checker, lambda row: f"{path}:{row}", read_cell), len(header)
            for cells in lines:
                if len(cells) != width:
                    if not cells:
                        continue
                    raise FactError(f"{path}:{lines.line_num}: {len(cells)} cells, and the header has {width}")
                yield rows.fact(cells, lines.line_num)
        except csv.Error as found:
            raise FactError(f"{path}:{lines.line_num}: this is not CSV ({found})") from None


def _refuse_other_separators(header: list[str], where: str) -> None:
    if len(header) == 1:
        for sign, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
            if sign in header[0]:
                raise FactError(f"{where}: the columns are separated by {name}; separate them by commas")


def read_cell(kind: str, cell: str) -> Any:
    """What a cell of a CSV file stands for in a column of a type."""
    if kind in ("text", "time"):
        return cell
    if kind == "bool":
        return cell.lower()
    try:
        written = exact(cell)
    except ValueError as found:
        raise ValueError(f"{found}; declare it as text to keep it as it is") from None
    return cell if written is None else written


# Parquet


def _read_parquet(path: Path, checker: Checker) -> Iterator[Fact]:
    from presage.io.tables import cells_of, pyarrow

    passed_over = checker.passes_over(path.stem, 0)
    known = None if passed_over else checker.known(path.stem, f"{path}: the file's name names its predicate")
    pa = pyarrow()
    from pyarrow import parquet

    with path.open("rb") as raw:
        try:
            file = parquet.ParquetFile(raw)
            if known is None:
                checker.passes_over(path.stem, file.metadata.num_rows)
                return
            # pandas stores the index of a frame under such names.
            header = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
            header = expected_columns(known, header, str(path), checker)
            check_header(known, header, str(path))
            rows, before = TableRows(known, header, checker, lambda row: f"{path}:{row}"), 0
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=header):
                columns = [cells_of(batch.column(name), f"{path}: the column `{name}`") for name in header]
                for row, cells in enumerate(zip(*columns, strict=True), before + 1):
                    yield rows.fact(cells, row)
                before += len(batch)
        except (pa.ArrowException, OSError) as found:
            reason = str(found).splitlines()[0] if str(found) else type(found).__name__
            raise FactError(f"{path}: this is not a whole Parquet file ({reason})") from None


READERS: dict[str, Callable[[Path, Checker], Iterator[Fact]]] = {
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": _read_jsonl,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    **dict.fromkeys((".nt", ".ttl", ".nq", ".trig", ".jsonld"), read_rdf),
    ".txt": read_written,
    ".xes": read_xes,
    ".log": read_log,
}
