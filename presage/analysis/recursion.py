"""Recursion: whether a predicate depends on itself, and by which rules."""

from __future__ import annotations

from presage.analysis.graph import shortest_path
from presage.analysis.subject import Dependency, Subject

# Among so many dependencies one finds a short cycle; the shortest of all is not worth the search.
MOST_TRIED = 50


def recursive_cycle(subject: Subject) -> list[Dependency]:
    """The dependencies of one shortest cycle; empty if the program is nonrecursive."""
    best: list[Dependency] = []
    inner = [edge for edge in subject.dependencies if subject.component[edge.head] == subject.component[edge.body]]
    for edge in inner[:MOST_TRIED]:
        if edge.head not in subject.recursive_predicates:
            continue
        back = shortest_path(edge.body, edge.head, inner, lambda each: (each.head, each.body))
        if back is not None and (not best or len(back) + 1 < len(best)):
            best = [edge, *back]
            if len(best) == 1:
                break
    return best
