"""Ground formulas as propositional ones over the facts that may hold or not.

What cannot depend on such facts is decided at once. Windows are applied to what is certain; a window of rows
that counts uncertain facts is written out by the cases of which of them are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from presage.answer_streams.aggregates import not_between_bounds
from presage.answer_streams.expressions import FALSE, TRUE, Expression, GroundLiteral, all_of, negated, some_of
from presage.answer_streams.formulas import Evaluator, arguments_of
from presage.answer_streams.streams import FiniteStream, TimedAtom, matched
from presage.answer_streams.values import Assignment, Ground, ValueOrInvented, compares
from presage.answer_streams.windows import Selecting, ends, length, select, visible
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
    atoms,
    mentioned,
    walk,
)
from presage.core.reach import EVERYWHERE
from presage.errors import PresageError
from presage.model.formulas import Atom, Comparison
from presage.model.values import NOW
from presage.model.windows import RowsWindow
from presage.time.points import FAR, Times

MOST_CASES = 4_000
"""As many cases of which rows are there are written out for one window."""


@dataclass(frozen=True)
class StreamView:
    """A part of the stream: its certain facts, and those that may be there."""

    certain: FiniteStream
    possible: FiniteStream


@dataclass(frozen=True)
class Unsettled:
    """Which windows count facts that may be there or not."""

    uncertain: frozenset[str]
    """The predicates of such facts."""
    counts_all: bool
    """Whether windows of rows count derived facts too."""

    def __call__(self, window: RowsWindow) -> bool:
        if not self.counts_all or not self.uncertain:
            return False
        return not window.by or any(pattern.predicate in self.uncertain for pattern in window.by)

    def touches(self, formula: CoreFormula) -> bool:
        """Whether the truth of a formula may depend on such facts."""
        windows = (node.window for node in walk(formula) if isinstance(node, Rows))
        return any(atom.predicate in self.uncertain for atom in mentioned(formula)) or any(map(self, windows))

    def refuse_aggregates(self, formula: CoreFormula) -> None:
        """What is looked for among the facts that may hold misses comparisons that fewer of them make true."""
        for measured in not_between_bounds(formula):
            if self.touches(measured):
                raise _not_evaluated(measured)


@dataclass
class BodyCompiler:
    """Compiles bodies of rules. `certain` and `possible` are the least and the greatest that can hold."""

    certain: Evaluator
    possible: FiniteStream
    unsettled: Unsettled
    known: dict[tuple[object, ...], Expression] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = StreamView(self.certain.whole, self.possible)
        self._open: dict[int, bool] = {}

    def body(self, formula: CoreFormula, binding: Assignment, at: int) -> Expression:
        return self._compile(formula, binding, self.whole, at)

    def is_open(self, formula: CoreFormula) -> bool:
        """Whether the truth of a formula may depend on uncertain facts."""
        if id(formula) not in self._open:
            self._open[id(formula)] = self.unsettled.touches(formula)
        return self._open[id(formula)]

    def _compile(self, formula: CoreFormula, binding: Assignment, view: StreamView, at: int) -> Expression:
        if not self.is_open(formula):
            return TRUE if self.certain.times(formula, binding, view.certain, Times.at(at)) else FALSE
        if view is not self.whole:
            return self._expression(formula, binding, view, at)
        names = self.certain.ordering.names(formula)
        key = (id(formula), at, binding.get(NOW), *(binding.get(name) for name in names))
        if key not in self.known:
            self.known[key] = self._expression(formula, binding, view, at)
        return self.known[key]

    def _expression(self, formula: CoreFormula, binding: Assignment, view: StreamView, at: int) -> Expression:
        match formula:
            case Measured():
                raise _not_evaluated(formula)
            case Comparison():
                return TRUE if compares(formula, binding) else FALSE
            case Atom():
                return self._atom((formula.predicate, arguments_of(formula, binding)), view, at)
            case Not(part=inner):
                return negated(self._compile(inner, binding, view, at))
            case All(parts=parts):
                return all_of(self._compile(part, binding, view, at) for part in parts)
            case Any(parts=parts):
                return some_of(self._compile(part, binding, view, at) for part in parts)
            case At(part=inner):
                time = self.certain.pinned_time(formula, binding)
                if time is None or not (time == at if view.certain.is_point else time in view.certain.times):
                    return FALSE
                return self._compile(inner, binding, view, time)
            case Shift(distance=distance, part=inner):
                return self._compile(inner, binding, view, at + length(distance))
            case Some(reach=reach, clip=True, part=inner) | Every(reach=reach, clip=True, part=inner):
                if reach != EVERYWHERE:
                    return self._compile(self.certain.ordering.window(formula), binding, view, at)
                times = [at] if view.certain.is_point else view.certain.times.points()
                each = [self._compile(inner, binding, view, time) for time in times]
                return some_of(each) if isinstance(formula, Some) else all_of(each)
            case Some(part=inner) | Every(part=inner):
                each = [self._compile(inner, binding, view, time) for time in self._reached(formula, at)]
                return some_of(each) if isinstance(formula, Some) else all_of(each)
            case Lasts():
                return self._lasting(formula, binding, view, at)
            case Seen(part=inner) | Rows(part=inner) | Only(part=inner):
                return some_of(
                    all_of((*conditions, self._compile(inner, binding, selected, at)))
                    for conditions, selected in self._windows(formula, view, at)
                )
            case Whole(part=inner):
                return self._compile(inner, binding, self.whole, at)

    def _atom(self, ground: Ground, view: StreamView, at: int) -> Expression:
        if at in self.certain.statics.times(*ground):
            return TRUE
        if view.certain.is_point or at not in view.certain.times:
            return FALSE
        if at in view.certain.facts.times(*ground):
            return TRUE
        return GroundLiteral((ground, at)) if at in view.possible.facts.times(*ground) else FALSE

    # -- operators over time ---------------------------------------------------------------------------

    def _reached(self, formula: Some | Every | Lasts, at: int) -> Iterator[int]:
        """The times that a reach leads to, nearest first, up to where nothing changes any more."""
        low, high = ends(formula.reach)
        whole, slack = self.certain.whole, 1 + self._slack(formula)
        if formula.reach.is_past:
            nearest, farthest = -high, max(-high, at - (whole.low - slack))
            return (at - distance for distance in range(nearest, min(-low, farthest) + 1))
        farthest = max(low, whole.high + slack - at)
        return (at + distance for distance in range(low, min(high, farthest) + 1))

    def _slack(self, formula: CoreFormula) -> int:
        """How far past the ends of the stream the truth of a formula may still change."""
        total = 0
        for node in walk(formula):
            match node:
                case Shift(distance=distance):
                    total += abs(length(distance))
                case Some(reach=reach) | Every(reach=reach) | Lasts(reach=reach) | Seen(reach=reach):
                    low, high = ends(reach)
                    total += sum(abs(each) for each in (low, high) if abs(each) < FAR)
                    total += length(node.hop) if isinstance(node, Seen) and node.hop is not None else 0
        return total

    def _lasting(self, formula: Lasts, binding: Assignment, view: StreamView, at: int) -> Expression:
        """The right side at one of the times, the left side at all times strictly between."""
        step = -1 if formula.is_past else 1
        cases: list[Expression] = []
        between: list[Expression] = []
        covered = at
        for time in self._reached(formula, at):
            while abs(time - covered) > 1:
                covered += step
                between.append(self._compile(formula.left, binding, view, covered))
            if FALSE in between:
                break
            cases.append(all_of((self._compile(formula.right, binding, view, time), *between)))
        return some_of(cases)

    # -- windows ---------------------------------------------------------------------------------------

    def _windows(
        self, window: Selecting, view: StreamView, at: int
    ) -> Iterator[tuple[tuple[Expression, ...], StreamView]]:
        """What a window selects, with the conditions under which it does."""
        whole, inside = self.certain.whole, view.certain.times
        leaves_all = whole.low <= at <= whole.high and at not in inside
        if isinstance(window, Rows) and self.unsettled(window.window) and not leaves_all:
            yield from self._row_cases(window, view, at)
        else:
            yield (), StreamView(select(window, view.certain, whole, at), select(window, view.possible, whole, at))

    def _row_cases(
        self, formula: Rows, view: StreamView, at: int
    ) -> Iterator[tuple[tuple[Expression, ...], StreamView]]:
        """All cases of which uncertain rows are there, as far as they matter."""
        window = formula.window
        certain = set(visible(view.certain.facts.rows(), view.certain))
        rows = visible(view.possible.facts.rows(), view.possible)
        past = [row for row in rows if row[0] <= at][::-1]
        future = [row for row in rows if row[0] > at]
        cases = 0
        for behind in _decisions(window, window.rows, past, certain):
            for ahead in _decisions(window, window.ahead, future, certain):
                cases += 1
                if cases > MOST_CASES:
                    raise PresageError(
                        "a window of rows counts more facts that may hold or not than can be told apart: count given "
                        "facts only (`reading every`, or `rows … by` an input), or shorten the stream"
                    )
                decided = (*behind, *ahead)
                conditions = tuple(
                    GroundLiteral((row[1], row[0]), there) for row, there in decided if row not in certain
                )
                facts = view.certain.facts.with_rows(row for row, there in decided if there)
                selected = select(formula, view.certain.of(facts, facts), self.certain.whole, at)
                yield conditions, StreamView(selected, selected)


Decision = tuple[TimedAtom, bool]
"""A row, and whether it is there."""


def _not_evaluated(formula: CoreFormula) -> PresageError:
    names = ", ".join(f"`{name}`" for name in sorted({atom.predicate for atom in atoms(formula)}))
    return PresageError(f"an aggregate over {names}, on which models may differ, is not evaluated")


def _decisions(
    window: RowsWindow, wanted: int, rows: list[TimedAtom], certain: set[TimedAtom]
) -> Iterator[tuple[Decision, ...]]:
    """Going away from now, each row is taken if it is there, until its partition has enough. Since of the rows
    at the farthest time the greatest stay, those ahead, which come least first, are all decided there."""
    keys = [_partition(window, row) for row in rows]

    def further(place: int, taken: Mapping[object, int], full: Mapping[object, int]) -> Iterator[tuple[Decision, ...]]:
        while place < len(rows):
            key, time = keys[place], rows[place][0]
            if key is not None and (taken.get(key, 0) < wanted or full.get(key) == time):
                break
            place += 1
        else:
            yield ()
            return
        row = rows[place]
        enough = taken.get(key, 0) + 1 >= wanted
        for rest in further(place + 1, {**taken, key: taken.get(key, 0) + 1}, {**full, key: time} if enough else full):
            yield (row, True), *rest
        if row not in certain:
            for rest in further(place + 1, taken, full):
                yield (row, False), *rest

    return further(0, {}, {}) if wanted else iter(((),))


def _partition(window: RowsWindow, row: TimedAtom) -> frozenset[tuple[str, ValueOrInvented]] | None:
    if not window.by:
        return frozenset()
    key = matched(window.by, row[1])
    return None if key is None else frozenset(key.items())
