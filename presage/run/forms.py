"""Hypothetical answers by the column as text by the column: what answers would show, without an object for each.

The rows of a query have few forms: what is said of a row depends on its status and on the bits of its premises, and
in each form only names and times differ. Forms are made when they first occur. A row that several ways lead to, or a
way whose literals sort differently for different names, has no form: its line is made from objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.hypothesis.bulk.fitting import PatternShape, PremisePart, QueryShape
from presage.hypothesis.bulk.table import STATUS, AnswerRows
from presage.kernels import lines
from presage.kernels.arrays import Bytes, Ints
from presage.kernels.numbering import distinct
from presage.model.printer import show_term
from presage.model.terms import Constant, Value
from presage.patterns.premises import Fixed
from presage.run.names import PLAIN, SHOWN, ConstantNames, others, quoted

LinePart = tuple[int, int, int]
MOST_PREMISES = 60
FIELDS = ("status", "answer", "bindings", "because", "needs")


@dataclass(slots=True)
class ListedTexts:
    """Lists of texts: where those of each row begin, where each text begins, and the bytes."""

    begins: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    data: Bytes


@dataclass(slots=True)
class ColumnLines:
    """The lines of some rows by columns."""

    columns: dict[str, ListedTexts]
    times: Ints
    decided_by: Ints
    """Or -1 where nothing is open."""
    names: tuple[str, ...]
    """Of the variables that `bindings` has values of."""


@dataclass(slots=True)
class FormTexts:
    """The texts of all forms of one field, as the kernel wants them."""

    firsts: list[int] = field(default_factory=lambda: [0])
    texts: list[tuple[int, int]] = field(default_factory=list)
    pieces: list[LinePart] = field(default_factory=list)

    def add(self, form: Iterable[Sequence[LinePart]]) -> None:
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


class PieceBytes:
    """The bytes that pieces are made of, and how times are written."""

    def __init__(self) -> None:
        self.written = bytearray()
        self._array: Bytes | None = None

    def bytes(self, text: str) -> LinePart:
        begin = len(self.written)
        self.written += text.encode("utf-8", "surrogatepass")
        self._array = None
        return (lines.BYTES, begin, len(self.written))

    def time(self, column: int, offset: int) -> LinePart:
        return (lines.NUMBER, column, offset)

    def array(self) -> Bytes:
        if self._array is None:
            self._array = np.frombuffer(bytes(self.written) + bytes(lines.SPARE), np.uint8)
        return self._array


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of rows with the same bits."""

    way: PatternShape | None
    because: list[PremisePart]
    needs: list[PremisePart]
    open_bits: int
    """The bits of the premises it needs."""


