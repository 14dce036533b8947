"""Rows in the order of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

BITS = 62
"""Of an integer, that can be used."""


def in_order(columns: Sequence[Any]) -> Any:
    """The places of rows, sorted by columns of integers, the first of which counts most."""
    if not columns or not len(columns[0]):
        return np.zeros(0, np.int64)
    # Side by side in one integer they are sorted at once.
    spans = [(int(column.min()), int(column.max())) for column in columns]
    widths = [(high - low).bit_length() for low, high in spans]
    if sum(widths) > BITS:
        return np.lexsort(tuple(reversed(columns)))
    together = np.zeros(len(columns[0]), np.int64)
    for column, (low, _), width in zip(columns, spans, widths, strict=True):
        if width:
            together = together << width | (column - low)
    return np.argsort(together)


def order_without_ties(columns: Sequence[Any]) -> Any:
    """The same where no two rows are the same in all columns, otherwise nothing."""
    order = in_order(columns)
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in columns:
        inside = column[order]
        same &= inside[1:] == inside[:-1]
    return None if same.any() else order
