"""Declare against enumeration: templates by their definitions on whole traces, over all short ways to go on."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

import presage
from presage.cli import main

ACTIVITIES = "abc"
Trace = tuple[tuple[str, int], ...]
"""Activities with their times."""


# What a template says of a trace that is over, by its definition.


def judge(template: str, number: int, trace: Trace, low: int = 0, high: int | None = None) -> bool:
    def near(i: int, j: int) -> bool:
        distance = abs(trace[i][1] - trace[j][1])
        return low <= distance and (high is None or distance <= high)

    places = range(len(trace))
    a = [i for i in places if trace[i][0] == "a"]
    b = [i for i in places if trace[i][0] == "b"]
    counted = [i for i in a if near(0, i)]
    if template == "Existence":
        return len(counted) >= number
    if template == "Absence":
        return len(counted) < number
    if template == "Exactly":
        return len(counted) == number
    if template == "Init":
        return bool(trace) and trace[0][0] == "a" and near(0, 0)
    if template == "End":
        return bool(trace) and len(trace) - 1 in counted
    if template in ("Choice", "Exclusive Choice"):
        one, other = bool(counted), any(near(0, j) for j in b)
        return (one or other) if template == "Choice" else one != other
    response = all(any(j > i and near(i, j) for j in b) for i in a)
    precedence = all(any(i < j and near(i, j) for i in a) for j in b)
    alternate_response = all(any(j > i and near(i, j) and not any(i < k < j for k in a) for j in b) for i in a)
    alternate_precedence = all(any(i < j and near(i, j) and not any(i < k < j for k in b) for i in a) for j in b)
    chain_response = all(i + 1 in b and near(i, i + 1) for i in a)
    chain_precedence = all(j - 1 in a and near(j - 1, j) for j in b)
    from_a = all(any(near(i, j) for j in b) for i in a)
    from_b = all(any(near(i, j) for i in a) for j in b)
    apart = not any(near(i, j) for i in a for j in b)
    not_response = not any(i < j and near(i, j) for i in a for j in b)
    not_chain = not any(j == i + 1 and near(i, j) for i in a for j in b)
    return {
        "Responded Existence": from_a,
        "Response": response,
        "Alternate Response": alternate_response,
        "Chain Response": chain_response,
        "Precedence": precedence,
        "Alternate Precedence": alternate_precedence,
        "Chain Precedence": chain_precedence,
        "Co-Existence": from_a and from_b,
        "Succession": response and precedence,
        "Alternate Succession": alternate_response and alternate_precedence,
        "Chain Succession": chain_response and chain_precedence,
        "Not Responded Existence": apart,
        "Not Co-Existence": apart,
        "Not Response": not_response,
        "Not Precedence": not_response,
        "Not Succession": not_response,
        "Not Chain Response": not_chain,
        "Not Chain Precedence": not_chain,
        "Not Chain Succession": not_chain,
    }[template]


UNARY = ["Existence", "Absence", "Exactly", "Init", "End"]
BINARY = [
    *("Choice", "Exclusive Choice", "Responded Existence", "Response", "Alternate Response", "Chain Response"),
    *("Precedence", "Alternate Precedence", "Chain Precedence", "Co-Existence", "Succession", "Alternate Succession"),
    *("Chain Succession", "Not Responded Existence", "Not Response", "Not Precedence", "Not Chain Response"),
    *("Not Chain Precedence", "Not Co-Existence", "Not Succession", "Not Chain Succession"),
]


def ways_to_go_on(now: int, gaps: tuple[int, ...], longest: int) -> list[Trace]:
    found: list[Trace] = []
    for length in range(longest + 1):
        for names in itertools.product(ACTIVITIES, repeat=length):
            for steps in itertools.product(gaps, repeat=length):
                times = itertools.accumulate(steps, initial=now)
                found.append(tuple(zip(names, list(times)[1:], strict=True)))
    return found


def enumerated(template: str, number: int, trace: Trace, now: int, low: int, high: int | None) -> str:
    gaps = (1,) if high is None and low == 0 else (1, 2, 4)
    rest = ways_to_go_on(now, gaps, 3 if len(gaps) == 1 else 2)
    ends = {judge(template, number, trace + more, low, high) for more in rest}
    holds = judge(template, number, trace, low, high)
    word = "satisfied" if holds else "violated"
    return f"{'temporarily' if len(ends) == 2 else 'permanently'} {word}"


def text_of(template: str, number: int, low: int, high: int | None) -> str:
    unary = template in UNARY
    name = f"{template}{number}" if template in ("Existence", "Absence", "Exactly") and number > 1 else template
    bound = "" if high is None else f"| {'' if unary else '| '}|{low},{high},s"
    return f"{name}[{'a' if unary else 'a, b'}] {bound}".strip()


@pytest.mark.parametrize("template", [*UNARY, *BINARY])
@pytest.mark.parametrize("bound", [None, (0, 2), (2, 3)], ids=str)
def test_verdicts(template: str, bound: tuple[int, int] | None) -> None:
    rng = random.Random(f"{template}{bound}")
    low, high = bound or (0, None)
    for _ in range(8):
        number = rng.choice([1, 1, 2])
        program = presage.parse("activity a\nactivity b\nactivity c\n" + text_of(template, number, low, high), "p.decl")
        reasoner = presage.Reasoner(program)
        trace: Trace = ()
        said = ""
        now = 0
        for step in range(5):
            now += rng.choice([1, 1, 2, 3])
            happens = not trace or rng.random() < 0.8
            if happens:
                trace = (*trace, (rng.choice(ACTIVITIES), now))
            facts = [("event", ("case 1", trace[-1][0]), now)] if happens else []
            for answer in reasoner.push(facts, now=now):
                line = answer.to_json()
                said = line["verdict"]
                assert line["property"] == text_of(template, number, low, high)
                assert line["time"] == trace[0][1] and line["bindings"] == {"CASE": "case 1"}
                assert (
                    answer.status
                    == {"t": "possible", "s": "confirmed", "v": "refuted"}[
                        "t" if said.startswith("t") else said.split()[1][0]
                    ]
                )
            assert said == enumerated(template, number, trace, now, low, high), (program.source.text, trace, now)
            if step % 2:
                reasoner = presage.Reasoner.restore(program, reasoner.save())
        for answer in reasoner.push([("complete", ("case 1",), now + 1)], now=now + 1):
            said = answer.to_json()["verdict"]
        # Until the case was complete, time alone may have decided more.
        assert said == f"permanently {'satisfied' if judge(template, number, trace, low, high) else 'violated'}"


def verdicts(source: str, *facts: tuple[str, tuple[object, ...], int]) -> dict[str, str]:
    reasoner = presage.Reasoner(presage.parse(source, "p.decl"))
    latest: dict[str, str] = {}
    for now in sorted({fact[2] for fact in facts}):
        for answer in reasoner.push([fact for fact in facts if fact[2] == now], now=now):
            latest[answer.answer] = answer.to_json()["verdict"]
    return latest


def test_data_conditions() -> None:
    source = "Response[order, ship] |A.amount > 100 and A.kind in (gold, silver) |A.user is T.user |0,1,m"
    begin = [("event", ("c", "order"), 0), ("data", ("c", "amount", 150), 0), ("data", ("c", "kind", "gold"), 0)]
    begin.append(("data", ("c", "user", "u1"), 0))
    shipped = [("event", ("c", "ship"), 5), ("data", ("c", "user", "u2"), 5)]
    assert verdicts(source, *begin) == {"response_1(c)@0": "temporarily violated"}
    assert verdicts(source, *begin, *shipped) == {"response_1(c)@0": "temporarily violated"}
    right = [("event", ("c", "ship"), 6), ("data", ("c", "user", "u1"), 6)]
    assert verdicts(source, *begin, *shipped, *right) == {"response_1(c)@0": "temporarily satisfied"}
    cheap = [begin[0], ("data", ("c", "amount", 99), 0), *begin[2:]]
    assert verdicts(source, *cheap) == {"response_1(c)@0": "temporarily satisfied"}
    # Two events of one moment may have the same data, and an event that is said again is the same one.
    same = "Response[order, ship] |A.amount > 100 |T.amount > 100"
    large = ("data", ("c", "amount", 150), 0)
    assert verdicts(same, begin[0], large, ("event", ("c", "ship"), 0), large) == {
        "response_1(c)@0": "temporarily satisfied"
    }
    again = [("event", ("c", "order"), 0), ("event", ("c", "order"), 0)]
    assert verdicts("Exactly[order]", *again) == {"exactly_1(c)@0": "temporarily satisfied"}
    assert verdicts("Exactly[order]", *again, large) == {"exactly_1(c)@0": "permanently violated"}
    # What is known of the activation rules every target out.
    hopeless = "Response[order, ship] | |A.amount < 100 and T.amount > 3"
    assert verdicts(hopeless, *begin) == {"response_1(c)@0": "permanently violated"}


def test_the_missing_event_and_its_deadline() -> None:
    reasoner = presage.Reasoner(presage.parse("Response[a, b] | | |0,2,m", "p.decl"))
    line = reasoner.push([("event", ("c", "a"), 10)], now=10)[0].to_json()
    assert line["answer"] == "response_1(c)@10" and line["because"] == ["event(c, a)@10"]
    assert line["needs"] == ["event(c, b)@T1"] and line["unless"] == ["T1 < 11", "T1 > 130"]
    assert line["decided_by"] == 130
    assert [each.status for each in reasoner.push([], now=200)] == ["refuted"]


XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xmlns="http://www.xes-standard.org/">
  <trace><string key="concept:name" value="order 7"/>
    <event><string key="concept:name" value="order"/><date key="time:timestamp" value="2026-01-01T10:00:00+01:00"/>
      <int key="amount" value="120"/></event>
    <event><string key="concept:name" value="ship"/><date key="time:timestamp" value="2026-01-03T10:00:00+01:00"/>
    </event>
  </trace>
  <trace><string key="concept:name" value="order 8"/>
    <event><string key="concept:name" value="order"/><date key="time:timestamp" value="2026-01-01T11:00:00+01:00"/>
      <float key="amount" value="99.5"/></event>
  </trace>
</log>
"""


