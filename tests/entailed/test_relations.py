"""Tables against sets of points: rows by hash and by number, growing, forgetting, changing from one to the other."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow
import pytest

from presage.engine import relation
from presage.engine.relation import Delta, Relation, Store
from presage.engine.symbols import Symbols
from presage.io.tables import Texts
from presage.kernels import fields
from presage.kernels.forgetting import forget, forget_news

KEPT, LONGEST = 6, 4
Points = set[tuple[int, int]]


def points(delta: Delta | None) -> Points:
    if delta is None:
        return set()
    lines = zip(delta.tuples[:, 0].tolist(), delta.low.tolist(), delta.high.tolist(), strict=True)
    found = [(constant, cell) for constant, low, high in lines for cell in range(low, high + 1)]
    assert len(set(found)) == len(found)
    return set(found)


def by_number(table: Relation) -> bool:
    return bool(table.table[fields.BY_NUMBER])


@pytest.mark.parametrize("seed", range(40))
def test_one_column(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(relation, "FEW", chance.choice([1, 16]))
    constants = 4
    store = Store({"p": 1}, lambda: constants)
    table = store.relations["p"]
    table.forgets(4)
    given: Points = set()
    for now in range(60):
        if chance.random() < 0.1:
            constants = min(20_000, constants * chance.choice([2, 5, 40]))
        size, among = chance.randrange(1, 60), chance.choice([constants, min(constants, 30)])
        rows = np.array([[chance.randrange(among)] for _ in range(size)], np.int32)
        low = np.array([max(0, now - chance.randrange(LONGEST)) for _ in range(size)], np.int64)
        high = low + np.array([chance.randrange(LONGEST) for _ in range(size)])
        before = points(table.contents())
        table.insert(rows, low, high)
        new = {
            (row, cell)
            for row, first, last in zip(rows[:, 0].tolist(), low.tolist(), high.tolist(), strict=True)
            for cell in range(first, last + 1)
        }
        given |= new
        held = points(table.contents())
        # What was forgotten may go when its row is needed.
        assert new <= held <= before | new
        assert points(table.news()) == new - before
        assert {point for point in given if point[1] >= now - KEPT} <= held
        forget_news(store.address, 1, 0, 0, 0)
        forget(store.address, store.indexes_address, np.array([now - KEPT]))


def test_a_good_part_of_all_constants_is_kept_by_number() -> None:
    constants = 1_000
    store = Store({"p": 1}, lambda: constants)
    table = store.relations["p"]
    cells = np.zeros(constants, np.int64)
    table.insert(np.arange(constants, dtype=np.int32).reshape(-1, 1), cells, cells)
    assert by_number(table) and len(table) == constants
    # So few of so many are not.
    constants = 100_000
    table.insert(np.array([[99_999]], np.int32), cells[:1], cells[:1])
    assert not by_number(table) and len(table) == 1_001
    assert points(table.contents()) == {(number, 0) for number in (*range(1_000), 99_999)}


def test_texts_of_any_length_have_their_numbers() -> None:
    chance, symbols = random.Random(3), Symbols()
    for _ in range(100):
        texts = ["".join(chance.choice("abé\0z") for _ in range(chance.randrange(20))) for _ in range(100)]
        column = pyarrow.array(["before", *texts]).slice(1)
        assert [symbols.values[number] for number in symbols.number_texts(Texts(column))] == texts


def test_numbers_of_constants_stand_for_one_value_each() -> None:
    chance, symbols = random.Random(5), Symbols()
    kinds = [0, 1, -1, 2**52, -(2**52) + 1, 2**70, "1", "a", Fraction(1, 2), Fraction(7, 3)]
    for turn in range(60):
        wholes = [chance.choice((chance.randrange(-50, 50), chance.randrange(10**12) << 20)) for _ in range(200)]
        given: list[Any] = [*wholes[:20], *chance.sample(kinds, 6)]
        chance.shuffle(given)
        by_column, one_by_one = symbols.number_wholes(np.array(wholes)), symbols.number_all(given)
        assert [symbols.values[number] for number in by_column] == wholes
        assert [symbols.values[number] for number in one_by_one] == given
        assert [symbols.number(value) for value in given] == one_by_one.tolist()
        assert symbols.find(f"never {turn}") == symbols.find(10**15 + turn) == -1
        held = [value for value in symbols.values if value is not None]
        assert len(set(held)) == len(held) == len(symbols)
        if turn % 3 == 2:
            kept = np.array(chance.sample(range(len(symbols.values)), len(symbols.values) // 3))
            values = {int(number): symbols.values[number] for number in kept}
            symbols.keep_only(kept)
            assert all(value is None or symbols.find(value) == number for number, value in values.items())
