"""What a run says where it would say nothing, and what `check` says first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from presage.checking import check_text
from presage.checking.needs import needs

FACTS = '{"pred": "temp", "args": ["a", "high"], "time": 0}\n'


def _run(folder: Path, program: str, facts: str = FACTS) -> subprocess.CompletedProcess[str]:
    (folder / "p.psg").write_text(program)
    (folder / "facts.jsonl").write_text(facts)
    call = [sys.executable, "-m", "presage", "run", "p.psg", "--facts", "facts.jsonl"]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True)


def test_an_undeclared_predicate_beside_an_unused_one(tmp_path: Path) -> None:
    done = _run(tmp_path, "input temp(d, l).\nalarm(X) :- tempp(X, high).\nquery alarm(X).\n")
    assert (
        "`tempp` has no declaration and is taken for an input, while `temp` is declared and never used" in done.stderr
    )
    assert "there were 1 of `temp`, and none of `tempp`, which is asked for" in done.stderr


def test_runs_without_answers_say_so(tmp_path: Path) -> None:
    program = "input temp(d, l).\nalarm(X) :- temp(X, high).\nquery alarm(X).\n"
    assert _run(tmp_path, program, "").stderr == "note: no answers: there are no facts in facts.jsonl\n"
    low = _run(tmp_path, program, FACTS.replace("high", "low"))
    assert low.stderr == (
        "note: no answers: there were 1 of `temp`; no rule made an answer of them: line 2 asks for high in "
        "`temp(X, high)`, and no fact has it there (they have low)\n"
    )
    other = _run(tmp_path, program.replace("high)", "V), V = 3"), FACTS)
    assert other.stderr == "note: no answers: there were 1 of `temp`; no rule made an answer of them\n"
    assert _run(tmp_path, program).stderr == ""


def test_a_misspelled_file_has_a_neighbour(tmp_path: Path) -> None:
    _run(tmp_path, "alarm(X) :- temp(X, high).\n")
    for call, meant in (
        (["run", "pp.psg", "--facts", "facts.jsonl"], "p.psg"),
        (["run", "p.psg", "--facts", "fact.jsonl"], "facts.jsonl"),
    ):
        done = subprocess.run([sys.executable, "-m", "presage", *call], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1 and f"did you mean {meant}?" in done.stderr


def test_check_says_first_what_people_need() -> None:
    text = "tick 10m.\ninput fever(p).\ninput drug(p) delay 20m.\nbad(P) :- fever(P), not drug(P).\nquery bad(P) bad.\n"
    said = dict(needs(check_text(text)))
    assert said["watches"] == ["drug(p), up to 20 min late", "fever(p)"]
    assert said["tells"] == ["bad(P), which is bad news: what may come true, and what did"]
    assert said["settled"] == ["20 min after its time at most, 20 min of it because facts may be late"]
    assert said["divided"] == ["among machines by p of drug; p of fever"]
    assert said["may be slow"] == ["nothing that shows in the rules"]


@pytest.mark.parametrize(
    ("rule", "slow"),
    [
        ("q(X, Y) :- a(X), b(Y).", True),
        ("q(X, Y) :- a(X), b(Y), X < Y.", True),
        ("q(X, Y) :- a(X), b(Y), X = Y.", False),
        ("q(X, Y) :- a(X), b(Y), c(X, Y).", False),
        ("q(X) :- a(X), d.", False),
        ("q(X) :- a(X), not b(X).", False),
        ("static s(y).\nq(X, Y) :- a(X), s(Y).", False),
        ("q(X, Y)@T :- a(X)@T, b(Y)@T+1.", True),
    ],
)
def test_parts_without_a_common_value_may_be_slow(rule: str, slow: bool) -> None:
    report = check_text(rule)
    assert report.findings is not None, report
    assert bool(report.findings.slow) == slow
    if slow:
        assert any(line.startswith("line 1: `a(X)") for line in dict(needs(report))["may be slow"])
        assert report.to_json()["slow"][0]["line"] == 1


def test_a_command_has_a_neighbour_and_the_time_a_column(tmp_path: Path) -> None:
    called = subprocess.run([sys.executable, "-m", "presage", "chekc", "p.psg"], capture_output=True, text=True)
    assert (called.returncode, called.stderr) == (2, "presage: there is no command `chekc`; did you mean `check`?\n")
    (tmp_path / "p.psg").write_text("tick 1s.\ninput temp(d, l).\nalarm(X) :- temp(X, high).\nquery alarm(X).\n")
    (tmp_path / "temp.csv").write_text("d,l,measured\na,high,2026-01-01T00:00:00Z\n")
    call = [sys.executable, "-m", "presage", "run", "p.psg", "--facts", "temp.csv"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "there is no column `time`" in done.stderr and 'time = "measured"' in done.stderr
