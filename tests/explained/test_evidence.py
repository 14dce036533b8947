"""Proofs: every entailed atom has one that the checker accepts, nothing else has, and no forged one passes.

Random programs and streams are compared with the oracle; forgeries change one place of a true proof, or the
facts below it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from presage.checking import check_text
from presage.evidence.checker import Rejected, check
from presage.evidence.proof import (
    Absent,
    AllOf,
    ByRule,
    Given,
    InputFact,
    Known,
    Lasting,
    OneSide,
    Pieces,
    Proof,
    Record,
    Throughout,
    Witness,
    evidence,
    walk,
)
from presage.evidence.prove import prove
from presage.evidence.solve import NotExplained
from presage.explanations.words import Printer, show_conclusion
from presage.model.formulas import Not
from presage.model.terms import Constant, Number
from presage.model.time import TimeSpan
from presage.parser import parse
from presage.plan.subformulas import Unsupported
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.entailed.test_engine import FARTHEST, facts_of
from tests.oracle import Model, evaluate
from tests.random_programs import Case, make_case

ROOT = Path(__file__).parent.parent.parent
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DISCRETE = range(800) if LONG else range(45)
DENSE = range(400) if LONG else range(25)

Time = int | Fraction | tuple[Any, Any, str]


def record_of(text: str, facts: list[tuple[Any, Any]], statics: list[Any] | None = None, at: Number = 100) -> Record:
    """Facts are pairs of (predicate, arguments, time) and arrival."""
    report = check_text(text)
    assert report.findings is not None, report.problems
    subject = report.findings.subject
    found = []
    for (name, arguments, when), arrives in facts:
        low, high, bounds = when if isinstance(when, tuple) else (when, when, "[]")
        found.append(InputFact(name, arguments, TimeSpan(low, high, bounds[0] == "[", bounds[1] == "]"), arrives))
    return Record(subject.program, subject.discrete, tuple(found), tuple(statics or ()), at)


def given(name: str, *arguments: Any, time: Time, arrives: Number | None = None) -> tuple[Any, Any]:
    start = time[0] if isinstance(time, tuple) else time
    return (name, arguments, time), start if arrives is None else arrives


def proved(record: Record, name: str, *arguments: Any, time: Number) -> Proof:
    """A proof, accepted by the checker."""
    proof = prove(record, name, arguments, time)
    assert proof is not None
    check(record, proof, name, arguments, time)
    assert json.dumps(Printer(record.program).to_json(proof))
    return proof


def kinds(proof: Proof) -> set[type]:
    return {type(step) for step in walk(proof)}


# Against the oracle and the engine.


def settled(case: Case, dense: bool) -> tuple[Record, Model, set[str], int] | None:
    """The case when everything has arrived, what the oracle says, the queries, and until when to look."""
    report = check_text(case.text)
    assert report.findings is not None
    ahead = [query.reach.delay for query in report.findings.queries]
    if not report.findings.strata.stratified or any(delay is None or delay > FARTHEST for delay in ahead):
        return None
    end = case.end + 4
    until = end + max(int(delay or 0) for delay in ahead) + 8
    record = record_of(case.text, case.facts, case.statics, until)
    timeline = "dense" if dense else "discrete"
    farthest = until + max(int(delay or 0) for delay in ahead)
    model = evaluate(record.program, [fact for fact, _ in case.facts], case.statics, end=farthest, timeline=timeline)
    return record, model, {each.query.atom.predicate for each in report.findings.queries}, end


def samples(chance: random.Random, model: Model, names: set[str], end: int) -> Iterator[tuple[str, str, Number]]:
    for name in sorted(names):
        for value in "ab":
            for _ in range(3):
                time: Number = chance.randint(0, end)
                if model.line.dense:
                    time = Fraction(chance.randint(0, end * 12), 12)
                if (Fraction(time) * model.line.scale).denominator == 1:
                    yield name, value, time


def compare(seed: int, dense: bool, windows: bool = False) -> None:
    case = make_case(seed, dense, windows)
    found = settled(case, dense)
    if found is None:
        pytest.skip("several models, or too far ahead for the oracle")
    record, model, names, end = found
    chance = random.Random(seed)
    for name, value, time in samples(chance, model, names, end):
        entailed = model.line.cell(time) in model.at(name, value)
        assert (prove(record, name, (value,), time) is not None) == entailed, f"{name}({value})@{time}"
        if entailed:
            refuse_forgeries(record, proved(record, name, value, time=time), name, value, time, chance)


@pytest.mark.parametrize("seed", DISCRETE)
def test_discrete(seed: int) -> None:
    compare(seed, dense=False)


@pytest.mark.parametrize("seed", DENSE)
def test_dense(seed: int) -> None:
    compare(seed, dense=True)


@pytest.mark.parametrize("seed", range(1000) if LONG else range(36))
def test_windows(seed: int) -> None:
    """Windows over modalities; programs with other windows say that they are not explained, and another is taken."""
    reason = ""
    for other in range(4):
        try:
            return compare(seed + 100_000 * other, dense=False, windows=True)
        except (NotExplained, pytest.skip.Exception) as found:
            reason = str(found)
    pytest.skip(reason)


@pytest.mark.parametrize("dense", [False, True], ids=["discrete", "dense"])
@pytest.mark.parametrize("seed", range(300) if LONG else range(12))
def test_before_everything_has_arrived(seed: int, dense: bool) -> None:
    """What the engine has confirmed has a proof; what has a proof stays true whatever arrives."""
    case = make_case(seed, dense)
    found = settled(case, dense)
    if found is None:
        pytest.skip("several models, or too far ahead for the oracle")
    _, model, names, end = found
    chance = random.Random(seed)
    for at in sorted({chance.randint(0, end) for _ in range(3)}):
        try:
            statics = {"s": [arguments for _, arguments in case.statics]}
            reasoner = Reasoner(parse(case.text), static=statics, emit="confirmed")
        except Unsupported as reason:
            pytest.skip(str(reason))
        confirmed = [answer for answers in steps(reasoner, facts_of(case), at) for answer in answers]
        record = record_of(case.text, case.facts, case.statics, at)
        for name, value, time in samples(chance, model, names, at):
            proof = prove(record, name, (value,), time)
            if proof is not None:
                assert model.line.cell(time) in model.at(name, value)
                check(record, proof, name, (value,), time)
            for answer in confirmed:
                if (answer.predicate, answer.arguments) == (name, (value,)) and covers(answer, time):
                    assert proof is not None, f"{answer} was confirmed at {answer.now}"


def covers(answer: Any, time: Number) -> bool:
    if answer.time is not None:
        return bool(answer.time == time)
    after = answer.start < time or (answer.start == time and answer.bounds[0] == "[")
    return after and (answer.end is None or time < answer.end or (answer.end == time and answer.bounds[1] == "]"))


# Forgeries.


def refuse_forgeries(
    record: Record, proof: Proof, name: str, value: str, time: Number, chance: random.Random, most: int = 12
) -> None:
    forged = list(forgeries(record, proof))
    for _, fake in chance.sample(forged, min(most, len(forged))):
        with pytest.raises(Rejected):
            check(record, fake, name, (value,), time)
    if facts := evidence(proof):
        lost = chance.choice(facts)
        without = replace(record, facts=tuple(fact for fact in record.facts if fact != lost))
        with pytest.raises(Rejected):
            check(without, proof, name, (value,), time)
        with pytest.raises(Rejected):
            check(replace(record, at=min(record.at, lost.arrives) - 1), proof, name, (value,), time)
    with pytest.raises(Rejected):
        check(record, proof, name, (value,), time + 1000)
    with pytest.raises(Rejected):
        check(record, proof, name, ("zz",), time)


def moved(span: TimeSpan) -> TimeSpan:
    return TimeSpan(
        None if span.low is None else span.low + 1000,
        None if span.high is None else span.high + 1000,
        span.closed_low,
        span.closed_high,
    )


def forgeries(record: Record, proof: Proof) -> Iterator[tuple[str, Proof]]:
    """Proofs with one step changed such that it cannot be right."""
    rules = record.program.rules
    for step in list(walk(proof)):
        for what, fake in changed(step, rules):
            yield what, rebuilt(proof, step, fake)


def changed(step: Proof, rules: tuple[Any, ...]) -> Iterator[tuple[str, Proof]]:
    if not (step.span.low is None and step.span.high is None):
        yield "elsewhere in time", replace(step, span=moved(step.span))
    yield "values of nothing", replace(step, substitution=(*step.substitution, ("Nobody", "zz")))
    yield "another formula", replace(step, formula=Not(step.formula))  # type: ignore[arg-type]
    match step:
        case Given(fact=fact):
            yield "a fact nobody gave", replace(step, fact=replace(fact, span=moved(fact.span)))
            yield "a fact that came otherwise", replace(step, fact=replace(fact, arrives=fact.arrives - 1000))
            yield "a fact about others", replace(step, fact=replace(fact, arguments=("zz",) * len(fact.arguments)))
        case Known(rule=number):
            yield "no such fact", replace(step, rule=len(rules) if number is None else None)
        case ByRule(rule=number, instance=instance, premises=premises):
            yield "a premise less", replace(step, premises=premises[1:])
            yield "a premise more", replace(step, premises=(*premises, premises[0]))
            yield "at another time", replace(step, when=moved(step.when))
            yield "no such rule", replace(step, rule=len(rules) + number)
            for other, rule in enumerate(rules):
                if rule.body != rules[number].body:
                    yield "another rule", replace(step, rule=other)
            if instance:
                yield "other values", replace(step, instance=((instance[0][0], "zz"), *instance[1:]))
            if len(premises) > 1 and premises[0].formula != premises[1].formula:
                yield "premises in another order", replace(step, premises=(*premises[1:], premises[0]))
        case Witness(premise=premise):
            yield "a far witness", replace(step, premise=replace(premise, span=moved(premise.span)))
        case Throughout(premise=every) if every is not None:
            yield "nothing throughout", replace(step, premise=None)
        case Lasting(witness=witness):
            yield "a far witness", replace(step, witness=replace(witness, span=moved(witness.span)))
        case AllOf(premises=premises):
            yield "a part less", replace(step, premises=premises[1:])
        case OneSide(side=side):
            yield "no such side", replace(step, side=side + 100)
        case Pieces(premises=premises):
            yield "a piece less", replace(step, premises=premises[:-1])
        case Absent(near=near) if near:
            yield "a wrong reason", replace(step, near=(replace(near[0], rule=len(rules)),))
            yield "a reason elsewhere", replace(step, near=(replace(near[0], when=moved(near[0].when)),))


def rebuilt(proof: Proof, old: Proof, new: Proof) -> Proof:
    """The proof with a step replaced wherever it occurs."""
    made: dict[int, Proof] = {id(old): new}

    def again(step: Proof) -> Proof:
        if id(step) not in made:
            parts: dict[str, Any] = {}
            for part in ("premise", "witness", "between"):
                if getattr(step, part, None) is not None:
                    parts[part] = again(getattr(step, part))
            if hasattr(step, "premises"):
                parts["premises"] = tuple(again(each) for each in step.premises)
            made[id(step)] = replace(step, **parts) if parts else step
        return made[id(step)]

    return again(proof)


# Examples.

TURBINES = (ROOT / "presage/examples/turbines/turbines.psg").read_text(encoding="utf-8")
HOSPITAL = (ROOT / "tests/cases/analysis/ha-example-11-hospital/program.psg").read_text(encoding="utf-8")


def turbines(at: Number) -> Record:
    readings = [given("temp", "wt25", "high", time=0), given("temp", "wt25", "high", time=1)]
    return record_of(TURBINES, [*readings, given("temp", "wt25", "high", time=2, arrives=3)], at=at)


def test_turbines() -> None:
    proof = proved(turbines(3), "malf", "wt25", time=0)
    assert show_conclusion(proof) == "malf(wt25)@0"
    assert [(fact.span.low, fact.arrives) for fact in evidence(proof)] == [(0, 0), (1, 1), (2, 3)]
    assert prove(turbines(2), "malf", ("wt25",), 0) is None
    assert prove(turbines(3), "malf", ("wt42",), 0) is None


def test_a_late_fact_is_no_evidence() -> None:
    record = turbines(5)
    late = replace(record.facts[2], arrives=4)
    without = replace(record, facts=(*record.facts[:2], late))
    assert prove(without, "malf", ("wt25",), 0) is None
    forged = proved(record, "malf", "wt25", time=0)
    for step in list(walk(forged)):
        if isinstance(step, Given) and step.fact == record.facts[2]:
            forged = rebuilt(forged, step, replace(step, fact=late))
    with pytest.raises(Rejected, match="too late"):
        check(without, forged, "malf", ("wt25",), 0)


def test_hospital() -> None:
    """Negation that only time breaks, and a variable that no positive literal binds."""
    record = record_of(HOSPITAL, [given("bca", "gus", time=9)], at=6)
    proof = proved(record, "risk", "gus", time=2)
    absences = [show_conclusion(step) for step in walk(proof) if isinstance(step, Absent)]
    assert absences == ["not gvs(gus)@3", "not gvs(gus)@2", "not st(gus, us)@2"]
    near = [each for step in walk(proof) if isinstance(step, Absent) for each in step.near]
    printer = Printer(record.program)
    assert "bca(gus)@3" in {printer.missing_text(each) for each in near}
    assert prove(record, "risk", ("gus",), 1) is None
    # With what was absent given, the same proof is none.
    cured = replace(record, facts=(*record.facts, InputFact("bca", ("gus",), TimeSpan(3, 3), 3)))
    with pytest.raises(Rejected, match="may still come to hold"):
        check(cured, proof, "risk", ("gus",), 2)


QUIET = """timeline discrete.
input seen(x) delay 3.
input room(x).
quiet(X) :- room(X), not seen(X).
query quiet(X).
"""


def test_absence_is_settled_when_nothing_can_arrive() -> None:
    facts = [given("room", "a", time=1), given("seen", "a", time=9)]
    assert prove(record_of(QUIET, facts, at=3), "quiet", ("a",), 1) is None
    proof = proved(record_of(QUIET, facts, at=4), "quiet", "a", time=1)
    with pytest.raises(Rejected, match="may still come to hold"):
        check(record_of(QUIET, facts, at=3), proof, "quiet", ("a",), 1)
    came = record_of(QUIET, [*facts, given("seen", "a", time=1, arrives=2)], at=4)
    with pytest.raises(Rejected, match="may still come to hold"):
        check(came, proof, "quiet", ("a",), 1)


def test_delays_that_depend_on_the_fact() -> None:
    text = QUIET.replace("delay 3.", "delay 3.\ninput seen(x) where x = near delay 0.")
    facts = [given("room", "near", time=1), given("room", "far", time=1)]
    record = record_of(text, facts, at=2)
    proved(record, "quiet", "near", time=1)
    assert prove(record, "quiet", ("far",), 1) is None


def test_absence_of_what_is_derived_with_values_not_yet_known() -> None:
    """A reading that may still arrive, with whatever value, may make the negated atom true."""
    text = """timeline discrete.
