"""Stratification along predicates and time ([HA] Definitions 15 to 17, Proposition 14).

A program is T-stratified if no atom depends on itself through negation once time is written out.
Proposition 14 decides this on a graph of predicates with time offsets: it fails where a path leads
from p(T+k) to p(T+k') with k ≤ k' through a negative edge. Such a path is a closed walk in the
graph of predicates whose offsets add up to at least 0, so the question becomes one about weights:

* if a component has a cycle of positive weight, going round it often enough outweighs the rest, so
  any negative edge of the component is on such a walk;
* otherwise every closed walk weighs at most 0, and one of weight 0 consists of edges that are tight
  for a potential (longest distances): a negative edge inside a component of tight edges is on one.

Offsets that may vary (metric operators, windows, several time variables) count with their greatest
value. On dense time that is right also where the greatest value is not attained: dependencies that
come arbitrarily close to the same time never end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from presage.analysis.differences import INF
from presage.analysis.graph import component_of, shortest_path
from presage.analysis.subject import Dependency, Subject
from presage.model.terms import Bound


@dataclass(frozen=True, slots=True)
class Stratification:
    stratified: bool
    cycle: tuple[Dependency, ...] = ()
    """Where it fails: dependencies that lead from a predicate back to itself, one of them negative."""


def t_stratification(subject: Subject) -> Stratification:
    for cycle in broken_groups(subject).values():
        return Stratification(False, cycle)
    return Stratification(True)


def broken_groups(
    subject: Subject, is_negative: Callable[[Dependency], bool] = lambda edge: edge.negative
) -> dict[int, tuple[Dependency, ...]]:
    """The groups of predicates that depend on their own absence in a way time does not break, by number of the
    component, each with a cycle that shows it, which begins with the absence."""
    broken: dict[int, tuple[Dependency, ...]] = {}
    inner: dict[int, list[Dependency]] = {}
    for edge in subject.dependencies:
        number = subject.component[edge.head]
        if number == subject.component[edge.body]:
            inner.setdefault(number, []).append(edge)
    for number in sorted(inner):
        edges = inner[number]
        if any(map(is_negative, edges)):
            cycle = _unbroken(edges, is_negative)
            if cycle:
                broken[number] = tuple(cycle)
    return broken


def _unbroken(edges: list[Dependency], is_negative: Callable[[Dependency], bool]) -> list[Dependency]:
    potential = longest_distances(edges)
    if potential is None:
        negative = next(edge for edge in edges if is_negative(edge))
        return [negative, *_back(negative, edges)]
    tight = [edge for edge in edges if edge.high + potential[edge.body] == potential[edge.head]]
    nodes = sorted({edge.head for edge in tight} | {edge.body for edge in tight})
    successors: dict[str, list[str]] = {}
    for edge in tight:
        successors.setdefault(edge.head, []).append(edge.body)
    component = component_of(nodes, successors)
    for edge in tight:
        if is_negative(edge) and component[edge.head] == component[edge.body]:
            return [edge, *_back(edge, [each for each in tight if component[each.head] == component[edge.head]])]
    return []


def _back(edge: Dependency, edges: list[Dependency]) -> list[Dependency]:
    return shortest_path(edge.body, edge.head, edges, lambda each: (each.head, each.body)) or []


def longest_distances(edges: list[Dependency]) -> dict[str, Bound] | None:
    """For each predicate the greatest weight of a walk from it; `None` if a cycle has positive weight."""
    if any(edge.high == INF for edge in edges):
        return None
    weight: dict[tuple[str, str], Bound] = {}
    for edge in edges:
        pair = (edge.head, edge.body)
        weight[pair] = max(weight.get(pair, -INF), edge.high)
    distance: dict[str, Bound] = {node: 0 for pair in weight for node in pair}
    for _ in range(len(distance) + 1):
        changed = False
        for (head, body), high in weight.items():
            longer = high + distance[body]
            if longer > distance[head]:
                distance[head] = longer
                changed = True
        if not changed:
            return distance
    return None
