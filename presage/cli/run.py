"""`presage run`: facts through a program, answers out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.answers import json_value, show_answer_atom, shown_name
from presage.cli import FINE
from presage.cli.options import (
    check_because,
    checked_program,
    choice_of,
    facts_arguments,
    in_the_call,
    output_path,
    program_argument,
    pull_asked,
    read_as_asked,
    shown_times,
    tell_what_was_late,
    tell_what_was_passed_over,
    times_arguments,
    wrong_call,
)
from presage.cli.silence import tell_what_is_only_confirmed, tell_what_may_be_slow, tell_why_nothing
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.answers import Answer
    from presage.checking import Report
    from presage.io.arriving import GatheredFacts
    from presage.io.facts import Fact
    from presage.io.files import FactsFile
    from presage.model.terms import Number
    from presage.run.choice import Choice
    from presage.run.reasoner import Reasoner

SUMMARY = "feed facts to a program and print the answers"
DESCRIPTION = """\
Feeds facts in the order of their arrival and prints an answer line for everything that changes: answers that
become possible, because of what has arrived and if which facts still arrive; that are confirmed; that are refuted.
Facts are JSON lines: {"pred": "temp", "args": ["wt25", "high"], "time": 0}, with "arrives" where a fact
arrives later than its time, "from", "to" and "bounds" for an interval, and no time for static facts.
Or they are CSV or Parquet files, one for each predicate and named after it (temp.csv, temp.parquet), with
the declared columns and `time`. With - they are JSON lines from standard input, taken as they come: the step of a
time is taken when a later fact comes, a line {"now": t} says that t is complete, or the input ends."""
EXAMPLE = """\
example:
  presage run turbines/turbines.psg --facts turbines/facts.jsonl
  tail -f turbines/facts.jsonl | presage run turbines/turbines.psg --facts -"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    facts_arguments(command, piped=True)
    command.add_argument(
        "--clock",
        action="store_true",
        help="with --facts -: a time is over when this machine's clock has passed it, whatever comes",
    )
    command.add_argument(
        "--emit",
        choices=("changes", "snapshot", "confirmed", "states"),
        help="changes: answers whose status, evidence or premises changed (default, where the program has hypothetical "
        "answers); snapshot: at each step all that are possible or just confirmed; confirmed: only what is entailed",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--cautious", action="store_true", help="of a program with several models, what holds in all (the default)"
    )
    which.add_argument(
        "--brave", action="store_true", help="of a program with several models, also what holds in some, as possible"
    )
    command.add_argument(
        "--every",
        metavar="N",
        help="give answers every N time units only (a number, or with `tick` a duration such as 5m): at the multiples "
        "of N and at the end, the latest line of each answer that changed in between (default: whenever something "
        "changes)",
    )
    command.add_argument(
        "--engine",
        choices=("embedded", "spark"),
        default="embedded",
        help="where the program runs: in this process (default), or on a Spark of this machine",
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
        "--everybody",
        action="store_true",
        help="tell answers about nobody in particular too for which nothing but absence speaks",
    )
    command.add_argument(
        "--ways",
        type=_ways,
        metavar="N|all",
        default=20,
        help="list at most N ways of an answer, those with fewest premises first (default 20)",
    )
    command.add_argument(
        "--because",
        action="store_true",
        help="with --emit confirmed: say which facts and absences each answer rests on, at the cost of a proof each",
    )
    command.add_argument(
        "--suppose",
        action="append",
        default=[],
        type=Path,
        metavar="F",
        help="after the last step (without --until: the last arrival) also say what would change if these facts came "
        'then: lines with "supposed": true; files as for --facts, several are supposed together',
    )
    command.add_argument("--json", action="store_true", help="JSON lines on a terminal too (the default when piped)")
    times_arguments(command)
    command.add_argument(
        "--chase-limit", type=_count, metavar="N", help="run existential rules that may invent values without end"
    )
    command.add_argument(
        "--out",
        type=output_path,
        metavar="F",
        help="write the answers to a file instead (.jsonl, .parquet; those of a CONSTRUCT: .nq .trig .jsonld .nt .ttl)",
    )


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a probability: a number between 0 and 1")
    return value


