"""`presage plan`: the premise patterns of the papers' examples, and how they are written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from presage.checking import check_text
from presage.cli.plan import lines, to_json, to_text

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests/cases/analysis"


def plan(text: str) -> list[dict[str, Any]]:
    found = check_text(text).findings
    assert found is not None
    return [to_json(found, line) for line in lines(found)]


def premises(line: dict[str, Any]) -> list[list[str]]:
    return sorted(each["premises"] for each in line["patterns"])


def case(name: str) -> str:
    return (CASES / name / "program.psg").read_text(encoding="utf-8")


def test_turbines() -> None:
    (line,) = plan((ROOT / "presage/examples/turbines/turbines.psg").read_text())
    assert line["query"] == "malf(X)@T"
    assert premises(line) == [["temp(X, high)@T", "temp(X, high)@T+1", "temp(X, high)@T+2"]]
    assert line["patterns"][0]["bindings"] == {}
    assert "line 8: malf(X) at -2 := shdn(X)" in line["plan"]


def test_rules_in_core(capsys: pytest.CaptureFixture[str]) -> None:
    from presage.cli import main

    assert main(["plan", "--core", str(ROOT / "presage/examples/heartbeat/heartbeat.psg")]) == 0
    running, lost = capsys.readouterr().out.splitlines()
    assert running.endswith(": running(X) :- some[-10, 0] beat(X), not some[-10, 0] stopped(X).")
    assert lost.endswith(": lost(X) :- running(X), every[-5, 0] not beat(X).")


def test_a_query_that_is_not_connected() -> None:
    """[HA] Example 8: times that have nothing to do with each other, and an answer at 0 alone."""
    (line,) = plan(case("ha-example-08-not-connected"))
    assert premises(line) == [["temp(X, high)@T1", 'temp(X, "n/a")@T2']]
    assert line["patterns"][0]["bindings"] == {"T": 0}
    assert line["plan"] == [
        'line 2: #2(X) := temp(X, "n/a")',
        "line 2: #3 := #2 held at some time of [-inf, +inf]",
        "line 2: defective(X) at time 0 := #3(X), temp(X, high)",
    ]


def test_the_hospital() -> None:
    """[HA] Example 16 and its auxiliary queries."""
    risk, *others = plan(case("ha-example-11-hospital"))
    assert premises(risk) == [
        ["not gvs(X)@T", "not st(X, us)@T", "not gvs(X)@T+1"],
        ["not gvs(X)@T+1", "bca(X)@T+2"],
    ]
    assert all(each["auxiliary"] for each in others) and "auxiliary" not in risk
    auxiliary = {each["query"]: premises(each) for each in others}
    assert auxiliary == {
        "gvs(X)@T": [["gbol(X)@T", "gcm(X)@T"]],
        "st(X, us)@T": [["bca(X)@T+1"], ["not gvs(X)@T-1", "not st(X, us)@T-1"]],
    }


def test_premises_with_delays_of_their_own() -> None:
    """[HAD] Example 6: a variable that only the body has; the patterns are the same whatever the delays."""
    (line,) = plan("input p(x) delay 2.\ninput r(y).\nq(X)@T :- p(X)@T, r(Y)@T.\nquery q(X).\n")
    assert premises(line) == [["p(X)@T", "r(Y)@T"]]
    on_time = case("ha-example-01-shutdown")
    late = on_time.replace("input temp(device, level).", "input temp(device, level) delay 2.")
    assert late != on_time
    assert plan(late) == plan(on_time)
    assert premises(plan(late)[0]) == [["temp(X, high)@T-2", "temp(X, high)@T-1", "temp(X, high)@T"]]


def test_what_is_superfluous_is_left_out() -> None:
    (line,) = plan(case("ha-example-06-redundant"))
    assert line["patterns"][0]["bindings"] == {"X": "a"} and premises(line) == [["p(a)@T"]]


def test_without_finite_patterns_the_cycle_is_named() -> None:
    """[HA] Example 7."""
    (line,) = plan(case("ha-example-07-diverges"))
    assert line["patterns"] is None and line["why"] == "a recursive rule gives ever new premises"
    assert line["rules"] == [{"line": 2, "rule": "s(X)@T+1 :- s(X)@T."}]


@pytest.mark.parametrize(
    ("rules", "query", "expected"),
    [
        ("a(X)@T :- p(X, V)@T, V > 5.", "a(Y)", (["p(Y, V)@T"], {}, ["V > 5"])),
        ("a(X)@T1 :- p(X, 1)@T1, q(X)@T2, T2 >= T1.", "a(X)", (["p(X, 1)@T", "q(X)@T2"], {}, ["T2 >= T"])),
        (
            "a(X)@T1 :- p(X, 1)@T1, q(X)@T2, T2 > T1, T2 <= T1 + 4.",
            "a(X)@T1",
            (["p(X, 1)@T1", "q(X)@T2"], {}, ["T2 >= T1 + 1", "T2 <= T1 + 4"]),
        ),
        ("a(X)@T+3 :- q(X)@S, q(X)@T, S <= T.", "a(X)", (["q(X)@T-3", "q(X)@S"], {}, ["S <= T - 3"])),
        ("a(X) :- q(X), s(X), not s(b).", "a(X)", (["q(X)@T"], {}, ["s(X)", "not s(b)"])),
        ("a(X) :- q(X).", "a(b)@7", (["q(b)@7"], {}, [])),
        ("a(X)@T :- q(X)@T, T >= 4.", "a(X)", (["q(X)@T"], {}, ["T >= 4"])),
        ("a(X, X) :- q(X).", "a(X, Y)", (["q(X)@T"], {}, ["Y = X"])),
        ("a(2, 1/2) :- q(c).", "a(X, Y)", (["q(c)@T"], {"X": 2, "Y": 0.5}, [])),
    ],
)
def test_bindings_conditions_and_bounds(rules: str, query: str, expected: tuple[Any, Any, Any]) -> None:
    text = f"timeline discrete.\ninput p(x, v).\ninput q(x).\nstatic s(x).\n{rules}\nquery {query}.\n"
    (line,) = plan(text)
    (pattern,) = line["patterns"]
    assert (pattern["premises"], pattern["bindings"], pattern["where"]) == expected


WITHIN = ["T2 >= T - 5", "T2 <= T"]


@pytest.mark.parametrize(
    ("rule", "premises", "where"),
    [
        ("a(X) :- count { T : window(5) q(X)@T } >= 3.", ["3 of q(X)@T2"], WITHIN),
        ("a(X) :- q(X), count { T : window(5) q(X)@T } > 3.", ["q(X)@T", "4 of q(X)@T2"], WITHIN),
        ("a(X) :- q(X), count { T : window(5) q(X)@T } <= 3.", ["q(X)@T", "at most 3 of q(X)@T2"], WITHIN),
        ("a(X) :- q(X), count { T : window(5) q(X)@T } < 3.", ["q(X)@T", "at most 2 of q(X)@T2"], WITHIN),
        ("a(X) :- q(X), count { V, T : window(5) p(X, V)@T } = 0.", ["q(X)@T", "at most 0 of p(X, V1)@T2"], WITHIN),
        ("a(X) :- q(X), count { V, T : window(5) p(X, V)@T } = 2.", ["q(X)@T", "exactly 2 of p(X, V1)@T2"], WITHIN),
        ("a(X) :- s(X), count { V : window(5) p(X, V)@T } >= 2.", ["2 of V1: p(X, V1)@T2"], ["s(X)", *WITHIN]),
        ("a(X) :- m(X, N), count { T : window(5) q(X)@T } > N.", ["N + 1 of q(X)@T2"], ["m(X, N)", *WITHIN]),
        ("a(X) :- sum { W, T : window(5) pay(X, W)@T } >= 40.", ["sum 40 of pay(X, W1)@T2"], WITHIN),
        ("a(X) :- sum { W, T : window(5) pay(X, W)@T } > 40.", ["sum over 40 of pay(X, W1)@T2"], WITHIN),
        ("a(X) :- max { V, T : window(5) p(X, V)@T } >= 8.", ["p(X, V)@T2"], ["V >= 8", *WITHIN]),
    ],
)
def test_aggregates_are_premises_as_a_whole(rule: str, premises: list[str], where: list[str]) -> None:
    declared = "input p(x, v).\ninput q(x).\ninput pay(x, w: float >= 0).\nstatic s(x).\nstatic m(x, n).\n"
    (line,) = plan(f"timeline discrete.\n{declared}{rule}\nquery a(X).\n")
    (pattern,) = line["patterns"]
    assert (pattern["premises"], pattern["where"]) == (premises, where)
    assert line["plan"]


def test_operators_have_nodes() -> None:
    text = "timeline dense.\ninput p(x).\ninput q(x).\na(X) :- once[0,5] p(X), p(X) since[1,2] q(X).\nquery a(X).\n"
    (line,) = plan(text)
    (pattern,) = line["patterns"]
    assert pattern["premises"] == ["p(X)@T1", "p(X)@(T2,T)", "q(X)@T2"]
    assert pattern["where"] == ["T1 >= T - 5", "T2 >= T - 2", "T1 <= T", "T2 <= T - 1"]
    nodes = "\n".join(line["plan"])
    assert "p held at some time of [0, +5]" in nodes and "p since q, [+1, +2]" in nodes


def test_the_command() -> None:
    command = [sys.executable, "-m", "presage", "plan"]
    done = subprocess.run(
        [*command, "presage/examples/turbines/turbines.psg"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0 and json.loads(done.stdout)["query"] == "malf(X)@T"
    broken = subprocess.run([*command, "no-such.psg"], capture_output=True, text=True, cwd=ROOT)
    assert broken.returncode == 1 and "no such file" in broken.stderr


def test_text_says_the_same() -> None:
    found = check_text(case("ha-example-11-hospital")).findings
    assert found is not None
    text = "\n".join(line for each in lines(found) for line in to_text(found, each))
    assert "auxiliary query st(X, us)@T" in text and "pattern 2 (line 5): not gvs(X)@T-1, not st(X, us)@T-1" in text


def test_more_ways_than_can_be_kept_are_told_as_confirmed_with_the_reason() -> None:
    """Nine premises with a variable of their own each, any of which may be met by the fact that meets another."""
    found = check_text(
        "timeline discrete. input e(x, y). d(X)@U :- e(b, X)@T, e(X, Y)@U, U >= T + 1, U <= T + 2, e(Y, Y)@T-1.\n"
        "h(X) :- always[0,2] historically[2,4] d(X), d(Y), always[0,1] d(X), Y != a. query h(X)."
    ).findings
    assert found is not None
    (query,) = found.queries
    assert not query.hypothetical.possible and not query.hypothetical.endless
    assert "one fact can meet too many of the premises" in query.hypothetical.reason
    assert {found.subject.place(rule) for rule in query.hypothetical.rules} == {"line 1", "line 2"}


def test_factors_of_patterns_count_as_patterns() -> None:
    found = check_text(
        "timeline discrete. input p(x). input r(x) delay 1. static s(x).\n"
        "d(X) :- once[0,2] always[0,1] p(X), historically[1,1] r(X).\n"
        "d(X) :- eventually[2,2] always[2,2] r(X), always[1,2] p(X), not s(X).\n"
        "h(X) :- always[0,1] d(X), always[1,2] historically[0,1] d(a), always[0,1] once[0,1] d(X). query h(X)."
    ).findings
    assert found is not None
    assert not found.queries[0].hypothetical.possible


def test_more_choices_of_times_than_can_be_looked_at() -> None:
    """Evidence that a choice of times could do without must not be told, so all of them would have to be looked at."""
    found = check_text(
        "timeline discrete. input r(x). d(X) :- historically[2,3] eventually[2,4] r(X).\n"
        "h(X) :- historically[0,1] d(X), once[0,1] eventually[0,1] d(X). query h(X)."
    ).findings
    assert found is not None
    assert not found.queries[0].hypothetical.possible
    assert "one fact can meet too many of the premises" in found.queries[0].hypothetical.reason
