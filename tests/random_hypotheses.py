"""Random small programs and streams for hypothetical answers, small enough to look at every evolution.

A program has one or two layers of derived predicates over a few inputs. What a rule negates lies in a
lower layer, or earlier. Which features a program has depends on the seed; a program that the checks
do not accept, or whose queries have no finite set of premise patterns, is thrown away for the next.
"""

from __future__ import annotations

import random

from presage.checking import check_text
from tests.oracle import declared_delays
from tests.random_programs import Case

CONSTANTS = ("a", "b")
NUMBERS = (1, 2)
LOOK_AHEAD = 5
"""How far past the last fact a timeline should go so that most answers can be judged."""
ATTEMPTS = 200
ARITY = {"z": 0, "p": 1, "q": 1, "r": 1, "m": 2}


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        chance = self.random.random
        self.delays = chance() < 0.6
        self.refined = self.delays and chance() < 0.5
        self.negation = chance() < 0.7
        self.unsafe = self.negation and chance() < 0.5
        self.metric = chance() < 0.5
        self.compared = chance() < 0.4
        self.static = chance() < 0.35
        self.facts = chance() < 0.25
        self.several_times = chance() < 0.15
        self.both = chance() < 0.2
        """Whether some input is derived as well."""
        self.recursive = chance() < 0.3
        self.inputs = self.random.sample(sorted(ARITY), self.random.choice([2, 2, 3]))
        if set(self.inputs) <= {"z", "m"}:
            self.inputs.append("p")
        self.plain = [name for name in self.inputs if ARITY[name] == 1]

    def pin(self, variable: str = "T", low: int = -1, high: int = 2) -> str:
        offset = self.random.randint(low, high) if self.random.random() < 0.6 else 0
        return f"@{variable}{offset:+d}" if offset else f"@{variable}"

    def atom(self, name: str, variable: str = "X") -> str:
        if name == "z":
            return name
        argument = self.random.choice([variable] * 5 + ["a"])
        return f"{name}({argument}, {self.random.choice(['V', 'V', '1'])})" if name == "m" else f"{name}({argument})"

    def negated(self, names: list[str]) -> str:
        """An atom whose only variable is X."""
        name = self.random.choice(names)
        return "m(X, 1)" if name == "m" else self.atom(name)

    def moved(self, inner: str) -> str:
        """A literal below a metric operator."""
        operator = self.random.choice(["once", "historically", "eventually", "always"])
        low = self.random.randint(0, 1)
        interval = self.random.choice([f"[{low},{low + 1}]", f"[{low}]", f"({low},{low + 2}]"])
        return f"{operator}{interval} {inner}"

    def rule(self, head: str, lower: list[str], here: list[str]) -> str:
        chance = self.random.random
        if self.several_times and chance() < 0.4:
            return self.of_several_times(head, lower)
        if self.unsafe and chance() < 0.4:
            return self.unbound(head, lower)
        if self.recursive and chance() < 0.4:
            return self.backwards(head, lower, here)
        if self.metric and chance() < 0.7:
            return self.unpinned(head, lower)
        binding = self.random.choice([name for name in lower if ARITY.get(name, 1)])
        body = [f"{self.binder(binding)}{self.pin()}"]
        for _ in range(self.random.choice([0, 1, 1])):
            body.append(f"{self.atom(self.random.choice(lower), self.random.choice('XXXY'))}{self.pin()}")
        if self.negation and chance() < 0.6:
            body.append(f"not {self.negated(lower)}{self.pin()}")
        return f"{head}(X){self.pin(high=1)} :- {', '.join(body + self.extra(body))}."

    def binder(self, name: str) -> str:
        return f"m(X, {self.random.choice(['V', '1'])})" if name == "m" else f"{name}(X)"

    def extra(self, body: list[str]) -> list[str]:
        """Comparisons and background knowledge."""
        found = []
        if self.static and self.random.random() < 0.5:
            found.append(self.random.choice(["s(X)", "s(X)", "not s(X)"]))
        if self.compared and self.random.random() < 0.6:
            numbers = any("V" in literal for literal in body)
            found.append(self.random.choice(["V > 1", "V != 2", "V <= 1"] if numbers else ["X != a", "X = b"]))
        return found

    def unpinned(self, head: str, lower: list[str]) -> str:
        binding = self.random.choice([name for name in lower if ARITY.get(name, 1)])
        body = [self.binder(binding)]
        if self.random.random() < 0.5:
            body[0] = self.moved(body[0])
        kind = self.random.random()
        if self.negation and kind < 0.3:
            body.append(self.moved(f"not {self.negated(lower)}"))
        elif self.negation and kind < 0.5:
            body.append(f"not {self.moved(self.negated(lower))}")
        elif self.negation and kind < 0.6:
            body.append(f"not {self.negated(lower)}")
        elif kind < 0.9:
            body.append(self.moved(self.atom(self.random.choice(lower))))
        return f"{head}(X) :- {', '.join(body + self.extra(body))}."

    def unbound(self, head: str, lower: list[str]) -> str:
        """X occurs in the head and under `not` only."""
        named = [name for name in lower if ARITY.get(name, 1)]
        absent = {f"not {self.unbound_atom(self.random.choice(named))}{self.pin(low=0)}" for _ in range(2)}
        body = sorted(absent)
        if "z" in lower and self.random.random() < 0.6:
            body.insert(0, f"z{self.pin(low=0)}")
        if self.compared and self.random.random() < 0.5:
            body.append("X != a")
        return f"{head}(X)@T :- {', '.join(body)}."

    def unbound_atom(self, name: str) -> str:
        return "m(X, 1)" if name == "m" else f"{name}(X)"

    def backwards(self, head: str, lower: list[str], here: list[str]) -> str:
        """Through its own absence, or another one's of its layer, at an earlier time; or between constants."""
        kind = self.random.random()
        other = self.random.choice(lower)
        if not self.negation or kind < 0.3:
            step = f"{head}(a)@T :- {head}(b)@T-1, {self.negated([other]).replace('X', 'a')}@T."
            return f"{step}\n{head}(b)@T :- {self.negated(lower).replace('X', 'b')}{self.pin(high=1)}."
        binding = self.random.choice([name for name in lower if ARITY.get(name, 1)])
        back = self.random.choice(["@T-1", "@T-1", "@T-2"])
        return f"{head}(X)@T :- {self.binder(binding)}{self.pin(high=1)}, not {self.random.choice(here)}(X){back}."

    def of_several_times(self, head: str, lower: list[str]) -> str:
        named = [name for name in lower if ARITY.get(name, 1)]
        first, second = (self.binder(self.random.choice(named)) for _ in range(2))
        kind = self.random.random()
        if kind < 0.25:
            return f"{head}(X)@0 :- {first}@T1, {second}@T2."
        order = self.random.choice(
            ["T1 < T2, T2 <= T1 + 2", "T1 <= T2, T2 < T1 + 2", "T2 = T1 + 1", "T1 > T2, T2 >= 1"]
        )
        if kind < 0.75 or not self.negation:
            return f"{head}(X)@T1 :- {first}@T1, {second}@T2, {order}."
        return f"{head}(X)@T1 :- {first}@T1, {second}@T2, {order}, not {self.negated(lower)}@T2."

    def declarations(self) -> list[str]:
        columns = {0: "", 1: "(x)", 2: "(x, v: int)"}
        lines = ["timeline discrete."]
        for name in self.inputs:
            most = self.random.choice([0, 1, 1, 2]) if self.delays else 0
            lines.append(f"input {name}{columns[ARITY[name]]} delay {most}.")
            if self.refined and ARITY[name] and self.random.random() < 0.6:
                value = self.random.choice(CONSTANTS)
                lines.append(
                    f"input {name}{columns[ARITY[name]]} where x = {value} delay {self.random.choice([0, 1, 2])}."
                )
        if self.static:
            lines.append("static s(x).")
        return lines

    def program(self) -> str:
        lines = self.declarations()
        if self.static and self.random.random() < 0.3:
            lines.append("s(b).")
        lower, derived = list(self.inputs), []
        others = [name for name in self.inputs if ARITY[name] and name != self.plain[0]]
        if self.both and others:
            lines.append(f"{self.plain[0]}(X){self.pin()} :- {self.binder(self.random.choice(others))}@T.")
        for layer in range(self.random.choice([1, 2, 2])):
            here = [f"d{layer}{index}" for index in range(self.random.choice([1, 1, 2]))]
            for name in here:
                for _ in range(self.random.choice([1, 2])):
                    lines.append(self.rule(name, lower, here))
            if self.facts:
                lines.append(f"{here[0]}{self.random.choice(['(a)@2', '(b)@[1,2]', '(c)@3', '(c)'])}.")
            lower += here
            derived += here
        lines += [f"query {name}(X)." for name in derived]
        return "\n".join(lines) + "\n"


