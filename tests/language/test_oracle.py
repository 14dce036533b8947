"""The oracle itself, against the papers' worked examples and against brute force over rationals.

What it says is what engines are measured by, so each expectation here is computed by hand.
"""

from __future__ import annotations

import random
from fractions import Fraction as F

import pytest

from presage.model import Formula, Interval, Program
from presage.parser import parse
from presage.rewrite import normalise
from tests.oracle import ChaseLimit, Line, Model, NotTotal, evaluate, holds
from tests.oracle.looks import Look
from tests.oracle.streams import Stream, select
from tests.oracle.timeline import binary, metric


def read(text: str) -> Program:
    program, problems = normalise(parse(text))
    assert not problems
    return program


def asked(text: str) -> Formula:
    """A formula, read as the body of a constraint so that each `_` becomes a variable of its own."""
    (rule,) = read(f":- {text}.").rules
    (formula,) = rule.body
    return formula


def each(*names: str, at: range | list[int]) -> list[tuple]:
    """Propositions that hold at the same times."""
    return [(name, (), time) for name in names for time in at]


def where(text: str, facts: list[tuple], end: int, predicate: str = "q", **more: object) -> set[int]:
    return set(evaluate(read(text), facts, end=end, **more).at(predicate))


def discrete(body: str, facts: list[tuple], end: int) -> set[int]:
    return where(f"timeline discrete. q :- {body}.", facts, end)


def dense(body: str, facts: list[tuple], end: int) -> list[tuple]:
    return evaluate(read(f"timeline dense. q :- {body}."), facts, end=end).intervals("q")


def ask(text: str, at: int, facts: list[tuple], end: int, **more: object) -> list[dict]:
    return sorted(holds(asked(text), at, facts, end=end, **more), key=repr)


# -- cells -------------------------------------------------------------------------------------------

INTERVALS = [
    Interval(low, high, closed_low, closed_high)
    for low in (0, F(1, 2), 1, 2)
    for high in (0, F(1, 2), 1, F(5, 2), None)
    for closed_low in (True, False)
    for closed_high in (True, False)
    if high is None or low < high or (low == high and closed_low and closed_high)
]


def inside(interval: Interval, distance: F) -> bool:
    above = distance >= interval.low if interval.closed_low else distance > interval.low
    if interval.high is None:
        return above
    return above and (distance <= interval.high if interval.closed_high else distance < interval.high)


def samples(line: Line, cell: int, parts: int = 4) -> list[F]:
    """The time of a cell, or some of the times of a gap."""
    start = F(cell - 1, line.scale)
    return [start + F(2 * part, line.scale * parts) for part in range(1, parts)] if cell % 2 else [F(cell, line.scale)]


