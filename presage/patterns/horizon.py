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

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from presage.analysis.differences import INF
from presage.analysis.subject import Subject
from presage.model.formulas import Atom
from presage.model.statements import Query
from presage.model.terms import Bound, Constant, Number, Term, Variable, number
from presage.patterns.finish import TOO_MANY, NoPatterns
from presage.patterns.premises import Fixed
from presage.patterns.unfold import Unfolder
from presage.patterns.zoned import Moment, Need
from presage.time.zones import ANSWER, Zone


@dataclass(frozen=True, slots=True)
class DelayAndWindow:
    """Delay and window of a query; `None` where there is none."""

    delay: Number | None
    window: Number | None


def _finite(value: Bound) -> Number | None:
    return None if isinstance(value, float) else number(value)


Extent = tuple[Bound, Bound]
"""The least and the greatest distance from a predicate's time at which an input it hangs on can lie."""

NOTHING: Extent = (INF, -INF)
MOST_GOALS = 200


class Horizons:
    """The reach of each query of a program; what they share is computed once."""

    def __init__(self, unfolder: Unfolder) -> None:
        """`unfolder`: one that leaves times open."""
        self.unfolder, self.subject = unfolder, unfolder.subject

    @cached_property
    def by_graph(self) -> dict[str, Extent]:
        return _by_graph(self.subject)

    def reach(self, query: Query) -> DelayAndWindow:
        try:
            low, high = self._by_patterns(query.atom)
        except NoPatterns:
            low, high = -INF, INF
        # Values that are added to times have bounds that only rules know; what other rules make superfluous, patterns.
        least, most = self.by_graph.get(query.atom.predicate, NOTHING)
        low, high = max(low, least), min(high, most)
        if low > high:
            return DelayAndWindow(0, 0)
        delay = max(high, 0)
        return DelayAndWindow(_finite(delay), _finite(delay - low) if delay != INF else None)

    def _by_patterns(self, atom: Atom) -> Extent:
        """From the minimal patterns of the query and of what occurs negated below it. Negated atoms may
        lead back to one another; their constants are kept, so that only what can unify counts."""
        below: dict[Atom, Extent] = {}
        edges: list[tuple[Atom, Atom, Bound, Bound]] = []
        todo = [atom]
        while todo:
            goal = todo.pop()
            if goal in below:
                continue
            if len(below) >= MOST_GOALS:
                raise NoPatterns(TOO_MANY)
            below[goal] = NOTHING
            for pattern in self.unfolder.zoned(goal):
                for literal in pattern.literals:
                    known = self.subject.predicates[literal.predicate]
                    low, high = _away(pattern.zone, literal.low)[0], _away(pattern.zone, literal.high)[1]
                    if literal.positive or known.is_input:
                        below[goal] = _join(below[goal], (low, high))
                    if not literal.positive and known.kind == "derived":
                        negated = _shape(_as_atom(literal))
                        edges.append((goal, negated, low, high))
                        todo.append(negated)
        return _farthest(below, edges)[atom]


def _away(zone: Zone, moment: Moment) -> Extent:
    """Between which distances from the answer's time a moment lies."""
    most, least = zone.bound(moment.base, ANSWER), zone.bound(ANSWER, moment.base)
    return -INF if least is None else moment.offset - least[0], INF if most is None else moment.offset + most[0]


def _as_atom(literal: Need) -> Atom:
    return Atom(
        literal.predicate,
        tuple(Constant(each.value) if isinstance(each, Fixed) else Variable(f"V{each}") for each in literal.arguments),
    )


def _shape(atom: Atom) -> Atom:
    """The atom with the variables that all call those of a negated atom, so that it is unfolded once."""
    names: dict[str, Term] = {}
    return Atom(
        atom.predicate,
        tuple(
            names.setdefault(each.name, Variable(f"X{len(names) + 1}")) if isinstance(each, Variable) else each
            for each in atom.arguments
        ),
    )


def _join(first: Extent, second: Extent) -> Extent:
    return min(first[0], second[0]), max(first[1], second[1])


def _by_graph(subject: Subject) -> dict[str, Extent]:
    """From the dependencies between predicates alone, which may be more than can unify."""
    below: dict[str, Extent] = {name: (0, 0) if each.is_input else NOTHING for name, each in subject.predicates.items()}
    return _farthest(below, [(edge.head, edge.body, edge.low, edge.high) for edge in subject.dependencies])


Vertex = TypeVar("Vertex", bound=Hashable)


def _farthest(below: dict[Vertex, Extent], edges: list[tuple[Vertex, Vertex, Bound, Bound]]) -> dict[Vertex, Extent]:
    """Adds up distances along the edges until nothing grows; what grows for ever is infinite."""

    def once_more() -> list[tuple[Vertex, Extent]]:
        grown = []
        for head, body, low, high in edges:
            if below[body] == NOTHING:
                continue
            new = _join(below[head], (below[body][0] + low, below[body][1] + high))
            if new != below[head]:
                grown.append((head, below[head]))
                below[head] = new
        return grown

    for _ in range(len(below) + 1):
        if not once_more():
            return below
    # Still growing after every simple path: a cycle goes on for ever, and all above it with it.
    while grown := once_more():
        for node, (low, high) in grown:
            below[node] = (
                -INF if below[node][0] < low else below[node][0],
                INF if below[node][1] > high else below[node][1],
            )
    return below
