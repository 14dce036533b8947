"""Answers to a file or to standard output: JSON lines as they come, Parquet in row groups, RDF.

A file is in place only when it is complete: it is written beside its name and renamed at the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Protocol

from presage.answers import Answer
from presage.errors import PresageError
from presage.io.moments import Moments
from presage.io.rdf_output import SUFFIXES, writer_of

ROWS_IN_A_GROUP = 16_384


class Output(Protocol):
    def write(self, answer: Answer) -> None:
        """Adds an answer."""

    def write_line(self, line: dict[str, Any]) -> None:
        """Adds what is not an `Answer` but has the form of its line."""


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in WRITERS:
        raise PresageError(f"{path}: answers are written as {' or '.join(WRITERS)}, not as `{path.suffix}`")


@contextmanager
def open_output(
    path: Path | None,
    whole_times: bool = False,
    more: tuple[str, ...] = (),
    shown: Callable[[], Moments | None] | None = None,
) -> Iterator[Output]:
    """Standard output, or a file of the kind its suffix names. `whole_times`: all times are whole numbers, as
    those of the discrete timeline are; Parquet then has numbers in its columns of time, and exact text otherwise.
    `more` are further fields that the lines of the program's language have. `shown` says how times are shown, once
    there is something to show: as numbers, or as the moments that they are, which Parquet has as timestamps in UTC."""
    if path is None:
        yield _with_moments(JsonLines(sys.stdout), shown)
        return
    check_suffix(path)
    beside = path.with_name(path.name + ".tmp")
    try:
        moments = path.suffix.lower() == ".parquet" and shown is not None and shown() is not None
        with WRITERS[path.suffix.lower()](beside, whole_times, more, moments) as out:
            yield _with_moments(out, shown)
        beside.replace(path)
    except OSError as found:
        raise PresageError(f"{path}: cannot be written ({found.strerror or found})") from None
    finally:
        with suppress(OSError):
            beside.unlink()


class _Shown:
    """An output whose lines have moments in place of numbers, where the first line is to have them."""

    def __init__(self, out: Output, shown: Callable[[], Moments | None]) -> None:
        self.out, self.shown, self.is_known = out, shown, False
        self.moments: Moments | None = None

    def write(self, answer: Answer) -> None:
        self.write_line(answer.to_json())

    def write_line(self, line: dict[str, Any]) -> None:
        if not self.is_known:
            self.moments, self.is_known = self.shown(), True
        self.out.write_line(line if self.moments is None else self.moments.line(line))


def _with_moments(out: Output, shown: Callable[[], Moments | None] | None) -> Output:
    return out if shown is None else _Shown(out, shown)


class JsonLines:
    def __init__(self, text: IO[str]) -> None:
        self.text = text

    def write(self, answer: Answer) -> None:
        self.write_line(answer.to_json())

    def write_line(self, line: dict[str, Any]) -> None:
        self.text.write(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def _json_lines(path: Path, whole_times: bool, more: tuple[str, ...], moments: bool) -> Iterator[JsonLines]:
    with path.open("w", encoding="utf-8") as text:
        yield JsonLines(text)


class ParquetRows:
    """Answer lines as typed rows. Few are held at a time: a full group goes to the file."""

    def __init__(self, file: Any, schema: Any) -> None:
        self.file, self.schema = file, schema
        self.lines: list[dict[str, Any]] = []

    def write(self, answer: Answer) -> None:
        self.write_line(answer.to_json())

    def write_line(self, line: dict[str, Any]) -> None:
        unknown = [name for name in line if name not in self.schema.names]
        if unknown:
            raise PresageError(f"only answer lines are written as Parquet, not lines with `{unknown[0]}`: use .jsonl")
        self.lines.append(line)
        if len(self.lines) >= ROWS_IN_A_GROUP:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        if not self.lines:
            return
        rows = [fit_line(line, self.schema) for line in self.lines]
        columns = [pa.array([row[field.name] for row in rows], field.type) for field in self.schema]
        self.file.write_table(pa.Table.from_arrays(columns, schema=self.schema), row_group_size=ROWS_IN_A_GROUP)
        self.lines.clear()


def fit_line(line: dict[str, Any], schema: Any) -> dict[str, Any]:
    """An answer line as a row of typed columns."""
    return {field.name: _fit(line.get(field.name), field.name, field.type) for field in schema}


def _fit(value: Any, name: str, kind: Any) -> Any:
    """A field of an answer line as its column has it."""
    import pyarrow as pa

    if name == "bindings":
        return None if value is None else [(variable, str(bound)) for variable, bound in value.items()]
    if name == "ways":
        of_way = kind.value_type
        return [
            {field.name: _fit(way.get(field.name), field.name, field.type) for field in of_way} for way in value or ()
        ]
    if pa.types.is_list(kind):
        return value or []
    if pa.types.is_timestamp(kind) and value is not None:
        return datetime.fromisoformat(value)
    return str(value) if value is not None and pa.types.is_string(kind) else value


def answer_schema(whole_times: bool, moments: bool = False) -> Any:
    """The columns of a Parquet file of answers: the fields of an answer line. Moments between the ticks of dense time
    may be finer than any type of timestamp, and are text."""
    import pyarrow as pa

    def some(kind: Any) -> Any:
        # Readers need not look for missing ones: there are none.
        return pa.list_(pa.field("item", kind, nullable=False))

    texts = some(pa.string())
    time = pa.string() if not whole_times else pa.timestamp("us", "UTC") if moments else pa.int64()
    way = [
        ("because", texts),
        ("needs", texts),
        ("unless", texts),
        ("decided_by", time),
        ("confidence", pa.float64()),
    ]
    return pa.schema(
        [
            ("now", time),
            ("status", pa.string()),
            ("answer", pa.string()),
            ("key", pa.string()),
            ("bindings", pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False))),
            ("time", time),
            ("from", time),
            ("to", time),
            ("bounds", pa.string()),
            *way,
            ("ways", some(pa.struct(way))),
            ("ways_left_out", pa.int64()),
        ]
    )


@contextmanager
def _parquet_rows(path: Path, whole_times: bool, more: tuple[str, ...], moments: bool) -> Iterator[ParquetRows]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise PresageError("Parquet is written with pyarrow: pip install pyarrow") from None
    schema = answer_schema(whole_times, moments)
    for name in more:
        schema = schema.append(pa.field(name, pa.string()))
    with path.open("wb") as raw, parquet.ParquetWriter(raw, schema) as file:
        rows = ParquetRows(file, schema)
        yield rows
        rows.flush()


WRITERS: dict[str, Callable[[Path, bool, tuple[str, ...], bool], Any]] = {
    ".jsonl": _json_lines,
    ".parquet": _parquet_rows,
    **{suffix: writer_of(suffix) for suffix in SUFFIXES},
}
