"""ShortStop of [MTL] section 7.2 against MeTeoR: the same facts, the same answers, in process and from a cold start.

The stream of the paper (80,124 facts over 200 time points) is read from a directory if one is given; otherwise one of
the same shape is made.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow

import presage
from bench import meteor
from bench.common import ROOT, Row, best_of, missing, subprocess_seconds, timed
from bench.meteor import spans_of_answers
from presage.answers import Answers

PROGRAM = ROOT / "bench" / "shortstop.psg"
RULES = [
    "Moving(X):-NotPos(X)",
    "Moving(X):-NotOnMap(X)",
    "ShortStop(X):-Moving(X),Diamondminus[1,1]Pos(X),Diamondminus[2,2]Moving(X)",
    "ShortStop(X):-Moving(X),Diamondminus[1,1]Pos(X),Diamondminus[2,2]Pos(X),Diamondminus[3,3]Moving(X)",
    "ShortStop(X):-Moving(X),Diamondminus[1,1]Pos(X),Diamondminus[2,2]Pos(X),Diamondminus[3,3]Pos(X),"
    "Diamondminus[4,4]Moving(X)",
    "ShortStop(X):-Moving(X),Diamondminus[1,1]Pos(X),Diamondminus[2,2]Pos(X),Diamondminus[3,3]Pos(X),"
    "Diamondminus[4,4]Pos(X),Diamondminus[5,5]Moving(X)",
]
RUNS = 2
HEADINGS = ("NorthHeading", "EastHeading", "SouthHeading", "WestHeading")
Fact = tuple[str, tuple[str, ...], int]


def read_stream(data: Path | None) -> list[Fact]:
    path = data / "S2.jsonl.gz" if data else None
    if path is None or not path.exists():
        return list(make_stream())
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    return [(entry["pred"], tuple(entry["args"]), entry["time"]) for entry in entries]


def make_stream() -> Iterator[Fact]:
    """A jam that builds up: ever more vehicles, each with a speed, a heading and an acceleration at each time point."""
    chance = random.Random(1)
    standing: dict[str, bool] = {}
    for time in range(1, 201):
        for vehicle in (f"veh{number}" for number in range(int(time * 1.33))):
            standing[vehicle] = chance.random() < (0.6 if standing.get(vehicle) else 0.25)
            off_the_map = chance.random() < 1 / 3
            yield "NotOnMap" if off_the_map else "Pos" if standing[vehicle] else "NotPos", (vehicle,), time
            yield chance.choice(HEADINGS), (vehicle,), time
            yield chance.choice(("Acceleration", "SlowDown")), (vehicle,), time


def in_steps(stream: list[Fact]) -> dict[int, list[Any]]:
    steps: dict[int, list[Any]] = {}
    for fact in stream:
        steps.setdefault(fact[2], []).append(fact)
    return steps


def as_tables(steps: dict[int, list[Any]]) -> dict[int, dict[str, pyarrow.Table]]:
    """The same steps as Arrow tables, one for each predicate."""
    tables: dict[int, dict[str, pyarrow.Table]] = {}
    for now, facts in steps.items():
        vehicles: dict[str, list[str]] = {}
        for name, (vehicle,), _ in facts:
            vehicles.setdefault(name, []).append(vehicle)
        tables[now] = {
            name: pyarrow.table({"vehicle": each, "time": [now] * len(each)}) for name, each in vehicles.items()
        }
    return tables


def by_push(steps: Mapping[int, Any]) -> list[Answers]:
    reasoner = presage.Reasoner(presage.load(PROGRAM))
    return [reasoner.push(steps[now], now) for now in sorted(steps)]


def measure(data: Path | None) -> Iterator[Row]:
    stream = read_stream(data)
    tuples = in_steps(stream)
    tables = as_tables(tuples)
    by_push(tuples)
    answers, from_tuples = best_of(RUNS, lambda: by_push(tuples))
    same, from_tables = best_of(RUNS, lambda: by_push(tables))
    ours, making = timed(lambda: spans_of_answers(answers))
    assert ours == spans_of_answers(same)
    work = f"ShortStop, {len(stream):,} facts, in process"
    if not meteor.is_installed():
        yield missing(work, _speed(stream, from_tuples), "meteor-reasoner")
        return
    lines = [f"{name}({','.join(arguments)})@{time}" for name, arguments, time in stream]
    theirs, their_time = meteor.materialise(lines, RULES, "ShortStop", RUNS)
    assert ours == theirs, "different answers"
    count = sum(len(times) for times in ours.values())
    for kind, our_time in (("tuples", from_tuples), ("Arrow tables", from_tables)):
        yield Row(
            work,
            _speed(stream, our_time),
            f"MeTeoR, batch {_speed(stream, their_time)}",
            their_time / our_time,
            f"{count:,} answers, equal; ours in {len(tuples)} steps from {kind}, theirs at once and without loading, "
            f"ours without making objects of the answers ({making:.2f} s)",
        )
    yield from _cold(stream, lines)


def _speed(stream: list[Fact], seconds: float) -> str:
    return f"{seconds:.2f} s ({len(stream) / seconds:,.0f} facts/s)"


def _cold(stream: list[Fact], lines: list[str]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        facts, theirs, rules = (Path(folder) / name for name in ("facts.jsonl", "facts.txt", "rules.txt"))
        with facts.open("w", encoding="utf-8") as out:
            for name, arguments, time in stream:
                out.write(json.dumps({"pred": name, "args": arguments, "time": time}) + "\n")
        theirs.write_text("\n".join(lines), encoding="utf-8")
        rules.write_text("\n".join(RULES), encoding="utf-8")
        run = [sys.executable, "-m", "presage", "run", "--emit", "confirmed", str(PROGRAM), "--facts", str(facts)]
        their_run = [sys.executable, "-m", "bench.meteor", str(theirs), str(rules), "ShortStop"]
        our_time = min(subprocess_seconds(run) for _ in range(RUNS))
        their_time = min(subprocess_seconds(their_run) for _ in range(RUNS))
    yield Row(
        f"ShortStop, {len(stream):,} facts, cold start",
        f"{our_time:.2f} s",
        f"MeTeoR {their_time:.2f} s",
        their_time / our_time,
        "both read a file of facts and print the answers",
    )
