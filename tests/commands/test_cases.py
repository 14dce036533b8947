"""`presage test`: what a case may say, what is met and what is not, and messages for cases that are wrong."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presage.cli import main
from presage.testing.cases import DETAILS, HEADINGS, STATUSES

ROOT = Path(__file__).parent.parent.parent
TURBINES = """
timeline discrete.
input temp(device, level) delay 1.
flag(X) :- temp(X, high).
malf(X)@T-2 :- flag(X)@T-2, flag(X)@T-1, flag(X)@T.
query malf(X).
"""
THREE = "facts\n    temp(wt25, high)@0, temp(wt25, high)@1\n    temp(wt25, high)@2 arrives 3\nexpect\n"


class Folder:
    """A folder with a program and a file of cases, and what `presage test` says about it."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path, self.capsys = path, capsys

    def test(self, cases: str, program: str = TURBINES, options: tuple[str, ...] = ()) -> tuple[int, str]:
        (self.path / "program.psg").write_text(program)
        (self.path / "some.case").write_text(cases)
        status = main(["test", *options, str(self.path)])
        said = self.capsys.readouterr()
        return status, (said.out + said.err).replace(f"{self.path}/", "")

    def meets(self, expected: str, cases: str = THREE, program: str = TURBINES) -> bool:
        status, said = self.test(cases + f"    {expected}\n", program)
        assert status in (0, 1), said
        return status == 0


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Folder:
    return Folder(tmp_path, capsys)


MET = [
    "0: possible malf(wt25)@0.",  # as it would end in a program
    "0: possible malf(wt25)@0",
    "2: possible malf(wt25)@0",  # said at 1, and it stands
    "1: possible malf(wt25)@0; because temp(wt25, high)@0, temp(wt25, high)@1; needs temp(wt25, high)@2 by 3",
    "1: possible malf(wt25)@0; because temp(wt25, high)@1, temp(wt25, high)@0",
    "0: possible malf(wt25)@0; needs temp(wt25, high)@2, ...",
    "0: newly possible malf(wt25)@0",
    "3: newly confirmed malf(wt25)@0",
    "3: confirmed malf(wt25)@0; because temp(wt25, high)@2, ...",
    "9: confirmed malf(wt25)@0",
    "9: refuted malf(wt25)@1",
    "2: no malf(wt42)@_",
    "9: no malf(X)@1",
    "9: nothing else",
    "2: no malf(_)@[3,9]",
]
NOT_MET = [
    "0: possible malf(wt25)@1",
    "0: possible malf(wt42)@0",
    "1: possible malf(wt25)@0; needs temp(wt25, high)@1",
    "1: possible malf(wt25)@0; needs temp(wt25, high)@2 by 4",
    "1: possible malf(wt25)@0; needs temp(wt25, high)@7, ...",
    "1: possible malf(wt25)@0; unless X = john",
    "1: possible malf(wt25)@0; confidence 0.5",
    "1: possible malf(wt25)@0; because nothing",
    "2: newly possible malf(wt25)@0",
    "2: confirmed malf(wt25)@0",
    "4: newly confirmed malf(wt25)@0",
    "3: refuted malf(wt25)@0",
    "3: unsupported malf(wt25)@0",
    "3: no malf(wt25)@0",
    "3: no malf(_)",
    "1: nothing else",
    "1: nothing else of malf",
    "nothing else",
    "3: late temp(wt25, high)@2",
    "3: inconsistent",
]


@pytest.mark.parametrize("expected", MET)
def test_what_is_met(folder: Folder, expected: str) -> None:
    assert folder.meets(expected)


@pytest.mark.parametrize("expected", NOT_MET)
def test_what_is_not_met(folder: Folder, expected: str) -> None:
    assert not folder.meets(expected)


def test_nothing_else_is_met_by_the_whole_transcript(folder: Folder) -> None:
    """What `--told` prints, written down as expectations, is met, and nothing else is said."""
    status, told = folder.test(THREE + "    0: no malf(wt42)\n", options=("--told",))
    assert status == 0
    transcript = "\n".join(line for line in told.splitlines() if not line.startswith("%"))
    assert folder.meets("nothing else", THREE + transcript + "\n")
    without_the_last = "\n".join(transcript.splitlines()[:-1])
    assert not folder.meets("nothing else", THREE + without_the_last + "\n")


def test_a_fact_too_late(folder: Folder) -> None:
    facts = "facts\n    temp(wt25, high)@0 arrives 2\nexpect\n"
    assert folder.meets("2: late temp(wt25, high)@0", facts)
    assert not folder.meets("3: late temp(wt25, high)@0", facts)
    assert not folder.meets("2: late temp(wt25, low)@0", facts)


DENSE = "timeline dense.\ninput p(x).\nq(X) :- once[0,2] p(X).\nquery q(X).\n"


