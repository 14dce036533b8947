"""The times a rule speaks of: now, and its time variables.

Windows say how far a time may be from now: `window(5) a(X)@T, window(5) b(X)@T` is one thing that held within the
window. How a rule with several times is worked out is in `times.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from presage.model.formulas import And, Comparison, Formula, Not, Pinned, Windowed
from presage.model.terms import Number, Variable
from presage.model.windows import TimeWindow
from presage.plan.formulas import time


@dataclass(slots=True)
class Moment:
    """What a rule says of a time variable."""

    parts: list[Formula] = field(default_factory=list)
    windows: list[tuple[Number, TimeWindow]] = field(default_factory=list)
    """Windows in which the variable's time plus a number lies."""


@dataclass(slots=True)
class Moments:
    now: list[Formula] = field(default_factory=list)
    anytime: list[Formula] = field(default_factory=list)
    """What holds or not whatever the time, or at a fixed one."""
    named: dict[str, Moment] = field(default_factory=dict)


def moments(parts: Iterable[Formula], is_timeless: Callable[[Formula], bool]) -> Moments:
    """The parts of a body by the time they are about."""
    found = Moments()
    for part in parts:
        inner = part.formula if isinstance(part, Not) else part
        window = None
        if isinstance(part, Windowed) and (seen := pinned_in_window(part)) is not None:
            window, inner, part = part.window, seen, seen
        if isinstance(inner, Comparison) or is_timeless(inner):
            found.anytime.append(part)
        elif isinstance(inner, Pinned) and isinstance(inner.pin.base, Variable):
            moment = found.named.setdefault(inner.pin.base.name, Moment())
            moment.parts.append(part)
            if isinstance(window, TimeWindow):
                moment.windows.append((time(inner.pin.offset), window))
        elif isinstance(inner, Pinned) and inner.pin.base is None:
            found.anytime.append(part)
        else:
            found.now.append(part)
    return found


def pinned_in_window(formula: Formula) -> Pinned | None:
    """`φ@T` in a window that moves with now."""
    match formula:
        case Windowed(window=TimeWindow(hop=None), formula=Pinned(pin=pin) as inner) if isinstance(pin.base, Variable):
            return inner
        case _:
            return None


def conjuncts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula
