"""What `presage ask` and `presage models` share: a program, the facts of a finite stream, a time, a timeline."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

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
from presage.languages import PRESAGE, language_of

if TYPE_CHECKING:
    from presage.checking import Findings, Report
    from presage.io.facts import Checker, Fact
    from presage.io.moments import Moments
    from presage.model.program import Program


def stream_arguments(command: argparse.ArgumentParser, at: str) -> None:
    program_argument(command)
    fact_files_arguments(command, False, "files of facts (.jsonl, .csv, .parquet)")
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    unknown_argument(command)
    command.add_argument("--at", required=True, metavar="T", help=at)
    command.add_argument(
        "--timeline",
        metavar="A..B",
        help="the first and the last time of the stream (default: from 0 to the last fact or, if that is later, "
        "the program's `horizon` after T; without one, as far as rules derive something)",
    )
    command.add_argument("--json", action="store_true", help="JSON lines (the default when piped)")
    times_arguments(command)


@dataclass(frozen=True, slots=True)
class GivenStream:
    findings: Findings
    facts: tuple[Fact, ...]
    at: int | None
    timeline: tuple[int, int] | None
    moments: Moments | None
    """How times are shown, where they are no numbers."""

    def shown(self, time: int) -> int | str:
        return time if self.moments is None else self.moments.moment(time)


def refuse_own_meaning(report: Report, command: str) -> None:
    """Rules are what some commands are about; what a language means without them is asked for by a run."""
    meaning = report.program.meaning
    if meaning is not None:
        raise PresageError(
            f"{report.source.name}: `presage {command}` is about rules, and this is "
            f"{language_of(report.source.name).title}: {meaning.reason}. `presage run` answers it, and "
            "`presage translate` says what of it can be said in rules"
        )


def _asked_about(program: Program, question: str) -> Report:
    """The report of a program without rules, which has what a question asks for as inputs."""
    from presage.analysis.predicates import mentioned
    from presage.checking import check_program
    from presage.model.formulas import Atom
    from presage.model.statements import Column, Input, Query
    from presage.model.terms import Variable
    from presage.parser import parse_question

    declared = {each.predicate: len(each.columns) for each in program.inputs}
    declared |= {each.predicate: len(each.columns) for each in program.statics}
    asked = {atom.predicate: len(atom.arguments) for atom in mentioned(parse_question(question).formula)}
    inputs = [
        Input(name, tuple(Column(f"c{place + 1}") for place in range(arity)))
        for name, arity in asked.items()
        if name not in declared
    ]
    queries = [
        Query(Atom(name, tuple(Variable(f"X{place + 1}") for place in range(arity))))
        for name, arity in (asked | declared).items()
    ]
    return check_program(replace(program, statements=(*program.statements, *inputs, *queries)))


def given_stream(options: argparse.Namespace, command: str, question: str = "") -> GivenStream:
    """The stream a command line describes; `--at any` is no time. With a question the program need not have rules."""
    from presage.io.facts import Checker
    from presage.io.files import read_facts

    report = checked_program(options)
    has_rules = report.program.rules or report.program.queries or report.program.meaning
    if question and not has_rules and [each.code for each in report.errors] == ["D105"]:
        report = _asked_about(report.program, question)
    report.or_raise()
    refuse_own_meaning(report, command)
    assert report.findings is not None
    subject = report.findings.subject
    if not subject.discrete:
        discrete = "declare `timeline discrete.`"
        if language_of(options.program) is not PRESAGE:
            discrete += " in what `presage translate` makes of it"
        raise PresageError(
            f"{options.program}: `presage {command}` looks at whole time points, and the program's timeline is dense: "
            f"{discrete}"
        )
    checker = Checker(subject.program, subject.predicates, subject.discrete)
    read_as_asked(options, checker)
    static = list(read_facts(options.static, checker))
    for fact in static:
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
    facts = (*static, *read_facts(options.facts, checker))
    tell_what_was_passed_over(checker)
    with in_the_call():
        at = None if options.at == "any" else _time(options.at, "--at", checker)
        timeline = _timeline(options.timeline, checker)
    return GivenStream(report.findings, facts, at, timeline, shown_times(subject, checker, options)())


def _time(text: str, option: str, checker: Checker) -> int:
    time = checker.time(text, option)
    if not isinstance(time, int):
        raise PresageError(f"{option}: {text} is not a whole number, as times of the discrete timeline are")
    if time < 0:
        raise PresageError(f"{option}: the stream starts at time 0")
    return time


def _timeline(text: str | None, checker: Checker) -> tuple[int, int] | None:
    if text is None:
        return None
    low, separator, high = text.partition("..")
    if not separator:
        raise PresageError(f"--timeline: {text!r} is not of the form A..B, such as 0..50")
    first, last = _time(low, "--timeline", checker), _time(high, "--timeline", checker)
    if first > last:
        raise PresageError(f"--timeline: {first} lies after {last}")
    return first, last
