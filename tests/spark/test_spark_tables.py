"""Tables that change while a stream runs: their rows hold as long as they are there, also after a restart.

What workers do with them is tested without Spark, with workers that forget and tasks that run twice; that Spark reads a
table anew for each micro-batch, with it.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage-streams[spark]")

import pyarrow as pa
from pyarrow import parquet
from pyspark.errors import PySparkException

import presage
from presage.errors import PresageError
from presage.spark.packs import packer
from presage.spark.tables import OVER_TIME, _table_packer
from presage.spark.troubles import own_words
from tests.conftest import skip_without_spark
from tests.random_programs import Case
from tests.spark.test_spark_shards import FAR, Given, Stores, confirmed, embedded, job_of, tables, to_stores

OWNERS = """
timeline discrete.
input ping(host) delay 1.
input owner(host, team).
owned(H) :- owner(H, W).
alarm(H, W) :- ping(H), owner(H, W).
orphan(H) :- once[0,2] ping(H), not owned(H).
settled(H, W) :- ping(H), historically[0,3] owner(H, W).
query alarm(H, W).
query orphan(H).
query settled(H, W).
"""


def job_with_table(emit: str, shards: int) -> Any:
    job = job_of(Case(OWNERS), emit, shards, ("time",))
    assert job is not None
    sources = [replace(each, when=OVER_TIME) if each.predicate == "owner" else each for each in job.sources]
    return replace(job, sources=tuple(sources), changing=True)


def micro_batch(job: Any, facts: Given, owners: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The packs of a micro-batch, each with the table that its shard has to know."""
    number, source = next((n, each) for n, each in enumerate(job.sources) if each.predicate == "owner")
    table = pa.table({"c0": [host for host, _ in owners], "c1": [team for _, team in owners]})
    rows = [row for made in _table_packer(job, number, source)(iter(table.to_batches())) for row in made.to_pylist()]
    packs: list[dict[str, Any]] = []
    for index, each, given in tables(job, facts):
        for made in packer(job, index, each)(iter(given.to_batches())):
            packs += made.to_pylist()
    return [{**pack, "tables": [row for row in rows if row["shard"] == pack["shard"]] or None} for pack in packs]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("emit", ["confirmed", "changes"])
def test_rows_hold_while_they_are_there(seed: int, emit: str) -> None:
    chance = random.Random(seed)
    job = job_with_table(emit, chance.choice([1, 3]))
    stores: Stores = {}
    found: list[dict[str, Any]] = []
    given: Given = []
    before: int | None = None
    time = chance.choice([0, 4])
    for last in [False] * chance.randint(2, 5) + [True]:
        facts: Given = []
        for _ in range(chance.randint(1, 3)):
            facts += [("ping", (host,), time, time) for host in "abc" if chance.random() < 0.7] or [
                ("ping", ("d",), time, time)
            ]
            time += chance.randint(0, 2)
        if last:
            facts.append(("ping", ("d",), FAR, FAR))
        owners = [(host, team) for host in "abc" for team in "xy" if chance.random() < 0.5]
        start, clock = facts[0][2] if before is None else before, max(fact[2] for fact in facts)
        if owners and start < clock:
            given += [("owner", row, (start, clock, "[)"), start) for row in owners]
        # What comes in a later micro-batch arrives at the clock at the earliest.
        given += [(name, row, at, max(at, before or 0)) for name, row, at, _ in facts]
        before = max(clock, before or 0)
        found += to_stores(job, micro_batch(job, facts, owners), chance, stores)
    expected = [answer.to_json() for answer in embedded(job, sorted(given, key=lambda fact: fact[3]), FAR - 1)]
    assert confirmed(found, FAR - 1) == confirmed(expected, FAR - 1)
    assert not [row for row in found if row["late"] is not None]


skip_without_spark()
on_spark = pytest.mark.xdist_group("spark")


