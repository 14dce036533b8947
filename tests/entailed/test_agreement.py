"""Every way of running a program says the same: random programs of all constructs, nested as they come.

What is confirmed, by `emit="confirmed"`, by the confirmed lines of `emit="changes"`, by `presage ask` and by the naive
evaluator of `tests/oracle`, is the same; so it is if a reasoner is saved and restored on the way, and whether facts
come as tuples, as tables or from files. Programs that something refuses are counted: were there more of them than a
stated share, the comparison would be about nothing.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from presage.answer_streams.evaluation import Evaluation
from presage.answer_streams.questions import read_question
from presage.answers import Answer, show_value
from presage.checking import Report, check_text
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.io.files import read_facts
from presage.model.terms import Number, Value, Variable
from presage.parser import parse
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.entailed.test_engine import facts_of, sampled
from tests.oracle import evaluate
from tests.random_agreement import INPUTS, Program
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
BATCHES = range(400) if LONG else range(10)
EACH = 10
FARTHEST = 20
Said = dict[tuple[str, tuple[str, ...]], set[Fraction]]

# Of the programs without mistakes, so many may be refused, in the long run.
MOST_REFUSED = {"confirmed": 0.15, "dense": 0.35}


def cases(batch: int, dense: bool) -> Iterator[tuple[int, Case, Report]]:
    """Programs without mistakes and with one model, that look no farther ahead than the oracle writes out."""
    for seed in range(batch * EACH, (batch + 1) * EACH):
        case = Program(seed, dense).case()
        report = check_text(case.text)
        if not report.ok or report.findings is None or report.findings.route.engine != "interval":
            continue
        if all(each.reach.delay is not None and each.reach.delay <= FARTHEST for each in report.findings.queries):
            yield seed, case, report


def told(reasoner: Reasoner, facts: list[Fact], end: int, until: Number, restores: random.Random | None = None) -> Said:
    """What a run confirms of the times up to an end."""
    found: Said = {}
    current, program = reasoner, reasoner.program
    arriving = sorted({fact.arrival for fact in facts})
    pieces = [[fact for fact in facts if fact.arrival == time] for time in arriving]
    runs = [(facts, until)]
    if restores is not None:
        runs = [(piece, time) for piece, time in zip(pieces, arriving, strict=True)] + [([], until)]
    for given, last in runs:
        if current.now is not None and last <= current.now:
            continue
        # A run that goes on afterwards has no end, which would cut off what is known of later times.
        parts = steps(current, given, last) if restores is None else [current.advance(given, last)]
        for answers in parts:
            for each in answers:
                if each.status == "confirmed":
                    for arguments in _everybody(each, facts):
                        key = (each.predicate, tuple(map(str, arguments)))
                        found.setdefault(key, set()).update(_moments(each.time, each.start, each.end, each.bounds, end))
        if restores is not None and restores.random() < 0.5:
            current = Reasoner.restore(program, current.save())
    assert not current.late
    return {key: moments for key, moments in found.items() if moments}


def _everybody(answer: Answer, facts: list[Fact]) -> Iterator[tuple[Value, ...]]:
    """What an answer says of the values of a stream, all that the naive evaluator knows, where variables are open."""
    names = sorted({each.name for each in answer.arguments if isinstance(each, Variable)})
    excluded = {tuple(condition.split(" = ")) for condition in answer.unless}
    assert all(len(each) == 2 and each[0] in names for each in excluded), answer.unless
    values = {value for fact in facts for value in fact.arguments}
    for choice in product(values, repeat=len(names)):
        chosen = dict(zip(names, choice, strict=True))
        if all((name, show_value(value)) not in excluded for name, value in chosen.items()):
            yield tuple(chosen[each.name] if isinstance(each, Variable) else each for each in answer.arguments)


def _moments(time: Number | None, start: Number | None, stop: Number | None, bounds: str, end: int) -> set[Fraction]:
    if time is not None:
        return sampled(Fraction(time), Fraction(time), "[]", end)
    assert start is not None
    return sampled(Fraction(start), Fraction(end + 1 if stop is None else stop), bounds, end)


def whole(said: Said) -> Said:
    """What is said of whole times."""
    found = {key: {each for each in moments if each.denominator == 1} for key, moments in said.items()}
    return {key: moments for key, moments in found.items() if moments}


def entailed(case: Case, report: Report, end: int, until: int, dense: bool) -> Said:
    assert report.findings is not None
    subject = report.findings.subject
    model = evaluate(
        subject.program, [fact for fact, _ in case.facts], [], end=until, timeline="dense" if dense else "discrete"
    )
    asked = {query.atom.predicate for query in subject.queries}
    found: Said = {}
    for name, arguments in model:
        if name in asked:
            moments: set[Fraction] = set()
            for low, high, bounds in model.intervals(name, *arguments):
                moments |= sampled(Fraction(low), Fraction(high), bounds, end)
            if moments:
                found[name, tuple(map(str, arguments))] = moments
    return found


def asked(case: Case, report: Report, end: int, until: int) -> Said:
    """The same by `presage ask --at any`."""
    assert report.findings is not None
    subject = report.findings.subject
    found: Said = {}
    for query in subject.queries:
        question = read_question(f"{query.atom.predicate}({', '.join('XY'[: len(query.atom.arguments)])})", subject)
        evaluation = Evaluation(subject, facts_of(case), None, (0, until), question)
        for reply in evaluation.ask(question):
            key = (query.atom.predicate, tuple(str(value) for _, value in reply.bindings))
            if reply.at <= end:
                found.setdefault(key, set()).add(Fraction(reply.at))
    return found


def differences(one: Said, other: Said) -> list[str]:
    keys = sorted({*one, *other}, key=str)
    return [
        f"{key}: {sorted(map(str, one.get(key, set()) ^ other.get(key, set())))}"
        for key in keys
        if one.get(key) != other.get(key)
    ]


counts: Counter[str] = Counter()


@pytest.mark.parametrize("batch", BATCHES)
def test_discrete(batch: int) -> None:
    for seed, case, report in cases(batch, dense=False):
        end, chance = case.end + 2, random.Random(seed)
        counts["programs"] += 1
        try:
            reasoner = Reasoner(parse(case.text), emit="confirmed")
        except PresageError:
            counts["confirmed"] += 1
            continue
        until = int(end + min(reasoner.longest_lag, 2 * FARTHEST)) + 2
        right = entailed(case, report, end, until, dense=False)
        right = whole(right)
        facts = facts_of(case)
        assert not differences(whole(told(reasoner, facts, end, until)), right), f"seed {seed}\n{case.text}"
        again = Reasoner(parse(case.text), emit="confirmed")
        restored = whole(told(again, facts, end, until, chance))
        assert not differences(restored, right), f"restored, seed {seed}\n{case.text}"
        assert not differences(asked(case, report, end, until), right), f"asked, seed {seed}\n{case.text}"


@pytest.mark.parametrize("batch", BATCHES)
def test_dense(batch: int) -> None:
    for seed, case, report in cases(batch, dense=True):
        end = case.end + 2
        counts["dense programs"] += 1
        try:
            reasoner = Reasoner(parse(case.text), emit="confirmed")
        except PresageError:
            counts["dense"] += 1
            continue
        until = int(end + min(reasoner.longest_lag, 2 * FARTHEST)) + 2
        found = told(reasoner, facts_of(case), end, until)
        right = entailed(case, report, end, until, dense=True)
        assert not differences(found, right), f"seed {seed}\n{case.text}"
        again = Reasoner(parse(case.text), emit="confirmed")
        restored = told(again, facts_of(case), end, until, random.Random(seed))
        assert not differences(restored, right), f"restored, seed {seed}\n{case.text}"


@pytest.mark.parametrize("batch", BATCHES)
def test_changes(batch: int) -> None:
    """What is confirmed does not hang on whether what is possible is told too."""
    for seed, case, report in cases(batch, dense=False):
        end = case.end + 2
        try:
            reasoner = Reasoner(parse(case.text), emit="changes")
        except PresageError:
            continue
        until = int(end + min(reasoner.longest_lag, 2 * FARTHEST)) + 2
        right = whole(entailed(case, report, end, until, dense=False))
        found = whole(told(reasoner, facts_of(case), end, until))
        assert not differences(found, right), f"seed {seed}\n{case.text}"


@pytest.mark.parametrize("batch", BATCHES)
def test_facts_in_every_form(batch: int, tmp_path: Path) -> None:
    """Tuples, tables and files of the same facts, whole and in time."""
    for seed, case, _ in cases(batch, dense=False):
        program = parse(case.text)
        try:
            by_tuples, by_tables, by_frames = (Reasoner(program, emit="confirmed") for _ in range(3))
        except PresageError:
            continue
        path = tmp_path / f"{seed}.jsonl"
        lines = [
            {"pred": name, "args": list(arguments), "time": time, "arrives": arrives}
            for (name, arguments, time), arrives in case.facts
        ]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        assert list(read_facts([path], by_tuples.checker)) == facts_of(case)
        for now in range(case.end + 3):
            given = [fact for fact, arrives in case.facts if arrives == now]
            tables = {}
            for name, arity in INPUTS.items():
                rows = [(arguments, time) for each, arguments, time in given if each == name]
                if rows:
                    columns = [[arguments[place] for arguments, _ in rows] for place in range(arity)]
                    if any(len({isinstance(value, str) for value in column}) > 1 for column in columns):
                        continue
                    names = [*"xy"[:arity], "time"]
                    tables[name] = pa.table(dict(zip(names, [*columns, [time for _, time in rows]], strict=True)))
            if set(tables) != {name for name, _, _ in given}:
                break  # A column of a table has values of one kind.
            right = list(by_tuples.push(given, now))
            assert list(by_tables.push(tables, now)) == right, f"seed {seed}\n{case.text}"
            frames = {name: table.to_pandas() for name, table in tables.items()}
            assert list(by_frames.push(frames, now)) == right, f"pandas, seed {seed}\n{case.text}"


def test_most_programs_are_compared() -> None:
    """Runs last in its file; in a run of a few tests it has little to count."""
    if counts["programs"] >= 40:
        assert counts["confirmed"] <= MOST_REFUSED["confirmed"] * counts["programs"], counts
    if counts["dense programs"] >= 40:
        assert counts["dense"] <= MOST_REFUSED["dense"] * counts["dense programs"], counts
