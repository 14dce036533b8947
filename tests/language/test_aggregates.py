"""Aggregates: what rules say of random streams in disorder, held against the definition.

The oracle shares nothing with the engines but the model of programs. DuckDB is a second opinion on what is in a window.
"""

from __future__ import annotations

import random
import re
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest

import presage
from presage.checking import check_text
from presage.engine.enough import Enough
from presage.engine.joining import BindingRows
from presage.model import Program
from presage.plan.builder import plan_of
from presage.plan.nodes import AtLeast, Collect, Dilate, Hop, Stamp
from presage.plan.subformulas import Unsupported
from tests.oracle.aggregates import Said
from tests.oracle.lars import Stream, Structure

LAST = 9
VALUES = [1, 2, 5, Fraction(7, 3), "x"]

# Each with the columns of its input, and whether the interval engine runs it.
RULES = {
    "count_by_group": "q(D, N) :- N = count { V, T : window(3) p(D, V)@T }.",
    "distinct_values": "q(D, N) :- N = count { V : window(3) p(D, V)@T }.",
    "all_together": "q(N) :- N = count { D, T : window(2) p(D, _)@T }.",
    "sums": "q(D, S) :- S = sum { V, T : window(4) p(D, V)@T }.",
    "sums_of_the_bound": "q(D, S) :- p(D, _), S = sum { V, T : window(4) p(D, V)@T, T < now }.",
    "means": "q(S) :- S = avg { V, D, T : window(3) p(D, V)@T }.",
    "extremes": "q(D, A, B) :- A = min { V : window(3) p(D, V)@T }, B = max { V : window(3) p(D, V)@T }.",
    "first_and_last": "q(D, A, B) :- A = first { V, T : window(4) p(D, V)@T }, "
    "B = last { V, T : window(4) p(D, V)@T }.",
    "enough": "q(D) :- p(D, _), count { T : window(4) p(D, _)@T } >= 2.",
    "enough_by_itself": "q(D) :- 2 <= count { V, T : window(4) p(D, V)@T }.",
    "few": "q(D) :- p(D, _), count { T : window(4) p(D, _)@T } < 2.",
    "not_few": "q(D) :- p(D, _), not count { T : window(4) p(D, _)@T } < 2.",
    "exactly": "q(D) :- count { V, T : window(4) p(D, V)@T } = 2.",
    "none": "q(D) :- dev(D), count { T : window(2) p(D, _)@T } = 0.",
    "none_as_a_value": "q(D, N) :- dev(D), N = count { T : window(2) p(D, _)@T }.",
    "nothing_added": "q(D, N) :- dev(D), N = sum { V, T : window(2) p(D, V)@T }.",
    "jumps": "q(D, V) :- p(D, V), V > 2 * avg { W, T : window(5) p(D, W)@T, T < now }.",
    "above_the_greatest": "q(D, V) :- p(D, V), max { W, T : window(5) p(D, W)@T, T < now, W != x } >= V.",
    "tumbling": "q(D, N) :- N = count { V, T : window(3, hop 3) p(D, V)@T }.",
    "hopping": "q(D, S) :- S = max { V, T : window(4, hop 2) p(D, V)@T }.",
    "hopping_ahead": "q(D, B) :- B = last { V, T : window(2, ahead 1, hop 2) p(D, V)@T }.",
    "enough_while_hopping": "q(D) :- count { V, T : window(3, hop 3) p(D, V)@T } >= 2.",
    "hopping_over_all": "q(D, N) :- N = count { V, T : window(inf, hop 3) p(D, V)@T }.",
    "ahead": "q(D, N) :- N = count { T : window(1, ahead 2) p(D, _)@T }.",
    "at_points": "q(N)@T :- N = count { D, V : p(D, V)@T }.",
    "before_the_heads_time": "q(D, N)@T :- p(D, _)@T, N = count { S : p(D, _)@S, S > T - 3, S <= T }.",
    "pinned": "q(D)@T :- p(D, _)@T, (count { S : window(4) p(D, _)@S } >= 2)@T.",
    "for_a_while": "q(D) :- dev(D), historically[0,1] (count { T : window(3) p(D, _)@T } >= 1).",
    "never_for_a_while": "q(D) :- dev(D), historically[0,1] (count { T : window(2) p(D, _)@T } = 0).",
    "around_the_start": "q(D) :- dev(D), once[1,2] (count { V, T : window(1, ahead 2) p(D, V)@T } >= 1).",
    "none_around_the_start": "q(D) :- dev(D), once[1,1] (count { V : eventually[0,2] p(D, V) } = 0).",
    "greatest_around_the_start": "q(D) :- dev(D), historically[0,2] (max { T, V : window(1, ahead 2) p(D, V)@T } < 4).",
    "exactly_before_the_start": "q(D) :- dev(D), once[2,3] (count { V : eventually[1,3] p(D, V) } = 1).",
    "since_then": "q(D, N) :- N = count { T : p(D, _)@T, T <= now }.",
    "differences": "q(D, X) :- X = count { T : window(5) p(D, _)@T } - count { T : window(1) p(D, _)@T }.",
    "with_a_join": "q(S, N) :- N = count { D, T : window(3) p(D, _)@T, site(D, S) }.",
    "without_what_is_denied": "q(N) :- N = count { D : p(D, _), not p(D, 5) }.",
    "arithmetic": "q(D, S) :- S = sum { V * 2, T : window(3) p(D, V)@T, V != x }.",
    "some_at_least": "q :- count { D : window(2) some p(D, _) } >= 2.",
    "compared_with_a_value": "q(D, V) :- p(D, V), count { T : window(4) p(D, _)@T } >= V.",
    "apart": "q(D) :- min { V : window(3) p(D, V)@T, V != x } < 2, max { V : window(3) p(D, V)@T, V != x } > 2.",
    "not_the_mean": "q(D) :- p(D, _), not avg { V, T : window(4) p(D, V)@T } > 2.",
}  # fmt: skip

