"""Predicates told apart by a constant of their heads: `f(V, poor) :- s(V), not f(V, good).` is no circle.

Where a group of predicates depends on its own absence, a column in which all heads of one have constants makes several
of it, one for each constant, and a rule for each that puts them together again. If that breaks the circles there is one
model, and nothing that runs the program has more to know.
"""

from __future__ import annotations

from dataclasses import replace

from presage.analysis.predicates import find_predicates
from presage.analysis.safety import check_safety
from presage.analysis.strata import Stratification, broken_groups, t_stratification
from presage.analysis.subject import Subject
from presage.model.formulas import Atom, Formula, atoms, transform
from presage.model.statements import Head, Query, Rule, Statement
from presage.model.terms import Constant, Variable


def stratification(subject: Subject) -> tuple[Stratification, Subject]:
    """Whether negation is stratified, and the program in which it is: the same, or the one told apart by constants."""
    found = t_stratification(subject)
    apart = None if found.stratified or subject.reading == "now" else told_apart(subject)
    return (found, subject) if apart is None else (Stratification(True), apart)


def told_apart(subject: Subject) -> Subject | None:
    """The program in which constants break the circles; `None` if they do not break all of them."""
    columns = _columns(subject)
    if not columns:
        return None

    def named(formula: Formula) -> Formula:
        if isinstance(formula, Atom) and formula.predicate in columns:
            column, constants = columns[formula.predicate]
            chosen = formula.arguments[column]
            if isinstance(chosen, Constant) and chosen.value in constants:
                return replace(formula, predicate=_name(formula.predicate, constants[chosen.value]))
        return formula

    program = subject.program
    statements: list[Statement] = [each for each in program.statements if not isinstance(each, (Rule, Query))]
    statements.extend(subject.queries)
    for rule in program.rules:
        head = rule.head
        if head is not None:
            head = replace(head, atoms=tuple(transform(atom, named) for atom in head.atoms))
        body = tuple(transform(literal, named) for literal in rule.body)
        statements.append(replace(rule, head=head, body=body, origin=rule.origin or rule))
    for name, (_, constants) in columns.items():
        first = next(rule for rule in program.rules if name in {atom.predicate for atom in _heads(rule)})
        arguments = tuple(Variable(f"X{place + 1}") for place in range(subject.predicates[name].arity))
        for number in constants.values():
            part = Atom(_name(name, number), arguments, span=first.span)
            statements.append(Rule(Head((Atom(name, arguments),)), (part,), origin=first, span=first.span))
    apart = replace(program, statements=tuple(statements))
    found = Subject(apart, find_predicates(apart)[0], subject.timeline, check_safety(apart))
    return found if t_stratification(found).stratified else None


def _name(predicate: str, number: int) -> str:
    return f"{predicate}#{number}"


def _heads(rule: Rule) -> list[Atom]:
    return [atom for head in rule.head_atoms for atom in atoms(head)]


def _columns(subject: Subject) -> dict[str, tuple[int, dict[object, int]]]:
    """For predicates on circles, a column in which all their heads have constants, and these by number."""
    broken = broken_groups(subject)
    heads: dict[str, list[Atom]] = {}
    for rule in subject.program.rules:
        for atom in _heads(rule):
            heads.setdefault(atom.predicate, []).append(atom)
    found: dict[str, tuple[int, dict[object, int]]] = {}
    for name, known in subject.predicates.items():
        if known.kind != "derived" or known.is_input or subject.component[name] not in broken:
            continue
        for column in range(known.arity):
            chosen = [atom.arguments[column] for atom in heads[name]]
            values = dict.fromkeys(each.value for each in chosen if isinstance(each, Constant))
            if len(values) > 1 and all(isinstance(each, Constant) for each in chosen):
                found[name] = column, {value: number for number, value in enumerate(values)}
                break
    return found
