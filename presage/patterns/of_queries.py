"""The patterns with open times of all queries of a program, and whether negation can be judged atom by atom.

A negated derived atom is judged by itself: when it is true, when it may be, when it never can be. That is exact where
no fact matters both to it and to what it stands beside, so that whatever makes the one come true leaves the other as it
was. Other programs are left to the engine that looks for evolutions in which premises hold together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from presage.analysis.subject import Subject
from presage.model.formulas import Atom
from presage.model.statements import Query
from presage.model.terms import Variable
from presage.patterns.apart import FactKind
from presage.patterns.inventing import check_absences, check_asked, without_inventions
from presage.patterns.listing import asked_by
from presage.patterns.premises import Fixed
from presage.patterns.unfold import Unfolder
from presage.patterns.zoned import Need, RangePattern


class Entangled(Exception):
    """A program whose negated atoms cannot be judged one by one, and why."""


def label(place: int) -> str:
    """What a query is called among the patterns; no predicate is called so."""
    return f"?{place}"


def ranges_of(subject: Subject, unfolder: Unfolder, everybody: bool = False) -> dict[str, list[RangePattern]]:
    """The patterns of all queries; raises `NoPatterns` where there are none, and `Entangled`."""
    found = patterns_below(unfolder, subject.queries)
    if everybody and any(each.absences for patterns in found.values() for each in patterns):
        raise Entangled("everybody is asked for")
    return found


def have_fixed_times(patterns: dict[str, list[RangePattern]]) -> bool:
    """Whether all times are at fixed distances from the answer's."""
    return all(
        pattern.zone.size == 2 and not any(each.throughout for each in pattern.literals) and not pattern.counted
        for found in patterns.values()
        for pattern in found
    )


def patterns_below(unfolder: Unfolder, queries: Iterable[Query]) -> dict[str, list[RangePattern]]:
    """The patterns of queries, and of the derived predicates that occur negated below them; raises as `ranges_of`."""
    found: dict[str, list[RangePattern]] = {}
    for place, query in enumerate(queries):
        goal = asked_by(query)
        patterns = unfolder.zoned(goal.atom, goal.when)
        check_asked(patterns)
        check_absences(patterns, unfolder.places, is_asked=True)
        found[label(place)] = patterns
    todo = [pattern for patterns in found.values() for pattern in patterns]
    while todo:
        for absence in todo.pop().absences:
            name = absence.predicate
            if unfolder.subject.predicates[name].kind == "derived" and name not in found:
                names = tuple(Variable(f"X{place + 1}") for place in range(len(absence.arguments)))
                found[name] = without_inventions(unfolder.zoned(Atom(name, names)))
                check_absences(found[name], unfolder.places, is_asked=False)
                todo += found[name]
    _check_independent(found)
    return found


def _check_independent(patterns: dict[str, list[RangePattern]]) -> None:
    kinds: dict[str, frozenset[FactKind]] = {}

    def below(name: str, above: tuple[str, ...]) -> frozenset[FactKind]:
        """The facts that a derived predicate hangs on."""
        if name in above:
            raise Entangled(f"`{name}` depends on its own absence")
        if name not in kinds:
            kinds[name] = frozenset(
                kind
                for pattern in patterns[name]
                for literal in pattern.literals
                for kind in asked(literal, pattern, (*above, name))
            )
        return kinds[name]

    def asked(literal: Need, pattern: RangePattern, above: tuple[str, ...]) -> frozenset[FactKind]:
        if not literal.positive and literal.predicate in patterns:
            return below(literal.predicate, above)
        return frozenset({FactKind.of(literal, pattern)})

    for name, found in patterns.items():
        for pattern in found:
            used = [asked(each, pattern, (name,)) for each in pattern.literals]
            derived = [not each.positive and each.predicate in patterns for each in pattern.literals]
            for place, first in enumerate(used):
                for other in range(place):
                    if derived[place] or derived[other]:
                        shared = {one.predicate for one in first if any(map(one.may_meet, used[other]))}
                        if shared:
                            names = ", ".join(sorted(shared))
                            raise Entangled(f"`{names}` matters to a negated atom and to what stands beside it")
            _check_bound(pattern, is_given=not name.startswith("?"))


def _check_bound(pattern: RangePattern, is_given: bool) -> None:
    """Whether every value of a negated atom comes from elsewhere; those of the answer are given below a negation."""
    given = _slots(pattern.premises) | _slots(each for each in pattern.lookups if each.positive)
    if is_given:
        given |= {each for each in pattern.arguments if not isinstance(each, Fixed)}
    for condition in pattern.conditions:
        if condition.operator == "=" and condition.wanted:
            given |= condition.slots
    if _slots(pattern.absences) - given:
        raise Entangled("a negated atom has values that nothing gives")


def _slots(literals: Iterable[Any]) -> set[int]:
    return {each for literal in literals for each in literal.arguments if not isinstance(each, Fixed)}
