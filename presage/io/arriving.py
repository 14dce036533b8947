"""The facts of a run before it begins: by the column where they are alike, in the order of arrival, and the others one
by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from presage.io.facts import Fact, FactError
from presage.io.rows import when_names
from presage.io.tables import Columns, TableReader, as_arrow, in_one_piece, integers, pyarrow
from presage.kernels.arrays import Ints
from presage.model.terms import Number


@dataclass(slots=True)
class ArrivingColumns:
    """Facts by the column, in the order of their arrival."""

    columns: Columns
    arrivals: Ints

    def between(self, begin: int, end: int) -> Columns:
        return self.columns.between(begin, end)


class GatheredFacts(Sequence[Fact]):
    """All facts of a run, before it begins: by the column where they are alike, the others one by one."""

    def __init__(self, arriving: Sequence[ArrivingColumns] = (), facts: Sequence[Fact] = ()) -> None:
        self.arriving = [each for each in arriving if len(each.arrivals)]
        self.facts = facts
        self._all: Sequence[Fact] | None = None if self.arriving else facts

    def __len__(self) -> int:
        return len(self.facts) + sum(len(each.arrivals) for each in self.arriving)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.all)

    def __getitem__(self, index: Any) -> Any:
        return self.all[index]

    @property
    def all(self) -> Sequence[Fact]:
        """Every fact as an object, for those who need that."""
        if self._all is None:
            found = [fact for each in self.arriving for fact in each.columns.arriving(each.arrivals)]
            self._all = [*found, *self.facts]
        return self._all

    @property
    def first(self) -> Number:
        """The first arrival; 0 if nothing arrives."""
        firsts: list[Number] = [int(each.arrivals[0]) for each in self.arriving]
        return min([*firsts, *(fact.arrival for fact in self.facts)], default=0)

    @property
    def last_arrival(self) -> Number:
        lasts: list[Number] = [int(each.arrivals[-1]) for each in self.arriving]
        return max([*lasts, *(fact.arrival for fact in self.facts)], default=0)

    @property
    def last(self) -> Number:
        """How far a run goes for them: to the last arrival, or to the last time they speak of."""
        lasts: list[Number] = [max(int(each.arrivals[-1]), int(each.columns.times.max())) for each in self.arriving]
        return max([*lasts, *(fact.last for fact in self.facts)], default=0)

    def arrival_times(self) -> list[Number]:
        """The arrival of each, in order."""
        return sorted(
            [*(at for each in self.arriving for at in each.arrivals.tolist()), *(f.arrival for f in self.facts)]
        )


def in_order(columns: Columns, arrivals: Ints) -> ArrivingColumns:
    """Facts by their arrival; what arrives together stays in its order."""
    if len(arrivals) > 1 and (arrivals[1:] < arrivals[:-1]).any():
        order = np.argsort(arrivals, kind="stable")
        return ArrivingColumns(columns.taken(order), arrivals[order])
    return ArrivingColumns(columns, arrivals)


def of_tables(reader: TableReader, tables: Mapping[str, Any]) -> GatheredFacts:
    """The facts of tables, which arrive at their times or, with a column `arrives`, when that says."""
    arriving: list[ArrivingColumns] = []
    facts: list[Fact] = []
    for name, table in tables.items():
        where = f"table {name}"
        known = reader.checker.known(name, where)
        if known.is_static:
            raise FactError(f"{where}: `{name}` is static: its facts are given before the stream")
        arrow, said = as_arrow(table, where), None
        if "arrives" in when_names(known) and "arrives" in arrow.column_names:
            column = in_one_piece(arrow.column("arrives"))
            if pyarrow().types.is_integer(column.type) and not column.null_count:
                found = integers(column).astype(np.int64)
                if len(found) and found.min() >= 0:
                    arrow, said = arrow.drop_columns(["arrives"]), found
        read = reader.read(name, arrow)
        if not isinstance(read, Columns) and said is not None:
            # Of facts that are read one by one, when they arrive is read with them.
            read = reader.read(name, as_arrow(table, where))
        if isinstance(read, Columns):
            arriving.append(in_order(read, read.times if said is None else said))
        else:
            facts.extend(read)
    return GatheredFacts(arriving, facts)
