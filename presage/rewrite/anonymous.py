"""Each `_` becomes a variable of its own, so that later steps need not treat it apart.

The new names contain `#`, which no written variable does; `model.terms.shown` gives back what was
written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from presage.errors import Diagnostic
from presage.model.formulas import Atom, Formula, map_terms, variables
from presage.model.program import Program
from presage.model.statements import Rule, Statement
from presage.model.terms import Term, Variable


def name_anonymous(program: Program) -> tuple[Program, list[Diagnostic]]:
    return replace(program, statements=tuple(_statement(each) for each in program.statements)), []


def _statement(statement: Statement) -> Statement:
    if not isinstance(statement, Rule) or not any(variable.is_anonymous for variable in statement.variables()):
        return statement
    numbers = count(1)
    head = statement.head
    if head is not None:
        head = replace(head, atoms=tuple(_formula(atom, numbers) for atom in head.atoms))
    body = tuple(_formula(part, numbers) for part in statement.body)
    return replace(statement, head=head, body=body, origin=statement.origin or statement)


def told_apart(atom: Atom) -> Atom:
    """The atom with a variable of its own for each `_`."""
    found = _formula(atom, count(1))
    assert isinstance(found, Atom)
    return found


def _formula(formula: Formula, numbers: Iterator[int]) -> Formula:
    if not any(variable.is_anonymous for variable in variables(formula)):
        return formula

    def named(part: Term) -> Term:
        return Variable(f"_#{next(numbers)}", span=part.span) if part == Variable("_") else part

    return map_terms(formula, named)
