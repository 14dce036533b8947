"""Explanations of what rests on invented values: they are called what a run calls them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import presage
from presage.cli import main

PROGRAMS = [
    "exists Z: t(X, Z) :- a(X).\nb(Z) :- t(X, Z), c(X).\nquery t(X, Z).\nquery b(Z).",
    "exists lasting Z: t(X, Z) :- a(X).\nb(Z) :- once[0,2] t(X, Z), not c(X).",
    "exists Z: t(X, Z)@T+1 :- a(X)@T, not c(X)@T+1.\nexists lasting W: b(Z, W) :- t(X, Z).\nquery b(Z, W).",
    "input c(x) delay 2.\nexists Y, Z: t(X, Y), u(Y, Z) :- a(X), not c(X).\nb(Z) :- t(X, Y), u(Y, Z).",
    "input c(x).\ninvented(X) :- a(X).\nexists Z: t(X, Z) :- invented(X).",
]
FACTS = [
    ("a", ("x",), 1), ("a", ("y",), 1), ("c", ("x",), 1), ("a", ("x",), 2), ("a", ("x",), 3), ("c", ("y",), 4),
    ("a", ("y",), 5),
]  # fmt: skip


def told(text: str) -> Sequence[presage.Answer]:
    reasoner = presage.Reasoner(presage.parse(text), emit="confirmed")
    return [each for now in range(12) for each in reasoner.push([fact for fact in FACTS if fact[2] == now], now=now)]


@pytest.mark.parametrize("text", PROGRAMS)
def test_what_a_run_tells_is_explained_as_it_is_printed(text: str) -> None:
    text = f"timeline discrete.\n{text}"
    answers = [each for each in told(text) if each.answer is not None and "_:" in each.answer]
    assert answers
    for answer in answers:
        found = presage.explain(text, FACTS, answer.answer)
        assert (found.status, found.answer) == ("confirmed", answer.answer)
        assert found.proof is not None and "#" not in json.dumps(found.proof)
        assert found.because and all(each.removeprefix("not ")[0] in "ac" for each in found.because), found.because
        assert '"_:' not in str(found)


def test_another_name_is_not_so() -> None:
    text = f"timeline discrete.\n{PROGRAMS[0]}"
    found = presage.explain(text, FACTS, "t(x, _:2)@1")
    assert found.status == "impossible" and "invented(x, _:2)@1 was not invented" in found.says
    assert presage.explain(text, FACTS, "t(x, _:99)@1").status == "impossible"


def test_before_it_is_settled_it_may_be_invented() -> None:
    text = f"timeline discrete.\n{PROGRAMS[3]}"
    found = presage.explain(text, FACTS, "b(_:1)@1", at=2)
    assert found.status == "possible" and "may be invented until 3" in found.says


def test_what_a_program_calls_invented_is_its_own() -> None:
    found = presage.explain(f"timeline discrete.\n{PROGRAMS[4]}", FACTS, "t(x, _:1)@1")
    assert [each["holds"] for each in found.proof["because"]] == ["invented(x)@1", "invented_value(x, _:1)@1"]  # type: ignore[index]


def test_the_command_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.psg").write_text(f"timeline discrete.\n{PROGRAMS[0]}", encoding="utf-8")
    lines = [json.dumps({"pred": name, "args": list(values), "time": time}) for name, values, time in FACTS]
    (tmp_path / "f.jsonl").write_text("\n".join(lines), encoding="utf-8")
    call = [str(tmp_path / "p.psg"), "--facts", str(tmp_path / "f.jsonl")]
    assert main(["run", *call, "--emit", "confirmed"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])["answer"]
    assert "_:1" in first
    assert main(["explain", *call, first]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "confirmed"
