"""What the driver of a pipeline tells receivers itself, line by line: alerts, and answers to those that Spark cannot
write to.

Alerts are made of the answers of each micro-batch and of how far its clock is. How they stand, and the number of the
last line, are written into the checkpoint when all receivers have a micro-batch: it is told once, unless the driver
died in between; then its lines come again under the numbers they had.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import tzinfo
from itertools import groupby
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from presage.checking import Report
from presage.errors import PresageError
from presage.io.facts import Checker, exact
from presage.io.moments import Moments
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.pipeline.reading import Part, Pipeline
from presage.receivers.alerts import AlertRule, Alerts, alert_rules
from presage.receivers.delivering import Delivering, Refused, Sink, wants
from presage.receivers.told_lines import ALERT, ANSWER, LATE, ToldLine
from presage.sealed import opened, reading, sealed
from presage.spark.call import late_facts
from presage.spark.pipeline.folders import SparkFolder
from presage.spark.pipeline.reread import AnswersAgain, lines_of
from presage.spark.troubles import is_sparks, reason

ALERTS = "alertmanager"
"""The sink that gets nothing but alerts."""
TOLD = "presage.told"
KIND, FORMAT = "told", 1
PULSE = 1.0
"""Seconds between two looks at whether something is to be said again."""
ShowLines = Callable[[Part, list[dict[str, Any]]], None]


def by_driver(part: Part) -> bool:
    """Whether a sink gets its lines from the driver, numbered."""
    return part.format in ("webhook", "alertmanager", "mqtt", "lines") or bool(part.values.get("alerts"))


class Receivers:
    """The receivers of a stream. `moments` are what its times are shown as, if not as numbers."""

    def __init__(
        self,
        spark: Any,
        pipeline: Pipeline,
        report: Report,
        moments: Moments | None,
        show: ShowLines,
        stop: threading.Event,
    ) -> None:
        assert report.findings is not None
        self.pipeline, self.moments = pipeline, moments
        subject = report.findings.watched
        self.discrete = report.findings.subject.discrete
        self.folder = SparkFolder(spark, pipeline.local(str(pipeline.values["checkpoint"])))
        checker = Checker(subject.program, subject.predicates, self.discrete)
        self.again = AnswersAgain(subject.queries, self.discrete, moments)
        self.rules = alert_rules(pipeline.alerts, subject.queries, checker)
        self.alerts = Alerts(self.rules, self.discrete)
        self.batch, self.number = -1, 0
        """The last micro-batch that all receivers have, and the number of the last line."""
        self.clock: Number | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.units, self.show, self.spark, self._stop = checker.units, show, spark, stop
        self.parts = [part for part in pipeline.parts["sinks"] if by_driver(part)]
        self.sinks: list[tuple[Part, Delivering]] = []

    def begin(self, run: str) -> None:
        """Goes on from the checkpoint of a run."""
        self.folder.mend(TOLD)
        data = self.folder.read_bytes(TOLD)
        if data is not None:
            what = f"{TOLD} of the checkpoint"
            _, content = opened(KIND, range(1, FORMAT + 1), data, what)
            with reading(what):
                self._restore(json.loads(content))
        self.alerts.moments = self.moments
        for part in self.parts:
            self.sinks.append((part, Delivering(self._sink(part, run), self._aside(part), self._stop)))
        if any(hasattr(each.sink, "pulse") for _, each in self.sinks):
            threading.Thread(target=self._pulse, name="receivers", daemon=True).start()

    def _restore(self, said: dict[str, Any]) -> None:
        self.batch, self.number = int(said["batch"]), int(said["number"])
        self.clock = None if said["clock"] is None else exact(said["clock"])
        # Under the rules of then; they become those of now with the next micro-batch.
        self.alerts = Alerts(map(AlertRule.of_plain, said["rules"]), self.discrete)
        self.alerts.restore(said["alerts"])

    def _keep(self) -> None:
        clock = None if self.clock is None else show_number(self.clock)
        said = {
            "batch": self.batch, "number": self.number, "clock": clock, "alerts": self.alerts.save(),
            "rules": [each.plain() for each in self.rules],
        }  # fmt: skip
        self.folder.put(TOLD, sealed(KIND, FORMAT, json.dumps(said, ensure_ascii=False).encode()))

    # -- a micro-batch ----------------------------------------------------------------------------

    def had(self, batch: int) -> bool:
        """Whether all receivers had a micro-batch before a crash, or nothing in it is for any."""
        answers = any(part.format != ALERTS and not part.values.get("alerts") for part in self.parts)
        return batch <= self.batch or not (answers or self.rules or self.alerts.rules)

    def write(self, rows: DataFrame, batch: int, zone: tzinfo) -> bool:
        """Tells what there is of a micro-batch; whether all receivers have it, and nobody has asked to stop before."""
        if batch <= self.batch:
            return True
        with self._lock:
            lines = list(self._lines(rows, zone))
            for part, delivering in self.sinks:
                wanted = [line for line in lines if wants(part, line)]
                known = delivering.sink.told()
                if known is not None:
                    wanted = [line for line in wanted if line.number > known]
                if wanted and not delivering.write(wanted):
                    return False
            self.batch = batch
            self._keep()
        return True

    def _lines(self, rows: DataFrame, zone: tzinfo) -> Iterator[ToldLine]:
        """All lines of a micro-batch that somebody here may want, in their order."""
        told = rows.where("status is not null").drop("late")
        wanted = [part for part in self.parts if part.format != ALERTS and not part.values.get("alerts")]
        answers: list[dict[str, Any]] = []
        if any(not part.values.get("late") for part in wanted):
            answers = list(lines_of(told, zone))
        elif self.rules or self.alerts.rules:
            name = F.substring_index(F.substring_index("answer", "(", 1), "@", 1)
            names = {each.query for each in (*self.rules, *self.alerts.rules.values())}
            answers = list(lines_of(told.where(name.isin(*names)), zone))
        if any(not part.values.get("late") for part in wanted):
            yield from (self._numbered(line, ANSWER) for line in answers)
        if any(part.values.get("late") for part in wanted):
            yield from (self._numbered(line, LATE) for line in lines_of(late_facts(rows, self.discrete), zone))
        for alert in self._changed(answers, rows):
            yield self._numbered(alert, ALERT)

    def _numbered(self, line: dict[str, Any], kind: str) -> ToldLine:
        self.number += 1
        return ToldLine.of(self.number, line, kind)

    def _changed(self, answers: Sequence[dict[str, Any]], rows: DataFrame) -> Iterator[dict[str, Any]]:
        """The alerts that a micro-batch changes."""
        if self.alerts.rules != {each.query: each for each in self.rules}:
            yield from self.alerts.become(self.rules, self.clock)
        if not self.rules:
            return
        for now, together in groupby((self.again.of(line) for line in answers), key=lambda answer: answer.now):
            yield from self.alerts.take(together, now)
        found = rows.where("status is null and late is null").select("now").toArrow().column(0).to_pylist()
        clocks = [time for each in found if (time := self.again.time(each)) is not None]
        if clocks:
            self.clock = max([*clocks, *([] if self.clock is None else [self.clock])])
            yield from self.alerts.passed(self.clock)

    # -- receivers --------------------------------------------------------------------------------

    def _sink(self, part: Part, run: str) -> Sink:
        match part.format:
            case "webhook":
                from presage.receivers.webhook import Webhook

                return Webhook(part, self.pipeline.name, run)
            case "alertmanager":
                from presage.receivers.alertmanager import Alertmanager

                return Alertmanager(part, self.pipeline.name, self.units, self.standing)
            case "mqtt":
                from presage.receivers.mqtt import MqttSink

                return MqttSink(part, run)
            case "lines":
                from presage.receivers.growing_file import GrowingFile

                return GrowingFile(Path(self.pipeline.local(part.text("path"))), part.place)
            case "kafka":
                return _Topic(self.spark, part)
        return _Screen(part, self.show)

    def standing(self) -> list[dict[str, Any]]:
        """What fires or is pending."""
        return [] if self.clock is None else self.alerts.standing(self.clock)

    def _pulse(self) -> None:
        """Lets receivers be told again what stands, though no micro-batch comes."""
        while not self._ended.wait(PULSE) and not self._stop.is_set():
            with self._lock:
                for _, delivering in self.sinks:
                    delivering.pulse()

    def _aside(self, part: Part) -> Callable[[ToldLine, str], None]:
        def put(line: ToldLine, why: str) -> None:
            said = json.dumps({"why": why, "line": line.fields}, ensure_ascii=False)
            self.folder.put(f"presage.refused-{part.name}-{line.number:012d}.json", said)

        return put

    @property
    def problems(self) -> list[str]:
        """What is wrong at the moment, though the pipeline goes on."""
        return [f"[{part.place}] {each.problem}" for part, each in self.sinks if each.problem]

    def close(self) -> None:
        self._ended.set()
        for _, delivering in self.sinks:
            with suppress(OSError, PresageError):
                delivering.sink.close()


class _Unasked:
    """A sink that does not know what it was told, and keeps nothing open."""

    linger = 0.0

    def told(self) -> int | None:
        return None

    def close(self) -> None:
        """Nothing is open."""


class _Screen(_Unasked):
    def __init__(self, part: Part, show: ShowLines) -> None:
        self.part, self.show = part, show

    def write(self, lines: Sequence[ToldLine]) -> None:
        self.show(self.part, [line.fields for line in lines])


class _Topic(_Unasked):
    """A topic of Kafka, by Spark's own writer."""

    def __init__(self, spark: Any, part: Part) -> None:
        self.spark, self.part = spark, part

    def write(self, lines: Sequence[ToldLine]) -> None:
        rows = self.spark.createDataFrame([(line.key, line.text) for line in lines], "key string, value string")
        writer = rows.write.format("kafka").options(**self.part.table("options"))
        writer = writer.option("kafka.bootstrap.servers", self.part.text("servers"))
        try:
            writer.option("topic", self.part.text("topic")).save()
        except Exception as found:
            if not is_sparks(found):
                raise
            raise Refused(reason(found)) from None
