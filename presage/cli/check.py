"""`presage check`: what can be said about a program before it runs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from presage.cli import FINE, WRONG_INPUT
from presage.cli.options import checked_program, positive_count, program_argument

if TYPE_CHECKING:
    from presage.checking import Report

SUMMARY = "say what a program is, what it needs, and what is wrong with it"
DESCRIPTION = """\
Classifies a program and reports it: timeline, predicates, queries with their delay and window,
negation, recursion, value invention, memory, and how it can be sharded. Exits with 1 if
`presage run --emit confirmed` would refuse the program."""
EXAMPLE = """\
example:
  presage check turbines/turbines.psg
  presage check --json turbines/turbines.psg | jq .partition_key"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="one JSON object (the default when piped)")
    output.add_argument("--text", action="store_true", help="a report for people (the default on a terminal)")
    command.add_argument(
        "--horizon",
        type=positive_count,
        default=16,
        metavar="N",
        help="check temporal acyclicity over the times 0 to N (default: 16)",
    )
    command.add_argument(
        "--chase-limit",
        type=positive_count,
        metavar="N",
        help="accept rules that may invent values without end, as `run --chase-limit N` does",
    )


def run(options: argparse.Namespace) -> int:
    from presage.checking import Report, show_problems
    from presage.errors import ProgramError

    try:
        report = checked_program(options, horizon=options.horizon, chase_limit=options.chase_limit, warns=False)
    except ProgramError as unreadable:
        # Not even text: the report says so in the same form as everything else.
        from presage.model.program import Program

        report = Report(unreadable.source, Program(), unreadable.diagnostics)
    report = _with_refusal(report, options.chase_limit)
    if report.problems:
        print(show_problems(report), file=sys.stderr)
    if options.json or not (options.text or sys.stdout.isatty()):
        print(json.dumps(report.to_json(), ensure_ascii=False))
    elif report.findings is not None:
        from presage.checking.text import print_report

        print_report(report)
    return FINE if report.ok else WRONG_INPUT


def _with_refusal(report: Report, chase_limit: int | None) -> Report:
    """The report with what a run would say, where there is nothing to run the program."""
    from presage.errors import Diagnostic, PresageError, ProgramError, Span
    from presage.plan.builder import plan_of
    from presage.plan.subformulas import Unsupported

    found = report.findings
    if not report.ok or found is None:
        return report
    span, hint = Span(0, 1), "say it in another way; `presage ask` and `presage models` may still answer questions"
    if not found.subject.discrete:
        hint = "say it on the discrete timeline, or in another way"
    if found.route.engine == "interval" and found.subject.reading == "every":
        try:
            plan_of(found.watched)
            return report
        except Unsupported as refused:
            span = refused.span
    # Something else may run it; asking for it imports much, so that only such programs pay for it.
    from presage.run.reasoner import reasoner_of

    try:
        reasoner_of(report, "confirmed", chase_limit=chase_limit)
        return report
    except Unsupported as refused:
        message = refused.message
    except ProgramError as refused:
        return replace(report, problems=(*report.problems, *refused.diagnostics))
    except PresageError as refused:
        message = str(refused).removeprefix(f"{report.source.name}: ")
    return replace(report, problems=(*report.problems, Diagnostic("R101", message, span, hint)))
