"""One step of an individual with symbols for its times and values: what comes of it, and of whom else the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from presage.answers import Answer
from presage.hypothesis.courses.answer_templates import Template, Templates
from presage.hypothesis.courses.comparing_texts import text_order
from presage.hypothesis.courses.lessons import Lessons, Situation
from presage.hypothesis.courses.runs import Runs
from presage.hypothesis.courses.shapes import (
    CONSTANT,
    KEY,
    NOTHING,
    OPEN,
    VALUE,
    ArrivingFact,
    CourseShape,
    Focus,
    Ref,
    Remembered,
    ShapeCut,
    ToldOf,
)
from presage.hypothesis.courses.splitting import hears, settled_at, split
from presage.hypothesis.courses.superfluous import forget_superfluous
from presage.hypothesis.courses.symbolic import (
    NamesWanted,
    Sum,
    SymbolCondition,
    SymbolName,
    Trace,
    Untraceable,
    _Symbolic,
    total,
    total_of,
)
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.pieces import Evidence
from presage.hypothesis.ranges.told import Change, Standing, Told
from presage.hypothesis.statics import StaticRows
from presage.model.terms import Variable
from presage.patterns.literals import Open
from presage.time import sameness
from presage.time.stretches import BEGINNING, ENDLESS, Stretch


class Anchor(NamedTuple):
    """An answer: of which query, and when."""

    asked: str
    at: Sum


class Spawn(NamedTuple):
    """An individual that begins: what is known of one answer."""

    anchor: Anchor
    shape: CourseShape
    times: tuple[tuple[int, Any], ...]
    values: tuple[int, ...]
    wake: Sum | None
    forget: Sum | None


@dataclass(frozen=True, slots=True)
class TracedStep:
    """What comes of one step, for all individuals that meet the conditions."""

    conditions: list[SymbolCondition]
    after: CourseShape
    times: tuple[tuple[int, Any], ...]
    """The times it leaves behind: a place of the vector, and so much later."""
    values: tuple[int, ...]
    """The values it leaves behind, by their places among those before and those that are new."""
    wake: Sum | None
    """When to look again though nothing arrives."""
    flows: bool
    """Whether it is looked at at every step."""
    forget: Sum | None
    """When all of it is forgotten, if nothing arrives."""
    told: tuple[Template, ...]
    spawns: tuple[Spawn, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    """The answers that were told, and those that go on by themselves."""
    spoken: tuple[int, ...] = ()
    """Of which of them each line speaks; −1 is none."""

    def without(self, hidden: int) -> TracedStep:
        """The same without what others know better: the answers in a set of bits."""
        heard = [place for place, anchor in enumerate(self.spoken) if anchor < 0 or not hidden >> anchor & 1]
        return replace(
            self,
            told=tuple(self.told[place] for place in heard),
            spoken=tuple(self.spoken[place] for place in heard),
            spawns=tuple(each for each in self.spawns if not hidden >> self.anchors.index(each.anchor) & 1),
        )


class Vector:
    """Where the numbers of an individual and of what arrives stand: its times, the numbers its values are, the last
    step and this one, the times of arrivals, the numbers their values are."""

    def __init__(self, shape: CourseShape, arrivals: int) -> None:
        self.times = 0
        self.values = shape.times
        self.then = self.values + len(shape.values)
        self.now = self.then + 1
        self.arrivals = self.now + 1
        self.fresh = self.arrivals + arrivals


class Tracer:
    def __init__(
        self,
        make: Callable[[StaticRows | None], Ranges],
        answers: Callable[[Change, Any], Iterable[Answer]],
        whole: bool,
        splits: bool = False,
        lessons: Lessons | None = None,
    ) -> None:
        """`make` gives an engine without memory, with the static facts of the program or others, `answers` what is told
        of a change; `splits`: whether answers go on by themselves; `lessons` are those of whoever has such a tracer."""
        self.make, self.answers, self.whole, self.splits = make, answers, whole, splits
        self.lessons = lessons or Lessons()
        self.worked_out = 0
        """How many steps were not known to anybody."""

    def step(
        self, shape: CourseShape, arrivals: Sequence[ArrivingFact], numbers: Sequence[Any], values: Sequence[bool]
    ) -> TracedStep:
        """What comes of a step. `numbers` are the vector's, `values` says which values, new ones too, are numbers."""
        return self._known(Situation(shape, tuple(arrivals), tuple(values), is_look=False), numbers)

    def look(
        self, shape: CourseShape, arrivals: Sequence[ArrivingFact], numbers: Sequence[Any], values: Sequence[bool]
    ) -> TracedStep:
        """What stands, as of the last step. All that arrives are static facts."""
        return self._known(Situation(shape, tuple(arrivals), tuple(values), is_look=True), numbers)

    def _known(self, situation: Situation, numbers: Sequence[Any]) -> TracedStep:
        step = self.lessons.about(situation, numbers)
        if step is None:
            self.worked_out += 1
            try:
                step = self._traced(situation, numbers)
            except NamesWanted:
                raise
            except Untraceable:
                self.lessons.hopeless.add(situation)
                raise
            self.lessons.note(situation, step)
        return step

    def _traced(self, situation: Situation, numbers: Sequence[Any]) -> TracedStep:
        runs = Runs(Trace(self.whole), len(numbers), self.whole and not self.splits)
        try:
            return self._traced_by(situation, numbers, runs)
        except Untraceable:
            if not runs.ends:
                raise
        return self._traced_by(situation, numbers, Runs(Trace(self.whole), len(numbers), False))

    def _traced_by(self, situation: Situation, numbers: Sequence[Any], runs: Runs) -> TracedStep:
        shape, arrivals, values, is_look = situation
        trace = runs.trace
        given = numbers if self.whole else [Fraction(each) for each in numbers]
        symbols = [trace.symbol(place, value) for place, value in enumerate(given)]
        place = Vector(shape, len(arrivals))
        names = _Names(symbols, place, len(shape.values), values, trace)
        trace.fine = frozenset(names.numbers)
        sameness.compare_texts_by(*text_order(trace, names.given))
        sameness.tracing(True, runs.begin if runs.are_used else None)
        try:
            engine = self.make(StaticRows())
            for each in arrivals:
                if each.is_static:
                    engine.statics.add(each.predicate, names.row(each.row))
            # Nobody is looked at where nothing happens: whole times up to this one change nothing either.
            then = symbols[place.now] - 1 if self.whole and not is_look else symbols[place.then]
            self._remind(engine, shape, symbols, then, names)
            if is_look:
                changes = list(engine.standing())
                now = symbols[place.then]
            else:
                now = symbols[place.now]
                facts = (
                    (each.predicate, names.row(each.row), engine.line.point(symbols[place.arrivals + index]))
                    for index, each in enumerate(arrivals)
                    if not each.is_static
                )
                changes = engine.step(facts, now)
                engine.memory.sweep(now)
            texts = Templates(trace, names, runs.first)
            lines = [(change, answer) for change in changes for answer in self.answers(change, now)]
            told = tuple(texts.template(answer, _run_of(change, runs)) for change, answer in lines)
            if is_look:
                return TracedStep(trace.conditions, NOTHING, (), (), None, False, None, told)
            spawns: list[Spawn] = []
            repeated: list[Evidence] = []
            if self.splits and shape.focus is None:
                answers, repeated = split(engine, lambda: self.make(engine.statics), now)
                for key, at, own in answers:
                    left = _Leaving(own, names).shape((key, at))
                    spawns.append(Spawn(Anchor(key[0], total(at)), *left, _wake(own), _forget(own)))
            forget_superfluous(engine, now)
            focus = None
            if engine.only is not None and engine.told:
                (key,) = engine.told
                focus = key, engine.only.first[0]
            after, times, kept = _Leaving(engine, names).shape(focus)
            wake, forget = _wake(engine), _forget(engine)
            if repeated:
                wake, forget = _until_settled(engine, repeated)
            if shape.focus is not None and focus is None:
                after, times, kept, wake, forget = NOTHING, (), (), None, None
        finally:
            sameness.tracing(False)
        anchors, spoken = _anchors([change for change, _ in lines], spawns) if self.splits else ((), ())
        if len(anchors) > MOST_ANCHORS:
            raise Untraceable("very many answers")
        return TracedStep(
            list(runs.conditions()), after, times, kept, wake, bool(engine.flowing), forget,
            told, tuple(spawns), anchors, spoken,
        )  # fmt: skip

    def _remind(self, engine: Ranges, shape: CourseShape, symbols: list[Any], then: Any, names: _Names) -> None:
        if not shape.facts and not shape.told:
            engine.now = engine.since = then
            return

        def cut(known: ShapeCut) -> Any:
            if known.offset is None:
                return ENDLESS if known.after else BEGINNING
            base = 0 if known.slot < 0 else symbols[known.slot]
            return base + known.offset, known.after

        facts = [
            (each.predicate, names.row(each.row), Stretch(cut(each.first), cut(each.last))) for each in shape.facts
        ]
        told: dict[Any, Told] = {}
        for each in shape.told:
            known = Told()
            for at, status in each.at:
                known.at[cut(at)[0]] = Standing(status)
            known.open = None if each.open is None else Standing(each.open)
            known.confirmed = [Stretch(cut(first), cut(last)) for first, last in each.confirmed]
            told[each.asked, names.row(each.arguments)] = known
        if shape.focus is not None:
            engine.only = engine.line.point(cut(shape.focus.at)[0])
        engine.restore(then, then, facts, told)


