"""Aggregates as relations: rules without them, and what is collected from where.

The set of an aggregate is a relation of its own, `#set1(shared…, terms…)`, that a rule of its own derives at each time.
`count { … }` against whole numbers asks where at least so many tuples hold (`AtLeast`), which more facts can only make
true; every other value is collected where the set is final (`Collect`) and joined like a fact. What an empty set is
worth is the absence of its relation, and a way of its own to the head.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from presage.analysis.aggregates import alone, direction
from presage.core.formulas import (
    FALSE,
    TRUE,
    All,
    At,
    CoreFormula,
    Every,
    Gathered,
    Measured,
    Not,
    Only,
    Rows,
    Seen,
    Some,
    Whole,
    children,
    conjuncts,
    names,
    negated,
    times_named,
    uses_now,
    walk,
    with_children,
)
from presage.core.printer import show_core
from presage.core.reach import HERE
from presage.core.rules import Conclusion, Core, CoreRule, Pinpoint
from presage.errors import Span
from presage.model.formulas import Atom, Comparison
from presage.model.printer import show_term
from presage.model.statements import Rule
from presage.model.terms import Constant, Now, Term, Variable, map_term, term_variables
from presage.model.values import is_true, value_of
from presage.plan.never_empty import has_member

NO_EMPTY_WAY = "an aggregate of what may be empty, below an operator,"


SUMMED = frozenset({"count", "sum", "avg"})
"""What follows from how many tuples there are and how much they come to."""
LOCAL_NAME = re.compile(r"\w+(?:#\d+)+")
"""What `rewrite/sharing.py` calls variables that only one aggregate has, and anonymous ones."""


class NotLowered(Exception):
    """An aggregate that is no relation of its own, and where it stands."""

    def __init__(self, what: str, span: Span) -> None:
        super().__init__(what)
        self.what, self.span = what, span


@dataclass(frozen=True, slots=True)
class Collected:
    """A relation that is collected from a set: its groups with the values of functions, or, with `least`, where there
    are as many."""

    name: str
    source: str
    groups: int
    functions: tuple[str, ...]
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
    core: Core
    arities: dict[str, int]
    """Of the relations that are new."""
    collected: tuple[Collected, ...]
    hopping: tuple[Hopping, ...] = ()


def lowered(core: Core) -> Lowered:
    """The rules without aggregates; raises `NotLowered`."""
    if not any(map(_gathers, core.rules)):
        return Lowered(core, {}, ())
    lowering = _Lowering(core.statics)
    rules = [each for rule in core.rules for each in (lowering.rules(rule) if _gathers(rule) else (rule,))]
    rules += lowering.added
    used = {node.predicate for rule in rules for part in rule.body for node in walk(part) if isinstance(node, Atom)}
    collected = tuple(each for each in lowering.collected if each.name in used)
    for each in lowering.collected:
        if each.name not in used:
            del lowering.arities[each.name]  # another has its values, beside more
    return Lowered(replace(core, rules=tuple(rules)), lowering.arities, collected, tuple(lowering.hopping))


def _gathers(rule: CoreRule) -> bool:
    return any(isinstance(node, Measured) for literal in rule.body for node in walk(literal))


Conjuncts = tuple[CoreFormula, ...]


class _Lowering:
    def __init__(self, statics: frozenset[str]) -> None:
        self.statics = statics
        self.hopping: list[Hopping] = []
        self.added: list[CoreRule] = []
        self.arities: dict[str, int] = {}
        self.collected: list[Collected] = []
        self.known: dict[str, str] = {}
        self.fresh = 0

    def rules(self, rule: CoreRule) -> Iterator[CoreRule]:
        """The rule, once for each way in which its aggregates may be true."""
        self.rule = rule
        ways = [self.literal(part) for literal in rule.body for part in conjuncts(literal)]
        for chosen in product(*ways):
            yield replace(rule, body=self.together(tuple(part for way in chosen for part in way)))

    def together(self, body: Conjuncts) -> Conjuncts:
        """Values that are worked out of the same sums of one set are collected, and joined, as one."""
        alike: dict[tuple[object, ...], list[tuple[int, Collected]]] = {}
        for place, part in enumerate(body):
            atom = part.part if isinstance(part, At) else part
            for each in self.collected:
                if isinstance(atom, Atom) and each.name == atom.predicate and SUMMED.issuperset(each.functions):
                    looked_at = (part.base, part.offset) if isinstance(part, At) else None
                    key = each.source, each.least, atom.arguments[: each.groups], looked_at
                    alike.setdefault(key, []).append((place, each))
        found: list[CoreFormula | None] = list(body)
        for several in alike.values():
            functions = tuple(each.functions[0] for _, each in several)
            if several[0][1].least is not None or len({*functions}) < len(functions) or len(functions) < 2:
                continue
            (place, one), rest = several[0], several[1:]
            atoms = [part.part if isinstance(part, At) else part for part in (body[at] for at, _ in several)]
            values = tuple(atom.arguments[-1] for atom in atoms if isinstance(atom, Atom))
            name = self.collects(one.source, one.groups, functions)
            first, part = atoms[0], body[place]
            assert isinstance(first, Atom)
            atom = replace(first, predicate=name, arguments=(*first.arguments[:-1], *values))
            found[place] = replace(part, part=atom) if isinstance(part, At) else atom
            for at, _ in rest:
                found[at] = None
        return tuple(part for part in found if part is not None)

    def literal(self, literal: CoreFormula) -> list[Conjuncts]:
        match literal:
            case Measured():
                return self.compared(literal)
            case Not(part=Measured() as inner):
                counted = self.counted(inner)
                return [(negated(self.true_of(inner) if counted is None else counted),)]
            case _:
                return [(self.inner(literal),)]

    def inner(self, formula: CoreFormula) -> CoreFormula:
        """Below an operator, where an aggregate binds nothing."""
        if isinstance(formula, (Seen, Rows, Only, Whole)) or (isinstance(formula, (Some, Every)) and formula.clip):
            for part in walk(formula):
                if isinstance(part, Measured):
                    raise NotLowered("an aggregate below a window", part.span)
        if isinstance(formula, Measured):
            if any(uses_now(part) for part in children(formula)):
                raise NotLowered("`now` in an aggregate below an operator", formula.span)
            counted = self.counted(formula)
            return self.true_of(formula) if counted is None else counted
        return with_children(formula, tuple(self.inner(part) for part in children(formula)))

    # A comparison in the body itself.

    def compared(self, measured: Measured) -> list[Conjuncts]:
        counted = self.counted(measured)
        if counted is not None:
            (gathered,) = measured.sets
            parts = tuple(conjuncts(counted))
            # What is there often enough is there, and binds what the aggregate is to bind.
            is_bound = any(isinstance(part, (Atom, At)) for part in parts)
            return [(self.some(gathered), *parts) if gathered.binds and not is_bound else parts]
        plain = measured.comparison
        if _only_grows(measured):
            (gathered,) = measured.sets
            if gathered.function in ("min", "max"):
                # True as soon as one value is; another comparison may be of a set of the same name.
                self.fresh += 1
                value = Variable(f"#v{self.fresh}")
                return [(self.member(gathered, value), _filled(plain, {gathered.name: value}))]
        ways: list[list[tuple[Conjuncts, dict[str, Term]]]] = []
        for gathered in measured.sets:
            self.fresh += 1
            value = _given(plain, gathered.name) or Variable(f"#v{self.fresh}")
            own: list[tuple[Conjuncts, dict[str, Term]]] = [((self.value(gathered, value),), {gathered.name: value})]
            may_be_empty = not (gathered.binds or has_member(gathered, self.rule.body))
            if gathered.function in ("count", "sum") and may_be_empty:
                own.append(((negated(self.some(gathered)),), {gathered.name: Constant(0)}))
            ways.append(own)
        found_ways: list[Conjuncts] = []
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

    def counted(self, measured: Measured) -> CoreFormula | None:
        """`count { … }` against a number: where there are at least so many, and not more."""
        found = alone(_written(measured))
        if found is None:
            return None
        _, operator, other = found
        (aggregate,) = measured.sets
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
                return negated(self.at_least(aggregate, math.ceil(number)))
            case "<=":
                return negated(self.at_least(aggregate, math.floor(number) + 1))
            case "=" if whole and number <= 0:
                return negated(self.at_least(aggregate, 1)) if number == 0 else FALSE
            case "=" if whole:
                more = negated(self.at_least(aggregate, int(number) + 1))
                return All((self.at_least(aggregate, int(number)), more))
        return None

    def true_of(self, measured: Measured) -> CoreFormula:
        """A relation of the shared variables for which a comparison is true; nothing else may be in it, and the
        comparison must be false of an empty set."""
        plain, sets = measured.comparison, measured.sets
        columns = tuple(dict.fromkeys(name for each in sets for name in each.shared))
        if {*names(plain)} - {each.name for each in sets} - {*columns}:
            raise NotLowered("an aggregate compared with a variable, below an operator,", measured.span)
        zeros: dict[str, Term] = {each.name: Constant(0) for each in sets if each.function in ("count", "sum")}
        if zeros and not _is_never(_filled(plain, zeros)):
            raise NotLowered(NO_EMPTY_WAY, measured.span)
        key = "true " + show_core(measured)
        if key not in self.known:
            name = self.known[key] = self.relation("true", len(columns))
            body: list[CoreFormula] = []
            for each in sets:
                if each.function in ("min", "max") and _only_grows(measured):
                    body.append(self.member(each, Variable(each.name)))
                else:
                    body.append(self.value(each, Variable(each.name)))
            self.derive(Atom(name, tuple(map(Variable, columns))), (*body, plain), *sets)
        return self.timed(Atom(self.known[key], tuple(map(Variable, columns))), *sets)

    # The relations of an aggregate.

    def relation(self, kind: str, arity: int) -> str:
        name = f"#{kind}{len(self.arities) + 1}"
        self.arities[name] = arity
        return name

    def set_of(self, aggregate: Gathered) -> str:
        """The relation of the set: shared variables, then terms."""
        key = _key(aggregate)
        if key not in self.known:
            shared = self.columns(aggregate)
            name = self.known[key] = self.relation("set", len(shared) + len(aggregate.terms))
            arguments: list[Term] = [Variable(each) for each in shared]
            equations: list[CoreFormula] = []
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
                self.hopping.append(Hopping(name, derived, period, self.rule.rule))
            self.derive(Atom(derived, tuple(arguments), span=aggregate.span), (*body, *equations), aggregate)
        return self.known[key]

    def without_hop(self, aggregate: Gathered) -> tuple[tuple[CoreFormula, ...], int | None]:
        """The body with a sliding window in place of one that hops, if all else holds at any time; and the hop."""
        hops = [each for each in aggregate.body if _hop(each) is not None]
        if not hops:
            return aggregate.body, None
        for each in aggregate.body:
            timeless = isinstance(each, Comparison) and not uses_now(each)
            static = isinstance(each, Atom) and each.predicate in self.statics
            if not (timeless or static or _hop(each) == _hop(hops[0])):
                raise NotLowered("a hopping window beside other times, in an aggregate,", aggregate.span)
        sliding = tuple(replace(each, hop=None) if isinstance(each, Seen) else each for each in aggregate.body)
        return sliding, _hop(hops[0])

    def time_of(self, *named: Gathered) -> Variable | None:
        """The time that aggregates share with their rule, if they do."""
        times = {each for aggregate in named for each in self.shared_times(aggregate)}
        if len(times) > 1:
            raise NotLowered("an aggregate that shares several times", self.rule.span)
        return Variable(times.pop()) if times else None

    def shared_times(self, aggregate: Gathered) -> set[str]:
        """The time variables that an aggregate shares with its rule: what it pins to them, or, where all of it is
        pinned, compares with them."""
        found = set[str]().union(*map(times_named, aggregate.body))
        if all(self.is_pinned(each) for each in aggregate.body):
            arguments = {each for part in aggregate.body for node in walk(part) if isinstance(node, Atom)
                         for each in names(node)}  # fmt: skip
            found |= {pin.base.name for pin in self.rule.pins if isinstance(pin.base, Variable)} - arguments
        return {*aggregate.shared} & found

    def is_pinned(self, part: CoreFormula) -> bool:
        """Whether it does not matter when a part is looked at."""
        if isinstance(part, Not):
            return self.is_pinned(part.part)
        is_static = isinstance(part, Atom) and part.predicate in self.statics
        return is_static or (isinstance(part, (At, Comparison)) and not uses_now(part))

    def columns(self, aggregate: Gathered) -> tuple[str, ...]:
        times = self.shared_times(aggregate)
        return tuple(name for name in aggregate.shared if name not in times)

    def timed(self, atom: Atom, *named: Gathered) -> CoreFormula:
        """The atom at the time that the aggregates share with their rule, if they do."""
        base = self.time_of(*named)
        return atom if base is None else At(base, 0, atom)

    def derive(self, atom: Atom, body: tuple[CoreFormula, ...], *named: Gathered) -> None:
        """A rule of its own for a relation."""
        base = self.time_of(*named) or Now()
        pins = [Pinpoint(node.base, node.offset) for part in body for node in walk(part) if isinstance(node, At)]
        if isinstance(base, Variable):
            pins.append(Pinpoint(base, 0))
        self.added.append(CoreRule((Conclusion(atom, base, HERE),), body, tuple(pins), self.rule.rule))

    def member(self, aggregate: Gathered, first: Variable) -> CoreFormula:
        """A tuple of the set with a variable for its first term."""
        self.fresh += 1
        rest = (Variable(f"#m{self.fresh}.{place}") for place in range(1, len(aggregate.terms)))
        atom = Atom(
            self.set_of(aggregate), (*map(Variable, self.columns(aggregate)), first, *rest), span=aggregate.span
        )
        return self.timed(atom, aggregate)

    def value(self, aggregate: Gathered, value: Variable) -> CoreFormula:
        columns = self.columns(aggregate)
        name = self.collects(self.set_of(aggregate), len(columns), (aggregate.function,))
        return self.timed(Atom(name, (*map(Variable, columns), value), span=aggregate.span), aggregate)

    def collects(self, source: str, groups: int, functions: tuple[str, ...]) -> str:
        """The relation of what a set is worth."""
        key = f"{', '.join(functions)} of {source}"
        if key not in self.known:
            name = self.known[key] = self.relation("_".join(functions), groups + len(functions))
            self.collected.append(Collected(name, source, groups, functions, None, self.rule.rule))
        return self.known[key]

    def at_least(self, aggregate: Gathered, least: int) -> CoreFormula:
        if least <= 0:
            return TRUE
        key = f"at least {least} of {_key(aggregate)}"
        columns = self.columns(aggregate)
        if key not in self.known:
            name = self.known[key] = self.relation("atleast", len(columns))
            source = self.set_of(aggregate)
            self.collected.append(Collected(name, source, len(columns), ("count",), least, self.rule.rule))
        return self.timed(Atom(self.known[key], tuple(map(Variable, columns)), span=aggregate.span), aggregate)

    def some(self, aggregate: Gathered) -> CoreFormula:
        """Where the set is not empty."""
        return self.at_least(aggregate, 1)


def _written(measured: Measured) -> Comparison:
    assert isinstance(measured.written, Comparison)
    return measured.written


def _only_grows(measured: Measured) -> bool:
    """Whether more facts can never make it false."""
    return direction(_written(measured)) == 1


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


def _hop(formula: CoreFormula) -> int | None:
    return formula.hop if isinstance(formula, Seen) and isinstance(formula.hop, int) else None


def _key(aggregate: Gathered) -> str:
    """Aggregates over the same set, whatever their function and their local names, have the same key."""
    terms = ", ".join(map(show_term, aggregate.terms))
    text = f"{terms} : {', '.join(map(show_core, aggregate.body))} / {', '.join(aggregate.shared)}"
    if '"' in text:
        return text  # what looks like a name may be a part of a text
    names: dict[str, str] = {}
    return LOCAL_NAME.sub(lambda found: names.setdefault(found[0], f"#{len(names) + 1}"), text)
