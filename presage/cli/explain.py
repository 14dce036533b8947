"""`presage explain`: why an answer holds, as a proof that the checker has accepted; or why it does not."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.cli import FINE
from presage.cli.options import (
    checked_program,
    fact_files_arguments,
    in_the_call,
    program_argument,
    read_as_asked,
    tell_what_was_passed_over,
    unknown_argument,
)
from presage.errors import PresageError, nearest

if TYPE_CHECKING:
    from rich.tree import Tree

    from presage.analysis.subject import Subject
    from presage.checking import Findings
    from presage.evidence.outline import Outline
    from presage.evidence.proof import Proof, Record, Span, Value
    from presage.io.facts import Checker
    from presage.model.formulas import Atom, Over, Pinned
    from presage.model.terms import Number

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

# A chain of reasons through time may be long, and steps are nested in steps. The stack has room for several times
# as many frames as are allowed, so that what is too deep ends in a message.
_MOST_FRAMES = 400_000
_STACK_BYTES = 512 << 20

_WIDE = 160
"""How wide a tree may be where no terminal says so."""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    fact_files_arguments(command, True, "files of facts (.jsonl, .csv, .parquet)")
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    unknown_argument(command)
    command.add_argument(
        "--at", required=True, metavar="T", help="the time of the look: what arrives later is not seen"
    )
    command.add_argument("answer", metavar="ATOM@TIME", help="the answer to explain, such as 'malf(wt25)@0'")
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="one JSON object (the default when piped)")
    output.add_argument("--text", action="store_true", help="a tree for people (the default on a terminal)")
    command.add_argument("--svg", type=Path, metavar="FILE", help="draw it too: the reasons as a tree over a time axis")


def run(options: argparse.Namespace) -> int:
    from presage.colours import tone_of
    from presage.io.facts import Checker

    report = checked_program(options).or_raise()
    assert report.findings is not None
    subject = report.findings.subject
    if report.findings.route.engine != "interval" and report.program.meaning is None:
        raise PresageError(f"{options.program}: this program needs answer streams: {report.findings.route.reason}")
    checker = Checker(subject.program, subject.predicates, subject.discrete)
    with in_the_call():
        at = checker.time(options.at, "--at")
        if at < 0:
            raise PresageError("--at: the stream starts at time 0")
    if report.program.meaning is not None:
        from presage.cli.why_own import explain_by_run

        own = explain_by_run(report, options, at)
        _tell(own, options.json or not (options.text or sys.stdout.isatty()), options.svg, "")
        return FINE
    subject, atom, span = _question(options.answer, report.findings, checker)
    record = _record(options, subject, checker, at)
    as_json = options.json or not (options.text or sys.stdout.isatty())
    tone = next((tone_of(query) for query in subject.queries if query.atom.predicate == atom.predicate), "")
    with_room(lambda: _tell(explain(subject, record, atom, span), as_json, options.svg, tone))
    return FINE


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation: the JSON object, and the same for people."""

    line: dict[str, Any]
    outline: Outline
    at: Number


def _tell(explained: Explained, as_json: bool, picture: Path | None, tone: str) -> None:
    if picture is not None:
        from presage.evidence.svg import picture as drawn

        try:
            picture.write_text(drawn(explained.outline, explained.at, tone), encoding="utf-8")
        except OSError as problem:
            raise PresageError(f"--svg {picture}: the file cannot be written ({problem.strerror})") from None
    if as_json:
        print(json.dumps(explained.line, ensure_ascii=False))
    else:
        _print_text(explained)


def explain(subject: Subject, record: Record, atom: Atom, span: Span) -> Explained:
    """Why an atom holds throughout a span, or why not, as far as was known at `record.at`."""
    from presage.cli.why import explain_unproved
    from presage.evidence.prove import prove_during
    from presage.evidence.solve import NotExplained
    from presage.evidence.supported import refuse_unknown
    from presage.evidence.tables import Stream, Worlds
    from presage.model.terms import Constant

    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    assert span.low is not None
    if len(arguments) < len(atom.arguments):
        if not span.is_point:
            raise PresageError("an answer with variables is explained at one time, not over an interval")
        return explain_unproved(subject, record, atom, span.low)
    time, unknown, proof = span.low, None, None
    try:
        refuse_unknown(record.program, atom.predicate)
        worlds = Worlds(Stream(record))
        times = worlds.line.span(span)
        if not times:
            raise PresageError("there is no time in the interval of the answer")
        proof = prove_during(worlds, atom.predicate, arguments, times)
        if proof is None and not span.is_point:
            gap = worlds.not_found(atom.predicate, arguments, times)
            time = worlds.line.as_span(worlds.line.some_point(gap[0], latest=False)[0]).low or span.low
    except NotExplained as reason:
        unknown = reason
        if not span.is_point:
            raise PresageError(f"{reason}: ask for one time of the interval") from None
    if proof is None:
        # Of an interval, the first time at which it is not so.
        return explain_unproved(subject, record, atom, time, unknown)
    _refuse_unless_checked(record, proof, atom.predicate, arguments, span)
    return explain_proved(record, proof)


