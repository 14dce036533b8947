"""`presage.explain`: the same as the command says, from Python, over facts as people have them."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

import presage
from presage.cli import main

FOLDER = Path(__file__).parent.parent.parent / "presage/examples/turbines"
PROGRAM = presage.load(FOLDER / "turbines.psg")
FACTS = FOLDER / "facts.jsonl"
HIGH = [("temp", ("wt25", "high"), time) for time in range(3)]


def test_it_says_what_the_command_says() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["explain", str(FOLDER / "turbines.psg"), "--facts", str(FACTS), "malf(wt25)@0"]) == 0
    assert presage.explain(PROGRAM, FACTS, "malf(wt25)@0").to_json() == json.loads(out.getvalue())


@pytest.mark.parametrize(
    "facts",
    [
        HIGH,
        {"temp": pa.table({"device": ["wt25"] * 3, "level": ["high"] * 3, "time": [0, 1, 2]})},
        [{"pred": "temp", "args": ["wt25", "high"], "time": time} for time in range(3)],
    ],
)
def test_facts_may_be_tuples_tables_and_lines(facts: object) -> None:
    found = presage.explain(PROGRAM, facts, "malf(wt25)@0")  # type: ignore[arg-type]
    assert found.status == "confirmed" and found.proof is not None
    assert found.because == tuple(f"temp(wt25, high)@{time}" for time in range(3))
    assert "given, arrived at 2" in str(found) and found.svg().startswith("<svg")
    assert "is confirmed at" in found._repr_html_() and "<svg" in found._repr_html_()


def test_what_arrives_after_the_look_is_not_seen() -> None:
    early = presage.explain(PROGRAM, HIGH, "malf(wt25)@0", at=0)
    assert early.status == "possible" and len(early.ways) == 1 and early.failed is None
    late = presage.explain(PROGRAM, HIGH[:1], "malf(wt25)@0")
    assert late.status == "refuted" and late.failed is not None


def test_an_answer_of_a_run_can_be_given() -> None:
    (answer, *_) = presage.Reasoner(PROGRAM).push(HIGH[:1], now=0)
    assert presage.explain(PROGRAM, HIGH, answer, at=3).answer == answer.answer


@pytest.mark.parametrize(
    ("answer", "at", "says"),
    [
        ("malf(wt25)", None, "say at which time"),
        ("mal(wt25)@0", None, "did you mean `malf`"),
        ("malf(wt25)@0", -1, "the stream starts at time 0"),
    ],
)
def test_what_is_wrong_is_said(answer: str, at: object, says: str) -> None:
    with pytest.raises(presage.PresageError, match=says):
        presage.explain(PROGRAM, HIGH, answer, at)
