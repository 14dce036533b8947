"""Compiled primitives on integer arrays: tables of tuples with intervals, joins, interval operators.

Nothing here knows of programs, symbols or time units. A table holds each tuple once, with a sorted
list of disjoint, coalesced intervals of cells. All functions are compiled by numba when they are first called, and
kept on disk (`keeping.py`).
"""

from __future__ import annotations

from presage.kernels.keeping import choose_place, say_when_compiling

choose_place()
say_when_compiling()
