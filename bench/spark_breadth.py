"""Spark: what the classes of `breadth` cost as streams, each beside the same facts passed through without an engine.

Each class has as many keys as give about as many facts at a time; a micro-batch has some times of them. Both ways pack,
shuffle, write state and give rows: the pass-through one for each fact, the run as many as there are changes of answers.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import presage
from bench import breadth
from bench.breadth import CLASSES, Class, Step
from bench.common import Row
from bench.spark import CORES, SHARDS, Measured, passed_through, run

PER_TIME = 20_000
"""About so many facts at each time."""
TIMES = 5
"""In a micro-batch."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A class with its facts as files, a folder for each predicate and a file in it for each micro-batch."""

    of: Class
    folder: Path
    schemas: dict[str, Any]
    static: dict[str, Any]

    def frames(self, spark: Any) -> dict[str, Any]:
        reader = spark.readStream.option("maxFilesPerTrigger", 1)
        return {name: reader.schema(schema).parquet(str(self.folder / name)) for name, schema in self.schemas.items()}

    def tables(self, spark: Any) -> dict[str, Any]:
        return {name: spark.createDataFrame(table.to_pandas()) for name, table in self.static.items()}


def streamed(each: Class, folder: Path) -> Streamed:
    steps, static = _with_keys(each)
    schemas = {}
    for name in steps[0]:
        (folder / name).mkdir(parents=True)
        for number, begin in enumerate(range(0, len(steps), TIMES)):
            parts = [pa.table(step[name]) for step in steps[begin : begin + TIMES]]
            parquet.write_table(pa.concat_tables(parts), folder / name / f"{number:06d}.parquet")
        kinds = {field.name: "long" if pa.types.is_integer(field.type) else "string" for field in parts[0].schema}
        schemas[name] = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
    return Streamed(each, folder, schemas, static)


def _with_keys(each: Class) -> tuple[list[Step], dict[str, Any]]:
    """The facts of a class, of as many keys as give enough facts at each time."""
    usual = breadth.KEYS
    try:
        first = each.stream()[0]
        breadth.KEYS = usual * PER_TIME // sum(len(columns["time"]) for columns in first.values())
        return each.stream(), each.static()
    finally:
        breadth.KEYS = usual


def ours(spark: Any, each: Streamed) -> Any:
    program = presage.parse(each.of.program)
    return presage.spark.answers(program, each.frames(spark), static=each.tables(spark), shards=SHARDS)


def through(spark: Any, each: Streamed) -> Any:
    return passed_through(spark, presage.parse(each.of.program), each.frames(spark))


def measure(only: str = "") -> Iterator[Row]:
    folder = Path(tempfile.mkdtemp(prefix="presage-bench-"))
    spark = presage.spark.local_session(CORES, SHARDS, folder / "home")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, each in enumerate(CLASSES):
                if only in each.name:
                    yield _beside(spark, streamed(each, folder / str(number)))
                    shutil.rmtree(folder / str(number), ignore_errors=True)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _beside(spark: Any, each: Streamed) -> Row:
    mine, passed = (_warm(partial(make, spark, each), each.folder / make.__name__) for make in (ours, through))
    return Row(
        f"a stream on Spark: {each.of.name}", f"{mine.rate:,.0f} facts/s", f"pass-through {passed.rate:,.0f} facts/s",
        mine.share / passed.share, f"share of {CORES} cores: {mine.share:,.0f} facts/s beside {passed.share:,.0f}",
    )  # fmt: skip


def _warm(make: Callable[[], Any], folder: Path) -> Measured:
    """Measured the second time: Java compiles what runs often, and workers learn what a program needs."""
    run(make(), folder / "first")
    return run(make(), folder / "second")
