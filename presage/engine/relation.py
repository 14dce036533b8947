"""Relations in memory: tuples of symbols with the times at which they hold.

A relation owns the arrays of a table of `kernels.tables`: it makes and grows them, and keeps the indexes the plan
joins on. `Store` has the relations of an engine, and the descriptions of their tables that kernels work with. The cost
of every operation follows what it touches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.kernels import fields, finding, forgetting, tables
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.fields import FAR
from presage.kernels.groups import fill_index
from presage.kernels.hashing import EMPTY

FEW = 16
RECORD = np.dtype([("low", np.int64), ("high", np.int64), ("earlier", np.int32), ("link", np.int32)])
"""As the kernels see it: `layout.FROM`, `TO`, `EARLIER` and `LINK`."""
_ROWS = {"columns": np.int32, "records": RECORD}
_POOL = {"nodes": RECORD}
_AHEAD = {"ahead_columns": np.int32, "ahead_low": np.int64, "ahead_high": np.int64}
_LOG = {"log_row": np.int32, "log_low": np.int64, "log_high": np.int64}


@dataclass(slots=True)
class Delta:
    """What a step added to a relation, piece by piece."""

    row: Ints32
    tuples: Ints32
    low: Ints
    high: Ints
    apart: int = 0
    """So many of the first pieces touch no other piece of their tuples, whatever was added or will be."""

    def __len__(self) -> int:
        return len(self.row)

    def between(self, begin: int, end: int) -> Delta:
        wanted = slice(begin, end)
        return Delta(self.row[wanted], self.tuples[wanted], self.low[wanted], self.high[wanted])


class Store:
    """The relations of an engine."""

    def __init__(self, arities: dict[str, int], constants: Callable[[], int]) -> None:
        """`constants` says how many constants there are: their numbers are below."""
        self.constants = constants
        self.tables = np.zeros((len(arities), fields.TABLE_FIELDS), np.int64)
        self.indexes = np.zeros((FEW, fields.INDEX_FIELDS), np.int64)
        self.count = 0
        self.passing: list[int] = []
        self.address: int = self.tables.ctypes.data
        self.indexes_address: int = self.indexes.ctypes.data
        self.relations = {name: Relation(self, number, arity) for number, (name, arity) in enumerate(arities.items())}

        self.by_number = list(self.relations.values())

    def relation(self, number: int) -> Relation:
        return self.by_number[number]

    def new_index(self) -> int:
        if self.count == len(self.indexes):
            self.indexes = np.concatenate([self.indexes, np.zeros_like(self.indexes)])
            self.indexes_address = self.indexes.ctypes.data
        self.count += 1
        return self.count - 1

    def pass_on(self, name: str) -> None:
        """A relation that is only passed on, never looked up, is not remembered."""
        number = self.relations[name].number
        self.tables[number, fields.PASSES] = 1
        self.tables[number, fields.FORGETS] = 0
        self.passing.append(number)


class Index:
    """Rows grouped by some columns."""

    __slots__ = ("arrays", "key", "number")

    def __init__(self, key: tuple[int, ...], number: int) -> None:
        self.key = np.array(key, np.int64)
        self.number = number
        self.arrays: dict[str, Any] = {}


def _power(least: int) -> int:
    return 1 << max(4, (least - 1).bit_length())


class Relation:
    def __init__(self, store: Store, number: int, arity: int) -> None:
        self.store, self.number, self.arity = store, number, arity
        self.width = max(1, arity)
        self.table = store.tables[number]
        self.address: int = self.table.ctypes.data
        self.arrays: dict[str, Any] = {}
        self.indexes: dict[tuple[int, ...], Index] = {}
        self.rows_stay = False
        """Whether someone knows tuples by their rows, as long as they are in use."""
        self.clear()

    def clear(self) -> None:
        """Empties the relation; its indexes stay, and so does what it says of forgetting."""
        table = self.table
        table[fields.WIDTH] = self.width
        table[fields.ROWS : fields.LATEST] = 0
        table[[fields.LATEST, fields.CUTOFF]] = -2 * FAR
        table[fields.ROW_FREE] = -1
        table[fields.BY_NUMBER] = 0
        table[fields.INDEXED] = next(iter(self.indexes.values())).number if self.indexes else -1
        self.arrays = {}
        self._resize(_ROWS, fields.CAPACITY, FEW)
        self._resize(_POOL, fields.POOL_CAPACITY, FEW)
        self.new_log(FEW)
        self._resize(_AHEAD, fields.AHEAD_CAPACITY, 1)
        table[[fields.AHEAD, fields.BEYOND]] = 0, 2 * FAR
        self._new_slots(2 * FEW)
        self._set("wheel", np.full(fields.WHEEL_SIZE, tables.LAST, np.int32))
        for index in self.indexes.values():
            self._link_index(index)
            self._fill(index, 2 * FEW)

    def __len__(self) -> int:
        return int(self.table[fields.LIVE])

    @property
    def intervals(self) -> int:
        return int(self.table[fields.LIVE] + self.table[fields.POOL_LIVE])

    @property
    def latest(self) -> int:
        """The last cell at which anything has ever held."""
        return int(self.table[fields.LATEST])

    @latest.setter
    def latest(self, cell: int) -> None:
        self.table[fields.LATEST] = cell

    @property
    def columns(self) -> Ints32:
        """The tuples by row."""
        found: Ints32 = self.arrays["columns"].reshape(-1, self.width)
        return found

    # Arrays, and where they are.

    def _set(self, name: str, array: Any) -> None:
        self.arrays[name] = array
        self.table[_FIELD[name]] = array.ctypes.data

    def _resize(self, kinds: dict[str, Any], field: int, capacity: int) -> None:
        """Arrays of another capacity, with what they held. Memory beyond what is used is not touched."""
        for name, kind in kinds.items():
            size = capacity * self.width if name.endswith("columns") else capacity
            larger = np.empty(size, kind)
            if name in self.arrays:
                held = self.arrays[name][:size]
                larger[: len(held)] = held
            self._set(name, larger)
        self.table[field] = capacity

    def shorten_log(self) -> None:
        """Gives back the room of a log that was long once."""
        self.new_log(FEW)

    def new_log(self, capacity: int) -> None:
        for name in _LOG:
            self.arrays.pop(name, None)
        self._resize(_LOG, fields.LOG_CAPACITY, capacity)
        self.table[fields.LOG] = 0

    def _new_slots(self, size: int) -> None:
        self._set("slots", np.full(size, EMPTY, np.int32))
        self.table[fields.SLOT_MASK] = size - 1
        finding.rehash(self.address)

    def add_index(self, key: tuple[int, ...]) -> int:
        """The number of the index on some columns."""
        if key not in self.indexes:
            index = self.indexes[key] = Index(key, self.store.new_index())
            self._link_index(index)
            self._fill(index, _power(4 * len(self)))
        return self.indexes[key].number

    def _link_index(self, index: Index) -> None:
        """Chains the indexes of this relation, and makes room in this one for every row."""
        entry = self.store.indexes[index.number]
        entry[fields.KEY], entry[fields.KEYS] = index.key.ctypes.data, len(index.key)
        numbers = [each.number for each in self.indexes.values()]
        for own, following in zip(numbers, [*numbers[1:], -1], strict=True):
            self.store.indexes[own, fields.NEXT_INDEX] = following
        self.table[fields.INDEXED] = numbers[0]
        self._resize_index(index, int(self.table[fields.CAPACITY]), 0)

    def _resize_index(self, index: Index, capacity: int, used: int) -> None:
        for name, field in (("following", fields.FOLLOWING), ("preceding", fields.PRECEDING)):
            larger = np.empty(capacity, np.int32)
            if used:
                larger[:used] = index.arrays[name][:used]
            index.arrays[name] = larger
            self.store.indexes[index.number, field] = larger.ctypes.data

    def _fill(self, index: Index, size: int) -> None:
        heads = index.arrays["heads"] = np.full(size, EMPTY, np.int32)
        entry = self.store.indexes[index.number]
        entry[fields.HEADS], entry[fields.HEAD_MASK] = heads.ctypes.data, size - 1
        entry[fields.GROUPS] = entry[fields.GROUP_GRAVES] = 0
        fill_index(
            entry.ctypes.data,
            int(self.table[fields.COLUMNS]),
            self.width,
            int(self.table[fields.RECORDS]),
            int(self.table[fields.ROWS]),
        )

    # Room.

    def make_room(self, more: int) -> None:
        """Enlarges what is full, for so many more rows perhaps."""
        table, filled = self.table, False
        if table[fields.BY_NUMBER]:
            filled = self._make_room_by_number(more)
        elif self._is_full and self._has_many_constants(more):
            self._by_number()
            filled = True
        elif table[fields.ROW_FREE] < 0 and table[fields.ROWS] == table[fields.CAPACITY]:
            used = int(table[fields.ROWS])
            capacity = _larger(used, more)
            self._resize(_ROWS, fields.CAPACITY, capacity)
            for index in self.indexes.values():
                self._resize_index(index, capacity, used)
            filled = True
        if table[fields.POOL_FREE] == 0 and table[fields.POOL] == table[fields.POOL_CAPACITY]:
            self._resize(_POOL, fields.POOL_CAPACITY, _larger(int(table[fields.POOL]), more))
            filled = True
        live, size = int(table[fields.LIVE]), int(table[fields.SLOT_MASK]) + 1
        if not table[fields.BY_NUMBER] and live + table[fields.GRAVES] >= size * 3 // 5:
            # Mostly graves: clearing them is enough.
            self._new_slots(size if live * 10 < size * 3 else _power(_larger(live, more) * 3 // 2))
            filled = True
        for index in self.indexes.values():
            entry = self.store.indexes[index.number]
            groups, heads = int(entry[fields.GROUPS]), int(entry[fields.HEAD_MASK]) + 1
            if (groups + entry[fields.GROUP_GRAVES]) * 5 >= heads * 3:
                self._fill(index, heads if groups * 10 < heads * 3 else _power(_larger(groups, more) * 3 // 2))
                filled = True
        if table[fields.AHEAD] == table[fields.AHEAD_CAPACITY]:
            self._resize(_AHEAD, fields.AHEAD_CAPACITY, _larger(int(table[fields.AHEAD]), more))
            filled = True
        if table[fields.LOG] == table[fields.LOG_CAPACITY] or not filled:
            self._resize(_LOG, fields.LOG_CAPACITY, _larger(int(table[fields.LOG_CAPACITY]), more))

    # Rows by the numbers of constants.

    @property
    def _is_full(self) -> bool:
        table = self.table
        used = int(table[fields.LIVE] + table[fields.GRAVES])
        no_row = table[fields.ROW_FREE] < 0 and table[fields.ROWS] == table[fields.CAPACITY]
        return bool(no_row or used >= (int(table[fields.SLOT_MASK]) + 1) * 3 // 5)

    def _has_many_constants(self, more: int) -> bool:
        """Whether a good part of all constants is here, or about to be."""
        if self.arity != 1 or self.indexes or self.table[fields.PASSES] or self.rows_stay:
            return False
        return self.store.constants() <= 4 * (len(self) + more)

    def _make_room_by_number(self, more: int) -> bool:
        """Room for the latest constants, if that is what there is none for."""
        numbers, capacity = self.store.constants(), int(self.table[fields.CAPACITY])
        if numbers <= capacity:
            return False
        if numbers > 16 * (len(self) + more):
            self._by_hash()
        else:
            self._resize(_ROWS, fields.CAPACITY, _power(numbers))
            self.arrays["columns"][:] = np.arange(_power(numbers))
            self.arrays["records"]["earlier"][capacity:] = finding.FREE
            self.table[fields.ROWS] = self.table[fields.CAPACITY]
        return True

    def _by_number(self) -> None:
        """Moves each row to the number of its constant."""
        rows, numbers = self._used_rows(), self.arrays["columns"]
        capacity = _power(self.store.constants())
        records = np.empty(capacity, RECORD)
        records["earlier"] = finding.FREE
        records[numbers[rows]] = self.arrays["records"][rows]
        self._move_rows(np.arange(capacity, dtype=np.int32), records, numbers)
        self.table[fields.ROWS], self.table[fields.BY_NUMBER] = capacity, 1
        self._link_all()

    def _by_hash(self) -> None:
        """Moves the rows in use together, and finds them by hash again."""
        rows = self._used_rows()
        places = np.zeros(int(self.table[fields.ROWS]), np.int32)
        places[rows] = np.arange(len(rows))
        self._move_rows(rows.astype(np.int32), self.arrays["records"][rows], places)
        self.table[fields.ROWS], self.table[fields.BY_NUMBER] = len(rows), 0
        self._new_slots(_power(2 * len(rows)))
        self._link_all()

    def _used_rows(self) -> npt.NDArray[np.intp]:
        used = int(self.table[fields.ROWS])
        return np.flatnonzero(self.arrays["records"]["earlier"][:used] != finding.FREE)

    def _move_rows(self, columns: Ints32, records: Any, places: Ints32) -> None:
        """`places` says where each row has moved to."""
        table = self.table
        self._set("columns", columns)
        self._set("records", records)
        table[fields.CAPACITY] = len(columns)
        table[fields.ROW_FREE], table[fields.GRAVES] = -1, 0
        logged = self.arrays["log_row"][: int(table[fields.LOG])]
        logged[:] = places[logged]

    def insert(self, rows: Ints32, low: Ints, high: Ints) -> None:
        """Adds intervals to tuples; what is new goes to the log."""
        if not len(low):
            return  # Nothing is compiled for nothing.
        count, done = len(low), 0
        while True:
            done = tables.insert_all(self.address, self.store.indexes_address, rows, low, high, done)
            if done == count:
                return
            self.make_room(count - done)

    def hold_back(self, cell: int) -> None:
        """What lies after a cell is put aside from now on."""
        self.table[fields.BEYOND] = cell

    def put_aside(self) -> tuple[Ints32, Ints, Ints]:
        """What has been put aside; from now on it is the caller's."""
        count = int(self.table[fields.AHEAD])
        self.table[fields.AHEAD] = 0
        columns = self.arrays["ahead_columns"].reshape(-1, self.width)
        return (
            columns[:count].copy(),
            self.arrays["ahead_low"][:count].copy(),
            self.arrays["ahead_high"][:count].copy(),
        )

    # Forgetting.

    def forgets(self, cells: int) -> None:
        """Rows may be forgotten, and are looked at about every so many cells of time."""
        table = self.table
        first = int(table[fields.WHEEL_AT]) << int(table[fields.BUCKET])
        table[fields.FORGETS] = 1
        table[fields.BUCKET] = max(0, cells.bit_length() - 1)
        table[fields.WHEEL_AT] = first >> int(table[fields.BUCKET])
        self._link_all()

    def _link_all(self) -> None:
        self.arrays["wheel"][:] = tables.LAST
        forgetting.link_all(self.address)

    def rescale(self, factor: int) -> None:
        """Moves all intervals to a grid that is finer by a factor."""
        used = int(self.table[fields.ROWS])
        live = self.arrays["records"]["earlier"][:used] != finding.FREE
        for name, are_ends in (("low", False), ("high", True)):
            own, pool = self.arrays["records"][name], self.arrays["nodes"][name]
            own[:used] = np.where(live, finer(own[:used], factor, are_ends), own[:used])
            log = self.arrays[f"log_{name}"]
            filled, logged = int(self.table[fields.POOL]), int(self.table[fields.LOG])
            pool[:filled] = finer(pool[:filled], factor, are_ends)
            log[:logged] = finer(log[:logged], factor, are_ends)
        self.table[fields.LATEST] = finer(self.table[fields.LATEST : fields.LATEST + 1], factor, True)[0]
        self.table[fields.WHEEL_AT] *= factor
        self.table[fields.CUTOFF] = -2 * FAR

    # Contents.

    def contents(self) -> Delta:
        """Tuples with their intervals, one line for each interval."""
        row, low, high = tables.all_intervals(self.address)
        return Delta(row, self.columns[row], low, high)

    def news(self) -> Delta | None:
        """What the log has."""
        count = int(self.table[fields.LOG])
        if not count:
            return None
        row = self.arrays["log_row"][:count].copy()
        return Delta(
            row, self.columns[row], self.arrays["log_low"][:count].copy(), self.arrays["log_high"][:count].copy()
        )


_FIELD = {name: getattr(fields, name.upper()) for name in (*_ROWS, *_POOL, *_LOG, *_AHEAD, "slots", "wheel")}


def _larger(used: int, more: int) -> int:
    return max(2 * used, min(used + more, 4 * used), FEW)


def finer(cells: Ints, factor: int, are_ends: bool) -> Ints:
    """Cells of the dense timeline on a finer grid: points stay points, a gap becomes its first or last cell."""
    shift = 1 if are_ends else -1
    moved = np.where(cells % 2 == 0, cells * factor, (cells + shift) * factor - shift)
    return np.where(np.abs(cells) >= FAR, cells, moved)


def finer_ends(ends: dict[str, int], factor: int) -> dict[str, int]:
    moved = finer(np.array(list(ends.values()), np.int64), factor, True)
    return dict(zip(ends, moved.tolist(), strict=True))
