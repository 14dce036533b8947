"""Answers to a file or to standard output: JSON lines as they come, Parquet in row groups, RDF.

A file is in place only when it is complete: it is written beside its name and renamed at the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Protocol

from presage.answers import Answer, Answers
from presage.answers.schema import answer_schema, fit_line
from presage.errors import PresageError
from presage.io.moments import Moments
from presage.io.rdf_output import SUFFIXES, writer_of

ROWS_IN_A_GROUP = 16_384


class Output(Protocol):
    def write(self, answer: Answer) -> None:
        """Adds an answer."""

    def write_all(self, answers: Sequence[Answer]) -> None:
        """Adds answers: by the column, where they were found so."""

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
        yield _Shown(JsonLines(sys.stdout), shown)
        return
    check_suffix(path)
    beside = path.with_name(path.name + ".tmp")
    try:
        moments = path.suffix.lower() == ".parquet" and shown is not None and shown() is not None
        with WRITERS[path.suffix.lower()](beside, whole_times, more, moments) as out:
            yield _Shown(out, shown)
        beside.replace(path)
    except OSError as found:
        raise PresageError(f"{path}: cannot be written ({found.strerror or found})") from None
    finally:
        with suppress(OSError):
            beside.unlink()


class _Shown:
    """An output whose lines have moments in place of numbers, where the first line is to have them."""

    def __init__(self, out: LineFile, shown: Callable[[], Moments | None] | None) -> None:
        self.out, self.shown, self.is_known = out, shown or (lambda: None), False
        self.moments: Moments | None = None

    def write(self, answer: Answer) -> None:
        self.write_line(answer.to_json())

    def write_all(self, answers: Sequence[Answer]) -> None:
        if not len(answers):
            return
        self._look()
        if not self.out.write_columns(answers, self.moments):
            for answer in answers:
                self.write_line(answer.to_json())

    def write_line(self, line: dict[str, Any]) -> None:
        self._look()
        self.out.write_line(line if self.moments is None else self.moments.line(line))

    def _look(self) -> None:
        if not self.is_known:
            self.moments, self.is_known = self.shown(), True


class LineFile(Protocol):
    """A file of lines."""

    def write_line(self, line: dict[str, Any]) -> None:
        """Adds a line."""

    def write_columns(self, answers: Sequence[Answer], moments: Moments | None) -> bool:
        """Adds answers by the column, if they were found so and can be shown so; gives whether it did."""


class JsonLines:
    def __init__(self, text: IO[str]) -> None:
        self.text = text

    def write_columns(self, answers: Sequence[Answer], moments: Moments | None) -> bool:
        raw = getattr(self.text, "buffer", None)
        in_utf8 = str(getattr(self.text, "encoding", "")).lower() in ("utf-8", "utf8")
        if raw is None or not in_utf8 or not isinstance(answers, Answers) or answers.columns is None:
            return False
        data = answers.columns.json_lines(moments)
        if data is None:
            return False
        self.text.flush()
        raw.write(memoryview(data))
        if self.text.line_buffering:  # type: ignore[attr-defined]
            raw.flush()  # somebody may be reading along
        return True

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

    def write_columns(self, answers: Sequence[Answer], moments: Moments | None) -> bool:
        if moments is not None or not isinstance(answers, Answers) or answers.columns is None:
            return False
        table = answers.table
        if table.schema.names != self.schema.names[: len(table.schema.names)]:
            return False
        self.flush()
        import pyarrow as pa

        # The fields of the program's language are missing.
        missing = [pa.nulls(len(table), field.type) for field in self.schema][len(table.schema.names) :]
        whole = pa.Table.from_arrays([*table.columns, *missing], schema=self.schema)
        self.file.write_table(whole, row_group_size=ROWS_IN_A_GROUP)
        return True

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
