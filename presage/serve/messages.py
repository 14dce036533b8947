"""Messages of facts: JSON lines, as `presage run` reads them, checked before they are logged.

Most messages are alike: texts at whole-number times, or at timestamps. Arrow reads those by the column; what it does
not take as it is meant is read line by line, which says what is wrong and where.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from presage.errors import brief
from presage.io.facts import ISO, TICKS, Checker, Fact, FactError
from presage.io.files import read_line
from presage.io.tables import Columns, Texts, pyarrow
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.rewrite.units import EPOCH, milliseconds_between
from presage.run.arrivals import can_be_counted

_TEXT_KINDS = {"any", "text"}
FEW = 8
"""Lines up to which reading them one by one is quicker than asking Arrow."""


@dataclass(slots=True)
class Message:
    """The facts of a message, and the latest time that it says to be complete."""

    tables: list[Columns] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    complete: Number | None = None

    def __len__(self) -> int:
        return len(self.facts) + sum(map(len, self.tables))

    @property
    def latest(self) -> Number | None:
        """The latest time that it speaks of."""
        found = [fact.arrival for fact in self.facts] + [int(table.times.max()) for table in self.tables if len(table)]
        if self.complete is not None:
            found.append(self.complete)
        return max(found, default=None)


class MessageReader:
    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        # Predicates whose facts may be taken by the column.
        self.plain = {
            name: known
            for name, known in checker.predicates.items()
            if known.is_input and not known.is_static and all(column.type in _TEXT_KINDS for column in known.columns)
        }
        self._schemas: dict[str, Any] = {}

    def again(self, data: bytes) -> Message:
        """A message of the log: how it says its times was found right when it came."""
        kept, self.checker.times = self.checker.times, None
        try:
            return self.read(data)
        finally:
            self.checker.times = kept

    def read(self, data: bytes, where: str = "line") -> Message:
        """A message, or a `FactError` that names the line."""
        # Arrow's reader ends the process where the first value is `null`: it sees only what begins as facts do.
        if data.startswith(b"{") and data.count(b"\n") > FEW:
            found = self._by_columns(data)
            if found is not None:
                return found
        return self._by_lines(data, where)

    def _by_lines(self, data: bytes, where: str) -> Message:
        found = Message()
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            place = f"{where} {number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise FactError(f"{place}: this is not UTF-8 text") from None
            self.take(read_line(text, place), place, found)
        return found

    def take(self, entry: Any, place: str, found: Message) -> None:
        """Adds what a line says to a message."""
        if isinstance(entry, dict) and entry.keys() == {"now"}:
            moment = self.checker.point(entry["now"], place)
            self._countable(place, moment)
            found.complete = moment if found.complete is None else max(moment, found.complete)
            return
        fact = self.checker.fact_if_named(entry, place)
        if fact is None:
            return
        if fact.low is None:
            raise FactError(f"{place}: `{fact.predicate}` is static: its facts are known before the stream")
        self._countable(place, *(time for time in (fact.low, fact.high, fact.arrival) if time is not None))
        found.facts.append(fact)

    def _countable(self, place: str, *times: Number) -> None:
        """Refuses times that no engine counts: once they are in the log, nobody gets past them."""
        parts = math.lcm(*(time.denominator for time in times))
        if not can_be_counted(self.checker.discrete, max(times), parts):
            unit = f" in steps of 1/{parts}" if parts > 1 else ""
            raise FactError(f"{place}: times up to {brief(show_number(max(times)))}{unit} are more than can be counted")

    def _holds(self, time: Number) -> bool:
        return can_be_counted(self.checker.discrete, time)

    def _by_columns(self, data: bytes) -> Message | None:
        """A message by the column, if all of it is as it mostly is, with numbers for times or with timestamps."""
        times = self.checker.times
        if times is None:
            return self._as_columns(data, TICKS) or self._as_columns(data, ISO)
        return self._as_columns(data, times)

    def _schema(self, times: str) -> Any:
        pa = pyarrow()
        if times not in self._schemas:
            time = pa.int64() if times == TICKS else pa.string()
            self._schemas[times] = pa.schema(
                [("pred", pa.string()), ("args", pa.list_(pa.string())), ("time", time), ("now", time)]
            )
        return self._schemas[times]

    def _in_ticks(self, moments: Any) -> Any:
        """A column of timestamps as ticks; `None` where each must be looked at."""
        pa = pyarrow()
        tick = None if self.checker.units.tick is None else self.checker.units.tick * 1000
        if tick is None or tick.denominator != 1 or not self.checker.discrete:
            return None
        begin = int(milliseconds_between(EPOCH, self.checker.units.start) * 1000)
        try:
            # What has no zone, or is finer than this, is looked at one by one.
            since = moments.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        except pa.ArrowException:
            return None
        missing = np.asarray(since.is_null())
        counted = (since.fill_null(begin).to_numpy() - begin) // int(tick)
        return None if (counted < 0).any() else pa.chunked_array([pa.array(counted, pa.int64(), mask=missing)])

    def _as_columns(self, data: bytes, times: str) -> Message | None:
        pa = pyarrow()
        from pyarrow import compute, json

        parsing = json.ParseOptions(explicit_schema=self._schema(times), unexpected_field_behavior="error")
        reading = json.ReadOptions(use_threads=False, block_size=len(data) + 16)
        try:
            rows = json.read_json(pa.BufferReader(data), reading, parsing).combine_chunks()
            rows.validate(full=True)
        except pa.ArrowException:
            return None
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if rows.num_rows != lines:
            return None  # Empty lines, several facts in one line, or one in several.
        if times == ISO:
            for place, name in enumerate(rows.column_names):
                if name in ("time", "now"):
                    counted = self._in_ticks(rows.column(name))
                    if counted is None:
                        return None
                    rows = rows.set_column(place, name, counted)
        found = Message()
        told = rows.column("now")
        if told.null_count != rows.num_rows:
            others = compute.is_valid(told)
            said = rows.filter(others)
            if any(said.column(name).null_count != said.num_rows for name in ("pred", "args", "time")):
                return None
            found.complete = compute.max(told).as_py()
            if compute.min(told).as_py() < 0 or not self._holds(found.complete):
                return None
            rows = rows.filter(compute.invert(others))
        if any(rows.column(name).null_count for name in ("pred", "args", "time")):
            return None
        for name in compute.unique(rows.column("pred")).to_pylist():
            if name not in self.plain:
                return None
            own = rows.filter(compute.equal(rows.column("pred"), name)) if rows.num_rows else rows
            table = self._columns(name, own.combine_chunks())
            if table is None:
                return None
            found.tables.append(table)
        self.checker.times = self.checker.times or times
        return found

    def _columns(self, name: str, rows: Any) -> Columns | None:
        pa = pyarrow()
        from pyarrow import compute

        arity, size = self.plain[name].arity, rows.num_rows
        times = rows.column("time").chunk(0).to_numpy()
        lists = rows.column("args").chunk(0)
        lengths = compute.list_value_length(lists)
        if (
            times.min() < 0
            or not self._holds(int(times.max()))
            or compute.min_max(lengths).as_py() != {"min": arity, "max": arity}
        ):
            return None
        values = lists.flatten()
        if values.null_count:
            return None
        places = np.arange(size) * arity
        columns: list[Any] = [Texts(values.take(pa.array(places + place))) for place in range(arity)]
        return Columns(name, columns, times)
