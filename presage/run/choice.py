"""Which open answers are told, and how much of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from presage.answers import Answer, bindings_of, shown_name
from presage.errors import PresageError
from presage.model.statements import Query
from presage.model.terms import Number, Value, Variable
from presage.patterns.literals import Open

MOST_WAYS = 20
"""So many ways of an answer are listed where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which open answers are told: those at least so likely, so many at most; and when to tell again."""

    min_confidence: float | None = None
    top: int | None = None
    max_open: int | None = None
    confidence_step: float | None = None
    everybody: bool = field(default=False, compare=False)
    """Whether answers with open variables are told for which nothing but absence speaks."""
    ways: int | None = field(default=MOST_WAYS, compare=False)
    """So many ways of an answer are listed, those with fewest premises; `None` is all."""

    def saved(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def again(cls, saved: Mapping[str, Any]) -> Choice:
        return cls(**saved)

    def answer(
        self,
        query: Query,
        arguments: Iterable[Value | Open],
        status: str,
        ways: Sequence[dict[str, Any]],
        now: Number,
        when: dict[str, Any],
    ) -> Answer:
        """What was found as an answer of a query: beside it the first way, and so many of all."""
        shown = tuple(Variable(each.name) if isinstance(each, Open) else each for each in arguments)
        bindings = {name: value for name, value in bindings_of(query, shown).items() if not isinstance(value, Variable)}
        best = ways[0] if ways else {}
        return Answer(
            now,
            status,
            shown_name(query.atom.predicate),
            shown,
            bindings,
            **when,
            because=best.get("because", ()),
            needs=best.get("needs", ()),
            unless=best.get("unless", ()),
            decided_by=best.get("decided_by"),
            confidence=best.get("confidence") if status == "possible" else None,
            ways=tuple(ways[: self.ways]) if len(ways) > 1 else (),
            ways_left_out=max(0, len(ways) - (self.ways or len(ways))),
        )


ALL = Choice()


def most_ways(given: object) -> int | None:
    """How many ways are listed, as one may say it: a number, `"all"` or `None`."""
    if given is None or given == "all":
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise PresageError(f'ways is a whole number from 1 on, or "all", not {given!r}')
    return given
