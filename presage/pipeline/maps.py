"""`--map F.toml`: how the rows of a file of facts become facts, in the keys of a pipeline's `[sources.NAME]`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presage.analysis.predicates import Predicate
from presage.errors import ProgramError, Source, nearest
from presage.io.decimals import DECIMAL_SIGNS, plain
from presage.io.facts import Checker, Fact, FactError
from presage.io.files import read_line
from presage.io.rows import column_names
from presage.languages.files import read_file
from presage.pipeline import toml
from presage.pipeline.conditions import SIMPLE, condition_in
from presage.pipeline.keys import FILES
from presage.pipeline.mapping import WHEN, SourceMapping
from presage.pipeline.one_process import expressions_in
from presage.pipeline.reading import Part, Pipeline, Reader
from presage.pipeline.rows import csv_rows, parquet_rows
from presage.pipeline.secrets import masked
from presage.pipeline.time_formats import HINT, time_format

_FORMATS = {".csv": "csv", ".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json"}
_NUMBERS = ("int", "float", "any")
_NOT_HERE = ("path", "per_batch")
"""Keys of a source that say nothing of one file."""


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file of facts with its map."""

    path: Path
    map: Path

    def read(self, checker: Checker) -> Iterator[Fact]:
        for row, where in (mapped := _Map(self.map, self.path, checker)).rows():
            try:
                fact = mapped.fact(row, where)
            except FactError as found:
                if not mapped.skips:
                    raise
                if checker.unknown is not None:
                    checker.unknown.skipped.setdefault(str(self.path), []).append(str(found))
                continue
            if fact is not None:
                yield fact


