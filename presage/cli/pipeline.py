"""`presage pipeline`: sources, a program and sinks on Spark, as a file says."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.cli import FINE, WRONG_INPUT
from presage.cli.options import params_of, set_argument

if TYPE_CHECKING:
    from rich.text import Text

    from presage.pipeline.checking import Checked
    from presage.pipeline.reading import Part

SUMMARY = "run sources, a program and sinks on Spark, as a file says"
DESCRIPTION = """\
Runs a pipeline: facts from files, Kafka or a database go through a program on Spark, and answers to the screen, files,
Kafka or PostgreSQL. A stream goes on from its checkpoint until Ctrl-C or SIGTERM stops it between micro-batches.
Everything a file says is checked first; --check does only that."""
EXAMPLE = """\
example:
  presage pipeline --check turbines/pipeline.toml
  presage pipeline turbines/pipeline.toml"""


def arguments(command: argparse.ArgumentParser) -> None:
    pipeline_arguments(command, "say what is wrong with the file, and do not start Spark")
    backfill_argument(command)


def pipeline_arguments(command: argparse.ArgumentParser, check: str) -> None:
    command.add_argument("file", type=Path, metavar="FILE", help="a pipeline file (.toml)")
    set_argument(command)
    command.add_argument("--check", action="store_true", help=check)
    command.add_argument("--json", action="store_true", help="JSON lines on a terminal too (the default when piped)")


def backfill_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--backfill",
        action="store_true",
        help="where rules have changed, queries that are new begin with the history that the checkpoint has",
    )


def run(options: argparse.Namespace) -> int:
    checked = checked_pipeline(options)
    if not checked.ok:
        return WRONG_INPUT
    return FINE if options.check else run_checked(checked, options.json, options.backfill)


def checked_pipeline(options: argparse.Namespace, live: bool = False) -> Checked:
    """The pipeline of a file, after what is wrong with it was said; with `--check`, also that it is fine."""
    from presage.pipeline.checking import check_pipeline

    checked = check_pipeline(options.file, os.environ, live=live, params=params_of(options))
    if checked.problems:
        print(checked.text(), file=sys.stderr)
    if options.check:
        _tell_checked(checked, options.json or not sys.stdout.isatty())
    return checked


def _tell_checked(checked: Checked, as_json: bool) -> None:
    if as_json:
        print(json.dumps(checked.to_json(), ensure_ascii=False))
    elif checked.ok:
        pipeline = checked.pipeline
        sources, sinks = (", ".join(part.name for part in pipeline.parts[name]) for name in ("sources", "sinks"))
        print(f"{pipeline.path} is fine: {sources} → {pipeline.values['program']} → {sinks}")


def run_checked(checked: Checked, as_json: bool, backfill: bool = False) -> int:
    """Runs a pipeline that is known to be right, and shows how it fares on a terminal."""
    from presage.cli.pulse import Pulse
    from presage.spark.pipeline.running import RunningPipeline

    pulse = Pulse()
    readable = sys.stdout.isatty() and not as_json

    def show(part: Part, lines: list[dict[str, Any]]) -> None:
        pulse.above(lambda: show_lines(lines, readable))

    def say(said: str) -> None:
        pulse.above(lambda: print(said, file=sys.stderr, flush=True))

    running = RunningPipeline(checked, show, lambda: pulse.show(running.measures), say=say, backfill=backfill)
    stop = threading.Event()
    with Stopped(stop), pulse:
        running.run(stop)
    for said in running.warnings:
        print(said, file=sys.stderr)
    if stop.is_set():
        folder = checked.pipeline.values.get("checkpoint")
        print(f"stopped after {running.measures.batches} micro-batches; it goes on from {folder}", file=sys.stderr)
    return FINE


def show_lines(lines: list[dict[str, Any]], readable: bool) -> None:
    if not readable:
        for line in lines:
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return
    from rich.console import Console

    console = Console(highlight=False)
    for line in lines:
        console.print(_in_words(line))


def _in_words(line: dict[str, Any]) -> Text:
    """A line for a person: an answer, or a fact that came too late."""
    from rich.text import Text

    from presage.cli.live import SIGNS, printable
    from presage.colours import terminal_style

    text = Text(f"{line['now']}: ", "dim")
    status = line.get("status")
    if "severity" in line:
        return text.append(f"{line['severity']} {line['state']} ", "bold").append(printable(line["text"]), "default")
    if status is None:
        return text.append("late ", "yellow").append(printable(line["fact"]), "default")
    text.append(f"{SIGNS.get(status, '')} {status} ", terminal_style(status))
    text.append(printable(line["answer"]), "default")
    for word, key in (("because", "because"), ("needs", "needs")):
        if line[key]:
            text.append(f"  {word} {', '.join(map(printable, line[key]))}", "dim")
    if status == "possible" and line["decided_by"] is not None:
        text.append(f"  by {line['decided_by']}", "dim")
    return text


class Stopped:
    """Ctrl-C and SIGTERM ask to stop; a second one ends at once."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop

    def __enter__(self) -> None:
        self.before = {number: signal.signal(number, self._asked) for number in (signal.SIGINT, signal.SIGTERM)}

    def _asked(self, number: int, frame: Any) -> None:
        if self.stop.is_set():
            raise KeyboardInterrupt
        self.stop.set()

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
