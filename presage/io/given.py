"""Facts as people give them: tuples, or a table for each predicate; by the column where it is possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from presage.io.arriving import GatheredFacts, of_tables
from presage.io.facts import Checker, Fact, FactError
from presage.io.tables import Columns, TableReader
from presage.io.tuples import FactTuple, TupleReader


class GivenReader:
    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self._tables, self._tuples = TableReader(checker), TupleReader(checker)

    def keep_order(self) -> None:
        """Facts stay in the order in which they are given: none is taken by the column."""
        self._tuples.plain = {}

    def read(self, facts: Iterable[FactTuple] | Mapping[str, Any]) -> tuple[list[Columns], list[Fact]]:
        if not isinstance(facts, Mapping):
            if not isinstance(facts, Iterable):
                raise FactError('facts are tuples such as ("temp", ("wt25", "high"), 0), or a table for each predicate')
            return self._tuples.read(facts)
        checked: list[Fact] = []
        tables: list[Columns] = []
        for name, table in facts.items():
            known = self.checker.predicates.get(name)
            if known is not None and known.is_static:
                raise FactError(f"table {name}: `{name}` is static: its facts are given before the stream")
            read = self._tables.read(name, table)
            if isinstance(read, Columns):
                if len(read):
                    tables.append(read)
            else:
                checked.extend(read)
        return tables, checked

    def facts(self, facts: Iterable[FactTuple] | Mapping[str, Any]) -> list[Fact]:
        """The same one by one."""
        tables, checked = self.read(facts)
        return [*(fact for table in tables for fact in table.facts()), *checked]

    def arriving(self, tables: Mapping[str, Any]) -> GatheredFacts:
        """The facts of tables for a whole stretch of time, which arrive at their times or when the tables say."""
        return of_tables(self._tables, tables)

    def statics(self, tables: Mapping[str, Any]) -> list[Fact]:
        """What is known before the stream."""
        return list(self._tables.statics(tables))
