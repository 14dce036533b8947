"""The commands as a person or a script calls them: output, exit status, files."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TURBINES = ROOT / "presage/examples/turbines/turbines.psg"
TURBINE_FACTS = ROOT / "presage/examples/turbines/facts.jsonl"


def presage(*words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "presage", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, cwd=ROOT)


def on_a_terminal(*words: str | Path, code: str | None = None) -> tuple[int, str]:
    """Runs a command, or Python code, whose standard output is a terminal."""
    given = ["-m", "presage", *map(str, words)] if code is None else ["-c", code]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *given],
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return process.wait(), shown.decode()


def test_help_lists_the_commands() -> None:
    done = presage("--help")
    assert done.returncode == 0
    assert "check" in done.stdout and "fmt" in done.stdout


@pytest.mark.parametrize("command", ["check", "fmt"])
def test_each_command_shows_an_example(command: str) -> None:
    done = presage(command, "--help")
    assert done.returncode == 0
    assert "example:" in done.stdout


def test_check_prints_one_json_object_when_piped() -> None:
    done = presage("check", TURBINES)
    assert done.returncode == 0
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    report = json.loads(line)
    assert report["query_delay"] == 2
    assert report["partition_key"] == {"temp": ["device"]}


def test_check_prints_a_report_on_a_terminal() -> None:
    status, shown = on_a_terminal("check", TURBINES)
    assert status == 0
    assert "Predicates" in shown and "malf(X)" in shown and not shown.startswith("{")


def test_check_of_a_broken_program(tmp_path: Path) -> None:
    broken = tmp_path / "broken.psg"
    broken.write_text("alarm(X) :- temp(Y, high).\nquery alram(X).\n")
    done = presage("check", "--json", broken)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["ok"] is False and report["timeline"] is None
    assert [(each["line"], each["column"], each["code"]) for each in report["problems"]] == [
        (1, 7, "S101"),
        (2, 7, "D105"),
    ]
    assert all(each["hint"] and each["message"] for each in report["problems"])
    assert f"{broken}:1:7" in done.stderr and "did you mean `alarm`?" in done.stderr


@pytest.mark.parametrize("command", ["check", "fmt"])
def test_files_that_cannot_be_read(command: str, tmp_path: Path) -> None:
    binary = tmp_path / "binary.psg"
    binary.write_bytes(b"\xff\xfe\x00p(a).\x80")
    for given, said in ((tmp_path / "none.psg", "no such file"), (tmp_path, "folder"), (binary, "UTF-8")):
        done = presage(command, given)
        assert done.returncode == 1
        assert said in done.stderr and "Traceback" not in done.stderr


def test_usage_errors_exit_with_2() -> None:
    for words in (
        ["check"],
        ["nonsense"],
        ["check", "--horizon", "many", TURBINES],
        ["fmt", "--check", "--write", TURBINES],
    ):
        assert presage(*words).returncode == 2


def test_value_invention_without_end_is_refused_unless_limited(tmp_path: Path) -> None:
    endless = tmp_path / "endless.psg"
    endless.write_text("exists Y: parent(X, Y) :- person(X).\nperson(Y) :- parent(X, Y).\nquery parent(X, Y).\n")
    refused = presage("check", endless)
    assert refused.returncode == 1
    assert "invent" in refused.stderr and "argument 1 of `person`" in refused.stderr
    assert presage("check", "--chase-limit", "1000", endless).returncode == 0


@pytest.mark.parametrize(
    "rules",
    [
        "timeline dense. a(X) | b(X) :- p(X).",
        "timeline dense. a(X) :- p(X), s(Y) since[0,10] p(X).",
        "timeline dense. a(X) :- window(rows 3) some p(X).",
        "timeline discrete. a(T) :- p(X)@T.",
        "timeline discrete. a(X) :- p(X), s(Y) since[0,10] p(X).",
    ],
)
def test_check_refuses_what_a_run_refuses(rules: str, tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text("")
    program = tmp_path / "program.psg"
    program.write_text(rules)
    checked = presage("check", program)
    ran = presage("run", "--emit", "confirmed", program, "--facts", tmp_path / "facts.jsonl")
    assert checked.returncode == ran.returncode, checked.stderr + ran.stderr
    report = json.loads(checked.stdout)
    assert report["ok"] == (checked.returncode == 0)
    assert [each["code"] for each in report["problems"]] == ["R101"] * checked.returncode


def test_fmt(tmp_path: Path) -> None:
    untidy = tmp_path / "untidy.psg"
    untidy.write_text("% a comment\n\n\nalarm(X):-temp( X,high ) . # why\n")
    tidy = "% a comment\n\nalarm(X) :- temp(X, high).  # why\n"
    assert presage("fmt", untidy).stdout == tidy
    checked = presage("fmt", "--check", untidy)
    assert checked.returncode == 1
    assert "-alarm(X):-temp( X,high ) . # why" in checked.stdout
    assert presage("fmt", "--write", untidy).returncode == 0
    assert untidy.read_text() == tidy
    assert presage("fmt", "--check", untidy).returncode == 0


def test_fmt_leaves_a_broken_program_alone(tmp_path: Path) -> None:
    broken = tmp_path / "broken.psg"
    broken.write_text("alarm(X :- temp(X).\n")
    done = presage("fmt", "--write", broken)
    assert done.returncode == 1
    assert "P203" in done.stderr
    assert broken.read_text() == "alarm(X :- temp(X).\n"


def test_a_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m presage check {TURBINES} | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
    assert "Traceback" not in done.stderr


# A run on a terminal


def plain(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def test_run_shows_a_table_on_a_terminal() -> None:
    status, shown = on_a_terminal("run", TURBINES, "--facts", TURBINE_FACTS, "--until", "3")
    assert status == 0
    lines = plain(shown)
    assert "3: ◆ confirmed malf(wt25)@0  because temp(wt25, high)@0" in lines
    assert "3: ✕ refuted malf(wt42)@1" in lines
    assert "still open at the end, time 3, 6 of 6 facts" in lines
    (row,) = (line for line in lines.splitlines() if "malf(wt25)@2" in line)
    assert row.split() == ["▷", "possible", "malf(wt25)@2", "temp(wt25,", "high)@2", "temp(wt25,", "high)@4", "5"]
    assert "{" not in lines


def test_run_prints_json_lines_where_they_are_asked_for() -> None:
    status, shown = on_a_terminal("run", "--json", TURBINES, "--facts", TURBINE_FACTS)
    assert status == 0
    assert len([json.loads(line) for line in plain(shown).splitlines() if line.startswith("{")]) > 5


def test_a_long_run_changes_its_table() -> None:
    """What was shown of an open answer is drawn over, and settled answers stay above."""
    code = (
        "import sys; from presage.cli import live, main; live.SOON = live.REFRESH = 0.0;"
        f"sys.exit(main(['run', {str(TURBINES)!r}, '--facts', {str(TURBINE_FACTS)!r}, '--until', '3']))"
    )
    status, shown = on_a_terminal(code=code)
    assert status == 0
    assert "\x1b[2K" in shown and "time 1, 3 of 6 facts" in plain(shown)
    assert plain(shown).count("◆ confirmed malf(wt25)@0") == 1


def test_names_do_not_steer_the_terminal(tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_text(json.dumps({"pred": "temp", "args": ["\x1b[2J[bold]a[/bold]", "high"], "time": 0}) + "\n")
    status, shown = on_a_terminal("run", TURBINES, "--facts", facts, "--until", "0")
    assert status == 0
    assert "\x1b[2J" not in shown and "[bold]a" in plain(shown)


def test_a_table_is_no_longer_than_the_screen(tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    rows = [{"pred": "temp", "args": [f"wt{each}", "high"], "time": 0} for each in range(200)]
    facts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, shown = on_a_terminal("run", TURBINES, "--facts", facts, "--until", "0")
    assert status == 0
    more = re.search(r"and (\d+) more", plain(shown))
    assert more and 150 < int(more[1]) < 200
