"""Answers by the column as text by the column: what `changes` would show of them, without an object for each.

The rows of a query have few forms: what is said of a row depends on its status and on the bits of its premises, and
in each form only names and times differ. Forms are made when they first occur. A row that several ways lead to, or a
way whose literals sort differently for different names, has no form: its line is made from objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.hypothesis.bulk.shapes import Part, Shape, Way
from presage.hypothesis.bulk.table import STATUS, Ints, Rows
from presage.hypothesis.patterns import Fixed
from presage.kernels import lines
from presage.kernels.numbering import distinct
from presage.model.printer import show_number, show_term
from presage.model.terms import Constant
from presage.model.values import Value

Piece = tuple[int, int, int]
Bytes = npt.NDArray[np.uint8]
MOST_PREMISES = 60
"""Bits and a status fit an integer together."""
FIELDS = ("status", "answer", "bindings", "because", "needs")


@dataclass(slots=True)
class TextColumn:
    """Lists of texts: where those of each row begin, where each text begins, and the bytes."""

    begins: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    data: Bytes


@dataclass(slots=True)
class Lines:
    """The lines of some rows by columns."""

    columns: dict[str, TextColumn]
    times: Ints
    decided_by: Ints
    """Or -1 where nothing is open."""
    names: tuple[str, ...]
    """Of the variables that `bindings` has values of."""


@dataclass(slots=True)
class _Texts:
    """The texts of all forms of one field, as the kernel wants them."""

    firsts: list[int] = field(default_factory=lambda: [0])
    texts: list[tuple[int, int]] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)

    def add(self, form: Iterable[Sequence[Piece]]) -> None:
        for text in form:
            self.texts.append((len(self.pieces), len(self.pieces) + len(text)))
            self.pieces.extend(text)
        self.firsts.append(len(self.texts))

    def arrays(self) -> tuple[Any, Any, Any]:
        return (
            np.array(self.firsts, np.int64),
            np.array(self.texts, np.int64).reshape(-1, 2),
            np.array(self.pieces, np.int64).reshape(-1, 3),
        )


class Names:
    """The names of constants by their numbers, as bytes; each is made when it is first asked for."""

    def __init__(self, values: list[Value | None], numbers: dict[Value, int] | None = None) -> None:
        """`numbers` are those of the values, where they are not those of the engine's symbols."""
        self.values, self.numbers = values, numbers
        self.known = np.zeros(16, bool)
        self.at = {kind: np.zeros((16, 2), np.int64) for kind in (lines.SHOWN, lines.PLAIN)}
        self.arenas = {kind: np.zeros(256, np.uint8) for kind in (lines.SHOWN, lines.PLAIN)}
        self.used = {lines.SHOWN: 0, lines.PLAIN: 0}

    def make(self, numbers: Ints) -> None:
        if len(self.values) > len(self.known):
            size = 2 * len(self.values)
            self.known = _grown(self.known, size)
            self.at = {kind: _grown(at, size) for kind, at in self.at.items()}
        missing = numbers[~self.known[numbers]]
        if not len(missing):
            return
        missing, _ = distinct(missing)
        self.known[missing] = True
        given: list[Any] = [self.values[each] for each in missing.tolist()]
        self._add(lines.SHOWN, missing, [show_term(Constant(value)) for value in given])
        plain = [value if isinstance(value, str) else show_number(value) for value in given]
        self._add(lines.PLAIN, missing, plain)

    def _add(self, kind: int, numbers: Ints, texts: list[str]) -> None:
        coded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = self.used[kind] + np.cumsum([len(each) for each in coded])
        begin, end = self.used[kind], int(ends[-1])
        if end + lines.SPARE > len(self.arenas[kind]):
            self.arenas[kind] = _grown(self.arenas[kind], 2 * end + lines.SPARE)
        self.arenas[kind][begin:end] = np.frombuffer(b"".join(coded), np.uint8)
        self.at[kind][numbers, 0] = [begin, *ends[:-1].tolist()]
        self.at[kind][numbers, 1] = ends
        self.used[kind] = end


