"""Whether inventing values ends: what the analyses promise, against the chase of the oracle on small timelines.

A program that some class admits must have a finite chase over every data; whatever holds is taken for data here, on all
of a small timeline. The classes contain one another.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from presage.analysis.acyclic import temporal_weak_acyclicity, weak_acyclicity
from presage.analysis.faithful import faithful_acyclicity
from presage.checking import Findings, check_text
from tests.oracle import ChaseLimit, evaluate

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
END, MOST = 1, 60
INPUTS, DERIVED = (("i", 1), ("j", 2)), (("a", 1), ("b", 2), ("c", 2))


def make_program(seed: int) -> str:
    chance = random.Random(seed)

    def atom(name: str, arity: int, names: list[str]) -> str:
        return f"{name}({', '.join(chance.choice(names) for _ in range(arity))})"

    lines = ["timeline discrete.", "input i(x).", "input j(x, y).", "a(X) :- i(X).", "query a(X)."]
    for _ in range(chance.randint(1, 3)):
        pinned = chance.random() < 0.5
        names = ["X", "Y"]
        literals = [atom(*chance.choice([*DERIVED, *DERIVED, *INPUTS]), names) for _ in range(chance.randint(1, 2))]
        bound = sorted({name for literal in literals for name in names if name in literal})
        exists = "exists N: " if chance.random() < 0.7 else ""
        if exists and chance.random() < 0.3:
            exists = "exists lasting N: "
        shown = [*bound, "N"] if exists else bound
        heads = [atom(*chance.choice(DERIVED), shown) for _ in range(chance.randint(1, 2))]
        if exists and not any("N" in head for head in heads):
            heads.append(f"b({chance.choice(bound)}, N)")
        if pinned:
            literals = [f"{literal}@T{chance.choice(['', '', '+1'])}" for literal in literals]
            heads = [f"{head}@T{chance.choice(['', '+1', '-1'])}" for head in heads]
        elif chance.random() < 0.3:
            literals[0] = f"window(1) {chance.choice(['some', 'all'])} {literals[0]}"
        lines.append(f"{exists}{', '.join(heads)} :- {', '.join(literals)}.")
    return "\n".join(lines) + "\n"


def findings(text: str) -> Findings:
    found = check_text(text, chase_limit=1, horizon=END)
    assert found.findings is not None, found.problems
    return found.findings


def ends(text: str) -> bool:
    data = [("i", (value,), time) for value in "x" for time in range(END + 1)]
    pairs = [("j", (first, second), time) for first in "xy" for second in "x" for time in range(END + 1)]
    try:
        evaluate(findings(text).subject.program, [*data, *pairs], end=END, chase_limit=MOST, timeline="discrete")
    except ChaseLimit:
        return False
    return True


def test_promises_are_kept() -> None:
    seen: Counter[str] = Counter()
    for seed in range(1500 if LONG else 60):
        text = make_program(seed)
        subject = findings(text).subject
        weak = weak_acyclicity(subject).acyclic
        temporal = temporal_weak_acyclicity(subject, END).acyclic
        faithful = faithful_acyclicity(subject, END).acyclic
        assert weak <= temporal <= faithful, text
        # A chase without end takes long to find out; a few will do.
        finite = ends(text) if faithful or seen["0000"] < 3 else False
        assert faithful <= finite, f"promised an end: {text}"
        seen[f"{weak:d}{temporal:d}{faithful:d}{finite:d}"] += 1
    assert {"1111", "0111", "0000"} <= set(seen), "the programs are too much alike"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("exists Y: r(X, Y) :- i(X).", "weakly_acyclic"),
        ("exists Y: n(X, Y)@T+1, m(Y)@T+1 :- m(X)@T. m(X) :- i(X).", "temporally_weakly_acyclic"),
        # Positions see a cycle; a value that was invented never is an i.
        ("exists Y: r(X, Y) :- a(X). a(Y) :- r(X, Y), i(Y). a(X) :- i(X).", "model_faithful_acyclic"),
        # The same where only time keeps the values apart.
        ("exists Y: r(X, Y)@T+1 :- a(X)@T, i(Z)@T. a(Y)@T :- r(X, Y)@T, j(X, X)@T. a(X) :- i(X).",
         "temporally_weakly_acyclic"),
        ("exists Y: r(X, Y), a(Y) :- a(X). a(X) :- i(X).", None),
    ],
)  # fmt: skip
def test_the_report_names_the_class(rules: str, expected: str | None) -> None:
    text = rules if "r(" in rules else rules + " r(X, Y) :- n(X, Y)."
    report = check_text(f"timeline discrete. input i(x). input j(x, y). query r(X, Y). {text}")
    assert report.to_json()["acyclicity"] == expected
    assert report.ok == (expected is not None)