STATICS = [("dev", ("a",)), ("dev", ("b",)), ("site", ("a", "s1")), ("site", ("b", "s1")), ("site", ("b", "s2"))]


def program_of(rule: str, delay: int) -> Program:
    declared = f"timeline discrete.\ninput p(d, v) delay {delay}.\nstatic dev(d).\nstatic site(d, s).\n"
    known = "".join(f"{name}({', '.join(values)}).\n" for name, values in STATICS)
    numbers = count(1)
    # The oracle takes names as they are: each `_` gets one of its own.
    return presage.parse(declared + known + re.sub(r"\b_\b", lambda _: f"A{next(numbers)}", rule))


Fact = tuple[str, tuple[object, ...], int]


def random_stream(rng: random.Random, delay: int) -> list[tuple[Fact, int]]:
    """Facts, each with when it arrives."""
    found = []
    for _ in range(rng.randint(0, 12)):
        time = rng.randint(0, LAST)
        found.append((("p", (rng.choice("ab"), rng.choice(VALUES)), time), time + rng.randint(0, delay)))
    return found


def confirmed(program: Program, stream: list[tuple[Fact, int]], save: bool = False) -> set[tuple[int, tuple]]:
    reasoner = presage.Reasoner(program, emit="confirmed")
    found = set()
    for now in range(LAST + 15):
        if save and now % 4 == 3:
            reasoner = presage.Reasoner.restore(program, reasoner.save())
        for answer in reasoner.push([fact for fact, arrives in stream if arrives == now], now=now):
            first, last = (answer.time, answer.time) if answer.time is not None else (answer.start, answer.end)
            found |= {(time, tuple(answer.arguments)) for time in range(first, last + 1)}
    return found


def expected(program: Program, stream: list[tuple[Fact, int]]) -> set[tuple[int, tuple]]:
    rows = frozenset((time, (name, arguments)) for (name, arguments, time), _ in stream)
    structure = Structure(Stream(0, LAST + 6, rows), frozenset(STATICS))
    rule = next(rule for rule in program.rules if rule.body)
    constants = ["a", "b", "s1", "s2", *VALUES]
    return Said(rule, structure, constants).facts()


