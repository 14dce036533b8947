"""Small programs whose answers were worked out by hand from the definitions, a table for each command.

They hold what a user is promised in the corners: delays of some facts only, evidence that is lost and comes back,
bounds that are open or closed, windows at the start of the stream, and answer streams of two or three rules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import presage
from presage.cli import main

FACT = re.compile(r"(\w+)\(([^)]*)\)@(?:([\[(])([^,]+),([^\])]+)([\])])|([^\s>]+))(?:>(\S+))?")


def value(text: str) -> Any:
    return json.loads(text) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else text


def entry(found: re.Match[str]) -> dict[str, Any]:
    """A fact as `p(a,3)@1` or `p(a)@[1,5)`, with `>2` where it arrives at 2."""
    name, arguments, opening, low, high, closing, time, arrives = found.groups()
    fact: dict[str, Any] = {"pred": name, "args": [value(each) for each in arguments.split(",") if each]}
    if opening is None:
        fact["time"] = value(time)
    else:
        fact |= {"from": value(low), "to": value(high), "bounds": opening + closing}
    return fact if arrives is None else fact | {"arrives": value(arrives)}


def way(found: dict[str, Any]) -> str:
    text = "".join(f" {word} {', '.join(found[word])}" for word in ("because", "needs", "unless") if found[word])
    by = "" if found["decided_by"] is None else f" by {found['decided_by']}"
    return text + by + ("" if found["confidence"] is None else f" likely {found['confidence']:.4f}")


def told(line: dict[str, Any]) -> str:
    if "holds" in line:
        return f"{line['at']}: {line['holds']}"
    if "facts" in line:
        return ", ".join(line["facts"])
    if "status" not in line:
        return f"{line['at']}: " + ", ".join(f"{name} = {bound}" for name, bound in line["bindings"].items())
    if "answer" not in line:
        return f"{line['now']}: {line['status']}"
    others = "".join(f" |{way(each)}" for each in line.get("ways", ())[1:])
    return f"{line['now']}: {line['status']} {line['answer']}{way(line)}{others}"


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def answers(program: str, facts: str, command: str, *options: str) -> list[str]:
        (tmp_path / "program.psg").write_text(program)
        lines = [json.dumps(entry(found)) for found in FACT.finditer(facts)]
        assert len(lines) == len(facts.split())
        (tmp_path / "facts.jsonl").write_text("".join(f"{line}\n" for line in lines))
        status = main(
            [command, str(tmp_path / "program.psg"), "--facts", str(tmp_path / "facts.jsonl"), "--json", *options]
        )
        printed = capsys.readouterr()
        assert status == 0, printed.err
        return [told(json.loads(line)) for line in printed.out.splitlines()]

    return answers


CHANGES = {
    "of two delays that match, the one declared last": (
        "timeline discrete. input p(x) where x = k delay 3. input p(x) delay 1. "
        "q(X)@T :- p(X)@T, p(X)@T+1. query q(X).",
        "p(k)@0",
        ["0: possible q(k)@0 because p(k)@0 needs p(k)@1 by 2", "2: refuted q(k)@0"],
    ),
    "a fact over an interval is in time until its start and the delay": (
        "timeline discrete. input p(x) delay 1. q(X)@T :- p(X)@T, p(X)@T+1. query q(X).",
        "p(k)@[1,2]>2 p(m)@[1,2]>3",
        [
            "2: confirmed q(k)@1 because p(k)@1, p(k)@2",
            "2: possible q(k)@2 because p(k)@2 needs p(k)@3 by 4",
            "4: refuted q(k)@2",
        ],
    ),
    "evidence that is lost and comes back": (
        "timeline discrete. input a(x) delay 1. input b(x) delay 3. input c(x) delay 3. input d(x) delay 1. "
        "q(X) :- a(X), b(X), d(X). q(X) :- c(X), b(X). query q(X).",
        "a(k)@0 c(k)@0>2 b(k)@0>3",
        [
            "0: possible q(k)@0 because a(k)@0 needs b(k)@0, d(k)@0 by 3",
            "1: unsupported q(k)@0",
            "2: possible q(k)@0 because c(k)@0 needs b(k)@0 by 3",
            "3: confirmed q(k)@0 because b(k)@0, c(k)@0",
        ],
    ),
    "the way with the fewest premises first, though it is settled later": (
        "timeline discrete. input a(x) delay 1. input b(x) delay 3. input c(x) delay 3. input d(x) delay 1. "
        "q(X) :- a(X), b(X), d(X). q(X) :- c(X), b(X). query q(X).",
        "b(k)@0",
        [
            "0: possible q(k)@0 because b(k)@0 needs c(k)@0 by 3 | because b(k)@0 needs a(k)@0, d(k)@0 by 1",
            "1: possible q(k)@0 because b(k)@0 needs c(k)@0 by 3",
            "3: refuted q(k)@0",
        ],
    ),
    "a premise set larger than another's is not shown": (
        "timeline discrete. input a(x) delay 1. input b(x) delay 1. input c(x) delay 1. "
        "q(X) :- a(X), b(X), c(X). q(X) :- a(X), b(X). query q(X).",
        "a(k)@0 c(k)@0>1",
        ["0: possible q(k)@0 because a(k)@0 needs b(k)@0 by 1", "1: refuted q(k)@0"],
    ),
    "times that are still open have bounds": (
        "timeline discrete. input a(x) delay 3. q(X) :- a(X)@S, S <= now. query q(X).",
        "a(k)@4 a(k)@2>5",
        [
            "4: confirmed q(k)@4 because a(k)@4",
            "5: confirmed q(k)@2 because a(k)@2",
            "5: confirmed q(k)@3 because a(k)@2",
            "5: confirmed q(k)@5 because a(k)@2",
            "6: confirmed q(k)@6 because a(k)@2",
            "7: confirmed q(k)@7 because a(k)@2",
            "8: confirmed q(k)@8 because a(k)@2",
        ],
    ),
    "times that are still open are bounded by one another": (
        "timeline discrete. input a(x). input b(x). q(X) :- a(X)@S, b(X)@R, S <= now, R > now + 1. query q(X).",
        "a(k)@2 b(k)@5",
        [
            "2: possible q(k)@T because a(k)@2 needs b(k)@T1 unless T < 2, T1 < T + 2",
            "5: confirmed q(k)@2 because a(k)@2, b(k)@5",
            "5: confirmed q(k)@3 because a(k)@2, b(k)@5",
        ],
    ),
    "likely as of now, given what has not arrived": (
        "timeline discrete. input a(x). input b(x) rate 0.25 delay {0: 0.7, 1: 0.2}. q(X) :- a(X), b(X). query q(X).",
        "a(k)@0",
        ["0: possible q(k)@0 because a(k)@0 needs b(k)@0 by 1 likely 0.0606", "1: refuted q(k)@0"],
    ),
    "absence is likely as its fact is not": (
        "timeline discrete. input a(x). input c(x) rate 0.2 loss 0.5. q(X)@T :- a(X)@T, not c(X)@T+1. query q(X).",
        "a(k)@0",
        [
            "0: possible q(k)@0 because a(k)@0 needs not c(k)@1 by 1 likely 0.9000",
            "1: confirmed q(k)@0 because a(k)@0, not c(k)@1",
        ],
    ),
    "absence of what is derived is settled with all that it hangs on": (
        "timeline discrete. input a(x). input b(x). input c(x) delay 1. p(X) :- b(X), not c(X). "
        "q(X)@T :- a(X)@T, not p(X)@T+1. query q(X).",
        "a(k)@0 b(k)@1 a(m)@0",
        [
            "0: possible q(k)@0 because a(k)@0 needs not p(k)@1 by 2",
            "0: possible q(m)@0 because a(m)@0 needs not p(m)@1 by 2",
            "1: confirmed q(m)@0 because a(m)@0, not p(m)@1",
            "2: refuted q(k)@0",
        ],
    ),
    "absence alone is evidence, for what nobody has named yet": (
        "timeline discrete. input a(x). input b(x). q(X)@T :- b(X)@T+1, not a(X)@T. query q(X).",
        "a(k)@0 b(m)@1 a(m)@1",
        [
            "0: possible q(X)@0 because not a(X)@0 needs b(X)@1 unless X = k by 1",
            "1: confirmed q(m)@0 because not a(m)@0, b(m)@1",
            "1: possible q(X)@1 because not a(X)@1 needs b(X)@2 unless X = m by 2",
            "2: possible q(X)@2 because not a(X)@2 needs b(X)@3 by 3",
        ],
    ),
    "what the open variables must not be": (
        "timeline discrete. input a(x). input b(y, v) delay 1. "
        "q(X, Y)@T :- a(X)@T, b(Y, V)@T+1, V > 5, Y != X. query q(X, Y).",
        "a(k)@0 b(k,9)@1 b(m,5)@1 b(n,6)@1",
        [
            "0: possible q(k, Y)@0 because a(k)@0 needs b(Y, V)@1 unless V <= 5, Y = k by 2",
            "1: confirmed q(k, n)@0 because a(k)@0, b(n, 6)@1",
        ],
    ),
    "no instance with a pinned time before the start": (
        "timeline discrete. input a(x). input b(x). q(X)@T :- b(X)@T, not a(X)@T-1. query q(X).",
        "b(k)@0",
        [
            "0: possible q(X)@1 because not a(X)@0 needs b(X)@1 by 1",
        ],
    ),
    "a window ends where the stream begins": (
        "timeline discrete. input a(x). q(X) :- window(1) all a(X). query q(X).",
        "a(k)@0",
        [
            "0: confirmed q(k)@0 because a(k)@0",
            "0: possible q(k)@1 because a(k)@0 needs a(k)@1 by 1",
            "1: refuted q(k)@1",
        ],
    ),
    "whole times of the dense timeline are whole": (
        "timeline dense. input a(x). input b(x) delay 1/2. q(X)@T :- a(X)@T, b(X)@T+1/2. query q(X).",
        "a(k)@1",
        ["1: possible q(k)@1 because a(k)@1 needs b(k)@1.5 by 2", "2: refuted q(k)@1"],
    ),
    "all models or none": (
        "timeline discrete. input a(x). input b(x). p(X) | r(X) :- a(X). s(X) :- p(X). s(X) :- r(X). "
        ":- b(X), s(X). query s(X). query p(X).",
        "a(k)@0 b(k)@1 a(k)@1",
        ["0: confirmed s(k)@0", "1: inconsistent"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes(name: str, ask: Any) -> None:
    program, facts, expected = CHANGES[name]
    assert ask(program, facts, "run", *(["--everybody"] if "(X)@" in " ".join(expected) else [])) == expected


DENSE = [
    ("once(1,2] p(X)", "p(k)@[0,1) p(m)@3", "k (1,3) m (4,5]"),
    ("once[0,1/3] p(X)", "p(k)@0.5", "k [0.5,5/6]"),
    ("historically[0,1) p(X)", "p(k)@(2,4) p(m)@2", "k [3,4)"),
    ("historically[0,1] p(X)", "p(k)@(2,4) p(m)@[0,2]", "k (3,4) m [1,2]"),
    ("always[1,2) p(X)", "p(k)@(2,5]", "k (1,3]"),
    ("eventually(1,2) p(X)", "p(k)@[2,5]", "k (0,4)"),
    ("p(X) since[0,2] r(X)", "p(k)@(1,6] r(k)@1 r(m)@3", "k [1,3] m 3"),
    ("p(X) since(0,2] r(X)", "p(k)@[3,4) r(k)@3 p(m)@[3,4] r(m)@[0,3)", "k (3,4]"),
    ("p(X) until[1,3) r(X)", "p(k)@(2,5) r(k)@5", "k (2,4]"),
    ("once[0,1] historically[0,1] p(X)", "p(k)@[1,2]", "k [2,3]"),
]


@pytest.mark.parametrize(("body", "facts", "expected"), DENSE, ids=[body for body, _, _ in DENSE])
def test_bounds_of_dense_operators(body: str, facts: str, expected: str, ask: Any) -> None:
    program = f"timeline dense. q(X) :- {body}. query q(X)."
    found = ask(program, facts, "run", "--emit", "confirmed", "--until", "20")
    times = [re.sub(r".*q\((\w)\)@", r"\1 ", line) for line in found]
    assert " ".join(sorted(times)) == expected


WINDOWS = [
    ("window(3) some p(X)", 4, "k m"),
    ("window(1) all p(k)", 2, "True"),
    ("window(5) all not r(k)", 2, "True"),
    ("window(3, hop 3) some p(X)", 4, "k"),
    ("window(1, ahead 2, hop 3) some p(X)", 5, "k m"),
    ("window(rows 2) some p(X)", 6, "n"),
    ("window(rows 1, ahead 1) some r(X)", 4, "k"),
    ("window(only r(_)) some (p(X) or r(X))", 6, "k"),
    ("window(2) some window(2) some p(X)", 6, "m n"),
    ("window(2) some reset window(2) some p(X)", 6, "k m n"),
    ("window(1) p(k)@1", 6, "False"),
    ("window(1) reset p(k)@1", 6, "True"),
    ("some (p(X) and p(X)@now-2)", 6, "m"),
    ("window(2) once[1,4] p(X)", 4, "k"),
]


@pytest.mark.parametrize(("formula", "at", "expected"), WINDOWS, ids=[formula for formula, _, _ in WINDOWS])
def test_windows_of_a_question(formula: str, at: int, expected: str, ask: Any) -> None:
    program = "timeline discrete. input p(x). input r(x). q(X) :- p(X), r(X)."
    found = ask(program, "p(k)@1 p(k)@2 p(m)@4 r(k)@5 p(n)@6", "ask", "--at", str(at), formula)
    assert " ".join(line.replace(f"{at}: ", "").replace("X = ", "") for line in found) == expected


def test_rows_of_one_time_are_dropped_in_canonical_order(ask: Any) -> None:
    program = "timeline discrete. input p(x). input a(x). q(X) :- window(rows 3) some (p(X) or a(X)). query q(X)."
    found = ask(program, "a(z)@0 p(10)@0 p(9)@0 p(b)@0", "ask", "--at", "0", "q(X)")
    assert found == ["0: X = 9", "0: X = 10", "0: X = b"]


MODELS = {
    "p(X) | r(X) :- a(X).": ["p(k)@0", "r(k)@0"],
    "p(X) :- a(X), not r(X). r(X) :- a(X), not p(X).": ["p(k)@0", "r(k)@0"],
    "p(X) :- a(X), not p(X).": [],
    "p(X) :- a(X), not not p(X).": [""],
    "p(X) | r(X) :- a(X). p(X) :- r(X). r(X) :- p(X).": ["p(k)@0, r(k)@0"],
    "p(X) | r(X) :- a(X). :- p(k).": ["r(k)@0"],
    "reading now. d(X) :- a(X). q(X) :- window(rows 1) some a(X).": ["d(k)@0"],
    "exists Y: r(X, Y), s(Y) :- a(X).": ["r(k, _:1)@0, s(_:1)@0"],
}


@pytest.mark.parametrize("rules", MODELS)
def test_models(rules: str, ask: Any) -> None:
    assert ask(f"timeline discrete. input a(x). {rules}", "a(k)@0", "models", "--at", "0") == MODELS[rules]


def test_invented_values_last_or_not(ask: Any) -> None:
    program = "timeline discrete. input a(x). exists Y: r(X, Y) :- a(X). query r(X, Y)."
    once = ask(program, "a(k)@0 a(k)@1", "run", "--emit", "confirmed")
    assert once == ["0: confirmed r(k, _:1)@0", "1: confirmed r(k, _:2)@1"]
    lasting = ask(program.replace("exists Y", "exists lasting Y"), "a(k)@0 a(k)@1", "run", "--emit", "confirmed")
    assert [line[line.index("r(") :].split("@")[0] for line in lasting] == ["r(k, _:1)"] * len(lasting)


def test_a_number_that_does_not_fit_is_shown_as_it_was_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.psg").write_text("timeline discrete. input p(x: int). q(X) :- p(X).")
    (tmp_path / "facts.jsonl").write_text('{"pred": "p", "args": [1.5], "time": 0}\n')
    assert main(["run", str(tmp_path / "program.psg"), "--facts", str(tmp_path / "facts.jsonl")]) == 1
    assert "facts.jsonl:1: 1.5 is not a value of the column `x`, which is int" in capsys.readouterr().err


TICKING = "b(k)@0 b(k)@1 b(k)@2 b(k)@3 b(k)@4 b(k)@5"
BOTH = [
    ("input a(x). input b(x). q(X) :- b(X), window(2) some once[1,2] a(X).", f"a(k)@0 {TICKING}", "1 2"),
    ("input a(x). input b(x). q(X) :- b(X), window(2) some a(X)@T.", f"a(k)@0 {TICKING}", "0 1 2"),
    ("input a(x). input b(x). input c(x). q(X) :- b(X), once[0,1] (a(X)@now and c(X)).",
     f"a(k)@2 c(k)@1 {TICKING}", "2"),
    ("input a(x). input b(x). input c(x). q(X) :- b(X), once[0,1] (a(X)@T and c(X)).",
     f"a(k)@0 c(k)@2 {TICKING}", "2 3"),
    ("input a(x). input b(x). input c(x). q(X) :- b(X), (c(X) or a(X)@now-1).", f"a(k)@2 c(k)@0 {TICKING}", "3"),
    ("input a(x). static s(x). s(k). q(X)@T :- a(X)@T, s(X)@T-3.", "a(k)@1 a(k)@3", "3"),
    ("input c(x). always[1] q(X) :- eventually[1] c(X).", "c(k)@0 c(k)@3", "3"),
    ("input b(x). d(X) :- b(X). q(X) :- window(2) all d(X).", "b(k)@0 b(k)@1", "0 1"),
    ("input c(x). q(X) :- window(1) all c(X), not historically[0,1] c(X).", "c(k)@0 c(k)@1", "0"),
    ("input tram(x). q(X)@T+3 :- tram(X)@T.", "tram(k)@1", "4"),
    ("input a(x). input b(x). d(X) :- a(X)@3. q(X) :- b(X), not d(X).", TICKING, "0 1 2 3 4 5"),
    ("input a(x). input b(x). input c(x). d(X) :- c(X), a(X)@3. q(X) :- b(X), not d(X).",
     f"c(k)@1 a(k)@3 {TICKING}", "0 2 3 4 5"),
    ("input b(x). q(X) :- b(X), now != 2.", TICKING, "0 1 3 4 5"),
    ("input b(x). input c(x). q(X) :- b(X), once[0,2] (c(X) and now >= 3).", f"c(k)@1 {TICKING}", "3"),
    ("input b(x). q(X)@T+1 :- b(X)@T, now = 2.", "b(k)@0 b(k)@3", "1 4"),
    ("input b(x). q(X)@T :- b(X)@T, T >= now + 3, T <= now + 4.", TICKING, "3 4 5"),
    ("input b(x). q(X)@T :- b(X)@T, T = now + 3.", TICKING, "3 4 5"),
    ("static s(x). s(k). input b(x). q(X)@now+1 :- s(X), not b(X)@now+1.", "b(k)@1 b(k)@3", "2"),
    ("input a(x). input b(x). q(X)@T :- b(X)@T, a(X)@S, S = T + 1, S != 3.",
     f"a(k)@2 a(k)@3 a(k)@4 {TICKING}", "1 3"),
    ("static s(x). s(k). input b(x). input c(x). q(X) :- s(X), not c(X)@3.", "b(k)@0 b(k)@1", "0 1 2 3 4"),
    ("input b(x). q(X) :- b(X)@T, T = now - 1, T != 2.", "b(k)@1 b(k)@2 b(k)@3", "2 4"),
]  # fmt: skip


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
@pytest.mark.parametrize(("rules", "facts", "expected"), BOTH, ids=[rules for rules, _, _ in BOTH])
def test_what_is_confirmed_does_not_hang_on_what_is_emitted(
    rules: str, facts: str, expected: str, emit: str, ask: Any
) -> None:
    found = ask(f"timeline discrete. {rules} query q(X).", facts, "run", "--emit", emit)
    times: set[int] = set()
    for line in found:
        if " confirmed " in line:
            at = re.search(r"q\(k\)@(?:\[(\d+),(\d+)\]|(\d+))", line)
            assert at is not None
            times |= {int(at[3])} if at[3] else set(range(int(at[1]), int(at[2]) + 1))
    assert " ".join(map(str, sorted(times))) == expected


PINNED_QUERIES = [
    ("timeline discrete. input r(x). e(X) :- r(X). query e(X)@4.", "r(a)@3 r(a)@4 r(b)@[3,5] r(c)@5", "a 4 b 4"),
    ("timeline dense. input r(x). e(X) :- once[0,1] r(X). query e(X)@1/3.", "r(a)@0 r(b)@[0,2] r(c)@2", "a 1/3 b 1/3"),
    (
        "timeline dense. input r(x). e(X) :- once[0,1] r(X). query e(X)@1/3. query e(b)@2. query e(c).",
        "r(a)@0 r(b)@[0,2] r(c)@2",
        "a 1/3 b 1/3 b 2 c [2,3]",
    ),
]


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
@pytest.mark.parametrize(("program", "facts", "expected"), PINNED_QUERIES, ids=["discrete", "dense", "several"])
def test_a_query_at_a_time_is_answered_for_that_time(
    program: str, facts: str, expected: str, emit: str, ask: Any
) -> None:
    found = ask(program, facts, "run", "--emit", emit, "--until", "5")
    answers = (re.search(r"confirmed e\((\w)\)@(\S+)", line) for line in found)
    assert " ".join(sorted(f"{each[1]} {each[2]}" for each in answers if each is not None)) == expected


def test_a_fixed_time_holds_up_what_hangs_on_its_own_absence_until_it_is_past(ask: Any) -> None:
    program = (
        "timeline discrete. input t. input p. on@T+1 :- t@T, not on@T, not p@2. on@T+1 :- on@T, not t@T. query on."
    )
    found = ask(program, "t()@0 t()@4 t()@6", "run", "--emit", "confirmed", "--until", "7")
    assert found == [
        "2: confirmed on@[1,2]",
        "3: confirmed on@3",
        "4: confirmed on@4",
        "7: confirmed on@7",
    ]


@pytest.mark.parametrize("comparison", ["T != now", "T > 2 * now, now > 0", "X > now"])
def test_a_comparison_with_a_time_of_which_nothing_else_is_said_is_not_left_open(comparison: str, ask: Any) -> None:
    found = ask(f"timeline discrete. input b(x). q(X)@T :- b(X)@T, {comparison}. query q(X).", "b(4)@2 b(4)@3", "run")
    expected = {"T != now": {2, 3}, "T > 2 * now, now > 0": {3}, "X > now": {2, 3}}[comparison]
    assert {int(line.rsplit("@")[1]) for line in found} == expected
    assert all("confirmed q(4)@" in line and "unless" not in line for line in found)


def test_what_lies_ahead_is_told_when_it_is_known(ask: Any) -> None:
    found = ask("timeline discrete. input a(x). q(X) :- a(X). query q(X).", "a(k)@[3,5]>0", "run")
    assert [line[:19] for line in found] == ["0: confirmed q(k)@3", "0: confirmed q(k)@4", "0: confirmed q(k)@5"]


def test_confidence_moves_with_time_alone(ask: Any) -> None:
    program = "timeline discrete. input a(x) rate 0.5 delay {0: 0.5, 1: 0.25, 2: 0.25}. input b(x). q(X) :- b(X), a(X)."
    found = ask(f"{program} query q(X).", "b(k)@0", "run", "--confidence-step", "0.01")
    assert [line.rsplit("by 2 ")[-1] for line in found] == ["likely 0.3333", "likely 0.2000", "2: refuted q(k)@0"]


def test_conditions_are_written_as_people_do(ask: Any) -> None:
    program = (
        "timeline discrete. input a(x). input b(v) delay 1. q(X, V)@T :- a(X)@T, b(V)@T+1, 5 < V, X != V, X + 1 < V."
    )
    found = ask(f"{program} query q(X, V).", "a(6)@0", "run", "--until", "0")
    assert found == ["0: possible q(6, V)@0 because a(6)@0 needs b(V)@1 unless V <= 5, V <= 7, V = 6 by 2"]


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
@pytest.mark.parametrize(
    ("condition", "facts"),
    [
        ("S = V + W", "p(a,high)@1"),
        ("S = V + W", "p(a,2)@1 p(a,high)@2"),
        ("S = W / V", "p(a,0)@1 p(a,3)@2"),
        ("S = W, W + 1 > V", "p(a,high)@1"),
    ],
)
def test_what_cannot_be_calculated_is_no_answer(timeline: str, condition: str, facts: str, ask: Any) -> None:
    """A text in a sum and a division by 0 have no value: nothing is confirmed with an open variable in its place."""
    second = "p(X, W)@T+1" if timeline == "discrete" else "eventually[1] p(X, W)"
    time = "@T" if timeline == "discrete" else ""
    program = (
        f"timeline {timeline}. input p(x, v). r(X, S){time} :- p(X, V){time}, {second}, {condition}. query r(X, S)."
    )
    lines = ask(program, facts, "run", "--until", "4")
    assert not [line for line in lines if "confirmed" in line or "high" in line or "/ 0" in line], lines


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
@pytest.mark.parametrize(
    ("rule", "discrete", "dense"),
    [
        ("q(X) :- p(X, N), now > 2.", "q(a)@3", "q(a)@3"),
        ("q(X) :- p(X, N), N = now.", "q(b)@1", "q(b)@1"),
        ("q(S) :- p(X, N), S = now + N.", "q(2)@1 q(7)@3", "q(2)@1 q(7)@3"),
        ("q(X) :- once[0,2] (p(X, N) and now > 4).", "q(a)@5", "q(a)@(4,5]"),
    ],
)
def test_now_is_compared_with_values(rule: str, discrete: str, dense: str, emit: str, ask: Any) -> None:
    for timeline, expected in (("discrete", discrete), ("dense", dense)):
        program = f"timeline {timeline}. input p(x, n). {rule} query q(X)."
        lines = ask(program, "p(b,1)@1 p(a,4)@3", "run", "--emit", emit, "--until", "8")
        assert [line.split(" because")[0].split("confirmed ")[1] for line in lines] == expected.split()


def test_a_time_as_a_value_of_the_head(ask: Any) -> None:
    program = "timeline discrete. input p(x). q(T)@T :- p(X)@T. query q(X)."
    assert ask(program, "p(a)@1 p(a)@3", "run", "--emit", "confirmed") == ["1: confirmed q(1)@1", "3: confirmed q(3)@3"]
    assert ask(program.replace("q(X).", "q(3)."), "p(a)@1 p(a)@3", "run", "--emit", "confirmed") == [
        "3: confirmed q(3)@3"
    ]


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
def test_a_pinned_query_asks_for_one_time(timeline: str, ask: Any) -> None:
    program = f"timeline {timeline}. input p(x). q(X) :- once[0,1] p(X). query q(X)@3."
    confirmed = ask(program, "p(a)@1 p(b)@2 p(c)@3 p(d)@4", "run", "--emit", "confirmed", "--until", "6")
    assert confirmed == ["2: confirmed q(b)@3", "3: confirmed q(c)@3"]


@pytest.mark.parametrize("rules", ["static s(x). s(a). q(X) :- s(X), not p(X).", "q(a) :- not p(a)."])
def test_absence_alone_is_told_on_dense_time(rules: str, ask: Any) -> None:
    lines = ask(f"timeline dense. input p(x). {rules} query q(X).", "p(a)@1", "run", "--until", "3")
    assert lines == [
        "1: confirmed q(a)@[0,1) because not p(a)@[0,1)",
        "3: confirmed q(a)@(1,3] because not p(a)@(1,3]",
    ]


def test_pushing_later_loses_nothing() -> None:
    absent = "timeline discrete. input a(x). input b(x) delay 2. q(X)@T :- a(X)@T, not b(X)@T+1. query q(X)."
    reasoner = presage.Reasoner(presage.parse(absent))
    assert [str(each) for each in reasoner.push([("a", ("k",), 0)], now=0)] == ["possible q(k)@0"]
    later = reasoner.push([], now=9)
    assert [(str(each), each.now) for each in later] == [("confirmed q(k)@0", 3)]
    missing = "timeline discrete. input a(x) delay 1. q(X)@T :- a(X)@T, a(X)@T+1. query q(X)."
    reasoner = presage.Reasoner(presage.parse(missing))
    reasoner.push([("a", ("k",), 0)], now=0)
    assert [(str(each), each.now) for each in reasoner.push([("a", ("k",), 5)], now=5)] == [
        ("refuted q(k)@0", 2),
        ("possible q(k)@5", 5),
    ]


def test_steps_are_counted_from_the_start_whatever_is_told(ask: Any) -> None:
    """What time alone decides is confirmed when it is decided, though nothing has arrived."""
    program = "timeline discrete. input p(x). static s(x). s(a). e(X) :- s(X), not p(X). query e(X)."
    told = ask(program, "p(a)@2", "run", "--emit", "confirmed")
    assert told == ["0: confirmed e(a)@0", "1: confirmed e(a)@1"]


def test_the_time_of_a_step_may_be_a_number_of_numpy() -> None:
    reasoner = presage.Reasoner(presage.parse("input p(x). e(X) :- p(X). query e(X)."))
    assert [str(each) for each in reasoner.push([("p", ("a",), 3)], now=np.int64(3))] == ["confirmed e(a)@3"]


def test_what_is_no_program_and_no_facts_is_told() -> None:
    program: Any = "e(X) :- p(X)."
    with pytest.raises(presage.PresageError, match=r"presage\.parse"):
        presage.Reasoner(program)
    facts: Any = None
    with pytest.raises(presage.PresageError, match="tuples such as"):
        presage.Reasoner(presage.parse(program)).push(facts, 0)


@pytest.mark.parametrize(
    ("program", "emit"),
    [
        ("timeline discrete. input p(x) delay 1. e(X)@T+1 :- p(X)@T, p(X)@T+1. query e(X).", None),
        ("timeline discrete. input p(x). e(X) :- p(X). query e(X).", "confirmed"),
        ("timeline dense. input p(x). e(X) :- once[0,1/3] p(X). query e(X).", "confirmed"),
        ("timeline dense. input p(x). e(X) :- p(X), eventually[0,1/2] p(X). query e(X).", "changes"),
        ("timeline discrete. input p(x). e(X) | f(X) :- p(X). g(X) :- e(X). g(X) :- f(X). query g(X).", None),
        ("timeline discrete. input p(x). exists Y: e(X, Y) :- p(X). query e(X, Y).", "confirmed"),
    ],
)
def test_what_stands_is_the_same_after_restoring(program: str, emit: str | None) -> None:
    reasoner = presage.Reasoner(presage.parse(program), emit=emit)
    for now in (0, 1):
        reasoner.push([("p", ("a",), now), ("p", (1,), now)], now)
    stands = reasoner.answers()
    assert any(answer.status == "confirmed" for answer in stands)
    again = presage.Reasoner.restore(reasoner.program, reasoner.save())
    assert [each.to_json() for each in again.answers()] == [each.to_json() for each in stands]
    twice = presage.Reasoner.restore(reasoner.program, again.save())
    assert list(twice.answers()) == list(stands)
    assert list(again.push([], 2)) == list(reasoner.push([], 2)) and list(again.answers()) == list(reasoner.answers())
