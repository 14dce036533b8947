"""Compiled primitives on integer arrays: tables of tuples with intervals, joins, interval operators.

Nothing here knows of programs, symbols or time units. A table holds each tuple once, with a sorted
list of disjoint, coalesced intervals of cells. All functions are compiled by numba and cached on disk.
"""
