"""Shapes, transitions between them and their outcomes, as arrays for the kernels; made as they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from presage.hypothesis.courses.conditions import compiled
from presage.hypothesis.courses.shapes import NOTHING, CourseShape
from presage.hypothesis.courses.symbolic import Sum, Untraceable
from presage.hypothesis.courses.tracing import Spawn, TracedStep, Vector
from presage.kernels import courses as kernel
from presage.kernels.hashing import EMPTY

COLUMNS = 9


@dataclass(frozen=True, slots=True)
class Begins:
    """How an individual begins that is one answer: its numbers are at places of a vector."""

    shape: int
    asked: int
    anchor: list[int]
    times: list[tuple[int, int]]
    """A place of the vector, and how much later."""
    values: list[tuple[int, int]]
    """A place of the values, and one of the vector that has it as a number."""
    wake: list[int]
    forget: list[int]


class Automaton:
    def __init__(self, kinds: dict[str, int], asked: Sequence[str]) -> None:
        """`kinds` has the kinds of facts of each input, as bits."""
        self.kinds, self.asked = kinds, list(asked)
        self.shapes: list[CourseShape] = []
        self.numbers: dict[CourseShape, int] = {}
        self.shape_times = np.zeros(16, np.int64)
        self.shape_values = np.zeros(16, np.int64)
        self.open_answers = np.zeros(16, np.int64)
        self.hears = np.zeros(16, np.int64)
        """By shape: the kinds of facts that may change something, as bits."""
        self.flows: list[bool] = []
        self.sequences = np.zeros(256, np.int64)
        self.transitions = np.zeros((64, 3), np.int64)
        self.slots = np.full(128, EMPTY, np.int64)
        self.known: dict[tuple[int, ...], int] = {}
        self.outcomes = np.zeros((64, COLUMNS), np.int64)
        self.programs = np.zeros(1024, np.int64)
        self.steps: list[TracedStep] = []
        self.origins: list[tuple[tuple[int, ...], Vector, frozenset[int]]] = []
        """Of each outcome its transition, where its numbers stand, and which places of the vector are values."""
        self.begins: list[list[Begins]] = []
        self.variants: dict[tuple[int, int], int] = {}
        self.used = self.spoken = 0
        self.hopeless: set[tuple[int, ...]] = set()
        """Transitions that symbols cannot take."""
        self.number(NOTHING)

    def number(self, shape: CourseShape) -> int:
        known = self.numbers.get(shape)
        if known is None:
            known = self.numbers[shape] = len(self.shapes)
            self.shapes.append(shape)
            if known >= len(self.shape_times):
                for name in ("shape_times", "shape_values", "open_answers", "hears"):
                    setattr(self, name, _grown(getattr(self, name), known + 1))
            self.shape_times[known], self.shape_values[known] = shape.times, len(shape.values)
            self.open_answers[known] = shape.open_answers
            for name in self.kinds if shape.focus is None else shape.focus.hears:
                self.hears[known] |= self.kinds[name]
        return known

    def add(self, sequence: tuple[int, ...], step: TracedStep, vector: Vector, values: int, per_unit: int) -> None:
        """An outcome of a transition; `values` are there, new ones too. Raises `Untraceable`."""
        own = vector.then - vector.values
        places = frozenset([*range(vector.values, vector.then), *range(vector.fresh, vector.fresh + values - own)])
        program, parts = self._program(step, places, per_unit)
        begins = [self._begins(each, vector, per_unit) for each in step.spawns]
        transition = self.known.get(sequence)
        if transition is None:
            transition = self._new_transition(sequence)
        outcome = len(self.steps)
        if outcome >= len(self.outcomes):
            self.outcomes = _grown(self.outcomes, outcome + 1)
        self._write(outcome, program, parts)
        self.outcomes[outcome, kernel.NEXT] = self.transitions[transition, 2]
        self.outcomes[outcome, kernel.SHAPE] = self.number(step.after)
        self.outcomes[outcome, kernel.TELLS] = len(step.told)
        self.transitions[transition, 2] = outcome
        self.steps.append(step)
        self.origins.append((sequence, vector, places))
        self.begins.append(begins)

    def variant(self, outcome: int, hidden: int, per_unit: int) -> int:
        """The outcome without some of its answers."""
        known = self.variants.get((outcome, hidden))
        if known is None:
            known = self.variants[outcome, hidden] = len(self.steps)
            step = self.steps[outcome].without(hidden)
            if known >= len(self.outcomes):
                self.outcomes = _grown(self.outcomes, known + 1)
            self.outcomes[known] = self.outcomes[outcome]
            self.outcomes[known, kernel.TELLS] = len(step.told)
            self.steps.append(step)
            self.origins.append(self.origins[outcome])
            self.begins.append([self._begins(each, self.origins[outcome][1], per_unit) for each in step.spawns])
        return known

    def _begins(self, spawn: Spawn, vector: Vector, per_unit: int) -> Begins:
        own = vector.then - vector.values
        return Begins(
            self.number(spawn.shape),
            self.asked.index(spawn.anchor.asked),
            _moment(spawn.anchor.at, per_unit),
            [(symbol, _parts(offset, per_unit)) for symbol, offset in spawn.times],
            [(each, vector.values + each if each < own else vector.fresh + each - own) for each in spawn.values],
            _moment(spawn.wake, per_unit),
            _moment(spawn.forget, per_unit),
        )

    def _write(self, outcome: int, program: list[int], parts: dict[int, int]) -> None:
        begin = self.used
        self.used += len(program)
        if self.used > len(self.programs):
            self.programs = _grown(self.programs, self.used)
        self.programs[begin : self.used] = program
        for column, place in parts.items():
            self.outcomes[outcome, column] = begin + place

    def _new_transition(self, sequence: tuple[int, ...]) -> int:
        known = self.known[sequence] = len(self.known)
        if known >= len(self.transitions):
            self.transitions = _grown(self.transitions, known + 1)
        begin, self.spoken = self.spoken, self.spoken + len(sequence)
        if self.spoken > len(self.sequences):
            self.sequences = _grown(self.sequences, self.spoken)
        self.sequences[begin : self.spoken] = sequence
        self.transitions[known] = (begin, len(sequence), -1)
        if 2 * len(self.known) > len(self.slots):
            self.slots = np.full(2 * len(self.slots), EMPTY, np.int64)
            for each, number in self.known.items():
                self._enter(each, number)
        else:
            self._enter(sequence, known)
        return known

    def _enter(self, sequence: tuple[int, ...], number: int) -> None:
        mask = len(self.slots) - 1
        at = kernel.place_of(np.array(sequence, np.int64)) & mask
        while self.slots[at] != EMPTY:
            at = (at + 1) & mask
        self.slots[at] = number

    def refine(self, per_unit: int) -> None:
        """Writes all outcomes anew, for times in finer parts."""
        self.used = 0
        for outcome, (step, (_, vector, places)) in enumerate(zip(self.steps, self.origins, strict=True)):
            self._write(outcome, *self._program(step, places, per_unit))
            self.begins[outcome] = [self._begins(each, vector, per_unit) for each in step.spawns]

    def _program(self, step: TracedStep, values: frozenset[int], per_unit: int) -> tuple[list[int], dict[int, int]]:
        program: list[int] = []
        parts: dict[int, int] = {}

        def part(column: int, content: Sequence[int]) -> None:
            parts[column] = len(program)
            program.extend(content)

        part(kernel.CONDITIONS, compiled(step.conditions, values, per_unit))
        moved = [each for symbol, offset in step.times for each in (symbol, _parts(offset, per_unit))]
        part(kernel.TIMES, [len(step.times), *moved])
        part(kernel.VALUES, [len(step.values), *step.values])
        part(kernel.WAKE, _moment(step.wake, per_unit))
        part(kernel.FORGET, _moment(step.forget, per_unit))
        anchors = [[self.asked.index(each.asked), *_moment(each.at, per_unit)] for each in step.anchors]
        part(kernel.ANCHORS, [len(anchors), *(each for anchor in anchors for each in anchor)])
        return program, parts


def _moment(when: Sum | None, per_unit: int) -> list[int]:
    if when is None:
        return [-1, 0, 0]
    if not when.terms:
        return [0, _parts(when.constant, per_unit), 0]
    if len(when.terms) > 1 or when.terms[0][1] != 1:
        raise Untraceable("a time that is worked out of several")
    return [1, _parts(when.constant, per_unit), when.terms[0][0]]


def _parts(number: Any, per_unit: int) -> int:
    scaled = number * per_unit
    if scaled != int(scaled):
        raise Untraceable("a number of too many places")
    return int(scaled)


def _grown(array: Any, size: int) -> Any:
    capacity = len(array)
    while capacity < size:
        capacity *= 2
    found = np.zeros((capacity, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found
