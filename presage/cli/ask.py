"""`presage ask`: with which values a formula holds, and when."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from presage.cli import FINE
from presage.cli.finite_streams import given_stream, stream_arguments

if TYPE_CHECKING:
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
    times = frozenset() if given.moments is None else given.moments.times_in(question.formula)
    readable = sys.stdout.isatty() and not options.json
    for reply in found:
        values = [
            (name, given.shown(value)) if name in times and isinstance(value, int) else (name, value)
            for name, value in reply.bindings
        ]
        at = given.shown(reply.at)
        line = {"bindings": {name: names.json(value) for name, value in values}} if is_open else {"holds": True}
        print(_told(values, at, names) if readable else json.dumps({**line, "at": at}, ensure_ascii=False))
    if not found and not is_open and given.at is not None:
        at = given.shown(given.at)
        print(f"does not hold at {at}" if readable else json.dumps({"holds": False, "at": at}))
    elif not found and readable:
        print("no answers")
    return FINE


def _told(values: Sequence[tuple[str, Any]], at: int | str, names: NullNames) -> str:
    shown = ", ".join(f"{name} = {names.text(value)}" for name, value in values)
    return f"{shown}  at {at}" if shown else f"holds at {at}"
