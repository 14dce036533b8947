"""How late each fact may be, and how likely: δ per predicate and per instance ([HAD] section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from presage.analysis.predicates import Predicate, delay_of
from presage.hypothesis.literals import Open
from presage.model.statements import Input
from presage.model.terms import Number

Excluded = frozenset[tuple[int, Any]]
"""Places of a fact's arguments with values they do not have together."""


class Delays:
    def __init__(self, predicates: dict[str, Predicate]) -> None:
        self.predicates = predicates
        self.plain = {
            name: known.delay or 0
            for name, known in predicates.items()
            if known.is_input and not any(each.where for each in known.inputs)
        }

    def of(self, name: str, arguments: Sequence[Any], without: Iterable[Excluded] = ()) -> Number:
        """The greatest delay of any instance; `None` and `Open` stand for any value but those excluded."""
        if name in self.plain:
            return self.plain[name]
        return max((delay_of(each) for each in self._possible(name, arguments, without)), default=0)

    def least(self, name: str) -> Number:
        """The least delay of any instance."""
        return min((delay_of(each) for each in self.predicates[name].inputs), default=0)

    def declaration(self, name: str, arguments: Sequence[Any]) -> Input | None:
        """What is declared about a ground fact."""
        return next(iter(self._possible(name, arguments)), None)

    def refinements(self, name: str) -> list[Excluded]:
        """The combinations of values for which something else is declared."""
        known = self.predicates[name]
        names = [column.name for column in known.columns]
        return [
            frozenset((names.index(each.column), each.value.value) for each in declared.where)
            for declared in known.inputs
            if declared.where
        ]

    def _possible(self, name: str, arguments: Sequence[Any], without: Iterable[Excluded] = ()) -> list[Input]:
        """The declarations that some instance may fall under: the last that matches wins."""
        known = self.predicates[name]
        names = [column.name for column in known.columns]
        found = []
        for declared in reversed(known.inputs):
            asked = [(names.index(each.column), each.value.value) for each in declared.where]
            still_open = frozenset(
                pair for pair in asked if arguments[pair[0]] is None or isinstance(arguments[pair[0]], Open)
            )
            if any(arguments[place] != wanted for place, wanted in asked if (place, wanted) not in still_open):
                continue
            if still_open and any(excluded <= still_open for excluded in without):
                continue
            found.append(declared)
            if not still_open:
                break
        return found
