"""Whether some atoms can be found among others: a mapping of their variables that makes each of them one of the others.

What is asked here decides which premise patterns are superfluous. It is hard in general, and easy in rules that people
write if one goes along the variables: an atom with a value that is known already has few places to go. So the next
atom is one that shares a variable with those placed last, and candidates come from an index of the values. A search
that takes too long is given up: not to find a pattern superfluous is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

MOST_TRIES = 2_000
"""Candidates that are looked at for one question."""
MOST_ATOMS = 300
"""Atoms that are placed; a search is as deep."""

Image = TypeVar("Image", bound=Hashable)
Atoms = Sequence[tuple[Hashable, Sequence[Image]]]
"""Atoms, each of a kind, with arguments."""


class Offered(Generic[Image]):
    """Atoms to be found, by kind and by what stands at each place."""

    def __init__(self, atoms: Atoms[Image]) -> None:
        self.arguments = [arguments for _, arguments in atoms]
        self.of_kind: dict[Hashable, list[int]] = {}
        self.at: dict[tuple[Hashable, int, Image], list[int]] = {}
        for number, (kind, arguments) in enumerate(atoms):
            self.of_kind.setdefault(kind, []).append(number)
            for place, value in enumerate(arguments):
                self.at.setdefault((kind, place, value), []).append(number)

    def fewest(self, kind: Hashable, known: Iterable[tuple[int, Image]]) -> list[int]:
        """The fewest among which an atom must be that has known values at some places."""
        found = self.of_kind.get(kind, [])
        for place, value in known:
            there = self.at.get((kind, place, value), [])
            if len(there) < len(found):
                found = there
        return found


def embeds(
    wanted: Atoms[Image],
    offered: Atoms[Image],
    start: dict[Image, Image],
    is_variable: Callable[[Image], bool],
    fits: Callable[[int, int], bool],
) -> bool:
    """Whether the wanted atoms are among those offered, with the variables in `start` mapped as it says; `fits` says of
    a wanted and an offered one whether they go together apart from their arguments."""
    if len(wanted) > MOST_ATOMS:
        return False
    return _Search(wanted, Offered(offered), is_variable, fits).place(dict(start), set(range(len(wanted))), list(start))


class _Search(Generic[Image]):
    def __init__(
        self,
        wanted: Atoms[Image],
        offered: Offered[Image],
        is_variable: Callable[[Image], bool],
        fits: Callable[[int, int], bool],
    ) -> None:
        self.wanted, self.offered, self.fits, self.is_variable = wanted, offered, fits, is_variable
        self.tries = 0
        self.having: dict[Image, list[int]] = {}
        for number, (_, arguments) in enumerate(wanted):
            for value in set(arguments):
                if is_variable(value):
                    self.having.setdefault(value, []).append(number)

    def place(self, bound: dict[Image, Image], left: set[int], last: list[Image]) -> bool:
        """Whether the atoms that are left have places; `last` are the variables that were bound last."""
        if not left:
            return True
        number, places = self._next(bound, left, last)
        left.discard(number)
        for candidate in places:
            self.tries += 1
            if self.tries > MOST_TRIES:
                break
            if not self.fits(number, candidate):
                continue
            new = self._match(self.wanted[number][1], self.offered.arguments[candidate], bound)
            if new is None:
                continue
            if self.place(bound, left, new or last):
                return True
            for variable in new:
                del bound[variable]
        left.add(number)
        return False

    def _next(self, bound: dict[Image, Image], left: set[int], last: list[Image]) -> tuple[int, list[int]]:
        """The atom to place next, and where it may go: one that something is known of, if there is one."""
        near = {number for variable in last for number in self.having.get(variable, ()) if number in left}
        best: tuple[int, list[int]] | None = None
        for number in near or left:
            kind, arguments = self.wanted[number]
            places = self.offered.fewest(kind, self._known(arguments, bound))
            if best is None or (len(places), number) < (len(best[1]), best[0]):
                best = number, places
            if len(places) <= 1:
                break
        assert best is not None
        return best

    def _known(self, arguments: Sequence[Image], bound: dict[Image, Image]) -> Iterator[tuple[int, Image]]:
        for place, value in enumerate(arguments):
            if not self.is_variable(value):
                yield place, value
            elif value in bound:
                yield place, bound[value]

    def _match(
        self, general: Sequence[Image], special: Sequence[Image], bound: dict[Image, Image]
    ) -> list[Image] | None:
        """Binds the variables that are new, and says which; nothing where the arguments differ."""
        new: list[Image] = []
        for first, second in zip(general, special, strict=True):
            if not self.is_variable(first):
                same = first == second
            elif first in bound:
                same = bound[first] == second
            else:
                bound[first] = second
                new.append(first)
                continue
            if not same:
                for variable in new:
                    del bound[variable]
                return None
        return new
