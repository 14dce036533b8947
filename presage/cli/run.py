"""`presage run`: facts through a program, answers out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.answers import json_value
from presage.cli import FINE
from presage.cli.options import output_path, program_argument
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.io.facts import Fact
    from presage.reasoner import Reasoner

SUMMARY = "feed facts to a program and print the answers"
DESCRIPTION = """\
Feeds facts in the order of their arrival and prints an answer line for everything that changes: answers that
become possible, because of what has arrived and if which facts still arrive; that are confirmed; that are refuted.
Facts are JSON lines: {"pred": "temp", "args": ["wt25", "high"], "time": 0}, with "arrives" where a fact
arrives later than its time, "from", "to" and "bounds" for an interval, and no time for static facts.
Or they are CSV or Parquet files, one for each predicate and named after it (temp.csv, temp.parquet), with
the declared columns and `time`."""
EXAMPLE = """\
example:
  presage run examples/turbines/turbines.psg --facts examples/turbines/facts.jsonl"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    command.add_argument(
        "--facts", nargs="+", type=Path, required=True, metavar="F", help="files of facts (.jsonl, .csv, .parquet)"
    )
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    command.add_argument("--until", metavar="N", help="the last step (default: when everything is settled)")
    command.add_argument(
        "--emit",
        choices=("changes", "snapshot", "confirmed"),
        default="changes",
        help="changes: answers whose status, evidence or premises changed (default); snapshot: at each step all that "
        "are possible or just confirmed; confirmed: only what is entailed",
    )
    command.add_argument(
        "--min-confidence", type=_share, metavar="P", help="leave out possible answers that are less likely than P"
    )
    command.add_argument("--top", type=_count, metavar="K", help="in snapshots, the K likeliest possible answers only")
    command.add_argument(
        "--max-open", type=_count, metavar="N", help="keep at most N open answers, and shed the least likely beyond"
    )
    command.add_argument(
        "--confidence-step", type=_share, metavar="S", help="print an answer again when its confidence moves by S"
    )
    command.add_argument(
        "--out", type=output_path, metavar="F", help="write the answers to a file (.jsonl, .parquet) instead"
    )


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a probability: a number between 0 and 1")
    return value


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number")
    return int(text)


def run(options: argparse.Namespace) -> int:
    from presage.checking import check_text, read_file
    from presage.cli.progress import watched
    from presage.io.files import read_facts
    from presage.io.output import open_output
    from presage.reasoner import Reasoner
    from presage.stepping import steps
    from presage.supposing import Choice

    report = check_text(read_file(options.program), str(options.program))
    choice = Choice(options.min_confidence, options.top, options.max_open, options.confidence_step)
    emit = "confirmed" if options.emit == "confirmed" else "changes"
    reasoner = Reasoner(report.program, emit=emit, choice=choice, report=report)
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
        snapshot = options.emit == "snapshot"
        for answers in watched(steps(reasoner, facts, until, snapshot), facts, lambda: reasoner.now):
            if snapshot:
                for line in snapshots(reasoner):
                    out.write_line(line)
            else:
                for answer in answers:
                    out.write(answer)
    _tell_what_was_left_out(reasoner)
    return FINE


def _tell_what_was_left_out(reasoner: Reasoner) -> None:
    if reasoner.late:
        print(f"{len(reasoner.late)} facts arrived too late and were left out", file=sys.stderr)
    if reasoner.supposing is not None and reasoner.supposing.hidden:
        print(f"{reasoner.supposing.hidden} possible answers were less likely than asked for", file=sys.stderr)
    if reasoner.supposing is not None and reasoner.supposing.shed:
        print(f"{reasoner.supposing.shed} open answers were shed; they may come true untold", file=sys.stderr)


def snapshots(reasoner: Reasoner) -> Iterator[dict[str, Any]]:
    """For each query what stands at this step."""
    from presage.model.printer import show_query
    from presage.supposing import asked_by

    assert reasoner.now is not None
    answers = list(reasoner.answers())
    for query in reasoner.subject.queries:
        lines = [answer.to_json() for answer in answers if asked_by(query, answer)]
        yield {"now": json_value(reasoner.now), "query": show_query(query), "answers": lines}