@pytest.mark.filterwarnings("ignore::presage.errors.PresageWarning")
@pytest.mark.parametrize("name", RULES)
def test_rules_say_what_the_definition_says(name: str) -> None:
    for seed in range(4):
        rng = random.Random(f"{name} {seed}")
        delay = rng.randint(0, 2)
        program, stream = program_of(RULES[name], delay), random_stream(rng, delay)
        wanted = {each for each in expected(program, stream) if each[0] <= LAST}
        told = {each for each in confirmed(program, stream, save=seed == 3) if each[0] <= LAST}
        assert told == wanted, (stream, told ^ wanted)


@pytest.mark.parametrize("name", RULES)
def test_the_interval_engine_runs_them(name: str) -> None:
    report = check_text(program_of(RULES[name], 1).source.text)
    assert report.findings is not None
    if name == "compared_with_a_value":
        return
    plan_of(report.findings.watched)


DENSE = "timeline dense.\ninput p(d, v) delay 2.\n"


@pytest.mark.parametrize("name", ["sums", "tumbling", "hopping", "enough_while_hopping", "enough_by_itself"])
def test_sets_with_their_times_are_no_relations(name: str) -> None:
    """A window shows time points that come and go by themselves: nothing is made of them but what they are worth."""
    findings = check_text(program_of(RULES[name], 1).source.text).or_raise().findings
    assert findings is not None
    nodes = plan_of(findings.watched).nodes
    assert not [node for node in nodes if isinstance(node, (Stamp, Dilate, Hop))]
    assert [node.slides is not None for node in nodes if isinstance(node, (AtLeast, Collect))] == [True]


@pytest.mark.parametrize(
    ("rules", "window", "worth"),
    [
        ("q(D, N) :- N = count { V, T : window(3) p(D, V)@T }.", (3, 0), lambda found: len(found)),
        (
            "q(D, S) :- S = sum { V, T : window(2) p(D, V)@T, T <= now - 1/2 }.",
            (2, Fraction(1, 2)),
            lambda found: sum(value for value, _ in found),
        ),
        (
            "d(D, V)@T+1 :- p(D, V)@T.\nq(D, W) :- W = last { V, T : window(2) d(D, V)@T }.",
            (3, 1),
            lambda found: min(value for value, at in found if at == max(each for _, each in found)),
        ),
    ],
)
def test_points_of_dense_time(rules: str, window: tuple[Any, Any], worth: Any) -> None:
    """Times are values where what is pinned to them holds at points; what is told is true between points too."""
    program = presage.parse(f"{DENSE}{rules}\nquery q(D, N).")
    for seed in range(8):
        rng = random.Random(seed)
        # In a fixed order: a set of texts has another one in each process.
        facts = sorted({(rng.choice("ab"), rng.choice((1, 2, -3)), Fraction(rng.randint(0, 12), 3)) for _ in range(5)})
        arrives = {fact: fact[2] + rng.choice((0, Fraction(1, 2), 2)) for fact in facts}
        reasoner = presage.Reasoner(program, emit="states")
        told = []
        for now in sorted({*arrives.values(), 20}):
            told += reasoner.push([("p", fact[:2], fact[2]) for fact in facts if arrives[fact] == now], now=now)
            reasoner = presage.Reasoner.restore(program, reasoner.save())
        told = [each for each in (*told, *reasoner.end()) if each.status == "confirmed"]
        for at in (Fraction(each, 6) for each in range(60)):
            found = {d: {(v, t) for e, v, t in facts if e == d and at - window[0] <= t <= at - window[1]} for d in "ab"}
            said = {each.arguments for each in told if _covers(each, at)}
            assert said == {(d, worth(there)) for d, there in found.items() if there}, (seed, at)


