"""Which way a program is evaluated, and why.

Programs with one model go to the interval engine. Those that may have none or several go to clingo:
alternatives in heads, and negation through a cycle that time does not break.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.analysis.strata import Stratification
from presage.analysis.subject import Subject

INTERVAL = "interval"
CLINGO = "clingo"


@dataclass(frozen=True, slots=True)
class Route:
    engine: str
    reason: str


def route(subject: Subject, strata: Stratification) -> Route:
    for rule in subject.program.rules:
        if rule.head is not None and rule.head.choice:
            return Route(CLINGO, f"the head in {subject.place(rule)} has alternatives")
    if not strata.stratified:
        edge = next(edge for edge in strata.cycle if edge.negative)
        if edge.windowed and edge.atom.predicate != edge.body:
            counted = f"with `reading now` its window of rows counts `{edge.body}` too, which can push others out"
            return Route(CLINGO, f"`{edge.head}` depends on itself in {subject.place(edge.rule)}: {counted}")
        return Route(CLINGO, f"`{edge.head}` depends on itself through a negation in {subject.place(edge.rule)}")
    if any(edge.negative for edge in subject.dependencies):
        return Route(INTERVAL, "negation is stratified along predicates and time: there is one model")
    return Route(INTERVAL, "without negation there is one model")
