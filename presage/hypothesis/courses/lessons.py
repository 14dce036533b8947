"""What steps of individuals come to, as far as somebody in this process has worked it out.

To work out a step with symbols takes some ten milliseconds, and a program may have hundreds of them. They follow from
the program alone: whoever has the same patterns, another shard of the same worker, say, or the same program started
again, need not work them out again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from presage.hypothesis.courses.shapes import ArrivingFact, CourseShape
from presage.hypothesis.courses.symbolic import AT_MOST, LESS, SymbolCondition, Untraceable

if TYPE_CHECKING:
    from presage.hypothesis.courses.tracing import TracedStep

MOST_PROGRAMS = 32
MOST_STEPS = 20_000
"""Of one program."""


class Situation(NamedTuple):
    """What is asked of a step, but for the numbers it is made of."""

    shape: CourseShape
    arrivals: tuple[ArrivingFact, ...]
    are_numbers: tuple[bool, ...]
    """Of all values, new ones too."""
    is_look: bool


class Lessons:
    """The steps of one program."""

    def __init__(self) -> None:
        self.known: dict[Situation, list[TracedStep]] = {}
        self.hopeless: set[Situation] = set()
        """What symbols could not tell."""
        self.size = self.kept = 0
        """How many steps, and how many of them are written down."""

    def about(self, situation: Situation, numbers: Sequence[Any]) -> TracedStep | None:
        """The step that these numbers lead to, if it is known; raises `Untraceable` where none was to be found."""
        for step in self.known.get(situation, ()):
            if all(_holds(each, numbers) for each in step.conditions):
                return step
        if situation in self.hopeless:
            raise Untraceable("it was tried before")
        return None

    def note(self, situation: Situation, step: TracedStep) -> None:
        if self.size < MOST_STEPS:
            self.size += 1
            self.known.setdefault(situation, []).append(step)


_lock = Lock()
_of_programs: OrderedDict[str, Lessons] = OrderedDict()


def lessons_of(mark: str) -> Lessons:
    """The lessons that all share whose programs have the same mark."""
    with _lock:
        found = _of_programs.setdefault(mark, Lessons())
        _of_programs.move_to_end(mark)
        while len(_of_programs) > MOST_PROGRAMS:
            _of_programs.popitem(last=False)
    return found


def all_lessons() -> list[tuple[str, Lessons]]:
    """What this process knows, by the marks of programs."""
    with _lock:
        return list(_of_programs.items())


def _holds(condition: SymbolCondition, numbers: Sequence[Any]) -> bool:
    total = sum((factor * numbers[place] for place, factor in condition.terms), condition.constant)
    if condition.kind == AT_MOST:
        return bool(total <= 0)
    return bool(total < 0 if condition.kind == LESS else total != 0)
