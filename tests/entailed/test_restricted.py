"""The restricted chase: fewer values, the same certain answers; and certain answers to conjunctive queries."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from presage.answer_streams.stepping_one import OneModelSteps
from presage.checking import check_text
from presage.cli import main
from presage.errors import PresageError
from tests.entailed.test_chase import confirmed, expected, oracle_null, shown_null, without_nulls
from tests.oracle.homomorphism import homomorphism
from tests.random_existential import make_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
FACTS = [
    {"pred": "belt", "args": ["b1"], "time": 0},
    {"pred": "runs", "args": ["ann", "b1"], "time": 0},
    {"pred": "belt", "args": ["b2"], "time": 0},
]
BELTS = """
timeline discrete.
input belt(x). input runs(who, x).
exists Y: operator(X, Y), person(Y) :- belt(X).
operator(X, Y), person(Y) :- runs(Y, X).
"""


def written(folder: Path, text: str) -> list[str]:
    program, facts = folder / "belts.psg", folder / "facts.jsonl"
    program.write_text(text, encoding="utf-8")
    facts.write_text("".join(json.dumps(fact) + "\n" for fact in FACTS), encoding="utf-8")
    return [str(program), "--facts", str(facts)]


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(list(arguments)) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_value_that_is_there_will_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def operators(text: str) -> list[object]:
        found = lines(capsys, "run", *written(tmp_path, text + "query operator(X, Y)."), "--emit", "confirmed")
        return sorted(str(line["answer"]) for line in found)

    assert operators(BELTS) == ["operator(b1, _:1)@0", "operator(b1, ann)@0", "operator(b2, _:2)@0"]
    assert operators(BELTS + "chase restricted.\n") == ["operator(b1, ann)@0", "operator(b2, _:1)@0"]


@pytest.mark.parametrize("chase", ["skolem", "restricted"])
def test_certain_answers(chase: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(tmp_path, f"{BELTS}chase {chase}.")

    def ask(question: str, *options: str) -> list[dict[str, object]]:
        return lines(capsys, "ask", *files, "--at", "0", *options, question)

    assert ask("operator(X, Y)") == [{"bindings": {"X": "b1", "Y": "ann"}, "at": 0}]
    assert ask("exists Y: operator(X, Y), person(Y)") == [
        {"bindings": {"X": "b1"}, "at": 0}, {"bindings": {"X": "b2"}, "at": 0},
    ]  # fmt: skip
    assert ask("exists X, Y: window(2) some operator(X, Y)") == [{"holds": True, "at": 0}]
    assert len(ask("operator(X, Y)", "--nulls")) == (3 if chase == "skolem" else 2)


def test_a_value_must_not_hang_on_its_own_absence() -> None:
    text = "timeline discrete. chase restricted. exists Y: p(X, Y), q(Y) :- a(X), not q(X)@now-1. q(X) :- b(X)."
    steps = OneModelSteps(check_text(text))
    with pytest.raises(PresageError, match="own absence"):
        steps.step([], 0)


@pytest.mark.parametrize("seed", range(300) if LONG else range(15))
def test_the_same_up_to_homomorphism(seed: int) -> None:
    case = make_case(seed, windows=True, positive=True)
    theirs = expected(case, dense=False)
    case.text += "chase restricted.\n"
    ours = confirmed(OneModelSteps(check_text(case.text)), case)
    assert without_nulls(ours) == without_nulls(theirs)
    assert len({value for fact in ours for value in fact[1]}) <= len({value for fact in theirs for value in fact[1]})
    assert homomorphism(ours, theirs, shown_null) is not None
    assert homomorphism(theirs, ours, oracle_null) is not None
