"""Random programs with negation whose individuals have nothing to do with each other, and streams for them.

Rules speak of one or two variables, at constant distances from the answer's time; what is negated lies in a lower
layer, or earlier. Some programs do not qualify all the same, which is for the caller to see.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.random_hypotheses import accepted

Fact = tuple[str, tuple[object, ...], object]
ATTEMPTS = 200


@dataclass
class Case:
    text: str
    steps: list[tuple[int, list[Fact]]] = field(default_factory=list)
    """What arrives at which time; times may be left out."""


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        chance = self.random.random
        self.variables = ["X"] if chance() < 0.7 else ["X", "Y"]
        self.inputs = self.random.sample(["p", "q", "r", "m"], self.random.choice([2, 2, 3]))
        self.delays = {name: self.random.choice([0, 0, 1, 2]) if chance() < 0.6 else 0 for name in self.inputs}
        self.recursive = chance() < 0.5
        self.metric = chance() < 0.3
        self.both = chance() < 0.2
        self.early = chance() < 0.4
        self.skipped = chance() < 0.3
        self.intervals = chance() < 0.2

    def pin(self, low: int = -1, high: int = 2) -> str:
        offset = self.random.randint(low, high) if self.random.random() < 0.6 else 0
        return f"@T{offset:+d}" if offset else "@T"

    def atom(self, name: str) -> str:
        """`m` has a constant beside the variables, so that there are two kinds of it."""
        values = [*self.variables, self.random.choice(["on", "off"])] if name[0] in "mk" else self.variables
        return f"{name}({', '.join(values)})"

    def rule(self, head: str, lower: list[str], here: list[str]) -> str:
        chance = self.random.random
        if self.metric and chance() < 0.4:
            return self.unpinned(head, lower)
        body = [
            f"{self.atom(self.random.choice(lower))}{self.pin()}" for _ in range(self.random.choice([0, 0, 1, 1, 2]))
        ]
        absent = [
            f"not {self.atom(self.random.choice(lower))}{self.pin()}" for _ in range(self.random.choice([0, 1, 1, 2]))
        ]
        if self.recursive and chance() < 0.5:
            absent.append(f"not {self.atom(self.random.choice(here))}@T-{self.random.choice([1, 1, 2])}")
        if not body and not absent:
            body = [f"{self.atom(lower[0])}@T"]
        return f"{self.atom(head)}{self.pin(high=1) if not self.recursive else '@T'} :- {', '.join(body + absent)}."

    def unpinned(self, head: str, lower: list[str]) -> str:
        inner = self.atom(self.random.choice(lower))
        literal = self.random.choice(
            [f"not once[0,2] {inner}", f"not once[1,2] {inner}", f"historically[0,1] not {inner}", f"not {inner}"]
        )
        return f"{self.atom(head)} :- {self.atom(self.random.choice(lower))}, {literal}."

    def program(self) -> str:
        lines = ["timeline discrete."]
        for name in self.inputs:
            columns = [f"c{place}" for place in range(len(self.variables) + (name == "m"))]
            lines.append(f"input {name}({', '.join(columns)}) delay {self.delays[name]}.")
        if self.both:
            lines.append(f"{self.atom(self.inputs[0])}{self.pin()} :- {self.atom(self.inputs[1])}@T.")
        lower, derived = list(self.inputs), []
        for layer in range(self.random.choice([1, 2, 2, 3])):
            here = [f"{self.random.choice('dddk')}{layer}{index}" for index in range(self.random.choice([1, 1, 2]))]
            for name in here:
                lines += [self.rule(name, lower, here) for _ in range(self.random.choice([1, 2, 2]))]
            lower += here
            derived += here
        asked = derived if self.random.random() < 0.4 else derived[-1:]
        for name in asked:
            columns = [*self.variables, "V"] if name[0] == "k" else self.variables
            lines.append(f"query {name}({', '.join(columns)}).")
        return "\n".join(lines) + "\n"

    def steps(self, individuals: int) -> list[tuple[int, list[Fact]]]:
        end = self.random.choice([7, 7, 7, 30])
        chance = self.random
        names = [f"v{index}" for index in range(individuals)]
        arriving: dict[int, list[Fact]] = {}
        for name in self.inputs:
            often = chance.choice([0.05, 0.15, 0.4])
            for _ in range(int(often * individuals * end) + 1):
                row: tuple[object, ...] = tuple(chance.choice(names) for _ in self.variables)
                if name == "m":
                    row = (*row, chance.choice(["on", "off", "other"]))
                time = chance.randint(0, end)
                late = (
                    -chance.randint(1, 4)
                    if self.early and chance.random() < 0.2
                    else chance.randint(0, self.delays[name])
                )
                when: object = (time, time + 2, "[]") if self.intervals and chance.random() < 0.1 else time
                arriving.setdefault(max(0, time + late), []).append((name, row, when))
        last = max(arriving, default=0) + 5
        times = [now for now in range(last) if now in arriving or not self.skipped or chance.random() < 0.3]
        return [(now, arriving.get(now, [])) for now in times]


def make_case(seed: int, individuals: int = 6) -> Case:
    writer = Writer(seed)
    text = next(filter(accepted, (writer.program() for _ in range(ATTEMPTS))), None)
    assert text is not None, f"no program for seed {seed}"
    return Case(text, writer.steps(individuals))
