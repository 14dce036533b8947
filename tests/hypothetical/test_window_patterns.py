"""Hopping windows and windows within windows in hypothetical answers, against every evolution of what has arrived."""

from __future__ import annotations

import os
import random

import pytest

from presage.checking import check_text
from tests.hypothetical.test_hypotheses import compare
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ROUNDS = range(30) if LONG else range(2)
BODIES = [
    "window(2, hop 2) some p(X)",
    "window(2, hop 2) all p(X)",
    "window(1, ahead 1, hop 2) some p(X), r(X)",
    "r(X), window(3, hop 3) all not p(X)",
    "r(X), not window(2, hop 2) some p(X)",
    "window(2, hop 2) d(X)@now-1",
    "window(2) some window(1) all p(X)",
    "window(1) all window(1) some p(X)",
    "window(1, ahead 1) all (p(X) or r(X))",
    "window(2) some (window(1) all p(X) and r(X))",
    "window(2, hop 2) some window(1) all p(X)",
    "window(1) all d(X)",
    "window(1) all (p(X) and r(X))",
    "r(X), window(2) some not window(1) some p(X)",
    "r(X), window(1) all not window(1) all p(X)",
    "window(2) some reset window(1) all p(X)",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("turn", ROUNDS)
def test_against_every_evolution(body: str, turn: int) -> None:
    dice = random.Random(f"{body} {turn}")
    delays = {name: dice.choice((0, 0, 1)) for name in ("p", "r")}
    text = f"""
        timeline discrete. input p(x) delay {delays["p"]}. input r(x) delay {delays["r"]}.
        d(X) :- p(X), r(X). q(X) :- {body}. query q(X).
    """
    found = check_text(text).findings
    assert found is not None and all(each.hypothetical.possible for each in found.queries)
    facts = []
    for _ in range(dice.randint(2, 6)):
        name, time = dice.choice("ppr"), dice.randint(0, 4)
        facts.append(((name, (dice.choice("ab"),), time), time + dice.randint(0, delays[name])))
    compare(Case(text, tuple(facts), (), 4))