def cell_at(line: Line, time: F) -> int:
    place = time * line.scale / 2
    return int(2 * place) if place.denominator == 1 else 2 * (place.numerator // place.denominator) + 1


@pytest.mark.parametrize("interval", INTERVALS, ids=str)
def test_distances_between_cells(interval: Interval) -> None:
    line = Line.of(True, 2, 5, 3)
    for cell in range(8, 10):  # a point and a gap
        for time in samples(line, cell):  # any time of the gap must behave as its middle does
            found = {
                cell - other
                for other in range(-4, 20)
                if any(inside(interval, time - source) for source in samples(line, other, 8))
            }
            reach = {offset for offset in line.reach(interval, line.is_gap(cell)) if cell - offset >= -4}
            assert reach == found


@pytest.mark.parametrize("seed", range(40))
def test_metric_operators_against_sampling(seed: int) -> None:
    chance = random.Random(seed)
    line = Line.of(True, 2, 3, 4)
    interval = chance.choice(INTERVALS)
    share = chance.choice((0.3, 0.6, 0.9))
    # Nothing changes beyond the margin; within it, outside the stream, both are false.
    left, right = (frozenset(cell for cell in line.timeline if chance.random() < share) for _ in range(2))
    # Times of gaps lie on a grid of 1/8, times seen from them on 1/16, times in between on 1/32.
    times = [F(place, 32) for place in range(-4 * 32, 8 * 32)]
    truth = {time: (cell_at(line, time) in left, cell_at(line, time) in right) for time in times}
    coarse = [time for time in times if (time * 16).denominator == 1]
    found = {name: metric(line, name, interval, right) for name in ("once", "historically", "eventually", "always")}
    found |= {name: binary(line, name, interval, left, right) for name in ("since", "until")}
    for cell in line.timeline:
        for now in samples(line, cell):
            for past, some, every, until in (
                (True, "once", "historically", "since"),
                (False, "eventually", "always", "until"),
            ):
                seen = [time for time in coarse if inside(interval, now - time if past else time - now)]
                assert (cell in found[some]) == any(truth[time][1] for time in seen)
                if interval.high is not None:
                    assert (cell in found[every]) == all(truth[time][1] for time in seen)
                lasting = any(
                    truth[time][1]
                    and all(truth[middle][0] for middle in times if min(time, now) < middle < max(time, now))
                    for time in seen
                )
                assert (cell in found[until]) == lasting


# -- [HA] ----------------------------------------------------------------------------------------------

TURBINES = """
timeline discrete.
input temp(device, level) delay 1.
flag(X)      :- temp(X, high).
cool(X)@T+1  :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1  :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2  :- shdn(X)@T.
query malf(X).
"""


def test_turbines() -> None:
    """[HA] Example 1."""
    facts = [("temp", ("wt25", "high"), time) for time in (0, 1, 2)] + [("temp", ("wt26", "low"), 1)]
    model = evaluate(read(TURBINES), facts, end=5)
    assert model.of("flag") == {("wt25",): {0, 1, 2}}
    assert model.of("cool") == {("wt25",): {1, 2}}
    assert model.of("shdn") == {("wt25",): {2}}
    assert model.of("malf") == {("wt25",): {0}}
    assert not evaluate(read(TURBINES), facts[:2], end=5).of("malf")


def test_instances_before_the_stream_do_not_exist() -> None:
    assert where("timeline discrete. q@T-2 :- p@T.", each("p", at=[0, 1, 2, 4]), 6) == {0, 2}
    assert where("timeline discrete. q@T :- d@T, not p@T-1.", each("d", at=range(3)), 2) == {1, 2}
    assert where("timeline discrete. q :- d, not p@now-1.", each("d", at=range(3)), 2) == {1, 2}
    # The time variable itself may lie before 0, or after the end, if nothing pinned does.
    assert where("timeline discrete. q@T+1 :- p@T+2.", each("p", at=[1]), 3) == {0}
    assert where("timeline discrete. q@T-7 :- p@T-5.", each("p", at=[3]), 3) == {1}


HOSPITAL = """
timeline discrete.
static patient(name).
gvs(X) :- gcm(X), gbol(X).
st(X, us)@T+1 :- bca(X)@T+2.
st(X, us)@T+1 :- patient(X), not gvs(X)@T, not st(X, us)@T.
st(X, ic)@T+1 :- patient(X), not gvs(X)@T, st(X, us)@T.
risk(X)@T :- st(X, ic)@T+2.
query risk(X).
"""


def test_hospital() -> None:
    """[HA] Example 11: not stratified by predicates, but along time."""
    facts = [("gcm", ("gus",), 0), ("gbol", ("gus",), 0), ("gcm", ("gus",), 1), ("bca", ("gus",), 3)]
    facts += [("gcm", ("ann",), time) for time in range(6)] + [("gbol", ("ann",), time) for time in range(6)]
    patients = [("patient", (name,)) for name in ("john", "gus", "ann")]
    model = evaluate(read(HOSPITAL), facts, patients, end=5)
    # john never has good signs: under surveillance from 1, every other day; in between to the ICU.
    assert model.at("st", "john", "us") == {1, 3, 5}
    assert model.at("st", "john", "ic") == {2, 4}
    assert model.at("risk", "john") == {0, 2}
    # gus: good at 0; at 1 neither good nor under surveillance; bad analyses at 3 mean 2 once more.
    assert model.at("gvs", "gus") == {0}
    assert model.at("st", "gus", "us") == {2, 4}
    assert model.at("st", "gus", "ic") == {3, 5}
    assert model.at("risk", "gus") == {1, 3}
    assert not model.at("st", "ann", "us") and not model.at("risk", "ann")


def test_no_unique_model() -> None:
    with pytest.raises(NotTotal):
        evaluate(read("timeline discrete. a :- d, not b. b :- d, not a."), each("d", at=[0]), end=1)
    assert where("timeline discrete. q :- d, not q@now-1. q@0 :- d@0.", each("d", at=range(5)), 4) == {0, 2, 4}


# -- [MTL] ---------------------------------------------------------------------------------------------

NETWORK = """
flag(X, Z) :- monit(X, Z), historically[0,4] once[0,2] signal(Z).
always[0,3] monit(X, Z) :- flag(Y, Z), connect(X, Y).
"""


def test_network() -> None:
    """[MTL] Examples 1 and 8, with times counted from 96."""
    facts = [("signal", ("s1",), time) for time in (F(3, 10), 2, 4)] + [("monit", ("n", "s1"), 5)]
    model = evaluate(read(NETWORK), facts, end=10)
    # once[0,2] signal on [0.3,6], so historically[0,4] of it on [4.3,6].
    assert model.intervals("flag", "n", "s1") == [(5, 5, "[]")]
    linked = evaluate(read(NETWORK), facts, [("connect", ("m", "n")), ("connect", ("n", "m"))], end=10)
    assert linked.intervals("monit", "m", "s1") == [(5, 9, "[]")]
    assert linked.intervals("monit", "n", "s1") == [(5, 9, "[]")]
    assert linked.intervals("flag", "n", "s1") == linked.intervals("flag", "m", "s1") == [(5, 6, "[]")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("once[1,2] p", [(2, 5, "[)")]),
        ("once(1,2) p", [(2, 5, "()")]),
        ("eventually[1,2] p", [(0, 2, "[)")]),
        ("historically[0,1] p", [(2, 3, "[)")]),
        ("historically(0,1) p", [(2, 3, "[]")]),
        ("always[0,1/2] p", [(1, F(5, 2), "[)")]),
        ("once[3,inf) p", [(4, 8, "[]")]),
        ("p and not r", [(1, 2, "[)"), (2, 3, "()")]),
        ("p since[0,3] r", [(2, 3, "[]"), (7, 7, "[]")]),
        ("p since(0,3] r", [(2, 3, "(]")]),
        ("p since[1,3] r", [(3, 3, "[]")]),
        ("p until[0,inf) r", [(1, 2, "[]"), (7, 7, "[]")]),
        ("p until(0,inf) r", [(1, 2, "[)")]),
        ("p@2", [(0, 8, "[]")]),
        ("p@now+1", [(0, 2, "[)")]),
        ("p, now < 3/2", [(1, F(3, 2), "[)")]),
        ("some p", [(0, 8, "[]")]),
    ],
)
def test_dense_time(body: str, expected: list[tuple]) -> None:
    """p holds on [1,3), r at 2 and at 7."""
    assert dense(body, [("p", (), (1, 3, "[)")), ("r", (), 2), ("r", (), 7)], 8) == expected


