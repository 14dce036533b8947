"""Lines of JSON that are facts as most are, cut into tokens: nothing is made of them here.

A line is *plain* if it is an object with `pred`, a text, `args`, a list of texts and numbers, `time`, and perhaps
`arrives`, each once and nothing else. Its tokens go to one long array of bytes, in this order: the predicate, the time,
the arrival or nothing, the arguments. A token is what is written, quotes included, so that equal tokens say the same;
whether it says anything is for others to see.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined, kernel
from presage.kernels.fields import get8, put8

PLAIN, OTHER, BLANK = range(3)
AHEAD = 3
"""Tokens of a line before its arguments."""
NEW_LINE, RETURN, TAB, SPACE, QUOTE, COMMA, COLON, BACKSLASH = 10, 13, 9, 32, 34, 44, 58, 92
OPEN_LIST, CLOSE_LIST, OPEN, CLOSE = 91, 93, 123, 125
PRED, ARGS, TIME, ARRIVES = 1, 2, 4, 8
_PRED, _ARGS, _TIME, _ARRIVES = (int.from_bytes(word, "big") for word in (b"pred", b"args", b"time", b"arrives"))


@inlined
def _past_space(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and (get8(data, at) == SPACE or get8(data, at) == TAB or get8(data, at) == RETURN):
        at += 1
    return at


@kernel
def _past_token(data, at, end):  # type: ignore[no-untyped-def]
    """Where a text, a number or a word ends, or -1 if there is none."""
    if at >= end:
        return np.int64(-1)
    if get8(data, at) == QUOTE:
        at += 1
        while at < end:
            sign = get8(data, at)
            if sign == QUOTE:
                return at + 1
            if sign < SPACE:
                return np.int64(-1)
            at += 2 if sign == BACKSLASH else 1
        return np.int64(-1)
    begin = at
    while at < end:
        sign = get8(data, at)
        # Signs of numbers and letters: + - . 0-9 A-Z a-z
        if sign == 43 or sign == 45 or sign == 46 or 48 <= sign <= 57 or 65 <= sign <= 90 or 97 <= sign <= 122:
            at += 1
        else:
            break
    return at if at > begin else np.int64(-1)


@inlined
def _word(data, at, size):  # type: ignore[no-untyped-def]
    """Some bytes as one number."""
    word = 0
    for place in range(size):
        word = word << 8 | get8(data, at + place)
    return word


@kernel
def _key(data, begin, end):  # type: ignore[no-untyped-def]
    """Which of the four keys stands between two quotes, or 0."""
    if get8(data, begin) != QUOTE:
        return 0
    size = end - begin - 2
    if size == 4:
        word = _word(data, begin + 1, 4)
        return PRED if word == _PRED else ARGS if word == _ARGS else TIME if word == _TIME else 0
    return ARRIVES if size == 7 and _word(data, begin + 1, 7) == _ARRIVES else 0


@kernel
def _plain(data, at, end, spans):  # type: ignore[no-untyped-def]
    """Where the tokens of a line lie, into `spans`; gives how many arguments there are, or -1 if it is not plain."""
    spans[2, 0], spans[2, 1] = 0, 0
    at = _past_space(data, at, end)
    if at >= end or get8(data, at) != OPEN:
        return -1
    at = _past_space(data, at + 1, end)
    found, arguments = 0, 0
    while True:
        after = _past_token(data, at, end)
        if after < 0:
            return -1
        key = _key(data, at, after)
        if key == 0 or found & key:
            return -1
        found |= key
        at = _past_space(data, after, end)
        if at >= end or get8(data, at) != COLON:
            return -1
        at = _past_space(data, at + 1, end)
        if key == ARGS:
            if at >= end or get8(data, at) != OPEN_LIST:
                return -1
            at = _past_space(data, at + 1, end)
            if at < end and get8(data, at) == CLOSE_LIST:
                at += 1
            else:
                while True:
                    after = _past_token(data, at, end)
                    if after < 0 or AHEAD + arguments == len(spans):
                        return -1
                    spans[AHEAD + arguments, 0], spans[AHEAD + arguments, 1] = at, after
                    arguments += 1
                    at = _past_space(data, after, end)
                    if at >= end:
                        return -1
                    sign = get8(data, at)
                    at = _past_space(data, at + 1, end)
                    if sign == CLOSE_LIST:
                        break
                    if sign != COMMA:
                        return -1
        else:
            after = _past_token(data, at, end)
            if after < 0 or (key == PRED and get8(data, at) != QUOTE):
                return -1
            place = 0 if key == PRED else 1 if key == TIME else 2
            spans[place, 0], spans[place, 1] = at, after
            at = after
        at = _past_space(data, at, end)
        if at >= end:
            return -1
        sign = get8(data, at)
        at = _past_space(data, at + 1, end)
        if sign == CLOSE:
            break
        if sign != COMMA:
            return -1
    return arguments if at >= end and found & (PRED | ARGS | TIME) == PRED | ARGS | TIME else -1


@kernel
def tokens(data, size, lines, most):  # type: ignore[no-untyped-def]
    """Cuts `lines` lines of so many bytes. Gives for each line what it is, where it begins, its first token and how
    many arguments it has; and the tokens: where each begins in the bytes, and the bytes. No line of more than `most`
    arguments is plain."""
    kinds = np.empty(lines, np.int8)
    places = np.empty(lines + 1, np.int64)
    firsts = np.empty(lines, np.int64)
    counts = np.empty(lines, np.int32)
    spans = np.empty((AHEAD + most, 2), np.int64)
    offsets = np.empty(lines * (AHEAD + most) + 1, np.int32)
    offsets[0] = 0
    # The bytes of tokens are some of the bytes of lines.
    copied = np.empty(size, np.uint8)
    copies = copied.ctypes.data
    used, made, at = 0, 0, 0
    for line in range(lines):
        end = at
        while end < size and get8(data, end) != NEW_LINE:
            end += 1
        places[line], firsts[line] = at, made
        first = _past_space(data, at, end)
        if first == end:
            kinds[line], counts[line] = BLANK, 0
        else:
            counts[line] = _plain(data, first, end, spans)
            kinds[line] = OTHER if counts[line] < 0 else PLAIN
        if kinds[line] == PLAIN:
            for token in range(AHEAD + counts[line]):
                for byte in range(spans[token, 0], spans[token, 1]):
                    put8(copies, used, get8(data, byte))
                    used += 1
                made += 1
                offsets[made] = used
        at = end + 1
    places[lines] = at
    return kinds, places, firsts, counts, offsets[: made + 1], copied[:used]
