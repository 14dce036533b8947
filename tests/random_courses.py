"""Random programs whose answers hang on the facts of one individual each; streams in which many take like courses."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Fact = tuple[str, tuple[Any, ...], Any]


@dataclass
class Case:
    text: str
    steps: list[tuple[Any, list[Fact]]] = field(default_factory=list)
    """What arrives at which time."""
    static: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)


def make_case(
    seed: int,
    individuals: int = 5,
    dense: bool = False,
    tables: bool = False,
    rates: bool = False,
    repeated: bool = False,
    texts: bool = False,
) -> Case:
    """With `tables`, static facts are asked for; with `rates`, it is known how likely facts are; with `repeated` one
    input is asked for several times; with `texts` values are texts and beside them stand others that nobody asks
    for."""
    dice = random.Random(seed)
    delays = {name: dice.choice((0, 0, 1, 2)) for name in ("p", "r", "s")}
    lines = [f"timeline {'dense' if dense else 'discrete'}."]
    lines += [f"input {name}({'x, v' if name == 's' else 'x'}) delay {wait}." for name, wait in delays.items()]
    lines += dice.choice(
        (
            [],
            ["d(X) :- p(X), r(X)."],
            ["d(X) :- p(X). d(X) :- r(X)."],
            ["d(X)@T+1 :- p(X)@T, r(X)@T+1."],
            ["d(X) :- s(X, V), V > 2."],
        )
    )
    atoms = ["p(X)", "r(X)", "s(X, V)", "s(X, 2)"] + (["d(X)"] if len(lines) > 4 else [])

    def bounds() -> str:
        low = dice.choice((0, 0, 1, 2))
        return f"[{low},{low + dice.choice((0, 1, 2, 3, 5))}]"

    def literal(first: bool) -> str:
        atom = dice.choice(atoms if not first else atoms[:2])
        plain = dice.choice(atoms[:2])
        kind = dice.random()
        if first or kind < 0.2:
            return atom
        if kind < 0.4:
            return f"once{bounds()} {atom}"
        if kind < 0.6:
            return f"eventually{bounds()} {atom}"
        if kind < 0.68:
            return f"historically{bounds()} {plain}"
        if kind < 0.76:
            return f"always{bounds()} {plain}"
        if kind < 0.84:
            return f"not {plain}"
        if kind < 0.92:
            return f"{dice.choice(('always', 'historically'))}{bounds()} not {plain}"
        return f"p(X) {dice.choice(('since', 'until'))}{bounds()} r(X)"

    def rule() -> str:
        if repeated:
            return repeated_rule()
        if dice.random() < 0.3:
            away = dice.randint(1, 5)
            last = dice.choice(("", ", p(X)@T+1", ", not r(X)@U", ", r(X)@U+1"))
            return f"q(X)@{dice.choice('TU')} :- p(X)@T, {dice.choice(('r', 'p'))}(X)@U, T <= U, U <= T + {away}{last}."
        parts = [literal(place == 0) for place in range(dice.choice((1, 2, 2, 3)))]
        if any("V" in each for each in parts) and dice.random() < 0.5:
            parts.append(f"V {dice.choice(('>', '<=', '!=', '='))} {dice.choice((1, 2, 3))}")
        head = "q(X)" if dice.random() < 0.8 else "q(X)@T+1"
        if "@" in head:
            parts = [f"({each})@T" if not each.startswith("V ") else each for each in parts]
        return f"{head} :- {', '.join(parts)}."

    def repeated_rule() -> str:
        """One input several times, with values that differ."""
        count = dice.choice((2, 2, 3))
        times, values = "TUW"[:count], "VAB"[:count]
        parts = [f"s(X, {value})@{time}" for time, value in zip(times, values, strict=True)]
        for first, second in itertools.pairwise(times):
            parts.append(f"{first} {dice.choice(('<', '<='))} {second}")
        parts.append(f"{times[-1]} <= T + {dice.choice((1, 3, 5, 10))}")
        for first, second in itertools.pairwise(values):
            if dice.random() < 0.8:
                parts.append(f"{first} {dice.choice(('!=', '!=', '<', '='))} {second}")
        if count == 3 and dice.random() < 0.6:
            parts.append("V != B")
        return f"q(X)@{dice.choice('TTTU')} :- {', '.join(parts)}."

    lines += [rule() for _ in range(1 if repeated else dice.choice((1, 1, 2)))]
    lines.append("query q(X).")
    steps: list[tuple[Any, list[Fact]]] = []
    arriving: dict[Any, list[Fact]] = {}
    for time in range(dice.randint(8, 16)):
        for index in range(individuals):
            for name in ("p", "r", "s"):
                if dice.random() < 0.2:
                    at: Any = time
                    if dense and dice.random() < 0.3:
                        at = time + Fraction(dice.choice((1, 2)), dice.choice((2, 3)))
                    row = (f"k{index}",) if name != "s" else (f"k{index}", dice.choice((1, 2, 3, Fraction(5, 2))))
                    late = dice.randint(0, delays[name])
                    arriving.setdefault(at + late, []).append((name, row, at))
    steps = sorted(arriving.items())
    case = Case("\n".join(lines), steps)
    if tables:
        _with_tables(case, dice, individuals)
    if texts:
        _with_texts(case, dice)
    if rates:
        for wait in delays.values():
            how = "{0: 0.5, 1: 0.3, 2: 0.1}" if wait == 2 and dice.random() < 0.5 else wait
            case.text = case.text.replace(f") delay {wait}.", f") delay {how} rate 0.{dice.randint(1, 9)}.", 1)
    return case


def _with_texts(case: Case, dice: random.Random) -> None:
    names = {1: "ab", 2: "a", 3: "b c", Fraction(5, 2): "ä"}
    case.text = case.text.replace("input s(x, v)", "input s(x, v, n)").replace("V > 2", "V != a").replace("2)", "a)")
    case.text = re.sub(
        r"([VAB]) (?:<=|<|>) ([VAB]|\d)", r"\1 != \2", re.sub(r"s\(X, (\w)\)", r"s(X, \1, _)", case.text)
    )
    case.text = re.sub(r"(V (?:!=|=)) \d", r"\1 a", case.text)
    case.steps = [
        (
            now,
            [(name, (row[0], names[row[1]], dice.choice("xyz")) if name == "s" else row, at) for name, row, at in some],
        )
        for now, some in case.steps
    ]


def _with_tables(case: Case, dice: random.Random, individuals: int) -> None:
    lines = case.text.splitlines()
    asked = ("site(X, L), L > 1", "site(X, L), good(L)", "chosen(X)", "not chosen(X)", "site(X, V)", "good(V)")
    for place, line in enumerate(lines):
        if line.startswith("q(X)"):
            fine = [each for each in asked if "V" not in each or "V" in line]
            lines[place] = f"{line.removesuffix('.')}, {dice.choice(fine)}."
    lines[1:1] = ["static site(x, v).", "static good(v).", "static chosen(x)."]
    case.text = "\n".join(lines)
    names = [f"k{index}" for index in range(individuals)]
    case.static += [("chosen", (name,)) for name in names if dice.random() < 0.6]
    case.static += [("site", (name, value)) for name in names for value in (1, 2, 3, "k1") if dice.random() < 0.35]
    case.static += [("good", (value,)) for value in (2, 3, "k1") if dice.random() < 0.6]


def make_counted_case(seed: int) -> Case:
    """What is counted within a window, for one or two columns, on its own or beside other facts, the same ones among
    them; several at once, keys that come rarely and keys that come all the time, and such as are late or early."""
    dice = random.Random(seed)
    delay, before = dice.choice((0, 0, 0, 1, 2)), dice.choice(("", "", "", "go(G), ", "{e}, "))
    after = dice.choice(("", "", "", "", ", not stop(G)"))
    groups, has_value = dice.choice((1, 1, 1, 2)), dice.random() < 0.6
    key = "K, L"[: 1 if groups == 1 else 4]
    columns = f"{key}{', V' if has_value else ''}"
    terms = dice.choice(("V, T", "T, V")) if has_value else "T"
    window = f"{dice.choice((2, 3, 5, 8, 12))}{dice.choice(('', '', '', ', ahead 2'))}"
    counted = f"count {{ {terms} : window({window}) e({columns})@T }}"
    before = before.replace("{e}", f"e({key}{', _' if has_value else ''})")
    rule = f"q(G) :- {before}{counted} {dice.choice(('>=', '>=', '>'))} {dice.randint(1, 6)}{after}.".replace("G", key)
    names = "k, l"[: 1 if groups == 1 else 4]
    declared = f"input e({names}{', v' if has_value else ''}) delay {delay}.\ninput go({names}).\ninput stop({names})."
    values = dice.choice(([1, 2, 10], [1, 2, 10, "x", "y"], list(range(40))))
    arriving: dict[Any, list[Fact]] = {}
    long = dice.choice((16, 16, 30))
    for _ in range(dice.randint(2, dice.choice((24, 60)))):
        time, who = dice.randint(0, long), dice.choice("aaab" if seed % 3 else "abc")
        owner = (who,) if groups == 1 else (who, dice.choice("uv"))
        now, kind = max(0, time + dice.randint(0, delay) - (2 if dice.random() < 0.03 else 0)), dice.random()
        fact: Fact = ("e", (*owner, dice.choice(values)) if has_value else owner, time)
        if kind < 0.3 and "go" in before:
            fact = ("go", owner, now)
        elif kind < 0.4 and after:
            fact = ("stop", owner, now)
        arriving.setdefault(now, []).append(fact)
    return Case(f"timeline discrete.\n{declared}\n{rule}\nquery q({key}).\n", sorted(arriving.items()))
