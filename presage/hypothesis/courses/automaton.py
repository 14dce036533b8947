"""Shapes, transitions between them and their outcomes, as arrays for the kernels; made as they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from presage.hypothesis.courses.conditions import compiled
from presage.hypothesis.courses.shapes import NOTHING, CourseShape
from presage.hypothesis.courses.symbolic import Sum, Untraceable
from presage.hypothesis.courses.tracing import Spawn, TracedStep, Vector
from presage.kernels import course_arrays
from presage.kernels import courses as kernel
from presage.kernels.hashing import EMPTY


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
        self.outcomes = np.zeros((64, kernel.COLUMNS), np.int64)
        self.programs = np.zeros(1024, np.int64)
        self.steps: list[TracedStep] = []
        self.origins: list[tuple[tuple[int, ...], Vector, frozenset[int]]] = []
        """Of each outcome its transition, where its numbers stand, and which places of the vector are values."""
        self.variants: dict[tuple[int, int], int] = {}
        """Outcomes without some of their answers, these as bits."""
        self.variant_slots = np.full((64, 3), -1, np.int64)
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
        program, parts = self._program(step, vector, places, per_unit)
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
        self.outcomes[outcome, kernel.ALONE] = sum(each.each is None for each in step.told)
        self.transitions[transition, 2] = outcome
        self.steps.append(step)
        self.origins.append((sequence, vector, places))

    def add_variant(self, outcome: int, hidden: int, per_unit: int) -> None:
        """The outcome without some of its answers is one too."""
        known = self.variants[outcome, hidden] = len(self.steps)
        step = self.steps[outcome].without(hidden)
        _, vector, places = self.origins[outcome]
        if known >= len(self.outcomes):
            self.outcomes = _grown(self.outcomes, known + 1)
        self.outcomes[known] = self.outcomes[outcome]
        self.outcomes[known, kernel.TELLS] = self.outcomes[known, kernel.ALONE] = len(step.told)
        self._write(known, *self._program(step, vector, places, per_unit))
        self.steps.append(step)
        self.origins.append(self.origins[outcome])
        if 2 * len(self.variants) > len(self.variant_slots):
            self.variant_slots = np.full((2 * len(self.variant_slots), 3), -1, np.int64)
            for (each, bits), number in self.variants.items():
                course_arrays.add_variant(self.variant_slots, each, bits, number)
        else:
            course_arrays.add_variant(self.variant_slots, outcome, hidden, known)

    def arrays(self, payloads: Any) -> course_arrays.KnownSteps:
        return course_arrays.KnownSteps(
            payloads, self.shape_times, self.shape_values, self.hears, self.slots, self.transitions, self.sequences,
            self.outcomes, self.programs, self.variant_slots,
        )  # fmt: skip

    def _begins(self, spawn: Spawn, vector: Vector, per_unit: int) -> Iterator[int]:
        """How an individual begins that is one answer; its numbers are at places of the vector."""
        own = vector.then - vector.values
        yield from (self.number(spawn.shape), self.asked.index(spawn.anchor.asked))
        for moment in (spawn.anchor.at, spawn.wake, spawn.forget):
            yield from _moment(moment, per_unit)
        yield len(spawn.times)
        for symbol, offset in spawn.times:
            yield from (symbol, _parts(offset, per_unit))
        yield len(spawn.values)
        for each in spawn.values:
            # Its place among the values, and the one of the vector that has it as a number.
            yield from (each, vector.values + each if each < own else vector.fresh + each - own)

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
            self._write(outcome, *self._program(step, vector, places, per_unit))

    def _program(
        self, step: TracedStep, vector: Vector, values: frozenset[int], per_unit: int
    ) -> tuple[list[int], dict[int, int]]:
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
        begins = [each for spawn in step.spawns for each in self._begins(spawn, vector, per_unit)]
        part(kernel.BEGINS, [len(step.spawns), *begins])
        runs = [_moment(end, per_unit) for each in step.told if each.each is not None for end in each.each]
        if runs and per_unit > 1:
            raise Untraceable("a line for each whole time, where time is counted in parts")
        part(kernel.RUNS, [len(runs) // 2, *(each for end in runs for each in end)])
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
