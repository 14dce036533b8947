"""What is told of an individual, with places for its times and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from presage.answers import Answer
from presage.hypothesis.courses.chances import Chance
from presage.hypothesis.courses.comparing_texts import HOLES
from presage.hypothesis.courses.conditions import PARTS
from presage.hypothesis.courses.runs import EACH
from presage.hypothesis.courses.shapes import KEY, VALUE, Ref
from presage.hypothesis.courses.symbolic import Sum, Trace, Untraceable, total_of


class WorkedOut(NamedTuple):
    """A number that is worked out of values."""

    total: Sum


TemplatePart = str | Sum | Ref | WorkedOut
"""Of a text: written as it is, or to be put in."""


@dataclass(frozen=True, slots=True)
class Template:
    """An answer with times and values to be put in."""

    fields: dict[str, Any]
    each: tuple[Sum, Sum] | None = None
    """The times from one on and before another, for each of which there is a line: its time comes after all other
    numbers."""


class Names(Protocol):
    """What stands for the key and for values."""

    numbers: dict[int, int]

    def ref(self, value: Any) -> Ref: ...


class Templates:
    """Answers as templates."""

    def __init__(self, trace: Trace, names: Names, runs: int) -> None:
        """`runs`: the first symbol that stands for the times of a run."""
        self.trace, self.names, self.runs = trace, names, runs

    def template(self, answer: Answer, each: tuple[Sum, Sum] | None) -> Template:
        fields: dict[str, Any] = {
            "status": answer.status,
            "predicate": answer.predicate,
            "arguments": tuple(map(self.names.ref, answer.arguments)),
            "bindings": {name: self.names.ref(value) for name, value in answer.bindings.items()},
            "bounds": answer.bounds,
            "open_time": answer.open_time,
            "ways_left_out": answer.ways_left_out,
            "text": self._text(answer.answer),
            "key": self._text(answer.key),
        }
        for name in ("now", "time", "start", "end"):
            fields[name] = self._placed(total_of(getattr(answer, name)))
        fields |= self._way({name: getattr(answer, name) for name in WAY_FIELDS})
        fields["ways"] = tuple(self._way(each) for each in answer.ways)
        return Template(fields, each)

    def _way(self, way: dict[str, Any]) -> dict[str, Any]:
        factors = way["confidence"]
        return {
            "because": tuple(map(self._text, way["because"])),
            "needs": tuple(map(self._text, way["needs"])),
            "unless": tuple(map(self._text, way["unless"])),
            "decided_by": self._placed(total_of(way["decided_by"])),
            "confidence": None if factors is None else Chance.of(factors),
        }

    def _placed(self, found: Sum | None) -> Any:
        """A sum with the time of a line, if it is there, in its place."""
        if found is None or all(index < self.runs for index, _ in found.terms):
            return found
        terms = tuple((EACH if index >= self.runs else index, factor) for index, factor in found.terms)
        return Sum(terms, found.constant)

    def _text(self, text: str) -> tuple[TemplatePart, ...]:
        return tuple(self._parts(text))

    def _parts(self, text: str) -> Iterator[TemplatePart]:
        done = 0
        for found in HOLES.finditer(text):
            if found.start() > done:
                yield text[done : found.start()]
            done = found.end()
            place, kind, index = found.groups()
            if place is None:
                yield Ref(KEY if kind == "k" else VALUE, int(index))
                continue
            terms, constant = self.trace.sums[int(place)]
            values = [self.names.numbers[symbol] for symbol, _ in terms if symbol in self.names.numbers]
            if not values:
                yield self._placed(Sum(terms, constant))
            elif len(terms) == 1 and terms[0][1] == 1 and constant == 0:
                yield Ref(VALUE, values[0])
            elif len(values) == len(terms) and (constant * PARTS).denominator == 1:
                yield WorkedOut(Sum(terms, constant))
            else:
                raise Untraceable("a value that is worked out")
        if done < len(text):
            yield text[done:]


WAY_FIELDS = ("because", "needs", "unless", "decided_by", "confidence")
