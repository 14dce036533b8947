"""What is settled and what is open about atoms that occur negated, and whether a way can come true.

An atom is true once it has a way without premises, open while it has a way whose premises can hold
together, false otherwise; all from the records as they are after a step's facts and deadlines, and
recursively for the negated literals of those ways, which T-stratification makes well-founded. True and
false are final and remembered; open is asked again when something changes.

Whether premises can hold together: the facts needed arrive, and nothing else unless it is needed to
keep a negated atom false. If a way of such an atom is complete with the facts assumed, one of that
way's own negated atoms has to be made true, by any of its ways, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from presage.hypothesis.choices import by_delay, chosen
from presage.hypothesis.pieces import Family, Piece, Same, equated, inside, meet, outside, singled_out
from presage.hypothesis.records import PartialMatch
from presage.hypothesis.standing import StandingRecords, bind_piece
from presage.hypothesis.together import are_met
from presage.model.terms import Constant, Number, Values, Variable
from presage.patterns.literals import Argument, Lit, Open, Someone
from presage.patterns.premises import Premise


class Asker(NamedTuple):
    """Who wants to hear of changes: an answer or all answers at a time, of a query (`shown`) or below a `not`."""

    name: str
    time: Number
    arguments: Values | None
    shown: bool = False


MOST_SEARCH = 2_000


class Judge:
    def __init__(
        self,
        standings: dict[str, StandingRecords],
        has_arrived: Callable[[str, tuple[object, ...], Number], bool],
        wake: Callable[[Number, Asker | None], None],
        discrete: bool,
    ) -> None:
        self.discrete = discrete
        self.standings, self.has_arrived, self.wake = standings, has_arrived, wake
        self.now: Number = -1
        self.asker: Asker | None = None
        self.opened: set[tuple[str, Values, Number]] = set()
        self.fields: dict[tuple[str, Number], tuple[list[Family], list[Piece]]] = {}
        self.settled: dict[tuple[str, Number], tuple[list[Family], list[Piece]]] = {}
        self.feasible: dict[frozenset[Lit], bool] = {}

    def begin(self, now: Number) -> None:
        """A step's facts are in and its deadlines are past: what was open may be so no more."""
        self.now = now
        self.opened.clear()
        self.fields.clear()
        self.feasible.clear()

    # -- pieces -----------------------------------------------------------------------------------

    def of_record(self, record: PartialMatch) -> list[Piece]:
        return self.judged(Piece(record.matcher, record.slots, record.times, record.met))

    def judged(self, piece: Piece) -> list[Piece]:
        """The pieces of a record that can still come true, as far as its literals one by one say."""
        pieces = [
            part
            for each in by_delay(without_unequal(self.without_static(piece)))
            for part in chosen(each, self.now, self.discrete)
            if self.viable(part)  # what can no longer be met need not be judged, nor what lies below it
        ]
        for index, absence in enumerate(piece.matcher.pattern.absences):
            pieces = [part for each in pieces for part in self.absence(each, index, absence)]
        return [part for each in pieces if self.viable(each) and (part := without_contradictions(each)) is not None]

    def without_static(self, piece: Piece) -> Piece:
        """The piece without the values that a negated static atom with open variables excludes."""
        matcher = piece.matcher
        for lookup in matcher.pattern.lookups:
            if lookup.positive:
                continue
            given = [matcher.value(each, piece.slots) for each in lookup.arguments]
            if None in given:
                literal = Premise(lookup.predicate, lookup.arguments, matcher.pattern.when)
                for row in matcher.statics(lookup.predicate, given):
                    (piece,) = outside(piece, literal, Family(row)) or [piece]
        return piece

    def viable(self, piece: Piece) -> bool:
        """Whether what is not met still can be: a fact that is there already makes another record."""
        matcher = piece.matcher
        for index, premise in enumerate(matcher.pattern.premises):
            if piece.met >> index & 1:
                continue
            chance = matcher.last_chance(premise, piece.slots, piece.times, piece.excluded(premise))
            if chance is not None:
                if chance <= self.now:
                    return False
                self.wake(chance, self.asker)
            lit = matcher.lit(premise, piece.slots, piece.times)
            if lit.is_ground and self.has_arrived(*lit.atom):  # type: ignore[arg-type]
                return False
        return True

    def absence(self, piece: Piece, index: int, absence: Premise) -> list[Piece]:
        """The piece with one negated literal judged."""
        matcher, bit = piece.matcher, 1 << index
        time = matcher.time(absence.when, piece.times)
        if time is None:
            return [replace(piece, open=piece.open | bit)]
        if time < 0:
            return [replace(piece, sure=piece.sure | bit)] if absence.outside else []
        arguments = piece.arguments(absence)
        if not any(isinstance(each, Same) for each in arguments):
            found = self.ask(absence.predicate, tuple(arguments), time)  # type: ignore[arg-type]
            if found is True:
                return []
            return [replace(piece, sure=piece.sure | bit) if found is False else replace(piece, open=piece.open | bit)]
        certain, possible = self.field(absence.predicate, time)
        parts = [piece]
        for is_single, families in groupby(certain, key=lambda family: family.is_single):
            if is_single:
                together = {family.arguments: family for family in families}
                parts = [part for each in parts for part in singled_out(each, absence, together)[1]]
            else:
                for family in families:
                    parts = [part for each in parts for part in outside(each, absence, family)]
        judged: list[Piece] = []
        for is_single, families in groupby(map(family_of, possible), key=lambda family: family.is_single):
            if is_single:
                together = {family.arguments: family for family in families}
                split = [singled_out(each, absence, together) for each in parts]
                judged.extend(replace(part, open=part.open | bit) for some, _ in split for part in some)
                parts = [part for _, rest in split for part in rest]
                continue
            for family in families:
                inner = [part for each in parts if (part := inside(each, absence, family)) is not None]
                judged.extend(replace(part, open=part.open | bit) for part in inner)
                parts = [part for each in parts for part in outside(each, absence, family)]
        return judged + [replace(each, sure=each.sure | bit) for each in parts]

    # -- atoms ------------------------------------------------------------------------------------

    @contextmanager
    def asking(self, asker: Asker) -> Iterator[None]:
        before, self.asker = self.asker, asker
        try:
            yield
        finally:
            self.asker = before

    def watch(self, standing: StandingRecords, time: Number, arguments: Values | None) -> None:
        if self.asker is not None:
            standing.watchers.setdefault(time, {}).setdefault(arguments, {})[self.asker] = None

    def ask(self, name: str, arguments: Values, time: Number) -> bool | None:
        """Whether an atom is true, false, or open (`None`)."""
        standing = self.standings[name]
        known = standing.decided.get(time, {}).get(arguments)
        if known is not None:
            return known
        self.watch(standing, time, arguments)
        key = (name, arguments, time)
        if key in self.opened:
            return None
        is_open = False
        with self.asking(Asker(name, time, arguments)):
            for piece in self.ways(standing, arguments, time):
                if piece.is_certain:
                    standing.decide(time, arguments, True)
                    return True
                is_open = is_open or self.can_be(piece)
        if is_open:
            self.opened.add(key)
            return None
        standing.decide(time, arguments, False)
        return False

    def ways(self, standing: StandingRecords, arguments: Values, time: Number) -> Iterator[Piece]:
        """All pieces that lead to a ground answer, with and without evidence."""
        for record in list(standing.records(time, arguments)):
            yield from self.of_record(record)
        for record in list(standing.loosely(time)):
            start = Piece(record.matcher, record.slots, record.times, record.met)
            part = at_time(start, time)
            part = None if part is None else bind_piece(part, arguments)
            if part is not None:
                yield from self.judged(part)
        for piece in standing.unmet(arguments, time):
            if (piece.slots, piece.times) not in piece.matcher.records:
                yield from self.judged(piece)

    def field(self, name: str, time: Number) -> tuple[list[Family], list[Piece]]:
        """All answers at a time: families that are certain, and pieces that are open."""
        standing, key = self.standings[name], (name, time)
        if key in self.settled:
            return self.settled[key]
        self.watch(standing, time, None)
        if key not in self.fields and key not in self.settled:
            with self.asking(Asker(name, time, None)):
                found = self._field(standing, time)
            (self.fields if found[1] else self.settled)[key] = found
        return self.fields[key] if key in self.fields else self.settled[key]

    def _field(self, standing: StandingRecords, time: Number) -> tuple[list[Family], list[Piece]]:
        name = standing.name
        certain = [Family(arguments) for arguments, true in standing.decided.get(time, {}).items() if true]
        open_pieces: list[Piece] = []
        for arguments in list(standing.live.get(time, {})):
            if self.ask(name, arguments, time) is None:
                open_pieces.extend(each for each in self.ways(standing, arguments, time) if self.can_be(each))
            elif self.ask(name, arguments, time):
                certain.append(Family(arguments))
        for piece in self.general(standing, time):
            if piece.is_certain:
                certain.append(family_of(piece))
            elif self.can_be(piece):
                open_pieces.append(piece)
        return list(dict.fromkeys(certain)), open_pieces

    def general(self, standing: StandingRecords, time: Number) -> Iterator[Piece]:
        """The pieces that lead to answers with open variables: loose records, and patterns nothing has met."""
        for record in list(standing.loosely(time)):
            part = at_time(Piece(record.matcher, record.slots, record.times, record.met), time)
            if part is not None:
                yield from self.judged(part)
        for piece in standing.unmet(None, time):
            if (piece.slots, piece.times) not in piece.matcher.records:
                yield from self.judged(piece)

    def missing(self, atom: Lit) -> list[frozenset[Lit]]:
        """What is missing in each way of an atom at a time."""
        assert not isinstance(atom.time, Open)
        return [piece.needs() for piece in self.ways(self.standings[atom.predicate], atom.arguments, atom.time)]  # type: ignore[arg-type]

    # -- what can hold together -------------------------------------------------------------------

    def possible(self, piece: Piece) -> Piece | None:
        """The part of a piece that can come true: without values for its open variables whose arrival would make an
        atom true that must not be."""
        if not self.can_be(piece):
            return None
        if not piece.open or all(slot is not None for slot in piece.slots):
            return piece
        waiting = [
            premise for place, premise in enumerate(piece.matcher.pattern.premises) if not piece.met >> place & 1
        ]
        for lit in [each.of_someone() for each in piece.needs() if not each.positive]:
            for way in _Search(self).ways(lit):
                for need in way.needs():
                    for premise in waiting:
                        if need.positive and premise.predicate == need.predicate:
                            piece = self._without(piece, premise, need)
        return piece

    def _without(self, piece: Piece, premise: Premise, need: Lit) -> Piece:
        if piece.matcher.lit(premise, piece.slots, piece.times).time != need.time:
            return piece
        if any(isinstance(each, Someone) for each in need.arguments):
            return piece
        found = meet(piece, premise, Family(need.arguments))
        if found is None or not found[0]:
            return piece
        part = piece.bound(found[0])
        return piece.excluding(found[0]) if part is not None and not self.can_be(part) else piece

    def can_be(self, piece: Piece) -> bool:
        """Whether the premises of a piece can all hold in one continuation of the stream."""
        return not piece.open or self.together(piece.needs())

    def together(self, needs: frozenset[Lit]) -> bool:
        """Whether facts can arrive and atoms stay false in one continuation of the stream."""
        if needs not in self.feasible:
            assumed = frozenset(lit.of_someone() for lit in needs if lit.positive)
            denied = frozenset(lit.of_someone() for lit in needs if not lit.positive)
            self.feasible[needs] = _Search(self).holds(assumed, denied, frozenset())
        return self.feasible[needs]


