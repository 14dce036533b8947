"""Presage on a real Spark: what batch and streams answer is what the embedded run answers.

One session serves all tests. What workers do is tested at length in `test_spark_shards.py`, without Spark; here are the
ways through Spark itself: shuffles, types, micro-batches, checkpoints, and messages.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.errors import PresageError
from tests.conftest import skip_without_spark
from tests.random_programs import Case
from tests.spark.test_spark_shards import TURBINES, confirmed, embedded, facts_of, given_by, job_of, plain, turbines

skip_without_spark()
ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]
TEMP = "device string, level string, time long, arrives long"


def rows_of(case: Case, early: bool = True) -> list[tuple[Any, ...]]:
    return [(*row, time, arrives) for _, row, time, arrives in given_by(case, early)]


def lines(frame: Any) -> Counter[str]:
    return Counter(plain(row.asDict(recursive=True)) for row in frame.collect())


def told(case: Case, emit: str, when: tuple[str, ...] = ("time", "arrives")) -> Counter[str]:
    job = job_of(case, emit, 1, when)
    assert job is not None
    return Counter(plain(answer.to_json()) for answer in embedded(job, given_by(case, early=True)))


def test_batch_is_the_embedded_run(spark: Any) -> None:
    case = turbines(3, late=True)
    frame = spark.createDataFrame(rows_of(case), TEMP).repartition(3)
    answers, late = presage.spark.answers(
        presage.parse(TURBINES), {"temp": frame}, arrives="arrives", shards=3, late=True
    )
    assert [field.dataType.simpleString() for field in answers.schema][:6] == [
        "bigint", "string", "string", "string", "map<string,string>", "bigint",
    ]  # fmt: skip
    assert lines(answers) == told(case, "changes")
    job = job_of(case, "changes", 1, ("time", "arrives"))
    assert job is not None
    facts = facts_of(job, given_by(case, early=True))
    assert late.count() == sum(job.checker.is_late(fact, fact.arrival) for fact in facts) > 0


def test_a_program_without_a_key_runs_as_one_shard_and_says_why(spark: Any) -> None:
    text = (ROOT / "tests/cases/analysis/ha-example-11-hospital/program.psg").read_text()
    case = Case(text)
    case.facts = [(("gcm", ("ann",), 0), 0), (("gbol", ("ann",), 0), 0), (("bca", ("bob",), 3), 3)]
    frames = {
        name: spark.createDataFrame(
            [(*row, at) for (each, row, at), _ in case.facts if each == name], "who string, time int"
        )
        for name in ("gcm", "gbol", "bca")
    }
    with pytest.warns(UserWarning, match=r"runs as one shard: line \d+: an answer that leaves a variable open"):
        answers = presage.spark.answers(presage.parse(text), frames)
    assert lines(answers) == told(case, "changes", ("time",))


def test_metric_operators_static_facts_and_other_names(spark: Any) -> None:
    text = """
    tick 1s. start 2026-01-01T00:00:00Z. timeline discrete.
    input ping(host, seen: float) delay 2s.
    static owner(host, team).
    quiet(H, W) :- once[1s,5s] ping(H, V), V > 0.5, not ping(H, 0.75), owner(H, W).
    query quiet(H, W).
    """
    start, rows = 1767225600, [("a", 1.5, 0), ("b", 0.75, 1), ("c", 2.0, 1), ("a", 0.75, 4), ("zz", 9.0, 3)]
    stamped = spark.createDataFrame(rows, "machine string, v double, at int").selectExpr(
        "machine", "v as seen", f"timestamp_seconds({start} + at) as ts"
    )
    owners = spark.createDataFrame([("a", "west"), ("b", "east"), ("c", "west")], "host string, team string")
    answers = presage.spark.answers(
        presage.parse(text), {"ping": stamped}, time="ts", columns={"ping": {"host": "machine"}},
        static={"owner": owners}, emit="confirmed", shards=3, times="ticks",
    )  # fmt: skip
    case = Case(text, [(("ping", (host, seen), at), at) for host, seen, at in rows])  # type: ignore[arg-type]
    case.statics = [("owner", pair) for pair in (("a", "west"), ("b", "east"), ("c", "west"))]  # type: ignore[misc]
    found = lines(answers)
    assert found and found == told(case, "confirmed", ("time",))


def test_timestamps_come_out_as_timestamps(spark: Any) -> None:
    text = """timeline discrete. tick 1m. start 2026-03-02T00:00:00Z.
    input temp(device, level) delay 1. flag(X) :- temp(X, high). cool(X)@T+1 :- flag(X)@T, flag(X)@T+1. query cool(X).
    """
    rows = [(device, "high", f"2026-03-02 00:0{minute}:00") for device in "ab" for minute in range(2)]
    frame = spark.createDataFrame(rows, "device string, level string, at string").selectExpr(
        "device", "level", "to_utc_timestamp(at, 'UTC') as ts"
    )
    answers = presage.spark.answers(presage.parse(text), {"temp": frame}, time="ts", shards=2)
    assert [answers.schema[name].dataType.simpleString() for name in ("now", "time", "decided_by")] == ["timestamp"] * 3
    found = answers.where("bindings['X'] = 'a'").orderBy("now", "status")
    told = found.selectExpr("status", "answer", "needs", "date_format(decided_by, 'HH:mm') as by").collect()
    at = "2026-03-02T00:0{}:00Z".format
    assert [tuple(row) for row in told] == [
        ("possible", f"cool(a)@{at(1)}", [f"temp(a, high)@{at(1)}"], "00:02"),
        ("confirmed", f"cool(a)@{at(1)}", [], None),
        ("possible", f"cool(a)@{at(2)}", [f"temp(a, high)@{at(2)}"], "00:03"),
        ("refuted", f"cool(a)@{at(2)}", [], None),
    ]
    vienna = presage.spark.answers(
        presage.parse(text), {"temp": frame}, time="ts", emit="confirmed", zone="Europe/Vienna"
    ).first()
    assert vienna is not None
    assert (vienna.answer[-25:], vienna.key[-20:]) == ("2026-03-02T01:01:00+01:00", at(1))


@pytest.mark.filterwarnings("ignore:.*runs as one shard")
@pytest.mark.parametrize("emit", ["changes", "confirmed"])
def test_static_facts_without_arguments(spark: Any, emit: str) -> None:
    """By shards and, where the program has no key, as DataFrames."""
    facts = spark.createDataFrame([("a", 1)], "x string, time long")
    some = spark.createDataFrame([(1,)], "other long")
    for body in ("p(X), on", "p(X), p(Y), on"):
        program = presage.parse(f"timeline discrete. input p(x). static on. q(X) :- {body}. query q(X).")
        for table, expected in ((some, ["q(a)@1"]), (some.limit(0), [])):
            answers = presage.spark.answers(program, {"p": facts}, static={"on": table}, emit=emit, shards=2)
            assert [row.answer for row in answers.where("status = 'confirmed'").collect()] == expected


def test_dense_time_in_text(spark: Any) -> None:
    case = Case("near(X) :- p(X), not once(0,1] q(X).\nquery near(X).\n")
    case.facts = [((name, (who,), at), at) for name, who, at in (("p", "a", 1), ("q", "b", "1/3"), ("p", "b", "2/3"))]  # type: ignore[misc]
    frames = {
        name: spark.createDataFrame(
            [(row[0], str(at)) for (each, row, at), _ in case.facts if each == name], "x string, time string"
        )
        for name in "pq"
    }
    answers = presage.spark.answers(presage.parse(case.text), frames, emit="confirmed", shards=3)
    job = job_of(case, "confirmed", 1, ("time",))
    assert job is not None
    given = [(name, row, job.checker.time(at, ""), job.checker.time(at, "")) for (name, row, at), _ in case.facts]
    expected = Counter(plain(answer.to_json()) for answer in embedded(job, given))
    assert lines(answers) == expected
    assert answers.schema["now"].dataType.simpleString() == "string"


CHOICES = {
    "alternatives": """timeline discrete. input temp(device, level) delay 1.
        fan(D) | valve(D) :- temp(D, high). busy(D) :- fan(D). busy(D) :- valve(D). query busy(D).""",
    "reading now": """reading now. timeline discrete. input temp(device, level) delay 1.
        hot(D) :- window(2) some temp(D, high). query hot(D).""",
    "none": """timeline discrete. input temp(device, level) delay 1.
        on(D) :- temp(D, high), not off(D). off(D) :- temp(D, high), not on(D). :- temp(nobody, high).
        any(D) :- on(D). any(D) :- off(D). query any(D).""",
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.filterwarnings("ignore:.*runs as one shard")
def test_answer_streams(spark: Any, tmp_path: Path, name: str) -> None:
    """With several models or none, each shard tells what holds in all of its own, in batch and from a stream."""
    program = presage.parse(CHOICES[name])
    rows = [
        ("a", "high", 0),
        ("b", "high", 1),
        ("a", "low", 2),
        ("b", "high", 3),
        ("nobody", "high", 5),
        ("a", "low", 9),
    ]
    reasoner = presage.Reasoner(program)
    expected = []
    for now in range(11):
        for answer in reasoner.push([("temp", row[:2], row[2]) for row in rows if row[2] == now], now):
            expected.append((answer.now, answer.status, answer.answer or None))
    frame = spark.createDataFrame([(*row, row[2]) for row in rows], TEMP)
    found = presage.spark.answers(program, {"temp": frame}, arrives="arrives", shards=2, until=10)
    assert sorted(tuple(row) for row in found.select("now", "status", "answer").collect()) == sorted(expected)
    write_stream(spark, tmp_path / "in", [[(*row, row[2])] for row in rows])
    streamed = presage.spark.answers(program, {"temp": stream(spark, tmp_path / "in")}, shards=2)
    told = sorted((row["now"], row["status"], row["answer"]) for row in run_stream(streamed, tmp_path))
    assert told == sorted(each for each in expected if each[0] < 9)
    assert any(status == "inconsistent" for _, status, _ in told) == (name == "none")


# Streams


def write_stream(spark: Any, folder: Path, cuts: list[list[tuple[Any, ...]]]) -> None:
    """One file for each micro-batch, in their order."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    names = ("device", "level", "time", "arrives")
    for index, rows in enumerate(cuts):
        table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
        path = folder / f"{index:04d}.parquet"
        parquet.write_table(table, path)
        os.utime(path, (1_700_000_000 + index, 1_700_000_000 + index))