input m(x, v: int) delay 2.
input room(x).
hot(X) :- m(X, V), V > 30.
cool(X) :- room(X), not hot(X).
query cool(X).
"""
    facts = [given("room", "a", time=1), given("m", "a", 20, time=1)]
    assert prove(record_of(text, facts, at=2), "cool", ("a",), 1) is None
    proof = proved(record_of(text, facts, at=3), "cool", "a", time=1)
    hotter = record_of(text, [*facts, given("m", "a", 31, time=1)], at=3)
    assert prove(hotter, "cool", ("a",), 1) is None
    with pytest.raises(Rejected):
        check(hotter, proof, "cool", ("a",), 1)


DENSE_TEXT = """timeline dense.
input p(x).
input q(x).
input r(x).
recent(X) :- once(0,2) p(X).
steady(X) :- historically[0,2] q(X).
kept(X) :- q(X) since(0,3] p(X).
coming(X) :- q(X) until[0,3) r(X).
warned(X) :- eventually(1,2] r(X), recent(X) or steady(X).
always[0,1) alarm(X) :- p(X).
query recent(X).
"""


def test_open_and_closed_ends() -> None:
    facts = [given("p", "a", time=1), given("q", "a", time=(1, 4, "(]")), given("r", "a", time=4)]
    record = record_of(DENSE_TEXT, [*facts, given("r", "a", time=Fraction(9, 2))])
    for name, holds, fails in [
        ("recent", [Fraction(3, 2), Fraction(299, 100)], [1, 3]),
        ("steady", [Fraction(301, 100), 4], [3, Fraction(401, 100)]),
        ("kept", [Fraction(11, 10), 2, 4], [1, Fraction(401, 100)]),
        ("alarm", [1, Fraction(199, 100)], [Fraction(1, 2), 2]),
        ("coming", [Fraction(3, 2), 4, Fraction(9, 2)], [1, Fraction(17, 4)]),
        ("warned", [2, Fraction(16, 5)], [Fraction(7, 2)]),
    ]:
        for time in holds:
            proof = proved(record, name, "a", time=time)
            refuse_forgeries(record, proof, name, "a", time, random.Random(0), most=100)
        for time in fails:
            assert prove(record, name, ("a",), time) is None, f"{name}@{time}"


def test_an_interval_covered_piece_by_piece() -> None:
    facts = [given("q", "a", time=(0, 1, "[]")), given("q", "a", time=(1, 3, "(]"))]
    record = record_of(DENSE_TEXT, facts)
    proof = proved(record, "steady", "a", time=2)
    assert {Throughout, Pieces, Given} <= kinds(proof)
    torn = record_of(DENSE_TEXT, [facts[0], given("q", "a", time=(Fraction(5, 4), 3, "(]"))])
    assert prove(torn, "steady", ("a",), 2) is None


def test_recursion_through_values_and_time() -> None:
    text = """timeline discrete.
