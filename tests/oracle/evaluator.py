"""The model of a program over a finite stream, computed straight from the definitions.

This is the yardstick the engines are tested against. It is meant to be obviously right and need
not be fast: a formula is turned into the set of all times at which it holds, one operator after
another ([MTL] Table 1, [LARS] Definition 9); rules are applied until nothing is new; negation is
the well-founded model by alternating fixpoint. It shares no code with engines and analyses.

The stream lies on [0, end]. What is derived outside is dropped; nothing but static facts holds
outside; windows are clipped to the stream, metric operators are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import Union

from presage.model import Constant, Formula, Interval, Number, Program, Rule, Windowed
from presage.model.formulas import atoms, walk

from .inventing import invent
from .looks import NOW, Binding, Look, World, ground_atom
from .streams import Facts, Ground, Stream, Value
from .timeline import Line
from .written import is_dense, reach_of, terms, times_in, uses_times_as_values

Fact = tuple[str, tuple[Value, ...], Union[Number, tuple[Number, Number, str]]]
"""Predicate, arguments, and a time or an interval such as `(1, 5, "[)")`."""


class NotTotal(Exception):
    """Some atom is neither true nor false in the well-founded model."""


@dataclass(frozen=True)
class Violation:
    """A constraint, by its position among the rules, and where its body holds."""

    rule: int
    binding: tuple[tuple[str, Value], ...]
    cells: frozenset[int]


class Model(dict[Ground, frozenset[int]]):
    """The cells at which each ground atom holds, given facts included; on the discrete timeline a
    cell is a time point (see `timeline`)."""

    def __init__(self, facts: Facts, line: Line, violations: Iterable[Violation] = ()) -> None:
        super().__init__({ground: cells for ground, cells in facts.items() if cells})
        self.line = line
        self.violations = list(violations)

    def at(self, predicate: str, *arguments: Value) -> frozenset[int]:
        return self.get((predicate, arguments), frozenset())

    def of(self, predicate: str) -> dict[tuple[Value, ...], frozenset[int]]:
        return {arguments: cells for (name, arguments), cells in self.items() if name == predicate}

    def intervals(self, predicate: str, *arguments: Value) -> list[tuple[Number, Number, str]]:
        """The longest intervals at which an atom holds, as `(1, 5, "[)")`."""
        cells, found = self.at(predicate, *arguments), []
        for start in sorted(cell for cell in cells if cell - 1 not in cells):
            stop = start
            while stop + 1 in cells:
                stop += 1
            opens, closes = self.line.is_gap(start), self.line.is_gap(stop)
            bounds = ("(" if opens else "[") + (")" if closes else "]")
            found.append((self.line.value(start - opens), self.line.value(stop + closes), bounds))
        return found


def evaluate(
    program: Program,
    facts: Iterable[Fact],
    static_facts: Iterable[Ground] = (),
    end: Number = 0,
    reading: str = "every",
    timeline: str | None = None,
    chase_limit: int = 1000,
) -> Model:
    """The unique model of a normalised program; raises `NotTotal` if there is none."""
    if reading != "every":
        raise NotImplementedError("the oracle knows `reading every` only")
    facts = list(facts)
    world = _world(program, facts, static_facts, end, timeline, chase_limit)
    stream = _stream(world, program, facts)
    found = {ground: stream.cells(ground) for ground in {*stream.rows, *stream.facts}}
    found |= dict.fromkeys(world.statics, frozenset(world.line.timeline))
    violations = [
        Violation(number, tuple(sorted(_shown(binding).items())), frozenset(cells))
        for number, rule in enumerate(program.rules)
        if rule.is_constraint
        for binding, cells in Look(world, stream, rule.body).solutions()
    ]
    return Model(found, world.line, violations)


def holds(
    formula: Formula,
    at: Number,
    facts: Iterable[Fact],
    static_facts: Iterable[Ground] = (),
    end: Number = 0,
    program: Program | None = None,
    timeline: str | None = None,
) -> list[Binding]:
    """The bindings with which a formula holds at a time ([LARS] Definition 10), over the facts and
    what the program makes of them."""
    program, facts = program or Program(), list(facts)
    world = _world(program, facts, static_facts, end, timeline, asked=(formula,))
    stream = _stream(world, program, facts)
    cell = world.line.cell(at)
    found = [_shown(binding) for binding, cells in Look(world, stream, (formula,)).solutions() if cell in cells]
    return [binding for number, binding in enumerate(found) if binding not in found[:number]]


def _shown(binding: Binding) -> Binding:
    return {name: value for name, value in binding.items() if name != NOW and not name.startswith("_#")}


def _world(
    program: Program,
    facts: list[Fact],
    static_facts: Iterable[Ground],
    end: Number,
    timeline: str | None,
    chase_limit: int = 1000,
    asked: tuple[Formula, ...] = (),
) -> World:
    """The timeline, fine enough for all times that can arise, and what holds always."""
    if program.reading != "every":
        raise NotImplementedError("the oracle knows `reading every` only")
    if any(rule.head is not None and rule.head.choice for rule in program.rules):
        raise NotImplementedError("the oracle has no disjunctive heads")
    groups = [*(tuple(rule.formulas()) for rule in program.rules), asked]
    nodes = [node for group in groups for formula in group for node in walk(formula)]
    dense = is_dense(program, asked, timeline)
    if dense and any(isinstance(node, Windowed) for node in nodes):
        raise NotImplementedError("the oracle has no windows on the dense timeline")

    statics = set(static_facts)
    declared = {each.predicate for each in program.statics}
    known = [atom for rule in program.rules if rule.is_fact for each in rule.head_atoms for atom in atoms(each)]
    statics |= {ground_atom(atom, {}) for atom in known if atom.predicate in declared}
    constants = {value for _, values, *_ in (*facts, *statics) for value in values}
    constants |= {term.value for node in nodes for term in terms(node) if isinstance(term, Constant)}

    times = [end, *(bound for _, _, time in facts for bound in (time[:2] if isinstance(time, tuple) else (time,)))]
    times += [bound for node in nodes for bound in times_in(node)]
    if any(uses_times_as_values(group) for group in groups):
        times += [value for value in constants if isinstance(value, (int, Fraction))]
    if any(isinstance(value, float) for value in (*times, *constants)):
        raise TypeError("numbers are exact here: no floats")
    fineness = lcm(*(Fraction(time).denominator for time in times))
    margin = 1 + max((ceil(reach_of(formula)) for group in groups for formula in group), default=0)
    return World(Line.of(dense, fineness, end, margin), statics, constants, chase_limit)


def _stream(world: World, program: Program, facts: list[Fact]) -> Stream:
    """What the stream brings and what the program makes of it."""
    rows: dict[Ground, frozenset[int]] = {}
    for predicate, values, time in facts:
        low, high, bounds = time if isinstance(time, tuple) else (time, time, "[]")
        cells = world.line.over(Interval(low, high, bounds[0] == "[", bounds[1] == "]"))
        rows[predicate, values] = rows.get((predicate, values), frozenset()) | cells
    derived = _well_founded(world, program, rows)
    return Stream(0, world.line.end, rows, derived, derived)


def _well_founded(world: World, program: Program, rows: Facts) -> Facts:
    """The alternating fixpoint: what surely holds and what may hold approach each other."""
    surely: Facts = {}
    while True:
        maybe = least_model(world, program, rows, surely)
        more = least_model(world, program, rows, maybe)
        if more == surely:
            break
        surely = more
    if surely != maybe:
        undecided = [ground for ground, cells in maybe.items() if cells != surely.get(ground)]
        raise NotTotal(f"neither true nor false: {sorted(undecided, key=repr)[:5]}")
    return surely


def least_model(world: World, program: Program, rows: Facts, opposite: Facts) -> Facts:
    """The least set of derived facts closed under the rules, where negated atoms read `opposite`."""
    found: dict[Ground, frozenset[int]] = {}
    while True:
        stream = Stream(0, world.line.end, rows, found, opposite)
        more = dict(found)
        for number, rule in enumerate(program.rules):
            for ground, cell in _apply(world, stream, number, rule):
                if 0 <= cell <= world.line.end and ground not in world.statics:
                    more[ground] = more.get(ground, frozenset()) | {cell}
        if more == found:
            return found
        found = more


def _apply(world: World, stream: Stream, number: int, rule: Rule) -> Iterator[tuple[Ground, int]]:
    """What one rule derives."""
    head = rule.head
    if head is None:
        return
    look = Look(world, stream, rule.body, head.atoms, frozenset(each.name for each in head.exists))
    for binding, cells in look.solutions():
        for cell in cells:
            full = binding | invent(look, number, rule, binding, cell)
            for formula in head.atoms:
                yield from look.derive(formula, full, cell)
