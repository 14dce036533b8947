"""Whether premises can hold together: a search for a continuation of the stream in which they do.

The facts needed arrive, and nothing else unless it is needed to keep a negated atom false. If a way of such an atom is
complete with the facts assumed, one of that way's own negated atoms has to be made true, by any of its ways, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from presage.patterns.literals import Lit, Open

Premises = frozenset[Lit]
WaysOf = Callable[[Lit], Iterable[Premises]]
"""What is missing in each way of an atom at a known time, or of an input fact."""

MOST_SEARCH = 2_000


class Search:
    """Looks for a continuation in which facts arrive and atoms stay false."""

    def __init__(self, ways: WaysOf) -> None:
        self.ways = ways
        self.steps = 0

    def finds(self, needs: Premises) -> bool:
        """Whether there is one in which premises hold."""
        assumed = frozenset(lit.of_someone() for lit in needs if lit.positive)
        denied = frozenset(lit.of_someone() for lit in needs if not lit.positive)
        return self._holds(assumed, denied, frozenset())

    def _holds(self, assumed: Premises, denied: Premises, made_true: frozenset[tuple[object, ...]]) -> bool:
        self.steps += 1
        if self.steps > MOST_SEARCH:
            return True  # not found to be impossible
        atoms = {lit.atom for lit in assumed}
        if any(lit.atom in atoms or lit.atom in made_true for lit in denied):
            return False
        for lit in denied:
            for needs in self.ways(lit):
                if not are_met([each for each in needs if each.positive], assumed):
                    continue
                absent = [each for each in needs if not each.positive]
                if any(each.atom in made_true for each in absent):
                    continue
                return any(self._made_true(each, assumed, denied, made_true) for each in absent)
        return True

    def _made_true(
        self, lit: Lit, assumed: Premises, denied: Premises, made_true: frozenset[tuple[object, ...]]
    ) -> bool:
        if Lit(False, *lit.atom) in denied:
            return False
        for needs in self.ways(lit):
            more = assumed | {each.of_someone() for each in needs if each.positive}
            fewer = denied | {each.of_someone() for each in needs if not each.positive}
            if self._holds(more, fewer, made_true | {lit.atom}):
                return True
        return False


def are_met(wanted: Sequence[Lit], assumed: Premises) -> bool:
    """Whether facts assumed meet all premises."""
    if not wanted:
        return True
    offers = [[each for each in assumed if _matched(lit, each, {}) is not None] for lit in wanted]
    return _agree(sorted(zip(wanted, offers, strict=True), key=lambda each: len(each[1])), {})


def _agree(wanted: Sequence[tuple[Lit, list[Lit]]], values: dict[object, object]) -> bool:
    """Whether each literal meets one of the facts offered to it, with the same values for variables in all."""
    if not wanted:
        return True
    lit, offered = wanted[0]
    return any((found := _matched(lit, fact, values)) is not None and _agree(wanted[1:], found) for fact in offered)


def _matched(lit: Lit, fact: Lit, values: dict[object, object]) -> dict[object, object] | None:
    """The values of variables with which a fact is what a literal asks for."""
    if fact.predicate != lit.predicate:
        return None
    for have, want in ((fact.time, lit.time), *zip(fact.arguments, lit.arguments, strict=True)):
        if isinstance(want, Open):
            if want.offset:
                if isinstance(have, Open):
                    return None
                have, want = have - want.offset, Open(want.name)  # type: ignore[operator]
            if want not in values:
                values = {**values, want: have}
            elif values[want] != have:
                return None
        elif want != have:
            return None
    return values
