"""MonPoly's formulas against the semantics of MFOTL: time points, valuations and formulas, one after the other."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.errors import ProgramError
from tests.languages.random_mfotl import SIGNATURE, VALUES, RandomFormula, random_log, text
from tests.oracle.mfotl import Judge, Rows

Log = list[tuple[int, Rows]]


def parsed(source: str, folder: Path) -> Any:
    (folder / "f.mfotl").write_text(source)
    (folder / "f.sig").write_text(SIGNATURE)
    return presage.load(folder / "f.mfotl")


def run(program: Any, log: Log, save: bool) -> set[tuple[int, tuple[Any, ...]]]:
    reasoner = presage.Reasoner(program)
    found: set[tuple[int, tuple[Any, ...]]] = set()
    now = -1
    for now, points in itertools.groupby(enumerate(log), key=lambda item: item[1][0]):
        facts: list[Any] = []
        for number, (time, rows) in points:
            facts.append(("time_point", (number,), time))
            facts += [(name, row, time) for name, row in sorted(rows)]
        _told(reasoner.push(facts, now=now), log, found)
        if save:
            reasoner = presage.Reasoner.restore(program, reasoner.save())
    _told(reasoner.push([], now=now + 100), log, found)
    return found


def _told(answers: Any, log: Log, found: set[tuple[int, tuple[Any, ...]]]) -> None:
    for answer in answers:
        line = answer.to_json()
        assert line["time"] == log[line["time_point"]][0] and answer.status == "confirmed"
        entry = (line["time_point"], answer.arguments)
        assert entry not in found, "told twice"
        found.add(entry)


REFUSED: list[int] = []


@pytest.mark.parametrize("seed", range(150))
def test_random_formulas(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    formula = RandomFormula(rng).formula(rng.choice([1, 2, 2, 3, 3, 4]), rng.choice([(), ("x",), ("x",), ("x", "y")]))
    log = random_log(rng)
    try:
        program = parsed(text(formula), tmp_path)
        ours = run(program, log, save=seed % 5 == 0)
    except ProgramError as refused:
        assert "cannot be worked out" in str(refused) or "S103" in str(refused), refused
        REFUSED.append(seed)
        return
    values = {*VALUES, 4, *(time for time, _ in log), *range(len(log))}
    assert ours == Judge(log, values).satisfying(formula), (text(formula), log)


def test_most_random_formulas_are_worked_out() -> None:
    assert len(REFUSED) < 15


def answers(source: str, *points: tuple[int, list[tuple[str, tuple[Any, ...]]]], folder: Path) -> list[str]:
    reasoner = presage.Reasoner(parsed(source, folder))
    found = []
    for now, rows in points:
        found += [each.answer for each in reasoner.push([(name, row, now) for name, row in rows], now=now)]
    return found


def test_aggregates(tmp_path: Path) -> None:
    points = [(0, [("q", (1, 5)), ("q", (1, 7)), ("q", (2, 4))])]
    told = {
        "s <- SUM y; x q(x, y)": ["satisfied(12, 1)@0", "satisfied(4, 2)@0"],
        "c <- CNT y q(_, y)": ["satisfied(3)@0"],
        "m <- MED y; x q(x, y)": ["satisfied(4, 2)@0", "satisfied(6, 1)@0"],
        "a <- AVG y (EXISTS x. q(x, y))": ["satisfied(16/3)@0"],
        "m <- MAX y; x (q(x, y) AND y < 6)": ["satisfied(4, 2)@0", "satisfied(5, 1)@0"],
        "c <- CNT x p(x)": ["satisfied(0)@0"],
        "m <- MIN x p(x)": ["satisfied(0)@0"],
    }
    for source, expected in told.items():
        assert sorted(answers(source, *points, folder=tmp_path)) == expected, source


def test_what_the_grammar_has(tmp_path: Path) -> None:
    points = [(0, [("p", (1,)), ("q", (1, 7))]), (10, [("p", (2,)), ("r", ())])]
    told = {
        "p(x) AND ONCE q(x, _)": ["satisfied(1)@0"],
        "p(x) AND y = x * 3 - 1 AND NOT y = 2": ["satisfied(2, 5)@10"],
        "q(x, y) AND z = y / 2 AND w = y MOD 2": ["satisfied(1, 7, 3, 1)@0"],
        "LET both(a, b) = q(a, b) AND p(a) IN EXISTS b. both(x, b)": ["satisfied(1)@0"],
        "p(x) AND PREVIOUS[0,10] (EXISTS y. q(y, y) OR p(y))": ["satisfied(2)@10"],
        "r() EQUIV TRUE": ["satisfied@10"],
        "p(x) AND FORALL y. (q(x, y) IMPLIES y = 7)": ["satisfied(1)@0", "satisfied(2)@10"],
        "p(?x) AND NOT ?x = 2": ["satisfied(1)@0"],
        "HISTORICALLY (EXISTS x. p(x))": ["satisfied@0", "satisfied@10"],
        "p(x) SINCE q(x, y)": ["satisfied(1, 7)@0"],
        "(* all *) p(x) # of them": ["satisfied(1)@0", "satisfied(2)@10"],
    }
    for source, expected in told.items():
        assert answers(source, *points, folder=tmp_path) == expected, source


# Formulas, logs and verdicts as in MonPoly's own tests (github.com/remolueoend/monpoly, tests/*.t).
PUBLISHED = [
    ("Int(int)", "EXISTS x. Int(x) AND y = i2s(x)", "@0 Int(-42) Int(0)", {0: {("-42",), ("0",)}}),
    ("Str(string)", "EXISTS x. Str(x) AND y = s2i(x)", '@3 Str("-42") Str("0.5") Str("+1.1")', {0: {(-42,), (0,)}}),
    ("Float(float)", "EXISTS x. Float(x) AND y = f2s(x)", "@2 Float(-42) Float(0.5)", {0: {("-42.",), ("0.5",)}}),
    ("P(string)", r'P(x) AND x MATCHES r"\(z\)*ab" (y)', '@0 P("ab") @3 P("zab") @4 P("zzzab")',
     {1: {("zab", "z")}, 2: {("zzzab", "z")}}),
    ("P(string)\nQ(string)", r'P(x) AND Q(y) AND x MATCHES r"\(z*\)\(a+\)b" (y, z)',
     '@3 P("zab")Q("zzz") @4 P("zzzab")Q("zzz")', {1: {("zzzab", "zzz", "a")}}),
    ("P(string)", r'P(x) AND x MATCHES r"\(a\)\(a*\)b" (y, y)', '@0 P("ab") @1 P("aabc")', {1: {("aabc", "a")}}),
    ("T()", "PREVIOUS T()", "@0 T\n@1 T ()\n@2", {1: {()}, 2: {()}}),
    ("T()", "NEXT TRUE", "@0 T\n@1 T ()\n@2", {0: {()}, 1: {()}}),
    ("p(int,int)", "v <- AVG y p(x,y)", "@0", {0: {(0,)}}),
    ("p(int,int)", "v <- MED y ONCE p(x,y)", "@0", {0: {(0,)}}),
    ("W(string)", "(r <- MAX x (W(x)))", "@0", {0: {("",)}}),
    ("p(int)", "LET a(s) = s <- SUM x p(x) IN a(2 + 3)", "@1 p(4) @2 p(2)(3)", {1: {()}}),
    ("A(int)\nB(int)", "(NOT (A(x) AND B(x))) SINCE B(x)", "@1 B(1) B(2) @2 A(1) B(1) A(2)",
     {0: {(1,), (2,)}, 1: {(1,), (2,)}}),
    ("P(int)\nQ(int)\nR(int,int)\nS(int)", "S(y) AND ((NOT P(y) AND Q(x)) SINCE[1,2] R(x,y))",
     "@1 R(2,1) R(2,3) @2 Q(2) P(3) S(1) S(3) @3 Q(2) S(1) S(3) @4 Q(2) S(1)", {1: {(1, 2)}, 2: {(1, 2)}}),
    ("S(string,string)", "S(x,y) AND x SUBSTRING y", '@0 S("a","bab") S("c","bab")', {0: {("a", "bab")}}),
    ("F(float)", "F(x) AND y = f2i(x)", "@0 F(2.5) F(-2.5)", {0: {(Fraction(5, 2), 2), (Fraction(-5, 2), -2)}}),
    ("I(int)", "I(x) AND y = i2f(x) / 2.", "@0 I(3)", {0: {(3, Fraction(3, 2))}}),
    ("S(string)", "S(x) AND y = s2f(x)", '@0 S("0.5")', {0: {("0.5", Fraction(1, 2))}}),
    ("F(float)", "F(x) AND y = YEAR(x) AND m = MONTH(x) AND d = DAY_OF_MONTH(x) AND s = FORMAT_DATE(x)",
     "@0 F(86400) F(1709164800)", {0: {(86400, 1970, 1, 2, "1970-01-02"), (1709164800, 2024, 2, 29, "2024-02-29")}}),
    ("I(int)", "PREV I(x)", "@0 I(1) @1 I(2) @2", {1: {(1,)}, 2: {(2,)}}),
    ("I(int)", "SOMETIMES[0,0] I(x)", "@0 I(1) @0 I(2) @2", {0: {(1,), (2,)}, 1: {(2,)}}),
    ("I(int)", "I(x) AND PAST_ALWAYS[0,1] (EXISTS y. I(y))", "@0 I(1) @1 @2 I(3) @3 I(4)", {0: {(1,)}, 3: {(4,)}}),
    ("I(int)", "I(x) AND tpts(x, y)", "@7 I(0) @9 I(0) I(1)", {0: {(0, 7)}, 1: {(1, 9)}}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("signature", "source", "log", "expected"), PUBLISHED, ids=[each[1][:40] for each in PUBLISHED]
)
def test_published_verdicts(
    signature: str, source: str, log: str, expected: dict[int, set[tuple[Any, ...]]], tmp_path: Path
) -> None:
    from presage.io.facts import Checker
    from presage.io.files import read_facts

    (tmp_path / "f.sig").write_text(signature)
    (tmp_path / "f.mfotl").write_text(source)
    (tmp_path / "f.log").write_text(log)
    program = presage.load(tmp_path / "f.mfotl")
    subject = presage.check(program).or_raise().findings.subject  # type: ignore[union-attr]
    facts = list(read_facts([tmp_path / "f.log"], Checker(subject.program, subject.predicates, False)))
    reasoner = presage.Reasoner(program)
    found: dict[int, set[tuple[Any, ...]]] = {}
    for now in sorted({fact.low for fact in facts}):
        step = [(fact.predicate, fact.arguments, fact.low) for fact in facts if fact.low == now]
        for answer in reasoner.push(step, now=now):
            found.setdefault(answer.to_json()["time_point"], set()).add(answer.arguments)
    assert found == expected


def test_division_goes_by_the_types(tmp_path: Path) -> None:
    (tmp_path / "f.sig").write_text("F(x:float)\nI(x:int)\n")
    for source, expected in {
        "F(x) AND y = x / 3.0": ["satisfied(4, 4/3)@0"],
        "I(x) AND y = x / 3": ["satisfied(4, 1)@0"],
        "I(x) AND y = i2f(x) / 8.0": ["satisfied(4, 0.5)@0"],
        "EXISTS z. F(x) AND z = x AND y = z / 8.0": ["satisfied(4, 0.5)@0"],
    }.items():
        (tmp_path / "f.mfotl").write_text(source)
        reasoner = presage.Reasoner(presage.load(tmp_path / "f.mfotl"))
        told = reasoner.push([("F", (4,), 0), ("I", (4,), 0)], now=0)
        assert [each.answer for each in told] == expected, source


def test_names_of_several_variables_may_have_several_types(tmp_path: Path) -> None:
    (tmp_path / "f.sig").write_text("I(x:int) W(x:string)\n")
    for source in (
        "x <- CNT y I(y) AND W(x)",
        "(EXISTS x. W(x)) AND I(x)",
        "LET g(x) = W(x) IN I(x) AND EXISTS y. g(y)",
    ):
        (tmp_path / "f.mfotl").write_text(source)
        presage.load(tmp_path / "f.mfotl")


WRONG = [
    ("ONCE[-4,-1) p(x)", 1, 6, "not negative"),
    ("p(x) AND y = s2r(x)", 1, 14, "cannot be said here"),
    ('p(x) AND "a" MATCHES r"["', 1, 22, "no regular expression"),
    ("NOT p(x)", 1, 5, "cannot be worked out"),
    ("p(x) IMPLIES q(x, x)", 1, 1, "may be anything"),
    ("p(x) AND x < y", 1, 10, "`y` may be anything"),
    ("p(x) OR r()", 1, 1, "only one side"),
    ("EVENTUALLY p(x)", 1, 1, "without end"),
    ("q(x, y) SINCE p(x)", 1, 1, "`y` does not occur"),
    ("s(x)", 1, 1, "no `s`"),
    ("p(x, y)", 1, 1, "2 here"),
    ("p(x) AND", 1, 8, "expected a formula"),
    ("p(x) UND q(x, y)", 1, 6, "expected an operator"),
    ("ONCE[3,1] p(x)", 1, 5, "the interval is empty"),
    ("ONCE[0,3w] p(x)", 1, 8, "no unit"),
    ("p(x) AND x MATCHES r", 1, 20, "cannot be said here"),
    ('p(x) AND x = "a"', 1, 10, "a text on one side"),
    ('p("a")', 1, 1, "argument 1 of `p` is a number"),
    ('p(x) AND x MATCHES r"a"', 1, 10, "MATCHES is about texts"),
    ('p(x) AND x + "a" = 2', 1, 10, "`+` is about numbers"),
    ('p(x) AND tp("a")', 1, 10, "argument 1 of `tp` is a number"),
    ("LETPAST p(x) = r() IN p(x)", 1, 1, "cannot be said here"),
    ("s <- SUM z q(x, y)", 1, 1, "`z` does not occur"),
]


@pytest.mark.parametrize(("source", "line", "column", "said"), WRONG, ids=lambda each: str(each)[:30])
def test_wrong_formulas(source: str, line: int, column: int, said: str, tmp_path: Path) -> None:
    from presage.checking import check_text

    (tmp_path / "f.sig").write_text(SIGNATURE)
    found = check_text(source, str(tmp_path / "f.mfotl")).to_json()["problems"]
    assert any((each["line"], each["column"]) == (line, column) and said in each["message"] for each in found), found


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "rv.mfotl").write_text("publish(r) AND NOT ONCE[0,7d] approve(r)\n")
    (tmp_path / "other.sig").write_text("publish(r:int)\napprove(r:int)\n")
    (tmp_path / "rv.log").write_text(
        "@10 approve(1)(2)\n@20 publish (1)\n   publish(3)\n@20 publish(3)\n@700000\npublish(2)"
    )
    words = ["run", "rv.mfotl", "--signature", "other.sig", "--facts", "rv.log"]
    done = subprocess.run([sys.executable, "-m", "presage", *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["answer"], line["time_point"]) for line in lines] == [
        ("satisfied(3)@20", 1), ("satisfied(3)@20", 2), ("satisfied(2)@700000", 3)
    ]  # fmt: skip
    without = subprocess.run(
        [sys.executable, "-m", "presage", "check", "rv.mfotl"], capture_output=True, text=True, cwd=tmp_path
    )
    assert without.returncode == 1 and "there is no signature rv.sig" in without.stderr


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("publish(1)", "begins with a timestamp"),
        ("@1 publish(1", "is not part of a log"),
        ("@1 publish(a)", "is not a value"),
        ("@1 hide(1)", "no input `hide`"),
        ("@1 publish", "arguments in the program"),
        ("@1 publish(1, 2)", "arguments in the program"),
    ],
)
def test_wrong_logs(log: str, said: str, tmp_path: Path) -> None:
    from presage.io.facts import Checker, FactError
    from presage.io.files import read_facts

    (tmp_path / "f.sig").write_text("publish(r:int)\n")
    (tmp_path / "f.mfotl").write_text("publish(r)")
    (tmp_path / "f.log").write_text(f"@0\n{log}")
    program = presage.load(tmp_path / "f.mfotl")
    subject = presage.check(program).findings.subject  # type: ignore[union-attr]
    if log.startswith("publish"):
        (tmp_path / "f.log").write_text(f"\n{log}")
    with pytest.raises(FactError, match=r"f\.log:2: ") as found:
        list(read_facts([tmp_path / "f.log"], Checker(subject.program, subject.predicates, False)))
    assert said in str(found.value)
