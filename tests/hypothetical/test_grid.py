"""Hypothetical answers by individuals, against the general engine: the same answers at every step, field by field.

The general engine in turn is held against every evolution, on the same programs.
"""

from __future__ import annotations

import os
import random

import pytest

import presage
from bench.hypothetical import HOSPITAL
from presage.run.choice import Choice
from tests.hypothetical.test_bulk import as_tables, fits_tables, held, reasoner_of
from tests.hypothetical.test_hypotheses import compare as compare_with_every_evolution
from tests.random_grids import Case, Fact, make_case
from tests.random_programs import Case as OracleCase

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(2000) if LONG else range(40)
ORACLE_SEEDS = range(500) if LONG else range(20)


def compare(case: Case, chance: random.Random) -> bool:
    fast = reasoner_of(case.text, columns=True)
    slow = reasoner_of(case.text, columns=False)
    assert fast.supposing is not None and slow.supposing is not None and slow.supposing.grid is None
    if fast.supposing.grid is None:
        return False
    wake = fast.next_decision()
    for now, facts in case.steps:
        expected = slow.push(facts, now)
        tables = fits_tables(facts) and chance.random() < 0.5
        found = fast.push(as_tables(facts) if tables else facts, now)
        where = f"{case.text}\nat {now}, with {facts}"
        assert len(found) == len(expected) and list(found) == list(expected), where
        standing = fast.answers()
        assert len(standing) == len(list(standing)) and standing == slow.answers(), where
        assert facts or not found or (wake is not None and wake <= now), where
        wake = fast.next_decision()
        assert wake is None or wake > now, where
        if chance.random() < 0.15:
            fast = presage.Reasoner.restore(fast.program, fast.save())
            assert fast.supposing is not None and fast.supposing.grid is not None
    assert held(fast) == held(slow)
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_individuals_give_the_same_answers(seed: int) -> None:
    compare(make_case(seed), random.Random(seed))


@pytest.mark.parametrize("seed", ORACLE_SEEDS)
def test_states_are_those_of_the_definitions(seed: int) -> None:
    case = make_case(seed, individuals=2 if LONG else 1)
    if "Y" in case.text or reasoner_of(case.text, columns=True).supposing.grid is None:  # type: ignore[union-attr]
        return
    end = 5 if LONG else 3
    facts = [(fact, now) for now, arriving in case.steps for fact in arriving if fact[2] in range(end + 1)]
    given = OracleCase(case.text, end=end)
    given.facts.extend(facts)  # type: ignore[arg-type]
    compare_with_every_evolution(given)


def test_what_is_settled_before_its_time_is_told_at_the_first_step() -> None:
    inputs = "timeline discrete. input p(c0). input m(c0, c1)."
    text = f"{inputs} d(X)@T+1 :- p(X)@T-1, not m(X, on)@T. out(X)@T :- not d(X)@T. query out(X)."
    steps: list[tuple[int, list[Fact]]] = [(now, [("p", ("a",), now)]) for now in range(4)]
    assert compare(Case(text, steps), random.Random(1))


def test_a_hospital() -> None:
    """Everything that [HA] Example 11 can come to, at once."""
    chance = random.Random(1)
    names = [f"p{index}" for index in range(40)]
    shares = (("gcm", 0.3), ("gbol", 0.3), ("bca", 0.2))
    steps = [
        (day, [(name, (who,), day) for name, share in shares for who in names if chance.random() < share])
        for day in range(12)
    ]
    assert compare(Case(HOSPITAL.replace("patient", "c0"), steps), chance)  # type: ignore[arg-type]


INPUTS = "timeline discrete. input p(x). input q(x) delay 1. input m(x, v). input z. static s(x)."


@pytest.mark.parametrize(
    ("rules", "by_individuals"),
    [
        ("out(X)@T :- p(X)@T, not q(X)@T+2.", True),
        ("out(X)@T :- not p(X)@T, not q(X)@T+2.", True),
        ("d(X)@T :- p(X)@T, not d(X)@T-1. out(X)@T :- not d(X)@T.", True),
        ("out(X) :- p(X), not once[0,2] q(X).", False),
        ("out(X) :- p(X), not m(X, on), not m(X, off).", True),
        ("out(X) :- m(X, V), not p(X).", False),
        ("out(X)@T :- p(X)@T, not z@T.", False),
        ("out(X)@T :- p(X)@T, not q(X)@T, s(X).", False),
        ("out(X)@T :- p(X)@T, not q(X)@T, X != a.", False),
        ("out(X) :- p(X), once[0,2] q(X), not q(X).", False),
        ("out(X) :- not p(X). out(X) :- not q(X).", False),
        ("out(X) :- p(X), not never(X).", False),
        ("d(X)@T :- not d(X)@T-1. out(X)@T :- p(X)@T, not d(X)@T.", False),
        ("out(a)@T :- p(a)@T, not q(a)@T.", False),
    ],
)
def test_which_programs_go_by_individuals(rules: str, by_individuals: bool) -> None:
    text = f"{INPUTS} {rules} query out(X)."
    text = text if "never" not in rules else text.replace("input z.", "input z. never(X) :- p(X), q(X), not q(X).")
    reasoner = presage.Reasoner(presage.parse(text))
    assert reasoner.supposing is not None and (reasoner.supposing.grid is not None) == by_individuals


