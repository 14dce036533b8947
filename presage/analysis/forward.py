"""Forward propagation ([MTL] Definition 4): what is derived is never earlier than what it is
derived from.

The definition's three conditions are taken as they stand: no ⊤ or ⊥, in bodies no metric operators
but `once` and `historically`, in heads none but `always`. What DatalogMTL does not have (pins,
windows, several time variables) is judged by the purpose of the definition: no body atom may lie
later than the head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.analysis.subject import Subject
from presage.analysis.timing import RuleTiming
from presage.model.formulas import BinaryMetric, Metric, Top, walk
from presage.model.statements import Rule


@dataclass(frozen=True, slots=True)
class Obstacle:
    rule: Rule
    reason: str


def obstacles(subject: Subject) -> list[Obstacle]:
    """Why the program is not forward-propagating; empty if it is."""
    statics = {name for name, each in subject.predicates.items() if each.is_static}
    return [Obstacle(timing.rule, reason) for timing in subject.timings for reason in _reasons(timing, statics)]


def _reasons(timing: RuleTiming, statics: set[str]) -> Iterator[str]:
    rule = timing.rule
    if rule.is_constraint:
        yield "a constraint derives ⊥"
    for formula in rule.head_atoms:
        for node in walk(formula):
            if isinstance(node, Metric) and node.operator != "always":
                yield f"`{node.operator}` in a head reaches into the past"
    for formula in rule.body:
        for node in walk(formula):
            if isinstance(node, Top):
                yield "`true` in a body"
            elif isinstance(node, Metric) and node.operator not in ("once", "historically"):
                yield f"`{node.operator}` in a body looks ahead"
            elif isinstance(node, BinaryMetric):
                yield f"`{node.operator}` in a body"
    for head in timing.heads:
        for occurrence in timing.occurrences:
            if occurrence.atom.predicate in statics:
                continue
            reach = timing.range(occurrence, head)
            if reach is not None and reach[1] > 0:
                yield f"`{head.atom.predicate}` may lie before `{occurrence.atom.predicate}`"
                return
