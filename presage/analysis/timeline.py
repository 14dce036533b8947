"""Which timeline a program runs on, and whether its times fit it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from presage.errors import Diagnostic, Note, Span
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Formula,
    Metric,
    Modal,
    Or,
    Over,
    Pinned,
    Reset,
    Windowed,
    children,
    walk,
)
from presage.model.program import Program
from presage.model.statements import Distribution, Horizon, Input, Rule
from presage.model.terms import Number, Variable
from presage.model.windows import TimeWindow
from presage.time.bounds import COUNTABLE


def pin_variables(rule: Rule) -> set[str]:
    """The time variables a rule pins to."""
    return pins_of(rule.formulas())


def pins_of(formulas: Iterable[Formula]) -> set[str]:
    """The time variables that formulas pin to."""
    return {
        node.pin.base.name
        for formula in formulas
        for node in walk(formula)
        if isinstance(node, Pinned) and isinstance(node.pin.base, Variable)
    }


def decide_timeline(program: Program) -> tuple[str, list[Diagnostic]]:
    """Declared; or dense for metric operators alone, discrete without them; a mix must say."""
    if program.declared_timeline is not None:
        return program.declared_timeline, []
    metric: Span | None = None
    other: tuple[Span, str] | None = None
    for rule in program.rules:
        for formula in rule.formulas():
            for node in walk(formula):
                if isinstance(node, (Metric, BinaryMetric)):
                    metric = metric or node.span
                elif isinstance(node, (Windowed, Modal, Reset)):
                    other = other or (node.span, "a window or modality")
        if other is None and len(pin_variables(rule)) > 1:
            other = (rule.span, "a rule with more than one time variable")
    if metric is None:
        return "discrete", []
    if other is None:
        return "dense", []
    message = "the program mixes metric operators with windows or several time variables, and does not say its timeline"
    hint = "write `timeline discrete.` (whole numbers) or `timeline dense.` (rationals)"
    return "discrete", [Diagnostic("T101", message, metric, hint, (Note(other[1], other[0]),))]


def check_times(program: Program, timeline: str, statics: set[str]) -> list[Diagnostic]:
    """Times that are not whole on the discrete timeline, and operators that can never hold."""
    problems: list[Diagnostic] = []
    if timeline == "discrete":
        for value, span in _times(program):
            if not isinstance(value, int):
                message = "on the discrete timeline a time is a whole number of time units"
                hint = f"{'choose a finer `tick`, or ' if program.tick else ''}declare `timeline dense.`"
                problems.append(Diagnostic("T102", message, span, hint))
        problems.extend(_without_points(program))
    problems.extend(_beyond_counting(program, timeline))
    for rule in program.rules:
        for formula in rule.body:
            problems.extend(_never(formula, statics))
        for formula in rule.head_atoms:
            for node in walk(formula):
                if isinstance(node, Metric) and node.operator == "historically" and node.interval.high is None:
                    message = "`historically` in a head cannot reach back without end: nothing holds before time 0"
                    hint = "give it an upper bound, such as `historically[0,10]`"
                    problems.append(Diagnostic("T103", message, node.interval.span, hint))
    return problems


def _times(program: Program) -> Iterator[tuple[object, Span]]:
    for rule in program.rules:
        for formula in rule.formulas():
            for node in walk(formula):
                match node:
                    case Pinned(pin=pin):
                        yield pin.offset, pin.span
                    case Over(interval=interval) | Metric(interval=interval) | BinaryMetric(interval=interval):
                        yield interval.low, interval.span
                        if interval.high is not None and interval.high != interval.low:
                            yield interval.high, interval.span
                    case Windowed(window=TimeWindow() as window):
                        for part in (window.back, window.ahead, window.hop):
                            if part is not None:
                                yield part, window.span
    for query in program.queries:
        if query.pin is not None:
            yield query.pin.offset, query.pin.span
    for declared in program.each(Input):
        if isinstance(declared.delay, Distribution):
            for wait, _ in declared.delay.parts:
                yield wait, declared.delay.span
        elif declared.delay is not None:
            yield declared.delay, declared.span
    horizon = program.setting(Horizon)
    if horizon is not None:
        yield horizon.length, horizon.span


def longest_time(program: Program) -> Number:
    """The greatest time or length of time that a program mentions."""
    return max((size for value, _ in _numbers(program) for size in (value, -value)), default=0)


def _numbers(program: Program) -> list[tuple[Number, Span]]:
    return [(value, span) for value, span in _times(program) if isinstance(value, (int, Fraction))]


def _beyond_counting(program: Program, timeline: str) -> Iterator[Diagnostic]:
    """Times that are too large, or too fine for how large others are."""
    times = _numbers(program)
    parts = 1 if timeline == "discrete" else math.lcm(*(value.denominator for value, _ in times))
    per_unit = parts if timeline == "discrete" else 2 * parts  # between two points of dense time there is a gap
    if per_unit >= COUNTABLE:
        span = max(times, key=lambda each: each[0].denominator)[1]
        message = f"one unit of time in steps of 1/{parts} is more than can be counted"
        yield Diagnostic("T105", message, span, "round the bounds, so that they have a common denominator")
        return
    for value, span in times:
        if max(value, -value) * per_unit >= COUNTABLE:
            message = "so long a time is more than can be counted"
            yield Diagnostic("T105", message, span, "write `inf` for a bound without end, or choose a coarser unit")


def _without_points(program: Program) -> Iterator[Diagnostic]:
    """Intervals such as (0,1), between whole numbers."""
    for rule in program.rules:
        for formula in rule.formulas():
            for node in walk(formula):
                if isinstance(node, (Over, Metric, BinaryMetric)):
                    low, high = node.interval.low, node.interval.high
                    if not isinstance(low, int) or not isinstance(high, int):
                        continue
                    if low + (not node.interval.closed_low) > high - (not node.interval.closed_high):
                        message = "on the discrete timeline the interval contains no time point"
                        yield Diagnostic("T102", message, node.interval.span, "include a bound with `[` or `]`")


def _never(formula: Formula, statics: set[str]) -> Iterator[Diagnostic]:
    match formula:
        case Metric(operator="historically", interval=interval, formula=inner) if interval.high is None:
            if _false_before_start(inner, statics):
                message = "`historically` without an upper bound can never hold: before time 0 nothing does"
                hint = "give it an upper bound, or use `window(inf) all`, which begins with the stream"
                yield Diagnostic("T103", message, interval.span, hint)
    for part in children(formula):
        yield from _never(part, statics)


def _false_before_start(formula: Formula, statics: set[str]) -> bool:
    """Whether a formula is surely false at times before the stream starts."""
    match formula:
        case Atom(predicate=predicate):
            return predicate not in statics
        case And(parts=parts):
            return any(_false_before_start(part, statics) for part in parts)
        case Or(parts=parts):
            return all(_false_before_start(part, statics) for part in parts)
        case Metric(operator=("once" | "historically"), formula=inner):
            return _false_before_start(inner, statics)
        case BinaryMetric(operator="since", right=right):
            return _false_before_start(right, statics)
        case _:
            return False
