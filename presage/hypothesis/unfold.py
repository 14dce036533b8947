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
from dataclasses import dataclass, replace
from itertools import count

from presage.analysis.differences import Differences
from presage.analysis.patterns import Substitution, resolve, unify
from presage.analysis.subject import Subject
from presage.hypothesis.bodies import Clause, Literal, NoClauses, Reach, When, clauses
from presage.hypothesis.minimal import canonical, minimal, subsumed_by
from presage.hypothesis.patterns import START, Argument, Condition, Fixed, Lookup, Pattern, Premise, Time
from presage.model.formulas import Atom, Comparison, atoms
from presage.model.statements import Rule
from presage.model.terms import Arithmetic, Constant, Negative, Now, Number, Term, Variable, number, term_variables
from presage.model.values import is_true, value_of

MOST_PATTERNS = 2_000
MOST_GOALS = 20_000
MOST_RETURNS = 12


class NoPatterns(Exception):
    """A query whose premise patterns are not finitely many, or not within reach; and the rules to blame."""

    def __init__(self, reason: str, rules: tuple[Rule, ...] = ()) -> None:
        self.reason, self.rules = reason, rules
        super().__init__(reason)


TOO_MANY = "there are too many premise patterns to keep track of"
ANSWER_TIME = "T"


@dataclass(frozen=True, slots=True)
class _Goal:
    literal: Literal
    ancestors: tuple[tuple[Literal, Rule], ...] = ()


@dataclass(frozen=True, slots=True)
class _Node:
    """A derivation so far."""

    goals: tuple[_Goal, ...]
    bindings: Substitution
    times: dict[str, When]
    leaves: tuple[Literal, ...]
    lookups: tuple[tuple[Atom, bool], ...]
    comparisons: tuple[tuple[Comparison, bool], ...]
    reaches: tuple[Reach, ...]
    rules: tuple[Rule, ...]

    def time(self, when: When) -> When:
        while when.base is not None and when.base in self.times:
            known = self.times[when.base]
            when = When(known.base, known.offset + when.offset)
        return when

    def literal(self, literal: Literal) -> Literal:
        arguments = tuple(resolve(each, self.bindings) for each in literal.atom.arguments)
        atom = Atom(literal.atom.predicate, arguments)
        return Literal(atom, self.time(literal.when), literal.positive, literal.outside)


