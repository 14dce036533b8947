"""Which predicates the models of a program may differ on."""

from __future__ import annotations

from presage.analysis.graph import reachable
from presage.analysis.strata import broken_groups
from presage.analysis.subject import Subject
from presage.model.formulas import Formula, Windowed, walk
from presage.model.windows import RowsWindow


def uncertain_predicates(subject: Subject) -> frozenset[str]:
    """Those that answer streams may differ on: alternatives, what depends on its own absence, or on how many
    rows there are of itself, and all that depends on those."""
    start: set[str] = set()
    broken = set(broken_groups(subject))
    for timing in subject.timings:
        names = {head.atom.predicate for head in timing.heads}
        if timing.rule.head is not None and timing.rule.head.choice:
            start |= names
        elif subject.reading == "now" and _counts_rows(timing.rule.body):
            recursive = {edge.head for edge in subject.dependencies if edge.negative and edge.rule is timing.rule}
            start |= names & recursive & subject.recursive_predicates
    start |= {name for name, number in subject.component.items() if number in broken}
    users: dict[str, set[str]] = {}
    for edge in subject.dependencies:
        users.setdefault(edge.body, set()).add(edge.head)
    return frozenset(reachable(start, users))


def _counts_rows(body: tuple[Formula, ...]) -> bool:
    nodes = (node for literal in body for node in walk(literal))
    return any(isinstance(node, Windowed) and isinstance(node.window, RowsWindow) for node in nodes)
