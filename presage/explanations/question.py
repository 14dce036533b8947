"""The answer that is to be explained, as people write it: an atom of the program and its time or interval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import shown_name, with_texts
from presage.checking import Findings
from presage.errors import PresageError, nearest
from presage.io.facts import Checker
from presage.model.formulas import Atom, Over, Pinned
from presage.model.printer import show_formula
from presage.model.terms import Constant
from presage.model.time import TimeSpan
from presage.parser import parse_question


def read_question(text: str, found: Findings, checker: Checker) -> tuple[Subject, Atom, TimeSpan]:
    """The program that answers, the atom and its times, or what is wrong with them."""
    question = parse_question(with_texts(text), intervals=True)
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


def _span(formula: Pinned | Over, checker: Checker) -> TimeSpan:

    if isinstance(formula, Pinned):
        time = checker.units.time(formula.pin.offset)
        return TimeSpan(time, time)
    interval = formula.interval
    low = checker.units.time(interval.low)
    high = None if interval.high is None else checker.units.time(interval.high)
    return TimeSpan(low, high, interval.closed_low, interval.closed_high)


def _atom_text(formula: Any) -> str:

    return show_formula(formula.formula if isinstance(formula, Pinned) else formula)
