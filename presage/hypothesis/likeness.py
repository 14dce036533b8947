"""How the premises of one way come to be among those of another: what the open variables of the one stand for, and what
those of the other must be for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from presage.model.formulas import Comparison
from presage.model.terms import Constant, Variable
from presage.patterns.literals import Open

Values = dict[Open, object]
"""What open variables stand for."""


class Binding(NamedTuple):
    values: Values
    """What the open variables of the one way stand for in the other."""
    same: Values
    """What open variables of the other must be for that."""

    def of(self, term: object) -> object:
        """What a term of the other way is then."""
        while isinstance(term, Open) and term in self.same:
            term = self.same[term]
        return term

    def value(self, variable: Open) -> object:
        """What a variable of the one way stands for."""
        return self.of(self.values[variable]) if variable in self.values else variable

    def with_values(self, wanted: Sequence[object], given: Sequence[object]) -> Binding | None:
        """The same where, besides, terms of the one way are those of the other; nothing if they cannot be."""
        found = Binding(dict(self.values), dict(self.same))
        for want, have in zip(wanted, given, strict=True):
            known = found.values.setdefault(want, have) if isinstance(want, Open) else want
            one, other = found.of(known), found.of(have)
            if one == other:
                continue
            if not isinstance(one, Open):
                one, other = other, one
            if not isinstance(one, Open):
                return None
            found.same[one] = other
        return found

    def clause(self) -> Iterator[Comparison]:
        """What the other way's variables must not be, lest it need too much."""
        for one in self.same:
            other = self.of(one)
            term = Variable(other.name) if isinstance(other, Open) else Constant(other)  # type: ignore[arg-type]
            yield Comparison("=", Variable(one.name), term)