def test_a_step_between_two_points_of_a_grid_that_becomes_finer() -> None:
    """An aggregate that went up to 1 at 7/2, on a grid of whole numbers, goes on from there when thirds arrive."""
    program = presage.parse(f"{DENSE}q(D, N) :- N = count {{ V, T : window(3) p(D, V)@T }}.\nquery q(D, N).")
    reasoner = presage.Reasoner(program, emit="states")
    told: list[presage.Answer] = []
    for now, value, at in (("1/2", 1, "0"), ("7/2", 2, "3"), ("14/3", 3, "8/3")):
        told += reasoner.push([("p", ("a", value), Fraction(at))], now=Fraction(now))
    told += reasoner.push([], now=20)
    ones = sorted((each.start, each.end) for each in told if each.status == "confirmed" and each.arguments[1] == 1)
    assert ones[0] == (0, 1) and ones[1] == (1, Fraction(8, 3))


def _covers(answer: presage.Answer, at: Fraction) -> bool:
    if answer.time is not None:
        return bool(answer.time == at)
    after = at >= answer.start if answer.bounds[0] == "[" else at > answer.start
    return bool(after and (at <= answer.end if answer.bounds[1] == "]" else at < answer.end))


def test_times_of_intervals_are_no_values() -> None:
    reasoner = presage.Reasoner(presage.parse(DENSE + "q(D) :- count { T : window(3) p(D, V)@T } >= 2."))
    with pytest.raises(presage.PresageError, match="`p` holds at single points here, not over an interval"):
        reasoner.push([("p", ("a", 1), (0, 3, "[]"))], now=0)
    assert [each.status for each in reasoner.push([("p", ("a", 1), (0, 0, "[]"))], now=0)] == ["possible"]
    rules = "up(D) :- once[0,1] p(D, _).\nq(D, N) :- N = count { T : window(3) up(D)@T }."
    (problem,) = check_text(DENSE + rules).errors
    assert problem.code == "S105" and "holds at points" in problem.message


def test_recursion_through_a_count_has_no_patterns() -> None:
    """It is ordinary recursion for what is entailed; premises would go on without end."""
    text = "input e(k).\ninput p(k).\nr(K) :- e(K).\nr(K) :- p(K), count { L : r(L) } >= 1.\nquery r(K)."
    program = presage.parse(text)
    told = presage.Reasoner(program, emit="confirmed").push([("e", ("a",), 0), ("p", ("b",), 0)], now=0)
    assert {str(each.arguments[0]) for each in told} == {"a", "b"}
    with pytest.raises(presage.PresageError, match="a recursive rule gives ever new premises"):
        presage.Reasoner(program, emit="changes")


def test_what_no_relation_stands_for_is_left_to_the_models() -> None:
    text = "timeline discrete.\nq(D) :- p(D), window(5) some (count { T : window(2) p(D)@T } >= 2)."
    report = check_text(text)
    assert report.findings is not None
    with pytest.raises(Unsupported, match="an aggregate below a window"):
        plan_of(report.findings.watched)


@pytest.mark.parametrize("comparison", ["count { K : a(K) } < 1", "1 > count { K : a(K) }", "max { K : a(K) } < 3"])
def test_models_refuse_what_fewer_facts_make_true(comparison: str) -> None:
    """What may hold in some model says nothing of it: of four models one has no `a`."""
    program = presage.parse(f"input e(k).\na(K) | b(K) :- e(K).\n:- {comparison}.")
    with pytest.raises(presage.PresageError, match="an aggregate over `a`, on which models may differ"):
        presage.Reasoner(program).push([("e", (1,), 0), ("e", (2,), 0)], now=0)


def test_where_pieces_lie_one_upon_another() -> None:
    """In order or not, of several groups at once; what ended before all that still comes is forgotten."""
    for seed in range(120):
        rng = random.Random(seed)
        least, groups = rng.randint(1, 4), rng.choice((0, 1, 2))
        enough = Enough(AtLeast("enough", "source", groups, least), 3)
        told: dict[tuple[int, ...], set[int]] = {}
        there: list[tuple[tuple[int, ...], int, int]] = []
        for now in range(0, 40, 2):
            pieces = []
            for _ in range(rng.choice((0, 1, 5, 40 if seed % 10 == 0 else 2))):
                key = tuple(rng.randint(0, 2) for _ in range(groups))
                low = now if seed % 2 else rng.randint(now, now + 12)
                pieces.append((key, low, low + (5 if seed % 2 else rng.randint(0, 8))))
            there += pieces
            enough.forget(now)
            bindings = np.array([(*key, 7, 8, 9) for key, _, _ in pieces], np.int32).reshape(-1, groups + 3)
            lows, highs = (np.array([each[place] for each in pieces], np.int64) for place in (1, 2))
            found = enough.apply(BindingRows(bindings, lows, highs))
            for values, low, high in zip(found.bindings.tolist(), found.low.tolist(), found.high.tolist(), strict=True):
                told.setdefault(tuple(values[:groups]), set()).update(range(low, high + 1))
            for key in {each[0] for each in there}:
                counts = {at: sum(each[0] == key and each[1] <= at <= each[2] for each in there) for at in range(70)}
                assert told.get(key, set()) == {at for at, count in counts.items() if count >= least}, (seed, now)


