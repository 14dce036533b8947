"""The times a rule speaks of: now, and its time variables.

Windows say how far a time may be from now: `window(5) a(X)@T, window(5) b(X)@T` is one thing that held within the
window. How a rule with several times is worked out is in `times.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from presage.core.formulas import At, CoreFormula, Not, Seen
from presage.core.reach import Reach
from presage.model.formulas import Comparison
from presage.model.terms import Number


@dataclass(slots=True)
class TimeVariableParts:
    """What a rule says of a time variable."""

    parts: list[CoreFormula] = field(default_factory=list)
    windows: list[tuple[Number, Reach]] = field(default_factory=list)
    """Windows in which the variable's time plus a number lies."""


@dataclass(slots=True)
class RuleMoments:
    now: list[CoreFormula] = field(default_factory=list)
    anytime: list[CoreFormula] = field(default_factory=list)
    """What holds or not whatever the time, or at a fixed one."""
    named: dict[str, TimeVariableParts] = field(default_factory=dict)


def moments(parts: Iterable[CoreFormula], is_timeless: Callable[[CoreFormula], bool]) -> RuleMoments:
    """The parts of a body by the time they are about."""
    found = RuleMoments()
    for part in parts:
        inner = part.part if isinstance(part, Not) else part
        window = None
        if isinstance(part, Seen) and (seen := pinned_in_window(part)) is not None:
            window, inner, part = part.reach, seen, seen
        if isinstance(inner, Comparison) or is_timeless(inner):
            found.anytime.append(part)
        elif isinstance(inner, At) and inner.variable is not None:
            moment = found.named.setdefault(inner.variable, TimeVariableParts())
            moment.parts.append(part)
            if window is not None:
                moment.windows.append((inner.offset, window))
        elif isinstance(inner, At) and inner.base is None:
            found.anytime.append(part)
        else:
            found.now.append(part)
    return found


def pinned_in_window(formula: CoreFormula) -> At | None:
    """A formula at a time variable, in a window that moves with now."""
    match formula:
        case Seen(hop=None, part=At() as inner) if inner.variable is not None:
            return inner
        case _:
            return None
