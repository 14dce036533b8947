"""What `presage ask` takes, read and checked against the program it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from presage.analysis.aggregates import check_aggregates
from presage.analysis.predicates import mentioned
from presage.analysis.safety import anonymous_below_negation
from presage.analysis.subject import Subject
from presage.analysis.timeline import check_times
from presage.errors import Diagnostic, ProgramError, Source, nearest
from presage.model.formulas import Formula, variables
from presage.model.program import Program
from presage.model.statements import Param, Question, Rule, Start, Tick
from presage.parser import parse_question
from presage.rewrite import normalise

SETTINGS: Final = (Param, Tick, Start)
"""What a program says about the numbers and times in its formulas."""


def read_question(text: str, subject: Subject) -> Question:
    """A formula with plain times and named variables; raises `ProgramError` with all that is wrong with it."""
    source = Source.of(text, "<question>")
    parsed = parse_question(text, predicates=frozenset(subject.predicates))
    settings = (each for each in subject.program.statements if isinstance(each, SETTINGS))
    asked, problems = normalise(Program((*settings, Rule(None, (parsed.formula,))), source=source))
    problems += [*_names(parsed.formula, subject), *_unbound(parsed.formula, parsed)]
    statics = {name for name, each in subject.predicates.items() if each.is_static}
    problems += check_times(asked, subject.timeline, statics)
    if problems:
        raise ProgramError(source, problems)
    (named,) = asked.rules
    infinite = [each for each in check_aggregates(Program((named,))) if each.severity == "error"]
    if infinite:
        raise ProgramError(source, infinite)
    return replace(parsed, formula=named.body[0])


def _names(formula: Formula, subject: Subject) -> Iterator[Diagnostic]:
    for atom in mentioned(formula):
        known = subject.predicates.get(atom.predicate)
        if known is None:
            near = nearest(atom.predicate, subject.predicates)
            hint = f"did you mean `{near}`?" if near else f"it has {', '.join(sorted(subject.predicates))}"
            yield Diagnostic("D105", f"the program has no predicate `{atom.predicate}`", atom.span, hint)
        elif known.arity != len(atom.arguments):
            message = f"`{atom.predicate}` has {known.arity} arguments in the program and {len(atom.arguments)} here"
            yield Diagnostic("N101", message, atom.span, "give each argument a constant, a variable or `_`")


def _unbound(formula: Formula, question: Question) -> Iterator[Diagnostic]:
    """`_` under `not` would stand for any constant with which the formula fails, which nobody means."""
    variable = anonymous_below_negation(formula)
    if variable is not None:
        hint = "name what must not exist by a rule of the program, `busy(X) :- job(X, _).`, and ask for that"
        yield Diagnostic("S103", "`_` under `not` or `implies` is not bound", variable.span, hint)
        return
    names = {variable.name for variable in variables(formula)}
    for variable in question.exists:
        if variable.name not in names:
            yield Diagnostic("P303", f"`{variable.name}` does not occur in the formula", variable.span, "leave it out")
