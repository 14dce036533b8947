"""Texts of whole columns as numbers, without making an object of each.

Texts that have been seen lie one after the other in `bytes`; of each `begins` says where, `lengths` how long it is,
`codes` what it hashes to, and `numbers` what its number is. `slots` is an open-addressing hash of them. All these are
given by their addresses. A column has its texts one after the other too, and where each begins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from presage.kernels.hashing import scatter
from presage.kernels.layout import get, get8, get32, get_word, put, put8, put32

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


@njit(cache=True, inline="always")
def _place_of(table, place, length, code):  # type: ignore[no-untyped-def]
    """The entry of a text; if there is none, where its slot would be, as a negative number."""
    slots, mask, known, begins = get(table, SLOTS), get(table, MASK), get(table, BYTES), get(table, BEGINS)
    codes, lengths = get(table, CODES), get(table, LENGTHS)
    at = (code >> 20) & mask
    while True:
        entry = np.int64(get32(slots, at))
        if entry == EMPTY:
            return ~at
        if (
            get(codes, entry) == code
            and get32(lengths, entry) == length
            and _same(known + get(begins, entry), place, length)
        ):
            return entry
        at = (at + 1) & mask


@njit(cache=True)
def find(table, places, data, found):  # type: ignore[no-untyped-def]
    """The numbers of a column's texts, -1 where one has not been seen; gives how many have not, and their length."""
    numbers = get(table, NUMBERS)
    unknown, total = 0, 0
    for index in range(len(found)):
        begin = get32(places, index)
        place, length = data + begin, get32(places, index + 1) - begin
        entry = _place_of(table, place, length, _hash(place, length))
        if entry < 0:
            unknown += 1
            total += length
            found[index] = -1
        else:
            found[index] = get32(numbers, entry)
    return unknown, total


@njit(cache=True)
def enter(table, places, data, found, count, used):  # type: ignore[no-untyped-def]
    """Enters the texts that were not found, and puts -2 less their entry in their place. There must be room for all
    of them. Gives the rows that made the entries."""
    slots, known, begins = get(table, SLOTS), get(table, BYTES), get(table, BEGINS)
    codes, lengths = get(table, CODES), get(table, LENGTHS)
    fresh = np.empty(len(found), np.int64)
    made = 0
    for index in range(len(found)):
        if found[index] >= 0:
            continue
        begin = get32(places, index)
        place, length = data + begin, get32(places, index + 1) - begin
        code = _hash(place, length)
        entry = _place_of(table, place, length, code)
        if entry < 0:
            slot, entry = ~entry, np.int64(count + made)
            for byte in range(length):
                put8(known, used + byte, get8(place, byte))
            put(begins, entry, used)
            put(codes, entry, code)
            put32(lengths, entry, length)
            put32(slots, slot, entry)
            used += length
            fresh[made] = index
            made += 1
        found[index] = -2 - entry
    return fresh[:made]


@njit(cache=True)
def take_numbers(numbers, found):  # type: ignore[no-untyped-def]
    """Replaces entries, as `enter` leaves them, by their numbers."""
    for index in range(len(found)):
        if found[index] < 0:
            found[index] = numbers[-2 - found[index]]


@njit(cache=True)
def spread(slots, codes, count):  # type: ignore[no-untyped-def]
    """Fills empty slots."""
    mask = len(slots) - 1
    for entry in range(count):
        at = (codes[entry] >> 20) & mask
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = entry


@njit(cache=True)
def hashes(places, data, count, seed):  # type: ignore[no-untyped-def]
    """A hash of each text of a column, the same on every machine."""
    found = np.empty(count, np.uint64)
    for row in range(count):
        begin, end = get32(places, row), get32(places, row + 1)
        code = scatter(np.uint64(end - begin) ^ np.uint64(seed))
        for byte in range(begin, end):
            code = (code ^ np.uint64(get8(data, byte))) * np.uint64(1099511628211)
        found[row] = scatter(code)
    return found
