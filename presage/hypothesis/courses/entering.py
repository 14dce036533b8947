"""Between individuals as shapes and as plain facts: where they are saved, and where one goes by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from presage.hypothesis.courses.conditions import PARTS
from presage.hypothesis.courses.shapes import (
    CONSTANT,
    KEY,
    OPEN,
    VALUE,
    CourseShape,
    Focus,
    Ref,
    Remembered,
    ShapeCut,
    ToldOf,
)
from presage.hypothesis.ranges.told import Standing, Told
from presage.model.terms import Number, number
from presage.patterns.literals import Open
from presage.time.stretches import BEGINNING, ENDLESS, Stretch, union

MOST_TIMES, MOST_VALUES = 12, 8
"""Of whom more is known, nobody else is like."""


class Entering:
    """The times are those at which facts begin; others are so much later than the last of these before them."""

    def __init__(self, key: Sequence[Any], constants: set[Any]) -> None:
        self.key, self.constants = list(key), constants
        self.times: list[Number] = []
        self.values: list[Any] = []

    def shape(self, facts: Iterable[Any], told: dict[Any, Told], focus: Any) -> CourseShape:
        known = sorted(facts, key=lambda each: each[0])
        remembered = []
        for name, row, times in known:
            if not isinstance(times.first[0], float) and times.first[0] not in self.times:
                self.times.append(times.first[0])
            remembered.append(
                Remembered(name, self._row(row), self._cut(times.first, False), self._cut(times.last, True))
            )
        said = tuple(
            ToldOf(
                name,
                self._row(row),
                tuple((self._cut((at, 0), False), each.status) for at, each in each_told.at.items()),
                None if each_told.open is None else each_told.open.status,
                tuple((self._cut(part.first, False), self._cut(part.last, True)) for part in each_told.confirmed),
            )
            for (name, row), each_told in told.items()
        )
        kinds = tuple(not isinstance(each, str) for each in self.values)
        alone = None
        if focus is not None:
            name, at, heard = focus
            alone = Focus(name, self._cut((at, 0), False), heard)
        return CourseShape(tuple(remembered), said, len(self.times), kinds, alone)

    def _row(self, row: Iterable[Any]) -> tuple[Ref, ...]:
        return tuple(map(self._ref, row))

    def _ref(self, value: Any) -> Ref:
        if isinstance(value, Open):
            return Ref(OPEN, (value.name, value.offset))
        if value in self.key:
            return Ref(KEY, self.key.index(value))
        if value in self.constants:
            return Ref(CONSTANT, value)
        if value not in self.values:
            self.values.append(value)
        return Ref(VALUE, self.values.index(value))

    def _cut(self, cut: Any, is_last: bool) -> ShapeCut:
        at, after = cut
        if isinstance(at, float):
            return ShapeCut(-1, None, int(is_last))
        if not self.times:
            self.times.append(at)
        before = [each for each in self.times if each <= at]
        base = max(before) if before else min(self.times)
        return ShapeCut(self.times.index(base), at - base, after)


def enter(
    key: Sequence[Any],
    facts: list[Any],
    told: dict[Any, Told],
    constants: Iterable[Any],
    too_great: int,
    focus: Any = None,
) -> Any:
    """What is known of an individual as a shape, its times and values; `None` if it is too much. Of who is one answer,
    `focus` is the query, the time and what it hears of. Values, in millionths, must not be `too_great`."""
    entering = Entering(key, set(constants))
    shape = entering.shape(facts, told, focus)
    parts = [Fraction(each) * PARTS for each in entering.values if not isinstance(each, str)]
    is_fine = all(each.denominator == 1 and abs(each) < too_great for each in parts)
    if shape.times > MOST_TIMES or len(shape.values) > MOST_VALUES or not is_fine:
        return None
    return shape, entering.times, entering.values


def written_out(
    shape: CourseShape, times: Sequence[Number], values: Sequence[Any], key: Sequence[Any]
) -> tuple[list[Any], dict[Any, Told]]:
    """What is known and told of an individual, with its times and values: facts, and what was told."""

    def cut(known: ShapeCut) -> Any:
        if known.offset is None:
            return ENDLESS if known.after else BEGINNING
        return number((0 if known.slot < 0 else times[known.slot]) + known.offset), known.after

    def arguments(refs: Iterable[Ref]) -> tuple[Any, ...]:
        found = []
        for ref in refs:
            match ref.kind:
                case "key":
                    found.append(key[ref.what])
                case "value":
                    found.append(values[ref.what])
                case "open":
                    found.append(Open(*ref.what))
                case _:
                    found.append(ref.what)
        return tuple(found)

    facts = [(each.predicate, arguments(each.row), Stretch(cut(each.first), cut(each.last))) for each in shape.facts]
    told = {
        (each.asked, arguments(each.arguments)): Told(
            {cut(at)[0]: Standing(status) for at, status in each.at},
            None if each.open is None else Standing(each.open),
            [Stretch(cut(first), cut(last)) for first, last in each.confirmed],
        )
        for each in shape.told
    }
    return facts, told


def merged(known: Iterable[tuple[list[Any], dict[Any, Told]]]) -> tuple[list[Any], dict[Any, Told]]:
    """What is known and told of several individuals, some of whom may have the same key."""
    facts: dict[Any, None] = {}
    told: dict[Any, Told] = {}
    for some, said in known:
        facts.update(dict.fromkeys(some))
        for key, each in said.items():
            if key not in told:
                told[key] = each
                continue
            told[key].at.update(each.at)
            told[key].open = told[key].open or each.open
            told[key].confirmed = union([*told[key].confirmed, *each.confirmed])
    return list(facts), told
