"""Facts and values as text; invented values get numbers as they appear."""

from __future__ import annotations

from presage.answer_streams.values import Ground, Invented, ValueOrInvented
from presage.answers import json_value
from presage.model.formulas import Atom
from presage.model.printer import show_atom, show_term
from presage.model.terms import Constant, Variable


class NullNames:
    """Names an invented value `_:1`, `_:2`, … the first time it is shown."""

    def __init__(self) -> None:
        self.numbers: dict[Invented, int] = {}

    def of(self, value: Invented) -> str:
        return f"_:{self.numbers.setdefault(value, len(self.numbers) + 1)}"

    def json(self, value: ValueOrInvented) -> str | int | float:
        return self.of(value) if isinstance(value, Invented) else json_value(value)

    def text(self, value: ValueOrInvented) -> str:
        return self.of(value) if isinstance(value, Invented) else show_term(Constant(value))

    def fact(self, ground: Ground, time: int) -> str:
        """A fact at a time in canonical text, such as `exp(a3, m)@43`."""
        predicate, arguments = ground
        # A variable is the one term that prints as it is named, whatever the name.
        terms = tuple(
            Variable(self.of(value)) if isinstance(value, Invented) else Constant(value) for value in arguments
        )
        return f"{show_atom(Atom(predicate, terms))}@{time}"
