"""What stands about individuals, worked out once for all that are alike."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from presage.hypothesis.courses.conditions import PARTS, compiled
from presage.hypothesis.courses.shapes import CourseShape
from presage.hypothesis.courses.tracing import TracedStep, Tracer, Vector
from presage.model.terms import Number, number


class Looks:
    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.steps: list[TracedStep] = []
        self.known: dict[CourseShape, list[tuple[int, list[int]]]] = {}
        """Of each shape what can be seen, and under which conditions."""

    def forget(self) -> None:
        self.steps, self.known = [], {}

    def of(self, shape: CourseShape, vectors: Any, per_unit: int) -> Iterator[tuple[int, Any]]:
        """Which of some individuals see what; raises `Untraceable`."""
        rest = np.arange(len(vectors))
        known = self.known.setdefault(shape, [])
        place = 0
        while len(rest):
            if place == len(known):
                known.append(self._new(shape, vectors[rest[0]], per_unit))
            step, conditions = known[place]
            place += 1
            meets = _meets(conditions, vectors[rest])
            if meets.any():
                yield step, rest[meets]
                rest = rest[~meets]

    def _new(self, shape: CourseShape, vector: Any, per_unit: int) -> tuple[int, list[int]]:
        places = Vector(shape, 0)
        values = frozenset(range(places.values, places.then))
        numbers = [
            _as_number(int(each), PARTS if place in values else per_unit) for place, each in enumerate(vector.tolist())
        ]
        step = self.tracer.look(shape, numbers, shape.values)
        self.steps.append(step)
        return len(self.steps) - 1, compiled(step.conditions, values, per_unit)


def _as_number(parts: int, per_unit: int) -> Number:
    return number(Fraction(parts, per_unit))


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
