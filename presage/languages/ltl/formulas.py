"""Formulas of LTL in the one form that is worked with: negations at atoms, four operators with bounds.

`X F G W Y O H -> <->` are gone: until and since, their duals release and trigger, and yesterday in both its kinds
(false or true at position 0) say everything. A formula and its negation are both brought into this form, so that
nothing is ever negated later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from presage.answers import show_answer_atom


@dataclass(frozen=True, slots=True)
class SignedAtom:
    """An atom, or its absence."""

    predicate: str
    arguments: tuple[object, ...]
    present: bool = True


@dataclass(frozen=True, slots=True)
class Truth:
    value: bool


@dataclass(frozen=True, slots=True)
class Both:
    left: LtlFormula
    right: LtlFormula


@dataclass(frozen=True, slots=True)
class Either:
    left: LtlFormula
    right: LtlFormula


@dataclass(frozen=True, slots=True)
class Next:
    inner: LtlFormula


@dataclass(frozen=True, slots=True)
class UntilRelease:
    """`left U[low,high] right`, or with `dual` its dual R; with `past` S and its dual. No `high` is no bound."""

    past: bool
    dual: bool
    low: int
    high: int | None
    left: LtlFormula
    right: LtlFormula


@dataclass(frozen=True, slots=True)
class Before:
    """At the position before; where there is none, `at_start`."""

    inner: LtlFormula
    at_start: bool


LtlFormula = Union[SignedAtom, Truth, Both, Either, Next, UntilRelease, Before]

TRUE, FALSE = Truth(True), Truth(False)


def negated(formula: LtlFormula) -> LtlFormula:
    match formula:
        case SignedAtom(predicate, arguments, present):
            return SignedAtom(predicate, arguments, not present)
        case Truth(value):
            return Truth(not value)
        case Both(left, right):
            return Either(negated(left), negated(right))
        case Either(left, right):
            return Both(negated(left), negated(right))
        case Next(inner):
            return Next(negated(inner))
        case UntilRelease(past, dual, low, high, left, right):
            return UntilRelease(past, not dual, low, high, negated(left), negated(right))
        case Before(inner, at_start):
            return Before(negated(inner), not at_start)


def both(left: LtlFormula, right: LtlFormula) -> LtlFormula:
    if left == FALSE or right == FALSE:
        return FALSE
    return right if left == TRUE else left if right == TRUE else Both(left, right)


def either(left: LtlFormula, right: LtlFormula) -> LtlFormula:
    if left == TRUE or right == TRUE:
        return TRUE
    return right if left == FALSE else left if right == FALSE else Either(left, right)


def facts_of(formula: LtlFormula) -> set[SignedAtom]:
    match formula:
        case SignedAtom(predicate, arguments, _):
            return {SignedAtom(predicate, arguments)}
        case Truth():
            return set()
        case Both(left, right) | Either(left, right):
            return facts_of(left) | facts_of(right)
        case UntilRelease():
            return facts_of(formula.left) | facts_of(formula.right)
        case Next(inner) | Before(inner, _):
            return facts_of(inner)


def show_fact(fact: SignedAtom) -> str:
    text = show_answer_atom(fact.predicate, fact.arguments)  # type: ignore[arg-type]
    return text if fact.present else f"!{text}"


def show(formula: LtlFormula) -> str:
    """In the language's own words."""
    match formula:
        case SignedAtom():
            return show_fact(formula)
        case Truth(value):
            return "true" if value else "false"
        case Both(left, right):
            return f"({show(left)} & {show(right)})"
        case Either(left, right):
            return f"({show(left)} | {show(right)})"
        case Next(inner):
            return f"X {show(inner)}"
        case Before(inner, at_start):
            return f"!Y !{show(inner)}" if at_start else f"Y {show(inner)}"
        case UntilRelease(past, dual, low, high, left, right):
            end = "inf)" if high is None else f"{high}]"
            bounds = "" if (low, high) == (0, None) else f"[{low},{end}"
            if left == (FALSE if dual else TRUE):
                return f"{('H' if past else 'G') if dual else ('O' if past else 'F')}{bounds} {show(right)}"
            if past and dual:
                return f"!({show(negated(left))} S{bounds} {show(negated(right))})"
            return f"({show(left)} {'R' if dual else 'S' if past else 'U'}{bounds} {show(right)})"
