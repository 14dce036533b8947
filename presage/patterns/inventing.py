"""What rules with `exists` invent, while patterns are unfolded.

An invented value is a term of its own (`unifying.InventedValue`): it meets variables, and what the same rule invents
for the same values at the same time. So what is said of it twice is said of one instance of its rule, and in the end no
premise speaks of it: no fact that arrives has an invented value. Comparisons with it come down to what it depends on.
What is left is an answer that shows one, whose `AnswerShape` says which places are invented; the values that they
depend on stand among the answer's arguments in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from presage.core.existential import frontier, is_timed, obstacle
from presage.core.formulas import CoreFormula, Not, children
from presage.core.rules import CoreRule
from presage.model.formulas import OPPOSITES, Atom, Comparison
from presage.model.terms import Constant, Now, Term, Variable
from presage.patterns.clause import RULE_TIME, Counting, NoClauses, TimeDistance, When
from presage.patterns.finish import Derivation, NoPatterns
from presage.patterns.premises import Fixed, Pattern
from presage.patterns.unifying import (
    InventedValue,
    PatternTerm,
    Unifier,
    inventions_in,
    resolve,
    time_of,
    unify,
)
from presage.patterns.zoned import RangePattern
from presage.support import NO_PATTERNS

Places = frozenset[tuple[str, int]]
"""Predicates, with the places of arguments."""
AnyPattern = TypeVar("AnyPattern", Pattern, RangePattern)


def inventing_heads(rule: CoreRule, number: int, discrete: bool, restricted: bool) -> tuple[Atom, ...]:
    """The atoms of a head, with what it invents in place of the variables of `exists`; raises `NoClauses`."""
    heads = tuple(each.atom for each in rule.conclusions)
    if not rule.exists:
        return heads
    if restricted:
        raise NoClauses(NO_PATTERNS["invented where needed"])
    if obstacle(rule, discrete) is not None:
        raise NoClauses(NO_PATTERNS["invented over an interval"])
    values = tuple(Variable(name) for name in frontier(rule))
    bases = {each.base for each in rule.conclusions if each.base is not None} if is_timed(rule) else set()
    times = tuple(sorted((When(RULE_TIME if isinstance(each, Now) else each.name) for each in bases), key=str))
    made: Unifier = {each.name: InventedValue(number, each.name, values, times) for each in rule.exists}
    return tuple(replace(each, arguments=tuple(resolve(term, made) for term in each.arguments)) for each in heads)


def inventions_in_head(head: Atom) -> Iterator[InventedValue]:
    given: tuple[PatternTerm, ...] = head.arguments
    return (each for each in given if isinstance(each, InventedValue))


def places_of_inventions(rules: Iterable[CoreRule]) -> Places:
    """Where invented values may stand."""
    rules = tuple(rules)
    found: set[tuple[str, int]] = set()
    more = True
    while more:
        more = False
        for rule in rules:
            carried = _carried(rule, found)
            for each in rule.conclusions:
                for place, term in enumerate(each.atom.arguments):
                    if (
                        isinstance(term, Variable)
                        and term.name in carried
                        and (each.atom.predicate, place) not in found
                    ):
                        found.add((each.atom.predicate, place))
                        more = True
    return frozenset(found)


def _carried(rule: CoreRule, found: set[tuple[str, int]]) -> set[str]:
    """The variables of a rule that may have invented values."""
    carried = {each.name for each in rule.exists}
    for literal in rule.body:
        for atom in _asked(literal):
            for place, term in enumerate(atom.arguments):
                if isinstance(term, Variable) and (atom.predicate, place) in found:
                    carried.add(term.name)
    more = True
    while more:
        named = [each for literal in rule.body for each in _equations(literal)]
        made = {
            name for one, other in named for name, given in ((one, other), (other, one)) if given in carried
        } - carried
        carried |= made
        more = bool(made)
    return carried


def _asked(formula: CoreFormula) -> Iterator[Atom]:
    """The atoms that may give values."""
    if isinstance(formula, Atom):
        yield formula
    elif not isinstance(formula, Not):
        for part in children(formula):
            yield from _asked(part)


def _equations(formula: CoreFormula) -> Iterator[tuple[str, str]]:
    if isinstance(formula, Comparison):
        if formula.operator == "=" and isinstance(formula.left, Variable) and isinstance(formula.right, Variable):
            yield formula.left.name, formula.right.name
    for part in children(formula):
        yield from _equations(part)


# -- derivations without goals ------------------------------------------------------------------------


def settled(node: Derivation, places: Places) -> Iterator[Derivation]:
    """A finished derivation without comparisons and absences of invented values, by cases; raises `NoPatterns`."""
    if not places:
        yield node
        return
    for each in node.counted:
        _check_counting(each, node)
    yield from _compared(node, 0, places)


def _compared(node: Derivation, place: int, places: Places) -> Iterator[Derivation]:
    order = sorted(node.comparisons, key=lambda each: not _is_equation(*each)) if place == 0 else node.comparisons
    if place == 0:
        node = replace(node, comparisons=tuple(order))
    while place < len(node.comparisons):
        comparison, wanted = node.comparisons[place]
        if any(True for side in (comparison.left, comparison.right) for _ in inventions_in(side, node.bindings)):
            rest = (*node.comparisons[:place], *node.comparisons[place + 1 :])
            operator = comparison.operator if wanted else OPPOSITES[comparison.operator]
            sides = [resolve(each, node.bindings) for each in (comparison.left, comparison.right)]
            if operator not in ("=", "!=") or not all(
                isinstance(each, (InventedValue, Variable, Constant)) for each in sides
            ):
                raise NoPatterns(NO_PATTERNS["invented and calculated with"], node.rules)
            for case in _cases(replace(node, comparisons=rest), sides[0], sides[1], operator == "="):
                yield from _compared(case, 0 if operator == "=" else place, places)
            return
        place += 1
    yield from _absent(node, places)


def _is_equation(comparison: Comparison, wanted: bool) -> bool:
    return comparison.operator == ("=" if wanted else "!=")


def _cases(node: Derivation, left: Any, right: Any, same: bool) -> Iterator[Derivation]:
    """When two values, one of which is invented, are the same, or not."""
    if same:
        made = unify((left,), (right,), node.bindings, node.times)
        if made is not None:
            yield replace(node, bindings=made[0], times=made[1])
        return
    if not (isinstance(left, InventedValue) and isinstance(right, InventedValue) and _kind(left) == _kind(right)):
        # A value that arrives, or is written, is no invented one.
        yield node
        return
    moments = [
        (time_of(first, node.times), time_of(second, node.times))
        for first, second in zip(left.times, right.times, strict=True)
    ]
    if any(x.base == y.base and x.offset != y.offset for x, y in moments):
        yield node
        return
    for one, other in zip(left.frontier, right.frontier, strict=True):
        a, b = resolve(one, node.bindings), resolve(other, node.bindings)
        if isinstance(a, InventedValue) or isinstance(b, InventedValue):
            yield from _cases(node, a, b, False)
        elif a != b:
            yield replace(node, comparisons=(*node.comparisons, (Comparison("!=", a, b), True)))
    for x, y in moments:
        if x.base != y.base:
            # Values that differ from time to time are invented on whole time points only.
            yield replace(node, reaches=(*node.reaches, TimeDistance(x, y, 1, None)))
            yield replace(node, reaches=(*node.reaches, TimeDistance(y, x, 1, None)))


def _kind(value: InventedValue) -> tuple[int, str]:
    return value.rule, value.name


def _absent(node: Derivation, places: Places) -> Iterator[Derivation]:
    """Without absences of what cannot be said of an invented value."""
    leaves = []
    for literal in node.leaves:
        invented = invented_places(literal.atom, node)
        if literal.positive or not invented:
            leaves.append(literal)
        elif all((literal.atom.predicate, place) in places for place in invented):
            raise NoPatterns(NO_PATTERNS["invented and absent"], node.rules)
    yield replace(node, leaves=tuple(leaves))


def invented_places(atom: Atom, node: Derivation) -> list[int]:
    """Which arguments of an atom are invented values."""
    return [
        place for place, term in enumerate(atom.arguments) if isinstance(resolve(term, node.bindings), InventedValue)
    ]


def _check_counting(counting: Counting, node: Derivation) -> None:
    terms: list[Term] = [counting.bound, *counting.terms]
    terms += [term for literal in counting.body.literals for term in literal.atom.arguments]
    terms += [side for each, _ in counting.body.comparisons for side in (each.left, each.right)]
    if any(True for term in terms for _ in inventions_in(term, node.bindings)):
        raise NoPatterns(NO_PATTERNS["invented and calculated with"], node.rules)


def told_apart_by(counting: Counting, node: Derivation) -> tuple[Term, ...]:
    """The terms by which what is counted is told apart: what they depend on, for values that are invented. `node` is
    the derivation of what stands in the braces."""
    spoken = [*(each.atom for each in node.leaves), *(each for each, _ in node.lookups)]
    inside = [term for atom in spoken for term in atom.arguments]
    inside += [side for each, _ in node.comparisons for side in (each.left, each.right)]
    found: list[Term] = []

    def tell(term: Any) -> None:
        resolved = resolve(term, node.bindings)
        if not isinstance(resolved, InventedValue):
            found.append(term)
            return
        for each in resolved.frontier:
            tell(each)
        found.extend(Variable(base) for each in resolved.times if (base := time_of(each, node.times).base) is not None)

    for place, term in enumerate(counting.terms):
        if isinstance(resolve(term, node.bindings), InventedValue) and (place or counting.function == "count"):
            tell(term)
        else:
            inside.append(term)
            found.append(term)
    if any(True for term in inside for _ in inventions_in(term, node.bindings)):
        raise NoPatterns(NO_PATTERNS["invented and calculated with"], node.rules)
    return tuple(found)


# -- patterns -----------------------------------------------------------------------------------------


def check_asked(patterns: Sequence[Pattern | RangePattern]) -> None:
    """Whether answers of a query show no invented values; raises `NoPatterns`."""
    for each in patterns:
        if each.shape:
            raise NoPatterns(NO_PATTERNS["invented in an answer"], each.rules)


def without_inventions(patterns: Iterable[AnyPattern]) -> list[AnyPattern]:
    """The patterns of a negated atom, of which nobody asks whether it holds for an invented value."""
    return [each for each in patterns if not each.shape]


def check_absences(patterns: Iterable[Pattern | RangePattern], places: Places, is_asked: bool) -> None:
    """Whether every value of a negated atom is known where it could be an invented one; raises `NoPatterns`. Those of
    the answer are given where it is asked for below a negation."""
    for pattern in patterns if places else ():
        given = {value for each in (*pattern.premises, *pattern.lookups) for value in each.arguments}
        given.update(() if is_asked else pattern.arguments)
        for condition in pattern.conditions:
            if condition.operator == "=" and condition.wanted:
                given |= condition.slots
        for absence in pattern.absences:
            for place, value in enumerate(absence.arguments):
                if (absence.predicate, place) in places and not isinstance(value, Fixed) and value not in given:
                    raise NoPatterns(NO_PATTERNS["invented and absent"], pattern.rules)
