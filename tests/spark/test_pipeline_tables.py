"""Tables of a pipeline that change while it runs: what the check says about them, and that each micro-batch reads them
as they are."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from presage.errors import PresageError
from presage.pipeline.checking import check_pipeline
from tests.conftest import skip_without_spark
from tests.postgres import PASSWORD, Database

PROGRAM = """
timeline discrete.
input ping(host).
input owner(host, team).
input skill(host, level: int).
input off(host).
alarm(H, W) :- ping(H), owner(H, W).
hard(H, L) :- ping(H), skill(H, L), L > 1.
silent(H) :- ping(H), off(H).
query alarm(H, W).
query hard(H, L).
query silent(H).
"""
FILE = """
program = "duty.psg"
checkpoint = "checkpoint"
trigger = "available-now"
emit = "confirmed"
shards = 2

[sources.ping]
format = "json"
path = "pings"
schema = { host = "string", time = "bigint" }
per_batch = 1

[tables.owner]
format = "csv"
path = "owners.csv"
schema = { machine = "string", team = "string", since = "timestamp" }
columns = { host = "machine" }
where = "team <> 'nobody'"

[tables.skill]
format = "json"
path = "skills/*.json"
schema = { host = "string", level = "int" }

[tables.off]
format = "parquet"
path = "off"
columns = { host = "lower(name)" }

