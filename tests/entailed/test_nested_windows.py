"""Windows of time within windows of time, in the interval engine, against the oracle."""

from __future__ import annotations

import random

import pytest

from presage.checking import check_text
from presage.plan.subformulas import Unsupported
from presage.run.confirmed import Confirming
from tests.entailed.test_engine import LONG, compare
from tests.random_programs import Case

PROGRAM = """timeline discrete. static s(x). input p(x) delay {delay}. input q(x).
d(X) :- s(X), {formula}. query d(X)."""
LOCAL = ("p(X)", "p(X)", "p(X)", "(p(X) and not q(X))", "(p(X) or q(X))", "not p(X)")
AROUND = ("{}", "{}", "{}", "not {}", "once[0,1] ({})", "window(3) some ({})")
LAST = 11


def nested_case(seed: int) -> Case:
    chance = random.Random(seed)

    def window() -> str:
        back, ahead = chance.choice(["0", "1", "2", "3", "5", "inf"]), chance.choice([0, 0, 0, 1, 2])
        return f"window({back}{f', ahead {ahead}' if ahead else ''})"

    modalities = chance.choice([("some", "all"), ("all", "some"), ("some", "some"), ("all", "all")])
    formula = f"{window()} {modalities[0]} {window()} {modalities[1]} {chance.choice(LOCAL)}"
    delay = chance.choice([0, 1])
    text = PROGRAM.format(delay=delay, formula=chance.choice(AROUND).format(formula))
    facts = []
    for time in range(LAST + 1):
        for name, often in (("p", 0.7), ("q", 0.2)):
            for constant in "ab":
                if chance.random() < often:
                    arrival = time + (chance.choice([0, delay]) if name == "p" else 0)
                    facts.append(((name, (constant,), time), arrival))
    return Case(text, facts, [("s", ("a",)), ("s", ("b",))], LAST + 1)


@pytest.mark.parametrize("seed", range(2000) if LONG else range(40))
def test_nested(seed: int) -> None:
    compare(nested_case(seed), dense=False)


def test_most_are_run_by_the_engine() -> None:
    refused = 0
    for seed in range(200):
        findings = check_text(nested_case(seed).text).findings
        assert findings is not None
        try:
            Confirming(findings.watched, None)
        except Unsupported:
            refused += 1
    assert refused < 60
