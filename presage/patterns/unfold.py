"""Pre-processing ([HA] 5.2 and 6.3): a query is resolved with the rules until only input literals and
negated atoms remain.

Goals are taken shortest derivation first. A goal whose premises contain those of a pattern already
found is dropped, since all that could come of it is larger; so recursion that adds nothing ends by
itself. Recursion that keeps adding ([HA] Example 7) is recognised by the same predicate coming back
again and again below itself, and refused with the rules of the cycle.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Any

from presage.analysis.subject import Subject
from presage.model.formulas import Atom, Comparison
from presage.model.statements import Rule
from presage.model.terms import Now, Variable, subterms
from presage.patterns.bodies import clauses
from presage.patterns.clause import (
    RULE_TIME,
    Clause,
    ClauseLiteral,
    Counting,
    NoClauses,
    StretchFrom,
    TimeDistance,
    When,
)
from presage.patterns.finish import MOST_PATTERNS, TOO_MANY, Derivation, Finish, Goal, NoPatterns
from presage.patterns.into_zones import range_patterns
from presage.patterns.inventing import (
    inventing_heads,
    inventions_in_head,
    places_of_inventions,
    settled,
)
from presage.patterns.measured import NOT_ONE, one_counted, renamed_comparison, renamed_counting
from presage.patterns.minimal import canonical, kinds, minimal, subsumed_by
from presage.patterns.premises import START, Pattern
from presage.patterns.unifying import renamed, same_time, unify
from presage.patterns.zoned import RangePattern
from presage.rewrite import core_of
from presage.rewrite.anonymous import told_apart
from presage.support import NO_PATTERNS

MOST_GOALS = 20_000
MOST_COMPARISONS = 60_000
"""So often a goal is compared with a pattern that was found: with many of either, that is what takes long."""
MOST_EFFORT = 150_000
"""So many bounds between times are looked at: a derivation that goes deep has many, and each step costs more."""
MOST_SPREAD = 4_000  # choices of times for the negated literals of derivations
MOST_RETURNS = 12

ANSWER_TIME = RULE_TIME  # of queries that name none: nobody's variable is called so


class Unfolded:
    """The premise patterns of a program, each unfolded once for all who ask."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @cached_property
    def with_open_times(self) -> Unfolder:
        return Unfolder(self.subject, stretches=True)

    @cached_property
    def by_points(self) -> Unfolder:
        return Unfolder(self.subject, open_times=self.with_open_times)


