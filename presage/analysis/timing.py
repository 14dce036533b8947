"""When a rule looks at what: for each atom of a body, how far its time can be from the head's.

Every time a rule speaks of becomes a node of `Differences`: `now`, its time variables, and one for
each operator that moves to another time. Then the distance between a body atom and a head atom is
a question to that system, whatever mixture of pins, metric operators, windows and comparisons
lies between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from presage.analysis.aggregates import direction
from presage.analysis.differences import INF, NOW, START, Differences, add_comparison, difference
from presage.analysis.timeline import pin_variables
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
    aggregates,
    variables,
    walk,
)
from presage.model.statements import Rule
from presage.model.terms import Bound, Now, Number, subterms
from presage.model.time import Interval, Pin
from presage.model.windows import RowsWindow, TimeWindow, Window

Difference = tuple[str, str, Bound, Bound]
"""(x, y, low, high): low ≤ x − y ≤ high."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An atom of a body with the node of its time."""

    atom: Atom
    node: str
    positive: bool
    """Whether more of the atom can only make the body truer."""
    negative: bool
    windowed: bool
    """Whether it stands under a window operator."""
    rows: tuple[RowsWindow, ...]
    conjunct: bool
    """Whether the rule fires only where this atom holds at this node."""
    path: tuple[Difference, ...]
    aggregated: bool = False
    """Whether it stands in the braces of an aggregate."""


@dataclass(frozen=True, slots=True)
class HeadAtom:
    atom: Atom
    node: str


@dataclass(slots=True, eq=False)
class RuleTiming:
    """The times of one rule."""

    rule: Rule
    discrete: bool
    heads: list[HeadAtom] = field(default_factory=list)
    occurrences: list[Occurrence] = field(default_factory=list)
    bounds: Differences = field(default_factory=Differences)

    def range(self, occurrence: Occurrence, head: HeadAtom) -> tuple[Bound, Bound] | None:
        """The least and greatest time of the occurrence minus the head's; `None` if it never is."""
        bounds = self.bounds
        if not occurrence.conjunct:
            bounds = bounds.copy()
            for constraint in occurrence.path:
                bounds.between(*constraint)
        if not bounds.check():
            return None
        return bounds.range(occurrence.node, head.node)


def plain(value: object) -> Number:
    """A time after units are resolved."""
    assert isinstance(value, int) or hasattr(value, "numerator"), value
    return value  # type: ignore[return-value]


def offsets(interval: Interval, discrete: bool) -> tuple[Bound, Bound]:
    """The distances an interval allows; on the discrete timeline open bounds are closed."""
    low: Bound = plain(interval.low)
    high: Bound = INF if interval.high is None else plain(interval.high)
    if discrete:
        low = low if interval.closed_low else low + 1
        high = high if interval.closed_high or high == INF else high - 1
    return low, high


def window_range(window: Window, discrete: bool) -> tuple[Bound, Bound]:
    """How far from the time of evaluation the points of a window can be."""
    match window:
        case TimeWindow(back=back, ahead=ahead, hop=hop):
            low: Bound = -INF if back is None else -plain(back)
            high: Bound = INF if ahead is None else plain(ahead)
            if hop is not None:
                low -= plain(hop) - (1 if discrete else 0)
            return low, high
        case RowsWindow(ahead=ahead_rows):
            return -INF, INF if ahead_rows else 0
        case _:
            return -INF, INF


