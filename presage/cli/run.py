"""`presage run`: facts through a program, answers out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from presage.cli import FINE
from presage.cli.options import output_path, program_argument
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.answers import Answer
    from presage.io.facts import Fact
    from presage.model.terms import Number
    from presage.reasoner import Reasoner

SUMMARY = "feed facts to a program and print the answers"
DESCRIPTION = """\
Feeds facts in the order of their arrival and prints an answer line for everything that is confirmed.
Facts are JSON lines: {"pred": "temp", "args": ["wt25", "high"], "time": 0}, with "arrives" where a fact
arrives later than its time, "from", "to" and "bounds" for an interval, and no time for static facts.
Or they are CSV or Parquet files, one for each predicate and named after it (temp.csv, temp.parquet), with
the declared columns and `time`."""
EXAMPLE = """\
example:
  presage run --emit confirmed examples/turbines/turbines.psg --facts examples/turbines/facts.jsonl"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    command.add_argument(
        "--facts", nargs="+", type=Path, required=True, metavar="F", help="files of facts (.jsonl, .csv, .parquet)"
    )
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    command.add_argument("--until", metavar="N", help="the last step (default: when everything is settled)")
    command.add_argument(
        "--emit", choices=("confirmed",), required=True, help="confirmed: what is entailed, as soon as it is"
    )
    command.add_argument(
        "--out", type=output_path, metavar="F", help="write the answers to a file (.jsonl, .parquet) instead"
    )


def run(options: argparse.Namespace) -> int:
    from presage.checking import check_text, read_file
    from presage.cli.progress import watched
    from presage.io.files import read_facts
    from presage.io.output import open_output
    from presage.reasoner import Reasoner

    report = check_text(read_file(options.program), str(options.program))
    reasoner = Reasoner(report.program, report=report)
    for fact in read_facts(options.static, reasoner.checker):
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
        reasoner.add_static(fact)
    facts: list[Fact] = []
    for fact in read_facts(options.facts, reasoner.checker):
        if fact.low is None:
            reasoner.add_static(fact)
        else:
            facts.append(fact)
    until = None if options.until is None else reasoner.checker.time(options.until, "--until")
    if until is not None and until < 0:
        raise PresageError("--until: the stream starts at time 0")
    with open_output(options.out, whole_times=reasoner.subject.discrete) as out:
        for answers in watched(steps(reasoner, facts, until), facts, lambda: reasoner.now):
            for answer in answers:
                out.write(answer)
    if reasoner.late:
        print(f"{len(reasoner.late)} facts arrived too late and were left out", file=sys.stderr)
    return FINE


def steps(reasoner: Reasoner, facts: list[Fact], until: Number | None) -> Iterator[list[Answer]]:
    """One step for each time at which something arrives or is decided, up to the end."""
    arriving: dict[Number, list[Fact]] = {}
    for fact in facts:
        arriving.setdefault(fact.arrival, []).append(fact)
    times = sorted(arriving)
    end = until if until is not None else last_step(reasoner, times[-1] if times else 0)
    position = 0
    now: Number | None = None
    while True:
        candidates = [times[position]] if position < len(times) else []
        wake = reasoner.next_decision() if now is not None else None
        if wake is not None:
            candidates.append(wake)
        if now is None or now < end:
            candidates.append(end)
        following = min(candidates, default=None)
        if following is None or following > end or (now is not None and following <= now):
            return
        now = following
        due = arriving.get(now, [])
        position += bool(due)
        yield [clipped for answer in reasoner.step(due, now) if (clipped := clip(answer, end)) is not None]


def last_step(reasoner: Reasoner, last: Number) -> Number:
    """The last arrival plus the greatest delay plus the program's look-ahead."""
    lags = [lag for name, lag in reasoner.engine.lags.lag.items() if not isinstance(lag, float)]
    return last + max([0, *lags])


def clip(answer: Answer, end: Number) -> Answer | None:
    """An answer up to the end of the run."""
    from dataclasses import replace

    if answer.time is not None:
        return answer if answer.time <= end else None
    if answer.start is not None and (answer.start > end or (answer.start == end and answer.bounds[0] == "(")):
        return None
    if answer.end is None or answer.end > end:
        if answer.start == end:
            return replace(answer, time=end, start=None, end=None, bounds="")
        return replace(answer, end=end, bounds=answer.bounds[0] + "]")
    return answer
