"""A program without variables: all instances of its rules over finitely many constants and times.

On the discrete timeline 0..end, with a finite domain, a rule is the finite set of its instances, and
each instance is a conjunction of atoms and negated atoms at times. `once` and `eventually` become
one instance for each time they look at, `historically` and `always` one conjunction; so do `some` and
`all`, for the times of the window around them. An atom before time 0 is false: below a metric operator it
needs no literal. What lies after `end` cannot be judged; instances that look there are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil

from presage.model import (
    And,
    Arithmetic,
    Atom,
    Comparison,
    Constant,
    Formula,
    Metric,
    Modal,
    Negative,
    Not,
    Or,
    Pinned,
    Program,
    Reset,
    Rule,
    Top,
    Variable,
    Windowed,
)
from presage.model.formulas import atoms, variables, walk
from presage.model.windows import TimeWindow

from .inventing import invent
from .looks import NOW, Binding, Look, World, ground_atom, match_atom
from .streams import Ground, Stream, Value
from .timeline import Line
from .written import reach_of, terms, times_in, uses_times_as_values

GroundFact = tuple[str, tuple[Value, ...], int]
"""Predicate, arguments, time."""
Conjunction = tuple[frozenset[GroundFact], frozenset[GroundFact]]
"""What must hold, and what must not."""
TRUE: Conjunction = (frozenset(), frozenset())
Nulls = dict[tuple[str, int], set[Value]]
"""What is invented at each place of a predicate."""
MOST_INVENTED = 100_000
Rows = dict[str, set[Ground]]


@dataclass(frozen=True)
class GroundRule:
    head: GroundFact
    positive: frozenset[GroundFact]
    negative: frozenset[GroundFact]

    @property
    def body(self) -> frozenset[GroundFact]:
        return self.positive | self.negative


@dataclass(frozen=True)
class Grounding:
    end: int
    inputs: frozenset[str]
    constants: frozenset[Value]
    rules: frozenset[GroundRule]
    beyond: frozenset[GroundRule]
    """Instances that look past the end, with the part of their bodies before it."""


def input_predicates(program: Program) -> frozenset[str]:
    """Those declared, and those that only stand in bodies."""
    derived = {atom.predicate for rule in program.rules for head in rule.head_atoms for atom in atoms(head)}
    used = {atom.predicate for rule in program.rules for formula in rule.body for atom in atoms(formula)}
    background = {each.predicate for each in program.statics}
    return frozenset({each.predicate for each in program.inputs} | (used - derived)) - background


def constants_of(program: Program) -> set[Value]:
    nodes = (node for rule in program.rules for formula in rule.formulas() for node in walk(formula))
    found: set[Value] = {term.value for node in nodes for term in terms(node) if isinstance(term, Constant)}
    found |= {each.value for query in program.queries for each in query.atom.arguments if isinstance(each, Constant)}
    return found | {condition.value.value for each in program.inputs for condition in each.where}


@lru_cache(maxsize=256)
def ground(program: Program, end: int, static_facts: frozenset[Ground], domain: frozenset[Value]) -> Grounding:
    """All instances of a normalised program's rules over the domain and the times up to `end`."""
    declared = {each.predicate for each in program.statics}
    known = [atom for rule in program.rules if rule.is_fact for head in rule.head_atoms for atom in atoms(head)]
    statics = set(static_facts) | {ground_atom(atom, {}) for atom in known if atom.predicate in declared}
    constants = domain | constants_of(program) | {value for _, values in statics for value in values}
    margin = _margin(program, constants)
    world = World(Line.of(False, 1, end, margin), statics, set(constants), MOST_INVENTED)
    rows: Rows = {}
    nulls: Nulls = {}
    while True:
        inside: set[GroundRule] = set()
        beyond: set[GroundRule] = set()
        for number, rule in enumerate(program.rules):
            if rule.head is None or (rule.is_fact and all(each.predicate in declared for each in _heads(rule))):
                continue
            for each in _instances(world, declared, number, rule, rows, nulls):
                late = {atom for atom in each.body if atom[2] > end}
                if late:
                    beyond.add(GroundRule(each.head, each.positive - late, each.negative - late))
                else:
                    inside.add(each)
        # What was invented may be what another value is invented for.
        found: Rows = {}
        for name, values, _ in {each.head for each in inside | beyond}:
            found.setdefault(name, set()).add((name, values))
        nulls = _nulls(found)
        if found == rows or not nulls:
            break
        rows = found
    return Grounding(end, input_predicates(program), frozenset(constants), frozenset(inside), frozenset(beyond))


