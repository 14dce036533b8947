"""One step of an individual with symbols for its times and values: what comes of it, and of whom else the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from presage.answers import Answer
from presage.hypothesis.courses.comparing_texts import HOLES, text_order
from presage.hypothesis.courses.shapes import (
    CONSTANT,
    KEY,
    OPEN,
    VALUE,
    ArrivingFact,
    CourseShape,
    Cut,
    Ref,
    Remembered,
    ToldOf,
)
from presage.hypothesis.courses.symbolic import SymbolCondition, SymbolName, Terms, Trace, Untraceable, _Symbolic
from presage.hypothesis.literals import Open
from presage.hypothesis.patterns import Fixed
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.told import Change, Standing, Told, beyond
from presage.model.terms import Variable
from presage.time import sameness
from presage.time.stretches import BEGINNING, ENDLESS, Stretch


class Sum(NamedTuple):
    """A time: some of the vector's numbers, with factors, and a constant."""

    terms: Terms
    constant: Any


Part = str | Sum | Ref
"""Of a text: written as it is, or to be put in."""


@dataclass(frozen=True, slots=True)
class Template:
    """An answer with times and values to be put in."""

    fields: dict[str, Any]


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
        self, make: Callable[[], Ranges], answers: Callable[[Change, Any], Iterable[Answer]], whole: bool
    ) -> None:
        """`make` gives an engine without memory, `answers` what is told of a change."""
        self.make, self.answers, self.whole = make, answers, whole

    def step(
        self, shape: CourseShape, arrivals: Sequence[ArrivingFact], numbers: Sequence[Any], values: Sequence[bool]
    ) -> TracedStep:
        """What comes of a step. `numbers` are the vector's, `values` says which values, new ones too, are numbers."""
        return self._traced(shape, arrivals, numbers, values, is_look=False)

    def look(self, shape: CourseShape, numbers: Sequence[Any], values: Sequence[bool]) -> TracedStep:
        """What stands, as of the last step."""
        return self._traced(shape, (), numbers, values, is_look=True)

    def _traced(
        self,
        shape: CourseShape,
        arrivals: Sequence[ArrivingFact],
        numbers: Sequence[Any],
        values: Sequence[bool],
        is_look: bool,
    ) -> TracedStep:
        trace = Trace(self.whole)
        given = numbers if self.whole else [Fraction(each) for each in numbers]
        symbols = [trace.symbol(place, value) for place, value in enumerate(given)]
        place = Vector(shape, len(arrivals))
        names = _Names(symbols, place, len(shape.values), values)
        trace.fine = frozenset(names.numbers)
        sameness.compare_texts_by(*text_order(trace))
        sameness.tracing(True)
        try:
            engine = self.make()
            self._remind(engine, shape, symbols, place, names)
            if is_look:
                changes = list(engine.standing())
                now = symbols[place.then]
            else:
                now = symbols[place.now]
                facts = (
                    (each.predicate, names.row(each.row), engine.line.point(symbols[place.arrivals + index]))
                    for index, each in enumerate(arrivals)
                )
                changes = engine.step(facts, now)
                engine.memory.sweep(now)
                _forget_superfluous(engine, now)
            texts = _Texts(trace, names)
            told = tuple(texts.template(answer) for change in changes for answer in self.answers(change, now))
            after, times, kept = _Leaving(engine, names).shape()
            wake, forget = _wake(engine), _forget(engine)
        finally:
            sameness.tracing(False)
        return TracedStep(list(trace.conditions), after, times, kept, wake, bool(engine.flowing), forget, told)

    def _remind(self, engine: Ranges, shape: CourseShape, symbols: list[Any], place: Vector, names: _Names) -> None:
        then = symbols[place.then]
        if not shape.facts and not shape.told:
            engine.now = engine.since = then
            return

        def cut(known: Cut) -> Any:
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
        engine.restore(then, then, facts, told)