class Forms:
    """The forms of one query's rows."""

    def __init__(self, shape: Shape, shown: str, bindings: dict[str, int]) -> None:
        """`shown` is the predicate as users know it; `bindings` are the places of the query's variables."""
        self.shape, self.shown = shape, shown
        self.names = tuple(bindings)
        self.places = tuple(bindings.values())
        self.numbers: dict[tuple[int, int], int] = {}
        """Forms by status and bits; -1 for those that have none."""
        self.constants = bytearray()
        self.fields = {name: _Texts() for name in FIELDS}
        self.needs: list[int] = []
        """For each form the bits of the premises it needs."""
        self.ready: dict[str, tuple[Any, Any, Any]] = {}
        self.ways: list[tuple[Way, int]] = []
        first = 0
        for way in shape.ways:
            self.ways.append((way, first))
            first += len(way.parts)

    def lines(self, rows: Rows, names: Names, symbols: dict[Value, int]) -> tuple[Lines, npt.NDArray[np.bool_]]:
        """The lines of the rows that have a form, and which these are."""
        forms = self._forms(rows)
        formed = forms >= 0
        rows, forms = rows.chosen(formed), forms[formed]
        names.make(rows.keys[:, :-1].ravel())
        constants = np.frombuffer(bytes(self.constants) + bytes(lines.SPARE), np.uint8)
        columns = {
            name: TextColumn(
                *lines.write(
                    rows.keys, forms, *self.ready[name], constants,
                    names.at[lines.SHOWN], names.arenas[lines.SHOWN], names.at[lines.PLAIN], names.arenas[lines.PLAIN],
                )
            )
            for name in FIELDS
        }  # fmt: skip
        decided = self._decided(rows, forms, symbols if names.numbers is None else names.numbers)
        return Lines(columns, rows.keys[:, -1].copy(), decided, self.names), formed

    def _forms(self, rows: Rows) -> Ints:
        """The form of each row."""
        if not len(rows) or sum(len(way.parts) for way, _ in self.ways) > MOST_PREMISES:
            self._ready()
            return np.full(len(rows), -1, np.int64)
        together = rows.bits << 3 | rows.status
        kinds, places = distinct(together)
        found = []
        for kind in kinds.tolist():
            key = (kind & 7, kind >> 3)
            if key not in self.numbers:
                self.numbers[key] = self._make(*key)
                self.ready = {}
            found.append(self.numbers[key])
        self._ready()
        numbers: Ints = np.array(found, np.int64)[places.reshape(-1)]
        return numbers

    def _ready(self) -> None:
        if not self.ready:
            self.ready = {name: texts.arrays() for name, texts in self.fields.items()}

    def _make(self, status: int, bits: int) -> int:
        because: list[Part] = []
        needs: list[Part] = []
        way = None
        for each, first in self.ways:
            met = bits >> first & ((1 << len(each.parts)) - 1)
            if not met:
                continue
            if way is not None:
                return -1
            way = each
            because = [part for index, part in enumerate(each.parts) if met >> index & 1]
            needs = [part for index, part in enumerate(each.parts) if not met >> index & 1]
        sorted_because, sorted_needs = _sorted(because), _sorted(needs)
        if sorted_because is None or sorted_needs is None:
            return -1
        self.fields["status"].add([[self._bytes(STATUS[status])]])
        places = list(range(self.shape.arity))
        self.fields["answer"].add([self._atom(self.shown, places, 0)])
        self.fields["bindings"].add([[(lines.PLAIN, place, 0)] for place in self.places])
        for name, parts in (("because", sorted_because), ("needs", sorted_needs)):
            self.fields[name].add([self._literal(way, part) for part in parts if way is not None])
        open_bits = 0
        for each, first in self.ways:
            if each is way:
                open_bits = sum(1 << first + index for index, part in enumerate(each.parts) if part in needs)
        self.needs.append(open_bits)
        return len(self.needs) - 1

    def _literal(self, way: Way, part: Part) -> list[Piece]:
        slots = {slot: place for place, slot in enumerate(way.pattern.arguments) if not isinstance(slot, Fixed)}
        places = [each if isinstance(each, Fixed) else slots[each] for each in part.premise.arguments]
        return self._atom(part.premise.predicate, places, part.offset)

    def _atom(self, predicate: str, places: Sequence[int | Fixed], offset: int) -> list[Piece]:
        pieces: list[Piece] = []
        text = predicate
        for index, place in enumerate(places):
            text += ", " if index else "("
            if isinstance(place, Fixed):
                text += show_term(Constant(place.value))
            else:
                pieces += [self._bytes(text), (lines.SHOWN, place, 0)]
                text = ""
        text += ")@" if places else "@"
        return [*pieces, self._bytes(text), (lines.TIME, offset, 0)]

    def _bytes(self, text: str) -> Piece:
        begin = len(self.constants)
        self.constants += text.encode("utf-8", "surrogatepass")
        return (lines.BYTES, begin, len(self.constants))

    def _decided(self, rows: Rows, forms: Ints, symbols: dict[Value, int]) -> Ints:
        """When everything that a row still needs is settled."""
        latest = np.full(len(rows), -1, np.int64)
        open_bits = np.array([*self.needs, 0], np.int64)[forms]
        for way, first in self.ways:
            for index, part in enumerate(way.parts):
                needed = open_bits >> (first + index) & 1 == 1
                if needed.any():
                    settled = rows.keys[:, -1] + part.offset + _delays(part, rows, symbols)
                    latest = np.where(needed, np.maximum(latest, settled), latest)
        return latest


def _delays(part: Part, rows: Rows, symbols: dict[Value, int]) -> Any:
    if not part.options[0].where:
        return part.options[0].delay
    found = np.zeros(len(rows), np.int64)
    decided = np.zeros(len(rows), bool)
    for option in part.options:
        fits = ~decided
        for place, value in option.where:
            fits &= rows.keys[:, place] == symbols.get(value, -1)
        found[fits] = option.delay
        decided |= fits
    return found


def _sorted(parts: list[Part]) -> list[Part] | None:
    """By time, then text; `None` if that depends on the names of constants."""
    found = sorted(parts, key=lambda part: (part.offset, _beginning(part)))
    for one, other in pairwise(found):
        first, second = _beginning(one), _beginning(other)
        if one.offset == other.offset and (first.startswith(second) or second.startswith(first)):
            return None
    return found


def _beginning(part: Part) -> str:
    """The text of a premise up to its first variable."""
    text = part.premise.predicate
    for index, argument in enumerate(part.premise.arguments):
        text += ", " if index else "("
        if not isinstance(argument, Fixed):
            return text
        text += show_term(Constant(argument.value))
    return text + (")@" if part.premise.arguments else "@")


def _grown(array: Any, size: int) -> Any:
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
