"""Random formulas of MonPoly and random logs for them: all operators, several time points at one timestamp."""

from __future__ import annotations

import random
from typing import Any

from tests.oracle.mfotl import Formula, Name, Rows, free

SIGNATURE = "p(x:int)\nq(x:int, y:int)\nw(x:int, y:int, z:int)\nr()\n"
ARITIES = {"p": 1, "q": 2, "w": 3, "r": 0}
VALUES = (0, 1, 2, 3)
AGGREGATES = ("CNT", "MIN", "MAX", "SUM", "AVG", "MED")
LEFT_OPEN, RIGHT_OPEN = ("[", "("), ("]", ")")


def random_log(rng: random.Random) -> list[tuple[int, Rows]]:
    log: list[tuple[int, Rows]] = []
    time = 0
    for _ in range(rng.randrange(2, 9)):
        time += rng.choice([0, 0, 1, 1, 2, 4])
        rows: Rows = set()
        for _ in range(rng.choice([0, 1, 3, 5, 8])):
            name = rng.choice("ppqqqwr")
            rows.add((name, tuple(rng.choice(VALUES) for _ in range(ARITIES[name]))))
        log.append((time, rows))
    return log


class RandomFormula:
    """Mostly such that every variable has somewhere to come from."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.fresh = 0
        self.fractions: set[str] = set()
        """Variables that need not be whole: nothing is worked out from them."""
        self.defined: list[tuple[str, int]] = []

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def bounds(self, ahead: bool) -> Any:
        rng = self.rng
        low = rng.choice([0, 0, 0, 1, 2])
        low_open = rng.random() < 0.2
        if not ahead and rng.random() < 0.3:
            return (low, low_open, None, True)
        high = low + rng.choice([0, 1, 2, 4])
        high_open = rng.random() < 0.2
        # An interval that is empty is refused.
        return (low, low_open, high + (low_open and high_open) + (low_open or high_open), high_open)

    def formula(self, depth: int, names: tuple[str, ...]) -> Formula:
        if depth <= 0:
            return self.atom(names)
        return getattr(self, "_" + self.rng.choice(self.KINDS))(depth, names)  # type: ignore[no-any-return]

    KINDS = (
        "both", "both", "except", "compared", "either", "exists", "given_all", "beside", "sometime", "sometime",
        "sometime", "since", "since", "since", "until", "until", "aggregate", "aggregate", "let", "implied",
        "built_in", "alike", "set_to", "always",
    )  # fmt: skip

    def atom(self, names: tuple[str, ...]) -> Formula:
        rng = self.rng
        fitting = [name for name, arity in [*ARITIES.items(), *self.defined] if arity >= len(names)]
        if not fitting:
            half = len(names) // 2
            return ("and", self.atom(names[:half]), self.atom(names[half:]))
        name = rng.choice(fitting)
        arity = dict([*ARITIES.items(), *self.defined])[name]
        whole = [each for each in names if each not in self.fractions]
        terms: list[Any] = [Name(each) for each in names]
        while len(terms) < arity:
            terms.append(Name(rng.choice(whole)) if whole and rng.random() < 0.3 else rng.choice(VALUES))
        rng.shuffle(terms)
        return ("atom", name, tuple(terms))

    def some(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if self.rng.random() < 0.6)

    def lower(self, depth: int) -> int:
        return self.rng.randrange(depth)

    def term(self, names: tuple[str, ...], depth: int = 1) -> Any:
        rng = self.rng
        whole = [each for each in names if each not in self.fractions]
        if depth and whole and rng.random() < 0.5:
            return (rng.choice("+-*/%"), self.term(names, depth - 1), self.term(names, depth - 1))
        return Name(rng.choice(whole)) if whole and rng.random() < 0.7 else rng.choice(VALUES)

    def _both(self, depth: int, names: tuple[str, ...]) -> Formula:
        parts = [self.formula(depth - 1, names), self.formula(self.lower(depth), self.some(names))]
        self.rng.shuffle(parts)
        return ("and", *parts)

    def _except(self, depth: int, names: tuple[str, ...]) -> Formula:
        without = ("not", self.formula(self.lower(depth), self.some(names)))
        parts = [self.formula(depth - 1, names), without]
        if self.rng.random() < 0.3:
            parts.reverse()
        return ("and", *parts)

    def _compared(self, depth: int, names: tuple[str, ...]) -> Formula:
        inner = self.formula(depth - 1, names)
        rng = self.rng
        left = Name(rng.choice(names)) if names and rng.random() < 0.5 else self.term(names)
        test: Formula = ("compare", rng.choice(["=", "<", "<=", ">", ">="]), left, self.term(names))
        return ("and", inner, ("not", test) if rng.random() < 0.3 else test)

    def _set_to(self, depth: int, names: tuple[str, ...]) -> Formula:
        if not names:
            return self._both(depth, names)
        inner = self.formula(depth - 1, names[1:])
        sides = [Name(names[0]), self.term(names[1:], 2)]
        self.rng.shuffle(sides)
        return ("and", inner, ("compare", "=", *sides))

    def _either(self, depth: int, names: tuple[str, ...]) -> Formula:
        return ("or", self.formula(depth - 1, names), self.formula(self.lower(depth), names))

    def _alike(self, depth: int, names: tuple[str, ...]) -> Formula:
        kind = self.rng.choice(["equiv", "implies"])
        inner = (kind, self.formula(self.lower(depth), ()), self.formula(self.lower(depth), ()))
        return ("and", self.formula(depth - 1, names), inner)

    def _exists(self, depth: int, names: tuple[str, ...]) -> Formula:
        if len(names) > 2:
            return self.formula(depth - 1, names)
        bound = self.rng.choice(["x", self.name()]) if "x" not in names else self.name()
        return ("exists", bound, self.formula(depth - 1, (*names, bound)))

    def _given_all(self, depth: int, names: tuple[str, ...]) -> Formula:
        bound = self.name()
        some = self.some(names)[:1]
        given = (
            "forall",
            bound,
            ("implies", self.formula(self.lower(depth), (*some, bound)), self.formula(0, (bound,))),
        )
        return ("and", self.formula(depth - 1, names), given)

    def _implied(self, depth: int, names: tuple[str, ...]) -> Formula:
        test = self.formula(self.lower(depth), self.some(names))
        kind = self.rng.choice(["implies", "equiv"])
        return ("and", self.formula(depth - 1, names), (kind, test, self.formula(0, self.some(names))))

    def _beside(self, depth: int, names: tuple[str, ...]) -> Formula:
        kind = self.rng.choice(["previous", "next"])
        return (kind, self.bounds(kind == "next"), self.formula(depth - 1, names))

    def _sometime(self, depth: int, names: tuple[str, ...]) -> Formula:
        kind = self.rng.choice(["once", "once", "eventually"])
        return (kind, self.bounds(kind == "eventually"), self.formula(depth - 1, names))

    def _always(self, depth: int, names: tuple[str, ...]) -> Formula:
        kind = self.rng.choice(["historically", "always"])
        bounds = self.bounds(kind == "always")
        inner = (kind, bounds, self.formula(self.lower(depth), ()))
        if not names and self.rng.random() < 0.5:
            return inner
        return ("and", self.formula(depth - 1, names), inner)

    def _since(self, depth: int, names: tuple[str, ...], kind: str = "since") -> Formula:
        left = self.formula(self.lower(depth), self.some(names))
        if self.rng.random() < 0.4:
            left = ("not", left)
        elif self.rng.random() < 0.15:
            left = ("true",)
        return (kind, self.bounds(kind == "until"), left, self.formula(depth - 1, names))

    def _until(self, depth: int, names: tuple[str, ...]) -> Formula:
        return self._since(depth, names, "until")

    def _aggregate(self, depth: int, names: tuple[str, ...]) -> Formula:
        if not names:
            return self._exists(depth, names)
        result, groups = names[0], tuple(each for each in names[1:] if each not in self.fractions)
        if len(groups) < len(names) - 1:
            return self.atom(names)
        operator = self.rng.choice(AGGREGATES)
        over = self.name()
        hidden = (self.name(),) if self.rng.random() < 0.4 and len(groups) < 2 else ()
        inner = self.formula(self.lower(depth), (*groups, over, *hidden))
        if operator in ("AVG", "MED"):
            self.fractions.add(result)
        # What is counted or summed is whole itself.
        return (
            self.atom(names)
            if self.fractions & {*free(inner)}
            else ("aggregate", result, operator, over, groups, inner)
        )

    def _let(self, depth: int, names: tuple[str, ...]) -> Formula:
        if self.defined:
            return self._both(depth, names)
        parameters = tuple(self.name() for _ in range(self.rng.choice([0, 1, 2])))
        meant = self.formula(self.lower(depth), parameters)
        if self.fractions & {*parameters}:
            return self._both(depth, names)
        name = f"d{self.name()}"
        self.defined.append((name, len(parameters)))
        inner = self.formula(depth - 1, names)
        self.defined.pop()
        return ("let", name, parameters, meant, inner)

    def _built_in(self, depth: int, names: tuple[str, ...]) -> Formula:
        inner = self.formula(depth - 1, names)
        if self.rng.random() < 0.5 and names:
            return ("and", inner, ("atom", self.rng.choice(["tp", "ts"]), (Name(names[0]),)))
        terms = (Name(names[0]) if names else 1, self.rng.choice([0, 1, 2, 4]))
        return ("and", inner, ("atom", "tpts", terms))


def text(formula: Formula) -> str:
    match formula:
        case ("atom", name, terms):
            return f"{name}({', '.join(map(term_text, terms))})"
        case ("true" | "false" as kind,):
            return str(kind.upper())
        case ("compare", sign, left, right):
            return f"({term_text(left)} {sign} {term_text(right)})"
        case ("not", inner):
            return f"(NOT {text(inner)})"
        case ("and" | "or" | "implies" | "equiv" as kind, left, right):
            return f"({text(left)} {kind.upper()} {text(right)})"
        case ("exists" | "forall" as kind, name, inner):
            return f"({kind.upper()} {name}. {text(inner)})"
        case ("let", name, parameters, meant, inner):
            return f"(LET {name}({', '.join(parameters)}) = {text(meant)} IN {text(inner)})"
        case ("aggregate", result, operator, name, groups, inner):
            by = f"; {', '.join(groups)}" if groups else ""
            return f"({result} <- {operator} {name}{by} {text(inner)})"
        case ("since" | "until" as kind, bounds, left, right):
            return f"({text(left)} {kind.upper()}{_bounds(bounds)} {text(right)})"
        case (kind, bounds, inner):
            return f"({kind.upper()}{_bounds(bounds)} {text(inner)})"
    raise AssertionError(formula)


def term_text(term: Any) -> str:
    if isinstance(term, tuple):
        return f"({term_text(term[1])} {'MOD' if term[0] == '%' else term[0]} {term_text(term[2])})"
    return str(term)


def _bounds(bounds: Any) -> str:
    low, low_open, high, high_open = bounds
    return f"{LEFT_OPEN[low_open]}{low},{'*' if high is None else high}{RIGHT_OPEN[high_open]}"
