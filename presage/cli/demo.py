"""`presage demo`: turbines on a Spark of this machine, from readings to possible and certain failures on the screen."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from presage.cli import FINE, WRONG_INPUT
from presage.errors import PresageError

SUMMARY = "see turbines on a local Spark, in under a minute"
DESCRIPTION = """\
Makes readings of a wind farm, streams them through a program on a Spark of this machine, and shows which failures
may be coming, which are certain and which were false alarms. Needs PySpark: pip install 'presage-streams[spark]', and
where the machine has no Java, pip install 'presage-streams[java]'. The folder it leaves is a pipeline to play with."""
EXAMPLE = """\
example:
  presage demo
  presage demo --folder farm && presage pipeline --check farm/pipeline.toml"""

PROGRAM = """\
% Three high readings in a row mean that the turbine failed at the first of them. Readings may be a minute late.
timeline discrete.
tick 1m.
start 2026-01-01T00:00:00Z.
input temp(device, level) delay 1m.

flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.

query malf(X) bad.
"""
PIPELINE = """\
program = "turbines.psg"
checkpoint = "checkpoint"
trigger = "available-now"      # leave it out, and the pipeline waits for more files
shards = 2

[sources.temp]
format = "json"
path = "readings"
schema = { machine = "string", level = "string", ts = "timestamp" }
columns = { device = "machine" }
time = "ts"
per_batch = 1

[sinks.screen]
format = "console"

[sinks.archive]
format = "parquet"
path = "answers"

[spark]
master = "local[2]"
"""
TURBINES = 40
FILES = 6
MINUTES_IN_A_FILE = 5
RUNS = (1, 1, 2, 3, 1, 4)
"""How long readings stay high, one turbine after the other: short runs are false alarms."""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--folder", type=Path, metavar="F", help="where to put the pipeline (default: a new folder)")
    command.add_argument("--json", action="store_true", help="JSON lines on a terminal too (the default when piped)")


def run(options: argparse.Namespace) -> int:
    from presage.cli.pipeline import run_checked
    from presage.pipeline.checking import check_pipeline

    begin = time.monotonic()
    folder: Path = options.folder or Path(tempfile.mkdtemp(prefix="presage-demo-"))
    count = write_demo(folder)
    told = sys.stderr
    print(f"{count:,} readings of {TURBINES} turbines in {folder}; the program:\n", file=told)
    print("\n".join(f"    {line}" for line in PROGRAM.splitlines()), file=told)
    print("\nSpark starts, and takes them five minutes at a time:\n", file=told, flush=True)
    checked = check_pipeline(folder / "pipeline.toml", os.environ)
    if not checked.ok:
        print(checked.text(), file=told)
        return WRONG_INPUT
    status = run_checked(checked, as_json=options.json)
    print(f"\nDone in {time.monotonic() - begin:.0f} s. The answers are in {folder / 'answers'} too.", file=told)
    print(
        f"To play: change the program, remove checkpoint and answers, presage pipeline {folder}/pipeline.toml",
        file=told,
    )
    return FINE if status == FINE else status


def write_demo(folder: Path) -> int:
    """The program, the pipeline and its readings; gives the number of readings."""
    readings = folder / "readings"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise PresageError(f"{folder}: the folder is not empty; name a new one")
        readings.mkdir()
        (folder / "turbines.psg").write_text(PROGRAM, encoding="utf-8")
        (folder / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")
        count = 0
        for number in range(FILES):
            lines = list(_readings(number))
            count += len(lines)
            path = readings / f"{number:03}.json"
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            # Spark takes the oldest files first.
            moment = time.time() - FILES + number
            os.utime(path, (moment, moment))
    except OSError as found:
        raise PresageError(f"{folder}: cannot be written ({found.strerror or found})") from None
    return count


def _readings(number: int) -> Iterator[str]:
    """The readings of a file; one reading in a while stays high for a few minutes, and all have the same story."""
    chance = random.Random(7)
    starts = {chance.randrange(TURBINES): (2 + 4 * place, length) for place, length in enumerate(RUNS)}
    for minute in range(number * MINUTES_IN_A_FILE, (number + 1) * MINUTES_IN_A_FILE):
        for turbine in range(TURBINES):
            start, length = starts.get(turbine, (-1, 0))
            level = "high" if start <= minute < start + length else "low"
            ts = f"2026-01-01T00:{minute:02}:00Z"
            yield json.dumps({"machine": f"wt{turbine}", "level": level, "ts": ts})
