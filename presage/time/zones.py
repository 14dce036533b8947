"""Zones: sets of times that bounds on their differences describe.

A zone says how far apart some time variables may be from each other and from the start. It is kept closed: every
bound is as tight as the others make it. Then a zone is empty, or two are the same, exactly if their tables say so, and
to forget a variable is to leave out its row and column. Over the rationals all of this is exact with bounds that are
strict or not; over the whole numbers a strict bound is one less, and it is exact again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import NamedTuple

from presage.model.terms import Number, number
from presage.time.sameness import distinct, last_of, precedes, upto

ZoneBound = tuple[Number, int]
"""(c, 0): at most c; (c, -1): less than c."""
Constraint = tuple[int, int, ZoneBound]
"""(x, y, bound): x − y is within the bound. Variable 0 is the start of the stream."""
START = 0
ANSWER = 1
"""The answer's time among the variables of a zone."""


class Range(NamedTuple):
    """The values one variable can have; `None` is without end."""

    low: Number | None
    closed_low: bool
    high: Number | None
    closed_high: bool

    @property
    def is_point(self) -> bool:
        return self.low is not None and self.low == self.high


class Zone:
    """`whole`: times are whole numbers."""

    __slots__ = ("_hash", "empty", "size", "upper", "whole")

    def __init__(self, size: int, upper: tuple[ZoneBound | None, ...], whole: bool, empty: bool = False) -> None:
        """`upper` is closed, row by row."""
        self.size, self.upper, self.whole, self.empty = size, upper, whole, empty
        self._hash: int | None = None

    @staticmethod
    def of(size: int, whole: bool, constraints: Iterable[Constraint] = ()) -> Zone:
        """The times that meet some constraints: `size` variables, the start among them."""
        return Zone(size, (None,) * (size * size), whole).within(constraints)

    def within(self, constraints: Iterable[Constraint]) -> Zone:
        """The part that meets more constraints."""
        if self.empty:
            return self
        upper: list[ZoneBound | None] | None = None
        size = self.size
        for x, y, bound in constraints:
            if self.whole:
                bound = _whole(bound)
            if x == y:
                if precedes(bound, (0, 0)):
                    return self._nothing()
                continue
            old = (self.upper if upper is None else upper)[x * size + y]
            if old is not None and upto(old, bound):
                continue
            known = self.upper if upper is None else upper
            back = known[y * size + x]
            if back is not None and precedes((bound[0] + back[0], min(bound[1], back[1])), (0, 0)):
                return self._nothing()  # one sum says so, as the table is closed
            if upper is None:
                upper = list(self.upper)
            _tighten(upper, size, x, y, bound)
        return self if upper is None else Zone(size, tuple(upper), self.whole)

    def _nothing(self) -> Zone:
        return Zone(self.size, (), self.whole, True)

    def bound(self, x: int, y: int) -> ZoneBound | None:
        """The most x − y can be."""
        return (0, 0) if x == y else self.upper[x * self.size + y]

    def constraints(self) -> list[Constraint]:
        size = self.size
        return [(at // size, at % size, bound) for at, bound in enumerate(self.upper) if bound is not None]

    def meet(self, other: Zone) -> Zone:
        return other if other.empty else self.within(other.constraints())

    def without(self, other: Zone) -> list[Zone]:
        """What is left beyond another zone, in parts that do not overlap."""
        if self.empty:
            return []
        if other.empty or self.meet(other).empty:
            return [self]  # and not in parts, of which each would be cut again
        parts: list[Zone] = []
        rest = self
        for x, y, bound in other.constraints():
            outside = rest.within([(y, x, self.opposite(bound))])
            if not outside.empty:
                parts.append(outside)
                rest = rest.within([(x, y, bound)])
                if rest.empty:
                    break
        return parts

    def opposite(self, bound: ZoneBound) -> ZoneBound:
        """Of x − y within the bound, what y − x is within where it is not."""
        return (-bound[0] - 1, 0) if self.whole else (number(-bound[0]), -1 - bound[1])

    def covers(self, other: Zone) -> bool:
        if other.empty or self.empty:
            return other.empty
        return all(
            mine is None or (theirs is not None and upto(theirs, mine))
            for mine, theirs in zip(self.upper, other.upper, strict=True)
        )

    def hull(self, other: Zone) -> Zone:
        """The least zone around two."""
        if self.empty or other.empty:
            return other if self.empty else self
        pairs = zip(self.upper, other.upper, strict=True)
        shared = tuple(None if a is None or b is None else last_of(a, b) for a, b in pairs)
        return Zone(self.size, shared, self.whole)

    def kept(self, variables: Sequence[int]) -> Zone:
        """The zone of some variables alone, in this order, the start first: what the others can be is forgotten."""
        places = (START, *variables)
        if self.empty:
            return Zone(len(places), (), self.whole, True)
        return Zone(len(places), tuple(self.upper[x * self.size + y] for x in places for y in places), self.whole)

    def forgetting(self, variables: Iterable[int]) -> Zone:
        """The same with nothing said of some variables."""
        gone = set(variables)
        if self.empty or not gone:
            return self
        size = self.size
        upper = tuple(
            None if bound is None or at // size in gone or at % size in gone else bound
            for at, bound in enumerate(self.upper)
        )
        return Zone(size, upper, self.whole)

    def extended(self, size: int) -> Zone:
        """The same with more variables, of which nothing is known."""
        if self.empty:
            return Zone(size, (), self.whole, True)
        inside = self.size
        upper = tuple(
            self.upper[x * inside + y] if x < inside and y < inside else None for x in range(size) for y in range(size)
        )
        return Zone(size, upper, self.whole)

    def placed(self, places: Sequence[int]) -> list[Constraint]:
        """The constraints with variable i (from 1 on) called `places[i - 1]`."""
        named = (START, *places)
        return [(named[x], named[y], bound) for x, y, bound in self.constraints()]

    def range(self, x: int) -> Range:
        high, low = self.upper[x * self.size], self.upper[x]
        return Range(
            None if low is None else number(-low[0]),
            low is not None and low[1] == 0,
            None if high is None else high[0],
            high is not None and high[1] == 0,
        )

    def distance(self, x: int, y: int) -> Number | None:
        """How far x is after y, if that is fixed."""
        if x == y:
            return 0
        most, least = self.upper[x * self.size + y], self.upper[y * self.size + x]
        return most[0] if most is not None and least is not None and most[0] == -least[0] else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Zone) and (self.size, self.empty, self.upper) == (other.size, other.empty, other.upper)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.size, self.empty, self.upper))
        return self._hash

    def __repr__(self) -> str:
        return "nothing" if self.empty else f"Zone({self.constraints()})"


