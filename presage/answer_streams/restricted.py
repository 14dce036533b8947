"""The restricted chase: a rule invents values only where none that is there already would do.

Whether a head is satisfied must be looked at for all its atoms together, so that predicates of one head are worked
off in one group. What does not invent comes first, then instances of rules that do, the earliest first and one after
the other: what holds early does not hang on what comes later. The model is universal, as that of the skolem chase is:
every conjunctive query has the same certain answers. It has fewer values, and which ones depends on this order.
"""

from __future__ import annotations

from collections.abc import Iterable

from presage.analysis.graph import component_of
from presage.answer_streams.fixpoint import evaluator_of, saturate, stratified_model, tell
from presage.answer_streams.formulas import arguments_of
from presage.answer_streams.program_world import ProgramWorld
from presage.answer_streams.rules import RuleView
from presage.answer_streams.streams import FactsInTime
from presage.answer_streams.values import Assignment, ValueOrInvented
from presage.errors import PresageError
from presage.time.points import Times


def one_model(world: ProgramWorld, looks: Times, among: Iterable[str]) -> FactsInTime:
    """The given facts and all that follows for the given predicates, as the program wants values invented."""
    if world.subject.program.chase == "restricted":
        return restricted_model(world, looks)
    return stratified_model(world, looks, among)


def restricted_model(world: ProgramWorld, looks: Times) -> FactsInTime:
    """The given facts and all that follows, with values invented only where needed."""
    facts = world.data.copy()
    for group in _groups(world):
        rules = [view for view in world.rules if view.heads & group]
        plain = [view for view in rules if view.rule.conclusions and not view.rule.exists]
        inventing = [view for view in rules if view.rule.exists]
        while True:
            saturate(world, facts, facts, plain, group, looks)
            if not _invent(world, facts, inventing, group, looks):
                break
    return facts


def _groups(world: ProgramWorld) -> list[frozenset[str]]:
    """Predicates that depend on one another or stand in one head that invents, each group after those it needs."""
    subject = world.subject
    needs: dict[str, list[str]] = {name: [] for name in subject.predicates}
    for edge in subject.dependencies:
        needs[edge.head].append(edge.body)
    for view in world.rules:
        if view.rule.exists:
            for name in view.heads:
                needs[name] += sorted(view.heads)
    component = component_of(sorted(needs), needs)
    for edge in subject.dependencies:
        if edge.negative and component[edge.head] == component[edge.body]:
            raise PresageError(
                f"{subject.program.source.name}: {subject.place(edge.rule)}: with `chase restricted`, a value that "
                f"is invented must not hang on its own absence: `{edge.head}` depends on `not {edge.body}`"
            )
    members: dict[int, set[str]] = {}
    for name, number in component.items():
        members.setdefault(number, set()).add(name)
    return [frozenset(members[number]) for number in sorted(members)]


def _invent(
    world: ProgramWorld, facts: FactsInTime, rules: list[RuleView], group: frozenset[str], looks: Times
) -> bool:
    """Satisfies the earliest heads that are not satisfied; tells whether there were any."""
    waiting: list[tuple[int, RuleView, dict[str, ValueOrInvented], Times]] = []
    for view in rules:
        for binding, times in list(view.solutions(evaluator_of(world, view, facts), looks)):
            for point in times.points() if not view.is_timeless else [times.first]:
                at = Times.at(point)
                told = [derived.first for _, _, derived in view.derived(binding, at) if derived & world.timeline]
                if told and not _is_satisfied(world, facts, view, binding, at):
                    waiting.append((min(told), view, binding, at))
    earliest = min((first for first, *_ in waiting), default=0)
    for first, view, binding, at in waiting:
        if first == earliest and not _is_satisfied(world, facts, view, binding, at):
            tell(world, facts, view, [(binding, at)], group)
    return bool(waiting)


def _is_satisfied(world: ProgramWorld, facts: FactsInTime, view: RuleView, binding: Assignment, at: Times) -> bool:
    """Whether some values for the variables of `exists` make all atoms of the head true."""
    invented = {each.name for each in view.rule.exists}
    wanted = [(head.atom, derived & world.timeline) for head, _, derived in view.derived(binding, at)]

    def go(place: int, chosen: Assignment) -> bool:
        if place == len(wanted):
            return True
        atom, times = wanted[place]
        if not times:
            return go(place + 1, chosen)
        for found in facts.matches(atom, {**binding, **chosen}):
            if not times - facts.times(atom.predicate, arguments_of(atom, found)):
                more = {name: found[name] for name in invented if name in found}
                if go(place + 1, {**chosen, **more}):
                    return True
        return False

    return go(0, {})
