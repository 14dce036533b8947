"""How far a run goes that nobody ends: as far as answers lie after any fact that they rest on."""

from __future__ import annotations

import pytest

from presage import Reasoner, parse
from presage.checking import check_text
from presage.io.facts import Fact
from presage.plan.aftermath import aftermath
from presage.run.schedule import steps

CASES = {
    "h(X) :- p(X).": 0,
    "h(X) :- once[5,10] p(X).": 10,
    "h(X) :- once[5,10] p(X), r(X).": 10,
    "h(X) :- once[5,10] p(X), not r(X).": 10,
    "h(X) :- once[5,10] p(X) or once[0,20] r(X).": 20,
    "h(X) :- once[0,10] (p(X) and r(X)).": 10,
    "h(X) :- historically[2,10] p(X).": 10,
    "h(X) :- once[0,3] historically[2,10] p(X).": 13,
    "h(X) :- eventually[2,10] p(X).": 0,
    "always[5,10] h(X) :- p(X).": 10,
    "h(X) :- once[5,inf) p(X).": 5,
    "h(X) :- r(X) since[0,9] p(X).": 9,
    "h(X) :- (not r(X)) since[0,9] p(X).": 9,
    "h(X) :- window(4) some p(X).": 4,
    "h(X) :- window(4, ahead 2) all p(X).": 4,
    "h(X) :- window(3, hop 2) all p(X).": 5,
    "h(X)@T+7 :- p(X)@T, r(X)@T+3.": 7,
    "h(X)@U :- p(X)@T, r(X)@S, U >= T, U <= T + 6, S >= U - 2, S <= U.": 6,
    "d(X) :- once[0,4] p(X). h(X) :- once[1,3] d(X).": 7,
    "d(X) :- once[0,4] p(X). h(X) :- not d(X), r(X).": 0,
    "h(X) :- s(X), not p(X).": 0,
    "h(X) :- s(X), once[0,6] p(X).": 6,
    "h(X) :- p(X). h(X)@T+1 :- h(X)@T.": 0,
    "h(N) :- N = count { X, T : window(8) p(X)@T }.": 8,
    "h(X) :- s(X), count { T : window(8) p(X)@T } >= 2.": 8,
    "h(X) :- s(X), count { T : window(8) p(X)@T } = 0.": 0,
    "h(X) :- r(X), count { T : window(8) p(X)@T } >= 2.": 8,
}


def program_of(rules: str) -> str:
    return f"timeline discrete. input p(x). input r(x). static s(x). {rules} query h(_)."


@pytest.mark.parametrize("rules", CASES)
def test_an_answer_lies_so_far_after_a_fact(rules: str) -> None:
    report = check_text(program_of(rules))
    assert report.findings is not None, report.problems
    assert aftermath(report.findings.subject) == CASES[rules]


def fact(text: str, time: int) -> Fact:
    return Fact(text, ("a",), time, time, True, True, time)


@pytest.mark.parametrize(
    "rules", [each for each in CASES if not any(word in each for word in ("inf", ":- h(X)@T", "= 0"))]
)
def test_a_run_longer_than_that_confirms_nothing_that_rests_on_facts(rules: str) -> None:
    """What a longer run says of later times, a run without any facts says as well."""
    program = parse(program_of(rules))
    given = [fact("p", 0), fact("p", 1), fact("r", 3), fact("p", 4), fact("r", 4)]

    def times(until: int | None, facts: list[Fact]) -> set[int]:
        reasoner = Reasoner(program, static={"s": [("a",)]}, emit="confirmed")
        told = [each for answers in steps(reasoner, facts, until) for each in answers]
        assert all(each.status == "confirmed" for each in told)
        return {
            time
            for each in told
            for time in ([each.time] if each.time is not None else range(int(each.start or 0), int(each.end or 0) + 1))
        }

    end = 4 + CASES[rules] + int(Reasoner(program, emit="confirmed").longest_lag)
    whole = times(end + 30, given)
    assert times(None, given) == {time for time in whole if time <= end}
    assert {time for time in whole if time > end} == {time for time in times(end + 30, []) if time > end}


@pytest.mark.parametrize(
    "rules", [each for each in CASES if not any(word in each for word in ("inf", "h(X)@T.", "N = count"))]
)
def test_nothing_that_facts_speak_for_stays_possible(rules: str) -> None:
    reasoner = Reasoner(parse(program_of(rules)), static={"s": [("a",)]}, emit="changes")
    given = [fact("p", 0), fact("p", 1), fact("r", 3), fact("p", 4), fact("r", 4)]
    state = {each.key: each for answers in steps(reasoner, given, None) for each in answers}
    left = [each for each in state.values() if each.status == "possible"]
    assert not [each for each in left if "X" not in each.answer and any("not" not in fact for fact in each.because)]


def test_facts_of_the_program_are_waited_for() -> None:
    reasoner = Reasoner(
        parse("timeline discrete. input q(x). p(a)@50. h(X) :- once[0,2] p(X). query h(X)."), emit="confirmed"
    )
    told = [str(each) for answers in steps(reasoner, [], None) for each in answers]
    assert told and "h(a)@[50,52]" in " ".join(told)
