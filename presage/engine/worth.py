"""What a set of tuples is worth, kept up to date as tuples enter and leave; exactly.

A step costs what enters and leaves. Least and greatest are found by heaps, in which what has gone stays until it
comes to the top.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Any

from presage.model.aggregating import rank
from presage.model.functions import remark
from presage.model.terms import Number, number


class Count:
    """How many tuples there are."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        self.size = 0

    def add(self, values: tuple[Any, ...], sign: int) -> None:
        self.size += sign

    def value(self) -> Any:
        return self.size


class Total(Count):
    """The sum of the first terms, exactly."""

    __slots__ = ("others", "total")

    def __init__(self) -> None:
        self.size, self.others = 0, 0
        self.total: Number = 0

    def add(self, values: tuple[Any, ...], sign: int) -> None:
        self.size += sign
        first = values[0]
        if isinstance(first, (int, Fraction)):
            self.total += first if sign > 0 else -first
        else:
            self.others += sign

    def value(self) -> Any:
        if self.others:
            remark("`sum` over something that is not a number has no value: what compares it is false")
            return None
        return number(self.total)


class Mean(Total):
    __slots__ = ()

    def value(self) -> Any:
        if self.others:
            remark("`avg` over something that is not a number has no value: what compares it is false")
            return None
        return number(Fraction(self.total) / self.size)


class Ends(Count):
    """The least of the tuples in some order. What has gone stays in the heap until it comes to the top."""

    __slots__ = ("heap", "there")

    def __init__(self) -> None:
        self.size = 0
        self.heap: list[Any] = []
        self.there: dict[Any, int] = {}

    def order(self, values: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def add(self, values: tuple[Any, ...], sign: int) -> None:
        self.size += sign
        key = self.order(values)
        count = self.there.get(key, 0) + sign
        if count:
            self.there[key] = count
        else:
            del self.there[key]
        if sign > 0 and count == 1:
            heappush(self.heap, key)
            if len(self.heap) > 64 and len(self.heap) > 4 * len(self.there):
                self.heap = list(self.there)
                heapify(self.heap)

    def least(self) -> Any:
        while self.heap[0] not in self.there:
            heappop(self.heap)
        return self.heap[0]


class Least(Ends):
    __slots__ = ()

    def order(self, values: tuple[Any, ...]) -> Any:
        return rank(values[0])

    def value(self) -> Any:
        return self.least()[1]


class _Turned:
    """The opposite order."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: _Turned) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turned) and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)


class Greatest(Ends):
    __slots__ = ()

    def order(self, values: tuple[Any, ...]) -> Any:
        return _Turned(rank(values[0]))

    def value(self) -> Any:
        return self.least().key[1]


class Earliest(Ends):
    """The first term of the tuple whose second is least."""

    __slots__ = ()
    name, sign = "first", 1

    def order(self, values: tuple[Any, ...]) -> Any:
        first, second = values[0], values[1]
        if isinstance(second, (int, Fraction)):
            return 1, self.sign * second, rank(first)
        return 0, 0, rank(first)

    def value(self) -> Any:
        key = self.least()
        if key[0] == 0:
            remark(f"`{self.name}` over something that is not a time has no value: what compares it is false")
            return None
        return key[2][1]


class Latest(Earliest):
    __slots__ = ()
    name, sign = "last", -1


WORTH: dict[str, type[Count]] = {
    "count": Count, "sum": Total, "avg": Mean, "min": Least, "max": Greatest, "first": Earliest, "last": Latest,
}  # fmt: skip
