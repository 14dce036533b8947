"""Compiled primitives on integer arrays: tables of tuples with intervals, joins, interval operators.

Nothing here knows of programs, symbols or time units. A table holds each tuple once, with a sorted
list of disjoint, coalesced intervals of cells. All functions are compiled by numba and cached on disk.
"""

from __future__ import annotations

import contextlib
from pathlib import Path


def _drop_stale_caches() -> None:
    """numba compiles a function again when its own file has changed, but not when one has that it calls: whatever was
    compiled before the latest change goes."""
    folder = Path(__file__).parent
    latest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for compiled in (folder / "__pycache__").glob("*.nb[ci]"):
        with contextlib.suppress(OSError):
            if compiled.stat().st_mtime < latest:
                compiled.unlink()


_drop_stale_caches()
