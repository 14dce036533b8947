"""Texts of whole columns as numbers, without making an object of each.

Texts that have been seen lie one after the other in `bytes`; `entries` says of each what it hashes to, where it begins,
how long it is, and what its number is. `slots` is an open-addressing hash of them. All these are given by their
addresses. A column has its texts one after the other too, and where each begins.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.fields import get, get8, get32, get_half, get_word, put, put8, put32
from presage.kernels.hashing import scatter

EMPTY = -1
SLOTS, MASK, BYTES, ENTRIES, FIELDS = range(5)
# An entry: two places for 64 bits, and two for 32.
CODE, BEGIN, LENGTH, NUMBER = 0, 1, 4, 5
ENTRY_BYTES = 24


@inlined
def _rest(place, length):  # type: ignore[no-untyped-def]
    """All bytes of a text of less than eight, in one number. Nothing beyond it is read; bytes in the middle may come
    twice."""
    if length >= 4:
        first, last = np.uint64(get_half(place, 0)), np.uint64(get_half(place + length - 4, 0))
        return (first << np.uint64(32)) ^ (last & np.uint64(0xFFFFFFFF))
    found = np.uint64(0)
    for byte in range(length):
        found = (found << np.uint64(8)) | np.uint64(get8(place, byte))
    return found


@inlined
def _hash(place, length):  # type: ignore[no-untyped-def]
    code = np.uint64(length) * np.uint64(0x9E3779B97F4A7C15)
    words = length >> 3
    for word in range(words):
        code = (code ^ np.uint64(get_word(place, word))) * np.uint64(0xFF51AFD7ED558CCD)
        code ^= code >> np.uint64(32)
    code = (code ^ _rest(place + (words << 3), length & 7)) * np.uint64(0xFF51AFD7ED558CCD)
    code ^= code >> np.uint64(29)
    code *= np.uint64(0xC4CEB9FE1A85EC53)
    return np.int64(code >> np.uint64(1))


@inlined
def _same(place, other, length):  # type: ignore[no-untyped-def]
    words = length >> 3
    for word in range(words):
        if get_word(place, word) != get_word(other, word):
            return False
    done = words << 3
    return _rest(place + done, length & 7) == _rest(other + done, length & 7)


@inlined
def _place_of(table, place, length, code):  # type: ignore[no-untyped-def]
    """The entry of a text; if there is none, where its slot would be, as a negative number."""
    slots, mask, known, entries = get(table, SLOTS), get(table, MASK), get(table, BYTES), get(table, ENTRIES)
    at = (code >> 20) & mask
    while True:
        number = np.int64(get32(slots, at))
        if number == EMPTY:
            return ~at
        entry = entries + number * ENTRY_BYTES
        if (
            get(entry, CODE) == code
            and get32(entry, LENGTH) == length
            and _same(known + get(entry, BEGIN), place, length)
        ):
            return number
        at = (at + 1) & mask


@kernel
def find(table, places, data, found):  # type: ignore[no-untyped-def]
    """The numbers of a column's texts, -1 where one has not been seen; gives how many have not, and their length."""
    entries = get(table, ENTRIES)
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
            found[index] = get32(entries + entry * ENTRY_BYTES, NUMBER)
    return unknown, total


@kernel
def enter(table, places, data, found, count, used):  # type: ignore[no-untyped-def]
    """Enters the texts that were not found, and puts -2 less their entry in their place. There must be room for all
    of them. Gives the rows that made the entries."""
    slots, known, entries = get(table, SLOTS), get(table, BYTES), get(table, ENTRIES)
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
            put(entries + entry * ENTRY_BYTES, CODE, code)
            put(entries + entry * ENTRY_BYTES, BEGIN, used)
            put32(entries + entry * ENTRY_BYTES, LENGTH, length)
            put32(slots, slot, entry)
            used += length
            fresh[made] = index
            made += 1
        found[index] = -2 - entry
    return fresh[:made]


@kernel
def take_numbers(table, found):  # type: ignore[no-untyped-def]
    """Replaces entries, as `enter` leaves them, by their numbers."""
    entries = get(table, ENTRIES)
    for index in range(len(found)):
        if found[index] < 0:
            found[index] = get32(entries + (-2 - found[index]) * ENTRY_BYTES, NUMBER)


@kernel
def spread(slots, codes):  # type: ignore[no-untyped-def]
    """Fills empty slots."""
    mask = len(slots) - 1
    for entry in range(len(codes)):
        at = (codes[entry] >> 20) & mask
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = entry


@kernel
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