class Unfolder:
    """Unfolds queries over one program; what was unfolded is kept."""

    def __init__(self, subject: Subject, stretches: bool = False, open_times: Unfolder | None = None) -> None:
        """With `stretches`, times stay open and stretches whole in the patterns, on both timelines. `open_times` is
        such an unfolder of the same program: what it has unfolded is taken from it where it is the same."""
        self.subject, self.stretches = subject, stretches
        self._known: dict[tuple[Atom, When], list[Pattern] | NoPatterns] = {}
        self._zoned: dict[tuple[Atom, When], list[RangePattern]] = {}
        self.marks = count(1)
        self.spread = 0
        self.insides: dict[Counting, Counting] = {}
        self.entered: set[Counting] = set()
        self.places = places_of_inventions(core_of(subject).rules)
        self.defining = self._define(frozenset())
        if stretches:
            unsteady: frozenset[str] = frozenset()
            while more := self._unsteady() - unsteady:
                unsteady |= more
                self.defining = self._define(unsteady)
        self._open_times = None if open_times is None or open_times.defining != self.defining else open_times

    def _define(self, unsteady: frozenset[str]) -> dict[str, list[Clause | NoPatterns]]:
        defining: dict[str, list[Clause | NoPatterns]] = {}
        subject = self.subject
        static = frozenset(name for name, known in subject.predicates.items() if known.is_static)
        derived = frozenset(name for name, known in subject.predicates.items() if known.kind == "derived")
        restricted = subject.program.chase == "restricted"
        for number, rule in enumerate(core_of(subject).rules):
            try:
                heads = inventing_heads(rule, number, subject.discrete, restricted)
                for clause in clauses(
                    rule, subject.discrete, static, derived, self.stretches, unsteady, subject.non_negative, heads
                ):
                    known = defining.setdefault(clause.head.predicate, [])
                    if not any(clause.says_the_same(each) for each in known):
                        known.append(clause)
            except NoClauses as found:
                for name in {each.atom.predicate for each in rule.conclusions}:
                    defining.setdefault(name, []).append(NoPatterns(str(found), (rule.rule,)))
        return defining

    def _unsteady(self) -> frozenset[str]:
        """The derived predicates that can hold at the times of a stretch for different reasons, among those that
        something asks for throughout one."""
        asked = {
            literal.atom.predicate
            for found in self.defining.values()
            for clause in found
            if isinstance(clause, Clause)
            for literal in clause.body.literals
            if literal.positive and literal.stretch is not None
        }
        found: set[str] = set()
        todo = [name for name in asked if self.subject.predicates[name].kind == "derived"]
        seen = set(todo)
        while todo:
            name = todo.pop()
            try:
                self._check_throughout(name)
            except NoPatterns:
                found.add(name)
                continue
            for clause in self.defining.get(name, ()):
                assert isinstance(clause, Clause)
                for literal in clause.body.literals:
                    below = literal.atom.predicate
                    if literal.positive and self.subject.predicates[below].kind == "derived" and below not in seen:
                        seen.add(below)
                        todo.append(below)
        # What rests on something unsteady is unsteady too.
        again = True
        while again:
            again = False
            for name in seen - found:
                reasons = {
                    literal.atom.predicate
                    for clause in self.defining.get(name, ())
                    if isinstance(clause, Clause)
                    for literal in clause.body.literals
                    if literal.positive
                }
                if reasons & found:
                    found.add(name)
                    again = True
        return frozenset(found)

    def argument_names(self, name: str) -> list[str]:
        """Names for the open arguments of a predicate: a query's where it has them."""
        asked = [query.atom.arguments for query in self.subject.queries if query.atom.predicate == name]
        chosen: list[str] = []
        for place in range(self.subject.predicates[name].arity):
            written = [
                each[place].name  # type: ignore[union-attr]
                for each in asked
                if isinstance(each[place], Variable) and not each[place].is_anonymous  # type: ignore[union-attr]
            ]
            plain = next((each for each in written if each not in chosen and "#" not in each), f"X{place + 1}")
            chosen.append(plain)
        return chosen

    def patterns(self, atom: Atom, pin: When | None = None) -> list[Pattern]:
        """The minimal patterns of an atom at any time, or at a fixed one; raises `NoPatterns`."""
        when = pin or When(ANSWER_TIME)
        known = self._known.get((atom, when))
        if known is None:
            try:
                known = self._same_with_open_times(atom, when) or self._unfolded(told_apart(atom), when)
            except NoPatterns as reason:
                known = reason
            self._known[atom, when] = known
        if isinstance(known, NoPatterns):
            raise known
        return known

    def zoned(self, atom: Atom, pin: When | None = None) -> list[RangePattern]:
        """The same with one zone of all their times; raises `NoPatterns`."""
        when = pin or When(ANSWER_TIME)
        if (atom, when) not in self._zoned:
            self._zoned[atom, when] = range_patterns(self.patterns(atom, pin), self.subject.discrete)
        return self._zoned[atom, when]

    def _same_with_open_times(self, atom: Atom, when: When) -> list[Pattern] | None:
        """What was unfolded with open times, if in it no absence lies at one of them."""
        known = None if self._open_times is None else self._open_times._known.get((atom, when))
        if not isinstance(known, list):
            if known is not None and known.reason == TOO_MANY:
                raise known  # the clauses are the same, and no fewer patterns come of them
            return None
        bases = ((each.when.base, pattern.when.base) for pattern in known for each in pattern.absences)
        return known if all(base in (START, own) for base, own in bases) else None

    def _unfolded(self, atom: Atom, when: When) -> list[Pattern]:
        found: dict[object, tuple[Pattern, frozenset[Any]]] = {}
        tie = count()
        first = Derivation(
            (Goal(ClauseLiteral(atom, when)),), {}, {}, (), (), (), (TimeDistance(when, When(None), 0, None),), ()
        )
        heap: list[tuple[int, int, Derivation]] = [(0, next(tie), first)]
        steps = effort = comparisons = self.spread = 0
        while heap:
            depth, _, node = heapq.heappop(heap)
            steps += 1
            effort += len(node.reaches)
            comparisons += len(found)
            # What waits is taken too, sooner or later.
            if steps + len(heap) > MOST_GOALS or effort > MOST_EFFORT or comparisons > MOST_COMPARISONS:
                raise NoPatterns(TOO_MANY)
            if not node.goals:
                for pattern in (each for case in settled(node, self.places) for each in self._spread(atom, when, case)):
                    found.setdefault(canonical(pattern), (pattern, kinds(pattern)))
                    if len(found) > MOST_PATTERNS:
                        raise NoPatterns(TOO_MANY)
                continue
            if depth and found and self._superfluous(atom, when, node, found.values()):
                continue
            for following in self._resolve(node):
                heapq.heappush(heap, (depth + 1, next(tie), following))
        return minimal([pattern for pattern, _ in found.values()])

    def _spread(self, atom: Atom, when: When, node: Derivation) -> Iterator[Pattern]:
        """The patterns of a finished derivation: one for each choice of the times of negated literals, which become
        evidence without anything arriving that could fix them."""
        self.spread += 1
        if self.spread > MOST_SPREAD:
            raise NoPatterns(TOO_MANY)
        finish = Finish(self.subject, node)
        pattern = finish.pattern(atom, when)
        if pattern is None or self.stretches:
            yield from () if pattern is None else (pattern,)
            return
        answered = node.time(when)
        for name, index in finish.times.items():
            if name == answered.base or all(each.when.base != index for each in pattern.absences):
                continue
            low, high = finish.bounds.range(name, answered.base or "")
            if isinstance(low, float) or isinstance(high, float):
                if all(each.when.base != index for each in pattern.premises):
                    raise NoPatterns(
                        "a negated literal at a time that nothing bounds has no premise patterns", node.rules
                    )
                continue
            if not self.subject.discrete:
                raise NoPatterns("`not` at an open time has no premise patterns on dense time", node.rules)
            for distance in range(int(low), int(high) + 1):
                times = {**node.times, name: When(answered.base, distance)}
                yield from self._spread(atom, when, replace(node, times=times))
            return
        yield pattern

    def _superfluous(
        self, atom: Atom, when: When, node: Derivation, found: Iterable[tuple[Pattern, frozenset[Any]]]
    ) -> bool:
        partial = Finish(self.subject, node).pattern(atom, when)
        if partial is None:
            return True
        own = kinds(partial)
        return any(asked <= own and subsumed_by(partial, other) for other, asked in found)

    def _resolve(self, node: Derivation) -> Iterator[Derivation]:
        # Leaves first: the more premises a goal shows, the sooner it is seen to be superfluous.
        place = next((index for index, each in enumerate(node.goals) if self._is_leaf(each.literal)), 0)
        goal, rest = node.goals[place], node.goals[:place] + node.goals[place + 1 :]
        literal = goal.literal
        name = literal.atom.predicate
        known = self.subject.predicates[name]
        if known.is_static:
            yield replace(node, goals=rest, lookups=(*node.lookups, (literal.atom, literal.positive)))
            return
        reaches = node.reaches
        if literal.outside == "false":
            reaches = (*reaches, TimeDistance(literal.when, When(None), 0, None))
        if not literal.positive or known.is_input:
            yield Derivation(rest, node.bindings, node.times, (*node.leaves, literal), node.lookups,
                        node.comparisons, reaches, node.rules, node.counted)  # fmt: skip
        if not literal.positive or known.kind != "derived":
            return
        here = node.literal(literal)
        returns = [(old, rule) for old, rule in goal.ancestors if old.atom.predicate == name]
        if any(node.literal(old) == here for old, _ in returns):
            return
        if len(returns) > MOST_RETURNS:
            rules = tuple(dict.fromkeys(rule for _, rule in returns[-2:]))
            raise NoPatterns(NO_PATTERNS["recursion"], rules, endless=True)
        if literal.stretch is not None:
            self._check_throughout(name)
        for clause in self.defining.get(name, ()):
            if isinstance(clause, NoPatterns):
                raise clause
            following = self._apply(clause, goal, node, rest, reaches)
            if following is not None:
                yield following

    def _check_throughout(self, name: str) -> None:
        """What is derived holds throughout a stretch of time exactly if its reasons do, each at its distance, where
        there is one way to derive it and its reasons bring no values of their own, which could change over time."""
        where = f"`{name}` has no premise patterns below `historically`, `always` or `all` on dense time"
        found = self.defining.get(name, ())
        rules = tuple(dict.fromkeys(each.rule for each in found if isinstance(each, Clause)))
        if len(found) > 1 or self.subject.predicates[name].is_input:
            raise NoPatterns(f"{where}: it can come about in several ways", rules)
        for clause in found:
            if isinstance(clause, NoPatterns):
                raise clause
            invented = list(inventions_in_head(clause.head))
            if any(each.times for each in invented):
                raise NoPatterns(f"{where}: what is invented is another value at each time", rules)
            given = (*clause.head.arguments, *(value for each in invented for value in each.frontier))
            known = {each.name for each in given if isinstance(each, Variable)}
            used = {
                each.name for part in clause.body.literals for each in part.atom.arguments if isinstance(each, Variable)
            }
            if used - known:
                raise NoPatterns(f"{where}: values that it does not have itself could change over time", rules)
            times = {each.when.base for each in clause.body.literals} | {
                side.base for reach in clause.body.reaches for side in (reach.x, reach.y) if side.base is not None
            }
            ends = any(each.high is not None and each.y.base is None for each in clause.body.reaches)
            if not clause.body.literals or times - {clause.when.base} or clause.when.base is None or ends:
                raise NoPatterns(f"{where}: its reasons lie at times of their own", rules)
            if any(True for comparison, _ in clause.body.comparisons for _ in _times_in(comparison, clause)):
                raise NoPatterns(f"{where}: its reasons compare times", rules)

    def _is_leaf(self, literal: ClauseLiteral) -> bool:
        return not literal.positive or self.subject.predicates[literal.atom.predicate].kind != "derived"

    def _apply(
        self, clause: Clause, goal: Goal, node: Derivation, rest: tuple[Goal, ...], reaches: tuple[TimeDistance, ...]
    ) -> Derivation | None:
        mark = f"'{next(self.marks)}"
        times = same_time(_marked(clause.when, mark), goal.literal.when, node.times)
        if times is None:
            return None
        same = unify(renamed(clause.head, mark).arguments, goal.literal.atom.arguments, node.bindings, times)
        if same is None:
            return None
        bindings, times = same
        ancestors = (*goal.ancestors, (goal.literal, clause.rule))
        body = clause.body
        goals = tuple(
            Goal(
                ClauseLiteral(
                    renamed(each.atom, mark),
                    _marked(each.when, mark),
                    each.positive,
                    each.outside,
                    _spread_over(goal.literal.stretch, clause, each, mark),
                ),
                ancestors,
            )
            for each in body.literals
        )

        def marked(name: str) -> str:
            return name + mark

        comparisons = tuple((renamed_comparison(each, marked), wanted) for each, wanted in body.comparisons)
        counted = tuple(renamed_counting(self._inside(each, clause.rule), marked) for each in body.counted)
        own = tuple(
            TimeDistance(_marked(each.x, mark), _marked(each.y, mark), each.low, each.high) for each in body.reaches
        )
        return Derivation(goals + rest, bindings, times, node.leaves, node.lookups, node.comparisons + comparisons,
                     reaches + own, (*node.rules, clause.rule), node.counted + counted)  # fmt: skip

    def _inside(self, counting: Counting, rule: Rule) -> Counting:
        """What is counted, with the derived predicates in the braces resolved: one input atom beside comparisons and
        static atoms."""
        if counting in self.entered:
            raise NoPatterns(NO_PATTERNS["recursion"], (rule,), endless=True)
        if counting not in self.insides:
            self.entered.add(counting)
            try:
                self.insides[counting] = self._resolved(counting, rule)
            finally:
                self.entered.discard(counting)
        return self.insides[counting]

    def _resolved(self, counting: Counting, rule: Rule) -> Counting:
        body = counting.body
        todo = [Derivation(tuple(map(Goal, body.literals)), {}, {}, (), (), body.comparisons, body.reaches, ())]
        found = []
        while todo:
            node = todo.pop()
            if node.goals:
                todo.extend(self._resolve(node))
            else:
                found.append(node)
            if len(found) > 1 or len(todo) > MOST_PATTERNS:
                break
        blamed = (rule, *(each for one in found for each in one.rules))
        if len(found) != 1 or len(found[0].leaves) != 1 or found[0].counted:
            raise NoPatterns(NOT_ONE, blamed)
        return one_counted(counting, found[0], blamed)


def _marked(when: When, mark: str) -> When:
    return when if when.base is None else When(when.base + mark, when.offset)


def _spread_over(outer: StretchFrom | None, clause: Clause, reason: ClauseLiteral, mark: str) -> StretchFrom | None:
    """How long a clause's reason must hold if its conclusion must hold throughout a stretch, or at one time."""
    own = reason.stretch
    if outer is None:
        return None if own is None else replace(own, until=_marked(own.until, mark))
    last = reason.when if own is None else own.until
    return StretchFrom(
        outer.until.later(last.offset - clause.when.offset),
        outer.closed_low and (own is None or own.closed_low),
        outer.closed_high and (own is None or own.closed_high),
    )


def _times_in(comparison: Comparison, clause: Clause) -> Iterator[str]:
    """The times that a comparison of a clause speaks of."""
    times = {clause.when.base} | {each.when.base for each in clause.body.literals}
    for side in (comparison.left, comparison.right):
        for term in subterms(side):
            if isinstance(term, Now) or (isinstance(term, Variable) and term.name in times):
                yield str(term)
