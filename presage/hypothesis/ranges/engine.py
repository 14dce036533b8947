"""Hypothetical answers whose times may stay open: facts in, what changed about which answers out.

All answers with the same arguments are looked at together, for all times at once, when something happened to them: a
fact that concerns them arrived, or the last choice of some way is gone. An answer whose time evidence fixes is told by
itself; where not even evidence fixes the time, one answer with an open time stands for all of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from itertools import count

from presage.hypothesis.delays import Delays
from presage.hypothesis.ranges.evolutions import Evolutions, moved
from presage.hypothesis.ranges.judging import AtomByAtom
from presage.hypothesis.ranges.lifetimes import kept, needed, settled
from presage.hypothesis.ranges.matching import Matching
from presage.hypothesis.ranges.memory import Memory
from presage.hypothesis.ranges.partial import known_values
from presage.hypothesis.ranges.pieces import ZonePiece, canonical
from presage.hypothesis.ranges.told import (
    Change,
    OpenArguments,
    Standing,
    Told,
    beyond,
    inside,
    is_instance,
    is_open,
    points,
    to_come,
)
from presage.hypothesis.ranges.turns import flows, turns
from presage.hypothesis.ranges.ways import Outcome, outcome
from presage.hypothesis.ranges.world import World
from presage.hypothesis.statics import StaticRows
from presage.model.terms import Number, Values
from presage.patterns.zoned import Need, RangePattern
from presage.time.sameness import mapping
from presage.time.stretches import ENDLESS, EVER, Stretch, TimeLine, common, minus, union
from presage.time.zones import ANSWER

AnswersKey = tuple[str, OpenArguments]
"""What is asked for, and the arguments of its answers."""


class Ranges:
    """The hypothetical answers of some queries as facts arrive."""

    def __init__(
        self,
        line: TimeLine,
        patterns: dict[str, list[RangePattern]],
        asked: Sequence[str],
        delays: Delays,
        everybody: bool = False,
        statics: StaticRows | None = None,
        entangled: bool = False,
    ) -> None:
        """`patterns` are those of what is asked for, and of the derived predicates that occur negated below. What is
        `entangled` is judged evolution by evolution, one time of an answer after the other."""
        self.line, self.asked, self.delays, self.everybody = line, tuple(asked), delays, everybody
        self.patterns = patterns
        self.statics = StaticRows() if statics is None else statics
        self.spans = settled(patterns, delays)
        hidden = frozenset(patterns) - set(asked)
        self.evolutions = Evolutions(self) if entangled else None
        self.judging = AtomByAtom(self) if self.evolutions is None else self.evolutions
        circular = self.evolutions.circular if self.evolutions is not None else {}
        self.memory = Memory(needed(patterns, asked, self.spans, circular))
        self.kept = kept(patterns, self.spans)
        """For how long after its time what became of a derived atom may matter."""
        field = None if self.evolutions is None else self.evolutions.field
        world = World(line, self.memory, delays, self.statics.rows, hidden, self.judging.judge, field)
        self.matchings = {name: [Matching(each, world) for each in found] for name, found in patterns.items()}
        self.by_facts = {
            name for name, found in patterns.items() if not any(each.absences or each.counted for each in found)
        }
        """What facts alone make true."""
        self.listeners: dict[str, list[tuple[str, Matching, Need]]] = {}
        """Who asks for the facts of an input."""
        self.above: dict[str, list[tuple[str, Matching, Need]]] = {}
        """Who asks for the absence of a derived predicate."""
        for name, found in self.matchings.items():
            for matching in found:
                for literal in matching.pattern.literals:
                    is_hidden = not literal.positive and literal.predicate in hidden
                    known = self.above if is_hidden else self.listeners
                    known.setdefault(literal.predicate, []).append((name, matching, literal))
        self.now: Number | None = None
        self.since: Number = 0
        self.told: dict[AnswersKey, Told] = {}
        self.schematic: dict[str, dict[OpenArguments, None]] = {}
        """The keys with open arguments that something was told of."""
        self.seeds: dict[AnswersKey, None] = {}
        """Answers for which absences speak as time passes."""
        self.due: list[tuple[Number, int, AnswersKey]] = []
        self.wakes: dict[AnswersKey, Number] = {}
        self.flowing: dict[AnswersKey, None] = {}
        """Answers of dense time that are decided little by little: they are looked at whenever there is a step."""
        self.tickets = count()
        self.looked_at: dict[AnswersKey, list[ZonePiece]] = {}
        """What the answers that the last step looked at hang on."""
        self.ways: dict[AnswersKey, list[ZonePiece]] = {}
        """The ways of these answers: their pieces without what others make superfluous."""
        self.only: Stretch | None = None
        """Where answers of these times alone are looked at."""
        if self.evolutions is not None:
            self.evolutions.attach(world)

    def without_memory(self, statics: StaticRows | None = None) -> Ranges:
        """An engine of the same patterns that knows nothing but static facts: the same ones, or others."""
        known = self.statics if statics is None else statics
        return Ranges(
            self.line, self.patterns, self.asked, self.delays, self.everybody, known, self.evolutions is not None
        )

    @property
    def negates_derived(self) -> bool:
        """Whether a derived atom occurs negated."""
        return len(self.matchings) > len(self.asked)

    # -- a step -----------------------------------------------------------------------------------

    def step(self, facts: Iterable[tuple[str, Values, Stretch]], now: Number) -> list[Change]:
        """Takes the facts that arrive at `now` and gives what changed."""
        touched: dict[AnswersKey, None] = {}
        begins = self.now is None
        self.since = 0 if self.now is None else self.now
        self.now = now
        self.judging.begin()
        self.looked_at.clear()
        self.ways.clear()
        if begins:
            self._begin()
            touched.update(self.seeds)
        for name, row, times in facts:
            if self.memory.take(name, row, times):
                for key in self._touched(name, row, times):
                    touched[key] = None
        while self.due and self.due[0][0] <= now:
            at, _, key = heapq.heappop(self.due)
            if self.wakes.get(key) == at:
                del self.wakes[key]
                touched[key] = None
        touched.update(self.flowing)
        keys = touched if self.evolutions is None else self.evolutions.in_order(touched)
        changes = [change for key in keys for change in self._look(key)]
        self.memory.forget(now)
        return changes

    def _begin(self) -> None:
        """What needs no fact to come up."""
        for name in self.asked:
            for matching in self.matchings[name]:
                if matching.pattern.absences or matching.may_begin:
                    for arguments in matching.begin():
                        if self.everybody or self.evolutions is not None or not is_open(arguments):
                            self.seeds[name, arguments] = None

    def _touched(
        self,
        name: str,
        row: OpenArguments,
        times: Stretch,
        is_fact: bool = True,
        seen: dict[tuple[AnswersKey, Stretch], int] | None = None,
    ) -> Iterator[AnswersKey]:
        """The keys of the answers that a fact concerns, also through negated atoms: those `seen`, how far below."""
        assert self.now is not None
        for owner, matching, literal in (self.listeners if is_fact else self.above).get(name, ()):
            known = row if is_fact else known_values(literal, row)
            for arguments in matching.touched(literal, known, times, self.now):  # type: ignore[arg-type]
                if owner in self.asked:
                    if self.evolutions is not None:
                        self.evolutions.denies(owner, literal, times)
                    speaks = literal.positive or self.evolutions is not None
                    if speaks or not is_open(arguments) or (owner, arguments) in self.told:
                        yield owner, arguments
                    if is_open(arguments):
                        # What may be so for anybody may be so for those of whom something was told.
                        yield from self._instances(owner, arguments)
                    elif self.schematic.get(owner):
                        yield from self._schemes(owner, arguments)
                elif self.evolutions is not None:
                    if is_fact:
                        self.evolutions.note(owner, arguments, literal, times)
                    seen = {} if seen is None else seen
                    later, turns = ((owner, arguments), moved(literal, times)), seen.get(((name, row), times), 0) + 1
                    if later not in seen and turns <= self.evolutions.coming_up.rounds:
                        seen[later] = turns
                        yield from self._touched(*later[0], later[1], False, seen)
                elif is_open(arguments):
                    yield from list(self.told)
                else:
                    yield from self._touched(owner, arguments, EVER, is_fact=False)

    def _instances(self, owner: str, arguments: OpenArguments) -> Iterator[AnswersKey]:
        for name, known in list(self.told):
            if name == owner and known != arguments and not is_open(known) and is_instance(known, arguments):
                yield name, known

    def _schemes(self, owner: str, arguments: OpenArguments) -> Iterator[AnswersKey]:
        for known in list(self.schematic[owner]):
            if is_instance(arguments, known):
                yield owner, known

    # -- one key ----------------------------------------------------------------------------------

    def pieces(self, key: AnswersKey, times: Stretch = EVER) -> list[ZonePiece]:
        """All that speaks for the answers of a key now."""
        found = self.judging.pieces(key, times)
        return found if self.only is None else [part for piece in found for part in inside(piece, self.only)]

    def undecided(self, key: AnswersKey) -> Stretch:
        """The times of answers that were not all decided before the last step; where nothing was told of one, and facts
        alone decide, before this one."""
        span, told = self.spans[key[0]], self.told.get(key)
        if span is None:
            return Stretch((0, 0), ENDLESS)
        waits = key[0] not in self.by_facts or (told is not None and told.at)
        since = self.since if waits or self.now is None else self.now
        return Stretch((max(0, since - span), 0), ENDLESS)

    def outcome(self, key: AnswersKey) -> tuple[Outcome, list[ZonePiece]]:
        """What is known of a key now, and the pieces that it follows from."""
        self.judging.wake = None
        pieces = self.pieces(key, self.undecided(key))
        known = self.told.get(key)
        found = outcome(pieces, self.line, key[1], self.evolutions is not None)
        if known is not None and known.confirmed:
            ways = [part for each in found.ways for part in beyond(each, known.confirmed)]
            found = found._replace(ways=ways, open=minus(found.open, known.confirmed))
        if is_open(key[1]) and not self.everybody:
            found = found._replace(ways=[each for each in found.ways if each.because])
        return found, pieces

    def _look(self, key: AnswersKey) -> Iterator[Change]:
        found, pieces = self.outcome(key)
        self.looked_at[key], self.ways[key] = pieces, found.ways
        told = self.told.get(key) or Told()
        yield from self._confirm(key, told, found)
        scheme = is_open(key[1])
        yield from self._at_times(key, told, found.ways, found.open, scheme)
        if self.only is None:
            yield from self._open(key, told, [each for each in found.ways if not each.is_fixed])
        self._remember(key, told, scheme)
        self.watch(key, told, pieces, found.ways)

    def _confirm(self, key: AnswersKey, told: Told, found: Outcome) -> Iterator[Change]:
        assert self.now is not None
        scheme = is_open(key[1])
        for piece in sorted(found.confirmed, key=lambda each: (len(each.because), len(each.settled))):
            if scheme and not piece.because and not self.everybody:
                continue
            times = self.line.of_range(piece.zone.range(ANSWER))
            if times.last == ENDLESS and self.line.whole:
                # Without end: as time passes.
                times = Stretch(times.first, self.line.after(self.now))
                if times.first >= times.last:
                    continue
            for part in minus([times], told.confirmed):
                told.confirmed = union([*told.confirmed, part])
                for single in points(self.line, part):
                    way = piece
                    if piece.settled:  # what is told of facts is the same at all times
                        way = canonical(replace(piece, zone=piece.zone.within(single.within(ANSWER))))
                    yield Change(*key, "confirmed", single, (way,))
        for at in [each for each in told.at if common([self.line.point(each)], told.confirmed)]:
            del told.at[at]

    def _at_times(
        self, key: AnswersKey, told: Told, ways: list[ZonePiece], still: list[Stretch], scheme: bool
    ) -> Iterator[Change]:
        fixed: MutableMapping[Number, None] = mapping()
        for each in ways:
            if each.is_fixed and each.grounded:
                at = each.zone.range(ANSWER).low
                assert at is not None
                fixed[at] = None
        for at in [*fixed, *(each for each in told.at if each not in fixed)]:
            point = self.line.point(at)
            here = [part for each in ways for part in inside(each, point)]
            before = told.at.get(at)
            if here:
                now = Standing("possible", tuple(here))
            elif before is None:
                continue
            elif scheme:
                del told.at[at]
                continue
            else:
                now = Standing("unsupported" if common([point], still) else "refuted")
            if before is None or not before.says(now, to_come(self.line, self.spans[key[0]], self.now, told)):
                yield Change(*key, now.status, point, now.ways)
            if now.status == "refuted":
                del told.at[at]
            else:
                told.at[at] = now

    def _open(self, key: AnswersKey, told: Told, ways: list[ZonePiece]) -> Iterator[Change]:
        before = told.open
        if any(each.grounded for each in ways):
            now = Standing("possible", tuple(ways))
        elif before is None or before.status == "unsupported":
            return
        else:
            now = Standing("unsupported")
        if before is None or not before.says(now, to_come(self.line, self.spans[key[0]], self.now, told)):
            yield Change(*key, now.status, None, now.ways)
        told.open = now

    def _remember(self, key: AnswersKey, told: Told, scheme: bool) -> None:
        span = self.spans[key[0]]
        if span is not None:
            # As long as what was confirmed could be found again.
            assert self.now is not None
            first = self.now - span - 1
            told.confirmed = [each for each in told.confirmed if each.last[0] >= first]
        if told.open is not None and told.open.status == "unsupported" and not told.at and not told.confirmed:
            told.open = None
        if told:
            self.told[key] = told
            if scheme:
                self.schematic.setdefault(key[0], {})[key[1]] = None
        elif key in self.told:
            del self.told[key]
            self.schematic.get(key[0], {}).pop(key[1], None)

    # -- time -------------------------------------------------------------------------------------

    def watch(self, key: AnswersKey, told: Told, pieces: list[ZonePiece], ways: Iterable[ZonePiece]) -> None:
        """When to look again though nothing arrives: when all choices of some premise are gone, also those that others
        leave of a way, and when an absence is settled."""
        assert self.now is not None
        self.wakes.pop(key, None)
        self.flowing.pop(key, None)
        if self.line.whole and (self.judging.goes_on or any(not each.needs and each.is_endless for each in pieces)):
            self._wake(key, self.now + 1)  # it goes on, and is told as time passes
            return
        waits = key in self.seeds or (self.evolutions is not None and key in self.evolutions.singled)
        if not told.at and told.open is None and not waits:
            # Nothing was told, and yet time alone may confirm it: where no choice of times needs least.
            pieces = [each for each in pieces if each.needs and not any(need.positive for need in each.needs)]
        if not told.at and told.open is None and not waits and not pieces:
            if told.confirmed and (span := self.spans[key[0]]) is not None:
                # To forget what was confirmed.
                self._wake(key, told.confirmed[-1].last[0] + span + 2)  # type: ignore[arg-type]
            return
        looked_at = [*pieces, *(part for each in pieces for part in self._at_told_times(each, told))]
        looked_at += [each for each in ways if not any(each is piece for piece in pieces)]
        times = [
            at
            for piece in looked_at
            for at in turns(piece, self.delays, self.matchings, self.now, self.line)
            if at > self.now
        ]
        if self.judging.wake is not None and self.judging.wake > self.now:
            times.append(self.judging.wake)
        if times:
            self._wake(key, min(times))
        if not self.line.whole and any(flows(piece) for piece in pieces):
            self.flowing[key] = None

    def _at_told_times(self, piece: ZonePiece, told: Told) -> Iterator[ZonePiece]:
        """A piece that covers many times, at those of which something was told."""
        if not piece.zone.range(ANSWER).is_point:
            yield from (part for at in told.at for part in inside(piece, self.line.point(at)))

    def _wake(self, key: AnswersKey, at: Number) -> None:
        self.wakes[key] = at
        heapq.heappush(self.due, (at, next(self.tickets), key))

    def next_wake(self) -> Number | None:
        """The next time at which something that was told changes though nothing arrives."""
        while self.due and self.wakes.get(self.due[0][2]) != self.due[0][0]:
            heapq.heappop(self.due)
        return self.due[0][0] if self.due else None

    # -- memory -----------------------------------------------------------------------------------

    def restore(
        self,
        now: Number | None,
        since: Number,
        facts: Iterable[tuple[str, Values, Stretch]],
        told: dict[AnswersKey, Told],
    ) -> None:
        """Puts a saved memory into a new engine. Why answers were possible follows from the facts."""
        if now is None:
            return
        self.now, self.since = now, since
        self._begin()
        singled = () if self.evolutions is None else self.evolutions.singled
        self.take_over(facts, {**told, **{each: Told() for each in (*self.seeds, *singled) if each not in told}})

    def take_over(self, facts: Iterable[tuple[str, Values, Stretch]], told: dict[AnswersKey, Told]) -> None:
        """Takes what was known and told of some answers."""
        self.judging.begin()
        for name, row, times in facts:
            self.memory.take(name, row, times)
        for key, known in told.items():
            if known:
                self.told[key] = known
            if is_open(key[1]) and known:
                self.schematic.setdefault(key[0], {})[key[1]] = None
            found, pieces = self.outcome(key)
            for at, standing in known.at.items():
                if standing.status == "possible":
                    here = tuple(part for each in found.ways for part in inside(each, self.line.point(at)))
                    known.at[at] = Standing("possible", here)
            if known.open is not None and known.open.status == "possible":
                known.open = Standing("possible", tuple(each for each in found.ways if not each.is_fixed))
            self.watch(key, known, pieces, found.ways)

    def shed(self, change: Change) -> None:
        """Forgets an open answer, as if it had never been told."""
        told = self.told.get((change.asked, change.arguments))
        if told is None:
            return
        if change.times is None:
            told.open = None
        else:
            told.at.pop(change.times.first[0], None)  # type: ignore[arg-type]

    # -- what stands ------------------------------------------------------------------------------

    def standing(self) -> Iterator[Change]:
        """The answers that are possible now, as of now."""
        for key in list(self.told):
            told = self.told[key]
            if not told.at and (told.open is None or told.open.status != "possible"):
                continue
            found, _ = self.outcome(key)
            for at, known in told.at.items():
                if known.status == "possible":
                    point = self.line.point(at)
                    here = tuple(part for each in found.ways for part in inside(each, point))
                    yield Change(*key, "possible", point, here or known.ways)
            if told.open is not None and told.open.status == "possible":
                loose = tuple(each for each in found.ways if not each.is_fixed)
                yield Change(*key, "possible", None, loose or told.open.ways)
