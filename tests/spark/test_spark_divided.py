"""A stream on Spark that goes on with another number of shards: what shards do, without Spark, against one reasoner.

How often and when the number changes, cuts into micro-batches, micro-batches that come again after a crash, workers
that forget and tasks that run twice are drawn at random.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage-streams[spark]")

from presage.errors import PresageError
from presage.spark import handing_over, shard_reasoner, streaming
from presage.spark.handing_over import FOLDER, why_not
from presage.spark.history import as_uri
from presage.spark.job import Job
from tests import random_hypotheses, random_programs
from tests.random_programs import Case
from tests.spark.test_spark_rules import earlier, grown, told
from tests.spark.test_spark_shards import (
    FAR,
    Given,
    Stores,
    confirmed,
    covered,
    cut,
    embedded,
    given_by,
    job_of,
    packs_of,
    plain,
    to_stores,
    turbines,
)


class Stream:
    """Micro-batches through the stateful operator, each under the job of its time."""

    def __init__(self, chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chance, self.stores = chance, Stores()
        self.rows: list[dict[str, Any]] = []
        self.number = 0
        for module in (handing_over, streaming):
            monkeypatch.setattr(module, "batch_number", lambda: self.number)

    def take(self, job: Job, given: Given, again: bool) -> None:
        """A micro-batch; `again`: it is begun, what it writes to files stays, and then it comes again."""
        if again:
            before = copy.deepcopy(self.stores)
            to_stores(job, packs_of(job, given), self.chance, self.stores)
            self.stores = before
            self._forget()
        self.rows += to_stores(job, packs_of(job, given), self.chance, self.stores)
        self.number += 1

    def _forget(self) -> None:
        """Workers are others now, and know nothing of files."""
        shard_reasoner._kept.clear()
        handing_over._known.clear()


def divided(job: Job, shards: int, turn: int) -> Job:
    """The job with another number of shards from a micro-batch on."""
    if shards == job.shards:
        return job
    return replace(job, shards=shards, divisions=(*job.divisions, job.shards), turns=(*job.turns, turn))


def divided_case(seed: int, kind: str, shards: int) -> tuple[Job, Given]:
    """A random program whose facts are divided, and facts."""
    for each in range(seed, 100_000, 1000):
        if kind in ("changes", "confirmed"):
            case, when = random_hypotheses.make_case(each), ("time",)
        else:
            case, when = random_programs.make_case(each, dense=kind == "dense"), ("from", "to", "bounds")
        job = job_of(case, "changes" if kind == "changes" else "confirmed", shards, when)
        given = given_by(case, early=False)
        if job is not None and given and any(source.key for source in job.sources):
            return job, given
    raise AssertionError("no program is divided")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["changes", "confirmed", "discrete", "dense"])
def test_shards_become_more_and_fewer(seed: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST_LOG", 1500)
    chance = random.Random(seed)
    job, given = divided_case(seed, kind, chance.choice([1, 2, 4, 6]))
    first = replace(job, checkpoint=as_uri(tmp_path))
    far = [(*given[0][:2], FAR, FAR)]
    parts = [*cut(given, chance), far]
    if kind == "dense":  # A shard says how long something goes on when it looks again.
        far += [(name, row, FAR, FAR) for name, row in dict.fromkeys((fact[0], fact[1]) for fact in given[1:])]
        parts.append([(*far[0][:2], FAR + 9, FAR + 9)])
    job, stream = first, Stream(chance, monkeypatch)
    for part in parts:
        if chance.random() < 0.5:
            wanted = divided(job, chance.choice([1, 2, 3, 4, 6]), stream.number)
            job = job if why_not(wanted, job.shards) else wanted
        stream.take(job, part, again=chance.random() < 0.3)
    shard_reasoner._kept.clear()
    assert not [row for row in stream.rows if row["late"] is not None]
    expected = [answer.to_json() for answer in embedded(first, given + far, FAR + 8 if kind == "dense" else FAR - 1)]
    if kind == "dense":
        assert covered(clipped(stream.rows)) == covered(clipped(expected))
    else:
        assert confirmed(stream.rows, FAR - 1) == confirmed(expected, FAR - 1)


def clipped(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is told of times before all is settled."""
    found = []
    for line in lines:
        low, high = (line[name] if line.get(name) is not None else line.get("time") for name in ("from", "to"))
        if Fraction(low) < FAR:
            bounds = line.get("bounds") or "[]"
            if high is None or Fraction(high) >= FAR:
                high, bounds = FAR, f"{bounds[0]})"
            found.append({**line, "time": None, "from": low, "to": high, "bounds": bounds})
    return found