def accepted(text: str) -> bool:
    """Whether the checks let the program pass, hypothetical answers included."""
    found = check_text(text).findings
    return found is not None and all(each.hypothetical.possible for each in found.queries)


def make_case(seed: int) -> Case:
    """A program; its facts, each with the time at which it arrives: late up to its delay, or early."""
    writer = Writer(seed)
    text = next(filter(accepted, (writer.program() for _ in range(ATTEMPTS))), None)
    assert text is not None, f"no program for seed {seed}"
    chance = writer.random
    case = Case(text, end=chance.choice([3, 4, 5]))
    delay = declared_delays(check_text(text).program)
    for name in writer.inputs:
        rows: list[tuple[str | int, ...]] = [(), *((each,) for each in CONSTANTS)]
        rows += [(each, value) for each in CONSTANTS for value in NUMBERS]
        for row in rows:
            for time in range(case.end + 1):
                if len(row) == ARITY[name] and chance.random() < 0.4:
                    early = chance.random() < 0.1
                    arrives = time + chance.randint(-2, -1) if early else time + chance.randint(0, delay(name, row))
                    case.facts.append(((name, row, time), max(arrives, 0)))
    if writer.static:
        case.statics = [("s", (value,)) for value in CONSTANTS if chance.random() < 0.5]
    return case
