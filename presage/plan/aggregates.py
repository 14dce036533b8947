"""Aggregates as relations: rules without them, and what is collected from where.

The set of an aggregate is a relation of its own, `#set1(shared…, terms…)`, that a rule of its own derives at each time.
`count { … }` against whole numbers asks where at least so many tuples hold (`AtLeast`), which more facts can only make
true; every other value is collected where the set is final (`Collect`) and joined like a fact. What an empty set is
worth is the absence of its relation, and a way of its own to the head.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from presage.analysis.aggregates import alone, direction, uses_aggregates
from presage.analysis.timeless import uses_now
from presage.errors import Span
from presage.model.aggregating import apart
from presage.model.formulas import (
    And,
    Atom,
    Comparison,
    Formula,
    Modal,
    Not,
    Pinned,
    Reset,
    Top,
    Windowed,
    aggregates,
    children,
    walk,
    with_children,
)
from presage.model.printer import show_formula, show_term
from presage.model.program import Program
from presage.model.statements import Head, Rule, Statement
from presage.model.terms import Aggregate, Constant, Term, Variable, map_term, term_variables
from presage.model.time import Pin
from presage.model.values import is_true, value_of
from presage.model.windows import TimeWindow

NO_EMPTY_WAY = "an aggregate of what may be empty, below an operator,"


class NotLowered(Exception):
    """An aggregate that is no relation of its own, and where it stands."""

    def __init__(self, what: str, span: Span) -> None:
        super().__init__(what)
        self.what, self.span = what, span


@dataclass(frozen=True, slots=True)
class Collected:
    """A relation that is collected from a set: its groups with the value, or, with `least`, where there are as many."""

    name: str
    source: str
    groups: int
    function: str
    least: int | None
    rule: Rule


@dataclass(frozen=True, slots=True)
class Hopping:
    """The set of a window that hops: what a set was at the last multiple of its hop."""

    name: str
    source: str
    period: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class Lowered:
    program: Program
    arities: dict[str, int]
    """Of the relations that are new."""
    collected: tuple[Collected, ...]
    hopping: tuple[Hopping, ...] = ()


def lowered(program: Program) -> Lowered:
    """The program without aggregates; raises `NotLowered`."""
    if not any(map(uses_aggregates, program.rules)):
        return Lowered(program, {}, ())
    lowering = _Lowering(frozenset(declared.predicate for declared in program.statics))
    statements: list[Statement] = []
    for statement in program.statements:
        if isinstance(statement, Rule) and uses_aggregates(statement):
            statements.extend(lowering.rules(statement))
        else:
            statements.append(statement)
    statements.extend(lowering.added)
    rewritten = replace(program, statements=tuple(statements))
    return Lowered(rewritten, lowering.arities, tuple(lowering.collected), tuple(lowering.hopping))


Way = tuple[Formula, ...]


class _Lowering:
    def __init__(self, statics: frozenset[str]) -> None:
        self.statics = statics
        self.hopping: list[Hopping] = []
        self.added: list[Rule] = []
        self.arities: dict[str, int] = {}
        self.collected: list[Collected] = []
        self.known: dict[str, str] = {}
        self.fresh = 0

    def rules(self, rule: Rule) -> Iterator[Rule]:
        """The rule, once for each way in which its aggregates may be true."""
        self.rule = rule
        ways = [self.literal(part) for literal in rule.body for part in _flat(literal)]
        for chosen in product(*ways):
            body = tuple(part for way in chosen for part in way)
            yield replace(rule, body=body, origin=rule.origin or rule)

    def literal(self, literal: Formula) -> list[Way]:
        match literal:
            case Comparison() if aggregates(literal):
                return self.compared(literal)
            case Not(formula=Comparison() as inner) if aggregates(inner):
                counted = self.counted(inner)
                if counted is not None:
                    return [(_negated(counted),)]
                return [(self.denied(inner),)]
            case _:
                return [(self.inner(literal),)]

    def inner(self, formula: Formula) -> Formula:
        """Below an operator, where an aggregate binds nothing."""
        if isinstance(formula, (Windowed, Modal, Reset)):
            for part in walk(formula):
                if isinstance(part, Comparison) and aggregates(part):
                    raise NotLowered("an aggregate below a window", part.span)
        if isinstance(formula, Comparison):
            if not aggregates(formula):
                return formula
            if any(uses_now(part) for part in children(formula)):
                raise NotLowered("`now` in an aggregate below an operator", formula.span)
            counted = self.counted(formula)
            return self.true_of(formula) if counted is None else counted
        return with_children(formula, tuple(self.inner(part) for part in children(formula)))

    # A comparison in the body itself.

    def compared(self, comparison: Comparison) -> list[Way]:
        counted = self.counted(comparison)
        if counted is not None:
            (aggregate,) = aggregates(comparison)
            return [(self.some(aggregate), counted)] if aggregate.binds else [(counted,)]
        plain, named = apart(comparison)
        if direction(comparison) == 1:
            ((name, aggregate),) = named.items()
            if aggregate.function in ("min", "max"):
                # True as soon as one value is.
                return [(self.member(aggregate, Variable(name)), plain)]
        ways: list[list[tuple[Way, dict[str, Term]]]] = []
        for name, aggregate in named.items():
            self.fresh += 1
            value = _given(plain, name) or Variable(f"#v{self.fresh}")
            own: list[tuple[Way, dict[str, Term]]] = [((self.value(aggregate, value),), {name: value})]
            if aggregate.function in ("count", "sum") and not aggregate.binds:
                own.append(((_negated(self.some(aggregate)),), {name: Constant(0)}))
            ways.append(own)
        found_ways: list[Way] = []
        for chosen in product(*ways):
            values = {name: term for _, each in chosen for name, term in each.items()}
            filled = _filled(plain, values)
            if _is_never(filled):
                continue
            if filled.left == filled.right and filled.operator == "=":
                found_ways.append(tuple(part for way, _ in chosen for part in way))
                continue
            found_ways.append((*(part for way, _ in chosen for part in way), filled))
        return found_ways

    def counted(self, comparison: Comparison) -> Formula | None:
        """`count { … }` against a number: where there are at least so many, and not more."""
        found = alone(comparison)
        if found is None:
            return None
        aggregate, operator, other = found
        if aggregate.function != "count" or not isinstance(other, Constant) or isinstance(other.value, str):
            return None
        number = Fraction(other.value)
        whole = number.denominator == 1
        match operator:
            case ">=":
                return self.at_least(aggregate, math.ceil(number))
            case ">":
                return self.at_least(aggregate, math.floor(number) + 1)
            case "<":
                return _negated(self.at_least(aggregate, math.ceil(number)))
            case "<=":
                return _negated(self.at_least(aggregate, math.floor(number) + 1))
            case "=" if whole and number <= 0:
                return _negated(self.at_least(aggregate, 1)) if number == 0 else Not(Top())
            case "=" if whole:
                more = _negated(self.at_least(aggregate, int(number) + 1))
                return And((self.at_least(aggregate, int(number)), more))
        return None

    def denied(self, comparison: Comparison) -> Formula:
        """`not` of a comparison that is true of what the rule has bound already."""
        return _negated(self.true_of(comparison))

    def true_of(self, comparison: Comparison) -> Formula:
        """A relation of the shared variables for which a comparison is true; nothing else may be in it, and the
        comparison must be false of an empty set."""
        plain, named = apart(comparison)
        shared = {name for each in named.values() for name in each.shared or ()}
        others = {each.name for side in (plain.left, plain.right) for each in term_variables(side)} - named.keys()
        if others - shared:
            raise NotLowered("an aggregate compared with a variable, below an operator,", comparison.span)
        zeros: dict[str, Term] = {
            name: Constant(0) for name, each in named.items() if each.function in ("count", "sum")
        }
        if zeros and not _is_never(_filled(plain, zeros)):
            raise NotLowered(NO_EMPTY_WAY, comparison.span)
        key = "true " + show_formula(comparison)
        columns = tuple(dict.fromkeys(name for each in named.values() for name in each.shared or ()))
        if key not in self.known:
            name = self.known[key] = self.relation("true", len(columns))
            body: list[Formula] = []
            for variable, aggregate in named.items():
                if aggregate.function in ("min", "max") and direction(comparison) == 1:
                    body.append(self.member(aggregate, Variable(variable), pinned=False))
                else:
                    body.append(self.value(aggregate, Variable(variable), pinned=False))
            head = Head((self.timed(Atom(name, tuple(map(Variable, columns))), *named.values()),))
            timed = [self.timed(each, *named.values()) for each in body]
            self.added.append(Rule(head, (*timed, plain), span=self.rule.span, origin=self.rule))
        return self.timed(Atom(self.known[key], tuple(map(Variable, columns))), *named.values())

    # The relations of an aggregate.

    def relation(self, kind: str, arity: int) -> str:
        name = f"#{kind}{len(self.arities) + 1}"
        self.arities[name] = arity
        return name

    def set_of(self, aggregate: Aggregate) -> str:
        """The relation of the set: shared variables, then terms."""
        key = _key(aggregate)
        if key not in self.known:
            shared = _columns(aggregate)
            name = self.known[key] = self.relation("set", len(shared) + len(aggregate.terms))
            arguments: list[Term] = [Variable(each) for each in shared]
            equations: list[Formula] = []
            for place, term in enumerate(aggregate.terms):
                if isinstance(term, (Variable, Constant)):
                    arguments.append(term)
                else:
                    arguments.append(Variable(f"#t{place}"))
                    equations.append(Comparison("=", Variable(f"#t{place}"), term, span=aggregate.span))
            body, period = self.without_hop(aggregate)
            derived = name
            if period is not None:
                derived = self.relation("sliding", len(arguments))
                self.hopping.append(Hopping(name, derived, period, self.rule))
            head = Head((self.timed(Atom(derived, tuple(arguments), span=aggregate.span), aggregate),))
            self.added.append(Rule(head, (*body, *equations), span=aggregate.span, origin=self.rule))
        return self.known[key]

    def without_hop(self, aggregate: Aggregate) -> tuple[tuple[Formula, ...], int | None]:
        """The body with a sliding window in place of one that hops, if all else holds at any time; and the hop."""
        hops = [each for each in aggregate.body if _hop(each) is not None]
        if not hops:
            return aggregate.body, None
        for each in aggregate.body:
            timeless = isinstance(each, Comparison) and not uses_now(each)
            static = isinstance(each, Atom) and each.predicate in self.statics
            if not (timeless or static or _hop(each) == _hop(hops[0])):
                raise NotLowered("a hopping window beside other times, in an aggregate,", aggregate.span)
        sliding = tuple(
            replace(each, window=replace(each.window, hop=None))
            if isinstance(each, Windowed) and isinstance(each.window, TimeWindow)
            else each
            for each in aggregate.body
        )
        return sliding, _hop(hops[0])

    def timed(self, atom: Formula, *named: Aggregate) -> Formula:
        """The atom at the time that the aggregates share with their rule, if they do."""
        times = {each for aggregate in named for each in _shared_times(aggregate)}
        if len(times) > 1:
            raise NotLowered("an aggregate that shares several times", self.rule.span)
        return Pinned(atom, Pin(Variable(times.pop())), span=atom.span) if times else atom

    def member(self, aggregate: Aggregate, first: Variable, pinned: bool = True) -> Formula:
        """A tuple of the set with a variable for its first term."""
        self.fresh += 1
        rest = (Variable(f"#m{self.fresh}.{place}") for place in range(1, len(aggregate.terms)))
        atom = Atom(self.set_of(aggregate), (*map(Variable, _columns(aggregate)), first, *rest), span=aggregate.span)
        return self.timed(atom, aggregate) if pinned else atom

    def value(self, aggregate: Aggregate, value: Variable, pinned: bool = True) -> Formula:
        key = f"{aggregate.function} of {_key(aggregate)}"
        columns = _columns(aggregate)
        if key not in self.known:
            name = self.known[key] = self.relation(aggregate.function, len(columns) + 1)
            source = self.set_of(aggregate)
            self.collected.append(Collected(name, source, len(columns), aggregate.function, None, self.rule))
        atom = Atom(self.known[key], (*map(Variable, columns), value), span=aggregate.span)
        return self.timed(atom, aggregate) if pinned else atom

    def at_least(self, aggregate: Aggregate, least: int) -> Formula:
        if least <= 0:
            return Top()
        key = f"at least {least} of {_key(aggregate)}"
        columns = _columns(aggregate)
        if key not in self.known:
            name = self.known[key] = self.relation("atleast", len(columns))
            source = self.set_of(aggregate)
            self.collected.append(Collected(name, source, len(columns), "count", least, self.rule))
        return self.timed(Atom(self.known[key], tuple(map(Variable, columns)), span=aggregate.span), aggregate)

    def some(self, aggregate: Aggregate) -> Formula:
        """Where the set is not empty."""
        return self.at_least(aggregate, 1)


def _flat(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And):
        for part in formula.parts:
            yield from _flat(part)
    else:
        yield formula


def _negated(formula: Formula) -> Formula:
    return formula.formula if isinstance(formula, Not) else Not(formula, span=formula.span)


def _filled(comparison: Comparison, values: dict[str, Term]) -> Comparison:
    def change(term: Term) -> Term:
        return values.get(term.name, term) if isinstance(term, Variable) else term

    return replace(comparison, left=map_term(comparison.left, change), right=map_term(comparison.right, change))


def _given(comparison: Comparison, name: str) -> Variable | None:
    """The variable that a comparison says is an aggregate's value."""
    sides = {comparison.left, comparison.right} - {Variable(name)}
    if comparison.operator != "=" or len(sides) != 1:
        return None
    (other,) = sides
    return other if isinstance(other, Variable) and not other.name.startswith("#") else None


