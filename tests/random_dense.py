"""Random programs and streams on dense time, for hypothetical answers: all times are whole numbers, so that cells
between them are all there is to look at."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.oracle.dense import Span
from tests.oracle.streams import Value

CONSTANTS = ("a", "b")
LAST = 5
"""Facts lie before, and steps are made up to here."""


@dataclass(frozen=True)
class DenseCase:
    text: str
    facts: tuple[tuple[tuple[str, tuple[Value, ...], Span], int], ...]
    """Each with when it arrives."""


def make_dense_case(seed: int) -> DenseCase:
    dice = random.Random(seed)
    delays = {name: dice.choice((0, 0, 1, 2)) for name in ("p", "r", "e")}
    lines = ["timeline dense."]
    lines += [f"input {name}({'x, y' if name == 'e' else 'x'}) delay {wait}." for name, wait in delays.items()]
    # What has one way to come about may stand below `historically`; what has several, below `once`.
    lines.append(
        dice.choice(
            (
                "d(X) :- p(X), r(X).",
                "d(X)@T :- p(X)@T, r(X)@T+1.",
                "d(X) :- historically[0,1] p(X).",
                "d(X) :- once[1,1] p(X), r(X).",
            )
        )
    )
    lines.append(
        dice.choice(
            (
                "g(X) :- p(X). g(X) :- r(X).",
                "g(X) :- e(X, Y).",
                "g(X)@T :- p(X)@S, r(X)@T, S <= T.",
                "always[0,1] g(X) :- p(X).",
                "g(X) :- once[0,1] p(X).",
                "g(X)@T :- p(X)@S, S < T, r(X)@T.",
            )
        )
    )
    parts = [_literal(dice) for _ in range(dice.choice((1, 2, 2, 2, 3)))]
    if dice.random() < 0.15:
        parts.append(dice.choice(("e(X, Y)", "once[0,1] e(X, Y), p(Y)", "e(X, X)")))
    head = dice.choice(("q(X)", "q(X)", "q(X)", "always[0,1] q(X)", "historically(0,1] q(X)"))
    lines.append(f"{head} :- {', '.join(parts)}.")
    lines.append("query q(X).")
    facts = []
    for _ in range(dice.randint(1, 5)):
        name = dice.choice(("p", "p", "r", "r", "e"))
        values = (dice.choice(CONSTANTS),) if name != "e" else (dice.choice(CONSTANTS), dice.choice(CONSTANTS))
        low = dice.randint(0, LAST)
        span = Span(low, True, low, True)
        if dice.random() < 0.5:
            high = low + dice.randint(1, 3)
            span = Span(low, dice.random() < 0.6, high, dice.random() < 0.6)
        early = dice.random() < 0.1
        facts.append(((name, values, span), max(0, low - 1) if early else low + dice.randint(0, delays[name])))
    return DenseCase("\n".join(lines), tuple(facts))


def _literal(dice: random.Random) -> str:
    atom = dice.choice(("p(X)", "p(X)", "r(X)", "d(X)"))
    interval = dice.choice(("[0,1]", "[0,2]", "[1,2]", "(0,1]", "[0,1)", "(0,2)", "[1,1]"))
    match dice.randrange(8):
        case 0:
            return atom
        case 1 | 2:
            return f"once{interval} {dice.choice((atom, 'g(X)', 'd(X)'))}".replace(
                "d(X)", "p(X)" if dice.random() < 0.6 else "r(X)"
            )
        case 3 | 4:
            return f"historically{interval} {atom}"
        case 5:
            return f"{dice.choice(('eventually', 'always'))}{interval} {dice.choice(('p(X)', 'r(X)'))}"
        case 6:
            return f"window({dice.choice((1, 2))}) {dice.choice(('some', 'all'))} {dice.choice(('p(X)', 'r(X)'))}"
        case _:
            return "g(X)"
