"""Explanations of answers that are not confirmed: every claim against all evolutions of the stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from presage import explain as explanation_of
from presage.checking import check_text
from presage.hypothesis.engine import AnswerState
from presage.hypothesis.why import AnswerCourse, ArrivedFact, Why
from presage.model.terms import Variable
from presage.parser import parse_question
from presage.patterns.literals import Lit, Open
from tests.hypothetical.test_hypotheses import check as check_ways
from tests.hypothetical.test_hypotheses import lit
from tests.oracle import Outlook, TooLarge, declared_delays
from tests.oracle.hypothetical import Literal
from tests.random_hypotheses import LOOK_AHEAD, make_case
from tests.random_programs import Case

ROOT = Path(__file__).parent.parent.parent
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(1500) if LONG else range(25)
KINDS_SEEN_IN = (3, 22, 23)

STATUS = {"possible": "possible", "open": "unsupported", "impossible": "impossible", "confirmed": "confirmed"}


class Told:
    """A case, and what can be known of it at each time."""

    def __init__(self, case: Case) -> None:
        self.case = case
        report = check_text(case.text)
        assert report.findings is not None
        self.subject = report.findings.subject
        self.delays = declared_delays(self.subject.program)
        self.end = case.end + LOOK_AHEAD
        self.constants = {each for (_, values, _), _ in case.facts for each in values} | {0, 3}
        self.outlooks: dict[int, Outlook] = {}
        arrivals = [ArrivedFact(arrives, *fact) for fact, arrives in case.facts]  # type: ignore[arg-type]
        self.why = Why(self.subject, case.statics, arrivals)  # type: ignore[arg-type]

    def outlook(self, now: int) -> Outlook:
        if now not in self.outlooks:
            arrived = [fact for fact, arrives in self.case.facts if arrives <= now]
            self.outlooks[now] = Outlook(
                self.subject.program, arrived, now, self.end, self.delays, self.case.statics, 1, self.constants
            )
        return self.outlooks[now]


def instances(outlook: Outlook, lit: Lit) -> list[Literal]:
    """A literal with every value for its open variables; a variable that comes twice has one value."""
    found: list[dict[str, object]] = [{}]
    for each in lit.arguments:
        if isinstance(each, Open):
            constants = sorted(outlook.grounding.constants, key=repr)
            found = [
                {**known, each.name: value} for known in found if each.name not in known for value in constants
            ] or found
    times = range(outlook.end + 1) if isinstance(lit.time, Open) else [lit.time]
    return [
        Literal(
            lit.predicate, tuple(known[a.name] if isinstance(a, Open) else a for a in lit.arguments), at, lit.positive
        )  # type: ignore[arg-type,misc]
        for known in found
        for at in times  # type: ignore[union-attr]
    ]


def can_hold(outlook: Outlook, literals: list[Literal]) -> bool:
    """Whether some evolution makes all of them true."""
    bits = None
    for each in literals:
        if each.positive and outlook.is_input(each.fact) and not any(r.head == each.fact for r in outlook._live):
            if each.fact not in outlook.arrived and not outlook.is_candidate(each.fact):
                return False
    cone = set().union(*(outlook.cone(each.fact) for each in literals))
    table = outlook._tabulate(cone)
    bits = table.everywhere
    for each in literals:
        bits &= table.of(each)
    return bool(bits)


def check_failure(told: Told, answer, explanation: AnswerCourse, now: int) -> str:  # type: ignore[no-untyped-def]
    failed = explanation.failed
    where = f"{answer} at {now}: {explanation.status}, {failed}"
    assert failed is not None, where
    if failed.premise is None:
        assert failed.kind in ("static", "condition", "arguments", "start", "rules"), where
        return failed.kind
    assert failed.when is not None and failed.when <= now, where
    outlook = told.outlook(failed.when)  # type: ignore[arg-type]
    before = told.outlook(failed.when - 1)  # type: ignore[arg-type,operator]
    if failed.kind == "late":
        known = instances(outlook, failed.premise)
        if failed.between is not None:
            low, high = failed.between
            known = [each for each in known if low <= each.time and (high is None or each.time <= high)]
        assert not any(outlook.is_candidate(each.fact) for each in known), where
        assert any(before.is_candidate(each.fact) for each in known), where
        if failed.premise.is_ground:
            assert all(each.fact not in outlook.arrived for each in known), where
    elif failed.kind == "true" and failed.premise.is_ground:
        assert outlook.proved(failed.premise.atom), where  # type: ignore[arg-type]
        assert failed.when == 0 or not before.proved(failed.premise.atom), where  # type: ignore[arg-type]
        for each in failed.because:
            if each.positive:
                assert each.atom in outlook.arrived, where
            else:
                assert not outlook.may(each.atom), where  # type: ignore[arg-type]
    elif failed.kind == "together":
        lits = [failed.premise, *failed.others]
        if all(each.is_ground for each in lits):
            assert not can_hold(outlook, [Literal(e.predicate, e.arguments, e.time, e.positive) for e in lits]), where  # type: ignore[arg-type]
    if explanation.status == "refuted":
        died = explanation.history[-1][0]
        assert failed.when == died, f"{where}, died at {died}"
    for each in failed.met:
        if each.positive:
            assert any(one.fact in told.outlook(now).arrived for one in instances(outlook, each)), where
    return failed.kind


def check(told: Told, answer, now: int, status: str, expected) -> str:  # type: ignore[no-untyped-def]
    """Compares one explanation with what the evolutions say; gives its kind."""
    outlook = told.outlook(now)
    name, arguments, time = answer
    explanation = told.why.of(name, arguments, time, now)
    where = f"{answer} at {now}: {explanation}"
    if status == "refuted or impossible":
        assert explanation.status in ("refuted", "impossible"), where
    else:
        assert explanation.status == status, f"{where}, not {status}"
    if status == "possible":
        state = AnswerState("possible", tuple(each.way for each in explanation.ways))
        check_ways(outlook, answer, state, expected, now)
    for each in explanation.ways if status in ("possible", "unsupported") else ():
        assert each.rules or told.subject.predicates[name].is_input, where
        for waiting in each.waiting:
            assert waiting.until is None or waiting.until > now, where
            if waiting.premise.positive:
                assert any(map(outlook.is_candidate, (one.fact for one in instances(outlook, waiting.premise)))), where
    if status == "unsupported":
        # What would have to arrive suffices, as far as it is on the timeline and ground.
        sets = [frozenset(map(lit, leaves)) for leaves in outlook.leaf_sets(answer)]
        for each in explanation.ways:
            if all(one.is_ground for one in each.way.needs):
                assert each.way.needs in sets, where
    if explanation.status in ("refuted", "impossible"):
        return check_failure(told, answer, explanation, now)
    return status


def compare(case: Case) -> Counter[str]:
    told = Told(case)
    kinds: Counter[str] = Counter()
    last = max((arrives for _, arrives in case.facts), default=0) + 2
    was_possible: set[object] = set()
    not_judged: set[object] = set()
    explained: set[object] = set()
    for now in range(last + 1):
        outlook = told.outlook(now)
        for answer in outlook.answers(case.end + 1):
            if not outlook.judged(answer):
                not_judged.add(answer)
                continue
            try:
                expected = outlook.ways(answer)
                status = STATUS[outlook.status(answer)]
            except TooLarge:
                not_judged.add(answer)
                continue
            if outlook.proved(answer) != (status == "confirmed"):
                continue  # certain by cases only
            if status == "possible":
                was_possible.add(answer)
            if status == "impossible":
                if answer in explained and now < last:
                    continue  # its reasons do not change any more, but for what is closest in the end
                explained.add(answer)
                maybe = "refuted or impossible" if answer in not_judged else "impossible"
                status = "refuted" if answer in was_possible else maybe
            try:
                kinds[check(told, answer, now, status, expected)] += 1
            except TooLarge:
                continue
    return kinds


@pytest.mark.parametrize("seed", SEEDS)
def test_explanations_are_true(seed: int) -> None:
    assert compare(make_case(seed))


def test_random_cases_have_every_kind_of_failure() -> None:
    kinds = sum((compare(make_case(seed)) for seed in KINDS_SEEN_IN), Counter[str]())
    assert {"late", "true", "together", "start", "static", "condition", "arguments"} <= kinds.keys()


def agrees(pattern: Lit, answer: Any) -> bool:
    return all(isinstance(want, Open) or want == have for want, have in zip(pattern.arguments, answer[1], strict=True))


@pytest.mark.parametrize("seed", range(0, 3000, 3) if LONG else range(0, 30, 3))
def test_an_answer_with_variables_stands_for_all(seed: int) -> None:
    """Whatever is possible or proved at a time is among the answers told; where no others can come, none can."""
    case = make_case(seed)
    told = Told(case)
    for now in range(max((arrives for _, arrives in case.facts), default=0) + 2):
        outlook = told.outlook(now)
        for answer in outlook.answers(case.end):
            name, arguments, time = answer
            if not outlook.judged(answer):
                continue
            found = told.why.of(name, tuple(Open(f"X{place}") for place in range(len(arguments))), time, now)
            named = [each.answer for each in (found, *found.instances) if each.ways]
            where = f"{answer} at {now}: {found}"
            try:
                if outlook.proved(answer) or outlook.ways(answer):
                    assert any(agrees(each, answer) for each in named), where
                elif not found.ways:
                    assert not outlook.may(answer), where
            except TooLarge:
                continue


# Single programs.


def explained(text: str, answer: str, at: int, *facts: str, statics: Sequence[tuple[str, tuple[str, ...]]] = ()):  # type: ignore[no-untyped-def]
    """What is said of an answer; a fact is `p(a)@1`, or `p(a)@1 2` if it arrives at 2."""
    subject = check_text(text).findings.subject  # type: ignore[union-attr]

    def atom(written: str) -> tuple[str, tuple[Any, ...], int]:
        pinned: Any = parse_question(written).formula
        terms = pinned.formula.arguments
        return (
            pinned.formula.predicate,
            tuple(Open(each.name) if isinstance(each, Variable) else each.value for each in terms),
            pinned.pin.offset,
        )

    arrivals = []
    for fact in facts:
        written, _, late = fact.partition(" arrives ")
        name, values, time = atom(written)
        arrivals.append(ArrivedFact(int(late or time), name, values, time))
    name, values, time = atom(answer)
    return Why(subject, statics, arrivals).of(name, values, time, at)


TURBINES = (ROOT / "presage/examples/turbines/turbines.psg").read_text()


def test_what_is_open_says_until_when() -> None:
    found = explained(TURBINES, "malf(wt25)@0", 1, "temp(wt25, high)@0", "temp(wt25, high)@1")
    (way,) = found.ways
    assert found.status == "possible" and way.decided_by == 3
    assert [(str(each.premise), each.until) for each in way.waiting] == [("temp(wt25, high)@2", 3)]
    assert [check_text(TURBINES).program.line_of(rule) for rule in way.rules] == [8, 7, 6, 5]


def test_what_was_refuted_says_when_and_why() -> None:
    found = explained(TURBINES, "malf(wt42)@1", 9, "temp(wt42, high)@1", "temp(wt42, low)@2")
    assert found.history == ((0, "open"), (1, "possible"), (3, "refuted"))
    assert found.failed.reason == "temp(wt42, high)@2 did not arrive by 3"
    assert [str(each) for each in found.failed.met] == ["temp(wt42, high)@1"]


HOSPITAL = (ROOT / "tests/cases/analysis/ha-example-11-hospital/program.psg").read_text()


def test_an_atom_below_not_that_became_true_has_its_own_reason() -> None:
    found = explained(HOSPITAL, "risk(gus)@0", 5, "gcm(gus)@1", "gbol(gus)@1")
    assert found.status == "refuted"
    assert found.failed.reason == "gvs(gus)@1 became true at 1, by gbol(gus)@1, gcm(gus)@1"
    assert len(found.failed.because_rules) == 1


def test_answers_with_open_variables_are_explained_too() -> None:
    found = explained(HOSPITAL, "risk(X)@0", 0, "gcm(gus)@0", "gbol(gus)@0")
    (way,) = found.ways
    assert (found.status, str(found.answer)) == ("possible", "risk(X)@0")
    assert way.way.unless == ("X = gus",)
    assert {str(each.premise) for each in way.waiting} == {"not gvs(X)@1", "not st(X, us)@0"}
    found = explained(TURBINES, "malf(X)@0", 1, "temp(wt25, high)@0", "temp(wt25, high)@1")
    assert [str(each.answer) for each in found.instances] == ["malf(wt25)@0"] and not found.ways


@pytest.mark.parametrize(
    ("rule", "answer", "reason"),
    [
        ("a(X)@T :- p(X)@T-2.", "a(c)@1", "from 2 on"),
        ("a(b) :- p(X).", "a(c)@1", "the rule gives a(b) only"),
        ("a(X)@3 :- p(X)@T.", "a(c)@1", "the rule gives it at 3 only"),
        ("a(X) :- p(X), s(X).", "a(c)@1", "s(c) is not among the static facts"),
        ("a(X) :- p(X), not s(X).", "a(d)@1", "s(d) is among the static facts"),
        ("a(X) :- p(X), X != c.", "a(c)@1", "c != c is not so"),
        ("a(X) :- p(X), m(X, V), V > 3.", "a(d)@1", "no m(d, V)@1 (not counting V <= 3) arrived by 1"),
        ("a(X) :- p(X), once[0,1] q(X).", "a(d)@1", "no q(d) at a time from 0 to 1 arrived by 1"),
    ],
)
def test_what_was_never_possible_says_why(rule: str, answer: str, reason: str) -> None:
    text = f"timeline discrete.\ninput p(x).\ninput q(x).\ninput m(x, v).\nstatic s(x).\n{rule}\nquery a(X).\n"
    found = explained(text, answer, 4, "p(d)@1", "m(d, 2)@1", statics=[("s", ("d",))])
    assert found.status in ("impossible", "refuted") and reason in found.failed.reason


def test_facts_that_match_but_lead_nowhere_are_named() -> None:
    text = "timeline discrete.\ninput p(x, v) delay 1.\ninput q(v).\na(X) :- p(X, V), q(V).\nquery a(X).\n"
    found = explained(text, "a(c)@1", 3, "q(1)@1", "p(c, 2)@1")
    assert found.status == "refuted" and found.failed.reason == "p(c, 1)@1 did not arrive by 2"


# The command.


def presage(*words: str | Path) -> str:
    command = [sys.executable, "-m", "presage", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


EXAMPLE = ("explain", "presage/examples/turbines/turbines.psg", "--facts", "presage/examples/turbines/facts.jsonl")


@pytest.mark.parametrize(
    ("at", "answer", "status", "text"),
    [
        (1, "malf(wt25)@0", "possible", "○ temp(wt25, high)@2: may arrive until 3"),
        (0, "malf(wt42)@0", "unsupported", "nothing speaks for it yet"),
        (5, "malf(wt42)@1", "refuted", "temp(wt42, high)@2 did not arrive by 3"),
        (5, "malf(wt42)@0", "impossible", "was never possible"),
        (1, "malf(X)@0", "possible", "no others can come"),
        (2, "temp(wt25, high)@2", "unsupported", "may arrive until 3"),
    ],
)
def test_the_command_speaks_json_and_text(at: int, answer: str, status: str, text: str) -> None:
    line = json.loads(presage(*EXAMPLE, "--at", str(at), answer))
    assert (line["answer"], line["at"], line["status"]) == (answer, at, status)
    assert bool(line["failed"]) == (status in ("refuted", "impossible"))
    assert text in presage(*EXAMPLE, "--at", str(at), "--text", answer)


def test_without_patterns_the_prover_says_what_it_can(tmp_path: Path) -> None:
    program, facts = tmp_path / "s.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput r(x) delay 1.\ns(X)@T+1 :- s(X)@T.\ns(X) :- r(X).\nquery s(X).\n", encoding="utf-8"
    )
    facts.write_text('{"pred": "r", "args": ["a"], "time": 2}\n')
    words = ("explain", program, "--facts", facts, "--at", "3")
    line = json.loads(presage(*words, "s(a)@1"))
    assert (line["status"], line["ways"]) == ("impossible", None)
    assert "a recursive rule gives ever new premises (line 3)" in line["why"]
    assert {each["fails_at"] for each in line["near"]} == {"s(a)@0", "r(a)@1"}
    line = json.loads(presage(*words, "s(b)@4"))
    assert line["status"] == "not entailed" and line["failed"] is None
    assert line["missing"] == [{"premise": "r(b)@3", "until": 4}]
    assert [(each["line"], each["fails_at"], each["values"]) for each in line["chain"]] == [
        (3, "s(b)@3", {"X": "b"}),
        (4, "r(b)@3", {"X": "b"}),
    ]
    text = presage(*words, "--text", "s(b)@4")
    assert "it may come true" in text and "what is missing first is r(b)@3, which is settled by 4" in text


def test_rules_that_have_no_proofs_have_ways(tmp_path: Path) -> None:
    program, facts = tmp_path / "d.psg", tmp_path / "facts.jsonl"
    program.write_text("timeline discrete.\ninput p(x).\nd(X)@0 :- p(X)@S, p(X)@T, S < T, T <= S + 2.\nquery d(X).\n")
    facts.write_text("".join(f'{{"pred": "p", "args": ["a"], "time": {time}}}\n' for time in (1, 2)))
    words = ("explain", program, "--facts", facts, "--at")
    assert len(json.loads(presage(*words, "1", "d(a)@0"))["ways"]) == 2
    line = json.loads(presage(*words, "2", "d(a)@0"))
    assert (line["status"], line["because"], line["proof"]) == ("confirmed", ["p(a)@1", "p(a)@2"], None)


def test_facts_over_an_interval_count_at_each_time() -> None:
    subject = check_text("timeline discrete.\ninput p(x).\na(X)@T :- p(X)@T, p(X)@T+2.\nquery a(X).\n").findings.subject  # type: ignore[union-attr]
    for length, status in ((1, "impossible"), (2, "confirmed"), (None, "confirmed")):
        assert Why(subject, [], [ArrivedFact(1, "p", ("c",), 1, length)]).of("a", ("c",), 1, 3).status in (
            status,
            "refuted",
        )


SINCE = """\
timeline discrete.
input temp(box, celsius: int) delay 1.
input door(box).
input stop(box).
cold(B) :- temp(B, C), C < 8.
fresh(B) :- cold(B) since[0,5] door(B).
shut(B) :- (not stop(B)) since[0,5] door(B).
calm(B) :- historically[0,1] shut(B).
query fresh(B).
query calm(B).
"""
READINGS = [("door", ("b1",), 0), *(("temp", ("b1", celsius), time) for time, celsius in enumerate((4, 5, 9, 5)))]


def test_what_did_not_last_goes_down_to_the_reading() -> None:
    told = explanation_of(SINCE, READINGS, "fresh(b1)@3")
    assert told.says.endswith("what failed first is cold(b1)@2, where 9 < 8 is not so of temp(b1, 9)@2")
    first, last = told.line["chain"]
    assert (first["line"], first["fails_at"], first["part"]) == (6, "(cold(b1) since[0,5] door(b1))@3", "cold(b1)@2")
    assert (last["line"], last["fails_at"], last["met"]) == (5, "9 < 8", ["temp(b1, 9)@2"])
    assert "● temp(b1, 9)@2: is there" in told.text()


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ("fresh(b2)@3", "door(b2)@[0,3]"),  # it never began
        ("shut(b1)@4", "not stop(b1)@2"),  # something came between
        ("calm(b1)@4", "not stop(b1)@2"),  # through an operator, a rule and another operator
    ],
)
def test_what_did_not_last_names_what_was_not_so(answer: str, part: str) -> None:
    told = explanation_of(SINCE, [*READINGS, ("stop", ("b1",), 2), ("temp", ("b2", 4), 2)], answer)
    assert told.says.endswith(f"what failed first is {part}")
    assert told.line["chain"][-1]["part"] == part


def test_what_did_not_last_on_dense_time_has_its_gap() -> None:
    program = "timeline dense.\ninput on(d).\ninput req(d).\nserved(D) :- on(D) since[0,5] req(D).\nquery served(D).\n"
    facts = [("req", ("b1",), 0), ("on", ("b1",), (0, 2, "[]")), ("on", ("b1",), (3, 5, "[]"))]
    told = explanation_of(program, facts, "served(b1)@4")
    assert told.status == "refuted" and told.says.endswith("what failed first is on(b1)@(2,3)")


def test_open_answers_above_since_and_until_wait_for_their_premises() -> None:
    """Their left sides are stretches, which have no patterns time by time."""
    text = "timeline discrete. input p(x). input q(x). w(X) :- p(X) until[2,inf) q(X). query w(X)."
    facts = [("p", ("a",), 1), ("p", ("a",), 2)]
    found = explanation_of(text, facts, "w(a)@0", at=2)
    assert (found.status, [each["needs"] for each in found.ways]) == (
        "possible",
        [["q(a)@3"], ["p(a)@[3,T1-1]", "q(a)@T1"]],
    )
    late = explanation_of(text, facts, "w(a)@0", at=3)
    assert late.status == "refuted" and "what failed first is p(a)@3" in late.says
    assert explanation_of(text, facts, "w(b)@0", at=4).status == "impossible"
