"""Whether a query has finitely many premise patterns, so that hypothetical answers can be given.

One that does not ([HA] Example 7) still runs with confirmed answers only. The question is answered by
unfolding the query as the engine does, so that the two never disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from presage.analysis.strata import Stratification
from presage.analysis.subject import Subject
from presage.model.formulas import Atom
from presage.model.statements import Query, Rule
from presage.model.terms import Number, Variable
from presage.patterns.finish import NoPatterns
from presage.patterns.inventing import check_absences, check_asked, without_inventions
from presage.patterns.of_queries import ENTANGLED_STRETCHES, MOST_CHOICES, TOO_MANY_CHOICES, ranges_below
from presage.patterns.premises import START, Pattern
from presage.patterns.unfold import Unfolded, Unfolder
from presage.rewrite import core_of
from presage.support import NO_PATTERNS

NARROWED = "#asked"
"""What is asked for of a predicate, after its name."""
MOST_JOINS = 1_000
"""Partial matches are kept for each way in which premises bind variables together."""
TOO_MANY_JOINS = f"premises with variables of their own come together in more than {MOST_JOINS:,} ways"


@dataclass(frozen=True, slots=True)
class Hypothetical:
    possible: bool
    reason: str = ""
    rules: tuple[Rule, ...] = ()
    endless: bool = False
    """Whether its premise patterns would never end, rather than being unknown."""
    size: int = 0
    """How many premises and absences its patterns have in all."""


class Hypotheticals:
    """Unfolds the queries of a program; what several need is unfolded once."""

    def __init__(self, unfolded: Unfolded, strata: Stratification) -> None:
        self.unfolded, self.strata = unfolded, strata

    def of(self, query: Query) -> Hypothetical:
        if not self.strata.stratified:
            rules = tuple(dict.fromkeys(edge.rule for edge in self.strata.cycle))
            return Hypothetical(False, NO_PATTERNS["circle"], rules)
        if self.unfolded.subject.program.reading != "every":
            return Hypothetical(False, NO_PATTERNS["reading now"])
        try:
            found = ranges_below(self.unfolded, [query]).patterns
        except NoPatterns as none:
            return Hypothetical(False, none.reason, none.rules, none.endless)
        return Hypothetical(True, size=sum(len(each.literals) for patterns in found.values() for each in patterns))


def uses_stretches(pattern: Pattern, subject: Subject) -> bool:
    """Whether some rule of a pattern has an operator over more than one time."""
    return any(map(core_of(subject).spreads, pattern.rules))


def _joins(pattern: Pattern) -> int:
    """In how many ways premises bind variables together, as far as that matters: partial matches are kept for each."""
    own = {
        frozenset({*(each for each in premise.arguments if isinstance(each, int)), ("at", premise.when.base)})
        for premise in pattern.premises
    }
    found: set[frozenset[object]] = {frozenset()}
    for each in own:
        found |= {each | other for other in found}
        if len(found) > MOST_JOINS:
            break
    return len(found)


def _choices(pattern: Pattern) -> Number:
    """In how many ways the times of premises can be chosen, where the answer's is given: each is a way of its own."""
    found: Number = 1
    for base in {each.when.base for each in pattern.premises} - {START, pattern.when.base}:
        high, low = pattern.upper.get((base, pattern.when.base)), pattern.upper.get((pattern.when.base, base))
        if high is not None and low is not None:
            found *= high + low + 1
    return found


def _untied(patterns: Iterable[Pattern]) -> Pattern | None:
    """A pattern with absences, and no fact that says at which times they matter."""
    for each in patterns:
        if each.absences and each.when.base not in {START, *(premise.when.base for premise in each.premises)}:
            return each
    return None


def narrowed(atoms: Sequence[Atom]) -> list[Atom]:
    """What is asked for, where it is said once of a predicate and not of all its answers, under a name of its own."""
    often = Counter(each.predicate for each in atoms)
    return [
        each
        if often[each.predicate] > 1 or _asks_for_all(each)
        else replace(each, predicate=f"{each.predicate}{NARROWED}")
        for each in atoms
    ]


def _asks_for_all(atom: Atom) -> bool:
    names = [each for each in atom.arguments if isinstance(each, Variable)]
    named = [each for each in names if not each.is_anonymous]
    return len(names) == len(atom.arguments) and len(set(named)) == len(named)


def plain_name(name: str) -> str:
    """The predicate that a query asks for."""
    return name.removesuffix(NARROWED)


def all_patterns(
    queries: set[str],
    unfolder: Unfolder,
    known: dict[str, list[Pattern] | NoPatterns] | None = None,
    asked: Sequence[Atom] = (),
) -> dict[str, list[Pattern]]:
    """The patterns of the queries and of every predicate that occurs negated below them ([HA] 6.3); raises
    `NoPatterns`. What is `asked` has arguments of its own, where its name says so."""
    narrow = {each.predicate: each for each in asked if each.predicate != plain_name(each.predicate)}
    known = {} if known is None else known
    found: dict[str, list[Pattern]] = {}
    todo = sorted(queries)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        if name not in known:
            own = plain_name(name)
            arguments = tuple(Variable(each) for each in unfolder.argument_names(own))
            try:
                known[name] = unfolder.patterns(Atom(own, narrow[name].arguments if name in narrow else arguments))
            except NoPatterns as reason:
                known[name] = reason
        patterns = known[name]
        if isinstance(patterns, NoPatterns):
            raise patterns
        if name in queries:
            check_asked(patterns)
        else:
            patterns = without_inventions(patterns)
        check_absences(patterns, unfolder.places, name in queries)
        for each in patterns:
            if _joins(each) > MOST_JOINS:
                raise NoPatterns(TOO_MANY_JOINS, each.rules)
            if unfolder.subject.discrete and _choices(each) > MOST_CHOICES:
                raise NoPatterns(TOO_MANY_CHOICES, each.rules)
        found[name] = patterns
        todo.extend(each.predicate for pattern in patterns for each in pattern.absences)
    if not unfolder.subject.discrete:
        every = (pattern for patterns in found.values() for pattern in patterns)
        stretched = next((each for each in every if uses_stretches(each, unfolder.subject)), None)
        if stretched is not None:
            # Where times stay open, negation can be judged atom by atom only.
            raise NoPatterns(ENTANGLED_STRETCHES, stretched.rules)
    loose = None if unfolder.subject.discrete else _untied(each for name in queries for each in found[name])
    if loose is not None:
        raise NoPatterns("`not` alone holds over stretches of dense time, which have no premise patterns", loose.rules)
    return found
