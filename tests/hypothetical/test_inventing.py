"""Hypothetical answers above rules that invent values: against every evolution, and small cases worked out by hand."""

from __future__ import annotations

import os

import pytest

import presage
from presage.checking import check_text
from presage.errors import PresageError
from presage.patterns.listing import asked_by, listed, patterns_of
from presage.patterns.unfold import Unfolded
from presage.support import NO_PATTERNS
from tests.hypothetical.test_ranges import compare, engine_of
from tests.random_inventing import make_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(600) if LONG else range(20)
MOST_REFUSED = 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_states_are_those_of_the_definitions(seed: int) -> None:
    if not compare(make_case(seed)):
        pytest.skip("negation that needs more than judging atoms one by one")


def test_most_programs_are_compared() -> None:
    refused = sum(engine_of(make_case(seed)) is None for seed in SEEDS)
    assert refused <= MOST_REFUSED * len(SEEDS), f"{refused} of {len(SEEDS)}"


ORDERS = "timeline discrete. input order(b). input paid(b) delay 2. "


def told(rules: str, facts: dict[int, list[tuple[str, tuple[str, ...], int]]], until: int = 8) -> list[str]:
    reasoner = presage.Reasoner(presage.parse(ORDERS + rules))
    lines = []
    for now in range(until):
        for each in reasoner.push(facts.get(now, []), now=now):
            needs = f" needs {', '.join(each.needs)}" if each.needs else ""
            lines.append(f"{now}: {each}{needs}")
    return lines


def patterns(rules: str) -> list[str]:
    """The patterns of the query, as `presage plan` has them."""
    findings = check_text(ORDERS + rules).findings
    assert findings is not None
    asked = asked_by(findings.subject.queries[0])
    found = [listed(asked, each) for each in patterns_of(asked, Unfolded(findings.subject))]
    return sorted(", ".join((*each.premises, *each.where)) for each in found)


def test_what_is_said_of_one_value_is_said_of_one_instance() -> None:
    rules = """
        exists P: assigned(B, P)@T+1, busy(P)@T+2 :- order(B)@T, paid(B)@T+1.
        q(B) :- assigned(B, P), tomorrow busy(P).
        query q(B).
    """
    assert told(rules, {0: [("order", ("b1",), 0), ("order", ("b2",), 0)], 3: [("paid", ("b1",), 1)]}) == [
        "0: possible q(b1)@1 needs paid(b1)@1",
        "0: possible q(b2)@1 needs paid(b2)@1",
        "3: confirmed q(b1)@1",
        "3: refuted q(b2)@1",
    ]


def test_each_time_has_values_of_its_own() -> None:
    both = "q(B) :- assigned(B, P), yesterday assigned(B, P). query q(B)."
    facts = {0: [("order", ("b1",), 0)], 1: [("order", ("b1",), 1)]}
    paid = {2: [("paid", ("b1",), 1), ("paid", ("b1",), 0)]}
    assert told(f"exists P: assigned(B, P) :- order(B), paid(B). {both}", facts | paid) == []
    assert told(f"exists lasting P: assigned(B, P) :- order(B), paid(B). {both}", facts) == [
        "0: possible q(b1)@1 needs paid(b1)@0, order(b1)@1, paid(b1)@1",
        "1: possible q(b1)@1 needs paid(b1)@0, paid(b1)@1",
        "1: possible q(b1)@2 needs paid(b1)@1, order(b1)@2, paid(b1)@2",
        "2: refuted q(b1)@1",
        "2: refuted q(b1)@2",
    ]


def test_values_of_two_rules_are_never_the_same() -> None:
    rules = """
        exists P: assigned(B, P) :- order(B).
        exists P: billed(B, P) :- paid(B).
    """
    assert told(f"{rules} q(B) :- assigned(B, P), billed(B, P). query q(B).", {0: [("order", ("b",), 0)]}) == []
    differ = f"{rules} q(B) :- assigned(B, P), billed(B, R), P != R. query q(B)."
    assert told(differ, {0: [("order", ("b",), 0)]}) == ["0: possible q(b)@0 needs paid(b)@0", "2: refuted q(b)@0"]


def test_no_fact_has_an_invented_value() -> None:
    rules = "exists P: assigned(B, P), order(P) :- paid(B). q(B) :- assigned(B, P), order(P), paid(P). query q(B)."
    assert told(rules, {0: [("paid", ("b",), 0)]}) == []


def test_comparisons_come_down_to_what_values_depend_on() -> None:
    rules = "exists P: assigned(B, P) :- order(B), paid(B). q(B) :- assigned(B, P), {} assigned(C, R), {}. query q(B)."
    assert patterns(rules.format("", "P != R")) == ["order(B)@T, order(C)@T, paid(B)@T, paid(C)@T, B != C"]
    assert patterns(rules.format("", "P = R")) == ["order(B)@T, paid(B)@T"]
    assert patterns(rules.format("yesterday", "P = R")) == []
    assert patterns(rules.format("yesterday", "not P = R")) == ["order(C)@T-1, paid(C)@T-1, order(B)@T, paid(B)@T"]


def test_what_is_counted_is_told_apart_by_what_values_depend_on() -> None:
    rules = """
        exists P: assigned(B, P) :- order(B).
        q(B) :- order(B), count { P : window(5) some assigned(B, P) } >= 2.
        query q(B).
    """
    facts = {0: [("order", ("b",), 0)], 3: [("order", ("b",), 3), ("order", ("c",), 3)]}
    assert told(rules, facts, 4) == [
        "0: possible q(b)@T needs order(b)@T", "3: confirmed q(b)@3", "3: possible q(b)@T needs order(b)@T",
        "3: possible q(c)@T needs order(c)@T",
    ]  # fmt: skip
    lasting = rules.replace("exists P", "exists lasting P").replace("assigned(B, P) }", "assigned(C, P) }")
    assert told(lasting, facts, 4) == [
        "0: possible q(B)@T needs 1 of C1: order(C1)@T1, order(B)@T", "3: confirmed q(b)@3", "3: confirmed q(c)@3",
        "3: possible q(B)@T needs order(B)@T",
    ]  # fmt: skip


REFUSED = [
    ("exists P: q(B, P) :- order(B).", "invented in an answer"),
    ("exists P: assigned(B, P) :- order(B). q(B) :- assigned(B, P), P < b.", "invented and calculated with"),
    (
        "exists P: assigned(B, P) :- order(B). done(P) :- assigned(B, P). q(B) :- assigned(B, P), not done(P).",
        "invented and absent",
    ),
    ("chase restricted. exists P: assigned(B, P) :- order(B). q(B) :- assigned(B, _).", "invented where needed"),
]


@pytest.mark.parametrize(("rules", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_what_has_no_patterns_is_told_as_confirmed(rules: str, reason: str) -> None:
    arguments = "B, P" if "q(B, P)" in rules else "B"
    text = f"{ORDERS}{rules} query q({arguments})."
    report = check_text(text)
    assert report.findings is not None
    assert NO_PATTERNS[reason] in report.findings.queries[0].hypothetical.reason
    with pytest.raises(PresageError, match="no finite set of premise patterns"):
        presage.Reasoner(presage.parse(text), emit="changes")
