"""Confirmed answers by the column: counted at once, made objects, lines or tables when someone asks.

What differs from row to row is a tuple of constants, a time and a step. Times and steps are few and come again and
again: what is said of each is made once, by the code that makes it for a single answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from presage.answers import Answer, Answers, binding_places, json_value, null_name, shown_name
from presage.answers.schema import answers_table
from presage.io.lines import texts_column
from presage.io.moments import Moments
from presage.io.tables import pyarrow
from presage.kernels import lines
from presage.kernels.arrays import Ints, Ints32
from presage.model.statements import Query
from presage.model.terms import Number, Value, Variable
from presage.run.forms import FormTexts, LinePart, PieceBytes
from presage.run.names import IN_JSON, OTHERS, PLAIN, QUOTED, SHOWN, ConstantNames, others
from presage.run.row_order import in_order, order_without_ties
from presage.time.cells import Grid

WHEN, KEY, FIELDS, STEP, STATUS = range(OTHERS, OTHERS + 5)
"""Other names: the time as it stands in the answer and in its key, the fields that say it, the step, and the status."""
_BEFORE = ("now", "status", "answer", "key", "bindings")
"""The fields of a line before those that hang on the time alone."""
_COLUMNS = ("rows", "low", "high", "step")
"""What `Entailed` has of each row."""


@dataclass(frozen=True, slots=True)
class Entailed:
    """What is new for a query: tuples, cells of their intervals, and the places of their steps. In a tuple whole
    numbers may stand that are no constants (`kernels.lines.AS_IS`)."""

    query: Query
    rows: Ints32
    low: Ints
    high: Ints
    step: Ints32

    def __len__(self) -> int:
        return len(self.low)

    def at(self, wanted: Any) -> Entailed:
        return Entailed(self.query, self.rows[wanted], self.low[wanted], self.high[wanted], self.step[wanted])


class ConfirmedRows:
    """The confirmed answers of some steps. Constants may get other numbers later, in another list of values."""

    def __init__(
        self, parts: Sequence[Entailed], steps: list[Number], names: Callable[[], ConstantNames], grid: Grid
    ) -> None:
        """`names` are those of the constants."""
        self.parts, self.steps, self.names, self.grid = parts, steps, names, grid

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def answers(self) -> list[Answer]:
        found = []
        values, steps = self._names.values, self.steps
        for part in self.parts:
            name, places = shown_name(part.query.atom.predicate), binding_places(part.query)
            columns = (part.rows.tolist(), part.low.tolist(), part.high.tolist(), part.step.tolist())
            for row, low, high, step in zip(*columns, strict=True):
                arguments = tuple([_argument(each, values) for each in row])
                bindings = {title: _plain(arguments[place]) for title, place in places}
                found.append((step, self._made(name, arguments, bindings, low, high, steps[step])))
        found.sort(key=lambda each: (each[0], *self._order_of(each[1])))
        return [answer for _, answer in found]

    def _made(self, name: str, arguments: Any, bindings: dict[str, Value], low: int, high: int, now: Number) -> Answer:
        return confirmed_answer(name, arguments, bindings, self.grid, low, high, now)

    def _order_of(self, answer: Answer) -> tuple[str, ...]:
        """In which order the answers of a step come."""
        return (answer.answer,)

    def of_last_step(self) -> Answers:
        """Those of the last step alone."""
        last = len(self.steps) - 1
        parts = [part.at(part.step == last) for part in self.parts]
        found = type(self)([part for part in parts if len(part)], self.steps, self.names, self.grid)
        return Answers(len(found), found.answers, found if len(found) else None)

    def goes_with(self, other: ConfirmedRows) -> bool:
        """Whether their constants have the same numbers, so that they can be told together."""
        return type(self) is type(other) is ConfirmedRows and self.grid == other.grid and self.names is other.names

    @staticmethod
    def together(some: Sequence[ConfirmedRows]) -> ConfirmedRows:
        """The answers of several, one after the other, each of which goes with the first."""
        steps: list[Number] = []
        by_query: dict[Query, list[Entailed]] = {}
        for each in some:
            for part in each.parts:
                moved = replace(part, step=part.step + np.int32(len(steps)))
                by_query.setdefault(part.query, []).append(moved)
            steps += each.steps
        parts = []
        for query, own in by_query.items():
            columns = (np.concatenate([getattr(part, name) for part in own]) for name in _COLUMNS)
            parts.append(Entailed(query, *columns))
        return ConfirmedRows(parts, steps, some[0].names, some[0].grid)

    # -- by columns -------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> ConstantNames:
        return self.names()

    @cached_property
    def _times(self) -> tuple[list[Answer], Any]:
        """What is said of each distinct time, and which it is for each row."""
        low, high = (np.concatenate([getattr(part, name) for part in self.parts]) for name in ("low", "high"))
        begins, places = np.unique(low, return_inverse=True)
        used = list(zip(begins.tolist(), begins.tolist(), strict=True))
        if not np.array_equal(low, high):
            ends, others = np.unique(high, return_inverse=True)
            pairs, places = np.unique(places * len(ends) + others, return_inverse=True)
            used = [(begins[pair // len(ends)].item(), ends[pair % len(ends)].item()) for pair in pairs.tolist()]
        return [self._made("p", (), {}, *span, 0) for span in used], places

    @cached_property
    def _keys(self) -> Any:
        """The rows of all parts: arguments, time, step."""
        width = max(part.rows.shape[1] for part in self.parts)
        keys = np.zeros((len(self), width + 2), np.int64)
        begin = 0
        for part in self.parts:
            own = keys[begin : begin + len(part)]
            own[:, : part.rows.shape[1]], own[:, width + 1] = part.rows, part.step
            begin += len(part)
        keys[:, width] = self._times[1]
        return keys

    @cached_property
    def _order(self) -> Any:
        """By step, then text."""
        keys, width = self._keys, self._keys.shape[1] - 2
        begins = [f"{shown_name(part.query.atom.predicate)}{'(' if part.rows.shape[1] else '@'}" for part in self.parts]
        ranks = {text: place for place, text in enumerate(sorted(set(begins)))}
        predicate = np.repeat([ranks[text] for text in begins], [len(part) for part in self.parts])
        texts = [self._order_of(answer) for answer in self._times[0]]
        times = np.empty(len(texts), np.int64)
        times[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        columns = [keys[:, width + 1], predicate]
        for place in range(width):
            own = [part.rows[:, place] for part in self.parts if place < part.rows.shape[1]]
            numbers = np.concatenate(own)
            if place and not self._names.have_ranks(numbers):
                order = order_without_ties(columns)
                if order is not None:
                    return order  # the order of new names, of which there may be many, is not asked for
            # Of all at once: numbers that are asked for together are in the order of their names, others are not.
            ranked = np.zeros(len(self), np.int64)
            has = np.repeat([place < part.rows.shape[1] for part in self.parts], [len(part) for part in self.parts])
            ranked[has] = self._names.ranks(numbers)
            columns.append(ranked)
        return in_order([*columns, times[keys[:, width]]])

    def tables(self) -> list[Any]:
        return [self.table()]

    def table(self, in_order: bool = True) -> Any:
        """Their lines, in order where that is asked for: to put them in order costs as much as to write them."""
        whole = self.grid.discrete
        pa = pyarrow()
        like = self._times[0]
        keys, forms = self._keys, self._forms_of()
        if in_order:
            keys, forms = keys[self._order], forms[self._order]
        width = keys.shape[1] - 2
        # What is the same for all, and what hangs on the time alone.
        base = _same_for_all(answers_table(like[:1], whole), len(keys))
        said = pa.array(keys[:, width])
        self._names.make(self._keys[:, :width].ravel())
        named = (self._names.at, self._names.bytes, *self._others(None))
        write = PieceBytes()
        answer, key, bindings = FormTexts(), FormTexts(), FormTexts()
        titles: list[list[str]] = []
        for part in self.parts:
            answer.add([self._atom(write, SHOWN, part, WHEN)])
            key.add([self._atom(write, SHOWN, part, KEY)])
            places = binding_places(part.query)
            bindings.add([[(PLAIN, place, 0)] for _, place in places])
            titles.append([title for title, _ in places])
        written = [lines.write(keys, forms, *each.arrays(), write.array(), *named) for each in (answer, key, bindings)]
        now = _times_column(self.steps, whole)
        names = pa.array([title for own in titles for title in own], pa.string())
        firsts = np.cumsum([0, *map(len, titles)])
        counts = np.diff(written[2][0])
        within = np.arange(int(written[2][0][-1])) - np.repeat(written[2][0][:-1], counts)
        named_by = names.take(pa.array(np.repeat(firsts[forms], counts) + within))
        kind = base.schema.field("bindings").type
        columns = {
            "now": now.take(pa.array(keys[:, width + 1])),
            "status": pa.array([each.status for each in like], pa.string()).take(said),
            "answer": texts_column(*written[0][1:]),
            "key": texts_column(*written[1][1:]),
            "bindings": pa.MapArray.from_arrays(pa.array(written[2][0]), named_by, texts_column(*written[2][1:]), kind),
            "time": _times_column([each.time for each in like], whole).take(said),
            "from": _times_column([each.start for each in like], whole).take(said),
            "to": _times_column([each.end for each in like], whole).take(said),
            "bounds": pa.array([each.bounds or None for each in like], pa.string()).take(said),
        }
        for name, column in columns.items():
            base = base.set_column(base.schema.get_field_index(name), base.schema.field(name), column)
        return base

    def json_lines(self, moments: Moments | None) -> Any:
        """Their lines in JSON, in order, as bytes; nothing where they must be made one by one."""
        if moments is not None and moments.places:
            return None
        keys, order = self._keys, self._order
        self._names.make(keys[:, :-2].ravel())
        write, texts = PieceBytes(), FormTexts()
        width = keys.shape[1] - 2
        for part in self.parts:
            bindings: list[LinePart] = []
            for index, (title, place) in enumerate(binding_places(part.query)):
                comma = ", " if index else ""
                bindings += [write.bytes(f"{comma}{json.dumps(title, ensure_ascii=False)}: "), (IN_JSON, place, 0)]
            line = [
                write.bytes('{"now": '), (STEP, width + 1, 0), write.bytes(', "status": "'), (STATUS, width, 0),
                write.bytes('", "answer": "'),
                *self._atom(write, QUOTED, part, WHEN), write.bytes('", "key": "'),
                *self._atom(write, QUOTED, part, KEY), write.bytes('", "bindings": {'), *bindings,
                write.bytes("}, "), (FIELDS, width, 0), write.bytes("}\n"),
            ]  # fmt: skip
            texts.add([line])
        named = (self._names.at, self._names.bytes, *self._others(moments))
        _, _, data = lines.write(keys[order], self._forms_of()[order], *texts.arrays(), write.array(), *named)
        return data

    def _forms_of(self) -> Any:
        return np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])

    def _atom(self, write: PieceBytes, names: int, part: Entailed, when: int) -> list[LinePart]:
        pieces: list[LinePart] = []
        text = shown_name(part.query.atom.predicate)
        for place in range(part.rows.shape[1]):
            pieces += [write.bytes(text + (", " if place else "(")), (names, place, 0)]
            text = ""
        if part.rows.shape[1]:
            text = ")"
        return [*pieces, write.bytes(text), (when, self._keys.shape[1] - 2, 0)]

    def _others(self, moments: Moments | None) -> tuple[Any, Any]:
        """What is said of times and steps, in words."""

        def shown(answer: Answer) -> dict[str, Any]:
            return answer.to_json() if moments is None else moments.line(answer.to_json())

        said = [shown(answer) for answer in self._times[0]]
        fields = []
        for line in said:
            rest = {name: value for name, value in line.items() if name not in _BEFORE}
            fields.append(json.dumps(rest, ensure_ascii=False)[1:-1])
        steps = [shown(Answer(step, "confirmed", "p", (), {}, time=0))["now"] for step in self.steps]
        return others(
            [
                [line["answer"][1:] for line in said],
                [line["key"][1:] for line in said],
                fields,
                [json.dumps(step, ensure_ascii=False) for step in steps],
                [line["status"] for line in said],
            ]
        )


def _same_for_all(line: Any, size: int) -> Any:
    """One line so often. What it does not have is made at once."""
    pa = pyarrow()
    columns = []
    for column in line.columns:
        cell, kind = column[0], column.type
        if not cell.is_valid:
            columns.append(pa.nulls(size, kind))
        elif pa.types.is_list(kind) and not len(cell):
            nothing = pa.array([], kind.value_type)
            columns.append(pa.ListArray.from_arrays(pa.array(np.zeros(size + 1, np.int32)), nothing, kind))
        else:
            columns.append(column.take(pa.array(np.zeros(size, np.int64))))
    return pa.Table.from_arrays(columns, schema=line.schema)


def _times_column(times: Sequence[Number | None], whole: bool) -> Any:
    """Times as the lines of answers have them: numbers where all are whole, text otherwise."""
    pa = pyarrow()
    if whole:
        return pa.array(times, pa.int64())
    return pa.array([None if time is None else str(json_value(time)) for time in times], pa.string())


def _argument(number: int, values: Sequence[Any]) -> Any:
    """What a number in a row stands for: below 0 are the names of invented values."""
    if number < 0:
        return Variable(null_name(-number))
    return values[number] if number < lines.LEAST_AS_IS else number - lines.AS_IS


def _plain(value: Value | Variable) -> Value:
    return value.name if isinstance(value, Variable) else value


def confirmed_answer(
    name: str, arguments: Any, bindings: dict[str, Value], grid: Grid, low: int, high: int, now: Number
) -> Answer:
    if low == high and (time := grid.point(low)) is not None:
        return Answer(now, "confirmed", name, arguments, bindings, time)
    span = grid.span(low, high)
    bounds = ("[" if span.closed_low else "(") + ("]" if span.closed_high else ")")
    return Answer(now, "confirmed", name, arguments, bindings, start=span.low, end=span.high, bounds=bounds)
