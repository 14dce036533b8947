"""Formulas as the plan wants them: negation as far out as it goes, intervals as distances."""

from __future__ import annotations

from dataclasses import replace

from presage.model.formulas import (
    And,
    BinaryMetric,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Pinned,
    Reset,
    Windowed,
    variables,
)
from presage.model.terms import Number, number
from presage.model.time import Interval
from presage.plan.nodes import Reach
from presage.plan.windows import NOTHING, seen_through

DUAL = {"once": "historically", "historically": "once", "eventually": "always", "always": "eventually"}


def time(value: object) -> Number:
    return value  # type: ignore[return-value]


def reach_of(interval: Interval, discrete: bool) -> Reach:
    """The distances of an interval; on the discrete timeline excluded bounds become included ones."""
    low, high = time(interval.low), None if interval.high is None else time(interval.high)
    open_low, open_high = not interval.closed_low, high is not None and not interval.closed_high
    if discrete:
        low = low + 1 if open_low else low
        high = high - 1 if open_high and high is not None else high
        open_low = open_high = False
    return Reach(low, high, open_low, open_high)


def mirrored(reach: Reach) -> Reach:
    """The same distances into the other direction."""
    near = None if reach.far is None else number(-reach.far)
    far = None if reach.near is None else number(-reach.near)
    return Reach(near, far, reach.open_far, reach.open_near)


def positive(formula: Formula) -> Formula:
    """An equivalent formula whose negations are as far out as they can be."""
    match formula:
        case Not(formula=inner):
            moved = positive(inner)
            return moved.formula if isinstance(moved, Not) else Not(moved, span=formula.span)
        case Implies(left=left, right=right):
            return positive(Not(And((left, Not(right)), span=formula.span), span=formula.span))
        case Metric(formula=inner):
            moved = positive(inner)
            if moved == NOTHING:
                return NOTHING
            if isinstance(moved, Not):
                return Not(replace(formula, operator=DUAL[formula.operator], formula=moved.formula), span=formula.span)
            return replace(formula, formula=moved)
        case Pinned(formula=inner) | Reset(formula=inner):
            moved = positive(inner)
            if moved == NOTHING:
                return NOTHING
            if isinstance(moved, Not):
                return Not(replace(formula, formula=moved.formula), span=formula.span)
            return replace(formula, formula=moved)
        case Modal(operator=operator, formula=inner):
            moved = positive(inner)
            if moved == NOTHING:
                return NOTHING
            if isinstance(moved, Not):
                other = "all" if operator == "some" else "some"
                return Not(replace(formula, operator=other, formula=moved.formula), span=formula.span)
            return replace(formula, formula=moved)
        case Windowed():
            moved = seen_through(formula)
            return _over_modality(formula) if moved == formula else positive(moved)
        case And(parts=parts):
            moved_parts = tuple(positive(part) for part in parts)
            return NOTHING if NOTHING in moved_parts else replace(formula, parts=moved_parts)
        case Or(parts=parts):
            moved_parts = tuple(part for each in parts if (part := positive(each)) != NOTHING)
            if len(moved_parts) < 2:
                return moved_parts[0] if moved_parts else NOTHING
            if any(isinstance(part, Not) for part in moved_parts):
                opposite = tuple(part.formula if isinstance(part, Not) else Not(part) for part in moved_parts)
                return Not(And(opposite, span=formula.span), span=formula.span)
            return replace(formula, parts=moved_parts)
        case BinaryMetric(left=left, right=right):
            moved = positive(right)
            return NOTHING if moved == NOTHING else replace(formula, left=positive(left), right=moved)
        case _:
            return formula


def _over_modality(formula: Windowed) -> Formula:
    """A window over `some` or `all`, with negation outside."""
    modal = formula.formula
    if not isinstance(modal, Modal):
        return formula
    moved = positive(modal.formula)
    if moved == NOTHING:
        return NOTHING
    if isinstance(moved, Not):
        opposite = Modal("all" if modal.operator == "some" else "some", moved.formula, span=modal.span)
        return Not(replace(formula, formula=opposite), span=formula.span)
    return replace(formula, formula=replace(modal, formula=moved))


def names(formula: Formula) -> tuple[str, ...]:
    return tuple(dict.fromkeys(variable.name for variable in variables(formula)))


def single_step(formula: Metric) -> Number | None:
    """The offset of an operator over a single point of time."""
    interval = formula.interval
    if interval.high is None or interval.low != interval.high:
        return None
    distance = time(interval.low)
    return number(-distance) if formula.operator in ("once", "historically") else distance
