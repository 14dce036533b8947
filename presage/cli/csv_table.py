"""A table, CSV or JSON lines, looked at by its names and cells: what its columns are, which of them says when, what to
call them.

`presage init` makes a program of it. Nothing is guessed that the cells do not say: a column is a number if every cell
of it is, and says when if every cell of it is a timestamp or a whole number.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from presage.errors import PresageError
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
_SECONDS_SINCE_1970, _MILLISECONDS_SINCE_1970 = 10**9, 10**12


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    title: str
    """What the file calls it."""
    kind: str
    """`text`, `int` or `float`."""
    cells: tuple[str, ...]

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
    counted_in: str = ""
    """Of times that are numbers since 1970, of what: `s` or `ms`."""
    separator: str = ","
    """What stands between cells; nothing in JSON lines."""

    @property
    def can_be_mapped(self) -> bool:
        """Whether a file like this one can be read as it is: its columns have names of their own, and one says when."""
        titles = [*(column.title for column in self.columns), self.time_column]
        return self.clock != "rows" and all(titles) and len(set(titles)) == len(titles)

    @property
    def tick(self) -> timedelta:
        """The distance between one time and the next of the same thing, if it mostly is one; otherwise a round length
        that half of the distances have."""
        # Where nothing comes twice, the commonest distance between one row and the next.
        for cells in (self.key.cells, ()) if self.key else ((),):
            found = self._usual_gap(cells)
            if found is not None:
                return found
        return timedelta(seconds=1)

    def _usual_gap(self, cells: Sequence[str]) -> timedelta | None:
        last: dict[str, datetime] = {}
        gaps: Counter[timedelta] = Counter()
        moments = [time for time in self.times if isinstance(time, datetime)]
        for row in sorted(range(len(moments)), key=lambda row: moments[row]):
            of = cells[row] if cells else ""
            if of in last and moments[row] > last[of]:
                gaps[moments[row] - last[of]] += 1
            last[of] = moments[row]
        whole = {gap: count for gap, count in gaps.items() if gap % timedelta(milliseconds=1) == timedelta(0)}
        if not whole:
            return None
        commonest = min(whole, key=lambda gap: (-whole[gap], gap))
        if 2 * whole[commonest] >= gaps.total():
            return commonest
        middle = sorted(gaps.elements())[gaps.total() // 2]
        return max((tick for tick in _TICKS if tick <= middle), default=_TICKS[0])

    @property
    def key(self) -> TableColumn | None:
        """What the rows are about: the first text that comes again, or the first text there is."""
        texts = [column for column in self.columns if column.kind == "text"]
        again = [column for column in texts if len(set(column.cells)) < len(column.cells)]
        if again or texts:
            return (again or texts)[0]
        whole = [column for column in self.columns if column.kind == "int"]
        return whole[0] if whole and len(self.columns) > 1 else None

    @property
    def value(self) -> TableColumn | None:
        """What is measured: the first number that is not always the same, or the first there is."""
        numbers = [column for column in self.columns if column.kind != "text" and column is not self.key]
        moving = [column for column in numbers if len(set(column.cells)) > 1]
        return next(iter(moving or numbers), None)


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
        raise PresageError(f"{path}: the file is not UTF-8 text") from None
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
    when, times, clock = _times(header, cells_of, len(kept))
    taken: set[str] = {"time", "from", "to", "arrives", "bounds"}
    columns = []
    for place in used:
        if place != when:
            title = _name(header[place], f"column_{place + 1}", taken)
            columns.append(TableColumn(title, header[place], _kind(cells_of[place]), cells_of[place]))
    predicate = _name(name, "reading", set())
    return GuessedTable(
        predicate,
        tuple(columns),
        times,
        clock,
        "" if when is None else header[when],
        len(rows) - len(kept),
        tuple(mostly_empty),
        "" if when is None else _counted_in(cells_of[when]),
        separator,
    )


def exact_or_none(cell: str) -> Number | None:
    try:
        return exact(cell)
    except ValueError:
        return None


def _kind(cells: Sequence[str]) -> str:
    """A column of numbers is one of which every cell is; `007` is a name, and so is what is not written in digits."""
    if not cells:
        return "text"
    if not all(re.fullmatch(r"-?(0|[1-9]\d{0,30})(\.\d{1,30})?", cell) for cell in cells):
        return "text"
    return "float" if any("." in cell for cell in cells) else "int"


def _name(title: str, otherwise: str, taken: set[str]) -> str:
    """A title as an identifier that is neither reserved nor taken."""
    word = re.sub(r"\W+", "_", title.strip()).strip("_")
    word = word[:1].lower() + word[1:] if word != word.upper() else word.lower()
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


def _times(
    header: list[str], cells_of: dict[int, tuple[str, ...]], rows: int
) -> tuple[int | None, tuple[int, ...] | tuple[datetime, ...], str]:
    """Which column says when, what its cells are, and what kind of times those are."""
    titles = {place: re.sub(r"\W+", "_", header[place].strip()).lower() for place in cells_of}
    named = [place for name in _TIME_NAMES for place in cells_of if titles[place] == name]
    for place in named:
        if not rows:
            return place, (), "numbers"
        whole = _whole(cells_of[place])
        if whole is not None:
            moments = _since_1970(whole)
            return (place, whole, "numbers") if moments is None else (place, moments, "timestamps")
        stamps = _stamps(cells_of[place])
        if stamps is not None:
            return place, stamps, "timestamps"
    for place, cells in cells_of.items():
        stamps = _stamps(cells)
        if rows and stamps is not None:
            return place, stamps, "timestamps"
    return None, tuple(range(rows)), "rows"


def _whole(cells: Sequence[str]) -> tuple[int, ...] | None:
    return tuple(map(int, cells)) if all(re.fullmatch(r"\d{1,15}", cell) for cell in cells) else None


def _since_1970(times: tuple[int, ...]) -> tuple[datetime, ...] | None:
    """Numbers so large that they can only be what computers count from 1970 on."""
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    if min(times) >= _MILLISECONDS_SINCE_1970:
        return tuple(begin + timedelta(milliseconds=time) for time in times)
    if min(times) >= _SECONDS_SINCE_1970 and max(times) < _MILLISECONDS_SINCE_1970:
        return tuple(begin + timedelta(seconds=time) for time in times)
    return None


def _counted_in(cells: Sequence[str]) -> str:
    """Of what the numbers of a column count from 1970 on, if they do."""
    whole = _whole(cells) if cells else None
    if whole is None or _since_1970(whole) is None:
        return ""
    return "ms" if min(whole) >= _MILLISECONDS_SINCE_1970 else "s"


def _stamps(cells: Sequence[str]) -> tuple[datetime, ...] | None:
    """Timestamps, those without a zone taken for UTC."""
    found = []
    for cell in cells:
        if not re.match(r"\d{4}-\d{2}-\d{2}", cell):
            return None
        try:
            moment = datetime.fromisoformat(cell)
        except ValueError:
            return None
        found.append(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC))
    return tuple(found)
