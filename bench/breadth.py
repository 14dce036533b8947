"""Hypothetical answers of ordinary programs, beside a loop by hand for each of them.

A loop by hand is what a good programmer would write for that one rule, with dicts and sets: it gets the same columns as
lists, and gives the same changes as tuples with their premises. Ours gives columns. What is learned about a program in
the first steps is learned once; so both run once over a stream before they are timed over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow

import presage
from bench.common import Row, timed

KEYS, STEPS = 20_000, 40
Step = dict[str, dict[str, Any]]
"""What arrives together: columns by predicate."""
Change = tuple[Any, ...]


@dataclass(frozen=True)
class Class:
    name: str
    program: str
    stream: Callable[[], list[Step]]
    by_hand: Callable[[list[Step]], int]
    """How many changes there are."""


THRESHOLD = """
timeline discrete.
input temp(device, value) delay 1.
hot(X) :- temp(X, V), V > 70.
malf(X)@T :- hot(X)@T, hot(X)@T+1, hot(X)@T+2.
query malf(X).
"""
WITHIN = """
timeline discrete.
input a(x).
input b(x).
q(X) :- a(X), eventually[1,600] b(X).
query q(X).
"""
UNPAID = """
timeline discrete.
input order(x).
input paid(x).
unpaid(X) :- order(X), always[0,30] not paid(X).
query unpaid(X).
"""


def readings() -> list[Step]:
    """A reading of each device at each time, two thirds of them above the threshold."""
    dice = np.random.default_rng(1)
    names = np.array([f"wt{index}" for index in range(KEYS)])
    return [
        {"temp": {"device": names, "value": np.where(dice.random(KEYS) < 0.67, 75, 65), "time": np.full(KEYS, now)}}
        for now in range(STEPS)
    ]


def pairs(first: str, second: str) -> Callable[[], list[Step]]:
    """Facts of two kinds, each about another twentieth of all keys at each time."""

    def make() -> list[Step]:
        dice = np.random.default_rng(1)
        names = np.array([f"k{index}" for index in range(KEYS)])
        some = KEYS // 20
        stream = []
        for now in range(STEPS):
            order = dice.permutation(KEYS)
            when = np.full(some, now)
            stream.append(
                {
                    first: {"x": names[order[:some]], "time": when},
                    second: {"x": names[order[some : 2 * some]], "time": when},
                }
            )
        return stream

    return make


def three_in_a_row(stream: list[Step]) -> int:
    """Three hot readings in a row, by device and first time as bits; a reading may come one tick late."""
    matches: dict[tuple[str, int], int] = {}
    due: dict[int, list[tuple[str, int]]] = {}
    chance = [1 + (2 if bits & 3 == 3 else 1 if bits & 1 else 0) for bits in range(8)]
    changes = 0
    for now, step in enumerate(stream):
        columns = step["temp"]
        told: list[Change] = []
        changed: dict[tuple[str, int], int] = {}
        for device, value, time in zip(columns["device"], columns["value"], columns["time"], strict=True):
            if value <= 70:
                continue
            for bit, first in ((1, time), (2, time - 1), (4, time - 2)):
                key = (device, first)
                bits = matches.get(key)
                if bits is None:
                    if first < 0 or (bit > 1 and first + 1 < now):
                        continue
                    bits = 0
                if not bits & bit:
                    matches[key] = changed[key] = bits | bit
        for key, bits in changed.items():
            until = key[1] + chance[bits]
            if bits == 7:
                told.append(("confirmed", *key, ()))
                due.setdefault(until + 1, []).append(key)
            elif until > now:
                told.append(("possible", *key, tuple(key[1] + place for place in range(3) if not bits >> place & 1)))
                due.setdefault(until, []).append(key)
            elif bits & (bits - 1) == 0:
                del matches[key]
        for key in due.pop(now, ()):
            bits = matches.get(key, 7)
            if bits == 7:
                matches.pop(key, None)
            elif key[1] + chance[bits] <= now:
                del matches[key]
                told.append(("refuted", *key, ()))
        changes += len(told)
    return changes


def within(stream: list[Step]) -> int:
    """Each `a` waits for a `b` of its key, for 600 ticks."""
    waiting: dict[str, list[int]] = {}
    due: dict[int, list[str]] = {}
    changes = 0
    for now, step in enumerate(stream):
        told: list[Change] = []
        for key in step["b"]["x"]:
            for first in waiting.pop(key, ()):
                told.append(("confirmed", key, first, ()))
        for key in step["a"]["x"]:
            waiting.setdefault(key, []).append(now)
            due.setdefault(now + 600, []).append(key)
            told.append(("possible", key, now, (("b", key, now + 1, now + 600),)))
        for key in due.pop(now, ()):
            if key in waiting and waiting[key][0] == now - 600:
                told.append(("refuted", key, waiting[key].pop(0), ()))
        changes += len(told)
    return changes


def unpaid(stream: list[Step]) -> int:
    """Each order waits for 30 ticks in which nothing is paid."""
    waiting: dict[str, list[int]] = {}
    due: dict[int, list[str]] = {}
    changes = 0
    for now, step in enumerate(stream):
        told: list[Change] = []
        paid = set(step["paid"]["x"])
        for key in paid:
            for first in waiting.pop(key, ()):
                told.append(("refuted", key, first, ()))
        for key in step["order"]["x"]:
            waiting.setdefault(key, []).append(now)
            due.setdefault(now + 30, []).append(key)
            told.append(("possible", key, now, (("not paid", key, now + 1, now + 30),)))
        for key in due.pop(now, ()):
            if key in waiting and waiting[key][0] == now - 30:
                told.append(("confirmed", key, waiting[key].pop(0), ()))
        changes += len(told)
    return changes


CLASSES = (
    Class("turbines with a threshold", THRESHOLD, readings, three_in_a_row),
    Class("within 600 ticks", WITHIN, pairs("a", "b"), within),
    Class("within 600 ticks, dense", WITHIN.replace("discrete", "dense"), pairs("a", "b"), within),
    Class("unpaid orders", UNPAID, pairs("order", "paid"), unpaid),
)


def ours(program: str, stream: list[Step]) -> tuple[int, float]:
    """How many changes there are, and how long it takes to find them, once the program's courses are known."""
    tables = [{name: pyarrow.table(columns) for name, columns in step.items()} for step in stream]

    def run(reasoner: presage.Reasoner, first: int) -> int:
        return sum(len(reasoner.push(step, first + now)) for now, step in enumerate(tables))

    reasoner = presage.Reasoner(presage.parse(program), emit="changes")
    run(reasoner, 0)
    later = 2_000  # when nothing of the first run is open any more
    reasoner.push([], later - 1)
    moved = [
        {
            name: table.set_column(
                table.schema.get_field_index("time"), "time", pyarrow.array(np.asarray(table["time"]) + later)
            )
            for name, table in step.items()
        }
        for step in tables
    ]
    tables = moved
    return timed(lambda: run(reasoner, later))


def as_lists(stream: list[Step]) -> list[Step]:
    return [
        {name: {key: column.tolist() for key, column in columns.items()} for name, columns in step.items()}
        for step in stream
    ]


def measure() -> Iterator[Row]:
    for each in CLASSES:
        stream = each.stream()
        facts = sum(len(columns["time"]) for step in stream for columns in step.values())
        found, seconds = ours(each.program, stream)
        lists = as_lists(stream)
        want, by_hand = timed(partial(each.by_hand, lists))
        yield Row(
            f"possible answers: {each.name}, {KEYS} keys",
            f"{facts / seconds:,.0f} facts/s",
            f"by hand {facts / by_hand:,.0f} facts/s",
            by_hand / seconds,
            "the same changes" if found == want else f"{found} changes, by hand {want}",
        )
