"""Many texts of few forms, such as `temp(wt25, high)@3`, written as Arrow keeps texts: without an object for each.

A *form* is a list of texts, a text a list of pieces. Arrays of forms:

* `firsts`: where the texts of each form begin in `texts`, with one more for the end of the last
* `texts`: for each text where its pieces begin in `pieces`, and where they end
* `pieces`: rows (kind, first, second); see the kinds below

Names are one long array of bytes and, by the number of a constant, where its name begins and ends.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.layout import get, put

# Kinds of pieces: bytes of `constants` between two places; a column of the key by its name as programs show it, or as
# plain text; the key's time moved by an offset.
BYTES, SHOWN, PLAIN, TIME = range(4)
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
def write(  # type: ignore[no-untyped-def]
    keys, forms, firsts, texts, pieces, constants, shown_at, shown, plain_at, plain
):
    """The texts of all rows. Gives where those of each row begin, where each text begins, and the bytes. The bytes of
    constants and names have `SPARE` more at their end."""
    rows, width = keys.shape
    begins = np.empty(rows + 1, np.int32)
    begins[0] = 0
    for row in range(rows):
        form = forms[row]
        begins[row + 1] = begins[row] + firsts[form + 1] - firsts[form]
    offsets = np.empty(begins[rows] + 1, np.int32)
    offsets[0] = 0
    at, used = 0, np.int64(0)
    for row in range(rows):
        form = forms[row]
        for text in range(firsts[form], firsts[form + 1]):
            for piece in range(texts[text, 0], texts[text, 1]):
                kind, first = pieces[piece, 0], pieces[piece, 1]
                if kind == BYTES:
                    used += pieces[piece, 2] - first
                elif kind == SHOWN:
                    number = keys[row, first]
                    used += shown_at[number, 1] - shown_at[number, 0]
                elif kind == PLAIN:
                    number = keys[row, first]
                    used += plain_at[number, 1] - plain_at[number, 0]
                else:
                    used += _digits(keys[row, width - 1] + first)
            at += 1
            offsets[at] = used
    data = np.empty(used + SPARE, np.uint8)
    place = 0
    for row in range(rows):
        form = forms[row]
        for text in range(firsts[form], firsts[form + 1]):
            for piece in range(texts[text, 0], texts[text, 1]):
                kind, first = pieces[piece, 0], pieces[piece, 1]
                if kind == BYTES:
                    place = _copy(constants, first, pieces[piece, 2], data, place)
                elif kind == SHOWN:
                    number = keys[row, first]
                    place = _copy(shown, shown_at[number, 0], shown_at[number, 1], data, place)
                elif kind == PLAIN:
                    number = keys[row, first]
                    place = _copy(plain, plain_at[number, 0], plain_at[number, 1], data, place)
                else:
                    time = keys[row, width - 1] + first
                    size = _digits(time)
                    if time < 0:
                        data[place] = 45
                        time = -time
                    end = place + size
                    back = end
                    while True:
                        back -= 1
                        data[back] = 48 + time % 10
                        time //= 10
                        if time == 0:
                            break
                    place = end
    return begins, offsets, data[:used]
