"""`presage run --engine spark`: files of facts as tables on a Spark of this machine, with the embedded run's lines."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from presage.cli import FINE
from presage.cli.options import (
    check_because,
    checked_program,
    choice_of,
    pull_asked,
    read_as_asked,
    shown_times,
    tell_what_was_late,
    tell_what_was_passed_over,
)
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.analysis.predicates import Predicate
    from presage.answers import Answer
    from presage.checking import Report
    from presage.io.facts import Checker, Fact
    from presage.model.formulas import Atom
    from presage.model.statements import Query
    from presage.model.terms import Number, Term, Value, Variable

CORES = 2
SHARDS = 8


def _emit(asked: str | None, report: Report) -> str:
    """What is told: what was asked for, or what the program has."""
    from presage.run.engines import needs_answer_streams

    findings = report.findings
    assert findings is not None
    if needs_answer_streams(report):
        return "confirmed"
    without = [each.hypothetical for each in findings.queries if not each.hypothetical.possible]
    if asked is None and without and not any(each.endless for each in without):
        print(f"note: only confirmed answers are told: {without[0].reason}", file=sys.stderr)
        return "confirmed"
    return asked or "changes"


def run_on_spark(options: argparse.Namespace) -> int:
    if options.emit == "snapshot":
        raise PresageError("--emit snapshot is for the embedded engine: on Spark use changes or confirmed")
    check_because(options)
    from presage.io.facts import TICKS, Checker
    from presage.io.files import read_facts
    from presage.io.output import open_output
    from presage.spark import answers
    from presage.spark.pipeline.reread import lines_of
    from presage.spark.pipeline.running import quiet_session
    from presage.spark.pipeline.sources import when_name
    from presage.spark.session import while_java_lives

    report = checked_program(options).or_raise()
    assert report.findings is not None
    subject = report.findings.subject
    checker = Checker(subject.program, subject.predicates, subject.discrete)
    read_as_asked(options, checker)
    facts = [*read_facts(options.facts, checker), *read_facts(options.static, checker)]
    tell_what_was_passed_over(checker)
    pull = pull_asked(checker, subject.discrete, options.every)
    if not any(fact.low is not None for fact in facts):
        raise PresageError("there are no facts of the stream: a run on Spark needs some")
    shown = shown_times(subject, checker, options)
    changed = _changed(report, facts, checker, options, pull)
    predicates = subject.predicates
    tables = {name: _table(facts, predicates[name], subject.discrete) for name in {each.predicate for each in facts}}
    times = {name: when_name("time", predicates[name]) for name in tables}
    arrivals = {name: when_name("arrives", predicates[name]) for name in tables}
    spark = quiet_session(f"local[{CORES}]", SHARDS, "presage run", {})
    try:
        with while_java_lives():
            frames = {name: spark.createDataFrame(table) for name, table in tables.items()}
            found = answers(
                report.program,
                {name: frame for name, frame in frames.items() if not predicates[name].is_static},
                time=times,
                arrives=arrivals,
                static={name: frame for name, frame in frames.items() if predicates[name].is_static},
                emit=_emit(options.emit, report),
                shards=SHARDS,
                until=options.until,
                choice=choice_of(options),
                times=TICKS,
            )
            lines = list(lines_of(found))
    finally:
        with contextlib.suppress(Exception):  # Java may be gone.
            spark.stop()
    with open_output(options.out, subject.discrete, (), shown) as out:
        for line in changed(_as_embedded(each, subject.queries) for each in lines):
            out.write_line(line)
    late = sum(fact.low is not None and checker.is_late(fact, fact.arrival) for fact in facts)
    if late:
        tell_what_was_late(late)
    return FINE


RunLines = Iterable[dict[str, Any]]


def _changed(
    report: Report, facts: list[Fact], checker: Checker, options: argparse.Namespace, pull: Number | None
) -> Callable[[RunLines], RunLines]:
    """What adds evidence to lines, and puts those together that nobody asks for in between: here, where all facts are
    at hand, since nothing of it is for shards. Refuses programs whose answers have no proofs."""
    from presage.explanations.reasons import evidence_of
    from presage.io.reading_back import read_answers
    from presage.run.reasoner import reasoner_of
    from presage.run.schedule import default_end, now_and_then

    if pull is None and not options.because:
        return lambda lines: lines
    assert report.findings is not None
    stream = [fact for fact in facts if fact.low is not None]
    statics = [fact for fact in facts if fact.low is None]
    reasons = evidence_of(report.findings.watched, stream, statics) if options.because else None
    if options.until is not None:
        end = checker.time(options.until, "--until")
    else:
        end = default_end(reasoner_of(report, "confirmed"), stream)

    def changed(lines: RunLines) -> RunLines:
        found = (answer for line in lines for answer in read_answers(line, "Spark"))
        if reasons is not None:
            found = (each for answer in found for each in reasons([_with_arguments(answer)]))
        for answers in [list(found)] if pull is None else now_and_then(found, pull, end):
            yield from (answer.to_json() for answer in answers)

    return changed


def _with_arguments(answer: Answer) -> Answer:
    """A line knows the text of its atom, and nothing else of its arguments."""
    atom = _atom(answer.answer)
    if atom is None:
        return answer
    return replace(answer, arguments=tuple(_value(each) for each in atom.arguments))


def _value(term: Term) -> Value | Variable:
    from presage.model.terms import Constant, Variable

    assert isinstance(term, (Constant, Variable))
    return term.value if isinstance(term, Constant) else term


def _atom(answer: str) -> Atom | None:
    """What an answer says at its time."""
    from presage.answers import with_texts
    from presage.model.formulas import Atom
    from presage.parser import parse_question

    formula = parse_question(with_texts(answer.rpartition("@")[0])).formula
    return formula if isinstance(formula, Atom) else None


def _table(facts: list[Fact], known: Predicate, discrete: bool) -> Any:
    """The facts of a predicate as an Arrow table."""
    import pyarrow as pa

    from presage.io.rows import column_names
    from presage.model.printer import show_number
    from presage.spark.pipeline.sources import when_name

    own = [fact for fact in facts if fact.predicate == known.name]
    columns = {
        name: _column([fact.arguments[place] for fact in own], known.name, name)
        for place, name in enumerate(column_names(known))
    }
    if known.is_static:
        # A table without columns has no rows either: of a predicate without arguments there is one fact at most.
        return pa.table(columns) if columns else pa.table({"": [True]})

    def times(found: list[Any]) -> Any:
        return pa.array([each if each is None or discrete else show_number(each) for each in found])

    if all(fact.low == fact.high for fact in own):
        columns[when_name("time", known)] = times([fact.low for fact in own])
    else:
        columns["from"], columns["to"] = times([fact.low for fact in own]), times([fact.high for fact in own])
        bounds = [("[" if fact.closed_low else "(") + ("]" if fact.closed_high else ")") for fact in own]
        columns["bounds"] = pa.array(bounds)
    columns[when_name("arrives", known)] = times([fact.arrival for fact in own])
    return pa.table(columns)


def _column(values: list[Any], predicate: str, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    from presage.spark.facts import MIXED

    kinds = {str if isinstance(value, str) else Fraction for value in values}
    if len(kinds) > 1:
        numbers = _column([0 if isinstance(value, str) else value for value in values], predicate, name)
        texts = pa.array([value if isinstance(value, str) else None for value in values], pa.string())
        return pa.StructArray.from_arrays([texts, pc.if_else(pc.is_null(texts), numbers, None)], list(MIXED))
    if kinds == {str}:
        return pa.array(values, pa.string())
    try:
        if all(isinstance(value, int) for value in values):
            return pa.array(values, pa.int64())
        places = max(_places(Fraction(value)) for value in values)
        return pa.array(
            [Decimal(value.numerator) / Decimal(value.denominator) for value in values], pa.decimal128(38, places)
        )
    except (OverflowError, ValueError, pa.ArrowException):
        raise PresageError(
            f"`{predicate}`: the column `{name}` has numbers that are no decimals of 38 digits, which Spark cannot hold"
        ) from None


def _places(value: Fraction) -> int:
    """How many decimals a number has."""
    places, rest = 0, value.denominator
    while rest > 1 and places < 38:
        rest //= math.gcd(rest, 10)
        places += 1
    if rest > 1:
        raise ValueError
    return places


def _as_embedded(line: dict[str, Any], queries: Iterable[Query]) -> dict[str, Any]:
    """A line with numbers among its bindings again: the columns of a table have one type, and theirs is text."""
    from presage.answers import bindings_of, json_value
    from presage.io.facts import exact
    from presage.model.terms import Constant

    if not any(exact(value) is not None for value in line["bindings"].values()):
        return line
    atom = _atom(line["answer"])
    if atom is None:
        return line
    for query in queries:
        if query.atom.predicate == atom.predicate and len(query.atom.arguments) == len(atom.arguments):
            found = bindings_of(query, atom.arguments)
            if found.keys() >= line["bindings"].keys():
                numbers = {name: json_value(term.value) for name, term in found.items() if isinstance(term, Constant)}
                return {
                    **line,
                    "bindings": {**line["bindings"], **{n: numbers[n] for n in line["bindings"] if n in numbers}},
                }
    return line
