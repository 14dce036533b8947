"""Rows of answers as the driver reads them again: as the lines of `presage run`, and as answers with times that count.

Rows have their times as they are shown, and their bindings as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Any

from pyspark.sql import DataFrame

from presage.answers import Answer, binding_places, shown_name
from presage.io.facts import exact
from presage.io.moments import Moments, arguments_in, in_order, moment_text
from presage.model.statements import Query
from presage.model.terms import Number, Value, number


def lines_of(rows: DataFrame, zone: tzinfo = UTC) -> Iterator[dict[str, Any]]:
    """Rows as the lines that `presage run` prints, in the order of their times."""
    table = rows.toArrow().to_pylist()
    for row in sorted(table, key=lambda row: (in_order(row["now"]), row.get("answer") or row.get("fact") or "")):
        if "status" in row:
            row["bindings"] = dict(row["bindings"] or ())
            left_out = ("from", "to", "bounds") if row["from"] is None and row["bounds"] is None else ("time",)
        else:
            left_out = ("from", "to", "bounds") if row["from"] is None else ("time",)
        for way in row.get("ways") or ():
            way["decided_by"] = _time(way["decided_by"], zone)
        for name in _TIMES & row.keys():
            row[name] = _time(row[name], zone)
        yield {
            name: value
            for name, value in row.items()
            if name not in left_out and (name not in ("ways", "ways_left_out") or value)
        }


_TIMES = {"now", "time", "from", "to", "decided_by"}


def _time(given: int | str | datetime | None, zone: tzinfo) -> int | str | None:
    """A time as lines have it: whole numbers are numbers, also where a column holds exact text."""
    if isinstance(given, datetime):
        return moment_text(given, zone)
    return int(given) if isinstance(given, str) and given.lstrip("-").isdigit() else given


_WITH_REST = re.compile(r"(.+?)(?:\+(\d+(?:/\d+)?)s)?")
"""A moment, and a part of a second that has no finite decimals behind it."""


class AnswersAgain:
    """Makes answers of lines."""

    def __init__(self, queries: Sequence[Query], discrete: bool, moments: Moments | None) -> None:
        self.queries, self.discrete, self.moments = queries, discrete, moments
        self.places: dict[str, dict[str, int]] = {}
        for query in queries:
            self.places.setdefault(shown_name(query.atom.predicate), {}).update(binding_places(query))

    def of(self, line: dict[str, Any]) -> Answer:
        text = str(line["answer"])
        name, arguments = arguments_in(text)
        places = self.places.get(name, {})
        times = set() if self.moments is None else self.moments.bound.get(name, set())
        bindings: dict[str, Value] = {}
        for variable, value in line["bindings"].items():
            at = places.get(variable, len(arguments))
            # What stands without quotes and reads as a number is one.
            is_text = at < len(arguments) and arguments[at].startswith('"')
            found = None if is_text else self.time(value) if variable in times else exact(value)
            bindings[variable] = value if found is None else found
        start, end = self.time(line.get("from")), self.time(line.get("to"))
        answer = Answer(
            self.time(line["now"]) or 0, line["status"], name, (), bindings, time=self.time(line.get("time")),
            start=start, end=end, bounds=line.get("bounds") or "", decided_by=self.time(line["decided_by"]),
            open_time="" if "from" in line or line.get("time") is not None else "T", more=(("key", line["key"]),),
        )  # fmt: skip
        answer.text = text
        return answer

    def time(self, given: Any) -> Number | None:
        """A time of a line as the number that it is."""
        if given is None or isinstance(given, int):
            return given
        if isinstance(given, datetime):
            given = given.isoformat()
        written = exact(given)
        if written is not None or self.moments is None:
            return written
        found = _WITH_REST.fullmatch(given)
        assert found is not None
        since = datetime.fromisoformat(found[1]) - self.moments.start
        seconds = Fraction(since // timedelta(microseconds=1), 1_000_000) + Fraction(found[2] or 0)
        ticks = number(seconds * 1000 / self.moments.tick)
        # A column of timestamps has microseconds, and ticks may be finer.
        return round(ticks) if self.discrete else ticks
