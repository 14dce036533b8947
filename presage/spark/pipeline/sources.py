"""Sources and tables of a pipeline as DataFrames, with a column for each argument and for the time of a fact."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType, TimestampType

from presage.analysis.predicates import Predicate
from presage.errors import PresageError
from presage.io.facts import FactError
from presage.io.rows import column_names
from presage.pipeline.checking import needs_psycopg
from presage.pipeline.reading import Part, Pipeline
from presage.pipeline.time_formats import time_format
from presage.spark.anew import anew, read_files
from presage.spark.troubles import reason

WHEN = ("time", "from", "to", "bounds", "arrives")
SKIPPED = "presage_skipped_"
"""How the counts of skipped rows are named in Spark's progress, before the source's name."""


class Sources:
    """The DataFrames of a pipeline. Columns of times are named apart from arguments, which may have any name."""

    def __init__(self, spark: Any, pipeline: Pipeline, predicates: dict[str, Predicate]) -> None:
        self.spark, self.pipeline, self.predicates = spark, pipeline, predicates

    def facts(self) -> dict[str, DataFrame]:
        return {part.name: self._facts(part) for part in self.pipeline.parts["sources"]}

    def static(self) -> dict[str, DataFrame]:
        return {part.name: self._static(part) for part in self.pipeline.parts["static"]}

    def tables(self) -> dict[str, DataFrame]:
        """Those that change: they are worked out anew at each micro-batch."""
        return {part.name: self._static(part) for part in self.pipeline.parts["tables"]}

    def clock(self) -> DataFrame | None:
        """The clock of the driver as a stream of moments, where deadlines are to pass in silence."""
        if self.pipeline.clock == "facts":
            return None
        moments: DataFrame = self.spark.readStream.format("rate").option("rowsPerSecond", 1).load()
        return moments.select(F.col("timestamp").alias("time"))

    def time(self) -> dict[str, str]:
        return {name: when_name("time", self.predicates[name]) for name in self._with("time")}

    def arrives(self) -> dict[str, str]:
        return {name: when_name("arrives", self.predicates[name]) for name in self._with("arrives")}

    def _with(self, key: str) -> Iterable[str]:
        for part in self.pipeline.parts["sources"]:
            if key in part.values or (key == "time" and "from" not in part.values):
                yield part.name

    def _facts(self, part: Part) -> DataFrame:
        known = self.predicates[part.name]
        frame = self._read(part)
        chosen = self._arguments(part, known)
        for name in WHEN:
            if name in part.values or (name == "time" and "from" not in part.values):
                chosen[when_name(name, known)] = (name, part.text(name, name))
        return self._projected(part, frame, chosen)

    def _static(self, part: Part) -> DataFrame:
        return self._projected(part, self._read(part), self._arguments(part, self.predicates[part.name]))

    def _arguments(self, part: Part, known: Predicate) -> dict[str, tuple[str, str]]:
        mapped = part.table("columns")
        return {name: (f"columns.{name}", mapped.get(name, name)) for name in column_names(known)}

    def _projected(self, part: Part, frame: DataFrame, chosen: dict[str, tuple[str, str]]) -> DataFrame:
        if "where" in part.values:
            frame = self._tried(part, "where", lambda: frame.where(part.text("where")))
        columns: list[Column] = []
        for name, (key, said) in chosen.items():
            value = F.col(f"`{said}`") if said in frame.columns else F.expr(said)
            if "time_format" in part.values and key in ("time", "from", "to", "arrives"):
                value = _moments(part)(value)
            self._tried(part, key, lambda value=value: frame.select(value))
            columns.append(value.alias(name))
        projected = frame.select(*columns)
        if part.text("bad_rows") != "skip":
            return projected
        missing = F.lit(False)
        for name in projected.columns:
            if chosen[name][0] not in ("to", "bounds"):
                missing = missing | F.col(f"`{name}`").isNull()
        counted = F.sum(F.when(missing, 1).otherwise(0)).alias("rows")
        return projected.observe(SKIPPED + part.name, counted).where(~missing)

    def _tried(self, part: Part, key: str, make: Any) -> Any:
        try:
            return make()
        except (AnalysisException, PySparkException) as found:
            raise PresageError(f"{self._where(part, key)}: {reason(found)}") from None

    def _where(self, part: Part, key: str) -> str:
        document = self.pipeline.document
        line, column = document.source.place(document.key((part.section, part.name, *key.split("."))).start)
        return f"{self.pipeline.path}:{line}:{column}: `{key}` of [{part.place}]"

    # -- reading ----------------------------------------------------------------------------------

    def _read(self, part: Part) -> DataFrame:
        return self._tried(part, "format", lambda: self._frame(part))  # type: ignore[no-any-return]

    def _frame(self, part: Part) -> DataFrame:
        streams = self.pipeline.streams and part.section == "sources"
        reader = self.spark.readStream if streams else self.spark.read
        reader = reader.format(part.format)
        if part.format == "jdbc":
            return self._database(part)
        if part.format == "kafka":
            reader = reader.option("kafka.bootstrap.servers", part.text("servers"))
            reader = reader.option("subscribe", part.text("topic"))
            reader = reader.option("startingOffsets", part.text("starting", "latest"))
            if "per_batch" in part.values:
                reader = reader.option("maxOffsetsPerTrigger", part.values["per_batch"])
            frame: DataFrame = reader.options(**part.table("options")).load()
            return _messages(frame, part)
        if part.format == "rate":
            reader = reader.option("rowsPerSecond", part.values.get("rows_per_second", 1))
            return reader.options(**part.table("options")).load()  # type: ignore[no-any-return]
        path = self.pipeline.local(part.text("path"))
        if part.section == "tables":
            kinds = StructType.fromDDL(_ddl(part)) if "schema" in part.values else None
            where, kind = f"[{part.place}] {part.text('path')}", part.format
            files = path if "://" in path else str(Path(path).absolute())  # A worker may be at home elsewhere.
            return anew(self.spark, where, lambda schema: read_files(files, kind, schema), kinds)
        if part.format == "csv":
            # Names in the header decide, not places: a column moved in the file is a mistake that is told.
            reader = reader.option("header", True).option("enforceSchema", False)
        if streams and "per_batch" in part.values:
            reader = reader.option("maxFilesPerTrigger", part.values["per_batch"])
        reader = reader.options(**part.table("options"))
        if "schema" in part.values:
            reader = reader.schema(_ddl(part))
        elif streams:
            reader = reader.schema(self.spark.read.parquet(path).schema)
        return reader.load(path)  # type: ignore[no-any-return]

    def _database(self, part: Part) -> DataFrame:
        url = part.text("url")
        if url.startswith("jdbc:postgresql:") and needs_psycopg(self.pipeline, part):
            from presage.pipeline.postgres import read_table

            if part.section == "tables":
                return anew(self.spark, f"[{part.place}] {part.text('table', 'query')}", lambda _: [read_table(part)])
            return self.spark.createDataFrame(read_table(part))  # type: ignore[no-any-return]
        reader = self.spark.read.format("jdbc").option("url", url).options(**part.table("options"))
        reader = reader.option(
            *(("dbtable", part.text("table")) if "table" in part.values else ("query", part.text("query")))
        )
        for name, key in (("user", "user"), ("password", "password_env")):
            if key in part.values:
                reader = reader.option(name, part.text(key))
        return reader.load()  # type: ignore[no-any-return]


def _moments(part: Part) -> Any:
    """What reads times that are written in a way of their own, as one process reads them."""
    place, form, skips = f"[{part.place}]", part.text("time_format"), part.text("bad_rows") == "skip"

    def moment(given: Any) -> datetime | None:
        read = time_format(form)
        assert read is not None
        if given is None:
            return None
        try:
            found: datetime = read(Fraction(given) if isinstance(given, Decimal) else given, place)
        except FactError:
            if skips:
                return None  # It is counted with what has no time at all.
            raise
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    return F.udf(moment, TimestampType(), useArrow=False)


def when_name(key: str, known: Predicate) -> str:
    """The column of a time in a DataFrame; `from`, `to` and `bounds` are told apart by their names."""
    taken = column_names(known)
    return key if key not in taken else f"{key} of the fact"


def _ddl(part: Part) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in part.table("schema").items())


def _messages(frame: DataFrame, part: Part) -> DataFrame:
    """The fields of messages in JSON, beside what Kafka says about them; what is not JSON has no fields."""
    read = frame.withColumn("fields of the message", F.from_json(F.col("value").cast("string"), _ddl(part)))
    fields = [F.col(f"`fields of the message`.`{name}`").alias(name) for name in part.table("schema")]
    others = [F.col(name) for name in frame.columns if name not in part.table("schema")]
    return read.select(*fields, *others)