class _Names:
    """What stands for the key and for values."""

    def __init__(self, symbols: list[Any], place: Vector, before: int, values: Sequence[bool], trace: Trace) -> None:
        self.numbers: dict[int, int] = {}
        """Places of the vector that are values."""
        self.given: list[Any] = []
        for index, is_number in enumerate(values):
            at = place.values + index if index < before else place.fresh + index - before
            self.numbers[at] = index
            if is_number:
                self.given.append(symbols[at])
            else:
                self.given.append(SymbolName.of_value(f"q__v{index}__q", trace, at, trace.values[at] or None))
        self.refs = {each: Ref(VALUE, index) for index, each in enumerate(self.given) if isinstance(each, SymbolName)}

    def row(self, row: Iterable[Ref]) -> tuple[Any, ...]:
        return tuple(self._value(each) for each in row)

    def _value(self, ref: Ref) -> Any:
        match ref.kind:
            case "key":
                return SymbolName(f"q__k{ref.what}__q")
            case "value":
                return self.given[ref.what]
            case "open":
                return Open(*ref.what)
            case _:
                return ref.what

    def ref(self, value: Any) -> Ref:
        if isinstance(value, SymbolName):
            known = self.refs.get(value)
            return known if known is not None else Ref(KEY, int(value[4:-3]))
        if isinstance(value, (Open, Variable)):
            return Ref(OPEN, (value.name, value.offset if isinstance(value, Open) else 0))
        if isinstance(value, _Symbolic):
            if len(value.terms) == 1 and value.constant == 0:
                ((index, factor),) = value.terms
                if factor == 1 and index in self.numbers:
                    return Ref(VALUE, self.numbers[index])
            raise Untraceable("a value that is worked out")
        return Ref(CONSTANT, value)