def test_dense_pins() -> None:
    text = "timeline dense. q@T+1/2 :- p@T, r@T+1. a(T) :- s@T."
    model = evaluate(read(text), [("p", (), (0, 2, "()")), ("r", (), (2, 4, "[]")), ("s", (), F(1, 3))], end=4)
    assert model.intervals("q") == [(F(3, 2), F(5, 2), "[)")]
    assert model.intervals("a", F(1, 3)) == [(0, 4, "[]")]
    with pytest.raises(NotImplementedError):
        evaluate(read("timeline dense. a(T) :- p@T."), [("p", (), (0, 2, "()"))], end=4)


def test_dense_heads_and_facts() -> None:
    text = """timeline dense.
    p(a)@[1,5). p(b)@3. p(c).
    always(0,1] historically[0,2) q(X) :- p(X), X != c.
    """
    model = evaluate(read(text), [], end=8)
    assert model.intervals("p", "a") == [(1, 5, "[)")]
    assert model.intervals("p", "c") == [(0, 8, "[]")]
    assert model.intervals("q", "a") == [(0, 6, "[)")]  # (1 - 2, 5 + 1), what lies before 0 dropped
    assert model.intervals("q", "b") == [(1, 4, "(]")]


# -- [LARS] --------------------------------------------------------------------------------------------

TRAMS = [("tram", ("a1", "b"), 36), ("tram", ("a3", "h"), 40)]
VEHICLES = [
    ("tram", ("a1", "b"), 36), ("bus", ("b1", "b"), 36),
    ("tram", ("a2", "h"), 40), ("bus", ("b1", "s"), 40),
    ("tram", ("a2", "m"), 43), ("tram", ("a1", "m"), 44), ("bus", ("b2", "m"), 45),
]  # fmt: skip


