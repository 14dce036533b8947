"""A program over the facts of a finite stream: its answer streams, and answers to questions about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from presage.analysis.subject import Subject
from presage.analysis.uncertain import uncertain_predicates
from presage.answer_streams.asking import AskedQuestion, Reply
from presage.answer_streams.expressions import Candidate, GroundLiteral, in_time
from presage.answer_streams.fixpoint import evaluator_of
from presage.answer_streams.grounding import bounds, derived_predicates, ground_program
from presage.answer_streams.program_world import ProgramWorld, declared_horizon, last_time
from presage.answer_streams.restricted import one_model
from presage.answer_streams.solving import answer_streams, consequences
from presage.answer_streams.streams import NOTHING, FactsInTime
from presage.answer_streams.values import Invented, canonical
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.model.statements import Question
from presage.time.points import FAR, Times


@dataclass(frozen=True, slots=True)
class AnswerStream:
    """All that holds in one model, and what of it was derived."""

    facts: FactsInTime
    derived: tuple[Candidate, ...]


class Evaluation:
    def __init__(
        self,
        subject: Subject,
        given: Sequence[Fact],
        at: int | None,
        timeline: tuple[int, int] | None = None,
        question: Question | None = None,
    ) -> None:
        """`at` is the time of evaluation, none for each time of the stream. Without a timeline the stream runs
        from 0 to the last fact, or to the horizon after the time of evaluation if that is later; where the
        program declares no horizon, as far as rules derive something."""
        given = tuple(given)
        last = last_time(subject, given)
        horizon = declared_horizon(subject)
        low, high = timeline if timeline is not None else (0, max(last, (last if at is None else at) + (horizon or 0)))
        self.world = ProgramWorld(subject, given, low, high, question.formula if question else None)
        if timeline is None and horizon is None:
            self.world = _grown(self.world, last if at is None else at)
        if at is not None and at not in self.world.timeline:
            raise PresageError(f"the time {at} is not on the timeline, which runs from {low} to {self.world.high}")
        self.at = at
        self.has_one_model = not uncertain_predicates(subject)

    def answer_streams(self, at: int, limit: int | None = None) -> Iterator[AnswerStream]:
        """The answer streams at a time ([LARS] Definition 12)."""
        program = ground_program(self.world, self.world.looks(at))
        data = self.world.data
        for choice in islice(answer_streams(program), limit):
            facts = program.certain.copy() if choice else program.certain
            for ground, time in choice:
                facts.add(ground, Times.at(time), counted=not self.world.reads_every_time)
            yield AnswerStream(facts, facts_at_times(facts, data))

    def common_facts(self, at: int, in_all: bool = True) -> tuple[Candidate, ...] | None:
        """What is derived in all answer streams, or in some; none if there is none."""
        looks = self.world.looks(at)
        around = bounds(self.world, looks)
        open_facts = facts_at_times(around.possible, around.certain)
        asked = [GroundLiteral(fact) for fact in open_facts]
        truths = consequences(ground_program(self.world, looks, around), asked, in_all)
        if truths is None:
            return None
        facts = around.certain.copy()
        for (ground, time), true in zip(open_facts, truths, strict=True):
            if true:
                facts.add(ground, Times.at(time), counted=False)
        return facts_at_times(facts, self.world.data)

    def ask(self, question: Question, with_nulls: bool = False) -> list[Reply]:
        """The answers to a question, by time: those that all answer streams agree on. An answer that names an invented
        value is not certain, since another value may be in its place: it is given only if asked for."""
        asked = AskedQuestion(self.world, question)
        if self.world.reads_every_time:
            when = self.world.timeline if self.at is None else Times.at(self.at)
            found = self._replies(asked, self.world.low, when)
        else:
            times = self.world.timeline if self.at is None else Times.at(self.at)
            found = [reply for at in times.points() for reply in self._replies(asked, at, Times.at(at))]
        if not with_nulls:
            found = [reply for reply in found if not any(isinstance(value, Invented) for _, value in reply.bindings)]
        return sorted(found, key=_order)

    def _replies(self, asked: AskedQuestion, at: int, when: Times) -> list[Reply]:
        looks = self.world.looks(at)
        if self.has_one_model:
            return asked.replies(one_model(self.world, looks, derived_predicates(self.world.subject)), when)
        found = asked.common_replies(looks, when)
        if found is None:
            where = "" if self.world.reads_every_time else f" at {at}"
            raise PresageError(f"the program has no answer stream{where} over these facts: nothing can be asked")
        return found


def facts_at_times(facts: FactsInTime, without: FactsInTime = NOTHING, until: int = FAR) -> tuple[Candidate, ...]:
    """Each fact at each of its times up to one, by time, but for what is in others."""
    found = [
        (ground, time)
        for ground, times in facts.ground()
        for time in (times - without.times(*ground)).within(-FAR, until).points()
    ]
    return tuple(sorted(found, key=in_time))


def _order(reply: Reply) -> tuple[object, ...]:
    return reply.at, *(canonical(("", (value,))) for _, value in reply.bindings)


def _grown(world: ProgramWorld, at: int) -> ProgramWorld:
    """The world with a timeline that reaches as far as rules derive something. Predicates that carry themselves
    ever farther do not count."""
    subject = world.subject
    ahead = {
        edge.head for edge in subject.dependencies if edge.low < 0 and edge.head not in subject.recursive_predicates
    }
    for _ in range(len(ahead)):
        looks = world.looks(at)
        possible = bounds(world, looks)
        farthest = world.high
        for view in world.rules:
            if view.heads & ahead:
                evaluator = evaluator_of(world, view, possible.possible, possible.certain, possible.unsettled)
                for binding, times in view.solutions(evaluator, looks):
                    for _, ground, derived in view.derived(binding, times):
                        if ground[0] in ahead and derived and derived.last < FAR:
                            farthest = max(farthest, derived.last)
        if farthest == world.high:
            break
        world = replace(world, high=farthest)
    return world
