"""Constants as integers.

Each value gets a number when it is first seen; the engine sees numbers only. Numbers whose value no
relation holds any more are given to others: an endless stream of new constants does not grow memory.

Invented values (nulls) are numbers too, without a constant behind them. One that is shown to someone is given a name, a
number of its own that nothing else ever gets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress, repeat
from operator import is_

import numpy as np
import numpy.typing as npt

from presage.engine.texts import TextColumn, TextSymbols
from presage.engine.whole_numbers import AT_ONCE, WholeNumberSymbols
from presage.kernels.arrays import Ints32
from presage.model.terms import Value

# Whole numbers up to here, and their sums, are exact as floats.
_EXACT = 1 << 52


# What is said of numbers in `names`: it is a constant's or nobody's, or a null's that was not shown yet.
NO_NULL, UNNAMED = 0, -1


@dataclass(frozen=True, slots=True)
class Null:
    """An invented value, known by its number."""

    number: int


class Symbols:
    def __init__(self) -> None:
        self.numbers: dict[Value, int] = {}
        """Of texts, and of numbers that `wholes` has not."""
        self.values: list[Value | None] = []
        """The constants; `None` for nulls and for numbers that are not used."""
        self.unused: list[int] = []
        self.nulls = 0
        self.shown = 0
        self.names = np.zeros(16, np.int64)
        self.texts, self.wholes = TextSymbols(), WholeNumberSymbols()
        self.held: Callable[[], list[Ints32]] = list
        """The numbers that are referred to beyond the engine."""
        # For comparisons by columns: the value as a float where that is exact, otherwise not a number.
        self.floats = np.zeros(16, np.float64)
        self.floats_address: int = self.floats.ctypes.data

    def __len__(self) -> int:
        return len(self.numbers) + self.wholes.count + self.nulls

    def number(self, value: Value | Null) -> int:
        if isinstance(value, Null):
            return value.number
        found = self.find(value)
        return self._add(value) if found < 0 else found

    def find(self, value: Value) -> int:
        """The number of a value, -1 where it has none."""
        whole = _exact_whole(value)
        return self.numbers.get(value, -1) if whole is None else self.wholes.number(whole, self.floats)

    def _know(self, value: Value, number: int) -> None:
        self.floats[number] = exact_float(value)
        if _exact_whole(value) is None:
            self.numbers[value] = number
        else:
            self.wholes.enter(np.array([number], np.int32), self.floats)

    def invent(self, count: int) -> Ints32:
        """Numbers for new nulls."""
        again = min(count, len(self.unused))
        found = np.empty(count, np.int32)
        if again:
            found[:again] = self.unused[-again:]
            del self.unused[-again:]
        begin, end = len(self.values), len(self.values) + count - again
        found[again:] = np.arange(begin, end)
        self.values.extend([None] * (count - again))
        self._make_room(end)
        self.floats[found], self.names[found] = np.nan, UNNAMED
        self.nulls += count
        return found

    def shown_as(self, numbers: Ints32) -> Ints32:
        """The numbers with the names of nulls, below 0, in their place; nulls are named in the order they come in."""
        names = self.names[numbers]
        new = numbers[names == UNNAMED]
        if len(new):
            # Written backwards, so that of one that comes several times the first place stays.
            places = np.arange(1, len(new) + 1)
            self.names[new[::-1]] = places[::-1]
            first = self.names[new] == places
            self.names[new[first]] = np.arange(self.shown + 1, self.shown + 1 + np.count_nonzero(first))
            self.shown += int(np.count_nonzero(first))
            names = self.names[numbers]
        return np.where(names > 0, -names, numbers)

    def _add(self, value: Value) -> int:
        if not self.unused:
            return self.append(value)
        number = self.unused.pop()
        self.values[number] = value
        self._know(value, number)
        return number

    def append(self, value: Value) -> int:
        """Gives a value the next new number."""
        number = len(self.values)
        self.values.append(value)
        self._make_room(number + 1)
        self._know(value, number)
        return number

    def number_all(self, values: Iterable[Value]) -> Ints32:
        given = list(values)
        types = set(map(type, given))
        if types <= {str}:
            return self._number_others(given)
        if types == {int}:
            try:
                return self.number_wholes(np.array(given, np.int64))
            except OverflowError:
                pass
        if types == {str, int}:
            of_texts = list(map(is_, map(type, given), repeat(str)))
            found, texts = np.empty(len(given), np.int32), np.array(of_texts)
            found[~texts] = self.number_all(compress(given, (~texts).tolist()))
            found[texts] = self._number_others(list(compress(given, of_texts)))
            return found
        wholes = [_exact_whole(value) for value in given]
        is_whole = np.array([whole is not None for whole in wholes], bool)
        found = np.empty(len(given), np.int32)
        found[is_whole] = self.number_wholes(np.array([whole for whole in wholes if whole is not None], np.int64))
        others = [value for value, whole in zip(given, wholes, strict=True) if whole is None]
        found[~is_whole] = self._number_others(others)
        return found

    def number_wholes(self, column: npt.NDArray[np.int64]) -> Ints32:
        """The numbers of a column of whole numbers."""
        if not len(column):
            return np.zeros(0, np.int32)
        if column.min() <= -_EXACT or column.max() >= _EXACT:
            return np.array([self.number(value) for value in column.tolist()], np.int32)
        parts = []
        for start in range(0, len(column), AT_ONCE):
            part = column[start : start + AT_ONCE]
            self._make_room(len(self.values) + len(part))
            self.wholes.make_room(len(part), self.floats)
            found, fresh, again = self.wholes.find(part, self.floats, self.unused, len(self.values))
            new: list[int] = fresh.tolist()
            deque(map(self.values.__setitem__, again, new), maxlen=0)  # a loop takes twice as long
            self.values.extend(new[len(again) :])
            parts.append(found)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _number_others(self, given: list[Value]) -> Ints32:
        """The numbers of values that are not whole numbers."""
        found = np.array(list(map(self.numbers.get, given, repeat(-1))), np.int32)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            unknown = given if len(missing) == len(given) else [given[place] for place in missing.tolist()]
            new = list(dict.fromkeys(unknown))
            added = self._add_all(new)
            if len(new) < len(unknown):
                added = np.array(list(map(self.numbers.__getitem__, unknown)), np.int32)
            found[missing] = added
        return found

    def _add_all(self, values: list[Value]) -> Ints32:
        """Gives new values numbers, those that were given back first."""
        found = np.empty(len(values), np.int32)
        again = min(len(self.unused), len(values))
        if again:
            numbers = self.unused[: -again - 1 : -1]
            del self.unused[-again:]
            known = self.values
            deque(map(known.__setitem__, numbers, values), maxlen=0)
            self.numbers.update(zip(values[:again], numbers, strict=True))
            found[:again] = numbers
            self.floats[found[:again]] = _exact_floats(values[:again])
        rest = values[again:] if again else values
        begin, end = len(self.values), len(self.values) + len(rest)
        self.values.extend(rest)
        self.numbers.update(zip(rest, range(begin, end), strict=True))
        self._make_room(end)
        self.floats[begin:end] = _exact_floats(rest)
        found[again:] = np.arange(begin, end)
        return found

    def _make_room(self, size: int) -> None:
        while size > len(self.floats):
            self.floats = np.concatenate([self.floats, np.zeros(len(self.floats), np.float64)])
            self.names = np.concatenate([self.names, np.zeros(len(self.names), np.int64)])
            self.floats_address = self.floats.ctypes.data

    def fill(self, values: list[Value | None], names: npt.NDArray[np.int64] | None) -> None:
        """Takes over what was saved. Who holds the list of values keeps it as it was."""
        self.values = values
        self.texts.clear()
        self._make_room(len(values))
        self.floats[: len(values)] = [np.nan if value is None else exact_float(value) for value in values]
        self.numbers = {}
        self._keep_wholes(np.ones(len(values), bool))
        for number, value in enumerate(values):
            if value is not None and _exact_whole(value) is None:
                self.numbers[value] = number
        self.names[:] = NO_NULL
        if names is not None:
            self.names[: len(values)] = names
        self.nulls = int(np.count_nonzero(self.names))
        free = (place for place, value in enumerate(values) if value is None)
        self.unused = [place for place in free if self.names[place] == NO_NULL]

    def number_texts(self, column: TextColumn) -> Ints32:
        """The numbers of a column of texts."""
        return self.texts.find(column, self.number_all)

    def value(self, number: int) -> Value:
        found = self.values[number]
        assert found is not None
        return found

    def value_or_null(self, number: int) -> Value | Null:
        found = self.values[number]
        return Null(number) if found is None else found

    def keep_only(self, used: npt.NDArray[np.integer]) -> int:
        """Frees the numbers that are not used; gives how many. Who holds the list of values keeps it as it was."""
        self.values = self.values.copy()
        self.texts.clear()
        keep = np.zeros(len(self.values), bool)
        keep[used] = True
        nulls = np.flatnonzero(~keep & (self.names[: len(keep)] != NO_NULL))
        self.names[nulls] = NO_NULL
        self.nulls -= len(nulls)
        freed = len(nulls)
        keep[nulls] = True
        keep[self.unused] = True
        self.unused.extend(nulls.tolist())
        are_whole = self._keep_wholes(keep)
        values, numbers = self.values, self.numbers
        for number in np.flatnonzero(~keep & ~are_whole).tolist():
            del numbers[values[number]]  # type: ignore[arg-type]
        gone = np.flatnonzero(~keep)
        self.floats[gone] = np.nan
        left: list[int] = gone.tolist()
        for number in left:
            values[number] = None
        self.unused.extend(left)
        return freed + len(left)

    def _keep_wholes(self, keep: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Knows the whole numbers that are kept and no others; gives which values are whole numbers."""
        floats = self.floats[: len(keep)]
        are_whole: npt.NDArray[np.bool_] = floats == np.floor(floats)
        kept = np.flatnonzero(keep & are_whole)
        self.wholes.fill(kept.astype(np.int32), self.floats)
        return are_whole


def _exact_floats(values: list[Value]) -> npt.NDArray[np.float64] | float:
    """The same for many, by the column where they are alike."""
    types = set(map(type, values))
    if types <= {str}:
        return np.nan
    if types == {int}:
        try:
            whole = np.array(values, np.int64)
        except OverflowError:
            pass
        else:
            return np.where((whole > -_EXACT) & (whole < _EXACT), whole.astype(np.float64), np.nan)
    return np.array([exact_float(value) for value in values], np.float64)


def _exact_whole(value: Value) -> int | None:
    """A value as a whole number that is exact as a float."""
    if isinstance(value, str) or value.denominator != 1 or not -_EXACT < value < _EXACT:
        return None
    return int(value)


def exact_float(value: Value) -> float:
    if isinstance(value, str):
        return float("nan")
    if isinstance(value, int):
        return float(value) if -_EXACT < value < _EXACT else float("nan")
    small = (
        value.denominator & (value.denominator - 1) == 0 and value.denominator < 1024 and abs(value.numerator) < _EXACT
    )
    return float(value) if small else float("nan")
