"""Where a micro-batch goes: all sinks of a pipeline, one after the other, from rows that are computed once.

A micro-batch may come again after a crash, with the same number. Folders of files take a micro-batch whole, under its
number, or not at all; a table of a database takes it in one transaction; a topic may get its lines twice, each under
its answer as key.
"""

from __future__ import annotations

import json
from fractions import Fraction

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from presage.errors import PresageError
from presage.io.moments import zone_called
from presage.pipeline.reading import Part, Pipeline
from presage.rewrite.units import Units
from presage.spark.call import late_facts
from presage.spark.pipeline.folders import SparkFolder
from presage.spark.pipeline.from_driver import Receivers, ShowLines, by_driver
from presage.spark.pipeline.reread import lines_of
from presage.spark.troubles import before_sinks, is_sparks, reason

MARK = "_presage.json"
"""The file that says whose answers a folder holds; readers of folders leave out such names."""


class Sinks:
    def __init__(
        self, pipeline: Pipeline, whole_times: bool, units: Units, show: ShowLines, receivers: Receivers | None = None
    ) -> None:
        """`receivers` has the sinks that the driver tells itself."""
        self.receivers = receivers
        self.pipeline, self.whole_times, self.show = pipeline, whole_times, show
        self.run = ""
        """Whose answers these are: the identity of the checkpoint; empty for a batch."""
        self.aside: dict[str, int] = {}
        """How many lines sinks will never take, by their names."""
        self.zone = zone_called(str(pipeline.values.get("zone", "UTC")))
        seconds = (units.tick or Fraction(1)) % 1000 == 0 and not units.start.microsecond
        self._written = {
            "timeZone": str(pipeline.values.get("zone", "UTC")),
            "timestampFormat": f"yyyy-MM-dd'T'HH:mm:ss{'' if seconds else '.SSSSSS'}XXX",
        }
        """How moments are written in JSON."""

    def write(self, rows: DataFrame, batch: int) -> bool:
        """Writes all there is of a micro-batch; whether all have taken it, and nobody has asked to stop before."""
        rows = rows.persist()
        try:
            had = self.receivers is None or self.receivers.had(batch)
            for part in self.pipeline.parts["sinks"]:
                if by_driver(part):
                    continue
                try:
                    had = self._write(part, self._of(part, rows), batch) and had
                except Exception as found:
                    if not is_sparks(found) or before_sinks(found):
                        raise
                    raise PresageError(f"[{part.place}] {_target(part)}: {reason(found)}") from None
            if had:
                # What shards remember is written as rows are worked out, though all sinks had these before a crash.
                rows.count()
            return self.receivers is None or self.receivers.write(rows, batch, self.zone)
        finally:
            rows.unpersist()

    def _of(self, part: Part, rows: DataFrame) -> DataFrame:
        if part.values.get("late"):
            return late_facts(rows, self.whole_times)
        told = rows.where("status is not null").drop("late")
        wanted = part.values.get("statuses")
        return told if wanted is None else told.where(told.status.isin(*wanted))

    def _write(self, part: Part, rows: DataFrame, batch: int) -> bool:
        """Whether the sink had them already, and nobody has looked at them."""
        match part.format:
            case "console":
                self.show(part, list(lines_of(rows, self.zone)))
            case "parquet" | "json":
                return self._folder(part, rows, batch)
            case "kafka":
                key = "fact" if part.values.get("late") else "key"
                said = F.to_json(F.struct("*"), dict(self._written))
                messages = rows.select(F.col(key).alias("key"), said.alias("value"))
                writer = messages.write.format("kafka").options(**part.table("options"))
                writer = writer.option("kafka.bootstrap.servers", part.text("servers"))
                writer.option("topic", part.text("topic")).save()
            case "jdbc":
                from presage.pipeline.postgres import upsert_what_fits

                aside = upsert_what_fits(part, lines_of(rows, self.zone), self.whole_times)
                self.aside[part.name] = self.aside.get(part.name, 0) + aside
        return False

    def _folder(self, part: Part, rows: DataFrame, batch: int) -> bool:
        """Writes beside, then renames: what has a micro-batch's name is whole. Whether it was there before a crash."""
        folder = self.pipeline.local(part.text("path"))
        files = SparkFolder(rows.sparkSession, folder)
        self._own(part, files, batch)
        whole, beside = f"batch={batch}", f".batch={batch}.tmp"
        if files.exists(whole):
            return True
        options = (self._written if part.format == "json" else {}) | part.table("options")
        rows.write.format(part.format).mode("overwrite").options(**options).save(files.path(beside))
        files.rename(beside, whole)
        return False

    def _own(self, part: Part, files: SparkFolder, batch: int) -> None:
        """Refuses a folder with the answers of another run: its micro-batches have the same numbers."""
        owner = files.read(MARK)
        if owner is None and batch == 0 and not files.entries():
            files.write(MARK, json.dumps({"run": self.run}))
        elif owner is None or json.loads(owner).get("run") != self.run or not self.run:
            what = "another run" if owner is not None else "something else"
            raise PresageError(
                f"[{part.place}] {_target(part)}: the folder holds the answers of {what}; name a new folder, or "
                "remove this one"
            )


def _target(part: Part) -> str:
    return part.text("path") or part.text("table") or part.text("topic") or part.format
