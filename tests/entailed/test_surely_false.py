"""Comparisons that floats call false are false, exactly; and most that are false are called so."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from presage.engine.surely_false import about, is_false
from presage.model.formulas import Comparison
from presage.model.terms import Arithmetic, Constant, Negative, Term, Variable
from presage.model.values import is_true, value_of


def _term(chance: random.Random, depth: int) -> Term:
    if depth and chance.random() < 0.6:
        if chance.random() < 0.2:
            return Negative(_term(chance, depth - 1))
        return Arithmetic(chance.choice("+-*"), _term(chance, depth - 1), _term(chance, depth - 1))
    value = chance.choice([0, 1, 3, -7, Fraction(1, 3), 10**15, 10**12])
    return Variable(chance.choice("ab")) if chance.random() < 0.7 else Constant(value)


def test_what_is_called_false_is_false() -> None:
    called, false = 0, 0
    for seed in range(400):
        chance = random.Random(seed)
        near = Fraction(chance.randint(-(10**15), 10**15), chance.choice([1, 3, 7, 10**6]))
        rows = []
        for _ in range(12):
            off = chance.choice([0, 0, Fraction(1, 10**9), Fraction(-1, 3 * 10**14), 1, -(10**6)])
            rows.append({"a": near, "b": near + off})
        comparison = Comparison(chance.choice(["<", "<=", ">", ">=", "=", "!="]), _term(chance, 2), _term(chance, 2))
        columns = {name: about(np.array([float(row[name]) for row in rows])) for name in "ab"}
        found = is_false(comparison, columns)
        for place, row in enumerate(rows):
            sides = (value_of(side, row.get) for side in (comparison.left, comparison.right))
            is_right = is_true(comparison.operator, *sides)
            says = found is not None and bool(np.broadcast_to(found, len(rows))[place])
            assert not (says and is_right), (seed, comparison, row)
            called, false = called + says, false + (not is_right)
    assert called > false / 2


def test_what_is_no_number_is_left_open() -> None:
    nothing = about(np.array([np.nan, 1.0]))
    found = is_false(Comparison(">", Variable("a"), Constant(2)), {"a": nothing})
    assert found is not None and found.tolist() == [False, True]
    assert is_false(Comparison(">", Variable("a"), Constant("x")), {"a": nothing}) is None
