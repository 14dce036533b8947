"""Premise patterns ([HA] Definition 10): what must arrive for a query to come true.

A query is unfolded through the rules until only inputs and negated atoms remain. Here a premise's
time is kept as its range of distances from the query's time, which is all that query delay and
window size need. Hypothetical answers run on patterns with exact times and conditions, which
`presage.hypothesis.unfold` makes.

An atom that is its own ancestor gives nothing new and fails. Where a predicate keeps coming back in
ever new forms, the query has infinitely many patterns ([HA] Example 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, islice, product

from presage.analysis.differences import Bound
from presage.analysis.embedding import MOST_ATOMS, embeds
from presage.analysis.subject import Subject
from presage.analysis.timeline import pin_variables
from presage.analysis.timing import Occurrence, RuleTiming, time_rule
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Reset,
    Top,
    Windowed,
    walk,
)
from presage.model.terms import Constant, Term, Variable

MOST_PATTERNS = 500
MOST_GOALS = 10_000
MOST_ALTERNATIVES = 64
MOST_GOALS_IN_ALL = 30_000
MOST_RETURNS = 12
MOST_RECURSIVE = 40


class NoOutline(Exception):
    """Unfolding does not end, or not within reason, or meets what cannot be unfolded."""

    def __init__(self, reason: str, rules: tuple[RuleTiming, ...] = ()) -> None:
        self.reason = reason
        self.rules = rules
        super().__init__(reason)


TOO_MANY = "there are too many premise patterns to keep track of"


@dataclass(frozen=True, slots=True)
class OutlinePremise:
    """A literal, between `low` and `high` after the query's time; at `every` time of that range, or at some."""

    atom: Atom
    low: Bound
    high: Bound
    positive: bool = True
    every: bool = False


@dataclass(frozen=True, slots=True)
class OutlinePattern:
    """The query's arguments, as far as the pattern fixes them, and its premises."""

    arguments: tuple[Term, ...]
    premises: frozenset[OutlinePremise]
    conditional: bool = False
    """Whether more must hold than the premises say: comparisons, static facts, fixed times. Such a pattern
    cannot make another superfluous, nor can its own premises be thinned out."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A literal of a rule's body that unfolding can follow."""

    occurrence: Occurrence
    every: bool


def followable(timing: RuleTiming) -> list[_Step] | None:
    """A body as a conjunction of atoms and negated atoms at some or every time of a range, or `None`."""
    for literal in timing.rule.body:
        for node in walk(literal):
            if isinstance(node, (Or, Implies, BinaryMetric)):
                return None
            if isinstance(node, (Metric, Modal)) and node.operator in ("historically", "always", "all"):
                if not isinstance(node.formula, (Atom, Pinned)):
                    return None
        if not _simple_negation(literal):
            return None
    return [_Step(occurrence, not occurrence.conjunct and occurrence.positive) for occurrence in timing.occurrences]


def _alternatives(timing: RuleTiming) -> list[RuleTiming]:
    """A rule with `or` in its body as rules without: one for each choice of sides."""
    rule = timing.rule
    if not any(isinstance(node, Or) for literal in rule.body for node in walk(literal)):
        return [timing]
    bodies = list(islice(product(*(_sides(literal) for literal in rule.body)), MOST_ALTERNATIVES + 1))
    if len(bodies) > MOST_ALTERNATIVES:
        return [timing]
    return [time_rule(replace(rule, body=body, origin=rule), timing.discrete) for body in bodies]


def _sides(formula: Formula) -> list[Formula]:
    """The formula without `or`, where an alternative inside is one of the whole."""
    match formula:
        case Or(parts=parts):
            return [side for part in parts for side in _sides(part)]
        case And(parts=parts):
            return [replace(formula, parts=chosen) for chosen in product(*(_sides(part) for part in parts))]
        case Metric(operator="once" | "eventually") | Modal(operator="some") | Pinned() | Windowed() | Reset():
            return [replace(formula, formula=side) for side in _sides(formula.formula)]
        case _:
            return [formula]


