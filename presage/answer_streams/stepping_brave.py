"""Answer streams tick by tick, with what holds in some of them only: `presage run --brave`.

A fact that holds in some answer streams and not in all is told as possible. With `reading every` more of the stream
can only rule models out, so that later it is confirmed, or refuted, or stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from presage.answer_streams import saving
from presage.answer_streams.expressions import Candidate, GroundLiteral
from presage.answer_streams.grounding import GroundProgram
from presage.answer_streams.solving import consequences
from presage.answer_streams.stepping import AnswerStreamSteps
from presage.answers import Answer, Answers
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.model.terms import Number


class BraveSteps(AnswerStreamSteps):
    """The same steps, grounded anew each time, with what is open."""

    told_as = None
    _in_some: frozenset[Candidate] = frozenset()
    _told: frozenset[Candidate] = frozenset()

    def _look_at_others(self, program: GroundProgram, candidates: list[Candidate]) -> None:
        truths = consequences(program, [GroundLiteral(each) for each in candidates], in_all=False) if candidates else []
        assert truths is not None
        self._in_some = frozenset(each for each, true in zip(candidates, truths, strict=True) if true)

    def memory(self) -> dict[str, Any]:
        open_ones = {"in_some": saving.candidates(self._in_some), "told": saving.candidates(self._told)}
        return super().memory() | open_ones

    def remember(self, memory: dict[str, Any]) -> None:
        super().remember(memory)
        self._in_some, self._told = (frozenset(saving.read_candidates(memory[each])) for each in ("in_some", "told"))

    def standing(self, told: Answers) -> Sequence[Answer]:
        confirmed = [each for each in told if each.status not in ("possible", "refuted")]
        return [*confirmed, *sorted(self._as(self._in_some - self._said, "possible"), key=lambda each: each.answer)]

    def confirmed(self, told: Answers) -> Sequence[Answer]:
        return [each for each in told if each.status not in ("possible", "refuted")]

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> list[Answer]:
        before = self._told
        answers = super().step(facts, now, tables)
        if self.now is None or any(answer.status == "inconsistent" for answer in answers):
            return answers
        gone = frozenset[Candidate]() if self.reads_now else before - self._in_some - self._said
        self._told = (before | self._in_some if self.reads_now else self._in_some) - self._said
        news = [*self._as(self._in_some - before, "possible"), *self._as(gone, "refuted")]
        return sorted([*answers, *news], key=lambda answer: answer.answer)

    def _as(self, candidates: frozenset[Candidate], status: str) -> Iterator[Answer]:
        for answer in self._answers(list(candidates), self.now or 0):
            yield replace(answer, status=status)
