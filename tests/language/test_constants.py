"""Circles through negation that constants break: one model, run like any other program."""

from __future__ import annotations

import random

import pytest

import presage
from presage.checking import check_text
from tests.oracle import evaluate

GRADES = """timeline discrete. input s(v, x) delay 1.
f(V, good) :- s(V, good).
f(V, fair) :- s(V, X), not f(V, good), X != bad.
f(V, poor) :- s(V, X), not f(V, good), not f(V, fair).
g(V) :- f(V, W), not f(V, poor).
query f(V, W). query g(V)."""


@pytest.mark.parametrize("seed", range(12))
def test_grades(seed: int) -> None:
    report = check_text(GRADES)
    assert report.findings is not None
    assert report.findings.route.engine == "interval" and report.findings.strata.stratified
    chance = random.Random(seed)
    facts = [
        ("s", (chance.choice("abc"), chance.choice(["good", "bad", "so"])), chance.randint(0, 6)) for _ in range(8)
    ]
    model = evaluate(report.findings.watched.program, facts, [], end=8, timeline="discrete")
    right = {
        f"{name}({', '.join(map(str, arguments))})@{time}"
        for name, arguments in model
        if name in "fg"
        for low, high, _ in model.intervals(name, *arguments)
        for time in range(int(low), int(high) + 1)
    }
    for emit in ("confirmed", "changes"):
        reasoner = presage.Reasoner(presage.parse(GRADES), emit=emit)
        told = []
        for now in range(9):
            told += list(reasoner.push([fact for fact in facts if fact[2] == now], now=now))
        assert {each.answer for each in told if each.status == "confirmed"} == right
        assert not any("#" in str(each.to_json()) for each in told)


@pytest.mark.parametrize(
    "text",
    [
        "input s(v). f(V, good) :- s(V), not f(V, poor). f(V, poor) :- s(V), not f(V, good).",
        "input s(v). f(V, good) :- s(V), not f(V, good).",
        "input s(v, x). f(V, X) :- s(V, X), not f(V, good).",
        "input s(v, x). f(V, good) :- s(V, good), f(V, poor). f(V, poor) :- s(V, X), not f(V, good).",
    ],
)
def test_circles_that_stay(text: str) -> None:
    findings = check_text(text).findings
    assert findings is not None
    assert not findings.strata.stratified and findings.route.engine == "clingo"
