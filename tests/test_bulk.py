"""Hypothetical answers by columns, against the general engine: the same answers at every step, field by field."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow
import pytest

import presage
from presage.supposing import Choice
from tests.random_columns import Case, Fact, make_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(3000) if LONG else range(120)


@contextmanager
def general() -> Iterator[None]:
    """Nothing goes by columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("presage.supposing.shapes", lambda hypotheses: None)
        yield


def reasoner_of(text: str, *, columns: bool) -> presage.Reasoner:
    program = presage.parse(text)
    if columns:
        return presage.Reasoner(program)
    with general():
        return presage.Reasoner(program)


def as_tables(facts: list[Fact], reasoner: presage.Reasoner) -> dict[str, pyarrow.Table]:
    """A table for each predicate; of a column with texts and numbers there is no Arrow type, so numbers are texts."""
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact[0], []).append(fact)
    tables = {}
    for name, group in groups.items():
        columns = {f"c{place}": [row[place] for _, row, _ in group] for place in range(len(group[0][1]))}
        tables[name] = pyarrow.table(columns | {"time": [time for _, _, time in group]})
    return tables


def fits_tables(facts: list[Fact]) -> bool:
    by_column: dict[tuple[str, int], set[type]] = {}
    for name, row, _ in facts:
        for place, value in enumerate(row):
            by_column.setdefault((name, place), set()).add(type(value))
    return all(len(kinds) == 1 for kinds in by_column.values()) and all(isinstance(when, int) for _, _, when in facts)


def compare(case: Case, chance: random.Random) -> bool:
    fast = reasoner_of(case.text, columns=True)
    slow = reasoner_of(case.text, columns=False)
    assert fast.supposing is not None and slow.supposing is not None and slow.supposing.bulk is None
    if fast.supposing.bulk is None:
        return False
    wake = None
    for now, facts in case.steps:
        expected = slow.push(facts, now)
        tables = fits_tables(facts) and chance.random() < 0.5
        found = fast.push(as_tables(facts, fast) if tables else facts, now)
        where = f"{case.text}\nat {now}, with {facts}"
        assert len(found) == len(expected) and list(found) == list(expected), where
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
            fast.late = late
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_give_the_same_answers(seed: int) -> None:
    compare(make_case(seed), random.Random(seed))