def _simple_negation(literal: Formula) -> bool:
    """Whether `not` stands only directly over (pinned) atoms."""
    match literal:
        case Not(formula=inner):
            return _is_atom(inner)
        case Atom() | Top() | Comparison():
            return True
        case And(parts=parts):
            return all(_simple_negation(part) for part in parts)
        case Pinned(formula=inner) | Metric(formula=inner) | Windowed(formula=inner) | Modal(formula=inner):
            return _simple_negation(inner)
        case Reset(formula=inner):
            return _simple_negation(inner)
        case _:
            return False


def _is_atom(formula: Formula) -> bool:
    while isinstance(formula, (Pinned, Windowed)):
        formula = formula.formula
    return isinstance(formula, Atom)


Substitution = dict[str, Term]


def resolve(term: Term, bindings: Substitution) -> Term:
    while isinstance(term, Variable) and term.name in bindings:
        term = bindings[term.name]
    return term


def unify(left: tuple[Term, ...], right: tuple[Term, ...], bindings: Substitution) -> Substitution | None:
    bindings = dict(bindings)
    for first, second in zip(left, right, strict=True):
        a, b = resolve(first, bindings), resolve(second, bindings)
        if a == b:
            continue
        if isinstance(a, Variable):
            bindings[a.name] = b
        elif isinstance(b, Variable):
            bindings[b.name] = a
        else:
            return None
    return bindings


class Unfolding:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.numbers = count(1)
        self.goals = self.all_goals = 0
        self.known: dict[Atom, list[OutlinePattern] | NoOutline] = {}
        self.conditions: dict[int, bool] = {}
        self.defining: dict[str, list[tuple[RuleTiming, int]]] = {}
        for timing in subject.timings:
            for alternative in _alternatives(timing):
                for index, head in enumerate(alternative.heads):
                    self.defining.setdefault(head.atom.predicate, []).append((alternative, index))

    def patterns(self, atom: Atom) -> list[OutlinePattern]:
        """The minimal patterns of an atom; raises `NoOutline`. Renamings of an atom are looked up."""
        goal = shape(atom)
        if goal not in self.known:
            self.goals = 0
            try:
                self.known[goal] = self._unfold(goal)
            except NoOutline as reason:
                self.known[goal] = reason
        known = self.known[goal]
        if isinstance(known, NoOutline):
            raise known
        return known

    def _unfold(self, atom: Atom) -> list[OutlinePattern]:
        found: dict[OutlinePattern, None] = {}
        goal = OutlinePremise(atom, 0, 0)
        for bindings, premises, conditional in self._solve([(goal, ())]):
            arguments = tuple(resolve(argument, bindings) for argument in atom.arguments)
            found.setdefault(_canonical(OutlinePattern(arguments, _applied(premises, bindings), conditional)))
            if len(found) > MOST_PATTERNS:
                raise NoOutline(TOO_MANY)
        return minimal(list(found))

    def _solve(
        self, start: list[tuple[OutlinePremise, tuple[tuple[OutlinePremise, RuleTiming], ...]]]
    ) -> Iterator[tuple[Substitution, frozenset[OutlinePremise], bool]]:
        # Depth-first over an explicit stack: unfolding may be deeper than Python's.
        nothing: Substitution = {}
        stack = [(start, nothing, frozenset[OutlinePremise](), False)]
        while stack:
            goals, bindings, premises, conditional = stack.pop()
            if not goals:
                yield bindings, premises, conditional
                continue
            self.goals += 1
            self.all_goals += 1
            if self.goals > MOST_GOALS or self.all_goals > MOST_GOALS_IN_ALL:
                raise NoOutline(TOO_MANY)
            (goal, ancestors), *rest = goals
            name = goal.atom.predicate
            known = self.subject.predicates[name]
            if known.is_static:
                stack.append((rest, bindings, premises, True))
                continue
            if not goal.positive or known.is_input:
                stack.append((rest, bindings, premises | {goal}, conditional))
            if not goal.positive or known.kind != "derived":
                continue
            here = _applied_premise(goal, bindings)
            returns = [(old, timing) for old, timing in ancestors if old.atom.predicate == name]
            if any(_applied_premise(old, bindings) == here for old, _ in returns):
                continue
            deep = name in self.subject.recursive_predicates and len(ancestors) > MOST_RECURSIVE
            if len(returns) > MOST_RETURNS or deep:
                rules = tuple(dict.fromkeys(timing for _, timing in (returns or ancestors)[-2:]))
                raise NoOutline("a recursive rule gives ever new premises", rules)
            for timing, index in self.defining.get(name, ()):
                following = self._apply(timing, index, goal, bindings, ancestors)
                if following is not None:
                    also = conditional or self._has_conditions(timing)
                    stack.append(([*following[1], *rest], following[0], premises, also))

    def _has_conditions(self, timing: RuleTiming) -> bool:
        """Whether a rule asks for more than its premises at their times."""
        number = id(timing)
        if number not in self.conditions:
            self.conditions[number] = _conditions(timing)
        return self.conditions[number]

    def _apply(
        self,
        timing: RuleTiming,
        index: int,
        goal: OutlinePremise,
        bindings: Substitution,
        ancestors: tuple[tuple[OutlinePremise, RuleTiming], ...],
    ) -> tuple[Substitution, list[tuple[OutlinePremise, tuple[tuple[OutlinePremise, RuleTiming], ...]]]] | None:
        steps = followable(timing)
        if steps is None or (timing.rule.head is not None and timing.rule.head.choice):
            raise NoOutline("the body is not a conjunction of atoms and negated atoms", (timing,))
        mark = next(self.numbers)
        head = timing.heads[index]
        unified = unify(goal.atom.arguments, _renamed(head.atom, mark).arguments, bindings)
        if unified is None or _gives_an_invented_value(timing, mark, unified):
            return None
        chain = (*ancestors, (goal, timing))
        following = []
        for step in steps:
            reach = timing.range(step.occurrence, head)
            if reach is None:
                if step.occurrence.positive:
                    return None
                continue
            atom = _renamed(step.occurrence.atom, mark)
            low, high = goal.low + reach[0], goal.high + reach[1]
            every = (goal.every or step.every) and low != high
            following.append((OutlinePremise(atom, low, high, not step.occurrence.negative, every), chain))
        return unified, following


