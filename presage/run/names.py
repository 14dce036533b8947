"""Names by numbers, as bytes: what the kernel that writes lines puts in their places."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring
from typing import Any

import numpy as np

from presage.answers import json_value
from presage.kernels import lines
from presage.kernels.arrays import Bytes, Ints
from presage.kernels.numbering import distinct
from presage.model.printer import show_name, show_number, show_term
from presage.model.terms import Constant, Value

SHOWN, PLAIN, QUOTED, IN_JSON = range(lines.NAMES, lines.NAMES + 4)
"""A constant as programs show it, as plain text, as programs show it within a text in JSON, and as a value in JSON."""
KINDS = 4
OTHERS = lines.NAMES + KINDS
"""The first kind of other names."""
UNPLACED = -1
MOST_DIGITS = 20
"""Of a whole number of 64 bits, with its sign."""
FAR = 1 << 62
"""Whole numbers that are farther from 0 are written by Python."""


def quoted(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return encode_basestring(text)[1:-1]


def in_json(value: Value) -> str:
    """A constant as JSON has it."""
    return encode_basestring(value) if isinstance(value, str) else json.dumps(json_value(value))


class ConstantNames:
    """The names of constants by their numbers; each is made when it is first asked for."""

    def __init__(self, values: list[Value | None], number_of: Callable[[Value], int] | None = None) -> None:
        """`number_of` knows those of the values, where they are not those of the engine's symbols."""
        self.values, self.number_of = values, number_of
        self.known = np.zeros(16, bool)
        self.at = np.zeros((KINDS, 16, 2), np.int64)
        self.bytes = np.zeros(256, np.uint8)
        self.used = 0
        self.order: Ints = np.full(16, UNPLACED)
        """The places that names have among those that were asked for, in the order of their texts."""
        self.placed = 0
        """So many of them have one."""

    def make(self, numbers: Any) -> None:
        """Makes the names of constants, those among some numbers that are constants'."""
        if len(self.values) > len(self.known):
            size = 2 * len(self.values)
            self.known = _grown(self.known, size)
            at = np.zeros((KINDS, size, 2), np.int64)
            at[:, : self.at.shape[1]] = self.at
            self.at = at
        constants = numbers[numbers < lines.LEAST_AS_IS] if numbers.dtype == np.int64 else numbers
        missing = constants[~self.known[constants]]
        if not len(missing):
            return
        missing, _ = distinct(missing)
        self.known[missing] = True
        given: list[Any] = [self.values[each] for each in missing.tolist()]
        bare = np.fromiter((isinstance(each, str) and show_name(each) is each for each in given), bool, len(given))
        if bare.any():
            self._add_bare(missing[bare], [each for each, is_bare in zip(given, bare, strict=True) if is_bare])
        if bare.all():
            return
        missing, given = missing[~bare], [each for each, is_bare in zip(given, bare, strict=True) if not is_bare]
        whole = np.fromiter((type(each) is int and -FAR < each < FAR for each in given), bool, len(given))
        if whole.any():
            self._add_whole(missing[whole], [each for each, is_whole in zip(given, whole, strict=True) if is_whole])
            missing, given = (
                missing[~whole],
                [each for each, is_whole in zip(given, whole, strict=True) if not is_whole],
            )
        if not given:
            return
        shown = [show_term(Constant(value)) for value in given]
        self._add(SHOWN, missing, shown)
        self._add(PLAIN, missing, [value if isinstance(value, str) else show_number(value) for value in given])
        self._add(QUOTED, missing, [quoted(text) for text in shown])
        self._add(IN_JSON, missing, [in_json(value) for value in given])

    def _add_bare(self, numbers: Ints, texts: list[str]) -> None:
        """Names that are written as they are everywhere, within quotes as values in JSON: most are, and their bytes
        are there once."""
        self._add(IN_JSON, numbers, [f'"{text}"' for text in texts])
        for kind in (SHOWN, PLAIN, QUOTED):
            self.at[kind - lines.NAMES, numbers] = self.at[IN_JSON - lines.NAMES, numbers] + (1, -1)

    def _add_whole(self, numbers: Ints, values: list[int]) -> None:
        """Numbers that are written alike everywhere."""
        self._make_room(MOST_DIGITS * len(numbers))
        at = np.empty((len(numbers), 2), np.int64)
        self.used = lines.write_numbers(np.array(values, np.int64), self.bytes, at, self.used)
        self.at[:, numbers] = at

    def _make_room(self, more: int) -> None:
        if self.used + more + lines.SPARE > len(self.bytes):
            self.bytes = _grown(self.bytes, 2 * (self.used + more) + lines.SPARE)

    def _add(self, kind: int, numbers: Ints, texts: list[str]) -> None:
        coded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = self.used + np.cumsum([len(each) for each in coded])
        begin, end = self.used, int(ends[-1])
        self._make_room(end - begin)
        self.bytes[begin:end] = np.frombuffer(b"".join(coded), np.uint8)
        self.at[kind - lines.NAMES, numbers, 0] = [begin, *ends[:-1].tolist()]
        self.at[kind - lines.NAMES, numbers, 1] = ends
        self.used = end

    def have_ranks(self, numbers: Any) -> bool:
        """Whether the order of some is known without putting names in order."""
        return bool(numbers.max(initial=0) < len(self.order) and (self.order[numbers] != UNPLACED).all())

    def ranks(self, numbers: Any) -> Any:
        """Numbers by which names are in the order of their texts, among those that are asked for together. What follows
        a name in a text, a comma or a parenthesis, comes before whatever a longer name goes on with: texts of several
        names go by these too."""
        if self.have_ranks(numbers):
            return self.order[numbers]
        flat = numbers.reshape(-1)
        self.make(flat)
        used, which = distinct(flat)
        constants = used[used < lines.LEAST_AS_IS]
        if len(self.order) < len(self.known):
            self.order = np.concatenate([self.order, np.full(len(self.known) - len(self.order), UNPLACED)])
        new = np.count_nonzero(self.order[constants] == UNPLACED)
        if len(constants) == len(used) and 8 * new >= self.placed:
            # Whoever comes next is mostly somebody who is here already.
            self.order[constants] = 0
            placed = np.flatnonzero(self.order != UNPLACED)
            self.order[placed], self.placed = self._in_order(placed), len(placed)
            return self.order[numbers]
        return self._in_order(used)[which].reshape(numbers.shape)

    def _in_order(self, numbers: Ints) -> Ints:
        """The places of names, each a different one, in the order of their texts."""
        at = self.at[SHOWN - lines.NAMES]
        constants = numbers[numbers < lines.LEAST_AS_IS]
        longest = int((at[constants, 1] - at[constants, 0]).max(initial=0))
        if len(constants) < len(numbers):
            longest = max(longest, MOST_DIGITS)
        words = np.empty((len(numbers), (longest + 7) // 8 + 1), np.uint64)
        lines.as_words(numbers.astype(np.int64), at, self.bytes, words)
        ranks = np.empty(len(numbers), np.int64)
        ranks[np.lexsort(words.T[::-1])] = np.arange(len(numbers))
        return ranks


def others(kinds: Sequence[Sequence[str]]) -> tuple[Ints, Bytes]:
    """Other names, by kind and number, as the kernel wants them."""
    coded = [text.encode("utf-8", "surrogatepass") for texts in kinds for text in texts]
    ends = np.cumsum([0, *(len(each) for each in coded)])
    at = np.zeros((len(kinds), max((len(texts) for texts in kinds), default=0), 2), np.int64)
    place = 0
    for kind, texts in enumerate(kinds):
        at[kind, : len(texts), 0] = ends[place : place + len(texts)]
        at[kind, : len(texts), 1] = ends[place + 1 : place + len(texts) + 1]
        place += len(texts)
    return at, np.frombuffer(b"".join(coded) + bytes(lines.SPARE), np.uint8)


def _grown(array: Any, size: int) -> Any:
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
