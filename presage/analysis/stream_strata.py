"""Stream stratification ([LARS] 6.1.1): the program falls into layers by its window operators.

As negation in stratified programs, a window may only look at predicates of lower layers: no
predicate depends on itself through a window.
"""

from __future__ import annotations

from presage.analysis.graph import shortest_path
from presage.analysis.subject import Dependency, Subject


def window_cycle(subject: Subject) -> list[Dependency]:
    """Dependencies that lead from a predicate back to itself through a window; empty if there are none."""
    inner = [edge for edge in subject.dependencies if subject.component[edge.head] == subject.component[edge.body]]
    for edge in inner:
        if edge.windowed:
            back = shortest_path(edge.body, edge.head, inner, lambda each: (each.head, each.body))
            if back is not None:
                return [edge, *back]
    return []
