"""The alternatives that a pattern of SPARQL is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from presage.model.formulas import Comparison, Formula, aggregates
from presage.model.terms import Constant, Term, Variable, term_variables

UNDEF = Constant("undef")
"""What an unbound variable is in answers."""


@dataclass(frozen=True, slots=True)
class BodyAlternative:
    """One of the alternatives of a pattern: what must hold, and what each of its variables is called in the rules."""

    body: tuple[Formula, ...] = ()
    bound: tuple[tuple[str, Term], ...] = ()

    def value(self, name: str) -> Term | None:
        return next((term for known, term in self.bound if known == name), None)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.bound)


def counts(body: Iterable[Formula]) -> bool:
    """Whether an aggregate stands in a body."""
    return any(isinstance(each, Comparison) and aggregates(each) for each in body)


def hidden_keys(way: BodyAlternative, wanted: Iterable[str]) -> set[str]:
    """The variables by which an aggregate makes groups and that are not wanted: what only occurs in braces would mean
    all groups together."""
    asked = set(wanted)
    shown = {term.name for name, term in way.bound if name in asked and isinstance(term, Variable)}
    grouped = {
        each.name
        for part in way.body
        if isinstance(part, Comparison)
        for found in aggregates(part)
        for each in term_variables(found)
    }
    return {name for name, term in way.bound if isinstance(term, Variable) and term.name in grouped - shown}
