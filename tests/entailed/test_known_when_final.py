"""What is known just when it is final, told by the column: whole passages against one step after the other, and against
the definition."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pyarrow
import pyarrow.compute
import pytest

import presage
from presage.run import passages, schedule
from presage.run.stratified import StratifiedEngine
from tests.entailed.test_states_by_column import RULES, rows, said

ASKED = [
    "q(K, S) :- e(K, V), S = sum { W, T : window(w) e(K, W)@T }.",
    "q(K, V, S) :- e(K, V), S = sum { W, T : window(w) e(K, W)@T }.",
    "q(K, N, S) :- e(K, _), N = count { W, T : window(w) e(K, W)@T }, S = avg { W, T : window(w) e(K, W)@T }.",
    "q(K, S) :- e(K, V), S = max { W, T : window(w) e(K, W)@T }.",
    "q(K, V, S) :- e(K, V), S = last { W, T : window(w) e(K, W)@T, T < now }.",
    "q(K, S) :- e(K, V), S = first { W, T : window(w) e(K, W)@T }.",
    "q(K, S) :- e(K, V), S = min { W, T : window(w) e(K, W)@T }, S < V.",
    "q(K, V) :- e(K, V), V > 2 * avg { W, T : window(w) e(K, W)@T, T < now }.",
    "q(K, V) :- e(K, V), avg { W, T : window(w) e(K, W)@T } = V.",
    "q(K, V) :- e(K, V), V - 1 <= 3 * avg { W, T : window(w) e(K, W)@T }.",
    "q(K, D) :- e(K, V), S = count { W, T : window(w) e(K, W)@T }, D = 2 * S.",
    "q(K, S) :- e(K, 2), S = sum { W, T : window(w) e(K, W)@T }.",
    "q(K, S) :- e(K, V), S = count { W : once[0,w] e(K, W) }.",
    "q(K, S) :- e(K, V), S = sum { W, T : window(w, ahead 2) e(K, W)@T }.",
    "q(K, S) :- e(K, V), S = sum { W, T : window(4, hop 3) e(K, W)@T }.",
    "q(K, S) :- e(K, V), S = sum { W, T : window(w) e(K, W)@T, T < now }.",
    "q(K, S) :- e(K, V), S = sum { W, T : window(w) e(K, W)@T }, V > 1.",
    "q(a, S) :- e(K, V), S = sum { W, T : window(w) e(K, W)@T }.",
    "q(K, V) :- e(K, V), not e(K, 1).",
    "n(K, N) :- N = count { V, T : window(w) e(K, V)@T }.\nq(K, N) :- n(K, N), N > 1, not e(K, 3).",
    "b(K, V, W) :- e(K, V), W = last { U, T : window(w) e(K, U)@T, T < now }.\n"
    "u(K, D) :- b(K, V, W), D = case(V >= W, V - W, V).\nq(K, S) :- S = sum { D, T : window(w) u(K, D)@T }.",
]


def _program(rule: str, chance: random.Random) -> tuple[presage.Program, int, str]:
    delay = chance.choice([0, 0, 1, 3])
    written = rule.replace("(w", f"({chance.randint(0, 6)}").replace(",w]", f",{chance.randint(0, 6)}]")
    head = written.split("\n")[-1].split(" :-")[0]
    text = f"timeline discrete.\ninput e(k, v) delay {delay}.\n{written}\nquery {head}."
    return presage.parse(text), delay, text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", RULES + ASKED)
def test_passages_confirm_what_steps_confirm(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(10):
        chance = random.Random(seed)
        program, delay, text = _program(rule, chance)
        table = rows(chance, delay)
        with monkeypatch.context() as one_by_one:
            one_by_one.setattr(schedule, "_through", lambda *_: None)
            expected = said(presage.Reasoner(program, emit="confirmed").run({"e": table}, until=26))
        monkeypatch.setattr(passages, "FACTS_AT_ONCE", chance.choice([1 << 15, 3, 7]))
        told: list[Any] = []
        reasoner = presage.Reasoner(program, emit="confirmed")
        for until in (9, 26):
            early = pyarrow.compute.less_equal(table["arrives"], until)
            found = reasoner.run({"e": table.filter(early)}, until=until)
            table = table.filter(pyarrow.compute.invert(early))
            lines = said(list(found))
            shown = [(row["now"], row["status"], row["answer"], row["key"]) for row in found.table.to_pylist()]
            assert shown == [line[:4] for line in lines], text
            in_json = None if found.columns is None else found.columns.json_lines(None)
            assert in_json is None or len(bytes(in_json).splitlines()) == len(lines)
            told += lines
            if chance.random() < 0.5:
                reasoner = presage.Reasoner.restore(program, reasoner.save())
        assert told == expected, (text, seed)


@pytest.mark.parametrize("rule", [each for each in ASKED[:19] if "T < now" not in each])
def test_what_facts_ask_for_is_taken_as_one_step(rule: str) -> None:
    program, _, _ = _program(rule, random.Random(1))
    engine = presage.Reasoner(program, emit="confirmed").engine
    assert isinstance(engine, StratifiedEngine) and engine.confirming.takes_passages


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", [[0, 1, -4, 10**12], [Fraction(1, 3), 2, Fraction(-1, 8)], ["x", 2, 3], [1, 10**30]])
def test_sums_of_who_asks_are_those_of_the_definition(values: list[Any]) -> None:
    """Disorder, facts that come twice, and, in passages, numbers that are no constants."""
    text = (
        "timeline discrete.\ninput e(k, v) delay 3.\n"
        "q(K, N, S) :- e(K, V), N = count { W, T : window(4) e(K, W)@T }, S = sum { W, T : window(4) e(K, W)@T }."
    )
    program = presage.parse(f"{text}\nquery q(K, N, S).")
    for seed in range(10):
        chance = random.Random(seed)
        facts = []
        for _ in range(60):
            time = chance.randint(0, 30)
            facts.append(("e", (chance.choice("abc"), chance.choice(values)), time, time + chance.randint(0, 3)))
        happened = {(key, value, time) for _, (key, value), time, _ in facts}
        wanted = set()
        for key, _, time in happened:
            own = [value for other, value, when in happened if other == key and time - 4 <= when <= time]
            if not any(isinstance(value, str) for value in own):
                wanted.add((key, len(own), sum(own), time))
        arriving: dict[int, list[Any]] = {}
        for *fact, arrives in facts:
            arriving.setdefault(arrives, []).append(tuple(fact))
        reasoner = presage.Reasoner(program, emit="confirmed")
        told: list[Any] = []
        for now in sorted({*arriving, 40}):
            for each in reasoner.push(arriving.get(now, []), now=now):
                first, last = (each.time, each.time) if each.time is not None else (each.start, each.end)
                assert isinstance(first, int) and isinstance(last, int)
                told += [(*each.arguments, time) for time in range(first, last + 1)]
        assert len(told) == len(set(told))
        assert set(told) == wanted
