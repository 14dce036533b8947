"""Sets of facts in windows, worked out at once: the lines of the run that goes step by step, on random programs."""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage-streams[spark]")

import pyarrow as pa

import presage
from presage.answers import Answer
from presage.io.facts import Fact
from presage.plan.windowed_set import WindowedSet, windowed_set
from presage.run.schedule import default_end, steps
from presage.spark.job import FrameSource, Job
from presage.spark.windowed import _runner
from presage.spark.windowed.packing import packer
from presage.spark.windowed.sets import distinct_rows

RULES = [
    "q(K, N) :- N = {function} {{ V, T : {window} e(K, V)@T }}.",
    "q(K, N) :- N = {function} {{ V, T : {window} e(K, V)@T }}, N * 2 > 5.",
    "q(K) :- N = {function} {{ V, T : {window} e(K, V)@T }}, N != 2.",
    "q(K) :- {function} {{ V, T : {window} e(K, V)@T }} >= 2.",
    "q(N) :- N = {function} {{ V, T : {window} e(_, V)@T }}, N != 0.",
    "q(K, V, N) :- N = {function} {{ T : {window} e(K, V)@T }}.",
    "q(N, 7, K) :- N = {function} {{ V, T : {window} e(K, V)@T, V > 1, K != c }}.",
    "q(V, N) :- N = {function} {{ K, T : {window} e(K, V)@T }}.",
    "q(K, A, B) :- A = {function} {{ V, T : {window} e(K, V)@T }}, B = count {{ V, T : {window} e(K, V)@T }}.",
    "q(K, N) :- N = {function} {{ V, T : {window} e(K, V)@T }}.\nquery q(a, _).",
]
FUNCTIONS = ["count", "sum", "avg", "min", "max", "first", "last"]
WINDOWS = ["window(4)", "window(2)", "window(4, hop 4)", "window(5, hop 2)", "window(6, hop 4)"]
NAMES = ["a", "b", "c", "Dora", "not", "1"]


@dataclass
class Counted:
    text: str
    facts: list[tuple[str, int, int, int]]
    """What each says, its time and its arrival; in no order, some of them twice, some too late."""
    until: int | None

    def embedded(self, emit: str) -> list[Answer]:
        reasoner = presage.Reasoner(presage.parse(self.text), emit=emit)
        facts = [Fact("e", row[:2], row[2], row[2], arrives=row[3]) for row in self.facts]
        found = [answer for told in steps(reasoner, facts, self.until) for answer in told]
        return [*found, *reasoner.end()]


def made(seed: int, early: bool = True) -> Counted:
    """With `early` facts do not arrive at their own times alone."""
    chance = random.Random(seed)
    rule, function = chance.choice(RULES), chance.choice(FUNCTIONS)
    if "{{ T :" in rule and function in ("first", "last"):
        function = "max"  # the others need a value beside the time
    rule = rule.format(function=function, window=chance.choice(WINDOWS))
    text = f"timeline discrete.\ninput e(k, v: int) delay {chance.choice([0, 0, 2])}.\n{rule}\n"
    begin, numbers = (
        chance.choice([0, 0, 7, 1_000]),
        chance.choice([range(4), range(-3, 3), [1 << 61, 3, 1 - (1 << 61)]]),
    )
    facts = []
    for _ in range(chance.randint(1, 30)):
        time = begin + chance.randint(0, 15)
        arrives = time + (chance.choice([-1, 0, 0, 0, 1, 2, 3]) if early else 0)
        facts.append((chance.choice(NAMES), chance.choice(numbers), time, max(0, arrives)))
    return Counted(text, [*facts, chance.choice(facts)], chance.choice([None, None, begin + 9]))


def at_once(case: Counted, about: WindowedSet, shards: int) -> Iterator[tuple[str, int, int]]:
    """What shards say of stretches."""
    source = FrameSource("e", 2, ("time", "arrives"), ())
    job = Job(presage.parse(case.text), "states", shards=shards, sources=(source,), late=False)
    facts = [Fact("e", row[:2], row[2], row[2], arrives=row[3]) for row in case.facts]
    end = int(case.until if case.until is not None else default_end(job.reasoner(), facts))
    columns = {f"c{place}": pa.array(column) for place, column in enumerate(zip(*case.facts, strict=True))}
    columns["c0"] = columns["c0"].cast(pa.string())
    parts = pa.table(columns).to_batches(max_chunksize=7)
    wholes = [place == 1 for place in about.places[about.groups :]]
    packs = [pack for part in parts for pack in packer(job, source, about, wholes, end)(iter([part]))]
    for shard in range(shards):
        own = [pack.filter(pa.array(np.array(pack.column(0)) == shard)) for pack in packs]
        for batch in _runner(about, end - about.lag)(iter(own)):
            for row in batch.to_pylist():
                yield row["arguments"], row["low"], row["high"]