static edge(x, y).
input fire(x).
input out(x).
hot(X) :- fire(X).
hot(Y)@T+1 :- hot(X)@T, edge(X, Y), not out(Y)@T+1.
hot(X)@T+1 :- hot(X)@T, not out(X)@T+1.
query hot(X).
"""
    edges = [("edge", pair) for pair in (("a", "b"), ("b", "c"), ("c", "a"))]
    record = record_of(text, [given("fire", "a", time=0), given("out", "b", time=3)], edges, at=50)
    proof = proved(record, "hot", "c", time=40)
    assert {ByRule, Known, Absent, Given} <= kinds(proof)
    assert prove(record, "hot", ("b",), 3) is None
    proved(record, "hot", "b", time=2)


def test_a_proof_is_as_small_as_its_reasons() -> None:
    """Written out, this one would have more steps than there are atoms in the world."""
    text = """timeline discrete.
input seed(x).
on(X) :- seed(X).
on(X)@T+1 :- seed(X)@T.
on(X)@T+2 :- on(X)@T, on(X)@T+1.
query on(X).
"""
    record = record_of(text, [given("seed", "a", time=0)])
    proof = proved(record, "on", "a", time=60)
    assert len(list(walk(proof))) < 1000
    assert len(json.dumps(Printer(record.program).to_json(proof))) < 50_000


def test_facts_of_the_program() -> None:
    text = """timeline discrete.
