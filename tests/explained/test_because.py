"""`presage run --emit confirmed --because`: what answers rest on, where the engine of entailed facts runs alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from presage import parse
from presage.answers import Answer
from presage.errors import PresageError
from presage.explanations.reasons import evidence_of
from presage.plan.builder import Unsupported
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.entailed.test_engine import facts_of
from tests.random_programs import Case, make_case

ROOT = Path(__file__).parent.parent.parent
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
HEARTBEAT = ROOT / "examples/heartbeat/heartbeat.psg"


def run(program: Path, facts: Path, *words: str, status: int = 0) -> list[dict[str, Any]] | str:
    command = [sys.executable, "-m", "presage", "run", program, "--facts", facts, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == status, done.stderr
    return done.stderr if status else [json.loads(line) for line in done.stdout.splitlines()]


def test_dense_answers_say_what_they_rest_on() -> None:
    facts = ROOT / "examples/heartbeat/facts.jsonl"
    first, *_ = run(HEARTBEAT, facts, "--emit", "confirmed", "--because", "--until", "10")
    assert isinstance(first, dict) and first["answer"] == "lost(press)@(7,8]"
    absent = ["not beat(press)@(2,8]", "not (once[0,10] stopped(press))@(7,8]"]
    assert first["because"] == ["beat(press)@2", *absent]


def test_absence_stands_where_its_time_is(tmp_path: Path) -> None:
    program, facts = tmp_path / "program.psg", tmp_path / "facts.jsonl"
    program.write_text("input p(x). input n(x). r(X)@T :- p(X)@T, p(X)@T+1, not n(X)@T+1. query r(X).")
    facts.write_text("".join(f'{{"pred": "p", "args": ["a"], "time": {time}}}\n' for time in (0, 1)))
    (found,) = run(program, facts, "--emit", "confirmed", "--because")
    assert isinstance(found, dict) and found["because"] == ["p(a)@0", "not n(a)@1", "p(a)@1"]
    program.write_text("timeline dense. input p(x). input n(x). r(X)@T :- p(X)@T, not n(X)@T+1. query r(X).")
    facts.write_text('{"pred": "p", "args": ["a"], "from": 0, "to": 1}\n')
    (_, found) = run(program, facts, "--emit", "confirmed", "--because", "--until", "2")
    assert isinstance(found, dict) and found["answer"] == "r(a)@(0,1]"
    assert found["because"] == ["p(a)@[0,1]", "not n(a)@(1,2]"]


def test_it_costs_nothing_unless_asked() -> None:
    facts = ROOT / "examples/heartbeat/facts.jsonl"
    lines = run(HEARTBEAT, facts, "--emit", "confirmed", "--until", "10")
    assert lines and all(isinstance(line, dict) and line["because"] == [] for line in lines)


def test_recursion_and_constraints_have_evidence_too(tmp_path: Path) -> None:
    program, facts = tmp_path / "p.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput link(a, b).\ninput down(a).\nreach(X, Y) :- link(X, Y).\n"
        "reach(X, Z) :- reach(X, Y), link(Y, Z).\n:- reach(X, X), not down(X).\n"
        ":- link(X, Y), X = Y.\nquery reach(X, Y).\n"
    )
    facts.write_text("".join(f'{{"pred": "link", "args": ["{a}", "{b}"], "time": 0}}\n' for a, b in ("ab", "bc", "ca")))
    lines = run(program, facts, "--emit", "confirmed", "--because")
    because = {line["answer"]: line["because"] for line in lines if isinstance(line, dict)}
    assert because["reach(a, c)@0"] == ["link(a, b)@0", "link(b, c)@0"]
    violated = next(because[answer] for answer in because if answer.startswith("violated(6, a"))
    assert violated == ["link(a, b)@0", "link(b, c)@0", "link(c, a)@0", "not down(a)@0"]


def test_what_has_no_proofs_is_refused_with_the_reason(tmp_path: Path) -> None:
    program, facts = tmp_path / "p.psg", tmp_path / "facts.jsonl"
    program.write_text("timeline discrete.\ninput p(x).\na(X) :- window(rows 3) some p(X).\nquery a(X).\n")
    facts.write_text('{"pred": "p", "args": ["c"], "time": 0}\n')
    told = run(program, facts, "--emit", "confirmed", "--because", status=1)
    assert "--because" in told and "p.psg:3: no explanations yet for windows of rows" in told
    assert "goes with --emit confirmed" in run(program, facts, "--because", status=2)


def told(case: Case, facts: Any = None) -> list[Answer]:
    reasoner = Reasoner(parse(case.text), static={"s": [each for _, each in case.statics]}, emit="confirmed")
    given = facts_of(case) if facts is None else facts
    statics = [reasoner.checker.fact({"pred": name, "args": list(row)}, "static") for name, row in case.statics]
    reasons = evidence_of(reasoner.subject, given, statics)
    until = int(case.end + reasoner.longest_lag) + 2
    return [answer for answers in steps(reasoner, given, until) for answer in reasons(answers)]


def covers(answers: list[Answer], answer: Answer, time: Fraction) -> bool:
    for each in answers:
        if (each.predicate, each.arguments) != (answer.predicate, answer.arguments):
            continue
        low, high = (each.time, each.time) if each.time is not None else (each.start, each.end)
        if low is not None and low <= time and (high is None or time <= high):
            return True
    return False


@pytest.mark.parametrize("dense", [False, True], ids=["discrete", "dense"])
@pytest.mark.parametrize("seed", range(400) if LONG else range(6))
def test_the_evidence_has_arrived_and_suffices(seed: int, dense: bool) -> None:
    """On random programs: of every confirmed answer the facts had arrived; and where it rests on facts alone, these
    by themselves confirm it."""
    case = make_case(seed, dense)
    try:
        answers = told(case)
    except (Unsupported, PresageError) as reason:
        pytest.skip(str(reason))
    arrived = {text(fact): fact for fact in facts_of(case)}
    for answer in answers:
        facts = [each for each in answer.because if not each.startswith("not ")]
        assert all(arrived[each].arrival <= answer.now for each in facts), answer
    alone = [
        answer
        for answer in answers
        if answer.because and len(set(answer.because) & arrived.keys()) == len(answer.because)
    ]
    for answer in alone[:3]:
        low = answer.time if answer.time is not None else answer.start
        high = answer.time if answer.time is not None else answer.end
        again = told(case, [arrived[each] for each in answer.because])
        middle = Fraction(low or 0) if high is None else (Fraction(low or 0) + high) / 2
        if dense or middle.denominator == 1:
            assert covers(again, answer, middle), answer


def text(fact: Any) -> str:
    from presage.evidence.proof import InputFact
    from presage.explanations.words import show_fact

    return show_fact(InputFact.of(replace(fact)))
