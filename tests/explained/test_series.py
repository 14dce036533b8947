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
    assert in_series(["a@1", "a@2", "a@3"]) == ["a@1 … 3"]
    assert in_series(["a@1", "a@2", "a@4"]) == ["a@1", "a@2", "a@4"]
    assert in_series(["a@1", "b@1", "a@2", "b@2", "a@3", "b@4"]) == ["a@1 … 3", "b@1", "b@2", "b@4"]
    assert in_series(["a@1", "a@2", "a@3", "a@(3,4]", "a@T"], ["x@A", "x@B", "x@C", "y", "z"]) == ["x@A … C", "y", "z"]
    assert in_series(['p("x@1")@1/2', "p@1"]) == ['p("x@1")@1/2', "p@1"]


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
