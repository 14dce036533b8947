"""Atoms found among others, against all mappings there are; and checks of long rules that end in time."""

from __future__ import annotations

import random
from itertools import product
from time import process_time

import pytest

import presage
from presage.patterns import embedding
from presage.patterns.embedding import embeds

Atom = tuple[str, tuple[str, ...]]


def by_trying(wanted: list[Atom], offered: list[Atom], start: dict[str, str]) -> bool:
    names = sorted({value for _, row in wanted for value in row if value.isupper()} - set(start))
    values = sorted({value for _, row in offered for value in row})
    for chosen in product(values, repeat=len(names)):
        mapping = {**start, **dict(zip(names, chosen, strict=True))}
        if all((kind, tuple(mapping.get(each, each) for each in row)) in offered for kind, row in wanted):
            return True
    return not names and not wanted


@pytest.mark.parametrize("seed", range(300))
def test_as_all_mappings_say(seed: int) -> None:
    chance = random.Random(seed)

    def atoms(count: int, values: str) -> list[Atom]:
        return [(chance.choice("pq"), tuple(chance.choices(values, k=2))) for _ in range(count)]

    wanted, offered = atoms(chance.randint(1, 4), "XYZab"), atoms(chance.randint(0, 6), "abcde")
    start = {"X": "a"} if chance.random() < 0.5 else {}
    found = embeds(wanted, offered, start, str.isupper, lambda first, second: True)
    assert found == by_trying(wanted, offered, start)


def test_a_search_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [("p", (f"V{place}", f"V{place + 1}")) for place in range(9)]
    offered = [("p", (str(place), str(place + 1))) for place in range(30)]

    def fits(first: int, second: int) -> bool:
        return True

    assert embeds(wanted, offered, {}, str.isupper, fits)
    monkeypatch.setattr(embedding, "MOST_TRIES", 3)
    assert not embeds(wanted, offered, {}, str.isupper, fits)


def test_equal_premises_are_told_once() -> None:
    """`p(X, Y)` says no more than `p(X, Z), q(Z)` does; it goes, wherever it stands."""
    for body in ("p(X, Y), p(X, Z), q(Z)", "p(X, Z), q(Z), p(X, Y)"):
        report = presage.check(f"input p(x, y). input q(x). a(X) :- {body}. query a(X).")
        assert report.findings is not None
        (query,) = report.findings.queries
        assert query.hypothetical.size == 2


LONG = {
    "chain": ", ".join(f"p(X{place}, X{place + 1})@T-{place}" for place in range(100)),
    "chain at one time": ", ".join(f"p(X{place}, X{place + 1})" for place in range(200)),
    "star": ", ".join(f"p(X0, X{place})" for place in range(1, 101)),
    "apart": ", ".join(f"p(X{2 * place}, X{2 * place + 1})" for place in range(100)),
    "ring": ", ".join(f"p(X{place}, X{(place + 1) % 100})" for place in range(100)),
}


@pytest.mark.parametrize("kind", LONG)
def test_rules_with_hundreds_of_atoms_are_checked_quickly(kind: str) -> None:
    begin = process_time()
    assert presage.check(f"input p(x, y).\na(X0) :- {LONG[kind]}.\nquery a(X).").ok
    assert process_time() - begin < 8


@pytest.mark.parametrize("times", [12, 20, 40])
def test_squares_of_squares_are_checked_quickly(times: int) -> None:
    rules = "\n".join(f"p{place + 1}(X, Y) :- p{place}(X, Z), p{place}(Z, Y)." for place in range(times))
    begin = process_time()
    assert presage.check(f"input p0(x, y).\n{rules}\nquery p{times}(X, Y).").ok
    assert process_time() - begin < 12
