"""From formulas to what is worked out at time points: relations over variables.

A formula can be worked out if its values come from somewhere finite: negations and comparisons stand beside what binds
their variables, both sides of an `OR` have the same variables, what lasts until or since something has no others than
that. What cannot is named, with its place, as MonPoly names formulas that it does not monitor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter

from presage.errors import Span
from presage.languages.mfotl.formulas import (
    Aggregation,
    Compare,
    Conjunction,
    Disjunction,
    Exists,
    Let,
    LogAtom,
    LogConstant,
    LogFormula,
    LogInterval,
    LogTerm,
    LogVariable,
    Matches,
    Negation,
    Neighbour,
    SinceUntil,
    TruthConstant,
    free,
    negated,
    term_names,
)
from presage.languages.mfotl.terms import aggregated, holds, term_value
from presage.languages.mfotl.text_functions import expression_of
from presage.languages.scanner import Unreadable
from presage.model.terms import Value, Values

LogRelation = frozenset[Values]
UNIT: LogRelation = frozenset(((),))
EMPTY: LogRelation = frozenset()


class RelationNode:
    """Something that has a relation at each time point."""

    def __init__(self, variables: Iterable[str]) -> None:
        self.variables = tuple(variables)


@dataclass(eq=False)
class FactsNode(RelationNode):
    """Facts that match an atom."""

    predicate: str
    pattern: tuple[LogTerm, ...]

    def __post_init__(self) -> None:
        super().__init__(dict.fromkeys(name for term in self.pattern for name in term_names(term)))
        self.takes_all = len(self.variables) == len(self.pattern)
        """Whether every fact matches, as it is."""

    def matched(self, rows: Iterable[Values]) -> LogRelation:
        if self.takes_all:
            return frozenset(rows)
        found = set()
        for row in rows:
            known: dict[str, Value] = {}
            for term, value in zip(self.pattern, row, strict=True):
                if isinstance(term, LogVariable):
                    if known.setdefault(term.name, value) != value:
                        break
                elif isinstance(term, LogConstant) and term.value != value:
                    break
            else:
                found.add(tuple(known[name] for name in self.variables))
        return frozenset(found)


class FixedNode(RelationNode):
    def __init__(self, variables: tuple[str, ...], relation: LogRelation) -> None:
        super().__init__(variables)
        self.relation = relation


class Derived(RelationNode):
    """What follows from the relations of other nodes at the same time point."""

    def __init__(
        self, variables: Iterable[str], below: tuple[RelationNode, ...], work: Callable[..., LogRelation]
    ) -> None:
        super().__init__(variables)
        self.below, self.work = below, work


class NeighbourNode(RelationNode):
    """`PREVIOUS` or `NEXT`."""

    def __init__(self, ahead: bool, reach: LogInterval, inner: RelationNode) -> None:
        super().__init__(inner.variables)
        self.ahead, self.reach, self.inner = ahead, reach, inner


class LeftSide:
    """What the left side of `SINCE` or `UNTIL` asks of a row of the right one: that a relation has it or, with
    `absent`, has not."""

    def __init__(self, node: RelationNode, absent: bool, right: RelationNode) -> None:
        self.node, self.absent = node, absent
        order = places(right, node.variables)
        self.whole = order == tuple(range(len(right.variables)))
        """Whether it is about whole rows, as they are."""
        self.key = _picker(order)


class Through(RelationNode):
    """`SINCE` or `UNTIL`: rows of `right`, as long as all conditions of the left side hold of them."""

    def __init__(self, ahead: bool, reach: LogInterval, lefts: tuple[LeftSide, ...], right: RelationNode) -> None:
        super().__init__(right.variables)
        self.ahead, self.reach, self.lefts, self.right = ahead, reach, lefts, right


def places(node: RelationNode, names: Iterable[str]) -> tuple[int, ...]:
    return tuple(node.variables.index(name) for name in names)


def _picker(order: tuple[int, ...]) -> Callable[[Values], Values]:
    """The values of a row at some places."""
    if len(order) == 1:
        (only,) = order
        return lambda row: (row[only],)
    return itemgetter(*order) if order else lambda row: ()


def reordered(node: RelationNode, names: tuple[str, ...]) -> RelationNode:
    if node.variables == names:
        return node
    pick = _picker(places(node, names))
    return Derived(names, (node,), lambda rows: frozenset(map(pick, rows)))


Definitions = dict[str, tuple[tuple[str, ...], RelationNode]]


def compiled(formula: LogFormula, definitions: Definitions) -> RelationNode:
    match formula:
        case LogAtom(predicate=name, terms=terms):
            if name in definitions:
                return _called(definitions[name], terms, formula.span)
            return FactsNode(name, terms)
        case TruthConstant(value=value):
            return FixedNode((), UNIT if value else EMPTY)
        case Compare():
            return _equation(formula)
        case Negation(inner=inner):
            if free(inner):
                raise _not_bound(formula, free(inner)[0])
            node = compiled(inner, definitions)
            return Derived((), (node,), lambda rows: EMPTY if rows else UNIT)
        case Conjunction():
            return _conjunction(formula, definitions)
        case Matches():
            found = _matched(FixedNode((), UNIT), set(), formula)
            if found is None:
                raise _not_bound(formula, free(formula)[0])
            return found
        case Disjunction(left=left, right=right):
            one, other = compiled(left, definitions), compiled(right, definitions)
            if set(one.variables) != set(other.variables):
                odd = sorted(set(one.variables) ^ set(other.variables))[0]
                hint = "both sides of an OR have the same variables"
                raise Unreadable("S103", f"only one side of the OR gives `{odd}` a value", formula.span, hint)
            other = reordered(other, one.variables)
            return Derived(one.variables, (one, other), lambda a, b: a | b)
        case Exists(names=names, inner=inner):
            node = compiled(inner, definitions)
            kept = tuple(name for name in node.variables if name not in names)
            pick = _picker(places(node, kept))
            return Derived(kept, (node,), lambda rows: frozenset(map(pick, rows)))
        case Aggregation():
            return _aggregate(formula, compiled(formula.inner, definitions))
        case Let(predicate=name, names=names, defined=defined, inner=inner):
            node = compiled(defined, definitions)
            if set(node.variables) != set(names):
                hint = "its arguments are the free variables of what it means"
                raise Unreadable("S101", f"`{name}` is not defined by its arguments", formula.span, hint)
            return compiled(inner, {**definitions, name: (names, reordered(node, names))})
        case Neighbour(ahead=ahead, reach=reach, inner=inner):
            return NeighbourNode(ahead, reach, compiled(inner, definitions))
        case SinceUntil():
            return _lasting(formula, definitions)


def _not_bound(formula: LogFormula, name: str) -> Unreadable:
    hint = "join it by AND with what gives it values; the formula is worked out as written, and not its negation"
    return Unreadable("S103", f"the formula cannot be worked out: `{name}` may be anything here", formula.span, hint)


def _called(definition: tuple[tuple[str, ...], RelationNode], terms: tuple[LogTerm, ...], span: Span) -> RelationNode:
    names, node = definition
    if len(names) != len(terms):
        raise Unreadable("N101", f"it is defined with {len(names)} arguments and has {len(terms)} here", span)
    pattern = FactsNode("", terms)
    return Derived(pattern.variables, (node,), pattern.matched)


def _equation(formula: Compare) -> RelationNode:
    """A comparison by itself: an equation of a variable and a value, or one without variables."""
    names = [*term_names(formula.left), *term_names(formula.right)]
    if not names:
        return FixedNode((), UNIT if holds(formula, {}) else EMPTY)
    if formula.operator == "=":
        for side, other in ((formula.left, formula.right), (formula.right, formula.left)):
            if isinstance(side, LogVariable) and not list(term_names(other)):
                value = term_value(other, {})
                return FixedNode((side.name,), EMPTY if value is None else frozenset(((value,),)))
    raise _not_bound(formula, names[0])


def _conjuncts(formula: LogFormula) -> list[LogFormula]:
    if isinstance(formula, Conjunction):
        return [*_conjuncts(formula.left), *_conjuncts(formula.right)]
    return [formula]


def _conjunction(formula: Conjunction, definitions: Definitions) -> RelationNode:
    """What gives values first; then comparisons and negations, as soon as their variables are bound."""
    waiting = _conjuncts(formula)
    made: RelationNode = FixedNode((), UNIT)
    while waiting:
        bound = set(made.variables)
        for place, each in enumerate(waiting):
            following = _joined(made, bound, each, definitions)
            if following is not None:
                made = following
                del waiting[place]
                break
        else:
            first = waiting[0]
            if not isinstance(first, (Negation, Compare, Matches)):
                compiled(first, definitions)  # says what is wrong with it
            open_names = [name for name in free(first) if name not in bound]
            raise _not_bound(first, open_names[0] if open_names else "?")
    return made


def _joined(made: RelationNode, bound: set[str], each: LogFormula, definitions: Definitions) -> RelationNode | None:
    if isinstance(each, Compare):
        return _compared(made, bound, each)
    if isinstance(each, Negation):
        if not set(free(each.inner)) <= bound:
            return None
        try:
            node = compiled(each.inner, definitions)
        except Unreadable:
            if isinstance(each.inner, Compare):
                return _filtered(made, each.inner, False)
            raise
        return _without(made, node)
    if isinstance(each, Matches):
        return _matched(made, bound, each)
    try:
        node = compiled(each, definitions)
    except Unreadable:
        # What cannot be worked out itself can be left out where it does not hold: `NOT (p(x) AND q(x))`.
        opposite = negated(each)
        if isinstance(opposite, (Negation, Compare)) or not set(free(each)) <= bound:
            return None
        try:
            return _without(made, compiled(opposite, definitions))
        except Unreadable:
            return None
    return _join(made, node)


def _without(made: RelationNode, node: RelationNode) -> RelationNode:
    pick = _picker(places(made, node.variables))

    def without(rows: LogRelation, absent: LogRelation) -> LogRelation:
        return frozenset(row for row in rows if pick(row) not in absent) if absent else rows

    return Derived(made.variables, (made, node), without)


def _matched(made: RelationNode, bound: set[str], each: Matches) -> RelationNode | None:
    if not set(term_names(each.text)) <= bound:
        return None
    # What a group takes is given to a variable that has no value yet, and compared with all others.
    groups = [group for group in each.groups if group is not None]
    given = tuple(
        dict.fromkeys(group.name for group in groups if isinstance(group, LogVariable) and group.name not in bound)
    )
    if not {name for group in groups for name in term_names(group)} <= bound | set(given):
        return None
    expression = expression_of(each.pattern)

    def match(rows: LogRelation) -> LogRelation:
        found = set()
        for row in rows:
            known = dict(zip(made.variables, row, strict=True))
            text = term_value(each.text, known)
            taken = expression.search(text) if isinstance(text, str) else None
            if taken is None:
                continue
            for group, value in zip(each.groups, taken.groups(), strict=False):
                if group is None:
                    continue
                if value is None:
                    break
                if isinstance(group, LogVariable) and group.name not in known:
                    known[group.name] = value
                elif term_value(group, known) != value:
                    break
            else:
                found.add((*row, *(known[name] for name in given)))
        return frozenset(found)

    return Derived((*made.variables, *given), (made,), match)


def _compared(made: RelationNode, bound: set[str], each: Compare) -> RelationNode | None:
    left, right = set(term_names(each.left)), set(term_names(each.right))
    if left | right <= bound:
        return _filtered(made, each, True)
    if each.operator == "=":
        for side, other, names in ((each.left, each.right, right), (each.right, each.left, left)):
            if isinstance(side, LogVariable) and side.name not in bound and names <= bound:
                return _extended(made, side.name, other)
    return None


def _filtered(made: RelationNode, each: Compare, wanted: bool) -> RelationNode:
    def keep(rows: LogRelation) -> LogRelation:
        return frozenset(row for row in rows if holds(each, dict(zip(made.variables, row, strict=True))) == wanted)

    return Derived(made.variables, (made,), keep)


def _extended(made: RelationNode, name: str, term: LogTerm) -> RelationNode:
    def extend(rows: LogRelation) -> LogRelation:
        found = ((row, term_value(term, dict(zip(made.variables, row, strict=True)))) for row in rows)
        return frozenset((*row, value) for row, value in found if value is not None)

    return Derived((*made.variables, name), (made,), extend)


def _join(left: RelationNode, right: RelationNode) -> RelationNode:
    shared = [name for name in left.variables if name in right.variables]
    extra = [name for name in right.variables if name not in left.variables]
    mine, theirs = _picker(places(left, shared)), _picker(places(right, shared))
    own = _picker(places(right, extra))
    in_order = tuple(shared) == right.variables
    empty = not left.variables

    def join(one: LogRelation, other: LogRelation) -> LogRelation:
        if not one or not other:
            return EMPTY
        if empty:
            return other
        if not extra:
            keys = other if in_order else frozenset(map(theirs, other))
            return frozenset(row for row in one if mine(row) in keys)
        by: dict[Values, list[Values]] = {}
        if len(one) < len(other):
            # The fewer rows are looked up.
            for row in one:
                by.setdefault(mine(row), []).append(row)
            return frozenset((*row, *own(each)) for each in other for row in by.get(theirs(each), ()))
        for row in other:
            by.setdefault(theirs(row), []).append(own(row))
        return frozenset((*row, *more) for row in one for more in by.get(mine(row), ()))

    return Derived((*left.variables, *extra), (left, right), join)


def _lasting(formula: SinceUntil, definitions: Definitions) -> RelationNode:
    if formula.ahead and formula.reach.high is None:
        hint = "give it an upper bound, such as [0,7d]"
        raise Unreadable("T103", "what looks ahead without end is never known", formula.span, hint)
    right = compiled(formula.right, definitions)
    if formula.left == TruthConstant(True):
        return Through(formula.ahead, formula.reach, (), right)
    odd = [name for name in free(formula.left) if name not in right.variables]
    if odd:
        hint = "the left side of SINCE and UNTIL has no other variables than the right one"
        raise Unreadable("S103", f"`{odd[0]}` does not occur on the right side", formula.span, hint)
    lefts = tuple(_condition(each, right, definitions) for each in _conditions(formula.left, definitions))
    return Through(formula.ahead, formula.reach, lefts, right)


def _conditions(left: LogFormula, definitions: Definitions) -> list[LogFormula]:
    """A left side in parts that can each be worked out, where it cannot be as a whole."""
    if isinstance(left, Conjunction):
        try:
            compiled(left, definitions)
        except Unreadable:
            return [*_conditions(left.left, definitions), *_conditions(left.right, definitions)]
    return [left]


def _condition(left: LogFormula, right: RelationNode, definitions: Definitions) -> LeftSide:
    if isinstance(left, Negation) and free(left.inner):
        return LeftSide(compiled(left.inner, definitions), True, right)
    try:
        return LeftSide(compiled(left, definitions), False, right)
    except Unreadable as wrong:
        try:
            return LeftSide(compiled(negated(left), definitions), True, right)
        except Unreadable:
            raise wrong from None


def _aggregate(formula: Aggregation, inner: RelationNode) -> RelationNode:
    at = inner.variables.index(formula.over)
    order = places(inner, formula.groups)
    function = formula.function

    def work(rows: LogRelation) -> LogRelation:
        groups: dict[Values, list[Value]] = {}
        for row in rows:
            groups.setdefault(tuple(row[place] for place in order), []).append(row[at])
        if not groups and not formula.groups and formula.nothing is not None:
            return frozenset(((formula.nothing,),))
        found = ((aggregated(function, values), key) for key, values in groups.items())
        return frozenset((value, *key) for value, key in found if value is not None)

    return Derived((formula.result, *formula.groups), (inner,), work)
