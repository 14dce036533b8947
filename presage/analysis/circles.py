"""Does a predicate depend on itself, at the same time, through an aggregate that more facts can make false?"""

from __future__ import annotations

from collections.abc import Iterator

from presage.analysis.strata import broken_groups
from presage.analysis.subject import Subject
from presage.errors import Diagnostic


def circles(subject: Subject) -> Iterator[Diagnostic]:
    for cycle in broken_groups(subject, lambda edge: edge.negative and edge.aggregated).values():
        first = cycle[0]
        steps = "; ".join(f"{subject.place(edge.rule)}: {edge.head} depends on {edge.body}" for edge in cycle)
        hint = f"let the aggregate look at earlier times only, or compare so that more can only make it true ({steps})"
        message = f"`{first.head}` depends on itself, at the same time, through an aggregate"
        yield Diagnostic("S106", message, first.atom.span, hint)
