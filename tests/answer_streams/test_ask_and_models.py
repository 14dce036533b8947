"""`presage ask`, `presage models`, and `presage run` for programs with several models, as people call them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presage.answer_streams.evaluation import Evaluation
from presage.answer_streams.stepping import AnswerStreamSteps
from presage.checking import check_text
from presage.cli import main
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.run.engines import needs_answer_streams
from tests.answer_streams.test_lars import ProgramWriter
from tests.commands.test_cli import ROOT, on_a_terminal, presage

TRAMS = ROOT / "presage/examples/trams/trams.psg"
FACTS = ROOT / "presage/examples/trams/facts.jsonl"
SEATS = """\
input guest(name) delay 1.
input banned(name).
left(X) :- guest(X), not right(X).
right(X) :- guest(X), not left(X).
seated(X) :- left(X).
seated(X) :- right(X).
:- guest(X), banned(X).
query seated(X).
query left(X).
"""


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Writes a program and its facts, and gives the words that name them."""

    def write(text: str, *facts: tuple[Any, ...]) -> list[str]:
        (tmp_path / "p.psg").write_text(text, encoding="utf-8")
        lines = [json.dumps(dict(zip(("pred", "args", "time", "arrives"), fact, strict=False))) for fact in facts]
        (tmp_path / "f.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return [str(tmp_path / "p.psg"), "--facts", str(tmp_path / "f.jsonl")]

    return write


def lines(*words: str | Path) -> list[dict[str, Any]]:
    done = presage(*words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def refusal(*words: str | Path, status: int = 1) -> str:
    done = presage(*words)
    assert done.returncode == status, done.stdout
    assert done.stdout == "" and "Traceback" not in done.stderr
    return done.stderr


# -- ask -----------------------------------------------------------------------------------------------


def test_ask_with_variables() -> None:
    assert lines("ask", TRAMS, "--facts", FACTS, "--at", "42", "window(4) tram(A, S)@U") == [
        {"bindings": {"A": "a2", "S": "g", "U": 38}, "at": 42},
        {"bindings": {"A": "a3", "S": "h", "U": 40}, "at": 42},
    ]


def test_ask_without_variables() -> None:
    assert lines("ask", TRAMS, "--facts", FACTS, "--at", "42", "exp(a3, m)@43, line(a3, l3)") == [
        {"holds": True, "at": 42}
    ]
    assert lines("ask", TRAMS, "--facts", FACTS, "--at", "42", "exp(a3, m)@44") == [{"holds": False, "at": 42}]


def test_ask_a_conjunctive_query() -> None:
    question = "exists T, L: exp(A, S)@T, line(A, L), T > 43"
    assert lines("ask", TRAMS, "--facts", FACTS, "--at", "42", question) == [
        {"bindings": {"A": "a1", "S": "m"}, "at": 42},
        {"bindings": {"A": "a2", "S": "m"}, "at": 42},
    ]
    assert lines("ask", TRAMS, "--facts", FACTS, "--at", "42", "exists A, S: old(A), tram(A, S)") == [
        {"holds": False, "at": 42}
    ]


def test_where_the_formula_stands() -> None:
    expected = [{"bindings": {"S": "h", "U": 40}, "at": 42}]
    assert lines("ask", TRAMS, "tram(a3, S)@U", "--at", "42", "--facts", FACTS) == expected
    assert lines("ask", "--facts", FACTS, "--at", "42", TRAMS, "tram(a3, S)@U") == expected
    done = presage("ask", TRAMS, "--at", "42", "--facts", FACTS, "tram(a3, S)@U")
    assert done.returncode == 2 and "FORMULA" in done.stderr


def test_ask_at_any_time(program: Any) -> None:
    given_facts = program("q(X) :- p(X), not r. input r.", ("p", ["a"], 1), ("p", ["b"], 3), ("r", [], 3))
    assert lines("ask", *given_facts, "--at", "any", "--timeline", "0..5", "window(1) some q(X)") == [
        {"bindings": {"X": "a"}, "at": 1},
        {"bindings": {"X": "a"}, "at": 2},
    ]
    assert lines("ask", *given_facts, "--at", "any", "q(a)") == [{"holds": True, "at": 1}]
    assert lines("ask", *given_facts, "--at", "any", "q(b)") == []


@pytest.mark.parametrize("compared", ["= 1", ">= 1"])
def test_what_a_set_shares_has_its_values_from_alternatives(compared: str, program: Any) -> None:
    """One of them may say nothing of a variable of the other."""
    rule = "d(Y) :- e(X), once[0,1] (m(Y, V) or link(Y, X)), count { T : window(2) (e(X) or g(X, Y))@T }"
    given_facts = program(
        f"timeline discrete. input e(x). input g(x, y). input m(x, y). input link(x, y). {rule} {compared}.",
        ("e", ["b"], 1), ("m", ["b", 4], 1), ("link", ["c", "b"], 1), ("g", ["b", "d"], 1), ("link", ["d", "a"], 1),
    )  # fmt: skip
    assert lines("ask", *given_facts, "--at", "1", "d(X)") == [
        {"bindings": {"X": "b"}, "at": 1},
        {"bindings": {"X": "c"}, "at": 1},
    ]
    told = lines("run", *given_facts, "--emit", "confirmed")
    assert [each["answer"] for each in told if each["time"] == 1] == ["d(b)@1", "d(c)@1"]


def test_ask_of_several_models_is_what_all_agree_on(program: Any) -> None:
    given_facts = program(SEATS, ("guest", ["ann"], 0))
    assert lines("ask", *given_facts, "--at", "0", "seated(X)") == [{"bindings": {"X": "ann"}, "at": 0}]
    assert lines("ask", *given_facts, "--at", "0", "left(X) or right(X)") == [{"bindings": {"X": "ann"}, "at": 0}]
    assert lines("ask", *given_facts, "--at", "0", "left(X)") == []
    banned = program(SEATS, ("guest", ["ann"], 0), ("banned", ["ann"], 0))
    assert "no answer stream" in refusal("ask", *banned, "--at", "0", "seated(X)")


def test_ask_many_models_without_listing_them(program: Any) -> None:
    """Sixty guests: 2^60 models."""
    given_facts = program(SEATS, *(("guest", [f"g{index}"], index) for index in range(60)))
    assert len(lines("ask", *given_facts, "--at", "any", "seated(X)")) == 60
    assert len(lines("models", *given_facts, "--at", "59", "--cautious")[0]["facts"]) == 60
    assert len(lines("models", *given_facts, "--at", "59", "--limit", "3")) == 3
    # The same where each candidate must be checked against the definition.
    checked = program(SEATS + "odd :- odd or not odd.\n", *(("guest", [f"g{index}"], 0) for index in range(20)))
    assert len(lines("ask", *checked, "--at", "0", "seated(X), odd")) == 20
    assert lines("ask", *checked, "--at", "0", "left(X)") == []


def test_ask_with_invented_values(program: Any) -> None:
    given_facts = program("exists Y: ticket(X, Y), open(Y) :- order(X). vip(ann).", ("order", ["ann"], 2))
    assert lines("ask", *given_facts, "--at", "2", "exists Y: ticket(X, Y), open(Y)") == [
        {"bindings": {"X": "ann"}, "at": 2}
    ]
    assert lines("ask", *given_facts, "--at", "2", "open(Y)") == []
    assert lines("ask", *given_facts, "--at", "2", "--nulls", "open(Y)") == [{"bindings": {"Y": "_:1"}, "at": 2}]
    assert lines("models", *given_facts, "--at", "2")[0]["facts"][-2:] == ["ticket(ann, _:1)@2", "vip(ann)@2"]


def test_ask_with_parameters(program: Any) -> None:
    given_facts = program("timeline discrete. param far = 3. input p(x). q(X) :- p(X).", ("p", ["a"], 1))
    found = lines("ask", *given_facts, "--at", "any", "--timeline", "0..9", "p(X), eventually[0,$far] p(X)")
    assert found == [{"bindings": {"X": "a"}, "at": 1}]
    assert lines("ask", *given_facts, "--at", "4", "once[0,$far] p(a)") == [{"holds": True, "at": 4}]
    assert lines("ask", *given_facts, "--set", "far=2", "--at", "4", "once[0,$far] p(a)") == [{"holds": False, "at": 4}]
    done = presage("ask", *given_facts, "--at", "4", "once[0,$near] p(a)")
    assert done.returncode == 1 and "the parameter `near` is not declared" in done.stderr


def test_ask_with_units(program: Any) -> None:
    text = "tick 1m. start 2026-01-01T00:00:00Z. input up(x). seen(X) :- up(X)."
    given_facts = program(text, ("up", ["a"], "2026-01-01T00:10:00Z"))
    assert lines("ask", *given_facts, "--at", "2026-01-01T00:20:00Z", "window(10m) some seen(X)") == [
        {"bindings": {"X": "a"}, "at": "2026-01-01T00:20:00Z"}
    ]
    assert lines("ask", *given_facts, "--at", "20", "--times", "ticks", "window(10m) seen(X)@T") == [
        {"bindings": {"X": "a", "T": 10}, "at": 20}
    ]
    assert lines("ask", *given_facts, "--at", "any", "--zone", "Europe/Vienna", "seen(X)") == [
        {"bindings": {"X": "a"}, "at": "2026-01-01T01:10:00+01:00"}
    ]
    assert lines("models", *given_facts, "--at", "10") == [
        {"model": 1, "at": "2026-01-01T00:10:00Z", "facts": ["seen(a)@2026-01-01T00:10:00Z"]}
    ]


@pytest.mark.parametrize(
    "question, said",
    [
        ("tramm(A, S)", "did you mean `tram`?"),
        ("tram(A)", "`tram` has 2 arguments in the program and 1 here"),
        ("window(only bus(_)) some tram(A, S)", "the program has no predicate `bus`"),
        ("tram(A, S) and not jam(_)", "`_` under `not`"),
        ("window(3 some tram(A, S)", "<question>:1:"),
        ("tram(A, S) :- exp(A, S)", "<question>:1:"),
        ("exists B: tram(A, S)", "`B` does not occur"),
        ("once[0,1.5] tram(A, S)", "whole number"),
        ("window(10m) some tram(A, S)", "tick"),
        ("", "<question>:1:1"),
    ],
)
def test_ask_wrongly(question: str, said: str) -> None:
    assert said in refusal("ask", TRAMS, "--facts", FACTS, "--at", "42", question)


@pytest.mark.parametrize(
    "options, said",
    [
        (["--at", "soon"], "'soon' is not a time"),
        (["--at", "1.5"], "not a whole number"),
        (["--at", "-3"], "starts at time 0"),
        (["--at", "2026-01-01"], "tick"),
        (["--at", "42", "--timeline", "0-50"], "A..B"),
        (["--at", "42", "--timeline", "50..0"], "50 lies after 0"),
        (["--at", "42", "--timeline", "0..30"], "not on the timeline"),
    ],
)
@pytest.mark.parametrize("command", [["ask", "tram(A, S)"], ["models"]], ids=lambda words: words[0])
def test_times_that_are_none(command: list[str], options: list[str], said: str) -> None:
    """That a time lies where there is no stream can be said only after reading it; the rest is wrong by itself."""
    status = 1 if said == "not on the timeline" else 2
    assert said in refusal(command[0], TRAMS, "--facts", FACTS, *options, *command[1:], status=status)


def test_facts_that_do_not_fit(program: Any) -> None:
    given_facts = program("q(X) :- p(X).", ("p", ["a"], 1), ("r", ["a"], 2))
    assert "f.jsonl:2: the program has no input `r`" in refusal("ask", *given_facts, "--at", "1", "q(X)")
    given_facts = program("q(X) :- p(X).", ("p", ["a"], 1))
    assert "is not static" in refusal("models", given_facts[0], "--static", given_facts[2], "--at", "1")


def test_a_dense_timeline_is_refused(program: Any) -> None:
    given_facts = program("q(X) :- once[0,5] p(X).", ("p", ["a"], 1))
    assert "timeline discrete" in refusal("ask", *given_facts, "--at", "1", "q(X)")
    assert "timeline discrete" in refusal("models", *given_facts, "--at", "1")


def test_usage() -> None:
    assert presage("ask", TRAMS, "--facts", FACTS, "tram(A, S)").returncode == 2
    assert presage("models", TRAMS, "--facts", FACTS).returncode == 2
    assert presage("models", TRAMS, "--at", "1", "--limit", "0").returncode == 2
    assert presage("models", TRAMS, "--at", "1", "--cautious", "--brave").returncode == 2


def test_on_a_terminal() -> None:
    status, shown = on_a_terminal("ask", TRAMS, "--facts", FACTS, "--at", "42", "window(2) some tram(A, S)")
    assert status == 0 and shown.splitlines() == ["A = a3, S = h  at 42"]
    status, shown = on_a_terminal("ask", TRAMS, "--facts", FACTS, "--at", "42", "window(2) some jam(S)")
    assert status == 0 and shown.splitlines() == ["no answers"]
    status, shown = on_a_terminal("models", TRAMS, "--facts", FACTS, "--at", "42", "--limit", "1")
    assert status == 0 and shown.splitlines()[:2] == ["model 1 at 42:", "  change(a3, a1, m)@42"]


# -- models --------------------------------------------------------------------------------------------


def test_models() -> None:
    found = lines("models", TRAMS, "--facts", FACTS, "--at", "42")
    expected = ["exp(a3, m)@43", "exp(a1, m)@44", "exp(a2, m)@45"]
    good = ["gc(a1, a2, m)@42", "gc(a3, a1, m)@42", "gc(a3, a2, m)@42"]
    assert found == [
        {"model": 1, "at": 42, "facts": ["change(a3, a1, m)@42", *good, "skip(a3, a2, m)@42", *expected]},
        {"model": 2, "at": 42, "facts": ["change(a3, a2, m)@42", *good, "skip(a3, a1, m)@42", *expected]},
    ]
    common = lines("models", TRAMS, "--facts", FACTS, "--at", "42", "--cautious")
    assert common == [{"models": "all", "at": 42, "facts": good + expected}]
    (some,) = lines("models", TRAMS, "--facts", FACTS, "--at", "42", "--brave")
    assert set(some["facts"]) == {fact for each in found for fact in each["facts"]}


def test_no_models(program: Any) -> None:
    done = presage("models", *program(SEATS, ("guest", ["a"], 0), ("banned", ["a"], 0)), "--at", "0")
    assert (done.returncode, done.stdout) == (0, "")
    assert "there is no answer stream at 0" in done.stderr
    done = presage("models", *program("q :- p. :- q.", ("p", [], 0)), "--at", "0", "--cautious")
    assert (done.returncode, done.stdout) == (0, "")


def test_models_of_one_time_only() -> None:
    assert "--at" in refusal("models", TRAMS, "--facts", FACTS, "--at", "any")
    assert "--limit" in refusal("models", TRAMS, "--facts", FACTS, "--at", "42", "--limit", "2", "--brave")


def test_too_many_rows_that_may_be_there(program: Any) -> None:
    text = "reading now. a(X)@T | b(X)@T :- e(X)@T. c :- window(rows 40) some a(_)."
    words = program(text, *(("e", [f"x{index}"], index) for index in range(30)))
    assert "more facts that may hold or not than can be told apart" in refusal("models", *words, "--at", "29")


def test_the_horizon_ends_the_timeline(program: Any) -> None:
    text = "s@T+1 :- s@T. s@2."
    assert lines("models", *program(text), "--at", "4")[0]["facts"] == ["s@2", "s@3", "s@4"]
    assert len(lines("models", *program(f"horizon 3. {text}"), "--at", "4")[0]["facts"]) == 6
    assert lines("models", *program("q(X)@T2 :- p(X, D)@T, T2 = T + D.", ("p", ["a", 7], 1)), "--at", "1") == [
        {"model": 1, "at": 1, "facts": ["q(a)@8"]}
    ]


def test_programs_with_one_model_do_not_start_clingo(program: Any) -> None:
    words = program("on(R)@T+1 :- toggle(R)@T, not on(R)@T. :- on(R), broken(R).", ("toggle", ["a"], 0))
    code = "import sys; from presage.cli import main; sys.exit(main(sys.argv[1:]) or 'clingo' in sys.modules)"
    for command in (
        ["models", *words, "--at", "1"],
        ["ask", *words, "--at", "1", "on(R)"],
        ["run", *words, "--emit", "confirmed"],
        ["check", words[0]],
        ["plan", words[0]],
    ):
        assert subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, check=False).returncode == 0
    rows = program("a(X) :- window(rows 2) some p(X), not q(X). input q(x).", ("p", ["a"], 0))
    command = ["run", *rows, "--emit", "confirmed"]
    assert subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, check=False).returncode == 0


