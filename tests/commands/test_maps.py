"""`--map`: files with columns of their own as facts, held against the same facts written as facts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from presage.pipeline.conditions import condition_in
from tests.commands.test_cli import presage

PROGRAM = """
timeline discrete. tick 1m. start 2026-03-02T00:00:00Z.
input temp(device: text, level) delay 9.
input busy(device).
static owner(device, team).
hot(X) :- temp(X, high).
used(X) :- busy(X).
mine(X) :- temp(X, _), owner(X, west).
query hot(X). query used(X). query mine(X).
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.psg").write_text(PROGRAM)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = [folder / word if "." in word and not word.startswith("-") else word for word in words]
    return presage("run", folder / "p.psg", "--emit", "confirmed", *given)


def answers(folder: Path, *words: str) -> list[tuple[str, str]]:
    told = run(folder, *words)
    assert told.returncode == 0, told.stderr
    return [(line["now"], line["answer"]) for line in map(json.loads, told.stdout.splitlines())]


def test_csv_parquet_and_nested_json_are_the_facts_they_stand_for(folder: Path) -> None:
    seven = "2026-03-02T07:36:00Z"
    eight = "2026-03-02T07:40:00Z"
    (folder / "facts.jsonl").write_text(
        f'{{"pred": "temp", "args": ["007", "high"], "time": "{seven}", "arrives": "{eight}"}}\n'
        f'{{"pred": "busy", "args": ["007"], "from": "{seven}", "to": "{eight}", "bounds": "[)"}}\n'
        '{"pred": "owner", "args": ["007", "west"]}\n'
    )
    wanted = answers(folder, "--facts", "facts.jsonl")
    assert {text.partition("(")[0] for _, text in wanted} == {"hot", "used", "mine"}

    (folder / "a.csv").write_text("no;state;at;seen;x\n007;high;02.03.2026 07:36;02.03.2026 07:40;1\n")
    (folder / "a.toml").write_text(
        'predicate = "temp"\ncolumns = { device = "no", level = "state" }\ntime = "at"\narrives = "seen"\n'
        'time_format = "%d.%m.%Y %H:%M"\noptions = { sep = ";" }\n'
    )
    stamp = 1772436960
    row = {"kind": "busy", "machine": {"id": "007"}, "begin": stamp * 1000, "end": (stamp + 240) * 1000, "b": "[)"}
    (folder / "b.jsonl").write_text(f'{json.dumps(row)}\n{{"kind": "idle"}}\n')
    (folder / "b.toml").write_text(
        '[sources.busy]\nformat = "json"\npath = "elsewhere"\ncolumns = { device = "machine.id" }\nfrom = "begin"\n'
        'to = "end"\nbounds = "b"\ntime_format = "ms"\nwhere = "kind = \'busy\'"\n'
    )
    parquet.write_table(pyarrow.table({"who": ["007"], "team": ["west"]}), folder / "c.parquet")
    (folder / "c.toml").write_text('predicate = "owner"\ncolumns = { device = "who" }\n')
    mapped = [
        word for name in ("a.csv", "b.jsonl", "c.parquet") for word in ("--map", f"{name[0]}.toml", "--facts", name)
    ]
    assert answers(folder, *mapped) == wanted


def test_a_map_is_about_the_files_after_it_alone(folder: Path) -> None:
    (folder / "temp.csv").write_text("device,level,time\na,high,2026-03-02T00:01:00Z\n")
    (folder / "b.csv").write_text("d,level,time\nb,high,2026-03-02T00:02:00Z\n")
    (folder / "c.csv").write_text("d,level,time\nc,high,2026-03-02T00:03:00Z\n")
    (folder / "m.toml").write_text('predicate = "temp"\ncolumns = { device = "d" }\n')
    told = answers(folder, "--facts", "temp.csv", "--map", "m.toml", "--facts", "b.csv", "c.csv", "--facts", "temp.csv")
    assert [text.partition("@")[0] for _, text in told] == ["hot(a)", "hot(b)", "hot(c)"]


