"""Hypothetical answers on random programs and streams, against every evolution of what has arrived.

At each step the state of every ground answer is compared with the oracle's: confirmed, possible by exactly
these ways, open without evidence, or impossible. And what was reported is compared with the states.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product

import pytest

from presage.checking import check_text
from presage.hypothesis.engine import ANY_TIME, AnswerState, Hypotheses
from presage.hypothesis.ways import Way
from presage.model.values import is_true
from presage.patterns.literals import Lit, Open
from tests.oracle import Outlook, TooLarge, declared_delays
from tests.oracle.hypothetical import Literal
from tests.random_hypotheses import LOOK_AHEAD, make_case
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(3000) if LONG else range(60)


def lit(literal: Literal) -> Lit:
    return Lit(literal.positive, literal.predicate, literal.arguments, literal.time)  # type: ignore[arg-type]


def value(text: str, values: dict[str, object]) -> object:
    if text in values:
        return values[text]
    return int(text) if text.lstrip("-").isdigit() else text


def excluded(way: Way, values: dict[str, object]) -> bool:
    for clause in way.unless:
        parts = [part.split(" ") for part in clause.split(", ")]
        if all(is_true(sign, value(left, values), value(right, values)) for left, sign, right in parts):  # type: ignore[arg-type]
            return True
    return False


def bound(literal: Lit, values: dict[str, object]) -> Lit:
    arguments = tuple(values[each.name] if isinstance(each, Open) else each for each in literal.arguments)
    time = literal.time
    if isinstance(time, Open):
        time = values[time.name] + time.offset  # type: ignore[operator, assignment]
    return Lit(literal.positive, literal.predicate, arguments, time)  # type: ignore[arg-type]


def instances(outlook: Outlook, ways: tuple[Way, ...]) -> Iterator[tuple[frozenset[Lit], frozenset[Lit]]]:
    """The ways with every open variable replaced by every value of the finite domain."""
    constants = sorted(outlook.grounding.constants, key=repr)
    for way in ways:
        literals = way.needs | way.because
        names = {each.name for each_lit in literals for each in each_lit.arguments if isinstance(each, Open)}
        times = {each_lit.time.name for each_lit in literals if isinstance(each_lit.time, Open)}
        for values in product(constants, repeat=len(names)):
            for moments in product(range(outlook.end + 1), repeat=len(times)):
                chosen = dict(zip(sorted(names), values, strict=True)) | dict(zip(sorted(times), moments, strict=True))
                if excluded(way, chosen):
                    continue
                needs = frozenset(bound(each, chosen) for each in way.needs)
                because = frozenset(bound(each, chosen) for each in way.because)
                if all(not each.positive or outlook.is_candidate(each.atom) for each in needs):  # type: ignore[arg-type]
                    yield needs, because


def shown(sets: object) -> list[list[str]]:
    return [sorted(map(str, each)) for each in sets]  # type: ignore[attr-defined]


def compare(case: Case) -> None:
    report = check_text(case.text)
    assert report.findings is not None
    subject = report.findings.subject
    engine = Hypotheses(subject, [query.atom for query in subject.queries])
    for name, row in case.statics:
        engine.statics.add(name, row)
    end = case.end + LOOK_AHEAD
    # With numbers beside those that occur, since comparisons tell them apart.
    constants = {each for (_, values, _), _ in case.facts for each in values} | {0, 3}
    last = max((arrives for _, arrives in case.facts), default=0) + 3
    for now in range(last + 1):
        due = [fact for fact, arrives in case.facts if arrives == now]
        engine.step(due, now)  # type: ignore[arg-type]
        arrived = [fact for fact, arrives in case.facts if arrives <= now]
        outlook = Outlook(
            subject.program, arrived, now, end, declared_delays(subject.program), case.statics, 1, constants
        )
        for answer in outlook.answers(case.end + 2):
            if not outlook.judged(answer):
                continue
            try:
                expected = outlook.ways(answer)
            except TooLarge:
                continue
            name, arguments, time = answer
            settled = engine.spans.settled[name]
            if settled is not None and time + settled < now:
                continue  # it was decided before, and what it hangs on may be forgotten
            state = engine._state(engine.standings[name], arguments, time)  # type: ignore[arg-type]
            if engine.standings[name].decided.get(time, {}).get(arguments):  # type: ignore[call-overload]
                state = AnswerState("confirmed")
            check(outlook, answer, state, expected, now)
            check_shown(engine, answer, state, now)


def check_shown(engine: Hypotheses, answer, state: AnswerState, now: int) -> None:  # type: ignore[no-untyped-def]
    """What was reported of a ground answer, by a line of its own or by one with open variables."""
    name, arguments, time = answer
    where = f"at {now}: {answer} is {state}"
    shown = engine.shown[name].ground.get(time, {}).get(arguments)
    if shown is not None:
        expected = {"open": "unsupported", "impossible": "refuted"}.get(state.status, state.status)
        assert shown.status == expected, f"{where}, shown {shown}"
        if shown.status == "possible":
            assert set(shown.ways) == set(state.ways), f"{where}, shown {shown}"
        return
    if state.status in ("open", "impossible"):
        return
    if time > engine.reached.get(name, -1) and not any(each.positive for way in state.ways for each in way.because):
        return  # follows from the rules alone, for times without end: told as time passes
    lines = engine.shown[name].open
    for pattern, line in (*lines.get(time, {}).items(), *lines.get(ANY_TIME, {}).items()):
        if line.status == "confirmed" or state.status == "possible":
            values: dict[str, object] = {}
            for given, have in zip(pattern, arguments, strict=True):
                if not isinstance(given, Open):
                    values = values if given == have else {"": None}
                elif values.setdefault(given.name, have) != have:
                    values = {"": None}
            if "" not in values and any(not excluded(way, values) for way in line.ways):
                return
    raise AssertionError(f"{where}, and nothing was shown")


def check(outlook: Outlook, answer, state: AnswerState, expected, now: int) -> None:  # type: ignore[no-untyped-def]
    where = f"at {now}: {answer} is {state}"
    if outlook.proved(answer):
        assert state.status == "confirmed", where
        return
    if not outlook.may(answer):
        assert state.status == "impossible", where
        return
    assert state.status == ("possible" if expected else "open"), f"{where}, expected {expected}"
    wanted = {
        frozenset(map(lit, needs)): {frozenset(map(lit, each)) for each in evidence}
        for needs, evidence in expected.items()
    }
    found: dict[frozenset[Lit], set[frozenset[Lit]]] = {}
    for needs, because in instances(outlook, state.ways):
        found.setdefault(needs, set()).add(because)
    # Of a way with open variables, some instances may be superfluous though the way is not.
    sufficient = [
        frozenset(lit(each) for each in leaves if not outlook._is_evidence(outlook.table(answer), each))
        for leaves in outlook.leaf_sets(answer)
    ]
    is_open = any(not each.is_ground for way in state.ways for each in way.needs)
    found = {
        needs: because
        for needs, because in found.items()
        if not any(other < needs for other in found)
        and (needs in wanted or not is_open or not any(other <= needs for other in sufficient))
    }
    missing, extra = wanted.keys() - found.keys(), found.keys() - wanted.keys()
    assert not missing and not extra, f"{where}: missing {shown(missing)}, too much {shown(extra)}"
    for needs, because in found.items():
        fits = because & wanted[needs] or (
            is_open and any(least <= each for least in wanted[needs] for each in because)
        )
        assert fits, f"{where}, expected {wanted}"


@pytest.mark.parametrize("seed", SEEDS)
def test_states_are_those_of_the_definitions(seed: int) -> None:
    compare(make_case(seed))
