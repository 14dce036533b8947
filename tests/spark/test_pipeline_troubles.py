"""Pipelines that stream into trouble: files with wrong rows, a disk that fills up, a checkpoint that is damaged.

What is wrong is named in one line, no micro-batch counts as written that is not, and once the trouble is over the
pipeline goes on and leaves what an undisturbed one leaves.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.conftest import skip_without_spark
from tests.spark.test_pipeline_spark import archived, confirmed, edit, expected, farm, refused, run, small_disk

skip_without_spark()
__all__ = ["farm", "small_disk"]
pytestmark = [pytest.mark.xdist_group("pipelines"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


LAST = 28
"""The last time that a stream of the demonstration's readings looks at: at the clock's own, more facts may come."""


def as_table(path: Path) -> pa.Table:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    times = [datetime.fromisoformat(row["ts"]).astimezone(UTC) for row in rows]
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in ("machine", "level")}
    return pa.table(columns | {"ts": pa.array(times, pa.timestamp("us", "UTC"))})


@pytest.fixture
def parquet_farm(farm: Path) -> Path:
    """The pipeline of the demonstration with its readings in two files of Parquet, a micro-batch each."""
    tables = [as_table(path) for path in sorted((farm / "readings").iterdir())]
    (farm / "in").mkdir()
    for index, part in enumerate((tables[:3], tables[3:])):
        parquet.write_table(pa.concat_tables(part), farm / f"in/{index}.parquet")
    edit(farm, ('format = "json"', 'format = "parquet"'), ('path = "readings"', 'path = "in"'))
    return farm


def replaced(table: pa.Table, name: str, column: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)


OTHER_TYPE = "in/1.parquet. Data type mismatches when reading Parquet column [level]. Expected Spark type string"
WRONG: list[tuple[Callable[[pa.Table], pa.Table], str]] = [
    (lambda table: table.drop_columns("level"), "`temp`, the column `level`: 600 rows have no value (null)"),
    (lambda table: replaced(table, "level", pa.array(range(len(table)))), OTHER_TYPE),
    (lambda table: replaced(table, "ts", pa.nulls(len(table), table.schema.field("ts").type)), "no time"),
]  # fmt: skip


def test_wrong_files_are_named_and_a_right_one_in_their_place_goes_on(parquet_farm: Path, spark: Any) -> None:
    later = parquet_farm / "in/1.parquet"
    right = parquet.read_table(later)
    for spoil, said in WRONG:
        parquet.write_table(spoil(right), later)
        message = refused(parquet_farm, spark)
        assert said in message and "\n" not in message and "Exception" not in message and "[sinks" not in message, (
            message
        )
        assert [path.name for path in (parquet_farm / "answers").glob("batch=*")] == ["batch=0"]
    parquet.write_table(right, later)
    run(parquet_farm, spark)
    assert confirmed(archived(parquet_farm)) == expected(parquet_farm, LAST)


def test_a_disk_that_was_full_takes_the_rest_later(farm: Path, spark: Any, small_disk: Path) -> None:
    edit(farm, ("per_batch = 1", "per_batch = 3"), ('path = "answers"', f'path = "{small_disk}/answers"'))
    said = refused(farm, spark)
    assert f"[sinks.archive] {small_disk}/answers: No space left on device" in said
    assert not list((small_disk / "answers").glob("batch=*"))
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    run(farm, spark)
    (farm / "answers").symlink_to(small_disk / "answers")
    assert confirmed(archived(farm)) == expected(farm, LAST)


def test_state_that_is_damaged_is_told(farm: Path, spark: Any) -> None:
    _, *others = sorted((farm / "readings").iterdir())
    for path in others:
        path.rename(farm / path.name)
    run(farm, spark)
    for path in others:
        (farm / path.name).rename(path)
    kept = {path: path.read_bytes() for path in (farm / "checkpoint/state").rglob("[0-9]*.*")}
    assert kept
    for path in kept:
        path.write_bytes(b"no")
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    said = refused(farm, spark)
    assert f"the checkpoint {farm}/checkpoint cannot be gone on from" in said and "\n" not in said, said
    assert [path.name for path in (farm / "answers").glob("batch=*")] == ["batch=0"]
    for path, data in kept.items():
        path.write_bytes(data)
    run(farm, spark)
    assert confirmed(archived(farm)) == expected(farm, LAST)


def test_a_file_of_csv_says_what_is_wrong_with_its_header(farm: Path, spark: Any) -> None:
    (farm / "in").mkdir()
    edit(farm, ('format = "json"', 'format = "csv"'), ('path = "readings"', 'path = "in"'))
    (farm / "in/0.csv").write_text("level,machine,ts\nhigh,wt1,2026-01-01T00:00:00Z\n")
    said = refused(farm, spark)
    assert "in/0.csv: CSV header does not conform to the schema. Header: level, machine, ts Schema:" in said, said
    assert "\n" not in said and "Exception" not in said


def test_measures_that_cannot_be_written_are_told_at_the_end_too(farm: Path, spark: Any) -> None:
    edit(farm, ("per_batch = 1", "per_batch = 100"), more='\n[metrics]\nfile = "m.prom"\n')
    (farm / "m.prom.tmp").mkdir()
    assert "m.prom: the measures cannot be written (Is a directory)" in refused(farm, spark)
