"""`presage run`: facts through a program, answers out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from presage.cli import FINE
from presage.cli.options import program_argument
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.answers import Answer
    from presage.io.facts import Fact
    from presage.model.terms import Number
    from presage.models.stepping import AnswerStreamSteps
    from presage.reasoner import Reasoner

SUMMARY = "feed facts to a program and print the answers"
DESCRIPTION = """\
Feeds facts in the order of their arrival and prints an answer line for everything that is confirmed.
Facts are JSON lines: {"pred": "temp", "args": ["wt25", "high"], "time": 0}, with "arrives" where a fact
arrives later than its time, "from", "to" and "bounds" for an interval, and no time for static facts."""
EXAMPLE = """\
example:
  presage run --emit confirmed examples/turbines/turbines.psg --facts examples/turbines/facts.jsonl"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    command.add_argument("--facts", nargs="+", type=Path, required=True, metavar="F", help="files of facts (.jsonl)")
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    command.add_argument("--until", metavar="N", help="the last step (default: when everything is settled)")
    command.add_argument(
        "--emit", choices=("confirmed",), required=True, help="confirmed: what is entailed, as soon as it is"
    )
    command.add_argument("--out", type=Path, metavar="F", help="write the answers to a file instead of printing them")


def run(options: argparse.Namespace) -> int:
    from presage.checking import check_text, read_file
    from presage.io.facts import read_facts
    from presage.models.stepping import AnswerStreamSteps, needs_answer_streams
    from presage.reasoner import Reasoner

    report = check_text(read_file(options.program), str(options.program))
    report.or_raise()
    reasoner = AnswerStreamSteps(report) if needs_answer_streams(report) else Reasoner(report.program, report=report)
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
    with _output(options.out) as out:
        for answers in steps(reasoner, facts, until):
            for answer in answers:
                out.write(json.dumps(answer.to_json(), ensure_ascii=False) + "\n")
    if reasoner.late:
        print(f"{len(reasoner.late)} facts arrived too late and were left out", file=sys.stderr)
    return FINE


@contextmanager
def _output(path: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that is in place only when it is complete."""
    if path is None:
        yield sys.stdout
        return
    beside = path.with_name(path.name + ".tmp")
    try:
        with beside.open("w", encoding="utf-8") as out:
            yield out
        beside.replace(path)
    except OSError as found:
        raise PresageError(f"{path}: cannot be written ({found.strerror})") from None
    finally:
        beside.unlink(missing_ok=True)


def steps(reasoner: Reasoner | AnswerStreamSteps, facts: list[Fact], until: Number | None) -> Iterator[list[Answer]]:
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
        wake = reasoner.next_decision() if now is not None else reasoner.first_decision
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
        answers = reasoner.step(due, now)
        if reasoner.looks_ahead:
            yield list(answers)
        else:
            yield [clipped for answer in answers if (clipped := clip(answer, end)) is not None]


def last_step(reasoner: Reasoner | AnswerStreamSteps, last: Number) -> Number:
    """The last arrival plus the greatest delay plus the program's look-ahead."""
    return last + reasoner.longest_lag


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
