"""Hypothetical answers of many individuals: facts in by columns, what changed about whom out by columns.

What symbols cannot tell, and individuals of whom too much is known to be like others, go to the engine over zones as
they are (`direct`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from presage.engine.symbols import Symbols
from presage.hypothesis.courses.automaton import Automaton
from presage.hypothesis.courses.beginning import begin_answers
from presage.hypothesis.courses.describing import Arriving, described
from presage.hypothesis.courses.entering import MOST_TIMES, MOST_VALUES, merged, written_out
from presage.hypothesis.courses.fitting import Grouping, distances
from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.kinds import Kinds
from presage.hypothesis.courses.looking import Looks, groups
from presage.hypothesis.courses.newcomers import Newcomers
from presage.hypothesis.courses.shapes import ToldRows, together
from presage.hypothesis.courses.static_facts import StaticFacts
from presage.hypothesis.courses.symbolic import Untraceable
from presage.hypothesis.courses.touched import Taken, Touched, with_static_facts
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
LEARNING = 10
"""So many steps of one individual cost as much as to learn one for all that are alike."""
FEW_SYMBOLS = 10_000


class Courses:
    def __init__(
        self, direct: Ranges, grouping: Grouping, tracer: Tracer, symbols: Symbols, keep_only: Callable[[Ints], None]
    ) -> None:
        """`keep_only` gives back the numbers of constants but for some, and those that others keep."""
        self.direct, self.grouping, self.tracer, self.symbols = direct, grouping, tracer, symbols
        self.keep_only = keep_only
        self.whole = direct.line.whole
        self.per_unit = lcm(*(Fraction(each).denominator for each in distances(direct)))
        """Time is counted in parts in which all that patterns and facts speak of is whole."""
        self.kinds = Kinds(grouping, symbols)
        self.automaton, self.looks = Automaton(self.kinds.bits(), direct.asked), Looks(tracer)
        self.width = len(grouping.columns)
        self.people = Individuals(self.width)
        self.newcomers = Newcomers(self.people, self.kinds, StaticFacts(direct, grouping) if grouping.tables else None)
        self.arriving: list[tuple[str, Ints, Ints]] = []
        self.now: Number | None = None
        self.steps = 0
        self.spent = 0
        """What was spent on learning so far, beyond what it was good for, in steps of one individual."""
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
        return Arriving(self.newcomers.rows_of(np.ascontiguousarray(keys)), kinds, times, given)

    # -- a step -----------------------------------------------------------------------------------

    def step(self, now: Number, stretches: Sequence[Given] = ()) -> tuple[ToldRows, list[Change]]:
        """What changes by the facts taken since the last step, and by the time. Who has facts over stretches of time
        goes by itself."""
        then: Number = -1 if self.now is None else self.now
        for each in self.newcomers.looked_up_again():
            self._hand_over(each)
        for name, row, _ in stretches:
            self._hand_over_key(name, row)
        self.steps += 1
        at = self.in_parts(now)
        answers, keys, arriving, facts = self._touched(self._arrivals(), at)
        told = self._take_steps(answers, keys, arriving, then, now, facts)
        changes = self._direct_step([*facts, *stretches], then, now)
        self.now = now
        if len(self.symbols) > self.most_symbols:
            self._free_symbols(told)
        return told, changes

    def in_parts(self, time: Number) -> int:
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

    def _touched(self, arriving: Arriving | None, now: int) -> tuple[Touched, Touched, Arriving, list[Given]]:
        """To whom something happens: answers that go on by themselves, and individuals of keys; the arrivals in their
        order, and the facts of those that go by themselves."""
        facts: list[Given] = []
        due = self.people.due_by(now)
        if arriving is None:
            nothing = np.zeros(0, np.int64)
            arriving = Arriving(nothing, nothing, nothing, np.zeros((0, 1), np.int32))
            owned = self.people.owner[due] >= 0
            return Touched.by_time(due[owned]), Touched.by_time(due[~owned]), arriving, facts
        chosen = self.people.is_direct[arriving.rows]
        if chosen.any():
            facts = list(self._as_facts(arriving, np.flatnonzero(chosen)))
            arriving = arriving.chosen(~chosen)
        if kernel.mark_rows(arriving.rows, self.people.marks, self.steps):
            columns = [arriving.given[:, place] for place in range(arriving.given.shape[1])]
            arriving = arriving.chosen(np.lexsort((*columns, arriving.times, arriving.kinds, arriving.rows)))
            begins = np.flatnonzero(np.diff(arriving.rows, prepend=-1))
            keys = Touched(arriving.rows[begins], begins, np.append(begins[1:], len(arriving.rows)))
            many = keys.ends - keys.begins > MOST_ARRIVALS
            if many.any():
                for place in np.flatnonzero(many).tolist():
                    self._hand_over(int(keys.rows[place]))
                    facts += self._as_facts(arriving, range(keys.begins[place], keys.ends[place]))
                keys = keys.chosen(~many)
        else:
            places = np.arange(len(arriving.rows))
            keys = Touched(arriving.rows, places, places + 1)
        answers = self._hearing(keys, arriving)
        due = due[(self.people.marks[due] != self.steps) & (self.people.shapes[due] != 0)]
        owned = self.people.owner[due] >= 0
        return answers.with_more(due[owned]), keys.with_more(due[~owned]), arriving, facts

    def _hearing(self, keys: Touched, arriving: Arriving) -> Touched:
        people = self.people
        most = kernel.count_owned(keys.rows, people.first, people.next) if self.tracer.splits else 0
        found = Touched(*(np.empty(most, np.int64) for _ in range(3)))
        if most:
            size = kernel.hearing(
                keys.rows, keys.begins, keys.ends, arriving.kinds, people.first, people.next, people.shapes,
                self.automaton.hears, people.marks, self.steps, found.rows, found.begins, found.ends,
            )  # fmt: skip
            found = found.chosen(slice(size))
        return found

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
        self, answers: Touched, keys: Touched, arriving: Arriving, then: Number, now: Number, facts: list[Given]
    ) -> ToldRows:
        """First the answers that go on by themselves take their steps, then the individuals of keys: these may have to
        say something of answers that have just ended."""
        taken, hopeless = self._stepped(answers, arriving, then, now)
        for owner in np.unique(self.people.owner[hopeless.rows]).tolist():
            taken = self._undone(taken, owner)
            facts += self._handed_over(owner, keys, arriving)
        keys = keys.chosen(~self.people.is_direct[keys.rows])
        more, hopeless = self._stepped(keys, arriving, then, now)
        for row in hopeless.rows.tolist():
            taken = self._undone(taken, row)
            facts += self._handed_over(row, keys, arriving)
        for each in more:
            self._hide_known(each)
        begin_answers(self.people, self.automaton.begins, more)
        ended = answers.rows[(self.people.shapes[answers.rows] == 0) & (self.people.owner[answers.rows] >= 0)]
        if len(ended):
            self.people.end(ended)
        return together(self.automaton.steps, [each.told() for each in (*taken, *more)], self.width)

    def _stepped(self, touched: Touched, arriving: Arriving, then: Number, now: Number) -> tuple[list[Taken], Touched]:
        """The steps that are taken, and who cannot take one."""
        self.spent -= len(touched.rows)
        touched, arriving = with_static_facts(touched, arriving, self.people)
        numbers = self.kinds.numbers_of(arriving.given)
        found: list[Taken] = []
        hopeless = []
        while len(touched.rows):
            each = self._run(touched, arriving, numbers, then, now)
            is_taken = each.outcomes >= 0
            if is_taken.all():
                found.append(each)
                self.people.wake_later(touched.rows)
                break
            if is_taken.any():
                found.append(each.chosen(is_taken))
                self.people.wake_later(touched.rows[is_taken])
            touched = touched.chosen(~is_taken)
            if not self._learn(int(touched.rows[0]), touched.range(0), arriving, numbers, then, now):
                hopeless.append(touched.chosen(slice(1)))
                touched = touched.chosen(slice(1, None))
        return found, Touched.together(hopeless)

    def _run(self, touched: Touched, arriving: Arriving, numbers: Ints, then: Number, now: Number) -> Taken:
        known, people = self.automaton, self.people
        most = int((touched.ends - touched.begins).max())
        wide = people.times.shape[1] + people.values.shape[1] + 2 + most * (1 + arriving.given.shape[1])
        size = len(touched.rows)
        vectors = np.empty((size, wide), np.int64)
        brought = np.zeros((size, people.values.shape[1] + most * arriving.given.shape[1]), np.int32)
        found = np.empty(size, np.int64)
        kernel.take_steps(
            touched.rows, touched.begins, touched.ends,
            arriving.kinds, arriving.times, arriving.given, numbers, self.kinds.payloads,
            people.shapes, people.times, people.values, people.numbers, people.wakes, people.keys, people.forgets,
            known.shape_times, known.shape_values,
            known.slots, known.transitions, known.sequences,
            known.outcomes, known.programs,
            int(then * self.per_unit), int(now * self.per_unit),
            found, vectors, brought,
        )  # fmt: skip
        return Taken(touched.rows, found, vectors, brought, people.keys[touched.rows], known.outcomes)

    # -- answers that go on by themselves ---------------------------------------------------------

    def _hide_known(self, taken: Taken) -> None:
        """What individuals of keys say of answers that go on by themselves is not told."""
        people, known = self.people, self.automaton
        if not self.tracer.splits:
            return
        hidden = np.zeros(len(taken.rows), np.int64)
        if kernel.find_known(
            taken.rows, taken.outcomes, taken.vectors, known.outcomes, known.programs, people.first, people.next,
            people.anchors, people.asked, hidden,
        ):  # fmt: skip
            pairs, places = np.unique(np.column_stack([taken.outcomes, hidden]), axis=0, return_inverse=True)
            variants = [
                known.variant(outcome, bits, self.per_unit) if bits else outcome for outcome, bits in pairs.tolist()
            ]
            taken.outcomes = np.array(variants, np.int64)[places.ravel()]
            taken.table = known.outcomes

    def _undone(self, taken: list[Taken], owner: int) -> list[Taken]:
        """Takes back the steps that answers of an owner took, and gives the others."""
        people, known = self.people, self.automaton
        others = []
        for each in taken:
            is_own = people.owner[each.rows] == owner
            for place in np.flatnonzero(is_own).tolist():
                row, (sequence, vector, _) = int(each.rows[place]), known.origins[int(each.outcomes[place])]
                people.shapes[row] = sequence[0]
                people.times[row, : vector.values] = each.vectors[place, : vector.values]
                own = vector.then - vector.values
                people.values[row, :own] = each.brought[place, :own]
                people.numbers[row, :own] = each.vectors[place, vector.values : vector.then]
            others.append(each.chosen(~is_own) if is_own.any() else each)
        return others

    def _handed_over(self, row: int, touched: Touched, arriving: Arriving) -> list[Given]:
        """What arrives for an individual that goes by itself from now on."""
        self._hand_over(row)
        return [
            fact
            for place in np.flatnonzero(touched.rows == row).tolist()
            for fact in self._as_facts(arriving, touched.range(place))
        ]

    # -- what is new ------------------------------------------------------------------------------

    def _learn(self, row: int, places: range, arriving: Arriving, numbers: Ints, then: Number, now: Number) -> bool:
        """Works out the step of one individual, for all that are like it; false where it has to go by itself."""
        known = self.automaton
        self.spent += LEARNING
        shape = known.shapes[int(self.people.shapes[row])]
        what = described(self.people, self.kinds, row, shape, arriving, places, numbers)
        if not what.is_fine or what.sequence in known.hopeless or len(known.steps) >= MOST_OUTCOMES:
            return False
        vector = [self._time(each) for each in self.people.times[row, : shape.times].tolist()]
        vector += [*what.known, then, now]
        vector += [self._time(int(arriving.times[place])) for place in places]
        vector += what.fresh
        try:
            step = self.tracer.step(shape, what.arrivals, vector, what.kinds)
            left = [step.after, *(each.shape for each in step.spawns)]
            if any(each.times > MOST_TIMES or len(each.values) > MOST_VALUES for each in left) or step.flows:
                raise Untraceable("too much is known")
            known.add(what.sequence, step, Vector(shape, len(what.arrivals)), len(what.kinds), self.per_unit)
        except Untraceable:
            known.hopeless.add(what.sequence)
            return False
        self.people.widen(max(each.times for each in left), max(len(each.values) for each in left))
        return True

    # -- the engine over zones --------------------------------------------------------------------

    def _hand_over(self, row: int) -> None:
        """From now on an individual goes by itself, with all its answers."""
        answers = self.people.owned(row)
        if self.now is not None:
            self.direct.now = self.direct.since = self.now
        self.direct.take_over(*merged(map(self._concrete, [row, *answers])))
        if answers:
            self.people.end(np.array(answers, np.int64))
        self.people.shapes[row] = 0
        self.people.wakes[row] = self.people.forgets[row] = kernel.NEVER
        self.people.is_direct[row] = True

    def _concrete(self, row: int) -> tuple[list[Given], dict[Any, Told]]:
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
        people = self.people
        known = people.shapes != 0
        keys = people.keys[known | people.is_direct | (people.first >= 0)]
        static = people.static_values[known | people.is_direct | (people.first >= 0)]
        used = [keys, people.values[known], static, told.keys, told.values, self.kinds.constants]
        people.forget_idle()
        self.keep_only(np.unique(np.concatenate([each.ravel() for each in used])))
        self.kinds.forget_numbers()
        self.most_symbols = 2 * len(self.symbols) + FEW_SYMBOLS

    @property
    def open_count(self) -> int:
        return int(self.automaton.open_answers[self.people.shapes[: self.people.size]].sum())

    @property
    def remembered(self) -> int:
        return int((self.people.shapes != 0).sum())

    # -- what stands ------------------------------------------------------------------------------

    def standing(self, now: Number) -> tuple[ToldRows, list[Change]]:
        """What is possible, as of the last step; of those whom symbols cannot tell, one by one."""
        who = np.flatnonzero(self.automaton.open_answers[self.people.shapes[: self.people.size]] > 0)
        found = []
        others: list[Change] = []
        at = self.in_parts(now)
        for shape in np.unique(self.people.shapes[who]).tolist():
            rows = who[self.people.shapes[who] == shape]
            for alike in groups(self.people, self.kinds, self.automaton.shapes[shape], rows, at):
                try:
                    seen = list(self.looks.of(alike, self.per_unit))
                except Untraceable:
                    self.looks.known.pop(alike.kind, None)
                    others += [change for row in alike.rows.tolist() for change in self._standing_of(row, now)]
                    continue
                for step, some in seen:
                    keys = self.people.keys[alike.rows[some]]
                    found.append((np.full(len(some), step), alike.vectors[some], alike.values[some], keys))
        return together(self.looks.steps, found, self.width), others

    def _standing_of(self, row: int, now: Number) -> list[Change]:
        engine = self.tracer.make(None)
        if self.people.owner[row] >= 0:
            engine.only = engine.line.point(self._time(int(self.people.anchors[row])))
        engine.restore(now, now, *self._concrete(row))
        return list(engine.standing())

    def key_of(self, name: str, row: Sequence[Any]) -> tuple[Value, ...]:
        return tuple(row[place] for place in self.grouping.places(name))

    def _hand_over_key(self, name: str, row: tuple[Value, ...]) -> None:
        if name in self.kinds.listening:
            numbers = self.symbols.number_all(list(self.key_of(name, row)))
            found = int(self.newcomers.rows_of(numbers.reshape(1, -1))[0])
            if not self.people.is_direct[found]:
                self._hand_over(found)

    def known(self) -> tuple[list[Given], dict[Any, Told]]:
        """What is known and told of all individuals."""
        return merged(map(self._concrete, np.flatnonzero(self.people.shapes[: self.people.size] != 0).tolist()))
