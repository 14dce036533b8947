"""How large times may be, for everything that computes with them as machine integers."""

from __future__ import annotations

FAR = 1 << 61
"""Cells from here on, in both directions, are infinity."""

COUNTABLE = 1 << 51
"""How many steps of time, and no more, a time or a length may take: sums of a thousand of them are machine integers."""
