"""The patterns with open times of all queries of a program, and whether negation can be judged atom by atom.

A negated derived atom is judged by itself: when it is true, when it may be, when it never can be. That is exact where
no fact matters both to it and to what it stands beside, so that whatever makes the one come true leaves the other as it
was. Other programs are left to the engine that looks for evolutions in which premises hold together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from presage.analysis.subject import Subject
from presage.model.formulas import Atom
from presage.model.statements import Query
from presage.model.terms import Number, Variable
from presage.patterns.apart import FactKind
from presage.patterns.finish import NoPatterns
from presage.patterns.inventing import check_absences, check_asked, without_inventions
from presage.patterns.listing import asked_by
from presage.patterns.premises import Fixed
from presage.patterns.unfold import Unfolded, Unfolder
from presage.patterns.zoned import Need, RangePattern
from presage.rewrite import core_of
from presage.time.zones import ANSWER, START

MOST_CHOICES = 1_000
TOO_MANY_CHOICES = f"the times of its premises can be chosen in more than {MOST_CHOICES:,} ways"
ENTANGLED_STRETCHES = "operators over stretches of dense time, beside negation that cannot be judged atom by atom"


class Entangled(Exception):
    """A program whose negated atoms cannot be judged one by one, and why."""


def label(place: int) -> str:
    """What a query is called among the patterns; no predicate is called so."""
    return f"?{place}"


class QueryPatterns(NamedTuple):
    """The patterns of all queries of a program."""

    patterns: dict[str, list[RangePattern]]
    entangled: str = ""
    """Why negated atoms cannot be judged one by one, if they cannot: each time is judged by itself then."""


def all_ranges(subject: Subject, unfolded: Unfolded, everybody: bool = False) -> QueryPatterns:
    """The patterns of all queries, with times that stay open where there are such; raises `NoPatterns`."""
    return ranges_below(unfolded, subject.queries, everybody)


def ranges_below(unfolded: Unfolded, queries: Sequence[Query], everybody: bool = False) -> QueryPatterns:
    """The same for some queries."""
    try:
        found = patterns_below(unfolded.with_open_times, queries)
        if not everybody or not any(each.absences for patterns in found.values() for each in patterns):
            return QueryPatterns(found)
        why = "everybody is asked for"
    except Entangled as entangled:
        why = str(entangled)
    except NoPatterns as refused:
        if refused.endless:
            raise
        try:
            return QueryPatterns(patterns_below(unfolded.by_points, queries))
        except Entangled as entangled:
            why = str(entangled)
        except NoPatterns as none:
            raise none if refused.reason != ENTANGLED_STRETCHES else refused from None
    return QueryPatterns(points_below(unfolded.by_points, queries), why)


def ranges_of(subject: Subject, unfolder: Unfolder) -> dict[str, list[RangePattern]]:
    """The patterns of all queries; raises `NoPatterns` where there are none, and `Entangled`."""
    return patterns_below(unfolder, subject.queries)


def points_below(unfolder: Unfolder, queries: Iterable[Query]) -> dict[str, list[RangePattern]]:
    """The patterns of queries whose negated atoms are judged time by time; raises `NoPatterns`."""
    found = patterns_below(unfolder, queries, independent=False)
    for name, patterns in found.items():
        for each in patterns:
            _check_points(each, unfolder.subject, is_asked=name.startswith("?"))
    return found


def _check_points(pattern: RangePattern, subject: Subject, is_asked: bool) -> None:
    """Whether the times of a pattern can be judged one by one."""
    if subject.discrete:
        if _choices(pattern) > MOST_CHOICES:
            raise NoPatterns(TOO_MANY_CHOICES, pattern.rules)
        return
    if any(map(core_of(subject).spreads, pattern.rules)):
        # Where times stay open, negation can be judged atom by atom only.
        raise NoPatterns(ENTANGLED_STRETCHES, pattern.rules)
    is_fixed = pattern.zone.distance(ANSWER, START) is not None
    if is_asked and pattern.absences and not is_fixed and all(each.low.base != ANSWER for each in pattern.premises):
        raise NoPatterns(
            "`not` alone holds over stretches of dense time, which have no premise patterns", pattern.rules
        )


def _choices(pattern: RangePattern) -> Number:
    """In how many ways the times of premises can be chosen, where the answer's is given: each is a way of its own."""
    found: Number = 1
    for base in range(ANSWER + 1, pattern.zone.size):
        high, low = pattern.zone.bound(base, ANSWER), pattern.zone.bound(ANSWER, base)
        if high is not None and low is not None:
            found *= high[0] + low[0] + 1
    return found


def have_fixed_times(patterns: dict[str, list[RangePattern]]) -> bool:
    """Whether all times are at fixed distances from the answer's."""
    return all(
        pattern.zone.size == 2 and not any(each.throughout for each in pattern.literals) and not pattern.counted
        for found in patterns.values()
        for pattern in found
    )


def patterns_below(
    unfolder: Unfolder, queries: Iterable[Query], independent: bool = True
) -> dict[str, list[RangePattern]]:
    """The patterns of queries, and of the derived predicates that occur negated below them; raises as `ranges_of`.
    Whether negated atoms can be judged one by one is not looked at unless they have to be `independent`."""
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
    if independent:
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
