"""Rows of answers with moments in place of numbers, where the facts of a run come with timestamps.

Reasoners count ticks; what leaves them is turned here, as the last thing before Spark gets it: columns of times become
timestamps, and the texts of facts and answers are written by the calendar. Texts end in their time, and few times are
told of often, so that each is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from presage.answers.schema import answer_schema, fit_line
from presage.io.moments import Moments, zone_called
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.rewrite.units import EPOCH, milliseconds_between
from presage.spark.job import Job
from presage.spark.rows import late_fields, row_schema

_TIMES = ("now", "time", "from", "to", "decided_by")


def told_schema(job: Job) -> Any:
    """The columns of what a run gives."""
    numbers = row_schema(job)
    if job.zone is None:
        return numbers
    kinds = {field.name: field.type for field in answer_schema(job.discrete, moments=True)}
    if "late" in numbers.names:
        kinds["late"] = pa.struct(late_fields(job.discrete, moments=True))
    return pa.schema([pa.field(field.name, kinds.get(field.name, field.type)) for field in numbers])


def told(job: Job, tables: Iterable[Any]) -> Iterator[Any]:
    """Tables of what reasoners give as the run gives them."""
    if job.zone is None:
        yield from tables
        return
    calendar = _calendar(job)
    for table in tables:
        yield calendar.table(table)


def clock_row(job: Job, clock: Number) -> Any:
    """A row that says how far the clock is, and has neither an answer nor a late fact."""
    schema = told_schema(job)
    now: Any = int(clock) if job.discrete else show_number(clock)
    if job.zone is not None:
        calendar = _calendar(job)
        now = calendar.moments.moment(clock)
        now = datetime.fromisoformat(now) if job.discrete else now
    columns = [pa.array([now], field.type) if field.name == "now" else pa.nulls(1, field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


@lru_cache(maxsize=16)
def _calendar(job: Job) -> Calendar:
    return Calendar(job)


class Calendar:
    """The moments of a job's times."""

    def __init__(self, job: Job) -> None:
        findings = job.report.findings
        assert findings is not None and job.zone is not None
        self.units, self.schema, self.discrete = job.checker.units, told_schema(job), job.discrete
        self.moments = Moments(findings.watched, self.units, zone_called(job.zone))
        self._when = lru_cache(maxsize=100_000)(lambda time, zone: self.moments.text(f"@{time}", zone))

    def table(self, rows: Any) -> Any:
        if self._is_plain(rows):
            columns = [self._column(rows.column(field.name).combine_chunks(), field) for field in self.schema]
            return pa.Table.from_arrays(columns, schema=self.schema)
        lines = [self._line(row) for row in rows.to_pylist()]
        return pa.Table.from_arrays(
            [pa.array([line[field.name] for line in lines], field.type) for field in self.schema], schema=self.schema
        )

    def _is_plain(self, rows: Any) -> bool:
        """Whether texts are times behind their `@` and nothing else."""
        if self.moments.places or not self.discrete or any(self.moments.bound.values()):
            return False
        if "late" in rows.column_names and rows.column("late").null_count != rows.num_rows:
            return False
        return not any(
            pc.any(pc.greater(pc.list_value_length(rows.column(name)), 0)).as_py() for name in ("unless", "ways")
        )

    def _column(self, column: Any, field: Any) -> Any:
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        if field.name in _TIMES:
            return self._moments(column)
        if field.name in ("answer", "key"):
            return self._texts(column, UTC if field.name == "key" else None)
        if field.name in ("because", "needs"):
            values = self._texts(column.flatten(), None)
            lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
            lists = pa.ListArray.from_arrays(
                pa.array(offsets), values, mask=column.is_null() if column.null_count else None
            )
            return lists.cast(field.type)
        return column if column.type == field.type else pa.array(column.to_pylist(), field.type)

    def _moments(self, ticks: Any) -> Any:
        assert self.units.tick is not None
        tick = self.units.tick * 1000
        begin = int(milliseconds_between(EPOCH, self.units.start) * 1000)
        if tick.denominator == 1:
            since = pc.add_checked(pc.multiply_checked(ticks, int(tick)), begin)
        else:
            counted = [None if each is None else begin + int(each * tick) for each in ticks.to_pylist()]
            since = pa.array(counted, pa.int64())
        return since.cast(pa.timestamp("us", "UTC"))

    def _texts(self, texts: Any, zone: tzinfo | None) -> Any:
        found: list[str | None] = []
        for text in texts.to_pylist():
            if text is None:
                found.append(None)
                continue
            head, at, time = text.rpartition("@")
            if not at or '"' in time:
                found.append(self.moments.text(text, zone))
            else:
                found.append(head + self._when(time, zone))
        return pa.array(found, pa.string())

    def _line(self, row: dict[str, Any]) -> dict[str, Any]:
        late = row.pop("late", None)
        found: dict[str, Any] = dict.fromkeys(self.schema.names)
        if row["status"] is not None:
            line = row | {"bindings": dict(row["bindings"] or ())}
            shown = self.moments.line(
                {name: value for name, value in line.items() if value is not None or name == "to"}
            )
            found |= fit_line(shown, self.schema)
        if late is not None:
            said = self.moments.line(late)
            found["late"] = fit_line(said, pa.schema(list(self.schema.field("late").type)))
        return found
