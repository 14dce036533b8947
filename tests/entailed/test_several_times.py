"""Rules with several time variables against all choices of facts: what nobody asks for any more on the way from time to
time stays behind, and what is only passed on is not remembered."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest

import presage

LAST = 14
Choice = tuple[int, str, int, str, int, str]
"""Times and values of three facts of one key."""
RULES: dict[str, tuple[str, Callable[..., bool], Callable[..., tuple[object, ...]]]] = {
    "three_that_differ": (
        "q(X)@T :- p(X, A)@T, p(X, B)@U, p(X, C)@V, T < U, U < V, V <= T + 6, A != B, B != C, A != C.",
        lambda t, a, u, b, v, c: t < u < v <= t + 6 and len({a, b, c}) == 3,
        lambda t, a, u, b, v, c: (t,),
    ),
    "the_one_between": (
        "q(X)@U :- p(X, A)@T, p(X, B)@U, p(X, A)@V, T < U, U < V, V <= T + 4, A != B.",
        lambda t, a, u, b, v, c: t < u < v <= t + 4 and a == c != b,
        lambda t, a, u, b, v, c: (u,),
    ),
    "the_last": (
        "q(X, C)@V :- p(X, A)@T, p(X, B)@U, p(X, C)@V, T <= U, U <= V, V <= T + 3, A != C.",
        lambda t, a, u, b, v, c: t <= u <= v <= t + 3 and a != c,
        lambda t, a, u, b, v, c: (c, v),
    ),
    "with_a_time_in_the_head": (
        "q(X, U)@T :- p(X, A)@T, p(X, B)@U, p(X, C)@V, T < U, U < V, V <= U + 2, U <= T + 5, A != B, B != C.",
        lambda t, a, u, b, v, c: t < u < v <= u + 2 and u <= t + 5 and a != b != c,
        lambda t, a, u, b, v, c: (u, t),
    ),
    "in_a_ring": (
        "q(X)@T :- p(X, A)@T, p(X, B)@U, p(X, C)@V, U >= T + 1, V >= U + 2, V <= T + 5, U <= T + 2, A != B.",
        lambda t, a, u, b, v, c: t + 1 <= u <= t + 2 and u + 2 <= v <= t + 5 and a != b,
        lambda t, a, u, b, v, c: (t,),
    ),
    "on_both_sides": (
        "q(X, A)@T :- p(X, A)@T, p(X, B)@U, p(X, B)@V, U < T, T < V, V - U <= 5, A != B.",
        lambda t, a, u, b, v, c: u < t < v <= u + 5 and b == c != a,
        lambda t, a, u, b, v, c: (a, t),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_several_times_against_all_choices(name: str) -> None:
    rule, holds, head = RULES[name]
    wanted_at_all = 0
    for seed in range(15):
        rng = random.Random(f"{name} {seed}")
        delay = rng.randint(0, 2)
        program = presage.parse(f"timeline discrete.\ninput p(x, v) delay {delay}.\n{rule}")
        facts = {(rng.choice("xy"), rng.choice("abc"), rng.randint(0, LAST)) for _ in range(rng.randint(4, 24))}
        arriving: dict[int, list[tuple[str, tuple[str, str], int]]] = {}
        for key, value, time in sorted(facts):
            arriving.setdefault(time + rng.randint(0, delay), []).append(("p", (key, value), time))
        wanted = set()
        for key in "xy":
            own = [(time, value) for each, value, time in facts if each == key]
            for chosen in product(own, repeat=3):
                flat = [part for one in chosen for part in one]
                if holds(*flat):
                    wanted.add((key, *head(*flat)))
        assert _told(program, arriving, seed % 2 == 1) == wanted, (rule, sorted(facts))
        wanted_at_all += len(wanted)
    assert wanted_at_all


def _told(program: presage.Program, arriving: dict[int, list[tuple[str, tuple[str, str], int]]], save: bool) -> set:
    reasoner = presage.Reasoner(program, emit="confirmed")
    found = set()
    for now in range(LAST + 12):
        for each in reasoner.push(arriving.get(now, []), now=now):
            first, last = (each.time, each.time) if each.time is not None else (each.start, each.end)
            found |= {(*each.arguments, time) for time in range(int(first), int(last) + 1)}
        if save and now % 3 == 2:
            reasoner = presage.Reasoner.restore(program, reasoner.save())
    return found
