"""Compiled primitives on integer arrays: tables of tuples with intervals, joins, interval operators.

Nothing here knows of programs, symbols or time units. A table holds each tuple once, with a sorted
list of disjoint, coalesced intervals of cells. All functions are run by Python as long as there is little to do, then
compiled by numba when they are first called (`compiling.py`), and kept on disk (`keeping.py`).
"""