def window_of(text: str, facts: list[tuple], end: int, at: int) -> tuple[int, int, set[tuple]]:
    """Timeline and facts of a window."""
    rows: dict[tuple, frozenset[int]] = {}
    for predicate, values, time in facts:
        rows[predicate, values] = rows.get((predicate, values), frozenset()) | {time}
    stream = Stream(0, end, rows, {}, {})
    found = select(asked(f"{text} true").window, stream, stream, at)
    return found.low, found.high, {(*ground, cell) for ground, cells in found.rows.items() for cell in cells}


def test_sliding_window() -> None:
    """[LARS] Example 3."""
    assert window_of("window(4)", TRAMS, 50, 42) == (38, 42, {("tram", ("a3", "h"), 40)})


def test_hopping_window() -> None:
    """[LARS] Examples 4 (figure 5) and 10 (figure 4)."""
    ends = [window_of("window(3, ahead 1, hop 3)", [], 9, at)[:2] for at in range(10)]
    assert ends == [(0, 1)] * 3 + [(0, 4)] * 3 + [(3, 7)] * 3 + [(6, 9)]
    assert window_of("window(3, hop 3)", [], 9, 8)[:2] == (3, 6)
    assert discrete("window(3, hop 3) some x", each("x", at=[4]), 11) == {6, 7, 8}
    assert discrete("window(2, hop 2) all x", each("x", at=[2, 3, 4]), 7) == {4, 5}


def test_rows_window() -> None:
    """[LARS] Example 5; of the facts at 36, the greater in canonical order stays."""
    low, high, rows = window_of("window(rows 4, ahead 1)", VEHICLES, 50, 43)
    assert (low, high) == (36, 44)
    assert rows == set(VEHICLES) - {("bus", ("b1", "b"), 36), ("bus", ("b2", "m"), 45)}
    assert window_of("window(rows 9)", VEHICLES, 50, 43)[:2] == (0, 43)
    assert window_of("window(rows 1, ahead 9)", VEHICLES, 50, 43)[:2] == (43, 50)


def test_rows_in_canonical_order() -> None:
    facts = [("p", (value,), 3) for value in (10, 9, "10", F(19, 2))] + [("o", ("z",), 3)]
    kept = [window_of(f"window(rows {rows})", facts, 4, 4)[2] for rows in range(6)]
    order = ["10", 10, F(19, 2), 9]
    for rows in range(5):
        assert kept[rows] == {("p", (value,), 3) for value in order[:rows]}
    assert kept[5] == set(facts)


def test_partition_window() -> None:
    """[LARS] Example 6."""
    for by in ("(tram(ID, _), bus(ID, _))", "(bus(X, Y1), tram(ID, _))"):
        low, high, rows = window_of(f"window(rows 1 by {by})", VEHICLES, 50, 45)
        if "bus(ID" in by:
            assert (low, high) == (40, 45)
            assert rows == {VEHICLES[3], VEHICLES[4], VEHICLES[5], VEHICLES[6]}
        else:  # one partition per bus and stop
            assert (low, high) == (36, 45)
            assert rows == {VEHICLES[1], VEHICLES[3], VEHICLES[4], VEHICLES[5], VEHICLES[6]}
    assert window_of("window(rows 1 by tram(ID, _))", VEHICLES, 50, 45) == (43, 45, {VEHICLES[4], VEHICLES[5]})
    # Before a tram has been seen it is no partition; a tram with too few rows opens the whole past.
    assert window_of("window(rows 1 by tram(ID, _))", VEHICLES, 50, 38)[:2] == (36, 38)
    assert window_of("window(rows 2 by tram(ID, _))", VEHICLES, 50, 41)[:2] == (0, 41)


def test_derived_facts_in_a_rows_window() -> None:
    """Rows are input facts; they fix the range, and derived facts in it are inside."""
    text = "timeline discrete. d :- p, r. q :- window(rows 2) some d. e@1. s :- window(rows 1 by p) some e."
    model = evaluate(read(text), each("p", at=[0, 2, 4]) + each("r", at=[0, 4]), end=6)
    assert model.at("d") == {0, 4}
    # rows up to t: p0 r0 p2 p4 r4; at 0 and 1 the window begins at 0, then p2 r0, and from 4 on p4 r4.
    assert model.at("q") == {0, 1, 2, 3, 4, 5, 6}
    assert model.at("s") == {1}  # [0,1] at 1; from 2 on the window begins at 2
    text = "timeline discrete. d :- p, r. q :- window(rows 1) some d."
    assert where(text, each("p", at=[0, 2]) + each("r", at=[0]), 3) == {0, 1}


