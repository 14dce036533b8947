"""Random small programs whose rules invent values, for hypothetical answers that do not show them.

Over the programs of `random_hypotheses`: some rules get heads with `exists`, and other rules ask for what was invented,
in one place or several, at one time or several. What is asked for are the values that are given.
"""

from __future__ import annotations

import re

from presage.checking import check_text
from tests.oracle import declared_delays
from tests.random_hypotheses import ARITY, ATTEMPTS, CONSTANTS, NUMBERS, Writer
from tests.random_programs import Case


class InventingWriter(Writer):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.unsafe = self.static = self.facts = self.both = self.recursive = self.several_times = False
        self.made = 0

    def inventing(self, lower: list[str]) -> tuple[str, dict[str, int]]:
        """A rule that invents values, and its predicates with how many arguments they have."""
        found = re.fullmatch(r"HEAD\(X\)(@\w+)?(?:([+-])(\d+))? :- (.*)", self.rule("HEAD", lower, []))
        assert found is not None
        pin, sign, offset, body = found.groups()
        at = int(f"{sign or '+'}{offset or 0}")
        self.made += 1
        pair, single = f"e{self.made}", f"f{self.made}"
        atoms = self.random.choice([
            [f"{pair}(X, N)"], [f"{pair}(X, N)", f"{single}(N)"], [f"{pair}(X, N)", f"{single}(N)"], [f"{single}(N)"],
            [f"{pair}(X, N)", f"g{self.made}(N, M)"],
        ])  # fmt: skip
        values = "N, M" if "M" in atoms[-1] else "N"
        heads = []
        for atom in atoms:
            if pin and pin[1:].isalpha():
                heads.append(f"{atom}{pin}{at + (self.random.choice([0, 0, 1]) if heads else 0):+d}")
            elif not pin and self.random.random() < 0.15:
                heads.append(f"always[0,1] {atom}")
            else:
                heads.append(f"{atom}@{pin[1:]}" if pin else atom)
        lasting = "lasting " if self.random.random() < 0.3 else ""
        places = {atom.split("(")[0]: atom.count(",") + 1 for atom in atoms}
        return f"exists {lasting}{values}: {', '.join(heads)} :- {body}", places

    def when(self, atom: str) -> str:
        return self.random.choice([
            atom, atom, atom, f"once[0,1] {atom}", f"eventually[0,1] {atom}", f"tomorrow {atom}",
            f"yesterday {atom}", f"historically[0,1] {atom}",
        ])  # fmt: skip

    def asking(self, name: str, made: dict[str, int], lower: list[str]) -> str:
        """A rule that asks for what was invented."""
        literals: list[str] = []
        values: list[str] = []
        for number in range(self.random.choice([1, 2, 2, 3])):
            predicate = self.random.choice(sorted(made))
            value = self.random.choice(["N", "N", "M"])
            values.append(value)
            if made[predicate] == 1:
                literals.append(self.when(f"{predicate}({value})"))
            elif predicate.startswith("g"):
                literals.append(self.when(f"{predicate}({value}, {self.random.choice(['K', 'M', 'N'])})"))
            else:
                literals.append(self.when(f"{predicate}({'X' if not number else self.random.choice('XXY')}, {value})"))
        if not any("X" in each for each in literals):
            literals.insert(0, self.binder(self.random.choice([each for each in lower if ARITY.get(each, 1)])))
        if {"N", "M"} <= set(values) and self.random.random() < 0.5:
            literals.append(self.random.choice(["N != M", "N = M", "not N = M"]))
        if self.negation and self.random.random() < 0.4:
            literals.append(f"not {self.negated(lower)}")
        return f"{name}(X) :- {', '.join(literals)}."

    def program(self) -> str:
        lines = self.declarations()
        lower = list(self.inputs)
        if self.random.random() < 0.3:
            lines.append(self.rule("d0", lower, ["d0"]))
            lower.append("d0")
        made: dict[str, int] = {}
        for _ in range(self.random.choice([1, 1, 2])):
            rule, more = self.inventing(lower)
            lines.append(rule)
            made |= more
        asked = [f"a{number}" for number in range(self.random.choice([1, 2]))]
        lines += [self.asking(name, made, lower) for name in asked for _ in range(self.random.choice([1, 1, 2]))]
        if self.negation and self.random.random() < 0.4:
            binder = self.binder(self.random.choice([each for each in lower if ARITY.get(each, 1)]))
            lines.append(f"b0(X) :- {binder}, not {self.random.choice(asked)}(X).")
            asked.append("b0")
        lines += [f"query {name}(X)." for name in asked]
        return "\n".join(lines) + "\n"


def accepted(text: str) -> bool:
    """Whether the checks let the program pass, hypothetical answers included, and something may come of it."""
    report = check_text(text)
    found = report.findings
    return report.ok and found is not None and all(each.hypothetical.possible for each in found.queries)


def make_case(seed: int) -> Case:
    """A program; its facts, each with the time at which it arrives."""
    writer = InventingWriter(seed)
    text = next(filter(accepted, (writer.program() for _ in range(ATTEMPTS))), None)
    assert text is not None, f"no program for seed {seed}"
    chance = writer.random
    case = Case(text, end=chance.choice([2, 3, 3]))
    delay = declared_delays(check_text(text).program)
    for name in writer.inputs:
        rows: list[tuple[str | int, ...]] = [(), *((each,) for each in CONSTANTS)]
        rows += [(each, value) for each in CONSTANTS for value in NUMBERS]
        for row in rows:
            for time in range(case.end + 1):
                if len(row) == ARITY[name] and chance.random() < 0.5:
                    case.facts.append(((name, row, time), time + chance.randint(0, delay(name, row))))
    return case
