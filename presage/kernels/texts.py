"""Texts of whole columns as numbers, without making an object of each.

Texts that have been seen lie one after the other in `bytes`; of each `begins` says where, `lengths` how long it is,
`codes` what it hashes to, and `numbers` what its number is. `slots` is an open-addressing hash of them. All these are
given by their addresses. A column has its texts one after the other too, and where each begins.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from presage.kernels.layout import get, get8, get32, get_word, put8

EMPTY = -1
SLOTS, MASK, BYTES, BEGINS, CODES, LENGTHS, NUMBERS, FIELDS = range(8)


@njit(cache=True)
def _hash(place, length):  # type: ignore[no-untyped-def]
    code = np.uint64(length) * np.uint64(0x9E3779B97F4A7C15)
    words = length >> 3
    for word in range(words):
        code = (code ^ np.uint64(get_word(place, word))) * np.uint64(0xFF51AFD7ED558CCD)
        code ^= code >> np.uint64(32)
    for byte in range(words << 3, length):
        code = (code ^ np.uint64(get8(place, byte))) * np.uint64(0x100000001B3)
    code ^= code >> np.uint64(29)
    code *= np.uint64(0xC4CEB9FE1A85EC53)
    return np.int64(code >> np.uint64(1))


@njit(cache=True)
def _same(place, other, length):  # type: ignore[no-untyped-def]
    words = length >> 3
    for word in range(words):
        if get_word(place, word) != get_word(other, word):
            return False
    byte = words << 3
    while byte < length and get8(place, byte) == get8(other, byte):
        byte += 1
    return byte == length


@njit(cache=True)
def find(table, places, data, found):  # type: ignore[no-untyped-def]
    """The numbers of a column's texts, -1 where one has not been seen; gives how many have not."""
    slots, mask, known, begins = get(table, SLOTS), get(table, MASK), get(table, BYTES), get(table, BEGINS)
    codes, lengths, numbers = get(table, CODES), get(table, LENGTHS), get(table, NUMBERS)
    unknown = 0
    for index in range(len(found)):
        begin = get32(places, index)
        place, length = data + begin, get32(places, index + 1) - begin
        code = _hash(place, length)
        at = (code >> 20) & mask
        number = np.int64(-1)
        while True:
            entry = get32(slots, at)
            if entry == EMPTY:
                unknown += 1
                break
            if (
                get(codes, entry) == code
                and get32(lengths, entry) == length
                and _same(known + get(begins, entry), place, length)
            ):
                number = get32(numbers, entry)
                break
            at = (at + 1) & mask
        found[index] = number
    return unknown


@njit(cache=True)
def add(slots, begins, lengths, codes, numbers, bytes_, entry, used, place, length, number):  # type: ignore[no-untyped-def]
    """Enters a text as entry number `entry`, its bytes from `used` on. There must be room."""
    mask, known = len(slots) - 1, bytes_.ctypes.data
    for byte in range(length):
        put8(known, used + byte, get8(place, byte))
    code = _hash(place, length)
    begins[entry], lengths[entry], codes[entry], numbers[entry] = used, length, code, number
    at = (code >> 20) & mask
    while slots[at] != EMPTY:
        at = (at + 1) & mask
    slots[at] = entry


@njit(cache=True)
def spread(slots, codes, count):  # type: ignore[no-untyped-def]
    """Fills empty slots."""
    mask = len(slots) - 1
    for entry in range(count):
        at = (codes[entry] >> 20) & mask
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = entry


_TIMES = types.Array(types.int64, 1, "C", readonly=True)


@njit(types.Tuple((types.int64, types.int64, types.int64))(_TIMES, types.int64), cache=True)  # type: ignore[no-untyped-call]
def span(times, limit):  # type: ignore[no-untyped-def]
    """The least and the greatest of some times, and how many lie before a limit."""
    least, most, before = times[0], times[0], 0
    for index in range(len(times)):
        time = times[index]
        least, most = min(least, time), max(most, time)
        if time < limit:
            before += 1
    return least, most, before