class _Leaving:
    """The shape that an engine's memory has."""

    def __init__(self, engine: Ranges, names: _Names) -> None:
        self.engine, self.names = engine, names
        self.slots: dict[int, tuple[int, Any]] = {}
        """By symbol: its slot, and how much later than the symbol the slot's time is."""
        self.values: dict[int, int] = {}

    def shape(self, focus: Any = None) -> tuple[CourseShape, tuple[tuple[int, Any], ...], tuple[int, ...]]:
        """With the times and the values that it leaves behind; `focus` is the answer that it is about, if it is one."""
        facts = tuple(
            Remembered(
                name, tuple(map(self._argument, row)), self._cut(times.first, False), self._cut(times.last, True)
            )
            for name, row, times in sorted(self.engine.memory.everything(), key=lambda each: each[0])
        )
        told = tuple(
            ToldOf(
                name,
                tuple(map(self._argument, row)),
                tuple((self._cut((at, 0), False), each.status) for at, each in known.at.items()),
                None if known.open is None else known.open.status,
                tuple((self._cut(each.first, False), self._cut(each.last, True)) for each in known.confirmed),
            )
            for (name, row), known in self.engine.told.items()
        )
        known = None
        if focus is not None:
            (name, row), at = focus
            known = Focus(name, self._cut((at, 0), False), hears(self.engine, (name, row)))
        ordered = sorted(self.slots.items(), key=lambda each: each[1][0])
        times = tuple((symbol, offset) for symbol, (_, offset) in ordered)
        kept = tuple(sorted(self.values, key=lambda each: self.values[each]))
        kinds = tuple(not isinstance(self.names.given[each], SymbolName) for each in kept)
        return CourseShape(facts, told, len(times), kinds, known), times, kept

    def _argument(self, value: Any) -> Ref:
        ref = self.names.ref(value)
        if ref.kind == VALUE:
            return Ref(VALUE, self.values.setdefault(ref.what, len(self.values)))
        return ref

    def _cut(self, cut: Any, is_last: bool) -> ShapeCut:
        at, after = cut
        if isinstance(at, float):
            return ShapeCut(-1, None, int(is_last))
        if not isinstance(at, _Symbolic):
            return ShapeCut(-1, at, after)
        if len(at.terms) != 1 or at.terms[0][1] != 1:
            raise Untraceable("a time that is worked out of several")
        symbol = at.terms[0][0]
        slot, offset = self.slots.setdefault(symbol, (len(self.slots), at.constant))
        return ShapeCut(slot, at.constant - offset, after)