@pytest.mark.parametrize("seed", range(12))
def test_every_line_once(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With arrivals the lines are those of one reasoner, possible answers and late facts among them."""
    chance, case = random.Random(seed), turbines(seed)
    job = job_of(case, "changes", chance.choice([1, 2, 3]), ("time", "arrives"))
    assert job is not None
    first = job = replace(job, checkpoint=as_uri(tmp_path))
    given = given_by(case, early=True)
    late = [("temp", (f"wt{each}", "high"), 0, 9) for each in range(6)]
    given = sorted([*given, *late], key=lambda fact: fact[3])
    far = [("temp", ("nobody", "low"), FAR, FAR)]
    edges = sorted({0, len(given), *(chance.randrange(len(given)) for _ in range(6))})
    stream = Stream(chance, monkeypatch)
    for start, stop in pairwise(edges):
        if stream.number in (1, 3, 5):
            job = divided(job, chance.choice([1, 2, 3, 4, 8]), stream.number)
        stream.take(job, given[start:stop], again=chance.random() < 0.3)
    stream.take(job, far, again=False)
    expected = embedded(first, [*given, *far], FAR - 1)
    answers = [row for row in stream.rows if row["late"] is None]
    assert Counter(map(plain, answers)) == Counter(plain(answer.to_json()) for answer in expected)
    told_late = Counter(row["late"]["fact"] for row in stream.rows if row["late"] is not None)
    assert set(told_late) >= {f"temp(wt{each}, high)@0" for each in range(6)} and set(told_late.values()) == {1}
    # What was handed over goes when nobody needs it any more.
    kept = [path.name for path in (tmp_path / FOLDER).iterdir() if path.name.startswith("handed")]
    assert all(name.startswith(f"handed-{len(job.divisions) - 1:05d}") for name in kept)


def grown_case(seed: int) -> tuple[Job, Job, Given]:
    """A random program whose facts are divided, one with a query more, and facts."""
    for each in range(seed, 100_000, 1000):
        cases = grown(random_hypotheses.make_case(each))
        if cases is None:
            continue
        old, new = (job_of(case, "confirmed", 4, ("time",)) for case in cases[:2])
        given = given_by(cases[0], early=False)
        if old is None or new is None or not given or not old.shards == new.shards == 4:
            continue
        if {each.predicate: each.key for each in old.sources} == {each.predicate: each.key for each in new.sources}:
            return old, new, given
    raise AssertionError("no program is divided")


@pytest.mark.parametrize("seed", range(10))
def test_rules_change_before_and_after(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    old, new, given = grown_case(seed)
    old = replace(old, checkpoint=as_uri(tmp_path))
    far = [(*given[0][:2], FAR, FAR)]
    stream = Stream(chance, monkeypatch)
    edges = [len(given) * place // 5 for place in range(6)]
    parts = [given[start:stop] for start, stop in pairwise(edges) if stop > start]
    turn = chance.randrange(len(parts))
    divided_at = chance.choice([turn, max(0, turn - 1), turn + 1])
    job = old
    for part in [*parts, far]:
        if stream.number == turn:
            rules = replace(new, earlier=(earlier(old),), begin=turn, shards=job.shards)
            job = replace(rules, divisions=job.divisions, turns=job.turns, checkpoint=job.checkpoint)
        if stream.number == divided_at:
            job = divided(job, 6, stream.number)
        stream.take(job, part, again=chance.random() < 0.3)
    everything = [*(fact for part in parts for fact in part), *far]
    was = [answer.to_json() for answer in embedded(old, everything, FAR - 1)]
    assert confirmed(told(stream.rows, fresh=False), FAR - 1) == confirmed(was, FAR - 1)


def test_what_all_shards_know_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "timeline discrete. input p(x). e(u)@0. e(v)@0. e(X)@T+1 :- e(X)@T. a(X) :- p(X), e(X). query e(X). query a(X)."
    )
    job = job_of(Case(text, []), "confirmed", 4, ("time",))
    assert job is not None and job.everywhere
    job, stream = replace(job, checkpoint=as_uri(tmp_path)), Stream(random.Random(0), monkeypatch)
    for time, shards in enumerate((4, 4, 2, 2, 6, 6)):
        job = divided(job, shards, time)
        stream.take(job, [("p", ("u",), time, time), ("p", ("v",), time, time)], again=False)
    found = confirmed(stream.rows, 4)
    assert set(found.values()) == {1} and {each for each in found if each[1] == 3} == {
        (f"{name}({key})", 3) for name in "ae" for key in "uv"
    }


def test_what_does_not_say_its_shard_is_merged_and_not_divided() -> None:
    text = "input temp(device, level). flag(X) :- temp(X, high). :- flag(X), temp(X, low). query flag(X)."
    job = job_of(Case(text, []), "confirmed", 4, ("time",))
    assert job is not None and job.sources[0].key
    job = replace(job, checkpoint="file:///tmp")
    assert not why_not(replace(job, shards=2), 4)
    assert "answers of `violated` do not say which shard they are about" in why_not(replace(job, shards=6), 4)
    assert "can be merged (2, 1), not divided" in why_not(replace(job, shards=6), 4)
    assert "cannot be handed over in nowhere://" in why_not(replace(job, shards=2, checkpoint="nowhere://x/y"), 4)


def test_what_was_handed_over_and_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(turbines(0), "changes", 2, ("time",))
    assert job is not None
    job = divided(replace(job, checkpoint=as_uri(tmp_path)), 3, 1)
    given = given_by(turbines(0), early=False)
    stream = Stream(random.Random(0), monkeypatch)
    for part in (given[:9], given[9:12]):
        stream.take(job, part, again=False)
    (tmp_path / FOLDER / "handed-00000-00001").write_bytes(b"torn")
    with pytest.raises(PresageError, match=r"the checkpoint is damaged: presage\.shards/handed-00000-00001"):
        stream.take(job, given[12:], again=False)
