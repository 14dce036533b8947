"""Hypothetical answers: how fast facts are taken in, what open answers cost in memory and at a step.

Beside it a loop by hand over the same stream, which keeps the same partial matches and finds the same changes: what
a good programmer would write for this one program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow

import presage
from bench.common import ROOT, Row, timed

TURBINES = (ROOT / "presage/examples/turbines/turbines.psg").read_text(encoding="utf-8")
HOSPITAL = """
timeline discrete.
input gcm(patient).
input gbol(patient).
input bca(patient).
gvs(X) :- gcm(X), gbol(X).
st(X, us)@T+1 :- bca(X)@T+2.
st(X, us)@T+1 :- not gvs(X)@T, not st(X, us)@T.
st(X, ic)@T+1 :- not gvs(X)@T, st(X, us)@T.
risk(X)@T :- st(X, ic)@T+2.
query risk(X).
"""
"""[HA] Example 11: negation that only time breaks, with variables left open."""
DEVICES, STEPS = 100_000, 20
LATEST = 3
PATIENTS, DAYS = 10_000, 50
MANY, FEW, CONCERNED = 1_000_000, 1_000, 1_000

Step = tuple[list[str], list[str], list[int]]
"""Devices, levels and times of what arrives together."""


def turbines(delay: int) -> str:
    return TURBINES.replace("delay 1.", f"delay {delay}.")


def make_stream(devices: int, steps: int, delay: int) -> list[Step]:
    """A reading of each device at each time, most of them high; they arrive in any order within the delay."""
    chance = np.random.default_rng(1)
    names = np.array([f"wt{index}" for index in range(devices)])
    parts: list[list[tuple[Any, Any, Any]]] = [[] for _ in range(steps + delay)]
    for time in range(steps):
        level = np.where(chance.random(devices) < 0.7, "high", "low")
        late = chance.integers(0, delay + 1, devices)
        for wait in range(delay + 1):
            here = late == wait
            parts[time + wait].append((names[here], level[here], np.full(int(here.sum()), time)))
    stream = []
    for group in parts:
        device, level, times = (np.concatenate(each) for each in zip(*group, strict=True))
        order = chance.permutation(len(times)) if delay else np.arange(len(times))
        stream.append((device[order].tolist(), level[order].tolist(), times[order].tolist()))
    return stream


def by_columns(text: str, stream: list[Step]) -> tuple[int, float]:
    """How many changes there are, and how long it takes to find them."""
    tables = [pyarrow.table({"device": each[0], "level": each[1], "time": each[2]}) for each in stream]
    reasoner = presage.Reasoner(presage.parse(text))

    def work() -> int:
        return sum(len(reasoner.push({"temp": table}, now)) for now, table in enumerate(tables))

    return timed(work)


def by_hand(delay: int, stream: list[Step]) -> tuple[int, float]:
    """Three high readings in a row, kept by device and first time as bits, with buckets for the deadlines."""

    def work() -> int:
        matches: dict[tuple[str, int], int] = {}
        due: dict[int, list[tuple[str, int]]] = {}
        # By bits: how long after its first time a match has until a reading that is missing can come no more.
        chance = [delay + (2 if bits & 3 == 3 else 1 if bits & 1 else 0) for bits in range(8)]
        total = 0
        for now, (devices, levels, times) in enumerate(stream):
            changed: dict[tuple[str, int], int] = {}
            for device, level, time in zip(devices, levels, times, strict=True):
                if level != "high":
                    continue
                for bit, first in ((1, time), (2, time - 1), (4, time - 2)):
                    key = (device, first)
                    bits = matches.get(key)
                    if bits is None:
                        if first < 0 or (bit > 1 and first + delay < now):
                            continue
                        bits = 0
                    if not bits & bit:
                        matches[key] = changed[key] = bits | bit
            for key, bits in changed.items():
                until = key[1] + chance[bits]
                if bits == 7 or until > now:
                    total += 1
                    due.setdefault(until + (bits == 7), []).append(key)
                elif bits & (bits - 1) == 0:
                    del matches[key]
            for key in due.pop(now, ()):
                bits = matches.get(key, 7)
                if bits != 7 and key[1] + chance[bits] <= now:
                    del matches[key]
                    total += 1
                elif bits == 7:
                    matches.pop(key, None)
        return total

    return timed(work)


def chain(premises: int, delay: int) -> str:
    body = ", ".join(f"p(X)@T+{index}" for index in range(premises))
    return f"timeline discrete. input p(x) delay {delay}. out(X)@T :- {body}. query out(X)."


def state_of(premises: int, delay: int = LATEST, values: int = 20_000) -> int:
    """How many answers and facts are remembered when everything arrives in time."""
    reasoner = presage.Reasoner(presage.parse(chain(premises, delay)))
    names = [f"x{index}" for index in range(values)]
    for now in range(3 * (premises + delay)):
        reasoner.push({"p": pyarrow.table({"x": names, "time": np.full(values, now)})}, now)
    return reasoner.remembered


def step_among(open_answers: int, steps: int = 30) -> float:
    """Seconds for a step of few facts while so many answers are open that they do not concern."""
    text = (
        "timeline discrete. input p(x) delay 1000. input q(x) delay 1000. input r(x). input s(x)."
        "out(X)@T :- p(X)@T, q(X)@T+1. out(X)@T :- r(X)@T, s(X)@T+1. query out(X)."
    )
    reasoner = presage.Reasoner(presage.parse(text))
    reasoner.push({"p": _few(range(open_answers), 0, "y")}, 0)
    for now in (1, 2, 3):
        reasoner.push({"r": _few(range(CONCERNED), now), "s": _few(range(CONCERNED), now)}, now)
    tables = [_few(range(CONCERNED), now) for now in range(4, 4 + steps)]
    assert len(reasoner.answers()) >= open_answers

    def work() -> None:
        for now, table in enumerate(tables, 4):
            reasoner.push({"r": table, "s": table}, now)

    return timed(work)[1] / steps


def _few(numbers: range, now: int, mark: str = "x") -> Any:
    return pyarrow.table({"x": [f"{mark}{index}" for index in numbers], "time": np.full(len(numbers), now)})


def hospital(patients: int, days: int, tables: bool = False) -> tuple[int, int, float]:
    """Facts, changes and seconds for a program with negation, fact by fact or as tables."""
    chance = np.random.default_rng(1)
    reasoner = presage.Reasoner(presage.parse(HOSPITAL), everybody=True)
    names = np.array([f"p{index}" for index in range(patients)])
    shares = (("gcm", 0.02), ("gbol", 0.02), ("bca", 0.01))
    found = [{name: names[chance.random(patients) < share] for name, share in shares} for _ in range(days)]
    steps: list[Any] = []
    for day, given in enumerate(found):
        if tables:
            steps.append(
                {
                    name: pyarrow.table({"patient": some.tolist(), "time": np.full(len(some), day)})
                    for name, some in given.items()
                }
            )
        else:
            steps.append([(name, (patient,), day) for name, some in given.items() for patient in some.tolist()])
    changes, seconds = timed(lambda: sum(len(reasoner.push(facts, day)) for day, facts in enumerate(steps)))
    return sum(len(some) for given in found for some in given.values()), changes, seconds


def measure() -> Iterator[Row]:
    by_columns(turbines(LATEST), make_stream(100, 10, LATEST))
    for delay in (0, LATEST):
        stream = make_stream(DEVICES, STEPS, delay)
        facts = DEVICES * STEPS
        ours, our_time = by_columns(turbines(delay), stream)
        theirs, their_time = by_hand(delay, stream)
        assert ours == theirs, (ours, theirs)
        yield Row(
            f"turbines, delay {delay}",
            f"{facts / our_time:,.0f} facts/s",
            f"by hand {facts / their_time:,.0f} facts/s",
            their_time / our_time,
            f"{ours:,} changes, counted",
        )
    three, six = state_of(3), state_of(6)
    yield Row(
        f"state of 6 premises, delay {LATEST}", f"{six:,} rows", f"3 premises {three:,} rows", six / three, "remembered"
    )
    many, few = step_among(MANY), step_among(FEW)
    yield Row(
        f"a step among {MANY:,} open answers",
        f"{many * 1e3:.2f} ms",
        f"among {FEW:,} {few * 1e3:.2f} ms",
        many / few,
        f"{2 * CONCERNED:,} facts that do not concern them",
    )
    hospital(100, 10, tables=True)
    for tables in (False, True):
        facts, changes, seconds = hospital(PATIENTS, DAYS, tables)
        yield Row(
            f"hospital, {PATIENTS:,} patients, {DAYS} days{', tables' if tables else ''}",
            f"{facts / seconds:,.0f} facts/s",
            "",
            None,
            f"{changes:,} changes, counted; negation",
        )