@pytest.mark.parametrize(
    ("expected", "met"),
    [
        ("9: confirmed q(a)@[1,5]", True),
        ("9: confirmed q(a)@(1,5)", True),
        ("9: confirmed q(a)@2.5", True),
        ("9: confirmed q(a)@[1,5.5]", False),
        ("9: confirmed q(a)@(1/2,5]", False),
        ("9: no q(_)@(5,9]", True),
        ("9: no q(_)@[5,9]", False),
        ("2: confirmed q(a)@[1,5]", False),
    ],
)
def test_intervals_are_covered_by_what_was_confirmed_piece_by_piece(folder: Folder, expected: str, met: bool) -> None:
    assert folder.meets(expected, "facts\n    p(a)@1, p(a)@3\nexpect\n", DENSE) == met


NEGATION = """
gvs(X)          :- gcm(X), gbol(X).
st(X, us)@T+1   :- bca(X)@T+2.
st(X, us)@T+1   :- not gvs(X)@T, not st(X, us)@T.
st(X, ic)@T+1   :- not gvs(X)@T, st(X, us)@T.
risk(X)@T       :- st(X, ic)@T+2.
query risk(X).
"""


@pytest.mark.parametrize(
    ("expected", "met"),
    [
        ("0: possible risk(X)@0; needs not st(X, us)@0, not gvs(X)@1 by 1", True),
        ("1: confirmed risk(X)@0; unless X = john", True),
        ("1: confirmed risk(X)@0; unless X = gus", False),
        ("1: no risk(john)@1", False),
        ("1: no risk(gus)@0", False),  # it is among what risk(X)@0 says
    ],
)
def test_answers_with_open_variables(folder: Folder, expected: str, met: bool) -> None:
    facts = "until 2\nfacts\n    gcm(gus)@[0,2], gbol(gus)@2, bca(john)@1\nexpect\n"
    assert folder.meets(expected, facts, NEGATION) == met


def test_several_ways(folder: Folder) -> None:
    program = "a(X) :- p(X), q(X)@T+1.\na(X) :- p(X), r(X)@T+1.\nquery a(X).".replace("a(X) :-", "a(X)@T :-")
    program = program.replace("p(X),", "p(X)@T,")
    facts = "facts\n    p(x)@0\nexpect\n"
    assert folder.meets("0: possible a(x)@0; needs q(x)@1; or needs r(x)@1", facts, program)
    assert folder.meets("0: possible a(x)@0\n        needs r(x)@1", facts, program)
    assert not folder.meets("0: possible a(x)@0; needs q(x)@1; or needs p(x)@1", facts, program)


def test_confidence_as_exactly_as_it_is_written(folder: Folder) -> None:
    program = "input p(x) rate 1/3.\na(X)@T :- p(X)@T, p(X)@T+1.\nquery a(X)."
    facts = "facts\n    p(x)@0\nexpect\n"
    assert folder.meets("0: possible a(x)@0; confidence 0.33", facts, program)
    assert not folder.meets("0: possible a(x)@0; confidence 0.34", facts, program)
    assert not folder.meets("0: possible a(x)@0; confidence 0.33", facts, program.replace("1/3", "1/2"))


def test_no_model(folder: Folder) -> None:
    program = "reading now.\ninput p.\na | b :- p.\n:- p, a.\n:- p, b.\n"
    assert folder.meets("0: inconsistent", "facts\n    p@0\nexpect\n", program)


def test_times_as_timestamps(folder: Folder) -> None:
    program = "tick 1m.\nstart 2026-03-02T06:00:00Z.\ninput p(x) delay 2m.\na(X)@T :- p(X)@T, p(X)@T+1.\nquery a(X)."
    facts = "facts\n    p(x)@2026-03-02T06:10:00Z\n    p(x)@2026-03-02T06:11:00Z arrives 2026-03-02T06:13:00Z\nexpect\n"
    assert folder.meets("2026-03-02T06:12:00Z: possible a(x)@10; by 2026-03-02T06:13:00Z", facts, program)
    assert folder.meets("13: newly confirmed a(x)@2026-03-02T06:10:00Z", facts, program)
    assert not folder.meets("12: confirmed a(x)@2026-03-02T06:10:00Z", facts, program)


def test_broken_constraints(folder: Folder) -> None:
    program = "input p(x).\ninput q(x).\n:- p(X), q(X).\na(X) :- p(X).\nquery a(X)."
    facts = "facts\n    p(x)@1, q(x)@1\nexpect\n"
    assert folder.meets("1: confirmed violated(3, x)@1", facts, program)
    assert folder.meets("1: no violated(_, y)", facts, program)
    assert not folder.meets("1: no violated(_, _)", facts, program)


