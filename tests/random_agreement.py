"""Random programs of all constructs, nested as they come: what one way of running them says, every other must say.

Programs are written without asking which engine takes them. What is refused is counted by the tests that use them.
"""

from __future__ import annotations

import random
from itertools import pairwise

from tests.random_programs import Case

INPUTS = {"p": 1, "q": 1, "r": 2, "z": 0}
VALUES = ("a", "b", 1, 2)


class Program:
    """One random program and a stream for it."""

    def __init__(self, seed: int, dense: bool = False) -> None:
        self.random, self.dense = random.Random(seed), dense
        self.derived: dict[str, int] = {}

    # Parts of formulas.

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def interval(self) -> str:
        low = self.random.randint(0, 2)
        high = low + self.random.randint(0, 3)
        if self.dense and self.random.random() < 0.3:
            return f"{self.pick('[', '(')}{low},{high + 1}{self.pick(']', ')')}"
        return f"[{low},{high}]"

    def window(self) -> str:
        kind = self.random.random()
        if kind < 0.6 or self.dense:
            ahead = f", ahead {self.random.randint(1, 2)}" if self.random.random() < 0.25 else ""
            return f"window({self.random.randint(0, 3)}{ahead})"
        if kind < 0.7:
            return "window(3, hop 2)"
        if kind < 0.8:
            return "window(only p(_))"
        return self.pick("window(rows 2)", "window(rows 3)", "window(rows 1 by p(X))", "window(inf)")

    def atom(self, names: list[str]) -> str:
        known = INPUTS | self.derived
        name = self.random.choice([each for each in [*INPUTS, *self.derived] if known[each] <= 2])
        return self.of(name, names)

    def of(self, name: str, names: list[str]) -> str:
        count = (INPUTS | self.derived)[name]
        arguments = [self.random.choice(["a", *names, *names, *names]) for _ in range(count)]
        return f"{name}({', '.join(arguments)})" if count else name

    def formula(self, names: list[str], depth: int = 2) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.2:
            return self.atom(names)

        def inner(less: int = 1) -> str:
            return self.formula(names, depth - less)

        if kind < 0.38:
            return f"{self.pick('once', 'historically', 'eventually', 'always')}{self.interval()} ({inner()})"
        if kind < 0.5:
            return f"(({inner()}) {self.pick('since', 'until')}{self.interval()} ({inner()}))"
        if kind < 0.66 and not self.dense:
            return f"{self.window()} {self.pick('some', 'all')} ({inner()})"
        if kind < 0.7 and not self.dense:
            return f"reset ({inner()})"
        if kind < 0.78:
            return f"not ({inner()})"
        if kind < 0.84:
            return f"({inner()} and {self.atom(names)} {self.pick('and', 'or')} {self.compared(names)})"
        return f"({inner()} {self.pick('and', 'or')} {inner()})"

    def compared(self, names: list[str]) -> str:
        return f"{self.random.choice(names)} {self.pick('=', '!=', '<', '<=')} {self.pick(*names, 'a', '1', '2')}"

    # Rules.

    def rule(self, name: str) -> str:
        """On dense time the oracle knows one time variable only."""
        if self.random.random() < 0.1:
            return self.through_time(name)
        if self.random.random() < 0.35 and not self.dense:
            return self.in_several_times(name)
        return self.at_once(name)

    def through_time(self, name: str) -> str:
        """What goes on from time to time, or is so where it was not before."""
        step, self.derived[name] = self.random.choice([1, 1, 2]), 1
        if self.random.random() < 0.3:
            return f"{name}(X)@T+{step} :- p(X)@T, not {name}(X)@T."
        more = f", {self.pick('', 'not ')}{self.of(self.pick('p', 'q', 'z'), ['X'])}@T{self.pick('', f'+{step}')}"
        return f"{name}(X)@T :- p(X)@T, q(X)@T. {name}(X)@T+{step} :- {name}(X)@T{more}."

    def at_once(self, name: str) -> str:
        names = ["X", "Y"]
        body = [self.atom(["X"]), *(self.formula(names) for _ in range(self.random.randint(1, 2)))]
        if self.random.random() < 0.2 and not self.dense:
            body.append(f"now {self.pick('<', '>=', '!=')} {self.random.randint(0, 6)}")
        body = [*(each for each in ("p(X)", "q(X)") if self.random.random() < 0.4), *body]
        self.random.shuffle(body)
        head = f"{name}(X)"
        if self.random.random() < 0.15:
            head = f"{self.pick('always', 'historically')}{self.interval()} {head}"
        return f"{head} :- {', '.join(body)}."

    def in_several_times(self, name: str) -> str:
        times = ["T", "U", "V"][: self.random.randint(2, 3)]
        body = []
        for each in times:
            for _ in range(self.random.choice([1, 1, 2])):
                negation = "not " if body and self.random.random() < 0.2 else ""
                offset = self.pick("", "", "+1", "-1")
                body.append(
                    f"{negation}{self.of(self.random.choice([*INPUTS, *self.derived]), ['X', 'Y'])}@{each}{offset}"
                )
        body[:0] = [f"p(X)@{self.random.choice(times)}"]
        for one, other in pairwise(times):
            if self.random.random() < 0.9:
                far = self.random.randint(0, 3)
                body += [f"{one} {self.pick('<', '<=')} {other}", f"{other} <= {one} + {far}"]
        if len(times) == 3 and self.random.random() < 0.6:
            body.append(f"V - T {self.pick('<=', '<', '!=', '=')} {self.random.randint(1, 4)}")
        kind = self.random.random()
        if kind < 0.15:
            body.append(f"T {self.pick('>=', '<', '!=')} {self.random.randint(0, 6)}")
        elif kind < 0.3:
            body.append(self.atom(["X"]))
        elif kind < 0.4 and not self.dense:
            body.append(f"{self.pick('T', 'U')} {self.pick('<', '>=', '=')} now")
        when = self.random.choice(times)
        if self.random.random() < 0.25 and not self.dense:
            self.derived[name] = 2
            return f"{name}(X, {self.random.choice(times)})@{when} :- {', '.join(body)}."
        if self.random.random() < 0.2:
            return f"{name}(X) :- {', '.join(body)}."
        return f"{name}(X)@{when}{self.pick('', '+1', '-1')} :- {', '.join(body)}."

    def case(self) -> Case:
        lines = [f"timeline {'dense' if self.dense else 'discrete'}."]
        for name, arity in INPUTS.items():
            columns = f"({', '.join('xy'[:arity])})" if arity else ""
            lines.append(f"input {name}{columns} delay {self.random.choice([0, 0, 1, 2])}.")
        delays = {name: int(line.split()[-1][:-1]) for name, line in zip(INPUTS, lines[1:], strict=True)}
        own = {name: self.random.choice([0, 1, 3]) for name in ("p", "q") if self.random.random() < 0.2}
        """How long facts about `a` may take, where it is not as long as others may."""
        lines += [f"input {name}(x) where x = a delay {delay}." for name, delay in own.items()]
        rules = []
        for number in range(self.random.randint(1, 3)):
            name = f"d{number}"
            rules.append(self.rule(name))
            self.derived.setdefault(name, 1)
        lines += rules
        if self.random.random() < 0.2 and self.derived["d0"] == 1:
            begin = self.random.randint(0, 4)
            lines.append(f"d0(a)@[{begin},{begin + self.random.randint(0, 3)}].")
        lines += [f"query {name}({', '.join('XY'[:arity])})." for name, arity in self.derived.items()]
        facts = []
        for _ in range(self.random.randint(2, 12)):
            name = self.random.choice([*INPUTS, "p", "q"])
            when = self.random.randint(0, 7)
            arguments = tuple(self.random.choice(VALUES) for _ in range(INPUTS[name]))
            delay = own.get(name, delays[name]) if arguments[:1] == ("a",) else delays[name]
            arrives = max(0, when + self.random.randint(-1, delay))
            facts.append(((name, arguments, when), arrives))
        return Case("\n".join(lines), facts, end=8)