def test_queries() -> None:
    """[LARS] Example 11."""
    assert ask("window(5) some tram(A, St)", 45, VEHICLES, 50) == [
        {"A": "a1", "St": "m"}, {"A": "a2", "St": "h"}, {"A": "a2", "St": "m"},
    ]  # fmt: skip
    assert ask("window(5) tram(a2, St)@U", 45, VEHICLES, 50) == [{"St": "h", "U": 40}, {"St": "m", "U": 43}]
    third = "tram(A, St) and window(0, ahead 3) some bus(B, St)"
    assert {at: found for at in range(51) if (found := ask(third, at, VEHICLES, 50))} == {
        36: [{"A": "a1", "St": "b", "B": "b1"}],
        43: [{"A": "a2", "St": "m", "B": "b2"}],
        44: [{"A": "a1", "St": "m", "B": "b2"}],
    }
    # Example 12: the pin takes the question back.
    first = "window(5) some tram(A, St)"
    assert ask(f"({first})@45", 20, VEHICLES, 50) == ask(first, 45, VEHICLES, 50)


def test_nested_windows() -> None:
    """[LARS] Examples 13 and 9."""
    last = "window(only tram(a1, _)) window(rows 1) tram(a1, St)@U"
    assert ask(last, 45, VEHICLES, 50) == [{"St": "m", "U": 44}]
    signals = each("s", at=[0, 5, 10, 15])
    assert discrete("window(10) all reset window(5) some s", signals, 25) == set(range(21))
    assert discrete("window(10) all window(5) some s", signals, 25) == set(range(11)) | {15, 20}
    assert discrete("window(1) (s@T and some t)", [*signals, ("t", (), 6)], 9) == {6}


@pytest.mark.parametrize(
    "second",
    [
        "busSoon(St)@U :- (window(0, ahead 3) some bus(B, St))@U.",
        "busSoon(St)@U :- bus(B, St)@U2, U2 >= U, U2 - U <= 3.",
    ],
)
def test_no_bus_soon(second: str) -> None:
    """[LARS] Example 15, with `reading every`: q holds at all times."""
    text = f"timeline discrete. q(U, A, St) :- tram(A, St)@U, (not busSoon(St))@U. {second}"
    model = evaluate(read(text), VEHICLES, end=50)
    assert model.of("busSoon") == {("b",): set(range(33, 37)), ("s",): set(range(37, 41)), ("m",): set(range(42, 46))}
    assert model.of("q") == {(40, "a2", "h"): set(range(51))}


def test_no_bus_soon_by_negated_window() -> None:
    text = """timeline discrete. aBus(St)@U :- bus(B, St)@U.
    q(U, A, St) :- tram(A, St)@U, (not window(0, ahead 3) some aBus(St))@U."""
    assert evaluate(read(text), VEHICLES, end=50).of("q") == {(40, "a2", "h"): set(range(51))}


# -- [LARS+] -------------------------------------------------------------------------------------------

BELTS = """timeline discrete.
warn(X) :- window(3) all beltTmp(X, Y), high(Y).
exists Y: beltOperator(X, Y) :- belt(X).
"""


def belts() -> list[tuple]:
    temperature = [("beltTmp", ("b1", 90 if time <= 4 else 70), time) for time in range(10)]
    return temperature + [(name, (value,), (0, 9, "[]")) for name, value in (("belt", "b1"), ("high", 90))]


def test_belts() -> None:
    """[LARS+] Example 1; a value is invented anew at each time."""
    model = evaluate(read(BELTS), belts(), end=9)
    assert model.at("warn", "b1") == {0, 1, 2, 3, 4}
    operators = model.of("beltOperator")
    assert len(operators) == 10 and all(len(cells) == 1 for cells in operators.values())
    assert {cell for cells in operators.values() for cell in cells} == set(range(10))


def test_lasting_values() -> None:
    text = BELTS + "same(X) :- window(3) all beltOperator(X, Y)."
    model = evaluate(read(text.replace("exists Y", "exists lasting Y")), belts(), end=9)
    assert model.of("beltOperator") == {("b1", ("null", 1, "Y", ("b1",))): set(range(10))}
    assert model.at("same", "b1") == set(range(10))
    assert evaluate(read(text), belts(), end=9).at("same", "b1") == {0}


