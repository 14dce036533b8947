"""Answers found by columns on their way out: as lines, or packed to be made lines elsewhere.

A line is many times as large as the row it comes from. Where answers have a way to go, they go as rows: status, bits,
numbers and the constants that the numbers stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from presage.answers import Answer, bindings_of, shown_name
from presage.hypothesis.bulk.engine import Bulk, Values, changes
from presage.hypothesis.bulk.lines import Forms, Names
from presage.hypothesis.bulk.table import Ints, Rows
from presage.hypothesis.engine import Change
from presage.io.lines import answers_table, lines_table
from presage.io.tables import pyarrow
from presage.kernels import matches
from presage.kernels.numbering import distinct
from presage.model.statements import Query
from presage.model.terms import Number, number

Tell = Callable[[Change, Number], Answer | None]


@dataclass(frozen=True, slots=True)
class Told:
    """The answers of a step by columns. Constants may get other numbers later, in another list of values."""

    teller: Teller
    parts: list[Rows]
    values: Values
    now: int

    def tables(self) -> list[Any]:
        """Their lines, in no particular order."""
        names = self.teller.bulk.names_of(self.values)
        return [table for rows in self.parts for table in self.teller.lines(rows, self.now, names)]

    def answers(self) -> list[Answer]:
        found = (self.teller.tell(change, self.now) for rows in self.parts for change in changes(rows, self.values))
        return [answer for answer in found if answer is not None]


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
        self.forms: dict[str, Forms] = {}

    def lines(self, rows: Rows, now: int | Ints, names: Names) -> Iterator[Any]:
        """Rows as tables of answer lines; `now` is one time, or that of each row."""
        queries = self.queries[rows.shape.name]
        if len(queries) == 1:
            if rows.shape.name not in self.forms:
                places = bindings_of(queries[0], tuple(range(len(queries[0].atom.arguments))))
                self.forms[rows.shape.name] = Forms(rows.shape, shown_name(rows.shape.name), places)
            lines, formed = self.forms[rows.shape.name].lines(rows, names, self.bulk.symbols.numbers)
            if len(lines.times):
                yield lines_table(lines, now if isinstance(now, int) else now[formed])
            if formed.all():
                return
            rows, now = rows.chosen(~formed), now if isinstance(now, int) else now[~formed]
        times = [now] * len(rows) if isinstance(now, int) else now.tolist()
        told = (self.tell(change, at) for change, at in zip(changes(rows, names.values), times, strict=True))
        yield answers_table([answer for answer in told if answer is not None], whole_times=True)

    def unpack(self, packed: Packed) -> Iterator[Any]:
        """The lines of packed rows."""
        shape = next(table.shape for table in self.bulk.tables if table.shape.name == packed.query)
        columns = {name: packed.rows.column(name).to_numpy() for name in packed.rows.column_names}
        places = [columns[f"key{place}"] for place in range(shape.arity)]
        keys = np.column_stack([*places, columns["time"]]).astype(np.int64)
        texts = packed.values.column("text").to_pylist()
        is_text = packed.values.column("is_text").to_pylist()
        values: Values = [text if plain else number(Fraction(text)) for text, plain in zip(texts, is_text, strict=True)]
        # The program's own constants have other numbers here than they had where the rows come from.
        ours = {value: place for place, value in enumerate(values) if value is not None}
        rows = Rows(shape, columns["status"], columns["bits"], keys, np.zeros(len(keys), bool))
        yield from self.lines(rows, columns["now"], Names(values, ours))


def pack(steps: Sequence[Told], each_step: bool = True) -> Iterator[Packed]:
    """The rows of several steps, as few tables as there are queries and lists of values. Without `each_step` only the
    last of each answer; and nothing of one that is refuted before anything was said of it."""
    pa = pyarrow()
    groups: dict[tuple[int, str], list[tuple[Rows, int, Values]]] = {}
    for step in steps:
        for rows in step.parts:
            if len(rows):
                groups.setdefault((id(step.values), rows.shape.name), []).append((rows, step.now, step.values))
    for (_, name), group in groups.items():
        fields = {
            name: np.concatenate([getattr(rows, name) for rows, _, _ in group])
            for name in ("status", "bits", "keys", "fresh")
        }
        fields["now"] = np.repeat([now for _, now, _ in group], [len(rows) for rows, _, _ in group])
        if not each_step:
            chosen = _last_of_each(fields)
            fields = {name: column[chosen] for name, column in fields.items()}
        keys = fields["keys"]
        used, inverse = distinct(keys[:, :-1])
        places: Any = inverse.reshape(keys[:, :-1].shape)
        values = [group[0][2][each] for each in used.tolist()]
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
