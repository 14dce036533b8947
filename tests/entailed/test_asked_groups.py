"""Aggregates whose groups are asked for by an input beside them tell those groups alone: the same answers as where all
are told, which is so where what stands beside them is derived."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

import presage
from presage.io.reading_back import as_pushed
from presage.io.tuples import FactTuple

INPUTS = "input p(d, v) delay {delay}.\ninput r(d, s) delay {other}.\nderived(D, S) :- r(D, S).\nstatic dev(d).\n"
RULES = {
    "sum": "q(D, S) :- {asks}(D, _), S = sum {{ V, T : window(4) p(D, V)@T }}.",
    "sum_before": "q(D, S) :- {asks}(D, _), S = sum {{ V, T : window(4) p(D, V)@T, T < now }}.",
    "mean": "q(D, S) :- {asks}(D, _), S = avg {{ V, T : window(4) p(D, V)@T }}.",
    "greatest": "q(D, S) :- {asks}(D, _), S = max {{ V : window(4) p(D, V)@T, T <= now }}.",
    "last": "q(D, S) :- {asks}(D, _), S = last {{ V, T : window(4) p(D, V)@T }}.",
    "by_two": "q(D, N) :- {asks}(D, E), N = count {{ V, T : window(4) p(D, V)@T, once[0,3] {asks}(D, E) }}.",
    "two_of_them": "q(D, S) :- {asks}(D, _), S = count {{ V, T : window(4) p(D, V)@T }}, "
    "sum {{ V, T : window(2) p(D, V)@T }} > 3.",
}
LAST = 12
LATER = {"sum_before": 1, "by_two": 0, "two_of_them": 0}
"""How much later than others' facts those that ask may come, where each is answered by itself."""


def _streams(rng: random.Random, delay: int, other: int, dense: bool) -> dict[Fraction, list[FactTuple]]:
    """What arrives when: facts at points, and of those that ask some that last or come early."""
    found: dict[Fraction, list[FactTuple]] = {}
    values = [1, 2, 5, Fraction(7, 3)] + ["x"] * (rng.random() < 0.2)
    parts = 2 if dense else 1
    for _ in range(rng.randint(3, 25)):
        time = Fraction(rng.randint(0, LAST * parts), parts)
        if rng.random() < 0.5:
            own: FactTuple = ("p", (rng.choice("abc"), rng.choice(values)), time)
            arrives = time + rng.randint(0, delay)
        elif rng.random() < 0.3:
            own = ("r", (rng.choice("abc"), rng.choice("uv")), (time, time + rng.randint(1, 5), "[]"))
            arrives = time + rng.randint(0, other)
        else:
            own = ("r", (rng.choice("abc"), rng.choice("uv")), time)
            arrives = max(Fraction(0), time + rng.randint(-3, other))
        found.setdefault(arrives, []).append(own)
    return found


def _told(
    program: presage.Program, arriving: dict[Fraction, list[FactTuple]], save: bool, rng: random.Random
) -> set[str]:
    reasoner = presage.Reasoner(program, emit="states")
    found: list[presage.Answer] = []
    for now in sorted({*arriving, Fraction(3), Fraction(9), Fraction(LAST + 20)}):
        found += reasoner.push(arriving.get(now, []), now=int(now) if now.denominator == 1 else now)
        if save and rng.random() < 0.5:
            reasoner = presage.Reasoner.restore(program, reasoner.save())
    assert not reasoner.late, list(map(as_pushed, reasoner.late))
    return {str(each) for each in (*found, *reasoner.end()) if each.status == "confirmed"}


def _askers(program: presage.Program) -> Iterator[bool]:
    collecting = presage.Reasoner(program, emit="confirmed").interval_engine.collecting
    for each in collecting.collectors.values():
        yield getattr(each, "asked", None) is not None
    yield from (True for _ in collecting.answering)


@pytest.mark.filterwarnings("ignore::presage.errors.PresageWarning")
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("timeline", ["discrete", "dense"])
def test_asked_groups_are_told_as_all_are(name: str, timeline: str) -> None:
    told = 0
    for seed in range(12):
        rng = random.Random(f"{name} {timeline} {seed}")
        delay = rng.randint(1, 4)
        other = rng.randint(0, delay - 1 + (LATER.get(name, 2) if timeline == "discrete" else 0))
        text = f"timeline {timeline}.\n{INPUTS}{RULES[name]}\nquery q(A, B).\n"
        texts = [text.format(delay=delay, other=other, asks=asks) for asks in ("r", "derived")]
        few, everything = (presage.parse(text) for text in texts)
        assert any(_askers(few)) and not any(_askers(everything))
        arriving = _streams(rng, delay, other, timeline == "dense")
        wanted = _told(everything, arriving, False, rng)
        assert _told(few, arriving, seed % 2 == 1, rng) == wanted, (texts[0], arriving)
        told += len(wanted)
    assert told


def test_facts_that_may_come_after_the_aggregate_is_final_ask_for_nothing() -> None:
    text = "timeline discrete.\n" + INPUTS + RULES["sum"] + "\nquery q(A, B).\n"
    assert any(_askers(presage.parse(text.format(delay=2, other=3, asks="r"))))
    assert not any(_askers(presage.parse(text.format(delay=2, other=4, asks="r"))))
    dense = text.replace("discrete", "dense")
    assert any(_askers(presage.parse(dense.format(delay=2, other=2, asks="r"))))
    assert not any(_askers(presage.parse(dense.format(delay=2, other=3, asks="r"))))


def test_a_step_does_not_cost_what_other_groups_are_worth() -> None:
    """What is remembered of the aggregate hangs on who was asked for."""
    text = INPUTS.format(delay=0, other=0) + RULES["sum"].format(asks="r")
    program = presage.parse(f"timeline discrete.\n{text}\nquery q(A, B).")
    reasoner = presage.Reasoner(program, emit="confirmed")
    reasoner.push([("p", (f"d{index}", 1), 0) for index in range(100)], now=0)
    assert not reasoner.interval_engine.relations["q"].intervals
    assert [str(each) for each in reasoner.push([("r", ("d7", "u"), 1)], now=1)] == ["confirmed q(d7, 1)@1"]
    (head,) = reasoner.interval_engine.collecting.answering
    assert [reasoner.interval_engine.relations[name].intervals for name in ("q", head)] == [1, 0]