@pytest.mark.parametrize("seed", range(240))
def test_stretches_are_those_of_the_run_step_by_step(seed: int) -> None:
    case = made(seed)
    about = windowed_set(Job(presage.parse(case.text), "states").reasoner().subject)
    if about is None or about.least is not None:
        pytest.skip("not worked out at once from facts in disorder")
    expected = Counter(
        (
            answer.answer.rpartition("@")[0][2:-1],
            answer.time if answer.time is not None else answer.start,
            answer.time if answer.time is not None else answer.end,
        )
        for answer in case.embedded("states")
        if answer.status == "confirmed"
    )
    assert Counter(at_once(case, about, random.Random(seed).choice([1, 3]))) == expected


def test_of_most_programs_something_is_worked_out_at_once() -> None:
    found = [windowed_set(Job(presage.parse(made(seed).text), "states").reasoner().subject) for seed in range(240)]
    assert sum(each is not None for each in found) > 120


@pytest.mark.parametrize(
    "rule",
    [
        "q(K, N) :- e(K, _), N = count { V, T : window(4) e(K, V)@T }.",
        "q(K, N) :- N = count { V : window(4) some e(K, V) }.",
        "q(K, N) :- N = max { V, T : window(4) e(K, V)@T }.",
        "q(N) :- N = count { K, V, T : window(4) e(K, V)@T }.",
        "q(K, N) :- N = count { V, T : window(4) e(K, V)@T }.\nq(K, 0) :- e(K, 1).",
        "p(K, V) :- e(K, V).\nq(K, N) :- N = count { V, T : window(4) p(K, V)@T }.\nquery q(K, N).",
        "q(K, N) :- N = sum { V, T : window(4) e(K, V)@T }.\nq(a, 1)@3.",
        "q(K, N) :- N = sum { V, T : window(4) e(K, V)@T }.\nquery q(K, N)@3.",
    ],
)
def test_what_hangs_on_more_is_left_to_reasoners(rule: str) -> None:
    text = f"timeline discrete.\ninput e(k, v: int).\n{rule}\n"
    assert windowed_set(Job(presage.parse(text), "states").reasoner().subject) is None


@pytest.mark.parametrize("large", [1, 1 << 40, 1 << 61])
def test_rows_are_distinct_however_large_their_numbers(large: int) -> None:
    chance = np.random.default_rng(large)
    columns = [chance.integers(-3, 3, 200) * factor for factor in (1, large, 1)]
    found = list(zip(*(column.tolist() for column in distinct_rows(columns)), strict=True))
    assert found == sorted(set(zip(*(column.tolist() for column in columns), strict=True)))


def plain(line: dict[str, Any]) -> str:
    """A line without what it does not have."""
    known = {name: value for name, value in line.items() if value not in (None, [])}
    known["bindings"] = {name: str(value) for name, value in (line["bindings"] or {}).items()}
    return json.dumps(known, sort_keys=True)


@pytest.mark.xdist_group("spark")
class TestOnSpark:
    @pytest.mark.parametrize("seed", range(12))
    def test_lines_are_those_of_the_embedded_run(self, spark: Any, seed: int) -> None:
        emit = ("states", "confirmed")[seed % 2]
        case = made(seed + 1000, early=seed % 3 == 0)
        frame = spark.createDataFrame(case.facts, "k string, v long, time long, arrives long")
        arrives = "arrives" if seed % 3 == 0 else None
        if arrives is None:
            frame = frame.drop("arrives")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = presage.spark.answers(
                presage.parse(case.text), {"e": frame}, emit=emit, shards=3, until=case.until, arrives=arrives
            )
        lines = [row.asDict(recursive=True) for row in found.collect()]
        assert Counter(map(plain, lines)) == Counter(plain(answer.to_json()) for answer in case.embedded(emit))

    def test_nobody_needs_a_partition_key(self, spark: Any) -> None:
        """What is grouped by is enough to divide facts by."""
        text = "timeline discrete.\ninput e(k, v: int).\nq(V, N) :- N = count { K, T : window(4, hop 2) e(K, V)@T }.\n"
        case = replace(made(3, early=False), text=text, until=None)
        frame = spark.createDataFrame(case.facts, "k string, v long, time long, arrives long").drop("arrives")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = presage.spark.answers(presage.parse(text), {"e": frame}, emit="states", shards=3)
        lines = [row.asDict(recursive=True) for row in found.collect()]
        assert Counter(map(plain, lines)) == Counter(plain(answer.to_json()) for answer in case.embedded("states"))
