"""Whether one set of facts with nulls can be mapped into another: nulls to anything, all else to itself.

Two models of which each maps into the other say the same to every query; if the maps are one to one, they are the same
up to the names of nulls.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

Fact = tuple[str, tuple[Hashable, ...], Hashable]
"""Predicate, arguments, and a time."""


def homomorphism(
    facts: Iterable[Fact], into: Iterable[Fact], is_null: Callable[[Hashable], bool], one_to_one: bool = False
) -> dict[Hashable, Hashable] | None:
    """A map of the nulls under which all facts are among the others, or `None`."""
    given, others = set(facts), set(into)
    with_nulls = [fact for fact in given if any(map(is_null, fact[1]))]
    if not given.difference(with_nulls) <= others:
        return None
    by_kind: dict[tuple[str, Hashable, int], list[Fact]] = {}
    for fact in others:
        by_kind.setdefault((fact[0], fact[2], len(fact[1])), []).append(fact)
    using: dict[Hashable, list[Fact]] = {}
    for fact in with_nulls:
        for value in fact[1]:
            if is_null(value):
                using.setdefault(value, []).append(fact)

    def ways(null: Hashable) -> set[Hashable]:
        """To what a null may go, by each of its facts alone."""
        found: set[Hashable] | None = None
        for predicate, arguments, time in using[null]:
            here = set()
            for _, values, _ in by_kind.get((predicate, time, len(arguments)), ()):
                pairs = list(zip(arguments, values, strict=True))
                if all(is_null(own) or own == other for own, other in pairs):
                    here |= {other for own, other in pairs if own == null}
            found = here if found is None else found & here
        return found or set()

    possible = {null: ways(null) for null in using}
    order = sorted(possible, key=lambda null: len(possible[null]))
    chosen: dict[Hashable, Hashable] = {}

    def fits(null: Hashable) -> bool:
        for predicate, arguments, time in using[null]:
            if all(value in chosen for value in arguments if is_null(value)):
                if (predicate, tuple(chosen.get(value, value) for value in arguments), time) not in others:
                    return False
        return True

    def search(place: int) -> bool:
        if place == len(order):
            return True
        null = order[place]
        taken = set(chosen.values()) if one_to_one else set()
        for value in possible[null] - taken:
            chosen[null] = value
            if fits(null) and search(place + 1):
                return True
            del chosen[null]
        return False

    return chosen if search(0) else None
