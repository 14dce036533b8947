"""How long after its time a fact of an open-ended stream is final, and which instances of rules can be looked at.

The lag of an input is its delay; that of a derived predicate follows from what its rules look at. An instance
of a rule is looked at once everything in its body is final, so that what has been said stays true.
"""

from __future__ import annotations

from collections.abc import Mapping

from presage.analysis.subject import Subject
from presage.errors import PresageError
from presage.model.formulas import (
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Metric,
    Modal,
    Pinned,
    Top,
    Windowed,
    children,
)
from presage.model.terms import Now
from presage.model.windows import RowsWindow, TimeWindow
from presage.models.formulas import distances
from presage.models.times import FAR
from presage.models.windows import length

Lags = Mapping[str, int]


def lags(subject: Subject) -> dict[str, int]:
    """For each predicate how long after its time it may still change."""
    found = {
        name: length(each.delay) if each.is_input and each.delay else 0 for name, each in subject.predicates.items()
    }
    chosen_together = [
        {head.atom.predicate for head in timing.heads}
        for timing in subject.timings
        if timing.rule.head is not None and timing.rule.head.choice
    ]
    for _ in range(len(found) + 1):
        before = dict(found)
        for edge in subject.dependencies:
            if edge.high > 0 and not isinstance(edge.high, int):
                line = subject.line(edge.rule)
                raise PresageError(
                    f"{subject.program.source.name}: the rule in line {line} looks ahead without end, so that nothing "
                    "is ever settled in a run: bound it, or use `presage models`"
                )
            if isinstance(edge.high, int):
                found[edge.head] = max(found[edge.head], found[edge.body] + edge.high)
        for names in chosen_together:
            longest = max(found[name] for name in names)
            found.update(dict.fromkeys(names, longest))
        if found == before:
            return found
    raise PresageError(
        f"{subject.program.source.name}: rules look ever farther ahead, so that nothing is ever settled in a run: "
        "use `presage models`"
    )


NOTHING_AHEAD = -FAR


def settled_after(formula: Formula, lag: Lags, in_window: bool = False) -> int:
    """How long after the time at which a formula is looked at its truth is final, pins to other times aside;
    `FAR` if it never is."""
    match formula:
        case Atom(predicate=predicate):
            return lag[predicate]
        case Top() | Comparison():
            return NOTHING_AHEAD
        case Pinned(formula=inner, pin=pin):
            return length(pin.offset) + settled_after(inner, lag) if isinstance(pin.base, Now) else NOTHING_AHEAD
        case Metric(operator=operator, interval=interval, formula=inner):
            low, high = distances(interval)
            return _sum(high if operator in ("eventually", "always") else -low, settled_after(inner, lag, in_window))
        case BinaryMetric(operator=operator, interval=interval, left=left, right=right):
            low, high = distances(interval)
            end, between = (high, high - 1) if operator == "until" else (-low, -1)
            return max(
                _sum(end, settled_after(right, lag, in_window)), _sum(between, settled_after(left, lag, in_window))
            )
        case Modal(formula=inner):
            return settled_after(inner, lag, in_window) if in_window else FAR
        case Windowed(window=TimeWindow(ahead=ahead), formula=inner):
            return _sum(FAR if ahead is None else length(ahead), settled_after(inner, lag, True))
        case Windowed(window=RowsWindow(ahead=ahead), formula=inner):
            return FAR if ahead else max(0, *lag.values(), settled_after(inner, lag, True))
        case _:
            return max(settled_after(part, lag, in_window) for part in children(formula))


def _sum(first: int, second: int) -> int:
    if second == NOTHING_AHEAD:
        return NOTHING_AHEAD
    return FAR if first >= FAR or second >= FAR else first + second
