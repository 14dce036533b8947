"""All individuals of a query: who is where, which facts are whose, and the answers about everybody but some.

Individuals are rows of arrays. A step finds for each group of rows with the same past and the same arrivals the
one course they all take (`course.py`); objects are made only of what is looked at, and then the very ones that
the general engine makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from presage.engine.symbols import Symbols
from presage.hypothesis.bulk.engine import FEW_SYMBOLS, Arrivals, Bulk, ConstantsByNumber
from presage.hypothesis.engine import AnswerChange, AnswerState, Hypotheses
from presage.hypothesis.grid.course import Common, Content, Course, CourseTable
from presage.hypothesis.grid.fitting import InputCell, Layout
from presage.hypothesis.grid.world import CellFact, JudgedRule, NodeAtTime, layouts
from presage.hypothesis.ways import Way, minimal_ways
from presage.hypothesis.words import exclusion_clause, show_clause
from presage.kernels.arrays import Ints, Ints32
from presage.patterns.literals import Lit, Open
from presage.patterns.premises import Fixed

NOBODY = -1
ROOM = 64


@dataclass(frozen=True, slots=True)
class GeneralAnswer:
    """An answer about everybody but some: its ways, and for each the keys of those it is not about."""

    node: int
    at: int
    status: str
    pieces: tuple[JudgedRule, ...]
    ways: tuple[Way, ...]
    exceptions: tuple[Ints, ...]

    def same(self, other: GeneralAnswer) -> bool:
        return (
            (self.status, self.ways) == (other.status, other.ways)
            and all(len(a) == len(b) for a, b in zip(self.exceptions, other.exceptions, strict=True))
            and all(np.array_equal(a, b) for a, b in zip(self.exceptions, other.exceptions, strict=True))
        )


@dataclass(frozen=True, slots=True)
class GridChanges:
    """What is told: of groups of individuals, and of everybody."""

    layout: Layout
    groups: list[tuple[Ints, tuple[tuple[int, int, AnswerState], ...]]]
    """Keys of individuals with the answers, by node and time, that all of them have."""
    lines: list[GeneralAnswer]

    def __len__(self) -> int:
        return sum(len(keys) * len(told) for keys, told in self.groups) + len(self.lines)

    def confirmed(self) -> GridChanges:
        groups = [(keys, tuple(each for each in told if each[2].status == "confirmed")) for keys, told in self.groups]
        return GridChanges(self.layout, groups, [each for each in self.lines if each.status == "confirmed"])

    def changes(self, values: ConstantsByNumber) -> Iterator[AnswerChange]:
        """As the general engine would tell of them."""
        for keys, told in self.groups:
            for key in keys.tolist() if told else ():
                individual = [values[each] for each in key]
                for node, at, state in told:
                    ways = tuple(self._way(way, individual, at) for way in state.ways)
                    arguments = self._filled(self.layout.nodes[node].template, individual)
                    yield AnswerChange(self.layout.name, (arguments, at), AnswerState(state.status, ways))
        for line in self.lines:
            yield self._line(line, values)

    def _filled(self, template: Sequence[int | Fixed], individual: Sequence[Any]) -> Any:
        return tuple(each.value if isinstance(each, Fixed) else individual[each] for each in template)

    def _lits(self, lits: frozenset[Lit], individual: Sequence[Any], at: int) -> frozenset[Lit]:
        found = []
        for lit in lits:
            positive, predicate, template, offset = self.layout.origins[lit]
            found.append(Lit(positive, predicate, self._filled(template, individual), at + offset))
        return frozenset(found)

    def _way(self, way: Way, individual: Sequence[Any], at: int) -> Way:
        return Way(self._lits(way.needs, individual, at), self._lits(way.because, individual, at))

    def _line(self, line: GeneralAnswer, values: ConstantsByNumber) -> AnswerChange:
        ways = []
        for piece, way, exceptions in zip(line.pieces, line.ways, line.exceptions, strict=True):
            rule = piece.rule
            limits = []
            order = sorted(range(self.layout.width), key=lambda key: rule.slots[key])
            for key in exceptions.tolist():
                exclusion = [(rule.slots[place], values[key[place]]) for place in order]
                limits.append(exclusion_clause(exclusion, rule.pattern.names))
            limits.sort(key=show_clause)
            everybody = [Open(name) for name in rule.names]
            plain = self._way(way, everybody, line.at)
            ways.append(Way(plain.needs, plain.because, tuple(map(show_clause, limits)), tuple(limits)))
        arguments = self._filled(
            self.layout.nodes[line.node].template, [Open(name) for name in line.pieces[0].rule.names]
        )
        return AnswerChange(self.layout.name, (arguments, line.at), AnswerState(line.status, tuple(ways)))


class QueryIndividuals:
    """The individuals of one query."""

    def __init__(self, layout: Layout, symbols: Symbols, everybody: bool) -> None:
        self.layout, self.symbols, self.everybody = layout, symbols, everybody
        self.courses = CourseTable(layout)
        self.common = 0
        """Where nobody is."""
        # Before the first step nothing was settled, not even what is so before its own time.
        self.now = -1 - max(0, *(-each for each in layout.settled))
        self.rows: dict[Any, int] = {}
        self.keys = np.zeros((ROOM, layout.width), np.int64)
        self.places = np.full(ROOM, NOBODY, np.int64)
        self.free: list[int] = []
        self.lines: dict[tuple[int, tuple[str, ...], int], GeneralAnswer] = {}
        """What was told about everybody, by node, names and time."""
        self.cells = [self._translated(cell) for cell in layout.cells]

    def _translated(self, cell: InputCell) -> tuple[list[tuple[int, int]], list[int]]:
        """Where a cell's facts have constants, as numbers, and where the individual's values."""
        constants = [
            (place, self.symbols.number(each.value))
            for place, each in enumerate(cell.template)
            if isinstance(each, Fixed)
        ]
        return constants, [cell.template.index(key) for key in range(self.layout.width)]

    # -- a step -----------------------------------------------------------------------------------

    def step(self, now: int, arriving: Arrivals) -> GridChanges:
        if self.courses.is_full:
            self._forget_courses()
        return self._go_on(now, *self._arrivals(now, arriving))

    def resume(self, keys: Ints, known: Sequence[tuple[Content, frozenset[CellFact]]]) -> None:
        """Puts individuals where they were: what is known of each but its facts, and those."""
        rows = self._rows_of(keys)
        sets: dict[frozenset[CellFact], int] = {frozenset(): 0}
        group = np.zeros(len(self.places), np.int64)
        for row, (content, facts) in zip(rows.tolist(), known, strict=True):
            self.places[row] = self.courses.place_of(content)
            group[row] = sets.setdefault(facts, len(sets))
        self._go_on(self.now, list(sets), group)

    def _go_on(self, now: int, sets: list[frozenset[CellFact]], group: Ints) -> GridChanges:
        """All individuals, each with the set of its facts that arrived, at `now`."""
        passed, self.now = now - self.now, now
        live = np.flatnonzero(self.places >= 0)
        found, member, counts = _distinct(self.places[live] * len(sets) + group[live])
        before = self.common
        common = self.courses.common(before, passed, now)
        courses = [
            self.courses.course(code // len(sets), before, passed, now, sets[code % len(sets)])
            for code in found.tolist()
        ]
        places = np.array([course.place for course in courses], np.int64)
        self.common = common.place
        groups = self._told(courses, live, member, counts, now)
        lines = list(self._about_everybody(common, courses, live, member, now))
        self.places[live] = places[member]
        self._release(live[self.places[live] == self.common])
        return GridChanges(self.layout, groups, self._asked_of(lines))

    def _asked_of(self, lines: Iterable[GeneralAnswer]) -> list[GeneralAnswer]:
        """Lines about everybody, where they are asked for; what is about nobody in particular always is."""
        return [each for each in lines if self.everybody or not each.pieces[0].rule.names]

    def _arrivals(self, now: int, arriving: Arrivals) -> tuple[list[frozenset[CellFact]], Ints]:
        """The sets of facts that arrive of one individual, and for each row the number of its set."""
        marks: list[tuple[CellFact, Ints]] = []
        for index, (constants, places) in enumerate(self.cells):
            for rows, times in arriving.get(self.layout.cells[index].predicate, ()):
                fits = np.ones(len(times), bool)
                for place, number in constants:
                    fits &= rows[:, place] == number
                if not fits.any():
                    continue
                given = self._rows_of(rows[fits][:, places])
                at = times[fits]
                for time in np.unique(at).tolist():
                    marks.append(((index, time - now), given[at == time]))
        sets: dict[frozenset[CellFact], int] = {frozenset(): 0}
        group = np.zeros(len(self.places), np.int64)
        for fact, marked in marks:
            known = list(sets)
            after = np.arange(len(known))
            for number in np.unique(group[marked]).tolist():
                after[number] = sets.setdefault(known[number] | {fact}, len(sets))
            group[marked] = after[group[marked]]
        return list(sets), group

    def _rows_of(self, keys: Ints32 | Ints) -> Ints:
        """The rows of individuals; new ones begin where nobody is."""
        names: list[Any] = keys[:, 0].tolist() if self.layout.width == 1 else list(map(tuple, keys.tolist()))
        found = np.fromiter(map(self.rows.get, names, repeat(NOBODY)), np.int64, len(names))
        for place in np.flatnonzero(found < 0).tolist():
            row = self.rows.get(names[place])
            if row is None:
                if not self.free:
                    self._grow()
                row = self.free.pop()
                self.rows[names[place]] = row
                self.keys[row] = keys[place]
                self.places[row] = self.common
            found[place] = row
        return found

    def _grow(self) -> None:
        used = len(self.rows)
        size = max(ROOM, 2 * used)
        for name in ("keys", "places"):
            old = getattr(self, name)
            new = np.full((size, *old.shape[1:]), NOBODY, np.int64)
            new[: len(old)] = old
            setattr(self, name, new)
        self.free = list(range(size - 1, used - 1, -1))

    def _release(self, rows: Ints) -> None:
        """Individuals of whom there is no more to know than of nobody."""
        for row, key in zip(rows.tolist(), self.keys[rows].tolist(), strict=True):
            del self.rows[key[0] if self.layout.width == 1 else tuple(key)]
            self.free.append(row)
        self.places[rows] = NOBODY

    def _told(
        self, courses: list[Course], live: Ints, member: Ints, counts: Ints, now: int
    ) -> list[tuple[Ints, tuple[tuple[int, int, AnswerState], ...]]]:
        """The keys of individuals who took the same course, with what is told of them."""
        groups = []
        states = self.courses.states
        ordered = live[np.argsort(member, kind="stable")]
        begin = 0
        for course, count in zip(courses, counts.tolist(), strict=True):
            if course.changes:
                told = tuple((each.node, now + each.at, states[each.state]) for each in course.changes)
                groups.append((self.keys[ordered[begin : begin + count]], told))
            begin += count
        return groups

    # -- everybody --------------------------------------------------------------------------------

    def _about_everybody(
        self, common: Common, courses: list[Course], live: Ints, member: Ints, now: int
    ) -> Iterator[GeneralAnswer]:
        seen = set()
        for (node, at), pieces in common.lines.items():
            apart = [course.apart.get((node, at), (0, False)) for course in courses]
            certain = [each for each in pieces if each.is_certain]
            groups: dict[tuple[str, ...], list[JudgedRule]] = {}
            for piece in certain or pieces:
                groups.setdefault(piece.rule.names, []).append(piece)
            for names, group in groups.items():
                key = (node, names, now + at)
                seen.add(key)
                line = self._line((node, at), group, apart, live, member, common.world.first, now)
                if line is not None and (key not in self.lines or not self.lines[key].same(line)):
                    self.lines[key] = line
                    yield line
        for key in [each for each in self.lines if each not in seen]:
            del self.lines[key]

    def _line(
        self,
        atom: NodeAtTime,
        pieces: list[JudgedRule],
        apart: list[tuple[int, bool]],
        live: Ints,
        member: Ints,
        first: int,
        now: int,
    ) -> GeneralAnswer | None:
        node, at = atom
        is_certain = pieces[0].is_certain
        ways: dict[Way, tuple[JudgedRule, list[bool]]] = {}
        for piece in pieces:
            out = [bool(rules >> piece.rule.index & 1 or (own and not is_certain)) for rules, own in apart]
            # Whether a way makes another one superfluous hangs on whom each is not about.
            unless = tuple(str(course) for course, excluded in enumerate(out) if excluded)
            plain = self.courses.way(piece, at, first)
            ways.setdefault(Way(plain.needs, plain.because, unless, ((),) * len(unless)), (piece, out))
        kept = list(ways) if is_certain else minimal_ways(ways)
        if not kept:
            return None
        exceptions = []
        for way in kept:
            out = ways[way][1]
            keys = self.keys[live[np.array(out, bool)[member]]] if way.unless else self.keys[:0]
            exceptions.append(keys[np.lexsort(keys.T)])
        return GeneralAnswer(
            node,
            now + at,
            "confirmed" if is_certain else "possible",
            tuple(ways[way][0] for way in kept),
            tuple(Way(way.needs, way.because) for way in kept),
            tuple(exceptions),
        )

    # -- memory -----------------------------------------------------------------------------------

    def standing(self) -> GridChanges:
        """What is possible now."""
        live = np.flatnonzero(self.places >= 0)
        found, member, counts = _distinct(self.places[live])
        groups = []
        ordered = live[np.argsort(member, kind="stable")]
        begin = 0
        for place, count in zip(found.tolist(), counts.tolist(), strict=True):
            told = tuple(each for each in self.told(place) if each[2].status == "possible")
            groups.append((self.keys[ordered[begin : begin + count]], told))
            begin += count
        lines = self._asked_of(each for each in self.lines.values() if each.status == "possible")
        return GridChanges(self.layout, groups, lines)

    def told(self, place: int) -> Iterator[tuple[int, int, AnswerState]]:
        """What was told of the individuals at a place."""
        for (node, at), state in self.courses.contents[place].told:
            if state:
                yield node, self.now + at, self.courses.states[state]

    def next_wake(self) -> int | None:
        """The next time at which something may change though nothing arrives."""
        if self.layout.lead is not None:
            return max(0, self.now + 1)
        for place in np.unique(self.places[self.places >= 0]).tolist():
            course = self.courses.course(place, self.common, 1, self.now + 1, frozenset())
            if course.changes or course.place != place:
                return self.now + 1
        return None

    def used(self) -> Iterator[Ints]:
        """The numbers of constants that are in use."""
        yield self.keys[self.places >= 0].ravel()
        for line in self.lines.values():
            for keys in line.exceptions:
                yield keys.ravel()
        yield np.array([number for constants, _ in self.cells for _, number in constants], np.int64)

    def _forget_courses(self) -> None:
        """Finds courses anew from where the individuals are now."""
        contents = self.courses.contents
        live = np.flatnonzero(self.places >= 0)
        found, member, _ = _distinct(self.places[live])
        self.courses.clear()
        self.common = self.courses.place_of(contents[self.common])
        places = np.array([self.courses.place_of(contents[each]) for each in found.tolist()], np.int64)
        self.places[live] = places[member]


class Grids:
    """The hypothetical answers of queries whose layouts allow it."""

    def __init__(self, layouts: Sequence[Layout], everybody: bool) -> None:
        self.intake = Bulk(())
        self.intake.listens = {cell.predicate for layout in layouts for cell in layout.cells}
        self.grids = [QueryIndividuals(layout, self.intake.symbols, everybody) for layout in layouts]
        self.most_symbols = FEW_SYMBOLS

    @property
    def now(self) -> int | None:
        return self.intake.now

    def step(self, now: int) -> list[GridChanges]:
        """What changes by the facts taken in since the last step, and by the time."""
        arriving = self.intake.handed_over(now)
        found = [grid.step(now, arriving) for grid in self.grids]
        symbols = self.intake.symbols
        if len(symbols) > self.most_symbols:
            used = [keys for grid in self.grids for keys in grid.used()]
            used += [keys.ravel() for changed in found for keys, _ in changed.groups]
            self.intake.keep_only(np.concatenate(used))
            self.most_symbols = 2 * len(symbols) + FEW_SYMBOLS
        return found

    def standing(self) -> list[GridChanges]:
        return [grid.standing() for grid in self.grids]

    def next_wake(self) -> int | None:
        wakes = [wake for grid in self.grids if (wake := grid.next_wake()) is not None]
        return min(wakes, default=None)

    @property
    def remembered(self) -> int:
        return self.intake.remembered + sum(len(grid.rows) for grid in self.grids)


def _distinct(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct numbers, for each the place of its own among them, and how many there are of each."""
    size = int(codes.max(initial=0)) + 1
    if size > 4 * len(codes) + 4096:
        return np.unique(codes, return_inverse=True, return_counts=True)
    counts = np.bincount(codes, minlength=size)
    found = np.flatnonzero(counts)
    places = np.zeros(size, np.int64)
    places[found] = np.arange(len(found))
    return found, places[codes], counts[found]


def grids_of(engine: Hypotheses, everybody: bool) -> Grids | None:
    """What works off a program by individuals, if these have nothing to do with each other."""
    alike = layouts(engine)
    return None if alike is None else Grids(alike, everybody)