def test_without_clingo_the_message_says_what_to_install(program: Any) -> None:
    code = "import sys; sys.modules['clingo'] = None; from presage.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["models", *program(SEATS, ("guest", ["a"], 0)), "--at", "0"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 1 and "pip install" in done.stderr and "Traceback" not in done.stderr


# -- run -----------------------------------------------------------------------------------------------


def told(*words: str) -> list[tuple[int, str]]:
    return [(line["now"], line.get("answer", line["status"])) for line in lines("run", "--emit", "confirmed", *words)]


def test_run_confirms_what_all_models_share(program: Any) -> None:
    """Bob's arrival is known one step late; left and right are each in some models only."""
    words = program(SEATS, ("guest", ["ann"], 0), ("guest", ["bob"], 1, 2), ("guest", ["cid"], 1, 5))
    assert told(*words) == [(1, "seated(ann)@0"), (2, "seated(bob)@1")]
    assert "1 fact arrived too late" in presage("run", "--emit", "confirmed", *words).stderr


def test_run_with_what_holds_in_some_models(program: Any) -> None:
    """Ann may sit left or right; then it turns out that she was not left."""
    text = "timeline discrete. input guest. input told. left | right :- guest. :- told, once[1] left."
    words = program(f"{text} query left. query right.", ("guest", [], 0), ("told", [], 1))
    assert [(line["now"], line["status"], line["answer"]) for line in lines("run", "--brave", *words)] == [
        (0, "possible", "left@0"),
        (0, "possible", "right@0"),
        (1, "refuted", "left@0"),
        (1, "confirmed", "right@0"),
    ]
    assert told(*words, "--cautious") == [(1, "right@0")]
    assert "--emit confirmed" in refusal("run", "--brave", "--emit", "confirmed", *words)
    assert "has one model" in refusal("run", "--brave", *program("q(X) :- p(X).", ("p", ["a"], 0)))
    assert presage("run", "--brave", "--cautious", *words).returncode == 2
    now = program("reading now. input r. a | b :- window(1) some r. query a.", ("r", [], 0))
    assert [(line["now"], line["status"], line["answer"]) for line in lines("run", "--brave", *now)] == [
        (0, "possible", "a@0"),
    ]


