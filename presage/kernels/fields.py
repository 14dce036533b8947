"""Where things lie: the fields that describe tables, indexes and programs to the kernels.

A kernel that touches many tables cannot take all their arrays as arguments. Each table is therefore one row of an
array `tables` of integers: its counters, and the addresses of its arrays. Whoever owns the arrays keeps them alive and
enters their addresses anew when they grow (`engine/relation.py`); kernels never allocate or free them.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from presage.kernels.compiling import Access, kernel
from presage.time.bounds import FAR as FAR

# A table: see `tables.py` for what the arrays hold.
(
    WIDTH, CAPACITY, ROWS, ROW_FREE, LIVE, POOL_CAPACITY, POOL, POOL_FREE, POOL_LIVE, SLOT_MASK, GRAVES, LATEST,
    LOG_CAPACITY, LOG, INDEXED, FROM_ZERO, FORGETS, BUCKET, WHEEL_AT, CUTOFF,
    BEYOND, PASSES, BY_NUMBER, AHEAD_CAPACITY, AHEAD, AHEAD_COLUMNS, AHEAD_LOW, AHEAD_HIGH,
    COLUMNS, RECORDS, NODES, SLOTS, WHEEL, LOG_ROW, LOG_LOW, LOG_HIGH,
    TABLE_FIELDS,
) = range(37)  # fmt: skip

# An interval with what is chained to it, side by side: who looks at one of these looks at all of them. The first two
# are places for 64 bits, the others for 32.
FROM, TO, EARLIER, LINK = 0, 1, 4, 5
RECORD_BYTES = 24

# An index: `KEY` is the address of its column numbers, `NEXT_INDEX` the next index of the same table.
KEY, KEYS, HEADS, HEAD_MASK, GROUPS, GROUP_GRAVES, FOLLOWING, PRECEDING, NEXT_INDEX, INDEX_FIELDS = range(10)

TABLE_BYTES, INDEX_BYTES = 8 * TABLE_FIELDS, 8 * INDEX_FIELDS

# What a run works with: the tables and the program (`matching.py`, `driver.py`), room for what is on its way through
# the steps of joins, and for what is found.
(
    TABLES, INDEXES, TRIGGERS, STARTS, STEPS, SPECS, CHECKS, FOUND_TUPLES, FLOATS,
    STACK, ENTRIES, ENTRY_BYTES, MOST_ENTRIES, PAIRS, WANTED, TUPLES, LOWS, HIGHS, ROOM, WORK_FIELDS,
) = range(20)  # fmt: skip

# A log that was once longer than this is given back when it is hardly used.
LONG_LOG = 1 << 16

# Buckets of rows by when they can be forgotten: a power of two.
WHEEL_SIZE = 64


def _access(kind: Any, stores: bool, align: int | None = None) -> Access:
    """A function that reads, or writes, a number at a place after an address. Arrays as variables of an inner loop
    would have their users counted again and again, which costs more than what is done with them."""
    size = ctypes.sizeof(kind)
    number = np.float64 if kind is ctypes.c_double else np.int64

    def load(address: int, index: int) -> Any:
        return number(kind.from_address(int(address) + size * int(index)).value)

    def store(address: int, index: int, value: int) -> None:
        kind.from_address(int(address) + size * int(index)).value = int(value)

    return Access(store if stores else load, lambda: _instruction(kind, stores, align))


def _instruction(kind: Any, stores: bool, align: int | None) -> Any:
    """The same for compiled kernels."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types
    from numba.extending import intrinsic

    is_float = kind is ctypes.c_double
    result = types.float64 if is_float else types.int64
    form = ir.DoubleType() if is_float else ir.IntType(8 * ctypes.sizeof(kind))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.gep(builder.inttoptr(arguments[0], form.as_pointer()), [arguments[1]])
        if stores:
            value = arguments[2] if form == ir.IntType(64) else builder.trunc(arguments[2], form)
            builder.store(value, place)
            return context.get_dummy_value()
        value = builder.load(place, align=align)
        if form == ir.IntType(8):
            return builder.zext(value, ir.IntType(64))
        return builder.sext(value, ir.IntType(64)) if form == ir.IntType(32) else value

    if stores:

        def store(typing: Any, address: Any, index: Any, value: Any) -> Any:
            return types.void(types.int64, types.int64, types.int64), generate

        return intrinsic(store)

    def load(typing: Any, address: Any, index: Any) -> Any:
        return result(types.int64, types.int64), generate

    return intrinsic(load)


get, put = _access(ctypes.c_int64, False), _access(ctypes.c_int64, True)
get32, put32 = _access(ctypes.c_int32, False), _access(ctypes.c_int32, True)
get8, put8 = _access(ctypes.c_uint8, False), _access(ctypes.c_uint8, True)
get_word, get_half = _access(ctypes.c_int64, False, align=1), _access(ctypes.c_int32, False, align=1)
"""Eight bytes, or four, that may begin anywhere."""
get_float = _access(ctypes.c_double, False)


@kernel
def fill32(address, count, value):  # type: ignore[no-untyped-def]
    for index in range(count):
        put32(address, index, value)