def _heads(rule: Rule) -> list[Atom]:
    return [atom for head in rule.head_atoms for atom in atoms(head)]


def _margin(program: Program, constants: Iterable[Value]) -> int:
    """So far outside the stream that every instance looking outside has one like it up to there."""
    formulas = [formula for rule in program.rules for formula in rule.formulas()]
    offsets = [abs(Fraction(bound)) for formula in formulas for node in walk(formula) for bound in times_in(node)]
    total = max(offsets, default=Fraction(0))
    total += max((reach_of(formula) for formula in formulas), default=Fraction(0))
    if any(uses_times_as_values(rule.formulas()) for rule in program.rules):
        total += max((abs(value) for value in constants if isinstance(value, int)), default=0)
    return 1 + ceil(total)


def is_null(value: Value) -> bool:
    return isinstance(value, tuple)


def _nulls(rows: Rows) -> Nulls:
    """The invented values at each place of a predicate."""
    found: Nulls = {}
    for name, known in rows.items():
        for _, values in known:
            for place, value in enumerate(values):
                if is_null(value):
                    found.setdefault((name, place), set()).add(value)
    return found


def _choices(world: World, rule: Rule, names: list[str], rows: Rows, nulls: Nulls) -> Iterator[Binding]:
    """Values for variables: constants, and what is invented where they stand. Without what is said of invented values a
    body is false, so only what may be said of them is tried."""
    found: list[Binding] = [{}]
    for atom in (each for formula in rule.body for each in _asked(formula)):
        if any(name == atom.predicate for name, _ in nulls):
            known = rows.get(atom.predicate, set())
            found = [made for each in found for row in known if (made := match_atom(atom, row, each)) is not None]
    invented = set().union(*nulls.values())
    named = {each.name for formula in rule.body for atom in atoms(formula) for each in variables(atom)}
    for binding in found:
        missing = [name for name in names if name not in binding]
        # What stands in no atom may be equal to anything.
        ranges = [sorted(world.constants | (set() if each in named else invented), key=repr) for each in missing]
        for values in product(*ranges):
            yield binding | dict(zip(missing, values, strict=True))


def _asked(formula: Formula) -> Iterator[Atom]:
    """Atoms without which a formula is false."""
    match formula:
        case Atom():
            yield formula
        case And(parts=parts):
            for part in parts:
                yield from _asked(part)
        case Pinned(formula=inner) | Metric(formula=inner):
            yield from _asked(inner)


def _instances(
    world: World, declared: set[str], number: int, rule: Rule, rows: Rows, nulls: Nulls
) -> Iterator[GroundRule]:
    assert rule.head is not None
    if rule.head.choice:
        raise NotImplementedError("hypothetical answers have no disjunctive heads")
    exists = frozenset(each.name for each in rule.head.exists)
    look = Look(world, Stream(0, world.line.end, {}, {}, {}), rule.body, rule.head.atoms, exists)
    _refuse_computed_values(rule, look.times)
    reader = _Reader(look, declared)
    data = sorted(look.variables - look.times)
    timeless = [each for each in rule.body if isinstance(each, Comparison) and not _uses_time(each, look)]
    last = world.line.last
    looks = range(last + 1) if _looks_around(rule) else range(1)
    for binding in _choices(world, rule, data, rows, nulls):
        if not all(look.compare(each, binding) for each in timeless):
            continue
        for times in product(range(world.line.first, last + 1), repeat=len(look.times)):
            for now in looks:
                full: Binding = {**binding, **dict(zip(sorted(look.times), times, strict=True)), NOW: now}
                if not look.exists(full):
                    continue
                made = full | invent(look, number, rule, full, now)
                heads = [place for head in rule.head.atoms for place in look.derive(head, made, now)]
                heads = [(ground, time) for ground, time in heads if 0 <= time <= world.line.end]
                if not heads:
                    continue
                for positive, negative in reader.read(And(rule.body), full, now, True):
                    for (name, arguments), time in heads:
                        yield GroundRule((name, arguments, time), positive, negative)


def _looks_around(rule: Rule) -> bool:
    """Whether it matters when the rule is looked at: not if every atom is pinned to another time than `now`."""
    return any(not _is_fixed(formula) for formula in rule.formulas())


