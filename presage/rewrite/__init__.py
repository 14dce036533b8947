"""Rewriting: ordered lists of passes, from the program as written to core.

`PASSES` take a program and give a program that means the same, and what they found wrong on the way. A rule they change
remembers the rule it came from (`Rule.origin`). Analyses look at what they give. `lowering` makes core of it, and
`CORE_PASSES` take a formula of core and give one that means the same; what runs a program reads what they give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from presage.analysis.subject import Subject
from presage.core.formulas import CoreFormula
from presage.core.rules import Core
from presage.errors import Diagnostic
from presage.model.program import Program
from presage.rewrite.anonymous import name_anonymous
from presage.rewrite.filters import without_filters
from presage.rewrite.folding import fold
from presage.rewrite.lowering import lower
from presage.rewrite.neighbours import resolve_neighbours
from presage.rewrite.parameters import resolve_parameters
from presage.rewrite.sharing import name_locals
from presage.rewrite.units import resolve_units
from presage.rewrite.windows import with_windows_down

Pass = Callable[[Program], tuple[Program, list[Diagnostic]]]
CorePass = Callable[[CoreFormula, Core], CoreFormula]

PASSES: tuple[Pass, ...] = (resolve_parameters, resolve_neighbours, resolve_units, name_anonymous, name_locals)
CORE_PASSES: tuple[CorePass, ...] = (without_filters, with_windows_down, fold)


def normalise(program: Program) -> tuple[Program, list[Diagnostic]]:
    """All passes in order."""
    problems: list[Diagnostic] = []
    for rewrite in PASSES:
        program, found = rewrite(program)
        problems.extend(found)
    return program, problems


def core_of(subject: Subject) -> Core:
    """A program in core; made once for each subject."""
    known = vars(subject).get("core")
    if isinstance(known, Core):
        return known
    inputs = frozenset(name for name, each in subject.predicates.items() if each.is_input and each.kind != "derived")
    core = lower(subject.program, subject.discrete, inputs)
    rules = tuple(replace(rule, body=tuple(refined(each, core) for each in rule.body)) for rule in core.rules)
    vars(subject)["core"] = found = replace(core, rules=rules)
    return found


def refined(formula: CoreFormula, core: Core) -> CoreFormula:
    """A formula of core after all its passes."""
    for rewrite in CORE_PASSES:
        formula = rewrite(formula, core)
    return formula