class _Map:
    """A map that has been held against the program and the file."""

    def __init__(self, path: Path, file: Path, checker: Checker) -> None:
        self.file, self.checker = file, checker
        text = read_file(path, "a map (.toml)")
        self.pipeline = Pipeline(path, toml.read_document(text, Source.of(masked(text), str(path))))
        self.at, name, given = self._table()
        values = Reader(self.pipeline, os.environ).map_keys(self.at, given)
        format_ = values.setdefault("format", _FORMATS.get(file.suffix.lower(), ""))
        self.part = Part("sources", str(values.get("predicate", name)), values)
        if not format_:
            hint = f'say what it is: format = "{FILES[-1]}"'
            self._problem("C103", (), f"`{file}` does not say by its suffix what it is", hint)
        known = self._predicate()
        self._condition()
        self._time_format()
        self.separator, self.decimal = self._options()
        self.skips = self.part.text("bad_rows") == "skip"
        if known is not None:
            self._arguments(known)
        self._raise()
        assert known is not None
        self.known = known
        self.mapped = SourceMapping(self.part, known, checker)
        kinds = [each.type for each in known.columns]
        arguments = zip(self.mapped.arguments, kinds or ["any"] * known.arity, strict=True)
        self._numbers = [column for (_, column), kind in arguments if kind in _NUMBERS]

    def _table(self) -> tuple[toml.Path, str, dict[str, Any]]:
        """Where the keys stand: above all tables, or in one table of a source, which names the predicate."""
        values = self.pipeline.document.values
        sources = values.get("sources")
        if not isinstance(sources, dict) or not sources:
            return (), self.file.stem, values
        for name in (each for each in values if each != "sources"):
            hint = "keep what says how one file becomes facts: `[sources.NAME]`, or its keys alone"
            self._problem("C102", (name,), f"a map has one table, and no `{name}` beside it", hint)
        for name in list(sources)[1:]:
            hint = "give each a map of its own, and the file again behind it"
            self._problem("C102", ("sources", name), "a map is about the facts of one predicate", hint)
        name, given = next(iter(sources.items()))
        if not isinstance(given, dict):
            self._problem("C104", ("sources", name), f"`sources.{name}` is a table", f"write `[sources.{name}]`")
            given = {}
        return ("sources", name), name, {key: value for key, value in given.items() if key not in _NOT_HERE}

    def _problem(self, code: str, path: toml.Path, message: str, hint: str) -> None:
        self.pipeline.problem(code, path, message, hint)

    def _raise(self) -> None:
        if self.pipeline.problems:
            raise ProgramError(self.pipeline.document.source, self.pipeline.problems)

    def _predicate(self) -> Predicate | None:
        name, predicates = self.part.name, self.checker.predicates
        known = predicates.get(name)
        if known is not None and (known.is_input or known.is_static):
            return known
        path = (*self.at, "predicate") if "predicate" in self.part.values else self.at
        if known is not None:
            self._problem("C105", path, f"`{name}` is derived by rules", f"declare `input {name}(…).` to feed it too")
            return None
        inputs = [each.name for each in predicates.values() if each.is_input or each.is_static]
        near = nearest(name, inputs)
        hint = f"did you mean `{near}`?" if near else f'say which: predicate = "{next(iter(inputs), "…")}"'
        self._problem("C105", path, f"the program has no input `{name}`", hint)
        return None

    def _condition(self) -> None:
        for key, said in expressions_in(self.part):
            # Columns may be called anything, `Temp (°C)` too.
            if key != "where" and said not in self._column_names():
                hint = "name a column, or by its path a key inside of a JSON object, such as `machine.id`"
                self._problem("C109", (*self.at, *key.split(".")), f"`{said}` is an expression of SQL", hint)
        if "where" in self.part.values and condition_in(self.part.text("where")) is None:
            self._problem("C109", (*self.at, "where"), "a map knows simple conditions only", SIMPLE)

    def _column_names(self) -> frozenset[str]:
        """What the file's first row calls its columns; nothing where it has none, which is said when it is read."""
        row: Any
        try:
            match self.part.format:
                case "csv":
                    row = next(csv_rows(self.file, self.part.table("options").get("sep", ",")[:1] or ","), ({}, ""))[0]
                case "parquet":
                    row = next(parquet_rows(self.file) or iter(()), ({}, ""))[0]
                case _:
                    with self.file.open(encoding="utf-8-sig") as lines:
                        row = read_line(next(filter(str.strip, lines), "{}"), str(self.file))
        except (OSError, FactError, UnicodeDecodeError):
            return frozenset()
        return frozenset(name for name in row if isinstance(name, str)) if isinstance(row, dict) else frozenset()

    def _time_format(self) -> None:
        given = self.part.text("time_format")
        if given and time_format(given) is None:
            self._problem("C104", (*self.at, "time_format"), f"`{given}` is no way to write times", HINT)

    def _options(self) -> tuple[str, str]:
        """What stands between the cells of CSV, and before the decimals of its numbers, where that is said."""
        options = self.part.table("options")
        for name, value in options.items():
            if name not in ("sep", "header", "decimal") or (name == "header" and value != "true"):
                path, hint = (*self.at, "options", name), 'it has `sep = ";"` and `decimal = ","`'
                self._problem("C102", path, f"a map has no option `{name}` of this kind", hint)
        separator, decimal = options.get("sep", ","), options.get("decimal", "")
        if len(separator) != 1:
            self._problem("C104", (*self.at, "options", "sep"), "a separator is one character", 'such as `sep = ";"`')
        if "decimal" in options and decimal not in DECIMAL_SIGNS:
            hint = 'write `decimal = ","`; between thousands there may then be points'
            path = (*self.at, "options", "decimal")
            self._problem("C104", path, "before decimals stands a comma or a point", hint)
        return separator[:1], decimal

    def _arguments(self, known: Predicate) -> None:
        names, mapped = column_names(known), self.part.table("columns")
        for name in mapped:
            if name not in names:
                near = nearest(name, names)
                hint = f"did you mean `{near}`?" if near else f"it has {', '.join(names) or 'none'}"
                self.pipeline.problem_of_key(
                    "C105", (*self.at, "columns", name), f"`{known.name}` has no argument `{name}`", hint
                )
        if "time" in self.part.values and "from" in self.part.values:
            said = "facts have a `time`, or `from` and `to`"
            self.pipeline.problem_of_key("C109", (*self.at, "from"), said, "keep one of them")
        if known.is_static:
            for name in WHEN:
                if name in self.part.values:
                    said = f"`{known.name}` is static: its facts have no `{name}`"
                    self.pipeline.problem_of_key("C109", (*self.at, name), said, "leave it out")

    def rows(self) -> Iterator[tuple[Any, str]]:
        """The rows of the file, each with where it stands."""
        if self.part.format == "json":
            with self.file.open(encoding="utf-8-sig") as lines:
                for index, line in enumerate(lines, 1):
                    if line.strip():
                        yield line, f"{self.file}:{index}"
            return
        if self.part.format == "csv":
            rows: Iterator[tuple[Any, str]] | None = csv_rows(self.file, self.separator)
        else:
            with self.file.open("rb"):
                rows = parquet_rows(self.file)
        if rows is None:
            raise FactError(f"{self.file}: this is not a whole Parquet file")
        for place, (row, where) in enumerate(rows):
            if not place:
                self._header([name for name in row if name is not None])
            yield row, where

    def _header(self, header: list[str]) -> None:
        """Whether the columns that the map speaks of are there."""
        used = [((*self.at, "columns", name), column, f"`{name}`") for name, column in self.mapped.arguments]
        used += [((*self.at, name), column, f"the `{name}` of a fact") for name, column in self.mapped.when]
        for path, column, use in used:
            if column not in header and column.partition(".")[0] not in header:
                near = nearest(column, header)
                shown = ", ".join(f"`{each}`" for each in header)
                hint = f"is it `{near}`?" if near else f"the columns are {shown}"
                self._problem("C105", path, f"{self.file} has no column `{column}`, which is to be {use}", hint)
        self._raise()

    def fact(self, row: Any, where: str) -> Fact | None:
        """The fact that a row is; nothing where the map says to leave it out."""
        if isinstance(row, str):
            row = read_line(row, where)
        if self.decimal and isinstance(row, dict):
            row.update({column: plain(row[column], self.decimal) for column in self._numbers if row.get(column)})
        return self.mapped.fact(row, where)