def test_a_positive_comparison_is_confirmed_as_soon_as_it_holds() -> None:
    program = presage.parse("input failed(u) delay 9.\nalert(U) :- count { T : window(5) failed(U)@T } >= 2.")
    reasoner = presage.Reasoner(program, emit="confirmed")
    assert not reasoner.push([("failed", ("u",), 1)], now=1)
    (answer,) = [each for each in reasoner.push([("failed", ("u",), 2)], now=2) if each.time in (2, None)]
    assert answer.predicate == "alert"


def test_duckdb_agrees_on_what_is_in_a_window() -> None:
    duckdb = pytest.importorskip("duckdb")
    rng = random.Random(5)
    facts = [("p", (rng.choice("abcde"), rng.randint(0, 50)), rng.randint(0, 60)) for _ in range(400)]
    program = presage.parse("input p(d, v: int).\nq(D, N, S) :- N = count { V, T : window(7) p(D, V)@T }, "
                            "S = sum { V, T : window(7) p(D, V)@T }.")  # fmt: skip
    reasoner = presage.Reasoner(program, emit="confirmed")
    told = set()
    for now in range(61):
        for answer in reasoner.push([fact for fact in facts if fact[2] == now], now=now):
            told.add((answer.time if answer.time is not None else answer.start, *answer.arguments))
    with duckdb.connect() as database:
        database.execute("create table p(d varchar, v bigint, t bigint)")
        database.executemany("insert into p values (?, ?, ?)", sorted({(*args, time) for _, args, time in facts}))
        rows = database.execute(
            "select n, d, count(*), sum(v) from range(61) r(n) join p on t between n - 7 and n group by n, d"
        ).fetchall()
    assert told == {(now, d, many, int(total)) for now, d, many, total in rows}


def test_counting_what_hangs_on_the_count_is_recursion_without_premise_patterns() -> None:
    """More can never make it false, so it is ordinary recursion; as a premise it would be one of itself."""
    report = presage.check(
        "input edge(x, y). input source(x). up(X) :- source(X). "
        "up(Y) :- edge(_, Y), count { X : up(X), edge(X, Y) } >= 2. query up(X)."
    ).or_raise()
    assert report.findings is not None
    assert not report.findings.queries[0].hypothetical.possible


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("max", {"d(a, 3)@[3,4]", "d(a, 5)@[5,9]"}),
        ("min", {"d(a, 3)@[3,7]", "d(a, 5)@[8,9]"}),
        ("sum", {"d(a, 3)@[3,4]", "d(a, 8)@[5,7]", "d(a, 5)@[8,9]"}),
        ("avg", {"d(a, 3)@[3,4]", "d(a, 4)@[5,7]", "d(a, 5)@[8,9]"}),
    ],
)
def test_a_set_may_be_of_times_alone(function: str, expected: set[str]) -> None:
    """In a window that slides the time is no column, but comes after them."""
    program = presage.parse(f"input e(k, v).\nd(K, N) :- N = {function} {{ T : window(4) e(K, V)@T }}.\n")
    reasoner = presage.Reasoner(program, emit="states")
    told = [*reasoner.push([("e", ("a", 1), 3)], now=3), *reasoner.push([("e", ("a", 2), 5)], now=5)]
    told += [*reasoner.push([], now=12)]
    assert {answer.answer for answer in told if answer.status == "confirmed"} == expected
