"""Propositional formulas over facts that may hold or not, in negation normal form, simplified as they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Union

from presage.answer_streams.values import Ground, canonical

Candidate = tuple[Ground, int]
"""A ground atom at a time."""


@dataclass(frozen=True, slots=True)
class TruthValue:
    value: bool


@dataclass(frozen=True, slots=True)
class GroundLiteral:
    candidate: Candidate
    positive: bool = True


@dataclass(frozen=True, slots=True)
class AllParts:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class SomePart:
    parts: tuple[Expression, ...]


Expression = Union[TruthValue, GroundLiteral, AllParts, SomePart]

TRUE, FALSE = TruthValue(True), TruthValue(False)


def in_time(candidate: Candidate) -> tuple[object, ...]:
    """The order of facts: by time, then canonically."""
    return candidate[1], canonical(candidate[0])


def all_of(parts: Iterable[Expression]) -> Expression:
    found: dict[Expression, None] = {}
    for part in parts:
        if part == FALSE:
            return FALSE
        if isinstance(part, AllParts):
            found.update(dict.fromkeys(part.parts))
        elif part != TRUE:
            found[part] = None
    if any(
        isinstance(part, GroundLiteral) and GroundLiteral(part.candidate, not part.positive) in found for part in found
    ):
        return FALSE
    if not found:
        return TRUE
    return next(iter(found)) if len(found) == 1 else AllParts(tuple(found))


def some_of(parts: Iterable[Expression]) -> Expression:
    return negated(all_of(negated(part) for part in parts))


def negated(expression: Expression) -> Expression:
    match expression:
        case TruthValue(value=value):
            return FALSE if value else TRUE
        case GroundLiteral(candidate=candidate, positive=positive):
            return GroundLiteral(candidate, not positive)
        case AllParts(parts=parts):
            return SomePart(tuple(negated(part) for part in parts))
        case SomePart(parts=parts):
            return AllParts(tuple(negated(part) for part in parts))


def signs(expression: Expression) -> frozenset[bool]:
    """Whether literals occur positively, negatively, or both."""
    match expression:
        case TruthValue():
            return frozenset()
        case GroundLiteral(positive=positive):
            return frozenset((positive,))
        case AllParts(parts=parts) | SomePart(parts=parts):
            return frozenset().union(*(signs(part) for part in parts))


def candidates_of(expression: Expression) -> Iterator[Candidate]:
    """The facts an expression speaks of, with repetitions."""
    match expression:
        case GroundLiteral(candidate=candidate):
            yield candidate
        case AllParts(parts=parts) | SomePart(parts=parts):
            for part in parts:
                yield from candidates_of(part)


def holds(expression: Expression, is_true: Callable[[Candidate], bool]) -> bool:
    match expression:
        case TruthValue(value=value):
            return value
        case GroundLiteral(candidate=candidate, positive=positive):
            return is_true(candidate) == positive
        case AllParts(parts=parts):
            return all(holds(part, is_true) for part in parts)
        case SomePart(parts=parts):
            return any(holds(part, is_true) for part in parts)


def is_splittable(body: Expression) -> bool:
    """Whether a body is a conjunction of parts that grow and parts that shrink with the facts. For such bodies
    the reduct of Definition 12 and the one that answer set solvers use leave the same models: what shrinks
    stays true in every smaller interpretation."""
    parts = body.parts if isinstance(body, AllParts) else (body,)
    return all(len(signs(part)) <= 1 for part in parts)