def test_frontier() -> None:
    """A pinned head makes the pin's time part of the frontier, but not the time of looking."""
    facts = [("p", ("a",), 1), ("p", ("b",), 1)]
    model = evaluate(read("timeline discrete. exists Y: q(Y)@T+1 :- p(X)@T."), facts, end=3)
    assert model.of("q") == {(("null", 0, "Y", (1,)),): {2}}
    model = evaluate(read("timeline discrete. exists Y, Z: q(X, Y), r(Z)@T :- p(X)@T."), facts[:1], end=1)
    assert set(model.of("q")) == {("a", ("null", 0, "Y", (1, "a", time))) for time in (0, 1)}
    assert set(model.of("r")) == {(("null", 0, "Z", (1, "a", time)),) for time in (0, 1)}


def test_chase() -> None:
    """[LARS+] Example 3 ends with the timeline; without time it does not end."""
    text = "timeline discrete. exists V: p(Y, V)@T+1 :- p(X, Y)@T."
    facts = [("p", ("a", "b"), 0)]
    model = evaluate(read(text), facts, end=3)
    assert sorted(len(cells) for cells in model.of("p").values()) == [1, 1, 1, 1]
    with pytest.raises(ChaseLimit):
        evaluate(read("timeline discrete. exists V: p(Y, V) :- p(X, Y)."), facts, end=1, chase_limit=50)


# -- the beginning of the stream, metric operators on the discrete timeline -----------------------------


@pytest.mark.parametrize(
    ("body", "at", "expected"),
    [
        ("historically[0,3] p", [0, 1, 2, 3, 4], {3, 4}),
        ("historically[0,3] not p", [4], {0, 1, 2, 3}),
        ("window(3) all p", [0, 1, 2, 3], {0, 1, 2, 3}),
        ("window(3) all p", [1, 2, 3, 4], {4}),
        ("historically[0,3] (p or not p)", [], set(range(6))),
        ("historically[0,inf) p", range(6), set()),
        ("historically[2,inf) not p", [3], {0, 1, 2, 3, 4}),
        ("window(inf) all not p", [3], {0, 1, 2}),
        ("once[0,2] p", [1], {1, 2, 3}),
        ("once(0,2] p", [1], {2, 3}),
        ("once[0,2) p", [1], {1, 2}),
        ("once[2] p", [1], {3}),
        ("once[3,inf) p", [1], {4, 5}),
        ("once(0,1) p", range(6), set()),
        ("historically(0,1) p", [], set(range(6))),
        ("once[3,4] not p", range(6), {0, 1, 2, 3}),
        ("eventually[1,2] p", [3], {1, 2}),
        ("always[0,1] p", [2, 3, 5], {2}),
        ("always[0,1] not p", [2], {0, 3, 4, 5}),
        ("eventually[0,inf) p", [2], {0, 1, 2}),
        ("once[1,1] historically[0,1] p", [1, 2, 3], {3, 4}),
        ("some p", [2], set(range(6))),
        ("all p", range(5), set()),
        ("some (p and now = 3)", [2], {3}),
        ("p implies now > 2", [1, 4], {0, 2, 3, 4, 5}),
        ("p@now-1", [1, 3], {2, 4}),
        ("p@4", [4], set(range(6))),
        ("window(2) p@1", [1], {1, 2, 3}),
        ("window(2) once[0,4] p", [1], {1, 2, 3}),
        ("window(1, ahead 1) all p", [1, 2, 3], {2}),
        ("window(0, ahead inf) some p", [3], {0, 1, 2, 3}),
    ],
)
def test_discrete_time(body: str, at: list[int], expected: set[int]) -> None:
    assert discrete(body, each("p", at=at), 5) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p since[0,2] r", {1, 2, 3, 5, 6}),
        ("p since(0,2] r", {2, 3, 6}),
        ("p since(0,2) r", {2, 6}),
        ("p since[2,inf) r", {3, 4, 5}),
        ("p since[1] r", {2, 6}),
        ("p until[0,3] r", {0, 1, 2, 3, 4, 5}),
        ("p until[2,3] r", {2, 3}),
        ("p until[4,inf) r", {1}),
        ("p until[1] r", {0, 4}),
        ("p(X) since[0,2] r", {1, 2, 5, 6}),
    ],
)
def test_since_and_until(body: str, expected: set[int]) -> None:
    """p at 2, 3 and 4, r at 1 and 5. What lies strictly between counts, the ends do not."""
    assert discrete(body, each("p", at=[2, 3, 4]) + each("r", at=[1, 5]), 7) == expected


