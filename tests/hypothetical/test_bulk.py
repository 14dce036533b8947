"""Hypothetical answers by columns, against the general engine: the same answers at every step, field by field."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow
import pytest

import presage
from presage.answers import Answer, Answers
from presage.answers.schema import answers_table
from presage.io.lines import table_of
from presage.plan.subformulas import Unsupported
from presage.run.choice import Choice
from presage.run.packed import PackedAnswers, pack
from tests.random_columns import Case, Fact, make_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(3000) if LONG else range(120)


@contextmanager
def general() -> Iterator[None]:
    """Nothing goes by columns, nor by individuals."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("presage.run.hypothetical.shapes", lambda hypotheses: None)
        patch.setattr("presage.hypothesis.grid.engine.layouts", lambda hypotheses: None)
        patch.setattr("presage.run.possible.goes_by_columns", lambda found, entangled: bool(entangled))
        yield


def reasoner_of(text: str, *, columns: bool) -> presage.Reasoner:
    program = presage.parse(text)
    if columns:
        return presage.Reasoner(program)
    with general():
        return presage.Reasoner(program)


def as_tables(facts: list[Fact]) -> dict[str, pyarrow.Table]:
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact[0], []).append(fact)
    tables = {}
    for name, group in groups.items():
        columns = {f"c{place}": [row[place] for _, row, _ in group] for place in range(len(group[0][1]))}
        tables[name] = pyarrow.table(columns | {"time": [time for _, _, time in group]})
    return tables


def fits_tables(facts: list[Fact]) -> bool:
    """Of a column with texts and numbers there is no Arrow type, and intervals are written otherwise."""
    by_column: dict[tuple[str, int], set[type]] = {}
    for name, row, _ in facts:
        for place, value in enumerate(row):
            by_column.setdefault((name, place), set()).add(type(value))
    return all(len(kinds) == 1 for kinds in by_column.values()) and all(isinstance(when, int) for _, _, when in facts)


def held(reasoner: presage.Reasoner) -> dict[str, set[tuple[object, ...]]]:
    """What is in memory of each predicate, point by point, as far back as it must be."""
    found: dict[str, set[tuple[object, ...]]] = {}
    assert reasoner.now is not None
    try:
        kept = reasoner.interval_engine.lags.keep
    except Unsupported:
        return found
    for name in reasoner.subject.predicates:
        since = reasoner.now - max(0, kept[name])
        rows = reasoner.holds(name).to_pylist()
        found[name] = {
            (*(value for title, value in row.items() if title not in ("from", "to", "bounds")), time)
            for row in rows
            for time in range(max(int(row["from"]), int(since)), int(row["to"]) + 1)
        }
    return found


def assert_same_lines(tables: list[pyarrow.Table], expected: Sequence[Answer], where: str) -> None:
    lines = [repr(line) for table in tables for line in table.to_pylist() if table.validate(full=True) is None]
    assert sorted(lines) == sorted(map(repr, answers_table(expected, True).to_pylist())), where


def sent(text: str, steps: list[Answers]) -> list[pyarrow.Table]:
    """The lines of answers that were packed here and are unpacked elsewhere."""
    supposing = presage.Reasoner(presage.parse(text)).supposing
    assert supposing is not None and supposing.teller is not None
    told = [step.columns for step in steps if isinstance(step.columns, PackedAnswers)]
    return [table for packed in pack(told) for table in supposing.teller.unpack(packed)]


def compare(case: Case, chance: random.Random) -> bool:
    fast = reasoner_of(case.text, columns=True)
    slow = reasoner_of(case.text, columns=False)
    assert fast.supposing is not None and slow.supposing is not None and slow.supposing.bulk is None
    if fast.supposing.bulk is None:
        return False
    wake = None
    steps: list[Answers] = []
    for now, facts in case.steps:
        expected = slow.push(facts, now)
        tables = fits_tables(facts) and chance.random() < 0.5
        found = fast.push(as_tables(facts) if tables else facts, now)
        where = f"{case.text}\nat {now}, with {facts}"
        assert len(found) == len(expected) and list(found) == list(expected), where
        steps.append(found)
        assert_same_lines([*table_of(found, True)], expected, where)
        if chance.random() < 0.3:
            assert_same_lines(sent(case.text, steps), [each for step in steps for each in step], where)
            steps.clear()
        standing = fast.answers()
        assert len(standing) == len(list(standing)) and standing == slow.answers(), where
        assert sorted(map(repr, fast.late)) == sorted(map(repr, slow.late)), where
        assert facts or not found or (wake is not None and wake <= now), where
        wake = fast.next_decision()
        assert wake is None or wake > now, where
        if chance.random() < 0.15:
            late = fast.late
            fast = presage.Reasoner.restore(fast.program, fast.save())
            assert fast.supposing is not None and fast.supposing.bulk is not None
            fast.late.extend(late)
        if chance.random() < 0.05:
            assert held(fast) == held(slow), where
    assert held(fast) == held(slow)
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_give_the_same_answers(seed: int) -> None:
    compare(make_case(seed), random.Random(seed))


TURBINES = """
timeline discrete.
input temp(device, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
query malf(X).
"""


