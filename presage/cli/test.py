"""`presage test`: the cases written next to a program, run and held against what they expect."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from presage.cli import FINE
from presage.cli.options import set_argument
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.testing.cases import TestCase
    from presage.testing.reports import CaseOutcome

SUMMARY = "run the cases written next to a program"
DESCRIPTION = """\
Runs cases: a program, facts, and what must stand at which time. Cases stand in files that end with .case, next to the
program or in a folder below it:

  facts
      temp(wt25, high)@0
      temp(wt25, high)@1 arrives 2
  expect
      0: possible malf(wt25)@0
      2: possible malf(wt25)@0; needs temp(wt25, high)@2 by 3
      4: refuted malf(wt25)@0

Exits with 1 if something expected did not come, or something else did, and with 2 if a case cannot be run."""
EXAMPLE = """\
example:
  presage test turbines
  presage test --junit report.xml turbines hospital"""

FAILED, CANNOT_RUN = 1, 2


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("places", nargs="+", type=Path, metavar="FOLDER", help="folders with cases, or .case files")
    command.add_argument("--junit", type=Path, metavar="F", help="write the outcome as JUnit XML too")
    command.add_argument("--only", metavar="TEXT", help="run the cases with this text in their name or file only")
    set_argument(command)
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="a JSON line for each case")
    output.add_argument(
        "--told",
        action="store_true",
        help="print all that the runs say, as expectations to choose from, and compare nothing",
    )


def run(options: argparse.Namespace) -> int:
    from presage.testing.cases import all_cases
    from presage.testing.reports import as_json, lines_for_people, summary, write_junit

    try:
        cases = [case for case in all_cases(options.places) if _chosen(case, options.only)]
        if not cases:
            raise PresageError(f"--only {options.only}: no case has this in its name or file")
    except PresageError as problem:
        print(problem, file=sys.stderr)
        return CANNOT_RUN
    if options.told:
        return _tell(cases, tuple(options.set))
    outcomes = []
    for case in cases:
        outcome = _outcome(case, tuple(options.set))
        outcomes.append(outcome)
        print(
            json.dumps(as_json(outcome), ensure_ascii=False) if options.json else "\n".join(lines_for_people(outcome))
        )
    if not options.json:
        print(summary(outcomes))
    if options.junit is not None:
        try:
            write_junit(options.junit, outcomes)
        except OSError as found:
            raise PresageError(f"{options.junit}: cannot be written ({found.strerror or found})") from None
    if any(outcome.problem for outcome in outcomes):
        return CANNOT_RUN
    return FINE if all(outcome.ok for outcome in outcomes) else FAILED


def _chosen(case: TestCase, text: str | None) -> bool:
    return text is None or text in case.name or text in str(case.file)


def _outcome(case: TestCase, params: tuple[tuple[str, str], ...]) -> CaseOutcome:
    import time

    from presage.testing.expecting import misses
    from presage.testing.reports import CaseOutcome
    from presage.testing.running import run_case

    begin = time.perf_counter()
    try:
        found, problem = misses(case, run_case(case, params)), None
    except PresageError as wrong:
        found, problem = [], str(wrong)
    return CaseOutcome(case, found, time.perf_counter() - begin, problem)


def _tell(cases: list[TestCase], params: tuple[tuple[str, str], ...]) -> int:
    from presage.testing.expecting import in_words
    from presage.testing.running import run_case

    status = FINE
    for case in cases:
        print(f"% {case.file}: {case.name}")
        try:
            told = run_case(case, params).told
        except PresageError as wrong:
            print(wrong, file=sys.stderr)
            status = CANNOT_RUN
            continue
        for answer in told:
            print("\n".join(f"    {line}" for line in in_words(answer)))
    return status
