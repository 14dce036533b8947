"""`presage explain`: why an answer holds, as a proof that the checker has accepted; or why it does not."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.cli import FINE
from presage.cli.options import program_argument
from presage.errors import PresageError, nearest

if TYPE_CHECKING:
    from rich.tree import Tree

    from presage.analysis.subject import Subject
    from presage.checking import Findings
    from presage.evidence.proof import Proof, Record, Value
    from presage.evidence.show import Printer
    from presage.io.facts import Checker
    from presage.model.formulas import Atom
    from presage.model.terms import Number

SUMMARY = "say why an answer holds, what it waits for, or what failed"
DESCRIPTION = """\
Prints the proof of an answer from the facts that had arrived at a time: which rules with which values, which
input facts, and what is known to be absent. Every proof is checked, by a checker of its own, before it is
printed. Of an answer that is open it says what is missing and until when, of one that can no longer come true
what failed and when. An answer may have variables: 'malf(X)@0'."""
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
    command.add_argument("--facts", nargs="+", type=Path, required=True, metavar="F", help="files of facts (.jsonl)")
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    command.add_argument(
        "--at", required=True, metavar="T", help="the time of the look: what arrives later is not seen"
    )
    command.add_argument("answer", metavar="ATOM@TIME", help="the answer to explain, such as 'malf(wt25)@0'")
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="one JSON object (the default when piped)")
    output.add_argument("--text", action="store_true", help="a tree for people (the default on a terminal)")


def run(options: argparse.Namespace) -> int:
    from presage.checking import check_text, read_file
    from presage.io.facts import Checker

    report = check_text(read_file(options.program), str(options.program)).or_raise()
    assert report.findings is not None
    subject = report.findings.subject
    if report.findings.route.engine != "interval":
        raise PresageError(f"{options.program}: this program needs answer streams: {report.findings.route.reason}")
    checker = Checker(subject.program, subject.predicates, subject.discrete)
    at = checker.time(options.at, "--at")
    if at < 0:
        raise PresageError("--at: the stream starts at time 0")
    atom, time = _question(options.answer, subject, checker)
    record = _record(options, subject, checker, at)
    as_json = options.json or not (options.text or sys.stdout.isatty())
    _with_room(lambda: _explain(report.findings, record, atom, time, as_json))  # type: ignore[arg-type]
    return FINE


def _explain(found: Findings, record: Record, atom: Atom, time: Number, as_json: bool) -> None:
    from presage.cli.why import explain_unproved
    from presage.evidence.prove import prove
    from presage.evidence.solve import NotExplained
    from presage.model.terms import Constant

    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    if len(arguments) < len(atom.arguments):
        explain_unproved(found.subject, record, atom, time, as_json)
        return
    unknown: NotExplained | None = None
    try:
        proof = prove(record, atom.predicate, arguments, time)
    except NotExplained as reason:
        proof, unknown = None, reason
    if proof is None:
        explain_unproved(found.subject, record, atom, time, as_json, unknown)
    else:
        _refuse_unless_checked(record, proof, atom.predicate, arguments, time)
        explain_proved(record, proof, as_json)


def _with_room(work: Callable[[], None]) -> None:
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


def _question(text: str, subject: Subject, checker: Checker) -> tuple[Atom, Number]:
    """The atom and its time, or what is wrong with them."""
    from presage.model.formulas import Atom, Pinned
    from presage.model.printer import show_atom
    from presage.parser import parse_question

    question = parse_question(text)
    formula = question.formula
    if isinstance(formula, Atom) or (isinstance(formula, Pinned) and formula.pin.base is not None):
        raise PresageError(f"`{text}`: say at which time, such as `{_atom_text(formula)}@0`")
    if question.exists or not isinstance(formula, Pinned) or not isinstance(formula.formula, Atom):
        raise PresageError(f"`{text}`: give one atom and its time, such as `malf(wt25)@0`")
    atom = formula.formula
    known = subject.predicates.get(atom.predicate)
    if known is None:
        near = nearest(atom.predicate, list(subject.predicates))
        hint = f"; did you mean `{near}`?" if near else f" (it has {', '.join(sorted(subject.predicates))})"
        raise PresageError(f"`{text}`: the program has no predicate `{atom.predicate}`{hint}")
    if len(atom.arguments) != known.arity:
        given = len(atom.arguments)
        raise PresageError(f"`{text}`: `{known.name}` has {known.arity} arguments in the program and {given} here")
    time = checker.units.time(formula.pin.offset)
    if checker.units.problems:
        raise PresageError(f"`{text}`: {checker.units.problems[0].message}")
    if time < 0:
        raise PresageError(f"`{text}`: nothing lies before time 0, the start of the stream")
    if subject.discrete and not isinstance(time, int):
        raise PresageError(f"`{show_atom(atom)}`: times of the discrete timeline are whole numbers")
    return atom, time


def _atom_text(formula: Any) -> str:
    from presage.model.formulas import Pinned
    from presage.model.printer import show_formula

    return show_formula(formula.formula if isinstance(formula, Pinned) else formula)


def _record(options: argparse.Namespace, subject: Subject, checker: Checker, at: Number) -> Record:
    from presage.evidence.proof import InputFact, Record, Span
    from presage.io.files import read_facts

    facts: list[InputFact] = []
    statics: list[tuple[str, tuple[Value, ...]]] = []
    late = 0
    for fact in read_facts(options.static, checker):
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
        statics.append((fact.predicate, fact.arguments))
    for fact in read_facts(options.facts, checker):
        if fact.low is None:
            statics.append((fact.predicate, fact.arguments))
            continue
        late += fact.arrival <= at and checker.is_late(fact, fact.arrival)
        span = Span(fact.low, fact.high, fact.closed_low, fact.closed_high)
        facts.append(InputFact(fact.predicate, fact.arguments, span, fact.arrival))
    if late:
        print(f"{late} facts arrived too late and are left out", file=sys.stderr)
    return Record(subject.program, subject.discrete, tuple(facts), tuple(statics), at)


def _refuse_unless_checked(
    record: Record, proof: Proof, predicate: str, arguments: tuple[Value, ...], time: Number
) -> None:
    from presage.evidence.check import Rejected, check

    try:
        check(record, proof, predicate, arguments, time)
    except Rejected as reason:
        raise PresageError(f"a proof was found, but the checker does not accept it: {reason}") from None


def explain_proved(record: Record, proof: Proof, as_json: bool) -> None:
    from presage.answers import json_value
    from presage.evidence.proof import evidence
    from presage.evidence.show import Printer, show_conclusion, show_fact

    printer = Printer(record.program)
    if not as_json:
        print_tree(_tree(printer, proof, set()))
        return
    facts = sorted(evidence(proof), key=lambda fact: (fact.span.low or 0, show_fact(fact)))
    line = {
        "answer": show_conclusion(proof),
        "at": json_value(record.at),
        "status": "confirmed",
        "because": [show_fact(fact) for fact in facts],
        "proof": printer.to_json(proof),
    }
    print(json.dumps(line, ensure_ascii=False))


def print_tree(tree: Tree) -> None:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDE
    Console(highlight=False, width=width).print(tree)


def _tree(printer: Printer, proof: Proof, before: set[str]) -> Tree:
    """The steps as a tree. What is shown once is not laid out again."""
    from rich.text import Text
    from rich.tree import Tree

    from presage.evidence.proof import ByRule, premises
    from presage.evidence.show import visible

    proof = visible(proof)
    title = printer.title(proof)
    if isinstance(proof, ByRule) and title in before:
        return Tree(Text(f"{title}: as shown above"))
    before.add(title)
    tree = Tree(Text(title))
    for note in printer.notes(proof):
        tree.add(Text(note))
    for premise in premises(proof):
        tree.children.append(_tree(printer, premise, before))
    return tree
