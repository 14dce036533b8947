"""Pipelines with a real PostgreSQL, started here on the loopback interface: tables read, answers kept up to date."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from presage.errors import PresageError
from presage.pipeline.postgres import read_table, upsert, upsert_what_fits
from tests.conftest import skip_without_spark
from tests.postgres import PASSWORD, Database

pytestmark = pytest.mark.xdist_group("pipelines")


def test_tables_are_read_with_their_types(database: Database) -> None:
    database.run(
        "create table kinds (a int, b text, c double precision, d boolean, e numeric(8,2), f numeric, "
        "g timestamptz, h date, i uuid, j jsonb, k varchar(5));"
        "insert into kinds values (1, 'x', 0.5, true, 2.25, 3.125, '2026-01-01 00:00+00', '2026-01-02', "
        "'00000000-0000-0000-0000-000000000001', '{\"a\": 1}', 'y'), (null, null, null, null, null, null, null, null, "
        "null, null, null)"
    )
    found = read_table(database.part("static", table="kinds"))
    assert [str(kind) for kind in found.schema.types] == [
        "int64", "string", "double", "bool", "decimal128(38, 2)", "string", "timestamp[us, tz=UTC]", "date32[day]",
        "string", "string", "string",
    ]  # fmt: skip
    first, second = found.to_pylist()
    assert (first["a"], first["f"], first["j"]) == (1, "3.125", '{"a": 1}')
    assert set(second.values()) == {None}
    empty = read_table(database.part("static", query="select a, b from kinds where a = 7"))
    assert empty.num_rows == 0 and [str(kind) for kind in empty.schema.types] == ["int64", "string"]


def line(answer: str, now: Any, status: str) -> dict[str, Any]:
    body = {"bindings": {"X": "ü\t\\N"}, "time": 1, "because": ["p(a)@1"], "needs": [], "unless": []}
    return {"now": now, "status": status, "answer": answer, "key": answer, **body, "decided_by": 4, "confidence": 0.5}


def test_the_latest_line_of_an_answer_stays(database: Database) -> None:
    sink = database.part("sinks", table="farm.answers")
    database.run("create schema farm")
    upsert(sink, [line("a@1", 3, "confirmed"), line("a@1", 2, "possible"), line("b@1", 2, "possible")], True)
    assert database.run("select answer, status, now from farm.answers order by 1") == [
        ("a@1", "confirmed", 3),
        ("b@1", "possible", 2),
    ]
    for _ in range(2):
        upsert(sink, [line("b@1", 5, "refuted"), line("c'\"@1", 5, "possible")], True)
    found = database.run('select answer, status, now, bindings, because, "time" from farm.answers order by 1')
    assert [row[:3] for row in found] == [("a@1", "confirmed", 3), ("b@1", "refuted", 5), ("c'\"@1", "possible", 5)]
    assert found[0][3:] == ({"X": "ü\t\\N"}, ["p(a)@1"], 1)
    dense = database.part("sinks", table="dense")
    upsert(dense, [line("a@1", "5/2", "confirmed"), line("a@1", "2", "possible")], False)
    assert database.run("select status, now from dense") == [("confirmed", "5/2")]


def test_a_micro_batch_is_written_whole_or_not_at_all(database: Database) -> None:
    sink = database.part("sinks", table="strict")
    upsert(sink, [line("a@1", 1, "possible")], True)
    database.run("alter table strict add check (status <> 'refuted')")
    with pytest.raises(PresageError, match=r"\[sinks.db\] PostgreSQL says: .*violates check constraint"):
        upsert(sink, [line("a@1", 2, "confirmed"), line("b@1", 2, "refuted")], True)
    assert database.run("select answer, status from strict") == [("a@1", "possible")]


def test_what_the_database_refuses_is_told_without_the_password(database: Database) -> None:
    database.run("create table other (answer text primary key)")
    for values, said in (
        ({"table": "nowhere"}, 'relation "nowhere" does not exist'),
        ({"query": "select from where"}, "syntax error"),
        ({"query": "create table made (a int)"}, "gives no rows"),
        ({"table": "kinds", "password_env": "wrong-password"}, "password authentication failed"),
        ({"table": "kinds", "url": "jdbc:postgresql://127.0.0.1:1/postgres"}, "refused"),
        ({"table": "kinds", "url": f"{database.url}?nonsense=1"}, "invalid URI query parameter"),
    ):
        with pytest.raises(PresageError) as found:
            read_table(database.part("static", **values))
        assert said in str(found.value) and str(found.value).startswith("[static.db]") and "\n" not in str(found.value)
        assert "wrong-password" not in str(found.value) and PASSWORD not in str(found.value)
    with pytest.raises(
        PresageError, match=r'table other is not one of answers: it has no column "key", "status".*drop'
    ):
        upsert(database.part("sinks", table="other"), [line("a@1", 1, "possible")], True)
    assert database.run("select * from other") == [], "and it is as it was"


def test_what_it_takes_in_no_form_is_put_aside_and_the_rest_is_written(database: Database) -> None:
    sink = database.part("sinks", table="picky")
    long = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(20_000))
    told = [line(each, 1, "possible") for each in ("a@1", "b\0@1", "c@1", f"{long}@1", "d@1")]
    for _ in range(2):
        assert upsert_what_fits(sink, told, True) == 2
    assert database.run("select key from picky order by 1") == [("a@1",), ("c@1",), ("d@1",)]
    aside = database.run("select sink, why, line from presage_refused order by length(line)")
    assert [row[0] for row in aside] == ["db", "db"] and "NUL" in aside[0][1] and "index" in aside[1][1]
    assert [json.loads(row[2])["key"] for row in aside] == ["b\0@1", f"{long}@1"]


def test_a_table_of_the_first_version_goes_on(database: Database) -> None:
    database.run(
        "create schema old;"
        'create table old.answers (answer text, status text, now bigint, bindings jsonb, "time" bigint, "from" bigint, '
        '"to" bigint, bounds text, because jsonb, needs jsonb, unless jsonb, decided_by bigint, '
        "confidence double precision, ways jsonb, primary key (answer));"
        "insert into old.answers (answer, status, now) values ('a@1', 'possible', 1), ('b@1', 'confirmed', 1)"
    )
    sink = database.part("sinks", table="old.answers")
    for _ in range(2):
        upsert(sink, [line("a@1", 2, "confirmed"), line("on(d)@[3,5]", 2, "confirmed") | {"key": "on(d)@3"}], True)
    assert database.run("select key, answer, status, now from old.answers order by key") == [
        ("a@1", "a@1", "confirmed", 2), ("b@1", "b@1", "confirmed", 1), ("on(d)@3", "on(d)@[3,5]", "confirmed", 2),
    ]  # fmt: skip


def test_a_table_of_the_first_version_with_other_times_is_refused_by_name(database: Database) -> None:
    """It had numbers where facts had timestamps: no line is put aside for that, and the table stays as it was."""
    database.run(
        "create schema older;"
        'create table older.answers (answer text, status text, now bigint, bindings jsonb, "time" bigint, '
        '"from" bigint, "to" bigint, bounds text, because jsonb, needs jsonb, unless jsonb, decided_by bigint, '
        "confidence double precision, ways jsonb, primary key (answer))"
    )
    told = line("a@1", 2, "confirmed") | {"now": "2026-01-01T00:00:02Z", "time": "2026-01-01T00:00:01Z"}
    with pytest.raises(PresageError, match=r"has times as bigint, and they are timestamptz now: .* `times`"):
        upsert_what_fits(database.part("sinks", table="older.answers"), [told], True)
    columns = "select column_name from information_schema.columns where table_schema = 'older'"
    assert ("key",) not in database.run(columns)


def test_a_pipeline_reads_static_facts_and_writes_answers(database: Database, tmp_path: Path, spark: Any) -> None:
    skip_without_spark()
    from tests.spark.test_pipeline_spark import BATCH, at, edit, refused, run, write_demo

    farm = tmp_path / "farm"
    write_demo(farm)
    trigger = next(each for each in (farm / "pipeline.toml").read_text().splitlines(True) if each.startswith("trigger"))
    login = f'url = "{database.url}"\nuser = "presage"\npassword_env = "FARM_PASSWORD"\n'
    edit(
        farm, *BATCH, (trigger, ""),
        more=f'[sinks.db]\nformat = "jdbc"\n{login}table = "malfunctions"\n'
        f'[static.owner]\nformat = "jdbc"\n{login}query = "select turbine, team from owners"\n'
        'columns = { device = "turbine" }\n',
    )  # fmt: skip
    program = (farm / "turbines.psg").read_text()
    program = program.replace(
        "query malf(X) bad.", "static owner(device, team).\ncall(W, X) :- malf(X), owner(X, W).\nquery call(W, X)."
    )
    (farm / "turbines.psg").write_text(program)
    database.run(
        "create table owners (turbine text, team text); insert into owners values ('wt3', 'west'), ('wt34', 'east')"
    )
    _, shown = run(farm, spark, FARM_PASSWORD=PASSWORD)
    last = {each["answer"]: each["status"] for each in shown}
    assert dict(database.run("select answer, status from malfunctions")) == last
    assert {answer for answer, status in last.items() if status == "confirmed"} == {
        at("call(west, wt3)@14"), at("call(east, wt34)@22"), at("call(east, wt34)@23"),
    }  # fmt: skip
    database.run("alter table owners drop column team")
    shutil.rmtree(farm / "answers")
    assert 'PostgreSQL says: column "team" does not exist' in refused(farm, spark, FARM_PASSWORD=PASSWORD)