[sinks.screen]
format = "console"
"""


@pytest.fixture
def duty(tmp_path: Path) -> Path:
    (tmp_path / "duty.psg").write_text(PROGRAM)
    (tmp_path / "p.toml").write_text(FILE)
    for name in ("pings", "skills", "off"):
        (tmp_path / name).mkdir()
    owners(tmp_path, "a,x")
    skills(tmp_path, {"host": "a", "level": 2})
    off(tmp_path, "B")
    return tmp_path


def owners(duty: Path, *rows: str) -> None:
    text = "".join(f"2026-01-01T00:00:00Z,{row}\n" for row in rows)
    in_place(duty / "owners.csv", f"since,machine,team\n{text}".encode())


def skills(duty: Path, *rows: dict[str, Any]) -> None:
    in_place(duty / "skills/now.json", "".join(json.dumps(row) + "\n" for row in rows).encode())


def off(duty: Path, *hosts: str) -> None:
    parquet.write_table(pa.table({"name": pa.array(hosts, pa.string())}), duty / "off/_new")
    (duty / "off/_new").replace(duty / "off/now.parquet")


def in_place(path: Path, data: bytes) -> None:
    beside = path.with_name("_new")
    beside.write_bytes(data)
    beside.replace(path)


def pings(duty: Path, *batches: list[tuple[str, int]]) -> None:
    """Files of pings, each a micro-batch of its own."""
    begin = len(list((duty / "pings").iterdir()))
    for number, batch in enumerate(batches, begin):
        lines = [json.dumps({"host": host, "time": at}) + "\n" for host, at in batch]
        path = duty / f"pings/{number:03}.json"
        path.write_text("".join(lines))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))  # Spark takes the oldest first.


def edit(duty: Path, *changes: tuple[str, str], name: str = "p.toml") -> None:
    text = (duty / name).read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    (duty / name).write_text(text)


# -- the check ----------------------------------------------------------------------------------------


def test_a_file_with_tables_is_fine(duty: Path) -> None:
    found = check_pipeline(duty / "p.toml", {})
    assert found.ok and not found.problems, found.text()


AS_SOURCE = ('[tables.owner]\nformat = "csv"\npath = "owners.csv"', '[sources.owner]\nformat = "jdbc"')
# Each mistake: what is changed into what, and then code, line and words of the message and its hint.
MISTAKES: dict[str, tuple[str, str, str, int, str]] = {
    "predicate": ("tables.owner", "tables.owners", "C105", 14, "no input `owners`.*did you mean `owner`"),
    "derived": ("tables.owner", "tables.alarm", "C105", 14, "`alarm` is derived by rules"),
    "column": ('host = "machine"', 'host = "machin"', "C105", 18, "column `machin` is missing.*is it `machine`"),
    "argument": ('host = "machine"', 'hosts = "machine"', "C105", 18, "no argument `hosts`.*did you mean `host`"),
    "type": ('level = "int"', 'level = "string"', "C105", 21, "is string, which cannot be `level: int`"),
    "time": ('where = "', 'time = "since"\nwhere = "', "C102", 19, "no key `time`"),
    "options": ('where = "', 'options = { sep = ";" }\nwhere = "', "C102", 19, "not for the format `csv`.*`jdbc`"),
    "format": ('"csv"', '"kafka"', "C104", 15, "`kafka` is not a format.*one of parquet, json, csv, jdbc"),
    "no schema": ('schema = { host = "string", level = "int" }', "", "C103", 21, "has no `schema`"),
    "no file": ('"owners.csv"', '"owner.csv"', "C106", 16, "there is no file or folder `owner.csv`"),
    "address": ('"owners.csv"', '"s3a://b/owners.csv"', "C104", 16, "`s3a://` cannot be read again.*`s3://`"),
    "not tables": ("[tables.owner]", "[[tables.owner]]", "C104", 14, "`tables.owner` is a table"),
    "in static": ("[tables.owner]", "[static.owner]", "C105", 14, r"not a static.*`\[tables.owner\]` for a table"),
    "in sources": (*AS_SOURCE, "C109", 15, r"does not stream.*`\[tables.owner\]`, to read it again"),
    "in a batch": (
        'checkpoint = "checkpoint"\ntrigger = "available-now"', 'mode = "batch"', "C109", 13,
        r"in a batch a table does not change.*`\[sources.owner\]`",
    ),
    "only tables": (FILE[FILE.index("[sources") : FILE.index("[tables.owner")], "", "C103", 1, "nothing that facts"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_before_spark_starts(name: str, duty: Path) -> None:
    before, after, code, line, words = MISTAKES[name]
    edit(duty, (before, after))
    found = check_pipeline(duty / "p.toml", {})
    source = found.pipeline.document.source
    said = [each for each in found.pipeline.problems if (each.code, source.place(each.span.start)[0]) == (code, line)]
    assert not found.ok and any(re.search(words, f"{each.message} {each.hint}") for each in said), found.text()


def test_a_table_that_changes_is_no_static_predicate(duty: Path) -> None:
    edit(duty, ("input owner", "static owner"), name="duty.psg")
    found = check_pipeline(duty / "p.toml", {})
    assert not found.ok and "p.toml:14:1: error C105: `owner` is not an input of the program" in found.text()
    hint = "write `[static.owner]`, to read it once; a table that changes is declared `input owner(…).`"
    assert hint in found.text()


# -- on Spark -----------------------------------------------------------------------------------------


def run(duty: Path, spark: Any, *between: Callable[[], None], **environment: str) -> set[str]:
    """What a pipeline confirms up to its end; after each micro-batch it is done one of the things `between`."""
    from presage.spark.pipeline.running import RunningPipeline

    checked = check_pipeline(duty / "p.toml", environment)
    assert checked.ok, checked.text()
    found: set[str] = set()
    left = list(between)

    def show(_: Any, lines: list[dict[str, Any]]) -> None:
        found.update(line["answer"] for line in lines)
        if left:
            left.pop(0)()

    RunningPipeline(checked, show, spark=spark).run(threading.Event())
    assert not left
    return found


on_spark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


class TestOnSpark:
    pytestmark = on_spark

    @pytest.fixture(autouse=True)
    def needs_spark(self) -> None:
        skip_without_spark()

    def test_each_micro_batch_reads_tables_as_they_are(self, duty: Path, spark: Any) -> None:
        def second() -> None:
            owners(duty, "a,y", "b,x", "c,nobody")
            skills(duty)
            off(duty, "A", "b")

        def third() -> None:
            owners(duty)
            skills(duty, {"host": "b", "level": 3, "since": "now"}, {"host": "a", "level": 1})
            (duty / "off/now.parquet").unlink()

        pings(duty, [("a", 2), ("b", 2), ("a", 4)], [("b", 6), ("c", 6), ("a", 8)], [("b", 9), ("a", 9), ("a", 12)])
        assert run(duty, spark, second, third) == {
            "alarm(a, x)@2", "hard(a, 2)@2", "silent(b)@2",
            "alarm(a, y)@4", "alarm(b, x)@6", "silent(a)@4", "silent(b)@6",
            "hard(b, 3)@9",
        }  # fmt: skip
        # Started again, it goes on with the tables as it finds them.
        owners(duty, "a,z")
        off(duty, "A")
        pings(duty, [("a", 14)], [("a", 15)])
        assert run(duty, spark) == {"alarm(a, z)@12", "silent(a)@12", "alarm(a, z)@14", "silent(a)@14"}

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            (lambda duty: owners(duty, "a,"), "`owner`, the column `team`: 1 rows have no value (null)"),
            (lambda duty: (duty / "owners.csv").unlink(), "[tables.owner] owners.csv: the table cannot be read (there"),
            (lambda duty: in_place(duty / "owners.csv", b"machine,team\na,b\n"), "the column `since` is not there"),
            (lambda duty: skills(duty, {"host": "a", "level": "x"}), "[tables.skill] skills/*.json: the table cannot"),
            (lambda duty: in_place(duty / "off/now.parquet", b"no"), "[tables.off] off: the table cannot be read"),
        ],
    )
    def test_a_table_that_is_spoilt_is_named(self, spoil: Any, said: str, duty: Path, spark: Any) -> None:
        edit(duty, ("where = \"team <> 'nobody'\"\n", ""))
        pings(duty, [("a", 2), ("a", 4)], [("a", 6)])
        with pytest.raises(PresageError) as found:
            run(duty, spark, lambda: spoil(duty))
        assert said in str(found.value) and "[sinks" not in str(found.value) and "\n" not in str(found.value)
        # Once it is mended, the micro-batch is done.
        owners(duty, "a,y")
        skills(duty)
        off(duty)
        assert run(duty, spark) == {"alarm(a, y)@4"}

    def test_a_table_of_a_database_too(self, database: Database, duty: Path, spark: Any) -> None:
        database.run("create table duty (machine text, team text); insert into duty values ('a', 'x')")
        login = f'url = "{database.url}"\nuser = "presage"\npassword_env = "DUTY_PASSWORD"\ntable = "duty"\n'
        begin, end = FILE.index('format = "csv"'), FILE.index('columns = { host = "machine" }')
        edit(duty, (FILE[begin:end], f'format = "jdbc"\n{login}'))
        pings(duty, [("a", 2), ("a", 4)], [("a", 6)])
        found = run(duty, spark, lambda: database.run("update duty set team = 'y'"), DUTY_PASSWORD=PASSWORD)
        assert {each for each in found if each.startswith("alarm")} == {"alarm(a, x)@2", "alarm(a, y)@4"}
        pings(duty, [("a", 8)])
        database.run("alter table duty rename machine to name")
        with pytest.raises(PresageError, match=r"`columns.host` of \[tables.owner\]: .*`machine`"):
            run(duty, spark, DUTY_PASSWORD=PASSWORD)
