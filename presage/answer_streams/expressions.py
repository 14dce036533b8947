"""Propositional formulas over facts that may hold or not, in negation normal form, simplified as they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Union

from presage.answer_streams.values import Ground, canonical

Candidate = tuple[Ground, int]
"""A ground atom at a time."""


@dataclass(frozen=True, slots=True)
class Truth:
    value: bool


@dataclass(frozen=True, slots=True)
class Literal:
    candidate: Candidate
    positive: bool = True


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Expression, ...]


Expression = Union[Truth, Literal, All, Some]

TRUE, FALSE = Truth(True), Truth(False)


def in_time(candidate: Candidate) -> tuple[object, ...]:
    """The order of facts: by time, then canonically."""
    return candidate[1], canonical(candidate[0])


def all_of(parts: Iterable[Expression]) -> Expression:
    found: dict[Expression, None] = {}
    for part in parts:
        if part == FALSE:
            return FALSE
        if isinstance(part, All):
            found.update(dict.fromkeys(part.parts))
        elif part != TRUE:
            found[part] = None
    if any(isinstance(part, Literal) and Literal(part.candidate, not part.positive) in found for part in found):
        return FALSE
    if not found:
        return TRUE
    return next(iter(found)) if len(found) == 1 else All(tuple(found))


def some_of(parts: Iterable[Expression]) -> Expression:
    return negated(all_of(negated(part) for part in parts))


def negated(expression: Expression) -> Expression:
    match expression:
        case Truth(value=value):
            return FALSE if value else TRUE
        case Literal(candidate=candidate, positive=positive):
            return Literal(candidate, not positive)
        case All(parts=parts):
            return Some(tuple(negated(part) for part in parts))
        case Some(parts=parts):
            return All(tuple(negated(part) for part in parts))


def signs(expression: Expression) -> frozenset[bool]:
    """Whether literals occur positively, negatively, or both."""
    match expression:
        case Truth():
            return frozenset()
        case Literal(positive=positive):
            return frozenset((positive,))
        case All(parts=parts) | Some(parts=parts):
            return frozenset().union(*(signs(part) for part in parts))


def candidates_of(expression: Expression) -> Iterator[Candidate]:
    """The facts an expression speaks of, with repetitions."""
    match expression:
        case Literal(candidate=candidate):
            yield candidate
        case All(parts=parts) | Some(parts=parts):
            for part in parts:
                yield from candidates_of(part)


def holds(expression: Expression, is_true: Callable[[Candidate], bool]) -> bool:
    match expression:
        case Truth(value=value):
            return value
        case Literal(candidate=candidate, positive=positive):
            return is_true(candidate) == positive
        case All(parts=parts):
            return all(holds(part, is_true) for part in parts)
        case Some(parts=parts):
            return any(holds(part, is_true) for part in parts)


def is_splittable(body: Expression) -> bool:
    """Whether a body is a conjunction of parts that grow and parts that shrink with the facts. For such bodies
    the reduct of Definition 12 and the one that answer set solvers use leave the same models: what shrinks
    stays true in every smaller interpretation."""
    parts = body.parts if isinstance(body, All) else (body,)
    return all(len(signs(part)) <= 1 for part in parts)
