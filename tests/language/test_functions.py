"""Functions of values: what they are worth, exactly, and when they have no value."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import presage
from presage.engine.compare import computed, holds, value
from presage.engine.symbols import Symbols
from presage.model.formulas import Comparison
from presage.model.functions import FUNCTIONS, apply, pattern
from presage.model.terms import Clock, Variable
from presage.model.values import is_true
from presage.parser import parse

CLOCK = Clock(Fraction(1000), datetime(2026, 3, 29, tzinfo=UTC))

WORTH: list[tuple[str, tuple[object, ...], object]] = [
    ("abs", (-3,), 3),
    ("abs", (Fraction(-1, 2),), Fraction(1, 2)),
    ("floor", (Fraction(-1, 2),), -1),
    ("ceil", (Fraction(-1, 2),), 0),
    ("round", (Fraction(5, 2),), 3),
    ("round", (Fraction(-5, 2),), -3),
    ("round", (Fraction(1, 3), 2), Fraction(33, 100)),
    ("round", (1250, -2), 1300),
    ("min", (2, Fraction(3, 2)), Fraction(3, 2)),
    ("max", (2, 3), 3),
    ("mod", (-7, 3), 2),
    ("mod", (7, -3), -2),
    ("mod", (Fraction(7, 2), 1), Fraction(1, 2)),
    ("mod", (7, 0), None),
    ("sqrt", (Fraction(9, 4),), Fraction(3, 2)),
    ("sqrt", (2,), Fraction("1.41421356237310")),
    ("sqrt", (-1,), None),
    ("exp", (0,), 1),
    ("exp", (1,), Fraction("2.71828182845905")),
    ("exp", (10000,), None),
    ("ln", (1,), 0),
    ("ln", (0,), None),
    ("log10", (1000,), 3),
    ("log10", (Fraction(1, 100),), -2),
    ("log10", (2,), Fraction("0.301029995663981")),
    ("pow", (2, 10), 1024),
    ("pow", (2, -1), Fraction(1, 2)),
    ("pow", (Fraction(8, 27), Fraction(2, 3)), Fraction(4, 9)),
    ("pow", (0, 0), 1),
    ("pow", (0, -1), None),
    ("pow", (-8, Fraction(1, 3)), None),
    ("pow", (10, 999), 10**999),
    ("pow", (10, 1000), None),
    ("pow", (10, 10**9), None),
    ("lower", ("ÄB",), "äb"),
    ("upper", ("ab",), "AB"),
    ("length", ("naïve",), 5),
    ("concat", ("a", "b", "c"), "abc"),
    ("concat", ("a", 1), None),
    ("substring", ("presage", 1, 3), "pre"),
    ("substring", ("presage", 4), "sage"),
    ("substring", ("presage", 0, 3), None),
    ("substring", ("presage", 99, 3), ""),
    ("replace", ("a-b-c", "-", ""), "abc"),
    ("number", ("1e-05",), Fraction(1, 100000)),
    ("number", ("1/3",), Fraction(1, 3)),
    ("number", ("three",), None),
    ("text", (Fraction(1, 2),), "0.5"),
    ("starts_with", ("eu-1", "eu-"), "true"),
    ("ends_with", ("eu-1", "eu-"), "false"),
    ("contains", ("eu-1", "u-"), "true"),
    ("matches", ("host12", "[0-9]+$"), "true"),
    ("matches", ("host12", "^[0-9]"), "false"),
    ("matches", ("x", "("), None),
    ("matches", (3, "x"), None),
    ("year", (0,), 2026),
    ("month", (0,), 3),
    ("day", (86400,), 30),
    ("weekday", (0,), 7),
    ("hour", (3600,), 1),
    ("hour", (3600, "Europe/Vienna"), 3),  # the clocks have gone forward
    ("hour", (3599, "Europe/Vienna"), 1),
    ("minute", (Fraction(119, 2),), 0),
    ("second", (Fraction(119, 2),), 59),
    ("timestamp", (0,), "2026-03-29T00:00:00Z"),
    ("timestamp", (3600, "Europe/Vienna"), "2026-03-29T03:00:00+02:00"),
    ("timestamp", (Fraction(1, 2),), "2026-03-29T00:00:00.5Z"),
    ("hour", (10**15,), None),
    ("hour", (0, "Nowhere/Land"), None),
]


@pytest.mark.parametrize(("name", "values", "worth"), WORTH)
def test_functions_are_worth(name: str, values: tuple[object, ...], worth: object) -> None:
    assert apply(name, values, CLOCK) == worth


def test_every_function_is_tried() -> None:
    assert {name for name, _, _ in WORTH} == set(FUNCTIONS)


def test_irrational_results_are_the_nearest_decimals() -> None:
    for number in range(2, 40):
        root = apply("sqrt", (number,))
        assert isinstance(root, (int, Fraction)) and math.isclose(float(root), math.sqrt(number), rel_tol=1e-14)
        error = abs(Fraction(root) ** 2 - number) / (2 * Fraction(root))
        assert error <= Fraction(1, 2 * 10**14)


def test_hostile_patterns_take_linear_time() -> None:
    begin = time.perf_counter()
    assert apply("matches", ("a" * 50_000 + "b", "(a+)+$")) == "false"
    assert time.perf_counter() - begin < 5
    with pytest.raises(ValueError):
        pattern("(?=a)")


def confirmed(text: str, facts: list[tuple[str, tuple[object, ...], int]]) -> list[str]:
    reasoner = presage.Reasoner(presage.parse(text), emit="confirmed")
    return [str(each).removeprefix("confirmed ") for each in reasoner.push(facts, now=0)]


def test_functions_in_rules() -> None:
    text = """
    tick 1s. start 2026-03-29T00:00:00Z.
    input host(name, load).
    eu(H) :- host(H, _), starts_with(H, "eu-"), not matches(H, "test").
    level(H, L) :- host(H, V), L = case(V > 30 and not contains(H, "x"), hot, fine).
    """
    facts = [("host", ("eu-1", 31), 0), ("host", ("eu-test", 3), 0), ("host", ("us-x", 99), 0)]
    assert set(confirmed(text, facts)) == {
        'eu("eu-1")@0', 'level("eu-1", hot)@0', 'level("eu-test", fine)@0', 'level("us-x", fine)@0',
    }  # fmt: skip


def test_what_has_no_value_is_false_and_said_once() -> None:
    text = "input p(x).\na(X) :- p(X), sqrt(X) >= 0.\nb(X) :- p(X), not sqrt(X) >= 0."
    with pytest.warns(UserWarning, match="`sqrt` of a number had no value"):
        assert set(confirmed(text, [("p", (4,), 0), ("p", (-4,), 0)])) == {"a(4)@0", "b(-4)@0"}


def test_a_predicate_may_have_the_name_of_a_function() -> None:
    text = "input contains(x, y).\nq(X) :- contains(X, a)."
    assert confirmed(text, [("contains", ("b", "a"), 0)]) == ["q(b)@0"]
    assert str(parse("q(X) :- p(X), contains(X, a)@T.")).strip().endswith("contains(X, a)@T.")


TERMS = [
    "A + B - 1", "A * B", "A / B", "0 - A", "abs(A - B)", "min(A, B) + max(A, 3)", "mod(A, B)", "floor(A) - ceil(B)",
    "round(A / 3, 1)", "case(A >= B, A - B, A)", "case(A < B and not B = 2 or A = 0, A, B + 1)", "length(text(A))",
    "case(A = x, 1, 2)", "pow(A, 2)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::presage.errors.PresageWarning")
@pytest.mark.parametrize("values", [[0, 1, 2, 7, -3], [1, Fraction(1, 3), "x", 2, 10**40, 2**51]])
@pytest.mark.parametrize("text", TERMS)
def test_columns_say_what_rows_say(text: str, values: list[object]) -> None:
    rule = parse(f"q(X) :- p(A, B), X = {text}.").rules[0]
    comparison = rule.body[1]
    assert isinstance(comparison, Comparison)
    symbols, places = Symbols(), {"A": 0, "B": 1}
    rows = np.array([symbols.number_all(pair) for pair in product(values, repeat=2)] * 2, np.int32)
    found, known = computed(comparison.right, rows, places, symbols)
    larger = holds(Comparison(">", comparison.right, Variable("B")), rows, places, symbols)
    for row, number, is_known, is_larger in zip(rows, found.tolist(), known.tolist(), larger.tolist(), strict=True):
        expected = value(comparison.right, row, places, symbols)
        assert (symbols.value(number) if is_known else None) == expected
        assert is_larger == is_true(">", expected, symbols.value(int(row[1])))
