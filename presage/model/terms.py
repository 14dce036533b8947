"""Terms: what stands in the arguments of atoms and on the sides of comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Union

from presage.errors import NOWHERE, Span

if TYPE_CHECKING:
    from presage.model.time import Duration, Timestamp

Number = Union[int, Fraction]
"""An exact number: `int` where it is whole, `Fraction` otherwise. Floats never enter the model."""


def number(value: Number) -> Number:
    """The one representation of an exact number."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


@dataclass(frozen=True, slots=True)
class Constant:
    """An identifier or string (`str`), or a number. `high` and `"high"` are the same constant."""

    value: str | Number
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; each occurrence of the name `_` is a variable of its own."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    @property
    def is_anonymous(self) -> bool:
        return self.name == "_"


@dataclass(frozen=True, slots=True)
class Now:
    """The time at which the rule is looked at."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Negative:
    """`-t`, where t is not a number literal."""

    term: Term
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: str
    left: Term
    right: Term
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


Term = Union[Constant, Variable, Now, Negative, Arithmetic, "Duration", "Timestamp"]


def subterms(term: Term) -> Iterator[Term]:
    """The term and all terms in it, from left to right, with repetitions."""
    yield term
    if isinstance(term, Negative):
        yield from subterms(term.term)
    elif isinstance(term, Arithmetic):
        yield from subterms(term.left)
        yield from subterms(term.right)


def term_variables(term: Term) -> Iterator[Variable]:
    """The variables of a term, from left to right, with repetitions."""
    return (part for part in subterms(term) if isinstance(part, Variable))


def shown(name: str) -> str:
    """A variable's name as its author wrote it: rewriting tells the `_` of a rule apart by number."""
    return "_" if name.startswith("_#") else name
