"""Directed graphs, as far as the analyses need them: components, cycles, reachability."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)
E = TypeVar("E")


def components(nodes: Iterable[N], successors: Mapping[N, Iterable[N]]) -> list[tuple[N, ...]]:
    """The strongly connected components, each after those it leads to (Tarjan, without recursion)."""
    order: dict[N, int] = {}
    low: dict[N, int] = {}
    on_stack: set[N] = set()
    stack: list[N] = []
    found: list[tuple[N, ...]] = []
    for root in nodes:
        if root in order:
            continue
        work = [(root, iter(successors.get(root, ())))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for follower in rest:
                if follower not in order:
                    order[follower] = low[follower] = len(order)
                    stack.append(follower)
                    on_stack.add(follower)
                    work.append((follower, iter(successors.get(follower, ()))))
                    break
                if follower in on_stack:
                    low[node] = min(low[node], order[follower])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(tuple(reversed(component)))
    return found


def component_of(nodes: Iterable[N], successors: Mapping[N, Iterable[N]]) -> dict[N, int]:
    """For each node the number of its component; smaller numbers are reached from larger ones."""
    return {node: index for index, part in enumerate(components(nodes, successors)) for node in part}


def reachable(start: Iterable[N], successors: Mapping[N, Iterable[N]]) -> set[N]:
    seen = set(start)
    todo = list(seen)
    while todo:
        for follower in successors.get(todo.pop(), ()):
            if follower not in seen:
                seen.add(follower)
                todo.append(follower)
    return seen


def shortest_path(start: N, goal: N, edges: Sequence[E], ends: Callable[[E], tuple[N, N]]) -> list[E] | None:
    """The edges of a shortest path; empty if start and goal are the same."""
    if start == goal:
        return []
    leaving: dict[N, list[E]] = {}
    for edge in edges:
        leaving.setdefault(ends(edge)[0], []).append(edge)
    came: dict[N, E] = {}
    todo = deque([start])
    while todo:
        node = todo.popleft()
        for edge in leaving.get(node, ()):
            follower = ends(edge)[1]
            if follower in came or follower == start:
                continue
            came[follower] = edge
            if follower == goal:
                path = [edge]
                while ends(path[-1])[0] != start:
                    path.append(came[ends(path[-1])[0]])
                return path[::-1]
            todo.append(follower)
    return None