def with_room(work: Callable[[], None]) -> None:
    """Runs something deeply nested on a stack that is large enough."""
    import threading

    failed: list[BaseException] = []

    def run_it() -> None:
        try:
            work()
        except RecursionError:
            failed.append(PresageError("the chain of reasons is too long to be laid out as a proof"))
        except BaseException as problem:
            failed.append(problem)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(_MOST_FRAMES)
    try:
        thread = threading.Thread(target=run_it, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if failed:
        raise failed[0]


def _question(text: str, found: Findings, checker: Checker) -> tuple[Subject, Atom, Span]:
    """The program that answers, the atom and its times, or what is wrong with them."""
    from presage.model.formulas import Atom, Over, Pinned
    from presage.parser import parse_question

    # Invented values are taken as they are printed, `_:1`.
    question = parse_question(re.sub(r'(?<![\w"])_:\d+', r'"\g<0>"', text), intervals=True)
    formula = question.formula
    if isinstance(formula, Atom) or (isinstance(formula, Pinned) and formula.pin.base is not None):
        raise PresageError(f"`{text}`: say at which time, such as `{_atom_text(formula)}@0`")
    if question.exists or not isinstance(formula, (Pinned, Over)) or not isinstance(formula.formula, Atom):
        raise PresageError(f"`{text}`: give one atom and its time, such as `malf(wt25)@0`")
    subject, atom = _known(formula.formula, text, found)
    span = _span(formula, checker)
    if checker.units.problems:
        raise PresageError(f"`{text}`: {checker.units.problems[0].message}")
    assert span.low is not None
    if span.low < 0:
        raise PresageError(f"`{text}`: nothing lies before time 0, the start of the stream")
    if subject.discrete and not all(isinstance(end, int) for end in (span.low, span.high) if end is not None):
        raise PresageError(f"`{text}`: times of the discrete timeline are whole numbers")
    return subject, atom, span


def _known(atom: Atom, text: str, found: Findings) -> tuple[Subject, Atom]:
    """The atom as rules derive it; what breaks a constraint has a predicate of its own in the watched program."""
    from presage.answers import shown_name
    from presage.model.terms import Constant

    subject = found.subject
    known = subject.predicates.get(atom.predicate)
    if known is None:
        for query in found.watched.queries:
            line, *rest = query.atom.arguments or (None,)
            same = shown_name(query.atom.predicate) == atom.predicate and len(rest) + 1 == len(atom.arguments)
            if same and isinstance(line, Constant) and line == atom.arguments[0]:
                return found.watched, replace(atom, predicate=query.atom.predicate)
        near = nearest(atom.predicate, list(subject.predicates))
        hint = f"; did you mean `{near}`?" if near else f" (it has {', '.join(sorted(subject.predicates))})"
        raise PresageError(f"`{text}`: the program has no predicate `{atom.predicate}`{hint}")
    if len(atom.arguments) != known.arity:
        given = len(atom.arguments)
        raise PresageError(f"`{text}`: `{known.name}` has {known.arity} arguments in the program and {given} here")
    return subject, atom


def _span(formula: Pinned | Over, checker: Checker) -> Span:
    from presage.evidence.proof import Span
    from presage.model.formulas import Pinned

    if isinstance(formula, Pinned):
        time = checker.units.time(formula.pin.offset)
        return Span(time, time)
    interval = formula.interval
    low = checker.units.time(interval.low)
    high = None if interval.high is None else checker.units.time(interval.high)
    return Span(low, high, interval.closed_low, interval.closed_high)


def _atom_text(formula: Any) -> str:
    from presage.model.formulas import Pinned
    from presage.model.printer import show_formula

    return show_formula(formula.formula if isinstance(formula, Pinned) else formula)


def _record(options: argparse.Namespace, subject: Subject, checker: Checker, at: Number) -> Record:
    from presage.evidence.proof import InputFact, Record
    from presage.io.files import read_facts

    facts: list[InputFact] = []
    statics: list[tuple[str, tuple[Value, ...]]] = []
    late = 0
    read_as_asked(options, checker)
    for fact in read_facts(options.static, checker):
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
        statics.append((fact.predicate, fact.arguments))
    for fact in read_facts(options.facts, checker):
        if fact.low is None:
            statics.append((fact.predicate, fact.arguments))
            continue
        late += fact.arrival <= at and checker.is_late(fact, fact.arrival)
        facts.append(InputFact.of(fact))
    tell_what_was_passed_over(checker)
    if late:
        print(f"{late} facts arrived too late and are left out", file=sys.stderr)
    return Record(subject.program, subject.discrete, tuple(facts), tuple(statics), at)


def _refuse_unless_checked(
    record: Record, proof: Proof, predicate: str, arguments: tuple[Value, ...], span: Span
) -> None:
    from presage.evidence.check import Rejected, check

    try:
        check(record, proof, predicate, arguments, span)
    except Rejected as reason:
        raise PresageError(f"a proof was found, but the checker does not accept it: {reason}") from None


def explain_proved(record: Record, proof: Proof) -> Explained:
    from presage.answers import json_value
    from presage.evidence.outline import outline_of
    from presage.evidence.proof import rules
    from presage.evidence.show import Printer, show_conclusion, show_evidence

    printer = Printer(record.program)
    answer, at = show_conclusion(proof), json_value(record.at)
    line = {
        "answer": answer,
        "at": at,
        "status": "confirmed",
        "says": f"{answer} is confirmed at {at}",
        "because": show_evidence(proof),
        "history": None,
        "ways": [],
        "failed": None,
        "rules": [printer.rule_json(number) for number in rules(proof)],
        "proof": printer.to_json(proof),
    }
    return Explained(line, outline_of(printer, proof), record.at)


def _print_text(explained: Explained) -> None:
    from rich.console import Console

    from presage.evidence.timeline import draw

    width = None if sys.stdout.isatty() else _WIDE
    console = Console(highlight=False, width=width)
    console.print(_tree(explained.outline))
    drawing = draw(explained.outline, explained.at)
    if drawing:
        # Not through the console, which would wrap the lines of a drawing.
        print()
        for line in drawing:
            print(line)


def _tree(outline: Outline) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(outline.line))
    tree.children.extend(_tree(each) for each in outline.below)
    return tree
