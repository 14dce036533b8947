"""Query delay and window size ([HA] Definition 9), for facts that arrive on time.

An answer at time T is settled at T + delay, and never needs facts older than the window. Both follow
from how far the inputs a query hangs on can lie from it: if the farthest ahead is at T + high and the
farthest back at T + low, then

* the delay is high, or 0 where everything lies in the past;
* the window size is delay − low: the oldest answer still open at time τ lies at τ − delay + 1, and its
  oldest premise must not be among those forgotten, at τ − window or before.

For nonrecursive queries the distances come from the minimal premise patterns, which makes them exact:
what another rule makes superfluous does not count. For recursive ones they are the longest ways
through the dependency graph, infinite where a cycle leads ever farther.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.analysis.differences import INF, Bound
from presage.analysis.patterns import TooMany, Unfolding, general_atom
from presage.analysis.subject import Subject
from presage.model.formulas import Atom
from presage.model.statements import Query
from presage.model.terms import Number


@dataclass(frozen=True, slots=True)
class Reach:
    """Delay and window of a query; `None` where there is none."""

    delay: Number | None
    window: Number | None


def query_reach(subject: Subject, query: Query) -> Reach:
    try:
        low, high = _by_patterns(subject, query.atom)
    except TooMany:
        low, high = _by_graph(subject).get(query.atom.predicate, NOTHING)
    if low > high:
        return Reach(0, 0)
    delay = max(high, 0)
    return Reach(_finite(delay), _finite(delay - low) if delay != INF else None)


def _finite(value: Bound) -> Number | None:
    return None if isinstance(value, float) else value


NOTHING: tuple[Bound, Bound] = (INF, -INF)


def _join(first: tuple[Bound, Bound], second: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    return min(first[0], second[0]), max(first[1], second[1])


def _by_patterns(subject: Subject, atom: Atom) -> tuple[Bound, Bound]:
    """How far the premises lie, through negated predicates too."""
    unfolding = Unfolding(subject)
    open_names: set[str] = set()

    def extent(goal: Atom) -> tuple[Bound, Bound]:
        reach = NOTHING
        for pattern in unfolding.patterns(goal):
            for premise in pattern.premises:
                span: tuple[Bound, Bound] = (premise.low, premise.high)
                known = subject.predicates[premise.atom.predicate]
                if premise.positive or known.kind != "derived":
                    reach = _join(reach, span)
                    continue
                if known.is_input:
                    reach = _join(reach, span)
                below = negated(premise.atom.predicate)
                if below != NOTHING:
                    reach = _join(reach, (span[0] + below[0], span[1] + below[1]))
        return reach

    done: dict[str, tuple[Bound, Bound]] = {}

    def negated(name: str) -> tuple[Bound, Bound]:
        if name in done:
            return done[name]
        if name in open_names:
            raise TooMany
        open_names.add(name)
        done[name] = extent(general_atom(subject, name))
        open_names.discard(name)
        return done[name]

    return extent(atom)


def _by_graph(subject: Subject) -> dict[str, tuple[Bound, Bound]]:
    """For each predicate, how far the inputs below it can lie."""
    reach: dict[str, tuple[Bound, Bound]] = {}
    below: dict[str, tuple[Bound, Bound]] = {
        name: (0, 0) if each.is_input else NOTHING for name, each in subject.predicates.items()
    }
    edges = [(edge.head, edge.body, edge.low, edge.high) for edge in subject.dependencies]

    def once_more(values: dict[str, tuple[Bound, Bound]]) -> set[str]:
        changed: set[str] = set()
        for head, body, low, high in edges:
            if values[body] == NOTHING:
                continue
            new = _join(values[head], (values[body][0] + low, values[body][1] + high))
            if new != values[head]:
                values[head] = new
                changed.add(head)
        return changed

    for _ in range(len(below) + 1):
        if not once_more(below):
            break
    else:
        # Still moving after every simple path: some cycle goes on for ever, and all above it with it.
        while True:
            before = dict(below)
            moved = once_more(below)
            if not moved:
                break
            for name in moved:
                low = -INF if below[name][0] < before[name][0] else below[name][0]
                high = INF if below[name][1] > before[name][1] else below[name][1]
                below[name] = (low, high)
    reach.update(below)
    return reach
