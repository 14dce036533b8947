"""How what is known of an individual goes on from one step to the next, and what is told of it.

What is told hangs on the individual's facts within reach, on what of its past is decided, on what was told before,
and on what holds of *nobody*: an individual of whom no fact has ever arrived, for whom the answers with open
variables speak. All that is written down with times that count from now. So each course is found once, and then
holds for every individual in the same place, at any time.

An individual is *apart* from nobody, as far as a rule goes, if one of the rule's negated atoms is judged by itself:
it then has a piece of the rule of its own, or none, and is among the exceptions of the answer about everybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from presage.hypothesis.engine import NOTHING, AnswerState
from presage.hypothesis.grid.fitting import Layout, NodePattern
from presage.hypothesis.grid.world import CellFact, IndividualWorld, JudgedRule, NodeAtTime
from presage.hypothesis.ways import Way, minimal_ways
from presage.patterns.literals import Lit

MOST_COURSES = 100_000
MOST_COMMONS = 1_000
"""So many are remembered; then all are found anew."""

ArrivedCells = frozenset[CellFact]


class Content(NamedTuple):
    """What is known and was told of an individual; times count from now."""

    facts: frozenset[CellFact] = frozenset()
    decided: frozenset[tuple[NodeAtTime, bool]] = frozenset()
    told: frozenset[tuple[NodeAtTime, int]] = frozenset()
    """Answers that have a line of their own, with the number of the state last told; 0 if none was."""
    looked: frozenset[NodeAtTime] = frozenset()
    """Answers further ahead than time alone would bring into sight."""


class ToldChange(NamedTuple):
    """A change: the answer's node and time, and the number of its state."""

    node: int
    at: int
    state: int


@dataclass(frozen=True, slots=True)
class Course:
    """A step of an individual."""

    place: int
    """The number of the content it leads to."""
    changes: tuple[ToldChange, ...]
    apart: dict[NodeAtTime, tuple[int, bool]]
    """For answers about everybody: the rules, as bits, of which the individual is an exception, and whether it has a
    certain piece of its own."""


@dataclass(frozen=True, slots=True)
class Common:
    """A step of nobody: its world, and the pieces that answers about everybody stand on."""

    place: int
    world: IndividualWorld
    lines: dict[NodeAtTime, list[JudgedRule]]
    """By answer."""


Step = TypeVar("Step")


class Steps(Generic[Step]):
    """Steps by where they begin. One that does not see the beginning of the stream is the same at any later time."""

    def __init__(self) -> None:
        self.near: dict[tuple[Any, ...], Step] = {}
        self.far: dict[tuple[Any, ...], tuple[int, Step]] = {}

    def __len__(self) -> int:
        return len(self.near) + len(self.far)

    def get(self, key: tuple[Any, ...], now: int) -> Step | None:
        depth, step = self.far.get(key, (now + 1, None))
        return step if depth <= now else self.near.get((key, now))

    def put(self, key: tuple[Any, ...], now: int, depth: int, step: Step) -> None:
        if depth <= now:
            self.far[key] = depth, step
        else:
            self.near[key, now] = step


