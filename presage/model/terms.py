"""Terms: what stands in the arguments of atoms and on the sides of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Union

from presage.model.placed import Placed

if TYPE_CHECKING:
    from presage.model.formulas import Formula
    from presage.model.time import Duration, Timestamp

Number = Union[int, Fraction]
"""An exact number: `int` where it is whole, `Fraction` otherwise. Floats never enter the model."""
Value = Union[str, Number]
"""What a fact says: a text, or an exact number."""
Values = tuple[Value, ...]
Bound = Union[Number, float]
"""An exact number, or ±infinity; infinity is the only float there is."""


def number(value: Number) -> Number:
    """The one representation of an exact number."""
    if type(value) is int:  # by far the most, and asked for very often
        return value
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


@dataclass(frozen=True, slots=True)
class Constant(Placed):
    """An identifier or string (`str`), or a number. `high` and `"high"` are the same constant."""

    value: Value


@dataclass(frozen=True, slots=True)
class Parameter(Placed):
    """`$limit`: what `param limit = …` says, wherever a constant or a length of time may stand. The first rewriting
    pass puts the value in its place, so that only what reads and prints programs knows of it."""

    name: str
    negative: bool = False
    """Whether a minus sign stands before it, as in `T-$wait`."""


@dataclass(frozen=True, slots=True)
class Variable(Placed):
    """A variable; each occurrence of the name `_` is a variable of its own."""

    name: str

    @property
    def is_anonymous(self) -> bool:
        return self.name == "_"


@dataclass(frozen=True, slots=True)
class Now(Placed):
    """The time at which the rule is looked at."""


@dataclass(frozen=True, slots=True)
class Negative(Placed):
    """`-t`, where t is not a number literal."""

    term: Term


@dataclass(frozen=True, slots=True)
class Arithmetic(Placed):
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Clock:
    """What turns a time into a moment of the calendar: a tick's length in milliseconds, and the moment of time 0."""

    tick: Fraction
    start: datetime


@dataclass(frozen=True, slots=True)
class Function(Placed):
    """`abs(X)`, `hour(T, "Europe/Vienna")`: what `model/functions.py` computes. Functions that ask (`contains`) are
    worth the text `true` or `false`. Rewriting gives functions of time their clock."""

    name: str
    arguments: tuple[Term, ...]
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class Case(Placed):
    """`case(condition, x, y)`: the condition is made of comparisons with `and`, `or` and `not`."""

    condition: Formula
    then: Term
    otherwise: Term


@dataclass(frozen=True, slots=True)
class Aggregate(Placed):
    """`count { terms : body }`: a function of the set of tuples of the terms' values for which the body holds.

    As written, `shared` is `None`. The pass `rewrite/sharing.py` gives local variables names that occur nowhere else in
    the rule, and says which are not local: `shared`, in the order of the text. Of these, `binds` are those that nothing
    else in the rule gives values to: they range over the values for which the set is not empty, and where there are
    such, an empty set makes the comparison false."""

    function: str
    terms: tuple[Term, ...]
    body: tuple[Formula, ...]
    shared: tuple[str, ...] | None = None
    binds: tuple[str, ...] = ()


Term = Union[
    Constant, Parameter, Variable, Now, Negative, Arithmetic, Function, Case, Aggregate, "Duration", "Timestamp"
]


def parts_of(term: Term) -> tuple[Term, ...]:
    """The terms directly in a term, from left to right; of a `case`, those of its condition first."""
    match term:
        case Negative(term=inner):
            return (inner,)
        case Arithmetic(left=left, right=right):
            return left, right
        case Function(arguments=arguments):
            return arguments
        case Case(condition=condition, then=then, otherwise=otherwise):
            from presage.model.formulas import Comparison, walk

            compared = (each for each in walk(condition) if isinstance(each, Comparison))
            return (*(side for each in compared for side in (each.left, each.right)), then, otherwise)
        case Aggregate(terms=terms):
            return terms
        case _:
            return ()


def subterms(term: Term) -> Iterator[Term]:
    """The term and all terms in it, from left to right, with repetitions; not those in the body of an aggregate."""
    yield term
    for part in parts_of(term):
        yield from subterms(part)


def map_term(term: Term, change: Callable[[Term], Term]) -> Term:
    """Rebuilds a term from the leaves up, each term in it passed through `change`."""
    match term:
        case Negative(term=inner):
            term = replace(term, term=map_term(inner, change))
        case Arithmetic(left=left, right=right):
            term = replace(term, left=map_term(left, change), right=map_term(right, change))
        case Function(arguments=arguments):
            term = replace(term, arguments=tuple(map_term(each, change) for each in arguments))
        case Case(condition=condition, then=then, otherwise=otherwise):
            from presage.model.formulas import map_comparisons

            condition = map_comparisons(condition, lambda side: map_term(side, change))
            term = replace(
                term, condition=condition, then=map_term(then, change), otherwise=map_term(otherwise, change)
            )
        case Aggregate(terms=terms):
            term = replace(term, terms=tuple(map_term(each, change) for each in terms))
    return change(term)


def aggregates_in(term: Term) -> Iterator[Aggregate]:
    """The aggregates of a term, from left to right."""
    return (part for part in subterms(term) if isinstance(part, Aggregate))


def term_variables(term: Term) -> Iterator[Variable]:
    """The variables of a term, from left to right, with repetitions; of an aggregate those that are not local to it,
    once that is known."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Aggregate):
        from presage.model.formulas import variables

        for each in (*(one for part in term.terms for one in term_variables(part)),
                     *(one for part in term.body for one in variables(part))):  # fmt: skip
            if term.shared is None or each.name in term.shared:
                yield each
    else:
        for part in parts_of(term):
            yield from term_variables(part)


def shown(name: str) -> str:
    """A variable's name as its author wrote it: rewriting tells the `_` of a rule, and the local variables of its
    aggregates, apart by number."""
    return name.partition("#")[0]
