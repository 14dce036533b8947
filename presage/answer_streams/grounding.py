"""A program over a finite stream as propositional rules over the facts that may hold or not.

What every answer stream contains is computed first. Around it lies what some answer stream might contain: the
rules are applied with every negation taken to hold unless its opposite is certain. Only the facts in between
are left to be decided, and only instances of rules whose body could hold are written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.analysis.subject import Subject
from presage.analysis.uncertain import uncertain_predicates
from presage.answer_streams.compiling import BodyCompiler, Unsettled
from presage.answer_streams.expressions import FALSE, Candidate, Expression
from presage.answer_streams.fixpoint import evaluator_of, groups, saturate, stratified_model
from presage.answer_streams.program_world import ProgramWorld
from presage.answer_streams.rules import RuleView
from presage.answer_streams.streams import FactsInTime
from presage.answer_streams.values import Assignment
from presage.time.points import FAR, Times


@dataclass(frozen=True, slots=True)
class GroundRule:
    """If the body holds then all facts of one of the alternatives do; without alternatives, it must not."""

    alternatives: tuple[frozenset[Candidate], ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class GroundProgram:
    certain: FactsInTime
    """What is given or holds in every answer stream."""
    rules: tuple[GroundRule, ...]


def derived_predicates(subject: Subject) -> frozenset[str]:
    return frozenset(name for name, each in subject.predicates.items() if each.kind == "derived")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest that answer streams can contain."""

    certain: FactsInTime
    possible: FactsInTime
    unsettled: Unsettled


def bounds(world: ProgramWorld, looks: Times) -> Bounds:
    """What every answer stream contains, and what some may, from rules looked at at these times."""
    uncertain = uncertain_predicates(world.subject)
    unsettled = Unsettled(uncertain, counts_all=not world.reads_every_time)
    certain = stratified_model(world, looks, derived_predicates(world.subject) - uncertain)
    if not uncertain:
        return Bounds(certain, certain, unsettled)
    possible = certain.copy()
    for group in groups(world, uncertain):
        rules = [view for view in world.rules if view.heads & group]
        saturate(world, possible, certain, rules, group, looks, unsettled)
    if unsettled.counts_all:
        # What windows of rows let through may hang on every predicate.
        rules = [view for view in world.rules if view.heads & uncertain]
        saturate(world, possible, certain, rules, uncertain, looks, unsettled)
    return Bounds(certain, possible, unsettled)


def ground_program(world: ProgramWorld, looks: Times, around: Bounds | None = None) -> GroundProgram:
    """The instances of rules that are looked at at these times, as far as they say something."""
    around = around or bounds(world, looks)
    certain, possible, unsettled = around.certain, around.possible, around.unsettled
    found: dict[GroundRule, None] = {}
    for view in world.rules:
        if not view.rule.conclusions or view.heads & unsettled.uncertain:
            unsettled.refuse_aggregates(view.body)
            compiler = BodyCompiler(evaluator_of(world, view, certain), world.stream(possible), unsettled)
            evaluator = evaluator_of(world, view, possible, certain, unsettled)
            for binding, times in view.solutions(evaluator, looks):
                for time in times.points():
                    body = compiler.body(view.body, binding, time)
                    if body != FALSE:
                        found.update(dict.fromkeys(_instance(world, view, binding, time, certain, body)))
    return GroundProgram(certain, tuple(found))


def _instance(
    world: ProgramWorld, view: RuleView, binding: Assignment, time: int, certain: FactsInTime, body: Expression
) -> Iterator[GroundRule]:
    if not view.rule.conclusions:
        yield GroundRule((), body)
        return
    told: dict[int, set[Candidate]] = {}
    reached: set[int] = set()
    for conclusion, ground, times in view.derived(binding, Times.at(time)):
        inside = times & world.told
        if inside:
            if inside.last >= FAR:  # of what holds for ever, as much as can be looked at by now
                inside = inside.within(inside.first, max(world.high, inside.spans[-1][0]))
            place = id(conclusion) if view.rule.is_choice else 0
            reached.add(place)
            missing = (inside - certain.times(*ground)).points()
            told.setdefault(place, set()).update((ground, each) for each in missing)
    if not reached or any(not candidates for candidates in told.values()):
        return  # nothing on the timeline is said, or what is said holds anyway
    yield GroundRule(tuple(frozenset(each) for each in told.values()), body)