def without_unequal(piece: Piece) -> Piece:
    """The piece with what `X != a` says of an open variable among what it does not stand for."""
    for condition in piece.matcher.pattern.conditions:
        if (condition.operator, condition.wanted) not in (("!=", True), ("=", False)) or len(condition.slots) != 1:
            continue
        (slot,) = condition.slots
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if piece.slots[slot] is None and isinstance(one, Variable) and isinstance(other, Constant):
                piece = piece.excluding({slot: other.value})
    return piece


def without_contradictions(piece: Piece) -> Piece | None:
    """The piece without the values for which it needs a fact both to arrive and not to."""
    matcher, pattern = piece.matcher, piece.matcher.pattern
    for index, absence in enumerate(pattern.absences):
        if not piece.open >> index & 1:
            continue
        denied = matcher.lit(absence, piece.slots, piece.times)
        for place, premise in enumerate(pattern.premises):
            if piece.met >> place & 1 or premise.predicate != absence.predicate:
                continue
            if matcher.lit(premise, piece.slots, piece.times).time != denied.time:
                continue
            values = equated(piece, premise, absence)
            if values is None:
                continue
            if not values:
                return None
            piece = piece.excluding(values)
    return piece


def at_time(piece: Piece, time: Number) -> Piece | None:
    """A piece whose answer's time may be open, at this time."""
    pattern = piece.matcher.pattern
    base = pattern.when.base
    if base < 0 or piece.times[base] is not None:
        return piece if piece.answer[1] == time else None
    times = list(piece.times)
    times[base] = time - pattern.when.offset
    return replace(piece, times=tuple(times)) if pattern.fits(times) else None