def test_run_skips_what_is_empty(program: Any) -> None:
    assert told(*program(SEATS, ("guest", ["ann"], 1_000_000))) == [(1_000_001, "seated(ann)@1000000")]
    odd = program("timeline discrete. input a. x :- a, not y. y :- a, not x. :- not a@0, not z. z@3.", ("a", [], 4))
    assert told(*odd)[:2] == [(0, "inconsistent"), (1, "inconsistent")]


def test_run_says_where_there_is_no_model(program: Any) -> None:
    words = program(SEATS, ("guest", ["ann"], 0), ("guest", ["eve"], 2), ("banned", ["eve"], 2))
    assert told(*words, "--until", "4") == [(1, "seated(ann)@0"), (3, "inconsistent"), (4, "inconsistent")]


def test_run_waits_for_what_may_still_come(program: Any) -> None:
    text = """timeline discrete. input a. input z. x :- a, not y. y :- a, not x. late :- a, not eventually[0,2] z.
    bad :- late. :- x, late. query y. query late. query bad."""
    words = program(text, ("a", [], 0), ("a", [], 4), ("z", [], 5))
    assert told(*words) == [(2, "bad@0"), (2, "late@0"), (2, "y@0")]


def test_run_reads_now(program: Any) -> None:
    """Each step is an evaluation of its own: nothing is inconsistent any more once the ban is over."""
    text = """reading now. input guest(x). input banned(x). query near(X).
    near(X) :- window(1) some guest(X), not far(X). far(X) :- window(1) some guest(X), not near(X), banned(X).
    :- guest(X), banned(X)."""
    words = program(text, ("guest", ["a"], 1), ("banned", ["a"], 1), ("guest", ["a"], 3))
    assert told(*words, "--until", "5") == [(1, "inconsistent"), (2, "near(a)@2"), (3, "near(a)@3"), (4, "near(a)@4")]


