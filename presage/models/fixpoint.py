"""The one model of a program whose negation is stratified along predicates and time.

Predicates are worked off group by group, each after those it depends on; within a group rules are applied
until nothing is new. In a group that depends on its own absence, which time breaks, what surely holds and
what may hold approach each other and meet (the alternating fixpoint).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from presage.errors import PresageError
from presage.model.windows import Window
from presage.models.formulas import Evaluator
from presage.models.rules import RuleView
from presage.models.streams import Facts
from presage.models.times import Times
from presage.models.world import World


def groups(world: World, among: Iterable[str]) -> list[frozenset[str]]:
    """The predicates in groups that depend on one another, each group after those it needs."""
    members: dict[int, set[str]] = {}
    for name in among:
        members.setdefault(world.subject.component[name], set()).add(name)
    return [frozenset(members[number]) for number in sorted(members)]


def stratified_model(world: World, looks: Times, among: Iterable[str]) -> Facts:
    """The given facts and all that follows for the given predicates, from rules looked at at these times."""
    facts = world.data()
    for group in groups(world, among):
        rules = [view for view in world.rules if view.heads & group]
        absent = any(edge.negative and edge.head in group and edge.body in group for edge in world.subject.dependencies)
        if absent:
            facts = _alternating(world, facts, rules, group, looks)
        else:
            saturate(world, facts, facts, rules, group, looks)
    return facts


def _alternating(world: World, base: Facts, rules: list[RuleView], group: frozenset[str], looks: Times) -> Facts:
    surely = base.copy()
    while True:
        maybe = base.copy()
        saturate(world, maybe, surely, rules, group, looks)
        more = base.copy()
        saturate(world, more, maybe, rules, group, looks)
        if dict(more.ground()) == dict(surely.ground()):
            break
        surely = more
    if dict(maybe.ground()) != dict(surely.ground()):
        names = ", ".join(sorted(group))
        raise PresageError(f"the program has no unique model: what holds of {names} depends on itself")
    return surely


def saturate(
    world: World,
    facts: Facts,
    opposite: Facts,
    rules: list[RuleView],
    group: frozenset[str],
    looks: Times,
    unsettled_rows: Callable[[Window], bool] | None = None,
) -> None:
    """Adds to the facts what rules derive for a group, until nothing is new. Negations see `opposite`."""
    changed: set[str] | None = None
    while changed is None or changed:
        before, changed = changed, set()
        for view in rules:
            if before is not None and not view.needs & before:
                continue
            evaluator = evaluator_of(world, view, facts, opposite, unsettled_rows)
            found = list(view.solutions(evaluator, looks))
            for binding, times in found:
                for _, ground, derived in view.derived(binding, times):
                    if ground[0] in group:
                        new = facts.add(ground, derived & world.timeline, counted=not world.reads_every_time)
                        if new:
                            changed.add(ground[0])
        if not any(view.needs & group for view in rules):
            return


def evaluator_of(
    world: World,
    view: RuleView,
    facts: Facts,
    opposite: Facts | None = None,
    unsettled_rows: Callable[[Window], bool] | None = None,
) -> Evaluator:
    return Evaluator(
        world.stream(facts, opposite),
        world.statics,
        lambda: world.constants(facts),
        view.ordering,
        view.variable_times(world.low, world.high),
        unsettled_rows,
    )
