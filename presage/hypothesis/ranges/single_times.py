"""Atoms judged at single times: what speaks for one, what is known of all that have some values, and whether premises
can hold together in one continuation of the stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from presage.hypothesis.ranges.at_times import (
    apart_from,
    equal_to,
    excluded_values,
    is_within,
    matched,
    names_in,
    premises,
    put_in,
    time_of,
    with_values,
)
from presage.hypothesis.ranges.families import AtomFamily, AtomField
from presage.hypothesis.ranges.judging import AtomByAtom, earliest
from presage.hypothesis.ranges.pieces import ZonePiece, canonical, extent
from presage.hypothesis.ranges.told import is_open
from presage.hypothesis.ranges.turns import turns
from presage.hypothesis.ranges.world import Judged
from presage.hypothesis.together import Premises, Search
from presage.hypothesis.words import Comparisons
from presage.model.terms import Number, Value, Values
from presage.patterns.literals import Argument, Lit, Open, Someone
from presage.patterns.zoned import Need
from presage.time.sameness import distinct
from presage.time.stretches import Stretch
from presage.time.zones import ANSWER, Zone, joined

if TYPE_CHECKING:
    from presage.hypothesis.ranges.engine import Ranges

MOST_CHOICES = 1_000
"""So many choices of open times are looked at one by one."""
AtomAt = tuple[str, tuple[Argument, ...], Number]
FieldAt = tuple[str, tuple[Value | None, ...], Number]
NOWHERE = Judged([], [])


class AtPoints(AtomByAtom):
    """Judges atoms, one time after the other."""

    def __init__(self, engine: Ranges) -> None:
        super().__init__(engine)
        self.decided: dict[tuple[str, Number], dict[tuple[Argument, ...], bool]] = {}
        """What became of atoms, and will not change."""
        self.asked: dict[AtomAt, tuple[bool | None, Number | None]] = {}
        """What was found of atoms at this step, and when that changes by time alone."""
        self.fields: dict[FieldAt, tuple[AtomField, Number | None]] = {}
        self.feasible: dict[Premises, bool] = {}
        self.ways_of: dict[Lit, list[Premises]] = {}
        self.settled: dict[FieldAt, AtomField] = {}
        """What is known of all atoms at a time, none of which is open."""

    def begin(self) -> None:
        for memo in (self.asked, self.fields, self.feasible, self.ways_of):
            memo.clear()

    @property
    def now(self) -> Number:
        assert self.engine.now is not None
        return self.engine.now

    # -- atoms ------------------------------------------------------------------------------------

    def judge(self, name: str, arguments: Values, times: Stretch) -> Judged:
        """Of one time whether an atom is true or never can be; of more of them nothing."""
        if not self.engine.line.is_point(times):
            return NOWHERE
        found = self.ask(name, arguments, times.first[0])  # type: ignore[arg-type]
        return NOWHERE if found is None else Judged([times], []) if found else Judged([], [times])

    def ask(self, name: str, arguments: tuple[Argument, ...], at: Number) -> bool | None:
        """Whether an atom is true, false, or open (`None`)."""
        if at < 0:
            return False
        known = self.decided.get((name, at), {}).get(arguments)
        if known is not None:
            return known
        field = self.settled.get((name, (None,) * len(arguments), at))
        if field is not None:
            return any(each.has(arguments) for each in field.certain)
        key = (name, arguments, at)
        if key not in self.asked:
            before, self.wake = self.wake, None
            found: bool | None = False
            for piece in self.at(name, arguments, at):
                if not piece.needs:
                    found = True
                    break
                if found is False and self.can_be(piece):
                    found = None
            self.asked[key] = found, self.wake
            self.wake = before
            if found is not None and not any(isinstance(each, Someone) for each in arguments):
                self.decided.setdefault((name, at), {})[arguments] = found
        found, wake = self.asked[key]
        if found is None:
            self.wake = earliest(self.wake, wake)
        return found

    def at(self, name: str, arguments: Sequence[Argument], at: Number) -> Iterator[ZonePiece]:
        """What speaks for an atom at a time, as far as its literals one by one say."""
        point = self.engine.line.point(at)
        for matching in self.engine.matchings[name]:
            for piece in list(matching.pieces(arguments, self.now, point)):
                for _, part in self._by_delay((), piece):
                    self._wakes(part)
                    yield part

    def _by_delay(
        self, arguments: tuple[Argument, ...], piece: ZonePiece
    ) -> Iterator[tuple[tuple[Argument, ...], ZonePiece]]:
        """A piece apart for open values whose facts have a delay of their own, each with the answer's arguments."""
        delays = self.engine.delays
        refined = [each for each in piece.needs if each.positive and each.predicate not in delays.plain]
        for need in refined:
            excluded = excluded_values(piece, need)
            for refinement in delays.refinements(need.predicate):
                values = matched(
                    need.arguments, [dict(refinement).get(at, have) for at, have in enumerate(need.arguments)]
                )
                opened = frozenset(pair for pair in refinement if isinstance(need.arguments[pair[0]], Open))
                if not values or any(each <= opened for each in excluded):
                    continue
                part = with_values(piece, values)
                if part is not None:
                    yield from self._by_delay(put_in(arguments, values), part)
                limits = tuple(distinct((*piece.limits, equal_to(values))))
                yield from self._by_delay(arguments, replace(piece, limits=limits))
                return
        for need in refined:
            high = extent(piece.zone, need.low)[1]
            delay = delays.of(need.predicate, need.arguments, excluded_values(piece, need))
            if high is not None and high + delay <= self.now:
                return
        yield arguments, piece

    def _wakes(self, piece: ZonePiece) -> None:
        """When something about a piece changes by time alone."""
        engine = self.engine
        for at in turns(piece, engine.delays, engine.matchings, self.now, engine.line):
            if at > self.now:
                self.wake = earliest(self.wake, at)

    def field(self, name: str, given: Sequence[Value | None], at: Number) -> AtomField:
        """All that is known of an atom at a time, of which some values are given."""
        key = (name, tuple(given), at)
        if key in self.settled:
            return self.settled[key]
        if key not in self.fields:
            before, self.wake = self.wake, None
            if name in self.engine.matchings:
                found = self._derived_field(name, tuple(given), at)
            else:
                found = self._input_field(name, tuple(given), at)
            self.fields[key] = found, self.wake
            self.wake = before
            if not found.possible and name in self.engine.matchings:
                self.settled[key] = found
        found, wake = self.fields[key]
        self.wake = earliest(self.wake, wake)
        return found

    def _input_field(self, name: str, given: tuple[Value | None, ...], at: Number) -> AtomField:
        engine = self.engine
        point = engine.line.point(at)
        certain = [
            AtomFamily(row)
            for row in engine.memory.rows(name, given)
            if any(each.meet(point) is not None for each in engine.memory.times(name, row))
        ]
        opened = tuple(Open(f"V{place}") if value is None else value for place, value in enumerate(given))
        possible = []
        rest: tuple[Argument, ...] = opened
        singled: list[AtomFamily] = []
        for refinement in engine.delays.refinements(name):
            known = dict(refinement)
            row = tuple(known.get(place, value) for place, value in enumerate(opened))
            if any(
                value != known.get(place, value) and not isinstance(value, Open) for place, value in enumerate(opened)
            ):
                continue
            singled.append(AtomFamily(row))
        for family in (*singled, AtomFamily(rest)):
            others = [each for each in singled if each is not family and is_within(each, family)]
            without = [apart_from(each, family) for each in others]
            delay = engine.delays.of(
                name,
                family.arguments,
                [
                    frozenset(
                        (place, value)
                        for place, value in enumerate(each.arguments)
                        if isinstance(family.arguments[place], Open) and not isinstance(value, Open)
                    )
                    for each in others
                ],
            )
            if at + delay > self.now:
                possible.append(AtomFamily(family.arguments, tuple(without)))
                self.wake = earliest(self.wake, at + delay)
        return AtomField(certain, possible)

    def _derived_field(self, name: str, given: tuple[Value | None, ...], at: Number) -> AtomField:
        point = self.engine.line.point(at)
        certain: list[AtomFamily] = []
        possible: list[AtomFamily] = []
        somebody: dict[tuple[Argument, ...], None] = {
            row: None
            for row in self.decided.get((name, at), {})
            if all(value is None or value == have for value, have in zip(given, row, strict=True))
        }
        for matching in self.engine.matchings[name]:
            found = list(matching.found(given, self.now, point))
            for arguments, piece in (part for each in found for part in self._by_delay(*each)):
                if not is_open(arguments):
                    somebody[arguments] = None
                    continue
                self._wakes(piece)
                shown = {each.name for each in arguments if isinstance(each, Open)}
                family = AtomFamily(arguments, tuple(each for each in piece.limits if names_in(each) <= shown))
                if not piece.needs:
                    certain.append(family)
                elif self.can_be(piece):
                    possible.append(family)
        for row in somebody:
            known = self.ask(name, row, at)
            if known is not False:
                (certain if known else possible).append(AtomFamily(row))
        # Single ones first: what falls apart by them is about somebody.
        return AtomField(
            sorted(distinct(certain), key=lambda each: not each.is_single),
            sorted(distinct(possible), key=lambda each: not each.is_single),
        )

    # -- what can hold together -------------------------------------------------------------------

    def _possible(self, piece: ZonePiece) -> Iterator[ZonePiece]:
        """The parts of a piece that can come true: of open times each choice by itself, those together again that are
        told alike."""
        if not self._hangs_on_evolutions(piece):
            yield piece
            return
        zones: dict[tuple[Comparisons, ...], list[Zone]] = {}
        for part in self.choices(piece):
            if self.can_be(part):
                part = self._without_hindrances(part)
                zones.setdefault(part.limits, []).append(part.zone)
        for limits, alike in zones.items():
            for zone in joined(alike):
                yield canonical(replace(piece, zone=zone, limits=limits))

    def _hangs_on_evolutions(self, piece: ZonePiece) -> bool:
        return any(not each.positive and each.predicate in self.engine.matchings for each in piece.needs)

    def choices(self, piece: ZonePiece) -> Iterator[ZonePiece]:
        zone, size = piece.zone, piece.zone.size
        ranges = []
        number_of = 1
        for variable in range(ANSWER + 1, size):
            known = zone.range(variable)
            if known.low is None or known.high is None or not self.engine.line.whole:
                yield piece
                return
            ranges.append(range(int(known.low), int(known.high) + 1))
            number_of *= len(ranges[-1])
        if not ranges or number_of > MOST_CHOICES:
            yield piece
            return
        for chosen in product(*ranges):
            fixed = [
                constraint
                for place, at in enumerate(chosen)
                for constraint in self.engine.line.point(at).within(ANSWER + 1 + place)
            ]
            part = zone.within(fixed)
            if not part.empty:
                yield replace(piece, zone=part)

    def can_be(self, piece: ZonePiece) -> bool:
        """Whether the premises of a piece can all hold in one continuation of the stream."""
        return not self._hangs_on_evolutions(piece) or any(
            self.together(premises(each)) for each in self.choices(piece)
        )

    def together(self, needs: Premises) -> bool:
        """Whether facts can arrive and atoms stay false in one continuation of the stream."""
        if needs not in self.feasible:
            self.feasible[needs] = Search(self.ways).finds(needs)
        return self.feasible[needs]

    def ways(self, lit: Lit) -> list[Premises]:
        """What is missing in each way of an atom, or of an input fact, at a known time."""
        if isinstance(lit.time, Open) or lit.time < 0:
            return []
        atom = Lit(True, *lit.atom)
        if atom not in self.ways_of:
            before = self.wake
            self.ways_of[atom] = distinct(self._ways(atom))
            self.wake = before
        return self.ways_of[atom]

    def _ways(self, atom: Lit) -> Iterator[Premises]:
        name, arguments, at = atom.atom
        assert not isinstance(at, Open)
        if name in self.engine.matchings:
            for piece in self.at(name, arguments, at):
                yield from map(premises, self.choices(piece))
            return
        point = self.engine.line.point(at)
        if any(each.meet(point) is not None for each in self.engine.memory.times(name, arguments)):  # type: ignore[arg-type]
            yield frozenset()
        elif at + self.engine.delays.of(name, arguments) > self.now:
            yield frozenset({atom})

    def _without_hindrances(self, piece: ZonePiece) -> ZonePiece:
        """A piece without values for its open variables whose arrival would make an atom true that must not be."""
        waiting = [each for each in piece.needs if each.positive and is_open(each.arguments)]
        if not waiting:
            return piece
        for lit in [each.of_someone() for each in premises(piece) if not each.positive]:
            for way in self.ways(lit):
                for need in way:
                    if not need.positive or any(isinstance(each, Someone) for each in need.arguments):
                        continue
                    for premise in waiting:
                        piece = self._without(piece, premise, need)
        return piece

    def _without(self, piece: ZonePiece, premise: Need, need: Lit) -> ZonePiece:
        if premise.predicate != need.predicate or time_of(piece, premise.low) != need.time:
            return piece
        values = matched(premise.arguments, need.arguments)
        if not values:
            return piece
        part = with_values(piece, values)
        if part is None or self.can_be(part):
            return piece
        return replace(piece, limits=tuple(distinct((*piece.limits, equal_to(values)))))
