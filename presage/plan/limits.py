"""How far apart the times of a rule may be, exactly.

The analyses ask how far apart times can be and may take too much (`analysis/differences.py`); joins must not. So bounds
know here whether they are attained, which matters on the dense timeline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from presage.analysis.differences import NOW, START, difference
from presage.core.reach import Reach
from presage.model.formulas import MIRRORED, Comparison
from presage.model.terms import Number, number


@dataclass(frozen=True, slots=True)
class Limit:
    """`first` − `second` is at most `most`, or less."""

    first: str
    second: str
    most: Number
    strict: bool = False

    def is_tighter(self, other: Limit | None) -> bool:
        return other is None or (self.most, not self.strict) < (other.most, not other.strict)


@dataclass(frozen=True, slots=True)
class Relative:
    """What a comparison says of the difference of two names, or of a name and the start of the stream."""

    first: str
    second: str
    operator: str
    distance: Number


def relative(comparison: Comparison) -> Relative | None:
    """A comparison as a bound on a difference, if it is one."""
    found = difference(comparison)
    if comparison.operator == "!=" or found is None or len(found[0]) not in (1, 2):
        return None
    (first, share), (second, other) = [*found[0].items(), (START, -next(iter(found[0].values())))][:2]
    if other != -share:
        return None
    operator = comparison.operator if share > 0 else MIRRORED[comparison.operator]
    return Relative(first, second, operator, number(-found[1] / share))


class Limits:
    def __init__(self, discrete: bool) -> None:
        self.discrete = discrete
        self.known: dict[tuple[str, str], Limit] = {}
        self.possible = True
        """Whether some choice of times keeps to all of them."""

    def at_most(self, first: str, second: str, most: Number, strict: bool = False) -> None:
        if self.discrete:
            most, strict = (math.ceil(most) - 1 if strict else math.floor(most)), False
        self._add(Limit(first, second, most, strict))

    def in_window(self, name: str, offset: Number, reach: Reach) -> None:
        """So much after a time lies within reach of now."""
        if reach.near is not None:
            self.at_most(NOW, name, number(offset - reach.near))
        if reach.far is not None:
            self.at_most(name, NOW, number(reach.far - offset))

    def keep_to(self, said: Relative) -> None:
        strict = said.operator in "<>"
        if said.operator in ("<", "<=", "="):
            self.at_most(said.first, said.second, said.distance, strict)
        if said.operator in (">", ">=", "="):
            self.at_most(said.second, said.first, number(-said.distance), strict)

    def _add(self, limit: Limit) -> None:
        """Adds a limit and all that follows with those that are known."""
        if not limit.is_tighter(self.known.get((limit.first, limit.second))):
            return
        same = Limit("", "", 0)
        before = [(limit.first, same), *((x, each) for (x, y), each in self.known.items() if y == limit.first)]
        behind = [(limit.second, same), *((y, each) for (x, y), each in self.known.items() if x == limit.second)]
        for first, one in before:
            for second, other in behind:
                most = number(one.most + limit.most + other.most)
                found = Limit(first, second, most, one.strict or limit.strict or other.strict)
                if first == second:
                    self.possible &= most > 0 or (most == 0 and not found.strict)
                elif found.is_tighter(self.known.get((first, second))):
                    self.known[first, second] = found

    def range(self, first: str, second: str) -> Reach:
        """What `first` − `second` may be."""
        if first == second:
            return Reach(0, 0)
        high, low = self.known.get((first, second)), self.known.get((second, first))
        return Reach(
            None if low is None else number(-low.most),
            None if high is None else high.most,
            low is not None and low.strict,
            high is not None and high.strict,
        )

    def between(self, names: Iterable[str]) -> list[Limit]:
        """Limits between some names from which, with those from the start of the stream, all others follow."""
        among = {*names}
        fixed = [each for (x, y), each in self.known.items() if START in (x, y) and {x, y} <= {*among, START}]
        rest = [each for (x, y), each in self.known.items() if x in among and y in among]
        for limit in sorted(rest, key=lambda each: each.most, reverse=True):
            others = Limits(self.discrete)
            for each in (*fixed, *(other for other in rest if other is not limit)):
                others._add(each)
            found = others.known.get((limit.first, limit.second))
            if found is not None and not limit.is_tighter(found):
                rest.remove(limit)
        return rest
