"""What people need to know of a program before it runs, in words: what `presage check` begins with.

What it watches and tells, when an answer is settled, how much is remembered, how it can be divided among machines, what
may be slow. The classes of the theory stand below that, for those who ask why.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from presage.analysis.subject import Subject
from presage.model.printer import show_number, show_query
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Number, number
from presage.syntax import UNITS

if TYPE_CHECKING:
    from presage.checking import Findings, Report

_TOLD = {"bad": ", which is bad news", "good": ", which is good news", "": ""}


def needs(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Each thing people ask for first, with what is to be said of it."""
    found = report.findings
    assert found is not None
    yield "watches", list(_watched(report)) or ["no input: the program knows everything itself"]
    yield (
        "tells",
        [_told(each.query, each.hypothetical.possible, each.hypothetical.reason) for each in found.queries],
    )
    yield "settled", list(dict.fromkeys(_settled(found)))
    yield "remembers", [_remembered(found)]
    yield "divided", list(_divided(found))
    yield "may be slow", list(slow_lines(found)) or ["nothing that shows in the rules"]


def in_time(program: Program, value: Number) -> str:
    """A length of time as people say it: with a `tick` by the clock, otherwise in time units."""
    if program.tick is None:
        return "1 time unit" if value == 1 else f"{show_number(value)} time units"
    length = Fraction(value) * program.tick.length.milliseconds
    for unit, size in sorted(UNITS.items(), key=lambda each: -each[1]):
        if length >= size and (length / size * 10).denominator == 1:
            amount = length / size
            return f"{amount.numerator if amount.denominator == 1 else float(amount)} {_LONG[unit]}"
    return f"{float(length):g} ms"


_LONG = {"ms": "ms", "s": "s", "m": "min", "h": "h", "d": "d"}


def plainly(reason: str) -> str:
    """A reason without the words of the theory."""
    for theory in ("has no premise patterns", "have no premise patterns"):
        reason = reason.replace(theory, "cannot be foretold")
    return reason


def _watched(report: Report) -> Iterator[str]:
    for name, each in sorted(report.predicates.items()):
        if not (each.is_input or each.is_static):
            continue
        columns = ", ".join(column.name for column in each.columns) or ", ".join("_" * each.arity)
        shown = f"{name}({columns})" if each.arity else name
        if each.is_static:
            yield f"{shown}, known beforehand"
        elif each.delay:
            yield f"{shown}, up to {in_time(report.program, each.delay)} late"
        else:
            yield shown + ("" if each.is_declared else ", which nothing declares")


def _told(query: Query, possible: bool, reason: str) -> str:
    said = f"{show_query(query)}{_TOLD[query.tone or '']}"
    return (
        f"{said}: what may come true, and what did"
        if possible
        else f"{said}: only what is certain, since {plainly(reason)}"
    )


def _settled(found: Findings) -> Iterator[str]:
    program, several = found.subject.program, len({each.reach.delay for each in found.queries}) > 1
    late = latest(found.subject)
    for each in found.queries:
        name = f"{show_query(each.query)}: " if several else ""
        if each.reach.delay is None:
            yield f"{name}never for sure: something later may always decide it"
            continue
        waits = number(Fraction(each.reach.delay) + Fraction(late))
        if not waits:
            yield f"{name}at once"
        else:
            lateness = f", {in_time(program, late)} of it because facts may be late" if late else ""
            yield f"{name}{in_time(program, waits)} after its time at most{lateness}"


def latest(subject: Subject) -> Number:
    """How late facts may be that are not too late."""
    return max((each.delay or 0 for each in subject.predicates.values() if each.is_input), default=0, key=Fraction)


def _remembered(found: Findings) -> str:
    if found.memory is None:
        return "as much as its rules ask for: there is no bound beforehand"
    if found.memory.keeps is None:
        return "everything: a fact may matter for ever"
    kept = "nothing" if not found.memory.keeps else f"facts for {in_time(found.subject.program, found.memory.keeps)}"
    return f"{kept}, and that something ever held" if found.memory.history else kept


def _divided(found: Findings) -> Iterator[str]:
    key = found.partition.columns
    if key:
        yield "among machines by " + "; ".join(f"{', '.join(columns)} of {name}" for name, columns in key.items())
        return
    yield "not at all: one machine sees everything"
    for each in dict.fromkeys((each.rule, each.reason) for each in found.partition.blockers):
        yield f"  {found.subject.place(each[0])}: {each[1]}"


def slow_lines(found: Findings) -> Iterator[str]:
    for each in found.slow:
        yield f"{found.subject.place(each.rule)}: {each.reason}" if each.rule is not None else each.reason
