"""Times come out as they went in: timestamps where facts had them, in every field and text of a line."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from presage import Reasoner, parse
from presage.checking import check_text
from presage.cli.live import show_table
from presage.io.facts import Checker
from presage.io.moments import Moments, zone_called
from tests.commands.test_cli import presage

PROGRAM = """\
timeline discrete. tick 1m. start 2026-03-02T07:00:00Z.
input temp(device, level) delay 3m.
malf(X)@T :- temp(X, high)@T, temp(X, high)@T+1, temp(X, high)@T+2.
query malf(X).
"""
DENSE = "timeline dense. tick 1s. start 2026-03-02T07:36:00Z. h(X) :- once[0,5] p(X)."
MOMENT = '{"pred": "temp", "args": ["b@1", "high"], "time": "2026-03-02T07:36:00Z"}\n'


def moments(text: str, zone: str = "UTC") -> Moments:
    report = check_text(text).or_raise()
    assert report.findings is not None
    subject = report.findings.subject
    return Moments(subject, Checker(subject.program, subject.predicates, subject.discrete).units, zone_called(zone))


def lines(tmp_path: Path, facts: str, *words: str) -> list[dict[str, Any]]:
    (tmp_path / "p.psg").write_text(PROGRAM)
    (tmp_path / "f.jsonl").write_text(facts)
    done = presage("run", tmp_path / "p.psg", "--facts", tmp_path / "f.jsonl", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_field_and_text(tmp_path: Path) -> None:
    first = next(each for each in lines(tmp_path, MOMENT) if each["time"].endswith("36:00Z"))
    at = ["2026-03-02T07:36:00Z", "2026-03-02T07:37:00Z", "2026-03-02T07:38:00Z"]
    assert (first["now"], first["time"], first["decided_by"]) == (at[0], at[0], "2026-03-02T07:41:00Z")
    assert first["answer"] == first["key"] == f'malf("b@1")@{at[0]}'
    assert first["because"] == [f'temp("b@1", high)@{at[0]}']
    assert first["needs"] == [f'temp("b@1", high)@{each}' for each in at[1:]]
    there = next(each for each in lines(tmp_path, MOMENT, "--zone", "Europe/Vienna") if "08:36" in each["time"])
    assert there["answer"] == 'malf("b@1")@2026-03-02T08:36:00+01:00' and there["key"] == first["key"]
    assert lines(tmp_path, MOMENT, "--times", "ticks")[0]["time"] == 34
    number = MOMENT.replace('"2026-03-02T07:36:00Z"', "36")
    assert lines(tmp_path, number)[0]["time"] == 34
    shown = lines(tmp_path, number, "--times", "iso", "--emit", "snapshot")
    assert first in next(each["answers"] for each in shown if each["now"] == at[0])


def test_wrong_times_and_options(tmp_path: Path) -> None:
    lines(tmp_path, MOMENT)
    words = ("run", tmp_path / "p.psg", "--facts", tmp_path / "f.jsonl")
    (tmp_path / "f.jsonl").write_text(MOMENT + MOMENT.replace('"2026-03-02T07:36:00Z"', "37"))
    done = presage(*words)
    assert done.returncode == 1 and "f.jsonl:2: a number among timestamps" in done.stderr
    (tmp_path / "f.jsonl").write_text(MOMENT.replace("2026", "2025"))
    done = presage(*words)
    assert done.returncode == 1
    assert "f.jsonl:1: 2025-03-02T07:36:00Z lies before 2026-03-02T07:00:00Z, the start of the stream" in done.stderr
    done = presage(*words, "--zone", "Nowhere/Land")
    assert done.returncode in (1, 2) and done.stderr
    (tmp_path / "f.jsonl").write_text(MOMENT)
    assert presage(*words, "--zone", "Nowhere/Land").returncode == 2
    (tmp_path / "p.psg").write_text("h(X) :- temp(X, high).")
    (tmp_path / "f.jsonl").write_text(MOMENT.replace('"2026-03-02T07:36:00Z"', "36"))
    assert presage(*words, "--times", "iso").returncode == 2


def test_parquet_has_timestamps(tmp_path: Path) -> None:
    lines(tmp_path, MOMENT, "--out", str(tmp_path / "a.parquet"))
    first = parquet.read_table(tmp_path / "a.parquet").to_pylist()[0]
    assert first["time"] == datetime(2026, 3, 2, 7, 34, tzinfo=UTC)
    assert first["answer"] == 'malf("b@1")@2026-03-02T07:34:00Z'


def test_instants_of_dense_time() -> None:
    shown = moments(DENSE)
    for time, text in ((0, "00Z"), (Fraction(1, 3), "00Z+1/3s"), (Fraction(5, 2), "02.5Z"), (Fraction(1, 8), "00.125Z"),
                       (Fraction(4, 3), "01Z+1/3s"), (Fraction(1, 10**7), "00.0000001Z"), (61, "61Z")):  # fmt: skip
        expected = "2026-03-02T07:37:01Z" if text == "61Z" else f"2026-03-02T07:36:{text}"
        assert shown.moment(time) == expected
    assert moments(DENSE, "Asia/Kolkata").moment(Fraction(1, 3)) == "2026-03-02T13:06:00+05:30+1/3s"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("high(a)@[T-2,T]", "high(a)@[T-2m,T]"),
        ("not paid(o7)@[3,10]", "not paid(o7)@[2026-03-02T07:03:00Z,2026-03-02T07:10:00Z]"),
        ("2 of failed(u1)@T1", "2 of failed(u1)@T1"),
        ("at most 1 of failed(u1)@[0,90)", "at most 1 of failed(u1)@[2026-03-02T07:00:00Z,2026-03-02T08:30:00Z)"),
        ("on(d)@(3", "on(d)@(2026-03-02T07:03:00Z"),
        ("on(d)@[3,inf)", "on(d)@[2026-03-02T07:03:00Z,inf)"),
        ("b(x)@T1+1500", "b(x)@T1+25h"),
        ("end@4", "end@2026-03-02T07:04:00Z"),
        ('seen("a, b)@9", 3, 3)@1', 'seen("a, b)@9", 2026-03-02T07:03:00Z, 3)@2026-03-02T07:01:00Z'),
        ("late(7, X)@8", "late(2026-03-02T07:07:00Z, X)@2026-03-02T07:08:00Z"),
    ],
)
def test_texts(given: str, expected: str) -> None:
    program = PROGRAM + "input seen(who, when: time, n). late(T, X)@T+1 :- seen(X, W, N)@T. query late(T, X)."
    assert moments(program).text(given) == expected


def test_conditions() -> None:
    line = {
        "now": 1, "status": "possible", "answer": "alarm(x)@T", "key": "alarm(x)@T", "bindings": {"X": "x"},
        "time": None, "because": [], "needs": ["b(x, V)@T1"], "decided_by": 4, "confidence": None,
        "unless": ["T1 < 1", "T1 = 3", "T1 <= T", "T > T1 + 2", "V <= 5", "X = john", "hour(T1) < 9",
                   'V = "7, T1 = 4", T1 = 3'],
    }  # fmt: skip
    shown = moments(PROGRAM).line(
        {**line, "ways": [{key: line[key] for key in ("because", "needs", "unless", "decided_by", "confidence")}]}
    )
    expected = [
        "T1 < 2026-03-02T07:01:00Z", "T1 = 2026-03-02T07:03:00Z", "T1 <= T", "T > T1 + 2m", "V <= 5",
        "X = john", "hour(T1) < 9", 'V = "7, T1 = 4", T1 = 2026-03-02T07:03:00Z',
    ]  # fmt: skip
    assert shown["unless"] == expected == shown["ways"][0]["unless"]
    assert shown["decided_by"] == shown["ways"][0]["decided_by"] == "2026-03-02T07:04:00Z"
    assert shown["key"] == "alarm(x)@T" and shown["time"] is None


def test_a_person_at_a_terminal_reads_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    reasoner = Reasoner(parse(PROGRAM))
    facts = [("temp", ("x", "high"), time) for time in (0, 1, 2, 5)]
    told = [reasoner.push([fact], now=fact[2]) for fact in facts]
    show_table(told, [], lambda: reasoner.now, reasoner.subject.queries, lambda: moments(PROGRAM))
    shown = re.sub(r"\s+", "", capsys.readouterr().out)
    assert "2026-03-02T07:02:00Z:◆confirmedmalf(x)@2026-03-02T07:00:00Z" in shown
    assert "stillopenattheend,time2026-03-02T07:05:00Z" in shown
    assert "temp(x,high)@5" not in shown and "confidence" not in shown


def test_explanations_have_them_too(tmp_path: Path) -> None:
    facts = "".join(MOMENT.replace("07:36", f"07:{36 + minute}") for minute in (0, 1, 5))
    (tmp_path / "p.psg").write_text(PROGRAM)
    (tmp_path / "f.jsonl").write_text(facts.replace("b@1", "at 3, until 4"))
    asked = ("explain", tmp_path / "p.psg", "--facts", tmp_path / "f.jsonl")
    answer = 'malf("at 3, until 4")@2026-03-02T07:36:00Z'
    line = json.loads(presage(*asked, answer).stdout)
    assert line["answer"] == answer and line["history"][-1] == {"at": "2026-03-02T07:41:00Z", "status": "refuted"}
    needed = 'temp("at 3, until 4", high)@2026-03-02T07:38:00Z'
    since = "2026-03-02T07:41:00Z"
    assert line["says"].endswith(f"is refuted since {since}: {needed} did not arrive by {since}")
    shown = presage(*asked, "--text", "--zone", "Europe/Vienna", answer).stdout
    assert "malf(X)@T :- temp(X, high)@T, temp(X, high)@T+1, temp(X, high)@T+2." in shown, "rules stay as they are"
    assert "↑ 08:46" in shown and "2026-03-02T08:41:00+01:00" in shown
    assert "@39" not in presage(*asked, "--text", answer).stdout
    assert json.loads(presage(*asked, "--times", "ticks", answer).stdout)["answer"] == 'malf("at 3, until 4")@36'
