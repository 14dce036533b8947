"""What may still become of an answer on dense time, from the definitions, with time cut into cells.

All times that programs and streams name are whole numbers; a cell is a multiple of 1/k or the open gap after it. A
formula holds by a set of leaves: input atoms at points and, below what must hold throughout a stretch, throughout gaps.
Finitely many facts that begin after now − δ cover a missing stretch only if it begins after now − δ, so a leaf is
judged by where it begins. Times that operators leave open are tried at the points only. Those that show in a way
should be coarser than the points, so that there is one wherever a time that does not show can lie between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from presage.model import (
    And,
    Atom,
    Comparison,
    Constant,
    Formula,
    Interval,
    Metric,
    Modal,
    Number,
    Or,
    Pin,
    Pinned,
    Program,
    Rule,
    Variable,
    Windowed,
)
from presage.model.formulas import atoms, variables, walk

from .hypothetical import Delays, TooLarge
from .streams import Value

Cell = int
Leaf = tuple[str, tuple[Value, ...], Cell]
Leaves = frozenset[Leaf]
MOST_SETS = 3_000
LAST = 40
"""No stretch that anything hangs on goes further."""
TRIED = 8
"""Open times are tried up to here."""


@dataclass(frozen=True)
class Span:
    low: Number
    closed_low: bool
    high: Number | None
    closed_high: bool


class DenseOutlook:
    """What is known at `now` of a normalised program without negation."""

    def __init__(
        self,
        program: Program,
        arrived: Iterable[tuple[str, tuple[Value, ...], Span]],
        now: Number,
        delays: Delays,
        constants: Iterable[Value],
        fineness: int = 8,
    ) -> None:
        self.program, self.now, self.delays, self.fineness = program, now, delays, fineness
        self.arrived: dict[tuple[str, tuple[Value, ...]], list[Span]] = {}
        for name, values, span in arrived:
            self.arrived.setdefault((name, values), []).append(span)
        self.constants = tuple(constants)
        self.rules: dict[str, list[tuple[Rule, Formula, Atom]]] = {}
        for rule in program.rules:
            for head in () if rule.head is None else rule.head.atoms:
                (atom,) = atoms(head)
                self.rules.setdefault(atom.predicate, []).append((rule, head, atom))
        self.known: dict[tuple[str, tuple[Value, ...], Cell], frozenset[Leaves]] = {}

    # -- cells ------------------------------------------------------------------------------------

    def cell(self, time: Number) -> Cell:
        if isinstance(time, int):
            return time * 2 * self.fineness
        found = time * self.fineness
        assert found.denominator == 1, "a time that is none of the points"
        return int(found) * 2

    def begins(self, cell: Cell) -> Fraction:
        return Fraction(cell - cell % 2, 2 * self.fineness)

    def cells(self, span: Span) -> range:
        first = self.cell(span.low) + (not span.closed_low)
        high = LAST if span.high is None else span.high
        return range(first, self.cell(high) + span.closed_high)

    def has_arrived(self, leaf: Leaf) -> bool:
        name, values, cell = leaf
        return any(cell in self.cells(span) for span in self.arrived.get((name, values), ()))

    def may_arrive(self, leaf: Leaf) -> bool:
        return self.now < self.begins(leaf[2]) + self.delays(leaf[0], leaf[1])

    # -- what makes things true -------------------------------------------------------------------

    def atom(self, name: str, values: tuple[Value, ...], cell: Cell) -> frozenset[Leaves]:
        if cell < 0:
            return frozenset()
        key = (name, values, cell)
        if key not in self.known:
            if name in self.rules:
                found = {leaves for rule in self.rules[name] for leaves in self._by(*rule, values, cell)}
            else:
                found = {frozenset({key})} if self.has_arrived(key) or self.may_arrive(key) else set()
            self.known[key] = _minimal(found)
        return self.known[key]

    def _by(self, rule: Rule, head: Formula, atom: Atom, values: tuple[Value, ...], cell: Cell) -> Iterator[Leaves]:
        given: dict[str, Value] = {}
        for term, value in zip(atom.arguments, values, strict=True):
            if isinstance(term, Constant):
                if term.value != value:
                    return
            elif given.setdefault(term.name, value) != value:  # type: ignore[union-attr]
                return
        pins = [
            part.pin
            for part in (head, *rule.body)
            for each in walk(part)
            if isinstance(each, Pinned)
            for part in [each]
        ]
        times = {pin.base.name for pin in pins if isinstance(pin.base, Variable)}
        data = {each.name for part in rule.body for each in variables(part)} - times - set(given)
        looked, bound = self._head(head, cell)
        open_times = sorted(times - set(bound))
        assert cell % 2 == 0 or not (data or open_times or len(looked) > 1), (
            "what a gap holds by is not the same throughout"
        )
        every = range(0, 2 * self.fineness * TRIED, 2)
        for chosen in product(self.constants, repeat=len(data)):
            for picked in product(every, repeat=len(open_times)):
                binding = {**given, **dict(zip(sorted(data), chosen, strict=True))}
                at = {**bound, **dict(zip(open_times, picked, strict=True))}
                for now in looked:
                    if now >= 0:
                        yield from self.all(rule.body, now, binding, at)

    def _head(self, head: Formula, cell: Cell) -> tuple[list[Cell], dict[str, Cell]]:
        """The times at which a rule is looked at that says something of a time, and its time variable."""
        match head:
            case Atom():
                return [cell], {}
            case Pinned(pin=Pin(base=Variable(name=name), offset=offset)):
                return [0], {name: cell - self.cell(offset)}  # type: ignore[arg-type]
            case Metric(operator=operator, interval=interval):
                mirrored = "once" if operator == "always" else "eventually"
                return list(self.reach(mirrored, interval, cell)), {}
            case _:
                raise NotImplementedError

    def reach(self, operator: str, interval: Interval, cell: Cell) -> Iterator[Cell]:
        """The points that `once` or `eventually` looks at from a point."""
        for away in self._away(interval):
            if away % 2 == 0:
                yield cell + (away if operator in ("eventually", "always") else -away)

    def _away(self, interval: Interval) -> range:
        low, high = self.cell(interval.low), self.cell(interval.high)  # type: ignore[arg-type]
        return range(low + (not interval.closed_low), high + interval.closed_high)

    def throughout(self, operator: str, interval: Interval, cell: Cell) -> range:
        """The cells that `historically` or `always` looks at from a point, or from all of a gap."""
        away = self._away(interval)
        if cell % 2:
            away = range(self.cell(interval.low), self.cell(interval.high) + 1)  # type: ignore[arg-type]
        first, last = away[0], away[-1]
        return range(cell + first, cell + last + 1) if operator == "always" else range(cell - last, cell - first + 1)

    def all(
        self, parts: Iterable[Formula], now: Cell, binding: dict[str, Value], at: dict[str, Cell]
    ) -> frozenset[Leaves]:
        return self.together(self.one(each, now, binding, at) for each in parts)

    def together(self, parts: Iterable[frozenset[Leaves]]) -> frozenset[Leaves]:
        found: frozenset[Leaves] = frozenset({frozenset()})
        for each in parts:
            if len(found) * len(each) > MOST_SETS:
                raise TooLarge("too many ways")
            found = _minimal(first | second for first, second in product(found, each))
        return found

    def one(self, formula: Formula, now: Cell, binding: dict[str, Value], at: dict[str, Cell]) -> frozenset[Leaves]:
        match formula:
            case Atom():
                values = tuple(
                    term.value if isinstance(term, Constant) else binding[term.name]  # type: ignore[union-attr]
                    for term in formula.arguments
                )
                return self.atom(formula.predicate, values, now)
            case And(parts=parts):
                return self.all(parts, now, binding, at)
            case Or(parts=parts):
                return _minimal(leaves for part in parts for leaves in self.one(part, now, binding, at))
            case Comparison(operator=operator, left=Variable(name=first), right=Variable(name=second)):
                holds = at[first] <= at[second] if operator == "<=" else at[first] < at[second]
                return frozenset({frozenset()}) if holds else frozenset()
            case Pinned(formula=inner, pin=pin):
                base = at[pin.base.name] if isinstance(pin.base, Variable) else 0 if pin.base is None else now
                cell = base + self.cell(pin.offset)  # type: ignore[arg-type]
                return self.one(inner, cell, binding, at) if cell >= 0 else frozenset()
            case Metric(operator=("once" | "eventually") as operator, interval=interval, formula=inner):
                assert now % 2 == 0 or interval.low == interval.high
                cells: Iterable[Cell] = self.reach(operator, interval, now)
                return _minimal(leaves for cell in cells for leaves in self.one(inner, cell, binding, at))
            case Metric(operator=operator, interval=interval, formula=inner):
                cells = self.throughout(operator, interval, now)
                return self.together(self.one(inner, cell, binding, at) for cell in cells)
            case Windowed(window=window, formula=Modal(operator=operator, formula=inner)):
                assert now % 2 == 0
                first = max(0, now - self.cell(window.back))  # type: ignore[union-attr]
                whole = range(first, now + self.cell(window.ahead or 0) + 1)  # type: ignore[union-attr]
                if operator == "all":
                    return self.together(self.one(inner, cell, binding, at) for cell in whole)
                return _minimal(leaves for cell in whole[::2] for leaves in self.one(inner, cell, binding, at))
            case _:
                raise NotImplementedError(formula)

    # -- answers ----------------------------------------------------------------------------------

    def ways(self, name: str, values: tuple[Value, ...], time: Number) -> dict[Leaves, set[Leaves]]:
        """The minimal premise sets with their sets of evidence; without the premises of ways that need none."""
        found: dict[Leaves, set[Leaves]] = {}
        for leaves in self.atom(name, values, self.cell(time)):
            evidence = frozenset(filter(self.has_arrived, leaves))
            found.setdefault(leaves - evidence, set()).add(evidence)
        return {
            premises: evidence
            for premises, evidence in found.items()
            if frozenset() not in evidence and not any(other < premises for other in found)
        }

    def status(self, name: str, values: tuple[Value, ...], time: Number) -> str:
        sets = self.atom(name, values, self.cell(time))
        if any(all(map(self.has_arrived, leaves)) for leaves in sets):
            return "confirmed"
        return "impossible" if not sets else "possible" if self.ways(name, values, time) else "open"


def _minimal(sets: Iterable[Leaves]) -> frozenset[Leaves]:
    """Without sets that contain others: so do their premises or their evidence."""
    kept: list[Leaves] = []
    for each in sorted(set(sets), key=len):
        if not any(other <= each for other in kept):
            kept.append(each)
    return frozenset(kept)