def test_a_late_interval(folder: Folder) -> None:
    facts = "facts\n    p(a)@[1,5) arrives 3\nexpect\n"
    assert folder.meets("3: late p(a)@[1,5)", facts, DENSE)
    assert not folder.meets("3: late p(a)@[1,5]", facts, DENSE)


@pytest.mark.parametrize("paper", sorted((ROOT / "tests/cases/hypothetical").iterdir()), ids=lambda path: path.name)
def test_the_transcripts_of_the_papers_examples(folder: Folder, paper: Path) -> None:
    """Each line that was written down for the papers' examples is expected, and nothing else."""
    lines = []
    # What is never decided by itself has no time to be decided by.
    for line in (paper / "expected.txt").read_text().replace(" by None", "").splitlines():
        another = line.startswith(" ") and lines and lines[-1].startswith("        ")
        lines.append(f"    {'    or ' + line.strip() if another else line}")
    until = f"until {(paper / 'until').read_text().strip()}\n" if (paper / "until").exists() else ""
    shutil.copy(paper / "facts.jsonl", folder.path)
    cases = f"{until}facts from facts.jsonl\nexpect\n    nothing else\n" + "\n".join(lines) + "\n"
    status, said = folder.test(cases, (paper / "program.psg").read_text())
    assert status == 0, said
    fewer = "\n".join(cases.splitlines()[:3] + cases.splitlines()[-1:])
    assert folder.test(fewer + "\n", (paper / "program.psg").read_text())[0] != 0


def test_files_of_facts_and_what_several_cases_share(folder: Folder) -> None:
    (folder.path / "temp.csv").write_text("device,level,time\nwt25,high,0\n")
    cases = "facts from temp.csv\ncase one\nexpect\n    0: possible malf(wt25)@0\n"
    cases += "case two\nfacts\n    temp(wt25, low)@0\nexpect\n    0: possible malf(wt25)@0\n"
    status, said = folder.test(cases)
    assert status == 0 and said.endswith("2 ok\n")
    assert folder.test(cases, options=("--only", "two"))[1].endswith("1 ok\n")


def test_the_difference_is_shown(folder: Folder) -> None:
    status, said = folder.test(THREE + "    1: possible malf(wt25)@0; needs temp(wt25, high)@3\n    3: nothing else\n")
    assert status == 1
    assert said.splitlines()[:5] == [
        "failed  some.case: some",
        "    some.case:5",
        "      1: possible malf(wt25)@0",
        "    - needs temp(wt25, high)@3",
        "    + because temp(wt25, high)@0, temp(wt25, high)@1; needs temp(wt25, high)@2 by 3",
    ]
    assert "    + 3: confirmed malf(wt25)@0" in said.splitlines()


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ("facts\n    tmp(wt25, high)@0\nexpect\n    0: no malf(_)\n", "some.case:2: the program has no input `tmp`"),
        ("facts\n    temp(wt25)@0\nexpect\n    0: no malf(_)\n", "some.case:2: `temp` has 2 arguments"),
        ("facts\n    temp(X, high)@0\nexpect\n    0: no malf(_)\n", "some.case:2: `temp(X, high)@0` has a variable"),
        ("facts\n    temp(wt25, high)\nexpect\n    0: no malf(_)\n", "some.case:2: the fact has no `time`"),
        ("facts\n    temp wt25 high 0\nexpect\n    0: no malf(_)\n", "some.case:2: `temp wt25 high 0` is not a fact"),
        ("facts\n    not temp(a, b)@0\nexpect\n    0: no malf(_)\n", "some.case:2: what does not arrive"),
        ("facts\n    temp(a, b)@1.5\nexpect\n    0: no malf(_)\n", "some.case:2: 3/2 is not a whole number"),
        ("expect\n    0: no malff(_)\n", "some.case:2: no query of the program asks for `malff`; did you mean `malf`?"),
        ("expect\n    0: no malf(_, _)\n", "some.case:2: `malf` has 1 arguments"),
        ("expect\n    0: posible malf(a)@0\n", "`posible` is not a status; did you mean `possible`?"),
        ("expect\n    0: possible malf(a)\n", "some.case:2: `malf(a)` has no time"),
        ("expect\n    0: possible malf(a)@x\n", "some.case:2: 'x' is not a time"),
        ("expect\n    x: possible malf(a)@0\n", "some.case:2: 'x' is not a time"),
        ("expect\n    possible malf(a)@0\n", "some.case:2: `possible malf(a)@0` is no expectation"),
        ("expect\n    0: possible malf(a)@0; nedes p@0\n", "some.case:2: `nedes p@0` is not one of because"),
        ("expect\n    0: possible malf(a)@0; confidence high\n", "some.case:2: `high` is not a confidence"),
        ("expect\n    0: possible malf(a)@0; by 3; by 4\n", "some.case:2: `by` is said twice"),
        ("expect\n    needs temp(a, high)@0\n", "some.case:2: `needs` goes with the answer in the line above"),
        ("expect\n0: possible malf(a)@0\n", "some.case:2: indent this line"),
        ("expekt\n    0: possible malf(a)@0\n", "some.case:1: `expekt` is no heading; did you mean `expect`?"),
        ("facts\n    temp(a, high)@0\n", "some.case:1: the case `some` expects nothing"),
        ("facts from nowhere.jsonl\nexpect\n    0: no malf(_)\n", "some.case:1: there is no file"),
        ("until 1\nexpect\n    2: no malf(_)\n", "some.case:1: the run ends at 1, and something is expected after"),
        ("case a\nexpect\n    0: no malf(_)\ncase a\nexpect\n    0: no malf(_)\n", "some.case:4: there is a case `a`"),
        ("emit all\nexpect\n    0: no malf(_)\n", "some.case:1: `emit` is `changes` or `confirmed`"),
    ],
)
def test_cases_that_are_wrong(folder: Folder, cases: str, message: str) -> None:
    status, said = folder.test(cases)
    assert status == 2
    assert message in said


