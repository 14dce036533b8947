"""`presage models`: the answer streams of a program."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from presage.cli import FINE
from presage.cli.finite_streams import GivenStream, given_stream, stream_arguments
from presage.cli.options import positive_count
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.answer_streams.expressions import Candidate
    from presage.answer_streams.words import NullNames

SUMMARY = "list the answer streams of a program at a time"
DESCRIPTION = """\
Prints each answer stream of a program ([LARS] Definition 12) as a line: its number, the time of evaluation and
the derived facts. A program may have none, one or many. With `reading now` rules are looked at at the time T
only, with `reading every` at each time of the stream."""
EXAMPLE = """\
example:
  presage models trams/trams.psg --facts trams/facts.jsonl --at 42"""


def arguments(command: argparse.ArgumentParser) -> None:
    stream_arguments(command, "the time of evaluation")
    command.add_argument("--limit", type=positive_count, metavar="N", help="print at most N of them")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--cautious", action="store_true", help="print one line with what holds in all of them")
    which.add_argument("--brave", action="store_true", help="print one line with what holds in some of them")


def run(options: argparse.Namespace) -> int:
    from presage.answer_streams.evaluation import Evaluation
    from presage.answer_streams.words import NullNames

    given = given_stream(options, "models")
    if given.at is None:
        raise PresageError("--at: answer streams are those of one time; give a number")
    if options.limit is not None and (options.cautious or options.brave):
        raise PresageError("--limit: what holds in all or in some answer streams needs all of them")
    evaluation = Evaluation(given.findings.subject, given.facts, given.at, given.timeline)
    readable = sys.stdout.isatty() and not options.json
    if options.cautious or options.brave:
        shared = evaluation.common_facts(given.at, in_all=options.cautious)
        found = [] if shared is None else [_told(shared, NullNames())]
    else:
        found = [_told(model.derived, NullNames()) for model in evaluation.answer_streams(given.at, options.limit)]
    if not found:
        print(f"there is no answer stream at {given.shown(given.at)}", file=sys.stderr)
    for number, facts in enumerate(sorted(found), 1):
        if options.cautious or options.brave:
            _show("models", "all" if options.cautious else "some", given, facts, readable)
        else:
            _show("model", number, given, facts, readable)
    return FINE


TimedText = tuple[int, str]
"""A fact's time, and its text: in this order facts are printed."""


def _told(facts: Sequence[Candidate], names: NullNames) -> list[TimedText]:
    return sorted((time, names.fact(ground, time)) for ground, time in facts)


def _show(name: str, value: object, given: GivenStream, facts: list[TimedText], readable: bool) -> None:
    assert given.at is not None
    at = given.shown(given.at)
    texts = [text if given.moments is None else given.moments.text(text) for _, text in facts]
    if readable:
        print(f"{name} {value} at {at}:", *(f"  {text}" for text in texts), sep="\n")
    else:
        print(json.dumps({name: value, "at": at, "facts": texts}, ensure_ascii=False))
