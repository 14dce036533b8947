"""Trees of steps, as joins walk through them, and the rows of numbers in which the kernels read them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from presage.kernels import entries, joins
from presage.kernels.arrays import Ints

Spec = tuple[int, int, int]
"""A column, what it does, and its variable or symbol."""


@dataclass(slots=True)
class TreeStep:
    """A literal of a path, as far as it decides what is found; equal ones of two paths are one step of their tree."""

    key: tuple[object, ...]
    fields: dict[int, int]
    keys: tuple[Spec, ...]
    rest: tuple[Spec, ...]
    checks: tuple[tuple[int, ...], ...]
    children: dict[tuple[object, ...], TreeStep] = field(default_factory=dict)
    found: list[tuple[tuple[Spec, ...], dict[int, int]]] = field(default_factory=list)


class TreeWriter:
    """Trees as rows of numbers."""

    def __init__(self) -> None:
        self.steps: list[list[int]] = []
        self.specs: list[Spec] = []
        self.checks: list[tuple[int, ...]] = []
        self.found: list[list[int]] = []

    def array(self, rows: object, width: int) -> Ints:
        return np.array(rows, np.int64).reshape(-1, width)

    def specs_of(self, specs: tuple[Spec, ...]) -> int:
        self.specs.extend(specs)
        return len(self.specs) - len(specs)

    def tree(self, roots: dict[tuple[object, ...], TreeStep]) -> int:
        """Writes a tree; gives its first root."""
        todo: list[tuple[list[int], TreeStep]] = []
        first = self._level(roots, todo)
        while todo:
            row, step = todo.pop()
            row[joins.CHILD] = row[joins.LIVE_CHILD] = self._level(step.children, todo)
        return first

    def _level(self, steps: dict[tuple[object, ...], TreeStep], todo: list[tuple[list[int], TreeStep]]) -> int:
        """Writes the steps of a level; gives the first. What is below them is left to do."""
        numbers = []
        for step in steps.values():
            row = [0] * joins.STEP_FIELDS
            numbers.append(len(self.steps))
            self.steps.append(row)
            for place, value in step.fields.items():
                row[place] = value
            row[joins.KEY_AT], row[joins.KEY_COUNT] = self.specs_of(step.keys), len(step.keys)
            row[joins.REST_AT], row[joins.REST_COUNT] = self.specs_of(step.rest), len(step.rest)
            row[joins.CHECK_AT], row[joins.CHECK_COUNT] = len(self.checks), len(step.checks)
            self.checks.extend(step.checks)
            row[joins.FOUND] = self._found(step)
            row[joins.CHILD] = -1
            todo.append((row, step))
        for own, following in zip(numbers, [*numbers, -1][1:], strict=True):
            self.steps[own][joins.SIBLING] = self.steps[own][joins.LIVE_SIBLING] = following
        return numbers[0] if numbers else -1

    def _found(self, step: TreeStep) -> int:
        following = -1
        for columns, fields in reversed(step.found):
            row = [0] * entries.FOUND_FIELDS
            for place, value in fields.items():
                row[place] = value
            row[entries.TUPLE_AT], row[entries.TUPLE_WIDTH] = self.specs_of(columns), len(columns)
            row[entries.NEXT_FOUND] = following
            following = len(self.found)
            self.found.append(row)
        return following
