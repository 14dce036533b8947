"""What goes on, told by the column: whole passages of time against one step after the other."""

from __future__ import annotations

import random
from typing import Any

import pyarrow
import pyarrow.compute
import pytest

import presage
from presage.answers import Answer
from presage.run import passages, schedule

RULES = [
    "q(K, N, S) :- N = count { V, T : window(w) e(K, V)@T }, S = sum { V, T : window(w) e(K, V)@T }.",
    "q(K, S) :- S = sum { V : window(w) e(K, V)@T }.",
    "q(K, M, N) :- M = avg { V, T : window(w) e(K, V)@T }, N = count { V, T : window(w) e(K, V)@T }.",
    "q(K) :- count { V, T : window(w) e(K, V)@T } >= 2.",
    "q(K, M) :- M = max { V, T : window(w) e(K, V)@T }.",
    "q(K, M) :- M = min { V : window(w) e(K, V)@T }.",
    "q(K, M) :- M = last { V, T : window(w) e(K, V)@T, T < now }.",
    "q(K, M) :- M = first { V, T : window(w) e(K, V)@T }.",
    "q(K, M) :- M = avg { V, T : window(w) e(K, V)@T }.",
    "q(K, N, M) :- N = count { V, T : window(4, hop 3) e(K, V)@T }, M = max { V, T : window(4, hop 3) e(K, V)@T }.",
    "q(N) :- N = count { K, V, T : window(w) e(K, V)@T }.",
    "q(K) :- e(K, V), V > 1.",
    "q(K) :- once[0,w] e(K, 2).",
    "q(K, V) :- window(w) some e(K, V), not e(K, 1).",
]
KINDS: list[list[Any]] = [[0, 1, 2, 3, -4], [0.0, 2.5, -0.125, 7.0], ["x", "y", "z"], [0, 10**14, 3]]


def said(answers: Any) -> list[tuple[Any, ...]]:
    return [(each.now, each.status, each.answer, each.key, str(each.bindings)) for each in answers]


def rows(chance: random.Random, delay: int) -> Any:
    values = chance.choice(KINDS)
    found = []
    for _ in range(chance.randint(1, 40)):
        time = chance.randint(0, 20)
        arrives = time + chance.randint(0, delay) if chance.random() < 0.9 else max(0, time - 1)
        found.append((chance.choice("ab"), chance.choice(values), time, arrives))
    found.sort(key=lambda row: row[3])
    columns: Any = zip(*found, strict=True)
    return pyarrow.table(dict(zip(("k", "v", "time", "arrives"), map(list, columns), strict=True)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", RULES)
def test_passages_tell_what_steps_tell(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    for seed in range(8):
        chance = random.Random(seed)
        delay = chance.choice([0, 0, 1, 3])
        written = rule.replace("(w)", f"({chance.randint(0, 6)})").replace(",w]", f",{chance.randint(0, 6)}]")
        head = written.split(" :-")[0]
        program = presage.parse(f"timeline discrete.\ninput e(k, v) delay {delay}.\n{written}\nquery {head}.")
        table = rows(chance, delay)
        monkeypatch.setattr(passages, "FACTS_AT_ONCE", chance.choice([1 << 15, 3, 7]))
        at_once = presage.Reasoner(program, emit="states")
        told = at_once.run({"e": table}, until=26)
        lines: list[Answer] = list(told)
        shown = [tuple(row[name] for name in ("now", "status", "answer", "key")) for row in told.table.to_pylist()]
        assert shown == [line[:4] for line in said(lines)]
        assert at_once._states is not None
        taken += at_once._states.packed is not None
        with monkeypatch.context() as one_by_one:
            one_by_one.setattr(schedule, "_through", lambda *_: None)
            steps = presage.Reasoner(program, emit="states")
            expected = list(steps.run({"e": table}, until=26))
        assert said(lines + list(at_once.end())) == said(expected + list(steps.end())), (written, delay, seed)
    assert taken >= 3


@pytest.mark.filterwarnings("ignore")
def test_what_goes_on_is_saved_and_goes_on_step_by_step() -> None:
    program = presage.parse("input e(k, v).\nq(K, N) :- N = count { V, T : window(3) e(K, V)@T }.")
    table = rows(random.Random(5), 0)
    whole = presage.Reasoner(program, emit="states")
    expected = said(list(whole.run({"e": table}, until=26)) + list(whole.end()))
    early = pyarrow.compute.less_equal(table["arrives"], 9)
    first = presage.Reasoner(program, emit="states")
    told = list(first.run({"e": table.filter(early)}, until=9))
    again = presage.Reasoner.restore(program, first.save())
    later = table.filter(pyarrow.compute.invert(early))
    told += again.run({"e": later.filter(pyarrow.compute.less_equal(later["arrives"], 15))}, until=15)
    for now in range(16, 27):
        own = later.filter(pyarrow.compute.equal(later["arrives"], now)).to_pylist()
        told += again.push([("e", (row["k"], row["v"]), row["time"]) for row in own], now=now)
    assert said(told + list(again.end())) == expected


def test_pieces_that_join_what_was_told_end_what_lies_before() -> None:
    """Both ends were told when what lies between comes: the first is over where the second begins."""
    program = presage.parse("timeline discrete.\ninput e(k) delay 5.\nq(K) :- e(K).")
    reasoner = presage.Reasoner(program, emit="states")
    told: list[Answer] = []
    for now, times in ((1, [1]), (3, [3]), (4, [2]), (12, [])):
        told += reasoner.push([("e", ("a",), time) for time in times], now=now)
    confirmed = [each.answer for each in told if each.status == "confirmed"]
    assert confirmed == ["q(a)@[1,2]", "q(a)@3"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", RULES)
def test_shards_tell_what_steps_tell(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrives, time after time: to the end, and cut at times, with what is remembered in between."""
    taken = 0
    for seed in range(6):
        chance = random.Random(seed)
        delay = chance.choice([0, 0, 1, 3])
        written = rule.replace("(w)", f"({chance.randint(0, 6)})").replace(",w]", f",{chance.randint(0, 6)}]")
        text = f"timeline discrete.\ninput e(k, v) delay {delay}.\n{written}\nquery {written.split(' :-')[0]}."
        program = presage.parse(text)
        monkeypatch.setattr(schedule, "FACTS_AT_ONCE", chance.choice([1 << 15, 3, 7]))
        facts = presage.Reasoner(program).given.arriving({"e": rows(chance, delay)})
        steps = presage.Reasoner(program, emit="states")
        expected = [each for told in schedule.walk(steps, schedule.arrivals_of(facts), 26) for each in told]

        shard = presage.Reasoner(program, emit="states")
        told = [each for some in schedule.strides(shard, schedule.arrivals_of(facts), 26) for each in some]
        taken += shard._states is not None and shard._states.packed is not None
        assert said(told + list(shard.end())) == said(expected + list(steps.end())), (written, delay, seed)

        # A stream that may go on tells no end.
        again, told, before = presage.Reasoner(program, emit="states"), [], -1
        for clock in sorted({*chance.sample(range(1, 27), 4), 27}):
            coming = [each for each in schedule.arrivals_of(facts) if before <= each.time < clock]
            told += [each for some in schedule.strides(again, coming, clock, closed=False) for each in some]
            again, before = presage.Reasoner.restore(program, again.save()), clock
        assert said(told) == said(expected), (written, delay, seed)
    assert taken
