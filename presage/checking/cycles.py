"""Cycles in words, edge by edge, with the lines of the rules that make them."""

from __future__ import annotations

from collections.abc import Iterable

from presage.analysis.acyclic import Acyclicity
from presage.analysis.subject import Dependency, Subject


def describe_cycle(subject: Subject, cycle: Iterable[Dependency]) -> list[str]:
    return [
        f"{subject.place(edge.rule)}: {edge.head} depends on {'not ' if edge.negative else ''}{edge.body}"
        for edge in cycle
    ]


def describe_values(subject: Subject, verdict: Acyclicity) -> list[str]:
    return [
        f"{subject.place(edge.rule)}: a value in {edge.start} "
        + (f"makes the rule invent one in {edge.end}" if edge.special else f"moves to {edge.end}")
        for edge in verdict.cycle
    ]