MOST_ANCHORS = 62
"""Answers are told apart by the bits of a number."""


def _run_of(change: Change, runs: Runs) -> tuple[Sum, Sum] | None:
    """The times that a change stands for, where it is one of a run."""
    return None if change.times is None else runs.of(change.times.first[0])


def _wake(engine: Ranges) -> Sum | None:
    return total_of(engine.next_wake())


def _forget(engine: Ranges) -> Sum | None:
    """When everything is forgotten, where nothing was told that is still remembered."""
    if engine.told or engine.flowing:
        return None
    last: Any = None
    for name, _, times in engine.memory.everything():
        needed = engine.memory.needed[name]
        if needed is None or isinstance(times.last[0], float):
            return None
        end = times.last[0] + needed
        last = end if last is None or end > last else last
    return None if last is None else total(last + 1)


def _until_settled(engine: Ranges, repeated: list[Evidence]) -> tuple[Sum | None, Sum | None]:
    """When to look again, and when everything is forgotten, where facts are remembered until they are settled."""
    times = [settled_at(engine, each) for each in repeated]
    if not engine.told and all(each in repeated for each in engine.memory.everything()):
        return _wake(engine), total(max(times))
    due = engine.next_wake()
    return total(min(times if due is None else [due, *times])), None


def _anchors(changes: Sequence[Change], spawns: Sequence[Spawn]) -> tuple[tuple[Anchor, ...], tuple[int, ...]]:
    """The answers that lines and individuals speak of, and of which of them each line does."""
    found: dict[Anchor, int] = {}
    spoken = []
    for change in changes:
        if change.times is None:
            spoken.append(-1)
        else:
            anchor = Anchor(change.asked, total(change.times.first[0]))
            spoken.append(found.setdefault(anchor, len(found)))
    for each in spawns:
        found.setdefault(each.anchor, len(found))
    return tuple(found), tuple(spoken)
