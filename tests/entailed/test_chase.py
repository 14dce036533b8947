"""Invented values in runs against the naive chase of the oracle: random programs and streams.

A run must confirm the oracle's model up to the names of nulls, on both sides. With a memory that is cleaned at every
step, what does not mention nulls must stay the same, and the rest must still map into the oracle's model.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from presage.answer_streams.stepping_one import OneModelSteps
from presage.answers import Answer
from presage.checking import check_text
from presage.engine import runtime
from presage.errors import PresageError
from presage.io.files import read_facts
from presage.model.terms import Variable
from presage.parser import parse
from presage.plan.subformulas import Unsupported
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.entailed.test_engine import facts_of
from tests.oracle import evaluate
from tests.oracle.homomorphism import Fact, homomorphism
from tests.random_existential import make_case
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
# How many values the oracle may invent, and how far it looks past the end of what is compared.
MOST, MARGIN = 3000, 8


def shown_null(value: Hashable) -> bool:
    return isinstance(value, str) and value.startswith("_:")


def oracle_null(value: Hashable) -> bool:
    return isinstance(value, tuple)


def stepper(text: str) -> Any:
    try:
        return Reasoner(parse(text), emit="confirmed")
    except Unsupported:
        return OneModelSteps(check_text(text), MOST)


def confirmed(reasoner: Any, case: Case) -> set[Fact]:
    until = int(case.end + reasoner.longest_lag) + 2
    answers = (answer for answers in steps(reasoner, facts_of(case), until) for answer in answers)
    return points(answers, case.end, reasoner.subject.discrete)


def points(answers: Iterable[Answer], end: int, discrete: bool) -> set[Fact]:
    """The answers up to the end of the comparison, point by point (on the dense timeline: in halves)."""
    found: set[Fact] = set()
    for each in answers:
        arguments = tuple(value.name if isinstance(value, Variable) else str(value) for value in each.arguments)
        low, high = (each.time, each.time) if each.time is not None else (each.start, each.end)
        at, last = Fraction(low or 0), Fraction(end if high is None else min(high, end))
        while at <= last:
            if (at != low or each.bounds[:1] != "(") and (at != high or each.bounds[1:] != ")"):
                found.add((each.predicate, arguments, at))
            at += Fraction(1 if discrete else Fraction(1, 2))
    return found


def expected(case: Case, dense: bool) -> set[Fact]:
    report = check_text(case.text)
    assert report.findings is not None
    model = evaluate(
        report.findings.subject.program, [fact for fact, _ in case.facts], end=case.end + MARGIN, chase_limit=MOST,
        timeline="dense" if dense else "discrete",
    )  # fmt: skip
    asked = {query.atom.predicate for query in report.findings.subject.queries}
    found: set[Fact] = set()
    for (name, arguments), cells in model.items():
        values = tuple(str(value) if isinstance(value, int) else value for value in arguments)
        if name in asked:
            times = {Fraction(cell, model.line.scale) for cell in cells}
            wanted = {at for at in times if at <= case.end and (not dense or at.denominator <= 2)}
            found |= {(name, values, at) for at in wanted}
    return found


def without_nulls(facts: set[Fact]) -> set[Fact]:
    return {fact for fact in facts if not any(shown_null(value) or oracle_null(value) for value in fact[1])}


def compare(case: Case, dense: bool = False) -> None:
    report = check_text(case.text)
    assert report.ok, report.problems
    ours, theirs = confirmed(stepper(case.text), case), expected(case, dense)
    assert without_nulls(ours) == without_nulls(theirs)
    assert len(ours) == len(theirs)
    assert homomorphism(ours, theirs, shown_null, one_to_one=True) is not None
    assert homomorphism(theirs, ours, oracle_null, one_to_one=True) is not None


@pytest.mark.parametrize("seed", range(2000) if LONG else range(60))
def test_discrete(seed: int) -> None:
    compare(make_case(seed))


@pytest.mark.parametrize("seed", range(1000) if LONG else range(20))
def test_dense(seed: int) -> None:
    compare(make_case(seed, dense=True), dense=True)


@pytest.mark.parametrize("seed", range(1000) if LONG else range(20))
def test_windows(seed: int) -> None:
    compare(make_case(seed, windows=True))


@pytest.mark.parametrize("seed", range(2000) if LONG else range(30))
def test_forgetting(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(seed)
    reasoner = Reasoner(parse(case.text), emit="confirmed")
    monkeypatch.setattr(runtime, "FEW_SYMBOLS", -1_000_000)
    reasoner.interval_engine.most_symbols = -1
    ours, theirs = confirmed(reasoner, case), expected(case, dense=False)
    assert without_nulls(ours) == without_nulls(theirs)
    assert homomorphism(ours, theirs, shown_null) is not None


ORDERS = """
timeline discrete.
input order(x).
exists Y: ticket(X, Y), open(Y) :- order(X).
exists lasting Z: file(X, Z) :- once[0,2] order(X).
both(Y, Z) :- ticket(X, Y), file(X, Z).
query ticket(X, Y).
query file(X, Z).
query both(Y, Z).
"""


def told(answers: object) -> list[str]:
    return [str(each) for each in answers]  # type: ignore[attr-defined]


def test_names_stay_with_their_nulls() -> None:
    reasoner = Reasoner(parse(ORDERS), emit="confirmed")
    assert told(reasoner.push([("order", ("a",), 0)], now=0)) == [
        "confirmed both(_:1, _:2)@0", "confirmed file(a, _:2)@[0,2]", "confirmed ticket(a, _:1)@0",
    ]  # fmt: skip
    restored = Reasoner.restore(parse(ORDERS), reasoner.save())
    for each in (reasoner, restored):
        assert told(each.push([("order", ("a",), 1)], now=1)) == [
            "confirmed both(_:3, _:2)@1", "confirmed file(a, _:2)@3", "confirmed ticket(a, _:3)@1",
        ]  # fmt: skip
        assert each.holds("file").to_pylist() == [{"1": "a", "2": "_:2", "from": "0", "to": "3", "bounds": "[]"}]


@pytest.mark.parametrize("seed", range(100) if LONG else range(8))
def test_saving_at_every_step(seed: int) -> None:
    case, answers = make_case(seed), []
    reasoner = Reasoner(parse(case.text), emit="confirmed")
    for now in range(int(case.end + reasoner.longest_lag) + 2):
        answers += reasoner.step([fact for fact in facts_of(case) if fact.arrival == now], now)
        reasoner = Reasoner.restore(parse(case.text), reasoner.save())
    ours, theirs = points(answers, case.end, discrete=True), expected(case, dense=False)
    assert len(ours) == len(theirs)
    assert homomorphism(ours, theirs, shown_null, one_to_one=True) is not None


PEOPLE = """
timeline discrete.
input person(x).
human(X) :- person(X), not statue(X).
input statue(x).
exists lasting Y: parent(X, Y) :- human(X).
human(Y) :- parent(X, Y), endless(X).
endless(X) :- human(X), once[0,5] begin(X).
endless(Y) :- parent(X, Y), endless(X).
input begin(x).
query parent(X, Y).
"""


def test_the_limit_leaves_everything_as_it_was() -> None:
    reasoner = Reasoner(parse(PEOPLE), emit="confirmed", chase_limit=20)
    assert told(reasoner.push([("person", ("a",), 0)], now=0)) == ["confirmed parent(a, _:1)@0"]
    with pytest.raises(PresageError, match="line 6: this rule keeps inventing values: more than 20 in one step"):
        reasoner.push([("person", ("b",), 1), ("begin", ("b",), 1)], now=1)
    assert reasoner.now == 0
    assert told(reasoner.push([("person", ("a",), 1), ("person", ("c",), 1)], now=1)) == [
        "confirmed parent(a, _:1)@1", "confirmed parent(c, _:2)@1",
    ]  # fmt: skip


def test_memory_stays_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner(parse(ORDERS), emit="confirmed")
    monkeypatch.setattr(runtime, "FEW_SYMBOLS", 20)
    reasoner.interval_engine.most_symbols = 50
    for now in range(300):
        reasoner.push([("order", (f"o{now}",), now), ("order", ("same",), now)], now=now)
    kept = reasoner.interval_engine.inventor.count
    assert kept < 40 and len(reasoner.interval_engine.symbols) < 100, "what nobody refers to is gone"
    (answer,) = [each for each in reasoner.push([("order", ("same",), 300)], now=300) if each.predicate == "file"]
    assert answer.bindings["Z"] == "_:4", "what was never gone has its name"


EXAMPLES = {
    "wards": [
        "active(_:1, east)@3", "active(_:1, east)@4", "active(_:1, east)@5", "active(_:1, east)@6",
        "suspected(_:1, west)@7", "active(_:2, west)@9", "suspected(_:1, west)@9", "active(_:2, west)@10",
        "active(_:3, east)@21", "active(_:3, east)@22", "active(_:3, east)@23",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_incidents_that_live(name: str) -> None:
    folder = Path(__file__).parent.parent.parent / "presage/examples" / name
    reasoner = Reasoner(parse((folder / f"{name}.psg").read_text(encoding="utf-8")), emit="confirmed")
    facts = read_facts([folder / "facts.jsonl"], reasoner.checker)
    found = [answer.answer for answers in steps(reasoner, list(facts), None) for answer in answers]
    assert sorted(found) == sorted(EXAMPLES[name])


def test_names_are_given_in_one_place() -> None:
    call = pytest.importorskip("presage.spark.call", reason="pyspark is not installed")
    text = "timeline discrete. input order(x). exists Y: ticket(X, Y) :- order(X). query ticket(X, Y)."
    division = call.division_of(check_text(text), "confirmed")
    assert division.columns == {} and any("the same names" in reason for reason in division.reasons)