def test_bad_rows_are_skipped_and_counted_or_stop_the_run(folder: Path) -> None:
    (folder / "temp.csv").write_text(
        "device,level,time\na,high,2026-03-02T00:01:00Z\nb,,2026-03-02T00:01:00Z\nc,high,\nd,high,soon\ne,high,3,4,5\n"
    )
    (folder / "m.toml").write_text('bad_rows = "skip"\n')
    told = run(folder, "--map", "m.toml", "--facts", "temp.csv")
    assert [json.loads(line)["answer"] for line in told.stdout.splitlines()] == ["hot(a)@2026-03-02T00:01:00Z"]
    assert "temp.csv: 4 rows that are no facts were skipped; the first, " in told.stderr
    assert "temp.csv:3: the column `level` has no value, which is to be `level`" in told.stderr
    (folder / "m.toml").write_text("")
    told = run(folder, "--map", "m.toml", "--facts", "temp.csv")
    assert (told.returncode, told.stdout) == (1, "")
    assert "temp.csv:3: the column `level` has no value" in told.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("predicate = ", "m.toml:1:13: error C101: this is not TOML"),
        ('predicate = "tmp"', "m.toml:1:13: error C105: the program has no input `tmp`"),
        ('predicate = "hot"', "m.toml:1:13: error C105: `hot` is derived by rules"),
        ('colums = { device = "d" }', "m.toml:1:1: error C102: a map has no key `colums`"),
        ('columns = { devise = "d" }', "m.toml:1:13: error C105: `temp` has no argument `devise`"),
        ('columns = { device = "dd" }', "m.toml:1:22: error C105: "),
        (
            "columns = { device = \"concat('a', d)\" }",
            "m.toml:1:22: error C109: `concat('a', d)` is an expression of SQL",
        ),
        ('options = { sep = ";;" }', "m.toml:1:19: error C104: a separator is one character"),
        ('options = { decimal = "x" }', "m.toml:1:23: error C104: before decimals stands a comma or a point"),
        ('options = { quote = "x" }', "m.toml:1:21: error C102: a map has no option `quote` of this kind"),
        ("time = 3", "m.toml:1:8: error C104: `time` is text, not a number"),
        ('time = "when"', "m.toml:1:8: error C105: "),
        ('time_format = "day"', "m.toml:1:15: error C104: `day` is no way to write times"),
        ('where = "level = high"', "m.toml:1:9: error C109: a map knows simple conditions only"),
        ('bad_rows = "drop"', "m.toml:1:12: error C104: `drop` is not a bad_rows"),
        ('predicate = "owner"\ntime = "time"', "m.toml:2:1: error C109: `owner` is static"),
        ("[sources.temp]\n[sources.busy]", "m.toml:2:1: error C102: a map is about the facts of one predicate"),
        ("[sources.temp]\nschem = 1", "m.toml:2:1: error C102: [sources.temp] has no key `schem`"),
    ],
)
def test_what_is_wrong_with_a_map_has_a_place(folder: Path, text: str, said: str) -> None:
    (folder / "temp.csv").write_text("device,level,time\na,high,2026-03-02T00:01:00Z\n")
    (folder / "m.toml").write_text(text + "\n")
    told = run(folder, "--map", "m.toml", "--facts", "temp.csv")
    assert (told.returncode, told.stdout) == (1, "")
    assert said in told.stderr
    assert "hint: " in told.stderr or "C101" in said


def test_calls_that_are_wrong(folder: Path) -> None:
    (folder / "m.toml").write_text("")
    (folder / "temp.csv").write_text("device,level,time\n")
    assert run(folder, "--facts", "temp.csv", "--map", "m.toml").returncode == 2
    assert run(folder, "--map", "m.toml", "--facts", "-").returncode == 2
    told = run(folder, "--map", "none.toml", "--facts", "temp.csv")
    assert told.returncode == 1
    assert "none.toml" in told.stderr
    told = run(folder, "--map", "m.toml", "--facts", "temp.parquet")
    assert told.returncode == 1
    assert "temp.parquet: cannot be read" in told.stderr


@pytest.mark.parametrize(
    ("text", "row", "taken"),
    [
        ("a = 'x'", {"a": "x"}, True),
        ("a = 'x' and b > 3", {"a": "x", "b": "3.5"}, True),
        ("a = 'x' and b > 3", {"a": "x", "b": 3}, False),
        ("a <> 'x'", {"a": None}, False),
        ("a != 'it''s'", {"a": "it's"}, False),
        ("a is null", {}, True),
        ("a is not null and a.b = true", {"a": {"b": True}}, True),
        ("`a b` <= -1", {"a b": "none"}, False),
    ],
)
def test_conditions_are_as_in_sql(text: str, row: dict[str, object], taken: bool) -> None:
    condition = condition_in(text)
    assert condition is not None
    assert condition(row) is taken
