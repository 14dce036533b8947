"""Programs of other languages: the registry, translations, messages in the author's own text, and the second door."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.cli import main
from presage.errors import ProgramError
from presage.languages import LANGUAGES, language_of
from presage.languages.translation import translate
from presage.model.formulas import Atom
from presage.model.program import Program
from presage.model.statements import Head, Input, Query, Rule
from presage.model.terms import Variable

GOLDEN = sorted((Path(__file__).parent.parent / "languages").glob("*/*.psg"))
SUFFIXES = {each.name for each in LANGUAGES}


def original(golden: Path) -> Path:
    return next(each for each in golden.parent.glob(f"{golden.stem}.*") if each.suffix[1:] in SUFFIXES - {"psg"})


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_translations(golden: Path) -> None:
    source = original(golden)
    printed = translate(source.read_text(encoding="utf-8"), str(source))
    assert printed == golden.read_text(encoding="utf-8")
    presage.format(printed)


def test_every_language_has_a_translation_in_the_tests() -> None:
    assert {path.parent.name for path in GOLDEN} >= SUFFIXES - {"psg"}


def test_the_suffix_says_the_language() -> None:
    assert language_of("a/b.DMTL").name == "dmtl"
    assert language_of("a/b.lp").name == language_of("<program>").name == language_of("-").name == "psg"


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "presage", *map(str, words)], capture_output=True, text=True)


def test_commands_take_other_languages(tmp_path: Path) -> None:
    program, facts = tmp_path / "hot.dmtl", tmp_path / "data.txt"
    program.write_text("Hot(X) :- Diamondminus[0,2] Temp(X, high)\n")
    facts.write_text('% data\nTemp(a, high)@[1,2]\nTemp("b c", high)@(3,4].\nTemp(d, high)@1/2\nTemp(e, 7)@5\n')
    done = command("run", program, "--facts", facts, "--emit", "confirmed", "--until", "9")
    assert done.returncode == 0, done.stderr
    found = {json.loads(line)["answer"] for line in done.stdout.splitlines()}
    assert found == {"Hot(a)@[1,4]", 'Hot("b c")@(3,6]', "Hot(d)@[0.5,2.5]"}
    checked = command("check", "--json", program)
    assert json.loads(checked.stdout)["timeline"] == "dense"
    other = tmp_path / "hot.other"
    other.write_text(program.read_text())
    assert command("translate", "--from", "dmtl", other).stdout.endswith("query Hot(X1).\n")
    wrong = command("translate", "--from", "klingon", other)
    assert wrong.returncode == 2 and "there is no language `klingon`" in wrong.stderr


def test_commands_about_answers_of_other_languages(tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    program, facts = tmp_path / "orders.decl", tmp_path / "facts.jsonl"
    program.write_text("activity order\nactivity ship\nResponse[order, ship] | | |0,7,d\n")
    facts.write_text('{"pred": "event", "args": ["o1", "order"], "time": 5}\n')
    words = ("--facts", facts, "--at", "9")
    said = command("explain", program, *words, "response_1(o1)@5")
    assert said.returncode == 0, said.stderr
    line = json.loads(said.stdout)
    assert line["verdict"] == "temporarily violated" and line["line"] == 3
    unknown = command("explain", program, *words, "response_1(o2)@5")
    assert unknown.returncode == 1 and "nothing was said of it" in unknown.stderr
    out = tmp_path / "answers.parquet"
    assert command("run", program, "--facts", facts, "--out", out).returncode == 0
    assert parquet.read_table(out).column("verdict").to_pylist() == ["temporarily violated", "permanently violated"]
    report = json.loads(command("check", "--json", program).stdout)
    assert report["engine"] == "declare" and report["partition_key"]["event"] == ["case"]
    assert report["query_delay"] is None and report["hypothetical"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("P(a)@[1", "a fact is a line such as"),
        ("P(a,)@1", "an argument is missing"),
        ("P(a)@x", "'x' is not a time"),
        ("P(a)@[2,1]", "empty or upside down"),
        ("P(a)@-1", "lies before time 0"),
        ("Q(a)@1", "no input `Q`"),
    ],
)
def test_written_facts_that_are_wrong(tmp_path: Path, line: str, said: str) -> None:
    from presage.io.facts import Checker, FactError
    from presage.io.files import read_facts

    subject = check_text("H(X) :- Diamondminus[0,1] P(X)", "p.dmtl").findings.subject  # type: ignore[union-attr]
    path = tmp_path / "data.txt"
    path.write_text(f"P(a)@0\n{line}\n")
    with pytest.raises(FactError, match=r"data\.txt:2: ") as found:
        list(read_facts([path], Checker(subject.program, subject.predicates, False)))
    assert said in str(found.value)


WRONG = {
    "dmtl": [
        ("A(X) :- Diamondminus[0,2 B(X)", 1, 26, "expected `]` or `)` after an interval"),
        ("A(X) :- B(X)\nC(X) :- Boxminus[2,1] B(X)", 2, 17, "the interval is empty"),
        ("A(X) :- Boxminus[-1,1] B(X)", 1, 17, "not negative"),
        ("Diamondplus[0,1] A(X) :- B(X)", 1, 1, "a head is an atom"),
        ("A(X) :- B(X) C(X)", 1, 14, "expected `,`, `||` or the end of the rule"),
        ("A(X) :- B(Y)", 1, 3, "not bound"),
        ("A(X) :- (B(X) Since[0,1] C(X)) Since[0,1] D(X) Since[1,2] C(X)", 1, 48, "needs parentheses"),
        ('A(X) :- B(X), "b', 1, 15, "not closed"),
        ("A(X) :- B(X, X)\nD(X) :- B(X)", 2, 9, "arguments"),
    ],
    "etalis": [
        ("e(X) <- a(X) SEQ b(X)", 1, 21, "the text ends"),
        ("e(X) <- a(X) SEK b(X).\nf <- a(X).", 1, 14, "expected an operator"),
        ("e(X) <- a(Y).", 1, 3, "not bound"),
        ("e(X) :- a(X).", 1, 6, "expected `<-`"),
        ("e(X) <- a(X) OR b(Y).", 1, 3, "not bound"),
        ("e(X) <- a(X) WHERE (Y > 3).", 1, 21, "`Y` has no value here"),
        ("e(X) <- a(X) WHERE (X).", 1, 22, "a comparison"),
        ("e(X) <- NOT(a(X)) b(X).", 1, 19, "the two patterns between which"),
        ("e(X) <- NOT(a(X) OR b)[c(X), d(X)].", 1, 13, "same variables"),
        ("e(X) <- a(X) SEQ .", 1, 18, "expected an event"),
        ("e(X) <- a(X).\nprint_trigger(f/1).", 2, 1, "no rule has the head f/1"),
        ("e(X) <- a(X, X).\nf(X) <- a(X).", 2, 9, "arguments"),
        ("e(X) <- a(X) WITHIN x.", 1, 21, "how long"),
        ("% nothing", 1, 1, "no event rule"),
    ],
    "decl": [
        ("Respons[a, b]", 1, 1, "there is no template `Respons`"),
        ("Response[a]", 1, 10, "about 2 activities"),
        ("Init[a, b]", 1, 6, "about 1 activity"),
        ("activity a\nactivity b\nResponse[a, c]", 3, 13, "no activity `c`"),
        ("Response[a, b] |A.x >", 1, 21, "the text ends"),
        ("Response[a, b] |x > 3", 1, 17, "about an attribute of an event"),
        ("Response[a, b] |A.x > 3 |T.y ~ 3", 1, 30, "means nothing"),
        ("Response[a, b] | | |7,0,d", 1, 21, "the bound is empty"),
        ("Response[a, b] | | |0,7,w", 1, 21, "no unit"),
        ("Response[a, b] | | |soon", 1, 21, "least,most,unit"),
        ("Init[a] | | |0,1,s", 1, 13, "one part too many"),
        ("Response[a, b] A.x > 3", 1, 15, "expected `|`"),
        ("hello", 1, 1, "neither an activity nor a constraint"),
        ("activity a", 1, 1, "no constraint"),
    ],
    "ltl": [
        ("alarm F p", 1, 7, "expected `:` after the name"),
        ("F p", 1, 1, "reserved"),
        ("a: F p\na: G p", 2, 1, "there already"),
        ("a: p U q U r", 1, 10, "needs parentheses"),
        ("a: ~p", 1, 4, "write !a"),
        ("a: p => q", 1, 6, "write a -> b"),
        ("a: not p", 1, 8, "write `!`"),
        ("a: [] p", 1, 4, "write G f"),
        ("a: p(b) | p", 1, 11, "0 arguments here"),
        ("a: F[3,1] p", 1, 5, "no position within these bounds"),
        ("a: F[0,1.5] p", 1, 8, "whole numbers"),
        ("a: p(X)", 1, 6, "`X` is a variable"),
        ("a: p &", 1, 6, "the text ends"),
        ("a: p & F", 1, 8, "the text ends"),
        ("a: (p", 1, 5, "expected an operator or `)`"),
        ("a: p = q", 1, 6, "means nothing here"),
        ("a: X[1,2] p", 1, 5, "has no bounds"),
        ("a: p(1)\nb: p", 2, 4, "arguments"),
        ("a: p q", 1, 6, "expected an operator or the end of the line"),
        ("U: p", 1, 1, "reserved"),
        ("% nothing", 1, 1, "no property"),
        ("a: " + "(" * 200 + "p" + ")" * 200, 1, 44, "nested"),
    ],
}


@pytest.mark.parametrize(
    ("language", "text", "line", "column", "said"),
    [(name, *each) for name, cases in WRONG.items() for each in cases],
    ids=lambda each: str(each)[:30],
)
def test_messages_point_into_the_authors_text(language: str, text: str, line: int, column: int, said: str) -> None:
    report = check_text(text, f"wrong.{language}")
    assert not report.ok
    found = report.to_json()["problems"]
    said_there = [each["message"] + each["hint"] for each in found if (each["line"], each["column"]) == (line, column)]
    assert any(said in each for each in said_there), found


# The second door


def made_in_python() -> Program:
    x = Variable("X")
    rule = Rule(Head((Atom("b", (x,)),)), (Atom("a", (x,)),))
    return Program((Input("a", ()), rule, Query(Atom("b", (x,)))))


def test_a_program_made_in_python_is_the_one_that_runs() -> None:
    program = Program(made_in_python().statements[1:])
    report = presage.check(program)
    assert report.ok and report.program is program
    reasoner = presage.Reasoner(program)
    assert reasoner.program is program
    assert [str(each) for each in reasoner.push([("a", ("x",), 0)], now=0)] == ["confirmed b(x)@0"]
    restored = presage.Reasoner.restore(program, reasoner.save())
    assert [str(each) for each in restored.push([("a", ("y",), 1)], now=1)] == ["confirmed b(y)@1"]


def test_what_is_wrong_with_a_program_made_in_python() -> None:
    report = presage.check(Program((Rule(Head((Atom("b", (Variable("X"),)),)), (Atom("a"),)),)))
    assert [each.code for each in report.errors] == ["S101"]
    with pytest.raises(ProgramError, match=r"^<program>: error S101"):
        report.or_raise()


def test_rules_made_in_python_have_the_lines_they_are_printed_on() -> None:
    program = Program((*made_in_python().statements[1:], Rule(None, (Atom("b", (Variable("X"),)),))))
    reasoner = presage.Reasoner(program)
    told = reasoner.push([("a", ("x",), 0)], now=0)
    assert {str(each) for each in told} == {"confirmed b(x)@0", "confirmed violated(3, x)@0"}


def test_programs_are_shipped_as_they_are() -> None:
    program = presage.parse("% note\nb(X) :- a(X), not c(X).", "p.psg")
    again = pickle.loads(pickle.dumps(program))
    assert again == program and again.source == program.source
    assert again.rules[0].span == program.rules[0].span


def test_equal_programs_keep_their_own_texts() -> None:
    first, second = presage.parse("b :- a.", "one.psg"), presage.parse("\nb :- a.", "two.psg")
    assert first == second
    assert presage.check(first).source.name == "one.psg"
    assert presage.check(second).source.name == "two.psg"


@pytest.mark.parametrize(
    ("name", "text", "facts", "answer", "needed"),
    [
        ("p.ltl", "answered: G (request -> F[0,3] grant)\n", [("request", [], 5)], "answered@5", "grant@T1"),
        (
            "c.decl",
            "activity a\nactivity b\nResponse[a, b] | | |0,7,s\n",
            [("event", ["c2", "a"], 2), ("event", ["c3", "a"], 12)],
            "response_1(c2)@2",
            "event(c2, b)@T1",
        ),
    ],
)
def test_what_was_refuted_says_what_it_needed(
    name: str, text: str, facts: list[Any], answer: str, needed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    lines = [json.dumps({"pred": pred, "args": args, "time": time}) for pred, args, time in facts]
    (tmp_path / "facts.jsonl").write_text("\n".join(lines) + "\n")
    call = ["explain", str(tmp_path / name), "--facts", str(tmp_path / "facts.jsonl"), answer]
    assert main([*call, "--text"]) == 0
    assert f"○ {needed}: was needed when it was last possible" in capsys.readouterr().out
    assert main([*call, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["status"] == "refuted" and needed in said["was"]["needs"]
