"""Count and sum per key within a window, beside deques and dicts by hand and DuckDB that looks at the window anew.

All three say at each step what every key that is in the window is worth; where there is a threshold, which keys have
enough. A wide window beside a narrow one shows what a fact costs, however much is in the window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pyarrow

import presage
from bench.common import Row, missing, peer, timed

KEYS, FACTS, PER_STEP, BACK = 1_000, 60_000, 60, 600
WIDTHS = (60, 60_000)
ENOUGH = "input e(k, v: int).\nq(K) :- count {{ V, T : window({back}) e(K, V)@T }} >= 5."
SUMS = (
    "input e(k, v: int).\nq(K, N, S) :- N = count {{ V, T : window({back}) e(K, V)@T }}, "
    "S = sum {{ V, T : window({back}) e(K, V)@T }}."
)

Step = tuple[list[str], list[int]]


def make_stream(facts: int, per_step: int, keys: int) -> list[Step]:
    """At each step some keys, each with a value of its own."""
    chance = np.random.default_rng(1)
    steps = []
    for _ in range(facts // per_step):
        names = [f"k{key}" for key in chance.integers(0, keys, per_step)]
        steps.append((names, list(range(per_step))))
    return steps


def as_tables(stream: list[Step]) -> list[pyarrow.Table]:
    return [
        pyarrow.table({"k": names, "v": values, "time": [now] * len(names)})
        for now, (names, values) in enumerate(stream)
    ]


def by_engine(rules: str, tables: list[pyarrow.Table]) -> int:
    """How many answers at time points there are."""
    reasoner = presage.Reasoner(presage.parse(rules), emit="confirmed")
    return sum(len(reasoner.push({"e": table}, now=now)) for now, table in enumerate(tables))


def sums_by_hand(stream: list[Step], back: int) -> int:
    window: deque[tuple[int, str, int]] = deque()
    counts: dict[str, int] = {}
    totals: dict[str, int] = {}
    told = 0
    for now, (names, values) in enumerate(stream):
        while window and window[0][0] < now - back:
            _, name, value = window.popleft()
            counts[name] -= 1
            totals[name] -= value
            if not counts[name]:
                del counts[name], totals[name]
        for name, value in zip(names, values, strict=True):
            window.append((now, name, value))
            counts[name] = counts.get(name, 0) + 1
            totals[name] = totals.get(name, 0) + value
        told += len([(name, count, totals[name]) for name, count in counts.items()])
    return told


def sums_by_duckdb(stream: list[Step], back: int) -> int:
    duckdb = peer("duckdb")
    told = 0
    with duckdb.connect() as database:
        database.execute("create table e(k varchar, v bigint, t bigint)")
        for now, table in enumerate(as_tables(stream)):
            database.register("new", table)
            database.execute("insert into e select k, v, time from new")
            database.execute("delete from e where t < ?", [now - back])
            told += len(database.execute("select k, count(*), sum(v) from e group by k").fetchall())
    return told


def measure() -> Iterator[Row]:
    stream = make_stream(FACTS, PER_STEP, KEYS)
    tables = as_tables(stream)
    by_engine(SUMS.format(back=BACK), tables[:5])  # what compiles, compiles here
    work = f"count and sum per key, {KEYS:,} keys, window({BACK}), {FACTS:,} facts"
    told, ours = timed(lambda: by_engine(SUMS.format(back=BACK), tables))
    other, seconds = timed(lambda: sums_by_hand(stream, BACK))
    assert told == other, (told, other)
    yield Row(work, _rate(FACTS, ours), f"deques and dicts by hand {_rate(FACTS, seconds)}", seconds / ours)
    if peer("duckdb") is None:
        yield missing(work, _rate(FACTS, ours), "DuckDB")
    else:
        some = stream[: len(stream) // 10]
        again, ours = timed(lambda: by_engine(SUMS.format(back=BACK), tables[: len(some)]))
        other, seconds = timed(lambda: sums_by_duckdb(some, BACK))
        assert again == other, (again, other)
        facts = len(some) * PER_STEP
        shown = f"DuckDB {_rate(facts, seconds)}"
        yield Row(f"the same, {facts:,} facts", _rate(facts, ours), shown, seconds / ours, "anew at each step")
    narrow, wide = (timed(lambda back=back: by_engine(ENOUGH.format(back=back), tables))[1] for back in WIDTHS)
    work = f"count >= 5 per key, window({WIDTHS[1]:,}) beside window({WIDTHS[0]})"
    yield Row(work, _rate(FACTS, wide), _rate(FACTS, narrow), narrow / wide, "1 is as fast")


def _rate(facts: int, seconds: float) -> str:
    return f"{facts / seconds:,.0f} facts/s"
