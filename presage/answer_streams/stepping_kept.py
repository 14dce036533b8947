"""Answer streams tick by tick, with grounding kept: for programs whose rules look back a bounded time.

Gives what `stepping.py` gives, at a cost that depends on what arrives and on how far rules look back, and not on how
long the run has been.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from presage.analysis.lookback import LookBack, Unbounded, look_backs
from presage.answer_streams import saving
from presage.answer_streams.expressions import Candidate
from presage.answer_streams.grounding import GroundRule
from presage.answer_streams.parts import Deadlines, OpenParts
from presage.answer_streams.sliding import Grounder
from presage.answer_streams.stepping import AnswerStreamSteps
from presage.checking import Report
from presage.io.facts import Fact
from presage.rewrite import core_of


class KeptSteps(AnswerStreamSteps):
    """The same steps; each takes up only what is new."""

    def __init__(self, report: Report, looks: list[LookBack]) -> None:
        super().__init__(report)
        assert self.lags is not None
        self._looks = looks
        self._grounder: Grounder | None = None
        self._parts: OpenParts | None = None
        self._rules: list[GroundRule] = []
        """Grounded, and not yet taken up."""

    @property
    def remembered(self) -> int:
        """How many rules and states are kept."""
        return 0 if self._parts is None else self._parts.remembered

    @property
    def facts_in_memory(self) -> int:
        """How many facts that hold or may hold are kept."""
        return 0 if self._grounder is None else sum(1 for _ in self._grounder.possible.ground())

    def _remember(self, said: list[Candidate]) -> None:
        """What is final is told once, when it becomes so; what is open is remembered with its part."""

    def memory(self) -> dict[str, Any]:
        memory = super().memory()
        if self._grounder is not None and self._parts is not None:
            memory.update(grounder=self._grounder.memory(), parts=saving.parts(self._parts.memory()))
        return memory

    def remember(self, memory: dict[str, Any]) -> None:
        super().remember(memory)
        if "grounder" in memory:
            grounder, parts = self._begin([saving.read_fact(each) for each in memory["grounder"]["statics"]])
            grounder.remember(memory["grounder"])
            parts.remember(saving.read_parts(memory["parts"]))

    def _begin(self, statics: Sequence[Fact]) -> tuple[Grounder, OpenParts]:
        assert self.lags is not None
        self._grounder = Grounder(self.subject, statics, self._looks, self.lags)
        self.certain = self._grounder.certain
        choices = (rule for rule in core_of(self.subject).rules if rule.is_choice)
        alternatives = frozenset(head.atom.predicate for rule in choices for head in rule.conclusions)
        self._parts = OpenParts(
            Deadlines(self.lags.of, self._grounder.reach, alternatives, lambda each: any(self._asking(each)))
        )
        return self._grounder, self._parts

    def _settled(self, now: int) -> list[Candidate] | None:
        if self._grounder is None or self._parts is None:
            self._begin([fact for fact in self._given if fact.low is None])
        grounder, parts = self._grounder, self._parts
        assert grounder is not None and parts is not None
        before = grounder.now
        if parts.is_inconsistent:
            self._given.clear()
            return None
        self._rules += grounder.advance([fact for fact in self._given if fact.low is not None], now)
        if grounder.told_again:
            parts.now_certain(lambda each: each[1] in grounder.certain.times(*each[0]))
        found = parts.advance(self._rules, now)
        self._given.clear()
        self._rules.clear()
        self._is_idle = found is not None and not len(parts) and grounder.is_idle
        if found is None:
            return None
        sure = list(self._newly_final(grounder, before, now))
        grounder.forget()
        return list(dict.fromkeys((*sure, *found)))

    def _newly_final(self, grounder: Grounder, before: int, now: int) -> Iterator[Candidate]:
        """What surely holds, is asked for, and has become final."""
        assert self.lags is not None
        for name in dict.fromkeys(query.atom.predicate for query in self.subject.queries):
            lag = self.lags.of[name]
            for arguments in grounder.certain.arguments(name):
                times = grounder.certain.times(name, arguments).within(before - lag + 1, now - lag)
                for time in times.points():
                    candidate = ((name, arguments), time)
                    if any(self._asking(candidate)):
                        yield candidate


def steps_of(report: Report) -> AnswerStreamSteps:
    """The steps of a program with none or several models, or with `reading now`."""
    assert report.findings is not None
    subject = report.findings.subject
    if subject.reading == "every" and subject.discrete:
        looks = look_backs(subject)
        if not isinstance(looks, Unbounded):
            return KeptSteps(report, looks)
    return AnswerStreamSteps(report)
