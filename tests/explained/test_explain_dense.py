"""Explanations on dense time of answers that are not confirmed, against what a run said of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.evidence.proof import InputFact, Record
from presage.explanations.explain import explain_answer as explain
from presage.explanations.result import Explanation
from presage.model.formulas import Atom
from presage.model.terms import Constant
from presage.model.time import TimeSpan
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.random_dense import LAST, DenseCase, make_dense_case

ALARM = "input p(x) delay 1. input q(x). d(X) :- once[0,2] p(X), historically[0,1] q(X). query d(X)."
HALF = Fraction(1, 2)


def asked(text: str, facts: list[InputFact], at: Any, name: str, value: str, time: Any) -> Explanation:
    findings = check_text(text).findings
    assert findings is not None
    record = Record(findings.subject.program, False, tuple(facts), (), at)
    return explain(findings.subject, record, Atom(name, (Constant(value),)), TimeSpan(time, time))


@pytest.mark.parametrize(
    ("at", "status", "says"),
    [
        (0, "possible", "d(a)@1 is possible at 0: what is missing is q(a)@(0.5,1], settled by 1"),
        (HALF, "refuted", "d(a)@1 was refuted at 0.5: it needed q(a)@(0.5,1], which cannot come any more"),
    ],
)
def test_what_is_missing_is_told_for_the_time_that_is_asked_for(at: Any, status: str, says: str) -> None:
    facts = [InputFact("p", ("a",), TimeSpan(0, 0), 0), InputFact("q", ("a",), TimeSpan(0, HALF), 0)]
    line = asked(ALARM, facts, at, "d", "a", 1).line
    assert (line["status"], line["says"]) == (status, says)
    if status == "possible":
        assert line["ways"][0]["missing"] == [{"premise": "q(a)@(0.5,1]", "until": 1}]
        assert line["because"] == ["p(a)@0", "q(a)@[0,0.5]"]


@pytest.mark.parametrize("rule", ["once[0,1] p(X), not n(X)", "p(X), not once[0,0] n(X)", "not m(X), p(X)"])
def test_what_a_negation_failed_at_is_not_called_open(rule: str) -> None:
    text = f"timeline dense. input p(x). input n(x). m(X) :- n(X). q(X) :- {rule}. query q(X)."
    facts = [InputFact("p", ("a",), TimeSpan(0, 3), 0), InputFact("n", ("a",), TimeSpan(2, 2), 2)]
    line = asked(text, facts, 5, "q", "a", 2).line
    assert line["status"] in ("refuted", "impossible") and "not " in line["says"]


def covers(answer: presage.Answer, time: Fraction) -> bool:
    if answer.start is None:
        return answer.time == time
    after = answer.start < time or (answer.start == time and answer.bounds[0] == "[")
    return after and (answer.end is None or time < answer.end or (time == answer.end and answer.bounds[1] == "]"))


def said_by_a_run(case: DenseCase, facts: list[InputFact], at: int) -> list[presage.Answer]:
    from presage.io.facts import Fact

    given = [
        Fact(each.predicate, each.arguments, each.span.low, each.span.high, each.span.closed_low,
             each.span.closed_high, each.arrives)
        for each in facts
        if each.arrives <= at
    ]  # fmt: skip
    reasoner = Reasoner(presage.parse(case.text), emit="changes")
    return [each for answers in steps(reasoner, given, at) for each in answers]


@pytest.mark.parametrize("seed", range(12))
def test_status_is_what_a_run_says(seed: int) -> None:
    case = make_dense_case(seed)
    findings = check_text(case.text).findings
    assert findings is not None
    if not all(each.hypothetical.possible for each in findings.queries):
        pytest.skip("refused")
    facts = [
        InputFact(name, values, TimeSpan(span.low, span.high, span.closed_low, span.closed_high), arrives)
        for (name, values, span), arrives in case.facts
    ]
    for at in (1, LAST - 1):
        said = said_by_a_run(case, facts, at)
        for time in (HALF * each for each in range(2 * LAST)):
            last = next((each for each in reversed(said) if each.arguments == ("a",) and covers(each, time)), None)
            if last is not None:
                line = asked(case.text, facts, at, "q", "a", time).line
                assert line["status"] == last.status, (time, line["says"], last)