def test_run_reads_now_what_is_expected_later(program: Any) -> None:
    text = "reading now. input start_of(x, d). query done(X). done(X)@T2 :- start_of(X, D)@T, T2 = T + D, not late(X)."
    words = program(f"{text} input late(x).", ("start_of", ["a", 7], 2), ("start_of", ["b", 1], 3), ("late", ["a"], 3))
    assert told(*words) == [(2, "done(a)@9"), (3, "done(b)@4")]


def test_run_refuses_what_is_never_settled(program: Any) -> None:
    words = program("x :- a, not y. y :- a, not x. z :- x, eventually[0,inf) a. timeline discrete.", ("a", [], 0))
    assert "looks ahead without end" in refusal("run", "--emit", "confirmed", *words)
    words = program("x :- a, not y. y :- a, not x. :- not some x.", ("a", [], 0))
    assert "p.psg:1:31: error R101: the rule looks ahead without end" in refusal("run", "--emit", "confirmed", *words)
    words = program("timeline discrete. x@T :- a@T, not y@T. y@T :- a@T, not x@T. x@T :- y@T+1.", ("a", [], 0))
    assert "ever farther ahead" in refusal("run", "--emit", "confirmed", *words)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("d :- a, window(rows 1, ahead 1) some a. input a.", True),
        ("d(X) :- a(X), window(rows 1, ahead 1 by a(X)) some a(X). input a(x).", False),
        ("d :- a, some a. input a.", True),
        ("x :- a, not y. y :- a, not x. :- not some x. input a.", False),
        ("timeline dense. x :- a, not y. y :- a, not x. input a.", False),
        ("reading now. input p(x). exists Y: q(X, Y) :- p(X).", False),
        ("timeline dense. input a. d@T :- a@T, T > now, once[0,1] a.", True),
        ("input a. d@T :- a@T, T >= now + 3.", True),
        ("d :- a, window(rows 1) all a. input a.", True),
        ("reading now. d :- a, some a. input a.", True),
    ],
)
def test_check_refuses_what_a_run_refuses(text: str, accepted: bool, program: Any) -> None:
    words = program(text)
    ran, checked = presage("run", "--emit", "confirmed", *words), presage("check", words[0])
    assert ran.returncode == checked.returncode == (0 if accepted else 1), (ran.stderr, checked.stderr)
    assert json.loads(checked.stdout)["ok"] == accepted


