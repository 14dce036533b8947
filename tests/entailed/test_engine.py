"""The interval engine against the oracle: random programs and streams, facts out of order within their delay.

A run is fed step by step, ends when everything is settled, and must have confirmed exactly what the naive
evaluator says is entailed. Every failure found so far is a file in `tests/counterexamples`.
"""

from __future__ import annotations

import os
import random
from fractions import Fraction
from pathlib import Path

import pytest

from presage.answers import Answer
from presage.checking import check_text
from presage.engine import compiling, relation, runtime, sweeping
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.parser import parse
from presage.plan.subformulas import Unsupported
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.oracle import evaluate
from tests.random_programs import Case, make_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(3000) if LONG else range(70)
# The oracle writes time out: programs that look this far ahead are left to others.
FARTHEST = 30
Moments = set[Fraction]


def facts_of(case: Case) -> list[Fact]:
    found = []
    for (name, arguments, when), arrives in case.facts:
        low, high, bounds = when if isinstance(when, tuple) else (when, when, "[]")
        found.append(Fact(name, arguments, low, high, bounds[0] == "[", bounds[1] == "]", arrives))
    return found


def statics_of(case: Case) -> dict[str, list[tuple[str, ...]]]:
    return {"s": [arguments for _, arguments in case.statics]}


def sampled(low: Fraction, high: Fraction, bounds: str, end: int) -> Moments:
    """An interval as the points and gap centres of a grid of twelfths, up to the end of the comparison."""
    step = Fraction(1, 24)
    first = Fraction(low) if bounds[0] == "[" else low + step
    last = Fraction(min(high, end)) if bounds[1] == "]" or high > end else high - step
    return {first + step * index for index in range(int((last - first) / step) + 1)} if first <= last else set()


def confirmed(
    case: Case, end: int, emit: str | None = "confirmed", made: type[Reasoner] = Reasoner
) -> tuple[dict[tuple[str, tuple[str, ...]], Moments], int]:
    reasoner = made(parse(case.text), static=statics_of(case), emit=emit)
    until = int(end + reasoner.longest_lag) + 2
    found: dict[tuple[str, tuple[str, ...]], Moments] = {}
    for answers in steps(reasoner, facts_of(case), until):
        for each in answers:
            if each.status != "confirmed":
                continue
            key = (each.predicate, tuple(str(value) for value in each.arguments))
            if each.time is not None:
                moments = sampled(Fraction(each.time), Fraction(each.time), "[]", end)
            else:
                assert each.start is not None
                high = Fraction(until) if each.end is None else Fraction(each.end)
                moments = sampled(Fraction(each.start), high, each.bounds, end)
                if not reasoner.subject.discrete:
                    assert not moments & found.get(key, set()), f"{each} was said before"
                else:
                    moments = {moment for moment in moments if moment.denominator == 1}
            found.setdefault(key, set()).update(moments)
    assert not reasoner.late
    return found, until


def entailed(case: Case, end: int, until: int, dense: bool) -> dict[tuple[str, tuple[str, ...]], Moments]:
    report = check_text(case.text)
    assert report.findings is not None
    program = report.findings.subject.program
    timeline = "dense" if dense else "discrete"
    model = evaluate(program, [fact for fact, _ in case.facts], case.statics, end=until, timeline=timeline)
    found: dict[tuple[str, tuple[str, ...]], Moments] = {}
    for name, arguments in model:
        if name.startswith("d"):
            moments: Moments = set()
            for low, high, bounds in model.intervals(name, *arguments):
                moments |= sampled(Fraction(low), Fraction(high), bounds, end)
            if not dense:
                moments = {moment for moment in moments if moment.denominator == 1}
            found[name, tuple(str(value) for value in arguments)] = moments
    return found


