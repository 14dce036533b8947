"""`presage explain`: why an answer holds, as a proof that the checker has accepted; or why it does not."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from presage.cli import FINE
from presage.cli.options import (
    checked_program,
    fact_files_arguments,
    in_the_call,
    program_argument,
    read_as_asked,
    shown_times,
    tell_what_was_passed_over,
    times_arguments,
    unknown_argument,
)
from presage.errors import PresageError

SUMMARY = "say why an answer holds, what it waits for, or what failed"
DESCRIPTION = """\
Prints the proof of an answer from the facts that had arrived at a time: which rules with which values, which
input facts, and what is known to be absent. Every proof is checked, by a checker of its own, before it is
printed. Of an answer that is open it says what is missing and until when, of one that can no longer come true
what failed and when. An answer may have variables: 'malf(X)@0'; and its time may be an interval, as `presage run`
writes it: 'malf(wt25)@[0,1]'."""
EXAMPLE = """\
example:
  presage explain turbines/turbines.psg --facts turbines/facts.jsonl --at 3 'malf(wt25)@0'"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    fact_files_arguments(command, True, "files of facts (.jsonl, .csv, .parquet)")
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    unknown_argument(command)
    command.add_argument(
        "--at",
        metavar="T",
        help="the time of the look: what arrives later is not seen (default: the end, when everything is settled)",
    )
    command.add_argument("answer", metavar="ATOM@TIME", help="the answer to explain, such as 'malf(wt25)@0'")
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="one JSON object (the default when piped)")
    output.add_argument("--text", action="store_true", help="a tree for people (the default on a terminal)")
    times_arguments(command)
    parse = command.parse_known_args
    command.parse_known_args = lambda args=None, namespace=None: parse(_answer_first(list(args or ())), namespace)  # type: ignore[method-assign, assignment]
    command.add_argument("--svg", type=Path, metavar="FILE", help="draw it too: the reasons as a tree over a time axis")


def run(options: argparse.Namespace) -> int:
    from presage.explanations.by_the_clock import by_the_clock
    from presage.explanations.explain import Explainer
    from presage.explanations.room import with_room
    from presage.io.files import read_facts

    explainer = Explainer(checked_program(options))
    with in_the_call():
        at = None if options.at is None else explainer.time(options.at, "--at")
    explainer.ask(options.answer)
    read_as_asked(options, explainer.checker)
    facts = list(read_facts(options.static, explainer.checker))
    for fact in facts:
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
    facts += read_facts(options.facts, explainer.checker)
    tell_what_was_passed_over(explainer.checker)
    found = explainer.explain(options.answer, facts, at)
    moments = shown_times(explainer.findings.subject, explainer.checker, options)()
    if moments is not None:
        found = by_the_clock(found, moments)
    if found.late:
        print(f"{found.late} facts arrived too late and are left out", file=sys.stderr)
    if options.svg is not None:
        try:
            options.svg.write_text(found.svg(), encoding="utf-8")
        except OSError as problem:
            raise PresageError(f"--svg {options.svg}: the file cannot be written ({problem.strerror})") from None
    if options.json or not (options.text or sys.stdout.isatty()):
        print(with_room(lambda: json.dumps(found.to_json(), ensure_ascii=False)))
    else:
        print(found.text(shutil.get_terminal_size().columns) if sys.stdout.isatty() else found)
    return FINE


def _answer_first(words: list[str]) -> list[str]:
    """The words of a call with the answer before the files, which would take it for one of them."""
    option = ""
    for place, word in enumerate(words):
        if word.startswith("-"):
            option = word
        elif option in ("--facts", "--static") and "@" in word and not words[0].startswith("-"):
            if not Path(word).exists():
                return [words[0], word, *words[1:place], *words[place + 1 :]]
    return words
