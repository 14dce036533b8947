"""LTL against enumeration: all short lassos that continue a trace, each judged by the definitions alone."""

from __future__ import annotations

import itertools
import json
import random
from functools import lru_cache

import pytest

import presage
from presage.languages.translation import translate

LETTERS = [frozenset(each) for each in ((), ("p",), ("q",), ("p", "q"))]
UNROLLED = 14
"""How often the loop of a lasso is gone through: by then what the past says repeats."""

Formula = tuple


# An evaluator that shares nothing with the package: arrays over positions, the future beyond the end as in the loop.


def judge(formula: Formula, word: tuple[frozenset[str], ...], loop: int) -> list[bool]:
    """The truth at each position of a word whose last `loop` letters repeat for ever."""
    length = len(word)

    def beyond(values: list[bool], at: int) -> bool:
        while at >= length:
            at -= loop
        return values[at]

    operator = formula[0]
    if operator in ("p", "q"):
        return [operator in letter for letter in word]
    if operator == "true":
        return [True] * length
    if operator == "!":
        return [not each for each in judge(formula[1], word, loop)]
    if operator in ("&", "|", "->", "<->"):
        left, right = judge(formula[1], word, loop), judge(formula[2], word, loop)
        combine = {
            "&": lambda a, b: a and b,
            "|": lambda a, b: a or b,
            "->": lambda a, b: not a or b,
            "<->": lambda a, b: a == b,
        }[operator]
        return [combine(a, b) for a, b in zip(left, right, strict=True)]
    if operator == "X":
        inner = judge(formula[1], word, loop)
        return [beyond(inner, at + 1) for at in range(length)]
    if operator == "Y":
        inner = judge(formula[1], word, loop)
        return [at > 0 and inner[at - 1] for at in range(length)]
    low, high = formula[1]
    far = length + 2 * loop if high is None else high
    if operator in "FGOH":
        inner = judge(formula[2], word, loop)
        found = []
        for at in range(length):
            if operator in "FG":
                seen = [beyond(inner, to) for to in range(at + low, at + max(far, low) + 1)]
            else:
                seen = [inner[to] for to in range(at - low, at - max(far, low) - 1, -1) if to >= 0]
            found.append(any(seen) if operator in "FO" else all(seen))
        return found
    left, right = judge(formula[2], word, loop), judge(formula[3], word, loop)
    if operator == "R":
        negated = judge(("U", formula[1], ("!", formula[2]), ("!", formula[3])), word, loop)
        return [not each for each in negated]
    if operator == "W":
        until = judge(("U", *formula[1:]), word, loop)
        always = judge(("G", (0, high), formula[2]), word, loop)
        return [a or b for a, b in zip(until, always, strict=True)]
    found = []
    for at in range(length):
        holds = False
        if operator == "U":
            for to in range(at, at + max(far, low) + 1):
                if to >= at + low and beyond(right, to):
                    holds = True
                    break
                if not beyond(left, to):
                    break
        else:
            for to in range(at, at - max(far, low) - 1, -1):
                if to < 0:
                    break
                if to <= at - low and right[to]:
                    holds = True
                    break
                if not left[to]:
                    break
        found.append(holds)
    return found


def text(formula: Formula) -> str:
    operator = formula[0]
    if operator in ("p", "q", "true"):
        return operator
    if operator == "!":
        return f"!({text(formula[1])})"
    if operator in ("X", "Y"):
        return f"{operator} ({text(formula[1])})"
    if operator in ("&", "|", "->", "<->"):
        return f"({text(formula[1])}) {operator} ({text(formula[2])})"
    low, high = formula[1]
    bounds = "" if (low, high) == (0, None) else f"[{low},inf)" if high is None else f"[{low},{high}]"
    if operator in "FGOH":
        return f"{operator}{bounds} ({text(formula[2])})"
    return f"({text(formula[2])}) {operator}{bounds} ({text(formula[3])})"


