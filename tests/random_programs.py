"""Random programs and streams that can be run: safe, stratified, over a few predicates and constants."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction

Fact = tuple[str, tuple[str | int, ...], Fraction | int | tuple[Fraction | int, Fraction | int, str]]


@dataclass
class Case:
    text: str
    facts: list[tuple[Fact, int | Fraction]] = field(default_factory=list)
    """Each fact with the time at which it arrives."""
    statics: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    end: int = 12


class Writer:
    """Writes rules layer by layer: what a rule negates lies in a lower layer, unless time breaks the cycle."""

    def __init__(self, seed: int, dense: bool, windows: bool = False, rows: bool = False) -> None:
        self.random = random.Random(seed)
        self.dense = dense
        self.windows = windows
        self.rows = rows

    def bound(self, most: int = 3) -> str:
        if self.dense and self.random.random() < 0.3:
            return self.random.choice(["1/2", "3/2", "0.5", "1/3"])
        return str(self.random.randint(0, most))

    def interval(self) -> str:
        kind = self.random.random()
        if kind < 0.2:
            return f"[{self.bound()}]"
        low = self.random.randint(0, 2)
        high = low + self.random.randint(1, 3)
        if kind < 0.6:
            return f"[{low},{high}]"
        opening, closing = self.random.choice(["[)", "(]", "()"])
        if not self.dense and high - low < 2:
            high += 1
        return f"{opening}{low},{high}{closing}"

    def atom(self, names: list[str], variables: list[str]) -> str:
        name = self.random.choice(names)
        if name.startswith("z"):
            return name
        return f"{name}({self.random.choice([*variables, *variables, 'a'])})"

    def formula(self, names: list[str], variable: str, depth: int = 2) -> str:
        """A formula in which the variable occurs positively."""
        kind = self.random.random()
        if depth == 0 or kind < 0.35:
            name = self.random.choice([each for each in names if not each.startswith("z")])
            return f"{name}({variable})"
        if self.windows and self.random.random() < 0.5:
            return self.windowed(names, variable)
        if self.rows and self.random.random() < 0.6:
            return self.in_rows(names, variable)
        inner = self.formula(names, variable, depth - 1)
        if kind < 0.75:
            operator = self.random.choice(["once", "historically", "eventually", "always"])
            return f"{operator}{self.interval()} ({inner})"
        if kind < 0.85:
            operator = self.random.choice(["since", "until"])
            left = self.formula(names, variable, depth - 1)
            if self.random.random() < 0.3:
                left = f"not ({closed(left)})"
            return f"(({left}) {operator}{self.interval()} ({inner}))"
        other = self.formula(names, variable, depth - 1)
        return f"({inner} {self.random.choice(['and', 'or'])} {other})"

    def window(self) -> str:
        """Mostly a window of time; some hop, some filter."""
        kind = self.random.random()
        if kind < 0.12:
            return f"window(only {self.random.choice(['p', 'q', 'r', 'd00'])}({self.random.choice('abX_')}))"
        back, ahead = self.random.choice([0, 1, 2, 3, 5]), self.random.choice([0, 0, 0, 1, 2])
        hop = self.random.choice([0, 0, 2, 3, 4])
        size = "inf" if kind > 0.95 else str(back)
        tail = f", hop {hop}" if hop and hop <= back + ahead and size != "inf" else ""
        return f"window({size}{f', ahead {ahead}' if ahead else ''}{tail})"

    def in_rows(self, names: list[str], variable: str) -> str:
        """What a window of rows shows, mostly in the forms that engines count along the stream."""
        patterns = ["p(X)", "q(X)", "m(X, _)", "m(_, V)", "m(X, X)", "r(a)", "(p(X), q(X))", "(p(X), m(_, X), r(Y))"]
        by = f" by {self.random.choice(patterns)}" if self.random.random() < 0.4 else ""
        window = f"window(rows {self.random.choice([1, 1, 2, 3, 5, 8])}{by})"
        if self.random.random() < 0.1:
            window = f"window(only ({self.random.choice(['p(X), m(_, 1)', 'm(a, _)', 'm(X, X), q(b)'])})) {window}"
        plain = [each for each in names if not each.startswith("z")]

        def local(values: str = "V1_") -> str:
            if self.random.random() < 0.2:
                return f"m({variable}, {self.random.choice(values)})"
            return f"{self.random.choice(plain)}({variable})"

        kind = self.random.random()
        if kind < 0.35:
            return f"{window} some {local()}"
        if kind < 0.45:
            return f"{window} all {self.random.choice(['', 'reset '])}{local('12')}"
        if kind < 0.5:
            return f"{window} {self.random.choice(['some', 'all'])} ({local('12')} and reset {local('12')})"
        if kind < 0.6:
            return f"{window} {local()}"
        if kind < 0.7:
            return f"{window} some ({local()} and {self.random.choice(['', 'not '])}{local('12')})"
        if kind < 0.8:
            return f"{window} ({local()} and some {local()})"
        if kind < 0.9:
            return f"{window} some ({local('12')} or {local('12')})"
        return f"{window} {self.random.choice(['all', 'all', 'window(3) some', 'some window(2) all'])} {local()}"

    def windowed(self, names: list[str], variable: str) -> str:
        """A window over modalities, such as engines work them out along the stream, and some others."""
        plain = [each for each in names if not each.startswith("z")]

        def local(depth: int = 1) -> str:
            kind = self.random.random()
            if depth == 0 or kind < 0.5:
                return f"{self.random.choice(plain)}({variable})"
            if kind < 0.6:
                return f"reset {self.formula(names, variable, 1)}"
            if kind < 0.7:
                return f"({local(0)} and not {local(0)})"
            return f"({local(0)} {self.random.choice(['and', 'or'])} {local(0)})"

        kind = self.random.random()
        modal = f"{self.random.choice(['some', 'all'])} {local()}"
        if kind < 0.15:
            modal = f"({local(0)} and {modal})"
        elif kind < 0.3:
            modal = f"({modal} and not {self.random.choice(['some', 'all'])} {local()})"
        elif kind < 0.4:
            modal = f"{self.window()} {modal}"
        elif kind < 0.5:
            modal = f"{self.random.choice(['once', 'historically', 'eventually'])}{self.interval()} {local(0)}"
        return f"{self.window()} {modal}"

    def head(self, name: str, variable: str) -> str:
        kind = self.random.random()
        if kind < 0.8:
            return f"{name}({variable})"
        operator = self.random.choice(["always", "historically"])
        return f"{operator}{self.interval()} {name}({variable})"

    def rule(self, head: str, lower: list[str], here: list[str]) -> str:
        positive = lower + here
        if self.windows and self.random.random() < 0.25:
            return self.seen(head, lower, here)
        if self.rows and self.random.random() < 0.15:
            return self.remembered(head, lower + here)
        if self.random.random() < 0.3:
            return self.pinned(head, lower, here)
        body = [self.formula(positive, "X")]
        if self.random.random() < 0.5:
            body.append(self.formula(positive, self.random.choice("XY"), 1))
        if self.random.random() < 0.35:
            body.append(f"not ({closed(self.formula(lower, 'X', 1))})")
        if self.random.random() < 0.15:
            body.append(self.random.choice(["X != a", "X = b", "X != X"]) if self.random.random() < 0.9 else "X = X")
        if self.random.random() < 0.15:
            body.append("s(X)")
        if self.random.random() < 0.25:
            body += self.measured()
        return f"{self.head(head, 'X')} :- {', '.join(body)}."

    def measured(self) -> list[str]:
        """Readings with a number, compared."""
        move = self.random.choice(["", "once[0,2] ", "eventually[1,2] ", f"once{self.interval()} "])
        if self.random.random() < 0.5:
            return [f"{move}m(X, V)", self.random.choice(["V > 1", "V != 2", "V + 1 < 3", "V = 0", "2 * V >= 3"])]
        other = self.random.choice(["", "once[1,3] "])
        return [f"{move}m(X, V)", f"{other}m(X, W)", self.random.choice(["V < W", "V = W", "V - W > 1", "W = V + 1"])]

    def seen(self, head: str, lower: list[str], here: list[str]) -> str:
        """Facts at times of their own, within windows that move with now."""
        plain = [each for each in lower + here if not each.startswith("z")]

        def pin(variable: str) -> str:
            return f"@{variable}{self.random.choice(['', '', '', '+1', '-1'])}"

        def window() -> str:
            ahead = self.random.choice(["", "", ", ahead 1"])
            return f"window({self.random.randint(0, 4)}{ahead})"

        body = [f"{window()} {self.random.choice(plain)}(X){pin('T')}"]
        if self.random.random() < 0.5:
            seen = self.random.choice(["", f"{window()} "])
            body.append(f"{seen}{self.random.choice(plain)}({self.random.choice('XY')}){pin('T')}")
        if self.random.random() < 0.3:
            body.append(f"not {self.atom(lower, ['X'])}{pin('T')}")
        if self.random.random() < 0.5:
            body.append(f"{window()} {self.random.choice(plain)}({self.random.choice('XY')}){pin('S')}")
        if self.random.random() < 0.6:
            body.append(self.formula(lower, self.random.choice("XY"), 1))
        return f"{head}(X){self.random.choice(['', pin('T')])} :- {', '.join(body)}."

    def remembered(self, head: str, names: list[str]) -> str:
        """Facts that windows of rows show, with their times compared."""
        plain = [each for each in names if not each.startswith("z")]
        first, second = (f"window(rows {self.random.randint(1, 6)}) {self.random.choice(plain)}" for _ in range(2))
        test = self.random.choice(["S < T", "T > 3", "S != T", "T = S + 1"])
        return f"{head}(X) :- {first}(X)@T, {second}({self.random.choice('XY')})@S, {test}."

    def pinned(self, head: str, lower: list[str], here: list[str]) -> str:
        def pin() -> str:
            offset = self.random.randint(-2, 2)
            return f"@T{offset:+d}" if offset else "@T"

        body = [f"{self.atom(lower + here, ['X'])}{pin()}" for _ in range(self.random.randint(0, 1))]
        body.insert(0, f"{self.random.choice([n for n in lower if not n.startswith('z')])}(X){pin()}")
        if self.random.random() < 0.4:
            body.append(f"not {self.atom(lower, ['X'])}{pin()}")
        return f"{head}(X){pin()} :- {', '.join(body)}."


def closed(formula: str) -> str:
    """A formula that may be negated: all its variables but X are values."""
    return formula.replace("X, V)", "X, 1)").replace("_", "1")


def make_case(seed: int, dense: bool, windows: bool = False, rows: bool = False) -> Case:
    writer = Writer(seed, dense, windows, rows)
    chance = writer.random
    inputs = {"p": chance.choice([0, 0, 1, 3]), "q": chance.choice([0, 0, 2]), "r": 0}
    lines = [f"timeline {'dense' if dense else 'discrete'}.", "static s(x)."]
    lines += [f"input {name}(x) delay {delay}." for name, delay in inputs.items()]
    lines.append("input m(x, v: int) delay 1.")
    lower = list(inputs)
    for layer in range(chance.randint(1, 3)):
        here = [f"d{layer}{index}" for index in range(chance.randint(1, 2))]
        for name in here:
            for _ in range(chance.randint(1, 2)):
                lines.append(writer.rule(name, lower, here if chance.random() < 0.4 else []))
        lower += here
    lines += [f"query {name}(X)." for name in lower if name.startswith("d")]
    case = Case("\n".join(lines) + "\n")
    for name, delay in inputs.items():
        for value in "ab":
            for time in range(case.end):
                if chance.random() < 0.3:
                    at: Fraction | int = time + (chance.choice([0, Fraction(1, 2), Fraction(1, 3)]) if dense else 0)
                    arrives = at + chance.randint(0, delay)
                    when: object = at
                    if chance.random() < 0.2:
                        when = (at, at + chance.randint(1, 2), chance.choice(["[]", "[)"]) if dense else "[]")
                    case.facts.append(((name, (value,), when), arrives))  # type: ignore[arg-type]
    for value in "ab":
        for time in range(case.end):
            if chance.random() < 0.35:
                case.facts.append((("m", (value, chance.randint(0, 3)), time), time + chance.randint(0, 1)))
    case.statics = [("s", (value,)) for value in "ab" if chance.random() < 0.6]
    return case
