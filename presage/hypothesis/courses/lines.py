"""What is told of individuals, as answers: each outcome's templates, with times and values put in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from presage.answers import Answer, show_answer_atom
from presage.hypothesis.courses.answer_templates import Template, WorkedOut
from presage.hypothesis.courses.chances import Chance, Chances
from presage.hypothesis.courses.comparing_texts import arrange
from presage.hypothesis.courses.conditions import PARTS
from presage.hypothesis.courses.shapes import Ref, ToldRows
from presage.hypothesis.courses.symbolic import Sum
from presage.model.printer import show_number
from presage.model.terms import Number, Variable, number

ShownValues = Sequence[Any]


class Instance:
    """One individual at one step: the numbers and values that templates speak of."""

    __slots__ = ("chances", "given", "key", "numbers", "per_unit", "values")

    def __init__(
        self,
        numbers: Sequence[int],
        given: Sequence[int],
        key: Sequence[int],
        values: ShownValues,
        per_unit: int,
        chances: Chances,
    ) -> None:
        self.numbers, self.given, self.key, self.values, self.per_unit = numbers, given, key, values, per_unit
        self.chances = chances

    def time(self, total: Sum | None) -> Number | None:
        if total is None:
            return None
        return self._counted(total, self.per_unit)

    def _counted(self, total: Sum, per_unit: int) -> Number:
        """A sum of times or of values, of which so many parts are one."""
        found: Any = sum(factor * self.numbers[place] for place, factor in total.terms)
        if per_unit == 1:
            return number(found + total.constant)
        return number(Fraction(found, per_unit) + total.constant)

    def value(self, ref: Ref) -> Any:
        match ref.kind:
            case "key":
                return self.values[self.key[ref.what]]
            case "value":
                return self.values[self.given[ref.what]]
            case "open":
                return Variable(ref.what[0])
            case _:
                return ref.what

    def text(self, parts: Sequence[Any]) -> str:
        return "".join([part if isinstance(part, str) else self._shown(part) for part in parts])

    def _shown(self, part: Sum | Ref | WorkedOut) -> str:
        if isinstance(part, WorkedOut):
            return show_number(self._counted(part.total, PARTS))
        if isinstance(part, Sum):
            at = self.time(part)
            assert at is not None
            return show_number(at)
        return show_answer_atom("", (self.value(part),))[1:-1]

    def texts(self, several: Sequence[Sequence[Any]]) -> tuple[str, ...]:
        return tuple([self.text(each) for each in several])

    def _chance(self, chance: Chance | None, now: Any) -> float | None:
        if chance is None:
            return None
        return self.chances.at(chance, [self.time(each) - now for each in chance.times])

    def way(self, fields: dict[str, Any], now: Number) -> dict[str, Any]:
        return {
            "because": tuple(arrange(self.texts(fields["because"]))),
            "needs": self.texts(fields["needs"]),
            "unless": tuple(arrange(self.texts(fields["unless"]))),
            "decided_by": self.time(fields["decided_by"]),
            "confidence": self._chance(fields["confidence"], now),
        }

    def answer(self, template: Template) -> Answer:
        fields = template.fields
        now = self.time(fields["now"])
        assert now is not None
        return Answer(
            now,
            fields["status"],
            fields["predicate"],
            tuple([self.value(each) for each in fields["arguments"]]),
            {name: self.value(ref) for name, ref in fields["bindings"].items()},
            time=self.time(fields["time"]),
            start=self.time(fields["start"]),
            end=self.time(fields["end"]),
            bounds=fields["bounds"],
            **self.way(fields, now),
            ways=tuple([self.way(each, now) for each in fields["ways"]]),
            ways_left_out=fields["ways_left_out"],
            open_time=fields["open_time"],
        )


def answers(rows: ToldRows, values: ShownValues, chances: Chances) -> Iterator[Answer]:
    for outcome, numbers, given, key in zip(
        rows.outcomes.tolist(), rows.vectors.tolist(), rows.values.tolist(), rows.keys.tolist(), strict=True
    ):
        instance = Instance(numbers, given, key, values, rows.per_unit, chances)
        for template in rows.steps[outcome].told:
            if template.each is None:
                yield instance.answer(template)
                continue
            first, after = map(instance.time, template.each)
            for at in range(first, after):  # type: ignore[arg-type]
                yield Instance([*numbers, at], given, key, values, rows.per_unit, chances).answer(template)
