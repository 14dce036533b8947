"""`presage init`: a new project, from the columns of a table or from nothing: program, facts and map, cases, a page."""

from __future__ import annotations

import argparse
import os
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from presage.cli import FINE
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.cli.csv_table import GuessedTable, TableColumn
    from presage.model.terms import Number

SUMMARY = "begin a project: program, facts, cases, from a CSV file, JSON lines or from nothing"
DESCRIPTION = """\
Makes a folder with a program, its facts, cases and a page that says what to type. With a CSV file, or lines of JSON
objects, the program's input has its columns: numbers (1.5 or 1,5), texts and the column that says when (2026-03-01
10:00, 01.03.2026 10:00, seconds since 1970) are told by their cells. Columns for which most rows would be left out are
left out, and then rows with an empty cell; a map (.toml) says how files like it become facts, for --map. Without data
it is a small project about readings of devices. The rule it begins with, something high twice in a row or, where rows
come now and then, again within some time, is there to be changed. Nothing is overwritten."""
EXAMPLE = """\
example:
  presage init
  presage init readings.csv
  presage init readings.csv --into cooling"""

TEMPLATE = """\
device,value,time
pump1,18,0
pump2,21,0
pump1,34,1
pump2,22,1
pump1,36,2
pump2,33,2
pump1,19,3
pump2,20,3
"""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "data",
        type=Path,
        nargs="?",
        metavar="DATA",
        help="a CSV file whose first line names columns, or JSON lines (.jsonl)",
    )
    command.add_argument("--into", type=Path, metavar="DIR", help="the folder to make (default: named after the data)")


