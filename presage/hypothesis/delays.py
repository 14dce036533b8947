"""How late each fact may be, and how likely: δ per predicate and per instance ([HAD] section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.analysis.predicates import Predicate, delay_of
from presage.hypothesis.literals import Open
from presage.model.statements import Input
from presage.model.terms import Number


class Delays:
    def __init__(self, predicates: dict[str, Predicate]) -> None:
        self.predicates = predicates
        self.plain = {
            name: known.delay or 0
            for name, known in predicates.items()
            if known.is_input and not any(each.where for each in known.inputs)
        }

    def of(self, name: str, arguments: Sequence[Any]) -> Number:
        """The greatest delay of any instance; `None` and `Open` stand for any value."""
        if name in self.plain:
            return self.plain[name]
        return max((delay_of(each) for each in self._possible(name, arguments)), default=0)

    def declaration(self, name: str, arguments: Sequence[Any]) -> Input | None:
        """What is declared about a ground fact."""
        return next(iter(self._possible(name, arguments)), None)

    def _possible(self, name: str, arguments: Sequence[Any]) -> list[Input]:
        """The declarations that some instance may fall under: the last that matches wins."""
        known = self.predicates[name]
        names = [column.name for column in known.columns]
        found = []
        for declared in reversed(known.inputs):
            given = [(arguments[names.index(each.column)], each.value.value) for each in declared.where]
            is_open = [value is None or isinstance(value, Open) for value, _ in given]
            if any(not free and value != wanted for free, (value, wanted) in zip(is_open, given, strict=True)):
                continue
            found.append(declared)
            if not any(is_open):
                break
        return found
