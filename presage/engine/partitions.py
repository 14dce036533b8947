"""Which partition of a window of rows each fact belongs to: one for each value of the variables of its patterns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from presage.engine.symbols import Symbols
from presage.kernels import numbering
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.hashing import EMPTY
from presage.model.terms import Constant, Variable
from presage.model.windows import RowsWindow
from presage.sealed import Arrays, need

_NONE = -1


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: int
    """Patterns with the same variables share their partitions."""
    constants: tuple[tuple[int, int], ...]
    """Columns that must have a constant."""
    equal: tuple[tuple[int, int], ...]
    """Columns that must be equal."""
    key: tuple[int, ...]
    """The columns of its variables, in the order of their names."""


class Partitions:
    """Numbers for the partitions of a window; without patterns there is one."""

    def __init__(self, window: RowsWindow, symbols: Symbols) -> None:
        self.patterns: dict[str, list[_Pattern]] = {}
        self.is_one = not window.by
        self.constants: list[int] = []
        kinds: dict[tuple[str, ...], int] = {}
        for atom in window.by:
            places: dict[str, int] = {}
            constants, equal = [], []
            for place, term in enumerate(atom.arguments):
                if isinstance(term, Constant):
                    constants.append((place, symbols.number(term.value)))
                elif isinstance(term, Variable) and not term.is_anonymous:
                    first = places.setdefault(term.name, place)
                    if first != place:
                        equal.append((first, place))
            self.constants += [number for _, number in constants]
            names = tuple(sorted(places))
            kind = kinds.setdefault(names, len(kinds))
            key = tuple(places[name] for name in names)
            self.patterns.setdefault(atom.predicate, []).append(_Pattern(kind, tuple(constants), tuple(equal), key))
        self.width = 1 + max((len(names) for names in kinds), default=0)
        self.fill(np.zeros((0, self.width), np.int32))

    def fill(self, keys: Ints32, more: int = 0) -> None:
        """Takes over partitions as they were, with room for some more."""
        room = max(16, 1 << (len(keys) + more).bit_length())
        self.count = len(keys)
        self.keys = np.zeros((room, self.width), np.int32)
        self.keys[: self.count] = keys
        self.slots = np.full(2 * room, EMPTY, np.int32)
        numbering.spread(self.slots, self.keys, self.count)

    def checked(self, state: Arrays, values: int) -> Ints32:
        """Partitions as they were saved, with values that there are."""
        keys = state.rows("partitions", np.int32, self.width, least=0)
        need(not len(keys) or int(keys[:, 1:].max(initial=0)) < max(1, values), "a partition of a value that is none")
        return keys

    @property
    def known(self) -> Ints32:
        """The partitions there are: for each its kind, and the values of its variables."""
        return self.keys[: self.count]

    def used(self) -> list[Ints32]:
        """The constants it refers to. A pad is a constant like others: it costs nothing to keep it."""
        return [self.known[:, 1:].ravel(), np.array(self.constants, np.int32)]

    def of(self, predicate: str, tuples: Ints32) -> Ints:
        """The partitions of a predicate's facts; below 0 for a fact that fits no pattern."""
        found = np.full(len(tuples), 0 if self.is_one else _NONE, np.int64)
        for pattern in self.patterns.get(predicate, ()):
            fits = found == _NONE
            for place, number in pattern.constants:
                fits &= tuples[:, place] == number
            for first, second in pattern.equal:
                fits &= tuples[:, first] == tuples[:, second]
            found[fits] = self._numbers(pattern, tuples[fits])
        return found

    def _numbers(self, pattern: _Pattern, tuples: Ints32) -> Ints32:
        wanted = np.zeros((len(tuples), self.width), np.int32)
        wanted[:, 0] = pattern.kind
        for place, column in enumerate(pattern.key):
            wanted[:, 1 + place] = tuples[:, column]
        if self.count + len(wanted) >= len(self.keys):
            self.fill(self.known, len(wanted))
        found = np.empty(len(wanted), np.int32)
        self.count = numbering.enter(self.slots, self.keys, self.count, wanted, found)
        return found