class _Names:
    """What stands for the key and for values."""

    def __init__(self, symbols: list[Any], place: Vector, before: int, values: Sequence[bool]) -> None:
        self.numbers: dict[int, int] = {}
        """Places of the vector that are values."""
        self.given: list[Any] = []
        for index, is_number in enumerate(values):
            at = place.values + index if index < before else place.fresh + index - before
            self.numbers[at] = index
            self.given.append(symbols[at] if is_number else SymbolName(f"q__v{index}__q"))
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

    def shape(self) -> tuple[CourseShape, tuple[tuple[int, Any], ...], tuple[int, ...]]:
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
        ordered = sorted(self.slots.items(), key=lambda each: each[1][0])
        times = tuple((symbol, offset) for symbol, (_, offset) in ordered)
        kept = tuple(sorted(self.values, key=lambda each: self.values[each]))
        kinds = tuple(not isinstance(self.names.given[each], SymbolName) for each in kept)
        return CourseShape(facts, told, len(times), kinds), times, kept

    def _argument(self, value: Any) -> Ref:
        ref = self.names.ref(value)
        if ref.kind == VALUE:
            return Ref(VALUE, self.values.setdefault(ref.what, len(self.values)))
        return ref

    def _cut(self, cut: Any, is_last: bool) -> Cut:
        at, after = cut
        if isinstance(at, float):
            return Cut(-1, None, int(is_last))
        if not isinstance(at, _Symbolic):
            return Cut(-1, at, after)
        if len(at.terms) != 1 or at.terms[0][1] != 1:
            raise Untraceable("a time that is worked out of several")
        symbol = at.terms[0][0]
        slot, offset = self.slots.setdefault(symbol, (len(self.slots), at.constant))
        return Cut(slot, at.constant - offset, after)


class _Texts:
    """Answers as templates."""

    def __init__(self, trace: Trace, names: _Names) -> None:
        self.trace, self.names = trace, names

    def template(self, answer: Answer) -> Template:
        fields: dict[str, Any] = {
            "status": answer.status,
            "predicate": answer.predicate,
            "arguments": tuple(map(self.names.ref, answer.arguments)),
            "bindings": {name: self.names.ref(value) for name, value in answer.bindings.items()},
            "bounds": answer.bounds,
            "open_time": answer.open_time,
            "ways_left_out": answer.ways_left_out,
            "text": self._text(answer.answer),
            "key": self._text(answer.key),
        }
        for name in ("now", "time", "start", "end"):
            fields[name] = total(getattr(answer, name))
        fields |= self._way({name: getattr(answer, name) for name in WAY_FIELDS})
        fields["ways"] = tuple(self._way(each) for each in answer.ways)
        return Template(fields)

    def _way(self, way: dict[str, Any]) -> dict[str, Any]:
        confidence = way["confidence"]
        return {
            "because": tuple(map(self._text, way["because"])),
            "needs": tuple(map(self._text, way["needs"])),
            "unless": tuple(map(self._text, way["unless"])),
            "decided_by": total(way["decided_by"]),
            "confidence": confidence,
        }

    def _text(self, text: str) -> tuple[Part, ...]:
        return tuple(self._parts(text))

    def _parts(self, text: str) -> Iterator[Part]:
        done = 0
        for found in HOLES.finditer(text):
            if found.start() > done:
                yield text[done : found.start()]
            done = found.end()
            place, kind, index = found.groups()
            if place is None:
                yield Ref(KEY if kind == "k" else VALUE, int(index))
                continue
            terms, constant = self.trace.sums[int(place)]
            values = [self.names.numbers[symbol] for symbol, _ in terms if symbol in self.names.numbers]
            if not values:
                yield Sum(terms, constant)
            elif len(terms) == 1 and terms[0][1] == 1 and constant == 0:
                yield Ref(VALUE, values[0])
            else:
                raise Untraceable("a value that is worked out")
        if done < len(text):
            yield text[done:]


