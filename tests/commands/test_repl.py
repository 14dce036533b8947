"""The prompt: what is typed, from a pipe and at a terminal, and what it answers."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TURBINES = ROOT / "presage/examples/turbines/turbines.psg"
FACTS = ROOT / "presage/examples/turbines/facts.jsonl"

COOL = "cool(X)@T+1 :- temp(X, high)@T, temp(X, high)@T+1.\n"


def typed(text: str, *words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "presage", "repl", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, input=text, cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def test_answers_change_as_facts_come() -> None:
    done = typed(COOL + "temp(a, high)@0.\ntemp(a, high)@1.\n:now 2\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "0: possible cool(a)@1",
        "    because temp(a, high)@0; needs temp(a, high)@1 by 1",
        "1: confirmed cool(a)@1",
        "    because temp(a, high)@0, temp(a, high)@1",
        "1: possible cool(a)@2",
        "    because temp(a, high)@1; needs temp(a, high)@2 by 2",
        "2: refuted cool(a)@2",
    ]


def test_why_is_what_explain_says() -> None:
    done = typed(COOL + ":why\ntemp(a, high)@0.\nwhy\ntemp(a, high)@1.\n:why cool(a)@1\n:why cool(a)\n:why cold(a)@1\n")
    assert done.stdout.count("cool(a)@1 is possible at 0: it waits for temp(a, high)@1, which may arrive until 1") == 1
    assert "cool(a)@1: by line 1, cool(X)@T+1 :- temp(X, high)@T, temp(X, high)@T+1. (X = a)\n├── ●" in done.stdout
    assert done.stdout.count("cool(a)@2 is possible at 1: it waits for") == 1, "the last of that name"
    assert ":why: nothing has been told yet" in done.stderr and "the program has no predicate `cold`" in done.stderr
    stamped = "tick 1m.\nstart 2026-03-01T10:00:00Z.\n" + COOL.replace("\n", "\nquery cool(X).\n")
    done = typed(stamped + "temp(a, high)@2026-03-01T10:00:00Z.\n:why\n")
    assert "cool(a)@2026-03-01T10:01:00Z is possible at 2026-03-01T10:00:00Z" in done.stdout


def test_facts_may_come_before_the_rules_and_rules_take_several_lines() -> None:
    done = typed("temp(a, high)@0. temp(a, high)@1.\ncool(X)@T+1 :-\n  temp(X, high)@T,\n  temp(X, high)@T+1.\n")
    assert done.returncode == 0
    assert "kept: no rule uses `temp` yet" in done.stderr
    assert "1: confirmed cool(a)@1" in done.stdout


def test_the_prompt_says_what_a_run_says() -> None:
    """The last line about each answer is that of `presage run` over the same program and facts."""
    facts = [json.loads(line) for line in FACTS.read_text(encoding="utf-8").splitlines()]
    facts.sort(key=lambda fact: fact.get("arrives", fact["time"]))
    lines = [
        f"{fact['pred']}({', '.join(fact['args'])})@{fact['time']} arrives {fact.get('arrives', fact['time'])}."
        for fact in facts
    ]
    done = typed("\n".join(lines) + "\n:settle\n", TURBINES, "--json")
    command = [sys.executable, "-m", "presage", "run", str(TURBINES), "--facts", str(FACTS)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    def last(text: str) -> dict[str, str]:
        return {line["key"]: line["status"] for line in map(json.loads, text.splitlines())}

    assert done.returncode == 0, done.stderr
    assert last(done.stdout) == last(run.stdout) != {}


def test_what_is_wrong_is_shown_with_its_place_and_changes_nothing() -> None:
    done = typed(COOL + "bad(X) :- temp(X, high)), x.\nopen(X) :- temp(Y, high).\ntmep(a, high)@0.\n:program\n")
    assert done.returncode == 1
    assert "bad(X) :- temp(X, high)), x.\n      |                        ^" in done.stderr
    assert "error S101" in done.stderr and "did you mean `temp`?" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == COOL


def test_late_facts_and_time_that_goes_back_are_refused() -> None:
    done = typed(COOL + "temp(a, high)@5.\ntemp(a, high)@1.\n:now 3\n:now\n")
    assert "temp(a, high)@1 arrived too late at 5" in done.stderr
    assert "time goes forward" in done.stderr
    assert done.stdout.splitlines()[-1] == "now is 5"


def test_entries_are_taken_back() -> None:
    done = typed(COOL + "temp(a, high)@0.\n:undo\n:facts\n:undo\n:program\n:undo\n")
    assert "gone: cool(a)@1" in done.stdout
    assert done.stdout.endswith("gone: cool(a)@1\n"), "no facts, no program"
    assert "nothing to take back" in done.stderr


def test_rules_are_saved_and_taken_up_again(tmp_path: Path) -> None:
    assert typed(COOL + ":save rules.psg\n", cwd=tmp_path).returncode == 0
    done = typed("temp(a, high)@0.\n", "rules.psg", cwd=tmp_path)
    assert "0: possible cool(a)@1" in done.stdout


def test_times_come_out_as_they_went_in() -> None:
    program = "tick 1m.\nstart 2026-01-01T00:00:00Z.\ninput temp(d, v).\n" + COOL
    done = typed(program + "temp(a, high)@2026-01-01T00:03:00Z.\n")
    assert "2026-01-01T00:03:00Z: possible cool(a)@2026-01-01T00:04:00Z" in done.stdout, done.stderr


def test_what_is_open_is_settled() -> None:
    rule = "timeline dense.\nalarm(X) :- historically[0,2] hot(X).\n"
    done = typed(rule + "hot(a)@[1,4].\n:settle\n:now\n")
    assert "1: possible alarm(a)@T" in done.stdout, done.stderr
    # It would have to go on without a gap, and does not right after 4.
    assert "4: unsupported alarm(a)@T" in done.stdout
    assert done.stdout.endswith("now is 6\n")


def test_static_facts_and_unfinished_entries() -> None:
    done = typed("static plan(d).\nok(X) :- temp(X, high), plan(X).\nplan(a).\ntemp(a, high)@0.\nrest(X) :- ok(X)\n")
    assert "0: confirmed ok(a)@0" in done.stdout
    assert "error P202" in done.stderr and done.returncode == 1


def test_a_terminal_has_a_prompt() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "presage", "repl"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(theirs)
    os.write(ours, b":help\n:quit\n")
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
    assert process.wait() == 0
    assert b"presage> " in shown and b":settle" in shown


def test_commands_are_known_without_their_colon_and_within_a_statement() -> None:
    done = typed("help\nq(X) :- p(X).\np(a)@1\n:now\nundo\nfacts\nquit\nq(X) :- never(X).\n")
    assert done.returncode == 0 and done.stderr == ""
    assert ":settle" in done.stdout and done.stdout.endswith(
        "1: confirmed q(a)@1\n    because p(a)@1\nnow is 1\ngone: q(a)@1\n"
    )
