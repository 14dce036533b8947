"""Formulas over a stream: with which values of their variables they hold, and when ([LARS] Definitions 9, 10).

A formula is solved for a binding of some of its variables: the answers are bindings of all of them, each with
the set of times at which the formula then holds. Atoms are looked up by what is bound; conjunctions pass on what
one part has found to the next. Only a variable that nothing gives values to, such as one under `not` alone,
is tried with every constant, or every time point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from presage.answer_streams.aggregates import AggregateCompiler, Solved
from presage.answer_streams.ordering import Ordering, determined
from presage.answer_streams.streams import FactsInTime, FiniteStream
from presage.answer_streams.values import Arguments, Assignment, ValueOrInvented, compares, linear, solved, value_of
from presage.answer_streams.windows import Selecting, ends, length, reach, selections
from presage.core.formulas import (
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Lasts,
    Measured,
    Not,
    Only,
    Rows,
    Seen,
    Shift,
    Some,
    Whole,
    is_at_one_time,
)
from presage.core.reach import EVERYWHERE, Reach
from presage.core.rules import Pinpoint
from presage.model.formulas import MIRRORED, Atom, Comparison
from presage.model.terms import Now
from presage.model.values import NOW
from presage.model.windows import RowsWindow
from presage.time.points import EVER, FAR, NEVER, Times, since, until


def arguments_of(atom: Atom, binding: Assignment) -> Arguments:
    """The values of an atom's arguments, all of which are bound."""
    found = tuple(value_of(term, binding) for term in atom.arguments)
    assert None not in found, f"{atom} is open"
    return found  # type: ignore[return-value]