def _conditions(timing: RuleTiming) -> bool:
    rule = timing.rule
    if rule.head is not None and rule.head.exists:
        return True
    times = pin_variables(rule)
    moved = [occurrence.node for occurrence in timing.occurrences]
    if len(set(moved)) < len(moved) and any(node.startswith("#") for node in moved):
        # Two atoms at one time that an operator chose: their ranges are not independent.
        return True
    for formula in rule.formulas():
        for node in walk(formula):
            match node:
                case Comparison() | Over():
                    return True
                case Pinned(pin=pin) if pin.base is None:
                    return True
                case Atom(arguments=arguments) if any(isinstance(a, Variable) and a.name in times for a in arguments):
                    return True
    return len(times) > 1


def _gives_an_invented_value(timing: RuleTiming, mark: int, bindings: Substitution) -> bool:
    """Whether an invented value would have to be a constant, which it never is."""
    invented = timing.rule.head.exists if timing.rule.head else ()
    return any(isinstance(resolve(Variable(f"{each.name}'{mark}"), bindings), Constant) for each in invented)


def _renamed(atom: Atom, mark: int) -> Atom:
    return Atom(
        atom.predicate,
        tuple(Variable(f"{each.name}'{mark}") if isinstance(each, Variable) else each for each in atom.arguments),
    )


def _applied_premise(premise: OutlinePremise, bindings: Substitution) -> OutlinePremise:
    arguments = tuple(resolve(argument, bindings) for argument in premise.atom.arguments)
    return OutlinePremise(
        Atom(premise.atom.predicate, arguments), premise.low, premise.high, premise.positive, premise.every
    )


def _applied(premises: frozenset[OutlinePremise], bindings: Substitution) -> frozenset[OutlinePremise]:
    return frozenset(_applied_premise(premise, bindings) for premise in premises)


