"""What is known: facts, static facts, how late facts may be, and what is known of negated derived atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from presage.hypothesis.delays import Delays
from presage.hypothesis.ranges.memory import Memory
from presage.model.terms import Number, Value, Values
from presage.time.stretches import Stretch, TimeLine

if TYPE_CHECKING:
    from presage.hypothesis.ranges.families import AtomField

RowsOf = Callable[[str, Sequence[Value | None]], Iterable[Values]]


class Judged(NamedTuple):
    """A negated derived atom, by its time."""

    true: list[Stretch]
    never: list[Stretch]


@dataclass(frozen=True, slots=True)
class World:
    """What is known: facts, static facts, how late facts may be, and what is known of negated derived atoms."""

    line: TimeLine
    memory: Memory
    delays: Delays
    statics: RowsOf
    derived: frozenset[str]
    judge: Callable[[str, Values, Stretch], Judged]
    """When a negated derived atom is true and when it never can be, at least at some times."""
    field: Callable[[str, Sequence[Value | None], Number], AtomField] | None = None
    """All that is known of an atom at a time of which only some values are, where that is asked time by time."""
