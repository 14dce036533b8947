"""Rows become facts: what a table's columns mean, wherever the table comes from.

A table holds the facts of one predicate: a column for each argument, named as declared, and columns that say
when. Values and times repeat, so each is checked once and looked up afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presage.analysis.predicates import Predicate
from presage.errors import nearest
from presage.io.facts import Checker, Fact, FactError
from presage.model.terms import Value

WHEN = ("time", "from", "to", "bounds", "arrives")
MOST_REMEMBERED = 200_000


def column_names(known: Predicate) -> list[str]:
    """The columns of a predicate's arguments; those of an undeclared one are numbered from 1."""
    return [column.name for column in known.columns] or [str(place + 1) for place in range(known.arity)]


def when_names(known: Predicate) -> list[str]:
    """The columns that may say when; an argument of the same name, as in `flight(from, to)`, goes first."""
    taken = column_names(known)
    return [] if known.is_static else [name for name in WHEN if name not in taken]


def check_header(known: Predicate, header: Sequence[str], where: str) -> None:
    """Refuses a header with columns missing."""
    for name in column_names(known):
        if name not in header:
            near = nearest(name, header)
            shown = ", ".join(f"`{each}`" for each in header)
            hint = f"; is it `{near}`?" if near and near not in column_names(known) else f" (it has {shown or 'none'})"
            raise FactError(f"{where}: the column `{name}` is missing{hint}")
    if known.is_static:
        return
    free = when_names(known)
    if not {"time", "from"}.intersection(free).intersection(header):
        if "time" in header:
            raise FactError(
                f"{where}: `time` is an argument of `{known.name}`, so there is no `time` of the fact itself: "
                "give `from` and `to`, or JSON lines"
            )
        raise FactError(f"{where}: there is no `time` (nor `from` and `to`)")


def expected_columns(known: Predicate, header: Sequence[str], where: str, checker: Checker) -> list[str]:
    """The columns of a header that mean something. Others are refused, unless they are to be passed over: a misspelled
    `arrives` would change the answers unnoticed."""
    expected = [*column_names(known), *when_names(known)]
    unknown = checker.unknown
    for place, name in enumerate(header):
        if unknown is not None and unknown.ignored and name not in expected and not (known.is_static and name in WHEN):
            unknown.columns[f"{known.name}.{name or place + 1}"] += 1
            continue
        if not name:
            raise FactError(f"{where}: column {place + 1} has no name (an index that pandas wrote? use index=False)")
        if name in header[:place]:
            raise FactError(f"{where}: the column `{name}` is there twice")
        if name in expected:
            continue
        if known.is_static and name in WHEN:
            raise FactError(f"{where}: `{known.name}` is static: its facts have no `{name}`")
        near = nearest(name, [each for each in expected if each not in header])
        if not near and not known.is_static and not set(when_names(known)).intersection(header):
            map_it = f'if that is `{name}`, rename it, or give --map F.toml with `time = "{name}"` in it'
            raise FactError(f"{where}: there is no column `time`, with the time of each fact: {map_it}")
        hint = f"; did you mean `{near}`?" if near else f" (they are {', '.join(column_names(known)) or 'none'})"
        raise FactError(f"{where}: `{known.name}` has no column `{name}`{hint}{checker.hint_of_unknown}")
    return [name for name in header if name in expected]


class TableRows:
    """Makes facts of the rows of one table."""

    def __init__(
        self,
        known: Predicate,
        header: Sequence[str],
        checker: Checker,
        place_of: Callable[[int], str],
        read: Callable[[str, str], Any] | None = None,
    ) -> None:
        """`place_of` says where a row stands; `read` takes a column's type and a text cell and gives its value,
        for tables in which all cells are text and an empty one is no value."""
        self.known, self.checker, self.place_of, self.read = known, checker, place_of, read
        self.names = column_names(known)
        self.arguments = [list(header).index(name) for name in self.names]
        self.when = [(name, list(header).index(name)) for name in when_names(known) if name in header]
        self.values: list[dict[Any, Value]] = [{} for _ in self.names]
        self.times: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def fact(self, cells: Sequence[Any], row: int) -> Fact:
        values = []
        for place, index in enumerate(self.arguments):
            cell = cells[index]
            try:
                values.append(self.values[place][cell])
            except (KeyError, TypeError):
                # A nested cell (a list) has no hash; it is refused when it is looked at.
                values.append(self.value(cell, place, row))
        given = tuple([cells[index] for _, index in self.when])
        try:
            when = self.times[given]
        except (KeyError, TypeError):
            when = self._when(given, row)
        return Fact(self.known.name, tuple(values), *when)

    def value(self, cell: Any, place: int, row: int) -> Value:
        where, known = self.place_of(row), self.known
        if cell is None or (self.read and cell == ""):
            raise FactError(f"{where}: the column `{self.names[place]}` is empty")
        given = cell
        if self.read:
            kind = known.columns[place].type if place < len(known.columns) else "any"
            try:
                given = self.read(kind, cell)
            except ValueError as found:
                raise FactError(f"{where}: the column `{self.names[place]}` has {found}") from None
        value = self.checker.value(given, known, place, where)
        remembered = self.values[place]
        if len(remembered) >= MOST_REMEMBERED:
            remembered.clear()
        remembered[cell] = value
        return value

    def _when(self, given: tuple[Any, ...], row: int) -> tuple[Any, ...]:
        said = {
            name: cell
            for (name, _), cell in zip(self.when, given, strict=True)
            if not (cell is None or (self.read and cell == ""))
        }
        when = self.checker.when(said, self.known, self.place_of(row))
        if len(self.times) >= MOST_REMEMBERED:
            self.times.clear()
        self.times[given] = when
        return when