def _is_never(comparison: Comparison) -> bool:
    """Whether a comparison without variables is false."""
    if any(True for side in (comparison.left, comparison.right) for _ in term_variables(side)):
        return False
    left, right = (value_of(side, lambda name: None) for side in (comparison.left, comparison.right))
    return not uses_now(comparison) and not is_true(comparison.operator, left, right)


def _shared_times(aggregate: Aggregate) -> set[str]:
    """The time variables that an aggregate shares with its rule."""
    pinned = {
        node.pin.base.name
        for literal in aggregate.body
        for node in walk(literal)
        if isinstance(node, Pinned) and isinstance(node.pin.base, Variable)
    }
    return pinned & set(aggregate.shared or ())


def _hop(formula: Formula) -> int | None:
    if isinstance(formula, Windowed) and isinstance(formula.window, TimeWindow) and isinstance(formula.window.hop, int):
        return formula.window.hop
    return None


def _columns(aggregate: Aggregate) -> tuple[str, ...]:
    times = _shared_times(aggregate)
    return tuple(name for name in aggregate.shared or () if name not in times)


def _key(aggregate: Aggregate) -> str:
    """Aggregates over the same set, whatever their function, have the same key."""
    terms = ", ".join(map(show_term, aggregate.terms))
    return f"{terms} : {', '.join(map(show_formula, aggregate.body))} / {', '.join(aggregate.shared or ())}"