@pytest.mark.parametrize("query", ["query risk(ann).", "query risk(X)@3."])
def test_queries_for_some_answers_are_answered_one_by_one(query: str) -> None:
    reasoner = presage.Reasoner(presage.parse(HOSPITAL.replace("query risk(X).", query)))
    assert reasoner.supposing is not None and reasoner.supposing.grid is None


def stream(days: int) -> list[list[Fact]]:
    chance = random.Random(5)
    names = ("ann", "bob", "cid", "eve")
    return [
        [(name, (who,), day) for name in ("gcm", "gbol", "bca") for who in names if chance.random() < 0.25]
        for day in range(days)
    ]


def test_a_state_of_individuals_goes_on_one_by_one_and_back() -> None:
    days = stream(12)
    for cut in range(1, len(days) - 2):
        whole, parts = (presage.Reasoner(presage.parse(HOSPITAL)) for _ in range(2))
        for day, facts in enumerate(days):
            if day == cut:
                parts = presage.Reasoner.restore(parts.program, parts.save(), choice=Choice(top=1000))
                assert parts.supposing is not None and parts.supposing.grid is None
            if day == cut + 2:
                parts = presage.Reasoner.restore(parts.program, parts.save(), choice=Choice())
                assert parts.supposing is not None and parts.supposing.grid is not None
            assert parts.push(facts, day) == whole.push(facts, day), (cut, day)
            assert parts.answers() == whole.answers(), (cut, day)


def test_answers_are_counted_without_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.hypothesis.grid.engine.AnswerChange", lambda *given: pytest.fail("an answer was made"))
    reasoner = presage.Reasoner(presage.parse(HOSPITAL))
    for day, facts in enumerate(stream(5)):
        assert len(reasoner.push(facts, day)) >= 0
    assert len(reasoner.answers()) > 0


def test_ever_new_individuals_do_not_grow_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.hypothesis.grid.engine.FEW_SYMBOLS", 20)
    monkeypatch.setattr("presage.hypothesis.grid.course.MOST_COURSES", 15)
    text = f"{INPUTS} out(X)@T :- p(X)@T, not q(X)@T+1. query out(X)."
    fast, slow = reasoner_of(text, columns=True), reasoner_of(text, columns=False)
    assert fast.supposing is not None and fast.supposing.grid is not None
    fast.supposing.grid.most_symbols = 20
    chance = random.Random(2)
    kept = []
    for now in range(40):
        names = [f"d{now - age}x{index}" for age in range(3) for index in range(5) if now >= age]
        facts: list[Fact] = [(name, (who,), now) for name in "pq" for who in names if chance.random() < 0.4]
        kept.append((fast.push(facts, now), slow.push(facts, now)))
        assert len(fast.supposing.grid.intake.symbols) < 150
        assert len(fast.supposing.grid.grids[0].rows) < 40
        assert len(fast.supposing.grid.grids[0].courses.courses) < 60
    # Looked at late, when the numbers of their constants belong to others.
    for found, expected in kept:
        assert found == expected


@pytest.mark.parametrize("begin", [0, 3_000])
def test_a_long_pause(begin: int) -> None:
    """Atoms that hang on each other through all of it are decided from its beginning on."""
    rules = "d(X)@T :- q(X)@T. d(X)@T :- p(X)@T-1, not d(X)@T-1. out(X)@T :- p(X)@T, not d(X)@T."
    if not begin:
        rules += "e(X)@T :- not p(X)@T, not e(X)@T-1. out(X)@T :- q(X)@T, not e(X)@T."
    text = f"{INPUTS} {rules} query out(X)."
    fast, slow = reasoner_of(text, columns=True), reasoner_of(text, columns=False)
    assert fast.supposing is not None and fast.supposing.grid is not None
    times = [begin, begin + 1, begin + 90, begin + 91, begin + 92]
    for now in times:
        facts: list[Fact] = [(name, (who,), now) for name, who in ("pa", "qb", "pc")]
        assert fast.push(facts, now) == slow.push(facts, now), now
    if not begin:
        for now in (1_000, 9_000, 9_001, 9_002):
            told = [str(answer) for answer in fast.push([("q", ("z",), now)], now) if answer.status == "confirmed"]
            assert (f"confirmed out(z)@{now}" in told) == (now % 2 == 0)
