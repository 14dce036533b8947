"""Sources and sinks made from what a pipeline file says of them, by their format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.checking import Report
from presage.errors import PresageError
from presage.io.facts import Checker, Fact
from presage.pipeline.keys import FILES
from presage.pipeline.mapping import SourceMapping
from presage.pipeline.reading import Part, Pipeline
from presage.pipeline.rows import rows_of
from presage.receivers.delivering import Sink
from presage.receivers.growing_file import GrowingFile
from presage.serve.events import Events
from presage.serve.files import WatchedFiles
from presage.serve.sinks import Console, FilesInFolder
from presage.serve.sources import Bringing, ServedSource, StandardInput, json_line

if TYPE_CHECKING:
    from presage.serve.running import Serving


def bringing(serving: Serving, part: Part) -> Bringing:
    checker = serving.reasoning.reasoner.checker
    known = checker.predicates.get(part.name)
    mapped = None if known is None or part.is_self_describing else SourceMapping(part, known, checker)
    messages, aligned = serving.reasoning.messages, serving.alignment
    return Bringing(part, serving.gate, messages, mapped, serving.skipped, serving.counted, aligned)


def make_source(serving: Serving, part: Part) -> ServedSource | None:
    """What reads a source; nothing where facts are sent by others."""
    own = bringing(serving, part)
    pipeline = serving.pipeline
    if part.format in FILES:
        return WatchedFiles(own, pipeline.local(part.text("path")), part.format, pipeline.takes_what_there_is)
    if part.format == "stdin":
        return StandardInput(own)
    if part.format == "http":
        return None
    if part.format == "mqtt":
        from presage.serve.mqtt import MqttSource

        return MqttSource(own, str(serving.identity["run"]))
    if part.format == "jdbc":
        from presage.serve.postgres import PolledTable

        return PolledTable(own, pipeline.trigger_seconds or 1.0, pipeline.takes_what_there_is)
    if part.format == "kafka":
        from presage.serve.kafka import KafkaSource

        return KafkaSource(own, pipeline.takes_what_there_is)
    raise PresageError(f"[{part.place}] `{part.format}` runs on Spark only: use `presage pipeline`")


def make_sink(serving: Serving, part: Part, whole_times: bool) -> Sink:
    pipeline, run = serving.pipeline, str(serving.identity["run"])
    match part.format:
        case "console":
            return Console(serving.show)
        case "lines":
            return GrowingFile(Path(pipeline.local(part.text("path"))), part.place)
        case "parquet" | "json":
            linger = pipeline.trigger_seconds or 1.0
            folder = Path(pipeline.local(part.text("path")))
            return FilesInFolder(folder, part.format, run, whole_times, part.place, linger)
        case "events":
            return Events()
        case "jdbc":
            from presage.serve.postgres import AnswerTable

            return AnswerTable(part, run, whole_times)
        case "mqtt":
            from presage.receivers.mqtt import MqttSink

            return MqttSink(part, run)
        case "kafka":
            from presage.serve.kafka import KafkaSink

            return KafkaSink(part, run)
        case "webhook":
            from presage.receivers.webhook import Webhook

            return Webhook(part, pipeline.name, run)
        case "alertmanager":
            from presage.receivers.alertmanager import Alertmanager
            from presage.rewrite.units import Units

            units = Units(serving.report.program)
            return Alertmanager(part, pipeline.name, units, serving.standing_alerts)
    raise PresageError(f"[{part.place}] `{part.format}` runs on Spark only: use `presage pipeline`")


def read_statics(pipeline: Pipeline, report: Report) -> list[Fact]:
    """The facts that are known before the stream."""
    assert report.findings is not None
    subject = report.findings.watched
    checker = Checker(subject.program, subject.predicates, subject.discrete)
    found: list[Fact] = []
    for part in pipeline.parts["static"]:
        mapped = SourceMapping(part, checker.predicates[part.name], checker)
        for row, where in _static_rows(pipeline, part):
            fact = mapped.fact(row, where)
            if fact is not None:
                found.append(fact)
    return found


def _static_rows(pipeline: Pipeline, part: Part) -> Any:
    if part.format == "jdbc":
        from presage.pipeline.postgres import read_table

        rows = read_table(part).to_pylist()
        yield from ((row, f"[{part.place}] row {number}") for number, row in enumerate(rows, 1))
        return
    from glob import glob

    for root in sorted(glob(pipeline.local(part.text("path")))):  # noqa: PTH207
        paths = (
            [Path(root)] if Path(root).is_file() else sorted(each for each in Path(root).rglob("*") if each.is_file())
        )
        for path in paths:
            if path.name.startswith((".", "_")):
                continue
            if part.format == "json":
                for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
                    if line.strip():
                        yield json_line(line, f"{path}:{number}"), f"{path}:{number}"
                continue
            rows = rows_of(path, part)
            if rows is None:
                raise PresageError(f"[{part.place}] {path}: this is not a whole Parquet file")
            yield from rows
