"""The formulas of core. Atoms and comparisons are the model's own; comparisons have no aggregates here.

A formula is looked at at a time, and sees a part of the stream: all of it or, below a window, what the window shows.
Nodes compare by what they say; what was `written` does not count: it is there for messages and proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Union

from presage.core.reach import EVERYWHERE, Reach
from presage.errors import NOWHERE, Span
from presage.model.formulas import Atom, Comparison
from presage.model.formulas import Formula as Written
from presage.model.terms import Now, Number, Term, Variable, subterms, term_variables
from presage.model.windows import RowsWindow


@dataclass(frozen=True, slots=True)
class Node:
    written: Written | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def span(self) -> Span:
        return NOWHERE if self.written is None else self.written.span


@dataclass(frozen=True, slots=True)
class All(Node):
    """Each part; without parts it is true."""

    parts: tuple[CoreFormula, ...]


@dataclass(frozen=True, slots=True)
class Any(Node):
    """At least one part; without parts it is false."""

    parts: tuple[CoreFormula, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    part: CoreFormula


@dataclass(frozen=True, slots=True)
class At(Node):
    """The part at a time that the rule names: `offset` after a time variable, after the time at which the rule is
    looked at (`now`) or, without a base, after the start. That time is in sight, or it is false."""

    base: Variable | Now | None
    offset: Number
    part: CoreFormula

    @property
    def variable(self) -> str | None:
        return self.base.name if isinstance(self.base, Variable) else None


@dataclass(frozen=True, slots=True)
class Shift(Node):
    """The part so much later, also before the start, where nothing holds."""

    distance: Number
    part: CoreFormula


@dataclass(frozen=True, slots=True)
class Some(Node):
    """The part at some time within reach. With `clip` only times in sight count; looked at from a time out of sight,
    all of them are within reach."""

    reach: Reach
    part: CoreFormula
    clip: bool = False


@dataclass(frozen=True, slots=True)
class Every(Node):
    """The part at every time within reach; `clip` as for `Some`."""

    reach: Reach
    part: CoreFormula
    clip: bool = False


@dataclass(frozen=True, slots=True)
class Lasts(Node):
    """`right` at some time within reach, and `left` at all times strictly between: `since` where the reach lies in the
    past, and `until` otherwise."""

    reach: Reach
    left: CoreFormula
    right: CoreFormula

    @property
    def is_past(self) -> bool:
        return self.reach.is_past


@dataclass(frozen=True, slots=True)
class Seen(Node):
    """The part, of which only times within reach are in sight; with a `hop`, reckoned from its last multiple."""

    reach: Reach
    part: CoreFormula
    hop: Number | None = None


@dataclass(frozen=True, slots=True)
class Rows(Node):
    """The part, with only some rows in sight, and the times that they span."""

    window: RowsWindow
    part: CoreFormula


@dataclass(frozen=True, slots=True)
class Only(Node):
    """The part, with only facts in sight that match one of the patterns. A pass makes conditions of it, except above
    rows that are counted."""

    patterns: tuple[Atom, ...]
    part: CoreFormula


@dataclass(frozen=True, slots=True)
class Whole(Node):
    """The part, with the whole stream in sight."""

    part: CoreFormula


@dataclass(frozen=True, slots=True)
class Gathered:
    """The set of an aggregate: the values of the terms for which the body holds, and what function is asked of it.
    `name` stands for that in a comparison; `shared` are the variables that are not its own, and of these `binds` those
    that get their values here."""

    name: str
    function: str
    terms: tuple[Term, ...]
    body: tuple[CoreFormula, ...]
    shared: tuple[str, ...]
    binds: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measured(Node):
    """A comparison of what sets are worth."""

    comparison: Comparison
    sets: tuple[Gathered, ...]


CoreFormula = Union[Atom, Comparison, Measured, All, Any, Not, At, Shift, Some, Every, Lasts, Seen, Rows, Only, Whole]

TRUE: CoreFormula = All(())
FALSE: CoreFormula = Any(())


def written(formula: CoreFormula) -> Written:
    """What an author wrote, for formulas that no pass has made."""
    if isinstance(formula, (Atom, Comparison)):
        return formula
    assert formula.written is not None
    return formula.written


def children(formula: CoreFormula) -> tuple[CoreFormula, ...]:
    """The direct subformulas, from left to right; of a comparison of sets, the literals of their bodies."""
    match formula:
        case Atom() | Comparison():
            return ()
        case All(parts=parts) | Any(parts=parts):
            return parts
        case Lasts(left=left, right=right):
            return (left, right)
        case Measured(sets=sets):
            return tuple(literal for each in sets for literal in each.body)
        case _:
            return (formula.part,)


def with_children(formula: CoreFormula, parts: tuple[CoreFormula, ...]) -> CoreFormula:
    """The same node over other subformulas."""
    match formula:
        case Atom() | Comparison():
            return formula
        case All() | Any():
            return replace(formula, parts=parts)
        case Lasts():
            return replace(formula, left=parts[0], right=parts[1])
        case Measured(sets=sets):
            rest = iter(parts)
            return replace(formula, sets=tuple(replace(s, body=tuple(next(rest) for _ in s.body)) for s in sets))
        case _:
            return replace(formula, part=parts[0])


def transform(formula: CoreFormula, change: Callable[[CoreFormula], CoreFormula]) -> CoreFormula:
    """Rebuilds a formula from the leaves up, each node passed through `change`."""
    parts = children(formula)
    if parts:
        changed = tuple(transform(part, change) for part in parts)
        if changed != parts:
            formula = with_children(formula, changed)
    return change(formula)


def walk(formula: CoreFormula) -> Iterator[CoreFormula]:
    """The formula and all its subformulas, outermost first."""
    yield formula
    for part in children(formula):
        yield from walk(part)


def walk_outside(formula: CoreFormula) -> Iterator[CoreFormula]:
    """The formula and all its subformulas, but for those in the sets of aggregates."""
    yield formula
    for part in () if isinstance(formula, Measured) else children(formula):
        yield from walk_outside(part)


def atoms(formula: CoreFormula) -> Iterator[Atom]:
    return (node for node in walk(formula) if isinstance(node, Atom))


def mentioned(formula: CoreFormula) -> Iterator[Atom]:
    """The atoms of a formula, and the patterns of its windows."""
    for node in walk(formula):
        match node:
            case Atom():
                yield node
            case Only(patterns=patterns) | Rows(window=RowsWindow(by=patterns)):
                yield from patterns


def as_window(formula: Some | Every) -> Seen:
    """What is clipped to a reach, as a window over what is clipped to all that is in sight."""
    return Seen(formula.reach, replace(formula, reach=EVERYWHERE), written=formula.written)


def conjuncts(formula: CoreFormula) -> Iterator[CoreFormula]:
    """The parts of a conjunction, and of conjunctions in it."""
    if isinstance(formula, All):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def variables(formula: CoreFormula) -> Iterator[Variable]:
    """The variables of a formula, in the order of the text, with repetitions; of a set those that are not its own."""
    match formula:
        case Atom(arguments=arguments):
            for argument in arguments:
                yield from term_variables(argument)
        case Comparison(left=left, right=right):
            yield from term_variables(left)
            yield from term_variables(right)
        case Measured(comparison=comparison, sets=sets):
            named = {each.name: each for each in sets}
            for variable in variables(comparison):
                if variable.name in named:
                    yield from _shared(named[variable.name])
                else:
                    yield variable
        case _:
            for part in children(formula):
                yield from variables(part)
            if isinstance(formula, At) and isinstance(formula.base, Variable):
                yield formula.base


def _shared(gathered: Gathered) -> Iterator[Variable]:
    inside = (
        *(each for term in gathered.terms for each in term_variables(term)),
        *(each for part in gathered.body for each in variables(part)),
    )
    return (each for each in inside if each.name in gathered.shared)


def names(formula: CoreFormula) -> tuple[str, ...]:
    """The variables of a formula, each once."""
    return tuple(dict.fromkeys(variable.name for variable in variables(formula)))


def times_named(formula: CoreFormula) -> set[str]:
    """The time variables that a formula speaks of."""
    return {node.base.name for node in walk(formula) if isinstance(node, At) and isinstance(node.base, Variable)}


def uses_now(formula: CoreFormula) -> bool:
    """Whether a formula speaks of the time at which its rule is looked at."""
    for node in walk(formula):
        if isinstance(node, At) and isinstance(node.base, Now):
            return True
        compared = node.comparison if isinstance(node, Measured) else node
        terms: tuple[Term, ...] = ()
        if isinstance(compared, Comparison):
            terms = (compared.left, compared.right)
        if isinstance(node, Measured):
            terms = (*terms, *(term for each in node.sets for term in each.terms))
        if any(isinstance(part, Now) for term in terms for part in subterms(term)):
            return True
    return False


def is_at_one_time(formula: CoreFormula) -> bool:
    """Whether a formula looks at no other time than its own, what sees the whole stream aside."""
    match formula:
        case Atom() | Comparison() | Whole():
            return True
        case All() | Any() | Not():
            return all(map(is_at_one_time, children(formula)))
        case _:
            return False


def both(parts: tuple[CoreFormula, ...]) -> CoreFormula:
    """A conjunction; of one part that part."""
    return parts[0] if len(parts) == 1 else All(parts)


def either(parts: tuple[CoreFormula, ...]) -> CoreFormula:
    """A disjunction; of one part that part."""
    return parts[0] if len(parts) == 1 else Any(parts)


def negated(formula: CoreFormula) -> CoreFormula:
    return formula.part if isinstance(formula, Not) else Not(formula)
