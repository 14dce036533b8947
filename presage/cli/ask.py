"""`presage ask`: with which values a formula holds, and when."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from presage.cli import FINE
from presage.cli.finite_streams import given_stream, stream_arguments

if TYPE_CHECKING:
    from presage.answer_streams.asking import Reply
    from presage.answer_streams.words import NullNames

SUMMARY = "ask a formula about a stream"
DESCRIPTION = """\
Evaluates a formula over the given facts and what the program derives from them, and prints a line for each
answer: the values of its variables and the time. `exists X: a, b` leaves the values of X out. Where the program
has several models, the answers are those that hold in all of them."""
EXAMPLE = """\
example:
  presage ask trams/trams.psg --facts trams/facts.jsonl --at 45 'window(5) some tram(A, St)'"""


def arguments(command: argparse.ArgumentParser) -> None:
    stream_arguments(command, "the time at which the formula is asked; `any`: each time of the stream")
    command.add_argument(
        "--nulls", action="store_true", help="also answers that name an invented value, which are not certain"
    )
    command.add_argument(
        "formula", metavar="FORMULA", help="a formula, or several joined by commas; not right after the files"
    )


def run(options: argparse.Namespace) -> int:
    from presage.answer_streams.asking import asked_variables
    from presage.answer_streams.evaluation import Evaluation
    from presage.answer_streams.questions import read_question
    from presage.answer_streams.words import NullNames

    given = given_stream(options, "ask", options.formula)
    question = read_question(options.formula, given.findings.subject)
    evaluation = Evaluation(given.findings.subject, given.facts, given.at, given.timeline, question)
    found = evaluation.ask(question, options.nulls)
    is_open = bool(asked_variables(question))
    names = NullNames()
    readable = sys.stdout.isatty() and not options.json
    for reply in found:
        print(_told(reply, names) if readable else json.dumps(_line(reply, is_open, names), ensure_ascii=False))
    if not found and not is_open and given.at is not None:
        line = {"holds": False, "at": given.at}
        print(f"does not hold at {given.at}" if readable else json.dumps(line))
    elif not found and readable:
        print("no answers")
    return FINE


def _line(reply: Reply, is_open: bool, names: NullNames) -> dict[str, object]:
    if not is_open:
        return {"holds": True, "at": reply.at}
    return {"bindings": {name: names.json(value) for name, value in reply.bindings}, "at": reply.at}


def _told(reply: Reply, names: NullNames) -> str:
    values = ", ".join(f"{name} = {names.text(value)}" for name, value in reply.bindings)
    return f"{values}  at {reply.at}" if values else f"holds at {reply.at}"
