"""Streams: a timeline, and the facts on it ([LARS] Definition 1), found by predicate and known arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from presage.answer_streams.values import Arguments, Assignment, Ground, ValueOrInvented, canonical, value_of
from presage.model.formulas import Atom
from presage.model.terms import Constant, Variable
from presage.time.points import EVER, FAR, NEVER, Times

TimedAtom = tuple[int, Ground]
"""A fact at a time point."""

Table = dict[str, dict[Arguments, Times]]
_NO_ROWS: dict[Arguments, Times] = {}


def extend(atom: Atom, arguments: Arguments, binding: Assignment) -> dict[str, ValueOrInvented] | None:
    """The binding with what the atom's variables must be to become the ground atom."""
    found = dict(binding)
    for term, value in zip(atom.arguments, arguments, strict=True):
        if isinstance(term, Variable):
            if term.is_anonymous:
                continue
            if found.setdefault(term.name, value) != value:
                return None
        elif isinstance(term, Constant) and term.value != value:
            return None
    return found


def matched(patterns: Iterable[Atom], ground: Ground) -> dict[str, ValueOrInvented] | None:
    """What the first pattern that fits the fact binds."""
    predicate, arguments = ground
    for pattern in patterns:
        if pattern.predicate == predicate and len(pattern.arguments) == len(arguments):
            found = extend(pattern, arguments, {})
            if found is not None:
                return found
    return None