class Unfolder:
    """Unfolds queries over one program; what was unfolded is kept."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.marks = count(1)
        self.defining: dict[str, list[Clause | NoPatterns]] = {}
        for rule in subject.program.rules:
            try:
                for clause in clauses(rule, subject.discrete):
                    self.defining.setdefault(clause.head.predicate, []).append(clause)
            except NoClauses as found:
                for name in {atom.predicate for head in rule.head_atoms for atom in atoms(head)}:
                    self.defining.setdefault(name, []).append(NoPatterns(str(found), (rule,)))

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
        found: dict[object, Pattern] = {}
        tie = count()
        when = pin or When(ANSWER_TIME)
        first = _Node((_Goal(Literal(atom, when)),), {}, {}, (), (), (), (Reach(when, When(None), 0, None),), ())
        heap: list[tuple[int, int, _Node]] = [(0, next(tie), first)]
        steps = 0
        while heap:
            depth, _, node = heapq.heappop(heap)
            steps += 1
            if steps > MOST_GOALS:
                raise NoPatterns(TOO_MANY)
            if not node.goals:
                for pattern in self._spread(atom, when, node):
                    found.setdefault(canonical(pattern), pattern)
                    if len(found) > MOST_PATTERNS:
                        raise NoPatterns(TOO_MANY)
                continue
            if depth and found and self._superfluous(atom, when, node, found.values()):
                continue
            for following in self._resolve(node):
                heapq.heappush(heap, (depth + 1, next(tie), following))
        return minimal(list(found.values()))

    def _spread(self, atom: Atom, when: When, node: _Node) -> Iterator[Pattern]:
        """The patterns of a finished derivation: one for each choice of the times of negated literals, which become
        evidence without anything arriving that could fix them."""
        finish = _Finish(self.subject, node)
        pattern = finish.pattern(atom, when)
        if pattern is None:
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
            for distance in range(int(low), int(high) + 1):
                times = {**node.times, name: When(answered.base, distance)}
                yield from self._spread(atom, when, replace(node, times=times))
            return
        yield pattern

    def _superfluous(self, atom: Atom, when: When, node: _Node, found: Iterable[Pattern]) -> bool:
        partial = self._finish(atom, when, node)
        return partial is None or any(subsumed_by(partial, other) for other in found)

    def _resolve(self, node: _Node) -> Iterator[_Node]:
        # Leaves first: the more premises a goal shows, the sooner it is seen to be superfluous.
        place = next((index for index, each in enumerate(node.goals) if self._is_leaf(each.literal)), 0)
        goal, rest = node.goals[place], node.goals[:place] + node.goals[place + 1 :]
        literal = goal.literal
        name = literal.atom.predicate
        known = self.subject.predicates[name]
        if known.is_static:
            yield _Node(rest, node.bindings, node.times, node.leaves, (*node.lookups, (literal.atom, literal.positive)),
                        node.comparisons, node.reaches, node.rules)  # fmt: skip
            return
        reaches = node.reaches
        if literal.outside == "false":
            reaches = (*reaches, Reach(literal.when, When(None), 0, None))
        if not literal.positive or known.is_input:
            yield _Node(rest, node.bindings, node.times, (*node.leaves, literal), node.lookups,
                        node.comparisons, reaches, node.rules)  # fmt: skip
        if not literal.positive or known.kind != "derived":
            return
        here = node.literal(literal)
        returns = [(old, rule) for old, rule in goal.ancestors if old.atom.predicate == name]
        if any(node.literal(old) == here for old, _ in returns):
            return
        if len(returns) > MOST_RETURNS:
            rules = tuple(dict.fromkeys(rule for _, rule in returns[-2:]))
            raise NoPatterns("a recursive rule gives ever new premises", rules)
        for clause in self.defining.get(name, ()):
            if isinstance(clause, NoPatterns):
                raise clause
            following = self._apply(clause, goal, node, rest, reaches)
            if following is not None:
                yield following

    def _is_leaf(self, literal: Literal) -> bool:
        return not literal.positive or self.subject.predicates[literal.atom.predicate].kind != "derived"

    def _apply(
        self, clause: Clause, goal: _Goal, node: _Node, rest: tuple[_Goal, ...], reaches: tuple[Reach, ...]
    ) -> _Node | None:
        mark = f"'{next(self.marks)}"
        bindings = unify(_renamed(clause.head, mark).arguments, goal.literal.atom.arguments, node.bindings)
        if bindings is None:
            return None
        times = _unify_times(node, _marked(clause.when, mark), goal.literal.when)
        if times is None:
            return None
        ancestors = (*goal.ancestors, (goal.literal, clause.rule))
        body = clause.body
        goals = tuple(
            _Goal(Literal(_renamed(each.atom, mark), _marked(each.when, mark), each.positive, each.outside), ancestors)
            for each in body.literals
        )
        comparisons = tuple((_renamed_comparison(each, mark), wanted) for each, wanted in body.comparisons)
        own = tuple(Reach(_marked(each.x, mark), _marked(each.y, mark), each.low, each.high) for each in body.reaches)
        return _Node(goals + rest, bindings, times, node.leaves, node.lookups, node.comparisons + comparisons,
                     reaches + own, (*node.rules, clause.rule))  # fmt: skip

    def _finish(self, atom: Atom, when: When, node: _Node) -> Pattern | None:
        return _Finish(self.subject, node).pattern(atom, when)


class _Finish:
    """A derivation's leaves as a pattern: names become numbers, bounds are closed."""

    def __init__(self, subject: Subject, node: _Node) -> None:
        self.subject, self.node = subject, node
        self.slots: dict[str, int] = {}
        self.times: dict[str, int] = {}
        self.bounds = Differences()

    def pattern(self, atom: Atom, when: When) -> Pattern | None:
        node = self.node
        for reach in node.reaches:
            if not self.reach(reach):
                return None
        relations = [(each, wanted) for each, wanted in node.comparisons if not self.about_times(each, wanted)]
        if not self.bounds.check():
            return None
        arguments = tuple(self.argument(each) for each in atom.arguments)
        answered = self.time(when)
        literals: dict[Premise, None] = {}
        for literal in sorted(node.leaves, key=lambda each: not each.positive):
            resolved = node.literal(literal)
            literals.setdefault(
                Premise(
                    resolved.atom.predicate,
                    tuple(self.argument(each) for each in resolved.atom.arguments),
                    self.time(resolved.when),
                    literal.positive,
                    literal.outside == "true",
                )
            )
        opposite = {(each.predicate, each.arguments, each.when, not each.positive) for each in literals}
        if any((each.predicate, each.arguments, each.when, each.positive) in opposite for each in literals):
            return None
        lookups = dict.fromkeys(
            Lookup(each.predicate, tuple(self.argument(term) for term in each.arguments), positive)
            for each, positive in sorted(node.lookups, key=lambda pair: not pair[1])
        )
        conditions = [found for each, wanted in relations if (found := self.condition(each, wanted)) is not None]
        if any(not each.slots and not each.times and not _constant_truth(each) for each in conditions):
            return None
        conditions = [each for each in conditions if each.slots or each.times]
        terms: dict[str, int | Time] = dict(self.slots)
        for name in node.times.keys() | self.times.keys():
            resolved_time = node.time(When(name))
            if resolved_time.base is None or resolved_time.base in self.times:
                terms[name] = self.time(resolved_time)
        return Pattern(
            arguments,
            answered,
            tuple(each for each in literals if each.positive),
            tuple(each for each in literals if not each.positive),
            tuple(lookups),
            tuple(dict.fromkeys(conditions)),
            _names(self.slots),
            _names(self.times),
            self.closed(),
            tuple(dict.fromkeys(node.rules)),
            terms,
        )

    def reach(self, reach: Reach) -> bool:
        x, y = self.node.time(reach.x), self.node.time(reach.y)
        gap = y.offset - x.offset
        low = None if reach.low is None else reach.low + gap
        high = None if reach.high is None else reach.high + gap
        if x.base == y.base:
            return (low is None or low <= 0) and (high is None or high >= 0)
        first, second = x.base or "", y.base or ""
        if high is not None:
            self.bounds.at_most(first, second, high)
        if low is not None:
            self.bounds.at_most(second, first, -low)
        return True

    def about_times(self, comparison: Comparison, wanted: bool) -> bool:
        """Adds a comparison of two times, or of one with a number, to the bounds. One that speaks of values too, or
        that only leaves gaps, stays a condition."""
        operator = comparison.operator
        if not wanted:
            operator = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}[operator]
        sides = [self.as_time(side) for side in (comparison.left, comparison.right)]
        if sides[0] is None or sides[1] is None or operator == "!=":
            return False
        left, right = sides[0], sides[1]
        if operator in ("<", ">") and not self.subject.discrete:
            return False
        gap = 1 if operator in ("<", ">") else 0
        fits = True
        if operator in ("<", "<=", "="):
            fits &= self.reach(Reach(left, right, None, -gap))
        if operator in (">", ">=", "="):
            fits &= self.reach(Reach(left, right, gap, None))
        if not fits:
            self.bounds.consistent = False
        return True

    def as_time(self, term: Term) -> When | None:
        """A term that is a time: a time variable plus a constant, or a constant."""
        match term:
            case Constant(value=value) if not isinstance(value, str):
                return When(None, value)
            case Variable(name=name) if self.is_time(name):
                return self.node.time(When(name))
            case Arithmetic(operator="+" | "-" as operator, left=left, right=Constant(value=value)) if not isinstance(
                value, str
            ):
                found = self.as_time(left)
                return None if found is None else found.later(value if operator == "+" else -value)
            case Arithmetic(operator="+", left=Constant(value=value), right=right) if not isinstance(value, str):
                found = self.as_time(right)
                return None if found is None else found.later(value)
            case _:
                return None

    def is_time(self, name: str) -> bool:
        used = {each.when.base for each in self.node.leaves} | {
            side.base for reach in self.node.reaches for side in (reach.x, reach.y)
        }
        return name in used or name in self.node.times

    def argument(self, term: Term) -> Argument:
        resolved = resolve(term, self.node.bindings)
        if isinstance(resolved, Constant):
            return Fixed(resolved.value)
        assert isinstance(resolved, Variable)
        if self.is_time(resolved.name):
            raise NoPatterns("a time that is used as a value has no premise patterns", self.node.rules)
        return self.slots.setdefault(resolved.name, len(self.slots))

    def time(self, when: When) -> Time:
        when = self.node.time(when)
        if when.base is None:
            return Time(START, when.offset)
        low, high = self.bounds.range(when.base, "")
        if low == high and not isinstance(low, float):
            return Time(START, when.offset + low)
        return Time(self.times.setdefault(when.base, len(self.times)), when.offset)

    def condition(self, comparison: Comparison, wanted: bool) -> Condition | None:
        left, right = self.term(comparison.left), self.term(comparison.right)
        slots, times = set(), set()
        for variable in (*term_variables(left), *term_variables(right)):
            if variable.name in self.slots:
                slots.add(self.slots[variable.name])
            elif self.is_time(variable.name):
                resolved = self.time(When(variable.name))
                if resolved.base != START:
                    times.add(resolved.base)
            else:
                slots.add(self.slots.setdefault(variable.name, len(self.slots)))
        return Condition(comparison.operator, left, right, wanted, frozenset(slots), frozenset(times))

    def term(self, term: Term) -> Term:
        match term:
            case Variable():
                return resolve(term, self.node.bindings)
            case Negative(term=inner):
                return Negative(self.term(inner))
            case Arithmetic(operator=operator, left=left, right=right):
                return Arithmetic(operator, self.term(left), self.term(right))
            case _:
                return term

    def closed(self) -> dict[tuple[int, int], Number]:
        """The bounds between the times that the pattern speaks of, and the start."""
        places = {**self.times, "": START}
        found: dict[tuple[int, int], Number] = {}
        for first, x in places.items():
            for second, y in places.items():
                if x != y:
                    high = self.bounds.range(first, second)[1]
                    if not isinstance(high, float):
                        found[x, y] = number(high)
        return found