def _is_fixed(formula: Formula) -> bool:
    match formula:
        case Pinned(pin=pin):
            return pin.base is None or isinstance(pin.base, Variable)
        case Comparison():
            return all(isinstance(term, (Constant, Variable, Arithmetic, Negative)) for term in terms(formula))
        case Not(formula=inner):
            return _is_fixed(inner)
        case Top():
            return True
    return False


def _uses_time(comparison: Comparison, look: Look) -> bool:
    return look.mentions_time(comparison.left) or look.mentions_time(comparison.right)


def _refuse_computed_values(rule: Rule, times: set[str]) -> None:
    """A value that a rule computes may lie outside the domain."""
    in_atoms = {each.name for formula in rule.body for atom in atoms(formula) for each in variables(atom)}
    for comparison in (node for formula in rule.body for node in walk(formula) if isinstance(node, Comparison)):
        sides = (comparison.left, comparison.right)
        names = {each.name for each in variables(comparison)} - in_atoms - times
        if names and any(isinstance(side, (Arithmetic, Negative)) for side in sides):
            raise NotImplementedError(f"the values of {sorted(names)} are computed")


@dataclass
class _Reader:
    """A formula at a time as a disjunction of conjunctions."""

    look: Look
    declared: set[str]

    def read(
        self, formula: Formula, binding: Binding, at: int, positive: bool, seen: range | None = None
    ) -> list[Conjunction]:
        """`seen` are the times of the windows around the formula."""
        match formula:
            case Top():
                return [TRUE] if positive else []
            case Comparison():
                return [TRUE] if self.look.compare(formula, binding) == positive else []
            case Atom():
                ground = ground_atom(formula, binding)
                if seen is not None and at not in seen and ground[0] not in self.declared:
                    return [] if positive else [TRUE]
                return self.atom(ground, at, positive)
            case Pinned(formula=inner, pin=pin):
                place = self.look.pinned(pin, binding)
                assert place is not None
                if seen is not None and place not in seen:
                    return [] if positive else [TRUE]
                return self.read(inner, binding, place, positive, seen)
            case Not(formula=inner):
                return self.read(inner, binding, at, not positive, seen)
            case And(parts=parts) | Or(parts=parts):
                every = isinstance(formula, And) == positive
                ordered = sorted(parts, key=self.rank)
                return _combine((self.read(part, binding, at, positive, seen) for part in ordered), every)
            case Windowed(window=TimeWindow(back=back, ahead=ahead, hop=hop), formula=inner):
                pivot = at if hop is None else at // hop * hop  # type: ignore[operator]
                first, last = max(0, pivot - back), pivot + (ahead or 0)  # type: ignore[operator]
                if seen is not None:
                    first, last = max(first, seen.start), min(last, seen.stop - 1)
                return self.read(inner, binding, at, positive, range(first, last + 1))
            case Reset(formula=inner):
                return self.read(inner, binding, at, positive)
            case Modal(operator=operator, formula=inner) if seen is not None:
                every = (operator == "all") == positive
                return _combine((self.read(inner, binding, each, positive, seen) for each in seen), every)
            case Metric(operator=name, interval=interval, formula=inner):
                if interval.high is None:
                    raise NotImplementedError("hypothetical answers are judged for bounded intervals only")
                sign = -1 if name in ("once", "historically") else 1
                every = (name in ("historically", "always")) == positive
                offsets = self.look.line.reach(interval, False)
                return _combine(
                    (self.read(inner, binding, at + sign * each, positive, seen) for each in offsets), every
                )
        raise NotImplementedError(f"hypothetical answers are not judged for {formula}")

    def rank(self, formula: Formula) -> int:
        """What is known from the start first: most instances end there."""
        if isinstance(formula, Comparison):
            return 0
        return 1 if all(atom.predicate in self.declared for atom in atoms(formula)) else 2

    def atom(self, ground: Ground, at: int, positive: bool) -> list[Conjunction]:
        if ground[0] in self.declared or at < 0:
            return [TRUE] if (ground in self.look.world.statics) == positive else []
        literal = frozenset({(*ground, at)})
        return [(literal, frozenset())] if positive else [(frozenset(), literal)]


def _combine(parts: Iterable[list[Conjunction]], every: bool) -> list[Conjunction]:
    """The conjunction or the disjunction of disjunctions of conjunctions."""
    found: list[Conjunction] = [TRUE] if every else []
    for part in parts:
        if every:
            found = [(first[0] | more[0], first[1] | more[1]) for first in found for more in part]
            if not found:
                return found
        else:
            found = found + part
    return list(dict.fromkeys(found))
