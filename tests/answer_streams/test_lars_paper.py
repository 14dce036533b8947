"""The examples of [LARS], 1 to 19, in the order of the paper. Slips in the paper are put right where they are met."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from presage.answer_streams.streams import FactsInTime, FiniteStream, TimedAtom
from presage.answer_streams.windows import select
from presage.checking import check_text
from presage.core.formulas import Only, Rows, Seen
from presage.parser import parse_question
from presage.rewrite.lowering import Lowering
from presage.time.points import Times
from tests.answer_streams.test_lars import Row, ask, evaluation, models

ROOT = Path(__file__).resolve().parent.parent.parent

# Figure 1: the trams of Example 1, and Figure 6: the same with buses.
TRAMS: list[Row] = [("tram", ("a1", "b"), 36), ("tram", ("a3", "h"), 40)]
VEHICLES: list[Row] = [
    ("tram", ("a1", "b"), 36),
    ("bus", ("b1", "b"), 36),
    ("tram", ("a2", "h"), 40),
    ("bus", ("b1", "s"), 40),
    ("tram", ("a2", "m"), 43),
    ("tram", ("a1", "m"), 44),
    ("bus", ("b2", "m"), 45),
]
STATIC = [
    *(("plan", row) for row in (("l1", "b", "m", 8), ("l2", "g", "m", 7), ("l3", "h", "m", 3))),
    *(("line", row) for row in (("a1", "l1"), ("a2", "l2"), ("a3", "l3"))),
    ("old", ("a1",)),
]
SEEN = "query tram(A, St). query bus(B, St).\ninput tram(id, stop). input bus(id, stop)."

PLANS = """
reading now.
input tram(id, stop). input jam(stop). input on(id).
static plan(line, x, y, minutes). static line(id, line). static old(id).
exp(ID, Y)@T :- window(rows 1 by tram(ANY, _)) tram(ID, X)@T1, line(ID, L), plan(L, X, Y, D), T = T1 + D,
    not window(20) some jam(X).
gc(ID1, ID2, X) :- exp(ID1, X)@T, (window(0, ahead 5) some exp(ID2, X))@T, ID1 != ID2, not old(ID2).
"""
CHOICES = (
    PLANS
    + """