def _constant_truth(condition: Condition) -> bool:
    left, right = value_of(condition.left, lambda name: None), value_of(condition.right, lambda name: None)
    return is_true(condition.operator, left, right) == condition.wanted


def _names(places: dict[str, int]) -> tuple[str, ...]:
    """Names as in the rules where they are unique, with a number where they are not."""
    taken: set[str] = set()
    names = []
    for name in sorted(places, key=lambda each: places[each]):
        plain = name.split("'")[0]
        plain = "T" if plain == "now" else "X" if plain.startswith("_") else plain
        chosen, tries = plain, count(2)
        while chosen in taken:
            chosen = f"{plain}{next(tries)}"
        taken.add(chosen)
        names.append(chosen)
    return tuple(names)


def _marked(when: When, mark: str) -> When:
    return when if when.base is None else When(when.base + mark, when.offset)


def _renamed(atom: Atom, mark: str) -> Atom:
    return Atom(
        atom.predicate,
        tuple(Variable(each.name + mark) if isinstance(each, Variable) else each for each in atom.arguments),
    )


def _renamed_comparison(comparison: Comparison, mark: str) -> Comparison:
    def renamed(term: Term) -> Term:
        match term:
            case Variable(name=name):
                return Variable(name + mark)
            case Now():
                return Variable("now" + mark)
            case Negative(term=inner):
                return Negative(renamed(inner))
            case Arithmetic(operator=operator, left=left, right=right):
                return Arithmetic(operator, renamed(left), renamed(right))
            case _:
                return term

    return Comparison(comparison.operator, renamed(comparison.left), renamed(comparison.right))


def _unify_times(node: _Node, head: When, goal: When) -> dict[str, When] | None:
    """The head's time made equal to the goal's."""
    first, second = node.time(head), node.time(goal)
    if first.base == second.base:
        return node.times if first.offset == second.offset else None
    if first.base is not None:
        return {**node.times, first.base: When(second.base, second.offset - first.offset)}
    assert second.base is not None
    return {**node.times, second.base: When(None, first.offset - second.offset)}
