"""How likely ways with `n of` are: what they say in words, over all worlds of what can still come."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

import presage

RATE = 0.25
ATOM = re.compile(
    r"(?:(?P<words>at most |exactly )?(?P<count>\d+) of )?(?P<not>not )?p\(a\)@(?P<time>\w+|\[\d+,\d+\])$"
)
OPERATORS = {
    "<": int.__lt__, ">": int.__gt__, "<=": int.__le__, ">=": int.__ge__, "=": int.__eq__,
}  # fmt: skip

RULES = [
    "q(X) :- count {{ T : window({w}) p(X)@T }} >= {n}.",
    "q(X) :- p(X), count {{ T : window({w}) p(X)@T }} >= {n}.",
    "q(X)@T :- e(X)@T, count {{ T1 : p(X)@T1, T1 > T, T1 <= T + {w} }} >= {n}.",
    "q(X)@T :- e(X)@T, count {{ T1 : p(X)@T1, T1 > T, T1 <= T + {w} }} <= {n}.",
    "q(X)@T :- e(X)@T, count {{ T1 : p(X)@T1, T1 > T, T1 <= T + {w} }} = {n}.",
    "q(X)@T :- e(X)@T, p(X)@T+2, count {{ T1 : p(X)@T1, T1 > T, T1 <= T + {w} }} >= {n}.",
]


def value(text: str, known: dict[str, int]) -> int:
    found = re.fullmatch(r"(T\d*)?(?: ?([+-]) ?)?(\d+)?", text)
    assert found, text
    name, sign, number = found.groups()
    away = int(number or 0) * (-1 if sign == "-" else 1)
    return away + (known[name] if name else 0)


def is_barred(clauses: list[str], known: dict[str, int]) -> bool:
    """Whether some clause that speaks of known names alone is met."""
    for clause in clauses:
        names = set(re.findall(r"T\d*", clause))
        if names <= set(known):
            left, operator, right = re.fullmatch(r"(.+?) (<=|>=|<|>|=) (.+)", clause).groups()  # type: ignore[union-attr]
            if OPERATORS[operator](value(left, known), value(right, known)):
                return True
    return False


def likely(way: dict[str, object], now: int, delay: int, last: int, time: int | None) -> float:
    """The shares of the worlds in which all that is needed comes, whatever the time of the answer."""
    unless: list[str] = way["unless"]  # type: ignore[assignment]
    coming = [at for at in range(last + 1) if at + delay > now]

    def is_met(need: str, at: int | None, world: set[int]) -> bool:
        words, count, negated, when = ATOM.match(need).group("words", "count", "not", "time")  # type: ignore[union-attr]
        known = {} if at is None else {"T": at}
        if count is None:
            there = value(when, known) in world
            return not there if negated else there
        times = range(last + 1) if when.startswith("T") else [int(when)]
        number = sum(
            each in world and not is_barred(unless, {**known, when: each} if when.startswith("T") else known)
            for each in times
        )
        wanted = int(count)
        return number <= wanted if words == "at most " else number == wanted if words else number >= wanted

    total = 0.0
    times = [each for each in range(last + 1) if not is_barred(unless, {"T": each})] if time is None else [None]
    for chosen in product((False, True), repeat=len(coming)):
        world = {at for at, comes in zip(coming, chosen, strict=True) if comes}
        if any(all(is_met(need, at, world) for need in way["needs"]) for at in times):  # type: ignore[attr-defined]
            share = 1.0
            for comes in chosen:
                share *= RATE if comes else 1 - RATE
            total += share
    return total


@pytest.mark.parametrize("rule", RULES)
def test_confidence_is_the_share_of_worlds(rule: str) -> None:
    seen = 0
    for seed in range(6):
        chance = random.Random(seed)
        width, delay = chance.randint(2, 4), chance.randint(0, 2)
        written = rule.format(w=width, n=chance.randint(1, 3))
        program = presage.parse(
            f"timeline discrete. input p(x) delay {delay} rate {RATE}. input e(x). {written}\nquery q(X)."
        )
        reasoner = presage.Reasoner(program)
        arrived: set[int] = set()
        for now in range(5):
            facts: list[tuple[str, tuple[str], int]] = []
            for at in range(max(0, now - delay + 1 if delay else now), now + 1):
                if at not in arrived and chance.random() < 0.4:
                    arrived.add(at)
                    facts.append(("p", ("a",), at))
            if chance.random() < 0.3:
                facts.append(("e", ("a",), now))
            for answer in reasoner.push(facts, now=now):
                for way in answer.to_json().get("ways") or [answer.to_json()]:
                    if answer.status != "possible" or any(need.startswith("e(") for need in way["needs"]):
                        continue
                    last = max(way["decided_by"] - delay, now)
                    told = likely(way, now, delay, last, answer.time)
                    assert way["confidence"] == pytest.approx(told), (written, delay, now, way)
                    seen += any(" of " in need for need in way["needs"])
    assert seen > 2


def test_long_windows_have_a_confidence() -> None:
    program = presage.parse(
        "timeline discrete. input p(x) delay 5 rate 0.00001. q(X) :- p(X), count { T : window(86400) p(X)@T } >= 3."
    )
    (answer,) = presage.Reasoner(program).push([("p", ("a",), 0)], now=0)
    assert answer.needs == ("2 of p(a)@T1", "p(a)@T")
    times, rate = 86_400, 0.00001
    none, one = (1 - rate) ** times, times * rate * (1 - rate) ** (times - 1)
    assert answer.confidence == pytest.approx(1 - none - one)


def test_what_has_values_open_has_none() -> None:
    program = presage.parse(
        "timeline discrete. input pay(c, v: float >= 0) rate 0.1. q(C) :- sum { V, T : window(5) pay(C, V)@T } >= 9."
    )
    (answer,) = presage.Reasoner(program).push([("pay", ("a", 3), 0)], now=0)
    assert answer.needs == ("sum 6 of pay(a, V1)@T1",)
    assert answer.confidence is None


def test_what_was_before_the_stream_is_no_choice() -> None:
    """A fact may be late by 5, but none has a time below 0: two more at 0 there cannot be."""
    for rule in ("q(X) :- p(X), count { T : window(9) p(X)@T } >= 3.", "q(X) :- count { T : window(9) p(X)@T } >= 3."):
        program = presage.parse(f"timeline discrete. input p(x) delay 5. {rule}")
        told = presage.Reasoner(program).push([("p", ("a",), 0)], now=0)
        assert [answer.key for answer in told] == ["q(a)@T"]
        (way,) = told[0].to_json().get("ways") or [told[0].to_json()]
        assert "T < 2" in way["unless"], way
