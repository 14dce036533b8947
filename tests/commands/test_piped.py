"""Facts that come while a run goes: from standard input, unsorted, by their own times or by this machine's clock."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.io.facts import Fact
from presage.run.arrivals import Incoming
from presage.run.reasoner import reasoner_of
from presage.run.schedule import steps
from tests.commands.test_cli import presage as command
from tests.random_programs import Case, make_case

TURBINES = """
timeline discrete.
input temp(device: text, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
query malf(X).
"""


def hot(at: Any, device: str = "wt25", **more: Any) -> str:
    return json.dumps({"pred": "temp", "args": [device, "high"], "time": at, **more}) + "\n"


def piped(folder: Path, program: str, lines: str, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    (folder / "program.psg").write_text(program)
    done = command("run", folder / "program.psg", "--facts", "-", *more, stdin=lines)
    assert "Traceback" not in done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


class Live:
    """A run that is fed by hand."""

    def __init__(self, folder: Path, program: str, *more: str) -> None:
        (folder / "program.psg").write_text(program)
        words = [sys.executable, "-m", "presage", "run", str(folder / "program.psg"), "--facts", "-", *more]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def rest(self) -> list[dict[str, Any]]:
        # `communicate` would forget what came with the lines that were heard.
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        out = self.process.stdout.read()
        assert self.process.wait(timeout=60) == 0
        return [json.loads(line) for line in out.splitlines()]


def told(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["now"], line["status"], line["answer"]


def test_answers_come_as_lines_do(tmp_path: Path) -> None:
    run = Live(tmp_path, TURBINES)
    run.say(hot(0) + hot(1))
    assert told(run.hear()) == (0, "possible", "malf(wt25)@0")  # 0 is over: something of 1 has come
    run.say('{"now": 1}\n')
    assert [told(run.hear()) for _ in range(2)] == [(1, "possible", "malf(wt25)@0"), (1, "possible", "malf(wt25)@1")]
    run.say(hot(2) + '{"now": 2}\n')
    assert told(run.hear()) == (2, "confirmed", "malf(wt25)@0")
    assert [told(line) for line in run.rest()] == [
        (2, "possible", "malf(wt25)@1"), (2, "possible", "malf(wt25)@2"),
        (4, "refuted", "malf(wt25)@1"), (4, "refuted", "malf(wt25)@2"),
    ]  # fmt: skip


def test_a_fact_arrives_at_its_time_or_at_the_clock_if_that_is_later(tmp_path: Path) -> None:
    # 1 comes when the clock is at 2, which its delay allows; 0 comes then too, and is late.
    status, lines, said = piped(tmp_path, TURBINES, hot(2) + hot(1) + hot(0) + hot(3))
    assert status == 0 and "1 fact arrived too late" in said
    assert [told(line) for line in lines if line["status"] == "confirmed"] == [(3, "confirmed", "malf(wt25)@1")]
    # After `now` a time is complete: what still comes for it arrives one later.
    lines = piped(tmp_path, TURBINES, hot(0) + hot(1) + hot(2) + '{"now": 2}\n' + hot(3) + '{"now": 3}\n' + hot(3))[1]
    again = piped(tmp_path, TURBINES, hot(0) + hot(1) + hot(2) + '{"now": 2}\n' + hot(2, "b") + '{"now": 5}\n')[1]
    assert (3, "possible", "malf(b)@2") in map(told, again)
    assert len(lines) == len({json.dumps(line) for line in lines})


def test_what_a_line_says_of_its_arrival_counts(tmp_path: Path) -> None:
    lines = piped(tmp_path, TURBINES, hot(0) + hot(2, arrives=1) + hot(1, arrives=2))[1]
    assert [told(line) for line in lines if line["status"] == "confirmed"] == [(2, "confirmed", "malf(wt25)@0")]


def test_until_ends_the_run_though_more_comes(tmp_path: Path) -> None:
    run = Live(tmp_path, TURBINES, "--until", "1")
    run.say(hot(0) + hot(1) + hot(2))
    assert run.process.wait(60) == 0  # nobody has closed its input
    assert [told(line) for line in run.rest()] == [
        (0, "possible", "malf(wt25)@0"), (1, "possible", "malf(wt25)@0"), (1, "possible", "malf(wt25)@1"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (hot(0) + "nonsense\n", "standard input, line 2: this is not JSON"),
        ('{"now": "soon"}\n', "standard input, line 1: 'soon' is not a time"),
        ('{"now": 1.5}\n', "line 1: 3/2 is not a whole number"),
        ('{"now": 1, "status": "possible"}\n', "line 1: the fact has no `pred`"),
        (hot(0)[:-2], "line 1: this is not JSON"),
        (hot(0) + hot(1) + '{"pred": "owner", "args": ["a"]}\n', "line 3: static facts are known before the stream"),
    ],
)
def test_wrong_lines_are_told_by_their_place(tmp_path: Path, lines: str, said: str) -> None:
    status, _, error = piped(tmp_path, TURBINES + "static owner(x).\nmine(X) :- malf(X), owner(X).\n", lines)
    assert status == 1 and said in error


def test_calls_that_cannot_be_meant(tmp_path: Path) -> None:
    (tmp_path / "p.psg").write_text(TURBINES)
    for words, said in (
        (["-", "--facts", "-"], "the program comes from standard input already"),
        ([tmp_path / "p.psg", "--facts", "-", "--engine", "spark"], "leave out --engine spark"),
        ([tmp_path / "p.psg", "--facts", "-", "--clock"], "add `tick 1s.`"),
        ([tmp_path / "p.psg", "--facts", tmp_path / "p.csv", "--clock"], "--clock goes with --facts -"),
        ([tmp_path / "p.psg", "--facts", "-", "--emit", "confirmed", "--because"], "--because looks at all facts"),
    ):
        done = command("run", *words)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_the_clock_of_the_machine_lets_deadlines_pass(tmp_path: Path) -> None:
    program = TURBINES.replace("discrete.", "discrete.\ntick 500ms.")
    run = Live(tmp_path, program, "--clock")
    began = datetime.now(UTC)
    # Some of these times are still to come when the run begins; each device is heard of once.
    moments = [began + timedelta(milliseconds=500 * tick) for tick in range(360)]
    for number, moment in enumerate(moments):
        run.say(hot(moment.isoformat(), f"d{number}"))
    first = run.hear()
    device = first["bindings"]["X"]
    assert first["status"] == "possible" and datetime.now(UTC) >= moments[int(device[1:])]
    following = first
    while (following["status"], following["bindings"]["X"]) != ("refuted", device):
        following = run.hear()  # Nothing else has come of it: its deadline has passed.
    now = datetime.now(UTC)
    rest = run.rest()  # Ends at the clock, with the tick that it is: what lies ahead is not waited for.
    ended = datetime.now(UTC) + timedelta(milliseconds=500)
    assert all(moments[int(line["bindings"]["X"][1:])] <= ended for line in rest)
    assert datetime.now(UTC) - now < timedelta(seconds=30)


# -- against runs over files --------------------------------------------------------------------------


def _facts(case: Case) -> list[Fact]:
    found = []
    for (name, arguments, when), arrives in case.facts:
        low, high, bounds = when if isinstance(when, tuple) else (when, when, "[]")
        found.append(Fact(name, arguments, low, high, bounds[0] == "[", bounds[1] == "]", arrives))
    return found


def _stepper(case: Case, emit: str) -> Any:
    report = check_text(case.text, "case.psg")
    if not report.ok:
        pytest.skip("not a program that runs")
    try:
        reasoner = reasoner_of(report, emit)
    except presage.PresageError:
        pytest.skip("not a program that runs so")
    reasoner.add_statics([Fact(name, arguments, None, None) for name, arguments in case.statics])
    return reasoner


def _lines(found: Any) -> list[str]:
    return [json.dumps(answer.to_json()) for answers in found for answer in answers]


@pytest.mark.parametrize("pull", [None, 3])
@pytest.mark.parametrize("emit", ["changes", "confirmed"])
@pytest.mark.parametrize("seed", range(12))
def test_what_comes_piecemeal_is_answered_as_a_file_is(seed: int, emit: str, pull: int | None) -> None:
    case = make_case(seed, dense=seed % 3 == 0)
    order = random.Random(seed)
    facts = sorted(_facts(case), key=lambda fact: fact.arrival)
    whole = _lines(steps(_stepper(case, emit), facts, 30, False, pull))
    reasoner = _stepper(case, emit)
    incoming = Incoming(reasoner, 30, False, pull)
    found: list[str] = []
    for place, fact in enumerate(facts):
        found += _lines(incoming.take(fact))
        if order.random() < 0.3 and (place + 1 == len(facts) or facts[place + 1].arrival > fact.arrival):
            found += _lines(incoming.completed(fact.arrival))
    found += _lines(incoming.end())
    if reasoner.looks_ahead:
        assert found == whole
    else:
        # A run over a file cuts what lasts at its end, which is not known while facts still come.
        assert [json.loads(line)["now"] for line in found] == [json.loads(line)["now"] for line in whole]


@pytest.mark.parametrize("seed", range(8))
def test_out_of_order_is_arriving_at_the_clock(seed: int) -> None:
    case = make_case(seed, dense=False)
    facts = [fact for fact in _facts(case) if fact.low == fact.high]
    random.Random(seed).shuffle(facts)
    late: list[Fact] = []
    clock: int | Fraction = 0
    for fact in facts:
        assert fact.low is not None
        clock = max(clock, fact.low)
        late.append(Fact(fact.predicate, fact.arguments, fact.low, fact.high, arrives=clock))
    whole = _lines(steps(_stepper(case, "changes"), late, None))
    incoming = Incoming(_stepper(case, "changes"))
    found: list[str] = []
    for fact in facts:
        found += _lines(incoming.take(Fact(fact.predicate, fact.arguments, fact.low, fact.high)))
    assert found + _lines(incoming.end()) == whole
