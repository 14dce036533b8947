"""Windows with a filter in hypothetical answers: the same as rules that say themselves what the filter lets through."""

from __future__ import annotations

import random

import pytest

import presage
from presage.run.choice import Choice

INPUTS = """
timeline discrete.
input m(x, v) delay 1.
input q(x).
static s(x).
s(b).
query out(X).
"""


@pytest.mark.parametrize(
    ("filtered", "plain"),
    [
        (
            "out(X) :- q(X), window(2) window(only m(_, on)) some m(X, V).",
            "out(X) :- q(X), window(2) some m(X, on).",
        ),
        (
            "out(X) :- q(X), window(2) window(only (m(_, on), m(b, off))) some m(X, V).",
            "out(X) :- q(X), window(2) some m(X, on). out(b) :- q(b), window(2) some m(b, off).",
        ),
        (
            "out(X) :- q(X), window(only m(a, _)) not m(X, on).",
            "out(X) :- q(X), not m(X, on). out(X) :- q(X), X != a.",
        ),
        ("out(X) :- q(X), window(only q(_)) not m(X, on).", "out(X) :- q(X)."),
        (
            "out(X) :- q(X), window(only m(_, on)) window(only m(a, _)) m(X, V).",
            "out(a) :- q(a), m(a, on).",
        ),
        ("out(X) :- window(only m(V, V)) m(X, W), q(W).", "out(X) :- m(X, X), q(X)."),
        ("out(X) :- window(only q(b)) (q(X) and s(X)).", "out(b) :- q(b), s(b)."),
    ],
)
def test_a_filter_says_which_facts_count(filtered: str, plain: str) -> None:
    chance = random.Random(1)
    reasoners = [
        presage.Reasoner(presage.parse(INPUTS + rules), choice=Choice(top=1000)) for rules in (filtered, plain)
    ]
    told = 0
    for now in range(30):
        facts = [("q", (value,), now) for value in "ab" if chance.random() < 0.5]
        facts += [
            ("m", (value, state), now - late)
            for value in "ab"
            for state in ("on", "off", "a")
            for late in (0, 1)
            if late <= now and chance.random() < 0.2
        ]
        found, expected = (list(reasoner.push(facts, now)) for reasoner in reasoners)
        assert found == expected, now
        told += len(found)
    assert told
    assert reasoners[0].answers() == reasoners[1].answers()


def test_of_filters_that_let_nothing_through_nothing_follows() -> None:
    program = presage.parse(INPUTS + "out(X) :- q(X), window(only q(_)) m(X, on).")
    assert not presage.Reasoner(program).push([("q", ("a",), 0), ("m", ("a", "on"), 0)], 0)
