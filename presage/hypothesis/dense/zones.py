"""Zones: sets of times that bounds on their differences describe, strict or not.

A zone says how far apart some time variables may be from each other and from the start. It is kept closed: every
bound is as tight as the others make it. Then a zone is empty, or two are the same, exactly if their tables say so, and
to forget a variable is to leave out its row and column; over the rationals all of this is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from presage.model.terms import Number, number

Bound = tuple[Number, int]
"""(c, 0): at most c; (c, -1): less than c."""
Constraint = tuple[int, int, Bound]
"""(x, y, bound): x − y is within the bound. Variable 0 is the start of the stream."""
START = 0


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
    __slots__ = ("empty", "size", "upper")

    def __init__(self, size: int, upper: dict[tuple[int, int], Bound], empty: bool = False) -> None:
        """`upper` is closed."""
        self.size, self.upper, self.empty = size, upper, empty

    @staticmethod
    def of(size: int, constraints: Iterable[Constraint] = ()) -> Zone:
        """The times that meet some constraints: `size` variables, the start among them."""
        return Zone(size, {}).within(constraints)

    def within(self, constraints: Iterable[Constraint]) -> Zone:
        """The part that meets more constraints."""
        upper: dict[tuple[int, int], Bound] | None = None
        for x, y, bound in constraints:
            now = self.upper if upper is None else upper
            if self.empty:
                return self
            if x == y:
                if bound < (0, 0):
                    return Zone(self.size, {}, True)
                continue
            old = now.get((x, y))
            if old is not None and old <= bound:
                continue
            upper = dict(now) if upper is None else upper
            if not self._tighten(upper, x, y, bound):
                return Zone(self.size, {}, True)
        return self if upper is None else Zone(self.size, upper)

    def _tighten(self, upper: dict[tuple[int, int], Bound], x: int, y: int, bound: Bound) -> bool:
        before: list[tuple[int, Bound]] = [(x, (0, 0))]
        behind: list[tuple[int, Bound]] = [(y, (0, 0))]
        for each in range(self.size):
            if (each, x) in upper and each != x:
                before.append((each, upper[each, x]))
            if (y, each) in upper and each != y:
                behind.append((each, upper[y, each]))
        for first, (away, strict) in before:
            for last, (further, also) in behind:
                total = (away + bound[0] + further, min(strict, bound[1], also))
                if first == last:
                    if total < (0, 0):
                        return False
                elif (old := upper.get((first, last))) is None or total < old:
                    upper[first, last] = (number(total[0]), total[1])
        return True

    def constraints(self) -> list[Constraint]:
        return [(x, y, bound) for (x, y), bound in self.upper.items()]

    def meet(self, other: Zone) -> Zone:
        return other if other.empty else self.within(other.constraints())

    def without(self, other: Zone) -> list[Zone]:
        """What is left beyond another zone, in parts that do not overlap."""
        if self.empty:
            return []
        if other.empty:
            return [self]
        parts: list[Zone] = []
        rest = self
        for x, y, bound in sorted(other.constraints()):
            outside = rest.within([(y, x, opposite(bound))])
            if not outside.empty:
                parts.append(outside)
                rest = rest.within([(x, y, bound)])
                if rest.empty:
                    break
        return parts

    def hull(self, other: Zone) -> Zone:
        """The least zone around two."""
        if self.empty or other.empty:
            return other if self.empty else self
        shared = {pair: max(bound, other.upper[pair]) for pair, bound in self.upper.items() if pair in other.upper}
        return Zone(self.size, shared)

    def covers(self, other: Zone) -> bool:
        return other.empty or (not self.empty and all(
            pair in other.upper and other.upper[pair] <= bound for pair, bound in self.upper.items()
        ))  # fmt: skip

    def kept(self, variables: Sequence[int]) -> Zone:
        """The zone of some variables alone, in this order, the start first: what the others can be is forgotten."""
        places = {old: new for new, old in enumerate((START, *variables))}
        return Zone(
            len(places),
            {(places[x], places[y]): bound for (x, y), bound in self.upper.items() if x in places and y in places},
            self.empty,
        )

    def placed(self, places: Sequence[int]) -> list[Constraint]:
        """The constraints with variable i (from 1 on) called `places[i - 1]`."""
        named = (START, *places)
        return [(named[x], named[y], bound) for (x, y), bound in self.upper.items()]

    def range(self, x: int) -> Range:
        high, low = self.upper.get((x, START)), self.upper.get((START, x))
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
        most, least = self.upper.get((x, y)), self.upper.get((y, x))
        return most[0] if most is not None and least is not None and most[0] == -least[0] else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Zone) and (self.size, self.empty, self.upper) == (other.size, other.empty, other.upper)

    def __hash__(self) -> int:
        return hash((self.size, self.empty, frozenset(self.upper.items())))


def opposite(bound: Bound) -> Bound:
    """Of x − y within the bound, what y − x is within where it is not."""
    return number(-bound[0]), -1 - bound[1]


def joined(zones: Iterable[Zone]) -> list[Zone]:
    """The same set of times in fewer zones, where the union of two is one."""
    parts = [each for each in dict.fromkeys(zones) if not each.empty]
    again = True
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
