"""Alternatives that only compare: there is no relation of them, and each is a join of its own."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import presage

READINGS = "timeline discrete.\ninput s(a: int, b: int).\n"
CASES: dict[str, Callable[[int, int], bool]] = {
    "o(A) :- s(A, B), (B > 2 or A = 1).": lambda a, b: b > 2 or a == 1,
    "o(A) :- s(A, B), (B > 2 or B + A <= 1).": lambda a, b: b > 2 or a + b <= 1,
    "o(A) :- once[0,0] (s(A, B) and (B > 2 or A = 1)).": lambda a, b: b > 2 or a == 1,
    "o(A) :- s(A, B), (B > 2 and A > 1 or A = 1 and B < 2).": lambda a, b: (b > 2 and a > 1) or (a == 1 and b < 2),
    "o(A) :- s(A, B), (B > 2 or A = 1), (A < 3 or B = 0).": lambda a, b: (b > 2 or a == 1) and (a < 3 or b == 0),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_each_alternative_is_a_way(rule: str) -> None:
    dice = random.Random(rule)
    reasoner = presage.Reasoner(presage.parse(READINGS + rule), emit="confirmed")
    for now in range(8):
        pairs = {(dice.randint(0, 4), dice.randint(0, 4)) for _ in range(4)}
        found = {answer.arguments[0] for answer in reasoner.push([("s", pair, now) for pair in pairs], now=now)}
        assert found == {a for a, b in pairs if CASES[rule](a, b)}