class _Walk:
    def __init__(self, timing: RuleTiming, non_negative: frozenset[tuple[str, int]]) -> None:
        self.timing, self.non_negative = timing, non_negative
        self.compared: list[Comparison] = []
        self.fresh = 0

    def node(self) -> str:
        self.fresh += 1
        return f"#{self.fresh}"

    def pin(self, pin: Pin) -> tuple[str, Difference]:
        base = START if pin.base is None else NOW if isinstance(pin.base, Now) else pin.base.name
        node = self.node()
        offset = plain(pin.offset)
        return node, (node, base, offset, offset)

    def head(self, formula: Formula, node: str) -> None:
        bounds = self.timing.bounds
        match formula:
            case Atom():
                self.timing.heads.append(HeadAtom(formula, node))
            case Pinned(formula=inner, pin=pin):
                node, constraint = self.pin(pin)
                bounds.between(*constraint)
                bounds.between(node, START, 0, INF)
                self.head(inner, node)
            case Over(formula=inner, interval=interval):
                held = self.node()
                low, high = offsets(interval, self.timing.discrete)
                bounds.between(held, START, low, high)
                self.head(inner, held)
            case Metric(operator=operator, interval=interval, formula=inner):
                moved = self.node()
                low, high = offsets(interval, self.timing.discrete)
                if operator == "historically":
                    low, high = -high, -low
                bounds.between(moved, node, low, high)
                self.head(inner, moved)

    def body(
        self,
        formula: Formula,
        node: str,
        windows: tuple[tuple[str, Window], ...] = (),
        path: tuple[Difference, ...] = (),
        signs: tuple[bool, bool] = (True, False),
        conjunct: bool = True,
    ) -> Iterator[Occurrence]:
        match formula:
            case Atom():
                inside = self.inside(node, windows)
                rows = tuple(window for _, window in windows if isinstance(window, RowsWindow))
                yield Occurrence(
                    formula, node, *signs, bool(windows), rows, conjunct, (*path, *inside, (node, START, 0, INF))
                )
            case Top():
                return
            case Comparison():
                if conjunct:
                    self.compared.append(formula)
                if aggregates(formula):
                    yield from self.collected(formula, node, windows, path, signs)
            case Pinned(formula=inner, pin=pin):
                pinned, constraint = self.pin(pin)
                path = (*path, constraint, (pinned, START, 0, INF), *self.inside(pinned, windows))
                if conjunct:
                    for bound in path:
                        self.timing.bounds.between(*bound)
                yield from self.body(inner, pinned, windows, path, signs, conjunct)
            case Metric(operator=operator, interval=interval, formula=inner):
                moved = self.node()
                low, high = offsets(interval, self.timing.discrete)
                if operator in ("once", "historically"):
                    low, high = -high, -low
                some = operator in ("once", "eventually")
                path = (*path, (moved, node, low, high))
                yield from self.body(inner, moved, windows, path, signs, conjunct and some)
            case BinaryMetric(operator=operator, interval=interval, left=left, right=right):
                reached, between = self.node(), self.node()
                low, high = offsets(interval, self.timing.discrete)
                gap = 1 if self.timing.discrete else 0
                near: tuple[Bound, Bound] = (-high, -low)
                far: tuple[Bound, Bound] = (-high + gap, -gap)
                if operator == "until":
                    near, far = (low, high), (gap, high - gap)
                yield from self.body(right, reached, windows, (*path, (reached, node, *near)), signs, conjunct)
                if far[0] <= far[1]:
                    yield from self.body(left, between, windows, (*path, (between, node, *far)), signs, False)
            case Windowed(window=window, formula=inner):
                yield from self.body(inner, node, (*windows, (node, window)), path, signs, conjunct)
            case Modal(operator=operator, formula=inner):
                moved = self.node()
                path = (*path, *self.inside(moved, windows))
                yield from self.body(inner, moved, windows, path, signs, conjunct and operator == "some")
            case Reset(formula=inner):
                yield from self.body(inner, node, (), path, signs, conjunct)
            case Not(formula=inner):
                yield from self.body(inner, node, windows, path, signs[::-1], False)
            case Implies(left=left, right=right):
                yield from self.body(left, node, windows, path, signs[::-1], False)
                yield from self.body(right, node, windows, path, signs, False)
            case And(parts=parts):
                for part in parts:
                    yield from self.body(part, node, windows, path, signs, conjunct)
            case Or(parts=parts):
                for part in parts:
                    yield from self.body(part, node, windows, path, signs, False)
            case Over(formula=inner):
                yield from self.body(inner, node, windows, path, signs, False)

    def collected(
        self,
        comparison: Comparison,
        node: str,
        windows: tuple[tuple[str, Window], ...],
        path: tuple[Difference, ...],
        signs: tuple[bool, bool],
    ) -> Iterator[Occurrence]:
        """What the aggregates of a comparison look at: with more of it the comparison may become true, false, or
        either. The times of one pair of braces bound one another."""
        way = direction(comparison, self.non_negative)
        inner = signs if way > 0 else signs[::-1] if way < 0 else (True, True)
        for aggregate in aggregates(comparison):
            found: list[Occurrence] = []
            ties: list[Difference] = []
            for literal in aggregate.body:
                if isinstance(literal, Comparison):
                    ties.extend(_ties(literal, self.timing.discrete))
                    continue
                held = list(self.body(literal, node, windows, path, inner, False))
                found += held
                if isinstance(literal, (Pinned, Windowed)) and not any(isinstance(e, Or) for e in walk(literal)):
                    ties.extend(constraint for each in held for constraint in each.path)
            for each in found:
                yield replace(each, path=(*each.path, *ties), aggregated=True)

    def inside(self, node: str, windows: tuple[tuple[str, Window], ...]) -> Iterator[Difference]:
        for evaluated, window in windows:
            low, high = window_range(window, self.timing.discrete)
            if (low, high) != (-INF, INF):
                yield node, evaluated, low, high


