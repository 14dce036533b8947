"""Answers that begin to go on by themselves, after the steps that brought them about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from presage.hypothesis.courses.automaton import Begins
from presage.hypothesis.courses.individuals import Individuals
from presage.hypothesis.courses.touched import Taken
from presage.kernels import courses as kernel

Ints = Any


def begin_answers(people: Individuals, begins: Sequence[Sequence[Begins]], taken: Sequence[Taken]) -> None:
    """Those whose times have become known go on by themselves."""
    new = [
        (each, np.flatnonzero(each.outcomes == outcome), begin)
        for each in taken
        for outcome in np.unique(each.outcomes).tolist()
        for begin in begins[outcome]
    ]
    if not new:
        return
    people.reserve(sum(len(here) for _, here, _ in new), np.concatenate([each.rows[here] for each, here, _ in new]))
    for each, here, begin in new:
        vectors, brought = each.vectors[here], each.brought[here]
        rows = people.begin(each.rows[here], _moments(begin.anchor, vectors), begin.asked)
        people.shapes[rows] = begin.shape
        for slot, (place, offset) in enumerate(begin.times):
            people.times[rows, slot] = vectors[:, place] + offset
        for slot, (place, as_number) in enumerate(begin.values):
            people.values[rows, slot] = brought[:, place]
            people.numbers[rows, slot] = vectors[:, as_number]
        people.wakes[rows], people.forgets[rows] = _moments(begin.wake, vectors), _moments(begin.forget, vectors)
        people.wake_later(rows)


def _moments(moment: list[int], vectors: Ints) -> Ints:
    """Moments of individuals: never, fixed, or so much later than one of their numbers."""
    kind, offset, place = moment
    if kind < 0:
        return np.full(len(vectors), kernel.NEVER, np.int64)
    return np.full(len(vectors), offset, np.int64) if kind == 0 else vectors[:, place] + offset