static wired(x).
wired(b).
open(gate)@3.
open(door)@[5,8).
free(hall).
ok(X) :- open(X).
ok(X) :- free(X), wired(b).
query ok(X).
"""
    record = record_of(text, [])
    assert Known in kinds(proved(record, "ok", "gate", time=3))
    proved(record, "ok", "door", time=7)
    proved(record, "ok", "hall", time=70)
    assert prove(record, "ok", ("door",), 8) is None and prove(record, "ok", ("gate",), 4) is None


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("a(X) :- window(rows 3) some p(X).", "windows of rows"),
        ("a(X) :- p(X)@T, q(X).", "more than one time"),
        ("a(X) :- p(X)@T, q(X)@S, T < S.", "more than one time"),
        ("a(X) :- p(X)@T, T > 3.", "more than one time"),
        ("a(X)@T :- p(X)@T, T > 3.", "times among the values"),
        ("a(X) :- once[0,2] (p(X)@T).", "a pin inside"),
        ("exists Y: a(Y) :- p(X).", "exists"),
    ],
)
def test_what_cannot_be_explained_says_so(rule: str, reason: str) -> None:
    text = f"timeline discrete.\ninput p(x).\ninput q(x).\n{rule}\nb(X) :- p(X).\nquery b(X).\n"
    facts = [given("p", "x", time=1), given("q", "x", time=1)]
    record = record_of(text, facts)
    with pytest.raises(NotExplained, match=reason):
        prove(record, "a", ("x",), 1)
    # The rest of the program has explanations, but none by such a rule, however it was made.
    proof = proved(record, "b", "x", time=1)
    assert isinstance(proof, ByRule)
    with pytest.raises(Rejected):
        check(record, replace(proof, rule=0, formula=replace(proof.formula, predicate="a")), "a", ("x",), 1)


# The command.


def presage(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "presage", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


EXAMPLE = ("explain", "presage/examples/turbines/turbines.psg", "--facts", "presage/examples/turbines/facts.jsonl")


def test_explain_prints_one_json_object_when_piped() -> None:
    done = presage(*EXAMPLE, "--at", "3", "malf(wt25)@0")
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout)
    assert (line["at"], line["status"], line["answer"]) == (3, "confirmed", "malf(wt25)@0")
    assert line["because"] == ["temp(wt25, high)@0", "temp(wt25, high)@1", "temp(wt25, high)@2"]
    assert line["proof"]["kind"] == "rule" and line["proof"]["line"] == 8
    assert line["proof"]["values"] == {"X": "wt25"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("malf(wt25)", "say at which time, such as `malf(wt25)@0`"),
        ("malf(wt25)@T", "say at which time"),
        ("malff(wt25)@0", "did you mean `malf`?"),
        ("malf(wt25, 3)@0", "1 arguments in the program and 2 here"),
        ("malf(wt25)@1/2", "whole numbers"),
        ("not malf(wt25)@1", "give one atom and its time"),
        ("malf(wt25)@5s", "needs a `tick`"),
        ("malf(", "P201"),
    ],
)
def test_explain_refuses_what_is_no_answer(answer: str, message: str) -> None:
    done = presage(*EXAMPLE, "--at", "3", answer)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


def test_explain_takes_timestamps_and_static_facts(tmp_path: Path) -> None:
    program = tmp_path / "doors.psg"
    program.write_text(
        "timeline discrete.\ntick 1s.\nstatic guarded(door).\ninput opened(door).\n"
        "alarm(D) :- guarded(D), once[0,2m] opened(D).\nquery alarm(D).\n"
    )
    facts, static = tmp_path / "facts.jsonl", tmp_path / "static.jsonl"
    facts.write_text('{"pred": "opened", "args": ["gate"], "time": "2026-01-01T10:00:00Z"}\n')
    static.write_text('{"pred": "guarded", "args": ["gate"]}\n')
    words = ("explain", program, "--facts", facts, "--static", static, "--at", "2026-01-01T10:02:00Z", "--text")
    done = presage(*words, "alarm(gate)@2026-01-01T10:01:30Z")
    assert done.returncode == 0, done.stderr
    assert "guarded(gate)" in done.stdout and "once[0,120] opened(gate)" in done.stdout
    wrong = presage("explain", program, "--facts", facts, "--static", facts, "--at", "5", "alarm(gate)@1")
    assert wrong.returncode == 1 and "not static" in wrong.stderr


def test_explain_follows_long_chains_of_reasons(tmp_path: Path) -> None:
    program, facts = tmp_path / "lamp.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput press(x).\ninput off(x).\non(X) :- press(X).\n"
        "on(X)@T+1 :- on(X)@T, not off(X)@T+1.\nquery on(X).\n"
    )
    facts.write_text('{"pred": "press", "args": ["lamp"], "time": 0}\n')
    done = presage("explain", program, "--facts", facts, "--at", "3000", "on(lamp)@3000")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"kind": "absent"') == 3000


def test_constants_are_shown_as_they_are_written() -> None:
    text = 'timeline discrete.\ninput p(x).\na(X) :- p(X), X != "b c".\nquery a(X).\n'
    proof = proved(record_of(text, [given("p", "Big", time=0)]), "a", "Big", time=0)
    assert show_conclusion(proof) == 'a("Big")@0'
    assert Constant("Big") in proof.formula.arguments  # type: ignore[union-attr]
