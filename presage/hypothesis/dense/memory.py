"""What is remembered on dense time: facts by the stretches over which they hold, and what their values have to do with
each other.

Which bindings of a pattern's data variables facts give is found as on discrete time, by the records of a matcher,
except that it does not look at times: all facts of one atom are one. Times are looked at when an answer is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from presage.hypothesis.delays import Delays
from presage.hypothesis.dense.patterns import ANSWER, DensePattern, Moment
from presage.hypothesis.dense.pieces import Piece, is_open
from presage.hypothesis.dense.stretches import ENDLESS, Stretch
from presage.hypothesis.dense.zones import Zone
from presage.hypothesis.literals import Argument, Open
from presage.hypothesis.patterns import Fixed, fill
from presage.hypothesis.records import Matcher, Record, Slots, Statics
from presage.hypothesis.texts import Clause, condition_clause, exclusion_clause, show_clause
from presage.model.terms import Number
from presage.model.values import Value

Values = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A pattern with values for some of its data variables."""

    pattern: DensePattern
    arguments: tuple[tuple[Argument, ...], ...]
    """Of the premises."""
    delays: tuple[Number, ...]
    limits: tuple[Clause, ...]

    def limited(self, piece: Piece) -> Piece:
        if not self.limits:
            return piece
        return replace(piece, limits=self.limits, unless=tuple(map(show_clause, self.limits)))


class _Records:
    """The bindings that facts give one pattern."""

    def __init__(self, pattern: DensePattern, delays: Delays, statics: Statics) -> None:
        self.pattern, self.delays = pattern, delays
        self.matcher = Matcher(pattern.data, delays, statics, discrete=False)
        self.by_answer: dict[tuple[Argument, ...], dict[Record, None]] = {}

    def answer(self, slots: Slots) -> tuple[Argument, ...]:
        return self._put(self.pattern.data.arguments, slots)

    def _put(self, arguments: Sequence[Any], slots: Slots) -> tuple[Argument, ...]:
        names = self.pattern.data.names
        return tuple(
            each.value if isinstance(each, Fixed) else Open(names[each]) if slots[each] is None else slots[each]
            for each in arguments
        )

    def begin(self) -> Iterator[tuple[Argument, ...]]:
        """The answers for which nothing has to arrive."""
        if not self.pattern.premises:
            for record in self.matcher.add(((None,) * len(self.pattern.data.names), ())):
                yield self._added(record)

    def take(self, index: int, arguments: Values) -> Iterator[tuple[Argument, ...]]:
        """The answers that a fact concerns."""
        for record in self.matcher.arrive(index, arguments, 0):
            self._added(record)
        for record in self.matcher.meeting(index, arguments, 0):
            yield self.answer(record.slots)

    def _added(self, record: Record) -> tuple[Argument, ...]:
        answer = self.answer(record.slots)
        self.by_answer.setdefault(answer, {})[record] = None
        return answer

    def bindings(self, wanted: tuple[Argument, ...]) -> Iterator[Binding]:
        """The bindings that lead to an answer: those of the records, and the one in which nothing is known but it."""
        data = self.pattern.data
        seen: set[Slots] = set()
        given: list[Slots] = [(None,) * len(data.names), *(each.slots for each in self.by_answer.get(wanted, ()))]
        if not is_open(wanted):
            loose = (records for answer, records in self.by_answer.items() if is_open(answer))
            given.extend(record.slots for records in loose for record in records)
        for known in given:
            slots = list(known)
            values = [None if isinstance(each, Open) else each for each in wanted]
            if not _fill(slots, data.arguments, values):
                continue
            for found, _ in self.matcher.completed(slots, []):
                if found not in seen and self.answer(found) == wanted:
                    seen.add(found)
                    yield self._binding(found)

    def _binding(self, slots: Slots) -> Binding:
        arguments = tuple(self._put(each.arguments, slots) for each in self.pattern.premises)
        delays = tuple(
            self.delays.of(each.predicate, values)
            for each, values in zip(self.pattern.premises, arguments, strict=True)
        )
        return Binding(self.pattern, arguments, delays, tuple(self._limits(slots)))

    def _limits(self, slots: Slots) -> list[Clause]:
        """What open variables must not be or satisfy."""
        data, matcher = self.pattern.data, self.matcher
        found = {
            condition_clause(each, matcher, slots, ())
            for each in data.conditions
            if matcher.judge(each, slots, ()) is None
        }
        for lookup in data.lookups:
            given = [matcher.value(each, slots) for each in lookup.arguments]
            if lookup.positive or None not in given:
                continue
            for row in matcher.statics(lookup.predicate, given):
                excluded = {
                    slot: value
                    for slot, value, have in zip(lookup.arguments, row, given, strict=True)
                    if have is None and not isinstance(slot, Fixed)
                }
                found.add(exclusion_clause(sorted(excluded.items()), data.names))
        return sorted(found, key=show_clause)


