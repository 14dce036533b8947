"""A pipeline at work: started from a checked file, watched, and stopped between micro-batches.

The query has one sink for Spark, which hands each micro-batch to all sinks of the pipeline: so the work is done once
however many there are.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from presage.checking import Report
from presage.errors import PresageError
from presage.io.moments import Moments, zone_called
from presage.pipeline.checking import Checked, connector_jars
from presage.pipeline.holding import HeldCheckpoint
from presage.pipeline.metrics import LOCAL, Measures, ShownMeasures
from presage.pipeline.reading import Pipeline
from presage.rewrite.units import Units
from presage.spark.call import all_rows
from presage.spark.pipeline.begun import BegunCheckpoint
from presage.spark.pipeline.folders import SparkFolder
from presage.spark.pipeline.from_driver import ALERTS, Receivers, ShowLines, by_driver
from presage.spark.pipeline.listening import Listener, SparkMetrics, counted
from presage.spark.pipeline.sinks import Sinks
from presage.spark.pipeline.sources import Sources
from presage.spark.session import keep_private, local_session, tell_no_ends, temporary_home, while_java_lives
from presage.spark.troubles import UNTOLD, about_state, is_sparks, own_words, reason

HISTORY = 32 << 20
"""Bytes of what came that all shards together keep as history, for rules that come later."""
PATIENCE = 60.0
"""Seconds that a micro-batch gets to end when the pipeline is asked to stop."""
LOOK = 0.1
ATTEMPTS = 3
TOO_SLOW = "Python worker failed to connect back"
"""What Spark says when a Python of its own does not start within ten seconds, as on a machine that is busy."""


class _AskedToStop(Exception):
    """Somebody asks to stop while receivers are told of a micro-batch: it comes again."""


class RunningPipeline:
    """A pipeline from its start to its end. `measures` tell how it fares, and `changed` is called when they change."""

    def __init__(
        self,
        checked: Checked,
        show: ShowLines,
        changed: Callable[[], None] | None = None,
        spark: SparkSession | None = None,
        say: Callable[[str], None] = lambda said: None,
        backfill: bool = False,
    ) -> None:
        """`say` is told what is to be known at the start. `backfill`: where rules have changed, queries that are new
        are given the history that is kept."""
        assert checked.ok and checked.report is not None
        self.pipeline, self.report = checked.pipeline, checked.report
        self.measures = Measures(self.pipeline.name)
        self.show, self.changed = show, changed or (lambda: None)
        self.spark: Any = spark
        self.owns_spark = spark is None
        self.failure: BaseException | None = None
        self.warnings: list[str] = []
        self.held: HeldCheckpoint | None = None
        self.say, self.backfill = say, backfill
        self.going_on: BegunCheckpoint | None = None
        self.receivers: Receivers | None = None
        self._problems: list[str] = []

    def run(self, stop: threading.Event) -> None:
        """Runs to the end, or until it is asked to stop; whatever goes wrong is a `PresageError`, without secrets."""
        metrics = self.pipeline.metrics
        file = metrics.get("file")
        path = None if file is None else Path(self.pipeline.local(file))
        shown = ShownMeasures(
            self.measures, metrics.get("port"), path, metrics.get("host", LOCAL),
            self.pipeline.serve.get("token_env", ""), self._health,
        )  # fmt: skip
        try:
            # Before Spark starts, which takes a while; a batch run remembers nothing.
            if (checkpoint := self.pipeline.values.get("checkpoint")) is not None:
                self.held = HeldCheckpoint(self.pipeline.local(str(checkpoint)))
            with while_java_lives():
                self._run(stop, shown)
        except PresageError as found:
            raise PresageError(self.pipeline.hidden(str(found))) from None
        except Exception as found:
            if not is_sparks(found):
                raise
            raise PresageError(self.pipeline.hidden(reason(found))) from None
        finally:
            shown.close()
            if self.receivers is not None:
                self.receivers.close()
            if self.owns_spark and self.spark is not None:
                with suppress(Exception):  # Java may be gone.
                    self.spark.stop()
            if self.held is not None:
                self.held.let_go()

    def _health(self) -> tuple[bool, list[str]]:
        waits = [] if self.measures.batches else ["no micro-batch is done yet"]
        return self.failure is None, [*waits, *([] if self.receivers is None else self.receivers.problems)]

    def _telling(self, stop: threading.Event) -> Receivers | None:
        """What the driver tells itself."""
        if not self.pipeline.streams or not any(map(by_driver, self.pipeline.parts["sinks"])):
            return None
        assert self.report.findings is not None and self.going_on is not None
        units, zone = Units(self.report.program), self.going_on.zone
        moments = None if zone is None else Moments(self.report.findings.watched, units, zone_called(zone))
        return Receivers(self.spark, self.pipeline, self.report, moments, self.show, stop)

    def _tell_problems(self) -> None:
        """Says which receiver keeps a micro-batch waiting, once."""
        found = [] if self.receivers is None else self.receivers.problems
        for each in found:
            if each not in self._problems:
                self.say(self.pipeline.hidden(f"{each}: it is told again until it takes it"))
        self._problems = found

    def _tell_refusals(self) -> None:
        if self.receivers is None:
            return
        for part, delivering in self.receivers.sinks:
            self.measures.refusals[part.name] = delivering.refusals
            self.measures.aside[part.name] = delivering.aside

    def _run(self, stop: threading.Event, shown: ShownMeasures) -> None:
        # PySpark would print what is told in a sentence below.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        if self.spark is None:
            with _signals_kept():
                self.spark = session(self.pipeline)
        if stop.is_set():
            return
        whole_times, rows = self._rows(self.report)
        self.receivers = self._telling(stop)
        sinks = Sinks(self.pipeline, whole_times, Units(self.report.program), self.show, self.receivers)
        self.measures.aside = sinks.aside
        if not self.pipeline.streams:
            sinks.write(rows, 0)
            return
        ensure_callback_server_started(self.spark._sc._gateway)  # type: ignore[no-untyped-call]
        of_spark = SparkMetrics(self.spark, self.measures)

        def changed() -> None:
            try:
                shown.refresh()
                of_spark.refresh()
            except PresageError as found:
                self.failure = self.failure or found
            self.changed()

        listener = Listener(self.measures, Units(self.report.program), changed)
        self.spark.streams.addListener(listener)
        try:
            for attempt in range(ATTEMPTS):
                query = self._start(counted(rows), sinks, listener, stop)
                if self._wait(query, stop, last=attempt == ATTEMPTS - 1):
                    break
            listener.ended.wait(PATIENCE)
            if isinstance(self.failure, PresageError):
                raise self.failure  # What is measured last is told after the query has ended.
        finally:
            with suppress(Exception):  # The session may be gone already.
                self.spark.streams.removeListener(listener)

    def _rows(self, report: Report) -> tuple[bool, DataFrame]:
        assert report.findings is not None
        sources = Sources(self.spark, self.pipeline, report.findings.subject.predicates)
        facts, clock, idle = sources.facts(), sources.clock(), self.pipeline.idle_seconds
        if self.pipeline.streams:
            self.going_on = found = self._goes_on(clock is not None)
            facts = found.in_order(facts)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            rows = all_rows(
                report.program, facts, time=sources.time(), arrives=sources.arrives() or None,
                static=sources.static(), tables=sources.tables(), emit=self.pipeline.emit, shards=self.pipeline.shards,
                clock=clock, times=self.pipeline.values.get("times"), zone=self.pipeline.values.get("zone"),
                most_per_key=self.pipeline.values.get("most_per_key") if self.pipeline.streams else None,
                idle=None if idle is None else int(idle * 1000), tells_clock=self._alerts,
                going_on=None if self.going_on is None else self.going_on.taken,
            )  # fmt: skip
        self.warnings += [str(each.message) for each in told if issubclass(each.category, UserWarning)]
        for said in () if self.going_on is None else self.going_on.said:
            self.say(said)
        return rows

    @property
    def _alerts(self) -> bool:
        """Whether somebody is told of alerts, which time alone may change."""
        told = (part for part in self.pipeline.parts["sinks"] if by_driver(part))
        return self.pipeline.streams and any(part.values.get("alerts") or part.format == ALERTS for part in told)

    def _goes_on(self, has_clock: bool) -> BegunCheckpoint:
        shards = max(1, self.pipeline.shards)
        history = int(self.pipeline.serve.get("history_bytes", HISTORY)) // shards
        folder = self.pipeline.local(str(self.pipeline.values["checkpoint"]))
        return BegunCheckpoint(SparkFolder(self.spark, folder), has_clock, self.backfill, history)

    def _start(self, rows: DataFrame, sinks: Sinks, listener: Listener, stop: threading.Event) -> Any:
        started = threading.Event()

        def write(batch: DataFrame, number: int) -> None:
            started.wait()  # The sinks are to know whose answers these are.
            if stop.is_set():
                # The micro-batch before is committed, and nothing of this one is written: it comes again.
                raise PresageError("the pipeline was asked to stop")
            try:
                if not sinks.write(batch, number):
                    raise _AskedToStop
                if self.going_on is not None:
                    self.going_on.note()
            except _AskedToStop:
                raise PresageError("the pipeline was asked to stop") from None
            except BaseException as found:
                self.failure = self.failure or found
                raise
            finally:
                self._tell_refusals()

        folder = self.pipeline.local(str(self.pipeline.values["checkpoint"]))
        writer = rows.writeStream.queryName(self.pipeline.name).foreachBatch(write).trigger(**self.pipeline.trigger)
        try:
            query = writer.option("checkpointLocation", folder).start()
        except Exception as found:
            if not is_sparks(found):
                raise
            raise self._of_checkpoint(found, folder) from None
        sinks.run, listener.query = str(query.id), str(query.runId)
        if self.receivers is not None:
            self.receivers.begin(sinks.run)
        started.set()
        return query

    def _of_checkpoint(self, found: BaseException, folder: str) -> PresageError:
        return PresageError(
            f"the checkpoint {folder} cannot be gone on from: {reason(found)}. Restore it from a copy, or start with a "
            "new one (the stream is then read from its beginning, and needs new folders for its answers)"
        )

    def _wait(self, query: Any, stop: threading.Event, last: bool) -> bool:
        """Waits for the end. Asked to stop, it lets the micro-batch at work end; the next one then ends the query. Says
        whether it is over, or the query is to be started again, unless this was the last attempt."""
        patience = 0.0
        try:
            while not query.awaitTermination(LOOK) and self.failure is None:
                self._tell_problems()
                if stop.is_set():
                    patience += LOOK
                    if patience > PATIENCE or not query.status["isTriggerActive"]:
                        break
        except PySparkException as found:
            if self.failure is None and not stop.is_set():
                if not last and TOO_SLOW in str(found):
                    return False
                raise self._why(found) from None
        failure = self.failure
        if query.isActive:
            query.stop()
        self.failure = failure  # What is cut off by stopping is no failure.
        if isinstance(self.failure, PresageError):
            raise self.failure
        if self.failure is not None:
            raise self._why(self.failure)
        return True

    def _why(self, found: BaseException) -> PresageError:
        said = own_words(found)
        if said:
            return PresageError(said)
        why = reason(found)
        folder = self.pipeline.local(str(self.pipeline.values["checkpoint"]))
        gone_on = not self.measures.batches and any((Path(folder) / "commits").glob("[0-9]*"))
        if folder in why or about_state(found) or (gone_on and why == UNTOLD):
            return self._of_checkpoint(found, folder)
        return PresageError(f"the pipeline failed: {why}")


def session(pipeline: Pipeline) -> Any:
    """A Spark as the file's `[spark]` says, or a quiet one on this machine."""
    given = {name: str(value) for name, value in pipeline.spark.items() if name.startswith("spark.")}
    master = str(pipeline.spark.get("master", "local[*]"))
    jars = [pipeline.local(each) for each in pipeline.spark.get("jars", [])]
    if any(part.format == "kafka" for parts in pipeline.parts.values() for part in parts):
        jars += connector_jars() if "spark.jars.packages" not in given else []
    if jars:
        given["spark.jars"] = ",".join([*jars, *filter(None, [given.get("spark.jars")])])
    return quiet_session(master, pipeline.shards, pipeline.name, given)


