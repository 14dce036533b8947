"""Rows of foreign files in a served pipeline: the same facts as with `--map`, and what can be said of them wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from presage.cli import main
from presage.pipeline.checking import check_pipeline
from tests.serving import lines_in

PROGRAM = """
tick 1m. start 2026-03-01T00:00:00Z.
input temp(device, celsius: float).
static owner(device, who).
hot(X, W) :- temp(X, C), C > 30, owner(X, W).
query hot(X, W).
"""
ROWS = """Maschine;Grad;kind;seen
a;31;temp;01.03.2026 10:00
a;99;other;01.03.2026 10:01
b;"40";temp;01.03.2026 10:02
c;;temp;01.03.2026 10:03
a;20;temp;01.03.2026 10:04
a;35.5;temp;01.03.2026 10:05
a;36;temp;01.03.2026 10:09
"""
SOURCE = """format = "csv"
path = "rows.csv"
schema = { Maschine = "string", Grad = "double", kind = "string", seen = "string" }
columns = { device = "Maschine", celsius = "Grad" }
time = "seen"
time_format = "%d.%m.%Y %H:%M"
where = "kind = 'temp' and Grad is not null"
options = { sep = ";" }
"""
FILE = f"""program = "p.psg"
checkpoint = "state"
trigger = "available-now"
emit = "confirmed"
[sources.temp]
{SOURCE}[static.owner]
format = "csv"
path = "owners.csv"
schema = {{ device = "string", who = "string", gone = "string" }}
where = "gone is null"
options = {{ sep = "|" }}
[sinks.out]
format = "lines"
path = "out.jsonl"
"""


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    (tmp_path / "p.psg").write_text(PROGRAM)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "owners.csv").write_text("device|who|gone\na|ann|\nb|ben|2025\nb|bea|\n")
    (tmp_path / "farm.toml").write_text(FILE)
    return tmp_path


def test_rows_are_the_facts_that_the_file_says(farm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(farm / "farm.toml")]) == 0
    told = [line["answer"] for line in lines_in(farm / "out.jsonl")]
    assert told == [
        "hot(a, ann)@2026-03-01T10:00:00Z", "hot(b, bea)@2026-03-01T10:02:00Z", "hot(a, ann)@2026-03-01T10:05:00Z",
    ]  # fmt: skip
    source = SOURCE.replace('path = "rows.csv"\n', 'predicate = "temp"\n')
    (farm / "map.toml").write_text(source)
    (farm / "owner.jsonl").write_text(
        '{"pred": "owner", "args": ["a", "ann"]}\n{"pred": "owner", "args": ["b", "bea"]}\n'
    )
    words = ["run", farm / "p.psg", "--map", farm / "map.toml", "--facts", farm / "rows.csv"]
    words += ["--static", farm / "owner.jsonl", "--emit", "confirmed", "--until", "2026-03-01T10:08:00Z"]
    assert main([str(each) for each in words]) == 0
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert len(printed) == 3 and all(answer in line for answer, line in zip(told, printed, strict=True))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"%d.%m.%Y %H:%M"', '"soon"', "`soon` is no way to write times"),
        ("kind = 'temp' and", "upper(kind) = 'TEMP' and", "knows simple conditions only"),
        ('sep = ";"', 'sep = ";;"', "a separator is one character"),
        ('sep = ";"', 'quote = "x"', "has no option `quote`"),
        ('sep = "|"', 'header = "false"', "has no option `header`"),
    ],
)
def test_what_is_wrong_with_it_has_a_place(before: str, after: str, said: str, farm: Path) -> None:
    (farm / "farm.toml").write_text(FILE.replace(before, after))
    found = check_pipeline(farm / "farm.toml", {}, live=True)
    assert not found.ok and said in found.text() and "farm.toml:" in found.text()


def test_a_row_with_too_many_cells_is_told(farm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (farm / "rows.csv").write_text(ROWS + "a;1;temp;01.03.2026 10:10;more\n")
    assert main(["serve", str(farm / "farm.toml")]) == 1
    assert "rows.csv:9: there are more cells than the header has" in capsys.readouterr().err


def test_what_one_process_does_not_have_is_told_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "p.psg").write_text("tick 1s. input n(value: int). q(X) :- n(X). query q(X).")
    head = 'program = "p.psg"\ncheckpoint = "state"\n[sinks.o]\nformat = "console"\n[sources.n]\n'
    file = tmp_path / "p.toml"
    file.write_text(head + 'format = "rate"\ntime = "timestamp"\n')
    assert "`rate` makes rows on Spark only" in check_pipeline(file, {}, live=True).text()
    # Named after an input, and without columns: facts all the same.
    file.write_text(head + 'format = "kafka"\nservers = "127.0.0.1:9"\ntopic = "t"\n')
    assert check_pipeline(file, {}, live=True).ok
    assert "has no `schema`" in check_pipeline(file, {}).text()
