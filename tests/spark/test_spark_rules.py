"""Rules that change while a stream on Spark has state: what shards do, without Spark, against one reasoner.

Cuts into micro-batches, workers that forget, tasks that run twice, and the micro-batch with which rules change are
drawn at random; one that was begun under the rules of before comes again under them.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage-streams[spark]")

from presage.checking import check_text
from presage.model.printer import show_query
from presage.spark import shard_reasoner, streaming
from presage.spark.job import EarlierRules, Job
from tests import random_hypotheses
from tests.random_programs import Case
from tests.spark.test_spark_shards import FAR, Stores, confirmed, cut, embedded, given_by, job_of, packs_of, to_stores

LARGE = 1 << 30


def grown(case: Case) -> tuple[Case, Case, list[str]] | None:
    """A program with its queries written out, and one with a query more: the facts of an input."""
    found = check_text(case.text).findings
    if found is None or not found.strata.stratified:
        return None
    asked = "" if "query" in case.text else "\n".join(show_query(each) + "." for each in found.watched.queries)
    asked = "\n".join(line if line.startswith("query") else f"query {line}" for line in asked.splitlines())
    name = next(each for each in found.subject.predicates.values() if each.is_input and not each.is_static)
    row = ", ".join(f"V{place}" for place in range(name.arity))
    atom = f"({row})" if row else ""
    before = f"{case.text}\n{asked}\n"
    after = f"{before}fresh{atom} :- {name.name}{atom}.\nquery fresh{atom}.\n"
    return (
        replace(case, text=before),
        replace(case, text=after),
        [each.atom.predicate for each in found.watched.queries],
    )


def earlier(job: Job) -> EarlierRules:
    of = tuple(job.fingerprints.items())
    return EarlierRules(job.report.program, job.sources, job.everywhere, of, 0, False)


def told(rows: list[dict[str, Any]], fresh: bool) -> list[dict[str, Any]]:
    return [row for row in rows if row["late"] is None and row["answer"].startswith("fresh") == fresh]


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("emit", ["changes", "confirmed"])
def test_what_is_unchanged_goes_on_and_what_is_new_has_history(
    seed: int, emit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "LEAST_LOG", 1500)
    chance = random.Random(seed)
    cases = grown(random_hypotheses.make_case(seed))
    if cases is None:
        pytest.skip("not a program of the interval engine")
    before, after, _ = cases
    shards = chance.choice([1, 3])
    old, new = (job_of(case, emit, shards, ("time",)) for case in (before, after))
    given = given_by(before, early=False)
    if old is None or new is None or not given or old.shards != new.shards:
        pytest.skip("not a program of the interval engine, or one that is divided otherwise")
    if {each.predicate: each.key for each in old.sources} != {each.predicate: each.key for each in new.sources}:
        pytest.skip("divided otherwise")
    old = replace(old, history=LARGE)
    cuts = [*cut(given, chance), [(*given[0][:2], FAR, FAR)]]
    begin = chance.randrange(len(cuts))
    backfill = chance.random() < 0.5
    # Sources may be in another order.
    new = replace(
        new,
        sources=tuple(reversed(new.sources)),
        earlier=(earlier(old),),
        begin=begin,
        backfill=backfill,
        history=LARGE,
    )
    number = [0]
    monkeypatch.setattr(streaming, "batch_number", lambda: number[0])
    stores: Stores = {}
    rows: list[dict[str, Any]] = []
    since = None
    for number[0], part in enumerate(cuts):
        # A micro-batch before the change may come again after the driver has been started with the new rules.
        job = new if number[0] >= begin or (number[0] == begin - 1 and chance.random() < 0.5) else old
        if number[0] == begin:
            since = max((fact[2] for some in cuts[:begin] for fact in some), default=0)
        rows += to_stores(job, packs_of(job, part), chance, stores)
    shard_reasoner._kept.clear()
    everything = [fact for part in cuts for fact in part]
    was = [answer.to_json() for answer in embedded(old, everything, FAR - 1)]
    assert confirmed(told(rows, fresh=False), FAR - 1) == confirmed(was, FAR - 1)
    always = [answer.to_json() for answer in embedded(replace(new, sources=old.sources), everything, FAR - 1)]
    expected = confirmed([line for line in always if line["answer"].startswith("fresh")], FAR - 1)
    found = confirmed(told(rows, fresh=True), FAR - 1)
    if backfill or begin == 0:
        assert found == expected
    else:
        assert since is not None and found <= expected
        # The step of the last time heard of before is yet to come when rules change.
        assert found >= Counter({each: count for each, count in expected.items() if each[1] >= since})


TURBINES = """
input temp(device, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
query cool(X).
"""


def test_what_is_gone_is_told_for_the_last_time(monkeypatch: pytest.MonkeyPatch) -> None:
    old = job_of(Case(TURBINES, []), "changes", 1, ("time",))
    new = job_of(Case(TURBINES.replace("query cool(X)", "query flag(X)"), []), "changes", 1, ("time",))
    assert old is not None and new is not None
    new = replace(new, earlier=(earlier(old),), begin=2)
    stores: Stores = {}
    chance = random.Random(1)
    rows = []
    for batch, job in enumerate((old, old, new, new)):
        monkeypatch.setattr(streaming, "batch_number", lambda batch=batch: batch)
        rows += to_stores(job, packs_of(job, [("temp", ("w", "high"), batch, batch)]), chance, stores)
    assert [(row["now"], row["status"], row["answer"]) for row in rows] == [
        (0, "possible", "cool(w)@1"),
        (0, "unsupported", "cool(w)@1"),
        (1, "confirmed", "flag(w)@1"),
        (2, "confirmed", "flag(w)@2"),
    ]


def test_history_is_kept_as_far_as_it_may_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST_LOG", 1)
    job = job_of(Case(TURBINES, []), "changes", 1, ("time",))
    assert job is not None
    sizes = {}
    for history in (0, 20_000, LARGE):
        stores: Stores = {}
        for batch in range(60):
            packs = packs_of(job, [("temp", ("w", "high"), batch, batch)])
            to_stores(replace(job, history=history), packs, random.Random(1), stores)
        log = stores[0].committed["log"]
        sizes[history] = len(log)
        assert sum(len(data) for (data,) in log.values()) <= history + 20_000 or history == LARGE
    assert sizes[0] + 2 < sizes[20_000] < sizes[LARGE] == 60


def test_shards_keep_to_the_budget_of_a_key() -> None:
    case = Case("input seen(device, what). both(X, A) :- seen(X, A). query both(X, A).", [])
    job = job_of(case, "confirmed", 3, ("time",))
    assert job is not None
    job = replace(job, most_per_key=2)
    given: list[Any] = [("seen", ("hot", f"w{each}"), 1, 1) for each in range(9)]
    given += [("seen", (f"d{each}", "w"), 1, 1) for each in range(4)]
    stores: Stores = {}
    rows = []
    for part in (given[:7], given[7:], [("seen", ("d0", "w"), 5, 5)]):
        rows += to_stores(job, packs_of(job, part), random.Random(1), stores)
    found = {row["answer"] for row in rows}
    assert {f"both(d{each}, w)@1" for each in range(4)} < found
    # Keys of several columns may be divided among shards: each has its budget.
    assert 2 <= sum("hot" in answer for answer in found) <= 2 * job.shards
