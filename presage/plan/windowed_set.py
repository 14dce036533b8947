"""Which programs count or add up the facts of one input in a window that slides or hops, and no more than that.

What such a program says can be worked out of all facts at once: no rule looks at what another finds, and how the sets
change along time follows from when facts enter and leave them.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.analysis.subject import Subject
from presage.core.formulas import uses_now
from presage.core.reach import HERE, Reach
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.statements import Query
from presage.model.terms import Constant, Variable
from presage.plan.builder import plan_of
from presage.plan.lags import horizon_of, lags_of
from presage.plan.nodes import AtLeast, Collect, ColumnTerm, Join, Literal, Plan, needed_by
from presage.plan.subformulas import Unsupported

BY_WINDOW = frozenset({"min", "max", "first", "last"})
"""What is worked out anew for each window: it is no difference of sums."""
MOST_WINDOWS = 8
"""In so many windows one fact may be for that."""


@dataclass(frozen=True, slots=True)
class WindowedSet:
    """The tuples of an input that a window shows, group by group, and what is said of each group."""

    query: Query
    literal: Literal
    """How the input is asked."""
    tests: tuple[Comparison, ...]
    """What must be true of a fact, beside the literal."""
    columns: tuple[str, ...]
    """The variables of a tuple; after them comes the time."""
    groups: int
    """So many of the columns say which group a tuple belongs to."""
    functions: tuple[str, ...]
    least: int | None
    """So many tuples there must be, where that is all that is asked."""
    reach: Reach
    hop: int | None
    names: tuple[str, ...]
    """What is known of a group is called so in what follows: its columns, and the values of the functions."""
    after: tuple[Comparison, ...]
    """What must be true of a group and its values."""
    head: tuple[ColumnTerm, ...]
    lag: int
    """How long after its time an answer is settled."""

    @property
    def near(self) -> int:
        assert self.reach.near is not None
        return int(self.reach.near)

    @property
    def far(self) -> int:
        assert self.reach.far is not None
        return int(self.reach.far)

    @property
    def places(self) -> tuple[int, ...]:
        """For each column the argument of the input that it is."""
        names = [each.name if isinstance(each, Variable) else None for each in self.literal.arguments]
        return tuple(names.index(name) for name in self.columns)

    @property
    def adds(self) -> bool:
        return not {"sum", "avg"}.isdisjoint(self.functions)

    @property
    def numbers(self) -> bool:
        """Whether what functions are about must be numbers."""
        return any(each != "count" for each in self.functions)


def windowed_set(subject: Subject) -> WindowedSet | None:
    """What a program says, if it is that."""
    if not subject.discrete or len(subject.queries) != 1:
        return None
    (query,) = subject.queries
    if query.pin is not None or not _is_plain(query.atom.arguments):
        return None
    try:
        plan = plan_of(subject)
    except Unsupported:
        return None
    made = {node.head: node for node in needed_by(plan, query.atom.predicate)}
    if len(made) != len(needed_by(plan, query.atom.predicate)) or any(each.relation in made for each in plan.known):
        return None
    top, node = None, made.pop(query.atom.predicate, None)
    if isinstance(node, Join):
        top, node = node, made.pop(node.literals[0].relation, None) if len(node.literals) == 1 else None
    if not isinstance(node, (Collect, AtLeast)) or not _can_be_summed(node):
        return None
    found = _body(plan, node, made.pop(node.source, None))
    if found is not None and isinstance(node, Collect) and _needs_time(node) and len(found[2]) != node.groups + 1:
        return None
    lag = lags_of(subject, plan, horizon_of(subject, plan)).lag[query.atom.predicate]
    if found is None or made or isinstance(lag, float) or lag < 0:
        return None
    if subject.predicates[query.atom.predicate].is_input:
        return None
    literal, tests, columns = found
    functions = node.functions if isinstance(node, Collect) else ()
    names = [*columns[: node.groups], *(f"#{number}" for number in range(len(functions)))]
    head: tuple[ColumnTerm, ...] = tuple(map(Variable, names))
    after: tuple[Comparison, ...] = ()
    if top is not None:
        asked = top.literals[0].arguments
        names = [each.name for each in asked if isinstance(each, Variable)]
        if not _passes_on(top, plan) or not _is_plain(asked) or len(names) < len(asked):
            return None
        if not _are_about(top.comparisons, names) or not _are_about_all(top.arguments, names, node.groups):
            return None
        head, after = top.arguments, top.comparisons
    return WindowedSet(
        query, literal, tests, columns, node.groups, functions,
        node.least if isinstance(node, AtLeast) else None, node.slides or HERE, node.hop, tuple(names), after, head,
        int(lag),
    )  # fmt: skip


def _can_be_summed(node: Collect | AtLeast) -> bool:
    """Whether a window moves on with its time, so that who comes first also leaves first."""
    reach = node.slides
    if reach is None or reach.near is None or reach.far is None or reach.near < 0 or reach.near > reach.far:
        return False
    if not isinstance(node, Collect) or not BY_WINDOW & set(node.functions):
        return True
    return node.hop is not None and (reach.far - reach.near) // node.hop < MOST_WINDOWS


def _needs_time(node: Collect) -> bool:
    """Whether the second term of a tuple must be its time."""
    return not {"first", "last"}.isdisjoint(node.functions)


def _body(
    plan: Plan, node: Collect | AtLeast, body: object
) -> tuple[Literal, tuple[Comparison, ...], tuple[str, ...]] | None:
    """How the facts are asked for whose tuples are collected."""
    if not isinstance(body, Join) or not _passes_on(body, plan):
        return None
    literal = body.literals[0]
    if not _is_plain(literal.arguments):
        return None
    asked = [each.name for each in literal.arguments if isinstance(each, Variable)]
    columns = [each.name for each in body.arguments if isinstance(each, Variable)]
    if plan.sources[literal.relation].kind != "input" or any(each.relation == literal.relation for each in plan.known):
        return None
    if len(columns) < len(body.arguments) or not _are_about(body.comparisons, asked) or not set(columns) <= set(asked):
        return None
    return (literal, body.comparisons, tuple(columns)) if len(set(columns)) == len(columns) else None


def _passes_on(node: Join, plan: Plan) -> bool:
    """Whether a join asks for one relation, at its own time."""
    if len(node.literals) != 1 or node.negated or node.head_reach != HERE or node.head_at is not None:
        return False
    (literal,) = node.literals
    return literal.offset == 0 and literal.at is None and (node.least is None or node.least <= 0)


def _is_plain(terms: tuple[object, ...]) -> bool:
    """Whether no variable is there twice."""
    names = [each.name for each in terms if isinstance(each, Variable) and not each.is_anonymous]
    return len(set(names)) == len(names) and all(isinstance(each, (Variable, Constant)) for each in terms)


def _are_about(comparisons: tuple[Comparison, ...], names: list[str]) -> bool:
    return all(
        {each.name for each in variables_of(comparison)} <= set(names) and not uses_now(comparison)
        for comparison in comparisons
    )


def _are_about_all(terms: tuple[ColumnTerm, ...], names: list[str], groups: int) -> bool:
    """Whether terms tell groups apart, and are of these names."""
    used = {each.name for each in terms if isinstance(each, Variable)}
    return set(names[:groups]) <= used <= set(names)