def quiet_session(master: str, shards: int, name: str, given: Mapping[str, str]) -> Any:
    home = temporary_home()
    # A configuration of the user's own says what is logged, and where; otherwise what goes wrong is told once, in a
    # sentence, and Spark would add pages.
    if "SPARK_CONF_DIR" in os.environ:
        return _started(master, shards, name, given, home)
    try:
        with _stderr_to(home / "spark.log"):
            spark = _started(master, shards, name, given, home)
    except PySparkException as found:
        last = (home / "spark.log").read_text(errors="replace").strip().split("\n")[-1]
        raise PresageError(f"Spark does not start: {reason(found)} ({last})") from None
    spark.sparkContext.setLogLevel("OFF")
    tell_no_ends(spark)
    return spark


def _started(master: str, shards: int, name: str, given: Mapping[str, str], home: Path) -> Any:
    if master.startswith("local"):
        cores = master.removeprefix("local").strip("[]") or "1"
        return local_session(cores, shards, home, given)
    builder: Any = SparkSession.builder.master(master).appName(name)
    for setting, value in keep_private(given, home).items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Spark, when it starts, takes Ctrl-C for itself and cancels the jobs at work; whoever asked for a pipeline to stop
    between micro-batches is to be heard afterwards as before."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """What processes that are started meanwhile write to standard error goes to a file, as long as they live."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with path.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
