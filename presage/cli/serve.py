"""`presage serve`: a pipeline file in one process, durable, with live sources and sinks."""

from __future__ import annotations

import argparse
import gc
import sys
import threading
from typing import Any

from presage.cli import FINE, WRONG_INPUT
from presage.cli.pipeline import Stopped, backfill_argument, checked_pipeline, pipeline_arguments, show_lines

SUMMARY = "run sources, a program and sinks in one process, live and durable"
DESCRIPTION = """\
Runs a pipeline file in this process: facts from files that grow, standard input, HTTP (POST /facts), MQTT, Kafka and
PostgreSQL go through the program as they come, and answers and alerts to the screen, files, Kafka, PostgreSQL, MQTT,
webhooks, Alertmanager and whoever listens to events. What has been acknowledged is on disk: after a crash the same
command goes on, and every change is told once to sinks that can take it so. Ctrl-C or SIGTERM ends it in order."""
EXAMPLE = """\
example:
  presage serve --check turbines/pipeline.toml
  presage serve turbines/pipeline.toml"""


def arguments(command: argparse.ArgumentParser) -> None:
    pipeline_arguments(command, "say what is wrong with the file, and do not start")
    backfill_argument(command)


def run(options: argparse.Namespace) -> int:
    checked = checked_pipeline(options, live=True)
    if not checked.ok:
        return WRONG_INPUT
    if options.check:
        return FINE
    from presage.errors import PresageError
    from presage.serve.running import Serving

    readable = sys.stdout.isatty() and not options.json

    def show(lines: list[dict[str, Any]]) -> None:
        show_lines(lines, readable)

    stop, folder = threading.Event(), checked.pipeline.values.get("checkpoint")
    serving = Serving(checked, show, options.backfill, lambda said: print(said, file=sys.stderr, flush=True))
    with Stopped(stop):
        try:
            try:
                serving.start()
                _look_less_for_garbage()
                if serving.address:
                    print(f"{checked.pipeline.name} listens at {serving.address}", file=sys.stderr, flush=True)
                serving.wait(stop)
            finally:
                serving.close()
        except PresageError as found:
            raise PresageError(checked.pipeline.hidden(str(found))) from None
        except OSError as found:
            place = found.filename or f"{folder}: the checkpoint cannot be written"
            raise PresageError(f"{place}: {found.strerror or found}") from None
    for said in serving.skips:
        print(f"skipped: {said}", file=sys.stderr)
    for sink in serving.sinks:
        if sink.delivering.problem:
            said = checked.pipeline.hidden(f"[{sink.part.place}] {sink.delivering.problem}")
            print(f"{said}: what was not taken is in {folder}, and is told at the next start", file=sys.stderr)
    if stop.is_set():
        print(f"stopped after {serving.measures.facts} facts; it goes on from {folder}", file=sys.stderr)
    return FINE


def _look_less_for_garbage() -> None:
    """Lines are hundreds of thousands of objects a second that go by themselves: looking for circles among them took as
    long as all reasoning. What is loaded by now stays, and is taken out of sight."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