def _ways(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a number of ways: a whole number from 1 on, or `all`")
    return int(text)


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number")
    return int(text)


def run(options: argparse.Namespace) -> int:
    if options.engine == "spark":
        if options.suppose:
            wrong_call("--suppose asks a reasoner of this process: leave out --engine spark")
        if Path("-") in options.facts:
            wrong_call("--facts -: what comes from standard input runs in this process: leave out --engine spark")
        from presage.cli.on_spark import run_on_spark

        return run_on_spark(options)
    from presage.cli.live import show_table, wants_table
    from presage.cli.piped import STANDARD_INPUT, Piped
    from presage.cli.progress import watched
    from presage.explanations.reasons import evidence_of
    from presage.io.clock import WallClock
    from presage.io.output import open_output
    from presage.run.arrivals import Incoming
    from presage.run.schedule import passages, steps

    check_because(options)
    is_piped = STANDARD_INPUT in options.facts
    if is_piped:
        _check_pipe(options)
    elif options.clock:
        wrong_call("--clock goes with --facts -: files say themselves when their facts arrive")
    report = checked_program(options, chase_limit=options.chase_limit)
    choice = choice_of(options)
    reasoner = _stepper(report, options, choice)
    if options.suppose:
        _check_supposing(options)
    read_as_asked(options, reasoner.checker)
    facts, known = take_facts(reasoner, [path for path in options.facts if path != STANDARD_INPUT], options.static)
    with in_the_call():
        until = last_step_asked(reasoner, options.until)
        pull = pull_asked(reasoner.checker, reasoner.subject.discrete, options.every)
        clock = WallClock(reasoner.checker.units, "--clock") if options.clock else None
    _tell_where_steps_begin(reasoner, facts)
    tell_what_may_be_slow(report, facts)
    supposed = _supposed_facts(reasoner, options.suppose)
    if options.suppose and until is None and not is_piped:
        until = facts.last_arrival
    has_proofs = options.because and report.program.meaning is None
    reasons = evidence_of(reasoner.subject, facts, known) if has_proofs else None
    snapshot = options.emit == "snapshot"

    def stepped() -> Iterator[Sequence[Answer]]:
        if is_piped:
            yield from Piped(reasoner, Incoming(reasoner, until, snapshot, pull), clock).steps(facts)
        elif wants_table(options) or snapshot or pull is not None or reasons is not None:
            for answers in steps(reasoner, facts, until, snapshot, pull):
                yield answers if reasons is None else reasons(answers)
        else:
            yield from passages(reasoner, facts, until)

    def told() -> Iterator[Sequence[Answer]]:
        anything = is_piped or snapshot
        for answers in lasting():
            anything = anything or bool(len(answers))
            yield answers
        if not anything:
            tell_why_nothing(reasoner.subject, facts, options.facts)

    def lasting() -> Iterator[Sequence[Answer]]:
        """What goes on is told once, and ends with the run."""
        yield from stepped()
        if options.emit == "states":
            yield reasoner.end()

    shown = shown_times(reasoner.subject, reasoner.checker, options)
    if wants_table(options):
        show_table(told(), facts, lambda: reasoner.now, reasoner.subject.queries, shown)
        moments = shown()
        for line in _what_would_be(reasoner, supposed, bool(options.suppose)):
            print(f"supposed: {line['status']} {line['answer'] if moments is None else moments.text(line['answer'])}")
        _tell_what_was_left_out(reasoner)
        return FINE
    more = () if report.program.meaning is None else report.program.meaning.fields
    with open_output(options.out, reasoner.subject.discrete, more, shown) as out:
        for answers in watched(told(), facts, lambda: reasoner.now):
            if snapshot:
                for line in snapshots(reasoner, answers):
                    out.write_line(line)
            else:
                out.write_all(answers)
        for line in _what_would_be(reasoner, supposed, bool(options.suppose)):
            out.write_line(line)
    _tell_what_was_left_out(reasoner)
    return FINE


def _check_supposing(options: argparse.Namespace) -> None:
    if options.brave:
        wrong_call("--suppose goes with what is confirmed in all models: leave out --brave")
    if options.out is not None and options.out.suffix == ".parquet":
        wrong_call("--suppose: what is only supposed has lines of its own: write them as JSON lines (.jsonl)")


def _supposed_facts(reasoner: Reasoner, paths: list[Path]) -> list[Fact]:
    from presage.io.files import read_facts

    found = list(read_facts(paths, reasoner.checker))
    for fact in found:
        if fact.low is None:
            raise PresageError(f"--suppose: `{fact.predicate}` is static: its facts are known before the stream")
    return found


def _what_would_be(reasoner: Reasoner, facts: list[Fact], wanted: bool) -> Iterator[dict[str, Any]]:
    """The lines that would come if these facts came now."""
    if not wanted:
        return
    from presage.model.printer import show_number

    found = reasoner.supposed(facts)
    for predicate, given, when in found.late:
        begin = when[0] if isinstance(when, tuple) else when
        assert begin is not None
        text = f"{show_answer_atom(predicate, given)}@{show_number(begin)}"
        print(f"note: {text} can no longer come: it is left out of what is supposed", file=sys.stderr)
    for answer in found:
        yield {**answer.to_json(), "supposed": True}


def _check_pipe(options: argparse.Namespace) -> None:
    if options.program == Path("-"):
        wrong_call("--facts -: the program comes from standard input already")
    if options.facts.count(Path("-")) > 1:
        wrong_call("--facts -: there is one standard input")
    if options.because:
        wrong_call("--because looks at all facts first, and --facts - takes them as they come: leave one of them out")


def _stepper(report: Report, options: argparse.Namespace, choice: Choice) -> Reasoner:
    """What runs the program. Who has not said what to tell is told what there is: where a construct has no premise
    patterns, or never an end of them, what is confirmed, with a note that names the rules."""
    from presage.run.no_hypotheses import NoHypotheses
    from presage.run.reasoner import reasoner_of

    emit = {"snapshot": "changes"}.get(options.emit, options.emit)
    if emit is None:
        tell_what_is_only_confirmed(report)
    try:
        return reasoner_of(report, emit, choice, options.chase_limit, brave=options.brave)
    except NoHypotheses as found:
        if options.emit is not None:
            raise
        from presage.checking.needs import plainly

        print(f"note: only confirmed answers are told: {plainly(found.reason)}", file=sys.stderr)
        return reasoner_of(report, "confirmed", choice, options.chase_limit, brave=options.brave)


def take_facts(
    reasoner: Reasoner, facts: Sequence[FactsFile], static: Sequence[FactsFile]
) -> tuple[GatheredFacts, list[Fact]]:
    """The facts of the stream, to be fed; and the static ones, which the reasoner has been given already."""
    from presage.io.columns import gather
    from presage.io.files import read_facts

    known: list[Fact] = []
    for fact in read_facts(static, reasoner.checker):
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
        known.append(fact)
    # Who looks at all facts anew takes them in the order in which they were written.
    streamed, timeless = gather(facts, reasoner.checker, by_columns=not reasoner.runs_as_a_whole)
    known += timeless
    reasoner.add_statics(known)
    return streamed, known


def _tell_where_steps_begin(reasoner: Reasoner, facts: GatheredFacts) -> None:
    from presage.engine.waking import first_step

    first = facts.first
    if reasoner.first_decision is not None and first_step(reasoner.first_decision, first) is None:
        print(
            f"note: the first fact arrives at {first}, so steps begin there; for real times declare `tick` and `start`",
            file=sys.stderr,
        )


def last_step_asked(reasoner: Reasoner, given: str | None) -> Number | None:
    until = None if given is None else reasoner.checker.time(given, "--until")
    if until is not None and until < 0:
        raise PresageError("--until: the stream starts at time 0")
    return until


def _tell_what_was_left_out(reasoner: Reasoner) -> None:
    tell_what_was_passed_over(reasoner.checker)
    if reasoner.late:
        tell_what_was_late(len(reasoner.late))
    supposing = reasoner.supposing
    if supposing is not None and supposing.hidden:
        print(f"{supposing.hidden} possible answers were less likely than asked for", file=sys.stderr)
    if supposing is not None and supposing.shed:
        print(f"{supposing.shed} open answers were shed; they may come true untold", file=sys.stderr)


def snapshots(reasoner: Reasoner, answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    """For each query what stands at a step: what is possible, and what was confirmed."""
    from presage.model.printer import show_query
    from presage.run.hypothetical import asked_by

    assert reasoner.now is not None
    standing = list(reasoner.answers())
    known = {answer.answer for answer in standing}
    earlier = [each for each in answers if each.status == "confirmed" and each.answer not in known]
    answers = [*earlier, *standing]
    lines: dict[str, list[dict[str, Any]]] = {}
    for query in reasoner.subject.queries:
        name = query.atom.predicate
        title = show_query(query) if shown_name(name) == name else shown_name(name)
        lines.setdefault(title, []).extend(answer.to_json() for answer in answers if asked_by(query, answer))
    for title, found in lines.items():
        yield {"now": json_value(reasoner.now), "query": title, "answers": found}
