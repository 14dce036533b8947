"""Lines in JSON of rows that have forms: one pass of a kernel writes them, in the order in which they are told.

A row without a form brings its line along, made by the code that makes all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any

import numpy as np

from presage.hypothesis.bulk.table import STATUS, AnswerRows
from presage.io.moments import Moments
from presage.kernels import lines
from presage.kernels.arrays import Ints
from presage.kernels.numbering import distinct
from presage.model.terms import Value
from presage.run.forms import Forms, FormTexts, LinePart, PieceBytes
from presage.run.names import IN_JSON, OTHERS, QUOTED, ConstantNames, others

WHOLE, MOMENT, IN_UTC = range(OTHERS, OTHERS + 3)
"""Other names: whole lines; times as moments, in the zone in which they are shown and in UTC."""
TIME, NOW, DECIDED, LINE, MORE = range(5)
"""Columns behind the arguments; from the last on, numbers of moments."""


class _Pieces(PieceBytes):
    """Times stand in columns behind the arguments; as moments in a column for each distance from the answer's time."""

    def __init__(self, arguments: int, moments: bool) -> None:
        super().__init__()
        self.arguments, self.moments = arguments, moments
        self.names = MOMENT
        self.columns: dict[tuple[int, int], int] = {}
        """By which column of times, and what is added to it."""

    def time(self, column: int, offset: int) -> LinePart:
        return self.number(TIME, offset)

    def number(self, column: int, offset: int = 0) -> LinePart:
        if not self.moments:
            return (lines.NUMBER, self.arguments + column, offset)
        place = self.columns.setdefault((column, offset), len(self.columns))
        return (self.names, self.arguments + MORE + place, 0)


class JsonForms:
    def __init__(self, forms: dict[str, Forms], moments: Moments | None) -> None:
        """`forms` are those of the queries, by predicate. Where arguments are times, they are shown as moments too, and
        lines are made one by one."""
        self.forms, self.moments = forms if moments is None or not moments.places else {}, moments
        self.arguments = max((each.shape.arity for each in forms.values()), default=0)
        self.write = _Pieces(self.arguments, moments is not None)
        self.texts = FormTexts()
        self.numbers: dict[tuple[str, int, int], tuple[int, int]] = {}
        """By predicate, status and bits: the form and the bits of what is needed; or -1."""
        self.whole = 0
        self.texts.add([[(WHOLE, self.arguments + LINE, 0)]])

    def lines(
        self,
        parts: Sequence[AnswerRows],
        order: Ints,
        names: ConstantNames,
        number_of: Callable[[Value], int],
        made: Callable[[AnswerRows], Sequence[str]],
    ) -> Any:
        """The lines as bytes; `order` is that of the rows of all parts, and `made` gives lines of rows one by one."""
        size = sum(map(len, parts))
        keys = np.zeros((size, self.arguments + MORE), np.int64)
        forms = np.zeros(size, np.int64)
        whole: list[str] = []
        begin = 0
        for rows in parts:
            own, numbers = keys[begin : begin + len(rows)], forms[begin : begin + len(rows)]
            own[:, : rows.shape.arity] = rows.keys[:, :-1]
            own[:, self.arguments + TIME], own[:, self.arguments + NOW] = rows.keys[:, -1], rows.now
            numbers[:], open_bits = self._forms(rows)
            formless = np.flatnonzero(numbers == self.whole)
            if rows.shape.name in self.forms:
                settled = self.forms[rows.shape.name].settled(rows, open_bits, number_of)
                own[:, self.arguments + DECIDED] = settled
            if len(formless):
                own[formless, self.arguments + LINE] = len(whole) + np.arange(len(formless))
                whole += [f"{line}\n" for line in made(rows.at(formless))]
            names.make(rows.keys[:, :-1].ravel())
            begin += len(rows)
        keys, moments = self._with_moments(keys)
        texts = (self.texts.arrays(), self.write.array(), names.at, names.bytes, *others([whole, *moments]))
        found, constants, *named = texts
        _, _, data = lines.write(keys[order], forms[order], *found, constants, *named)
        return data

    def _with_moments(self, keys: Any) -> tuple[Any, list[list[str]]]:
        """The keys with the numbers of moments, and these as texts."""
        if self.moments is None:
            return keys, [[], []]
        columns = [keys[:, self.arguments + column] + offset for column, offset in self.write.columns]
        used, places = np.unique(np.concatenate(columns), return_inverse=True)
        shown = [self.moments.moment(time) for time in used.tolist()]
        in_utc = [self.moments.moment(time, UTC) for time in used.tolist()]
        return np.column_stack([keys, places.reshape(len(columns), -1).T]), [shown, in_utc]

    def _forms(self, rows: AnswerRows) -> tuple[Any, Any]:
        """The form of each row, and the bits of what it needs."""
        forms = self.forms.get(rows.shape.name)
        nothing = np.full(len(rows), self.whole, np.int64)
        if forms is None or not forms.fit or not len(rows):
            return nothing, nothing
        kinds, places = distinct(rows.bits << 3 | rows.status)
        found = np.array([self._form(forms, kind & 7, kind >> 3) for kind in kinds.tolist()], np.int64)
        of_rows = found[places.reshape(-1)]
        return of_rows[:, 0], of_rows[:, 1]

    def _form(self, forms: Forms, status: int, bits: int) -> tuple[int, int]:
        key = (forms.shape.name, status, bits)
        if key not in self.numbers:
            said = forms.said(bits)
            if said is None:
                self.numbers[key] = (self.whole, 0)
            else:
                self.numbers[key] = (len(self.texts.firsts) - 1, said.open_bits)
                self.texts.add([self._line(forms, status, bits)])
        return self.numbers[key]

    def _line(self, forms: Forms, status: int, bits: int) -> list[LinePart]:
        write, said = self.write, forms.said(bits)
        assert said is not None
        quote = '"' if self.moments is not None else ""

        def number(column: int) -> list[LinePart]:
            return [write.bytes(quote), write.number(column), write.bytes(quote)]

        def texts(name: str, parts: Sequence[Any]) -> list[LinePart]:
            found = [write.bytes(f', "{name}": [')]
            for place, part in enumerate(parts):
                opening = write.bytes(', "' if place else '"')
                found += [opening, *forms.literal(write, QUOTED, said.way, part), write.bytes('"')]
            return [*found, write.bytes("]")]

        atom = forms.atom(write, QUOTED, forms.shown, range(forms.shape.arity), 0)
        write.names = IN_UTC
        key = forms.atom(write, QUOTED, forms.shown, range(forms.shape.arity), 0)
        write.names = MOMENT
        bindings: list[LinePart] = []
        for index, (name, place) in enumerate(zip(forms.names, forms.places, strict=True)):
            comma = ", " if index else ""
            bindings += [write.bytes(f"{comma}{json.dumps(name, ensure_ascii=False)}: "), (IN_JSON, place, 0)]
        return [
            write.bytes('{"now": '), *number(NOW), write.bytes(f', "status": "{STATUS[status]}", "answer": "'), *atom,
            write.bytes('", "key": "'), *key, write.bytes('", "bindings": {'), *bindings,
            write.bytes('}, "time": '), *number(TIME), *texts("because", said.because), *texts("needs", said.needs),
            write.bytes(', "unless": [], "decided_by": '), *(number(DECIDED) if said.needs else [write.bytes("null")]),
            write.bytes(', "confidence": null}\n'),
        ]  # fmt: skip
