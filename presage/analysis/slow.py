"""What may be slow, told before it is: rules whose cost grows faster than the stream, or for ever with it.

Nothing here is wrong, and for a hundred facts none of it matters. Each finding names the rule, and says what grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.analysis.memory_needed import MemoryBound
from presage.analysis.route import CLINGO, Route
from presage.analysis.subject import Subject
from presage.model.formulas import Comparison, Formula, Not, atoms
from presage.model.printer import show_formula
from presage.model.statements import Rule
from presage.model.terms import Variable


@dataclass(frozen=True, slots=True)
class Slow:
    """What grows, and the rule that makes it."""

    rule: Rule | None
    reason: str


def slow_parts(subject: Subject, route: Route, memory: MemoryBound | None) -> tuple[Slow, ...]:
    found = list(_products(subject))
    if route.engine == CLINGO:
        found.append(Slow(None, f"each step looks for models of the program, which is a search: {route.reason}"))
    if memory is not None and memory.keeps is None:
        found.append(Slow(None, "facts are kept for ever: each step has more to look through than the one before"))
    return tuple(found)


def _products(subject: Subject) -> Iterator[Slow]:
    """Bodies of which two parts have no value in common."""
    for rule in subject.program.rules:
        parts = [
            formula
            for formula in rule.body
            if not isinstance(formula, (Comparison, Not)) and _changes(subject, formula)
        ]
        groups: list[tuple[set[str], Formula]] = []
        for formula in parts:
            names = _values(formula)
            if names:
                groups.append((names, formula))
        joined = _joined(groups, [_equal(formula) for formula in rule.body if isinstance(formula, Comparison)])
        if len(joined) > 1:
            first, second = (show_formula(formula) for formula in joined[:2])
            yield Slow(
                rule,
                f"`{first}` and `{second}` have no value in common: each fact of the one meets each of the other",
            )


def _changes(subject: Subject, formula: Formula) -> bool:
    """Whether it is about the stream: background knowledge is small, and joined once."""
    return any(
        not subject.predicates[atom.predicate].is_static
        for atom in atoms(formula)
        if atom.predicate in subject.predicates
    )


def _values(formula: Formula) -> set[str]:
    return {term.name for atom in atoms(formula) for term in atom.arguments if isinstance(term, Variable)}


def _equal(comparison: Comparison) -> set[str]:
    """Two variables that must be the same."""
    sides = (comparison.left, comparison.right)
    if comparison.operator == "=" and all(isinstance(side, Variable) for side in sides):
        return {side.name for side in sides if isinstance(side, Variable)}
    return set()


def _joined(groups: list[tuple[set[str], Formula]], links: list[set[str]]) -> list[Formula]:
    """One of each set of formulas that hang together."""
    found: list[tuple[set[str], Formula | None]] = [*groups, *((link, None) for link in links if link)]
    merged: list[tuple[set[str], Formula | None]] = []
    for names, formula in found:
        touching = [each for each in merged if each[0] & names]
        merged = [each for each in merged if not each[0] & names]
        first = next((each[1] for each in touching if each[1] is not None), formula)
        merged.append((names.union(*(each[0] for each in touching)), first))
    order = [formula for _, formula in groups]
    kept = [formula for _, formula in merged if formula is not None]
    return sorted(kept, key=lambda formula: next(place for place, each in enumerate(order) if each is formula))
