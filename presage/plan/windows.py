"""What a window shows of the formulas below it; windows of time as stretches of time.

A window hides what lies outside of it; it does not change what holds inside. So it moves down through `and`, `or` and
`not`, meets other windows over the same time, and ends at the modalities: `window(5) some φ` and `window(5) all φ`,
with a φ that looks at one time only, are the forms that the plan knows. Windows over anything else stay where they are.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

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
    Pinned,
    Reset,
    Top,
    Windowed,
    children,
    transform,
    walk,
)
from presage.model.terms import Constant, Now, Term, Variable
from presage.model.time import Quantity
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow

NOTHING = Not(Top())


def seen_through(formula: Windowed) -> Formula:
    """An equivalent formula in which the window stands as far down as it goes; one step only."""
    window, inner = formula.window, formula.formula
    if isinstance(window, OnlyWindow):
        return formula

    def below(part: Formula) -> Windowed:
        return Windowed(window, part, span=formula.span)

    match inner:
        case Not(formula=part):
            return replace(inner, formula=below(part))
        case And(parts=parts) | Or(parts=parts):
            return replace(inner, parts=tuple(map(below, parts)))
        case Implies(left=left, right=right):
            return replace(inner, left=below(left), right=below(right))
        case Comparison() | Top():
            return inner
        case Reset():
            # What it speaks of is the whole stream, whatever other windows stand above.
            return inner
        case Modal(operator="some", formula=Or(parts=parts) as alternatives) if isinstance(window, RowsWindow):
            return replace(alternatives, parts=tuple(below(replace(inner, formula=part)) for part in parts))
        case _ if isinstance(window, RowsWindow):
            return formula
        case Atom() if window.hop is None:
            return inner
        case Windowed(window=TimeWindow(hop=None) as other, formula=part) if window.hop is None:
            both = TimeWindow(_less(window.back, other.back), _less(window.ahead, other.ahead))
            return Windowed(both, part, span=inner.span)
        case Pinned(formula=Atom(), pin=pin) if isinstance(pin.base, Now) and window.hop is None:
            return inner if _within(window, pin.offset) else NOTHING
        case Metric(formula=Atom()) if window.hop is None:
            return _cut(inner, window)
        case Modal(operator=operator, formula=Windowed(window=TimeWindow(hop=None), formula=Modal() as other)) if (
            window.hop is None and operator == other.operator and is_at_one_time(other.formula)
        ):
            # The inner windows cover the outer one, and show nothing beyond it.
            return below(replace(inner, formula=other.formula))
        case _:
            return formula


def is_known(formula: Windowed) -> bool:
    """Whether the plan knows the form."""
    return (
        isinstance(formula.window, TimeWindow)
        and isinstance(formula.formula, Modal)
        and is_at_one_time(formula.formula.formula)
    )


def is_at_one_time(formula: Formula) -> bool:
    """Whether nothing in a formula looks beyond its own time, below `reset` aside."""
    match formula:
        case Atom() | Comparison() | Top() | Reset():
            return True
        case Not() | And() | Or() | Implies():
            return all(map(is_at_one_time, children(formula)))
        case _:
            return False


def _less(one: Quantity | None, other: Quantity | None) -> Quantity | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)  # type: ignore[type-var]


def _within(window: TimeWindow, offset: object) -> bool:
    """Whether a time so far from now is in a window."""
    if offset < 0:  # type: ignore[operator]
        return window.back is None or -offset <= window.back  # type: ignore[operator]
    return window.ahead is None or offset <= window.ahead  # type: ignore[operator]


def _cut(formula: Metric, window: TimeWindow) -> Formula:
    """An operator over a fact, of which a window hides what is too far away."""
    edge = window.back if formula.operator in ("once", "historically") else window.ahead
    interval = formula.interval
    if edge is None or (interval.high is not None and interval.high <= edge):  # type: ignore[operator]
        return formula
    if formula.operator in ("historically", "always") or interval.low > edge:  # type: ignore[operator]
        return NOTHING
    if interval.low == edge and not interval.closed_low:
        return NOTHING
    return replace(formula, interval=replace(interval, high=edge, closed_high=True))


# Filters.


def without_filters(formula: Formula, statics: Container[str], inputs: Container[str]) -> Formula:
    """An equivalent formula that asks of its facts what the filters above them let through. What is static is known
    through any window."""
    return _Filtering(statics, inputs).through(formula, ())


class _Filtering:
    def __init__(self, statics: Container[str], inputs: Container[str]) -> None:
        self.statics, self.inputs = statics, inputs

    def through(self, formula: Formula, filters: tuple[OnlyWindow, ...]) -> Formula:
        def below(part: Formula) -> Formula:
            return self.through(part, filters)

        match formula:
            case Windowed(window=OnlyWindow() as window, formula=part):
                return self.through(part, (*filters, window))
            case Windowed(window=window, formula=part) if isinstance(window, TimeWindow) or not filters:
                # Hiding facts and hiding times go together in either order; counting what is hidden does not.
                return replace(formula, formula=below(part))
            case Reset(formula=part):
                return replace(formula, formula=self.through(part, ()))
            case Not(formula=part) | Modal(formula=part) | Metric(formula=part) | Pinned(formula=part):
                return replace(formula, formula=below(part))
            case And(parts=parts) | Or(parts=parts):
                return replace(formula, parts=tuple(map(below, parts)))
            case Implies(left=left, right=right) | BinaryMetric(left=left, right=right):
                return replace(formula, left=below(left), right=below(right))
            case Atom(predicate=predicate) if predicate not in self.statics:
                found: Formula = formula
                for window in filters:
                    found = _let_through(found, window)
                return found
            case Windowed(window=RowsWindow() as window, formula=part) if by := _one_partition(filters, window):
                # Rows that are not let through are not counted. With no rows at all, such a window is not the same as
                # one with partitions: it reaches to the start of the stream, which only rows themselves do not show.
                part = transform(self.through(part, ()), lambda each: self._hidden(each, by))
                if all(self._is_of_rows(each) for each in walk(part)):
                    return replace(formula, window=replace(window, by=by), formula=part)
                return Windowed(filters[0], formula, span=formula.span)
            case Windowed():
                return Windowed(filters[0], formula, span=formula.span)
            case _:
                return formula

    def _hidden(self, formula: Formula, patterns: tuple[Atom, ...]) -> Formula:
        """Nothing, instead of an atom that no pattern is about."""
        if not isinstance(formula, Atom) or formula.predicate in self.statics:
            return formula
        return formula if any(each.predicate == formula.predicate for each in patterns) else NOTHING

    def _is_of_rows(self, formula: Formula) -> bool:
        if isinstance(formula, Atom):
            return formula.predicate in self.statics or formula.predicate in self.inputs
        return not isinstance(formula, Reset)


def _one_partition(filters: tuple[OnlyWindow, ...], window: RowsWindow) -> tuple[Atom, ...]:
    """Patterns for all that a filter lets through, as one partition; none where there are no such patterns."""
    if len(filters) > 1 or window.by:
        return ()
    found = []
    for pattern in filters[0].patterns:
        named = [each.name for each in pattern.arguments if isinstance(each, Variable) and not each.is_anonymous]
        if len(set(named)) < len(named):
            return ()
        anything = Variable("_")
        arguments = (anything if isinstance(each, Variable) else each for each in pattern.arguments)
        found.append(replace(pattern, arguments=tuple(arguments)))
    return tuple(found)


def _let_through(formula: Formula, window: OnlyWindow) -> Formula:
    """An atom, perhaps with conditions, where a filter lets it through."""
    atom = next((part for part in walk(formula) if isinstance(part, Atom)), None)
    if atom is None:
        return formula
    ways = [_fitting(atom, pattern) for pattern in window.patterns if pattern.predicate == atom.predicate]
    if any(not way for way in ways):
        return formula
    fits = [way[0] if len(way) == 1 else And(tuple(way)) for way in ways]
    if not fits:
        return NOTHING
    return And((formula, fits[0] if len(fits) == 1 else Or(tuple(fits))))


def _fitting(atom: Atom, pattern: Atom) -> list[Formula]:
    """What an atom must fulfil to have the constants of a pattern, and to be equal where the pattern is."""
    conditions: list[Formula] = []
    first: dict[str, Term] = {}
    for wanted, given in zip(pattern.arguments, atom.arguments, strict=True):
        if isinstance(wanted, Constant):
            conditions.append(Comparison("=", given, wanted))
        elif isinstance(wanted, Variable) and not wanted.is_anonymous:
            same = first.setdefault(wanted.name, given)
            if same is not given:
                conditions.append(Comparison("=", given, same))
    return conditions
