"""Who is not known yet: whether somebody is like others at all, and which static facts somebody has."""

from __future__ import annotations

import numpy as np

from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.kinds import Kinds
from presage.hypothesis.courses.static_facts import StaticFacts
from presage.kernels.arrays import Flags, Ints, Ints32


class Newcomers:
    def __init__(self, people: Individuals, kinds: Kinds, static_facts: StaticFacts | None) -> None:
        self.people, self.kinds, self.static_facts = people, kinds, static_facts
        self.changes = 0 if static_facts is None else static_facts.statics.changes

    def rows_of(self, keys: Ints32) -> Ints:
        """The individuals of some keys."""
        return self.people.rows_of(keys, self._welcome)

    def _welcome(self, rows: Ints) -> None:
        self.people.is_direct[rows] = self._is_odd(self.people.keys[rows])
        if self.static_facts is not None:
            for row in rows.tolist():
                if not self._has_looked_up(row):
                    self.people.is_direct[row] = True

    def _is_odd(self, keys: Ints32) -> Flags:
        """Whose key is a constant of the program, or the same twice: nobody else is like them."""
        odd: Flags = np.any(np.isin(keys, self.kinds.constants), axis=1)
        for first in range(keys.shape[1]):
            for second in range(first):
                odd |= keys[:, first] == keys[:, second]
        return odd

    def _has_looked_up(self, row: int) -> bool:
        """Gives somebody the static facts it has; false if those are too many."""
        assert self.static_facts is not None
        key = self.people.keys[row].tolist()
        facts = self.static_facts.of([self.kinds.symbols.value(each) for each in key])
        if facts is None:
            return False
        found = [self.kinds.of_static(*each) for each in facts]
        values = [np.array(each, np.int32) for _, each in found]
        numbers = [self.kinds.numbers_of(each.reshape(-1, 1)).ravel() for each in values]
        self.people.give_static(row, [kind for kind, _ in found], values, numbers)
        return True

    def looked_up_again(self) -> list[int]:
        """Where there are more static facts than before, gives everybody those it has now; who has too many."""
        if self.static_facts is None or self.changes == self.static_facts.statics.changes:
            return []
        self.changes = self.static_facts.statics.changes
        people = self.people
        known = np.flatnonzero(people.of_keys & ~people.is_direct[: people.size]).tolist()
        found = [row for row in known if not self._has_looked_up(row)]
        answers = np.flatnonzero(people.owner[: people.size] >= 0)
        for each in (people.static_kinds, people.static_values, people.static_numbers):
            each[answers] = each[people.owner[answers]]
        return found
