"""ShortStop: the engine beside a hand-written loop over the same stream, of 100 to 100,000 vehicles.

The loop is what a good programmer would write for this one program: six sets of names, shifted at each step. Each of
the two is given the facts of a step as it takes them, and each time is the median of some runs, by turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from bench.common import Row, timed
from presage.checking import check_text
from presage.engine.build import make_engine

PROGRAM = (Path(__file__).parent / "shortstop.psg").read_text(encoding="utf-8")
SIZES = ((100, 300), (1_000, 200), (10_000, 60), (100_000, 12))
REPEATED = 5
Standing = list[npt.NDArray[np.bool_]]


def make_stream(vehicles: int, steps: int) -> Standing:
    """For each step which vehicles stand."""
    chance = np.random.default_rng(1)
    return [chance.random(vehicles) < 0.5 for _ in range(steps)]


def by_engine(vehicles: int, stream: Standing) -> tuple[int, float]:
    findings = check_text(PROGRAM).or_raise().findings
    assert findings is not None
    engine = make_engine(findings.subject)
    numbers = engine.symbols.number_all(f"v{index}" for index in range(vehicles))
    steps = []
    for now, standing in enumerate(stream):
        facts = {}
        for name, rows in (("Pos", numbers[standing]), ("NotPos", numbers[~standing])):
            cells = np.full(len(rows), engine.grid.cell(now), np.int64)
            facts[name] = (rows.reshape(-1, 1), cells, cells)
        steps.append(facts)

    def work() -> int:
        return sum(len(delta) for now, facts in enumerate(steps) for delta in engine.advance(now, facts).values())

    return timed(work)


def by_hand(vehicles: int, stream: Standing) -> tuple[int, float]:
    names = [f"v{index}" for index in range(vehicles)]
    steps = [
        ([names[index] for index in np.flatnonzero(standing)], [names[index] for index in np.flatnonzero(~standing)])
        for standing in stream
    ]

    def work() -> int:
        answers = 0
        stood: list[set[str]] = [set() for _ in range(6)]
        moved: list[set[str]] = [set() for _ in range(6)]
        for standing_now, moving_now in steps:
            stood = [set(standing_now), *stood[:5]]
            moved = [set(moving_now), *moved[:5]]
            for vehicle in moving_now:
                if vehicle in stood[1]:
                    for back in range(2, 6):
                        if vehicle in moved[back]:
                            answers += 1
                            break
                        if vehicle not in stood[back]:
                            break
        return answers

    return timed(work)


def measure() -> Iterator[Row]:
    for vehicles, steps in SIZES:
        stream = make_stream(vehicles, steps)
        by_engine(vehicles, stream)
        our_times, their_times = [], []
        for _ in range(REPEATED):
            ours, time = by_engine(vehicles, stream)
            our_times.append(time)
            theirs, time = by_hand(vehicles, stream)
            their_times.append(time)
            assert ours == theirs, (ours, theirs)
        our_time, their_time = median(our_times), median(their_times)
        facts = vehicles * steps
        yield Row(
            f"ShortStop, {vehicles:,} vehicles",
            f"{facts / our_time:,.0f} facts/s",
            f"by hand {facts / their_time:,.0f} facts/s",
            their_time / our_time,
            "ours: the engine alone, on numbered constants",
        )
