"""Numbers that stand for any numbers like them: a symbol or a sum of symbols, with the value it has in one instance.

What is calculated with symbols is a sum of symbols again. What is asked of them is answered by the values at hand, and
noted: whatever follows holds for all values that would have answered alike. What cannot be noted so is refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

Terms = tuple[tuple[int, int], ...]
"""Symbols with their factors, in order."""


class Untraceable(Exception):
    """Something was asked of symbols whose answer holds for these values alone."""


class Sum(NamedTuple):
    """A number: some of the vector's, with factors, and a constant."""

    terms: Terms
    constant: Any


AT_MOST, LESS, DIFFERS = "at most", "less", "differs"


class SymbolCondition(NamedTuple):
    """A sum of symbols and a constant is at most 0, less than 0, or differs from 0."""

    terms: Terms
    constant: Any
    kind: str


class Trace:
    """The conditions under which what was worked out holds."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.conditions: dict[SymbolCondition, None] = {}
        self.sums: list[tuple[Terms, Any]] = []
        """The sums that texts show, by the number of their place."""
        self.places: dict[tuple[Terms, Any], int] = {}
        self.values: dict[int, Any] = {}
        self.fine: frozenset[int] = frozenset()
        """Symbols of values, which need not be whole numbers where times are."""

    def symbol(self, index: int, value: Any) -> Any:
        self.values[index] = value
        return made(((index, 1),), 0, value, self)

    def value(self, terms: Terms, constant: Any) -> Any:
        return sum((factor * self.values[index] for index, factor in terms), constant)

    def at_most(self, terms: Terms, constant: Any) -> None:
        self.conditions[SymbolCondition(terms, constant, AT_MOST)] = None

    def less(self, terms: Terms, constant: Any) -> None:
        if self.whole and not (self.fine and any(index in self.fine for index, _ in terms)):
            self.conditions[SymbolCondition(terms, constant + 1, AT_MOST)] = None
        else:
            self.conditions[SymbolCondition(terms, constant, LESS)] = None

    def differs(self, terms: Terms, constant: Any) -> None:
        if terms[0][1] < 0:
            terms, constant = tuple((index, -factor) for index, factor in terms), -constant
        self.conditions[SymbolCondition(terms, constant, DIFFERS)] = None

    def place(self, terms: Terms, constant: Any) -> int:
        known = self.places.get((terms, constant))
        if known is None:
            known = self.places[terms, constant] = len(self.sums)
            self.sums.append((terms, constant))
        return known


def made(terms: Terms, constant: Any, value: Any, trace: Trace) -> Any:
    if not terms:
        return constant
    kind = SymbolSum if type(value) is int or not isinstance(value, Fraction) else SumOfFractions
    return kind.of(terms, constant, value, trace)


def _added(one: Terms, other: Terms, sign: int) -> Terms:
    if not other:
        return one
    if one == other and sign < 0:
        return ()
    if len(one) == len(other) == 1 and one[0][0] != other[0][0]:
        index, factor = other[0]
        more = (index, sign * factor)
        return (one[0], more) if one[0][0] < index else (more, one[0])
    found = dict(one)
    for index, factor in other:
        total = found.get(index, 0) + sign * factor
        if total:
            found[index] = total
        else:
            del found[index]
    return tuple(sorted(found.items()))


class _Symbolic:
    """What both kinds of sums have in common."""

    terms: Terms
    constant: Any
    trace: Trace

    plain: Any
    """The value at hand."""

    def _with(self, other: Any, sign: int, first: int = 1) -> Any:
        """first · self + sign · other."""
        kind = type(other)
        if kind is int and first == 1:
            if not other:
                return self
            if sign < 0:
                other = -other
            return made(self.terms, self.constant + other, self.plain + other, self.trace)
        if kind is SymbolSum or kind is SumOfFractions:
            terms, constant, value = other.terms, other.constant, other.plain
        elif kind is int or kind is Fraction or (isinstance(other, (int, Fraction)) and kind is not bool):
            terms, constant, value = (), other, other
        else:
            return NotImplemented
        if first == 1:
            total = self.constant + constant if sign > 0 else self.constant - constant
            value = self.plain + value if sign > 0 else self.plain - value
            return made(_added(self.terms, terms, sign), total, value, self.trace)
        mine = tuple((index, -factor) for index, factor in self.terms)
        return made(_added(mine, terms, sign), sign * constant - self.constant, sign * value - self.plain, self.trace)

    def _difference(self, other: Any) -> tuple[Terms, Any, Any] | None:
        """How far it is from another number: symbols, a constant and the value at hand. Without symbols it is the same
        for all values."""
        kind = type(other)
        if kind is SymbolSum or kind is SumOfFractions:
            return _added(self.terms, other.terms, -1), self.constant - other.constant, self.plain - other.plain
        if kind is float:
            return (), -other, -other  # it is without end, which no symbol is
        if kind is int or kind is Fraction or (isinstance(other, (int, Fraction)) and kind is not bool):
            return self.terms, self.constant - other, self.plain - other
        return None

    def __add__(self, other: Any) -> Any:
        return self._with(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, 1, -1)

    def __neg__(self) -> Any:
        return self._with(0, 1, -1)

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, _Symbolic) or not isinstance(other, int):
            raise Untraceable("a product")
        if other == 0:
            return 0
        terms = tuple((index, factor * other) for index, factor in self.terms)
        return made(terms, self.constant * other, self.plain * other, self.trace)

    __rmul__ = __mul__

    def _refused(self, *others: Any) -> Any:
        raise Untraceable("more than sums and differences")

    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refused
    __divmod__ = __rdivmod__ = __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __abs__ = _refused
    __float__ = __trunc__ = __round__ = __invert__ = _refused

    def __lt__(self, other: Any) -> Any:
        found = self._difference(other)
        if found is None:
            return NotImplemented
        terms, constant, value = found
        if not terms:
            return constant < 0
        if value < 0:
            self.trace.less(terms, constant)
            return True
        self.trace.at_most(_opposite(terms), -constant)
        return False

    def __le__(self, other: Any) -> Any:
        found = self._difference(other)
        if found is None:
            return NotImplemented
        terms, constant, value = found
        if not terms:
            return constant <= 0
        if value <= 0:
            self.trace.at_most(terms, constant)
            return True
        self.trace.less(_opposite(terms), -constant)
        return False

    def __gt__(self, other: Any) -> Any:
        found = self.__le__(other)
        return found if found is NotImplemented else not found

    def __ge__(self, other: Any) -> Any:
        found = self.__lt__(other)
        return found if found is NotImplemented else not found

    def __eq__(self, other: object) -> Any:
        found = self._difference(other)
        if found is None or type(other) is float:
            return False  # ends of time, texts and nothing at all are no numbers
        terms, constant, value = found
        if not terms:
            return constant == 0
        if value == 0:
            self.trace.at_most(terms, constant)
            self.trace.at_most(_opposite(terms), -constant)
            return True
        self.trace.differs(terms, constant)
        return False

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __bool__(self) -> bool:
        return not self.__eq__(0)

    def __hash__(self) -> int:
        return hash(self.plain)

    def __int__(self) -> int:
        """The value itself is asked for: what follows holds for it alone."""
        if self.plain != int(self.plain):
            raise Untraceable("a part of a number")
        self.trace.at_most(self.terms, self.constant - self.plain)
        self.trace.at_most(_opposite(self.terms), self.plain - self.constant)
        return int(self.plain)

    def __index__(self) -> int:
        return self.__int__()

    def __floor__(self) -> Any:
        if isinstance(self, int):
            return self
        raise Untraceable("a part of a number")

    __ceil__ = __floor__

    @property
    def numerator(self) -> Any:
        return self

    @property
    def denominator(self) -> int:
        return 1

    def __str__(self) -> str:
        return f"\x01{self.trace.place(self.terms, self.constant)}\x02"

    def __repr__(self) -> str:
        raise Untraceable("how a number is written")

    def __format__(self, how: str) -> str:
        if how:
            raise Untraceable("how a number is written")
        return str(self)

    def __reduce__(self) -> Any:
        raise Untraceable("a copy")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def total(number: Any) -> Sum:
    return Sum(number.terms, number.constant) if isinstance(number, _Symbolic) else Sum((), number)


def total_of(number: Any) -> Sum | None:
    return None if number is None else total(number)


def _opposite(terms: Terms) -> Terms:
    return tuple([(index, -factor) for index, factor in terms])


class SymbolSum(_Symbolic, int):  # type: ignore[misc]
    """A whole number."""

    @staticmethod
    def of(terms: Terms, constant: Any, value: int, trace: Trace) -> SymbolSum:
        found = int.__new__(SymbolSum, value)
        found.terms, found.constant, found.plain, found.trace = terms, constant, value, trace
        return found


class SumOfFractions(_Symbolic, Fraction):  # type: ignore[misc]
    """A rational number. Its parts are not to be looked at."""

    @staticmethod
    def of(terms: Terms, constant: Any, value: Fraction, trace: Trace) -> SumOfFractions:
        found = object.__new__(SumOfFractions)
        found.terms, found.constant, found.plain, found.trace = terms, constant, value, trace
        return found


class SymbolName(str):
    """A constant that is nobody's: equal to itself, and in no order with others."""

    def _refused(self, other: object) -> bool:
        if isinstance(other, SymbolName) and str.__eq__(self, other):
            return False
        raise Untraceable("the order of names")

    __lt__ = __gt__ = _refused

    def _same(self, other: object) -> bool:
        if isinstance(other, SymbolName) and str.__eq__(self, other):
            return True
        raise Untraceable("the order of names")

    __le__ = __ge__ = _same
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return str.__eq__(self, other) is not True
