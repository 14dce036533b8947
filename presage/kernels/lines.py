"""Many texts of few forms, such as `temp(wt25, high)@3`, written as Arrow keeps texts: without an object for each.

A *form* is a list of texts, a text a list of pieces. Arrays of forms:

* `firsts`: where the texts of each form begin in `texts`, with one more for the end of the last
* `texts`: for each text where its pieces begin in `pieces`, and where they end
* `pieces`: rows (kind, first, second); see the kinds below

A name in a key is the number of a constant, or a whole number itself, `AS_IS` beyond: nothing is looked up for it.

Names are long arrays of bytes with, for each kind of name and each number, where a name begins and ends: those of
constants, and others, such as times in words.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.fields import get, put

# Kinds of pieces: bytes of `constants` between two places; a column of the key, with something added to it, as digits;
# a column of the key as the name of that number, of the kind that is this one less `NAMES`, those of constants first.
BYTES, NUMBER, NAMES = range(3)
AS_IS = 1 << 60
"""A whole number that is no constant stands beyond the numbers of constants: so much more than it is."""
LEAST_AS_IS = 1 << 59
SPARE = 8
"""Bytes after the last one that may be read, and written."""


@inlined
def _digits(number):  # type: ignore[no-untyped-def]
    size = 1
    if number < 0:
        size, number = 2, -number
    while number >= 10:
        number //= 10
        size += 1
    return size


@inlined
def _copy(source, begin, end, target, place):  # type: ignore[no-untyped-def]
    """Copies bytes, eight at a time: some beyond the end are read and written too."""
    at, to = source.ctypes.data + begin, target.ctypes.data + place
    for step in range((end - begin + 7) >> 3):
        put(to, step, get(at, step))
    return place + end - begin


@kernel
def write(keys, forms, firsts, texts, pieces, constants, at, names, others_at, others):  # type: ignore[no-untyped-def]
    """The texts of all rows. Gives where those of each row begin, where each text begins, and the bytes. The bytes of
    constants and names have `SPARE` more at their end."""
    rows, kinds = len(keys), len(at)
    begins = np.empty(rows + 1, np.int32)
    begins[0] = 0
    for row in range(rows):
        form = forms[row]
        begins[row + 1] = begins[row] + firsts[form + 1] - firsts[form]
    offsets = np.empty(begins[rows] + 1, np.int32)
    offsets[0] = 0
    made, used = 0, np.int64(0)
    for row in range(rows):
        form = forms[row]
        for text in range(firsts[form], firsts[form + 1]):
            for piece in range(texts[text, 0], texts[text, 1]):
                kind, first = pieces[piece, 0], pieces[piece, 1]
                if kind == BYTES:
                    used += pieces[piece, 2] - first
                elif kind == NUMBER:
                    used += _digits(keys[row, first] + pieces[piece, 2])
                elif kind - NAMES < kinds and keys[row, first] >= LEAST_AS_IS:
                    used += _digits(keys[row, first] - AS_IS)
                elif kind - NAMES < kinds:
                    used += at[kind - NAMES, keys[row, first], 1] - at[kind - NAMES, keys[row, first], 0]
                else:
                    kind -= NAMES + kinds
                    used += others_at[kind, keys[row, first], 1] - others_at[kind, keys[row, first], 0]
            made += 1
            offsets[made] = used
    data = np.empty(used + SPARE, np.uint8)
    place = 0
    for row in range(rows):
        form = forms[row]
        for text in range(firsts[form], firsts[form + 1]):
            for piece in range(texts[text, 0], texts[text, 1]):
                kind, first = pieces[piece, 0], pieces[piece, 1]
                if kind == BYTES:
                    place = _copy(constants, first, pieces[piece, 2], data, place)
                elif kind == NUMBER:
                    place = _write_number(keys[row, first] + pieces[piece, 2], data, place)
                elif kind - NAMES < kinds and keys[row, first] >= LEAST_AS_IS:
                    place = _write_number(keys[row, first] - AS_IS, data, place)
                elif kind - NAMES < kinds:
                    number = keys[row, first]
                    place = _copy(names, at[kind - NAMES, number, 0], at[kind - NAMES, number, 1], data, place)
                else:
                    kind -= NAMES + kinds
                    number = keys[row, first]
                    place = _copy(others, others_at[kind, number, 0], others_at[kind, number, 1], data, place)
    return begins, offsets, data[:used]


@inlined
def _write_number(number, data, place):  # type: ignore[no-untyped-def]
    end = place + _digits(number)
    if number < 0:
        data[place] = 45
        number = -number
    back = end
    while True:
        back -= 1
        data[back] = 48 + number % 10
        number //= 10
        if number == 0:
            return end


@kernel
def write_numbers(numbers, data, at, begin):  # type: ignore[no-untyped-def]
    """Writes whole numbers as digits from a place on, and where each begins and ends; gives the end of the last."""
    place = begin
    for row in range(len(numbers)):
        at[row, 0] = place
        place = _write_number(numbers[row], data, place)
        at[row, 1] = place
    return place


@kernel
def as_words(numbers, at, names, words):  # type: ignore[no-untyped-def]
    """The names of numbers, as they lie at `at` or as whole numbers themselves, as words that are in the order of the
    texts: eight bytes each, the first of which counts most. The last word of a row is how long its text is."""
    digits = np.empty(32, np.uint8)
    last = words.shape[1] - 1
    for row in range(len(numbers)):
        number = numbers[row]
        if number >= LEAST_AS_IS:
            begin, end = 0, _write_number(number - AS_IS, digits, 0)
        else:
            begin, end = at[number, 0], at[number, 1]
        words[row, last] = end - begin
        for step in range(last):
            word = np.uint64(0)
            for byte in range(8):
                place = begin + 8 * step + byte
                word <<= np.uint64(8)
                if place < end:
                    word |= np.uint64(digits[place] if number >= LEAST_AS_IS else names[place])
            words[row, step] = word
