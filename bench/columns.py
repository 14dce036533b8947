"""Files and tables by the column: a run of the command beside the same pushes in process, few facts a step beside many.

Ratios of one run: the command's seconds, start-up not counted, by those of the pushes; its memory beyond that of an
empty run, which has loaded the compiler as well, by the file as Arrow; and the rate of few facts a step by that of
many.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

import presage
from bench.common import ROOT, Row, timed
from presage.kernels.compiling import compile_from_now_on

PROGRAM = ROOT / "presage/examples/turbines/turbines.psg"
DEVICES, STEPS = 20_000, 50
SPARSE, DENSE = 67, 5_000
FACTS = 500_000


def readings(devices: int, steps: int) -> Any:
    """A reading of each device at each time, most of them high."""
    names = np.array([f"wt{number}" for number in range(devices)])
    level = np.where(np.random.default_rng(1).random(devices * steps) < 0.7, "high", "low")
    times = np.repeat(np.arange(steps), devices)
    return pyarrow.table({"device": np.tile(names, steps), "level": level, "time": times})


def pushed(table: Any, emit: str | None, devices: int) -> tuple[int, float]:
    """How many answers pushes of one step each find, and in which time."""
    reasoner = presage.Reasoner(presage.load(PROGRAM), emit=emit)
    parts = [table.slice(begin, devices) for begin in range(0, len(table), devices)]
    return timed(lambda: sum(len(reasoner.push({"temp": part}, now)) for now, part in enumerate(parts)))


def run_at_once(table: Any, emit: str | None) -> tuple[int, float]:
    reasoner = presage.Reasoner(presage.load(PROGRAM), emit=emit)
    return timed(lambda: len(reasoner.run({"temp": table})))


# A child's greatest memory counts what its parent had when it was begun: so a small parent begins it.
BEGIN = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


def command(facts: Path, emit: str, out: Path) -> tuple[float, int]:
    """CPU seconds of a run of the command, and its greatest memory."""
    call = [sys.executable, "-m", "presage", "run", str(PROGRAM), "--facts", str(facts), "--emit", emit]
    begin = [sys.executable, "-S", "-c", BEGIN, *call, "--out", str(out)]
    # Little data waits for no compiler; what it takes to load is no part of what is measured.
    compiled = {**os.environ, "PRESAGE_KERNELS": "compiled"}
    told = subprocess.run(begin, cwd=ROOT, env=compiled, stdout=subprocess.PIPE, check=True, text=True).stdout
    ended, seconds, memory = json.loads(told)
    assert ended == 0
    return seconds, memory


def measure() -> Iterator[Row]:
    compile_from_now_on()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        table = readings(DEVICES, STEPS)
        facts, few, out = home / "temp.parquet", home / "few" / "temp.parquet", home / "out.jsonl"
        few.parent.mkdir()
        parquet.write_table(table, facts)
        # So much is read by the column, and hardly anything done.
        parquet.write_table(readings(2_000, 1), few)
        for emit in ("confirmed", "changes"):
            pushed(readings(10, 10), emit, 10)
            command(few, emit, out)
            empty, held = command(few, emit, out)
            seconds, memory = command(facts, emit, out)
            lines = sum(1 for _ in out.open("rb"))
            _, own = pushed(table, emit, DEVICES)
            taken = max(seconds - empty, 1e-9)
            yield Row(
                f"presage run --emit {emit}, {len(table):,} facts from Parquet",
                f"{taken:.2f} s, {lines / taken:,.0f} lines/s",
                f"pushes in process {own:.2f} s",
                taken / own,
                "seconds by seconds, start-up not counted",
            )
            yield Row(
                f"memory of that run, {emit}",
                f"{(memory - held) / 2**20:.0f} MiB beyond an empty one",
                f"the file as Arrow {table.nbytes / 2**20:.0f} MiB",
                (memory - held) / table.nbytes,
            )
        for emit in ("confirmed", "changes"):
            run_at_once(readings(SPARSE, 100), emit)
            rates = []
            for width in (SPARSE, DENSE):
                given = readings(width, FACTS // width)
                _, seconds = run_at_once(given, emit)
                rates.append(len(given) / seconds)
            yield Row(
                f"reasoner.run, {SPARSE} facts a step, {emit}",
                f"{rates[0]:,.0f} facts/s",
                f"{DENSE:,} a step {rates[1]:,.0f} facts/s",
                rates[0] / rates[1],
            )