def random_formula(rng: random.Random, depth: int, bounded: bool = False) -> Formula:
    if depth == 0:
        return (rng.choice(["p", "q", "p", "q", "true"]),)
    operator = rng.choice(["!", "&", "|", "->", "<->", "X", "Y", *"FGOHURWS", *"FGUS"])
    if operator in ("!", "X", "Y"):
        return (operator, random_formula(rng, depth - 1, bounded))
    if operator in ("&", "|", "->", "<->"):
        return (operator, random_formula(rng, depth - 1, bounded), random_formula(rng, rng.randrange(depth), bounded))
    low = rng.choice([0, 0, 0, 1, 2])
    endless = rng.random() < 0.5 and not (bounded and operator in "FGURW")
    bounds = (low, None) if endless else (low, low + rng.randrange(3))
    if operator in "FGOH":
        return (operator, bounds, random_formula(rng, depth - 1, bounded))
    return (
        operator,
        bounds,
        random_formula(rng, depth - 1, bounded),
        random_formula(rng, rng.randrange(depth), bounded),
    )


@lru_cache(2)
def lassos(stem: int, loop: int) -> list[tuple[tuple[frozenset[str], ...], int]]:
    stems = [each for size in range(stem + 1) for each in itertools.product(LETTERS, repeat=size)]
    loops = [each for size in range(1, loop + 1) for each in itertools.product(LETTERS, repeat=size)]
    return [(first + again * UNROLLED, len(again)) for first in stems for again in loops]


def verdicts(formula: Formula, trace: list[frozenset[str]], stem: int, loop: int) -> list[set[bool]]:
    """What the property may come to at each position of the trace, over all such continuations."""
    found: list[set[bool]] = [set() for _ in trace]
    for rest, again in lassos(stem, loop):
        values = judge(formula, (*trace, *rest), again)
        for at in range(len(trace)):
            found[at].add(values[at])
        if all(len(each) == 2 for each in found):
            break
    return found


def status_of(truths: set[bool]) -> str:
    return "possible" if len(truths) == 2 else "confirmed" if truths == {True} else "refuted"


def run(source: str, trace: list[frozenset[str]]) -> list[dict[int, str]]:
    """After each step, the latest status of each position."""
    reasoner = presage.Reasoner(presage.parse(source, "p.ltl"))
    latest: dict[int, str] = {}
    after = []
    for now, letter in enumerate(trace):
        known = reasoner.program.inputs
        facts = [(name, (), now) for name in sorted(letter) if any(each.predicate == name for each in known)]
        for answer in reasoner.push(facts, now=now):
            assert answer.predicate == "a" and answer.to_json()["property"]
            assert latest.get(answer.time) not in ("confirmed", "refuted")  # type: ignore[arg-type]
            latest[answer.time] = answer.status  # type: ignore[index]
        after.append(dict(latest))
    return after


@pytest.mark.parametrize("seed", range(60))
def test_random_formulas(seed: int) -> None:
    rng = random.Random(seed)
    formula = random_formula(rng, rng.choice([1, 2, 2, 3]))
    trace = [rng.choice(LETTERS) for _ in range(rng.randrange(1, 5))]
    ours = run(f"a: {text(formula)}", trace)
    for size in {1, len(trace)}:
        truths = verdicts(formula, trace[:size], 2, 2)
        for at, found in enumerate(truths):
            if status_of(found) != ours[size - 1][at]:
                # What is open only by longer continuations.
                found = found | verdicts(formula, trace[:size], 4, 2)[at]
            assert ours[size - 1][at] == status_of(found), (text(formula), trace[:size], at)


CASES = [
    ("F p", "..p", ["possible possible confirmed"]),
    ("G p", "pp.", ["possible possible refuted"]),
    ("X p", ".p", ["possible confirmed"]),
    ("Y p", "p.", ["refuted", "confirmed"]),
    ("O p", "p..", ["confirmed", "confirmed", "confirmed"]),
    ("H[0,1] p", "pp.p", ["confirmed", "confirmed", "refuted", "refuted"]),
    ("H[2,3] p", "..", ["confirmed", "confirmed"]),
    ("p U[1,2] q", "pb", ["possible confirmed"]),
    ("p R q", "qb", ["possible confirmed"]),
    ("p W q", "p.", ["possible refuted"]),
    ("p S q", "qp", ["confirmed", "confirmed"]),
    ("F p | G !p", "..", ["confirmed", "confirmed"]),
    ("G F p & F G !p", "..", ["refuted", "refuted"]),
    ("G (p -> F[0,2] q)", "p..", ["possible possible refuted"]),
    ("p <-> q & true", "pb", ["refuted", "confirmed"]),
    ("p -> q -> p", "p", ["confirmed"]),
    ("!false", ".", ["confirmed"]),
    ("O (X p)", ".p", ["possible confirmed"]),
    ("F[0,2) p", "..", ["possible refuted"]),
]


