"""What a person reads who made a mistake, word for word.

Messages are the part of the language most of its users meet first, and nothing else notices when
one of them moves to the wrong place, loses its hint or is joined by three others. Each program in
`errors/` has a mistake, some have several; next to it stands what `check` says, one message for each.

After a change of wording, `python tests/language/test_errors.py --update` writes the `.expected` files anew;
what it changed is to be read line by line, as the person who made the mistake would.

Below the golden files: texts made to hurt. They must give a report, and soon.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presage.checking import Report, check_text, show_problems
from presage.errors import CODES
from presage.syntax import ARITHMETIC, COMPARISONS, FOREIGN_SIGNS, KEYWORDS

FOLDER = Path(__file__).parent.parent / "errors"
PROGRAMS = sorted(FOLDER.glob("*.psg"))

# Codes that no program makes `check` give, each with the reason.
NOT_FROM_CHECK: dict[str, str] = {code: "about pipelines: test_pipeline_file.py" for code in CODES if code[0] == "C"}
NOT_FROM_CHECK.update(dict.fromkeys(("L101", "L102"), "about other languages: test_wrong_queries.py"))
NOT_FROM_CHECK["R101"] = "found by asking for what would run it: test_cli.py"


def check(path: Path) -> Report:
    return check_text(path.read_bytes().decode("utf-8"), path.name)


def rendered(path: Path) -> str:
    return show_problems(check(path)) + "\n"


def expectation(path: Path) -> Path:
    return path.with_suffix(".expected")


def update() -> None:
    """Writes what is said today for each program, and drops what belongs to none."""
    for path in PROGRAMS:
        expectation(path).write_text(rendered(path), encoding="utf-8", newline="\n")
    wanted = {expectation(path) for path in PROGRAMS}
    for path in FOLDER.glob("*.expected"):
        if path not in wanted:
            path.unlink()


each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


@each_program
def test_message_is_as_written(path: Path) -> None:
    assert rendered(path) == expectation(path).read_text(encoding="utf-8")


_HEADER = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?:error|warning) (?P<code>[A-Z]\d{3}): .+")
_EXCERPT = re.compile(r" *(?P<line>\d+) \| .*")
_CARET = re.compile(r" +\| +\^+")


@each_program
def test_message_has_place_caret_and_hint(path: Path) -> None:
    text = rendered(path)
    assert "Traceback" not in text and "presage/" not in text
    report = check(path)
    blocks = text.rstrip("\n").split("\n\n")
    assert len(blocks) == len(report.problems) >= 1
    for block, found in zip(blocks, report.problems, strict=True):
        assert found.span.start >= 0, "no message of `check` is about no place at all"
        header, excerpt, caret, *rest = block.split("\n")
        said = _HEADER.fullmatch(header)
        shown = _EXCERPT.fullmatch(excerpt)
        assert said and said["file"] == path.name and said["code"] == found.code, header
        assert shown and shown["line"] == said["line"], excerpt
        assert _CARET.fullmatch(caret), caret
        assert rest and rest[-1].startswith("  hint: ") and rest[-1] != "  hint: ", "a message says what would be right"


@each_program
def test_no_place_has_two_messages(path: Path) -> None:
    starts = [found.span.start for found in check(path).problems]
    assert len(set(starts)) == len(starts)


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) >= 100


def test_each_expectation_has_its_program() -> None:
    assert {expectation(path) for path in PROGRAMS} == set(FOLDER.glob("*.expected"))


def test_every_code_has_a_program() -> None:
    assert NOT_FROM_CHECK.keys() <= CODES.keys()
    found = {problem.code for path in PROGRAMS for problem in check(path).problems}
    assert found == CODES.keys() - NOT_FROM_CHECK.keys()


def _latin() -> str:
    return random.Random(7).randbytes(100_000).decode("latin-1")


HOSTILE: dict[str, Callable[[], str]] = {
    "nothing": lambda: "",
    "spaces": lambda: " \t\r\n" * 100_000,
    "zero bytes": lambda: "alarm(X)\x00 :- temp(X, high).",
    "all zero": lambda: "\x00" * 1_000_000,
    "any bytes": _latin,
    "any bytes but zero": lambda: _latin().replace("\x00", ""),
    "half a surrogate": lambda: "p(\ud800) :- q(X).",
    "10 MB of (": lambda: "(" * 10_000_000,
    "4 MB of (": lambda: "(" * 4_000_000,
    "4 MB of ()": lambda: "()" * 2_000_000,
    "a million digits": lambda: f"p({'9' * 1_000_000}).",
    "a million decimals": lambda: f"p(0.{'9' * 1_000_000}).",
    "a million digits below": lambda: f"p(1/{'9' * 1_000_000}).",
    "not, nested": lambda: f"p :- {'not ' * 100_000}q.",
    "@T, nested": lambda: f"p :- q{'@T' * 100_000}.",
    "once, nested": lambda: f"p :- {'once[0,1] ' * 50_000}q.",
    "window, nested": lambda: f"p :- {'window(1) ' * 50_000}q.",
    "implies, nested": lambda: f"p :- {'q implies ' * 100_000}q.",
    "since, chained": lambda: f"p :- {'q since[0,1] ' * 50_000}q.",
    "a long sum": lambda: f"p :- 1{' + 1' * 100_000} > 0.",
    "a long product": lambda: f"p(X) :- X = {' * '.join(['9' * 900] * 100)}.",
    "a million dots": lambda: "." * 1_000_000,
    "a million minus signs": lambda: f"p(X) :- X = {'-' * 1_000_000}1.",
    "only minus signs": lambda: "-" * 900_000,
    "a long line": lambda: f"p(X) :- {', '.join(f'q{i}(X)' for i in range(40_000))}, Y > 3.",
    "a long name": lambda: "x" * 4_000_000,
    "open calls": lambda: "p(" * 1_000_000,
    "brackets that do not match": lambda: "p :- ([{(]})." * 50_000,
    "brackets that close nothing": lambda: ")" * 500_000,
    "open strings": lambda: '"' * 1_000_001,
    "combining marks": lambda: "a" + "\u0301" * 1_000_000,
    "a million smileys": lambda: "😀" * 1_000_000,
    "a huge duration": lambda: f"tick 1s. p(X) :- once[0,{'9' * 999}d] q(X), Y > 3.",
    "many unsafe rules": lambda: "".join(f"p{i}(X) :- q(Y).\n" for i in range(10_000)),
    "many statements without stop": lambda: "p :- q\n" * 100_000,
}

# Processor time, so that a busy machine does not fail the test.
MOST_SECONDS = 10
MOST_SHOWN = 50_000


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_gives_a_report_soon(name: str) -> None:
    text = HOSTILE[name]()
    start = time.process_time()
    report = check_text(text, "hostile.psg")
    shown = show_problems(report)
    assert time.process_time() - start < MOST_SECONDS
    assert report.errors and not report.ok
    assert len(shown) < MOST_SHOWN


_WORDS = (
    *sorted(KEYWORDS), *COMPARISONS, *ARITHMETIC, *FOREIGN_SIGNS,
    *("(", ")", "[", "]", "{", "}", ",", ".", "|", "@", ":-", ":", '"', "'", "%", "\n", "\\"),
    *("temp", "p", "X", "Y", "T", "_", "0", "1", "3", "0.5", "1/2", "5m", "1e6", "2026-01-01T00:00:00Z", '"a b"'),
    *("p(X)", "q(X, Y)", "@T", "@T+1", "@now", "[0,5]", "once[0,5]", "window(3)", "p(X) :- q(X).", "é", "温度", "\x00"),
)  # fmt: skip

_TEXTS = st.one_of(
    st.lists(st.sampled_from(_WORDS), max_size=40).map(" ".join),
    st.lists(st.sampled_from(_WORDS), max_size=40).map("".join),
    st.text(max_size=80),
)


@settings(max_examples=200, deadline=None)
@given(_TEXTS)
def test_any_text_gives_a_report(text: str) -> None:
    report = check_text(text, "fuzz.psg")
    assert report.ok == (not report.errors)
    assert "Traceback" not in show_problems(report)
    assert report.to_json()["ok"] == report.ok


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: python tests/language/test_errors.py --update")
    update()