@on_spark
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_table_is_read_again_at_each_micro_batch(spark: Any, tmp_path: Path) -> None:
    """Also by a query that is started again."""

    def write(*owners: tuple[str, str]) -> None:
        table = pa.table({"host": [host for host, _ in owners], "team": [team for _, team in owners]})
        parquet.write_table(table, tmp_path / "owners.parquet")

    def ping(*pings: tuple[str, int]) -> None:
        frame = spark.createDataFrame(list(pings), "host string, time long")
        frame.coalesce(1).write.mode("append").parquet(str(tmp_path / "pings"))

    def start() -> Any:
        stream = spark.readStream.schema("host string, time long").parquet(str(tmp_path / "pings"))
        answers = presage.spark.answers(
            presage.parse(OWNERS), {"ping": stream}, tables={"owner": presage.spark.reread(spark, owners)},
            emit="confirmed", shards=2,
        )  # fmt: skip
        files = answers.writeStream.format("parquet").option("path", str(tmp_path / "answers"))
        return files.option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    owners = tmp_path / "owners.parquet"
    write(("a", "x"))
    ping(("a", 2), ("b", 2), ("a", 4))
    query = start()
    query.processAllAvailable()
    write(("a", "y"), ("b", "x"))
    ping(("b", 6), ("a", 8))
    query.processAllAvailable()
    query.stop()
    write(("b", "z"))
    query = start()
    ping(("a", 9), ("b", 9), ("a", 12))
    query.processAllAvailable()
    query.stop()
    found = spark.read.parquet(str(tmp_path / "answers")).where("answer like 'alarm%'").collect()
    # At 4 the second table was read; from 8 on the third held.
    assert {row.answer for row in found} == {"alarm(a, x)@2", "alarm(a, y)@4", "alarm(b, x)@6", "alarm(b, z)@9"}


@on_spark
def test_files_that_change_are_what_they_are_now(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "duty.csv"
    path.write_text("host,team,empty\na,1,\n")
    table = presage.spark.reread(spark, path)
    assert [tuple(row) for row in table.collect()] == [("a", 1, None)]
    path.write_text("team,empty,host\n2,x,b\n3,,c\n")
    assert [tuple(row) for row in table.collect()] == [("b", 2, "x"), ("c", 3, None)]
    path.write_text("")
    assert not table.collect()
    for text, said in (
        ("host,team,empty\na,x,\n", "duty.csv: the table cannot be read (In CSV column #1: CSV conversion error"),
        ("host,team\na,1\n", "duty.csv: the column `empty` is not there once; the columns are `host`, `team`"),
    ):
        path.write_text(text)
        with pytest.raises(PySparkException) as found:
            table.collect()
        assert said in own_words(found.value)


@on_spark
def test_a_table_without_columns_holds_while_it_has_rows(spark: Any, tmp_path: Path) -> None:
    program = presage.parse(
        "timeline discrete. input ping(host). input night. alarm(H) :- ping(H), night. query alarm(H)."
    )
    path, pings = tmp_path / "night.csv", tmp_path / "pings"
    path.write_text("since\n22\n")
    frame = spark.createDataFrame([("a", 1), ("b", 2)], "host string, time long")
    frame.coalesce(1).write.parquet(str(pings))
    stream = spark.readStream.schema(frame.schema).parquet(str(pings))
    answers = presage.spark.answers(
        program, {"ping": stream}, tables={"night": presage.spark.reread(spark, path)}, emit="confirmed", shards=1
    )
    query = answers.writeStream.format("memory").queryName("nights").start()
    query.processAllAvailable()
    query.stop()
    assert [row.answer for row in spark.table("nights").collect()] == ["alarm(a)@1"]


@on_spark
def test_tables_that_cannot_be_are_told(spark: Any, tmp_path: Path) -> None:
    pings = spark.createDataFrame([("a", 0)], "host string, time long")
    owners = spark.createDataFrame([("a", "x")], "host string, team string")
    with pytest.raises(PresageError, match="`tables` is for streams"):
        presage.spark.answers(presage.parse(OWNERS), {"ping": pings}, tables={"owner": owners}, shards=1)
    always = presage.parse(OWNERS.replace("input owner", "static owner"))
    with pytest.raises(PresageError, match=r"a table that changes is declared `input owner\(…\)\.`"):
        presage.spark.answers(always, {"ping": pings}, tables={"owner": owners}, shards=1)
    with pytest.raises(PresageError, match="the table cannot be read"):
        presage.spark.reread(spark, tmp_path / "nothing.parquet")


def test_another_static_table_is_told_what_to_do() -> None:
    job = replace(job_with_table("confirmed", 1), static=(("plan", ("a",)),))
    with pytest.raises(PresageError, match=r"static facts changed.* is declared `input`, and given with `tables`"):
        replace(job, static=()).must_be_same(job.fingerprints, "the checkpoint")


@pytest.mark.parametrize("text", ["null\n", '\n null\n{"a": 1}\n', '{"a": 1}\n' * 200_000 + "null\n" * 10])
def test_lines_that_are_no_rows_are_told(text: str, tmp_path: Path) -> None:
    """Arrow's reader ends the process where a block of a file begins with `null`."""
    from presage.spark.anew import read_files

    (tmp_path / "table.jsonl").write_text(text)
    with pytest.raises(pa.ArrowInvalid, match="no row"):
        read_files(str(tmp_path / "table.jsonl"), "json", None)