def _fill(slots: list[Any], arguments: Sequence[Any], values: Sequence[Any]) -> bool:
    """Gives slots the values that are known."""
    pairs = [(argument, value) for argument, value in zip(arguments, values, strict=True) if value is not None]
    return fill(slots, [argument for argument, _ in pairs], [value for _, value in pairs])


class Memory:
    def __init__(self, patterns: dict[str, list[DensePattern]], delays: Delays, statics: Statics) -> None:
        self.patterns, self.delays, self.statics = patterns, delays, statics
        self.facts: dict[str, dict[Any, list[Stretch]]] = {}
        self.forgotten = 0
        self._fresh()
        self.settled = {name: self._settled(each) for name, each in patterns.items()}
        self.needed = self._needed()

    def _fresh(self) -> None:
        self.records = {
            name: [_Records(pattern, self.delays, self.statics) for pattern in patterns]
            for name, patterns in self.patterns.items()
        }
        self.listeners: dict[str, list[tuple[str, _Records, int]]] = {}
        for name, records in self.records.items():
            for each in records:
                for index, premise in enumerate(each.pattern.premises):
                    self.listeners.setdefault(premise.predicate, []).append((name, each, index))

    def begin(self) -> Iterator[tuple[str, tuple[Argument, ...]]]:
        """The answers for which nothing has to arrive."""
        for name, records in self.records.items():
            for each in records:
                for answer in each.begin():
                    yield name, answer

    def take(self, facts: Iterable[tuple[str, Values, Stretch]]) -> list[tuple[str, tuple[Argument, ...]]]:
        """The answers that something new concerns."""
        touched: dict[tuple[str, tuple[Argument, ...]], None] = {}
        for predicate, arguments, times in facts:
            if predicate not in self.listeners:
                continue
            known = self.facts.setdefault(predicate, {}).setdefault(arguments, [])
            if any(each.covers(times) for each in known):
                continue
            known[:] = sorted([*(each for each in known if not times.covers(each)), times])
            for name, records, index in self.listeners[predicate]:
                for answer in records.take(index, arguments):
                    touched[name, answer] = None
        return list(touched)

    def bindings(self, name: str, arguments: tuple[Argument, ...]) -> Iterator[Binding]:
        for each in self.records[name]:
            yield from each.bindings(arguments)

    # -- how long things matter -------------------------------------------------------------------

    def undecided(self, name: str, now: Number) -> Stretch:
        """The times of answers about which something may still change."""
        settled = self.settled[name]
        return Stretch((0 if settled is None else max(0, now - settled), 0), ENDLESS)

    def _settled(self, patterns: list[DensePattern]) -> Number | None:
        """After how long an answer is decided whatever arrives; `None` is never."""
        latest: Number = 0
        for pattern in patterns:
            for premise in pattern.premises:
                away = _distance(pattern.zone, premise.high, latest=True)
                if away is None:
                    return None
                latest = max(latest, away + self.delays.of(premise.predicate, [None] * len(premise.arguments)))
        return latest

    def _needed(self) -> dict[str, Number | None]:
        """For how long after its time a fact may matter; `None` is for ever."""
        found: dict[str, Number | None] = {}
        for name, patterns in self.patterns.items():
            for pattern in patterns:
                for premise in pattern.premises:
                    away, settled = _distance(pattern.zone, premise.low, latest=False), self.settled[name]
                    need = None if away is None or settled is None else settled - away
                    known = found.get(premise.predicate, need)
                    found[premise.predicate] = None if known is None or need is None else max(known, need)
        return found

    def forget(self, now: Number) -> None:
        for predicate, rows in self.facts.items():
            needed = self.needed[predicate]
            if needed is None:
                continue
            for arguments in list(rows):
                kept = [each for each in rows[arguments] if each.high is None or each.high + needed >= now]
                if len(kept) < len(rows[arguments]):
                    rows[arguments] = kept
                    if not kept:
                        del rows[arguments]
                        self.forgotten += 1
        if self.forgotten > sum(map(len, self.facts.values())):
            # Half of what records speak of is gone: they are made anew, which costs no more than making them did.
            self.forgotten = 0
            self._fresh()
            for _ in self.begin():
                pass
            known, self.facts = self.facts, {}
            self.take(
                (name, row, each) for name, rows in known.items() for row, times in rows.items() for each in times
            )


def _distance(zone: Zone, moment: Moment, latest: bool) -> Number | None:
    """The greatest or least distance of a moment from the answer's time."""
    if moment.base == ANSWER:
        return moment.offset
    bound = zone.upper.get((moment.base, ANSWER) if latest else (ANSWER, moment.base))
    if bound is None:
        return None
    return moment.offset + bound[0] if latest else moment.offset - bound[0]
