"""Constants as integers.

Each value gets a number when it is first seen; the engine sees numbers only. Numbers whose value no
relation holds any more are given to others: an endless stream of new constants does not grow memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import repeat

import numpy as np
import numpy.typing as npt

from presage.engine.texts import TextColumn, Texts

Value = str | int | Fraction
Ints = npt.NDArray[np.int32]
# Whole numbers up to here, and their sums, are exact as floats.
_EXACT = 1 << 52


class Symbols:
    def __init__(self) -> None:
        self.numbers: dict[Value, int] = {}
        self.values: list[Value | None] = []
        self.unused: list[int] = []
        self.texts = Texts()
        # For comparisons by columns: the value as a float where that is exact, otherwise not a number.
        self.floats = np.zeros(16, np.float64)
        self.floats_address: int = self.floats.ctypes.data

    def __len__(self) -> int:
        return len(self.numbers)

    def number(self, value: Value) -> int:
        found = self.numbers.get(value)
        return self._add(value) if found is None else found

    def _add(self, value: Value) -> int:
        if not self.unused:
            return self.append(value)
        number = self.unused.pop()
        self.values[number] = value
        self.numbers[value] = number
        self.floats[number] = exact_float(value)
        return number

    def append(self, value: Value) -> int:
        """Gives a value the next new number."""
        number = len(self.values)
        self.values.append(value)
        self._make_room(number + 1)
        self.numbers[value] = number
        self.floats[number] = exact_float(value)
        return number

    def number_all(self, values: Iterable[Value]) -> Ints:
        given = list(values)
        found = np.fromiter(map(self.numbers.get, given, repeat(-1)), np.int32, len(given))
        missing = np.flatnonzero(found < 0)
        if len(missing):
            unknown = [given[place] for place in missing.tolist()]
            self._add_all(list(dict.fromkeys(unknown)))
            found[missing] = [self.numbers[value] for value in unknown]
        return found

    def _add_all(self, values: list[Value]) -> None:
        """Gives new values numbers, those that were given back first."""
        again = min(len(self.unused), len(values))
        for value in values[:again]:
            self._add(value)
        rest = values[again:]
        begin, end = len(self.values), len(self.values) + len(rest)
        self.values.extend(rest)
        self.numbers.update(zip(rest, range(begin, end), strict=True))
        self._make_room(end)
        self.floats[begin:end] = [exact_float(value) for value in rest]

    def _make_room(self, size: int) -> None:
        while size > len(self.floats):
            self.floats = np.concatenate([self.floats, np.zeros(len(self.floats), np.float64)])
            self.floats_address = self.floats.ctypes.data

    def number_texts(self, column: TextColumn) -> Ints:
        """The numbers of a column of texts."""
        return self.texts.find(column, self.number_all)

    def value(self, number: int) -> Value:
        found = self.values[number]
        assert found is not None
        return found

    def keep_only(self, used: Ints) -> int:
        """Frees the numbers that are not used; gives how many. Who holds the list of values keeps it as it was."""
        self.values = self.values.copy()
        self.texts.clear()
        keep = np.zeros(len(self.values), bool)
        keep[used] = True
        freed = 0
        for number in np.flatnonzero(~keep):
            value = self.values[int(number)]
            if value is not None:
                del self.numbers[value]
                self.values[int(number)] = None
                self.unused.append(int(number))
                freed += 1
        return freed


def exact_float(value: Value) -> float:
    if isinstance(value, str):
        return float("nan")
    if isinstance(value, int):
        return float(value) if -_EXACT < value < _EXACT else float("nan")
    small = (
        value.denominator & (value.denominator - 1) == 0 and value.denominator < 1024 and abs(value.numerator) < _EXACT
    )
    return float(value) if small else float("nan")
