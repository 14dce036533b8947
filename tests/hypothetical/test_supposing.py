"""Hypothetical answers as users get them: confidence and what it decides, order and renaming that change nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.cli import main
from presage.run.choice import Choice
from tests.random_hypotheses import make_case
from tests.random_programs import Case

LIKELY = """
input a(x) rate 0.5.
input b(x) delay {0: 0.7, 1: 0.2} rate 0.5.
input c(x) delay 2 loss 0.1 rate 0.4.
input d(x) rate 0.25.
q(X)@T :- a(X)@T, b(X)@T+1.
r(X)@T :- a(X)@T, c(X)@T.
s(X)@T :- a(X)@T, not d(X)@T+1.
bad(X)@T :- d(X)@T, b(X)@T.
t(X)@T :- a(X)@T, not bad(X)@T+1.
query q(X).
query r(X).
query s(X).
query t(X).
"""


def confidences(answers: Any) -> dict[str, float | None]:
    return {answer.answer: answer.confidence for answer in answers if answer.status == "possible"}


def test_confidence_is_that_of_the_premises_given_what_has_not_arrived() -> None:
    reasoner = presage.Reasoner(presage.parse(LIKELY))
    first = confidences(reasoner.push([("a", ("x",), 0)], now=0))
    assert first["q(x)@0"] == pytest.approx(0.5 * 0.9)
    assert first["r(x)@0"] == pytest.approx(0.4 * 0.9)
    assert first["s(x)@0"] == pytest.approx(0.75)
    assert first["t(x)@0"] == pytest.approx(1 - 0.25 * 0.5 * 0.9)
    reasoner.push([], now=1)
    later = confidences(reasoner.answers())
    assert later["q(x)@0"] == pytest.approx(0.5 * 0.2 / (1 - 0.5 * 0.7))
    assert later["r(x)@0"] == pytest.approx(0.4 * 0.9)  # a plain delay does not say when it should have come


def test_without_rates_there_is_no_confidence() -> None:
    reasoner = presage.Reasoner(presage.parse("q(X)@T :- a(X)@T, b(X)@T+1.\nquery q(X).\n"))
    assert confidences(reasoner.push([("a", ("x",), 0)], now=0)) == {"q(x)@0": None}


def test_a_change_of_confidence_is_told_if_asked_for() -> None:
    reasoner = presage.Reasoner(presage.parse(LIKELY), choice=Choice(confidence_step=0.2))
    reasoner.push([("a", ("x",), 0)], now=0)
    told = [answer.answer for answer in reasoner.push([], now=1) if answer.status == "possible"]
    assert told == ["q(x)@0"]


def run(folder: Path, program: str, facts: list[dict[str, Any]], *more: str) -> list[dict[str, Any]]:
    (folder / "program.psg").write_text(program)
    (folder / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    words = [
        "run",
        str(folder / "program.psg"),
        "--facts",
        str(folder / "facts.jsonl"),
        "--out",
        str(folder / "o.jsonl"),
    ]
    assert main([*words, *more]) == 0
    return [json.loads(line) for line in (folder / "o.jsonl").read_text().splitlines()]


def test_unlikely_answers_are_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [{"pred": "a", "args": ["x"], "time": 0}, {"pred": "b", "args": ["x"], "time": 1}]
    lines = run(tmp_path, LIKELY, facts, "--min-confidence", "0.7")
    # What comes true is told, likely or not; what was never told is not refuted.
    assert {line["answer"] for line in lines if line["status"] == "possible"} == {"s(x)@0", "t(x)@0"}
    assert {line["answer"] for line in lines if line["status"] == "confirmed"} == {"q(x)@0", "s(x)@0", "t(x)@0"}
    assert [line["answer"] for line in lines if line["status"] == "refuted"] == []
    assert "less likely" in capsys.readouterr().err


def test_the_likeliest_of_a_snapshot(tmp_path: Path) -> None:
    facts = [{"pred": "a", "args": ["x"], "time": 0}]
    lines = run(tmp_path, LIKELY, facts, "--emit", "snapshot", "--top", "1", "--until", "0")
    assert [answer["answer"] for line in lines for answer in line["answers"]] == ["t(x)@0"]
    assert [line["query"] for line in lines] == ["q(X)", "r(X)", "s(X)", "t(X)"]


def test_the_least_likely_are_shed_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [{"pred": "a", "args": [f"x{index}"], "time": 0} for index in range(5)]
    run(tmp_path, LIKELY, facts, "--max-open", "3")
    assert "were shed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", [["--min-confidence", "2"], ["--min-confidence", "x"], ["--top", "-1"], ["--max-open", "many"]]
)
def test_wrong_options_are_refused(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.psg", "--facts", "f.jsonl", *option]) == 2
    assert option[0] in capsys.readouterr().err


# -- what must not matter --------------------------------------------------------------------------


def told(case: Case, seed: int) -> list[list[str]]:
    """The answers of each step, the facts of a step in random order."""
    reasoner = presage.Reasoner(presage.parse(case.text), {"s": [row for _, row in case.statics]})
    mixed = random.Random(seed)
    found = []
    for now in range(max((arrives for _, arrives in case.facts), default=0) + 3):
        due = [fact for fact, arrives in case.facts if arrives == now]
        mixed.shuffle(due)
        lines = [json.dumps(answer.to_json(), sort_keys=True) for answer in reasoner.push(due, now)]
        found.append(sorted(lines))
    return found


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_the_order_of_facts_within_a_step_does_not_matter(seed: int) -> None:
    case = make_case(seed)
    assert told(case, 1) == told(case, 2)


@pytest.mark.parametrize("seed", range(1, 60, 3))
def test_confirmed_answers_do_not_depend_on_when_facts_arrive(seed: int) -> None:
    case = make_case(seed)
    program = presage.parse(case.text)
    last = max((arrives for _, arrives in case.facts), default=0) + 4
    outcomes = []
    for arriving in (lambda fact, arrives: arrives, lambda fact, arrives: fact[2]):
        reasoner = presage.Reasoner(program, {"s": [row for _, row in case.statics]})
        confirmed = set()
        for now in range(last):
            due = [fact for fact, arrives in case.facts if arriving(fact, arrives) == now]
            confirmed |= {answer.answer for answer in reasoner.push(due, now) if answer.status == "confirmed"}
        # Answers with open variables may be told for everybody or one by one: only ground ones are compared.
        outcomes.append({each for each in confirmed if "X" not in each and int(each.split("@")[1]) < last - 8})
    assert outcomes[0] == outcomes[1]


LATE = "timeline discrete. input p(x) delay 3000000."


@pytest.mark.parametrize(
    ("program", "now", "message"),
    [
        (f"{LATE} out(X) :- p(X). query out(X).", 2_000_000, "time points"),
    ],
)
def test_an_interval_that_is_refused_changes_nothing(program: str, now: int, message: str) -> None:
    when = (0, now, "[]")
    reasoner, other = (presage.Reasoner(presage.parse(program), emit="changes") for _ in range(2))
    with pytest.raises(presage.PresageError, match=message):
        reasoner.push([("p", ("a",), now), ("p", ("b",), when)], now)
    assert list(reasoner.push([("p", ("a",), now)], now)) == list(other.push([("p", ("a",), now)], now))
    assert list(reasoner.answers()) == list(other.answers())


def test_an_early_fact_shows_through_any_number_of_negations() -> None:
    """It is looked at at once, though time alone would bring the answer into sight much later."""
    rules = " ".join(f"d{level}(X) :- not d{level - 1}(X)." for level in range(2, 10))
    text = f"timeline discrete. input p(x). d1(X) :- not p(X). {rules} query d8(X). query d9(X)."
    for select in (Choice(), Choice(top=100)):
        reasoner = presage.Reasoner(presage.parse(text), choice=select)
        told = [str(answer) for answer in reasoner.push([("p", ("a",), 9)], now=0)]
        assert "confirmed d8(a)@9" in told and not any("d9(a)@9" in each for each in told)


def test_what_was_told_is_remembered_only_where_it_matters() -> None:
    inputs = "timeline discrete. input p(x) rate 0.5. input q(x) rate 0.5."
    text = f"{inputs} out(X)@T :- p(X)@T, q(X)@T+1. query out(X)."
    for select, remembered in ((Choice(), False), (Choice(top=5), False), (Choice(confidence_step=0.1), True)):
        reasoner = presage.Reasoner(presage.parse(text), choice=select)
        assert reasoner.supposing is not None
        for now in range(40):
            reasoner.push([("p", (f"x{now}",), now), ("q", (f"x{now - 1}",), now)], now)
            assert len(getattr(reasoner.supposing, "chances", ())) <= 6
        assert bool(getattr(reasoner.supposing, "chances", ())) == remembered


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
def test_a_static_fact_without_arguments_is_one(timeline: str) -> None:
    """Its row is empty, and yet there."""
    text = (
        f"timeline {timeline}. input p(x). static on. q(X) :- p(X), on. r(X) :- p(X), not on. query q(X). query r(X)."
    )
    for rows, said in ([[()], "confirmed q(a)@1"], [[], "confirmed r(a)@1"]):
        reasoner = presage.Reasoner(presage.parse(text), static={"on": rows})
        assert list(map(str, reasoner.push([("p", ("a",), 1)], now=1))) == [said]
