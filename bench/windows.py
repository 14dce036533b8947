"""Windows: three rules over a window of ten points beside sets by hand and clingo, what a wider window costs, and rows.

clingo gets the rules with the window's facts written out, and is grounded anew at each point, as engines do that pass
snapshots on. The loop by hand keeps the sets of the window's points.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pyarrow

import presage
from bench.common import Row, missing, peer, timed

BACK = 10
RULES = f"""
timeline discrete.
input a(x).
b(X) :- window({BACK}) some a(X).
c(X) :- window({BACK}) all a(X).
d(X) :- b(X), not c(X).
query d(X).
"""
GROUND = """
b(X) :- a(X, _).
missing(X) :- b(X), t(T), not a(X, T).
c(X) :- b(X), not missing(X).
d(X) :- b(X), not c(X).
"""
ATOMS, POINTS = 10_000, 40
WIDTHS, NARROW, LONG = (1, 20, 80, 10_000), 800, 400
DEVICES, READINGS, ROWS = 100_000, 50_000, 1000
RISES = """
timeline discrete.
input temp(device, value: int).
rise(D) :- temp(D, V), window(rows 2 by temp(D, _)) some temp(D, W), V > W + 60.
"""
RECENT = f"""
timeline discrete.
input temp(device, value: int).
again(D) :- temp(D, 0), window(rows {ROWS}) some temp(D, 1).
"""

Points = list[list[str]]


def make_stream(atoms: int, points: int, of: int) -> Points:
    """At each point so many atoms out of `of`; a tenth of them are there at every point."""
    chance = np.random.default_rng(1)
    names = np.array([f"x{index}" for index in range(of)])
    steady = names[: atoms // 10]
    others = names[atoms // 10 :]
    return [
        [*steady.tolist(), *chance.choice(others, atoms - len(steady), replace=False).tolist()] for _ in range(points)
    ]


def as_tables(stream: Points) -> list[pyarrow.Table]:
    return [pyarrow.table({"x": names, "time": np.full(len(names), now)}) for now, names in enumerate(stream)]


def by_push(text: str, tables: list[pyarrow.Table]) -> list[int]:
    """How many facts are confirmed at each point."""
    reasoner = presage.Reasoner(presage.parse(text), emit="confirmed")
    return [len(reasoner.push({"a": table}, now)) for now, table in enumerate(tables)]


def by_sets(stream: Points) -> list[int]:
    window: deque[set[str]] = deque(maxlen=BACK + 1)
    found = []
    for names in stream:
        window.append(set(names))
        b = set().union(*window)
        c = window[0].intersection(*window)
        found.append(len(b - c))
    return found


def by_clingo(clingo: object, stream: Points) -> list[int]:
    window: deque[list[str]] = deque(maxlen=BACK + 1)
    found = []
    for now, names in enumerate(stream):
        window.append(names)
        first = now - len(window) + 1
        facts = "".join(f"a({name},{first + index}). " for index, each in enumerate(window) for name in each)
        control = clingo.Control(["--warn=none"])  # type: ignore[attr-defined]
        times = f"t({first}..{now}). "
        control.add("base", [], facts + times + GROUND)
        control.ground([("base", [])])
        with control.solve(yield_=True) as models:
            found.append(sum(1 for model in models for atom in model.symbols(atoms=True) if atom.name == "d"))
    return found


def wide(width: int) -> str:
    return f"""
timeline discrete.
input a(x).
some_time(X) :- window({width}) some a(X).
all_time(X) :- window({width}) all a(X).
both(X) :- some_time(X), all_time(X).
query both(X).
"""


def measure() -> Iterator[Row]:
    stream = make_stream(ATOMS, POINTS, 2 * ATOMS)
    tables = as_tables(stream)
    by_push(RULES, tables[:3])
    ours, our_time = timed(lambda: by_push(RULES, tables))
    theirs, their_time = timed(lambda: by_sets(stream))
    assert ours == theirs, "different answers"
    work = f"three rules over a window of {BACK}, {ATOMS:,} atoms a point"
    shown = f"{our_time / POINTS * 1000:.1f} ms a point"
    yield Row(work, shown, f"sets by hand {their_time / POINTS * 1000:.1f} ms", their_time / our_time)
    clingo = peer("clingo")
    if clingo is None:
        yield missing(work, shown, "clingo")
    else:
        few = stream[: BACK + 3]
        theirs, their_time = timed(lambda: by_clingo(clingo, few))
        assert ours[: len(few)] == theirs, "different answers"
        per_point = their_time / len(few)
        yield Row(work, shown, f"clingo {per_point * 1000:.0f} ms", per_point / (our_time / POINTS), "grounded anew")
    tables = as_tables(make_stream(NARROW, LONG, 2 * NARROW))
    costs = {}
    for width in WIDTHS:
        by_push(wide(width), tables[:3])
        costs[width] = timed(lambda width=width: by_push(wide(width), tables))[1] / LONG  # type: ignore[misc]
    for width in WIDTHS[1:]:
        yield Row(
            f"some, all and a join over a window of {width:,}, {NARROW} atoms a point",
            f"{costs[width] * 1e6:.0f} µs a point",
            f"window of 1: {costs[1] * 1e6:.0f} µs",
            costs[width] / costs[1],
            "growth",
        )
    yield from measure_rows()


Readings = list[tuple[list[str], list[int]]]


def make_readings(points: int, readings: int) -> Readings:
    """At the first point a reading of each device, then readings of some of them."""
    chance = np.random.default_rng(1)
    names = np.array([f"d{index}" for index in range(DEVICES)])
    some = [names, *(chance.choice(names, readings, replace=False) for _ in range(points - 1))]
    return [(each.tolist(), chance.integers(0, 100, len(each)).tolist()) for each in some]


def rises_by_hand(stream: Readings) -> list[int]:
    """Devices whose reading is far above one of their last two, this one included."""
    last: dict[str, tuple[int, int]] = {}
    found = []
    for names, values in stream:
        rises = set()
        for name, value in zip(names, values, strict=True):
            before = last.get(name)
            last[name] = (value, value) if before is None else (before[1], value)
            if value > last[name][0] + 60:
                rises.add(name)
        found.append(len(rises))
    return found


def measure_rows() -> Iterator[Row]:
    stream = make_readings(10, READINGS)
    tables = [
        pyarrow.table({"device": names, "value": values, "time": np.full(len(names), now)})
        for now, (names, values) in enumerate(stream)
    ]

    def pushed(text: str) -> list[int]:
        reasoner = presage.Reasoner(presage.parse(text), emit="confirmed")
        return [len(reasoner.push({"temp": table}, now)) for now, table in enumerate(tables)]

    facts = sum(map(len, tables))
    pushed(RISES)
    ours, our_time = timed(lambda: pushed(RISES))
    theirs, their_time = timed(lambda: rises_by_hand(stream))
    assert ours == theirs, "different answers"
    work = f"the last two rows of each of {DEVICES:,} partitions, {READINGS:,} facts a point"
    yield Row(
        work, f"{facts / our_time:,.0f} facts/s", f"dicts by hand {facts / their_time:,.0f}", their_time / our_time
    )
    pushed(RECENT)
    _, our_time = timed(lambda: pushed(RECENT))
    work = f"a window of {ROWS:,} rows, {READINGS:,} facts a point, in canonical order"
    yield Row(work, f"{facts / our_time:,.0f} facts/s", "", None)