def test_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, log = tmp_path / "p.decl", tmp_path / "orders.xes"

    def latest() -> dict[str, str]:
        assert main(["run", str(program), "--facts", str(log)]) == 0
        lines = map(json.loads, capsys.readouterr().out.splitlines())
        return {line["answer"].split("@")[0]: line["verdict"] for line in lines}

    program.write_text("activity order\nactivity ship\nResponse[order, ship] |A.amount > 100 | |0,1,d\nInit[order]\n")
    log.write_text(XES)
    assert latest() == {
        'response_1("order 7")': "permanently violated",
        'response_1("order 8")': "permanently satisfied",
        'init_2("order 7")': "permanently satisfied",
        'init_2("order 8")': "permanently satisfied",
    }
    # A log has each event as often as it happened, also within a second.
    program.write_text("activity order\nactivity ship\nExactly[order]\nChain Response[ship, order]\n")
    twice = XES[XES.index("<event>") : XES.index("</event>")] + "</event>"
    between = twice.replace('value="order"', 'value="ship"')
    log.write_text(f'<log><trace><string key="concept:name" value="t"/>{twice}{between}{twice}</trace></log>')
    assert latest() == {"exactly_1(t)": "permanently violated", "chain_response_2(t)": "permanently satisfied"}
    log.write_text(XES[:300])
    assert main(["run", str(program), "--facts", str(log)]) == 1
    assert "not an event log in XES" in capsys.readouterr().err


