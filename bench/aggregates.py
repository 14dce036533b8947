"""Aggregates per key within a window, beside deques and dicts by hand and DuckDB that looks at the window anew.

Both sides tell what goes on once: a key's worth when it begins, and when it is over. Ours come as columns, those by
hand as tuples. DuckDB says at each step what every key that is in the window is worth, on a part of the stream. A wide
window beside a narrow one shows what a fact costs, however much is in the window.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow

import presage
from bench.common import Row, missing, peer, timed
from presage.kernels.compiling import compile_from_now_on

KEYS, FACTS, PER_STEP, BACK = 10_000, 1_000_000, 1_000, 600
SOME = 40
"""Steps of the stream that DuckDB is given."""
WIDTHS = (60, 60_000)
INPUT = "input e(k, v: int).\n"
FAILED = "timeline discrete.\ninput e(k).\n"
HYPOTHETICAL = {
    "count >= 5": FAILED + "q(K) :- count {{ T : window({back}) e(K)@T }} >= 5.",
    "one more, and count >= 5": FAILED + "q(K) :- e(K), count {{ T : window({back}) e(K)@T }} >= 5.",
    "count >= 5 with values": "timeline discrete.\n"
    + INPUT
    + "q(K) :- count {{ V, T : window({back}) e(K, V)@T }} >= 5.",
}
"""Where every fact is told of as possible, and each time at which there are enough has a line."""
ENOUGH = INPUT + "q(K) :- count {{ V, T : window({back}) e(K, V)@T }} >= 5."
SUMS = (
    INPUT + "q(K, N, S) :- N = count {{ V, T : window({back}) e(K, V)@T }}, "
    "S = sum {{ V, T : window({back}) e(K, V)@T }}."
)
GREATEST = INPUT + "q(K, M) :- M = max {{ V, T : window({back}) e(K, V)@T }}."
IDIOMS = {
    "the value before": "q(K, V, W) :- e(K, V), W = last {{ U, T : window({back}) e(K, U)@T, T < now }}.",
    "increase of a counter with resets": (
        "before(K, V, W) :- e(K, V), W = last {{ U, T : window({back}) e(K, U)@T, T < now }}.\n"
        "up(K, D) :- before(K, V, W), D = case(V >= W, V - W, V).\n"
        "q(K, S) :- S = sum {{ D, T : window({back}) up(K, D)@T }}."
    ),
    "k distinct values": "q(K) :- count {{ V : window({back}) e(K, V)@T }} >= 3.",
    "the busiest of all": (
        "n(K, N) :- N = count {{ V, T : window({back}) e(K, V)@T }}.\nmost(M) :- M = max {{ N, K : n(K, N) }}.\n"
        "q(K, M) :- n(K, M), most(M)."
    ),
}
"""What people write for trends, as *Counting and comparing* shows it."""


@dataclass(frozen=True, slots=True)
class KeyedStream:
    """At each step some keys, each with a value."""

    names: list[str]
    values: list[int]
    per_step: int

    @property
    def table(self) -> Any:
        times = np.arange(len(self.names)) // self.per_step
        return pyarrow.table({"k": self.names, "v": self.values, "time": times})

    def steps(self) -> Iterator[tuple[int, list[str], list[int]]]:
        for now, begin in enumerate(range(0, len(self.names), self.per_step)):
            end = begin + self.per_step
            yield now, self.names[begin:end], self.values[begin:end]

    def first(self, steps: int) -> KeyedStream:
        end = steps * self.per_step
        return KeyedStream(self.names[:end], self.values[:end], self.per_step)


def make_stream(facts: int, per_step: int, keys: int) -> KeyedStream:
    chance = np.random.default_rng(1)
    names = [f"k{key}" for key in chance.integers(0, keys, facts).tolist()]
    return KeyedStream(names, chance.integers(0, 1_000_000, facts).tolist(), per_step)


def by_engine(rules: str, table: Any, emit: str | None = "states") -> int:
    """How many lines there are."""
    return len(presage.Reasoner(presage.parse(rules), emit=emit).run({"e": table}))


Told = list[tuple[Any, ...]]


def sums_by_hand(stream: KeyedStream, back: int) -> Told:
    window: deque[tuple[int, str, int]] = deque()
    counts: dict[str, int] = {}
    totals: dict[str, int] = {}

    def step(now: int, names: list[str], values: list[int], touched: set[str]) -> None:
        while window and window[0][0] < now - back:
            _, name, value = window.popleft()
            counts[name] -= 1
            totals[name] -= value
            touched.add(name)
        for name, value in zip(names, values, strict=True):
            window.append((now, name, value))
            counts[name] = counts.get(name, 0) + 1
            totals[name] = totals.get(name, 0) + value
            touched.add(name)

    return _told(stream, step, lambda name: (counts[name], totals[name]) if counts[name] else None)


def enough_by_hand(stream: KeyedStream, back: int) -> Told:
    window: deque[tuple[int, str]] = deque()
    counts: dict[str, int] = {}

    def step(now: int, names: list[str], values: list[int], touched: set[str]) -> None:
        while window and window[0][0] < now - back:
            _, name = window.popleft()
            counts[name] -= 1
            touched.add(name)
        for name in names:
            window.append((now, name))
            counts[name] = counts.get(name, 0) + 1
            touched.add(name)

    return _told(stream, step, lambda name: () if counts[name] >= 5 else None)


def greatest_by_hand(stream: KeyedStream, back: int) -> Told:
    """A falling queue for each key; keys whose first goes are found by a queue of all."""
    window: deque[tuple[int, str]] = deque()
    queues: dict[str, deque[tuple[int, int]]] = {}

    def step(now: int, names: list[str], values: list[int], touched: set[str]) -> None:
        while window and window[0][0] < now - back:
            touched.add(window.popleft()[1])
        for name, value in zip(names, values, strict=True):
            window.append((now, name))
            queue = queues.setdefault(name, deque())
            while queue and queue[-1][1] <= value:
                queue.pop()
            queue.append((now, value))
            touched.add(name)
        for name in touched:
            queue = queues[name]
            while queue and queue[0][0] < now - back:
                queue.popleft()

    return _told(stream, step, lambda name: (queues[name][0][1],) if queues[name] else None)


def _told(
    stream: KeyedStream,
    step: Callable[[int, list[str], list[int], set[str]], None],
    worth: Callable[[str], tuple[int, ...] | None],
) -> Told:
    """The changes of what keys are worth, as tuples."""
    told: Told = []
    going_on: dict[str, tuple[tuple[int, ...], int]] = {}
    for now, names, values in stream.steps():
        touched: set[str] = set()
        step(now, names, values, touched)
        for name in touched:
            new, old = worth(name), going_on.get(name)
            if old is not None:
                if new == old[0]:
                    continue
                told.append((now, "confirmed", name, old[0], old[1], now - 1))
                del going_on[name]
            if new is not None:
                going_on[name] = new, now
                told.append((now, "holds", name, new, now, None))
    return told


def sums_by_duckdb(stream: KeyedStream, back: int) -> int:
    """How many rows it gives, with the whole window before the first step."""
    duckdb = peer("duckdb")
    told = 0
    with duckdb.connect() as database:
        database.execute("create table e(k varchar, v bigint, t bigint)")
        for now, names, values in stream.steps():
            database.register("new", pyarrow.table({"k": names, "v": values}))
            database.execute("insert into e select k, v, ? from new", [now])
            database.execute("delete from e where t < ?", [now - back])
            told += len(database.execute("select k, count(*), sum(v) from e group by k").fetchall())
    return told


def measure(facts: int = FACTS) -> Iterator[Row]:
    compile_from_now_on()
    stream = make_stream(facts, PER_STEP, KEYS)
    table, warm = stream.table, stream.first(40).table
    for title, rules, by_hand in (
        ("count and sum", SUMS, sums_by_hand),
        ("count >= 5", ENOUGH, enough_by_hand),
        ("max", GREATEST, greatest_by_hand),
    ):
        text = rules.format(back=BACK)
        by_engine(text, warm)  # what compiles, compiles here
        told, ours = timed(lambda text=text: by_engine(text, table))  # type: ignore[misc]
        other, seconds = timed(lambda by_hand=by_hand: by_hand(stream, BACK))  # type: ignore[misc]
        assert told == len(other), (title, told, len(other))
        work = f"{title} per key, {KEYS:,} keys, window({BACK}), {facts:,} facts"
        shown = f"deques and dicts by hand {_rate(facts, seconds)}"
        yield Row(work, _rate(facts, ours), shown, seconds / ours, f"{told:,} lines each")
        del other
    some = stream.first(SOME)
    text = SUMS.format(back=BACK)
    _, ours = timed(lambda: by_engine(text, some.table))
    if peer("duckdb") is None:
        yield missing("count and sum per key", _rate(len(some.names), ours), "DuckDB")
    else:
        _, seconds = timed(lambda: sums_by_duckdb(some, BACK))
        shown = f"DuckDB {_rate(len(some.names), seconds)}"
        work = f"count and sum per key, the first {SOME} steps"
        yield Row(work, _rate(len(some.names), ours), shown, seconds / ours, "anew at each step, from an empty window")
    texts = [ENOUGH.format(back=back) for back in WIDTHS]
    narrow, wide = (timed(lambda text=text: by_engine(text, table))[1] for text in texts)  # type: ignore[misc]
    work = f"count >= 5 per key, window({WIDTHS[1]:,}) beside window({WIDTHS[0]})"
    yield Row(work, _rate(facts, wide), _rate(facts, narrow), narrow / wide, "1 is as fast")
    yield from with_possible_answers(stream)
    yield from idioms(stream.first(100))


def with_possible_answers(stream: KeyedStream) -> Iterator[Row]:
    """Possible answers cost more lines: what is compared is facts, in processor time. The first time, what can happen
    to a key is worked out; nothing of it comes from an earlier process here."""
    kept = os.environ.get("PRESAGE_LESSONS")
    os.environ["PRESAGE_LESSONS"] = "off"
    try:
        yield from _hypothetical_rows(stream)
    finally:
        if kept is None:
            del os.environ["PRESAGE_LESSONS"]
        else:
            os.environ["PRESAGE_LESSONS"] = kept


def _hypothetical_rows(stream: KeyedStream) -> Iterator[Row]:
    for title, rules in HYPOTHETICAL.items():
        text = rules.format(back=BACK)
        table = stream.table if "V" in rules else stream.table.drop_columns(["v"])
        by_engine(text, table.slice(0, 40_000))
        plain = timed(lambda text=text, table=table: by_engine(text, table))[1]  # type: ignore[misc]
        _, first = timed(lambda text=text, table=table: by_engine(text, table, None))  # type: ignore[misc]
        told, again = timed(lambda text=text, table=table: by_engine(text, table, None))  # type: ignore[misc]
        work = f"{title} per key with possible answers, {len(table):,} facts"
        shown = f"without {_rate(len(table), plain)}"
        yield Row(work, _rate(len(table), again), shown, plain / again, f"{told:,} lines")
        yield Row(f"{title}, the first time", _rate(len(table), first), shown, plain / first, "learning included")


def idioms(stream: KeyedStream) -> Iterator[Row]:
    table = stream.table
    _, plain = timed(lambda: by_engine(SUMS.format(back=BACK), table))
    for title, rules in IDIOMS.items():
        text = INPUT + rules.format(back=BACK) + "\nquery " + _last_head(rules) + "."
        by_engine(text, table.slice(0, 2_000))
        _, ours = timed(lambda text=text: by_engine(text, table))  # type: ignore[misc]
        shown = f"count and sum {_rate(len(table), plain)}"
        yield Row(f"{title}, {len(table):,} facts", _rate(len(table), ours), shown, plain / ours)


def _last_head(rules: str) -> str:
    return rules.splitlines()[-1].split(" :-")[0]


def _rate(facts: int, seconds: float) -> str:
    return f"{facts / seconds:,.0f} facts/s"
