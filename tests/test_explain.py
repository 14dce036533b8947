"""Explanations of answers that are not confirmed: every claim against all evolutions of the stream."""

from __future__ import annotations

import os

import pytest

from presage.checking import check_text
from presage.hypothesis.failing import Failure
from presage.hypothesis.literals import Lit, Open
from presage.hypothesis.why import Arrival, Explanation, Why
from tests.oracle import Outlook, TooLarge, declared_delays
from tests.oracle.hypothetical import Literal
from tests.random_hypotheses import LOOK_AHEAD, make_case
from tests.random_programs import Case
from tests.test_hypotheses import check as check_ways
from presage.hypothesis.engine import State

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(1500) if LONG else range(40)

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
        arrivals = [Arrival(arrives, *fact) for fact, arrives in case.facts]  # type: ignore[arg-type]
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


def check_failure(told: Told, answer, explanation: Explanation, now: int) -> str:  # type: ignore[no-untyped-def]
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


def compare(case: Case) -> dict[str, int]:
    told = Told(case)
    kinds: dict[str, int] = {}
    last = max((arrives for _, arrives in case.facts), default=0) + 2
    was_possible: set[object] = set()
    not_judged: set[object] = set()
    for now in range(last + 1):
        outlook = told.outlook(now)
        for answer in outlook.answers(case.end + 1):
            if not outlook.judged(answer):
                not_judged.add(answer)
                continue
            try:
                expected = outlook.ways(answer)
                status = STATUS[outlook.status(answer)]
                if outlook.proved(answer) != (status == "confirmed"):
                    continue  # certain by cases only
            except TooLarge:
                not_judged.add(answer)
                continue
            if status == "possible":
                was_possible.add(answer)
            if status == "impossible" and answer in was_possible:
                status = "refuted"
            name, arguments, time = answer
            explanation = told.why.of(name, arguments, time, now)  # type: ignore[arg-type]
            if status == "impossible" and answer in not_judged and explanation.status == "refuted":
                status = "refuted"
            where = f"{answer} at {now}: {explanation}"
            assert explanation.status == status, f"{where}, not {status}"
            if status == "possible":
                check_ways(
                    outlook, answer, State("possible", tuple(each.way for each in explanation.ways)), expected, now
                )
            for each in explanation.ways if status in ("possible", "unsupported") else ():
                for waiting in each.waiting:
                    assert waiting.until is None or waiting.until > now, where
            if status in ("refuted", "impossible"):
                try:
                    kind = check_failure(told, answer, explanation, now)
                except TooLarge:
                    continue
                kinds[kind] = kinds.get(kind, 0) + 1
            kinds[status] = kinds.get(status, 0) + 1
    return kinds


if __name__ == "__main__":
    import sys
    import time as clock
    from collections import Counter

    total: Counter[str] = Counter()
    started = clock.time()
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            total.update(compare(make_case(seed)))
        except BaseException as problem:
            print(seed, type(problem).__name__, str(problem)[:600])
            if isinstance(problem, KeyboardInterrupt):
                raise
    print(total, clock.time() - started)


@pytest.mark.parametrize("seed", SEEDS)
def test_explanations_are_true(seed: int) -> None:
    assert compare(make_case(seed))