@pytest.mark.parametrize(("formula", "trace", "expected"), CASES, ids=lambda each: str(each))
def test_each_operator(formula: str, trace: str, expected: list[str]) -> None:
    words = {".": "", "p": "p", "q": "q", "b": "pq"}
    ours = run(f"a: {formula}", [frozenset(words[each]) for each in trace])
    for at, said in enumerate(expected):
        for place, status in enumerate(said.split()):
            assert ours[at + place][at] == status, (at, at + place)


def test_lines() -> None:
    program = presage.parse('late: G (ask("x y", 3) -> F[0,3] answer(x))\n', "p.ltl")
    reasoner = presage.Reasoner(program)
    first = reasoner.push([("ask", ("x y", 3), 0)], now=0)[0].to_json()
    assert first["answer"] == "late@0" and first["status"] == "possible" and first["because"] == ['ask("x y", 3)@0']
    assert "answer(x)@T1" in first["needs"] and first["unless"] == ["T1 < 1", "T1 > 3"]
    assert first["property"] == 'G (ask("x y", 3) -> F[0,3] answer(x))'
    # Time alone tells nothing of an open position anew; each new one has its line.
    assert [each.answer for each in reasoner.push([], now=2)] == ["late@1", "late@2"]
    told = reasoner.push([], now=3)
    assert [(each.answer, each.status) for each in told] == [("late@0", "refuted"), ("late@3", "possible")]
    assert {each.answer for each in reasoner.answers()} == {"late@1", "late@2", "late@3"}


def test_what_is_known_early_counts() -> None:
    reasoner = presage.Reasoner(presage.parse("a: F[0,2] p\nb: G p", "p.ltl"))
    told = reasoner.push([("p", (), 2)], now=0)
    assert [(each.answer, each.status) for each in told] == [("a@0", "confirmed"), ("b@0", "refuted")]
    reasoner = presage.Reasoner(presage.parse("b: G p", "p.ltl"))
    assert [each.status for each in reasoner.push([("p", (), (0, None, "[)"))], now=0)] == ["confirmed"]


def test_what_if() -> None:
    reasoner = presage.Reasoner(presage.parse("a: F[0,2] p", "p.ltl"))
    reasoner.push([], now=0)
    assert [(each.answer, each.status) for each in reasoner.suppose([("p", (), 2)])] == [("a@0", "confirmed")]
    assert [each.status for each in reasoner.answers()] == ["possible"]
    with pytest.raises(presage.PresageError, match="this is ltl, which has none"):
        reasoner.replace(presage.parse("a: G p", "p.ltl"))


@pytest.mark.parametrize("seed", range(8))
def test_going_on_from_what_was_saved(seed: int) -> None:
    rng = random.Random(seed)
    program = presage.parse(f"a: {text(random_formula(rng, 3))}\nb: {text(random_formula(rng, 2))}", "p.ltl")
    names = {each.predicate for each in program.inputs}
    whole, parts = presage.Reasoner(program), presage.Reasoner(program)
    for now in range(6):
        facts = [(name, (), now) for name in sorted(rng.choice(LETTERS)) if name in names]
        ours, again = whole.push(facts, now=now), parts.push(facts, now=now)
        assert [each.to_json() for each in ours] == [each.to_json() for each in again]
        parts = presage.Reasoner.restore(program, parts.save())


@pytest.mark.parametrize("seed", range(12))
def test_translated_rules_confirm_the_same(seed: int) -> None:
    rng = random.Random(seed)
    source = f"a: {text(random_formula(rng, 2, bounded=True))}"
    trace = [rng.choice(LETTERS) for _ in range(5)] + [frozenset[str]()] * 12
    ours = run(source, trace)[-1]
    reasoner = presage.Reasoner(presage.parse(translate(source, "p.ltl")), emit="confirmed")
    names = {each.predicate for each in reasoner.program.inputs}
    found: set[int] = set()
    for now, letter in enumerate(trace):
        for answer in reasoner.push([(name, (), now) for name in sorted(letter) if name in names], now=now):
            low = answer.start if answer.time is None else answer.time
            high = len(trace) if answer.time is None and answer.end is None else answer.end or answer.time
            found |= set(range(int(low or 0), int(high or 0) + 1))
    settled = range(5)
    assert {at for at in settled if ours[at] == "confirmed"} == found & set(settled), json.dumps(source)
