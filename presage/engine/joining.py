"""A join, made ready to run from whichever literal has something new.

For each literal there is a path through the others, chosen once: next comes the literal with most of its
columns bound. Comparisons are made as soon as their variables are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from presage.engine import compare
from presage.engine.grid import ENDLESS, Grid
from presage.engine.relation import Delta, Ints, Relation
from presage.engine.symbols import Symbols
from presage.kernels import joins
from presage.kernels.joins import BIND, CONSTANT, FAR, SAME
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.terms import Constant, Variable, term_variables
from presage.plan.nodes import Argument, Join, Literal

NO_ROWS = np.empty(0, np.int64)
NO_BINDINGS = np.empty((0, 0), np.int64)


@dataclass(slots=True)
class Step:
    literal: Literal
    relation: Relation
    kinds: Ints
    values: Ints
    key: Ints
    index: tuple[int, ...]
    shift: int
    fixed: int
    comparisons: list[Comparison]


@dataclass(slots=True)
class Rows:
    """Bindings with intervals of the rule's time."""

    bindings: Ints
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.low)

    def picked(self, mask: compare.Mask) -> Rows:
        return self if mask.all() else Rows(self.bindings[mask], self.low[mask], self.high[mask])


@dataclass(slots=True)
class Tuple:
    kinds: Ints
    values: Ints


@dataclass(slots=True)
class CompiledJoin:
    node: Join
    variables: dict[str, int]
    paths: list[list[Step]]
    assignments: list[tuple[str, Comparison]]
    checks: list[Comparison]
    """Comparisons of computed values, made after they are computed."""
    negated: list[tuple[Literal, Relation, Tuple, int, int]]
    head: Tuple
    least: int
    symbols: Symbols
    constants: list[int] = field(default_factory=list)

    def run(self, slot: int, delta: Delta) -> Rows:
        """The bindings that a literal's new facts give, negation apart."""
        first, *rest = self.paths[slot]
        if first.fixed == FAR and self._is_too_early(delta.earliest - first.shift, rest):
            return Rows(NO_BINDINGS, NO_ROWS, NO_ROWS)
        row, low, high = delta.row, delta.low, delta.high
        if first.fixed != FAR:
            there = (low <= first.fixed) & (first.fixed <= high)
            row, low, high = row[there], low[there], high[there]
        rows = Rows(
            *joins.start_rows(
                first.relation.columns, row, low, high, first.kinds, first.values, len(self.variables), first.shift
            )
        )
        if first.fixed != FAR:
            rows.low[:] = -ENDLESS
            rows.high[:] = ENDLESS
        if self.least > -FAR:
            rows.low = np.maximum(rows.low, self.least)
            rows = rows.picked(rows.low <= rows.high)
        rows = self._compared(rows, first.comparisons)
        for step in rest:
            if not len(rows):
                break
            rows = self._joined(rows, step)
        return self._assigned(rows)

    def _is_too_early(self, start: int, rest: list[Step]) -> bool:
        """Whether some other literal has held nowhere yet at or after the time in question."""
        return any(step.fixed == FAR and step.relation.latest - step.shift < start for step in rest)

    def _joined(self, rows: Rows, step: Step) -> Rows:
        relation = step.relation
        if step.index:
            index = relation.indexes[step.index]
            heads, following, scanned = index.heads, index.following, NO_ROWS
        else:
            heads, following, scanned = NO_ROWS, NO_ROWS, relation.rows()
        found = joins.join(
            rows.bindings, rows.low, rows.high, relation.columns, relation.first, relation.low, relation.high,
            relation.after, heads, following, step.key, step.kinds, step.values, step.shift, step.fixed, scanned,
        )  # fmt: skip
        return self._compared(Rows(*found), step.comparisons)

    def _compared(self, rows: Rows, comparisons: list[Comparison]) -> Rows:
        for comparison in comparisons:
            if len(rows):
                rows = rows.picked(compare.holds(comparison, rows.bindings, self.variables, self.symbols))
        return rows

    def _assigned(self, rows: Rows) -> Rows:
        for name, comparison in self.assignments:
            if not len(rows):
                break
            term = comparison.right
            if not (isinstance(comparison.left, Variable) and comparison.left.name == name):
                term = comparison.left
            values, known = compare.computed(term, rows.bindings, self.variables, self.symbols)
            rows.bindings[:, self.variables[name]] = values
            rows = rows.picked(known)
        return self._compared(rows, self.checks)

    def without_negated(self, rows: Rows) -> Rows:
        for _, relation, atom, shift, fixed in self.negated:
            if not len(rows):
                break
            atoms = joins.project(rows.bindings, atom.kinds, atom.values)
            found = joins.without(
                rows.bindings, rows.low, rows.high, atoms, relation.columns, relation.first, relation.low,
                relation.high, relation.after, relation.slots, shift, fixed, relation.width,
            )  # fmt: skip
            rows = Rows(*found)
        return rows

    def heads(self, rows: Rows) -> Ints:
        return joins.project(rows.bindings, self.head.kinds, self.head.values)  # type: ignore[no-any-return]


