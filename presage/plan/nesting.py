"""Windows of time within windows of time: `window(60) all window(5) some φ`.

The outer window hides what lies outside of it from the inner ones. Looked at from within, an inner window is therefore
whole, or cut off at the left edge of the outer window, or at its right edge. Of those that are cut off at an edge, the
one that stands at the edge lies within all the others, so that it stands for them: what holds at all times of a window
holds at all times of any within it, and what holds at some time of that one holds at some time of the others. The left
edge is the start of the stream, as long as the outer window reaches back that far.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.core.formulas import CoreFormula, Every, Seen, Some, is_at_one_time
from presage.core.reach import EVERYWHERE, Reach
from presage.model.terms import Number, number


@dataclass(frozen=True, slots=True)
class Nested:
    """`outer` and `inner` are of opposite kinds, the inner one over `formula`. The reaches are those of the windows of
    the inner one, and the one of the times at which the whole inner windows stand, as nodes of a plan have them."""

    outer: type[Some] | type[Every]
    inner: type[Some] | type[Every]
    formula: CoreFormula
    back: Number | None
    """How far the left edge is from now; `None` if it is always the start of the stream."""
    ahead: Number
    at_left: Reach
    """The window at the left edge, from there."""
    at_right: Reach
    whole: Reach
    between: Reach | None
    """Where the whole windows stand; `None` if all are cut off."""
    outside: Reach
    """The outer window."""


def nested(formula: Seen) -> Nested | None:
    """A window over a window, of opposite kinds, as its parts; `None` for other formulas."""
    first = formula.part
    second = first.part if isinstance(first, (Some, Every)) and first.clip and first.reach == EVERYWHERE else None
    if not isinstance(first, (Some, Every)) or not isinstance(second, (Some, Every)):
        return None
    if formula.hop is not None or not second.clip or type(first) is type(second) or not is_at_one_time(second.part):
        return None
    near, ahead = formula.reach.far, second.reach.far
    if near is None or ahead is None or ahead > near:
        return None
    far = None if formula.reach.near is None else number(-formula.reach.near)
    back = None if second.reach.near is None else number(-second.reach.near)
    left_ahead, right_back = ahead, back
    if far is not None:
        left_ahead = min(ahead, far + near)
        right_back = far + near if back is None else min(back, far + near)
    between = None
    if back is not None and (far is None or back + ahead <= far + near):
        between = Reach(number(ahead - near), None if far is None else number(far - back))
    return Nested(
        type(first), type(second), second.part, far, near,
        at_left=Reach(number(-left_ahead), 0), at_right=Reach(0, right_back),
        whole=Reach(number(-ahead), back), between=between, outside=Reach(number(-near), far),
    )  # fmt: skip
