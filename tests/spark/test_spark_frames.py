"""Batch runs as DataFrames: the kernels against counting cell by cell, which programs run so, and on a real Spark the
lines of the embedded run."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import presage
from presage.checking import check_text
from presage.kernels.time_pieces import earliest, held_throughout, lasting, meeting, outside
from presage.plan.relational import obstacles
from tests import random_programs
from tests.conftest import skip_without_spark
from tests.random_programs import Case
from tests.spark.test_spark_shards import embedded, given_by, job_of, plain, tables

LAST = 25
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def pieces(chance: random.Random, count: int) -> list[tuple[int, int, int, int, bool]]:
    """Group, first and last cell, step, and whether it is known; ordered."""
    found = []
    for _ in range(count):
        low = chance.randrange(LAST)
        found.append((chance.randrange(3), low, low + chance.randrange(6), chance.randrange(5), chance.random() < 0.4))
    return sorted(found)


def as_arrays(rows: list[tuple[int, int, int, int, bool]]) -> tuple[Any, ...]:
    groups = np.array([row[0] for row in rows])
    starts = np.concatenate([[0], np.flatnonzero(np.diff(groups)) + 1, [len(rows)]]).astype(np.int64)
    low, high, step = (np.array([row[place] for row in rows], np.int64) for place in (1, 2, 3))
    return groups[starts[:-1]], starts, low, high, step, np.array([row[4] for row in rows], bool)


@pytest.mark.parametrize("seed", range(60))
def test_every_cell_is_known_from_the_least_step(seed: int) -> None:
    chance = random.Random(seed)
    rows = pieces(chance, chance.randint(1, 25))
    names, *given = as_arrays(rows)
    found = list(zip(*(column.tolist() for column in earliest(*given)), strict=True))
    cells = {(int(names[group]), cell): (step, news) for group, low, high, step, news in found
             for cell in range(low, high + 1)}  # fmt: skip
    assert sum(high - low + 1 for _, low, high, _, _ in found) == len(cells), "pieces do not overlap"
    for before, after in pairwise(found):
        assert before[0] != after[0] or before[2] + 1 < after[1] or before[3:] != after[3:], "what touches is joined"
    expected: dict[tuple[int, int], tuple[int, bool]] = {}
    for group, low, high, step, known in rows:
        for cell in range(low, high + 1):
            best = expected.get((group, cell), (99, False))
            expected[group, cell] = min(best, (step, not known))
    assert cells == expected


@pytest.mark.parametrize("seed", range(60))
def test_what_holds_throughout_is_known_with_its_last_cell(seed: int) -> None:
    chance = random.Random(seed)
    rows = pieces(chance, chance.randint(1, 25))
    names, starts, low, high, step, _ = as_arrays(rows)
    group, low, high, step, _ = earliest(starts, low, high, step, np.zeros(len(low), bool))
    starts = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]]).astype(np.int64)
    near = chance.randint(-3, 2)
    far, clips = near + chance.randint(0, 3), chance.random() < 0.5
    cells = {(int(names[g]), c): s for g, a, b, s in zip(group, low, high, step, strict=True) for c in range(a, b + 1)}
    found: dict[tuple[int, int], int] = {}
    for g, a, b, s in zip(*held_throughout(starts, low, high, step, near, far, clips), strict=True):
        for cell in range(max(int(a), -9), min(int(b), 99) + 1):
            assert (int(names[g]), cell) not in found
            found[int(names[g]), cell] = int(s)
    expected = {}
    for name in set(names.tolist()):
        for cell in range(-9, 60):
            window = [c for c in range(cell - far, cell - near + 1) if not clips or c >= 0]
            if window and all((name, c) in cells for c in window):
                expected[name, cell] = max(cells[name, c] for c in window)
    assert found == expected


@pytest.mark.parametrize("seed", range(40))
def test_rows_meet_and_leave_gaps_as_cells_do(seed: int) -> None:
    chance = random.Random(seed)
    rows = pieces(chance, chance.randint(1, 25))
    names, starts, low, high, _, first = as_arrays(rows)
    group = {row: number for number in range(len(names)) for row in range(starts[number], starts[number + 1])}

    def meet(one: int, other: int) -> bool:
        return group[one] == group[other] and low[one] <= high[other] and low[other] <= high[one]

    found = sorted(zip(*(column.tolist() for column in meeting(starts, low, high, first)), strict=True))
    assert found == [
        (one, other)
        for one in range(len(rows)) if first[one]
        for other in range(len(rows)) if not first[other] and meet(one, other)
    ]  # fmt: skip
    # What leaves gaps does not overlap: it is settled.
    others = [row for row in rows if not row[4]]
    settled = []
    if others:
        known, *given = as_arrays(others)
        pieces_of = earliest(*given[:-1], np.zeros(len(others), bool))
        settled = [(int(known[g]), int(a), int(b), 0, False) for g, a, b, _, _ in zip(*pieces_of, strict=True)]
    rows = sorted([row for row in rows if row[4]] + settled)
    _, starts, low, high, _, first = as_arrays(rows)
    left = [
        (int(row), cell)
        for row, a, b in zip(*outside(starts, low, high, first), strict=True)
        for cell in range(int(a), int(b) + 1)
    ]
    taken = {(row[0], cell) for row in settled for cell in range(row[1], row[2] + 1)}
    assert sorted(left) == [
        (place, cell)
        for place, row in enumerate(rows) if row[4]
        for cell in range(row[1], row[2] + 1) if (row[0], cell) not in taken
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(120))
def test_what_has_lasted_since_is_known_as_early_as_cell_by_cell(seed: int) -> None:
    chance = random.Random(seed)
    sides = []
    for right in (False, True):
        rows = pieces(chance, chance.randint(1, 20))
        names, starts, low, high, step, _ = as_arrays(rows)
        group, low, high, step, _ = earliest(starts, low, high, step, np.zeros(len(low), bool))
        sides += [
            (int(names[g]), int(a), int(b), int(s), right) for g, a, b, s in zip(group, low, high, step, strict=True)
        ]
    names, starts, low, high, step, first = as_arrays(sorted(sides))
    following = np.full(len(low), -1)
    for begin, end in pairwise(starts.tolist()):
        own = [row for row in range(begin, end) if first[row]]
        following[own[:-1]] = own[1:]
    near = chance.randint(0, 4)
    far = near + chance.choice([0, 1, 3, 1 << 60])
    found: dict[tuple[int, int], int] = {}
    group = {row: int(names[number]) for number, (a, b) in enumerate(pairwise(starts.tolist())) for row in range(a, b)}
    for row, a, b, s in zip(*lasting(starts, low, high, step, first, following, near, far), strict=True):
        for cell in range(int(a), int(b) + 1):
            key = group[int(row)], cell
            found[key] = min(found.get(key, 99), int(s))
    cells = [
        {(g, c): s for g, a, b, s, right in sides if right is side for c in range(a, b + 1)} for side in (False, True)
    ]
    expected: dict[tuple[int, int], int] = {}
    for (name, since), known in cells[True].items():
        for cell in range(since + near, min(since + far, 60) + 1):
            between = [cells[False].get((name, c)) for c in range(since + 1, cell)]
            if None not in between:
                expected[name, cell] = min(expected.get((name, cell), 99), max([known, *between]))
    assert found == expected


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("d(X) :- p(X), q(Y), X != Y.", None),
        ("d(X)@T+1 :- d(X)@T, p(Y)@T.", None),
        ("d(X) :- p(X), not once[0,3] q(Y), s(Y).", None),
        ("d(X) :- p(X) since[0,3] q(X).", None),
        ("d(X) :- q(X), not p(X) since[0,3] q(X).", None),
        ("exists lasting Y: d(Y) :- p(X), q(Z).", "line 5: it invents values"),
        ("d(X) :- s(X), p(Y), not d(X)@T-1, p(Y)@T.", "absence that is never final"),
        ("d(X)@T+1 :- s(X), p(Y)@T, not d(X)@T.", "line 5: `d` depends on its own absence"),
        ("d(X) :- once[0,5] (s(X) and not once[0,2] p(X)), q(X).", "line 5: the absence of `what is negated` is asked"),
    ],
)
def test_what_runs_as_dataframes(rule: str, reason: str | None) -> None:
    report = check_text(
        f"timeline discrete.\ninput p(x) delay 1.\ninput q(x).\nstatic s(x).\n{rule}\nquery d(X).\n"
    ).or_raise()
    assert report.findings is not None
    found = obstacles(report.findings.watched)
    assert not found if reason is None else reason in found[0]


skip_without_spark()
on_spark = pytest.mark.xdist_group("spark")


def lines(frame: Any) -> Counter[str]:
    return Counter(plain(row.asDict(recursive=True)) for row in frame.collect())


PATHS = """
timeline discrete.
input edge(x, y) delay 1.
input closed(x).
static gate(x).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z), not closed(Y).
way(X) :- once[0,2] reach(X, Y), gate(Y), not historically[0,1] closed(X).
query reach(X, Y).
query way(X).
"""


@on_spark
@pytest.mark.filterwarnings("error:.*runs as one shard")
def test_paths_through_time_are_those_of_the_embedded_run(spark: Any) -> None:
    chance, case = random.Random(7), Case(PATHS, end=4)
    for time in range(case.end):
        for _ in range(4):
            row = (chance.choice("abcde"), chance.choice("abcde"))
            case.facts.append((("edge", row, time), time + chance.choice([0, 0, 1, 2])))
        if chance.random() < 0.6:
            case.facts.append((("closed", (chance.choice("abcde"),), time), time))
    case.statics = [("gate", ("a",)), ("gate", ("e",))]
    given = given_by(case, early=True)
    schemas = {"edge": "x string, y string, time long, arrives long", "closed": "x string, time long, arrives long"}
    frames = {
        name: spark.createDataFrame(
            [(*row, time, arrives) for each, row, time, arrives in given if each == name], schema
        )
        for name, schema in schemas.items()
    }
    answers, late = presage.spark.answers(
        presage.parse(PATHS), frames, arrives="arrives", emit="confirmed", late=True,
        static={"gate": spark.createDataFrame([(row[0],) for _, row in case.statics], "x string")},
    )  # fmt: skip
    job = job_of(case, "confirmed", 1, ("time", "arrives"))
    assert job is not None
    found = lines(answers)
    assert found == Counter(plain(answer.to_json()) for answer in embedded(job, given))
    assert {line.split('"answer": "')[1].split("(")[0] for line in found} == {"reach", "way"}
    assert Counter(late.select("fact", "now").collect()) == Counter(
        (f"edge({row[0]}, {row[1]})@{time}", arrives) for name, row, time, arrives in given if arrives > time + 1
    )


@on_spark
def test_recursion_through_time_ends_with_the_run(spark: Any) -> None:
    text = "timeline discrete.\ninput p(x).\nup(X)@T+1 :- p(X)@T.\nup(Y)@T+2 :- up(X)@T, up(Y)@T.\nquery up(X).\n"
    case = Case(text)
    case.facts = [(("p", ("a",), 0), 0), (("p", ("b",), 1), 1)]
    frame = spark.createDataFrame([("a", 0), ("b", 1)], "x string, time long")
    answers = presage.spark.answers(presage.parse(text), {"p": frame}, emit="confirmed", until=5)
    job = job_of(case, "confirmed", 1, ("time",))
    assert job is not None
    assert lines(answers) == Counter(plain(answer.to_json()) for answer in embedded(job, given_by(case, early=True), 5))


@on_spark
@pytest.mark.parametrize("seed", range(300) if LONG else [8, 34])
def test_random_programs_are_those_of_the_embedded_run(spark: Any, seed: int) -> None:
    """Operators, absence, computed values, recursion, facts over intervals."""
    from presage.spark.relational import relational_rows

    case = random_programs.make_case(seed, dense=False)
    job = job_of(case, "confirmed", 1, ("from", "to", "bounds", "arrives"))
    if job is None or job.reasoner().supposing is not None or obstacles(job.reasoner().subject):
        pytest.skip("not a program that runs so")
    given = given_by(case, early=True)
    frames = [(source, spark.createDataFrame(table)) for _, source, table in tables(job, given)]
    static = {"s": spark.createDataFrame([row for _, row in case.statics], "c0 string")} if case.statics else {}
    rows = relational_rows(replace(job, static=()), frames, static, None)
    assert lines(rows.where("late is null")) == Counter(plain(each.to_json()) for each in embedded(job, given))


@on_spark
def test_what_prevents_dataframes_is_told(spark: Any) -> None:
    text = "timeline discrete.\ninput p(x).\ninput q(y).\nd(X)@T+1 :- p(X)@T, q(Y)@T, not d(X)@T.\nquery d(X).\n"
    frames = {
        "p": spark.createDataFrame([("a", 0)], "x string, time long"),
        "q": spark.createDataFrame([("b", 1)], "y string, time long"),
    }
    said = r"runs as one shard: line 4: .*\. Nor does it run as DataFrames: line 4: `d` depends on its own absence"
    with pytest.warns(UserWarning, match=said):
        presage.spark.answers(presage.parse(text), frames, emit="confirmed")
