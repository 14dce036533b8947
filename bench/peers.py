"""Event pattern engines of the Java world beside us, class by class, in one run.

Each side has all facts in memory before the clock starts, as it likes them best: we as Arrow tables with texts, they as
objects that share their texts. It takes the whole stream several times, each time later than anything that could still
matter, and the best of the last times counts, in seconds on the processor. They call a listener for each match; we make
a column for each field of a line, texts and all. Matches are counted by loops over the definition too: where somebody
counts others, the row says so and has no ratio.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute

import presage
from bench.common import ROOT, Row, timed
from bench.maven import fetch_into, project
from bench.peer_classes import CLASSES, FAR, Events, PatternClass
from presage.errors import PresageError

FETCHED = ROOT / "build" / "peers"
WARM, TIMES = 2, 3
"""How often a stream is taken before it is timed, and then."""
SETTLED = 700
"""So long after its last event all that a stream tells is settled."""
HEAP = "-Xmx4g"


@dataclass(frozen=True)
class Peer:
    name: str
    artifacts: tuple[str, ...]
    harness: str
    """The class under `bench/java` that runs it."""
    statement: Callable[[PatternClass], str]
    without: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


PEERS = (
    Peer(
        "Esper",
        tuple(f"com.espertech:esper-{part}:8.9.0" for part in ("common", "compiler", "runtime")),
        "EsperBench",
        lambda each: each.esper,
        # Of the collectors the one with which it took the fewest seconds.
        options=("-XX:+UseParallelGC",),
    ),
    Peer(
        "Siddhi",
        # Of what it asks for, three things lie nowhere but with its makers: one is there under its plain name, too, and
        # the others are for containers that this is none of.
        ("io.siddhi:siddhi-core:5.1.30", "com.lmax:disruptor:3.4.2"),
        "SiddhiBench",
        lambda each: each.siddhi,
        without=("org.wso2.orbit.com.lmax", "org.wso2.orbit.javax.xml.bind", "org.eclipse.osgi"),
        options=("-XX:+UseParallelGC",),
    ),
)


@dataclass(frozen=True)
class Taken:
    """What taking a stream came to, and cost."""

    matches: int
    seconds: float
    by_the_clock: float | None = None


def class_path(peer: Peer) -> str:
    """The compiled harness and all it needs; says in a sentence what is missing."""
    if shutil.which("javac") is None or shutil.which("java") is None:
        raise PresageError("it needs a Java with its compiler: apt-get install default-jdk")
    folder = FETCHED / peer.harness
    fetch_into(folder, project(peer.harness.lower(), peer.artifacts, peer.without))
    source, classes = ROOT / "bench" / "java" / f"{peer.harness}.java", folder / "classes"
    path = f"{classes}:{folder}/*"
    command = ["javac", "-proc:none", "-cp", path, "-sourcepath", str(source.parent), "-d", str(classes)]
    made = subprocess.run([*command, str(source)], capture_output=True, text=True)
    if made.returncode:
        raise PresageError(f"javac: {made.stderr.strip()[:500]}")
    return path


def by_peer(peer: Peer, path: str, each: PatternClass, events: Events, times: int = WARM + TIMES) -> list[Taken]:
    with tempfile.TemporaryDirectory() as made:
        data, statement = Path(made) / "events", Path(made) / "statement"
        columns = (events.kind, events.time, events.key, events.word, events.number)
        np.concatenate([[len(events)], *columns]).astype("<i4").tofile(data)
        statement.write_text(peer.statement(each))
        command = ["java", HEAP, *peer.options, "-cp", path, peer.harness, str(data), str(statement)]
        done = subprocess.run([*command, str(times), str(FAR), *each.inputs], capture_output=True, text=True)
    if done.returncode:
        raise PresageError(f"{peer.name}: {done.stderr.strip()[-500:]}")
    found = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    return [Taken(int(matches), float(seconds), float(clock)) for matches, seconds, clock in found]


def ours(
    each: PatternClass, events: Events, emit: str = "confirmed", pushed: bool = False, times: int = WARM + TIMES
) -> list[Taken]:
    """The stream as one table for each predicate, the answers as one too; or a push at each time, with its answers."""
    reasoner = presage.Reasoner(presage.parse(each.program), emit=emit)
    found = []
    for turn in range(times):
        tables = each.tables(replace(events, time=events.time.astype(np.int64) + turn * FAR))
        last = turn * FAR + int(events.time[-1]) + SETTLED
        if pushed:
            steps = [*_steps(tables), (last, {})]
            told, seconds = timed(partial(_by_pushes, reasoner, steps))
        else:
            told, seconds = timed(partial(_as_tables, reasoner, tables, last))
        found.append(Taken(sum(map(_matches, told)), seconds))
        del told
    return found


def _as_tables(reasoner: presage.Reasoner, tables: dict[str, Any], until: int) -> list[Any]:
    return [reasoner.run(tables, until).table]


def _by_pushes(reasoner: presage.Reasoner, steps: list[tuple[int, dict[str, Any]]]) -> list[Any]:
    return [reasoner.push(tables, now).table for now, tables in steps]


def _steps(tables: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """What arrives at each time."""
    first = min(table["time"][0].as_py() for table in tables.values())
    last = max(table["time"][-1].as_py() for table in tables.values())
    times = np.arange(first, last + 1)
    cuts = {name: np.searchsorted(table["time"], np.append(times, last + 1)) for name, table in tables.items()}
    return [
        (
            now,
            {name: table.slice(cuts[name][at], cuts[name][at + 1] - cuts[name][at]) for name, table in tables.items()},
        )
        for at, now in enumerate(times.tolist())
    ]


def _matches(table: Any) -> int:
    """How many time points are told as confirmed: those of a stretch may be told together."""
    confirmed = table.filter(pyarrow.compute.equal(table["status"], "confirmed"))
    stretches = confirmed.filter(pyarrow.compute.is_null(confirmed["time"]))
    joined = np.asarray(stretches["to"]) - np.asarray(stretches["from"])
    return len(confirmed) + int(joined.sum())


def best(taken: list[Taken]) -> Taken:
    """The best of the last times, with as many matches as each of them had."""
    last = taken[WARM:] or taken
    if len({each.matches for each in taken}) > 1:
        return Taken(-1, last[0].seconds)
    return min(last, key=lambda each: each.seconds)


def compared(work: str, events: int, want: int, one: Taken, other: Taken, name: str, note: str = "") -> Row:
    """A row of two that are to have found the same."""
    wrong = [
        f"{who} counted {'not always the same' if each.matches < 0 else f'{each.matches:,}'}"
        for who, each in (("we", one), (name, other))
        if each.matches != want
    ]
    ratio = None if wrong else other.seconds / one.seconds
    said = f"FAILED: {' and '.join(wrong)}, of {want:,} matches" if wrong else f"{want:,} matches each"
    shown = f"{name} {events / other.seconds:,.0f} facts/s"
    return Row(work, f"{events / one.seconds:,.0f} facts/s", shown, ratio, f"{said}{note}")


def measure() -> Iterator[Row]:
    paths: dict[str, str] = {}
    for peer in PEERS:
        try:
            paths[peer.name] = class_path(peer)
        except (PresageError, OSError) as why:
            yield Row("patterns beside peers", "", f"{peer.name} is not here", None, str(why))
    for each in CLASSES:
        events = each.stream()
        want = each.matches(events)
        plain = best(ours(each, events))
        for peer in PEERS:
            if peer.name not in paths or not peer.statement(each):
                continue
            try:
                other = best(by_peer(peer, paths[peer.name], each, events))
            except PresageError as why:
                yield Row(each.name, f"{len(events) / plain.seconds:,.0f} facts/s", peer.name, None, f"FAILED: {why}")
                continue
            note = f"; {peer.name} by the clock {len(events) / (other.by_the_clock or other.seconds):,.0f} facts/s"
            yield compared(each.name, len(events), want, plain, other, peer.name, note)
        steps = best(ours(each, events, pushed=True))
        yield compared(f"{each.name}, pushed", len(events), want, steps, plain, "as one table")
        if each.tells_more:
            more = best(ours(each, events, "changes"))
            yield compared(f"{each.name}, with possible answers", len(events), want, more, plain, "without")
