"""Random programs whose hypothetical answers may go by columns, and streams for them.

Every premise tends to bind all of the answer's variables, at a constant distance from its time. What else a
program has depends on the seed; some programs do not qualify, which is for the caller to see.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

VALUES: tuple[object, ...] = ("a", "b", "c d", 1, 2)
Fact = tuple[str, tuple[object, ...], object]


@dataclass
class Case:
    text: str
    steps: list[tuple[int, list[Fact]]] = field(default_factory=list)
    """What arrives at which time; times may be left out."""


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        chance = self.random.random
        self.arity = {f"p{index}": self.random.choice([0, 1, 1, 2, 2, 3]) for index in range(self.random.randint(2, 4))}
        self.width = self.random.choice([0, 1, 1, 2])
        self.inputs = [name for name, arity in self.arity.items() if arity >= self.width] or ["p0"]
        self.arity["p0"] = max(self.arity["p0"], self.width)
        self.compared = chance() < 0.3
        self.refined = chance() < 0.4
        self.rules = self.random.choice([1, 1, 2, 3])
        self.intervals = chance() < 0.3
        self.delays: dict[str, list[tuple[str, int]]] = {}
        """For each input, what its first argument is and how late it may then be; the last that fits holds."""

    def text(self) -> str:
        lines = ["timeline discrete."]
        for name, arity in self.arity.items():
            columns = ", ".join(f"c{place}" for place in range(arity))
            delay = self.random.choice([0, 0, 1, 2, 4])
            self.delays[name] = [("", delay)]
            lines.append(f"input {name}({columns}) delay {delay}." if arity else f"input {name} delay {delay}.")
            if arity and self.refined:
                for _ in range(self.random.randint(0, 2)):
                    value, delay = self.random.choice(["a", "b", "1"]), self.random.randint(0, 4)
                    self.delays[name].append((value, delay))
                    lines.append(f"input {name}({columns}) where c0 = {value} delay {delay}.")
        heads = ["out"] if self.random.random() < 0.7 else ["out", "more"]
        for head in heads:
            lines += [self.rule(head) for _ in range(self.rules)]
        if self.random.random() < 0.3:
            lines.append(self.rule("mid"))
            lines.append(f"{self.head('out')}@T :- {self.head('mid')}@T+1, {self.head('mid')}@T.")
        return "\n".join([*lines, *(query for head in heads for query in self.queries(head))])

    def head(self, name: str) -> str:
        variables = ["X", "Y"][: self.width]
        return f"{name}({', '.join(variables)})" if variables else name

    def rule(self, head: str) -> str:
        variables = ["X", "Y"][: self.width]
        written = [self.random.choice([*variables * 4, "a", "1"]) for _ in variables]
        used = [each for each in variables if each in written]
        body = []
        for _ in range(self.random.choice([1, 2, 2, 3, 4])):
            name = self.random.choice(self.inputs)
            arguments = list(used)
            while len(arguments) < self.arity[name]:
                arguments.append(self.random.choice([*used, "a", "b", "1"]))
            self.random.shuffle(arguments)
            atom = f"{name}({', '.join(arguments)})" if arguments else name
            offset = self.random.randint(-1, 3)
            body.append(f"{atom}@T{offset:+d}" if offset else f"{atom}@T")
        if self.compared and used:
            body.append(self.random.choice([f"{used[0]} != a", f"{used[-1]} < 2", f"{used[0]} + 1 != 2"]))
        if self.random.random() < 0.1:
            body.append("T < 6")
        offset = self.random.choice([0, 0, 1, -1])
        arguments_of_head = f"({', '.join(written)})" if written else ""
        return f"{head}{arguments_of_head}@T{f'{offset:+d}' if offset else ''} :- {', '.join(body)}."

    def queries(self, head: str) -> list[str]:
        variables = ["X", "Y"][: self.width]
        found = [f"query {self.head(head)}."]
        if variables and self.random.random() < 0.2:
            found = [f"query {head}({', '.join([self.random.choice(['a', 'X']) for _ in variables])})."]
            if self.random.random() < 0.5:
                found.append(f"query {head}({', '.join(['X'] * len(variables))})@3.")
        return found

    def delay(self, name: str, row: tuple[object, ...]) -> int:
        return [delay for value, delay in self.delays[name] if not value or (row and str(row[0]) == value)][-1]

    def steps(self) -> list[tuple[int, list[Fact]]]:
        """Facts early, in time and late, some twice, some over intervals."""
        end = 9
        arriving: dict[int, list[Fact]] = {}
        chance = self.random
        for name, arity in self.arity.items():
            for time in range(end):
                for _ in range(chance.randint(0, 4 if arity else 1)):
                    row = tuple(chance.choice(VALUES[: chance.choice([2, 5])]) for _ in range(arity))
                    waits = [0, self.delay(name, row), chance.randint(0, self.delay(name, row)), -2]
                    for _ in range(chance.choice([1, 1, 1, 2])):
                        late = chance.random() < 0.03
                        arrives = time + (self.delay(name, row) + 1 if late else chance.choice(waits))
                        when: object = time
                        if self.intervals and chance.random() < 0.1:
                            when = (time, time + chance.randint(0, 3), "[]")
                        arriving.setdefault(max(arrives, 0), []).append((name, row, when))
        last = max(arriving, default=0) + 7
        skipped = chance.random() < 0.3
        times = [now for now in range(last) if now in arriving or not skipped or chance.random() < 0.3]
        return [(now, arriving.get(now, [])) for now in times]


def make_case(seed: int) -> Case:
    writer = Writer(seed)
    case = Case(writer.text())
    case.steps = writer.steps()
    return case