class CourseTable:
    """All courses found so far."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.states: list[AnswerState] = [NOTHING]
        self.state_numbers: dict[AnswerState, int] = {NOTHING: 0}
        self.clear()

    def clear(self) -> None:
        self.contents: list[Content] = [Content()]
        self.places: dict[Content, int] = {Content(): 0}
        self.courses: Steps[Course] = Steps()
        self.commons: Steps[Common] = Steps()

    @property
    def is_full(self) -> bool:
        return len(self.courses) > MOST_COURSES or len(self.commons) > MOST_COMMONS

    def place_of(self, content: Content) -> int:
        if content not in self.places:
            self.places[content] = len(self.contents)
            self.contents.append(content)
        return self.places[content]

    def number_of(self, state: AnswerState) -> int:
        if state not in self.state_numbers:
            self.state_numbers[state] = len(self.states)
            self.states.append(state)
        return self.state_numbers[state]

    # -- steps ------------------------------------------------------------------------------------

    def common(self, place: int, passed: int, now: int) -> Common:
        """The step of nobody, who was at a place, to `now` after some time has passed."""
        key = (place, passed)
        known = self.commons.get(key, now)
        if known is None:
            world = self._world(self.contents[place], frozenset(), passed, now)
            lines: dict[NodeAtTime, list[JudgedRule]] = {}
            for node in self.layout.answers:
                for at in self.in_sight(node, passed, now):
                    pieces = [each for each in world.pieces(node, at) if world.speaks(each, at)]
                    if pieces:
                        lines[node, at] = pieces
            known = Common(self.place_of(self._content(world)), world, lines)
            self.commons.put(key, now, self._depth(world, passed), known)
        return known

    def course(self, place: int, common_before: int, passed: int, now: int, arrivals: ArrivedCells) -> Course:
        """The step of an individual who was at a place, when these facts of it arrive."""
        key = (place, common_before, passed, arrivals)
        known = self.courses.get(key, now)
        if known is None:
            common = self.common(common_before, passed, now)
            known, world = self._course(self.contents[place], common, passed, now, arrivals)
            self.courses.put(key, now, max(self._depth(world, passed), self._depth(common.world, passed)), known)
        return known

    def _depth(self, world: IndividualWorld, passed: int) -> int:
        """How long ago the stream must have begun at least for its beginning to make no difference."""
        return max(world.depth, self.layout.longest + passed + self.layout.early)

    def in_sight(self, node: int, passed: int, now: int) -> range:
        """The times of answers that time alone brings into sight, but those that were settled before."""
        first = max(-now, -self.layout.kept[node], 1 - passed - self.layout.settled[node])
        last = -now - 1 if self.layout.lead is None else self.layout.lead
        return range(first, max(last, self.layout.early - 1 - now) + 1)

    def _world(self, content: Content, arrivals: ArrivedCells, passed: int, now: int) -> IndividualWorld:
        """What is known after some time has passed and facts have arrived; all that is due is decided."""
        layout = self.layout
        facts = {(cell, at - passed) for cell, at in content.facts}
        decided = {(node, at - passed): true for (node, at), true in content.decided}
        world = IndividualWorld(layout, facts | arrivals, decided, -now)
        try:
            self._decide(world, 0)
        except RecursionError:
            # After a long pause it is far down to what is decided: better to begin there.
            self._decide(world, passed)
        return world

    def _decide(self, world: IndividualWorld, ago: int) -> None:
        """Decides all that is due now, and what was so long ago; of each atom as far back as it was kept then."""
        layout = self.layout
        first = {node: max(world.first, 1 - layout.kept[node] - ago) for node in layout.negated}
        last = max(map(self._due, layout.negated), default=-1)
        for at in range(min(first.values(), default=0), last + 1):
            for node in layout.negated:
                if first[node] <= at <= self._due(node):
                    world.value(node, at)

    def _due(self, node: int) -> int:
        """Up to when atoms are decided by now, whatever arrives, or may be."""
        return max(0, -self.layout.settled[node])

    def _content(
        self, world: IndividualWorld, told: Iterable[tuple[NodeAtTime, int]] = (), looked: Iterable[NodeAtTime] = ()
    ) -> Content:
        layout = self.layout
        return Content(
            frozenset((cell, at) for cell, at in world.facts if at + layout.cells[cell].keep > 0),
            frozenset(
                ((node, at), true)
                for (node, at), true in world.decided.items()
                if node in layout.negated and -layout.kept[node] < at <= self._due(node)
            ),
            frozenset(told),
            frozenset(looked),
        )

    def _course(
        self, content: Content, common: Common, passed: int, now: int, arrivals: ArrivedCells
    ) -> tuple[Course, IndividualWorld]:
        layout = self.layout
        known = {(cell, at - passed) for cell, at in content.facts}
        world = self._world(content, arrivals, passed, now)
        told = {(node, at - passed): state for (node, at), state in content.told if at - passed >= -layout.kept[node]}
        looked = {(node, at - passed) for node, at in content.looked}
        for fact in arrivals - known:
            self._arrived(fact, world, told, looked)
        sight = {node: self.in_sight(node, passed, now) for node in layout.answers}
        looked = {
            (node, at)
            for node, at in looked
            if at not in sight[node] and at > -passed - layout.settled[node] and at >= -layout.kept[node]
        }
        both = Pair(layout, world, common.world)
        apart: dict[NodeAtTime, tuple[int, bool]] = {}
        for node, at in (*looked, *((each, when) for each in layout.answers for when in sight[each])):
            line = common.lines.get((node, at), [])
            if not line and not any(each.sure for each in world.pieces(node, at)):
                continue
            exceptions, certain, own = both.look(node, at, line)
            if exceptions or certain:
                apart[node, at] = exceptions, certain
            if own:
                told.setdefault((node, at), 0)
        changes = []
        for (node, at), before in list(told.items()):
            state = self._judged(world, node, at, self.states[before])
            if state != before:
                changes.append(ToldChange(node, at, state))
                told[node, at] = state
        unsettled = {atom: state for atom, state in told.items() if atom[1] > -layout.settled[atom[0]]}
        place = self.place_of(self._content(world, unsettled.items(), looked))
        return Course(place, tuple(changes), apart), world

    def _arrived(
        self, fact: CellFact, world: IndividualWorld, told: dict[NodeAtTime, int], looked: set[NodeAtTime]
    ) -> None:
        """A fact brings answers up: those it is a premise of, and those above an atom that it may decide."""
        layout = self.layout
        cell, when = fact
        for node, rules in enumerate(layout.rules):
            for rule in rules:
                for each, offset in rule.premises:
                    at = when - offset
                    if each != cell or not world.in_stream(at - rule.low):
                        continue
                    if node in layout.answers and at >= -layout.kept[node]:
                        told.setdefault((node, at), 0)
                    for far in layout.above[node]:
                        if world.in_stream(at - far):
                            looked |= {(answer, at - far) for answer in layout.answers}

    def _judged(self, world: IndividualWorld, node: int, at: int, before: AnswerState) -> int:
        """The number of the state of an answer, once it was `before`."""
        if before.status in ("confirmed", "refuted"):
            return self.state_numbers[before]
        pieces = world.pieces(node, at)
        certain = [self.way(each, at, world.first) for each in pieces if each.is_certain]
        if certain:
            way = min(certain, key=lambda each: (len(each.because), each.order))
            return self.number_of(AnswerState("confirmed", (way,)))
        ways = [self.way(each, at, world.first) for each in pieces if world.can_be(each, at)]
        kept = minimal_ways(ways)
        if kept:
            return self.number_of(AnswerState("possible", tuple(kept)))
        return 0 if before is NOTHING else self.number_of(AnswerState("unsupported" if ways else "refuted"))

    def way(self, piece: JudgedRule, at: int, first: int) -> Way:
        """A piece in literals whose times count from the answer's; those before the stream are not told."""
        layout, rule = self.layout, piece.rule
        needs: list[Lit] = []
        because: list[Lit] = []
        for index, (cell, offset) in enumerate(rule.premises):
            (because if piece.met >> index & 1 else needs).append(layout.lit(True, cell, offset))
        for index, each in enumerate(rule.absences):
            if at + each.offset >= first:
                (needs if piece.open >> index & 1 else because).append(layout.lit(False, each.node, each.offset))
        return Way(frozenset(needs), frozenset(because))


