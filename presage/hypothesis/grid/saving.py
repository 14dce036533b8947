"""What individuals' contents say, as the general engine remembers it, and back: one form for saving both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from presage.hypothesis.engine import AnswerState, Hypotheses
from presage.hypothesis.grid.course import Content
from presage.hypothesis.grid.engine import GridChanges, Grids, QueryIndividuals
from presage.hypothesis.grid.fitting import AtomTemplate
from presage.hypothesis.grid.world import CellFact, NodeAtTime
from presage.hypothesis.ways import Way
from presage.model.terms import Values
from presage.patterns.literals import Lit
from presage.patterns.premises import Fixed


def pour_out(grids: Grids, engine: Hypotheses) -> None:
    """Puts what is known into a new engine of the same program."""
    if grids.now is None:
        return
    engine.remember((fact for grid in grids.grids for fact in _facts(grid)), grids.now)
    for grid in grids.grids:
        layout, values = grid.layout, grid.symbols.values
        shown = engine.shown[layout.name]
        for key, content in _individuals(grid):
            for (node, at), true in content.decided:
                atom = layout.nodes[node]
                engine.standings[atom.predicate].decide(grid.now + at, _filled(atom.template, key), true)
        for change in GridChanges(layout, list(_groups(grid)), []).changes(values):
            arguments, time = change.answer
            shown.ground.setdefault(time, {})[arguments] = change.state  # type: ignore[index, arg-type]
        for change in GridChanges(layout, [], list(grid.lines.values())).changes(values):
            arguments, time = change.answer
            shown.open.setdefault(time, {})[arguments] = change.state  # type: ignore[arg-type]
        if layout.lead is not None:
            engine.reached[layout.name] = grid.now + layout.lead
    engine.reached[""] = 0


def _individuals(grid: QueryIndividuals) -> Iterator[tuple[Values, Content]]:
    for row in np.flatnonzero(grid.places >= 0).tolist():
        key = tuple(grid.symbols.value(each) for each in grid.keys[row].tolist())
        yield key, grid.courses.contents[grid.places[row]]


def _facts(grid: QueryIndividuals) -> Iterator[tuple[str, Values, int]]:
    for key, content in _individuals(grid):
        for cell, at in content.facts:
            atom = grid.layout.cells[cell]
            yield atom.predicate, _filled(atom.template, key), grid.now + at


def _groups(grid: QueryIndividuals) -> Iterator[tuple[Any, tuple[tuple[int, int, AnswerState], ...]]]:
    for row in np.flatnonzero(grid.places >= 0).tolist():
        yield grid.keys[row : row + 1], tuple(grid.told(grid.places[row]))


def _filled(template: AtomTemplate, key: Values) -> Values:
    return tuple(each.value if isinstance(each, Fixed) else key[each] for each in template)


def _matched(template: AtomTemplate, arguments: Sequence[Any]) -> Values | None:
    """The individual whose atom has these arguments, if any does."""
    found: dict[int, Any] = {}
    for want, have in zip(template, arguments, strict=True):
        if isinstance(want, Fixed):
            if want.value != have:
                return None
        else:
            found[want] = have
    return tuple(found[each] for each in range(len(found)))


def take_in(grids: Grids, engine: Hypotheses) -> None:
    """Takes what an engine of the same program knows."""
    if engine.now is not None:
        now = int(engine.now)
        grids.intake.now = now
        for grid in grids.grids:
            _Reader(grid, engine, now).read()


class _Reader:
    """What an engine knows of the individuals of one query."""

    def __init__(self, grid: QueryIndividuals, engine: Hypotheses, now: int) -> None:
        self.grid, self.layout, self.engine, self.now = grid, grid.layout, engine, now
        self.facts: dict[Values, set[CellFact]] = {}
        self.decided: dict[Values, dict[NodeAtTime, bool]] = {}
        self.told: dict[Values, dict[NodeAtTime, int]] = {}

    def read(self) -> None:
        grid, layout, engine = self.grid, self.layout, self.engine
        grid.common = grid.courses.common(grid.common, self.now - grid.now, self.now).place
        grid.now = self.now
        for index, cell in enumerate(layout.cells):
            for time, rows in engine.facts.get(cell.predicate, {}).items():
                for row in rows:
                    self.put(self.facts, cell.template, row, set()).add((index, int(time) - self.now))
        for index, node in enumerate(layout.nodes):
            for time, known in engine.standings[node.predicate].decided.items():
                for row, true in known.items():
                    self.put(self.decided, node.template, row, {})[index, int(time) - self.now] = true
        for index in layout.answers:
            node = layout.nodes[index]
            for time, states in engine.shown[layout.name].ground.items():
                for row, state in states.items():
                    number = grid.courses.number_of(self.state(state, int(time)))
                    self.put(self.told, node.template, row, {})[index, int(time) - self.now] = number
        keys = list({**self.facts, **self.decided, **self.told})
        numbers = np.array([grid.symbols.number_all(key) for key in keys], np.int64).reshape(-1, layout.width)
        grid.resume(numbers, [(self.content(key), frozenset(self.facts.get(key, ()))) for key in keys])

    def put(self, table: dict[Values, Any], template: AtomTemplate, row: Sequence[Any], empty: Any) -> Any:
        key = _matched(template, row)
        return empty if key is None else table.setdefault(key, empty)

    def content(self, key: Values) -> Content:
        """What was decided of an individual long ago and never asked for is as with nobody."""
        common = self.grid.courses.contents[self.grid.common].decided
        decided = {atom: true for atom, true in common if atom[1] + self.layout.settled[atom[0]] < 0}
        decided |= self.decided.get(key, {})
        return Content(frozenset(), frozenset(decided.items()), frozenset(self.told.get(key, {}).items()))

    def state(self, state: AnswerState, time: int) -> AnswerState:
        """A state with the individual left out."""
        return AnswerState(state.status, tuple(self.way(each, time) for each in state.ways))

    def way(self, way: Way, time: int) -> Way:
        needs, because = (frozenset(self.lit(each, time) for each in lits) for lits in (way.needs, way.because))
        return Way(needs, because)

    def lit(self, lit: Lit, time: int) -> Lit:
        atoms: Any = self.layout.cells if lit.positive else self.layout.nodes
        index = next(
            place
            for place, each in enumerate(atoms)
            if each.predicate == lit.predicate and _matched(each.template, lit.arguments) is not None
        )
        return self.layout.lit(lit.positive, index, int(lit.time) - time)  # type: ignore[arg-type]
