"""Which constants rules ask their premises for: what no fact has, no rule can meet."""

from __future__ import annotations

from collections.abc import Iterator

from presage.analysis.subject import Subject
from presage.model.formulas import Atom, Pinned, atoms
from presage.model.statements import Rule
from presage.model.terms import Constant


def asked_constants(subject: Subject, below: set[str]) -> Iterator[tuple[Rule, Atom, int, Constant]]:
    """The constants of plain premises, with the places they stand at, in the rules that derive these predicates."""
    for rule in subject.program.rules:
        if not any(atom.predicate in below for head in rule.head_atoms for atom in atoms(head)):
            continue
        for literal in rule.body:
            premise = literal.formula if isinstance(literal, Pinned) else literal
            if isinstance(premise, Atom):
                for place, term in enumerate(premise.arguments):
                    if isinstance(term, Constant):
                        yield rule, premise, place, term