# -- values, static facts, constraints --------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("v(X), X > 2", {3, F(5, 2)}),
        ("v(X), X >= 2", {2, 3, F(5, 2)}),
        ("v(X), X < b", {"a", "10"}),
        ("v(X), X != 2", {3, F(5, 2), "a", "b", "10"}),
        ("v(X), X = 2.0", {2}),
        ("v(X), not (X > 2)", {2, "a", "b", "10"}),
        ("v(Y), X = Y * 2 - 1", {3, 4, 5}),
        ("v(Y), Y / 2 = X", {1, F(3, 2), F(5, 4)}),
        ("v(Y), X = Y / (Y - 2)", {3, 5}),
        ("v(Y), Z = X, X = Y + 1, Z < 4", {3, F(7, 2)}),
        ("(v(X) or w(X)), X >= 3", {3, 7}),
        ("v(Y), (X = Y and X = a or w(Y) and X = Y)", {"a"}),
        ("some (w(Y) and X = Y + 1)", {8}),
        ("v(X), not w(X), X > 2, -X < -5/2", {3}),
        ("w(X)@T, T = 1", {7}),
        ("w(_)@T, X = T + 1", {2}),
        ("w(_)@U, v(_)@T, T >= U - 1, T <= U, X = T", {0, 1}),
    ],
)
def test_values(body: str, expected: set) -> None:
    facts = [("v", (value,), (0, 1, "[]")) for value in (2, 3, F(5, 2), "a", "b", "10")] + [("w", (7,), 1)]
    found = evaluate(read(f"timeline discrete. q(X) :- {body}."), facts, end=1).of("q")
    assert {value for (value,) in found} == expected


def test_static_facts_hold_before_the_stream() -> None:
    text = "timeline discrete. static s(x). s(a). c(a). q :- historically[0,3] s(a). r :- historically[0,3] c(a)."
    model = evaluate(read(text), [], end=5)
    assert model.at("q") == set(range(6))
    assert model.at("r") == {3, 4, 5}
    text = "timeline discrete. q(X) :- s(X), once[9] s(X), window(1) all s(X)."
    given = evaluate(read(text), [], [("s", (1,))], end=2)
    assert given.at("q", 1) == given.at("s", 1) == {0, 1, 2}


def test_constraints() -> None:
    text = "timeline discrete. d(X) :- p(X). :- d(X), not r. :- d(9)@T."
    found = evaluate(read(text), [("p", (1,), 1), ("p", (1,), 3), ("p", (2,), 2), ("r", (), 1)], end=4).violations
    assert {(each.rule, each.binding, each.cells) for each in found} == {
        (1, (("X", 1),), frozenset({3})),
        (1, (("X", 2),), frozenset({2})),
    }


def test_heads() -> None:
    text = """timeline discrete.
    a, b@T+1, always[0,2] historically[0,1] c :- p@T, p.
    f@[1,3). g@7. h. always[1,inf) i :- p.
    """
    model = evaluate(read(text), each("p", at=[2]), end=5)
    assert {name: set(cells) for (name, _), cells in model.items()} == {
        "p": {2}, "a": {2}, "b": {3}, "c": {1, 2, 3, 4}, "f": {1, 2}, "h": set(range(6)), "i": {3, 4, 5},
    }  # fmt: skip


def test_negation_over_derived_facts() -> None:
    text = """timeline discrete.
    busy(X) :- window(2) some job(X).
    idle(X) :- worker(X), not busy(X).
    long(X) :- worker(X), historically[0,1] not busy(X).
    fine(X) :- worker(X), (idle(X) implies not long(X)).
    """
    workers = [("worker", ("w",), (0, 9, "[]"))]
    model = evaluate(read(text), [*workers, ("job", ("w",), 2)], end=7)
    assert model.at("busy", "w") == {2, 3, 4}
    assert model.at("idle", "w") == {0, 1, 5, 6, 7}
    assert model.at("long", "w") == {0, 1, 6, 7}
    assert model.at("fine", "w") == {2, 3, 4, 5}


