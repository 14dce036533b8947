"""MFOTL as its papers define it: whether a valuation satisfies a formula at a time point, asked one by one.

Formulas are tuples; `x`, `y`, `z` are variables where terms stand, anything else is a value:

    ("atom", name, terms)  ("true",)  ("false",)  ("compare", sign, term, term)
    ("not", f)  ("and", f, g)  ("or", f, g)  ("implies", f, g)  ("equiv", f, g)
    ("exists", name, f)  ("forall", name, f)  ("let", name, parameters, f, g)
    ("previous" | "next" | "once" | "eventually" | "historically" | "always", bounds, f)
    ("since" | "until", bounds, f, g)  ("aggregate", result, operator, name, groups, f)

A term is a `Name`, a value, or (sign, term, term). Bounds are (low, is open, high or None, is open).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Formula = tuple[Any, ...]
Value = int | Fraction | str
Rows = set[tuple[str, tuple[Value, ...]]]


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str

    def __str__(self) -> str:
        return self.name


def names_of(term: Any) -> list[str]:
    if isinstance(term, Name):
        return [term.name]
    return [name for part in term[1:] for name in names_of(part)] if isinstance(term, tuple) else []


def free(formula: Formula) -> list[str]:
    """In the order in which they occur."""
    kind = formula[0]
    if kind == "atom":
        found = [name for term in formula[2] for name in names_of(term)]
    elif kind == "compare":
        found = [*names_of(formula[2]), *names_of(formula[3])]
    elif kind in ("exists", "forall"):
        found = [name for name in free(formula[2]) if name != formula[1]]
    elif kind == "let":
        found = free(formula[4])
    elif kind == "aggregate":
        found = [formula[1], *formula[4]]
    else:
        found = [name for part in formula[1:] if part and isinstance(part[0], str) for name in free(part)]
    return list(dict.fromkeys(found))


def worth(term: Any, known: dict[str, Value]) -> Value | None:
    """`None`: it has no value."""
    if isinstance(term, Name):
        return known[term.name]
    if not isinstance(term, tuple):
        return term  # type: ignore[no-any-return]
    left, right = worth(term[1], known), worth(term[2], known)
    if left is None or right is None or isinstance(left, str) or isinstance(right, str):
        return None
    if term[0] == "+":
        return left + right
    if term[0] == "-":
        return left - right
    if term[0] == "*":
        return left * right
    if right == 0:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if term[0] == "/" else left - right * quotient


class Judge:
    def __init__(self, log: list[tuple[int, Rows]], values: set[Value]) -> None:
        self.log, self.values = log, values
        """Values that variables may have; those of results and sums come to them."""
        self._known: dict[Any, bool] = {}
        self._defined: dict[str, tuple[tuple[str, ...], Formula]] = {}

    def satisfying(self, formula: Formula) -> set[tuple[int, tuple[Value, ...]]]:
        self._let(formula)
        for _ in range(2):  # what is worked out on the right may be used on the left
            self._fill(formula)
        names = free(formula)
        return {
            (place, row)
            for place in range(len(self.log))
            for row in itertools.product(self.values, repeat=len(names))
            if self.holds(formula, place, dict(zip(names, row, strict=True)))
        }

    def _let(self, formula: Formula) -> None:
        if formula[0] == "let":
            self._defined[formula[1]] = (formula[2], formula[3])
        for part in formula[1:]:
            if isinstance(part, tuple) and part and isinstance(part[0], str):
                self._let(part)

    def _fill(self, formula: Formula) -> None:
        """Adds the values that are worked out, from the inside to the outside."""
        kind = formula[0]
        for part in formula[1:]:
            if isinstance(part, tuple) and part and isinstance(part[0], str) and kind not in ("compare", "atom"):
                self._fill(part)
        if kind == "compare" and formula[1] == "=":
            for term in formula[2:]:
                if isinstance(term, tuple):
                    names = list(dict.fromkeys(names_of(term)))
                    rows = itertools.product(list(self.values), repeat=len(names))
                    found = [worth(term, dict(zip(names, row, strict=True))) for row in rows]
                    self.values |= {each for each in found if each is not None}
        if kind == "aggregate":
            _, _, operator, name, groups, inner = formula
            for place in range(len(self.log)):
                for row in itertools.product(list(self.values), repeat=len(groups)):
                    found = self._aggregated(operator, name, groups, inner, place, dict(zip(groups, row, strict=True)))
                    if found is not None:
                        self.values = self.values | {found}
        self._known.clear()

    def holds(self, formula: Formula, place: int, known: dict[str, Value]) -> bool:
        names = free(formula)
        key = (id(formula), place, tuple(known[name] for name in names))
        if key not in self._known:
            self._known[key] = self._holds(formula, place, known)
        return self._known[key]

    def _near(self, bounds: Any, one: int, other: int) -> bool:
        low, low_open, high, high_open = bounds
        distance = abs(self.log[one][0] - self.log[other][0])
        above = distance > low if low_open else distance >= low
        return above and (high is None or (distance < high if high_open else distance <= high))

    def _holds(self, formula: Formula, place: int, known: dict[str, Value]) -> bool:
        match formula:
            case ("atom", name, terms):
                row = tuple(worth(term, known) for term in terms)
                if name in self._defined:
                    parameters, meant = self._defined[name]
                    return None not in row and self.holds(meant, place, dict(zip(parameters, row, strict=True)))  # type: ignore[arg-type]
                built_in = {"tp": (place,), "ts": (self.log[place][0],), "tpts": (place, self.log[place][0])}
                return row == built_in[name] if name in built_in else (name, row) in self.log[place][1]
            case ("true",):
                return True
            case ("false",):
                return False
            case ("compare", sign, left, right):
                one, other = worth(left, known), worth(right, known)
                if one is None or other is None or isinstance(one, str) != isinstance(other, str):
                    return False
                return {
                    "=": one == other, "<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other,  # type: ignore[operator]
                }[sign]  # fmt: skip
            case ("not", inner):
                return not self.holds(inner, place, known)
            case ("and", left, right):
                return self.holds(left, place, known) and self.holds(right, place, known)
            case ("or", left, right):
                return self.holds(left, place, known) or self.holds(right, place, known)
            case ("implies", left, right):
                return not self.holds(left, place, known) or self.holds(right, place, known)
            case ("equiv", left, right):
                return self.holds(left, place, known) == self.holds(right, place, known)
            case ("exists", name, inner):
                return any(self.holds(inner, place, {**known, name: value}) for value in self.values)
            case ("forall", name, inner):
                return all(self.holds(inner, place, {**known, name: value}) for value in self.values)
            case ("let", _, _, _, inner):
                return self.holds(inner, place, known)
            case ("aggregate", result, operator, name, groups, inner):
                return known[result] == self._aggregated(operator, name, groups, inner, place, known)
            case ("previous" | "next" as kind, bounds, inner):
                other = place - 1 if kind == "previous" else place + 1
                there = 0 <= other < len(self.log)
                return there and self._near(bounds, place, other) and self.holds(inner, other, known)
            case ("once" | "eventually" | "historically" | "always" as kind, bounds, inner):
                points = range(place + 1) if kind in ("once", "historically") else range(place, len(self.log))
                said = [self.holds(inner, each, known) for each in points if self._near(bounds, place, each)]
                return any(said) if kind in ("once", "eventually") else all(said)
            case ("since" | "until" as kind, bounds, left, right):
                points = range(place, -1, -1) if kind == "since" else range(place, len(self.log))
                for each in points:
                    if self._near(bounds, place, each) and self.holds(right, each, known):
                        return True
                    if not self.holds(left, each, known):
                        return False
                return False
        raise AssertionError(formula)

    def _aggregated(
        self, operator: str, name: str, groups: tuple[str, ...], inner: Formula, place: int, known: dict[str, Value]
    ) -> Value | None:
        names = free(inner)
        others = [each for each in names if each not in groups]
        fixed = {each: known[each] for each in groups}
        bag: list[Any] = []
        for row in itertools.product(self.values, repeat=len(others)):
            valuation = {**fixed, **dict(zip(others, row, strict=True))}
            if self.holds(inner, place, valuation):
                bag.append(valuation[name])
        if not bag:
            return None if groups else 0
        bag.sort()
        middle = len(bag) // 2
        even = len(bag) % 2 == 0
        if operator == "CNT":
            return len(bag)
        if operator == "MED":
            return Fraction(bag[middle - 1] + bag[middle], 2) if even else bag[middle]  # type: ignore[no-any-return]
        if operator == "AVG":
            return Fraction(sum(bag), len(bag))
        return {"SUM": sum(bag), "MIN": bag[0], "MAX": bag[-1]}[operator]  # type: ignore[no-any-return]
