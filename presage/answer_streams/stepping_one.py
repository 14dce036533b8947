"""Programs with one model that the interval engine does not run yet, tick by tick.

Windows of rows in other forms than `plan/in_rows.py` knows, windows within windows beside other conditions, times as
values and `chase restricted` are evaluated by the fixpoint of `presage ask`, over all that has arrived, at each step;
only what is final is told. That is slow for long streams, and right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from presage.answer_streams import saving
from presage.answer_streams.evaluation import facts_at_times
from presage.answer_streams.expressions import Candidate
from presage.answer_streams.program_world import ProgramWorld
from presage.answer_streams.restricted import one_model
from presage.answer_streams.stepping import AnswerStreamSteps
from presage.answer_streams.values import Invented
from presage.answer_streams.words import NullNames
from presage.answers import Answer, bindings_of, shown_name
from presage.checking import Report
from presage.model.terms import Variable


class OneModelSteps(AnswerStreamSteps):
    """The same steps for a program with one model; values that rules invent keep their names."""

    def __init__(self, report: Report, chase_limit: int | None = None) -> None:
        assert report.findings is not None
        super().__init__(report, report.findings.watched, invents=True)
        self.nulls = NullNames()
        self.chase_limit = chase_limit

    def memory(self) -> dict[str, Any]:
        return super().memory() | {
            "nulls": [[saving.value(each), number] for each, number in self.nulls.numbers.items()]
        }

    def remember(self, memory: dict[str, Any]) -> None:
        super().remember(memory)
        self.nulls.numbers = {saving.read_value(each): int(number) for each, number in memory["nulls"]}

    def _world(self, now: int) -> ProgramWorld:
        world = super()._world(now)
        return world if self.chase_limit is None else replace(world, chase_limit=self.chase_limit)

    def _common(self, world: ProgramWorld, now: int) -> list[Candidate] | None:
        facts = one_model(world, world.looks(now), world.subject.predicates)
        self.certain = facts
        self._is_idle = not any(facts.ground())
        asked = facts_at_times(facts, until=self._latest(now))
        return [each for each in asked if each not in self._said and any(self._queries_for(each, now))]

    def _answers(self, confirmed: list[Candidate], now: int) -> Iterator[Answer]:
        for candidate in sorted(confirmed, key=lambda each: (each[1], repr(each[0]))):
            (predicate, arguments), time = candidate
            values = tuple(Variable(self.nulls.of(each)) if isinstance(each, Invented) else each for each in arguments)
            for query in self._asking(candidate):
                found = bindings_of(query, values)
                bindings = {name: each.name if isinstance(each, Variable) else each for name, each in found.items()}
                yield Answer(now, "confirmed", shown_name(predicate), values, bindings, time=time)
                break
