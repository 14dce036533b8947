"""Hypothetical answers of many individuals: facts in by columns, what changed about whom out by columns.

Compiled code takes the steps, many in one call (`presage.kernels.course_steps`). It stops where something is not known
yet, which is learned then, or where there is no more room. What symbols cannot tell, and individuals of whom too much
is known to be like others, go to the engine over zones as they are (`direct`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from presage.engine.symbols import Symbols
from presage.hypothesis.courses.adopting import adopt, give_away
from presage.hypothesis.courses.automaton import Automaton
from presage.hypothesis.courses.describing import Arriving, described
from presage.hypothesis.courses.entering import MOST_TIMES, MOST_VALUES, merged, written_out
from presage.hypothesis.courses.fitting import Grouping, distances
from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.kinds import Kinds
from presage.hypothesis.courses.looking import Looks, groups
from presage.hypothesis.courses.newcomers import Newcomers
from presage.hypothesis.courses.rooms import Rooms
from presage.hypothesis.courses.shapes import ToldRows, together
from presage.hypothesis.courses.static_facts import StaticFacts
from presage.hypothesis.courses.symbolic import NamesWanted, Untraceable
from presage.hypothesis.courses.tracing import Tracer, Vector
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.told import Change, Told
from presage.kernels import course_arrays as arrays
from presage.kernels import course_steps as steps
from presage.kernels import courses as kernel
from presage.kernels.arrays import Ints, Ints32
from presage.model.terms import Number, Value, number
from presage.time.stretches import Stretch

GivenStretch = tuple[str, tuple[Value, ...], Stretch]
MOST_ARRIVALS = 6
"""To whom more happens at once, it happens to nobody else."""
MOST_OUTCOMES = 4_000
LEARNING = 10
"""So many steps of one individual cost as much as to learn one for all that are alike."""
FEW_SYMBOLS = 10_000


class Away(NamedTuple):
    """When to look again whether an individual can come back: in so many steps, and twice as many each time."""

    left: int
    wait: int


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
        self.rooms = Rooms(self.people)
        self.stands = np.zeros(arrays.STANDS, np.int64)
        self.arriving: list[tuple[str, Sequence[Ints32], Ints, Ints]] = []
        self.now: Number | None = None
        self.spent = 0
        """What was spent on learning so far, beyond what it was good for, in steps of one individual."""
        self.most_symbols = FEW_SYMBOLS
        self.away: dict[int, Away] = {}
        """Who went to the engine over zones for one step, and comes back as soon as symbols can tell again."""

    # -- facts ------------------------------------------------------------------------------------

    def take(self, name: str, columns: Sequence[Ints32], times: Ints, places: Ints | None = None) -> None:
        """Facts of the coming steps by columns: the numbers of the arguments, the times in parts, and at which of the
        steps they come; without that, at the next."""
        if name in self.kinds.listening and len(times):
            self.arriving.append((name, columns, times, np.zeros(len(times), np.int64) if places is None else places))

    def _coming(self, when: Ints) -> arrays.ComingFacts:
        """The facts taken, in the order of the steps at some times."""
        found, self.arriving = self.kinds.sorted_out(self.arriving), []
        if found is None:
            nothing = np.zeros(0, np.int64)
            begins = np.zeros(len(when) + 1, np.int64)
            return arrays.ComingFacts(
                when, begins, nothing, nothing, nothing, *self._values(np.zeros((0, 1), np.int32))
            )
        keys, kinds, times, places, given = found
        if len(when) > 1 and (places[1:] < places[:-1]).any():
            order = np.argsort(places, kind="stable")
            keys, kinds, times, places, given = (each[order] for each in (keys, kinds, times, places, given))
        begins = np.searchsorted(places, np.arange(len(when) + 1))
        rows = self.newcomers.rows_of(np.ascontiguousarray(keys))
        kinds, times = np.ascontiguousarray(kinds), np.ascontiguousarray(times)
        return arrays.ComingFacts(when, begins, rows, kinds, times, *self._values(given))

    def _values(self, given: Ints) -> tuple[Ints, Ints]:
        given = np.ascontiguousarray(given)
        return given, self.kinds.numbers_of(given)

    # -- steps ------------------------------------------------------------------------------------

    def step(self, now: Number, stretches: Sequence[GivenStretch] = ()) -> tuple[list[ToldRows], list[Change]]:
        """What changes by the facts taken since the last step, and by the time. Who has facts over stretches of time
        goes by itself."""
        for name, row, _ in stretches:
            self._hand_over_key(name, row)
        told, changes = self._walk([now], now, stretches)
        return told, [change for _, some in changes for change in some]

    def through(self, when: Ints, until: Number) -> tuple[list[ToldRows], list[tuple[Number, list[Change]]]]:
        """What changes at some times, at which the facts come that were taken, and by the time alone, up to `until`; of
        those who go by themselves with the times of the steps."""
        found = self._walk(when, until, None)
        self.now = until
        return found

    def _walk(
        self, when: Sequence[Number] | Ints, until: Number, stretches: Sequence[GivenStretch] | None
    ) -> tuple[list[ToldRows], list[tuple[Number, list[Change]]]]:
        """Takes the steps at some times. Without `stretches`, not even empty ones, also those between them at which
        something changes by itself."""
        for each in self.newcomers.looked_up_again():
            self._hand_over(each)
        self.refine_to([until])
        coming = self._coming((np.asarray(when) * self.per_unit).astype(np.int64))
        last = int(until * self.per_unit)
        told: list[ToldRows] = []
        changes: list[tuple[Number, list[Change]]] = []
        stands, people, rooms = self.stands, self.people, self.rooms
        stands[[arrays.STEP, arrays.TOLD, arrays.TAKEN, arrays.LINES]] = 0
        stands[arrays.THEN] = int((-1 if self.now is None else self.now) * self.per_unit)
        per_unit = self.per_unit
        while True:
            wake = self.direct.next_wake()
            if wake is not None and not self.whole and (wake * self.per_unit) % 1:
                told.append(self._told())
                self.refine_to([wake])
            if self.per_unit > per_unit:
                factor, per_unit = self.per_unit // per_unit, self.per_unit
                coming = coming._replace(steps=coming.steps * factor, times=coming.times * factor)
                stands[arrays.THEN] *= factor
                last *= factor
            self._settle_names(coming)
            rooms.fit(coming.given.shape[1])
            stands[arrays.FREE] = people.free_count
            ended = steps.walk(
                coming, people.arrays(), self.automaton.arrays(self.kinds.payloads),
                people.waking, people.forgetting, rooms.step, rooms.told, stands,
                last, stretches is None, kernel.NEVER if wake is None else int(wake * self.per_unit),
                bool(self.direct.flowing) or bool(stretches), MOST_ARRIVALS, self.tracer.splits,
            )  # fmt: skip
            people.free_count = int(stands[arrays.FREE])
            if stands[arrays.THEN] >= 0:
                self.now = self._time(int(stands[arrays.THEN]))
            if ended == steps.DONE:
                break
            if ended == steps.BESIDE:
                facts = [*self._beside(coming), *(stretches or ())]
                assert self.now is not None
                changes.append((self.now, self._direct_step(facts, int(stands[arrays.BEFORE]), self.now)))
                if self.away:
                    told.append(self._told())
                    self._come_back()
            else:
                self._mend(ended, coming)
        self.spent -= int(stands[arrays.TAKEN])
        told.append(self._told())
        if len(self.symbols) > self.most_symbols:
            self._free_symbols(told)
        return [each for each in told if len(each.outcomes)], changes

    def _mend(self, ended: int, coming: arrays.ComingFacts) -> None:
        """Sees to it that a walk can go on."""
        stands, needed = self.stands, int(self.stands[arrays.NEEDED])
        row = int(self.rooms.step.rows[stands[arrays.PLACE]]) if ended in (steps.UNKNOWN, steps.MANY) else 0
        match ended:
            case steps.UNKNOWN:
                if not self._learn(row, int(stands[arrays.PLACE])):
                    owner = int(self.people.owner[row])
                    self._hand_over(row if owner < 0 else owner)
            case steps.MANY:
                self._hand_over(row)
            case steps.HIDDEN:
                self.automaton.add_variant(int(stands[arrays.PLACE]), int(stands[arrays.BITS]), self.per_unit)
            case steps.ROWS_FULL:
                self.people.make_room(needed, coming.rows)
            case steps.CHAINS_FULL:
                self.people.make_waiting_room(needed)
            case steps.TOLD_FULL:
                self.rooms.tell_more(needed)
            case _:
                self.rooms.step_more(needed)

    def _told(self) -> ToldRows:
        """What was told since somebody asked."""
        size, lines = int(self.stands[arrays.TOLD]), int(self.stands[arrays.LINES])
        self.stands[[arrays.TOLD, arrays.LINES]] = 0
        outcomes, vectors, values, keys, now = (each[:size].copy() for each in self.rooms.told)
        return ToldRows(self.automaton.steps, outcomes, vectors, values, keys, now, self.per_unit, lines)

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
        self.arriving = [(name, columns, times * factor, places) for name, columns, times, places in self.arriving]
        self.automaton.refine(per_unit)
        self.looks.forget()

    def _time(self, parts: int) -> Number:
        return parts if self.per_unit == 1 else number(Fraction(parts, self.per_unit))

    # -- what is new ------------------------------------------------------------------------------

    def _learn(self, row: int, place: int) -> bool:
        """Works out the step of one individual, for all that are like it; false where it has to go by itself."""
        known, room = self.automaton, self.rooms.step
        before = self.tracer.worked_out
        then, now = (self._time(int(self.stands[each])) for each in (arrays.THEN, arrays.NOW))
        some = slice(room.begins[place], room.ends[place])
        arriving = Arriving(room.kinds[some], room.times[some], room.given[some], room.numbers[some])
        places = range(len(arriving.kinds))
        shape = known.shapes[int(self.people.shapes[row])]
        what = described(self.people, self.kinds, row, shape, arriving, places)
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
        except NamesWanted:
            self.kinds.order_names()
            return True
        except Untraceable:
            known.hopeless.add(what.sequence)
            return False
        finally:
            self.spent += LEARNING * (self.tracer.worked_out - before)
        self.people.widen(max(each.times for each in left), max(len(each.values) for each in left))
        return True

    # -- the engine over zones --------------------------------------------------------------------

    def _hand_over(self, row: int) -> None:
        """From now on an individual goes by itself, with all its answers."""
        answers = self.people.owned(row)
        if self.now is not None:
            self.direct.now = self.direct.since = self.now
        self.direct.take_over(*merged(map(self._concrete, [row, *answers])))
        self.people.end(answers)
        self.people.shapes[row] = 0
        self.people.wakes[row] = self.people.forgets[row] = kernel.NEVER
        self.people.is_direct[row] = True
        self.away[row] = Away(1, 1)

    def _come_back(self) -> None:
        """Takes those back of whom symbols may tell again."""
        due = {row: away.wait for row, away in self.away.items() if away.left == 1}
        self.away = {row: Away(away.left - 1, away.wait) for row, away in self.away.items() if away.left > 1}
        if not due:
            return
        value = self.symbols.value
        keys = {tuple(value(each) for each in self.people.keys[row].tolist()) for row in due}
        known = give_away(self.direct, lambda name, row: self.key_of(name, row) in keys)
        self.people.is_direct[list(due)] = False
        adopt(self, self.now, *known)
        for row, wait in due.items():
            if self.people.is_direct[row]:
                self.away[row] = Away(2 * wait, 2 * wait)

    def _settle_names(self, coming: arrays.ComingFacts | None = None) -> None:
        """Everybody has the numbers that names have now."""
        while self.kinds.names_moved:
            self.kinds.names_moved = False
            self.kinds.moved(self.people.values, self.people.numbers)
            self.kinds.moved(self.people.static_values, self.people.static_numbers)
            if coming is not None:
                self.kinds.moved(coming.given, coming.numbers)

    def _beside(self, coming: arrays.ComingFacts) -> Iterator[GivenStretch]:
        """The facts of the last step for those who go by themselves."""
        step = int(self.stands[arrays.STEP]) - 1
        if step < 0 or coming.steps[step] != self.stands[arrays.THEN]:
            return
        line, value = self.direct.line, self.symbols.value
        begin, end = int(coming.begins[step]), int(coming.begins[step + 1])
        for fact in (begin + np.flatnonzero(self.people.is_direct[coming.rows[begin:end]])).tolist():
            kind = self.kinds.all[int(coming.kinds[fact])]
            key, given = self.people.keys[int(coming.rows[fact])], coming.given[fact]
            row = []
            for ref in kind.row:
                match ref.kind:
                    case "key":
                        row.append(value(int(key[ref.what])))
                    case "value":
                        row.append(value(int(given[ref.what])))
                    case _:
                        row.append(ref.what)
            yield kind.predicate, tuple(row), line.point(self._time(int(coming.times[fact])))

    def _concrete(self, row: int) -> tuple[list[GivenStretch], dict[Any, Told]]:
        """What is known and told of an individual, with its times and values."""
        shape, value = self.automaton.shapes[int(self.people.shapes[row])], self.symbols.value
        return written_out(
            shape,
            [self._time(each) for each in self.people.times[row, : shape.times].tolist()],
            [value(each) for each in self.people.values[row, : len(shape.values)].tolist()],
            [value(each) for each in self.people.keys[row].tolist()],
        )

    def _direct_step(self, facts: list[Any], before: int, now: Number) -> list[Change]:
        """`before` is the time of the last step in parts, below zero where this one is the first."""
        direct = self.direct
        wake = direct.next_wake()
        if not facts and not direct.flowing and (wake is None or wake > now):
            return []
        if before >= 0:
            direct.now = self._time(before)
        return direct.step(facts, now)

    # -- time and memory --------------------------------------------------------------------------

    def next_wake(self) -> Number | None:
        parts, direct = self.people.next_wake(), self.direct.next_wake()
        mine = None if parts is None else self._time(parts)
        return direct if mine is None else mine if direct is None else min(mine, direct)

    def _free_symbols(self, told: Sequence[ToldRows]) -> None:
        """Gives back the numbers of constants that nobody has any more."""
        people = self.people
        known = people.shapes != 0
        keys = people.keys[known | people.is_direct | (people.first >= 0)]
        static = people.static_values[known | people.is_direct | (people.first >= 0)]
        used = [keys, people.values[known], static, self.kinds.constants]
        used += [part for each in told for part in (each.keys, each.values)]
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
        self._settle_names()
        who = np.flatnonzero(self.automaton.open_answers[self.people.shapes[: self.people.size]] > 0)
        found = []
        others: list[Change] = []
        at = self.in_parts(now)
        for shape in np.unique(self.people.shapes[who]).tolist():
            rows = who[self.people.shapes[who] == shape]
            for alike in groups(self.people, self.kinds, self.automaton.shapes[shape], rows, at):
                try:
                    seen = list(self.looks.of(alike, self.per_unit))
                except NamesWanted:
                    self.kinds.order_names()
                    return self.standing(now)
                except Untraceable:
                    self.looks.known.pop(alike.kind, None)
                    others += [change for row in alike.rows.tolist() for change in self._standing_of(row, now)]
                    continue
                for step, some in seen:
                    keys = self.people.keys[alike.rows[some]]
                    found.append((np.full(len(some), step), alike.vectors[some], alike.values[some], keys))
        return together(self.looks.steps, found, self.width, at, self.per_unit), others

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

    def known(self) -> tuple[list[GivenStretch], dict[Any, Told]]:
        """What is known and told of all individuals."""
        return merged(map(self._concrete, np.flatnonzero(self.people.shapes[: self.people.size] != 0).tolist()))
