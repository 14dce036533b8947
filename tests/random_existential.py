"""Random programs with `exists` that can be run: layers of rules over inputs and over what lower layers invented."""

from __future__ import annotations

import random

from tests.random_programs import Case

Name = tuple[str, int]
"""A predicate and how many arguments it has."""


class Writer:
    def __init__(self, chance: random.Random, dense: bool, windows: bool, positive: bool) -> None:
        self.chance, self.dense, self.windows, self.positive = chance, dense, windows, positive
        self.made = 0

    def new(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def interval(self) -> str:
        low = self.chance.choice([0, 0, 0, 1])
        return f"[{low},{low + self.chance.randint(0, 3)}]"

    def over_time(self, atom: str) -> str:
        kinds = ["{}"] * 4 + ["once{i} {}", "once{i} {}", "historically{i} {}", "eventually[0,1] {}", "always[0,1] {}"]
        if self.positive:
            kinds = ["{}"] * 4
        if self.windows:
            kinds += ["window(2) some {}", "window(2) all {}", "window(3) all {}", "window(1) some {}"]
        return self.chance.choice(kinds).format(atom, i=self.interval())

    def body(self, lower: list[Name]) -> tuple[list[str], list[str]]:
        """Literals, and the variables they bind."""
        name, arity = self.chance.choice(lower)
        bound = ["X", "Y"][:arity]
        literals = [self.over_time(f"{name}({', '.join(bound)})")]
        if self.chance.random() < 0.4:
            name, arity = self.chance.choice(lower)
            more = [self.chance.choice([*bound, "Z"]), self.chance.choice([*bound, "W"])][:arity]
            literals.append(self.over_time(f"{name}({', '.join(more)})"))
            bound += [each for each in more if each not in bound]
        if self.positive:
            return literals, bound
        if self.chance.random() < 0.3:
            name, arity = self.chance.choice(lower)
            arguments = ", ".join(self.chance.choice(bound) for _ in range(arity))
            literals.append(f"not {self.over_time(f'{name}({arguments})')}")
        if len(bound) > 1 and self.chance.random() < 0.3:
            literals.append(f"{bound[0]} {self.chance.choice(['!=', '!=', '='])} {bound[1]}")
        if self.chance.random() < 0.2:
            literals += [f"m({bound[0]}, V)", self.chance.choice(["V > 1", "V != 2", "V + 1 < 3", "V < 2"])]
            bound.append("V")
        return literals, bound

    def head_atom(self, name: str, arguments: list[str], pinned: bool) -> str:
        atom = f"{name}({', '.join(arguments)})"
        if pinned:
            return f"{atom}@T{self.chance.choice(['', '+1', '-1', '+2'])}"
        if self.chance.random() < 0.2:
            return f"always[0,{self.chance.randint(0, 2)}] {atom}"
        return atom

    def inventing(self, lower: list[Name]) -> tuple[str, list[Name]]:
        pinned = not self.dense and self.chance.random() < 0.25
        literals, bound = self.body(lower)
        if pinned:
            name, arity = self.chance.choice(lower)
            bound = ["X", "Y"][:arity]
            literals = [f"{name}({', '.join(bound)})@T"]
            if self.chance.random() < 0.4:
                name, arity = self.chance.choice(lower)
                sign = "" if self.positive else self.chance.choice(["", "not "])
                literals.append(f"{sign}{name}({', '.join([*bound, 'X'][:arity])})@T-1")
        shown = [each for each in bound if self.chance.random() < 0.7]
        invented = ["N", "M"][: self.chance.choice([1, 1, 2])]
        new, atoms = [], []
        for index, own in enumerate(invented):
            arguments = [self.chance.choice(shown or invented[:1]), own] if self.chance.random() < 0.7 else [own]
            new.append((self.new("e"), len(arguments)))
            atoms.append(self.head_atom(new[-1][0], arguments, pinned))
            if index and self.chance.random() < 0.5:
                new.append((self.new("e"), 2))
                atoms.append(self.head_atom(new[-1][0], invented, pinned))
        lasting = "lasting " if self.dense or self.chance.random() < 0.4 else ""
        return f"exists {lasting}{', '.join(invented)}: {', '.join(atoms)} :- {', '.join(literals)}.", new

    def plain(self, lower: list[Name]) -> tuple[str, list[Name]]:
        literals, bound = self.body(lower)
        shown = bound[: self.chance.choice([1, 1, 2])]
        name = self.new("d")
        return f"{name}({', '.join(shown)}) :- {', '.join(literals)}.", [(name, len(shown))]


def make_case(seed: int, dense: bool = False, windows: bool = False, positive: bool = False) -> Case:
    """With `positive`, a program of [LARS+] in which nothing hangs on nulls being different from anything."""
    chance = random.Random(seed)
    writer = Writer(chance, dense, windows, positive)
    delay = chance.choice([0, 1])
    lines = [f"timeline {'dense' if dense else 'discrete'}.", "input p(x).", f"input q(x) delay {delay}."]
    lines += ["input m(x, v: int).", "input r(x, y)."]
    lower: list[Name] = [("p", 1), ("q", 1), ("r", 2)]
    derived: list[Name] = []
    for number in range(chance.randint(2, 5)):
        rule, new = writer.inventing(lower) if number == 0 or chance.random() < 0.5 else writer.plain(lower)
        lines.append(rule)
        derived += new
        lower += new + new
    if not dense and chance.random() < 0.3:
        lines += ["n(X) :- p(X).", "exists N: next(X, N)@T+1, n(N)@T+1 :- n(X)@T, q(a)@T."]
        derived += [("n", 1), ("next", 2)]
    lines += [f"query {name}({', '.join('ABC'[:arity])})." for name, arity in derived]
    case = Case("\n".join(lines) + "\n", end=6)
    for time in range(case.end):
        for name in "pq":
            for value in "ab":
                if chance.random() < 0.45:
                    case.facts.append(((name, (value,), time), time + (chance.randint(0, delay) if name == "q" else 0)))
        for first in "ab":
            if chance.random() < 0.4:
                case.facts.append((("r", (first, chance.choice("ab")), time), time))
            if chance.random() < 0.4:
                case.facts.append((("m", (first, chance.randint(0, 3)), time), time))
    return case
