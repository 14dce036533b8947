"""Invented values that keep their identity: entries of a table from a rule and the values of its frontier.

Entries stand in the order in which they were made, so that what an entry is made from always lies before it
(`kernels/numbering.py`).
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import kernel


@kernel
def sweep(keys, values, count, widths, counts, used):  # type: ignore[no-untyped-def]
    """Keeps the entries of which some value is used, in their order, and marks what they are made from as used. A
    rule has `widths` values in its frontier and `counts` new ones. Gives how many entries are left."""
    keep = np.zeros(count, np.bool_)
    for entry in range(count - 1, -1, -1):
        rule = keys[entry, 0]
        for place in range(counts[rule]):
            if used[values[entry, place]]:
                keep[entry] = True
        if keep[entry]:
            for place in range(counts[rule]):
                used[values[entry, place]] = True
            for place in range(widths[rule]):
                used[keys[entry, 1 + place]] = True
    left = 0
    for entry in range(count):
        if keep[entry]:
            keys[left] = keys[entry]
            values[left] = values[entry]
            left += 1
    return left
