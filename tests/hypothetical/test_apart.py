"""Literals that can never be about one fact: a negated atom is judged by itself although one input matters twice."""

from __future__ import annotations

import pytest

import presage

PROGRAM = """
timeline discrete.
input temp(device, value) delay 1.
hot(X) :- temp(X, V), {hot}.
cold(X) :- temp(X, V), {cold}.
q(X) :- hot(X), not cold(X).
query q(X).
"""


@pytest.mark.parametrize(
    ("hot", "cold", "apart"),
    [
        ("V > 500", "V < 100", True),
        ("V > 5", "V <= 5", True),
        ("V >= 5", "V <= 5", False),
        ("V > 5", "V < 7", False),
        ("500 < V", "V = 3", True),
        ("V = high", "V = low", True),
        ("V = high", "V > 5", True),
        ("V != high", "V = high", True),
        ("V > 5", "not V > 5", False),
        ("V > 5", "V = high", True),
    ],
)
def test_conditions_that_exclude_each_other(hot: str, cold: str, apart: bool) -> None:
    program = presage.parse(PROGRAM.format(hot=hot, cold=cold))
    engine = presage.Reasoner(program, emit="changes").engine
    assert (engine.supposing.engine.evolutions is None) == apart  # type: ignore[attr-defined]


def test_what_is_told_is_the_same_either_way() -> None:
    program = presage.parse(PROGRAM.format(hot="V > 50", cold="V < 10"))
    reasoner = presage.Reasoner(program, emit="changes")
    told = []
    for now, facts in enumerate([[("temp", ("a", 60), 0), ("temp", ("b", 70), 0)], [("temp", ("b", 5), 0)], []]):
        told += [(now, each.status, each.answer, each.needs) for each in reasoner.push(facts, now)]
    assert told == [
        (0, "possible", "q(a)@0", ("not cold(a)@0",)),
        (0, "possible", "q(b)@0", ("not cold(b)@0",)),
        (1, "confirmed", "q(a)@0", ()),
        (1, "refuted", "q(b)@0", ()),
    ]