class Pair:
    """An individual beside nobody."""

    def __init__(self, layout: Layout, own: IndividualWorld, common: IndividualWorld) -> None:
        self.layout, self.own, self.common = layout, own, common
        self.known: dict[tuple[int, int, int], tuple[bool, JudgedRule | None]] = {}

    def look(self, node: int, at: int, line: list[JudgedRule]) -> tuple[int, bool, bool]:
        """Of which rules of an answer about everybody the individual is an exception, whether a piece of its own is
        certain, and whether it gets a line of its own."""
        exceptions, certain, own = 0, False, False
        stays = [self.split(node, at, each.rule.index)[0] for each in line]
        for piece, included in zip(line, stays, strict=True):
            exceptions |= (not included) << piece.rule.index
        sure = next((place for place, each in enumerate(line) if each.is_certain), None)
        if sure is not None and not stays[sure]:
            own = any(stays)
        for index in range(len(self.layout.rules[node])):
            piece_of_own = self.split(node, at, index)[1]
            if piece_of_own is not None and self.own.speaks(piece_of_own, at):
                certain = certain or piece_of_own.is_certain
                own = own or sure is None or not stays[sure] or certain
        return exceptions, certain, own

    def split(self, node: int, at: int, index: int) -> tuple[bool, JudgedRule | None]:
        """Whether nobody's piece of a rule stands for the individual too; if not, the piece of its own, if any."""
        key = (node, at, index)
        if key not in self.known:
            self.known[key] = self._split(self.layout.rules[node][index], at)
        return self.known[key]

    def _split(self, rule: NodePattern, at: int) -> tuple[bool, JudgedRule | None]:
        own, common = self.own, self.common
        if common.met(rule, at) is None:
            return True, None  # nor for anybody
        stays = True
        sure = still_open = 0
        for index, absence in enumerate(rule.absences):
            when = at + absence.offset
            if not own.in_stream(when):
                if not absence.outside:
                    return True, None
                sure |= 1 << index
                continue
            value = own.value(absence.node, when)
            if value:
                return False, None
            if stays:
                stays, value = self._beside(absence.node, when, value)
            if value is None:
                still_open |= 1 << index
            else:
                sure |= 1 << index
        if stays:
            return True, None
        # What has arrived already makes a record, which is looked at for itself.
        return False, JudgedRule(rule, 0, sure, still_open) if own.met(rule, at) == 0 else None

    def _beside(self, node: int, at: int, value: bool | None) -> tuple[bool, bool | None]:
        """Whether what is said of nobody's atom, which is not true of the individual, says the same of its own."""
        general = self.common.value(node, at)
        if general:
            return False, value
        if general is False:
            return value is not None, value
        if value is None and self.own.is_live(node, at):
            return False, None
        pieces = {each.rule.index: each for each in self.common.pieces(node, at)}
        for index in range(len(self.layout.rules[node])):
            stays, piece = self.split(node, at, index)
            if piece is not None and self.own.can_be(piece, at):
                return False, None
            if index in pieces and self.common.can_be(pieces[index], at):
                return (True, None) if stays else (False, value)
        return False, value
