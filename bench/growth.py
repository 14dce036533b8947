"""What hypothetical answers cost as more of everything comes: facts of one key, open answers, length of ranges.

What is told stays the same where facts of a key or ranges grow, so times should too; of answers that a step does not
concern it should not matter how many there are. What is learned about a program is learned before anything is timed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow

import presage
from bench.common import ROOT, Row, resident_bytes, timed

HOT = """
timeline discrete.
input p(x, v).
q(X)@T :- p(X, A)@T, p(X, B)@U, p(X, C)@V, T < U, U < V, V <= T + 5.
query q(X).
"""
RANGE = """
timeline {timeline}.
input a(x).
input b(x).
q(X) :- a(X), {formula}.
query q(X).
"""
FORMULAS = {"a range": "eventually[1,{span}] b(X)", "a stretch of absence": "always[0,{span}] not b(X)"}
TICKS, HOTTEST = 30, 20
SPANS = (10, 600, 604_800)
MANY, FEW, CONCERNED = 1_000_000, 1_000, 1_000
KEYS, STEPS = 20_000, 9


def hot_keys(facts: int) -> tuple[int, float]:
    """Changes and seconds with so many facts of one key in each tick."""
    reasoner = presage.Reasoner(presage.parse(HOT))
    steps = [[("p", ("x", f"v{each}"), now) for each in range(facts)] for now in range(TICKS)]
    return timed(lambda: sum(len(reasoner.push(given, now)) for now, given in enumerate(steps)))


def program(formula: str, span: int, timeline: str = "discrete") -> str:
    return RANGE.format(timeline=timeline, formula=FORMULAS[formula].format(span=span))


def table(mark: str, size: int, now: int) -> Any:
    return pyarrow.table({"x": [f"{mark}{index}" for index in range(size)], "time": np.full(size, now)})


def with_range(formula: str, span: int, timeline: str) -> tuple[int, float]:
    """Changes and seconds; half of the answers are decided five ticks later, whatever the range."""

    def run() -> tuple[int, float]:
        reasoner = presage.Reasoner(presage.parse(program(formula, span, timeline)))
        steps = [{"a": table(f"k{now}_", KEYS, now)} for now in range(STEPS)]
        for now in range(5, STEPS):
            steps[now]["b"] = table(f"k{now - 5}_", KEYS // 2, now)
        return timed(lambda: sum(len(reasoner.push(given, now)) for now, given in enumerate(steps)))

    run()
    return run()


def step_among(open_answers: int) -> float:
    """Seconds for a step while so many answers are open that it does not concern."""
    reasoner = presage.Reasoner(presage.parse(program("a range", MANY)))
    reasoner.push({"a": table("many", open_answers, 0)}, 0)

    def steps(first: int) -> float:
        given = [table(f"few{now}_", CONCERNED, now) for now in range(first, first + STEPS)]
        return timed(lambda: [reasoner.push({"a": each}, now) for now, each in enumerate(given, first)])[1] / STEPS

    steps(1)
    return steps(1 + STEPS)


def bytes_of_an_answer(formula: str) -> float:
    """How much memory an open answer takes, constants not counted: they are there before it begins."""
    reasoner = presage.Reasoner(presage.parse(program(formula, MANY)))
    reasoner.push({"a": table("k", MANY, 0)}, 0)
    before = resident_bytes()
    for now in (1, 2):
        reasoner.push({"a": table("k", MANY, now)}, now)
    return (resident_bytes() - before) / (2 * MANY)


def in_process(formula: str) -> float:
    """The same in a process of its own, since memory once used is seldom given back."""
    command = [sys.executable, "-m", "bench.growth", formula]
    found = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    return float(json.loads(found))


def measure() -> Iterator[Row]:
    hot_keys(1)
    one, few = hot_keys(1)
    all_of_them, many = hot_keys(HOTTEST)
    assert one == all_of_them, (one, all_of_them)
    yield Row(
        f"{HOTTEST} facts of one key in each tick", f"{many * 1e3:.0f} ms", f"one fact {few * 1e3:.0f} ms", many / few,
        f"{one} changes either way",
    )  # fmt: skip
    for formula in FORMULAS:
        for timeline in ("discrete", "dense"):
            found = [with_range(formula, span, timeline) for span in SPANS]
            assert len({changes for changes, _ in found}) == 1, found
            seconds = [each for _, each in found]
            yield Row(
                f"{formula} of {SPANS[-1]:,} ticks, {timeline} time",
                f"{seconds[-1]:.2f} s",
                f"of {SPANS[0]} ticks {seconds[0]:.2f} s",
                seconds[-1] / seconds[0],
                f"{found[0][0]:,} changes either way",
            )
    step_among(FEW)
    among_many, among_few = step_among(MANY), step_among(FEW)
    yield Row(
        f"a step among {MANY:,} answers that time leaves open", f"{among_many * 1e3:.2f} ms",
        f"among {FEW:,} {among_few * 1e3:.2f} ms", among_many / among_few,
        f"{CONCERNED:,} facts that do not concern them",
    )  # fmt: skip
    for formula in FORMULAS:
        yield Row(
            f"memory of an open answer: {formula}", f"{in_process(formula):.0f} bytes", "", None, f"{MANY:,} keys"
        )


if __name__ == "__main__":
    print(json.dumps(bytes_of_an_answer(sys.argv[1])))
