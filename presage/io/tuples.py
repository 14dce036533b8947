"""Facts as tuples: (predicate, arguments, time).

Most tuples of a step are alike: texts or whole numbers at a whole-number time. Those of a predicate are checked and
taken by the column; all others one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from presage.analysis.predicates import Predicate
from presage.io.alike import columns_alike
from presage.io.facts import Checker, Fact, FactError
from presage.io.tables import MOST, Columns, Listed

FactTuple = tuple[Any, ...]
"""A fact as a tuple: (predicate, arguments, time), where time may be (1, 5, "[)")."""


@dataclass(slots=True)
class _Group:
    known: Predicate
    numbers: list[int]
    arguments: list[Any]
    times: list[Any]


class TupleReader:
    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        # Predicates of which tuples may be taken by the column.
        self.plain = {
            name: known for name, known in checker.predicates.items() if known.is_input and not known.is_static
        }

    def read(self, given: Iterable[FactTuple]) -> tuple[list[Columns], list[Fact]]:
        given = given if isinstance(given, list) else list(given)
        others: list[tuple[int, Any]] = []
        groups = self._of_one_predicate(given)
        if groups is None:
            groups, others = self._grouped(given)
        tables = []
        for name, group in groups.items():
            if group.numbers:
                columns = _columns(name, group)
                if columns is None:
                    facts = zip(group.arguments, group.times, strict=True)
                    others += zip(group.numbers, ((name, *fact) for fact in facts), strict=True)
                else:
                    tables.append(columns)
        others.sort(key=lambda other: other[0])
        return tables, [self._fact(each, number) for number, each in others]

    def _of_one_predicate(self, given: list[FactTuple]) -> dict[str, _Group] | None:
        """The commonest of all: one predicate, and whole numbers as times. No loop of ours looks at each fact."""
        if set(map(type, given)) != {tuple} or set(map(len, given)) != {3}:
            return None
        name, times = given[0][0], list(map(itemgetter(2), given))
        known = self.plain.get(name) if type(name) is str else None
        if known is None or set(map(type, times)) != {int} or list(map(itemgetter(0), given)).count(name) != len(given):
            return None
        return {name: _Group(known, list(range(len(given))), list(map(itemgetter(1), given)), times)}

    def _grouped(self, given: Iterable[FactTuple]) -> tuple[dict[str, _Group], list[tuple[int, Any]]]:
        groups = {name: _Group(known, [], [], []) for name, known in self.plain.items()}
        others: list[tuple[int, Any]] = []
        for number, each in enumerate(given):
            try:
                name, arguments, when = each
                group = groups[name]
            except (TypeError, ValueError, KeyError):
                others.append((number, each))
                continue
            if type(when) is int and type(each) is tuple:
                group.numbers.append(number)
                group.arguments.append(arguments)
                group.times.append(when)
            else:
                others.append((number, each))
        return groups, others

    def sort(self, facts: Sequence[Fact]) -> tuple[list[Columns], Sequence[Fact]]:
        """The same for facts that are checked already."""
        groups: dict[str, list[Fact]] = {}
        others: list[Fact] = []
        plain = self.plain
        for fact in facts:
            low = fact.low
            if (
                low is fact.high
                and type(low) is int
                and low <= MOST
                and fact.arrives is None
                and fact.predicate in plain
            ):
                groups.setdefault(fact.predicate, []).append(fact)
            else:
                others.append(fact)
        tables = []
        for name, group in groups.items():
            columns: list[Any] = [Listed(values) for values in zip(*[fact.arguments for fact in group], strict=True)]
            tables.append(Columns(name, columns, np.array([fact.low for fact in group], np.int64)))
        return tables, others

    def _fact(self, given: FactTuple, number: int) -> Fact:
        where = f"fact {number + 1}"
        if not isinstance(given, tuple) or len(given) != 3:
            raise FactError(f'{where}: a fact is (predicate, arguments, time), such as ("temp", ("wt25", "high"), 0)')
        name, arguments, when = given
        entry: dict[str, Any] = {"pred": name, "args": list(arguments)}
        if isinstance(when, tuple):
            if len(when) != 3:
                raise FactError(f'{where}: an interval is (from, to, bounds), such as (1, 5, "[)")')
            entry.update({"from": when[0], "to": when[1], "bounds": when[2]})
        else:
            entry["time"] = when
        return self.checker.fact(entry, where)


def _columns(name: str, group: _Group) -> Columns | None:
    """The tuples of a group as columns, if all are as they mostly are."""
    if min(group.times) < 0 or max(group.times) > MOST:
        return None
    columns = columns_alike(group.known, group.arguments)
    if columns is None:
        return None
    return Columns(name, [Listed(each) for each in columns], np.array(group.times, np.int64))