def test_all_mistakes_of_a_file_at_once(folder: Folder) -> None:
    status, said = folder.test("expect\n    0: posible malf(a)@0\n    1: nothng\n")
    assert status == 2
    assert "some.case:2:" in said and "some.case:3:" in said


def test_a_program_that_is_wrong(folder: Folder) -> None:
    status, said = folder.test("expect\n    0: no malf(_)\n", "malf(X) :- temp(X high).")
    assert status == 2
    assert "program.psg:1:19" in said and "wrong   some.case" in said


def test_which_program(folder: Folder) -> None:
    (folder.path / "other.psg").write_text(TURBINES)
    status, said = folder.test("expect\n    0: no malf(_)\n")
    assert status == 2 and "which program?" in said and "other.psg, program.psg" in said
    assert folder.test("program other.psg\nexpect\n    0: no malf(_)\n")[0] == 0


def test_no_cases_at_all(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "presage", "test", str(tmp_path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 2
    assert "there are no files that end with `.case`" in done.stderr and "hint:" in done.stderr


def test_junit_and_json(folder: Folder) -> None:
    report = folder.path / "report.xml"
    cases = "case fine\nexpect\n    0: no malf(_)\ncase <bad>\nexpect\n    0: possible malf(a)@0\n"
    cases += 'case odd\nfacts\n    temp("\\u{1}", high)@0\nexpect\n    0: no malf(_)\n'
    status, said = folder.test(cases, options=("--json", "--junit", str(report)))
    assert status == 1
    assert [json.loads(line)["outcome"] for line in said.splitlines()] == ["ok", "failed", "failed"]
    root = ElementTree.parse(report).getroot()
    assert root.attrib["tests"] == "3" and root.attrib["failures"] == "2" and root.attrib["errors"] == "0"
    assert [case.attrib["name"] for case in root.iter("testcase")] == ["fine", "<bad>", "odd"]
    failures = [case.find("failure") for case in root.iter("testcase")]
    assert failures[0] is None and failures[1] is not None and failures[1].text is not None
    assert "- 0: possible malf(a)@0" in failures[1].text


SIGNS = "@():;,.%#\"'[]0123456789_XT \n\t"
OTHERS = (
    "from x",
    "arrives 3",
    "nothing else",
    "newly",
    "no",
    "late",
    "or",
    "...",
    "not",
    "malf(a)",
    "_:1",
    "inf",
    "é",
)
WORDS = [*HEADINGS, *STATUSES, *DETAILS, *OTHERS]
PIECES = st.sampled_from([*SIGNS, *WORDS, *(f"\n{word} " for word in WORDS), *(f"\n    {word} " for word in WORDS)])


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 12), PIECES), min_size=1, max_size=6))
def test_whatever_is_written_there_is_an_outcome_or_a_message(changes: list[tuple[int, int, str]]) -> None:
    """A case with pieces cut out and others put in is met, not met, or refused with its place; it never breaks."""
    text = (
        THREE
        + "    1: possible malf(wt25)@0; needs temp(wt25, high)@2 by 3\n    2: no malf(X)@[3,9]\n    nothing else\n"
    )
    for at, length, piece in changes:
        text = text[: at % len(text)] + piece + text[at % len(text) + length :]
        text = text or "x"
    with tempfile.TemporaryDirectory() as place:
        Path(place, "program.psg").write_text(TURBINES)
        Path(place, "some.case").write_text(text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["test", place])
    assert status in (0, 1, 2)
    if status == 2:
        assert "some.case" in out.getvalue() + err.getvalue()
