"""Premises at one time after the other are one line for people; JSON has each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from presage.answers.series import in_series
from presage.cli import main

LATE = """\
timeline discrete.
tick 1m.
start 2026-03-02T08:00:00Z.
input out(parcel) delay 5m.
input home(parcel) delay 5m.
late(P) :- once[120m] out(P), historically[0,119m] not home(P).
query late(P) bad.
"""


def test_series() -> None:
    def at(name: str, *times: object) -> list[str]:
        return [f"{name}@{time}" for time in times]

    assert in_series(at("a", *range(1, 7))) == ["a@1 … 6"]
    assert in_series(at("a", *range(1, 6))) == at("a", *range(1, 6)), "of few each is worth seeing"
    assert in_series(at("a", 1, 2, 3, 5, 6, 7)) == at("a", 1, 2, 3, 5, 6, 7)
    assert in_series(at("a", 1, 2) + at("b", 2) + at("a", 3)) == ["a@1", "a@2", "b@2", "a@3"], "in their order"
    mixed = [text for time in range(-2, 4) for text in (f"a@{time}", f"b@{time * 2}")]
    assert in_series(mixed) == ["a@-2 … 3", *at("b", -4, -2, 0, 2, 4, 6)]
    assert in_series([*at("a", *range(6)), "a@(5,6]", "a@T"], [*at("x", *"ABCDEF"), "y", "z"]) == ["x@A … F", "y", "z"]
    assert in_series(at('p("x@1")', "1/2", "3/2")) == at('p("x@1")', "1/2", "3/2")


def test_explanations_have_no_line_for_each_minute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, facts = tmp_path / "late.psg", tmp_path / "facts.jsonl"
    program.write_text(LATE)
    given = [("out", "2026-03-02T08:12:00Z"), ("home", "2026-03-02T09:30:00Z")]
    facts.write_text("".join(json.dumps({"pred": name, "args": ["p1"], "time": time}) + "\n" for name, time in given))
    for at, lines in (
        (60, "□ not home(p1)@2026-03-02T08:56:00Z … 2026-03-02T10:12:00Z"),
        (100, "… 2026-03-02T09:25:00Z: settled"),
    ):
        assert main(["explain", str(program), "--facts", str(facts), "--at", str(at), "--text", "late(p1)@132"]) == 0
        shown = capsys.readouterr().out
        assert lines in shown and len(shown.splitlines()) < 25, shown
