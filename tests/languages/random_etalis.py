"""Random event rules that derive from each other, also from themselves, and random events for them."""

from __future__ import annotations

import random
from typing import Any

from tests.oracle.etalis import ALLEN, SWAPPED, Event, Name, Pattern, Rule

VALUES: list[Any] = ["a", 1, 3]
ARITIES = {"a": 1, "b": 1, "c": 2, "d": 0}
RELATIONS = (*ALLEN, *SWAPPED)


def random_events(rng: random.Random) -> set[Event]:
    found: set[Event] = set()
    for _ in range(rng.randrange(4, 16)):
        name = rng.choice("aabbccd")
        low = rng.randrange(6)
        when = (low, low + rng.choice([0, 0, 0, 1, 2, 3]))
        found.add((name, tuple(rng.choice(VALUES) for _ in range(ARITIES[name])), when))
    return found


class RandomRules:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.arities = dict(ARITIES)
        self.new = 0

    def rules(self) -> list[Rule]:
        rng = self.rng
        heads = [f"h{number}" for number in range(rng.randrange(1, 4))]
        self.arities.update({head: rng.choice([0, 1, 1, 2]) for head in heads})
        found = []
        for head in [*heads, *(rng.choice(heads) for _ in range(rng.randrange(2)))]:
            pattern = self.pattern(rng.choice([1, 1, 2, 2, 3]), rng.sample(heads, rng.randrange(len(heads) + 1)))
            terms: list[Any] = []
            for _ in range(self.arities[head]):
                known = sorted(bound(pattern))
                terms.append(Name(rng.choice(known)) if known and rng.random() < 0.85 else rng.choice(VALUES))
            found.append(Rule(head, tuple(terms), pattern))
        return found

    def pattern(self, depth: int, derived: list[str]) -> Pattern:
        rng = self.rng
        if depth <= 0:
            name = rng.choice([*"aabbccd", *derived, *derived])
            terms = (
                Name(rng.choice("XXY")) if rng.random() < 0.75 else rng.choice(VALUES)
                for _ in range(self.arities[name])
            )
            return ("event", name, tuple(terms))
        kind = rng.choice([*RELATIONS, "seq", "seq", "or", "or", "not", "not", "within", "where", "where"])
        inner = self.pattern(depth - 1, derived)
        if kind == "within":
            return ("within", inner, rng.randrange(6))
        if kind == "where":
            conditions = self.conditions(inner)
            return ("where", inner, conditions) if conditions else inner
        if kind == "not":
            parts = [inner, *(self.pattern(rng.randrange(depth), derived) for _ in range(2))]
            rng.shuffle(parts)
            return ("not", *parts)
        return (kind, inner, self.pattern(rng.randrange(depth), derived))

    def conditions(self, inner: Pattern) -> tuple[Any, ...]:
        rng = self.rng
        known = sorted(bound(inner))
        found: list[Any] = []
        for _ in range(rng.randrange(1, 3) if known else 0):
            if rng.random() < 0.4:
                self.new += 1
                found.append(("=", Name(f"Z{self.new}"), self.term(known, 1)))
                known.append(f"Z{self.new}")
            else:
                sign = rng.choice(["<", "=<", ">", ">=", "\\=", "="])
                found.append((sign, Name(rng.choice(known)), self.term(known, rng.randrange(2))))
        return tuple(found)

    def term(self, known: list[str], depth: int) -> Any:
        rng = self.rng
        if depth:
            return (rng.choice("+-*"), self.term(known, 0), rng.choice([self.term(known, 0), 2]))
        return Name(rng.choice(known)) if rng.random() < 0.7 else rng.choice(VALUES)


def bound(pattern: Pattern) -> set[str]:
    """The variables that have a value whenever the pattern matches."""
    match pattern:
        case ("event", _, terms):
            return {term.name for term in terms if isinstance(term, Name)}
        case ("within", inner, _):
            return bound(inner)
        case ("where", inner, conditions):
            return bound(inner) | {left.name for sign, left, _ in conditions if sign == "=" and isinstance(left, Name)}
        case ("or", left, right):
            return bound(left) & bound(right)
        case ("not", _, first, last):
            return bound(first) | bound(last)
        case (_, left, right):
            return bound(left) | bound(right)
    raise AssertionError(pattern)


def text(rules: list[Rule], rng: random.Random) -> str:
    lines = [f"{_atom(rule.head, rule.terms)} <- {_pattern(rule.pattern, rng)}.\n" for rule in rules]
    heads = dict.fromkeys((rule.head, len(rule.terms)) for rule in rules)
    return "".join(lines) + "".join(f"print_trigger({head}/{arity}).\n" for head, arity in heads)


def _atom(name: str, terms: tuple[Any, ...]) -> str:
    return f"{name}({', '.join(map(str, terms))})" if terms else name


def _pattern(pattern: Pattern, rng: random.Random) -> str:
    match pattern:
        case ("event", name, terms):
            return _atom(name, terms)
        case ("not", between, first, last):
            return f"NOT({_pattern(between, rng)})[{_pattern(first, rng)}, {_pattern(last, rng)}]"
        case ("within", inner, length):
            return f"({_pattern(inner, rng)} {rng.choice(['within', 'WITHIN'])} {length})"
        case ("where", inner, conditions):
            written = ", ".join(f"{_term(left)} {sign} {_term(right)}" for sign, left, right in conditions)
            return f"({_pattern(inner, rng)} where ({written}))"
        case (relation, left, right):
            word = rng.choice([relation, relation.upper(), f"'{relation.upper()}'"])
            return f"({_pattern(left, rng)} {word} {_pattern(right, rng)})"
    raise AssertionError(pattern)


def _term(term: Any) -> str:
    return f"({_term(term[1])} {term[0]} {_term(term[2])})" if isinstance(term, tuple) else str(term)
