"""Sources that have much to be read at once: whoever is read first makes nobody else's facts late."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.cli import main
from presage.io.facts import Fact
from presage.serve import files
from presage.serve.alignment import Alignment
from presage.serve.log import LogEntry
from presage.serve.messages import Message
from tests.serving import LISTENING, Served, lines_in

PROGRAM = """
timeline discrete.
input a(x) delay 1. input b(x, y). input c(x).
both(X, Y) :- a(X), b(X, Y), once[0,3] c(X).
query both(X, Y).
"""
SOURCES = """
program = "program.psg"
checkpoint = "state"
trigger = "available-now"
[sources.a]
format = "csv"
path = "a.csv"
schema = { x = "string", time = "bigint" }
[sources.b]
format = "parquet"
path = "b.parquet"
[sources.rest]
format = "json"
path = "rest"
[sinks.out]
format = "lines"
path = "out.jsonl"
"""


def made(folder: Path, seed: int, length: int) -> list[dict[str, Any]]:
    """The files of three sources about the same times, one of them a folder, and the facts in them."""
    import pyarrow as pa
    from pyarrow import parquet

    chance = random.Random(seed)
    (folder / "rest").mkdir(parents=True)
    (folder / "program.psg").write_text(PROGRAM)
    (folder / "pipeline.toml").write_text(SOURCES)
    facts = [
        {"pred": name, "args": [chance.choice("uvw")] + (["y"] if name == "b" else []), "time": time}
        for time in range(length)
        for name in "aabbc"
    ]

    def rows(name: str) -> list[dict[str, Any]]:
        return [each for each in facts if each["pred"] == name]

    (folder / "a.csv").write_text("x,time\n" + "".join(f"{row['args'][0]},{row['time']}\n" for row in rows("a")))
    table = [{"x": row["args"][0], "y": "y", "time": row["time"]} for row in rows("b")]
    parquet.write_table(pa.Table.from_pylist(table), folder / "b.parquet")
    for value in "uvw":
        of_value = [row for row in rows("c") if row["args"] == [value]]
        (folder / "rest" / f"{value}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in of_value))
    return facts


def expected(facts: list[dict[str, Any]], before: int) -> Counter[tuple[str, Any]]:
    reasoner = presage.Reasoner(presage.parse(PROGRAM), emit="changes")
    found: Counter[tuple[str, Any]] = Counter()
    for time in range(before):
        given = [(row["pred"], tuple(row["args"]), row["time"]) for row in facts if row["time"] == time]
        found.update((each.status, each.answer) for each in reasoner.push(given, now=time))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_files_about_the_same_times_are_read_together(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(files, "LINES_AT_ONCE", 300)
    facts = made(tmp_path, seed, 60)
    assert main(["serve", str(tmp_path / "pipeline.toml")]) == 0
    lines = lines_in(tmp_path / "out.jsonl")
    assert Counter((line["status"], line["answer"]) for line in lines) == expected(facts, 59)
    # What comes later goes on from there.
    with (tmp_path / "rest/u.jsonl").open("a") as file:
        file.write('{"pred": "c", "args": ["u"], "time": 61}\n')
    assert main(["serve", str(tmp_path / "pipeline.toml")]) == 0
    assert max(line["now"] for line in lines_in(tmp_path / "out.jsonl")) >= 59


def test_many_files_are_read_the_oldest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some at a time: two for each hour, and hours enough for many turns."""
    monkeypatch.setattr(files, "TOGETHER", 4)
    monkeypatch.setattr(files, "LINES_AT_ONCE", 100)
    facts = made(tmp_path, 4, 80)
    head, rest = SOURCES.split("[sources.a]")[0], SOURCES.split("[sources.rest]")[1]
    (tmp_path / "pipeline.toml").write_text(head + "[sources.rest]" + rest)
    for path in (tmp_path / "rest").iterdir():
        path.unlink()
    for hour in range(16):
        for half in range(2):
            own = [row for row in facts if row["time"] // 5 == hour][half::2]
            path = tmp_path / "rest" / f"{99 - hour}-{half}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in own))
            os.utime(path, (hour * 10 + half, hour * 10 + half))
    assert main(["serve", str(tmp_path / "pipeline.toml")]) == 0
    lines = lines_in(tmp_path / "out.jsonl")
    assert Counter((line["status"], line["answer"]) for line in lines) == expected(facts, 79)


def test_killed_while_facts_wait_they_are_told_once(tmp_path: Path) -> None:
    served = Served(tmp_path / "p")
    facts = made(tmp_path / "made", 1, 1_000)
    for path in (tmp_path / "made").iterdir():
        if path.name != "pipeline.toml":
            path.rename(served.folder / path.name)
    (served.folder / "pipeline.toml").write_text(SOURCES)
    for least in (1, 500):
        served.start(wait=False)
        served.until(lambda least=least: len(served.lines) >= least)
        served.kill()
    assert served.start(wait=False).process is not None
    assert served.process is not None and served.process.wait(120) == 0, served.said
    assert [line["seq"] for line in served.lines] == list(range(1, len(served.lines) + 1))
    assert Counter((line["status"], line["answer"]) for line in served.lines) == expected(facts, 999)


def message(*times: int, complete: int | None = None) -> Message:
    return Message(facts=[Fact("a", ("x",), time, time, True, True, None) for time in times], complete=complete)


def test_who_is_behind_says_what_the_clock_is() -> None:
    aligned, entry = Alignment(False, None, False), LogEntry("x")

    def marked(reader: str, said: Message | None, more: bool = False) -> tuple[bool, str | None, bool]:
        found = aligned.marked(entry, said, reader, more)
        return found.held, found.clock, found.complete

    assert marked("http", message(3)) == (False, None, False), "alone, facts move the clock"
    aligned.begin(["old", "older"])
    assert marked("http", message(90, complete=90)) == (True, None, False)
    assert marked("old", message(10), more=True) == (True, None, False)
    assert aligned.next_of(["old", "older"]) == "older"
    assert marked("older", message(4, 5), more=True) == (True, "5", False)
    assert marked("old", message(20)) == (True, "5", False), "it has read all it has"
    assert marked("older", message(30)) == (False, "90", True), "nobody is behind any more"
    assert marked("older", message(91)) == (False, None, False)
    assert not aligned.over("older")
    aligned.begin(["away"])
    assert marked("http", message(95)) == (True, None, False)
    assert aligned.over("away") and marked("away", None) == (False, "95", False)


def test_nobody_waits_long_for_who_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    aligned = Alignment(False, None, False)
    aligned.begin(["broker"])
    assert aligned.marked(LogEntry("x"), message(1), "http", False).held
    monkeypatch.setattr("presage.serve.alignment.PATIENCE", 0.0)
    assert aligned.marked(LogEntry("x"), message(1), "http", False).held, "it works on what it has"
    aligned.asks("broker")
    found = aligned.marked(LogEntry("x"), message(2), "http", False)
    assert (found.held, found.clock) == (False, "2")


def test_what_waited_before_a_start_goes_on_after_it(tmp_path: Path) -> None:
    """Facts that were sent while a file was read wait; killed then, they are not forgotten."""
    file = LISTENING.replace("[sources.incoming]", '[sources.a]\nformat = "json"\npath = "a"\n[sources.incoming]')
    served = Served(tmp_path, program=PROGRAM, file=file)
    (tmp_path / "a").mkdir()
    served.start()
    try:
        served.post('{"pred": "a", "args": ["u"], "time": 5}\n{"pred": "b", "args": ["u", "y"], "time": 5}\n')
        served.post('{"pred": "c", "args": ["u"], "time": 5}\n{"now": 5}\n')
        served.until(lambda: any(line["status"] == "confirmed" for line in served.lines))
    finally:
        assert served.stop() == 0