def stream(spark: Any, folder: Path) -> Any:
    return spark.readStream.schema(TEMP).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run_stream(answers: Any, folder: Path) -> list[dict[str, Any]]:
    query = (
        answers.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return [row.asDict(recursive=True) for row in answers.sparkSession.read.parquet(str(folder / "out")).collect()]


def cuts_of(case: Case, chance: random.Random, most: int) -> list[list[tuple[Any, ...]]]:
    """The readings in the order of arrival, cut at random; at the end one of a time when all is settled."""
    rows = rows_of(case)
    edges = sorted(chance.sample(range(1, len(rows)), most))
    parts = [rows[start:stop] for start, stop in zip([0, *edges], [*edges, len(rows)], strict=True)]
    return [*parts, [("nobody", "low", 60, 60)]]


def settled(case: Case) -> Counter[tuple[str, int]]:
    job = job_of(case, "changes", 1, ("time", "arrives"))
    assert job is not None
    return confirmed([answer.to_json() for answer in embedded(job, given_by(case, early=True))], 59)


@pytest.mark.parametrize(("seed", "shards"), [(11, 3), (12, 1)])
def test_a_stream_confirms_what_the_embedded_run_confirms(spark: Any, tmp_path: Path, seed: int, shards: int) -> None:
    case = turbines(seed)
    write_stream(spark, tmp_path / "in", cuts_of(case, random.Random(seed), 2 + shards))
    answers = presage.spark.answers(presage.parse(TURBINES), {"temp": stream(spark, tmp_path / "in")}, shards=shards)
    found = run_stream(answers, tmp_path)
    assert confirmed(found, 59) == settled(case)
    assert {"possible", "refuted"} <= {row["status"] for row in found}


def test_history_and_then_a_stream_tell_everything_once(spark: Any, tmp_path: Path) -> None:
    case = turbines(21)
    rows = rows_of(case)
    before, after = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    given: dict[str, Any] = {"arrives": "arrives", "shards": 3, "state": tmp_path / "state"}
    history = spark.createDataFrame(before, TEMP).repartition(2)
    found = lines(presage.spark.answers(presage.parse(TURBINES), {"temp": history}, **given))
    write_stream(spark, tmp_path / "in", [after, [("nobody", "low", 60, 60)]])
    source = stream(spark, tmp_path / "in")
    answers = presage.spark.answers(presage.parse(TURBINES), {"temp": source}, **given)
    found += Counter(plain(row) for row in run_stream(answers, tmp_path))
    job = job_of(case, "changes", 1, ("time", "arrives"))
    assert job is not None
    facts = [*given_by(case, early=True), ("temp", ("nobody", "low"), 60, 60)]
    assert found == Counter(plain(answer.to_json()) for answer in embedded(job, facts, 59))
    # The checkpoint goes on with this program only.
    write_stream(spark, tmp_path / "in", [after, [("nobody", "low", 60, 60)], [("nobody", "low", 70, 70)]])
    other = presage.parse(TURBINES.replace("@T-2", "@T-1"))
    with pytest.raises(Exception, match="the checkpoint belongs to another run: program changed"):
        run_stream(presage.spark.answers(other, {"temp": source}, **given), tmp_path)


# Messages


@pytest.mark.parametrize(
    ("schema", "given", "said"),
    [
        ("device string, time long", {}, "the DataFrame of `temp`: the column `level` is missing"),
        ("device string, levl string, time long", {}, "the column `level` is missing; is it `levl`?"),
        ("device string, level string", {}, "the column `time` of its time is missing"),
        ("device string, level string, time long", {"time": "ts"}, "the column `ts` of its time is missing"),
        ("device string, level string, time long", {"arrives": "arrived"}, "the column `arrived` of its arrival"),
        ("device string, level array<string>, time long", {}, "`level` is array<string>, which cannot be `level: any`"),
        ("device string, level string, time boolean", {}, "`time` is boolean, which cannot be the `time` of a fact"),
        ("device string, level string, time timestamp", {}, "the program needs a `tick`"),
        ("device string, level string, time long", {"emit": "snapshot"}, "emit is"),
        ("device string, level string, time long", {"shards": 0}, "shards is a whole number"),
        ("device string, level string, time long", {"columns": {"temp": {"devise": "device"}}}, "no column `devise`"),
    ],
)  # fmt: skip
def test_what_a_schema_lacks_is_told_at_once(spark: Any, schema: str, given: dict[str, Any], said: str) -> None:
    frame = spark.createDataFrame([], schema)
    with pytest.raises(PresageError) as found:
        presage.spark.answers(presage.parse(TURBINES), {"temp": frame}, **given)
    assert said in str(found.value)


def test_other_wrong_calls(spark: Any, tmp_path: Path) -> None:
    program = presage.parse(TURBINES + "static owner(device).\ninput other(x).\n")
    frame = spark.createDataFrame([], "device string, level string, time long")
    (tmp_path / "in").mkdir()
    streaming = stream(spark, tmp_path / "in")
    for facts, more, said in (
        ({}, {}, "there are no facts"),
        ({"tmp": frame}, {}, "did you mean `temp`?"),
        ({"malf": frame}, {}, "derived by rules"),
        ({"owner": frame}, {}, "is static: give it with `static`"),
        ({"temp": [1, 2]}, {}, "a list is not a Spark DataFrame"),
        ({"temp": frame}, {"static": {"temp": frame}}, "`temp` is not static"),
        (
            {"temp": streaming, "other": frame.selectExpr("device as x", "time")},
            {},
            "`temp` streams and",
        ),
        ({"temp": streaming}, {"until": 3}, "a stream has no last step"),
    ):
        with pytest.raises(PresageError) as found:
            presage.spark.answers(program, facts, **more)  # type: ignore[call-overload]
        assert said in str(found.value)


def test_null_times_are_named(spark: Any) -> None:
    frame = spark.createDataFrame([("a", "high", 0), ("b", "high", None)], "device string, level string, time long")
    with pytest.raises(PresageError, match="`temp`: 1 rows have no time"):
        presage.spark.answers(presage.parse(TURBINES), {"temp": frame})


def test_names_of_no_predicate_are_told(spark: Any) -> None:
    program = presage.parse("timeline discrete. input ping(x). q(X) :- ping(X). query q(X).")
    facts = spark.createDataFrame([("a", 1)], "x string, time long")
    for given in ({"columns": {"pings": {"x": "x"}}}, {"time": {"pings": "time"}}, {"arrives": {"pings": "time"}}):
        with pytest.raises(PresageError, match=rf"`{next(iter(given))}`: the program has no input `pings`"):
            presage.spark.answers(program, {"ping": facts}, **given)
    with pytest.raises(PresageError, match="a str is not a program"):
        presage.spark.answers("input ping(x).", {"ping": facts})  # type: ignore[call-overload]
    with pytest.raises(PresageError, match="shards is a whole number of at least 1, not True"):
        presage.spark.answers(program, {"ping": facts}, shards=True)


def test_nulls_of_static_tables_and_arrivals_are_named(spark: Any) -> None:
    program = presage.parse("timeline discrete. input p(x). static s(x, y). q(X, Y) :- p(X), s(X, Y). query q(X, Y).")
    facts = spark.createDataFrame([("a", 1, None)], "x string, time long, seen long")
    table = spark.createDataFrame([("a", None)], "x string, y string")
    for emit in ("changes", "confirmed"):
        with pytest.raises(PresageError, match="`s`, the column `y`: 1 rows have no value"):
            presage.spark.answers(program, {"p": facts}, static={"s": table}, emit=emit).collect()
    with pytest.raises(PresageError, match="`p`: 1 rows have no time of arrival"):
        presage.spark.answers(program, {"p": facts}, arrives="seen").collect()


def test_too_many_partitions_are_warned_of(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        with pytest.warns(UserWarning, match="spark.sql.shuffle.partitions is 200"):
            presage.spark.answers(presage.parse(TURBINES), {"temp": stream(spark, tmp_path / "in")}, shards=4)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")


def test_what_java_writes_meanwhile_is_in_the_folder_of_the_session(tmp_path: Path) -> None:
    """So it goes with the folder, though Java is killed, and needs no /tmp that can be written to. In a process of its
    own: the Java of this one may be that of an earlier session."""
    asks = """
import pathlib, sys, presage
session = presage.spark.local_session(1, 1, pathlib.Path(sys.argv[1]))
print(session.sparkContext._jvm.java.lang.System.getProperty("java.io.tmpdir"))
"""
    said = subprocess.run([sys.executable, "-c", asks, str(tmp_path)], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(tmp_path / "java-files")
    assert (tmp_path / "java-files").is_dir()
