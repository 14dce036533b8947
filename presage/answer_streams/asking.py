"""Questions about a stream: a formula, or a conjunctive query, with its answers ([LARS] Definition 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from presage.answer_streams.aggregates import Solved
from presage.answer_streams.compiling import BodyCompiler, Unsettled
from presage.answer_streams.expressions import Expression, some_of
from presage.answer_streams.formulas import Evaluator
from presage.answer_streams.grounding import bounds, ground_program
from presage.answer_streams.ordering import Ordering
from presage.answer_streams.program_world import ProgramWorld
from presage.answer_streams.solving import consequences
from presage.answer_streams.streams import FactsInTime
from presage.answer_streams.values import ValueOrInvented
from presage.core.formulas import CoreFormula, times_named, uses_now
from presage.model.formulas import variables
from presage.model.statements import Question
from presage.model.values import NOW
from presage.rewrite.lowering import Lowering
from presage.time.points import NEVER, Times

AnswerValues = tuple[tuple[str, ValueOrInvented], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: the values of the variables asked for, and the time."""

    bindings: AnswerValues
    at: int


def asked_variables(question: Question) -> tuple[str, ...]:
    """The variables whose values are asked for, in the order of the text."""
    hidden = {variable.name for variable in question.exists}
    names = dict.fromkeys(variable.name for variable in variables(question.formula))
    return tuple(name for name in names if name not in hidden and not name.startswith("_#"))


@dataclass(frozen=True)
class AskedQuestion:
    """A question over a world."""

    world: ProgramWorld
    question: Question

    @cached_property
    def ordering(self) -> Ordering:
        return Ordering(frozenset(times_named(self.formula)), self.world.static_names)

    @cached_property
    def formula(self) -> CoreFormula:
        """What is asked, in core; as it was written, since all its variables count."""
        return Lowering(discrete=True).formula(self.question.formula)

    def evaluator(
        self, facts: FactsInTime, opposite: FactsInTime | None = None, unsettled: Unsettled | None = None
    ) -> Evaluator:
        """Time variables stand for time points of the stream."""
        stream = self.world.stream(facts, opposite)
        constants = self.world.constants
        return Evaluator(stream, self.world.statics, lambda: constants(facts), self.ordering, stream.times, unsettled)

    def solutions(self, evaluator: Evaluator, when: Times) -> Iterator[Solved]:
        formula, timeline = self.formula, self.world.timeline
        when &= timeline
        looks = [({NOW: at}, Times.at(at)) for at in when.points()] if uses_now(formula) else [({}, when)]
        for start, at in looks:
            for binding, times in evaluator.solve(formula, start, at):
                if all(_is_time_of(timeline, binding[name]) for name in self.ordering.times & binding.keys()):
                    yield binding, times

    def replies(self, facts: FactsInTime, when: Times) -> list[Reply]:
        """The answers over a stream whose facts are known."""
        asked, found = asked_variables(self.question), dict[AnswerValues, Times]()
        for binding, times in self.solutions(self.evaluator(facts), when):
            key = tuple((name, binding[name]) for name in asked)
            found[key] = found.get(key, NEVER) | times
        return [Reply(key, at) for key, times in found.items() for at in times.points()]

    def common_replies(self, looks: Times, when: Times) -> list[Reply] | None:
        """The answers that hold in all answer streams; none if there is none."""
        around = bounds(self.world, looks)
        around.unsettled.refuse_aggregates(self.formula)
        possible = self.world.stream(around.possible)
        compiler = BodyCompiler(self.evaluator(around.certain), possible, around.unsettled)
        asked, cases = asked_variables(self.question), dict[Reply, list[Expression]]()
        evaluator = self.evaluator(around.possible, around.certain, around.unsettled)
        for binding, times in self.solutions(evaluator, when):
            key = tuple((name, binding[name]) for name in asked)
            for at in times.points():
                holds = compiler.body(self.formula, binding, at)
                cases.setdefault(Reply(key, at), []).append(holds)
        program = ground_program(self.world, looks, around)
        truths = consequences(program, [some_of(each) for each in cases.values()], in_all=True)
        return None if truths is None else [reply for reply, true in zip(cases, truths, strict=True) if true]


def _is_time_of(timeline: Times, value: ValueOrInvented) -> bool:
    return isinstance(value, int) and value in timeline
