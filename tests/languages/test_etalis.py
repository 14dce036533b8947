"""ETALIS against its published semantics: intervals of patterns as sets, one substitution after the other."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.errors import ProgramError

VALUES = ["a", "b", 3]
Pattern = tuple
Interval = tuple[int, int]
Facts = set[tuple[str, tuple[Any, ...], Interval]]


# A naive evaluator: a pattern is ("event", name, terms), ("seq", p, q), …, ("not", p1, p2, p3), ("within", p, n),
# ("where", p, x, sign, y); a term is a variable's name or a value.


def variables(pattern: Pattern) -> set[str]:
    kind = pattern[0]
    if kind == "event":
        return {term for term in pattern[2] if isinstance(term, str) and term.isupper()}
    if kind == "within":
        return variables(pattern[1])
    if kind == "where":
        return variables(pattern[1])
    return set().union(*(variables(each) for each in pattern[1:]))


def sequence(first: set[Interval], last: set[Interval]) -> set[Interval]:
    return {(p[0], q[1]) for p in first for q in last if p[1] < q[0]}


def intervals(pattern: Pattern, given: dict[str, Any], facts: Facts) -> set[Interval]:
    kind = pattern[0]
    if kind == "event":
        wanted = tuple(given.get(term, term) for term in pattern[2])
        return {when for name, arguments, when in facts if name == pattern[1] and arguments == wanted}
    if kind == "within":
        return {each for each in intervals(pattern[1], given, facts) if each[1] - each[0] <= pattern[2]}
    if kind == "where":
        _, inner, x, sign, y = pattern
        left, right = given.get(x, x), given.get(y, y)
        order = ((isinstance(left, str), left), (isinstance(right, str), right))
        holds = {"<": order[0] < order[1], "\\=": order[0] != order[1], ">=": order[0] >= order[1]}[sign]
        return intervals(inner, given, facts) if holds else set()
    if kind == "not":
        _, between, first, last = pattern
        own = sorted(variables(between) - variables(first) - variables(last))
        inside = set().union(
            *(
                intervals(between, {**given, **dict(zip(own, values, strict=True))}, facts)
                for values in itertools.product(VALUES, repeat=len(own))
            )
        )
        ones, others = intervals(first, given, facts), intervals(last, given, facts)
        spoiled = {(p[0], q[1]) for p in ones for m in inside for q in others if p[1] < m[0] and m[1] < q[0]}
        return sequence(ones, others) - spoiled
    left, right = intervals(pattern[1], given, facts), intervals(pattern[2], given, facts)
    if kind == "or":
        return left | right
    found = set()
    for q1, q2 in left:
        for q3, q4 in right:
            if kind == "seq" and q2 < q3:
                found.add((q1, q4))
            if kind == "after" and q4 < q1:
                found.add((q3, q2))
            if kind == "meets" and q2 == q3:
                found.add((q1, q4))
            if kind == "met_by" and q4 == q1:
                found.add((q3, q2))
            if kind == "overlaps" and q1 < q3 < q2 < q4:
                found.add((q1, q4))
            if kind == "overlapped_by" and q3 < q1 < q4 < q2:
                found.add((q3, q2))
            if kind == "and" or (kind == "par" and max(q1, q3) < min(q2, q4)):
                found.add((min(q1, q3), max(q2, q4)))
            if kind == "during" and q3 < q1 and q2 < q4:
                found.add((q3, q4))
            if kind == "contains" and q1 < q3 and q4 < q2:
                found.add((q1, q2))
            if kind == "starts" and q1 == q3 and q2 < q4:
                found.add((q3, q4))
            if kind == "started_by" and q1 == q3 and q4 < q2:
                found.add((q1, q2))
            if kind == "finishes" and q2 == q4 and q3 < q1:
                found.add((q3, q4))
            if kind == "finished_by" and q2 == q4 and q1 < q3:
                found.add((q1, q2))
            if kind == "equals" and (q1, q2) == (q3, q4):
                found.add((q1, q2))
    return found


def judge(rules: list[tuple[str, tuple[str, ...], Pattern]], facts: Facts) -> Facts:
    known = set(facts)
    for name, head, pattern in rules:  # no rule uses the head of a later one
        names = sorted(variables(pattern))
        for values in itertools.product(VALUES, repeat=len(names)):
            given = dict(zip(names, values, strict=True))
            for when in intervals(pattern, given, known):
                known.add((name, tuple(given[each] for each in head), when))
    return known - facts


RELATIONS = [
    *("seq", "after", "meets", "met_by", "overlaps", "overlapped_by", "and", "par", "during", "contains"),
    *("starts", "started_by", "finishes", "finished_by", "equals", "or"),
]


def text(pattern: Pattern) -> str:
    kind = pattern[0]
    if kind == "event":
        return f"{pattern[1]}({', '.join(map(str, pattern[2]))})" if pattern[2] else pattern[1]
    if kind == "within":
        return f"(({text(pattern[1])}) WITHIN {pattern[2]})"
    if kind == "where":
        return f"(({text(pattern[1])}) WHERE ({pattern[2]} {pattern[3]} {pattern[4]}))"
    if kind == "not":
        return f"NOT({text(pattern[1])})[{text(pattern[2])}, {text(pattern[3])}]"
    return f"({text(pattern[1])} {kind.upper() if len(kind) % 2 else kind} {text(pattern[2])})"


def random_pattern(rng: random.Random, depth: int, names: list[str]) -> Pattern:
    if depth == 0:
        name = rng.choice(names)
        arity = 1 if name in "abh" else 2
        return ("event", name, tuple(rng.choice(["X", "X", "Y", "a", 3]) for _ in range(arity)))
    kind = rng.choice([*RELATIONS, "seq", "seq", "not", "within", "where"])
    if kind == "within":
        return ("within", random_pattern(rng, depth - 1, names), rng.randrange(1, 6))
    if kind == "where":
        inner = random_pattern(rng, depth - 1, names)
        known = sorted(variables(inner))
        if not known:
            return inner
        return ("where", inner, rng.choice(known), rng.choice(["<", "\\=", ">="]), rng.choice([*known, "a", 3]))
    if kind == "not":
        return ("not", *(random_pattern(rng, rng.randrange(depth), names) for _ in range(3)))
    return (kind, random_pattern(rng, depth - 1, names), random_pattern(rng, rng.randrange(depth), names))


def bound(pattern: Pattern) -> set[str]:
    kind = pattern[0]
    if kind == "event":
        return variables(pattern)
    if kind in ("within", "where"):
        return bound(pattern[1])
    if kind == "or":
        return bound(pattern[1]) & bound(pattern[2])
    if kind == "not":
        return bound(pattern[2]) | bound(pattern[3])
    return bound(pattern[1]) | bound(pattern[2])


def run(source: str, facts: Facts, save: bool = False) -> Facts:
    program = presage.parse(source, "p.etalis")
    known = {each.predicate for each in program.inputs}
    reasoner = presage.Reasoner(program)
    found: Facts = set()
    for now in sorted({when[1] for _, _, when in facts}):
        ending = [
            (name, arguments, when[0] if when[0] == when[1] else (*when, "[]"))
            for name, arguments, when in sorted(facts, key=repr)
            if when[1] == now and name in known
        ]
        for answer in reasoner.push(ending, now=now):
            assert answer.status == "confirmed" and answer.key == answer.answer
            when = (answer.time, answer.time) if answer.time is not None else (answer.start, answer.end)
            told = (answer.predicate, answer.arguments, when)
            assert told not in found, "told twice"
            found.add(told)  # type: ignore[arg-type]
        if save:
            reasoner = presage.Reasoner.restore(program, reasoner.save())
    return found


@pytest.mark.parametrize("seed", range(120))
def test_random_rules(seed: int) -> None:
    rng = random.Random(seed)
    rules = []
    names = ["a", "b", "c"]
    for name in ("h", "g"):
        pattern = random_pattern(rng, rng.choice([1, 2, 2, 3]), names)
        head = tuple(sorted(bound(pattern)))[:1] if name == "h" else ()
        if name == "h" and not head:
            continue
        rules.append((name, head, pattern))
        names = [*names, name] if name == "h" else names
    if not rules:
        return
    source = "".join(
        f"{name}{f'({chr(44).join(head)})' if head else ''} <- {text(pattern)}.\n" for name, head, pattern in rules
    ) + "".join(f"print_trigger({name}/{len(head)}).\n" for name, head, _ in rules)
    facts: Facts = set()
    for _ in range(rng.randrange(4, 14)):
        name = rng.choice("aabbc")
        low = rng.randrange(8)
        when = (low, low + rng.choice([0, 0, 1, 2, 4]))
        facts.add((name, tuple(rng.choice(VALUES) for _ in range(2 if name == "c" else 1)), when))
    try:
        ours = run(source, facts, save=seed % 4 == 0)
    except ProgramError as refused:
        assert "S103" in str(refused) or "S102" in str(refused)
        return
    assert ours == judge(rules, facts), source


def told(source: str, *facts: tuple[str, Any, Any]) -> list[str]:
    reasoner = presage.Reasoner(presage.parse(source, "p.etalis"))
    ends = [when[1] if isinstance(when, tuple) else when for _, _, when in facts]
    found: list[str] = []
    for now in sorted(set(ends)):
        ending = [fact for fact, end in zip(facts, ends, strict=True) if end == now]
        found += [each.answer for each in reasoner.push(ending, now=now)]
    return found


def test_events_are_not_joined() -> None:
    assert told("e(X) <- a(X).", ("a", ("k",), (1, 4, "[]")), ("a", ("k",), (3, 5, "[]")), ("a", ("k",), 4)) == [
        "e(k)@4",
        "e(k)@[1,4]",
        "e(k)@[3,5]",
    ]


def test_values() -> None:
    source = "s(X, Z) <- a(X) 'SEQ' b(Y) WHERE (Z = X + 2 * Y, Z =< 7, Y \\= 0) within 10."
    assert told(source, ("a", (1,), 0), ("b", (2,), 1), ("b", (0,), 2), ("b", (3,), 3), ("b", (4,), 20)) == [
        "s(1, 5)@[0,1]",
        "s(1, 7)@[0,3]",
    ]


def test_recursion() -> None:
    found = told("run(X) <- a(X). run(X) <- run(X) MEETS a(X).\nprint_trigger(run/1).", ("a", ("k",), (0, 1, "[]")),
                 ("a", ("k",), (1, 3, "[]")), ("a", ("k",), (3, 4, "[]")))  # fmt: skip
    assert sorted(found) == [
        "run(k)@[0,1]", "run(k)@[0,3]", "run(k)@[0,4]", "run(k)@[1,3]", "run(k)@[1,4]", "run(k)@[3,4]"
    ]  # fmt: skip


def test_what_no_rule_uses_is_answered() -> None:
    assert told("m <- a. top <- m SEQ b.", ("a", (), 0), ("b", (), 1)) == ["top@[0,1]"]


def test_files(tmp_path: Path) -> None:
    import json
    import subprocess
    import sys

    program, facts = tmp_path / "fire.etalis", tmp_path / "facts.jsonl"
    program.write_text("fire(R) <- smoke(R) OVERLAPS heat(R).\n")
    facts.write_text(
        '{"pred": "smoke", "args": ["k"], "from": 1, "to": 5}\n{"pred": "heat", "args": ["k"], "from": 4, "to": 9}\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "presage", "run", str(program), "--facts", str(facts)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout)
    assert line["answer"] == line["key"] == "fire(k)@[1,9]" and line["now"] == 9
    assert line["because"] == ["smoke(k)@[1,5]", "heat(k)@[4,9]"] and line["bindings"] == {"R": "k"}


def test_memory_is_bounded_by_within() -> None:
    reasoner = presage.Reasoner(presage.parse("e(X) <- a(X) SEQ b(X) WITHIN 5.", "p.etalis"))
    for now in range(5000):
        reasoner.push([("a", (now % 7,), now)], now=now)
    assert sum(len(store) for part in reasoner.engine.memory()["matches"] for store in part) < 2500  # type: ignore[attr-defined]


def test_triggers_as_etalis_has_them() -> None:
    """Its own examples ask for events that come in, and for all there are (github.com/sspider/etalis, examples)."""
    rules = "c(X) <- a(X) seq b(X).\nd(X) <- c(X) seq a(X).\n"
    asked = {
        "print_trigger(a/1). print_trigger(c/1).": ["c"],
        "print_trigger(a/1). print_trigger(b/1).": ["d"],
        "print_trigger(_/_).": ["c", "d"],
        "print_trigger(_).": ["c", "d"],
        "print_trigger(all_defined_events).": ["c", "d"],
        "print_trigger(_/1).": ["c", "d"],
        "print_trigger(c/_).": ["c"],
    }
    for triggers, expected in asked.items():
        program = presage.parse(rules + triggers, "t.etalis")
        assert [each.atom.predicate for each in program.queries] == expected, triggers


def test_what_is_absent_may_have_variables_of_its_own_on_either_side() -> None:
    rule = "e(X) <- NOT(a(Y) OR b)[c(X), d(X)]."
    events = [("c", (1,), 0), ("c", (2,), 1), ("a", (7,), 2), ("c", (3,), 3), ("d", (2,), 4), ("b", (), 5)]
    events += [("c", (1,), 6), ("d", (3,), 7), ("d", (1,), 8)]
    reasoner = presage.Reasoner(presage.parse(rule, "p.etalis"))
    told = [each.answer for fact in events for each in reasoner.push([fact], now=fact[2])]
    assert told == ["e(1)@[6,8]"]
