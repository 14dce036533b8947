"""What stands about individuals, worked out once for all that are alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from presage.hypothesis.courses.conditions import compiled
from presage.hypothesis.courses.describing import Arriving, Described, described, in_units
from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.kinds import Kinds
from presage.hypothesis.courses.shapes import ArrivingFact, CourseShape
from presage.hypothesis.courses.tracing import TracedStep, Tracer, Vector
from presage.model.terms import number


class LookKind(NamedTuple):
    """A shape, with the static facts that individuals of it have."""

    shape: CourseShape
    static: tuple[ArrivingFact, ...]
    are_numbers: tuple[bool, ...]
    """Of all values, also those that static facts bring."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Individuals that are looked at together: the numbers and values that they have."""

    kind: LookKind
    rows: Any
    vectors: Any
    values: Any


def groups(people: Individuals, kinds: Kinds, shape: CourseShape, rows: Any, now: int) -> Iterator[Alike]:
    """Individuals of one shape by the static facts they have, at the time of the last step."""
    own = len(shape.values)
    then = np.full((len(rows), 2), now, np.int64)
    vectors = np.column_stack([people.times[rows, : shape.times], people.numbers[rows, :own], then])
    values = people.values[rows, :own]
    if not people.static_kinds.shape[1]:
        yield Alike(LookKind(shape, (), shape.values), rows, vectors, values)
        return
    is_there = people.static_kinds[rows] >= 0
    ends = np.cumsum(is_there.sum(axis=1))
    known, given, numbers = (
        each[rows][is_there] for each in (people.static_kinds, people.static_values, people.static_numbers)
    )
    static = Arriving(known, np.zeros(len(known), np.int64), given, numbers)
    found: dict[tuple[int, ...], list[tuple[int, Described]]] = {}
    for place, row in enumerate(rows.tolist()):
        begin = int(ends[place - 1]) if place else 0
        what = described(people, kinds, row, shape, static, range(begin, int(ends[place])))
        found.setdefault(what.sequence, []).append((place, what))
    for several in found.values():
        places, first = np.array([place for place, _ in several]), several[0][1]
        fresh = np.array([what.brought for _, what in several], np.int32).reshape(len(several), -1)
        times = np.zeros((len(several), len(first.arrivals)), np.int64)
        kind = LookKind(shape, tuple(first.arrivals), tuple(first.kinds))
        more = np.column_stack([times, kinds.numbers_of(fresh)])
        yield Alike(
            kind, rows[places], np.column_stack([vectors[places], more]), np.column_stack([values[places], fresh])
        )


class Looks:
    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.steps: list[TracedStep] = []
        self.known: dict[LookKind, list[tuple[int, list[int]]]] = {}
        """What can be seen of each kind, and under which conditions."""

    def forget(self) -> None:
        self.steps, self.known = [], {}

    def of(self, alike: Alike, per_unit: int) -> Iterator[tuple[int, Any]]:
        """Which of some individuals see what; raises `Untraceable`."""
        vectors = alike.vectors
        rest = np.arange(len(vectors))
        known = self.known.setdefault(alike.kind, [])
        place = 0
        while len(rest):
            if place == len(known):
                known.append(self._new(alike.kind, vectors[rest[0]], per_unit))
            step, conditions = known[place]
            place += 1
            meets = _meets(conditions, vectors[rest])
            if meets.any():
                yield step, rest[meets]
                rest = rest[~meets]

    def _new(self, kind: LookKind, vector: Any, per_unit: int) -> tuple[int, list[int]]:
        places = Vector(kind.shape, len(kind.static))
        values = frozenset([*range(places.values, places.then), *range(places.fresh, len(vector))])
        numbers = [
            in_units(each) if place in values else number(Fraction(each, per_unit))
            for place, each in enumerate(vector.tolist())
        ]
        step = self.tracer.look(kind.shape, kind.static, numbers, kind.are_numbers)
        self.steps.append(step)
        return len(self.steps) - 1, compiled(step.conditions, values, per_unit)


def _meets(conditions: list[int], vectors: Any) -> Any:
    meets = np.ones(len(vectors), bool)
    position = 1
    for _ in range(conditions[0]):
        differs, constant, terms = conditions[position : position + 3]
        position += 3
        total = np.full(len(vectors), constant, np.int64)
        for _term in range(terms):
            total += conditions[position] * vectors[:, conditions[position + 1]]
            position += 2
        meets &= (total != 0) if differs else (total <= 0)
    return meets