WAY_FIELDS = ("because", "needs", "unless", "decided_by", "confidence")


def total(number: Any) -> Sum | None:
    if number is None:
        return None
    return Sum(number.terms, number.constant) if isinstance(number, _Symbolic) else Sum((), number)


def _wake(engine: Ranges) -> Sum | None:
    return total(engine.next_wake())


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


def _forget_superfluous(engine: Ranges, now: Any) -> None:
    """Forgets facts of which nothing that is still open makes any use: fewer individuals differ then.

    What is open hangs on the pieces that were looked at: a fact that none of them has as evidence, outside of the times
    that are confirmed, is none of what can still come. What makes an absence hopeless is another matter; and facts that
    may come a second time stay.
    """
    asked: dict[str, set[str]] = {}
    for name, found in engine.matchings.items():
        for matching in found:
            for literal in matching.pattern.literals:
                asked.setdefault(literal.predicate, set()).add(name if literal.positive else "")
    looked_at = {name for name, _ in engine.looked_at}
    used: dict[str, list[tuple[Any, Stretch]]] = {}
    for (name, arguments), pieces in engine.looked_at.items():
        told = engine.told.get((name, arguments))
        for piece in pieces:
            if told is not None and told.confirmed and not any(True for _ in beyond(piece, told.confirmed)):
                continue
            for predicate, row, times in piece.because:
                used.setdefault(predicate, []).append((row, times))
    for predicate, names in asked.items():
        if predicate not in engine.memory.facts or not names <= looked_at or not names <= set(engine.asked):
            continue
        if not all(_is_single(matching) for name in names for matching in engine.matchings[name]):
            continue
        known, delay = used.get(predicate, []), engine.delays.plain[predicate]

        def is_wanted(row: Any, times: Stretch, known: Any = known, delay: Any = delay) -> bool:
            return (row, times) in known or times.first[0] + delay > now

        engine.memory.keep(predicate, is_wanted)
    _forget_refuting(engine, now, asked, looked_at)
    for key in list(engine.looked_at):
        told = engine.told.get(key)
        if told is None or not told.confirmed:
            continue
        # What nothing can lead to again needs not be known.
        told.confirmed = [each for each in told.confirmed if any(True for _ in engine.pieces(key, each))]
        if not told:
            del engine.told[key]
            engine.wakes.pop(key, None)


def _forget_refuting(engine: Ranges, now: Any, asked: dict[str, set[str]], looked_at: set[str]) -> None:
    """Forgets facts that make no absence hopeless that somebody still asks for: without them all is the same."""
    if engine.negates_derived:
        return
    single = all(_is_single(matching) for found in engine.matchings.values() for matching in found)
    if not single or not set(engine.asked) <= looked_at:
        return

    def all_pieces() -> list[Any]:
        return [sameness.as_set(engine.pieces(key, engine.undecided(key[0]))) for key in engine.looked_at]

    known = None
    for predicate, names in asked.items():
        if "" not in names or predicate not in engine.memory.facts:
            continue
        delay = engine.delays.plain[predicate]
        for row, times in [(row, each) for row, several in engine.memory.facts[predicate].items() for each in several]:
            if times.first[0] + delay > now:
                continue
            known = all_pieces() if known is None else known
            kept = engine.memory.facts[predicate][row]
            rest = [each for each in kept if each is not times]
            engine.memory.facts[predicate][row] = rest
            if all_pieces() != known:
                engine.memory.facts[predicate][row] = kept
        engine.memory.keep(predicate, lambda row, times: True)


def _is_single(matching: Any) -> bool:
    """Whether an individual has one answer only, at each time: its arguments are the key."""
    pattern = matching.pattern
    slots = {each for each in pattern.arguments if not isinstance(each, Fixed)}
    return all(slots <= set(literal.arguments) for literal in pattern.literals)
