"""What remembering costs: bytes for a fact, time for a step, and whether an endless stream needs endless memory.

Each figure comes from a process of its own, since memory once used is seldom given back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pyarrow

import presage
from bench.common import ROOT, Row, resident_bytes, timed

PROGRAM = """
timeline discrete.
input p(x, y).
input q(x, y).
near(X, Y) :- q(X, Y), once[0,1000000] p(X, Y).
query near(X, Y).
"""
ENDLESS = """
timeline discrete.
input p(x).
input q(x).
both(X) :- q(X), once[0,5] p(X).
query both(X).
"""
MANY, FEW, SIDE = 1_000_000, 1_000, 1_000
WARM, STEPS = 100, 500
NEW_AT_A_STEP = 200


Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


def pairs(numbers: Numbers, time: int) -> pyarrow.Table:
    """A table of pairs of constants, one for each number."""
    names = pyarrow.array([f"c{index}" for index in range(SIDE)])
    x, y = (pyarrow.DictionaryArray.from_arrays(part, names).cast(pyarrow.string()) for part in divmod(numbers, SIDE))
    return pyarrow.table({"x": x, "y": y, "time": np.full(len(numbers), time)})


def filled(numbers: Numbers) -> presage.Reasoner:
    """A reasoner that remembers a binary fact for each number, given in a hundred steps."""
    reasoner = presage.Reasoner(presage.parse(PROGRAM), emit="confirmed")
    for now, part in enumerate(np.array_split(numbers, 100)):
        reasoner.push({"p": pairs(part, now)}, now)
    return reasoner


def bytes_of_a_fact() -> dict[str, float]:
    filled(np.arange(FEW))
    before = resident_bytes()
    reasoner = filled(np.arange(MANY))
    used = resident_bytes() - before
    assert reasoner.remembered >= MANY
    return {"bytes": used / reasoner.remembered}


def bytes_of_a_dict() -> dict[str, float]:
    """The same facts as a programmer would keep them: a dictionary from pairs of names to times."""
    names = [f"c{index}" for index in range(SIDE)]
    before = resident_bytes()
    kept = {(names[index // SIDE], names[index % SIDE]): index // 10_000 for index in range(MANY)}
    return {"bytes": (resident_bytes() - before) / len(kept)}


def seconds_of_a_step(count: int) -> dict[str, float]:
    """The mean of many steps that each bring a hundred facts to remember and ask for a hundred."""
    chance = np.random.default_rng(1)
    # Few or many, the facts have the same thousand constants: only how many there are may make a difference.
    numbers = chance.permutation(SIDE * SIDE)[:count]
    reasoner = filled(numbers)
    tables = [
        {name: pairs(chance.choice(numbers, 100), now) for name in ("p", "q")} for now in range(100, 100 + WARM + STEPS)
    ]

    def steps(first: int, last: int) -> int:
        return sum(len(reasoner.push(tables[index], 100 + index)) for index in range(first, last))

    assert steps(0, WARM)
    _, seconds = timed(lambda: steps(WARM, WARM + STEPS))
    return {"seconds": seconds / STEPS}


def bytes_of_a_long_stream() -> dict[str, float]:
    """Memory after a tenth of a stream in which every constant is new, and at its end."""
    reasoner = presage.Reasoner(presage.parse(ENDLESS), emit="confirmed")
    early, answers, steps = 0, 0, 10_000
    for now in range(steps):
        names = pyarrow.array([f"v{now}-{index}" for index in range(NEW_AT_A_STEP)])
        table = pyarrow.table({"x": names, "time": np.full(NEW_AT_A_STEP, now)})
        answers += len(reasoner.push({"p": table, "q": table}, now))
        if now == steps // 10:
            early = resident_bytes()
    assert answers == steps * NEW_AT_A_STEP
    return {"early": early, "late": resident_bytes()}


TASKS = {
    "fact": bytes_of_a_fact,
    "dict": bytes_of_a_dict,
    "many": lambda: seconds_of_a_step(MANY),
    "few": lambda: seconds_of_a_step(FEW),
    "stream": bytes_of_a_long_stream,
}


def apart(task: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.memory", task]
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure() -> Iterator[Row]:
    ours, plain = apart("fact")["bytes"], apart("dict")["bytes"]
    yield Row(
        f"memory for a binary fact, of {MANY:,}", f"{ours:.0f} bytes", f"dict of tuples {plain:.0f} bytes", plain / ours
    )
    many, few = apart("many")["seconds"], apart("few")["seconds"]
    yield Row(
        "a step of 200 facts",
        f"{many * 1e6:.0f} µs with {MANY:,} remembered",
        f"{few * 1e6:.0f} µs with {FEW:,}",
        many / few,
        "growth: 1 is none",
    )
    stream = apart("stream")
    yield Row(
        "a stream of ever-new constants, 10 times longer",
        f"{stream['late'] / 2**20:.0f} MiB at the end",
        f"{stream['early'] / 2**20:.0f} MiB after a tenth",
        stream["late"] / stream["early"],
        "growth: 1 is none; 4,000,000 facts, 2,000,000 constants",
    )


if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]]()))
