"""Which variables of an aggregate are its own, and which it shares with its rule.

A variable that also occurs outside the braces is shared; one that occurs only inside is local to each pair of braces,
and gets a name that occurs nowhere else (`T` becomes `T#1`). Shared variables that nothing else in the rule gives
values to are bound by the aggregate itself, where it stands in the body directly: not below `not`, `or` or an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from presage.analysis.safety import bound_variables
from presage.errors import Diagnostic
from presage.model.formulas import (
    And,
    Comparison,
    Formula,
    Pinned,
    aggregates,
    children,
    map_terms,
    transform,
    variables,
)
from presage.model.program import Program
from presage.model.statements import Rule, Statement
from presage.model.terms import Aggregate, Term, Variable, map_term, parts_of, term_variables


def name_locals(program: Program) -> tuple[Program, list[Diagnostic]]:
    return replace(program, statements=tuple(_statement(each) for each in program.statements)), []


def _statement(statement: Statement) -> Statement:
    if not isinstance(statement, Rule) or not any(map(_has_aggregates, statement.body)):
        return statement
    return with_shared(statement)


def _has_aggregates(formula: Formula) -> bool:
    if isinstance(formula, Comparison):
        return bool(aggregates(formula))
    return any(map(_has_aggregates, children(formula)))


def with_shared(rule: Rule) -> Rule:
    """The rule with the variables of its aggregates told apart."""
    outside = {each.name for formula in rule.formulas() for each in _outside(formula)}
    numbers = count(1)

    def named(term: Term) -> Term:
        return _own_names(term, outside, next(numbers)) if isinstance(term, Aggregate) else term

    def node(part: Formula) -> Formula:
        if not isinstance(part, Comparison) or not aggregates(part):
            return part
        return replace(part, left=map_term(part.left, named), right=map_term(part.right, named))

    told = replace(rule, body=tuple(transform(part, node) for part in rule.body), origin=rule.origin or rule)
    bound, _ = bound_variables(told)

    def binding(term: Term) -> Term:
        if not isinstance(term, Aggregate) or term.shared is None:
            return term
        return replace(term, binds=tuple(name for name in term.shared if name not in bound))

    return replace(told, body=tuple(_direct(part, binding) for part in told.body))


def _direct(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with the aggregates changed that stand in the body directly."""
    match formula:
        case Comparison(left=left, right=right) if aggregates(formula):
            return replace(formula, left=map_term(left, change), right=map_term(right, change))
        case And(parts=parts):
            return replace(formula, parts=tuple(_direct(part, change) for part in parts))
        case _:
            return formula


def _outside(formula: Formula) -> Iterator[Variable]:
    """The variables of a formula, those in braces aside."""
    if isinstance(formula, Comparison):
        yield from _outside_term(formula.left)
        yield from _outside_term(formula.right)
        return
    if not children(formula):
        yield from variables(formula)
    for part in children(formula):
        yield from _outside(part)
    if isinstance(formula, Pinned) and isinstance(formula.pin.base, Variable):
        yield formula.pin.base


def _outside_term(term: Term) -> Iterator[Variable]:
    if isinstance(term, Variable):
        yield term
    elif not isinstance(term, Aggregate):
        for part in parts_of(term):
            yield from _outside_term(part)


def _own_names(term: Aggregate, outside: set[str], number: int) -> Aggregate:
    """The aggregate with names of its own for its local variables."""
    inside = dict.fromkeys(each.name for each in term_variables(term))
    local = {name: f"{name}#{number}" for name in inside if name not in outside}

    def renamed(part: Term) -> Term:
        if isinstance(part, Variable) and part.name in local:
            return replace(part, name=local[part.name])
        return part

    return replace(
        term,
        terms=tuple(map_term(each, renamed) for each in term.terms),
        body=tuple(map_terms(each, renamed) for each in term.body),
        shared=tuple(name for name in inside if name in outside),
    )