@given(st.integers(0, 10**9))
def test_what_was_confirmed_holds_in_all_models_at_the_end(seed: int) -> None:
    writer = ProgramWriter(seed)
    text = writer.program().replace("reading now.", "reading every.") + "query a. query b. query c.\n"
    report = check_text(text)
    if not report.ok or not needs_answer_streams(report):
        return
    try:
        steps = AnswerStreamSteps(report)
    except PresageError:  # never settled
        return
    end, chance = 3, writer.random
    facts = [Fact(name, (), t, t) for name in ("r", "t") for t in range(end + 1) if chance.random() < 0.5]
    said: set[tuple[str, int]] = set()
    consistent = True
    for now in range(end + 1):
        for answer in steps.step([fact for fact in facts if fact.low == now], now):
            consistent &= answer.status != "inconsistent"
            if answer.status == "confirmed":
                said.add((answer.predicate, answer.time))
    common = Evaluation(steps.subject, facts, 0, (0, end)).common_facts(0)
    if common is None:
        return
    shared = {(ground[0], time) for ground, time in common}
    assert consistent, (text, facts)
    assert said <= shared, (text, facts)
    # Rows that are still to come settle what windows see that look ahead to them, however long that takes.
    if steps.longest_lag == 0 and not re.search(r"rows \d+, ahead", text):
        assert said == shared, (text, facts)


@pytest.mark.parametrize("text", ["", "input p(x).", "% nothing but a note", "input p(x). static q(x)."])
def test_a_question_needs_no_rules(text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty.psg").write_text(text)
    (tmp_path / "facts.jsonl").write_text(
        '{"pred": "p", "args": ["a"], "time": 1}\n{"pred": "p", "args": ["b"], "time": 3}'
    )
    asked = ["ask", str(tmp_path / "empty.psg"), "--facts", str(tmp_path / "facts.jsonl"), "--at", "3", "--json"]
    assert main([*asked, "once[0,2] p(X)"]) == 0
    assert [json.loads(line)["bindings"] for line in capsys.readouterr().out.splitlines()] == [{"X": "a"}, {"X": "b"}]
    (tmp_path / "empty.psg").write_text("input p(x).\nh(X) :- ")
    assert main([*asked, "p(X)"]) == 1
