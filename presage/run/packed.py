"""Answers found by columns on their way out: as lines, or packed to be made lines elsewhere.

A line is many times as large as the row it comes from. Where answers have a way to go, they go as rows: status, bits,
numbers and the constants that the numbers stand for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from presage.answers import Answer, bindings_of, shown_name
from presage.answers.schema import answers_table
from presage.hypothesis.bulk.engine import Bulk, ConstantsByNumber, changes
from presage.hypothesis.bulk.table import AnswerRows
from presage.hypothesis.engine import AnswerChange
from presage.io.lines import lines_table
from presage.io.moments import Moments
from presage.io.tables import pyarrow
from presage.kernels import matches
from presage.kernels.arrays import Ints
from presage.kernels.numbering import distinct
from presage.model.statements import Query
from presage.model.terms import Constant, Number, Value, Variable, number
from presage.run.forms import Forms
from presage.run.json_forms import JsonForms
from presage.run.names import ConstantNames
from presage.run.row_order import in_order

Tell = Callable[[AnswerChange, Number], Answer | None]


@dataclass(frozen=True, slots=True)
class PackedAnswers:
    """The answers of some steps by columns. Constants may get other numbers later, in another list of values."""

    teller: Teller
    parts: list[AnswerRows]
    values: ConstantsByNumber

    def tables(self) -> list[Any]:
        """Their lines, in no particular order."""
        names = self.teller.names_of(self.values)
        return [table for rows in self.parts for table, _ in self.teller.lines(rows, names)]

    def table(self) -> Any:
        """Their lines in order."""
        pa = pyarrow()
        names = self.teller.names_of(self.values)
        tables, places, begin = [], [], 0
        for rows in self.parts:
            for table, own in self.teller.lines(rows, names):
                tables.append(table)
                places.append(begin + own)
            begin += len(rows)
        if not tables:
            return answers_table([], whole_times=True)
        order = self.teller.order(self.parts, names)
        # Where in the tables each row stands.
        standing = np.empty(begin, np.int64)
        standing[np.concatenate(places)] = np.arange(begin)
        return pa.concat_tables(tables, promote_options="default").take(pa.array(standing[order]))

    def json_lines(self, moments: Moments | None) -> Any:
        """Their lines in JSON, in order, as bytes."""
        names = self.teller.names_of(self.values)

        def made(rows: AnswerRows) -> list[str]:
            found = (answer.to_json() for answer in self.teller.answers(rows, self.values))
            shown = (line if moments is None else moments.line(line) for line in found)
            return [json.dumps(line, ensure_ascii=False) for line in shown]

        order = self.teller.order(self.parts, names)
        return self.teller.json_forms(moments).lines(self.parts, order, names, self.teller.bulk.symbols.find, made)

    def answers(self) -> list[Answer]:
        return [answer for rows in self.parts for answer in self.teller.answers(rows, self.values)]


@dataclass(slots=True)
class Packed:
    """Rows of one query, from one step or several, with the constants they name, as Arrow tables."""

    query: str
    rows: Any
    values: Any


class Teller:
    """Makes lines of rows."""

    def __init__(self, bulk: Bulk, queries: Sequence[Query], tell: Tell) -> None:
        self.bulk, self.tell = bulk, tell
        self.queries: dict[str, list[Query]] = {}
        for query in queries:
            self.queries.setdefault(query.atom.predicate, []).append(query)
        shapes = {table.shape.name: table.shape for table in bulk.tables}
        # What several queries ask for is told as the first says that does.
        self.forms = {
            name: Forms(shapes[name], shown_name(name), bindings_of(own[0], tuple(range(len(own[0].atom.arguments)))))
            for name, own in self.queries.items()
            if len(own) == 1 and name in shapes
        }
        self.names = ConstantNames(bulk.symbols.values)
        self.in_json: tuple[Moments | None, JsonForms] | None = None

    def names_of(self, values: ConstantsByNumber) -> ConstantNames:
        """The names of the constants in a list of values, which may be one from before numbers were given back."""
        if values is not self.bulk.symbols.values:
            return ConstantNames(values)
        if self.names.values is not values:
            self.names = ConstantNames(values)
        return self.names

    def json_forms(self, moments: Moments | None) -> JsonForms:
        if self.in_json is None or self.in_json[0] is not moments:
            self.in_json = moments, JsonForms(self.forms, moments)
        return self.in_json[1]

    def order(self, parts: Sequence[AnswerRows], names: ConstantNames) -> Ints:
        """The places of the rows of all parts, in the order in which they are told: by step, predicate and time."""
        width = max((rows.shape.arity for rows in parts), default=0)
        shown = sorted({shown_name(rows.shape.name) for rows in parts})
        ranks = [np.full(len(rows), shown.index(shown_name(rows.shape.name)), np.int64) for rows in parts]
        columns = [
            np.concatenate([rows.now for rows in parts]),
            np.concatenate(ranks),
            np.concatenate([rows.keys[:, -1] for rows in parts]),
        ]
        for place in range(width):
            has = np.repeat([place < rows.shape.arity for rows in parts], [len(rows) for rows in parts])
            ranked = np.zeros(len(has), np.int64)
            # Of all at once: numbers that are asked for together are in the order of their names, others are not.
            ranked[has] = names.ranks(
                np.concatenate([rows.keys[:, place] for rows in parts if place < rows.shape.arity])
            )
            columns.append(ranked)
        found: Ints = in_order(columns)
        return found

    def asked(self, parts: list[AnswerRows]) -> list[AnswerRows]:
        """The rows that some query asks for."""
        found = []
        for rows in parts:
            wanted = np.zeros(len(rows), bool)
            for query in self.queries.get(rows.shape.name, ()):
                wanted |= _asked_rows(query, rows, self.bulk.symbols.find)
            found.append(rows.chosen(wanted))
        return found

    def answers(self, rows: AnswerRows, values: ConstantsByNumber) -> Iterator[Answer]:
        for change, now in zip(changes(rows, values), rows.now.tolist(), strict=True):
            answer = self.tell(change, now)
            if answer is not None:
                yield answer

    def lines(self, rows: AnswerRows, names: ConstantNames) -> Iterator[tuple[Any, Ints]]:
        """Rows as tables of answer lines, each with the places of its rows."""
        places = np.arange(len(rows))
        forms = self.forms.get(rows.shape.name)
        if forms is not None:
            lines, formed = forms.lines(rows, names, self.bulk.symbols.find)
            if len(lines.times):
                yield lines_table(lines, rows.now[formed]), places[formed]
            if formed.all():
                return
            rows, places = rows.chosen(~formed), places[~formed]
        yield answers_table(self.answers(rows, names.values), whole_times=True), places

    def unpack(self, packed: Packed) -> Iterator[Any]:
        """The lines of packed rows."""
        shape = next(table.shape for table in self.bulk.tables if table.shape.name == packed.query)
        columns = {name: packed.rows.column(name).to_numpy() for name in packed.rows.column_names}
        places = [columns[f"key{place}"] for place in range(shape.arity)]
        keys = np.column_stack([*places, columns["time"]]).astype(np.int64)
        texts = packed.values.column("text").to_pylist()
        is_text = packed.values.column("is_text").to_pylist()
        values: ConstantsByNumber = [
            text if plain else number(Fraction(text)) for text, plain in zip(texts, is_text, strict=True)
        ]
        # The program's own constants have other numbers here than they had where the rows come from.
        ours = {value: place for place, value in enumerate(values) if value is not None}
        rows = AnswerRows(shape, columns["status"], columns["bits"], keys, np.zeros(len(keys), bool), columns["now"])
        yield from (table for table, _ in self.lines(rows, ConstantNames(values, lambda value: ours.get(value, -1))))


def pack(steps: Sequence[PackedAnswers], each_step: bool = True) -> Iterator[Packed]:
    """The rows of several steps, as few tables as there are queries and lists of values. Without `each_step` only the
    last of each answer; and nothing of one that is refuted before anything was said of it."""
    pa = pyarrow()
    groups: dict[tuple[int, str], list[tuple[AnswerRows, ConstantsByNumber]]] = {}
    for step in steps:
        for rows in step.parts:
            if len(rows):
                groups.setdefault((id(step.values), rows.shape.name), []).append((rows, step.values))
    for (_, name), group in groups.items():
        fields = {
            name: np.concatenate([getattr(rows, name) for rows, _ in group])
            for name in ("status", "bits", "keys", "fresh", "now")
        }
        if not each_step:
            chosen = _last_of_each(fields)
            fields = {name: column[chosen] for name, column in fields.items()}
        keys = fields["keys"]
        used, inverse = distinct(keys[:, :-1])
        places: Any = inverse.reshape(keys[:, :-1].shape)
        values = [group[0][1][each] for each in used.tolist()]
        columns = (
            {name: fields[name] for name in ("now", "status", "bits")}
            | {"time": keys[:, -1]}
            | {f"key{place}": places[:, place].astype(np.int32) for place in range(places.shape[1])}
        )
        named = {
            "text": pa.array([str(value) for value in values], pa.string()),
            "is_text": pa.array([isinstance(value, str) for value in values], pa.bool_()),
        }
        yield Packed(name, pa.table(columns), pa.table(named))


def _last_of_each(fields: dict[str, Any]) -> Ints:
    """The rows that tell how each answer stands in the end."""
    keys, status = fields["keys"], fields["status"]
    order = np.lexsort(keys.T)  # stable: the rows of an answer stay in the order of their steps
    ordered = keys[order]
    edges = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    first, last = order[np.concatenate([[0], edges])], order[np.concatenate([edges - 1, [len(order) - 1]])]
    never_shown = fields["fresh"][first] & np.isin(status[last], (matches.REFUTED, matches.UNSUPPORTED))
    found: Ints = np.sort(last[~never_shown])
    return found


def _asked_rows(query: Query, rows: AnswerRows, number_of: Callable[[Value], int]) -> Any:
    """Which rows a query asks for: by its constants, its repeated variables, its pin."""
    wanted = np.ones(len(rows), bool)
    places: dict[str, int] = {}
    for place, asked in enumerate(query.atom.arguments):
        if isinstance(asked, Constant):
            wanted &= rows.keys[:, place] == number_of(asked.value)
        elif isinstance(asked, Variable) and not asked.is_anonymous and places.setdefault(asked.name, place) != place:
            wanted &= rows.keys[:, place] == rows.keys[:, places[asked.name]]
    if query.pin is not None and query.pin.base is None:
        wanted &= rows.keys[:, -1] == query.pin.offset
    return wanted
