"""A budget for hot keys: one device that floods a stream is not to hold up all others.

Of the facts of one key that arrive at one time so many are taken at most, and the others left aside. Which ones does
not hang on the order in which they came, nor on how they were cut into messages: the first by time, then by their text.
So whoever goes on from a log leaves aside the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from presage.analysis.predicates import Predicate
from presage.checking import Report
from presage.io.facts import Fact, show_fact
from presage.io.tables import Columns
from presage.kernels.arrays import Flags
from presage.run.schedule import Arrival

HotKey = tuple[object, ...]


def key_places(report: Report) -> dict[str, tuple[int, ...]]:
    """The argument of each input that is its key: the first that a run can be divided by, or the first of all."""
    assert report.findings is not None
    columns = report.findings.partition.columns or {}
    return {
        name: _places(known, columns.get(name, []))
        for name, known in report.findings.subject.predicates.items()
        if known.is_input
    }


def _places(known: Predicate, key: list[str]) -> tuple[int, ...]:
    names = [column.name for column in known.columns]
    found = [names.index(name) for name in key if name in names] or range(known.arity)
    return tuple(sorted(found)[:1])


class KeyBudget:
    def __init__(self, most: int, places: Mapping[str, tuple[int, ...]]) -> None:
        self.most, self.places = most, places
        self.aside: list[Fact] = []
        """What was left aside since somebody looked."""

    def taken_aside(self) -> list[Fact]:
        found, self.aside = self.aside, []
        return found

    def within(self, arrival: Arrival) -> Arrival:
        """What arrives, as far as the budget allows it."""
        if len(arrival.facts) + sum(map(len, arrival.tables)) <= self.most:
            return arrival
        counts = Counter(map(self._key, arrival.facts))
        for table in arrival.tables:
            for key, count in self._counted(table):
                counts[key] += count
        hot = {key for key, count in counts.items() if count > self.most}
        if not hot:
            return arrival
        facts = [fact for fact in arrival.facts if self._key(fact) not in hot]
        crowds: dict[HotKey, set[Fact]] = {key: set() for key in hot}
        for fact in arrival.facts:
            if (key := self._key(fact)) in hot:
                crowds[key].add(fact)
        tables = []
        for table in arrival.tables:
            wanted = self._among(table, hot)
            for fact in table.chosen(wanted).facts():
                crowds[self._key(fact)].add(fact)
            tables.append(table.chosen(~wanted))
        for crowd in crowds.values():
            ordered = sorted(crowd, key=lambda fact: (fact.low or 0, show_fact(fact)))
            facts += ordered[: self.most]
            self.aside += ordered[self.most :]
        return replace(arrival, facts=facts, tables=[table for table in tables if len(table)])

    def _key(self, fact: Fact) -> HotKey:
        return fact.predicate, *(fact.arguments[place] for place in self.places.get(fact.predicate, ()))

    def _coded(self, table: Columns) -> tuple[list[HotKey], np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """The keys of a table, and for each row which it has."""
        keys: list[HotKey] = [(table.predicate,)]
        codes = np.zeros(len(table), np.int64)
        for place in self.places.get(table.predicate, ()):
            values, places = table.arguments[place].encoded()
            found, codes = np.unique(codes * len(values) + places, return_inverse=True)
            keys = [(*keys[each // len(values)], values[each % len(values)]) for each in found.tolist()]
        return keys, codes

    def _counted(self, table: Columns) -> Iterator[tuple[HotKey, int]]:
        keys, codes = self._coded(table)
        yield from zip(keys, np.bincount(codes, minlength=len(keys)).tolist(), strict=True)

    def _among(self, table: Columns, hot: set[HotKey]) -> Flags:
        keys, codes = self._coded(table)
        found: Flags = np.array([key in hot for key in keys], bool)[codes]
        return found
