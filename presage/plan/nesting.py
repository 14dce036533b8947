"""Windows of time within windows of time: `window(60) all window(5) some φ`.

The outer window hides what lies outside of it from the inner ones. Looked at from within, an inner window is therefore
whole, or cut off at the left edge of the outer window, or at its right edge. Of those that are cut off at an edge, the
one that stands at the edge lies within all the others, so that it stands for them: what holds at all times of a window
holds at all times of any within it, and what holds at some time of that one holds at some time of the others. The left
edge is the start of the stream, as long as the outer window reaches back that far.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.model.formulas import Formula, Modal, Windowed
from presage.model.terms import Number, number
from presage.model.windows import TimeWindow
from presage.plan.formulas import time
from presage.plan.nodes import Reach
from presage.plan.windows import is_at_one_time


@dataclass(frozen=True, slots=True)
class Nested:
    """`outer` and `inner` are modalities of opposite kinds, the inner one over `formula`. The reaches are those of the
    windows of the inner modality, and the one of the times at which the whole inner windows stand."""

    outer: str
    inner: str
    formula: Formula
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


def nested(formula: Windowed) -> Nested | None:
    """A window over a window, with opposite modalities, as its parts; `None` for other formulas."""
    match formula:
        case Windowed(
            window=TimeWindow(hop=None) as outer,
            formula=Modal(
                operator=first,
                formula=Windowed(window=TimeWindow(hop=None) as inner, formula=Modal(operator=second, formula=local)),
            ),
        ) if first != second and is_at_one_time(local):
            pass
        case _:
            return None
    if outer.ahead is None or inner.ahead is None or time(inner.ahead) > time(outer.ahead):
        return None
    far, near = None if outer.back is None else time(outer.back), time(outer.ahead)
    back, ahead = None if inner.back is None else time(inner.back), time(inner.ahead)
    left_ahead, right_back = ahead, back
    if far is not None:
        left_ahead = min(ahead, far + near)
        right_back = far + near if back is None else min(back, far + near)
    between = None
    if back is not None and (far is None or back + ahead <= far + near):
        between = Reach(number(ahead - near), None if far is None else number(far - back))
    return Nested(
        first, second, local, far, near,
        at_left=Reach(number(-left_ahead), 0), at_right=Reach(0, right_back),
        whole=Reach(number(-ahead), back), between=between, outside=Reach(number(-near), far),
    )  # fmt: skip