def some_formula(chance: random.Random, depth: int) -> str:
    if depth == 0:
        return chance.choice(["p(X)", "p(Y)", "q(X)", "r", "r@T", "p(Y)@T+1", "q(X)@T-1", "p(a)", "X != Y", "true"])
    inner = [f"({some_formula(chance, depth - 1)})" for _ in range(2)]
    interval = chance.choice(["[0,1]", "(0,2]", "[1,inf)", "(0,1)", "[2]"])
    window = chance.choice(["1", "inf", "1, ahead 1", "2, hop 2", "rows 2", "rows 1, ahead 1", "rows 1 by p(_)"])
    prefix = chance.choice(["once", "historically", "eventually", "always"]) + interval
    return chance.choice(
        [f"{prefix} {inner[0]}", f"window({window}) {chance.choice(['some', 'all', ''])} {inner[0]}", f"not {inner[0]}"]
        + [f"{inner[0]} {word} {inner[1]}" for word in ("and", "or", "implies", "since" + interval, "until" + interval)]
        + [f"window(2) some reset {inner[0]}"]
    )


def some_program(chance: random.Random) -> tuple[Program, list[tuple]]:
    rules = [f"q(X) :- p(X), {some_formula(chance, 2)}.", f"q(X)@T :- p(X)@T, {some_formula(chance, 1)}."]
    facts = [("p", (value,), time) for value in "ab" for time in range(4) if chance.random() < 0.4]
    facts += each("r", at=[time for time in range(4) if chance.random() < 0.4])
    return read("timeline discrete. " + " ".join(rules)), facts


def model_or_none(program: Program, facts: list[tuple], end: int) -> Model | None:
    try:
        return evaluate(program, facts, end=end)
    except NotTotal:
        return None


@pytest.mark.parametrize("seed", range(60))
def test_matching_loses_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same models if instead of matching atoms every value is tried for every variable."""
    program, facts = some_program(random.Random(seed))
    found = model_or_none(program, facts, 3)
    monkeypatch.setattr(Look, "matches", lambda self, formula, binding: iter([binding]))
    assert model_or_none(program, facts, 3) == found


def widen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timelines with a grid three times as fine and a wider margin."""
    line = Line.of
    monkeypatch.setattr(Line, "of", lambda dense, fine, end, margin: line(dense, 3 * fine, end, margin + 5))


@pytest.mark.parametrize("seed", range(60))
def test_the_margin_is_wide_enough(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program, facts = some_program(random.Random(seed))
    found = model_or_none(program, facts, 3)
    widen(monkeypatch)
    assert model_or_none(program, facts, 3) == found


@pytest.mark.parametrize("seed", range(60))
def test_the_grid_is_fine_enough(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)

    def formula(depth: int) -> str:
        if depth == 0:
            return chance.choice(["p", "r", "p@T", "r@T+1/2", "not q@T-1", "not p", "now <= 3/2", "true"])
        interval = chance.choice(["[0,1]", "(0,1/2]", "[1,inf)", "(0,1)", "[1/2]", "[0,3/2)"])
        prefix = chance.choice(["once", "historically", "eventually", "always"]) + interval
        first, second = (f"({formula(depth - 1)})" for _ in range(2))
        words = ("and", "or", "implies", "since" + interval, "until" + interval)
        return chance.choice([f"{prefix} {first}"] * 3 + [f"{first} {word} {second}" for word in words])

    heads = chance.choice(["q", "always(0,1/2] q", "q@T+1/2", "historically[0,1) q"])
    program = read(f"timeline dense. q@T :- r@T, {formula(1)}. {heads} :- p@T, {formula(2)}.")
    ends = sorted(chance.sample(range(7), 4))
    facts = [("r", (), F(ends[2], 2))]
    facts.append(("p", (), (F(ends[0], 2), F(ends[1], 2), chance.choice(["[]", "()", "[)", "(]"]))))
    facts.append(("r", (), (F(ends[2], 2), F(ends[3], 2), chance.choice(["()", "(]"]))))
    found = model_or_none(program, facts, 3)
    widen(monkeypatch)
    finer = model_or_none(program, facts, 3)
    assert (found is None) == (finer is None)
    for name in "qpr" if found is not None and finer is not None else "":
        assert finer.intervals(name) == found.intervals(name)


def test_what_the_oracle_leaves_to_others() -> None:
    for text in (
        "timeline discrete. a | b :- p.",
        "timeline discrete. reading now. a :- p.",
        "timeline dense. a :- window(3) some p.",
        "timeline dense. a :- p@T, T * 2 < 5.",
        "timeline dense. a :- p@T, now - T < 5.",
    ):
        with pytest.raises(NotImplementedError):
            evaluate(read(text), each("p", at=[1]), end=2)
    with pytest.raises(TypeError):
        evaluate(read("timeline dense. a :- p."), [("p", (), 0.5)], end=2)