def run(options: argparse.Namespace) -> int:
    from presage.cli.csv_table import read_table, table_of

    if options.data is None:
        table, origin = table_of(TEMPLATE, "readings", "the template"), ""
    else:
        table, origin = read_table(options.data), options.data.name
    if not table.columns:
        raise PresageError(f"{options.data}: there is no column beside the one that says when")
    folder: Path = options.into or Path(table.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PresageError(f"{folder} is there already, and is not overwritten: say where to with --into DIR")
    like = options.data and os.path.relpath(options.data, folder)
    files = Project(table, origin, Path(like or "").as_posix()).files()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as found:
        raise PresageError(f"{folder}: cannot be written ({found.strerror or found})") from None
    for name in files:
        print(folder / name)
    for said in _remarks(table, origin):
        print(f"note: {said}")
    print(f"\nRead {folder / 'README.md'}, and type, for a start:\n")
    print(f"  cd {folder}\n  presage run {table.name}.psg --facts {table.name}.csv")
    return FINE


def _remarks(table: GuessedTable, origin: str) -> list[str]:
    """What somebody who knows the data should know was done with it."""
    found = []
    for title in table.mostly_empty:
        found.append(f"the column `{title}` of {origin} is empty in many rows, and is left out")
    if table.left_out:
        rows = "1 row" if table.left_out == 1 else f"{table.left_out} rows"
        found.append(f"{rows} of {origin} with an empty cell {'is no fact' if table.left_out == 1 else 'are no facts'}")
    if table.clock == "rows":
        found.append(
            f"no column of {origin} says when, as 2026-03-01 10:00, 01.03.2026 10:00, 1772359200 do: its rows are "
            "counted, 0, 1, 2, …"
        )
    if table.may_mean:
        found.append(
            f"`{table.time_column}` is read as {table.time_format}, and might be {table.may_mean}: if it is, say so in "
            "the map's `time_format`"
        )
    return found


class Project:
    """The texts of a project's files."""

    def __init__(self, table: GuessedTable, origin: str, place: str) -> None:
        """`place` is where the data is, seen from the project."""
        self.table, self.origin, self.place = table, origin, place
        taken = {table.name}
        self.high = _free("high" if table.value else "seen", taken)
        self.again = _free("again" if self.irregular else "twice", taken)
        self.key, self.value = table.key, table.value
        self.limit = _limit(self.value) if self.value else ""
        self.variables = _variables(table.columns)

    @property
    def irregular(self) -> bool:
        """Whether things happen now and then: a rule about one time and the next would speak of none of them."""
        return self.table.clock == "timestamps" and self.table.rhythm is None

    @property
    def _span(self) -> str:
        from presage.cli.csv_table import duration

        return duration(self.table.span)

    def files(self) -> dict[str, str]:
        name = self.table.name
        found = {f"{name}.psg": self.program(), f"{name}.csv": self.facts()}
        if self.has_map:
            found[f"{name}.toml"] = self.map()
        return {**found, f"{name}.case": self.cases(), "README.md": self.page()}

    @property
    def has_map(self) -> bool:
        return bool(self.origin) and self.table.can_be_mapped

    def map(self) -> str:
        """How a file with the columns of the table becomes facts."""
        import json

        def text(value: str) -> str:
            return json.dumps(value, ensure_ascii=False)

        table = self.table
        renamed = [each for each in table.columns if each.name != each.title]
        columns = ", ".join(f"{text(each.name)} = {text(each.title)}" for each in renamed)
        lines = [f"# How files like {self.origin} become facts, with --map before --facts."]
        lines.append(f"predicate = {text(table.name)}")
        if renamed:
            lines.append(f"columns = {{ {columns} }}")
        lines.append(f"time = {text(table.time_column)}")
        if table.time_format:
            lines.append(f"time_format = {text(table.time_format)}")
        lines.append('bad_rows = "skip"')
        options = {"sep": table.separator if table.separator != "," else "", "decimal": table.decimal}
        said = ", ".join(f"{name} = {text(value)}" for name, value in options.items() if value)
        if said:
            lines.append(f"options = {{ {said} }}")
        return "\n".join(lines) + "\n"

    @property
    def about(self) -> str:
        """The arguments of what rules derive."""
        return f"({self.variables[self.key.name]})" if self.key else ""

    def program(self) -> str:
        from presage.layout import format_text

        table = self.table
        lines = [f"% {'Made from the columns of ' + self.origin if self.origin else 'Readings of devices'}: change it."]
        lines.append("timeline discrete.")
        if table.clock == "timestamps":
            from presage.cli.csv_table import duration

            lines += [f"tick {duration(table.tick)}.", f"start {self._start()}."]
        columns = ", ".join(f"{each.name}: {each.kind if each.cells else 'any'}" for each in table.columns)
        lines += ["", "% Facts that may come late have a `delay`: write it before the full stop, as in `delay 2`."]
        lines += [f"input {table.name}({columns}).", ""]
        used = {each.name for each in (self.key, self.value) if each}
        terms = ", ".join(self.variables[each.name] if each.name in used else "_" for each in table.columns)
        body = f"{table.name}({terms})"
        if self.value:
            lines += [f"param limit = {self.limit}.", ""]
            body += f", {self.variables[self.value.name]} > $limit"
        lines.append(f"{self.high}{self.about} :- {body}.")
        high = f"{self.high}{self.about}"
        if self.irregular:
            from presage.cli.csv_table import duration

            first = duration(table.tick)
            lines += ["", f"% Again within {self._span}."]
            lines.append(f"{self.again}{self.about} :- {high}, once[{first},{self._span}] {high}.")
        else:
            lines += ["", "% At one time and the next."]
            lines.append(f"{self.again}{self.about}@T+1 :- {high}@T, {high}@T+1.")
        lines += ["", f"query {self.again}{self.about} bad."]
        return format_text("\n".join(lines) + "\n")

    def _start(self) -> str:
        first = min(time for time in self.table.times if isinstance(time, datetime))
        floor = first - (first - datetime(1970, 1, 1, tzinfo=UTC)) % self.table.tick
        whole = floor - timedelta(microseconds=floor.microsecond)
        return whole.strftime("%Y-%m-%dT%H:%M:%SZ")

    def facts(self) -> str:
        import csv
        import io

        table = self.table
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow([*(column.name for column in table.columns), "time"])
        for row, time in enumerate(table.times):
            when = time.isoformat().replace("+00:00", "Z") if isinstance(time, datetime) else str(time)
            lines.writerow([*(column.cells[row] for column in table.columns), when])
        return out.getvalue()

    def _example(self) -> tuple[str, str]:
        """A fact of the case, without its time, and what it is about."""
        from presage.model.formulas import Atom
        from presage.model.printer import show_atom
        from presage.model.terms import Constant

        terms = []
        about: tuple[Constant, ...] = ()
        for column in self.table.columns:
            if column is self.value:
                terms.append(Constant(_above(column)))
            elif column.kind == "text":
                terms.append(Constant(column.cells[0] if column.cells else "a"))
            else:
                terms.append(Constant(column.number(0)))
            if column is self.key:
                about = (terms[-1],)
        return show_atom(Atom(self.table.name, tuple(terms))), show_atom(Atom(self.again, about))

    def cases(self) -> str:
        fact, answer = self._example()
        last = self.table.span // self.table.tick if self.irregular else 1
        then = min(last, 3)
        open_time, missing = ("T", "") if self.irregular else ("1", f"; needs ... by {last}")
        words = f"again within {self._span}" if self.irregular else "at one time and the next"
        return f"""\
% What the program must say; `presage test .` runs the cases of this folder.

case {words}
facts
    {fact}@0
    {fact}@{then}
expect
    0: possible {answer}@{open_time}
    {then}: newly confirmed {answer}@{then}

case once is not enough
facts
    {fact}@0
expect
    0: possible {answer}@{open_time}{missing}
    {last}: newly {"unsupported" if self.irregular else "refuted"} {answer}@{open_time}
"""

    def page(self) -> str:
        table, name = self.table, self.table.name
        came = f"the rows of {self.origin}" if self.origin else "a few readings"
        when = {
            "timestamps": f"`time` is its column `{table.time_column}`.",
            "numbers": f"`time` is its column `{table.time_column}`." if self.origin else "",
            "rows": "No column says when, so `time` counts the rows.",
        }[table.clock]
        mapped = ""
        like: list[tuple[str, str]] = []
        if self.has_map:
            mapped = f"\n| `{name}.toml` | a map: how files with the columns of {self.origin} become facts |"
            mapped_run = f"run {name}.psg --map {name}.toml --facts {shlex.quote(self.place)}"
            like = [(mapped_run, "files like it, as they are")]
        about = f"each {self.key.title}" if self.key is not None else "everything"
        high = f"whose {self.value.title} is above the limit" if self.value is not None else "that comes"
        how = f"again within {self._span}" if self.irregular else "at one time and the next"
        title = Path(self.origin).stem or name
        title = title[:1].upper() + title[1:]
        commands = [
            (f"check {name}.psg", "what the program is, and what it needs"),
            (f"run {name}.psg --facts {name}.csv", "what may come true, what did, what did not"),
            *like,
            ("test .", "the cases"),
            (f"watch {name}.psg --facts {name}.csv", "the same run on a page in the browser"),
            (f"repl {name}.psg", "type facts and rules, see answers change"),
        ]
        shown = "\n".join(f"# {words}\npresage {command}" for command, words in commands)
        return f"""\
# {title}

A beginning, made from {self.origin or "nothing"}: for {about}, something {high}
{how} is told as soon as it is possible, and when it is certain.
The rules are there to be changed.

| | |
|---|---|
| `{name}.psg` | the program: what comes in, the rules, what is asked |
| `{name}.csv` | the facts: {came}. {when} |{mapped}
| `{name}.case` | cases: facts, and what must be said when |

```sh
{shown}
```
"""


def _free(name: str, taken: set[str]) -> str:
    found = name if name not in taken else f"is_{name}"
    taken.add(found)
    return found


def _variables(columns: tuple[TableColumn, ...]) -> dict[str, str]:
    """A variable for each column; `T` is the time."""
    from presage.syntax import starts_like_a_variable

    found: dict[str, str] = {}
    for column in columns:
        name = column.name[:1].upper() + column.name[1:]
        if not starts_like_a_variable(name):
            name = f"V_{column.name}"
        while name == "T" or name in found.values():
            name += "_"
        found[column.name] = name
    return found


def _limit(column: TableColumn) -> str:
    from presage.model.printer import show_number

    return show_number(_high(column)) if column.cells else "10"


def _above(column: TableColumn) -> int:
    import math

    return math.floor(_high(column)) + 1


def _high(column: TableColumn) -> Number:
    """Four of five values are not above it, and one is, if they differ."""
    values = sorted(column.number(row) for row in range(len(column.cells)))
    below_greatest = [value for value in values if value < values[-1]]
    return min(values[(len(values) - 1) * 4 // 5], (below_greatest or values)[-1])
