"""Which predicates hold at single points, on dense time.

Where a rule or an aggregate uses a time as a value (`count { T : window(5m) failed(U)@T }`, `hour(T)`), there must be
finitely many such times. So what is pinned there holds at points, and an interval fact of an input that it rests on is
wrong input. A derived predicate holds at points if each of its rules has a reason that does, at a fixed distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from presage.analysis.differences import NOW, difference
from presage.analysis.predicates import Predicate
from presage.analysis.timeline import pin_variables
from presage.errors import Diagnostic
from presage.model.formulas import (
    And,
    Atom,
    Comparison,
    Formula,
    Metric,
    Pinned,
    Windowed,
    aggregates,
    children,
    walk,
    walk_outside,
)
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Aggregate, Now, Term, Variable, parts_of, shown, term_variables


@dataclass(frozen=True, slots=True)
class _Use:
    """A time that is used as a value, and the predicates that are pinned to it: one of them must hold at points."""

    name: str
    reasons: tuple[str, ...]
    aggregate: Aggregate | None = None


def at_points(program: Program, predicates: Mapping[str, Predicate]) -> tuple[frozenset[str], list[Diagnostic]]:
    """The predicates that hold at points alone, and times that aggregates use as values though nothing at a point is
    pinned to them; where a rule does, the plan refuses it."""
    found = _Points(program, predicates)
    problems: list[Diagnostic] = []
    for rule in program.rules:
        for use in _uses(rule):
            if not found.demand(use.reasons) and use.aggregate is not None:
                problems.append(_problem(use, use.aggregate))
    return frozenset(found.known), problems


def _problem(use: _Use, aggregate: Aggregate) -> Diagnostic:
    written = shown(use.name)
    message = f"on the dense timeline the time `{written}` is a value only where what is pinned to it holds at points"
    hint = f"pin an input to it, `p(X)@{written}`, whose facts have a `time`; or say it on the discrete timeline"
    return Diagnostic("S105", message, aggregate.span, hint)


class _Points:
    def __init__(self, program: Program, predicates: Mapping[str, Predicate]) -> None:
        self.predicates = predicates
        self.known: set[str] = set()
        self.deriving: dict[str, list[tuple[Formula, Rule]]] = {}
        for rule in program.rules:
            for head in rule.head_atoms:
                for node in walk(head):
                    if isinstance(node, Atom):
                        self.deriving.setdefault(node.predicate, []).append((head, rule))

    def demand(self, reasons: tuple[str, ...]) -> bool:
        """Whether one of some predicates holds at points, or can be asked to."""
        if any(each in self.known for each in reasons):
            return True
        for each in reasons:
            needed = self._needed(each, frozenset())
            if needed is not None:
                self.known |= needed
                return True
        return False

    def _needed(self, name: str, above: Set[str]) -> set[str] | None:
        """The predicates that must hold at points so that one does; nothing if it cannot be had."""
        if name in self.known or name in above:
            return set()
        if self.predicates[name].is_static:
            return None
        found = {name}
        for head, rule in self.deriving.get(name, ()):
            options = [] if not rule.body else [self._needed(each, above | found) for each in _reasons_of(head, rule)]
            possible = [each for each in options if each is not None]
            if isinstance(head, Pinned) and not rule.body:
                possible = [set()]
            if not possible:
                return None
            found |= min(possible, key=len)
        return found


def _reasons_of(head: Formula, rule: Rule) -> Iterator[str]:
    """The predicates of what a rule asks for at a fixed distance from its head's time."""
    if isinstance(head, Pinned) and isinstance(head.formula, Atom) and isinstance(head.pin.base, Variable):
        for literal in rule.body:
            yield from _pinned_to(literal, head.pin.base.name)
    elif isinstance(head, Atom):
        for literal in rule.body:
            yield from _here(literal)


def _here(formula: Formula) -> Iterator[str]:
    """What is asked for at the time at which a formula is looked at."""
    match formula:
        case Atom(predicate=name):
            yield name
        case And(parts=parts):
            for part in parts:
                yield from _here(part)
        case Pinned(pin=pin, formula=inner) if isinstance(pin.base, Now):
            yield from _here(inner)


def _pinned_to(formula: Formula, time: str) -> Iterator[str]:
    match formula:
        case Pinned(pin=pin, formula=inner) if isinstance(pin.base, Variable) and pin.base.name == time:
            yield from _here(inner)
        case And() | Windowed() | Metric(operator=("once" | "eventually")):
            for part in children(formula):
                yield from _pinned_to(part, time)


def _uses(rule: Rule) -> Iterator[_Use]:
    """The times that a rule and its aggregates use as values."""
    times = pin_variables(rule)
    if not times or not rule.body:
        return
    for name in sorted(times & _values(rule.formulas(), times)):
        yield _Use(name, tuple(each for part in rule.body for each in _pinned_to(part, name)))
    for literal in rule.body:
        for node in walk(literal):
            if isinstance(node, Comparison):
                for aggregate in aggregates(node):
                    yield from _inside(aggregate, rule)


def _inside(aggregate: Aggregate, rule: Rule) -> Iterator[_Use]:
    shared = set(aggregate.shared or ())
    times = pin_variables(Rule(None, aggregate.body)) | (pin_variables(rule) & shared)
    named = {each.name for term in aggregate.terms for each in term_variables(term)}
    for name in sorted(times & (named | _values(aggregate.body, times))):
        around = (*aggregate.body, *rule.body) if name in shared else aggregate.body
        reasons = tuple(each for part in around for each in _pinned_to(part, name))
        yield _Use(name, reasons, aggregate)


def _values(formulas: Iterable[Formula], times: Set[str]) -> set[str]:
    """The variables that stand among values: as arguments, and in comparisons that are not about two times alone."""
    found: set[str] = set()
    for formula in formulas:
        for node in walk_outside(formula):
            if isinstance(node, Atom):
                found |= {each.name for term in node.arguments for each in term_variables(term)}
            elif isinstance(node, Comparison) and not _is_of_times(node, times):
                found |= {each for side in (node.left, node.right) for each in _named(side)}
    return found


def _named(term: Term) -> Iterator[str]:
    """The variables of a term, but for those of its aggregates."""
    if isinstance(term, Variable):
        yield term.name
    elif not isinstance(term, Aggregate):
        for part in parts_of(term):
            yield from _named(part)


def _is_of_times(comparison: Comparison, times: Set[str]) -> bool:
    sides = difference(comparison)
    if sides is None or comparison.operator == "!=":
        return False
    return len(sides[0]) <= 2 and {*sides[0]} <= {*times, NOW}
