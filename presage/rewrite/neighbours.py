"""`yesterday φ` becomes `once[1,1] φ`, `tomorrow φ` `eventually[1,1] φ`: nothing after this pass knows them."""

from __future__ import annotations

from dataclasses import replace

from presage.errors import Diagnostic
from presage.model.formulas import Beside, Formula, Metric, transform
from presage.model.program import Program
from presage.model.statements import Rule, Statement
from presage.model.time import Interval

MEANING = {"yesterday": "once", "tomorrow": "eventually"}


def resolve_neighbours(program: Program) -> tuple[Program, list[Diagnostic]]:
    return replace(program, statements=tuple(_statement(each) for each in program.statements)), []


def _node(formula: Formula) -> Formula:
    if not isinstance(formula, Beside):
        return formula
    one = Interval(1, 1, span=formula.span)
    return Metric(MEANING[formula.operator], one, formula.formula, span=formula.span)


def _statement(statement: Statement) -> Statement:
    if not isinstance(statement, Rule):
        return statement
    body = tuple(transform(part, _node) for part in statement.body)
    if body == statement.body:
        return statement
    return replace(statement, body=body, origin=statement.origin or statement)