def _ties(comparison: Comparison, discrete: bool) -> Iterator[Difference]:
    """What a comparison of times says about their distance."""
    bounds, found = Differences(), difference(comparison)
    if found is None or len(found[0]) > 2 or comparison.operator == "!=":
        return
    add_comparison(bounds, comparison, frozenset(found[0]) | {START} if discrete else frozenset())
    names = (*found[0], START) if len(found[0]) == 1 else tuple(found[0])
    if len(names) == 2:
        yield (*names, *bounds.range(*names))


def _compare(timing: RuleTiming, compared: list[Comparison]) -> None:
    """Adds what the comparisons of a rule say about its times."""
    timed = _timed_variables(timing.rule)
    relevant = [each for each in compared if {variable.name for variable in variables(each)} & timed]
    whole = {NOW, START, *pin_variables(timing.rule)} if timing.discrete else set()
    sums = [found for each in relevant if (found := _sum(each)) is not None]
    if timing.discrete:
        # What lies between two whole times is whole.
        whole |= {third for first, second, third in sums if first in whole and second in whole}
    for comparison in relevant:
        add_comparison(timing.bounds, comparison, frozenset(whole))
    for first, second, third in sums:
        timing.bounds.between(first, second, *timing.bounds.range(third, START))
    for comparison in relevant:
        if comparison.operator == "!=" and timing.discrete:
            _exclude(timing.bounds, comparison, whole)


def _sum(comparison: Comparison) -> tuple[str, str, str] | None:
    """x, y and z of an equation x = y + z."""
    found = difference(comparison)
    if comparison.operator != "=" or found is None or len(found[0]) != 3 or found[1] != 0:
        return None
    shares = found[0]
    for sign in (1, -1):
        alone = [name for name, share in shares.items() if share == sign]
        others = [name for name, share in shares.items() if share == -sign]
        if len(alone) == 1 and len(others) == 2:
            timed = sorted(others, key=lambda name: name[:1].islower())
            return alone[0], timed[0], timed[1]
    return None


def _exclude(bounds: Differences, comparison: Comparison, whole: set[str]) -> None:
    """`x != y + c`, where that is the end of what x − y can be: one step less."""
    found = difference(comparison)
    if found is None or len(found[0]) != 2 or not found[0].keys() <= whole:
        return
    (x, share), (y, other) = found[0].items()
    if share != -other:
        return
    excluded = -found[1] / share
    low, high = bounds.range(x, y)
    if low == excluded:
        bounds.between(x, y, low + 1, high)
    elif high == excluded:
        bounds.between(x, y, low, high - 1)


MOST_TIMES = 120


def _timed_variables(rule: Rule) -> set[str]:
    """The variables that comparisons relate to the rule's times, directly or through others. Beyond a
    number no one writes, only the time variables themselves."""
    pinned = pin_variables(rule)
    compared = [node for literal in rule.body for node in walk(literal) if isinstance(node, Comparison)]
    by_name: dict[str, list[set[str]]] = {}
    groups = []
    for comparison in compared:
        names = {variable.name for variable in variables(comparison)}
        if any(isinstance(part, Now) for side in (comparison.left, comparison.right) for part in subterms(side)):
            names.add(NOW)
        groups.append(names)
        for name in names:
            by_name.setdefault(name, []).append(names)
    found = {NOW, *pinned}
    todo = list(found)
    while todo:
        for names in by_name.get(todo.pop(), ()):
            todo.extend(names - found)
            found |= names
    return found if len(found) <= MOST_TIMES else {NOW, *pinned}


def time_rule(rule: Rule, discrete: bool, non_negative: frozenset[tuple[str, int]] = frozenset()) -> RuleTiming:
    """`non_negative` are the columns whose values are declared not to be negative."""
    timing = RuleTiming(rule, discrete)
    walker = _Walk(timing, non_negative)
    timing.bounds.between(NOW, START, 0, INF)
    for atom in rule.head_atoms:
        walker.head(atom, NOW)
    for literal in rule.body:
        timing.occurrences.extend(walker.body(literal, NOW))
    _compare(timing, walker.compared)
    for occurrence in timing.occurrences:
        if occurrence.conjunct:
            for constraint in occurrence.path:
                timing.bounds.between(*constraint)
    return timing