@pytest.mark.parametrize(
    ("rules", "by_columns"),
    [
        ("out(X)@T :- p(X)@T, q(X)@T+2.", True),
        ("out(X)@T :- p(X)@T, m(X, V)@T+2.", False),
        ("out(X)@T :- p(X)@T, z@T+2.", False),
        ("out(X)@T :- p(X)@T, not q(X)@T.", False),
        ("out(X)@T :- p(X)@T, s(X).", False),
        ("out(X) :- p(X), once[0,2] q(X).", False),
        ("out(X) :- p(X), once[2] q(X).", True),
        ("out(X)@T :- p(X)@T, q(X)@T+1, X > 3.", True),
        ("out(a)@3 :- p(a)@2.", False),
        # Two patterns: what one needs may be part of what the other needs, unless they share no fact.
        ("out(X)@T :- p(X)@T, q(X)@T+1. out(X)@T :- m(X, 1)@T, m(X, 2)@T+1.", True),
        ("out(X)@T :- p(X)@T, q(X)@T+1. out(X)@T :- m(X, 1)@T, q(X)@T+1.", False),
        ("out(a)@T :- p(a)@T, q(a)@T+1. out(b)@T :- p(b)@T+1, q(b)@T+1.", True),
    ],
)
def test_which_programs_go_by_columns(rules: str, by_columns: bool) -> None:
    inputs = "input p(x). input q(x). input m(x, v). input z. static s(x)."
    reasoner = presage.Reasoner(presage.parse(f"timeline discrete. {inputs} {rules} query out(X)."))
    assert reasoner.supposing is not None and (reasoner.supposing.bulk is not None) == by_columns


def test_what_columns_do_not_give_is_not_asked_of_them() -> None:
    for text, choice in ((TURBINES, Choice(top=1)), (TURBINES.replace("delay 1", "delay 1 rate 0.5"), Choice())):
        reasoner = presage.Reasoner(presage.parse(text), choice=choice)
        assert reasoner.supposing is not None and reasoner.supposing.bulk is None


def test_answers_are_counted_without_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.run.packed.changes", lambda *given: pytest.fail("an answer was made"))
    reasoner = presage.Reasoner(presage.parse(TURBINES))
    assert len(reasoner.push([("temp", ("a", "high"), 0), ("temp", ("b", "high"), 0)], 0)) == 2
    assert len(reasoner.answers()) == 2


def test_a_state_of_columns_goes_on_without_them() -> None:
    """Restored for something that columns do not give, the same answers follow."""
    stream = [["a", "b"], ["a"], ["a", "c"], ["c", "a"], [], ["c"], [], [], []]
    for cut in range(1, len(stream)):
        whole, parts = (presage.Reasoner(presage.parse(TURBINES)) for _ in range(2))
        for now, devices in enumerate(stream):
            if now == cut:
                parts = presage.Reasoner.restore(parts.program, parts.save(), choice=Choice(top=100))
                assert parts.supposing is not None and parts.supposing.bulk is None
            facts: list[Fact] = [("temp", (device, "high"), now) for device in devices]
            assert parts.push(facts, now) == whole.push(facts, now), (cut, now)
        assert held(parts) == held(whole)


def test_ever_new_constants_do_not_grow_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.hypothesis.bulk.engine.FEW_SYMBOLS", 50)
    fast, slow = reasoner_of(TURBINES, columns=True), reasoner_of(TURBINES, columns=False)
    kept = []
    for now in range(60):
        facts: list[Fact] = [
            ("temp", (f"d{now - age}x{index}", "high"), now) for age in range(3) for index in range(10) if now >= age
        ]
        kept.append((fast.push(facts, now), slow.push(facts, now)))
    assert fast.supposing is not None and fast.supposing.bulk is not None
    assert len(fast.supposing.bulk.symbols) < 300
    # Looked at late, when the numbers of their constants belong to others.
    for found, expected in kept:
        assert found == expected


WORDS = ["", "a", "é", "aaaaaaaa", "aaaaaaaab", "a" * 40, "漢字", "high", "a", ""]


@pytest.mark.parametrize(
    "texts",
    [
        pyarrow.array(WORDS),
        pyarrow.array(WORDS, pyarrow.large_string()),
        pyarrow.array(["x", *WORDS, "y"])[1:-1],
        pyarrow.chunked_array([WORDS[:3], [], WORDS[3:]]),
        pyarrow.array(WORDS).dictionary_encode(),
        pyarrow.array([], pyarrow.string()),
    ],
    ids=["texts", "large", "slice", "chunks", "dictionary", "empty"],
)
def test_texts_of_a_table(texts: pyarrow.Array) -> None:
    fast, slow = reasoner_of(TURBINES, columns=True), reasoner_of(TURBINES, columns=False)
    for now in range(3):
        words = texts.to_pylist()
        table = {
            "device": texts,
            "level": ["high"] * len(words),
            "time": pyarrow.array([now] * len(words), pyarrow.int64()),
        }
        found = fast.push({"temp": pyarrow.table(table)}, now)
        assert found == slow.push([("temp", (word, "high"), now) for word in words], now)


def test_late_rows_of_a_table_are_told_apart_by_their_own_delay() -> None:
    text = TURBINES.replace("delay 1.", "delay 1.\ninput temp(device, level) where device = slow delay 3.")
    reasoner = presage.Reasoner(presage.parse(text))
    reasoner.push([], 0)
    devices = ["slow", "quick", "slow"]
    reasoner.push({"temp": pyarrow.table({"device": devices, "level": ["high"] * 3, "time": [1, 1, 0]})}, 3)
    assert [(fact.arguments[0], fact.low) for fact in reasoner.late] == [("quick", 1)]
    assert [answer.answer for answer in reasoner.answers()] == ["malf(slow)@0", "malf(slow)@1"]
