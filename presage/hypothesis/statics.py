"""Static facts: rows that hold always, found by whichever of their values are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from presage.analysis.subject import Subject
from presage.model.formulas import Atom
from presage.model.terms import Constant, Value, Values


class StaticRows:
    def __init__(self) -> None:
        self.given: dict[str, dict[Values, None]] = {}
        self.changes = 0
        """How often something was added: who has made something of these rows sees that there are more."""
        self.indexes: dict[tuple[str, tuple[int, ...]], dict[Values, list[Values]]] = {}

    def add(self, name: str, row: Values) -> None:
        self.given.setdefault(name, {})[row] = None
        self.indexes.clear()
        self.changes += 1

    def add_facts_of(self, subject: Subject) -> None:
        """The static facts that the program itself states."""
        for rule in subject.program.rules:
            for atom in rule.head_atoms if rule.is_fact else ():
                if isinstance(atom, Atom) and subject.predicates[atom.predicate].is_static:
                    self.add(atom.predicate, tuple(each.value for each in atom.arguments if isinstance(each, Constant)))

    def rows(self, name: str, known: Sequence[Value | None]) -> Iterable[Values]:
        """The rows of a predicate that agree with the values known."""
        places = tuple(place for place, value in enumerate(known) if value is not None)
        if (name, places) not in self.indexes:
            index: dict[Values, list[Values]] = {}
            for row in self.given.get(name, ()):
                index.setdefault(tuple(row[place] for place in places), []).append(row)
            self.indexes[name, places] = index
        return self.indexes[name, places].get(tuple(known[place] for place in places), ())  # type: ignore[misc]
