"""Spark's reports on a pipeline's progress become measures: for Prometheus, Spark's own metrics and the terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryListener

from presage.pipeline.keys import STATUSES
from presage.pipeline.metrics import Measures
from presage.rewrite.units import Units
from presage.spark.pipeline.sources import SKIPPED
from presage.spark.streaming import OBSERVED

TOLD = "presage_answers"
"""The name under which Spark's progress tells how many answers and late facts there were."""


def counted(rows: DataFrame) -> DataFrame:
    """The same rows, counted as they pass."""
    counts = [F.count_if(F.col("status") == status).alias(status) for status in STATUSES]
    return rows.observe(TOLD, *counts, F.count_if(F.col("late").isNotNull()).alias("late"))


class Listener(StreamingQueryListener):
    """Keeps measures up to date, and says when they are."""

    def __init__(self, measures: Measures, units: Units, changed: Callable[[], None]) -> None:
        self.measures, self.units, self.changed = measures, units, changed
        self.query = ""
        """The run that is listened to; others of the session are not ours."""
        self.ended = threading.Event()
        """Set when all of the run's progress has been told."""

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to measure yet."""

    def onQueryIdle(self, event: Any) -> None:
        self._tell_lag()
        self.changed()

    def onQueryTerminated(self, event: Any) -> None:
        if str(event.runId) == self.query:
            self.ended.set()

    def onQueryProgress(self, event: Any) -> None:
        progress = event.progress
        if str(progress.runId) != self.query:
            return
        found = self.measures
        found.batches += 1
        found.facts += max(0, progress.numInputRows)
        found.batch_seconds = progress.batchDuration / 1000
        found.rows_per_second = progress.processedRowsPerSecond or 0.0
        observed = {name: row.asDict() for name, row in progress.observedMetrics.items()}
        told = observed.get(TOLD, {})
        for status in STATUSES:
            found.answers[status] += told.get(status) or 0
        found.late += told.get("late") or 0
        found.skipped += sum(row["rows"] or 0 for name, row in observed.items() if name.startswith(SKIPPED))
        shards = observed.get(OBSERVED, {})
        found.skipped += shards.get("aside") or 0
        if shards.get("clock") is not None:
            found.open, found.state_bytes = shards["open"], shards["state"]
            found.step_seconds, found.clock = shards["seconds"], shards["clock"]
        behind = [source.metrics.get("maxOffsetsBehindLatest") for source in progress.sources]
        waiting = [int(float(each)) for each in behind if each is not None]
        found.waiting = sum(waiting) if waiting else None
        self._tell_lag()
        self.changed()

    def _tell_lag(self) -> None:
        found, units = self.measures, self.units
        if found.clock is not None and units.tick is not None:
            found.moment = units.start.timestamp() + float(Fraction(found.clock) * units.tick / 1000)
            found.lag_seconds = time.time() - found.moment


class SparkMetrics:
    """The measures in Spark's metrics system, below the name `presage`: for JMX, Graphite or what else is set up."""

    class Java:
        implements = ("org.apache.spark.metrics.source.Source",)

    def __init__(self, spark: Any, measures: Measures) -> None:
        codahale = spark._jvm.com.codahale.metrics
        self.measures = measures
        self.registry = codahale.MetricRegistry()
        self.gauges: dict[str, Any] = {}
        for name, _, _, labels, value in measures.samples():
            gauge = codahale.DefaultSettableGauge(float(value))
            self.gauges[name + labels] = self.registry.register(_plain(name, labels), gauge)
        self.codahale = codahale
        system = _metrics_system(spark)
        # Measures of the session's pipeline before this one stay until here; two of a name would be refused.
        earlier = system.getSourcesByName(self.sourceName())
        for place in range(earlier.size()):
            system.removeSource(earlier.apply(place))
        system.registerSource(self)

    def sourceName(self) -> str:
        return "presage"

    def equals(self, other: Any) -> bool:
        """Asked by Java when a source is removed."""
        return other is self

    def metricRegistry(self) -> Any:
        return self.registry

    def refresh(self) -> None:
        for name, _, _, labels, value in self.measures.samples():
            if name + labels not in self.gauges:
                gauge = self.codahale.DefaultSettableGauge(float(value))
                self.gauges[name + labels] = self.registry.register(_plain(name, labels), gauge)
            self.gauges[name + labels].setValue(float(value))


def _metrics_system(spark: Any) -> Any:
    """Spark's metrics system. Its environment has methods whose classes PySpark leaves out, so that asking for all of
    them, as calls from Python do, would fail: the one that is needed is looked up by itself."""
    java = spark._jvm.java
    loader = java.lang.Thread.currentThread().getContextClassLoader()
    kind = java.lang.Class.forName("org.apache.spark.metrics.MetricsSystem", True, loader)
    environment = java.lang.Class.forName("org.apache.spark.SparkEnv", True, loader)
    method = java.lang.invoke.MethodType.methodType(kind)
    getter = java.lang.invoke.MethodHandles.publicLookup().findVirtual(environment, "metricsSystem", method)
    given = java.util.ArrayList()
    given.add(spark._jsc.sc().env())
    return getter.invokeWithArguments(given)


def _plain(name: str, labels: str) -> str:
    return name + "".join(sign if sign.isalnum() else "." for sign in labels.replace(",status=", "")).rstrip(".")
