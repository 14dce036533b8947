"""A table, CSV or JSON lines, looked at by its names and cells: what its columns are, which of them says when, what to
call them.

`presage init` makes a program of it. How cells are written is told in `csv_cells`; here it is decided what a table is
about, what it measures and when, by its names too where cells leave it open.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from presage.cli.csv_cells import WrittenTimes, kind_of, plain_column, times_in
from presage.errors import PresageError
from presage.io.decimals import decimal_sign
from presage.io.facts import exact
from presage.model.terms import Number
from presage.syntax import UNITS, is_identifier, is_keyword

# What columns that say when are called, the surest first.
_TIME_NAMES = (
    "time",
    "timestamp",
    "datetime",
    "date_time",
    "event_time",
    "ts",
    "at",
    "when",
    "date",
    "t",
    "tick",
    "step",
)
_SEPARATORS = (",", ";", "\t", "|")
_TICKS = tuple(
    timedelta(milliseconds=number * UNITS[unit])
    for unit, numbers in (
        ("ms", (1, 10, 100)),
        ("s", (1, 5, 10, 30)),
        ("m", (1, 5, 15, 30)),
        ("h", (1, 6)),
        ("d", (1,)),
    )
    for number in numbers
)
"""Lengths of a tick that people would choose, where the data has no rhythm of its own."""
_SPANS = tuple(
    timedelta(milliseconds=number * UNITS[unit])
    for unit, numbers in (("s", (1, 10)), ("m", (1, 5, 10, 30)), ("h", (1, 6)), ("d", (1, 7, 30, 90)))
    for number in numbers
)
"""Stretches within which people look for something that comes again."""
_NAMED = re.compile(r"(^|_)(id|no|nr|number|num|code|key|uuid|guid|iban|zip|plz|index|row|line)$")
"""Columns whose numbers are names."""
_BORN = re.compile(r"birth|born|dob|geb")


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    title: str
    """What the file calls it."""
    kind: str
    """`text`, `int` or `float`."""
    cells: tuple[str, ...]

    @property
    def comes_again(self) -> bool:
        return len(set(self.cells)) < len(self.cells)

    def number(self, row: int) -> Number:
        found = exact(self.cells[row])
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class GuessedTable:
    """What a file has: a name for its predicate, its columns without the one that says when, and the times."""

    name: str
    columns: tuple[TableColumn, ...]
    times: tuple[int, ...] | tuple[datetime, ...]
    clock: str
    """What the times are: `timestamps`, `numbers`, or `rows` where no column says when."""
    time_column: str
    left_out: int
    """Rows with an empty cell, which are no facts."""
    mostly_empty: tuple[str, ...] = ()
    """Columns that are left out because most rows would be otherwise."""
    time_format: str = ""
    """How times are written, as maps say it."""
    may_mean: str = ""
    """The other way in which the times may be meant."""
    decimal: str = ""
    """What stands before decimals, where it need be said."""
    separator: str = ","
    """What stands between cells; nothing in JSON lines."""

    @property
    def can_be_mapped(self) -> bool:
        """Whether a file like this one can be read as it is: its columns have names of their own, and one says when."""
        titles = [*(column.title for column in self.columns), self.time_column]
        return self.clock != "rows" and all(titles) and len(set(titles)) == len(titles)

    @property
    def rhythm(self) -> timedelta | None:
        """The distance between one time and the next of the same thing, if it mostly is one."""
        # Where nothing comes twice, the commonest distance between one row and the next.
        gaps = self._gaps
        whole = {gap: count for gap, count in gaps.items() if gap % timedelta(milliseconds=1) == timedelta(0)}
        if not whole:
            return None if gaps else timedelta(seconds=1)
        commonest = min(whole, key=lambda gap: (-whole[gap], gap))
        # Most people measure at round distances; others may, and then do so nearly always.
        enough = 0.5 if commonest in _TICKS else 0.9
        return commonest if whole[commonest] >= enough * gaps.total() else None

    @property
    def tick(self) -> timedelta:
        """The rhythm, or where there is none the greatest length that all times are made of."""
        if self.rhythm is not None:
            return self.rhythm
        units = [timedelta(milliseconds=UNITS[unit]) for unit in ("d", "h", "m", "s")]
        since = [time - time.replace(hour=0, minute=0, second=0, microsecond=0) for time in self._moments]
        return next((unit for unit in units if not any(each % unit for each in since)), _TICKS[0])

    @property
    def span(self) -> timedelta:
        """A round length within which half of what comes again does, with room to spare."""
        gaps = sorted(self._gaps.elements())
        usual = gaps[len(gaps) // 2] if gaps else timedelta(0)
        return next((span for span in _SPANS if span >= 3 * usual and span > self.tick), _SPANS[-1])

    @property
    def _moments(self) -> list[datetime]:
        return [time for time in self.times if isinstance(time, datetime)]

    @property
    def _gaps(self) -> Counter[timedelta]:
        """The distances between one time and the next of the same thing or, where nothing comes twice, of any."""
        for cells in (self.key.cells, ()) if self.key else ((),):
            found = self._gaps_by(cells)
            if found:
                return found
        return Counter()

    def _gaps_by(self, cells: Sequence[str]) -> Counter[timedelta]:
        last: dict[str, datetime] = {}
        gaps: Counter[timedelta] = Counter()
        moments = self._moments
        for row in sorted(range(len(moments)), key=lambda row: moments[row]):
            of = cells[row] if cells else ""
            if of in last and moments[row] > last[of]:
                gaps[moments[row] - last[of]] += 1
            last[of] = moments[row]
        return gaps

    @property
    def key(self) -> TableColumn | None:
        """What the rows are about: the first name that comes again, or the first there is; dates are none."""
        texts = [column for column in self.columns if column.kind == "text" and times_in(column.cells, False) is None]
        numbers = [column for column in self.columns if column.kind == "int"]
        named = [column for column in numbers if _NAMED.search(column.name)]
        again = [column for column in self.columns if column in (*texts, *named) and column.comes_again]
        if again or texts:
            return (again or texts)[0]
        return numbers[0] if numbers and len(self.columns) > 1 else None

    @property
    def value(self) -> TableColumn | None:
        """What is measured: the first number that is not always the same, or the first there is; names are last."""
        numbers = [column for column in self.columns if column.kind != "text" and column is not self.key]
        measured = [column for column in numbers if column.kind == "float" or not _NAMED.search(column.name)]
        moving = [column for column in measured if len(set(column.cells)) > 1]
        return next(iter(moving or measured), None)


def duration(length: timedelta) -> str:
    """A length as programs write it, in the greatest unit that gives a whole number."""
    milliseconds = length // timedelta(milliseconds=1)
    for unit, size in sorted(UNITS.items(), key=lambda each: -each[1]):
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    raise AssertionError("a length is a whole number of milliseconds")


def read_table(path: Path) -> GuessedTable:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as found:
        raise PresageError(f"{path}: cannot be read ({found.strerror or found})") from None
    except UnicodeDecodeError:
        hint = f"`iconv -f windows-1252 -t utf-8 {path.name} > …` makes it so, if it comes from Windows"
        raise PresageError(f"{path}: the file is not UTF-8 text; {hint}") from None
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        return _table_of_objects(text, path.stem, str(path))
    return table_of(text, path.stem, str(path))


def _table_of_objects(text: str, name: str, where: str) -> GuessedTable:
    """The table in JSON lines: an object a row, with paths such as `machine.id` for what is inside of others."""
    found: list[dict[str, str]] = []
    for index, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except ValueError as problem:
            raise PresageError(f"{where}:{index}: this is not a line of JSON ({problem})") from None
        if not isinstance(given, dict):
            raise PresageError(f'{where}:{index}: a line is an object, such as {{"device": "a", "value": 3}}')
        if "pred" in given and "args" in given:
            raise PresageError(
                f"{where}:{index}: these lines are facts already: write a program with its `input`s, and give them "
                "with --facts"
            )
        found.append(dict(_cells_in(given)))
    header = list(dict.fromkeys(title for row in found for title in row))
    if not header:
        raise PresageError(f"{where}: the file is empty; each line is an object with the same keys")
    return _guessed(header, [[row.get(title, "") for title in header] for row in found], name, "")


def _cells_in(given: dict[str, object], path: str = "") -> Iterator[tuple[str, str]]:
    """The values of an object as cells; lists are left aside."""
    for key, value in given.items():
        title = f"{path}{key}"
        if isinstance(value, dict):
            yield from _cells_in(value, f"{title}.")
        elif isinstance(value, bool):
            yield title, str(value).lower()
        elif isinstance(value, (str, int, float)):
            yield title, str(value).strip()


def table_of(text: str, name: str, where: str) -> GuessedTable:
    """The table in a text of CSV; columns may be separated by other signs than commas."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise PresageError(f"{where}: the file is empty; its first line names the columns")
    separator = max(_SEPARATORS, key=first.count)
    lines = csv.reader(text.splitlines(), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    header: list[str] | None = None
    try:
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
            elif len(cells) != len(header):
                raise PresageError(f"{where}:{lines.line_num}: {len(cells)} cells, and the header has {len(header)}")
            else:
                rows.append([cell.strip() for cell in cells])
    except csv.Error as found:
        raise PresageError(f"{where}:{lines.line_num}: this is not CSV ({found})") from None
    assert header is not None
    if header and all(exact_or_none(cell) is not None for cell in header):
        raise PresageError(f"{where}:1: the first line has numbers, and should name the columns")
    return _guessed(header, rows, name, separator)


def _guessed(header: list[str], rows: list[list[str]], name: str, separator: str) -> GuessedTable:
    used = [place for place in range(len(header)) if not rows or any(row[place] for row in rows)]
    mostly_empty = []
    kept = [row for row in rows if all(row[place] for place in used)]
    while 2 * len(kept) < len(rows) and len(used) > 1:
        emptiest = max(used, key=lambda place: sum(not row[place] for row in rows))
        used.remove(emptiest)
        mostly_empty.append(header[emptiest])
        kept = [row for row in rows if all(row[place] for place in used)]
    cells_of = {place: tuple(row[place] for row in kept) for place in used}
    decimal = decimal_sign(list(cells_of.values())) if separator else ""
    cells_of = {place: plain_column(cells, decimal) for place, cells in cells_of.items()}
    when, times = _times(header, cells_of, len(kept))
    taken: set[str] = {"time", "from", "to", "arrives", "bounds"}
    columns = []
    for place in used:
        if place != when:
            title = _name(header[place], f"column_{place + 1}", taken)
            columns.append(TableColumn(title, header[place], kind_of(cells_of[place]), cells_of[place]))
    return GuessedTable(
        name=_name(name, "reading", set()),
        columns=tuple(columns),
        times=times.times,
        clock="rows" if when is None else times.clock,
        time_column="" if when is None else header[when],
        left_out=len(rows) - len(kept),
        mostly_empty=tuple(mostly_empty),
        time_format=times.form,
        may_mean=times.otherwise,
        decimal=decimal,
        separator=separator,
    )


def exact_or_none(cell: str) -> Number | None:
    try:
        return exact(cell)
    except ValueError:
        return None


def _name(title: str, otherwise: str, taken: set[str]) -> str:
    """A title as an identifier that is neither reserved nor taken."""
    parts = re.sub(r"(?<=[a-z]{2})(?=[A-Z])", "_", title.strip())
    word = re.sub(r"\W+", "_", parts).strip("_").lower()
    if word[:1].isdigit():
        word = f"c_{word}"
    if not word or not is_identifier(word):
        word = otherwise
    if is_keyword(word):
        word += "_"
    found, count = word, 2
    while found in taken:
        found, count = f"{word}_{count}", count + 1
    taken.add(found)
    return found


def _times(header: list[str], cells_of: dict[int, tuple[str, ...]], rows: int) -> tuple[int | None, WrittenTimes]:
    """Which column says when, and what it says; without one, rows are counted."""
    titles = {place: re.sub(r"\W+", "_", header[place].strip()).lower() for place in cells_of}
    for name in _TIME_NAMES:
        for place, cells in cells_of.items():
            if titles[place] == name and (found := times_in(cells, True)) is not None:
                return place, found
    told = {place: times_in(cells, False) for place, cells in cells_of.items() if not _BORN.search(titles[place])}
    moments = [(place, found) for place, found in told.items() if found is not None]
    with_hours = [each for each in moments if each[1].has_hours]
    return next(iter(with_hours or moments), (None, WrittenTimes(tuple(range(rows)))))