def compile_join(node: Join, relations: dict[str, Relation], symbols: Symbols, grid: Grid) -> CompiledJoin:
    names: dict[str, int] = {}
    for literal in node.literals:
        for argument in literal.arguments:
            if isinstance(argument, Variable):
                names.setdefault(argument.name, len(names))
    bound = set(names)
    comparisons, assignments, checks = _assignments(node, names)
    constants: list[int] = []

    def columns(arguments: tuple[Argument, ...], known: set[str]) -> Tuple:
        kinds, values = [], []
        seen = set(known)
        for argument in arguments:
            if isinstance(argument, Constant):
                kinds.append(CONSTANT)
                values.append(symbols.number(argument.value))
                constants.append(values[-1])
            else:
                kinds.append(SAME if argument.name in seen else BIND)
                values.append(names[argument.name])
                seen.add(argument.name)
        return Tuple(np.array(kinds, np.int64), np.array(values, np.int64))

    def fixed(literal: Literal) -> int:
        return FAR if literal.at is None else grid.cell(literal.at)

    paths = []
    for start in range(len(node.literals)):
        known: set[str] = set()
        waiting = list(comparisons)
        path: list[Step] = []
        for literal in _order(node.literals, start):
            spec = columns(literal.arguments, known)
            key: tuple[int, ...] = ()
            if path:
                key = tuple(
                    place
                    for place, argument in enumerate(literal.arguments)
                    if isinstance(argument, Constant) or argument.name in known
                )
                relations[literal.relation].add_index(key)
            known |= {each.name for each in literal.arguments if isinstance(each, Variable)}
            ready = [each for each in waiting if {v.name for v in variables_of(each)} <= known]
            waiting = [each for each in waiting if each not in ready]
            path.append(
                Step(
                    literal, relations[literal.relation], spec.kinds, spec.values, np.array(key, np.int64), key,
                    0 if literal.at is not None else grid.cell(literal.offset), fixed(literal), ready,
                )
            )  # fmt: skip
        paths.append(path)
    everything = bound | {name for name, _ in assignments}
    negated = []
    for literal in node.negated:
        shift = 0 if literal.at is not None else grid.cell(literal.offset)
        negated.append(
            (literal, relations[literal.relation], columns(literal.arguments, everything), shift, fixed(literal))
        )
    least = -ENDLESS if node.least is None else grid.cell(node.least)
    head = columns(node.arguments, everything)
    return CompiledJoin(node, names, paths, assignments, checks, negated, head, least, symbols, constants)


def _assignments(
    node: Join, names: dict[str, int]
) -> tuple[list[Comparison], list[tuple[str, Comparison]], list[Comparison]]:
    """Comparisons of bound variables; equations that give a variable its value, in an order in which that
    is possible; and comparisons that need such a value."""
    rest = list(node.comparisons)
    found: list[tuple[str, Comparison]] = []
    changed = True
    while changed:
        changed = False
        for comparison in rest:
            if comparison.operator != "=":
                continue
            for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
                if (
                    isinstance(side, Variable)
                    and side.name not in names
                    and all(variable.name in names for variable in term_variables(other))
                ):
                    names[side.name] = len(names)
                    found.append((side.name, comparison))
                    rest.remove(comparison)
                    changed = True
                    break
            if changed:
                break
    late = {name for name, _ in found}
    early = [each for each in rest if not {variable.name for variable in variables_of(each)} & late]
    return early, found, [each for each in rest if each not in early]


def _order(literals: tuple[Literal, ...], start: int) -> list[Literal]:
    """A path from one literal through the others: next the one with most columns bound."""
    path = [literals[start]]
    rest = [literal for index, literal in enumerate(literals) if index != start]
    known = {each.name for each in path[0].arguments if isinstance(each, Variable)}
    while rest:
        best = max(rest, key=lambda literal, known=known: _share_bound(literal, known))  # type: ignore[misc]
        rest.remove(best)
        path.append(best)
        known |= {each.name for each in best.arguments if isinstance(each, Variable)}
    return path


def _share_bound(literal: Literal, known: set[str]) -> tuple[float, int]:
    fixed = sum(isinstance(each, Constant) or each.name in known for each in literal.arguments)
    return fixed / max(1, len(literal.arguments)), fixed