PM4PY = {
    "existence": "Existence", "exactly_one": "Exactly", "init": "Init", "absence": "Absence",
    "responded_existence": "Responded Existence", "coexistence": "Co-Existence", "noncoexistence": "Not Co-Existence",
    "response": "Response", "precedence": "Precedence", "succession": "Succession",
    "altresponse": "Alternate Response", "altprecedence": "Alternate Precedence",
    "altsuccession": "Alternate Succession", "chainresponse": "Chain Response",
    "chainprecedence": "Chain Precedence", "chainsuccession": "Chain Succession",
}  # fmt: skip
"""pm4py's names. Its `nonsuccession` and `nonchainsuccession` let `b a b` pass, which the templates do not."""


def test_pm4py_agrees_on_complete_cases() -> None:
    pm4py = pytest.importorskip("pm4py")
    import pandas

    rng = random.Random(7)
    cases = {f"c{each:02}": rng.choices("abcd", k=rng.randrange(1, 7)) for each in range(40)}
    rows = [
        {
            "case:concept:name": case,
            "concept:name": activity,
            "time:timestamp": pandas.Timestamp("2026-01-01", tz="UTC") + pandas.Timedelta(seconds=at),
        }
        for case, trace in cases.items()
        for at, activity in enumerate(trace)
    ]
    facts = [("event", (case, activity), at) for case, trace in cases.items() for at, activity in enumerate(trace)]
    facts += [("complete", (case,), len(trace) - 1) for case, trace in cases.items()]
    for theirs, ours in PM4PY.items():
        unary = theirs in ("existence", "exactly_one", "init", "absence")
        model = {theirs: {"a" if unary else ("a", "b"): {"support": 1, "confidence": 1}}}
        judged = pm4py.conformance_declare(pandas.DataFrame(rows), model)
        expected = {case: each["dev_fitness"] == 1 for case, each in zip(sorted(cases), judged, strict=True)}
        found = verdicts(f"{ours}[a]" if unary else f"{ours}[a, b]", *facts)
        said = {key.split("(")[1].split(")")[0]: each == "permanently satisfied" for key, each in found.items()}
        assert said == expected, ours
