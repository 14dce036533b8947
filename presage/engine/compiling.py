"""A plan as arrays that the kernels run.

For each literal of a join there is a path through the others, chosen once: next comes the literal with most of its
columns bound, and of those the one that lies latest, where a stream has least yet. Paths that begin at one relation
and lead to the same head are put together into a tree.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from presage.analysis.differences import INF
from presage.core.reach import Reach
from presage.engine.enough import Enough
from presage.engine.inventing import Invention
from presage.engine.joining import AtomColumns, Awaited, OutsideJoin, assignments, columns_of
from presage.engine.paths import path_from
from presage.engine.relation import Relation, Store
from presage.engine.stamping import Stamping
from presage.engine.symbols import Symbols
from presage.engine.trees import Spec, TreeStep, TreeWriter
from presage.kernels import driver, entries, fields, joins, spreading
from presage.kernels.arrays import Ints
from presage.kernels.entries import BIND, CONSTANT, SAME
from presage.kernels.fields import FAR
from presage.model.formulas import Comparison
from presage.model.formulas import variables as variables_of
from presage.model.terms import Bound, Constant, Variable
from presage.plan.lags import Lags, offsets
from presage.plan.nodes import (
    AtLeast,
    ColumnTerm,
    Dilate,
    Erode,
    Hop,
    Invent,
    Join,
    Literal,
    Plan,
    SinceNode,
    Stamp,
    WithinNode,
)
from presage.time.cells import ENDLESS, Grid

# So many entries of a join walk together: enough to be worth it, few enough to stay in the cache.
MOST_ENTRIES, FEWEST_ENTRIES, ENTRY_ROOM = 256, 16, 1 << 15
_SAME_ORDER = {"=": entries.EQUAL, "!=": entries.UNEQUAL, "<": entries.LESS, "<=": entries.AT_MOST}
_OTHER_ORDER = {">": entries.LESS, ">=": entries.AT_MOST}


Outside = OutsideJoin | Invention | Stamping | Enough


@dataclass(slots=True)
class Trigger:
    component: int
    fields: dict[int, int]
    roots: dict[tuple[object, ...], TreeStep] = field(default_factory=dict)
    columns: tuple[int, ...] = ()
    join: Outside | None = None
    """What is done with the findings, where that is not a plain insertion."""


@dataclass(slots=True)
class Code:
    """Arrays of a program, and room to work in."""

    triggers: Ints
    starts: Ints
    steps: Ints
    specs: Ints
    checks: Ints
    found: Ints
    joins: dict[int, Outside]
    stack: Ints
    entries: Ints
    pairs: Ints
    wanted: Ints
    stands_in: dict[str, str]
    """Of relations that pass all they get on to one other, as it is, the other: facts can go there at once."""


class PlanCompiler:
    def __init__(
        self,
        plan: Plan,
        lags: Lags,
        store: Store,
        symbols: Symbols,
        grid: Grid,
        outside: Mapping[int, Outside],
        answered: Container[int] = (),
    ) -> None:
        """`outside` are the nodes that are worked on outside the kernels, by their identity; joins that are `answered`
        are not worked off as pieces come."""
        self.plan, self.lags, self.store, self.symbols, self.grid = plan, lags, store, symbols, grid
        self.outside, self.answered = outside, answered
        self.triggers: list[Trigger] = []
        self.shared: dict[tuple[int, str, str], Trigger] = {}
        self.joins: dict[int, OutsideJoin] = {}
        self.constants: list[int] = []
        self.depth = self.values = 1
        self.widest = max((relation.width for relation in store.relations.values()), default=1)

    def compile(self) -> Code:
        for node in self.plan.nodes:
            if isinstance(node, Join):
                if id(node) not in self.answered:
                    self._join(node)
            elif isinstance(node, Dilate):
                # A rule with one literal, whose head reaches further.
                columns = tuple(Variable(str(place)) for place in range(self._relation(node.source).arity))
                self._join(Join(node.head, columns, (Literal(node.source, columns),), head_reach=node.reach))
            elif isinstance(node, Erode):
                trigger = self._operator(node, driver.SHRINK, node.source)
                trigger.fields |= self._distances(node.reach) | {driver.CLIPS: node.clipped}
            elif isinstance(node, Hop):
                trigger = self._operator(node, driver.HOP, node.source)
                trigger.fields[driver.FAR_OFF] = node.period
            elif isinstance(node, (Invent, Stamp, WithinNode, AtLeast)):
                self._passed_outside(node)
            elif isinstance(node, SinceNode):
                self._since(node)
        return self._arrays()

    def _symbol(self, constant: Constant) -> int:
        number = self.symbols.number(constant.value)
        self.constants.append(number)
        return number

    def _relation(self, name: str) -> Relation:
        return self.store.relations[name]

    # Operators.

    def _operator(self, node: Erode | Hop | SinceNode, kind: int, source: str) -> Trigger:
        trigger = Trigger(
            self.lags.component[node.head],
            {
                driver.KIND: kind,
                driver.SOURCE: self._relation(source).number,
                driver.HEAD: self._relation(node.head).number,
                driver.GRID: self.grid.step,
            },
        )
        self.triggers.append(trigger)
        return trigger

    def _distances(self, reach: Reach) -> dict[int, int]:
        near, far = distances(reach, self.grid)
        return {
            driver.NEAR: near,
            driver.FAR_OFF: far,
            driver.OPEN_NEAR: reach.open_near,
            driver.OPEN_FAR: reach.open_far,
        }

    def _since(self, node: SinceNode) -> None:
        left, right = self._relation(node.left), self._relation(node.right)
        index = spreading.BY_TUPLE
        if len(node.columns) < right.arity:
            index = right.add_index(node.columns) if node.columns else spreading.EVERY
        # A left side without columns has one row, which stands at no column of the right.
        columns = node.columns or (-1,)
        sides = [(driver.SINCE_RIGHT, node.right, left)]
        if any(source == node.left for source, _, _, _ in offsets(node, self.plan.discrete)):
            # Where there is no time between the two, the left side gives nothing, and is not waited for.
            sides.append((driver.SINCE_LEFT, node.left, right))
        for kind, source, other in sides:
            trigger = self._operator(node, kind, source)
            trigger.columns = columns
            trigger.fields |= self._distances(node.reach)
            trigger.fields |= {driver.OTHER: other.number, driver.INDEX: index, driver.AHEAD: node.ahead}

    def _passed_outside(self, node: Invent | Stamp | WithinNode | AtLeast) -> None:
        """New pieces of the source go outside as they are."""
        source = self._relation(node.source)
        fields = {driver.KIND: driver.JOIN, driver.SOURCE: source.number, driver.HEAD: driver.ELSEWHERE}
        trigger = Trigger(self.lags.component[node.head], fields, join=self.outside[id(node)])
        self.triggers.append(trigger)
        columns = tuple(Variable(str(place)) for place in range(source.arity))
        whole = Join(node.head, columns, (Literal(node.source, columns),))
        places = self._path(trigger, whole, 0, [])
        wanted = tuple((0, BIND, places[column.name]) for column in columns)
        self._found(wanted or ((0, CONSTANT, 0),), Reach(0, 0), None, whole, 0)

    # Joins.

    def _join(self, node: Join) -> None:
        names = _names(node)
        early, computed, checks = assignments(node, names)
        inexact = [each for each in early if not _is_exact(each)]
        outside = bool(node.negated or computed or checks or inexact)
        own: OutsideJoin | None = None
        if outside:
            own = self.joins[id(node)] = self._outside(node, names, inexact, computed, checks)
        given = {each.name for literal in node.literals for each in literal.arguments if isinstance(each, Variable)}
        for start, literal in enumerate(node.literals):
            source = self._relation(literal.relation)
            key = (self.lags.component[node.head], literal.relation, node.head)
            if outside or key not in self.shared:
                trigger = Trigger(
                    key[0],
                    {
                        driver.KIND: driver.JOIN,
                        driver.SOURCE: source.number,
                        driver.HEAD: driver.ELSEWHERE if outside else self._relation(node.head).number,
                    },
                    join=own,
                )
                self.triggers.append(trigger)
                if not outside:
                    self.shared[key] = trigger
            else:
                trigger = self.shared[key]
            columns = self._path(trigger, node, start, early)
            begin = 0 if literal.at is not None else self.grid.cell(literal.offset)
            if outside:
                # All variables, in their order; computed ones get their values later.
                wanted = tuple((0, BIND, columns[name]) if name in given else (0, CONSTANT, 0) for name in names)
                self._found(wanted or ((0, CONSTANT, 0),), Reach(0, 0), None, node, begin)
            else:
                head = tuple(self._spec(each, columns) for each in node.arguments)
                self._found(head or ((0, CONSTANT, 0),), node.head_reach, node.head_at, node, begin)

    def _outside(
        self,
        node: Join,
        names: dict[str, int],
        comparisons: list[Comparison],
        computed: list[tuple[str, Comparison]],
        checks: list[Comparison],
    ) -> OutsideJoin:
        awaited = [
            Awaited(
                each,
                self._relation(each.relation).number,
                self._columns(each.arguments, names),
                0 if each.at is not None else self.grid.cell(each.offset),
                FAR if each.at is None else self.grid.cell(each.at),
            )
            for each in node.negated
        ]
        head = self._columns(node.arguments, names)
        return OutsideJoin(node, names, comparisons, computed, checks, awaited, head, self.symbols, self.store)

    def answered_join(self, node: Join, asks: Literal) -> tuple[OutsideJoin, AtomColumns]:
        """A join that is answered, and the columns of the literal that asks."""
        names = _names(node)
        return self._outside(node, names, *assignments(node, names)), self._columns(asks.arguments, names)

    def _columns(self, arguments: tuple[ColumnTerm, ...], names: dict[str, int]) -> AtomColumns:
        return columns_of(arguments, names, self._symbol)

    def _spec(self, argument: object, columns: dict[str, int]) -> Spec:
        if isinstance(argument, Constant):
            return 0, CONSTANT, self._symbol(argument)
        assert isinstance(argument, Variable)
        return 0, BIND, columns[argument.name]

    def _path(self, trigger: Trigger, node: Join, start: int, comparisons: list[Comparison]) -> dict[str, int]:
        """Adds the path from a literal to the trigger's tree; `self.end` is its last step. Gives the variables'
        numbers on it."""
        bound: dict[str, int] = {}
        values = 0
        waiting = [each for each in comparisons if _is_plain(each)]
        level = trigger.roots
        rows: dict[tuple[object, ...], list[tuple[int, Bound]]] = {}
        order = path_from(node.literals, start)
        begin = 0 if order[0].at is not None else self.grid.cell(order[0].offset)
        for depth, literal in enumerate(order):
            relation = self._relation(literal.relation)
            known = set(bound)
            before = values
            specs = []
            for column, argument in enumerate(literal.arguments):
                if isinstance(argument, Constant):
                    specs.append((column, CONSTANT, self._symbol(argument)))
                elif argument.name in bound:
                    specs.append((column, SAME, bound[argument.name]))
                else:
                    bound[argument.name] = values
                    values += 1
                    specs.append((column, BIND, bound[argument.name]))
            row = (literal.relation, *((kind == CONSTANT, value) for _, kind, value in specs))
            keyed = [isinstance(each, Constant) or each.name in known for each in literal.arguments]
            keys = tuple(spec for spec, is_key in zip(specs, keyed, strict=True) if is_key)
            rest = tuple(spec for spec, is_key in zip(specs, keyed, strict=True) if not is_key)
            shift = 0 if literal.at is not None else self.grid.cell(literal.offset) - begin
            fixed = FAR if literal.at is None else self.grid.cell(literal.at)
            how, where = joins.ALL, 0
            if depth == 0:
                keys, rest = (), tuple(specs)
            elif (noted := _noted(rows.get(row, ()), shift if fixed == FAR else INF)) is not None:
                how, where, keys = joins.AGAIN, noted, ()
            elif not rest:
                how, keys = joins.WHOLE, keys or ((0, CONSTANT, 0),)
            elif keys:
                how, where = joins.GROUP, relation.add_index(tuple(column for column, _, _ in keys))
            # The first step notes the tuple's latest interval, the others the one they meet.
            upto = INF if depth == 0 else shift if fixed == FAR else -INF
            rows.setdefault(row, []).append((values, upto))
            ready = [each for each in waiting if {v.name for v in variables_of(each)} <= set(bound)]
            waiting = [each for each in waiting if each not in ready]
            checks = tuple(self._check(each, bound) for each in ready)
            fields = {
                joins.TABLE: relation.number,
                joins.HOW: how,
                joins.WHERE: where,
                joins.SHIFT: shift,
                joins.FIXED: fixed,
                joins.BOUND: before,
                joins.RECORD_AT: values,
            }
            values += 1
            key = (*fields.values(), keys, rest, checks)
            step = level.setdefault(key, TreeStep(key, fields, keys, rest, checks))
            level = step.children
        self.end = step
        self.depth = max(self.depth, len(order))
        self.values = max(self.values, values)
        return bound

    def _found(self, columns: tuple[Spec, ...], reach: Reach, at: object, node: Join, begin: int) -> None:
        near, far = distances(reach, self.grid)
        self.end.found.append(
            (
                columns,
                {
                    entries.NEAR: near if near <= -FAR else near - begin,
                    entries.FAR_OFF: far if far >= FAR else far - begin,
                    entries.OPEN_NEAR: reach.open_near,
                    entries.OPEN_FAR: reach.open_far,
                    entries.AT: FAR if at is None else self.grid.cell(at),  # type: ignore[arg-type]
                    entries.LEAST: -ENDLESS if node.least is None else self.grid.cell(node.least) + begin,
                },
            )
        )

    def _check(self, comparison: Comparison, bound: dict[str, int]) -> tuple[int, ...]:
        left, right = self._spec(comparison.left, bound)[1:], self._spec(comparison.right, bound)[1:]
        if comparison.operator in _SAME_ORDER:
            return (_SAME_ORDER[comparison.operator], *left, *right)
        return (_OTHER_ORDER[comparison.operator], *right, *left)

    # Arrays.

    def _copies(self, trigger: Trigger) -> bool:
        """Whether all that a table passes on goes to the head as it is."""
        source = self.store.relation(trigger.fields[driver.SOURCE])
        if trigger.join is not None or len(trigger.roots) != 1 or source.number not in self.store.passing:
            return False
        (root,) = trigger.roots.values()
        if root.children or root.checks or len(root.found) != 1 or root.fields[joins.FIXED] != FAR:
            return False
        columns, fields = root.found[0]
        return (
            root.rest == tuple((place, BIND, place) for place in range(source.arity))
            and columns == tuple((0, BIND, place) for place in range(source.arity))
            and fields[entries.NEAR] == fields[entries.FAR_OFF] == 0
            and not fields[entries.OPEN_NEAR] | fields[entries.OPEN_FAR]
            and fields[entries.AT] == FAR
            and fields[entries.LEAST] <= 0
        )

    def _standing_in(self, triggers: Ints) -> dict[str, str]:
        names, sources = list(self.store.relations), triggers[:, driver.SOURCE].tolist()
        found = {}
        for trigger in triggers.tolist():
            head = names[trigger[driver.HEAD]]
            is_only = sources.count(trigger[driver.SOURCE]) == 1
            if is_only and trigger[driver.KIND] == driver.COPY and self._relation(head).table[fields.FROM_ZERO]:
                found[names[trigger[driver.SOURCE]]] = head
        return found

    def _arrays(self) -> Code:
        self.triggers.sort(key=lambda trigger: trigger.component)
        writer = TreeWriter()
        triggers = np.zeros((len(self.triggers), driver.TRIGGER_FIELDS), np.int64)
        outside: dict[int, Outside] = {}
        last = max(self.lags.component.values(), default=0)
        starts = np.zeros(last + 2, np.int64)
        for number, trigger in enumerate(self.triggers):
            for place, value in trigger.fields.items():
                triggers[number, place] = value
            triggers[number, driver.ROOT] = writer.tree(trigger.roots)
            if self._copies(trigger):
                triggers[number, driver.KIND] = driver.COPY
            triggers[number, driver.SPEC] = writer.specs_of(tuple((column, 0, 0) for column in trigger.columns))
            starts[trigger.component + 1] += 1
            if trigger.join is not None:
                outside[number] = trigger.join
        entry = entries.VALUES + self.values
        many = min(MOST_ENTRIES, max(FEWEST_ENTRIES, ENTRY_ROOM // (entry * self.depth)))
        return Code(
            triggers, np.cumsum(starts),
            writer.array(writer.steps, joins.STEP_FIELDS), writer.array(writer.specs, 3),
            writer.array(writer.checks, 5), writer.array(writer.found, entries.FOUND_FIELDS), outside,
            np.zeros((self.depth, joins.STACK_FIELDS), np.int64), np.empty((self.depth, many, entry), np.int64),
            np.empty((self.depth, many + 1, 2), np.int64), np.zeros(self.widest, np.int32),
            self._standing_in(triggers),
        )  # fmt: skip


def _noted(rows: Sequence[tuple[int, Bound]], asked: Bound) -> int | None:
    """Where a path has noted an interval of the same tuple with nothing after it that could be asked for: the last such
    place."""
    return next((place for place, upto in reversed(rows) if upto >= asked), None)


def _names(node: Join) -> dict[str, int]:
    """The variables of a join's literals, numbered."""
    names: dict[str, int] = {}
    for literal in node.literals:
        for argument in literal.arguments:
            if isinstance(argument, Variable):
                names.setdefault(argument.name, len(names))
    return names


def distances(reach: Reach, grid: Grid) -> tuple[int, int]:
    near = -ENDLESS if reach.near is None else grid.cell(reach.near)
    far = ENDLESS if reach.far is None else grid.cell(reach.far)
    return near, far


def _is_plain(comparison: Comparison) -> bool:
    return all(isinstance(side, (Variable, Constant)) for side in (comparison.left, comparison.right))


def _is_exact(comparison: Comparison) -> bool:
    """Whether kernels can decide it: equal symbols are equal values."""
    return comparison.operator in ("=", "!=") and _is_plain(comparison)
