"""Sets of tuples with their times, in a window that slides: each time point of a tuple comes and goes by itself.

They are made of what the window looks at, where that is new; only that is remembered.
"""

from __future__ import annotations

import numpy as np

from presage.core.reach import Reach
from presage.engine.joining import BindingRows, by_point
from presage.engine.relation import Delta
from presage.engine.symbols import Symbols
from presage.kernels.fields import FAR
from presage.time.cells import ENDLESS


def slid(rows: BindingRows, reach: Reach, hop: int | None) -> tuple[BindingRows, BindingRows]:
    """The time points of rows on the discrete timeline, and where each of them is in a window with such a reach. One
    that hops does so by no more than its length, so that it shows all."""
    points = by_point(rows)
    low = np.full(len(points), -ENDLESS) if reach.near is None else points.low + int(reach.near)
    high = np.full(len(points), ENDLESS) if reach.far is None else points.high + int(reach.far)
    high = np.where(points.high >= FAR, ENDLESS, high)
    if hop is not None:
        low = np.where(low <= -FAR, low, -(-low // hop) * hop)
        high = np.where(high >= FAR, high, high // hop * hop + hop - 1)
    return points, BindingRows(points.bindings, low, high)


def stamped(news: Delta, reach: Reach, hop: int | None, symbols: Symbols) -> BindingRows:
    """The same with the times as their last columns."""
    points, there = slid(BindingRows(news.tuples, news.low, news.high), reach, hop)
    times, places = np.unique(points.low, return_inverse=True)
    numbers = symbols.number_all(times.tolist())[places]
    return BindingRows(np.column_stack([there.bindings, numbers]), there.low, there.high)
