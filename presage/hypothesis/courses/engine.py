"""Hypothetical answers of many individuals: facts in by columns, what changed about whom out by columns.

What symbols cannot tell, and individuals of whom too much is known to be like others, go to the engine over zones as
they are (`direct`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from presage.engine.symbols import Symbols
from presage.hypothesis.courses.automaton import Automaton
from presage.hypothesis.courses.describing import Arriving, described
from presage.hypothesis.courses.entering import MOST_TIMES, MOST_VALUES, enter, written_out
from presage.hypothesis.courses.fitting import Grouping, distances
from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.kinds import Kinds
from presage.hypothesis.courses.looking import Looks
from presage.hypothesis.courses.shapes import ToldRows, together
from presage.hypothesis.courses.symbolic import Untraceable
from presage.hypothesis.courses.tracing import Tracer, Vector
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.told import Change, Told
from presage.kernels import courses as kernel
from presage.model.terms import Number, number
from presage.model.values import Value
from presage.time.stretches import Stretch

Ints = Any
Given = tuple[str, tuple[Value, ...], Stretch]
MOST_ARRIVALS = 6
"""To whom more happens at once, it happens to nobody else."""
MOST_OUTCOMES = 4_000
FEW_SYMBOLS = 10_000


class Courses:
    def __init__(self, direct: Ranges, grouping: Grouping, tracer: Tracer, symbols: Symbols) -> None:
        self.direct, self.grouping, self.tracer, self.symbols = direct, grouping, tracer, symbols
        self.whole = direct.line.whole
        self.per_unit = lcm(*(Fraction(each).denominator for each in distances(direct)))
        """Time is counted in parts in which all that patterns and facts speak of is whole."""
        self.kinds = Kinds(grouping, symbols)
        self.automaton, self.looks = Automaton(), Looks(tracer)
        self.width = len(grouping.columns)
        self.people = Individuals(self.width)
        self.arriving: list[tuple[str, Ints, Ints]] = []
        self.now: Number | None = None
        self.steps = 0
        self.most_symbols = FEW_SYMBOLS

    # -- facts ------------------------------------------------------------------------------------

    def take(self, name: str, columns: Sequence[Ints], times: Ints) -> None:
        """Facts of the coming step by columns: the numbers of the arguments, and the times in parts."""
        if name in self.kinds.listening and len(times):
            self.arriving.append((name, columns, times))

    def _arrivals(self) -> Arriving | None:
        found, self.arriving = self.kinds.sorted_out(self.arriving), []
        if found is None:
            return None
        keys, kinds, times, given = found
        return Arriving(self._rows_of(np.ascontiguousarray(keys)), kinds, times, given)

    def _rows_of(self, keys: Ints) -> Ints:
        return self.people.rows_of(keys, self._is_odd)

    def _is_odd(self, keys: Ints) -> Ints:
        """Whose key is a constant of the program, or the same twice: nobody else is like them."""
        odd = np.isin(keys, self.kinds.constants).any(axis=1)
        for first in range(self.width):
            for second in range(first):
                odd |= keys[:, first] == keys[:, second]
        return odd

    # -- a step -----------------------------------------------------------------------------------

    def step(self, now: Number, stretches: Sequence[Given] = ()) -> tuple[ToldRows, list[Change]]:
        """What changes by the facts taken since the last step, and by the time. Who has facts over stretches of time
        goes by itself."""
        then: Number = -1 if self.now is None else self.now
        for name, row, _ in stretches:
            self._hand_over_key(name, row)
        arriving = self._arrivals()
        self.steps += 1
        at = self._in_parts(now)
        rows, begins, ends, arriving, facts = self._touched(arriving, at)
        told = self._take_steps(rows, begins, ends, arriving, then, now, facts)
        changes = self._direct_step([*facts, *stretches], then, now)
        self.now = now
        if len(self.symbols) > self.most_symbols:
            self._free_symbols(told)
        return told, changes

    def _in_parts(self, time: Number) -> int:
        self.refine_to([time])
        return int(time * self.per_unit)

    def refine_to(self, times: Iterable[Number]) -> None:
        """Counts time in parts fine enough for some times."""
        if not self.whole:
            parts = lcm(self.per_unit, *(Fraction(each).denominator for each in times))
            if parts > self.per_unit:
                self.refine(parts)

    def refine(self, per_unit: int) -> None:
        """Counts time in so many parts of a unit."""
        factor = per_unit // self.per_unit
        self.per_unit = per_unit
        self.people.rescale(factor)
        self.arriving = [(name, columns, times * factor) for name, columns, times in self.arriving]
        self.automaton.refine(per_unit)
        self.looks.forget()

    def _touched(self, arriving: Arriving | None, now: int) -> Any:
        """Individuals to whom something happens; with where their arrivals begin and end, in their order."""
        facts: list[tuple[str, tuple[Value, ...], Stretch]] = []
        due = self.people.due_by(now)
        if arriving is None:
            none = np.zeros(len(due), np.int64)
            return due, none, none, None, facts
        chosen = self.people.is_direct[arriving.rows]
        if chosen.any():
            facts = list(self._as_facts(arriving, np.flatnonzero(chosen)))
            keep = ~chosen
            arriving = Arriving(arriving.rows[keep], arriving.kinds[keep], arriving.times[keep], arriving.given[keep])
        if kernel.mark_rows(arriving.rows, self.people.marks, self.steps):
            columns = [arriving.given[:, place] for place in range(arriving.given.shape[1])]
            order = np.lexsort((*columns, arriving.times, arriving.kinds, arriving.rows))
            arriving = Arriving(
                arriving.rows[order], arriving.kinds[order], arriving.times[order], arriving.given[order]
            )
            begins = np.flatnonzero(np.diff(arriving.rows, prepend=-1))
            ends = np.append(begins[1:], len(arriving.rows))
            rows = arriving.rows[begins]
            many = ends - begins > MOST_ARRIVALS
            if many.any():
                for place in np.flatnonzero(many).tolist():
                    self._hand_over(int(rows[place]))
                    facts += self._as_facts(arriving, range(begins[place], ends[place]))
                rows, begins, ends = rows[~many], begins[~many], ends[~many]
        else:
            rows = arriving.rows
            begins = np.arange(len(rows))
            ends = begins + 1
        if len(due):
            due = due[self.people.marks[due] != self.steps]
            none = np.zeros(len(due), np.int64)
            rows, begins, ends = (
                np.concatenate([rows, due]),
                np.concatenate([begins, none]),
                np.concatenate([ends, none]),
            )
        return rows, begins, ends, arriving, facts

    def _as_facts(self, arriving: Arriving, places: Iterable[int]) -> Iterator[tuple[str, tuple[Value, ...], Stretch]]:
        line, value = self.direct.line, self.symbols.value
        for place in places:
            kind = self.kinds.all[int(arriving.kinds[place])]
            key, given = self.people.keys[int(arriving.rows[place])], arriving.given[place]
            row = []
            for ref in kind.row:
                match ref.kind:
                    case "key":
                        row.append(value(int(key[ref.what])))
                    case "value":
                        row.append(value(int(given[ref.what])))
                    case _:
                        row.append(ref.what)
            yield kind.predicate, tuple(row), line.point(self._time(int(arriving.times[place])))

    def _time(self, parts: int) -> Number:
        return parts if self.per_unit == 1 else number(Fraction(parts, self.per_unit))

    def _take_steps(
        self,
        rows: Ints,
        begins: Ints,
        ends: Ints,
        arriving: Arriving | None,
        then: Number,
        now: Number,
        facts: list[Any],
    ) -> ToldRows:
        if arriving is None:
            nothing = np.zeros(0, np.int64)
            arriving = Arriving(nothing, nothing, nothing, np.zeros((0, 1), np.int32))
        told: list[tuple[Ints, Ints, Ints, Ints]] = []
        numbers = self.kinds.numbers_of(arriving.given)
        while len(rows):
            most = int((ends - begins).max())
            wide = self.people.times.shape[1] + self.people.values.shape[1] + 2 + most * (1 + arriving.given.shape[1])
            vectors = np.empty((len(rows), wide), np.int64)
            brought = np.zeros((len(rows), self.people.values.shape[1] + most * arriving.given.shape[1]), np.int32)
            found = np.empty(len(rows), np.int64)
            self._run(rows, begins, ends, arriving, numbers, then, now, found, vectors, brought)
            taken = found >= 0
            tells = np.zeros(len(rows), np.int64)
            tells[taken] = self.automaton.outcomes[found[taken], kernel.TELLS]
            said = tells > 0
            if said.any():
                told.append((found[said], vectors[said], brought[said], self.people.keys[rows[said]]))
            if taken.any():
                self.people.wake_later(rows[taken])
            if taken.all():
                break
            rows, begins, ends = rows[~taken], begins[~taken], ends[~taken]
            if not self._learn(int(rows[0]), int(begins[0]), int(ends[0]), arriving, numbers, then, now):
                self._hand_over(int(rows[0]))
                facts += self._as_facts(arriving, range(int(begins[0]), int(ends[0])))
                rows, begins, ends = rows[1:], begins[1:], ends[1:]
        return together(self.automaton.steps, told, self.width)

    def _run(
        self,
        rows: Ints,
        begins: Ints,
        ends: Ints,
        arriving: Arriving,
        numbers: Ints,
        then: Number,
        now: Number,
        found: Ints,
        vectors: Ints,
        brought: Ints,
    ) -> None:
        known, people = self.automaton, self.people
        kernel.take_steps(
            rows, begins, ends,
            arriving.kinds, arriving.times, arriving.given, numbers, self.kinds.payloads,
            people.shapes, people.times, people.values, people.numbers, people.wakes, people.keys, people.forgets,
            known.shape_times, known.shape_values,
            known.slots, known.transitions, known.sequences,
            known.outcomes, known.programs,
            int(then * self.per_unit), int(now * self.per_unit),
            found, vectors, brought,
        )  # fmt: skip

    # -- what is new ------------------------------------------------------------------------------

    def _learn(
        self, row: int, begin: int, end: int, arriving: Arriving, numbers: Ints, then: Number, now: Number
    ) -> bool:
        """Works out the step of one individual, for all that are like it; false where it has to go by itself."""
        known = self.automaton
        shape = known.shapes[int(self.people.shapes[row])]
        places = range(begin, end)
        what = described(self.people, self.kinds, row, shape, arriving, places, numbers)
        if not what.is_fine or what.sequence in known.hopeless or len(known.steps) >= MOST_OUTCOMES:
            return False
        vector = [self._time(each) for each in self.people.times[row, : shape.times].tolist()]
        vector += [*what.known, then, now]
        vector += [self._time(int(arriving.times[place])) for place in places]
        vector += what.fresh
        try:
            step = self.tracer.step(shape, what.arrivals, vector, what.kinds)
            if step.after.times > MOST_TIMES or len(step.after.values) > MOST_VALUES or step.flows:
                raise Untraceable("too much is known")
            known.add(what.sequence, step, Vector(shape, len(what.arrivals)), len(what.kinds), self.per_unit)
        except Untraceable:
            known.hopeless.add(what.sequence)
            return False
        self.people.widen(step.after.times, len(step.after.values))
        return True

    # -- the engine over zones --------------------------------------------------------------------

    def _hand_over(self, row: int) -> None:
        """From now on an individual goes by itself."""
        facts, told = self._concrete(row)
        if self.now is not None:
            self.direct.now = self.direct.since = self.now
        self.direct.take_over(facts, told)
        self.people.shapes[row] = 0
        self.people.wakes[row] = self.people.forgets[row] = kernel.NEVER
        self.people.is_direct[row] = True

    def _concrete(self, row: int) -> tuple[list[Any], dict[Any, Told]]:
        """What is known and told of an individual, with its times and values."""
        shape, value = self.automaton.shapes[int(self.people.shapes[row])], self.symbols.value
        return written_out(
            shape,
            [self._time(each) for each in self.people.times[row, : shape.times].tolist()],
            [value(each) for each in self.people.values[row, : len(shape.values)].tolist()],
            [value(each) for each in self.people.keys[row].tolist()],
        )

    def _direct_step(self, facts: list[Any], then: Number, now: Number) -> list[Change]:
        direct = self.direct
        wake = direct.next_wake()
        if not facts and not direct.flowing and (wake is None or wake > now):
            return []
        if self.now is not None:
            direct.now = then
        return direct.step(facts, now)

    # -- time and memory --------------------------------------------------------------------------

    def next_wake(self) -> Number | None:
        parts, direct = self.people.next_wake(), self.direct.next_wake()
        mine = None if parts is None else self._time(parts)
        return direct if mine is None else mine if direct is None else min(mine, direct)

    def _free_symbols(self, told: ToldRows) -> None:
        """Gives back the numbers of constants that nobody has any more."""
        used = [
            self.people.keys[: self.people.size][self.people.shapes[: self.people.size] != 0].ravel(),
            self.kinds.constants,
            told.keys.ravel(),
        ]
        used += [
            self.people.keys[: self.people.size][self.people.is_direct[: self.people.size]].ravel(),
            told.values.ravel(),
        ]
        used += [self.people.values[: self.people.size][self.people.shapes[: self.people.size] != 0].ravel()]
        self.people.forget_idle()
        self.symbols.keep_only(np.unique(np.concatenate([*used, self.kinds.constants])))
        self.kinds.forget_numbers()
        self.most_symbols = 2 * len(self.symbols) + FEW_SYMBOLS

    @property
    def open_count(self) -> int:
        return int(self.automaton.open_answers[self.people.shapes[: self.people.size]].sum())

    @property
    def remembered(self) -> int:
        return int((self.people.shapes[: self.people.size] != 0).sum())

    # -- what stands ------------------------------------------------------------------------------

    def standing(self, now: Number) -> ToldRows:
        """What is possible, as of the last step."""
        who = np.flatnonzero(self.automaton.open_answers[self.people.shapes[: self.people.size]] > 0)
        found = []
        at = self._in_parts(now)
        for shape in np.unique(self.people.shapes[who]).tolist():
            rows = who[self.people.shapes[who] == shape]
            known = self.automaton.shapes[shape]
            times, values = self.people.times[rows, : known.times], self.people.numbers[rows, : len(known.values)]
            both = np.full((len(rows), 2), at, np.int64)
            vectors = np.column_stack([times, values, both])
            for step, here in self.looks.of(known, vectors, self.per_unit):
                kept = self.people.values[rows[here], : len(known.values)]
                found.append((np.full(len(here), step), vectors[here], kept, self.people.keys[rows[here]]))
        return together(self.looks.steps, found, self.width)

    def adopt(self, now: Number | None, facts: Iterable[Given], told: dict[Any, Told]) -> None:
        """Takes what was known and told of individuals, at the time of the last step."""
        self.now = now
        if now is None:
            return
        known: dict[tuple[Value, ...], tuple[list[Given], dict[Any, Told]]] = {}
        for fact in facts:
            known.setdefault(self._key_of(fact[0], fact[1]), ([], {}))[0].append(fact)
        for (name, row), each in told.items():
            known.setdefault(self._key_of(name, row), ([], {}))[1][name, row] = each
        self.direct.now = self.direct.since = now
        for key, (own, said) in known.items():
            row = int(self._rows_of(self.symbols.number_all(list(key)).reshape(1, -1))[0])
            entered = None if self.people.is_direct[row] else enter(key, own, said, self.grouping.constants)
            if entered is None:
                self.people.is_direct[row] = True
                self.direct.take_over(own, said)
                continue
            shape, times, values = entered
            self.refine_to(times)
            self.people.widen(len(times), len(values))
            self.people.shapes[row] = self.automaton.number(shape)
            self.people.times[row, : len(times)] = [self._in_parts(each) for each in times]
            numbers = self.symbols.number_all(values) if values else np.zeros(0, np.int32)
            self.people.values[row, : len(values)] = numbers
            self.people.numbers[row, : len(values)] = self.kinds.numbers_of(numbers.reshape(-1, 1)).ravel()
            self.people.wakes[row] = self._in_parts(now) + 1  # to find out when something changes by time alone
            self.people.wake_later(np.array([row]))

    def _key_of(self, name: str, row: Sequence[Any]) -> tuple[Value, ...]:
        return tuple(row[place] for place in self.grouping.places(name))

    def _hand_over_key(self, name: str, row: tuple[Value, ...]) -> None:
        if name in self.kinds.listening:
            numbers = self.symbols.number_all(list(self._key_of(name, row)))
            found = int(self._rows_of(numbers.reshape(1, -1))[0])
            if not self.people.is_direct[found]:
                self._hand_over(found)

    def individuals(self) -> Iterator[tuple[list[Any], dict[Any, Told]]]:
        for row in np.flatnonzero(self.people.shapes[: self.people.size] != 0).tolist():
            yield self._concrete(row)
