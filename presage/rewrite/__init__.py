"""Rewriting: an ordered list of passes from the program as written towards its normal form.

A pass takes a program and gives a program that means the same, and what it found wrong on the way.
A rule it changes remembers the rule it came from (`Rule.origin`).
"""

from __future__ import annotations

from collections.abc import Callable

from presage.errors import Diagnostic
from presage.model.program import Program
from presage.rewrite.anonymous import name_anonymous
from presage.rewrite.neighbours import resolve_neighbours
from presage.rewrite.parameters import resolve_parameters
from presage.rewrite.sharing import name_locals
from presage.rewrite.units import resolve_units

Pass = Callable[[Program], tuple[Program, list[Diagnostic]]]

PASSES: tuple[Pass, ...] = (resolve_parameters, resolve_neighbours, resolve_units, name_anonymous, name_locals)


def normalise(program: Program) -> tuple[Program, list[Diagnostic]]:
    """All passes in order."""
    problems: list[Diagnostic] = []
    for rewrite in PASSES:
        program, found = rewrite(program)
        problems.extend(found)
    return program, problems
