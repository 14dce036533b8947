"""Bounds on differences of times within one rule.

Pins, metric operators, windows and comparisons all say of two times how far apart they may be.
`Differences` collects such bounds and closes them under transitivity, so that one can ask how far
apart any two times can be. For whole numbers the answer is exact: every integer in the range
between two times can be extended to a solution for all of them.
"""

from __future__ import annotations

from fractions import Fraction

from presage.model.formulas import MIRRORED, Comparison
from presage.model.terms import Arithmetic, Bound, Constant, Negative, Now, Term, Variable, number

INF = float("inf")

NOW = "now"
START = "start"


class Differences:
    __slots__ = ("_closed", "_upper", "consistent")

    def __init__(self) -> None:
        # _upper[x][y] is the greatest x − y can be.
        self._upper: dict[str, dict[str, Bound]] = {}
        self._closed = True
        self.consistent = True

    def copy(self) -> Differences:
        other = Differences()
        other._upper = {x: dict(row) for x, row in self._upper.items()}
        other._closed = self._closed
        other.consistent = self.consistent
        return other

    def at_most(self, x: str, y: str, limit: Bound) -> None:
        """x − y ≤ limit."""
        fresh = x not in self._upper or y not in self._upper
        self._upper.setdefault(y, {})
        row = self._upper.setdefault(x, {})
        if limit >= row.get(y, INF):
            return
        row[y] = limit
        if not self._closed:
            return
        if fresh and len(self._upper) < 3:
            return
        self._through(x, y, limit)

    def _through(self, x: str, y: str, limit: Bound) -> None:
        """Closes a closed system again after one bound became tighter."""
        before = [(name, row[x]) for name, row in self._upper.items() if x in row and name != x]
        before.append((x, 0))
        behind = [(name, bound) for name, bound in self._upper[y].items() if name != y]
        behind.append((y, 0))
        for start, first in before:
            row = self._upper[start]
            for end, second in behind:
                total = first + limit + second
                if start == end:
                    if total < 0:
                        self.consistent = False
                elif total < row.get(end, INF):
                    row[end] = total

    def between(self, x: str, y: str, low: Bound, high: Bound) -> None:
        """low ≤ x − y ≤ high."""
        self.at_most(x, y, high)
        self.at_most(y, x, -low)

    def range(self, x: str, y: str) -> tuple[Bound, Bound]:
        """The least and the greatest x − y can be."""
        if x == y:
            return 0, 0
        self._close()
        high = self._upper.get(x, {}).get(y, INF)
        low = self._upper.get(y, {}).get(x, INF)
        return -low, high

    def _close(self) -> None:
        if self._closed:
            return
        nodes = list(self._upper)
        upper = self._upper
        for via in nodes:
            from_via = upper[via]
            for x in nodes:
                first = upper[x].get(via)
                if first is None or x == via:
                    continue
                row = upper[x]
                for y, second in from_via.items():
                    if y == x:
                        if first + second < 0:
                            self.consistent = False
                        continue
                    total = first + second
                    if total < row.get(y, INF):
                        row[y] = total
        self._closed = True

    def check(self) -> bool:
        """Whether some choice of times meets all bounds."""
        self._close()
        return self.consistent


def linear(term: Term) -> tuple[dict[str, Fraction], Fraction] | None:
    """A term as a sum of multiples of variables and a constant, if it is one."""
    match term:
        case Constant(value=value):
            return None if isinstance(value, str) else ({}, Fraction(value))
        case Variable(name=name):
            return {name: Fraction(1)}, Fraction(0)
        case Now():
            return {NOW: Fraction(1)}, Fraction(0)
        case Negative(term=inner):
            found = linear(inner)
            return None if found is None else _scale(found, Fraction(-1))
        case Arithmetic(operator=operator, left=left, right=right):
            first, second = linear(left), linear(right)
            if first is None or second is None:
                return None
            if operator == "+":
                return _add(first, second)
            if operator == "-":
                return _add(first, _scale(second, Fraction(-1)))
            if operator == "*":
                if not first[0]:
                    return _scale(second, first[1])
                return _scale(first, second[1]) if not second[0] else None
            if operator != "/":
                return None
            return _scale(first, 1 / second[1]) if not second[0] and second[1] != 0 else None
        case _:
            return None


Linear = tuple[dict[str, Fraction], Fraction]


def _scale(side: Linear, factor: Fraction) -> Linear:
    return {name: share * factor for name, share in side[0].items()}, side[1] * factor


def _add(first: Linear, second: Linear) -> Linear:
    shares = dict(first[0])
    for name, share in second[0].items():
        shares[name] = shares.get(name, Fraction(0)) + share
    return {name: share for name, share in shares.items() if share != 0}, first[1] + second[1]


def difference(comparison: Comparison) -> tuple[dict[str, Fraction], Fraction] | None:
    """left − right as a linear term."""
    left, right = linear(comparison.left), linear(comparison.right)
    if left is None or right is None:
        return None
    return _add(left, _scale(right, Fraction(-1)))


def add_comparison(bounds: Differences, comparison: Comparison, whole: frozenset[str]) -> None:
    """Adds what a comparison says about the difference of two times, or about one. `whole` are the names
    that stand for whole numbers, between which `<` means a gap of 1."""
    found = difference(comparison)
    if comparison.operator == "!=" or found is None or not found[0]:
        return
    shares, constant = found
    if len(shares) == 1:
        (x, share), y = next(iter(shares.items())), START
    elif len(shares) == 2:
        (x, share), (y, other) = shares.items()
        if share != -other:
            return
    else:
        return
    limit = number(-constant / share)
    operator = comparison.operator
    if share < 0:
        operator = MIRRORED[operator]
    gap = 1 if operator in "<>" and x in whole and y in whole and isinstance(limit, int) else 0
    if operator in ("=", "<", "<="):
        bounds.at_most(x, y, limit - gap)
    if operator in ("=", ">", ">="):
        bounds.at_most(y, x, -limit - gap)
