"""Hypothetical answers by the column: facts in as arrays, the changes of all answers out as arrays.

Objects are made only of what is looked at (`changes`), and then the very ones that the general engine makes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from presage.engine.many_steps import Coming
from presage.engine.symbols import Symbols
from presage.hypothesis.bulk.fitting import PatternShape, QueryShape
from presage.hypothesis.bulk.table import STATUS, AnswerRows, MatchTable
from presage.hypothesis.engine import AnswerChange, AnswerState
from presage.hypothesis.ways import Way as ShownWay
from presage.kernels import matches
from presage.kernels.arrays import Ints, Ints32
from presage.model.terms import Value
from presage.patterns.literals import Lit
from presage.patterns.premises import Fixed
from presage.sealed import Arrays, need

FEW_SYMBOLS = 10_000
"""Below so many constants it is not worth looking which are still used."""

ConstantsByNumber = list[Value | None]
Arrivals = dict[str, list[tuple[Ints32, Ints]]]
"""Facts by predicate: arguments and times."""


class Bulk:
    """The hypothetical answers of queries whose shapes allow it."""

    def __init__(self, shapes: Sequence[QueryShape]) -> None:
        self.symbols = Symbols()
        self.tables = [MatchTable(shape, self.symbols) for shape in shapes]
        self.listens = {name for table in self.tables for name in table.meetings}
        self.arriving: Arrivals = {}
        self.remember: int | None = None
        """How long after their time facts are kept as they came, for others."""
        self.recent: deque[tuple[int, Arrivals]] = deque()
        """The facts that are kept, by their arrival."""
        self.most_symbols = FEW_SYMBOLS
        self.now: int | None = None

    def take(self, name: str, columns: Sequence[Ints32], times: Ints) -> None:
        """Facts of the coming step by columns: the numbers of the arguments."""
        if self.wants(name) and len(times):
            rows = np.column_stack(columns) if columns else np.zeros((len(times), 1), np.int32)
            self.arriving.setdefault(name, []).append((rows, times))

    def take_points(self, points: Iterable[tuple[str, tuple[Value, ...], Any]]) -> None:
        """Facts of the coming step one by one."""
        groups: dict[str, tuple[list[list[int]], list[int]]] = {}
        number = self.symbols.number
        for name, arguments, time in points:
            if self.wants(name):
                rows, times = groups.setdefault(name, ([], []))
                rows.append([number(each) for each in arguments] or [0])
                times.append(int(time))
        for name, (rows, times) in groups.items():
            self.arriving.setdefault(name, []).append((np.array(rows, np.int32), np.array(times, np.int64)))

    def step(self, now: int) -> list[AnswerRows]:
        """What changes by the facts taken since the last step, and by the time."""
        coming = {}
        for name, parts in self.arriving.items():
            rows, times = parts[0] if len(parts) == 1 else (np.concatenate(each) for each in zip(*parts, strict=True))
            coming[name] = Coming(rows, times, np.array([0, len(times)]))
        found = [table.take(np.array([now], np.int64), coming, now, by_itself=False) for table in self.tables]
        return self._taken(found, now)

    def through(self, arrivals: Ints, coming: Mapping[str, Coming], until: int) -> list[AnswerRows]:
        """What changes by the facts that arrive at each of some times, and by the time alone, up to `until`."""
        found = [table.take(arrivals, coming, until) for table in self.tables]
        self._note_recent(coming, until)
        return self._taken(found, until)

    def wants(self, name: str) -> bool:
        """Whether facts of an input are of use, here or for others."""
        return name in self.listens or self.remember is not None

    def keep_recent(self, coming: Mapping[str, Coming], until: int) -> None:
        """Facts of many steps that others work off are kept as long as they may be asked for."""
        self._note_recent(coming, until)
        self.now = until
        self._keep(until)

    def _note_recent(self, coming: Mapping[str, Coming], until: int) -> None:
        if self.remember is not None:
            # Whatever is older than that would be let go at once.
            oldest = until - self.remember
            for name, facts in coming.items():
                recent = facts.times >= oldest
                if recent.any():
                    self.arriving[name] = [(facts.rows[recent], facts.times[recent])]

    def _taken(self, found: list[AnswerRows], now: int) -> list[AnswerRows]:
        self.now = now
        self._keep(now)
        if len(self.symbols) > self.most_symbols:
            self._free_symbols(found)
        return found

    def handed_over(self, now: int) -> Arrivals:
        """The facts taken since the last step, for others to work off."""
        self.now, arriving = now, self.arriving
        self._keep(now)
        return arriving

    def _keep(self, now: int) -> None:
        if self.remember is not None:
            if self.arriving:
                self.recent.append((now, self.arriving))
            while self.recent and _last(self.recent[0][1]) + self.remember < now:
                self.recent.popleft()
        self.arriving = {}

    def _free_symbols(self, found: list[AnswerRows]) -> None:
        """Gives back the numbers of constants that no row has any more. What was found keeps its list of values."""
        used: list[Any] = [table.told().keys[:, :-1].ravel() for table in self.tables]
        used += [table.constants for table in self.tables]
        used += [rows.keys[:, :-1].ravel() for rows in found]
        self.keep_only(np.concatenate(used))
        self.most_symbols = 2 * len(self.symbols) + FEW_SYMBOLS

    def keep_only(self, used: Ints) -> None:
        """Gives back the numbers of constants but for those used, and those of facts that are kept for others."""
        self.symbols.keep_only(np.concatenate([used, *(rows.ravel() for rows in self._kept_rows())]))

    def _kept_rows(self) -> Iterator[Ints32]:
        return (rows for _, arrivals in self.recent for parts in arrivals.values() for rows, _ in parts)

    @property
    def remembered(self) -> int:
        """How many answers, and facts that are kept for others, are in memory."""
        return sum(map(len, self.tables)) + sum(map(len, self._kept_rows()))

    def standing(self) -> list[AnswerRows]:
        """What is possible now."""
        return [table.possible() for table in self.tables]

    def next_wake(self) -> int | None:
        wakes = [wake for table in self.tables if (wake := table.next_wake()) is not None]
        return min(wakes, default=None)

    # -- saving -----------------------------------------------------------------------------------

    def contents(self) -> tuple[list[Value], dict[str, Any]]:
        """The constants in use, and arrays in which they go by their place in that list."""
        parts = [table.contents() for table in self.tables]
        arguments = [part[:, : table.shape.arity] for part, table in zip(parts, self.tables, strict=True)]
        numbers: list[Any] = [each.ravel() for each in arguments] + [rows.ravel() for rows in self._kept_rows()]
        used = np.unique(np.concatenate([np.zeros(0, np.int64), *numbers]))
        used = used[used < len(self.symbols.values)]
        arrays: dict[str, Any] = {}
        for index, (part, places) in enumerate(zip(parts, arguments, strict=True)):
            places[:] = np.searchsorted(used, places)
            arrays[f"rows{index}"] = part
        for name in {name for _, arrivals in self.recent for name in arrivals}:
            lines = [
                np.column_stack([np.full(len(times), now), times, np.searchsorted(used, rows)])
                for now, arrivals in self.recent
                for rows, times in arrivals.get(name, ())
            ]
            arrays[f"recent {name}"] = np.concatenate(lines)
        return [self.symbols.value(int(each)) for each in used], arrays

    def fill(self, now: int | None, values: Sequence[Value], arrays: dict[str, Any]) -> None:
        self.now = now
        # Where there are no arguments a row has one number all the same.
        numbers = self.symbols.number_all(values) if values else np.zeros(1, np.int32)
        taken = Arrays(arrays)
        for index, table in enumerate(self.tables):
            rows = taken.rows(f"rows{index}", np.int64, table.rows.shape[1]).copy()
            known = rows[:, : table.shape.arity]
            need(not known.size or (known.min() >= 0 and known.max() < len(numbers)), "a row of values that are none")
            rows[:, : table.shape.arity] = numbers[known]
            table.fill(rows, now)
        kept: dict[int, Arrivals] = {}
        for title, lines in arrays.items():
            if title.startswith("recent "):
                lines = taken.rows(title, np.int64, lines.shape[-1])
                need(lines.shape[1] > 1 and not (lines[:, 2:] < 0).any(), "facts of values that are none")
                for at in np.unique(lines[:, 0]).tolist():
                    part = lines[lines[:, 0] == at]
                    kept.setdefault(at, {})[title[7:]] = [(numbers[part[:, 2:]], part[:, 1].copy())]
        self.recent = deque((at, kept[at]) for at in sorted(kept))

    def facts(self) -> Iterator[tuple[str, tuple[Value, ...], int]]:
        """The facts that rows rest on."""
        for table in self.tables:
            known = table.met()
            for bits, key in zip(known.bits.tolist(), known.keys.tolist(), strict=True):
                arguments = tuple(self.symbols.value(each) for each in key[:-1])
                for way, first in _numbered(table.shape):
                    for lit in _lits(way, bits >> first, arguments, key[-1]):
                        yield lit.predicate, lit.arguments, lit.time  # type: ignore[misc]

    def told(self) -> Iterator[AnswerChange]:
        """What was said of every row."""
        for table in self.tables:
            yield from changes(table.told(), self.symbols.values)


def _last(arrivals: Arrivals) -> int:
    return max(int(times.max()) for parts in arrivals.values() for _, times in parts)


def changes(rows: AnswerRows, values: ConstantsByNumber) -> Iterator[AnswerChange]:
    """Rows as the general engine would tell of them."""
    numbered = _numbered(rows.shape)
    for status, bits, key in zip(rows.status.tolist(), rows.bits.tolist(), rows.keys.tolist(), strict=True):
        arguments: Any = tuple(values[each] for each in key[:-1])
        time = key[-1]
        ways = []
        for way, first in numbered:
            met = bits >> first & ((1 << len(way.parts)) - 1)
            if met:
                because = frozenset(_lits(way, met, arguments, time))
                needs = frozenset(_lits(way, ~met, arguments, time))
                ways.append(ShownWay(needs, because))
        if status == matches.CONFIRMED:
            ways = [min(ways, key=lambda each: (len(each.because), each.order))]
        elif len(ways) > 1:
            ways.sort(key=lambda each: each.order)
        yield AnswerChange(rows.shape.name, (arguments, time), AnswerState(STATUS[status], tuple(ways)))


def _numbered(shape: QueryShape) -> list[tuple[PatternShape, int]]:
    """The ways with the bits at which they begin."""
    found, first = [], 0
    for way in shape.ways:
        found.append((way, first))
        first += len(way.parts)
    return found


def _lits(way: PatternShape, bits: int, arguments: tuple[Value, ...], time: int) -> Iterator[Lit]:
    slots = dict(zip(way.pattern.arguments, arguments, strict=True))
    for index, part in enumerate(way.parts):
        if bits >> index & 1:
            given = tuple(each.value if isinstance(each, Fixed) else slots[each] for each in part.premise.arguments)
            yield Lit(True, part.premise.predicate, given, time + part.offset)
