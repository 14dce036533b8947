"""From formulas to what is worked out at time points: relations over variables.

A formula can be worked out if its values come from somewhere finite: negations and comparisons stand beside what binds
their variables, both sides of an `OR` have the same variables, what lasts until or since something has no others than
that. What cannot is named, with its place, as MonPoly names formulas that it does not monitor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from presage.answers import Value
from presage.errors import Span
from presage.languages.conditions import compared, rank
from presage.languages.mfotl.formulas import (
    Aggregate,
    And,
    Atom,
    Compare,
    Exists,
    Formula,
    Lasting,
    Let,
    Literal,
    Name,
    Neighbour,
    Not,
    Or,
    Reach,
    Term,
    Truth,
    free,
    term_names,
)
from presage.languages.scanner import Unreadable
from presage.model.terms import number

Row = tuple[Value, ...]
Relation = frozenset[Row]
UNIT: Relation = frozenset(((),))
EMPTY: Relation = frozenset()


class Node:
    """Something that has a relation at each time point."""

    def __init__(self, variables: Iterable[str]) -> None:
        self.variables = tuple(variables)


@dataclass(eq=False)
class Given(Node):
    """Facts that match an atom."""

    predicate: str
    pattern: tuple[Term, ...]

    def __post_init__(self) -> None:
        super().__init__(dict.fromkeys(name for term in self.pattern for name in term_names(term)))

    def matched(self, rows: Iterable[Row]) -> Relation:
        found = set()
        for row in rows:
            known: dict[str, Value] = {}
            for term, value in zip(self.pattern, row, strict=True):
                if isinstance(term, Name):
                    if known.setdefault(term.name, value) != value:
                        break
                elif isinstance(term, Literal) and term.value != value:
                    break
            else:
                found.add(tuple(known[name] for name in self.variables))
        return frozenset(found)


class Fixed(Node):
    def __init__(self, variables: tuple[str, ...], relation: Relation) -> None:
        super().__init__(variables)
        self.relation = relation


class Derived(Node):
    """What follows from the relations of other nodes at the same time point."""

    def __init__(self, variables: Iterable[str], below: tuple[Node, ...], work: Callable[..., Relation]) -> None:
        super().__init__(variables)
        self.below, self.work = below, work


class Beside(Node):
    """`PREVIOUS` or `NEXT`."""

    def __init__(self, ahead: bool, reach: Reach, inner: Node) -> None:
        super().__init__(inner.variables)
        self.ahead, self.reach, self.inner = ahead, reach, inner


class Through(Node):
    """`SINCE` or `UNTIL`: rows of `right`, as long as `left` holds, or with `absent` does not hold, of them."""

    def __init__(self, ahead: bool, reach: Reach, left: Node | None, absent: bool, right: Node) -> None:
        super().__init__(right.variables)
        self.ahead, self.reach, self.left, self.absent, self.right = ahead, reach, left, absent, right
        self.places = () if left is None else places(right, left.variables)


def places(node: Node, names: Iterable[str]) -> tuple[int, ...]:
    return tuple(node.variables.index(name) for name in names)


def reordered(node: Node, names: tuple[str, ...]) -> Node:
    if node.variables == names:
        return node
    order = places(node, names)
    return Derived(names, (node,), lambda rows: frozenset(tuple(row[at] for at in order) for row in rows))


Definitions = dict[str, tuple[tuple[str, ...], Node]]


def compiled(formula: Formula, definitions: Definitions) -> Node:
    match formula:
        case Atom(predicate=name, terms=terms):
            if name in definitions:
                return _called(definitions[name], terms, formula.span)
            return Given(name, terms)
        case Truth(value=value):
            return Fixed((), UNIT if value else EMPTY)
        case Compare():
            return _equation(formula)
        case Not(inner=inner):
            if free(inner):
                raise _not_bound(formula, free(inner)[0])
            node = compiled(inner, definitions)
            return Derived((), (node,), lambda rows: EMPTY if rows else UNIT)
        case And():
            return _conjunction(formula, definitions)
        case Or(left=left, right=right):
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
            order = places(node, kept)
            return Derived(kept, (node,), lambda rows: frozenset(tuple(row[at] for at in order) for row in rows))
        case Aggregate():
            return _aggregate(formula, compiled(formula.inner, definitions))
        case Let(predicate=name, names=names, defined=defined, inner=inner):
            node = compiled(defined, definitions)
            if set(node.variables) != set(names):
                hint = "its arguments are the free variables of what it means"
                raise Unreadable("S101", f"`{name}` is not defined by its arguments", formula.span, hint)
            return compiled(inner, {**definitions, name: (names, reordered(node, names))})
        case Neighbour(ahead=ahead, reach=reach, inner=inner):
            return Beside(ahead, reach, compiled(inner, definitions))
        case Lasting():
            return _lasting(formula, definitions)


def _not_bound(formula: Formula, name: str) -> Unreadable:
    hint = "join it by AND with what gives it values; the formula is worked out as written, and not its negation"
    return Unreadable("S103", f"the formula cannot be worked out: `{name}` may be anything here", formula.span, hint)


def _called(definition: tuple[tuple[str, ...], Node], terms: tuple[Term, ...], span: Span) -> Node:
    names, node = definition
    if len(names) != len(terms):
        raise Unreadable("N101", f"it is defined with {len(names)} arguments and has {len(terms)} here", span)
    pattern = Given("", terms)
    return Derived(pattern.variables, (node,), pattern.matched)


def _equation(formula: Compare) -> Node:
    """A comparison by itself: an equation of a variable and a value, or one without variables."""
    names = [*term_names(formula.left), *term_names(formula.right)]
    if not names:
        holds = _test(formula, {})
        return Fixed((), UNIT if holds else EMPTY)
    if formula.operator == "=":
        for side, other in ((formula.left, formula.right), (formula.right, formula.left)):
            if isinstance(side, Name) and not list(term_names(other)):
                value = term_value(other, {})
                return Fixed((side.name,), EMPTY if value is None else frozenset(((value,),)))
    raise _not_bound(formula, names[0])


def _conjuncts(formula: Formula) -> list[Formula]:
    if isinstance(formula, And):
        return [*_conjuncts(formula.left), *_conjuncts(formula.right)]
    return [formula]


def _conjunction(formula: And, definitions: Definitions) -> Node:
    """What gives values first; then comparisons and negations, as soon as their variables are bound."""
    waiting = _conjuncts(formula)
    made: Node = Fixed((), UNIT)
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
            if not isinstance(first, (Not, Compare)):
                compiled(first, definitions)  # says what is wrong with it
            open_names = [name for name in free(first) if name not in bound]
            raise _not_bound(first, open_names[0] if open_names else "?")
    return made


def _joined(made: Node, bound: set[str], each: Formula, definitions: Definitions) -> Node | None:
    if isinstance(each, Compare):
        return _compared(made, bound, each)
    if isinstance(each, Not):
        if not set(free(each.inner)) <= bound:
            return None
        try:
            node = compiled(each.inner, definitions)
        except Unreadable:
            if isinstance(each.inner, Compare):
                return _filtered(made, each.inner, False)
            raise
        order = places(made, node.variables)
        return Derived(
            made.variables,
            (made, node),
            lambda rows, absent: frozenset(row for row in rows if tuple(row[at] for at in order) not in absent),
        )
    try:
        node = compiled(each, definitions)
    except Unreadable:
        return None
    return _join(made, node)


def _compared(made: Node, bound: set[str], each: Compare) -> Node | None:
    left, right = set(term_names(each.left)), set(term_names(each.right))
    if left | right <= bound:
        return _filtered(made, each, True)
    if each.operator == "=":
        for side, other, names in ((each.left, each.right, right), (each.right, each.left, left)):
            if isinstance(side, Name) and side.name not in bound and names <= bound:
                return _extended(made, side.name, other)
    return None


def _filtered(made: Node, each: Compare, wanted: bool) -> Node:
    def keep(rows: Relation) -> Relation:
        return frozenset(row for row in rows if _test(each, dict(zip(made.variables, row, strict=True))) == wanted)

    return Derived(made.variables, (made,), keep)


def _extended(made: Node, name: str, term: Term) -> Node:
    def extend(rows: Relation) -> Relation:
        found = ((row, term_value(term, dict(zip(made.variables, row, strict=True)))) for row in rows)
        return frozenset((*row, value) for row, value in found if value is not None)

    return Derived((*made.variables, name), (made,), extend)


def _join(left: Node, right: Node) -> Node:
    shared = [name for name in left.variables if name in right.variables]
    mine, theirs = places(left, shared), places(right, shared)
    own = places(right, [name for name in right.variables if name not in left.variables])

    def join(one: Relation, other: Relation) -> Relation:
        if not one or not other:
            return EMPTY
        by: dict[Row, list[Row]] = {}
        for row in other:
            by.setdefault(tuple(row[at] for at in theirs), []).append(tuple(row[at] for at in own))
        return frozenset((*row, *more) for row in one for more in by.get(tuple(row[at] for at in mine), ()))

    extra = [name for name in right.variables if name not in left.variables]
    return Derived((*left.variables, *extra), (left, right), join)


def _lasting(formula: Lasting, definitions: Definitions) -> Node:
    if formula.ahead and formula.reach.high is None:
        hint = "give it an upper bound, such as [0,7d]"
        raise Unreadable("T103", "what looks ahead without end is never known", formula.span, hint)
    right = compiled(formula.right, definitions)
    if formula.left == Truth(True):
        return Through(formula.ahead, formula.reach, None, False, right)
    left, absent = formula.left, False
    if isinstance(left, Not) and free(left.inner):
        left, absent = left.inner, True
    node = compiled(left, definitions)
    odd = [name for name in node.variables if name not in right.variables]
    if odd:
        hint = "the left side of SINCE and UNTIL has no other variables than the right one"
        raise Unreadable("S103", f"`{odd[0]}` does not occur on the right side", formula.span, hint)
    return Through(formula.ahead, formula.reach, node, absent, right)


def _aggregate(formula: Aggregate, inner: Node) -> Node:
    at = inner.variables.index(formula.over)
    order = places(inner, formula.groups)
    function = formula.function

    def work(rows: Relation) -> Relation:
        groups: dict[Row, list[Value]] = {}
        for row in rows:
            groups.setdefault(tuple(row[place] for place in order), []).append(row[at])
        if not groups and not formula.groups and function in ("CNT", "SUM"):
            return frozenset(((0,),))
        found = ((_aggregated(function, values), key) for key, values in groups.items())
        return frozenset((value, *key) for value, key in found if value is not None)

    return Derived((formula.result, *formula.groups), (inner,), work)


def _aggregated(function: str, values: list[Value]) -> Value | None:
    if function == "CNT":
        return len(values)
    if function == "MIN":
        return min(values, key=rank)
    if function == "MAX":
        return max(values, key=rank)
    numbers = [each for each in values if not isinstance(each, str)]
    if len(numbers) < len(values):
        return None
    if function == "SUM":
        return number(sum(numbers, Fraction(0)))
    if function == "AVG":
        return number(Fraction(sum(numbers, Fraction(0))) / len(numbers))
    numbers.sort()
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else number(Fraction(numbers[middle - 1] + numbers[middle]) / 2)


# Terms


def _test(condition: Compare, known: dict[str, Value]) -> bool:
    left, right = term_value(condition.left, known), term_value(condition.right, known)
    return left is not None and right is not None and compared(condition.operator, left, right)


def term_value(term: Term, known: dict[str, Value]) -> Value | None:
    """Numbers as MonPoly has them: `/` and `MOD` of whole numbers cut off towards 0."""
    if isinstance(term, Name):
        return known.get(term.name)
    if isinstance(term, Literal):
        return term.value
    values = [term_value(each, known) for each in term.terms]
    if any(each is None or isinstance(each, str) for each in values):
        return None
    numbers = [Fraction(each) for each in values if each is not None]
    whole = all(isinstance(each, int) for each in values)
    first, last = numbers[0], numbers[-1]
    match term.operator:
        case "+":
            return number(first + last)
        case "-":
            return number(first - last)
        case "*":
            return number(first * last)
        case "/":
            return None if last == 0 else int(first / last) if whole else number(first / last)
        case "MOD":
            return None if last == 0 or not whole else int(first - last * int(first / last))
        case "f2i":
            return int(first)
        case _:
            return number(first)
