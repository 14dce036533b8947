"""Comparisons of aggregates in the bodies of clauses.

How many there are, or how much, of what one input atom asks for is a premise as a whole, a `Counting`. That the
greatest is at least so much is nothing but that one is; that it is less, that one is there and none is as great.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from presage.core.formulas import All, At, CoreFormula, Gathered, Measured, Seen, Shift, Some, children, walk
from presage.model.formulas import MIRRORED, OPPOSITES, Atom, Comparison
from presage.model.statements import Rule
from presage.model.terms import Constant, Now, Term, Variable, map_term, subterms
from presage.patterns.clause import ClauseBody, ClauseLiteral, Counting, NoClauses, TimeDistance, When
from presage.patterns.finish import Derivation, NoPatterns
from presage.patterns.inventing import told_apart_by
from presage.patterns.unifying import resolve, with_terms
from presage.support import NO_PATTERNS

OTHERS = NO_PATTERNS["aggregate"]
NOT_ONE = NO_PATTERNS["aggregate of more"]
Renaming = Callable[[str], str]
Expand = Callable[[tuple[CoreFormula, ...]], list[ClauseBody]]


def bodies(
    measured: Measured,
    positive: bool,
    expand: Expand,
    non_negative: frozenset[tuple[str, int]],
    times: frozenset[str],
    number: int,
) -> list[ClauseBody]:
    """The alternatives for a comparison of an aggregate to hold, or not to; raises `NoClauses`. `times` are those that
    the rule has outside of the braces. What only the braces name gets the number: below an operator an aggregate is
    asked for several times, each with tuples of its own."""
    gathered, operator, bound = _alone(measured)
    outside = times | {*gathered.shared} | {each.name for each in subterms(bound) if isinstance(each, Variable)}
    found = _bodies(gathered, operator, bound, positive, expand, times, non_negative)
    return [renamed(each, lambda name: name if name in outside else f"{name}#{number}") for each in found]


def _bodies(
    gathered: Gathered,
    operator: str,
    bound: Term,
    positive: bool,
    expand: Expand,
    times: frozenset[str],
    non_negative: frozenset[tuple[str, int]],
) -> list[ClauseBody]:
    if any(isinstance(each, Seen) and each.hop is not None for part in gathered.body for each in walk(part)):
        raise NoClauses(NOT_ONE)
    shared = times | frozenset(gathered.shared)

    def counting(
        function: str, operator: str, bound: Term, more: tuple[CoreFormula, ...] = (), some: bool = False
    ) -> ClauseBody:
        alternatives = expand((*gathered.body, *more))
        if len(alternatives) != 1 or alternatives[0].counted:
            raise NoClauses(NOT_ONE)
        (body,) = alternatives
        return ClauseBody(counted=(Counting(function, operator, bound, gathered.terms, body, shared, some),))

    if gathered.function in ("max", "min"):
        return _greatest(gathered, operator, bound, positive, expand, counting)
    if gathered.function not in ("count", "sum"):
        raise NoClauses(OTHERS)
    if gathered.function == "sum" and not _is_non_negative(gathered, non_negative):
        raise NoClauses(OTHERS)
    if not positive:
        operator = OPPOSITES[operator]
    if operator == "!=" or (operator == "=" and gathered.function == "sum"):
        raise NoClauses(OTHERS)
    counted = counting(gathered.function, operator, bound, some=bool(gathered.binds))
    if not gathered.binds or (gathered.function == "count" and operator in (">=", ">")) or _is_above(operator, bound):
        return [counted]
    # Of whom there is nothing, nothing is said.
    return [counted + _some(each, shared) for each in expand(gathered.body)]


def _alone(measured: Measured) -> tuple[Gathered, str, Term]:
    """The one set of a comparison, how it is compared, and with what."""
    comparison = measured.comparison
    if len(measured.sets) == 1:
        (gathered,) = measured.sets
        value = Variable(gathered.name)
        if comparison.left == value and value not in subterms(comparison.right):
            return gathered, comparison.operator, comparison.right
        if comparison.right == value and value not in subterms(comparison.left):
            return gathered, MIRRORED[comparison.operator], comparison.left
    raise NoClauses(OTHERS)


def _is_non_negative(gathered: Gathered, columns: frozenset[tuple[str, int]]) -> bool:
    """Whether what is added up comes from a column whose values are not negative."""
    first = gathered.terms[0]
    return isinstance(first, Variable) and any(
        argument == first and (atom.predicate, place) in columns
        for part in gathered.body
        for atom in _asked_for(part)
        for place, argument in enumerate(atom.arguments)
    )


def _asked_for(formula: CoreFormula) -> Iterator[Atom]:
    """The atoms that must hold for a formula to hold."""
    if isinstance(formula, Atom):
        yield formula
    elif isinstance(formula, (All, At, Seen, Shift, Some)):
        for part in children(formula):
            yield from _asked_for(part)


def _is_above(operator: str, bound: Term) -> bool:
    """Whether nothing is not enough."""
    if not isinstance(bound, Constant) or isinstance(bound.value, str):
        return False
    return {">=": bound.value > 0, ">": bound.value >= 0, "=": bound.value > 0}.get(operator, False)


def _greatest(
    gathered: Gathered,
    operator: str,
    bound: Term,
    positive: bool,
    expand: Expand,
    counting: Callable[..., ClauseBody],
) -> list[ClauseBody]:
    """`max` and `min`."""
    reached = (">=", ">") if gathered.function == "max" else ("<=", "<")
    missed = tuple(OPPOSITES[each] for each in reached)
    if operator not in (*reached, *missed):
        raise NoClauses(OTHERS)
    value = gathered.terms[0]
    if operator in reached:
        reaching = Comparison(operator, value, bound)
        return expand((*gathered.body, reaching)) if positive else [counting("count", "<=", Constant(0), (reaching,))]
    reaching = Comparison(OPPOSITES[operator], value, bound)
    if positive:
        none = counting("count", "<=", Constant(0), (reaching,))
        missing = Comparison(operator, value, bound)
        return [none + _some(each, none.counted[0].shared) for each in expand((*gathered.body, missing))]
    return [counting("count", "<=", Constant(0)), *expand((*gathered.body, reaching))]


def _some(body: ClauseBody, shared: frozenset[str]) -> ClauseBody:
    """That there is one, with names of its own for what only the braces name."""
    return renamed(body, lambda name: name if name in shared else f"{name}~")


def renamed(body: ClauseBody, name: Renaming) -> ClauseBody:
    """A body with other names for its variables and times."""
    return ClauseBody(
        tuple(_literal(each, name) for each in body.literals),
        tuple((renamed_comparison(each, name), wanted) for each, wanted in body.comparisons),
        tuple(TimeDistance(_when(each.x, name), _when(each.y, name), each.low, each.high) for each in body.reaches),
        tuple(renamed_counting(each, name) for each in body.counted),
    )


def renamed_counting(counting: Counting, name: Renaming) -> Counting:
    return replace(
        counting,
        bound=renamed_term(counting.bound, name),
        terms=tuple(renamed_term(each, name) for each in counting.terms),
        body=renamed(counting.body, name),
        shared=frozenset(map(name, counting.shared)),
    )


def renamed_comparison(comparison: Comparison, name: Renaming) -> Comparison:
    return Comparison(comparison.operator, renamed_term(comparison.left, name), renamed_term(comparison.right, name))


def renamed_term(term: Term, name: Renaming) -> Term:
    def change(part: Term) -> Term:
        match part:
            case Variable(name=old):
                return Variable(name(old))
            case Now():
                return Variable(name("now"))
            case _:
                return part

    return map_term(term, change)


def _literal(literal: ClauseLiteral, name: Renaming) -> ClauseLiteral:
    stretch = literal.stretch
    if stretch is not None:
        stretch = replace(stretch, until=_when(stretch.until, name))
    arguments = tuple(
        Variable(name(each.name)) if isinstance(each, Variable) else each for each in literal.atom.arguments
    )
    return replace(
        literal, atom=Atom(literal.atom.predicate, arguments), when=_when(literal.when, name), stretch=stretch
    )


def _when(when: When, name: Renaming) -> When:
    return when if when.base is None else When(name(when.base), when.offset)


def one_counted(counting: Counting, node: Derivation, blamed: tuple[Rule, ...]) -> Counting:
    """What is counted, where what stands in the braces is derived from one input atom."""
    leaf = node.literal(node.leaves[0])
    is_bound = any(name in node.bindings or name in node.times for name in counting.shared)
    if not leaf.positive or leaf.stretch is not None or is_bound:
        raise NoPatterns(NOT_ONE, blamed)

    def put(term: Term) -> Term:
        return map_term(term, lambda part: resolve(part, node.bindings))

    terms = told_apart_by(counting, node)
    inside = ClauseBody(
        (leaf, *(ClauseLiteral(with_terms(atom, put), When(None), positive) for atom, positive in node.lookups)),
        tuple(
            (Comparison(each.operator, put(each.left), put(each.right)), wanted) for each, wanted in node.comparisons
        ),
        tuple(TimeDistance(node.time(each.x), node.time(each.y), each.low, each.high) for each in node.reaches),
    )
    return replace(counting, body=inside, terms=tuple(dict.fromkeys(map(put, terms))))
