"""How late each fact may be, and how likely: δ per predicate and per instance ([HAD] section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from presage.analysis.predicates import Predicate
from presage.model.delays import Excluded, conditions_of, declarations_for, delay_of, longest_delay
from presage.model.statements import Input
from presage.model.terms import Number
from presage.patterns.literals import Open


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
        return longest_delay(self.predicates[name].inputs, _known(arguments), without)

    def least(self, name: str) -> Number:
        """The least delay of any instance."""
        return min((delay_of(each) for each in self.predicates[name].inputs), default=0)

    def declaration(self, name: str, arguments: Sequence[Any]) -> Input | None:
        """What is declared about a ground fact."""
        return next(declarations_for(self.predicates[name].inputs, _known(arguments)), None)

    def refinements(self, name: str) -> list[Excluded]:
        """The combinations of values for which something else is declared."""
        return [frozenset(conditions_of(declared)) for declared in self.predicates[name].inputs if declared.where]


def _known(arguments: Sequence[Any]) -> list[Any]:
    return [None if isinstance(each, Open) else each for each in arguments]
