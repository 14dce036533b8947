"""Cells of files as columns of values: each distinct one is read and checked once, by what reads rows one by one.

What is unusual raises `Unusual`, or what that code raises; whoever reads a file by the column reads it row by row then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from presage.io.arriving import ArrivingColumns, in_order
from presage.io.facts import Checker, Fact
from presage.io.tables import MOST, Coded, Columns, cells_of, integers, pyarrow
from presage.kernels.arrays import Ints, Ints32
from presage.model.terms import Value


class Unusual(ValueError):
    """What is read row by row."""


class ColumnCells:
    """The cells of one column as values: each distinct one is checked once, by the rules of rows."""

    def __init__(self, value_of: Callable[[Any], Value]) -> None:
        self.value_of = value_of
        self.places: dict[Any, int] = {}
        self.values: list[Value] = []
        self.parts: list[Ints32] = []
        self.waiting: list[Any] = []
        """Arrow columns of which the distinct cells are looked at together."""
        self._last: tuple[Any, Ints32] | None = None

    def add(self, column: Any) -> None:
        """Takes an Arrow column."""
        pa = pyarrow()
        if column.null_count:
            raise Unusual("a cell without a value")
        is_encoded = pa.types.is_dictionary(column.type) and column.type.index_type == pa.int32()
        self.waiting.append(column if is_encoded else column.dictionary_encode())

    def encoded(self, column: Any, where: str) -> tuple[Ints32, Ints32]:
        """Places of cells among the distinct ones, and the numbers of those."""
        pa = pyarrow()
        array = column if not isinstance(column, pa.ChunkedArray) else column.combine_chunks()
        if array.null_count:
            raise Unusual("a cell without a value")
        encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        if self._last is None or not encoded.dictionary.equals(self._last[0]):
            self._last = encoded.dictionary, self.numbers(cells_of(encoded.dictionary, where))
        return integers(encoded.indices), self._last[1]

    def numbers(self, cells: Sequence[Any]) -> Ints32:
        """The numbers of distinct cells."""
        found = np.empty(len(cells), np.int32)
        for place, cell in enumerate(cells):
            number = self.places.get(cell)
            if number is None:
                self.values.append(self.value_of(cell))
                number = self.places[cell] = len(self.places)
            found[place] = number
        return found

    def coded(self) -> Coded:
        if self.waiting:
            together = pyarrow().chunked_array(self.waiting).unify_dictionaries()
            self.waiting = []
            own = self.numbers(cells_of(together.chunk(0).dictionary, ""))
            indices = [integers(each.indices) for each in together.chunks]
            found = indices[0] if len(indices) == 1 else np.concatenate(indices)
            self.parts.append(found if (own == np.arange(len(own))).all() else own[found])
        return Coded(self.values, np.concatenate(self.parts) if self.parts else np.zeros(0, np.int32))


class WholeTimes:
    """Times as they are written, as whole numbers; and in which way they were written."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.kinds: set[str] = set()
        self.cells = ColumnCells(self.point)

    def point(self, cell: Any) -> int:
        self.checker.times = None
        time = self.checker.point(cell, "")
        self.note()
        if not isinstance(time, int) or time > MOST:
            raise Unusual("a time that is no whole number")
        return time

    def note(self) -> None:
        if self.checker.times is not None:
            self.kinds.add(self.checker.times)

    def times(self, column: Any, where: str = "") -> Ints:
        pa = pyarrow()
        array = column if not isinstance(column, pa.ChunkedArray) else column.combine_chunks()
        if pa.types.is_integer(array.type):
            if array.null_count:
                raise Unusual("a time that is missing")
            found: Ints = integers(array).astype(np.int64, copy=False)
            if len(found):
                # As it is said of the least and the greatest, so of all between.
                self.point(int(found.min()))
                self.point(int(found.max()))
            return found
        codes, own = self.cells.encoded(array, where)
        return np.array(self.cells.values, np.int64)[own][codes]


class FileContents:
    """What was read of a file: for each predicate its columns, and the facts that are none."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.times = WholeTimes(checker)
        self.tables: dict[str, tuple[list[ColumnCells], list[Ints], list[Ints]]] = {}
        self.others: list[Fact] = []

    def table(
        self, name: str, cells: Callable[[], list[ColumnCells]]
    ) -> tuple[list[ColumnCells], list[Ints], list[Ints]]:
        if name not in self.tables:
            self.tables[name] = (cells(), [], [])
        return self.tables[name]

    def note_times(self, before: str | None) -> None:
        """The first time that is read decides how times are shown: here all say theirs in one way."""
        if len(self.times.kinds) > 1:
            raise Unusual("times that are written in several ways")
        self.checker.times = before
        for kind in self.times.kinds:
            self.checker.note(kind, "")

    def arriving(self) -> list[ArrivingColumns]:
        """Sorted by arrival; what arrives together stays in its order."""
        found = []
        for name, (cells, times, arrivals) in self.tables.items():
            if not times:
                continue
            at = times[0] if len(times) == 1 else np.concatenate(times)
            own = at if not arrivals else arrivals[0] if len(arrivals) == 1 else np.concatenate(arrivals)
            columns = Columns(name, [each.coded() for each in cells], at)
            found.append(in_order(columns, own))
        return found
