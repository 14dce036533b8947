"""What rules with aggregates say of a finite stream, straight from the definition, by trying every substitution.

At time t, for each choice of the shared variables, S is the set of tuples of the terms' values for which the body
holds at t. Rules are read as written: which variables are shared, and which of them only an aggregate binds, is worked
out here. Whether a body holds is asked of `lars.Structure`, which tries every time. Rules are about inputs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from presage.model import (
    Aggregate,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Constant,
    Formula,
    Metric,
    Modal,
    Not,
    Pinned,
    Rule,
    Term,
    Variable,
    Windowed,
)

from .lars import Structure, compare, term

Value = str | int | Fraction
Binding = dict[str, Value]


def names_in(node: object, braces: bool = True) -> set[str]:
    """All variables in a formula or term; without those in braces if wished."""
    if isinstance(node, Variable):
        return {node.name}
    if isinstance(node, Aggregate):
        parts: tuple[object, ...] = (*node.terms, *node.body) if braces else ()
    elif isinstance(node, Atom):
        parts = node.arguments
    elif isinstance(node, (Comparison, Arithmetic)):
        parts = (node.left, node.right)
    elif isinstance(node, Pinned):
        parts = (node.formula, node.pin.base)
    elif isinstance(node, And):
        parts = node.parts
    elif isinstance(node, (Windowed, Not, Metric, Modal)):
        parts = (node.formula,)
    else:
        parts = ()
    return {name for part in parts for name in names_in(part, braces)}


def in_term(node: Term) -> Iterator[Aggregate]:
    if isinstance(node, Aggregate):
        yield node
    elif isinstance(node, Arithmetic):
        yield from in_term(node.left)
        yield from in_term(node.right)


@dataclass
class Said:
    """One rule over one structure."""

    rule: Rule
    structure: Structure
    constants: list[Value]

    def __post_init__(self) -> None:
        self.times = list(range(self.structure.stream.low, self.structure.stream.high + 1))
        outside = [*self.rule.head.atoms, *self.rule.body]
        self.outside = {name for each in outside for name in names_in(each, braces=False)}
        self.bound = self._bound()

    def _bound(self) -> set[str]:
        """What literals other than aggregates bind: atoms of the body, and equations with known other sides."""
        found = {n for each in self.rule.body if not isinstance(each, (Comparison, Not)) for n in names_in(each, False)}
        for _ in self.rule.body:
            for each in self.rule.body:
                if isinstance(each, Comparison) and each.operator == "=" and isinstance(each.left, Variable):
                    shared = {name for name in names_in(each.right) if name in self.outside}
                    if shared <= found:
                        found.add(each.left.name)
        return found

    def facts(self) -> set[tuple[int, tuple[Value, ...]]]:
        """When the head holds, and of what; a pinned head at the time of its pin."""
        (head,) = self.rule.head.atoms
        atom = head.formula if isinstance(head, Pinned) else head
        found = set()
        for t in self.times:
            for binding in self.bindings(t):
                at = binding[head.pin.base.name] if isinstance(head, Pinned) else t
                found.add((at, tuple(term(each, binding) for each in atom.arguments)))
        return found

    def bindings(self, t: int) -> Iterator[Binding]:
        pins = {p for each in (*self.rule.head.atoms, *self.rule.body) for p in _pins(each)}
        names = sorted(self.outside)
        given = [name for name in names if not self._determined(name)]
        choices = [self.times if name in pins else self.constants for name in given]
        for chosen in product(*choices):
            start: Binding = dict(zip(given, chosen, strict=True))
            for binding in self._completed(start, t):
                if all(self.holds(each, t, binding) for each in self.rule.body):
                    yield binding

    def _determined(self, name: str) -> bool:
        """Whether an equation with an aggregate or a sum on its other side gives the value."""
        return any(
            isinstance(each, Comparison) and each.operator == "=" and each.left == Variable(name)
            for each in self.rule.body
        )

    def _completed(self, binding: Binding, t: int) -> Iterator[Binding]:
        for each in self.rule.body:
            if isinstance(each, Comparison) and each.operator == "=" and isinstance(each.left, Variable):
                if each.left.name not in binding:
                    value = self.value(each.right, t, binding)
                    if value is None:
                        return
                    binding = {**binding, each.left.name: value}
        yield binding

    def holds(self, formula: Formula, t: int, binding: Binding) -> bool:
        match formula:
            case Comparison(operator=operator, left=left, right=right):
                first, second = self.value(left, t, binding), self.value(right, t, binding)
                if first is None or second is None:
                    return False
                return compare(Comparison(operator, Constant(first), Constant(second)), {})
            case Not(formula=inner):
                return not self.holds(inner, t, binding)
            case And(parts=parts):
                return all(self.holds(part, t, binding) for part in parts)
            case Pinned(formula=Comparison() as inner, pin=pin):
                at = binding[pin.base.name] + pin.offset
                return at in self.times and self.holds(inner, at, binding)
            case Metric(operator="historically", interval=interval, formula=inner):
                return all(self.holds(inner, t - d, binding) for d in range(interval.low, interval.high + 1))
            case Metric(operator="once", interval=interval, formula=inner):
                return any(self.holds(inner, t - d, binding) for d in range(interval.low, interval.high + 1))
            case _:
                return self.structure.entails(formula, t, {**binding, "now": t})

    def value(self, node: Term, t: int, binding: Binding) -> Value | None:
        if isinstance(node, Aggregate):
            return self.worth(node, t, binding)
        if isinstance(node, Arithmetic):
            first, second = self.value(node.left, t, binding), self.value(node.right, t, binding)
            if first is None or second is None:
                return None
            return term(Arithmetic(node.operator, Constant(first), Constant(second)), {})
        return term(node, {**binding, "now": t})

    def collected(self, node: Aggregate, t: int, binding: Binding) -> set[tuple[Value, ...]]:
        pins = {p for each in node.body for p in _pins(each)}
        local = sorted(names_in(node) - self.outside)
        found = set()
        for chosen in product(*(self.times if name in pins else self.constants for name in local)):
            full = {**binding, **dict(zip(local, chosen, strict=True)), "now": t}
            if all(self.structure.entails(each, t, full) for each in node.body):
                found.add(tuple(term(each, full) for each in node.terms))
        return found

    def worth(self, node: Aggregate, t: int, binding: Binding) -> Value | None:
        tuples = self.collected(node, t, binding)
        shared = names_in(node) & self.outside
        if not tuples and shared - self.bound:
            return None
        if node.function == "count":
            return len(tuples)
        if not tuples:
            return 0 if node.function == "sum" else None
        firsts = [each[0] for each in tuples]
        if node.function in ("sum", "avg"):
            if any(isinstance(each, str) for each in firsts):
                return None
            total = Fraction(sum(firsts))
            result = total if node.function == "sum" else total / len(firsts)
            return int(result) if result.denominator == 1 else result
        order = sorted(firsts, key=lambda each: (isinstance(each, str), each))
        if node.function in ("min", "max"):
            return order[0] if node.function == "min" else order[-1]
        seconds = [each[1] for each in tuples]
        when = min(seconds) if node.function == "first" else max(seconds)
        return min((e[0] for e in tuples if e[1] == when), key=lambda each: (isinstance(each, str), each))


def _pins(node: Formula) -> set[str]:
    found: set[str] = set()
    if isinstance(node, Pinned) and isinstance(node.pin.base, Variable):
        found.add(node.pin.base.name)
    if isinstance(node, Comparison):
        for side in (node.left, node.right):
            for each in in_term(side):
                found |= {p for literal in each.body for p in _pins(literal)}
        return found
    for part in getattr(node, "parts", ()) or ((node.formula,) if hasattr(node, "formula") else ()):
        found |= _pins(part)
    return found
