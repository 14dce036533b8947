"""Questions about a stream: a formula, or a conjunctive query, with its answers ([LARS] Definition 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.model.formulas import Formula, Pinned, variables, walk
from presage.model.statements import Question
from presage.model.terms import Variable
from presage.models.formulas import Evaluator, uses_now
from presage.models.ordering import Ordering
from presage.models.streams import Facts
from presage.models.times import Times
from presage.models.values import NOW, Value
from presage.models.world import World


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: the values of the variables asked for, and the time."""

    bindings: tuple[tuple[str, Value], ...]
    at: int


def time_variables(formula: Formula) -> frozenset[str]:
    pins = (node.pin.base for node in walk(formula) if isinstance(node, Pinned))
    return frozenset(base.name for base in pins if isinstance(base, Variable))


def asked_variables(question: Question) -> tuple[str, ...]:
    """The variables whose values are asked for, in the order of the text."""
    hidden = {variable.name for variable in question.exists}
    names = dict.fromkeys(variable.name for variable in variables(question.formula))
    return tuple(name for name in names if name not in hidden and not name.startswith("_#"))


def replies(world: World, question: Question, facts: Facts, when: Times) -> Iterator[Reply]:
    """The answers over a stream, by time. Time variables stand for time points of the stream."""
    formula, asked = question.formula, asked_variables(question)
    ordering = Ordering(time_variables(formula), world.static_names)
    stream = world.stream(facts)
    evaluator = Evaluator(stream, world.statics, lambda: world.constants(facts), ordering, stream.times)
    when &= stream.times
    looks = [({NOW: at}, Times.at(at)) for at in when.points()] if uses_now(formula) else [({}, when)]
    found: dict[tuple[tuple[str, Value], ...], Times] = {}
    for start, at in looks:
        for binding, times in evaluator.solve(formula, start, at):
            if all(_is_time_of(stream.times, binding[name]) for name in ordering.times):
                key = tuple((name, binding[name]) for name in asked)
                found[key] = found.get(key, Times(())) | times
    yield from (Reply(key, at) for key, times in found.items() for at in times.points())


def _is_time_of(timeline: Times, value: Value) -> bool:
    return isinstance(value, int) and value in timeline