class FactsInTime:
    """At which times each ground atom holds. What windows of rows count is kept apart from the rest."""

    def __init__(self, counted: Table | None = None, others: Table | None = None) -> None:
        self.counted: Table = counted if counted is not None else {}
        self.others: Table = others if others is not None else {}
        self.additions = 0
        """How often something was added."""
        self._indexes: dict[str, dict[tuple[int, ...], dict[Arguments, list[Arguments]]]] = {}
        self._rows: list[TimedAtom] | None = None
        self._filtered: dict[tuple[Atom, ...], FactsInTime] = {}
        self._partitions: dict[tuple[Atom, ...], list[list[TimedAtom]]] = {}

    @staticmethod
    def given(rows: Iterable[tuple[Ground, tuple[int, int]]]) -> FactsInTime:
        """Facts that are counted, each with an interval of times."""
        spans: dict[Ground, list[tuple[int, int]]] = {}
        for ground, span in rows:
            spans.setdefault(ground, []).append(span)
        counted: Table = {}
        for (name, arguments), each in spans.items():
            times = Times.of(each)
            if times:
                counted.setdefault(name, {})[arguments] = times
        return FactsInTime(counted)

    def copy(self) -> FactsInTime:
        return FactsInTime(
            {name: dict(table) for name, table in self.counted.items()},
            {name: dict(table) for name, table in self.others.items()},
        )

    def add(self, ground: Ground, times: Times, counted: bool) -> Times:
        """Adds a fact; gives back the times that are new."""
        predicate, arguments = ground
        new = times - self.times(predicate, arguments)
        if not new:
            return NEVER
        self.additions += 1
        self._forget_views()
        known = arguments in self.counted.get(predicate, _NO_ROWS) or arguments in self.others.get(predicate, _NO_ROWS)
        table = (self.counted if counted else self.others).setdefault(predicate, {})
        table[arguments] = table.get(arguments, NEVER) | new
        if not known:
            for positions, index in self._indexes.get(predicate, {}).items():
                index.setdefault(tuple(arguments[place] for place in positions), []).append(arguments)
        return new

    def _forget_views(self) -> None:
        self._rows = None
        self._filtered.clear()
        self._partitions.clear()

    def forget_before(self, time: int) -> None:
        """Drops what lies before a time."""
        for tables in (self.counted, self.others):
            for name, table in list(tables.items()):
                kept = {each: late for each, times in table.items() if (late := times.within(time, FAR))}
                if kept:
                    tables[name] = kept
                else:
                    del tables[name]
        self._indexes.clear()
        self._forget_views()

    def times(self, predicate: str, arguments: Arguments) -> Times:
        counted = self.counted.get(predicate, _NO_ROWS).get(arguments, NEVER)
        other = self.others.get(predicate, _NO_ROWS).get(arguments)
        return counted if other is None else counted | other

    def arguments(self, predicate: str) -> Iterator[Arguments]:
        counted = self.counted.get(predicate, _NO_ROWS)
        yield from counted
        yield from (each for each in self.others.get(predicate, _NO_ROWS) if each not in counted)

    def matches(self, atom: Atom, binding: Assignment) -> Iterator[dict[str, ValueOrInvented]]:
        """The binding extended by each ground atom that fits, whenever it holds."""
        known = tuple(
            place
            for place, term in enumerate(atom.arguments)
            if isinstance(term, Constant) or (isinstance(term, Variable) and term.name in binding)
        )
        key = tuple(value_of(atom.arguments[place], binding) for place in known)
        for arguments in tuple(self._index(atom.predicate, known).get(key, ())):  # type: ignore[arg-type]
            found = extend(atom, arguments, binding)
            if found is not None:
                yield found

    def _index(self, predicate: str, positions: tuple[int, ...]) -> dict[Arguments, list[Arguments]]:
        indexes = self._indexes.setdefault(predicate, {})
        if positions not in indexes:
            index: dict[Arguments, list[Arguments]] = {}
            for arguments in self.arguments(predicate):
                index.setdefault(tuple(arguments[place] for place in positions), []).append(arguments)
            indexes[positions] = index
        return indexes[positions]

    def ground(self) -> Iterator[tuple[Ground, Times]]:
        for name in {**self.counted, **self.others}:
            for arguments in self.arguments(name):
                yield (name, arguments), self.times(name, arguments)

    def rows(self) -> list[TimedAtom]:
        """What is counted, in order of time, and canonically within a time."""
        if self._rows is None:
            self._rows = sorted(
                (
                    (time, (name, arguments))
                    for name, table in self.counted.items()
                    for arguments, times in table.items()
                    for time in times.points()
                ),
                key=lambda row: (row[0], canonical(row[1])),
            )
        return self._rows

    def partitions(self, patterns: tuple[Atom, ...]) -> list[list[TimedAtom]]:
        """The rows that fit a pattern, apart by the values of the patterns' variables."""
        if patterns not in self._partitions:
            found: dict[frozenset[tuple[str, ValueOrInvented]], list[TimedAtom]] = {}
            for row in self.rows():
                key = matched(patterns, row[1])
                if key is not None:
                    found.setdefault(frozenset(key.items()), []).append(row)
            self._partitions[patterns] = list(found.values())
        return self._partitions[patterns]

    def only(self, patterns: tuple[Atom, ...]) -> FactsInTime:
        """The facts that fit one of the patterns."""
        if patterns not in self._filtered:

            def kept(table: Table) -> Table:
                return {
                    name: rows
                    for name in {pattern.predicate for pattern in patterns} & table.keys()
                    if (rows := {a: t for a, t in table[name].items() if matched(patterns, (name, a)) is not None})
                }

            self._filtered[patterns] = FactsInTime(kept(self.counted), kept(self.others))
        return self._filtered[patterns]

    def with_rows(self, rows: Iterable[TimedAtom]) -> FactsInTime:
        """The same with other counted facts."""
        counted: Table = {}
        for time, (name, arguments) in rows:
            table = counted.setdefault(name, {})
            table[arguments] = table.get(arguments, NEVER) | Times.at(time)
        return FactsInTime(counted, self.others)


NOTHING = FactsInTime()


@dataclass(frozen=True, slots=True, eq=False)
class FiniteStream:
    """A timeline and the facts a formula sees on it. Below an odd number of negations it sees `opposite`:
    the same facts, except while bounds on the facts of a program approach each other."""

    low: int
    high: int
    facts: FactsInTime
    opposite: FactsInTime
    is_point: bool = field(default=False, kw_only=True)
    """The stream without facts whose timeline is the time of evaluation, whatever that is: what windows
    select that lie outside the stream."""
    is_flipped: bool = field(default=False, kw_only=True)
    """Whether `facts` are what negations see."""

    @property
    def times(self) -> Times:
        return EVER if self.is_point else Times.between(self.low, self.high)

    def flipped(self) -> FiniteStream:
        if self.facts is self.opposite:
            return self
        return replace(self, facts=self.opposite, opposite=self.facts, is_flipped=not self.is_flipped)

    def between(self, low: int, high: int) -> FiniteStream:
        low, high = max(low, self.low), min(high, self.high)
        if low > high:
            return FiniteStream(0, -1, NOTHING, NOTHING, is_point=True, is_flipped=self.is_flipped)
        return replace(self, low=low, high=high)

    def of(self, facts: FactsInTime, opposite: FactsInTime) -> FiniteStream:
        return replace(self, facts=facts, opposite=opposite)
