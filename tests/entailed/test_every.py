"""`presage run --every N`: answers now and then instead of whenever something changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import presage
from presage.answer_streams.stepping_kept import steps_of
from presage.checking import check_text
from presage.cli import main
from presage.io.facts import Fact
from presage.run.schedule import steps
from tests.random_hypotheses import make_case

TURBINES = """timeline discrete. input temp(device, level) delay 1.
flag(X) :- temp(X, high). cool(X)@T+1 :- flag(X)@T, flag(X)@T+1. query cool(X)."""
HOT = [("temp", ["a", "high"], 0), ("temp", ["a", "high"], 1), ("temp", ["b", "high"], 2)]


def run(tmp_path: Path, capsys: Any, text: str, facts: list[tuple[Any, ...]], *words: str) -> list[dict[str, Any]]:
    (tmp_path / "p.psg").write_text(text, encoding="utf-8")
    rows = [json.dumps(dict(zip(("pred", "args", "time", "arrives"), fact, strict=False))) for fact in facts]
    (tmp_path / "f.jsonl").write_text("\n".join(rows), encoding="utf-8")
    status = main(["run", str(tmp_path / "p.psg"), "--facts", str(tmp_path / "f.jsonl"), *words])
    shown = capsys.readouterr()
    assert status == 0, shown.err
    return [json.loads(line) for line in shown.out.splitlines()]


def short(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(line["now"], line["status"], line.get("answer")) for line in lines]


def test_changes(tmp_path: Path, capsys: Any) -> None:
    """`cool(a)@2` came and went between 0 and 3, so that nobody hears of it; `cool(b)@3` was shown."""
    always = short(run(tmp_path, capsys, TURBINES, HOT, "--until", "8"))
    assert (
        (3, "refuted", "cool(a)@2") in always
        and (4, "refuted", "cool(b)@3") in always
        and (2, "possible", "cool(b)@3") in always
    )
    assert short(run(tmp_path, capsys, TURBINES, HOT, "--every", "3", "--until", "8")) == [
        (0, "possible", "cool(a)@1"),
        (3, "confirmed", "cool(a)@1"),
        (3, "possible", "cool(b)@3"),
        (6, "refuted", "cool(b)@3"),
    ]
    # What came and went in between, and was never shown, is not refuted.
    assert short(run(tmp_path, capsys, TURBINES, HOT, "--every", "5", "--until", "8"))[1:] == [
        (5, "confirmed", "cool(a)@1")
    ]


def test_confirmed_and_the_end(tmp_path: Path, capsys: Any) -> None:
    words = ("--every", "5", "--until", "7", "--emit", "confirmed")
    facts = [*HOT, ("temp", ["a", "high"], 5), ("temp", ["a", "high"], 6)]
    assert short(run(tmp_path, capsys, TURBINES, facts, *words)) == [
        (5, "confirmed", "cool(a)@1"),
        (7, "confirmed", "cool(a)@6"),
    ]


def test_snapshots(tmp_path: Path, capsys: Any) -> None:
    lines = run(tmp_path, capsys, TURBINES, HOT, "--every", "3", "--until", "6", "--emit", "snapshot")
    shown = [(line["now"], [(each["status"], each["answer"]) for each in line["answers"]]) for line in lines]
    assert shown == [
        (0, [("possible", "cool(a)@1")]),
        (3, [("confirmed", "cool(a)@1"), ("possible", "cool(b)@3")]),
        (6, []),
    ]


def test_several_models(tmp_path: Path, capsys: Any) -> None:
    text = "timeline discrete. input r. a | b :- r. c :- a. c :- b. query c."
    facts = [("r", [], time) for time in (0, 1, 4)]
    assert short(run(tmp_path, capsys, text, facts, "--every", "4", "--emit", "confirmed")) == [
        (0, "confirmed", "c@0"),
        (4, "confirmed", "c@1"),
        (4, "confirmed", "c@4"),
    ]


def test_reading_now_is_evaluated_only_then(tmp_path: Path, capsys: Any) -> None:
    """What arrived in between is in the windows; what would have followed in between does not count."""
    text = (
        "reading now. input r(x). a(X) :- window(1) some r(X), not b(X). b(X) :- r(X), not a(X), not r(X). query a(X)."
    )
    facts = [("r", ["u"], 1), ("r", ["v"], 3), ("r", ["w"], 5)]
    assert short(run(tmp_path, capsys, text, facts, "--every", "4", "--until", "6", "--emit", "confirmed")) == [
        (4, "confirmed", "a(v)@4"),
        (6, "confirmed", "a(w)@6"),
    ]


def test_real_time(tmp_path: Path, capsys: Any) -> None:
    text = "tick 1m. input up(x). seen(X) :- up(X). query seen(X)."
    facts = [("up", ["a"], "1970-01-01T00:03:00Z"), ("up", ["b"], "1970-01-01T01:10:00Z")]
    words = ("--every", "0.5h", "--emit", "confirmed", "--until", "100")
    assert short(run(tmp_path, capsys, text, facts, *words)) == [
        ("1970-01-01T00:30:00Z", "confirmed", "seen(a)@1970-01-01T00:03:00Z"),
        ("1970-01-01T01:30:00Z", "confirmed", "seen(b)@1970-01-01T01:10:00Z"),
    ]


def test_dense_time(tmp_path: Path, capsys: Any) -> None:
    text = "timeline dense. input p(x). q(X) :- once[0,1] p(X). query q(X)."
    lines = run(tmp_path, capsys, text, [("p", ["a"], 0.2)], "--every", "1/2", "--until", "2", "--emit", "confirmed")
    assert short(lines)[0] == (0.5, "confirmed", "q(a)@[0.2,1.2]")


@pytest.mark.parametrize(
    "length, said",
    [("0", "more than 0"), ("soon", "not a length of time"), ("1.5", "whole number"), ("5m", "needs a `tick`")],
)
def test_lengths_that_are_none(tmp_path: Path, capsys: Any, length: str, said: str) -> None:
    (tmp_path / "p.psg").write_text(TURBINES, encoding="utf-8")
    (tmp_path / "f.jsonl").write_text("", encoding="utf-8")
    words = ["run", str(tmp_path / "p.psg"), "--facts", str(tmp_path / "f.jsonl"), "--every", length]
    assert main(words) == 2
    assert said in capsys.readouterr().err


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_the_latest_lines_are_the_same_in_the_end(seed: int, pull: int) -> None:
    """Whoever keeps the latest line of each answer knows the same, at each pull, as with all lines."""
    case = make_case(seed)
    report = check_text(case.text)
    facts = [Fact(name, values, time, time, arrives=arrives) for (name, values, time), arrives in case.facts]
    statics = {"s": [row for _, row in case.statics]} if case.statics else {}
    always, pulled = (presage.Reasoner(report.program, statics, report=report) for _ in range(2))
    by_time: dict[int, dict[str, str]] = {}
    latest: dict[str, str] = {}
    for answers in steps(always, facts, 12, every=True):
        latest.update({answer.answer: answer.status for answer in answers})
        assert isinstance(always.now, int)
        by_time[always.now] = {text: status for text, status in latest.items() if status in ("possible", "confirmed")}
    seen: dict[str, str] = {}
    for answers in steps(pulled, facts, 12, pull=pull):
        assert isinstance(pulled.now, int)
        assert all(answer.now == pulled.now for answer in answers)
        seen.update({answer.answer: answer.status for answer in answers})
        standing = {text: status for text, status in seen.items() if status in ("possible", "confirmed")}
        assert standing == by_time[pulled.now]


def test_steps_of_several_models_pulled() -> None:
    report = check_text("timeline discrete. input r. a | b :- r. c :- a. c :- b. query c.")
    found = list(steps(steps_of(report), [Fact("r", (), 1, 1)], 5, pull=2))
    assert [[str(answer) for answer in answers] for answers in found] == [[], ["confirmed c@1"], []]