def family_of(piece: Piece) -> Family:
    """The answers a piece stands for."""
    arguments = piece.answer[0]
    names = piece.matcher.pattern.names
    shown = {each.name for each in arguments if isinstance(each, Open)}
    without = set()
    for exclusion in piece.without:
        pairs = tuple((names[slot], value) for slot, value in exclusion)
        if all(name in shown and not isinstance(value, Same) for name, value in pairs):
            without.add(pairs)
    return Family(arguments, frozenset(without))  # type: ignore[arg-type]


class Covered:
    """Answers that are certain, to look at what others stand for beyond them."""

    def __init__(self) -> None:
        self.single: dict[tuple[Argument, ...], Family] = {}
        self.general: list[Family] = []

    def add(self, piece: Piece) -> None:
        family = family_of(piece)
        if family.is_single:
            self.single[family.arguments] = family
        else:
            self.general.append(family)

    def beyond(self, piece: Piece) -> list[Piece]:
        """What a piece stands for beyond them."""
        goal = Premise("", piece.matcher.pattern.arguments, piece.matcher.pattern.when)
        parts = singled_out(piece, goal, self.single)[1]
        for other in self.general:
            parts = [part for each in parts for part in outside(each, goal, other)]
        return parts


class _Search:
    """Looks for a continuation in which facts arrive and atoms stay false."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.steps = 0

    def holds(self, assumed: frozenset[Lit], denied: frozenset[Lit], made_true: frozenset[tuple[object, ...]]) -> bool:
        self.steps += 1
        if self.steps > MOST_SEARCH:
            return True  # not found to be impossible
        atoms = {lit.atom for lit in assumed}
        if any(lit.atom in atoms or lit.atom in made_true for lit in denied):
            return False
        for lit in denied:
            for way in self.ways(lit):
                if not self.complete(way, assumed):
                    continue
                absent = [each for each in way.needs() if not each.positive]
                if any(each.atom in made_true for each in absent):
                    continue
                return any(self.make_true(each, assumed, denied, made_true) for each in absent)
        return True

    def ways(self, lit: Lit) -> Iterator[Piece]:
        """The ways of an atom at a known time."""
        if not isinstance(lit.time, Open):
            yield from self.judge.ways(self.judge.standings[lit.predicate], lit.arguments, lit.time)  # type: ignore[arg-type]

    def make_true(
        self, lit: Lit, assumed: frozenset[Lit], denied: frozenset[Lit], made_true: frozenset[tuple[object, ...]]
    ) -> bool:
        if Lit(False, *lit.atom) in denied:
            return False
        for way in self.ways(lit):
            needs = way.needs()
            more = assumed | {each.of_someone() for each in needs if each.positive}
            fewer = denied | {each.of_someone() for each in needs if not each.positive}
            if self.holds(more, fewer, made_true | {lit.atom}):
                return True
        return False

    def complete(self, way: Piece, assumed: frozenset[Lit]) -> bool:
        """Whether the facts assumed meet all the premises the way still has."""
        return are_met([lit for lit in way.needs() if lit.positive], assumed)