class Forms:
    """The forms of one query's rows."""

    def __init__(self, shape: QueryShape, shown: str, bindings: dict[str, int]) -> None:
        """`shown` is the predicate as users know it; `bindings` are the places of the query's variables."""
        self.shape, self.shown = shape, shown
        self.names = tuple(bindings)
        self.places = tuple(bindings.values())
        self.numbers: dict[tuple[int, int], int] = {}
        """Forms by status and bits; -1 for those that have none."""
        self.constants = PieceBytes()
        self.fields = {name: FormTexts() for name in FIELDS}
        self.needs: list[int] = []
        """For each form the bits of the premises it needs."""
        self.ready: dict[str, tuple[Any, Any, Any]] = {}
        self.ways: list[tuple[PatternShape, int]] = []
        first = 0
        for way in shape.ways:
            self.ways.append((way, first))
            first += len(way.parts)
        self.fit = first <= MOST_PREMISES
        """Whether bits and status fit an integer together."""

    def lines(
        self, rows: AnswerRows, names: ConstantNames, number_of: Callable[[Value], int]
    ) -> tuple[ColumnLines, npt.NDArray[np.bool_]]:
        """The lines of the rows that have a form, and which these are."""
        forms = self._forms(rows)
        formed = forms >= 0
        rows, forms = rows.chosen(formed), forms[formed]
        names.make(rows.keys[:, :-1].ravel())
        constants, nothing = self.constants.array(), others([])
        columns = {
            name: ListedTexts(
                *lines.write(rows.keys, forms, *self.ready[name], constants, names.at, names.bytes, *nothing)
            )
            for name in FIELDS
        }
        decided = self.decided(rows, forms, number_of if names.number_of is None else names.number_of)
        return ColumnLines(columns, rows.keys[:, -1].copy(), decided, self.names), formed

    def _forms(self, rows: AnswerRows) -> Ints:
        """The form of each row."""
        if not len(rows) or not self.fit:
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
        said = self.said(bits)
        if said is None:
            return -1
        write = self.constants
        self.fields["status"].add([[write.bytes(STATUS[status])]])
        self.fields["answer"].add([self.atom(write, SHOWN, self.shown, range(self.shape.arity), 0)])
        self.fields["bindings"].add([[(PLAIN, place, 0)] for place in self.places])
        self.fields["because"].add([self.literal(write, SHOWN, said.way, part) for part in said.because])
        self.fields["needs"].add([self.literal(write, SHOWN, said.way, part) for part in said.needs])
        self.needs.append(said.open_bits)
        return len(self.needs) - 1

    def said(self, bits: int) -> _Said | None:
        """What is said of rows with these bits; nothing if they have no form."""
        found: _Said | None = None
        for way, first in self.ways:
            met = bits >> first & ((1 << len(way.parts)) - 1)
            if not met:
                continue
            if found is not None:
                return None
            because = [part for index, part in enumerate(way.parts) if met >> index & 1]
            needs = [part for index, part in enumerate(way.parts) if not met >> index & 1]
            open_bits = sum(1 << first + index for index, part in enumerate(way.parts) if part in needs)
            found = _Said(way, because, needs, open_bits)
        if found is None:
            return _Said(None, [], [], 0)
        because_sorted, needs_sorted = _sorted(found.because), _sorted(found.needs)
        if because_sorted is None or needs_sorted is None:
            return None
        return _Said(found.way, because_sorted, needs_sorted, found.open_bits)

    def literal(self, write: PieceBytes, names: int, way: PatternShape | None, part: PremisePart) -> list[LinePart]:
        """The pieces of a premise; `names` is the kind of names."""
        assert way is not None
        slots = {slot: place for place, slot in enumerate(way.pattern.arguments) if not isinstance(slot, Fixed)}
        places = [each if isinstance(each, Fixed) else slots[each] for each in part.premise.arguments]
        return self.atom(write, names, part.premise.predicate, places, part.offset)

    def atom(
        self, write: PieceBytes, names: int, predicate: str, places: Sequence[int | Fixed], offset: int
    ) -> list[LinePart]:
        pieces: list[LinePart] = []
        text = predicate
        for index, place in enumerate(places):
            text += ", " if index else "("
            if isinstance(place, Fixed):
                constant = show_term(Constant(place.value))
                text += constant if names == SHOWN else quoted(constant)
            else:
                pieces += [write.bytes(text), (names, place, 0)]
                text = ""
        text += ")@" if places else "@"
        return [*pieces, write.bytes(text), write.time(self.shape.arity, offset)]

    def decided(self, rows: AnswerRows, forms: Ints, number_of: Callable[[Value], int]) -> Ints:
        """When everything that a row still needs is settled."""
        return self.settled(rows, np.array([*self.needs, 0], np.int64)[forms], number_of)

    def settled(self, rows: AnswerRows, open_bits: Ints, number_of: Callable[[Value], int]) -> Ints:
        """When all premises with these bits are settled, or -1 where there are none."""
        latest = np.full(len(rows), -1, np.int64)
        for way, first in self.ways:
            for index, part in enumerate(way.parts):
                needed = open_bits >> (first + index) & 1 == 1
                if needed.any():
                    settled = rows.keys[:, -1] + part.offset + _delays(part, rows, number_of)
                    latest = np.where(needed, np.maximum(latest, settled), latest)
        return latest


def _delays(part: PremisePart, rows: AnswerRows, number_of: Callable[[Value], int]) -> Any:
    if not part.options[0].where:
        return part.options[0].delay
    found = np.zeros(len(rows), np.int64)
    decided = np.zeros(len(rows), bool)
    for option in part.options:
        fits = ~decided
        for place, value in option.where:
            fits &= rows.keys[:, place] == number_of(value)
        found[fits] = option.delay
        decided |= fits
    return found


def _sorted(parts: list[PremisePart]) -> list[PremisePart] | None:
    """By time, then text; `None` if that depends on the names of constants."""
    found = sorted(parts, key=lambda part: (part.offset, _beginning(part)))
    for one, other in pairwise(found):
        first, second = _beginning(one), _beginning(other)
        if one.offset == other.offset and (first.startswith(second) or second.startswith(first)):
            return None
    return found


def _beginning(part: PremisePart) -> str:
    """The text of a premise up to its first variable."""
    text = part.premise.predicate
    for index, argument in enumerate(part.premise.arguments):
        text += ", " if index else "("
        if not isinstance(argument, Fixed):
            return text
        text += show_term(Constant(argument.value))
    return text + (")@" if part.premise.arguments else "@")
