"""What a clause consists of: literals at times, how far apart those times may be, and how much there is of what."""

from __future__ import annotations

from dataclasses import dataclass

from presage.model.formulas import Atom, Comparison
from presage.model.statements import Rule
from presage.model.terms import Number, Term
from presage.patterns.edges import Edge

Distance = Number | Edge
RULE_TIME = "now"
"""How the time at which a rule is looked at is called among its time variables."""


class NoClauses(Exception):
    """A rule that has no premise patterns, and why."""


@dataclass(frozen=True, slots=True)
class When:
    """A time: a variable plus an offset, or without a variable a fixed time."""

    base: str | None
    offset: Number = 0

    def later(self, distance: Number) -> When:
        return When(self.base, self.offset + distance)


@dataclass(frozen=True, slots=True)
class TimeDistance:
    """`low` ≤ x − y ≤ `high`; `None` is no bound, and an `Edge` one that is not attained. x and y are times."""

    x: When
    y: When
    low: Distance | None
    high: Distance | None


START = When(None, 0)


@dataclass(frozen=True, slots=True)
class StretchFrom:
    """How a stretch of dense time goes on from the time it begins at."""

    until: When
    closed_low: bool = True
    closed_high: bool = True


@dataclass(frozen=True, slots=True)
class ClauseLiteral:
    atom: Atom
    when: When
    positive: bool = True
    outside: str = "false"
    """What it is worth at a time before the stream: `false` for an atom, `true` for a negated one; where it is
    pinned there the rule's instance does not exist (`false` too); in a window there is no such time (`true`)."""
    stretch: StretchFrom | None = None
    """Set where it must hold throughout a stretch of dense time, from `when` on."""


@dataclass(frozen=True, slots=True)
class ClauseBody:
    literals: tuple[ClauseLiteral, ...] = ()
    comparisons: tuple[tuple[Comparison, bool], ...] = ()
    """Each with whether it must be true."""
    reaches: tuple[TimeDistance, ...] = ()
    counted: tuple[Counting, ...] = ()

    def __add__(self, other: ClauseBody) -> ClauseBody:
        return ClauseBody(
            self.literals + other.literals,
            self.comparisons + other.comparisons,
            self.reaches + other.reaches,
            self.counted + other.counted,
        )


@dataclass(frozen=True, slots=True)
class Counting:
    """A comparison of an aggregate with a bound: how many there are, or how much, of what a body asks for."""

    function: str
    """`count` or `sum`."""
    operator: str
    bound: Term
    terms: tuple[Term, ...]
    body: ClauseBody
    shared: frozenset[str]
    """The variables and times that it shares with its rule."""
    some: bool = False
    """Whether it is false where there is nothing."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One head atom of a rule, and one way to make its body true."""

    head: Atom
    when: When
    body: ClauseBody
    rule: Rule

    def says_the_same(self, other: object) -> bool:
        """Whether a rule stands there twice: unfolded, it would be as many times as there are ways to choose."""
        return isinstance(other, Clause) and (self.head, self.when, self.body) == (other.head, other.when, other.body)
