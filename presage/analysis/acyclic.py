"""Acyclicity of existential rules ([LARS+] Definitions 4 to 7): whether inventing values ends.

Weak acyclicity looks at strip(P), the program without anything temporal: values travel between
positions ⟨predicate, argument⟩, and a cycle through the invention of a value means danger.

Temporal weak acyclicity looks at the same graph with time written out over [0, horizon]: a position
is then ⟨predicate, argument, time point⟩. Windows are relaxed as in wfree(P): `some` may be any
time, `all` is now, a pin is where it says. The pairs of times at which a rule can lead from one
position to another come from the bounds on the differences of its times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.analysis.differences import INF, NOW, START, Differences, add_comparison
from presage.analysis.graph import component_of, shortest_path
from presage.analysis.subject import Subject
from presage.analysis.timeline import pin_variables
from presage.analysis.timing import offsets, plain
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Metric,
    Modal,
    Or,
    Over,
    Pinned,
    Reset,
    Windowed,
    atoms,
)
from presage.model.formulas import walk as subformulas
from presage.model.statements import Rule
from presage.model.terms import Now, Variable

DEFAULT_HORIZON = 16


@dataclass(frozen=True, slots=True)
class Position:
    predicate: str
    argument: int
    time: int | None = None

    @property
    def order(self) -> tuple[str, int, int]:
        return self.predicate, self.argument, -1 if self.time is None else self.time

    def __str__(self) -> str:
        at = "" if self.time is None else f" at time {self.time}"
        return f"argument {self.argument + 1} of `{self.predicate}`{at}"


@dataclass(frozen=True, slots=True)
class PositionEdge:
    start: Position
    end: Position
    special: bool
    rule: Rule


Moves = dict[tuple[Position, Position, bool], Rule]
"""From where to where a value moves, and whether it makes a rule invent another; one rule that does it."""


@dataclass(frozen=True, slots=True)
class Acyclicity:
    acyclic: bool
    cycle: tuple[PositionEdge, ...] = ()


def invents(subject: Subject) -> bool:
    return any(rule.head is not None and rule.head.exists for rule in subject.program.rules)


def weak_acyclicity(subject: Subject) -> Acyclicity:
    if not invents(subject):
        return Acyclicity(True)
    moves: Moves = {
        (Position(body.predicate, i), Position(head.predicate, j), special): rule
        for rule in subject.program.rules
        for (body, _), i, (head, _), j, special in _moves(rule)
    }
    return _judge(moves)


def temporal_weak_acyclicity(subject: Subject, horizon: int = DEFAULT_HORIZON) -> Acyclicity:
    """Over [0, horizon] on the discrete timeline; on the dense one time points are not to be counted. What is weakly
    acyclic is so at all times ([LARS+] Theorem 5)."""
    weak = weak_acyclicity(subject)
    if weak.acyclic or not subject.discrete:
        return weak
    moves: Moves = {}
    for rule in subject.program.rules:
        if rule.is_fact or rule.is_constraint:
            continue
        relaxed = relax(rule, horizon)
        if not relaxed.bounds.check():
            continue
        for (body, early), i, (head, late), j, special in _moves(rule, relaxed):
            for t, u in _pairs(relaxed.bounds, early, late, horizon):
                moves.setdefault((Position(body.predicate, i, t), Position(head.predicate, j, u), special), rule)
    return _judge(moves)


def _judge(moves: Moves) -> Acyclicity:
    edges = (PositionEdge(*move, rule) for move, rule in moves.items())
    ordered = sorted(edges, key=lambda edge: (edge.start.order, edge.end.order, edge.special))
    successors: dict[Position, list[Position]] = {}
    for edge in ordered:
        successors.setdefault(edge.start, []).append(edge.end)
    nodes = list(dict.fromkeys(node for edge in ordered for node in (edge.start, edge.end)))
    component = component_of(nodes, successors)
    for edge in ordered:
        if edge.special and component[edge.start] == component[edge.end]:
            back = shortest_path(edge.end, edge.start, ordered, lambda each: (each.start, each.end)) or []
            return Acyclicity(False, (edge, *back))
    return Acyclicity(True)


class Relaxed:
    """A rule without windows: its atoms, each with the node of its time."""

    def __init__(self) -> None:
        self.bounds = Differences()
        self.body: list[tuple[Atom, str]] = []
        self.head: list[tuple[Atom, str]] = []
        self.nodes = 0

    def node(self) -> str:
        self.nodes += 1
        return f"#{self.nodes}"


def relax(rule: Rule, horizon: int) -> Relaxed:
    relaxed = Relaxed()
    bounds = relaxed.bounds

    def on_timeline(node: str) -> str:
        bounds.between(node, START, 0, horizon)
        return node

    def pinned(formula: Pinned) -> str:
        base = formula.pin.base
        start = START if base is None else NOW if isinstance(base, Now) else base.name
        node = on_timeline(relaxed.node())
        offset = plain(formula.pin.offset)
        bounds.between(node, start, offset, offset)
        return node

    def walk(formula: Formula, node: str, into: list[tuple[Atom, str]]) -> None:
        match formula:
            case Atom():
                into.append((formula, on_timeline(node)))
            case Pinned(formula=inner):
                walk(inner, pinned(formula), into)
            case Windowed(formula=inner) | Reset(formula=inner) | Modal(operator="all", formula=inner):
                walk(inner, node, into)
            case Modal(formula=inner):
                walk(inner, on_timeline(relaxed.node()), into)
            case Metric(operator=operator, interval=interval, formula=inner):
                moved = relaxed.node()
                low, high = offsets(interval, True)
                if operator in ("once", "historically"):
                    low, high = -high, -low
                bounds.between(moved, node, low, high)
                walk(inner, moved, into)
            case BinaryMetric(operator=operator, interval=interval, right=right):
                moved = relaxed.node()
                low, high = offsets(interval, True)
                if operator == "since":
                    low, high = -high, -low
                bounds.between(moved, node, low, high)
                walk(right, moved, into)
            case And(parts=parts):
                for part in parts:
                    walk(part, node, into)
            case Over(formula=inner):
                walk(inner, node, into)
            case Or(parts=parts):
                # Only one side need hold: what the others say of times is left out, their values are not.
                for part in parts:
                    into.extend((atom, on_timeline(relaxed.node())) for atom in atoms(part))
            case Comparison():
                whole = frozenset({NOW, START} | pin_variables(rule))
                add_comparison(bounds, formula, whole)
            # Negated parts only restrict: without them there are more consequences.

    on_timeline(NOW)
    for name in pin_variables(rule):
        on_timeline(name)
    for literal in rule.body:
        walk(literal, NOW, relaxed.body)
    for atom in rule.head_atoms:
        walk(atom, NOW, relaxed.head)
    return relaxed


def _pairs(bounds: Differences, early: str, late: str, horizon: int) -> Iterator[tuple[int, int]]:
    """The times two atoms can have at once: for bounds on differences every such pair has a solution."""
    first_low, first_high = bounds.range(early, START)
    second_low, second_high = bounds.range(late, START)
    low, high = bounds.range(late, early)
    for t in range(_whole(max(first_low, 0)), _whole(min(first_high, horizon)) + 1):
        least = max(second_low, 0, t + low if low != -INF else 0)
        most = min(second_high, horizon, t + high if high != INF else horizon)
        for u in range(_whole(least), _whole(most) + 1):
            yield t, u


def _whole(value: object) -> int:
    return int(value)  # type: ignore[call-overload,no-any-return]


def _moves(
    rule: Rule, relaxed: Relaxed | None = None
) -> Iterator[tuple[tuple[Atom, str], int, tuple[Atom, str], int, bool]]:
    """Where a rule can carry or invent values: (body atom, argument, head atom, argument, invented)."""
    if rule.head is None or not rule.body:
        return
    relaxed = relaxed or relax(rule, DEFAULT_HORIZON)
    invented = {variable.name for variable in rule.head.exists}
    same = equal_variables(rule)
    frontier = {
        same.get(argument.name, argument.name)
        for atom, _ in relaxed.head
        for argument in atom.arguments
        if isinstance(argument, Variable) and argument.name not in invented
    }
    for body in relaxed.body:
        for i, argument in enumerate(body[0].arguments):
            if not isinstance(argument, Variable):
                continue
            name = same.get(argument.name, argument.name)
            if name not in frontier:
                continue
            for head in relaxed.head:
                for j, target in enumerate(head[0].arguments):
                    if not isinstance(target, Variable):
                        continue
                    if target.name in invented:
                        yield body, i, head, j, True
                    elif same.get(target.name, target.name) == name:
                        yield body, i, head, j, False


def equal_variables(rule: Rule) -> dict[str, str]:
    """A representative for each variable that the body equates with another."""
    parent: dict[str, str] = {}

    def find(name: str) -> str:
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    for literal in rule.body:
        for node in subformulas(literal):
            match node:
                case Comparison(operator="=", left=Variable(name=first), right=Variable(name=second)):
                    parent[find(first)] = find(second)
    return {name: find(name) for name in parent}
