"""DataFrames as a user has them: which column is which argument, and whether it can be.

Everything that a schema can tell is told before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from presage.analysis.predicates import Predicate
from presage.errors import PresageError, nearest
from presage.io.facts import Checker
from presage.io.rows import column_names
from presage.model.terms import Value
from presage.spark.facts import MIXED, mixed_cells, no_nulls
from presage.spark.job import FrameSource
from presage.spark.tables import OVER_TIME

PerPredicate = str | Mapping[str, str] | None

_NUMBERS = (T.NumericType,)
_TIMES = (T.NumericType, T.StringType, T.TimestampType, T.TimestampNTZType, T.DateType)
_FITTING: dict[str, tuple[type[T.DataType], ...]] = {
    "text": (T.StringType,),
    "int": _NUMBERS,
    "float": _NUMBERS,
    "bool": (T.BooleanType, T.StringType),
    "time": _TIMES,
    "any": (T.StringType, T.NumericType, T.BooleanType),
}


class Frames:
    """The DataFrames of a call, with what the caller says about their columns."""

    def __init__(
        self, checker: Checker, columns: Mapping[str, Mapping[str, str]], time: PerPredicate, arrives: PerPredicate
    ) -> None:
        self.checker, self.columns, self.time, self.arrives = checker, columns, time, arrives
        self.moments = False
        """Whether some time of a fact is a timestamp."""
        for argument, given in (("columns", columns), ("time", time), ("arrives", arrives)):
            for name in given if isinstance(given, Mapping) else ():
                checker.known(name, f"`{argument}`")

    def source(self, name: str, frame: DataFrame, key: list[str]) -> tuple[FrameSource, DataFrame]:
        """What a DataFrame gives to an input, and the DataFrame of just those columns in their order."""
        where = f"the DataFrame of `{name}`"
        known = self._known(name, frame, where)
        if known.is_static:
            raise PresageError(f"{where}: `{name}` is static: give it with `static`")
        chosen = self._arguments(known, frame, where)
        when = self._when(known, frame, where)
        names = column_names(known)
        source = FrameSource(name, len(chosen), tuple(when), tuple(names.index(column) for column in key))
        return source, _select(frame, [*chosen, *when.values()])

    def table(self, name: str, frame: DataFrame, key: list[str]) -> tuple[FrameSource, DataFrame]:
        """A table that changes: what it gives to an input, and the DataFrame of just its arguments."""
        where = f"the DataFrame of `{name}`"
        known = self._known(name, frame, where)
        if known.is_static or not known.is_input:
            raise PresageError(
                f"{where}: a table that changes is declared `input {name}(…).`, since it is not always so"
            )
        if frame.isStreaming:
            raise PresageError(f"{where}: this DataFrame streams: give it with the other facts")
        chosen, names = self._arguments(known, frame, where), column_names(known)
        source = FrameSource(name, len(chosen), OVER_TIME, tuple(names.index(column) for column in key))
        return source, _select(frame, chosen)

    def static(self, name: str, frame: DataFrame) -> DataFrame:
        """A static DataFrame of just its arguments, in their order."""
        where = f"the DataFrame of `{name}`"
        known = self._known(name, frame, where)
        if not known.is_static:
            raise PresageError(f"{where}: `{name}` is not static: declare `static {name}(…).`, or give it as a stream")
        if frame.isStreaming:
            raise PresageError(f"{where}: static facts are known before the stream: this DataFrame streams")
        return _select(frame, self._arguments(known, frame, where))

    def static_facts(self, name: str, frame: DataFrame) -> list[tuple[str, tuple[Value, ...]]]:
        """The facts of such a DataFrame; they go to every shard."""
        where, known = f"the DataFrame of `{name}`", self.checker.predicates[name]
        table = frame.toArrow()
        no_nulls(table.columns[: known.arity], FrameSource(name, known.arity, (), ()), known)
        columns = [mixed_cells(column, where) for column in table.columns[: known.arity]]
        rows = zip(*columns, strict=True) if columns else iter([()] * table.num_rows)
        return [
            (name, tuple(self.checker.value(cell, known, place, where) for place, cell in enumerate(row)))
            for row in rows
        ]

    def clock(self, frame: DataFrame) -> DataFrame:
        """The times of a DataFrame that has no facts."""
        where = "the DataFrame of the clock"
        named = self.time if isinstance(self.time, str) else "time"
        if not getattr(frame, "isStreaming", False):
            raise PresageError(f"{where}: give a streaming DataFrame")
        self._check(frame, named, _TIMES, where, "a time")
        self._check_units(frame, named, where)
        return _select(frame, [named])

    def _known(self, name: str, frame: Any, where: str) -> Predicate:
        if not hasattr(frame, "isStreaming") or not hasattr(frame, "mapInArrow"):
            raise PresageError(f"{where}: a {type(frame).__name__} is not a Spark DataFrame")
        return self.checker.known(name, where)

    def _arguments(self, known: Predicate, frame: DataFrame, where: str) -> list[str]:
        given = dict(self.columns.get(known.name, {}))
        names = column_names(known)
        for name in given:
            if name not in names:
                raise PresageError(
                    f"columns of `{known.name}`: it has no column `{name}` (it has {', '.join(names) or 'none'})"
                )
        chosen = [given.get(name, name) for name in names]
        if not known.columns and not given and not set(chosen) <= set(frame.columns):
            # An undeclared input has no names for its columns: they are taken in their order.
            others = {"from", "to", "bounds", *_named(self.time, known.name), *_named(self.arrives, known.name)}
            chosen = [each for each in frame.columns if each not in others]
            if len(chosen) != known.arity:
                raise PresageError(
                    f"{where}: `{known.name}` has {known.arity} arguments, and the DataFrame has {len(chosen)} columns "
                    "besides its time: declare it as an input, or name them with `columns`"
                )
        for place, (name, column) in enumerate(zip(names, chosen, strict=True)):
            kind = known.columns[place].type if place < len(known.columns) else "any"
            self._check(frame, column, _FITTING[kind], where, f"`{name}: {kind}` of `{known.name}`")
        return chosen

    def _when(self, known: Predicate, frame: DataFrame, where: str) -> dict[str, str]:
        """The columns that say when: for each of `time`, `from`, `to`, `bounds`, `arrives` its name here."""
        found: dict[str, str] = {}
        named = next(iter(_named(self.time, known.name)), "time")
        if named in frame.columns:
            found["time"] = named
        elif "from" in frame.columns and "from" not in column_names(known) and named == "time":
            found |= {name: name for name in ("from", "to", "bounds") if name in frame.columns}
        else:
            raise PresageError(f"{where}: the column `{named}` of its time is missing{_hint(named, frame)}")
        for arrives in _named(self.arrives, known.name):
            if arrives not in frame.columns:
                raise PresageError(f"{where}: the column `{arrives}` of its arrival is missing{_hint(arrives, frame)}")
            found["arrives"] = arrives
        for name, column in found.items():
            fitting = (T.StringType,) if name == "bounds" else _TIMES
            self._check(frame, column, fitting, where, f"the `{name}` of a fact")
            self._check_units(frame, column, where)
            if name != "bounds" and not isinstance(frame.schema[column].dataType, T.NumericType):
                # Texts may be timestamps too; where times have a length, they are.
                self.moments = self.checker.units.tick is not None
        return found

    def _check_units(self, frame: DataFrame, column: str, where: str) -> None:
        clock = (T.TimestampType, T.TimestampNTZType, T.DateType)
        if isinstance(frame.schema[column].dataType, clock) and self.checker.units.tick is None:
            raise PresageError(
                f"{where}: the column `{column}` has timestamps; the program needs a `tick`, such as `tick 1s.`"
            )

    def _check(self, frame: DataFrame, column: str, fitting: tuple[Any, ...], where: str, use: str) -> None:
        if column not in frame.columns:
            raise PresageError(f"{where}: the column `{column}` is missing{_hint(column, frame)}")
        if frame.columns.count(column) > 1:
            raise PresageError(f"{where}: the column `{column}` is there twice")
        kind = frame.schema[column].dataType
        if fitting == _FITTING["any"] and is_mixed(kind):
            return
        if not isinstance(kind, fitting):
            raise PresageError(f"{where}: the column `{column}` is {kind.simpleString()}, which cannot be {use}")


def is_mixed(kind: T.DataType) -> bool:
    """Whether a column has texts and numbers: a struct of both, of which each row has one."""
    return (
        isinstance(kind, T.StructType)
        and tuple(kind.names) == MIXED
        and isinstance(kind["text"].dataType, T.StringType)
        and isinstance(kind["number"].dataType, T.NumericType)
    )


def _named(given: PerPredicate, name: str) -> list[str]:
    if given is None or isinstance(given, str):
        return [given] if given else []
    return [given[name]] if name in given else []


def _hint(column: str, frame: DataFrame) -> str:
    near = nearest(column, frame.columns)
    return f"; is it `{near}`?" if near else f" (it has {', '.join(frame.columns) or 'none'})"


def _select(frame: DataFrame, columns: list[str]) -> DataFrame:
    """The columns in their order, named by it: one column may be an argument and the time. Rows without any column
    would be lost on their way to Python, so what has no arguments gets one that nobody reads."""
    if not columns:
        return frame.select(F.lit(True).alias("c0"))
    return frame.select(*(F.col(f"`{column}`").alias(f"c{place}") for place, column in enumerate(columns)))
