"""What is left of formulas, and facts to come, as plain values and back."""

from __future__ import annotations

from typing import Any

from presage.errors import PresageError
from presage.io.facts import Fact
from presage.io.reading_back import read as unwritten
from presage.io.reading_back import written
from presage.languages.ltl.formulas import Before, Both, Either, LtlFormula, Next, SignedAtom, Truth, UntilRelease
from presage.languages.ltl.progression import Duty, Left


def given_out(fact: Fact) -> list[Any]:
    arguments = [written(each) for each in fact.arguments]
    return [fact.predicate, arguments, fact.low, fact.high, fact.closed_low, fact.closed_high, fact.arrives]


def given_in(kept: list[Any]) -> Fact:
    name, arguments, *rest = kept
    return Fact(name, tuple(map(unwritten, arguments)), *rest)


def left_out(left: Left) -> list[Any]:
    return [[_formula_out(each) for each in duties] for duties in left]


def left_in(kept: list[Any]) -> Left:
    return frozenset(frozenset(_formula_in(each) for each in duties) for duties in kept)


def _formula_out(formula: Duty) -> list[Any]:
    match formula:
        case SignedAtom(predicate, arguments, present):
            return ["fact", predicate, [written(each) for each in arguments], present]
        case Truth(value):
            return ["truth", value]
        case Both(left, right):
            return ["both", _formula_out(left), _formula_out(right)]
        case Either(left, right):
            return ["either", _formula_out(left), _formula_out(right)]
        case Next(inner):
            return ["next", _formula_out(inner)]
        case Before(inner, at_start):
            return ["before", _formula_out(inner), at_start]
        case UntilRelease(past, dual, low, high, left, right):
            return ["lasting", past, dual, low, high, _formula_out(left), _formula_out(right)]
    raise AssertionError(formula)


def _formula_in(kept: list[Any]) -> LtlFormula:
    match kept:
        case ["fact", predicate, arguments, present]:
            return SignedAtom(predicate, tuple(map(unwritten, arguments)), present)
        case ["truth", value]:
            return Truth(value)
        case ["both", left, right]:
            return Both(_formula_in(left), _formula_in(right))
        case ["either", left, right]:
            return Either(_formula_in(left), _formula_in(right))
        case ["next", inner]:
            return Next(_formula_in(inner))
        case ["before", inner, at_start]:
            return Before(_formula_in(inner), at_start)
        case ["lasting", past, dual, low, high, left, right]:
            return UntilRelease(past, dual, low, high, _formula_in(left), _formula_in(right))
    raise PresageError("this is not the memory of a reasoner, or it is damaged")