def _key(premise: OutlinePremise) -> tuple[str, float, float, bool, bool, str]:
    shape = ",".join(repr(each.value) if isinstance(each, Constant) else "?" for each in premise.atom.arguments)
    return premise.atom.predicate, float(premise.low), float(premise.high), premise.positive, premise.every, shape


def _canonical(pattern: OutlinePattern) -> OutlinePattern:
    """Variables renamed by first occurrence, so that most renamings of a pattern are the same."""
    names: dict[str, Term] = {}

    def rename(term: Term) -> Term:
        if isinstance(term, Variable):
            return names.setdefault(term.name, Variable(f"V{len(names) + 1}"))
        return term

    arguments = tuple(rename(argument) for argument in pattern.arguments)
    premises: list[OutlinePremise] = []
    for premise in sorted(pattern.premises, key=_key):
        atom = Atom(premise.atom.predicate, tuple(rename(argument) for argument in premise.atom.arguments))
        premises.append(OutlinePremise(atom, premise.low, premise.high, premise.positive, premise.every))
    return OutlinePattern(arguments, frozenset(premises), pattern.conditional)


def subsumes(general: OutlinePattern, special: OutlinePattern) -> bool:
    """Whether wherever `special` is met, `general` is: a mapping of its premises into the other's."""
    start = _match(general.arguments, special.arguments, {})
    if start is None or general.conditional:
        return False
    todo, there = list(general.premises), list(special.premises)
    known: dict[Term, Term] = {Variable(name): term for name, term in start.items()}
    return embeds(
        [_as_atom(premise) for premise in todo],
        [_as_atom(premise) for premise in there],
        known,
        lambda term: isinstance(term, Variable),
        lambda wanted, offered: _covers(todo[wanted], there[offered]),
    )


def _as_atom(premise: OutlinePremise) -> tuple[tuple[str, bool], tuple[Term, ...]]:
    return (premise.atom.predicate, premise.positive), premise.atom.arguments


def _covers(wanted: OutlinePremise, offered: OutlinePremise) -> bool:
    if (wanted.low, wanted.high, wanted.every) == (offered.low, offered.high, offered.every):
        return True
    if wanted.every:
        return offered.every and offered.low <= wanted.low and wanted.high <= offered.high
    return not offered.every and wanted.low <= offered.low and offered.high <= wanted.high


def _match(general: tuple[Term, ...], special: tuple[Term, ...], bindings: Substitution) -> Substitution | None:
    bindings = dict(bindings)
    for first, second in zip(general, special, strict=True):
        if isinstance(first, Variable):
            if bindings.setdefault(first.name, second) != second:
                return None
        elif first != second:
            return None
    return bindings


def condensed(pattern: OutlinePattern) -> OutlinePattern:
    """Without premises that the others imply."""
    if pattern.conditional or len(pattern.premises) > MOST_ATOMS:
        return pattern
    current = pattern
    for premise in sorted(pattern.premises, key=_key):
        smaller = OutlinePattern(current.arguments, current.premises - {premise})
        if premise in current.premises and subsumes(current, smaller):
            current = smaller
    return current


def minimal(patterns: list[OutlinePattern]) -> list[OutlinePattern]:
    """The patterns no other makes superfluous."""
    reduced = list(dict.fromkeys(_canonical(condensed(pattern)) for pattern in patterns))
    reduced.sort(key=lambda pattern: len(pattern.premises))
    kept: list[OutlinePattern] = []
    for pattern in reduced:
        if not any(subsumes(other, pattern) for other in kept):
            kept = [other for other in kept if not subsumes(pattern, other)]
            kept.append(pattern)
    return kept


def shape(atom: Atom) -> Atom:
    """The atom with fresh variables in place of its own, so that renamings are the same goal."""
    names: dict[str, Term] = {}
    return Atom(
        atom.predicate,
        tuple(
            names.setdefault(each.name, Variable(f"A{len(names)}")) if isinstance(each, Variable) else each
            for each in atom.arguments
        ),
    )
