"""Rows of foreign columns become facts, as a pipeline file says: which column is which argument, which says when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presage.analysis.predicates import Predicate
from presage.io.facts import Checker, Fact, FactError
from presage.io.files import read_cell
from presage.io.rows import column_names
from presage.pipeline.conditions import condition_in, value_at
from presage.pipeline.reading import Part
from presage.pipeline.time_formats import time_format

WHEN = ("time", "from", "to", "bounds", "arrives")
_WHOLE = ("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long")
_REAL = ("float", "real", "double", "decimal", "dec", "numeric")


class SourceMapping:
    """Makes facts of the rows of one source."""

    def __init__(self, part: Part, known: Predicate, checker: Checker) -> None:
        self.known, self.checker = known, checker
        written, condition = part.text("time_format"), part.text("where")
        self.time_of = time_format(written) if written else None
        """What reads times that are written in a way of their own."""
        self.condition = condition_in(condition) if condition else None
        mapped = part.table("columns")
        self.arguments = [(name, mapped.get(name, name)) for name in column_names(known)]
        said = {name: part.text(name, name) for name in WHEN if name in part.values}
        if "from" not in said and not known.is_static:
            said.setdefault("time", "time")
        self.when = list(said.items())
        self.schema = {name: kind.lower().split("(")[0].strip() for name, kind in part.table("schema").items()}
        self.cells = part.format == "csv"

    def fact(self, row: Any, where: str) -> Fact | None:
        """The fact that a row is; nothing where it is to be left out."""
        if not isinstance(row, Mapping):
            raise FactError(
                f"{where}: a row is an object with the columns {', '.join(name for _, name in self.arguments)}"
            )
        if None in row:
            raise FactError(f"{where}: there are more cells than the header has")
        if self.condition is not None and not self.condition(row):
            return None
        values = []
        for place, (name, column) in enumerate(self.arguments):
            kind = self.known.columns[place].type if place < len(self.known.columns) else "any"
            cell = self._cell(row, column, kind, where)
            if cell is None:
                raise FactError(f"{where}: the column `{column}` has no value, which is to be `{name}`")
            values.append(self.checker.value(cell, self.known, place, where))
        said = {}
        for name, column in self.when:
            cell = self._cell(row, column, "text" if name == "bounds" else "time", where)
            if cell is not None:
                said[name] = cell if self.time_of is None or name == "bounds" else self.time_of(cell, where)
            elif name in ("time", "from"):
                raise FactError(f"{where}: the column `{column}` has no value, which is to be the `{name}`")
        return Fact(self.known.name, tuple(values), *self.checker.when(said, self.known, where))

    def _cell(self, row: Mapping[str, Any], column: str, kind: str, where: str) -> Any:
        """The value of a column, of the type that the schema says; nothing where it is empty."""
        given = value_at(row, column)
        if given is None or (self.cells and given == ""):
            return None
        declared = self.schema.get(column)
        if not self.cells:
            if declared == "string" and not isinstance(given, str):
                return str(given).lower() if isinstance(given, bool) else str(given)
            return given
        try:
            if declared in _WHOLE or declared in _REAL:
                return read_cell("float", given)
            return read_cell("text" if declared == "string" else kind, given)
        except ValueError as found:
            raise FactError(f"{where}: the column `{column}` has {found}") from None