def _whole(bound: ZoneBound) -> ZoneBound:
    """The same bound of a difference that is a whole number."""
    limit, strict = bound
    if not isinstance(limit, int):
        return floor(limit), 0
    return (limit - 1, 0) if strict else bound


def _tighten(upper: list[ZoneBound | None], size: int, x: int, y: int, bound: ZoneBound) -> None:
    """Adds a bound that leaves something, and closes the table again. What is no nearer to y by way of x is no nearer
    to anything else by way of both, as the table was closed; nor is what x is no nearer to by way of y."""
    limit, strict = bound
    ahead: list[tuple[int, ZoneBound]] = [(x, bound)]
    behind: list[tuple[int, ZoneBound]] = [(y, (0, 0))]
    for each in range(size):
        known = upper[each * size + x]
        if known is not None and each != x and each != y:
            total = known[0] + limit, min(known[1], strict)
            old = upper[each * size + y]
            if old is None or precedes(total, old):
                ahead.append((each, total))
        known = upper[y * size + each]
        if known is not None and each != y and each != x:
            total = limit + known[0], min(strict, known[1])
            old = upper[x * size + each]
            if old is None or precedes(total, old):
                behind.append((each, known))
                upper[x * size + each] = _normal(total)
    for first, total in ahead:
        upper[first * size + y] = _normal(total)
        if first == x:
            continue
        away, also = total
        for last, (further, third) in behind[1:]:
            if first != last:
                found = away + further, min(also, third)
                old = upper[first * size + last]
                if old is None or precedes(found, old):
                    upper[first * size + last] = _normal(found)


def _normal(bound: ZoneBound) -> ZoneBound:
    limit, strict = bound
    return bound if type(limit) is int else (number(limit), strict)


def joined(zones: Iterable[Zone]) -> list[Zone]:
    """The same set of times in fewer zones, where the union of two is one."""
    parts = [each for each in distinct(zones) if not each.empty]
    again = len(parts) > 1
    while again:
        again = False
        for first in range(len(parts)):
            for second in range(first + 1, len(parts)):
                one, other = parts[first], parts[second]
                around = one.hull(other)
                if not any(rest.without(other) for rest in around.without(one)):
                    parts = [*parts[:first], around, *parts[first + 1 : second], *parts[second + 1 :]]
                    again = True
                    break
            if again:
                break
    return parts
