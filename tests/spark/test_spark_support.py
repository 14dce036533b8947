"""Every construct of `docs/constructs.py` on a real Spark, in batch and as a stream, against the naive evaluator.

All rows that share a timeline are one program, as in `tests/language/test_support.py`; those with programs of their own
run by other engines, and have batch runs of theirs.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import presage
from docs.constructs import CONSTRUCTS, Construct
from tests.conftest import skip_without_spark
from tests.language.test_support import APART, INPUTS, UNTIL, Said, entailed, given, program_of, rows, said

skip_without_spark()
pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::UserWarning")]
COLUMNS = {"p": "x", "q": "x", "r": "xy", "z": "", "n": "xv", "h": "x"}
CUTS = (2, 3)
"""A stream has a micro-batch up to each of these times, and one with the rest."""
SETTLED = 60
"""A time at which nothing is open any more."""


def table(name: str, timeline: str, low: int = 0, high: int = UNTIL) -> Any:
    """The facts of an input that begin within some times."""
    found: dict[str, list[Any]] = {column: [] for column in [*COLUMNS[name], "from", "to", "bounds"]}
    for each, arguments, when in given(timeline):
        start, stop, bounds = when if isinstance(when, tuple) else (when, when, "[]")
        if each == name and low <= start <= high:
            for column, value in zip(found, [*arguments, start, stop, bounds], strict=True):
                found[column].append(value)
    kinds = [pa.int64() if column in ("v", "from", "to") else pa.string() for column in found]
    columns = {column: pa.array(values, kind) for (column, values), kind in zip(found.items(), kinds, strict=True)}
    if name != "h":
        columns = {("time" if column == "from" else column): values for column, values in columns.items()}
        del columns["to"], columns["bounds"]
    return pa.table(columns)


def told(answers: Any, timeline: str) -> Said:
    from presage.spark.pipeline.reread import lines_of

    return said(list(lines_of(answers)), timeline == "discrete")


def batch(spark: Any, timeline: str, chosen: list[tuple[str, Construct]]) -> Said:
    frames = {name: spark.createDataFrame(table(name, timeline)) for name in INPUTS}
    program = presage.parse(program_of(timeline, chosen))
    return told(presage.spark.answers(program, frames, emit="confirmed", until=UNTIL), timeline)


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
def test_batch(spark: Any, timeline: str) -> None:
    assert batch(spark, timeline, rows(timeline)) == entailed(rows(timeline), timeline)


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
def test_stream(spark: Any, timeline: str, tmp_path: Path) -> None:
    program = presage.parse(program_of(timeline, rows(timeline)))
    edges = [0, *(each + 1 for each in CUTS), UNTIL + 1]
    frames = {}
    for name in INPUTS:
        (tmp_path / name).mkdir()
        parts = [table(name, timeline, low, high - 1) for low, high in pairwise(edges)]
        parts.append(pa.table({"time": [SETTLED]}) if name == "z" else table(name, timeline, SETTLED, SETTLED))
        for number, part in enumerate(parts):
            path = tmp_path / name / f"{number}.parquet"
            parquet.write_table(part, path)
            os.utime(path, (number, number))  # Spark takes them in the order of their ages.
        schema = spark.read.parquet(str(tmp_path / name)).schema
        source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frames[name] = source.parquet(str(tmp_path / name))
    answers = presage.spark.answers(program, frames, emit="confirmed")
    query = (
        answers.writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = told(spark.read.parquet(str(tmp_path / "out")), timeline)
    assert found == entailed(rows(timeline), timeline)


@pytest.mark.parametrize("name", APART)
def test_programs_of_their_own(spark: Any, name: str) -> None:
    (chosen,) = [(f"out{place}", each) for place, each in enumerate(CONSTRUCTS) if each.name == name]
    assert batch(spark, chosen[1].timeline, [chosen]) == entailed([chosen], chosen[1].timeline)
