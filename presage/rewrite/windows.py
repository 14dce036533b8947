"""Windows move down to where they make a difference.

A window hides what lies outside of it; it does not change what holds inside. So it moves through conjunctions,
alternatives and negations, meets other windows over the same time, cuts reaches short, and ends at `some` and `all`
over what looks at one time, which become reaches of their own. A window over anything else stays where it is.
"""

from __future__ import annotations

from dataclasses import replace

from presage.core.formulas import (
    FALSE,
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Not,
    Rows,
    Seen,
    Some,
    Whole,
    children,
    is_at_one_time,
    with_children,
)
from presage.core.reach import EVERYWHERE, Reach
from presage.core.rules import Core
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Now, Number


def with_windows_down(formula: CoreFormula, core: Core) -> CoreFormula:
    """An equivalent formula in which windows stand as far down as they go."""
    return _down(formula)


def _down(formula: CoreFormula) -> CoreFormula:
    if isinstance(formula, (Seen, Rows)):
        moved = _step(formula)
        if moved is not formula:
            return _down(moved)
    parts = children(formula)
    changed = tuple(map(_down, parts))
    if changed == parts:
        return formula
    formula = with_children(formula, changed)
    return _down(formula) if isinstance(formula, (Seen, Rows)) else formula


def _step(formula: Seen | Rows) -> CoreFormula:
    inner = formula.part
    match inner:
        case Not() | All() | Any():
            return with_children(inner, tuple(replace(formula, part=part) for part in children(inner)))
        case Comparison():
            return inner
        case Whole():
            # What it speaks of is the whole stream, whatever other windows stand above.
            return inner
        case Some(part=Any(parts=parts) as alternatives, clip=True) if isinstance(formula, Rows):
            return replace(
                alternatives, parts=tuple(replace(formula, part=replace(inner, part=part)) for part in parts)
            )
        case _:
            return _in_time(formula, inner) if isinstance(formula, Seen) and formula.hop is None else formula


def _in_time(formula: Seen, inner: CoreFormula) -> CoreFormula:
    reach = formula.reach
    match inner:
        case Atom():
            return inner
        case Seen(hop=None):
            return replace(inner, reach=_both(reach, inner.reach))
        case At(base=Now(), offset=offset, part=Atom()):
            return inner if _holds(reach, offset) else FALSE
        case Some(clip=False, part=Atom()):
            cut = _both(reach, inner.reach)
            return FALSE if cut.is_empty else replace(inner, reach=cut)
        case Every(clip=False, part=Atom()):
            return inner if _both(reach, inner.reach) == inner.reach else FALSE
        case Some(clip=True, part=part) | Every(clip=True, part=part) if is_at_one_time(part):
            return replace(inner, reach=_both(reach, inner.reach), written=formula.written)
        case Some(reach=outer, clip=True, part=Some(clip=True, part=part) as other) if (
            outer == EVERYWHERE and is_at_one_time(part)
        ):
            # The inner windows cover the outer one, and show nothing beyond it.
            return replace(formula, part=replace(other, reach=EVERYWHERE))
        case Every(reach=outer, clip=True, part=Every(clip=True, part=part) as other) if (
            outer == EVERYWHERE and is_at_one_time(part)
        ):
            return replace(formula, part=replace(other, reach=EVERYWHERE))
        case _:
            return formula


def _holds(reach: Reach, distance: Number) -> bool:
    """Whether a time so far away is within the reach of a window."""
    return (reach.near is None or reach.near <= distance) and (reach.far is None or distance <= reach.far)


def _both(window: Reach, other: Reach) -> Reach:
    """What two reaches share, the first of which is closed."""
    near, open_near = other.near, other.open_near
    if window.near is not None and (near is None or window.near > near):
        near, open_near = window.near, False
    far, open_far = other.far, other.open_far
    if window.far is not None and (far is None or window.far < far):
        far, open_far = window.far, False
    return Reach(near, far, open_near, open_far)
