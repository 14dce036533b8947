"""Numbers that stand for any numbers like them: a symbol or a sum of symbols, with the value it has in one instance.

What is calculated with symbols is a sum of symbols again. What is asked of them is answered by the values at hand, and
noted: whatever follows holds for all values that would have answered alike. What cannot be noted so is refused.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

Terms = tuple[tuple[int, int], ...]
"""Symbols with their factors, in order."""


class Untraceable(Exception):
    """Something was asked of symbols whose answer holds for these values alone."""


class NamesWanted(Untraceable):
    """It can be traced where names have numbers in their order."""


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
    """The conditions under which what was worked out holds.

    Most of what is done with symbols is to add up factors. So these are the digits of one integer, its `code`: the
    sum of two codes has the sums of their factors, and what no symbol is left of is 0.
    """

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.noted: dict[tuple[int, Any, str], None] = {}
        """Codes, constants and kinds of conditions."""
        self.sums: list[tuple[Terms, Any]] = []
        """The sums that texts show, by the number of their place."""
        self.places: dict[tuple[int, Any], int] = {}
        self.values: dict[int, Any] = {}
        self.fine: frozenset[int] = frozenset()
        """Symbols of values, which need not be whole numbers where times are."""

    def symbol(self, index: int, value: Any) -> Any:
        self.values[index] = value
        return made(1 << DIGIT * index, 0, value, self)

    def value(self, terms: Terms, constant: Any) -> Any:
        return sum((factor * self.values[index] for index, factor in terms), constant)

    @property
    def conditions(self) -> list[SymbolCondition]:
        return [SymbolCondition(decoded(code), constant, kind) for code, constant, kind in self.noted]

    def at_most(self, code: int, constant: Any) -> None:
        self.noted[code, constant, AT_MOST] = None

    def less(self, code: int, constant: Any) -> None:
        if self.whole and not (self.fine and any(index in self.fine for index, _ in decoded(code))):
            self.noted[code, constant + 1, AT_MOST] = None
        else:
            self.noted[code, constant, LESS] = None

    def differs(self, code: int, constant: Any) -> None:
        if decoded(code)[0][1] < 0:
            code, constant = -code, -constant
        self.noted[code, constant, DIFFERS] = None

    def names_before(self, one: int, other: int) -> None:
        """The name at one place comes before the one at another."""
        self.noted[(1 << DIGIT * one) - (1 << DIGIT * other), 0, LESS] = None

    def place(self, code: int, constant: Any) -> int:
        known = self.places.get((code, constant))
        if known is None:
            known = self.places[code, constant] = len(self.sums)
            self.sums.append((decoded(code), constant))
        return known


DIGIT = 32
"""Bits of a factor in a code."""
MOST_TIMES_AS_MUCH = 1 << 20
_HALF, _MASK = 1 << DIGIT - 1, (1 << DIGIT) - 1


@lru_cache(maxsize=4096)
def decoded(code: int) -> Terms:
    """The symbols of a code with their factors, in order."""
    found = []
    index = 0
    while code:
        factor = ((code + _HALF) & _MASK) - _HALF
        if factor:
            found.append((index, factor))
        code = (code - factor) >> DIGIT
        index += 1
    return tuple(found)


def code_of(terms: Terms) -> int:
    return sum(factor << DIGIT * index if factor > 0 else -(-factor << DIGIT * index) for index, factor in terms)


def made(code: int, constant: Any, value: Any, trace: Trace) -> Any:
    if not code:
        return constant
    kind = SymbolSum if type(value) is int or not isinstance(value, Fraction) else SumOfFractions
    return kind.of(code, constant, value, trace)


class _Symbolic:
    """What both kinds of sums have in common."""

    code: int
    constant: Any
    trace: Trace

    plain: Any
    """The value at hand."""

    @property
    def terms(self) -> Terms:
        return decoded(self.code)

    def _with(self, other: Any, sign: int, first: int = 1) -> Any:
        """first · self + sign · other."""
        kind = type(other)
        if kind is SymbolSum or kind is SumOfFractions:
            code, constant, value = other.code, other.constant, other.plain
        elif kind is int or kind is Fraction or (isinstance(other, (int, Fraction)) and kind is not bool):
            if first == 1:
                if not other:
                    return self
                if sign < 0:
                    other = -other
                return made(self.code, self.constant + other, self.plain + other, self.trace)
            code, constant, value = 0, other, other
        else:
            return NotImplemented
        if first == 1 and sign > 0:
            return made(self.code + code, self.constant + constant, self.plain + value, self.trace)
        if first == 1:
            return made(self.code - code, self.constant - constant, self.plain - value, self.trace)
        return made(sign * code - self.code, sign * constant - self.constant, sign * value - self.plain, self.trace)

    def _difference(self, other: Any) -> tuple[int, Any, Any] | None:
        """How far it is from another number: a code, a constant and the value at hand. Without symbols it is the same
        for all values."""
        kind = type(other)
        if kind is SymbolSum or kind is SumOfFractions:
            return self.code - other.code, self.constant - other.constant, self.plain - other.plain
        if kind is float:
            return 0, -other, -other  # it is without end, which no symbol is
        if kind is int or kind is Fraction or (isinstance(other, (int, Fraction)) and kind is not bool):
            return self.code, self.constant - other, self.plain - other
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
        if abs(other) > MOST_TIMES_AS_MUCH:
            raise Untraceable("a great factor")
        return made(self.code * other, self.constant * other, self.plain * other, self.trace)

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
        code, constant, value = found
        if not code:
            return constant < 0
        if value < 0:
            self.trace.less(code, constant)
            return True
        self.trace.at_most(-code, -constant)
        return False

    def __le__(self, other: Any) -> Any:
        found = self._difference(other)
        if found is None:
            return NotImplemented
        code, constant, value = found
        if not code:
            return constant <= 0
        if value <= 0:
            self.trace.at_most(code, constant)
            return True
        self.trace.less(-code, -constant)
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
        code, constant, value = found
        if not code:
            return constant == 0
        if value == 0:
            self.trace.at_most(code, constant)
            self.trace.at_most(-code, -constant)
            return True
        self.trace.differs(code, constant)
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
        self.trace.at_most(self.code, self.constant - self.plain)
        self.trace.at_most(-self.code, self.plain - self.constant)
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
        return f"\x01{self.trace.place(self.code, self.constant)}\x02"

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


class SymbolSum(_Symbolic, int):  # type: ignore[misc]
    """A whole number."""

    @staticmethod
    def of(code: int, constant: Any, value: int, trace: Trace) -> SymbolSum:
        found = int.__new__(SymbolSum, value)
        found.code, found.constant, found.plain, found.trace = code, constant, value, trace
        return found


class SumOfFractions(_Symbolic, Fraction):  # type: ignore[misc]
    """A rational number. Its parts are not to be looked at."""

    @staticmethod
    def of(code: int, constant: Any, value: Fraction, trace: Trace) -> SumOfFractions:
        found = object.__new__(SumOfFractions)
        found.code, found.constant, found.plain, found.trace = code, constant, value, trace
        return found


class SymbolName(str):
    """A constant that is nobody's: equal to itself, and in no order with others."""

    trace: Trace | None = None
    place: int
    """In the vector, where it is one of an individual's values."""
    number: int | None
    """What stands for it there in the order of names, where names have one."""

    @staticmethod
    def of_value(text: str, trace: Trace, place: int, number: int | None) -> SymbolName:
        found = SymbolName(text)
        found.trace, found.place, found.number = trace, place, number
        return found

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, SymbolName):
            raise Untraceable("the order of a name and a text")
        if str.__eq__(self, other):
            return False
        if self.trace is None or other.trace is None:
            raise Untraceable("the order of names")
        if self.number is None or other.number is None:
            raise NamesWanted("the order of names")
        first, second = (self, other) if self.number < other.number else (other, self)
        self.trace.names_before(first.place, second.place)
        return first is self

    def __gt__(self, other: object) -> bool:
        return not self.__le__(other)

    def __le__(self, other: object) -> bool:
        if not isinstance(other, SymbolName):
            raise Untraceable("the order of a name and a text")
        return str.__eq__(self, other) is True or self.__lt__(other)

    def __ge__(self, other: object) -> bool:
        return not self.__lt__(other)

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return str.__eq__(self, other) is not True
