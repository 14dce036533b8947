"""The nodes of a plan: relations, joins, and the interval operators between them.

Times are exact numbers here; the engine turns them into cells. Every node remembers the rule it
comes from, so that plans, proofs and messages speak of the line their author wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Union

from presage.core.reach import HERE, Reach
from presage.model.formulas import Comparison
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Variable
from presage.model.windows import RowsWindow

ColumnTerm = Union[Variable, Constant]


@dataclass(frozen=True, slots=True)
class PlanRelation:
    """A relation: `input`, `static`, `derived`, `made` by the plan for a subformula, `invented`: only passed on, or
    `shown` by a window of rows: what it says of times after those up to which it is final can be taken back."""

    name: str
    arity: int
    kind: str


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom over a relation, `offset` after the rule's time; or, with `at`, at a fixed time."""

    relation: str
    arguments: tuple[ColumnTerm, ...]
    offset: Number = 0
    at: Number | None = None
    still: bool = False
    """Among the negated ones: not absent, but what must be there still once its relation is final."""


@dataclass(frozen=True, slots=True)
class Join:
    """All literals hold, none of the negated ones does, the comparisons are true: then the head holds,
    at the distances `head_reach` from the rule's time, or at a fixed time."""

    head: str
    arguments: tuple[ColumnTerm, ...]
    literals: tuple[Literal, ...]
    negated: tuple[Literal, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    head_reach: Reach = HERE
    head_at: Number | None = None
    least: Number | None = None
    """The earliest time of the rule at which every pinned time is on the timeline; `None` for none."""
    rule: Rule | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Dilate:
    """Where the source holds at some time of a stretch (`once`, `eventually`): its intervals grow."""

    head: str
    source: str
    reach: Reach
    rule: Rule | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Erode:
    """Where the source holds at all times of a stretch (`historically`, `always`): its intervals shrink. With `clipped`
    only times from the start of the stream on count, as in a window."""

    head: str
    source: str
    reach: Reach
    clipped: bool = False
    rule: Rule | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Hop:
    """Between two multiples of `period`, what the source has at the first of them."""

    head: str
    source: str
    period: int
    rule: Rule | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SinceNode:
    """`left since right`, or with `ahead` `left until right`. The head has the columns of the right side;
    `columns` says which of them are those of the left."""

    head: str
    left: str
    right: str
    columns: tuple[int, ...]
    reach: Reach
    ahead: bool
    rule: Rule | None = field(default=None, compare=False)


class Shows(Enum):
    """How a window of rows shows facts."""

    WHILE_IN = "while it is in the window"
    WITH_TIME = "while it is in the window, with its time as the last column"
    AT_ONCE = "at its own time"
    AFTER_FIRST = "while it is in the window, after its first time"


@dataclass(frozen=True, slots=True)
class Invent:
    """New values for each tuple of the source: the head has the source's columns, and `count` more. If it is `timed`,
    each time point has values of its own; otherwise a tuple has the same ones at all times."""

    head: str
    source: str
    count: int
    timed: bool
    rule: Rule | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Stamp:
    """The source at each of its time points, with that time as the last column."""

    head: str
    source: str
    rule: Rule | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class WithinNode:
    """Where the source holds at some time of a stretch, and which is at such distances from the times that stand in
    some of its columns; the head has all columns of the source, or some."""

    head: str
    source: str
    reach: Reach
    bounds: tuple[tuple[int, Reach], ...]
    rule: Rule | None = field(default=None, compare=False)
    columns: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class LastRows:
    """What a window of rows shows of the source: each of its facts from its own time until so many rows have come after
    it. The rows are the facts of `counted`; facts of the source that are not among them go when all rows up to their
    time have gone."""

    head: str
    source: str
    window: RowsWindow
    counted: tuple[str, ...]
    shows: Shows
    rule: Rule | None = field(default=None, compare=False)


def shown_within(slides: Reach | None, hop: int | None) -> Reach | None:
    """A reach, and as long after it as it is to the next multiple of a hop."""
    if slides is None or hop is None or slides.far is None:
        return slides
    return replace(slides, far=slides.far + hop - 1)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Where at least so many tuples of the source begin with the same `groups` columns, which are those of the head.
    With `slides` each time point of a tuple of the source counts by itself, at these distances after it; with `hop`
    what there is at a multiple of it counts until the next."""

    head: str
    source: str
    groups: int
    least: int
    rule: Rule | None = field(default=None, compare=False)
    slides: Reach | None = None
    hop: int | None = None

    @property
    def shown(self) -> Reach | None:
        """At which distances after it a time point may count."""
        return shown_within(self.slides, self.hop)


@dataclass(frozen=True, slots=True)
class Collect:
    """For each choice of the first `groups` columns of the source, what functions are worth of the tuples of the rest,
    as further columns; where there is none, and where a function has no value, nothing. With `slides` each time point
    of a tuple of the source is a tuple by itself, with the time as its last column, at these distances after it; with
    `hop` what there is at a multiple of it is there until the next."""

    head: str
    source: str
    groups: int
    functions: tuple[str, ...]
    rule: Rule | None = field(default=None, compare=False)
    slides: Reach | None = None
    hop: int | None = None

    @property
    def shown(self) -> Reach | None:
        """At which distances after it a time point may count."""
        return shown_within(self.slides, self.hop)


PlanNode = Union[Join, Dilate, Erode, Hop, SinceNode, Invent, Stamp, WithinNode, LastRows, AtLeast, Collect]


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact of the program: known before the stream; `None` as a bound is infinity."""

    relation: str
    arguments: tuple[Constant, ...]
    low: Number | None
    high: Number | None
    closed_low: bool = True
    closed_high: bool = True


@dataclass(slots=True)
class Plan:
    discrete: bool
    sources: dict[str, PlanRelation] = field(default_factory=dict)
    nodes: list[PlanNode] = field(default_factory=list)
    known: list[KnownFact] = field(default_factory=list)
    at_points: frozenset[str] = frozenset()
    """The relations that hold at single points alone, on dense time."""
    looks_back: dict[str, Number | float] = field(default_factory=dict)
    """For relations of the values that others are asked for: how long before a value comes they are asked for it."""


def reads(node: PlanNode) -> tuple[tuple[str, bool], ...]:
    """The relations a node reads, and whether it reads their absence."""
    match node:
        case Join(literals=literals, negated=negated):
            return (*((each.relation, False) for each in literals), *((each.relation, True) for each in negated))
        case Dilate(source=source) | Erode(source=source) | Hop(source=source) | Invent(source=source):
            return ((source, False),)
        case Stamp(source=source) | WithinNode(source=source) | AtLeast(source=source):
            return ((source, False),)
        case Collect(source=source):
            return ((source, True),)
        case SinceNode(left=left, right=right):
            return ((left, False), (right, False))
        case LastRows(source=source, counted=counted):
            return ((source, False), *((name, True) for name in counted))


def needed_by(plan: Plan, name: str) -> list[PlanNode]:
    """The nodes that a relation hangs on, in the plan's order."""
    needed = {name}
    while True:
        more = {source for node in plan.nodes if node.head in needed for source, _ in reads(node)} - needed
        if not more:
            return [node for node in plan.nodes if node.head in needed]
        needed |= more