@dataclass
class Evaluator:
    """Solves formulas over one whole stream and what windows select from it."""

    whole: FiniteStream
    statics: FactsInTime
    constants: Callable[[], Iterable[ValueOrInvented]]
    """All the constants there are, for variables that nothing else gives values to."""
    ordering: Ordering
    variable_times: Times
    """The values to try for a time variable."""
    unsettled_rows: Callable[[RowsWindow], bool] | None = None
    """Which windows count rows that may be there or not: all that might hold below them is found."""
    looked_until: int | None = None
    """Up to when rules were looked at before: of these, only instances that were not final then are new."""
    _known: dict[tuple[object, ...], list[Solved]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.turned = self.whole.flipped()
        self.collector = AggregateCompiler(self._solve, self.ordering)

    @cached_property
    def _constants(self) -> list[ValueOrInvented]:
        return list(self.constants())

    def solve(self, formula: CoreFormula, binding: Assignment, when: Times) -> list[Solved]:
        """Each binding of all variables, with the times among `when` at which the formula holds."""
        return self._solve(formula, binding, self.whole, when)

    def times(self, formula: CoreFormula, binding: Assignment, stream: FiniteStream, when: Times) -> Times:
        """When a formula holds, all variables of which are bound."""
        found = NEVER
        for _, times in self._solve(formula, binding, stream, when):
            found |= times
        return found

    def _solve(self, formula: CoreFormula, binding: Assignment, stream: FiniteStream, when: Times) -> list[Solved]:
        if not when:
            return []
        if isinstance(formula, (Atom, Comparison)) or not (stream is self.whole or stream is self.turned):
            return self._found(formula, binding, stream, when)
        names = self.ordering.names(formula)
        key = (id(formula), stream.is_flipped, when, binding.get(NOW), *(binding.get(name) for name in names))
        known = self._known.get(key)
        if known is None:
            found = self._found(formula, binding, stream, when)
            known = self._known[key] = [({name: each[name] for name in names}, times) for each, times in found]
        return [({**binding, **each}, times) for each, times in known]

    def _found(self, formula: CoreFormula, binding: Assignment, stream: FiniteStream, when: Times) -> list[Solved]:
        """The solutions, one for each binding."""
        names = self.ordering.names(formula)
        merged: dict[Arguments, Solved] = {}
        for found, times in self._each(formula, binding, stream, when):
            inside = times & when
            if inside:
                key = tuple(found[name] for name in names)
                before = merged.get(key)
                merged[key] = (found, inside if before is None else before[1] | inside)
        return list(merged.values())

    def _each(self, formula: CoreFormula, binding: Assignment, stream: FiniteStream, when: Times) -> Iterator[Solved]:
        match formula:
            case Measured():
                yield from self.collector.compared(formula, binding, stream, when)
            case Comparison():
                yield from self._comparison(formula, binding)
            case Atom():
                yield from self._atom(formula, binding, stream)
            case All():
                yield from self._conjunction(formula, binding, stream, when)
            case Any(parts=parts):
                for part in parts:
                    for found, times in self._solve(part, binding, stream, when):
                        yield from ((full, times) for full in self._all(formula, found))
            case Not(part=inner):
                for full in self._all(formula, binding):
                    yield full, when - self.times(inner, full, self._flipped(stream), when)
            case At():
                yield from self._pinned(formula, binding, stream)
            case Shift(distance=distance, part=inner):
                yield from self._moved(formula, Reach(distance, distance), inner, binding, stream, when)
            case Some(reach=reached, part=inner, clip=False) | Every(reach=reached, part=inner, clip=False):
                yield from self._moved(formula, reached, inner, binding, stream, when)
            case Lasts():
                yield from self._lasting(formula, binding, stream, when)
            case Some(reach=reached, part=inner) | Every(reach=reached, part=inner) if reached == EVERYWHERE:
                over = when if stream.is_point else stream.times
                for found, times in self._solve(inner, binding, stream, over):
                    if stream.is_point:
                        yield found, times
                    elif isinstance(formula, Some) or times.covers(over):
                        yield found, EVER
            case Some() | Every():
                yield from self._windowed(self.ordering.window(formula), binding, stream, when)
            case Seen() | Rows() | Only():
                yield from self._windowed(formula, binding, stream, when)
            case Whole(part=inner):
                yield from self._solve(inner, binding, self._reset(stream), when)

    def _reset(self, stream: FiniteStream) -> FiniteStream:
        """The whole stream, on the side of the negations that the current one is on."""
        return self.turned if stream.is_flipped else self.whole

    def _flipped(self, stream: FiniteStream) -> FiniteStream:
        if stream is self.whole:
            return self.turned
        return self.whole if stream is self.turned else stream.flipped()

    # -- atoms, comparisons, connectives ---------------------------------------------------------------

    def _atom(self, atom: Atom, binding: Assignment, stream: FiniteStream) -> Iterator[Solved]:
        for found in self.statics.matches(atom, binding):
            yield found, EVER
        inside = stream.times
        for found in stream.facts.matches(atom, binding):
            yield found, stream.facts.times(atom.predicate, arguments_of(atom, found)) & inside

    def _comparison(self, comparison: Comparison, binding: Assignment) -> Iterator[Solved]:
        missing = set(self.ordering.names(comparison)) - binding.keys()
        unknown = determined(comparison, set(binding)) if missing else None
        if unknown is not None:
            value = solved(comparison, unknown, binding)
            if value is not None:
                yield {**binding, unknown: value}, EVER
                return
        for full in self._all(comparison, binding):
            if compares(comparison, full):
                yield full, EVER

    def _conjunction(self, formula: All, binding: Assignment, stream: FiniteStream, when: Times) -> Iterator[Solved]:
        steps = self.ordering.steps(formula, binding)
        comparisons = [part for part in formula.parts if isinstance(part, Comparison)]

        def further(place: int, found: dict[str, ValueOrInvented], times: Times) -> Iterator[Solved]:
            if place == len(steps):
                yield found, times
                return
            step = steps[place]
            if isinstance(step, str):
                for value in self._held_between(step, comparisons, found):
                    yield from further(place + 1, {**found, step: value}, times)
                return
            for more, inside in self._solve(step, found, stream, times):
                yield from further(place + 1, more, inside & times)

        yield from further(0, dict(binding), when)

    def _held_between(self, name: str, comparisons: list[Comparison], binding: Assignment) -> Iterator[ValueOrInvented]:
        """The times that comparisons with known values leave to a variable."""
        low, high = -FAR, FAR
        for comparison in comparisons:
            left, right = linear(comparison.left, name, binding), linear(comparison.right, name, binding)
            if left is None or right is None or left[0] == right[0]:
                continue
            share = left[0] - right[0]
            edge = Fraction(right[1] - left[1]) / share
            operator = comparison.operator if share > 0 else MIRRORED[comparison.operator]
            if operator in ("<", "<=", "="):
                high = min(high, math.floor(edge))
            if operator in (">", ">=", "="):
                low = max(low, math.ceil(edge))
        yield from (self.variable_times & Times.between(low, high)).points()

    def _all(self, formula: CoreFormula, binding: Assignment) -> Iterator[dict[str, ValueOrInvented]]:
        """The binding with every value there is for the variables of the formula that are still open."""
        missing = [name for name in self.ordering.names(formula) if name not in binding]
        if not missing:
            yield dict(binding)
            return
        name, times = missing[0], missing[0] in self.ordering.times
        values: Iterable[ValueOrInvented] = self.variable_times.points() if times else self._constants
        for value in values:
            yield from self._all(formula, {**binding, name: value})

    # -- time ------------------------------------------------------------------------------------------

    def pinned_time(self, pin: At | Pinpoint, binding: Assignment) -> int | None:
        """Where a pin points; none if that is no time, or not known."""
        offset = length(pin.offset)
        if pin.base is None:
            return offset
        base = binding.get(NOW if isinstance(pin.base, Now) else pin.base.name)
        return base + offset if isinstance(base, int) else None

    def _pinned(self, formula: At, binding: Assignment, stream: FiniteStream) -> Iterator[Solved]:
        inner, name, offset = formula.part, formula.variable, length(formula.offset)
        if name is not None and name not in binding:
            inside = self.variable_times.spread(offset, offset) & stream.times
            for found, times in self._solve(inner, binding, stream, inside):
                known = found.get(name)
                for time in times.points():
                    value = time - offset
                    if known is None or known == value:
                        yield {**found, name: value}, Times.at(time) if stream.is_point else EVER
            return
        at = self.pinned_time(formula, binding)
        if at is None or at not in stream.times:
            return
        for found, _ in self._solve(inner, binding, stream, Times.at(at)):
            yield found, Times.at(at) if stream.is_point else EVER

    def _moved(
        self,
        formula: CoreFormula,
        reached: Reach,
        inner: CoreFormula,
        binding: Assignment,
        stream: FiniteStream,
        when: Times,
    ) -> Iterator[Solved]:
        """A formula at some time within reach, or at every such time."""
        low, high = ends(reached)
        for found, times in self._solve(inner, binding, stream, when.spread(low, high)):
            yield found, times.shrunk(-high, -low) if isinstance(formula, Every) else times.spread(-high, -low)

    def _lasting(self, formula: Lasts, binding: Assignment, stream: FiniteStream, when: Times) -> Iterator[Solved]:
        low, high = ends(formula.reach)
        ends_at = when.spread(low, high)
        if formula.is_past:
            low, high = -high, -low
            combine, between = since, when.spread(-high, -1)
        else:
            combine, between = until, when.spread(1, high)
        for found, right in self._solve(formula.right, binding, stream, ends_at):
            # Where nothing lies between, the left side need not hold anywhere.
            if combine(NEVER, right, low, high) & when:
                candidates: Iterable[dict[str, ValueOrInvented]] = self._all(formula, found)
            else:
                candidates = [full for full, _ in self._solve(formula.left, found, stream, between)]
            for full in candidates:
                left = self.times(formula.left, full, stream, between)
                yield full, combine(left, right, low, high)

    # -- windows ---------------------------------------------------------------------------------------

    def _windowed(self, window: Selecting, binding: Assignment, stream: FiniteStream, when: Times) -> Iterator[Solved]:
        inner = window.part
        if isinstance(window, Rows) and self.unsettled_rows is not None and self.unsettled_rows(window.window):
            # Below a negation, what might not hold is left out instead.
            if not stream.is_flipped:
                yield from ((found, EVER) for found in self._possible(inner, binding))
            return
        if isinstance(window, Seen) and window.hop in (None, 1) and stream is self._reset(stream):
            moves = self._sliding(window, binding, stream)
            if moves is not None:
                yield from ((found, times & stream.times) for found, times in moves)
                when -= stream.times
        for selected, at in selections(window, stream, self.whole, when):
            yield from self._solve(inner, binding, selected, at)

    def _possible(self, formula: CoreFormula, binding: Assignment) -> Iterator[dict[str, ValueOrInvented]]:
        """Every binding with which a formula could hold at some time in some part of the stream."""
        match formula:
            case Comparison():
                yield from (found for found, _ in self._comparison(formula, binding))
            case Atom():
                yield from (found for found, _ in self._atom(formula, binding, self.whole))
            case All():
                joined: list[dict[str, ValueOrInvented]] = [dict(binding)]
                for step in self.ordering.steps(formula, binding):
                    if not isinstance(step, str):
                        joined = [more for each in joined for more in self._possible(step, each)]
                yield from joined
            case Any(parts=parts):
                for part in parts:
                    for found in self._possible(part, binding):
                        yield from self._all(formula, found)
            case Lasts(right=right):
                for found in self._possible(right, binding):
                    yield from self._all(formula, found)
            case At(offset=offset, part=inner):
                name = formula.variable
                for found in self._possible(inner, binding):
                    if name is None or name in found:
                        yield found
                        continue
                    known = self.times(inner, found, self.whole, self.whole.times) if isinstance(inner, Atom) else EVER
                    tried = known.spread(-length(offset), -length(offset)) & self.variable_times
                    yield from ({**found, name: time} for time in tried.points())
            case Not() | Measured():
                yield from self._all(formula, binding)
            case _:
                yield from self._possible(formula.part, binding)

    def _sliding(self, window: Seen, binding: Assignment, stream: FiniteStream) -> Iterable[Solved] | None:
        """A sliding window over a formula that looks at one time only is an operator, cut to the stream: no need to
        look at each window by itself."""
        low, high = reach(window, 0)
        everything = stream.times
        match window.part:
            case Some(reach=reached, clip=True, part=seen) if reached == EVERYWHERE and is_at_one_time(seen):
                found = self._solve(seen, binding, stream, everything)
                return [(each, times.spread(-high, -low)) for each, times in found]
            case Every(reach=reached, clip=True, part=seen) if reached == EVERYWHERE and is_at_one_time(seen):
                found = self._solve(seen, binding, stream, everything)
                return [(each, ~((everything - times).spread(-high, -low))) for each, times in found]
            case At(part=seen) as pinned if is_at_one_time(seen):
                return [
                    (each, Times.at(at).spread(-high, -low))
                    for each, _ in self._solve(pinned, binding, stream, everything)
                    if (at := self.pinned_time(pinned, each)) is not None
                ]
            case _:
                return None
