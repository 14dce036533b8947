"""The one model of a program whose negation is stratified along predicates and time.

Predicates are worked off group by group, each after those it depends on; within a group rules are applied
until nothing is new. A group that depends on itself at other times, its own absence there included, is worked off
along time. Where its rules look both back and ahead, what surely holds and what may hold approach each other
and meet (the alternating fixpoint).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from presage.analysis.graph import components
from presage.analysis.subject import Dependency
from presage.answer_streams.aggregates import Solved, not_between_bounds
from presage.answer_streams.formulas import Evaluator
from presage.answer_streams.program_world import ProgramWorld
from presage.answer_streams.rules import RuleView
from presage.answer_streams.streams import FactsInTime
from presage.core.formulas import atoms
from presage.errors import PresageError
from presage.model.windows import RowsWindow
from presage.time.points import MOST_POINTS, Times


def groups(world: ProgramWorld, among: Iterable[str]) -> list[frozenset[str]]:
    """The predicates in groups that depend on one another, each group after those it needs."""
    members: dict[int, set[str]] = {}
    for name in among:
        members.setdefault(world.subject.component[name], set()).add(name)
    return [frozenset(members[number]) for number in sorted(members)]


def stratified_model(world: ProgramWorld, looks: Times, among: Iterable[str]) -> FactsInTime:
    """The given facts and all that follows for the given predicates, from rules looked at at these times."""
    facts = world.data.copy()
    for group in groups(world, among):
        rules = [view for view in world.rules if view.heads & group]
        inner = [edge for edge in world.subject.dependencies if edge.head in group and edge.body in group]
        through_time = any(edge.low != 0 or edge.high != 0 for edge in inner)
        step_by_step = world.reads_every_time and through_time and world.high - world.low < MOST_POINTS
        if step_by_step and all(edge.high <= 0 for edge in inner):
            _by_time(world, facts, rules, inner, group, looks, forward=True)
        elif step_by_step and all(edge.low >= 0 for edge in inner):
            _by_time(world, facts, rules, inner, group, looks, forward=False)
        elif any(edge.negative for edge in inner):
            facts = alternating(world, facts, rules, group, looks)
        else:
            saturate(world, facts, facts, rules, group, looks)
    return facts


def _by_time(
    world: ProgramWorld,
    facts: FactsInTime,
    rules: list[RuleView],
    inner: list[Dependency],
    group: frozenset[str],
    looks: Times,
    forward: bool,
) -> None:
    """A group in which nothing depends on later times, or nothing on earlier ones, is worked off time by time.
    Within a time, predicates that may depend on one another there go by what they need."""
    same_time: dict[str, set[str]] = {name: set() for name in group}
    for edge in inner:
        if edge.low <= 0 <= edge.high:
            same_time[edge.head].add(edge.body)
    heads = [(view, head) for view in rules for head in view.rule.conclusions]
    parts = []
    for names in components(sorted(group), same_time):
        part = [(view, head) for view, head in heads if head.atom.predicate in names]
        parts.append((part, any(same_time[name] & {*names} for name in names)))
    times = list(world.timeline.points())
    for time in times if forward else reversed(times):
        for part, is_recursive in parts:
            changed = True
            while changed:
                changed = False
                for view, head in part:
                    evaluator = evaluator_of(world, view, facts)
                    found = list(view.telling(evaluator, head, time, looks, forward))
                    changed |= bool(tell(world, facts, view, found, group))
                changed &= is_recursive


def tell(
    world: ProgramWorld, facts: FactsInTime, view: RuleView, solutions: Iterable[Solved], group: frozenset[str]
) -> set[str]:
    """Adds what a rule derives for a group; gives back the predicates of which something is new."""
    changed: set[str] = set()
    for binding, times in solutions:
        for _, ground, derived in view.derived(binding, times):
            if ground[0] in group:
                if facts.add(ground, derived & world.told, counted=not world.reads_every_time):
                    changed.add(ground[0])
                    if view.rule.exists:
                        world.count_invented(view.rule.rule, ground[1])
    return changed


def alternating(
    world: ProgramWorld, base: FactsInTime, rules: list[RuleView], group: frozenset[str], looks: Times
) -> FactsInTime:
    for view in rules:
        for measured in not_between_bounds(view.body):
            if any(atom.predicate in group for atom in atoms(measured)):
                names = ", ".join(f"`{name}`" for name in sorted(group))
                raise PresageError(f"an aggregate over what it hangs on at other times ({names}) is not evaluated here")
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
    world: ProgramWorld,
    facts: FactsInTime,
    opposite: FactsInTime,
    rules: list[RuleView],
    group: frozenset[str],
    looks: Times,
    unsettled_rows: Callable[[RowsWindow], bool] | None = None,
) -> None:
    """Adds to the facts what rules derive for a group, until nothing is new. Negations see `opposite`."""
    changed: set[str] | None = None
    while changed is None or changed:
        before, changed = changed, set()
        for view in rules:
            if before is not None and not view.needs & before:
                continue
            evaluator = evaluator_of(world, view, facts, opposite, unsettled_rows)
            changed |= tell(world, facts, view, list(view.solutions(evaluator, looks)), group)
        if not any(view.needs & group for view in rules):
            return


def evaluator_of(
    world: ProgramWorld,
    view: RuleView,
    facts: FactsInTime,
    opposite: FactsInTime | None = None,
    unsettled_rows: Callable[[RowsWindow], bool] | None = None,
) -> Evaluator:
    return Evaluator(
        world.stream(facts, opposite),
        world.statics,
        lambda: world.constants(facts),
        view.ordering,
        view.variable_times(world.low, world.high),
        unsettled_rows,
        world.looked_until,
    )
