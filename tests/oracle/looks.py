"""The body of a rule over a stream: which substitutions satisfy it, and at which times.

Substitutions are found by matching atoms whatever their time, which gives too many; whether one
satisfies the body is then decided by the definitions alone ([MTL] Table 1, [LARS] Definition 9).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from presage.model import (
    And,
    Arithmetic,
    Atom,
    BinaryMetric,
    Comparison,
    Constant,
    Formula,
    Implies,
    Metric,
    Modal,
    Negative,
    Not,
    Now,
    Number,
    Or,
    Over,
    Pin,
    Pinned,
    Reset,
    Term,
    Top,
    Variable,
    Windowed,
)
from presage.model.formulas import variables, walk

from .streams import Ground, Stream, Value, match_atom, select
from .timeline import Line, binary, metric
from .written import subterms, terms, time_variables

Binding = dict[str, Value]
NOW = "now"
"""How bindings call the time at which a rule is looked at; no variable has this name."""
ANYTHING: Value = ("any",)
"""Stands for all the values that occur nowhere."""

_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass
class World:
    """What stays the same while a program is evaluated."""

    line: Line
    statics: set[Ground]
    constants: set[Value]
    chase_limit: int
    invented: set[Value] = field(default_factory=set)


@dataclass
class Look:
    """The body of one rule over one stream: which substitutions satisfy it, and when."""

    world: World
    whole: Stream
    body: tuple[Formula, ...]
    heads: tuple[Formula, ...] | None = None
    """What the rule derives; none where the bindings themselves are asked for."""
    invented: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.line = self.world.line
        self.everything = self.line.everything
        self.names: dict[Formula, list[str]] = {}
        self.known: dict[tuple, frozenset[int]] = {}
        formulas = (*(self.heads or ()), *self.body)
        self.pins = [node.pin for each in formulas for node in walk(each) if isinstance(node, Pinned)]
        self.times = time_variables(formulas)
        self.variables = {each.name for formula in formulas for each in variables(formula)} - self.invented
        told = formulas if self.heads is None else self.heads
        self.told = {each.name for formula in told for each in variables(formula)}
        self.uses_now = any(isinstance(pin.base, Now) for pin in self.pins) or any(
            isinstance(term, Now) for formula in formulas for node in walk(formula) for term in terms(node)
        )

    # -- substitutions ---------------------------------------------------------------------------

    def solutions(self) -> Iterator[tuple[Binding, frozenset[int]]]:
        """Each substitution, with the cells of the stream at which the body then holds."""
        looks = [{NOW: self.line.value(cell)} for cell in self.line.timeline] if self.uses_now else [{}]
        for look in looks:
            seen = set()
            for binding in self.complete(look):
                key = frozenset(binding.items())
                if key in seen or not self.exists(binding):
                    continue
                seen.add(key)
                cells = self.holds(And(self.body), binding, self.whole, True) & set(self.line.timeline)
                if NOW in binding:
                    cells &= {self.line.cell(binding[NOW])}
                if cells:
                    yield binding, cells

    def complete(self, binding: Binding) -> Iterator[Binding]:
        """All bindings of all variables that may satisfy the body: by matching as long as that
        binds more variables, then by trying every time point, or every constant."""
        for found in unique(self.matches(And(self.body), binding)):
            missing = sorted(self.variables - set(found), key=lambda name: (name not in self.times, name))
            if not missing:
                yield found
            elif len(found) > len(binding):
                yield from self.complete(found)
            else:
                for value in self.time_points() if missing[0] in self.times else self.values(missing[0]):
                    yield from self.complete({**found, missing[0]: value})

    def time_points(self) -> list[Number]:
        """Times for a time variable: it may lie outside the stream as long as what is pinned does not."""
        most = ceil(max((abs(pin.offset) for pin in self.pins if pin.base is not None), default=0) * self.line.scale)
        return [self.line.value(cell) for cell in range(-most, self.line.end + most + 1)]

    def values(self, name: str) -> set[Value]:
        """Values for a variable that no atom binds: all that occur, and one for the others unless it would be told."""
        found = {value for facts in (self.whole.rows, self.whole.facts) for _, values in facts for value in values}
        return found | self.world.constants | (set() if name in self.told else {ANYTHING})

    def matches(self, formula: Formula, binding: Binding) -> Iterator[Binding]:
        """Bindings of variables without which the formula holds nowhere; more than satisfy it."""
        match formula:
            case Atom():
                for ground in {*self.world.statics, *self.whole.rows, *self.whole.facts}:
                    found = match_atom(formula, ground, binding)
                    if found is not None:
                        self.refuse_off_grid(found[name] for name in self.times & found.keys() - binding.keys())
                        yield found
            case Metric(interval=interval) if not self.line.reach(interval, False):
                yield binding  # no time is looked at: `always` and `historically` hold whatever the operand
            case Pinned(formula=Atom() as atom, pin=Pin(base=Variable(name=name), offset=offset)):
                for found in self.matches(atom, binding):
                    ground = ground_atom(atom, found)
                    if name in found or ground in self.world.statics:
                        yield found
                    else:
                        for cell in self.whole.cells(ground):
                            yield {**found, name: number(self.line.value(cell) - offset)}
            case Pinned(formula=inner) | Metric(formula=inner) | Windowed(formula=inner):
                yield from self.matches(inner, binding)
            case Modal(formula=inner) | Reset(formula=inner) | BinaryMetric(right=inner):
                yield from self.matches(inner, binding)
            case Or(parts=parts):
                for part in parts:
                    yield from self.matches(part, binding)
            case And(parts=parts):
                ordered = sorted(parts, key=lambda part: isinstance(part, Comparison))
                joined = [binding]
                for part in ordered:
                    joined = unique(more for each in joined for more in self.matches(part, each))
                yield from joined
            case Comparison(operator="=", left=left, right=right):
                yield self.equate(left, right, self.equate(right, left, binding))
            case _:
                yield binding

    def equate(self, variable: Term, term: Term, binding: Binding) -> Binding:
        """Binds a variable by `=`, if it is open and the other side is not."""
        if not isinstance(variable, Variable) or variable.name in binding:
            return binding
        value = self.term(term, binding)
        if value is None:
            return binding
        if self.mentions_time(term) and variable.name not in self.times and isinstance(value, (int, Fraction)):
            self.point(int(value * self.line.scale))
        elif variable.name in self.times and not self.mentions_time(term):
            self.refuse_off_grid([value])
        return {**binding, variable.name: value}

    def exists(self, binding: Binding) -> bool:
        """An instance with a pin before the start of the stream, or at no time at all, is none."""
        cells = (self.pinned(pin, binding) for pin in self.pins)
        return all(cell is not None and cell >= 0 for cell in cells)

    # -- terms and times -------------------------------------------------------------------------

    def pinned(self, pin: Pin, binding: Binding) -> int | None:
        base: Value = 0
        if pin.base is not None:
            base = binding[NOW if isinstance(pin.base, Now) else pin.base.name]
        return self.line.cell(base + pin.offset) if isinstance(base, (int, Fraction)) else None

    def point(self, cell: int) -> Number:
        """The time of a cell, where a gap would stand for more values than one can write down."""
        if self.line.is_gap(cell):
            raise NotImplementedError("the oracle does not use the times of an open interval as values")
        return self.line.value(cell)

    def refuse_off_grid(self, values: Iterable[Value | None]) -> None:
        """On the dense timeline, a number between two points of the grid would be taken for a gap."""
        if any(isinstance(value, (int, Fraction)) and not self.line.is_on_grid(value) for value in values):
            raise NotImplementedError("the oracle's grid has no such time")

    def told_value(self, name: str, binding: Binding) -> Value:
        """The value of a variable that becomes part of a fact."""
        value = binding[name]
        if name in self.times and isinstance(value, (int, Fraction)):
            self.point(int(value * self.line.scale))
        return value

    def term(self, term: Term, binding: Binding) -> Value | None:
        """The value of a term; none if a variable is open, or if it cannot be computed."""
        match term:
            case Constant(value=value):
                return value
            case Variable(name=name):
                return binding.get(name)
            case Now():
                return binding[NOW]
            case Negative(term=inner):
                value = self.term(inner, binding)
                return -value if isinstance(value, (int, Fraction)) else None
            case Arithmetic(operator=sign, left=left, right=right):
                first, second = self.term(left, binding), self.term(right, binding)
                if not isinstance(first, (int, Fraction)) or not isinstance(second, (int, Fraction)):
                    return None
                if sign == "/":
                    return None if second == 0 else number(Fraction(first) / second)
                return number(_ARITHMETIC[sign](first, second))
        raise TypeError(f"{term} is not a normalised term")

    def compare(self, comparison: Comparison, binding: Binding) -> bool:
        if self.line.dense and (self.mentions_time(comparison.left) or self.mentions_time(comparison.right)):
            self.refuse_unless_constant_on_gaps(comparison, binding)
        first, second = self.term(comparison.left, binding), self.term(comparison.right, binding)
        if first is None or second is None:
            return False
        if comparison.operator in ("=", "!="):
            return (first == second) == (comparison.operator == "=")
        both_numbers = isinstance(first, (int, Fraction)) and isinstance(second, (int, Fraction))
        both_strings = isinstance(first, str) and isinstance(second, str)
        return (both_numbers or both_strings) and _ORDER[comparison.operator](first, second)

    def is_time(self, term: Term) -> bool:
        return isinstance(term, Now) or (isinstance(term, Variable) and term.name in self.times)

    def mentions_time(self, term: Term) -> bool:
        return any(self.is_time(part) for part in subterms(term))

    def refuse_unless_constant_on_gaps(self, comparison: Comparison, binding: Binding) -> None:
        parts = [part for term in (comparison.left, comparison.right) for part in subterms(term)]
        product = any(isinstance(part, Arithmetic) and part.operator in "*/" for part in parts)
        plain = [part for part in parts if isinstance(part, (Constant, Variable)) and not self.is_time(part)]
        self.refuse_off_grid(self.term(part, binding) for part in plain)
        if product or sum(map(self.is_time, parts)) > 1:
            raise NotImplementedError("the oracle cannot decide this comparison of times on the dense timeline")

    # -- truth -----------------------------------------------------------------------------------

    def holds(self, formula: Formula, binding: Binding, stream: Stream, positive: bool) -> frozenset[int]:
        """The cells at which a formula holds on a stream; `positive` unless below an odd number of
        negations. What holds on the whole stream is computed once for the values its variables have."""
        if stream is not self.whole:
            return self.evaluate(formula, binding, stream, positive)
        if formula not in self.names:
            self.names[formula] = [NOW, *(variable.name for variable in variables(formula))]
        key = (formula, positive, *(binding.get(name) for name in self.names[formula]))
        if key not in self.known:
            self.known[key] = self.evaluate(formula, binding, stream, positive)
        return self.known[key]

    def evaluate(self, formula: Formula, binding: Binding, stream: Stream, positive: bool) -> frozenset[int]:
        nowhere: frozenset[int] = frozenset()
        match formula:
            case Top():
                return self.everything
            case Comparison():
                return self.everything if self.compare(formula, binding) else nowhere
            case Atom():
                ground = ground_atom(formula, binding)
                return self.everything if ground in self.world.statics else stream.cells(ground, positive)
            case Pinned(formula=inner, pin=pin):
                cell = self.pinned(pin, binding)
                inside = cell is not None and stream.low <= cell <= stream.high
                return self.everything if inside and cell in self.holds(inner, binding, stream, positive) else nowhere
            case Not(formula=inner):
                return self.everything - self.holds(inner, binding, stream, not positive)
            case And(parts=parts):
                return self.everything.intersection(*(self.holds(part, binding, stream, positive) for part in parts))
            case Or(parts=parts):
                return nowhere.union(*(self.holds(part, binding, stream, positive) for part in parts))
            case Implies(left=left, right=right):
                return self.holds(Or((Not(left), right)), binding, stream, positive)
            case Metric(operator=name, interval=interval, formula=inner):
                return metric(self.line, name, interval, self.holds(inner, binding, stream, positive))
            case BinaryMetric(operator=name, interval=interval, left=left, right=right):
                first = self.holds(left, binding, stream, positive)
                return binary(self.line, name, interval, first, self.holds(right, binding, stream, positive))
            case Modal(operator=name, formula=inner):
                found = self.holds(inner, binding, stream, positive)
                points = (cell in found for cell in range(stream.low, stream.high + 1))
                return self.everything if (any(points) if name == "some" else all(points)) else nowhere
            case Windowed(window=window, formula=inner):
                return frozenset(
                    cell
                    for cell in self.everything
                    if cell in self.holds(inner, binding, select(window, stream, self.whole, cell), positive)
                )
            case Reset(formula=inner):
                return self.holds(inner, binding, self.whole, positive)
        raise TypeError(f"{formula} cannot stand in a body")

    def derive(self, formula: Formula, binding: Binding, cell: int) -> Iterator[tuple[Ground, int]]:
        """The facts that make a head true at a cell."""
        match formula:
            case Atom(arguments=arguments):
                for name in (each.name for each in arguments if isinstance(each, Variable)):
                    self.told_value(name, binding)
                yield ground_atom(formula, binding), cell
            case Pinned(formula=inner, pin=pin):
                place = self.pinned(pin, binding)
                assert place is not None
                yield from self.derive(inner, binding, place)
            case Over(formula=inner, interval=interval):
                for place in self.line.over(interval):
                    yield from self.derive(inner, binding, place)
            case Metric(operator=name, interval=interval, formula=inner):
                sign = 1 if name == "always" else -1
                for offset in self.line.reach(interval, self.line.is_gap(cell)):
                    yield from self.derive(inner, binding, cell + sign * offset)


def number(value: Number) -> Number:
    return value.numerator if value.denominator == 1 else value


def ground_atom(atom: Formula, binding: Binding) -> Ground:
    assert isinstance(atom, Atom)
    return atom.predicate, tuple(
        each.value if isinstance(each, Constant) else binding[each.name] for each in atom.arguments
    )


def unique(bindings: Iterable[Binding]) -> list[Binding]:
    return list({frozenset(binding.items()): binding for binding in bindings}.values())