change(ID1, ID2, X) :- on(ID1), gc(ID1, ID2, X), not skip(ID1, ID2, X).
skip(ID1, ID2, X) :- gc(ID1, ID2, X), change(ID1, ID3, X), ID2 != ID3.
"""
)


def window_of(text: str, rows: list[Row], timeline: tuple[int, int], *at: int) -> tuple[int, int, set[Row]]:
    """What a window, or several nested ones, select at a time."""
    facts = FactsInTime()
    for name, values, time in rows:
        facts.add((name, values), Times.at(time), counted=True)
    whole = selected = FiniteStream(*timeline, facts, facts)
    formula = Lowering(discrete=True).formula(parse_question(f"{text} true").formula)
    while isinstance(formula, (Seen, Rows, Only)):
        selected = select(formula, selected, whole, at[0])
        formula = formula.part
    kept = {(name, values, time) for time, (name, values) in selected.facts.rows()}
    return selected.low, selected.high, {row for row in kept if selected.low <= row[2] <= selected.high}


def derived(found: set[frozenset[TimedAtom]]) -> list[list[str]]:
    """The models as people read them."""
    return sorted(
        sorted(f"{name}({', '.join(map(str, values))})@{time}" for time, (name, values) in model) for model in found
    )


def test_example_1_expected_reports() -> None:
    """a1 is expected at 44 and a3 at 43; changing to a1, which is old, is no good connection."""
    found = models(PLANS, TRAMS, 42, statics=STATIC, timeline=(0, 50))
    assert derived(found) == [["exp(a1, m)@44", "exp(a3, m)@43"]]


def test_example_2_the_data_stream() -> None:
    assert ask(SEEN, TRAMS, "tram(A, St)", None, (0, 50)) == [
        ({"A": "a1", "St": "b"}, 36),
        ({"A": "a3", "St": "h"}, 40),
    ]


def test_example_3_the_last_four_minutes() -> None:
    assert window_of("window(4)", TRAMS, (0, 50), 42) == (38, 42, {TRAMS[1]})


def test_example_4_a_hopping_window() -> None:
    ranges = [window_of("window(3, ahead 1, hop 3)", [], (0, 12), at)[:2] for at in range(10)]
    assert ranges == [(0, 1)] * 3 + [(0, 4)] * 3 + [(3, 7)] * 3 + [(6, 10)]


def test_example_5_the_last_four_and_the_next() -> None:
    """Of the two facts at 36 the greater in canonical order stays: the tram."""
    assert window_of("window(rows 4, ahead 1)", VEHICLES, (0, 50), 43) == (
        36,
        44,
        {VEHICLES[0], *VEHICLES[2:6]},
    )


def test_example_6_the_last_appearance_of_each() -> None:
    text = "window(rows 1 by (tram(ID, _), bus(ID, _)))"
    assert window_of(text, VEHICLES, (0, 50), 45) == (40, 45, set(VEHICLES[3:]))


def test_example_7_a_filter() -> None:
    only = "window(only tram(a1, _))"
    assert window_of(only, VEHICLES, (0, 50), 45) == (0, 50, {VEHICLES[0], VEHICLES[5]})
    assert window_of(f"{only} window(rows 1)", VEHICLES, (0, 50), 45) == (44, 45, {VEHICLES[5]})


def test_example_8_a_window_ahead() -> None:
    text = "input exp(id, stop). query exp(ID, St)."
    stream: list[Row] = [("exp", ("a3", "m"), 43), ("exp", ("a1", "m"), 44)]
    assert ask(text, stream, "window(0, ahead 5) some exp(a3, m)", 42, (0, 50)) == [({}, 42)]
    assert ask(text, stream, "window(0, ahead 5) some exp(a3, m)", 44, (0, 50)) == []


def test_example_9_nested_windows_and_reset() -> None:
    text = "input s. query s."
    signals: list[Row] = [("s", (), time) for time in range(0, 501, 6)]
    assert ask(text, signals, "window(60) all reset window(5) some s", 500, (0, 500)) == [({}, 500)]
    # At 440, six after the last but two signals before, the inner window would be cut at 440 without the reset.
    assert ask(text, signals, "window(60) all window(5) some s", 500, (0, 500)) == []
    assert ask(text, signals, "window(60) all window(5) some s", 492, (0, 500)) == [({}, 492)]


@pytest.mark.parametrize("time, holds", [(2, False), (3, True), (5, True), (6, True), (7, False)])
def test_example_10_the_time_need_not_be_in_the_window(time: int, holds: bool) -> None:
    text = "input x. query x."
    found = ask(text, [("x", (), time)], "window(3, hop 3) some x", 8, (0, 12))
    assert found == ([({}, 8)] if holds else [])
    assert ask(text, [("x", (), time)], "window(3, hop 3) true@8", 8, (0, 12)) == []
    assert ask(text, [("x", (), time)], "window(3, hop 3) true@now", 6, (0, 12)) == [({}, 6)]


def test_example_11_queries() -> None:
    assert ask(SEEN, VEHICLES, "window(5) some tram(A, St)", 45, (30, 50)) == [
        ({"A": "a1", "St": "m"}, 45),
        ({"A": "a2", "St": "h"}, 45),
        ({"A": "a2", "St": "m"}, 45),
    ]
    assert ask(SEEN, VEHICLES, "window(5) tram(a2, St)@U", 45, (30, 50)) == [
        ({"St": "h", "U": 40}, 45),
        ({"St": "m", "U": 43}, 45),
    ]
    assert ask(SEEN, VEHICLES, "tram(A, St) and window(0, ahead 3) some bus(B, St)", None, (30, 50)) == [
        ({"A": "a1", "St": "b", "B": "b1"}, 36),
        ({"A": "a2", "St": "m", "B": "b2"}, 43),
        ({"A": "a1", "St": "m", "B": "b2"}, 44),
    ]


@pytest.mark.parametrize("later", [30, 45, 50])
def test_example_12_replaying_a_query(later: int) -> None:
    first = [bindings for bindings, _ in ask(SEEN, VEHICLES, "window(5) some tram(A, St)", 45, (30, 50))]
    again = ask(SEEN, VEHICLES, "(window(5) some tram(A, St))@45", later, (30, 50))
    assert again == [(bindings, later) for bindings in first]


def test_example_13_when_a_tram_was_last_seen() -> None:
    question = "window(only tram(a1, _)) window(rows 1) tram(a1, St)@U"
    assert ask(SEEN, VEHICLES, question, 45, (30, 50)) == [({"St": "m", "U": 44}, 45)]


def test_example_14_a_variable_under_not_ranges_over_all_constants() -> None:
    question = "tram(A, St) and not window(0, ahead 3) some bus(B, St)"
    found = ask(SEEN, VEHICLES, question, None, (30, 50))
    constants = {"a1", "a2", "b1", "b2", "b", "h", "m", "s"}
    met = {("a1", "b", 36): "b1", ("a2", "m", 43): "b2", ("a1", "m", 44): "b2", ("a2", "h", 40): None}
    assert {(b["A"], b["St"], b["B"], at) for b, at in found} == {
        (tram, stop, other, at) for (tram, stop, at), bus in met.items() for other in constants - {bus}
    }
    # With the bus bound elsewhere: all buses seen, with all stops they were seen at.
    found = ask(SEEN, VEHICLES, f"{question} and some bus(B, St2)", None, (30, 50))
    assert [b for b, at in found if at == 36] == [{"A": "a1", "St": "b", "B": "b2", "St2": "m"}]
    assert [(b["B"], b["St2"]) for b, at in found if at == 40] == [("b1", "b"), ("b1", "s"), ("b2", "m")]


@pytest.mark.parametrize(
    "rule",
    [
        "busSoon(St)@U :- (window(0, ahead 3) some bus(B, St))@U.",
        # The paper's rule without a window needs U2 >= U, or a bus at the same time is missed.
        "busSoon(St)@U :- bus(B, St)@U2, U2 >= U, U2 - U <= 3.",
    ],
)
def test_example_15_no_bus_soon(rule: str) -> None:
    text = f"""reading now. input bus(id, stop). input tram(id, stop).
    q(U, A, St) :- tram(A, St)@U, not busSoon(St)@U. {rule}"""
    soon = {"b": range(33, 37), "s": range(37, 41), "m": range(42, 46)}
    expected = [f"busSoon({stop})@{time}" for stop, times in soon.items() for time in times] + ["q(40, a2, h)@45"]
    assert derived(models(text, VEHICLES, 45, timeline=(30, 50))) == [sorted(expected)]


def test_example_15_by_an_auxiliary_atom() -> None:
    text = """reading now. input bus(id, stop). input tram(id, stop).
    aBus(St)@U :- bus(B, St)@U.
    q(U, A, St) :- tram(A, St)@U, (not window(0, ahead 3) some aBus(St))@U."""
    (found,) = derived(models(text, VEHICLES, 45, timeline=(30, 50)))
    assert [fact for fact in found if fact.startswith("q")] == ["q(40, a2, h)@45"]


def test_example_16_no_good_connection_with_an_old_tram() -> None:
    (found,) = derived(models(PLANS, TRAMS, 42, statics=STATIC, timeline=(0, 50)))
    assert found == ["exp(a1, m)@44", "exp(a3, m)@43"]
    # The timeline need not be given: it reaches as far as rules derive something.
    assert models(PLANS, TRAMS, 42, statics=STATIC) == models(PLANS, TRAMS, 42, statics=STATIC, timeline=(0, 50))


EXPECTED = ["exp(a1, m)@44", "exp(a2, m)@45", "exp(a3, m)@43"]
CONNECTIONS = ["gc(a1, a2, m)@42", "gc(a3, a1, m)@42", "gc(a3, a2, m)@42"]
BOB: list[Row] = [*TRAMS, ("tram", ("a2", "g"), 38), ("on", ("a3",), 42)]


def test_example_17_two_choices() -> None:
    found = derived(models(CHOICES, BOB, 42, statics=STATIC[:-1], timeline=(0, 50)))
    first = ["change(a3, a1, m)@42", *EXPECTED, *CONNECTIONS, "skip(a3, a2, m)@42"]
    second = ["change(a3, a2, m)@42", *EXPECTED, *CONNECTIONS, "skip(a3, a1, m)@42"]
    assert found == [first, second]


def test_example_18_a_jam_retracts_one() -> None:
    found = derived(models(CHOICES, [*BOB, ("jam", ("b",), 42)], 42, statics=STATIC[:-1], timeline=(0, 50)))
    assert found == [["change(a3, a2, m)@42", "exp(a2, m)@45", "exp(a3, m)@43", "gc(a3, a2, m)@42"]]


# The paper keeps the least of the facts at a time, Presage the greatest: z, y, x, w stand for a, b, c, d.
ROWS = """reading now.
x.
w :- window(rows 1) some x.
{}
y :- window(rows 1) some z.
z :- window(rows 1) some y.
"""


@pytest.mark.parametrize("rule", ["z, y :- w.", "z :- w.\ny :- w."])
def test_example_19_a_minimal_model_that_is_no_answer_stream(rule: str) -> None:
    assert models(ROWS.format(rule), [], 0) == set()


def test_example_19_a_fact_may_push_out_the_one_it_comes_from() -> None:
    assert derived(models("reading now. x. w :- window(rows 1) some x, not z.", [], 0)) == [["w()@0", "x()@0"]]
    text = "reading now. x. z :- window(rows 1) some x, not y. y :- window(rows 1) some x, not z."
    assert derived(models(text, [], 0)) == []
    text = "reading now. x@0. z@1 | y@1 :- window(rows {}) some x."
    assert derived(models(text.format(1), [], 1, timeline=(0, 1))) == []
    found = derived(models(text.format(2), [], 1, timeline=(0, 1)))
    assert found == [["x()@0", "y()@1"], ["x()@0", "z()@1"]]


LETTERS: list[Row] = [("a", (), 5), ("b", (), 7), ("c", (), 8)]
LETTERS_SEEN = "input a. input b. input c. query a. query b. query c."


def test_example_20_the_windows_of_a_nested_formula() -> None:
    ends = [window_of("window(rows 2)", LETTERS, (0, 8), at)[:2] for at in range(9)]
    assert ends == [*((0, at) for at in range(7)), (5, 7), (7, 8)]
    # A window of three minutes within what is left of the stream leaves it as it is.
    assert window_of("window(rows 2) window(3)", LETTERS, (0, 8), 8) == (7, 8, set(LETTERS[1:]))
    assert window_of("window(rows 2) window(rows 1)", LETTERS, (0, 8), 8) == (8, 8, {LETTERS[2]})


def test_example_21_a_conjunction_of_windows_in_a_window() -> None:
    question = "window(rows 2) (window(3) some b and window(rows 1) some c)"
    assert ask(LETTERS_SEEN, LETTERS, question, None, (0, 8)) == [({}, 8)]


@pytest.mark.parametrize(
    "facts, holds", [("q1", True), ("p3 r5", True), ("p3 r6", True), ("p3 r7", False), ("r5", False)]
)
def test_example_22_precedence(facts: str, holds: int) -> None:
    """A conjunction binds tighter than a disjunction."""
    rows: list[Row] = [(fact[0], (), int(fact[1])) for fact in facts.split()]
    text = "input p. input q. input r. query p. query q. query r."
    found = ask(text, rows, "q@1 or p and window(1, ahead 3) some r", 3, (0, 8))
    assert found == ([({}, 3)] if holds else [])


def test_example_25_one_event_after_the_other() -> None:
    """`z` holds from the start of an interval of x to the end of one of y, where the former ends before the latter."""
    text = "timeline discrete. input x. input y. query z."
    for event in "xy":
        text += f"""
        begun_{event}(A)@A :- {event}@A, (not once[1] {event})@A.
        begun_{event}(A)@T+1 :- begun_{event}(A)@T, {event}@T+1.
        whole_{event}(A, B)@B :- begun_{event}(A)@B, (not eventually[1] {event})@B."""
    text += "z@T :- whole_x(A, B)@B, whole_y(C, D)@D, B < C, A <= T, T <= D."
    rows: list[Row] = [*(("x", (), time) for time in (2, 3)), *(("y", (), time) for time in (0, 5, 6, 7))]
    (model,) = models(text, rows, 8, timeline=(0, 9))
    assert {time for time, ground in model if ground[0] == "z"} == {*range(2, 8)}


def test_the_example_folder_is_the_paper() -> None:
    program = (ROOT / "presage/examples/trams/trams.psg").read_text(encoding="utf-8")
    lines = (ROOT / "presage/examples/trams/facts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [(each["pred"], tuple(each["args"]), each["time"]) for each in map(json.loads, lines)]
    assert models(program, rows, 42) == models(CHOICES, BOB, 42, statics=STATIC[:-1])
    assert check_text(program).findings.route.engine == "clingo"  # type: ignore[union-attr]
    assert evaluation(program, rows, 42).world.high == 45