def compare(case: Case, dense: bool, emit: str | None = "confirmed", made: type[Reasoner] = Reasoner) -> None:
    report = check_text(case.text)
    assert report.ok, report.problems
    assert report.findings is not None
    if not report.findings.strata.stratified:
        pytest.skip("several models")
    ahead = [query.reach.delay for query in report.findings.queries]
    if any(delay is None or delay > FARTHEST for delay in ahead):
        pytest.skip("looks too far ahead for the oracle")
    end = case.end + 4
    try:
        answers, until = confirmed(case, end, emit, made)
    except Unsupported as reason:
        pytest.skip(str(reason))
    model = entailed(case, end, until, dense)
    assert {key: moments for key, moments in answers.items() if moments} == {
        key: moments for key, moments in model.items() if moments
    }


@pytest.fixture(autouse=True)
def rooms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other case finds so little room that joins have to stop and go on, and tables to grow, everywhere;
    what can be forgotten is looked for at every step."""
    if "seed" in request.fixturenames and request.getfixturevalue("seed") % 2:
        monkeypatch.setattr(compiling, "MOST_ENTRIES", 2)
        monkeypatch.setattr(compiling, "FEWEST_ENTRIES", 2)
        monkeypatch.setattr(runtime, "SOME", 3)
        monkeypatch.setattr(relation, "FEW", 1)
        monkeypatch.setattr(sweeping, "FEW_ROWS", -1000)


@pytest.mark.parametrize("seed", SEEDS)
def test_discrete(seed: int) -> None:
    compare(make_case(seed, dense=False), dense=False)


@pytest.mark.parametrize("seed", range(2000) if LONG else range(40))
def test_dense(seed: int) -> None:
    compare(make_case(seed, dense=True), dense=True)


@pytest.mark.parametrize("seed", range(3000) if LONG else range(60))
def test_windows(seed: int) -> None:
    compare(make_case(seed, dense=False, windows=True), dense=False)


@pytest.mark.parametrize("seed", range(3000) if LONG else range(60))
def test_rows(seed: int) -> None:
    compare(make_case(seed, dense=False, rows=True), dense=False)


@pytest.mark.parametrize("seed", range(400) if LONG else range(30))
def test_rows_restored(seed: int) -> None:
    """What windows of rows show is saved with the rest."""
    case = make_case(seed, dense=False, rows=True)
    if not check_text(case.text).ok:
        pytest.skip("several models")
    program, chance = parse(case.text), random.Random(seed)
    try:
        whole, restored = (Reasoner(program, static=statics_of(case), emit="confirmed") for _ in range(2))
    except PresageError as reason:
        pytest.skip(str(reason))
    for now in range(case.end + 6):
        arriving = [fact for fact in facts_of(case) if fact.arrival == now]
        assert list(restored.step(arriving, now)) == list(whole.step(arriving, now))
        if chance.random() < 0.4:
            restored = Reasoner.restore(program, restored.save())


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.parent.glob("counterexamples/*.py")), ids=lambda path: path.stem
)
def test_counterexample(path: Path) -> None:
    """What is confirmed, alone and beside what may come true; and what is told of that, where the file says so."""
    namespace: dict[str, object] = {"Fraction": Fraction}
    exec(path.read_text(encoding="utf-8"), namespace)
    text, facts = namespace["PROGRAM"], namespace["FACTS"]
    assert isinstance(text, str) and isinstance(facts, list)
    statics = namespace.get("STATICS", [])
    assert isinstance(statics, list)
    case = Case(text, facts, statics)
    for emit in ("confirmed", None):
        compare(case, "timeline dense" in text, emit, Reasoner)
    expected = namespace.get("TOLD")
    if expected is not None:
        assert isinstance(expected, list)
        reasoner = Reasoner(parse(text), static=statics_of(case))
        lines = [each for answers in steps(reasoner, facts_of(case), None) for each in answers]
        assert [line for each in lines if each.status != "confirmed" for line in shown(each)] == expected


def shown(answer: Answer) -> list[str]:
    """An answer and its ways, as counterexamples write them."""
    ways = answer.ways or ({"because": answer.because, "needs": answer.needs, "unless": answer.unless},)
    lines = [f"{answer.now}: {answer.status} {answer.answer}"]
    for way in ways if answer.status == "possible" else ():
        parts = (f"{name} {', '.join(way[name])}" for name in ("because", "needs", "unless") if way[name])
        lines.append("  " + "; ".join(parts))
    return lines
