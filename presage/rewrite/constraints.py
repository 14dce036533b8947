"""Constraints as rules: what breaks one is an answer of the query `violated`.

In a program with one model a constraint rules nothing out; it watches. `:- job(X, Y), late(X).` in line 3
becomes a rule for `violated(3, X, Y)`, at the time it is looked at, or at its first time variable
where it names its times. Constraints differ in their variables, so each has a predicate of its own, and all
are shown as `violated`.
"""

from __future__ import annotations

from dataclasses import replace

from presage.analysis.predicates import find_predicates
from presage.analysis.safety import bound_by, check_safety
from presage.analysis.subject import Subject
from presage.analysis.timeline import pin_variables
from presage.model.formulas import Atom, Formula, Pinned, walk
from presage.model.program import Program
from presage.model.statements import Head, Query, Rule, Statement
from presage.model.terms import Constant, Now, Variable
from presage.model.time import Pin

VIOLATED = "violated"


def with_violations(subject: Subject) -> Subject:
    """The program with its constraints watched as queries."""
    program = subject.program
    if not any(rule.is_constraint for rule in program.rules):
        return subject
    statements: list[Statement] = [each for each in program.statements if not isinstance(each, (Rule, Query))]
    statements.extend(subject.queries)
    for index, rule in enumerate(program.rules):
        if not rule.is_constraint:
            statements.append(rule)
            continue
        atom = _violation(rule, index, program)
        statements.append(replace(rule, head=Head((_pinned(atom, rule),)), origin=rule))
        statements.append(Query(atom))
    watched = replace(program, statements=tuple(statements))
    predicates, _ = find_predicates(watched)
    return Subject(watched, predicates, subject.timeline, check_safety(watched))


def _violation(rule: Rule, index: int, program: Program) -> Atom:
    times = pin_variables(rule)
    bound = {name for literal in rule.body for name in bound_by(literal)} - times
    names = dict.fromkeys(each.name for each in rule.variables() if each.name in bound and "#" not in each.name)
    file, number = program.file_of(rule), program.line_of(rule)
    line = Constant(number if file is None else f"{file}:{number}")
    return Atom(f"{VIOLATED}#{index}", (line, *(Variable(name) for name in names)))


def _pinned(atom: Atom, rule: Rule) -> Formula:
    """At the first time variable, if every atom of the body is pinned to one."""
    pins = [node.pin for literal in rule.body for node in walk(literal) if isinstance(node, Pinned)]
    unpinned = any(not _is_pinned(literal) for literal in rule.body)
    base = next((pin.base for pin in pins if isinstance(pin.base, Variable)), None)
    return atom if unpinned or base is None else Pinned(atom, Pin(base))


def _is_pinned(literal: Formula) -> bool:
    atoms = [node for node in walk(literal) if isinstance(node, Atom)]
    pinned = [node for node in walk(literal) if isinstance(node, Pinned) and not isinstance(node.pin.base, Now)]
    return not atoms or bool(pinned)
